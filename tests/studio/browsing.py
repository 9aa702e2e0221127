"""A real browser for tests of the studio: Debian's Chromium, driven by Playwright, drawing in software."""

import io
import os
import shutil
import tempfile
import time

import numpy as np
import pytest

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-gpu-watchdog",  # on a busy machine it ends the process that draws, and the window stands still for good
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SIZE = {"width": 760, "height": 560}
SHARPNESS = 0.5
"""Pixels drawn for each of the page: few, since they are drawn in software."""

PATIENCE = 300_000
"""Milliseconds; a browser that draws in software on a busy machine is slow."""


def chromium() -> str:
    """Where the browser is; without one the test is skipped, and says so."""
    path = os.environ.get("NEUROK_CHROMIUM") or shutil.which("chromium") or ""
    if not path:
        pytest.skip("chromium is not installed: the studio is not tried in a browser")
    return path


def launched(playwright, size=None, sharpness=SHARPNESS):
    """A browser with a fresh profile."""
    path = chromium()
    with tempfile.TemporaryDirectory() as folder:
        context = playwright.chromium.launch_persistent_context(
            folder,
            executable_path=path,
            args=FLAGS,
            viewport=size or SIZE,
            device_scale_factor=sharpness,
            accept_downloads=True,
        )
        context.set_default_timeout(PATIENCE)
        yield context
        context.close()


class Window:
    """One page of the studio, and what its server knows of it.

    Clicks do not wait until things stand still: a browser that draws in software may take a second for a frame.
    """

    def __init__(self, page, server, url=None):
        self.page, self.server = page, server
        before = set(server.sessions)
        page.goto(url or server.url)
        page.get_by_role("button", name="Reset", exact=True).wait_for()
        (key,) = until(lambda: set(server.sessions) - before)
        self.session = server.sessions[key]

    @property
    def scene(self):
        return self.session.scene

    def tab(self, name):
        """Open a tab, by its key: the mouse could drag it away."""
        tab = self.page.get_by_role("tab", name=name)
        repeat(lambda: tab.press("Enter"), lambda: tab.get_attribute("aria-selected") == "true")

    def click(self, name):
        press(self.page.get_by_role("button", name=name, exact=True).first)

    def input(self, label):
        """What the server holds for an input."""
        for panel in self.session.panels:
            for made in [*vars(panel).values(), *getattr(panel, "inputs", {}).values()]:
                if getattr(made, "label", None) == label:
                    return made
        raise AssertionError(f"there is no input {label!r}")

    def choose(self, label, option):
        """Take an option of a list, and see it arrive."""
        row = self.page.get_by_text(label, exact=True).locator("xpath=ancestor::div[.//input][1]")
        wanted = self.page.get_by_role("option", name=option, exact=True).first

        def take():
            press(row.locator("input").first)
            wanted.dispatch_event("click", timeout=30_000)

        repeat(take, lambda: self.input(label).value == option)

    def picture(self):
        """The pixels of the window, without its panels."""
        from PIL import Image

        box = self.page.locator("canvas").first.bounding_box()
        clip = {"x": box["x"], "y": box["y"] + 160, "width": min(box["width"], 380), "height": box["height"] - 160}
        return np.asarray(Image.open(io.BytesIO(self.page.screenshot(clip=clip, timeout=PATIENCE))).convert("RGB"), int)

    def at(self, point):
        """Where on the page a point of the object is drawn."""
        from neurok.geometry import lie

        camera = self.session.client.camera
        turn = lie.quaternion_to_matrix(np.asarray(camera.wxyz, dtype=np.float64))
        x, y, z = turn.T @ (self.session.view.shown(np.asarray(point)) - camera.position)
        box = self.page.locator("canvas").first.bounding_box()
        focal = box["height"] / 2 / np.tan(camera.fov / 2)
        return box["x"] + box["width"] / 2 + focal * x / z, box["y"] + box["height"] / 2 + focal * y / z

    def drag(self, start, end, held=lambda: True, steps=12):
        """Press the mouse on a point of the object, lead it to another, let go once ``held`` says so."""
        mouse = self.page.mouse

        def arrived():
            target = self.session.target
            return target is not None and np.hypot(*np.subtract(self.at(target), (x1, y1))) < 3.0

        self.take_hold(start)
        (x0, y0), (x1, y1) = self.at(start), self.at(end)
        for k in range(1, steps + 1):
            mouse.move(x0 + (x1 - x0) * k / steps, y0 + (y1 - y0) * k / steps)
        try:
            until(arrived)
            until(held)
        finally:
            mouse.up()
        until(lambda: self.session.target is None)

    def take_hold(self, point):
        """Press the mouse on a point of the object until it is held."""
        mouse = self.page.mouse

        def grasp():
            mouse.up()
            x, y = self.at(point)
            mouse.move(x, y)
            mouse.down()
            mouse.move(x + 6, y)

        repeat(grasp, lambda: self.session.target is not None)


REACHED = """element => {
    element.scrollIntoView({block: "center", behavior: "instant"});
    const box = element.getClientRects()[0];  // the first line of its text
    if (!box) return false;
    const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
    const open = top !== null && element.contains(top);
    if (open) element.click();
    return open;
}"""
"""Clicks where a mouse would reach the element, in one go: panels that grow or a notification cannot come between."""


def press(element):
    """Click on an element as soon as nothing lies over it."""
    until(lambda: element.evaluate(REACHED))


def repeat(act, found, tries=5, seconds=15.0):
    """Do something until it has its effect: a page that is being drawn anew may lose it. Each time it has longer."""
    from playwright.sync_api import Error

    for k in range(tries):
        try:
            act()
            return until(found, seconds * 2**k)
        except (AssertionError, Error):
            continue
    raise AssertionError(f"it did not happen in {tries} tries")


def until(found, seconds=PATIENCE / 1000):
    """What a function gives as soon as it gives something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if answer := found():
            return answer
        time.sleep(0.05)
    raise AssertionError("it did not happen in time")
