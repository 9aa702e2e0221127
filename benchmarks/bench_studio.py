"""How quick the studio is, in a real Chromium; run: python benchmarks/bench_studio.py

The browser draws in software here (SwiftShader), on the same cores as the server: a machine with graphics draws faster.
``--soak 3600`` only uses the studio, for an hour, and tells its memory and open files on the way.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import trimesh
from figures import write_table
from playwright.sync_api import sync_playwright

from neurok.core import Articulation, Asset, Joint, Mesh
from neurok.geometry import lie
from neurok.studio.config import CONFIG
from neurok.studio.server import StudioServer

sys.path.append(str(Path(__file__).parents[1] / "tests" / "studio"))
from browsing import PATIENCE, Window, launched, press, until

SECONDS = 5.0
"""For which frames are pushed as fast as they go."""


SOAK_PATIENCE = 600.0
"""How long a step of a long use may take, beside other work on the machine [s]."""


def balls(vertex_count: int, parts: int = 10) -> Asset:
    """Balls in a row, each on a hinge of its own."""
    level = {1_000: 4, 10_000: 5}[vertex_count // parts]
    made = trimesh.creation.icosphere(level)
    one, faces = made.vertices, made.faces
    vertices = np.concatenate([one + (2.2 * k, 0, 0) for k in range(parts)])
    joined = np.concatenate([faces + len(one) * k for k in range(parts)])
    ids = np.repeat(np.arange(parts), len(one))
    mesh = Mesh(vertices, joined, part_ids=ids, part_names=tuple(f"ball_{k}" for k in range(parts)), name="balls")
    joints = [Joint(), *(Joint("continuous", 0, (0, 1, 0), (2.2 * k, 0, 0)) for k in range(1, parts))]
    return Asset(mesh, articulation=Articulation(mesh, tuple(joints)))


def in_motion(rest: np.ndarray, angle: float, bends: bool) -> np.ndarray:
    """The row of balls a little later: a wave runs through it, or it turns."""
    if bends:
        return rest + (0.6 * np.sin(0.5 * rest[:, :1] + angle)) * (0.0, 1.0, 0.0)
    return lie.apply(lie.rotation_about(np.array([0.0, 1.0, 0.0]), rest.mean(axis=0), np.array(angle)), rest)


def pushed(window: Window, bends: bool) -> dict[str, float]:
    """Frames per second that leave the server, and processor time of each."""
    session = window.session
    rest = session.scene.mesh.vertices
    frames, busy, start = 0, 0.0, time.perf_counter()
    flush = session.client.flush
    while time.perf_counter() - start < SECONDS:
        x = in_motion(rest, 0.05 * frames, bends)
        before = time.thread_time()
        with session.lock:
            session.view.move(x)
        busy += time.thread_time() - before
        flush()
        frames += 1
    took = time.perf_counter() - start
    window.page.get_by_role("button", name="Reset", exact=True).is_visible()  # the window still answers
    return {"fps": frames / took, "ms": 1e3 * busy / frames}


WAYS = {
    "10 parts as wholes": (False, CONFIG),
    "10 parts that bend, vertices": (True, replace(CONFIG, sent_vertices=10**9)),
    "10 parts that bend, bones": (True, replace(CONFIG, sent_vertices=0)),
}
"""How ten balls are shown: whether they bend, and with which limits."""


def frames_pushed(context) -> list[list[object]]:
    rows: list[list[object]] = []
    for count in (10_000, 100_000):
        for how, (bends, config) in WAYS.items():
            server = StudioServer(balls(count), config=config)
            try:
                page = context.new_page()
                window = Window(page, server)
                until(lambda window=window: window.scene.asset is not None)
                found = pushed(window, bends)
                real, bent = window.scene.mesh.vertex_count, window.session.view.bending.values()
                assert sum(part.bones is not None for part in bent) == (10 if "bones" in how else 0)
                rows.append([f"frames pushed, {real:,} vertices, {how}", found["fps"], "1/s"])
                rows.append([f"processor time of one frame, {real:,} vertices, {how}", found["ms"], "ms"])
                page.close()
            finally:
                server.stop()
    return rows


def drag_latency(context, count: int = 20) -> list[list[object]]:
    """From the mouse to the message that moves the part, and to the changed picture."""
    from neurok.io import load

    server = StudioServer(load("sample:laptop"))
    try:
        page = context.new_page()
        window = Window(page, server)
        until(lambda: window.scene.asset is not None)
        mesh = window.scene.mesh
        mine = np.flatnonzero(mesh.part_ids == mesh.part_names.index("screen"))
        middle = window.scene.positions[mine].mean(axis=0)
        here, there = np.array(window.at(middle)), np.array(window.at(middle + (0.0, -0.06, 0.08)))
        mouse, waits = page.mouse, []

        def lead(share: float) -> None:
            """Part of the way on which the screen opens: limits are at both ends of it."""
            before = window.session.view.sent
            mouse.move(*(here + share * (there - here)))
            until(lambda: window.session.view.sent > before)

        window.take_hold(middle)
        lead(0.5)
        for k in range(count):
            time.sleep(0.2)
            start = time.perf_counter()
            lead(0.3 + 0.4 * (k % 2))
            waits.append(time.perf_counter() - start)
        first = window.picture()
        start = time.perf_counter()
        window.picture()
        alone = time.perf_counter() - start
        start = time.perf_counter()
        lead(1.0)
        until(lambda: (np.abs(window.picture() - first).max(axis=2) > 40).sum() > 40)
        seen = time.perf_counter() - start
        mouse.up()
        page.close()
    finally:
        server.stop()
    return [
        ["drag to the message that moves the part, median", 1e3 * float(np.median(waits)), "ms"],
        ["drag to the message, slowest of twenty", 1e3 * max(waits), "ms"],
        ["drag to a picture that shows it", 1e3 * seen, "ms"],
        ["of which the screenshot alone takes", 1e3 * alone, "ms"],
    ]


def first_picture(context) -> list[list[object]]:
    """From the command to the address, and to the object in the window; the second time, when files are cached."""
    rows: list[list[object]] = []
    for which in ("cold", "warm"):
        start = time.perf_counter()
        line = [sys.executable, "-m", "neurok", "studio", "sample:cabinet", "--port", "0", "--json"]
        process = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
        try:
            url = json.loads(process.stdout.readline())["url"]
            listening = time.perf_counter() - start
            page = context.new_page()
            page.goto(url)
            page.get_by_text("cabinet · posing").wait_for()
            told = time.perf_counter() - start
            page.close()
        finally:
            process.terminate()
            process.wait()
        rows += [[f"command to address, {which}", listening, "s"], [f"command to the open object, {which}", told, "s"]]
    return rows


def processor_times(frames: int = 20) -> list[list[object]]:
    """What the server works for its start and for a frame, without a browser: other programs hardly change it."""
    import viser

    from neurok.studio.view import StudioView

    line = [sys.executable, "-m", "neurok", "studio", "sample:cabinet", "--port", "0", "--json"]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
    json.loads(process.stdout.readline())
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    process.terminate()
    process.wait()
    took = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    rows: list[list[object]] = [["processor time from command to address", took, "s"]]
    server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
    for count in (10_000, 100_000):
        mesh = balls(count).mesh
        for how, (bends, config) in WAYS.items():
            view, busy = StudioView(server.scene, config), 0.0
            view.show(mesh)
            for k in range(frames + 1):
                x, before = in_motion(mesh.vertices, 0.05 * k, bends), time.thread_time()
                with server.atomic():
                    view.move(x)
                busy += (time.thread_time() - before) * (k > 0)  # the first one draws the nodes
            rows.append(
                [f"processor time of one frame, {mesh.vertex_count:,} vertices, {how}", 1e3 * busy / frames, "ms"]
            )
            view.clear()
    server.stop()
    return rows


def memory(pid: int | str) -> float:
    """Megabytes that a process holds."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return float(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1e3


def soak(context, seconds: float) -> list[list[object]]:
    """Use the studio: poses, runs, edits, recordings, one after the other; its memory and open files every quarter."""
    from neurok.bodyplan import editing
    from neurok.io import load

    server = StudioServer(load("sample:cabinet"))
    try:
        page = context.new_page()
        window = Window(page, server)
        until(lambda: window.scene.asset is not None)
        session, scene = window.session, window.scene
        time.sleep(5.0)
        start, rounds, marks = time.perf_counter(), 0, [_held(0.0, 0)]
        while (gone := time.perf_counter() - start) < seconds:
            if gone >= seconds * len(marks) / 4:
                marks.append(_held(gone, rounds))
            for seed in range(10):
                session.do(lambda seed=seed: scene.random_pose(seed))
                time.sleep(0.1)
            session.do(lambda: scene.edit("limits", lambda plan: editing.with_limits(plan, 1, -0.5, 0.0)))
            session.do(scene.undo)
            session.do(lambda: scene.record(True))
            session.do(scene.run)
            until(lambda: scene.meter.get("time", 0) > 2.0, SOAK_PATIENCE)
            session.do(lambda: scene.record(False))
            until(lambda: scene.playback.recording is not None, SOAK_PATIENCE)
            session.do(scene.rest)
            rounds += 1
        marks.append(_held(time.perf_counter() - start, rounds))
        page.get_by_text("cabinet · posing").wait_for()
        page.close()
    finally:
        server.stop()
    return marks


def _held(seconds: float, rounds: int) -> list[object]:
    return [seconds / 60, rounds, memory("self"), len(os.listdir("/proc/self/fd"))]


def pictures(playwright, folder: Path) -> None:
    """What the docs show: poses, the plan, a run, a recording, something soft that has bent, and a page."""
    from neurok.io import load

    folder.mkdir(parents=True, exist_ok=True)
    for name, walk in {"sample:pillow": _bend, "sample:cabinet": _walk}.items():
        server = StudioServer(load(name))
        for context in launched(playwright, {"width": 1280, "height": 800}, 1.0):
            window = Window(context.new_page(), server)
            until(lambda window=window: window.scene.asset is not None)
            for note in window.page.locator(".mantine-Notification-closeButton").all():
                press(note)
            walk(window, folder)
        server.stop()


def _keep(page, path: Path) -> None:
    """A picture, once two in a row are the same: a browser that draws in software lags behind."""
    before = b""
    while (now := page.screenshot(quality=70, type="jpeg", timeout=PATIENCE)) != before:
        before = now
        page.wait_for_timeout(1000)
    path.write_bytes(now)


def _bend(window: Window, folder: Path) -> None:
    """Something soft in another pose."""
    scene = window.scene
    until(lambda: scene.space is not None)
    window.tab("Pose")
    window.session.do(lambda: scene.random_pose(3))
    until(lambda: window.session.view.stills)
    _keep(window.page, folder / "bent.jpg")


def _walk(window: Window, folder: Path) -> None:
    """Through the tabs, with a cabinet."""
    import neurok

    page, session, scene = window.page, window.session, window.scene
    window.tab("Pose")
    session.do(lambda: scene.random_pose(5))
    _keep(page, folder / "poses.jpg")
    session.do(scene.rest)
    window.tab("Plan")
    press(page.get_by_text("Show bodies and axes"))
    press(page.get_by_text("Move the axis"))
    door = scene.mesh.part_names.index("door_2")
    session.do(lambda: session.select(door))
    _keep(page, folder / "plan.jpg")
    press(page.get_by_text("Move the axis"))
    press(page.get_by_text("Show bodies and axes"))
    session.do(lambda: session.select(None))
    window.tab("Materials")
    press(page.get_by_text("Colour by material"))
    _keep(page, folder / "materials.jpg")
    press(page.get_by_text("Colour by material"))
    window.tab("Record")
    window.click("Record")
    window.tab("Forces")
    window.choose("Do", "throw")
    window.click("Do it")
    until(lambda: scene.meter.get("time", 0) > 0.7)
    window.click("Pause")
    window.click("Look at it")
    _keep(page, folder / "forces.jpg")
    window.click("Run")
    until(lambda: scene.meter.get("time", 0) > 2.0)
    window.tab("Record")
    window.click("Stop recording")
    until(lambda: scene.playback.recording is not None)
    session.do(lambda: scene.scrub(16))
    window.click("Look at it")
    _keep(page, folder / "record.jpg")
    with tempfile.TemporaryDirectory() as room:
        path = neurok.show(neurok.plan("sample:lamp")).save(Path(room) / "page.html")
        page.goto(f"file://{path}")
        _keep(page, folder / "page.jpg")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--soak", type=float, default=0.0, help="only use it for so many seconds [s]")
    parser.add_argument("--pictures", type=Path, help="only take pictures for the docs, into this folder")
    parser.add_argument("--alone", action="store_true", help="only the processor time of the server, without a browser")
    options = parser.parse_args()
    if options.alone:
        write_table("studio_alone", ["figure", "value", "unit"], processor_times())
        return
    with sync_playwright() as playwright:
        if options.pictures is not None:
            pictures(playwright, options.pictures)
            return
        if options.soak:
            for context in launched(playwright, {"width": 640, "height": 400}):
                columns = ["minutes of use", "rounds", "memory of the server [MB]", "open files of the server"]
                write_table("studio_soak", columns, soak(context, options.soak))
            return
        for context in launched(playwright):
            rows = first_picture(context) + frames_pushed(context) + drag_latency(context)
    rows.append(["pictures per second at most", CONFIG.picture_rate, "1/s"])
    write_table("studio", ["figure", "value", "unit"], rows)


if __name__ == "__main__":
    main()
