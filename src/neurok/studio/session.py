"""One person in the studio: their scene, their picture, their panels. Nobody else sees any of it.

What is clicked is done by one thread, in the order in which it was clicked; what takes long by threads of its own. What
moves is brought to the picture by another one that always shows the newest state. One lock makes them take turns.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from neurok.core import Asset, Mesh
from neurok.errors import NeurokError
from neurok.studio.config import StudioConfig
from neurok.studio.panels import (
    ForcesPanel,
    GeneratePanel,
    HeadPanel,
    MaterialsPanel,
    OpenPanel,
    Panel,
    PosesPanel,
    RecordPanel,
)
from neurok.studio.plan_panel import PlanPanel
from neurok.studio.scene import StudioScene
from neurok.studio.view import EYE, UP, Coloring, StudioView, body_colors, material_colors

TABS: dict[str, tuple[type[Panel], ...]] = {
    "Open": (OpenPanel, GeneratePanel),
    "Pose": (PosesPanel,),
    "Forces": (ForcesPanel,),
    "Plan": (PlanPanel,),
    "Materials": (MaterialsPanel,),
    "Record": (RecordPanel,),
}
"""What is in each tab; six of them fit into one row."""


class _ClickableView(StudioView):
    """A view whose nodes answer to clicks and drags."""

    def __init__(self, session: Session) -> None:
        super().__init__(session.client.scene, session.config)
        self.session = session

    def added(self, part: int, node: Any) -> None:
        self.session.listen(part, node)

    def move(self, positions: np.ndarray) -> None:
        with self.session.client.atomic():  # one picture, and one call of the network, for all parts and bones
            super().move(positions)


class Session:
    """All of one browser window."""

    def __init__(self, client: Any, config: StudioConfig, start: Asset | None) -> None:
        self.client, self.config = client, config
        self.lock = threading.RLock()
        self.worker = ThreadPoolExecutor(1, "studio")
        self.folder = Path(tempfile.mkdtemp(prefix="neurok-studio-"))
        self.scene = StudioScene(self.folder, config)
        self.view: View = _ClickableView(self)
        self.coloring: Coloring = "object"
        self.selected: int | None = None
        self.target: np.ndarray | None = None
        self.hands: deque[tuple[str, int, np.ndarray]] = deque()
        self.grabs = True
        self.drawn: tuple[Mesh | None, Coloring, Any] = (None, "object", None)
        self.awake, self.over = threading.Event(), False
        self.error = ""
        self.head = HeadPanel(self)
        tabs = client.gui.add_tab_group()
        self.panels: list[Panel] = []
        for name, kinds in TABS.items():
            with tabs.add_tab(name):
                self.panels += [kind(self) for kind in kinds]
        self.thread = threading.Thread(target=self._live, daemon=True)
        self.thread.start()
        if start is not None:
            self.do(lambda: self.open(start))

    # What panels call.

    def do(self, act: Callable[[], Any]) -> bool:
        """Do something for the user; a mistake becomes a sentence in the window. Whether it was done."""
        try:
            with self.lock:
                act()
                self.refresh()
        except NeurokError as error:
            self.say(str(error), bad=True)
            with self.lock:
                self.refresh()
            return False
        self.awake.set()
        return True

    def soon(self, act: Callable[[], Any]) -> None:
        """Do something after what was asked for before, without waiting for it."""

        def go() -> None:
            try:
                act()
            except Exception as error:
                self._went_wrong(error)

        with contextlib.suppress(RuntimeError):  # the window was closed meanwhile
            self.worker.submit(go)

    def _went_wrong(self, error: Exception) -> None:
        traceback.print_exc()
        self.say(f"Something went wrong inside neurok ({type(error).__name__}: {error}).", bad=True)

    def say(self, text: str, bad: bool = False) -> None:
        """One sentence in the window, and under the buttons."""
        self.error = text if bad else ""
        self.client.add_notification(
            "That cannot be done" if bad else "neurok", text, auto_close_seconds=12.0, color="red" if bad else None
        )
        self.head.tell(text)

    def later(self, name: str, work: Callable[[], Any], then: Callable[[Any], None]) -> None:
        """Do something that takes long without blocking the window; ``then`` gets the answer."""
        note = self.client.add_notification("neurok", name, loading=True, with_close_button=False)

        def go() -> None:
            try:
                answer = work()
                self.do(lambda: then(answer))
            except NeurokError as error:
                self.say(str(error), bad=True)
            except Exception as error:
                self._went_wrong(error)
            finally:
                note.remove()

        threading.Thread(target=go, daemon=True).start()

    def open(self, asset: Asset, notes: tuple[str, ...] = ()) -> None:
        """Show another object, and look for its joints where its file has none."""
        self.scene.open(asset, notes)
        self.opened()

    def opened(self) -> None:
        """After another object was opened."""
        self.selected = None
        self.drawn = (None, "object", None)
        self.refresh()
        self.look_at_object()
        for panel in self.panels:
            panel.opened()
        if self.scene.notes:
            self.head.tell(" ".join(self.scene.notes[-3:]))
        if self.scene.needs_study:
            asset = self.scene.open_asset

            def learn(found: Any) -> None:
                self.scene.learn(asset, found)
                for panel in self.panels:
                    panel.opened()

            self.later("Looking for joints ...", self.scene.study, learn)

    def look_at_object(self) -> None:
        """Put the camera in front of the object, wherever it is now."""
        self.scene.open_asset  # noqa: B018
        used = np.unique(self.scene.mesh.faces)
        middle = self.view.shown(self.scene.positions[used].mean(axis=0))
        camera = self.client.camera
        camera.up_direction = UP
        camera.position, camera.look_at = middle + EYE, middle

    def select(self, body: int | None) -> None:
        """Choose a body, by a click or by its name."""
        self.selected = body
        self.refresh()

    def refresh(self) -> None:
        """Bring picture and panels in line with the scene."""
        scene = self.scene
        if scene.asset is not None:
            key = (
                scene.mesh,
                self.coloring,
                (self.selected if self.coloring == "bodies" else None, tuple(scene.materials.items())),
            )
            if key[0] is not self.drawn[0] or key[1:] != self.drawn[1:]:
                self._draw()
                self.drawn = key
            self.view.move(scene.positions)
        for panel in [self.head, *self.panels]:
            panel.refresh()

    def _draw(self) -> None:
        mesh, colors = self.scene.mesh, None
        if self.coloring == "bodies":
            colors = body_colors(mesh.part_count, self.selected)
        elif self.coloring == "materials" and self.scene.shown is None:
            colors = material_colors(mesh, self.scene.proposals().field)
        with self.client.atomic():
            self.view.show(mesh, colors, centred=self.scene.open_asset.mesh)
            for part, node in self.view.nodes.items():
                self.listen(part, node)
            up = mesh.up_vector
            lowest = float((mesh.vertices[np.unique(mesh.faces)] @ up).min())
            self.view.show_ground(lowest if self.scene.forces.ground else None)

    # What the mouse does.

    def listen(self, part: int, node: Any) -> None:
        """Clicks choose the body of a part, drags take hold of it."""

        @node.on_click
        async def _(event: Any) -> None:
            self.soon(lambda: self.do(lambda: self.select(part)))

        if not self.grabs:
            return

        @node.on_drag
        async def _(event: Any) -> None:
            if event.phase == "start":
                place = self.view.meant(np.array(event.start_position))
                self.client.scene.add_icosphere("/hand", 0.012, (240, 120, 30), position=event.start_position)
                self.hands.append(("grab", part, place))
                self.target = self.view.meant(np.array(event.end_position))
            elif event.phase == "update":
                self.target = self.view.meant(np.array(event.end_position))
            else:
                self.hands.append(("release", part, np.zeros(3)))
            self.awake.set()

    # What goes on by itself.

    def _live(self) -> None:
        """Follow the hand, the simulation and the recording; drop what comes faster than it can be shown."""
        last, reported = time.perf_counter(), 0.0
        while not self.over:
            busy = self.scene.mode in ("running", "playing", "paused") or self.target is not None
            if not busy:
                self.awake.wait(0.5)
                self.awake.clear()
            now = time.perf_counter()
            try:
                with self.lock:
                    changed = self._hand() | self.scene.tick(now - last)
                    if changed:
                        if self.scene.mesh is not self.drawn[0]:
                            self.refresh()
                        self.view.move(self.scene.positions)
                    self._settle(now)
                    if changed and now - reported > 1.0 / self.config.meter_rate:
                        reported = now
                        self.head.refresh()
                        for panel in self.panels:
                            panel.ticked()
            except NeurokError as error:
                self.target = None
                self.hands.clear()
                self.say(str(error), bad=True)
            except Exception:
                if self.over:
                    return
                traceback.print_exc()
                self.target = None
                self.hands.clear()
            last = now
            time.sleep(max(0.0, 1.0 / self.config.picture_rate - (time.perf_counter() - now)))

    def _settle(self, now: float) -> None:
        """Give what has bent its texture again once it stands still."""
        if self.view.sent != self._sent:
            self._sent, self._still_since, self._is_unsettled = self.view.sent, now, True
        is_still = self.scene.mode in ("posing", "paused") and self.target is None
        if self._is_unsettled and is_still and now - self._still_since > self.config.still_seconds:
            self._is_unsettled, self._still_since = self.view.settle(), now

    def _hand(self) -> bool:
        """Do what the hand did since the last time; whether it did anything."""
        did = False
        while self.hands:
            did = True
            kind, part, place = self.hands.popleft()
            if kind == "grab":
                self.scene.grab(self.scene.nearest(place, part))
                self._led = None
                continue
            if self.target is not None and not self.hands:
                self.scene.drag(self.target)
                self.target = None
            self.scene.release()
            self.client.scene.remove_by_name("/hand")
            for panel in self.panels:
                panel.refresh()
        target = self.target
        if target is not None and target is not self._led:
            self._led = target
            self.scene.drag(target)
            return True
        return did

    _led: np.ndarray | None = None
    _sent, _still_since, _is_unsettled = 0, 0.0, False

    def close(self) -> None:
        """The window was closed."""
        self.over = True
        self.awake.set()
        self.worker.shutdown(wait=False, cancel_futures=True)
        with self.lock:
            self.scene.close()
        shutil.rmtree(self.folder, ignore_errors=True)
