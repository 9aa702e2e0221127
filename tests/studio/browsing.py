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
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SIZE = {"width": 760, "height": 560}
SHARPNESS = 0.5
"""Pixels drawn for each of the page: few, since they are drawn in software."""

PATIENCE = 180_000
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
        self.page.get_by_role("tab", name=name).click(force=True)

    def click(self, name):
        self.page.get_by_role("button", name=name, exact=True).first.click(force=True)

    def choose(self, label, option):
        """Take an option of a list."""
        row = self.page.get_by_text(label, exact=True).locator("xpath=ancestor::div[.//input][1]")
        row.locator("input").first.click(force=True)
        self.page.get_by_role("option", name=option, exact=True).first.dispatch_event("click")

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

    def drag(self, start, end, steps=12):
        """Press the mouse on a point of the object, lead it to another, let go."""
        mouse = self.page.mouse
        (x0, y0), (x1, y1) = self.at(start), self.at(end)
        mouse.move(x0, y0)
        mouse.down()
        for k in range(1, steps + 1):
            mouse.move(x0 + (x1 - x0) * k / steps, y0 + (y1 - y0) * k / steps)
            time.sleep(0.03)
        try:
            until(lambda: self.session.target is not None, 20.0)  # it has taken hold
            mouse.move(x1 + 1, y1)
            time.sleep(0.5)
        finally:
            mouse.up()
        until(lambda: self.session.target is None)


def repeat(act, found, tries=12, seconds=8.0):
    """Do something until it has its effect: a page that is being drawn anew may lose a click."""
    for _ in range(tries):
        try:
            act()
            return until(found, seconds)
        except AssertionError:
            continue
    raise AssertionError(f"it did not happen in {tries} tries")


def until(found, seconds=60.0):
    """What a function gives as soon as it gives something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if answer := found():
            return answer
        time.sleep(0.05)
    raise AssertionError("it did not happen in time")
