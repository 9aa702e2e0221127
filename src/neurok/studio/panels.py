"""The panels of the window: each translates clicks into calls of the scene, and shows what it has become."""

from __future__ import annotations

import copy
import itertools
import math
import tempfile
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from neurok.catalogue.samples import SAMPLES
from neurok.core.material_library import library
from neurok.core.select import SIDES
from neurok.dynamics.choice import EngineName
from neurok.errors import NeurokError, counted
from neurok.io import load
from neurok.rendering.palette import part_color
from neurok.scene.description import ActionName, BaseName
from neurok.studio.files import FORMATS, Upload, check_upload, export, restore
from neurok.studio.state import Forces

if TYPE_CHECKING:
    from neurok.generation.verb import Generated
    from neurok.studio.session import Session


class Panel:
    """One tab; knows its session and nothing of other panels."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.gui: Any = session.client.gui
        self.build()

    @property
    def scene(self) -> Any:
        return self.session.scene

    def build(self) -> None:
        """Add what is in the tab."""

    def opened(self) -> None:
        """Another object is shown, or more is known of it."""

    def refresh(self) -> None:
        """The scene has changed."""

    def ticked(self) -> None:
        """Something moved; called a few times a second."""

    def button(self, label: str, act: Callable[[], Any], **options: Any) -> Any:
        """A button that does something to the scene."""
        made = self.gui.add_button(label, **options)

        @made.on_click
        async def _(event: Any) -> None:
            self.session.soon(lambda: self.session.do(act))

        return made

    def row(self, label: str, acts: dict[str, Callable[[], Any]]) -> Any:
        """Buttons beside each other, in the height of one."""
        made = self.gui.add_button_group(label, tuple(acts))
        several = list(acts.values())

        @made.on_click
        async def _(event: Any) -> None:
            act = several[made.options.index(made.value)]  # what they are called may change
            self.session.soon(lambda: self.session.do(act))

        return made

    def input(self, made: Any, act: Callable[[Any], Any]) -> Any:
        """An input whose changes by the user, and not by the program, do something to the scene.

        Values are taken as they come, since a scene that is brought to the window meanwhile puts the old one back; of
        those that come faster than they can be followed the newest counts.
        """
        waiting: deque[Any] = deque(maxlen=1)

        def follow() -> None:
            if waiting:
                value = waiting.pop()
                self.session.do(lambda: act(value))

        @made.on_update
        async def _(event: Any) -> None:
            if event.client is not None:
                waiting.append(made.value)
                self.session.soon(follow)

        return made


class HeadPanel(Panel):
    """The top of the window."""

    def build(self) -> None:
        self.sentence = ""
        self.status = self.gui.add_markdown("")
        acts = {"Run": self._run, "Reset": self.scene.rest, "View": self.session.look_at_object}
        self.controls = self.row("Simulation", acts)
        self.message = self.gui.add_markdown("")

    def _run(self) -> None:
        if self.scene.mode in ("running", "playing"):
            self.scene.pause()
        else:
            self.scene.run()

    def tell(self, text: str) -> None:
        """Keep a sentence in sight."""
        self.sentence = text
        self.message.content = _plain(text)

    def refresh(self) -> None:
        scene = self.scene
        is_going = scene.mode in ("running", "playing")
        labels = ("Pause" if is_going else "Run", "Reset", "View")
        if self.controls.options != labels:
            self.controls.options = labels
        name = "nothing open" if scene.asset is None else _plain(scene.open_asset.mesh.name)
        lines = [f"**{name}** · {scene.mode}"]
        if scene.mode in ("running", "paused"):
            lines.append(meter_line(scene.meter))
        self.status.content = "  \n".join(lines)
        if scene.notes and scene.notes[-1] and scene.notes[-1] not in self.sentence:
            self.tell(scene.notes[-1])


def meter_line(meter: dict[str, Any]) -> str:
    """Steps per second, energy and real-time factor in one line."""
    if "time" not in meter:
        return "getting ready ..."
    sentences = [f"{meter['time']:.1f} s"]
    if meter.get("steps_per_second"):
        sentences.append(f"{meter['steps_per_second']:.0f} steps/s")
    total = (meter.get("energy") or {}).get("total")
    if total is not None and math.isfinite(total):
        sentences.append(f"{total:.3g} J")
    if meter.get("real_time_factor"):
        sentences.append(f"{meter['real_time_factor']:.1f}x real time")
    if meter.get("pieces"):
        sentences.append(f"next frame: {meter['pieces']} steps done")
    if meter.get("engine"):
        sentences.append(str(meter["engine"]))
    return " · ".join(sentences)


def _plain(text: str) -> str:
    """Text of files and users, without markdown."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]()#+!|<>~$" else c for c in text)


class OpenPanel(Panel):
    """The first tab."""

    def build(self) -> None:
        self.sample = self.gui.add_dropdown("Sample", tuple(SAMPLES))
        self.button("Open sample", lambda: self.session.open(load(f"sample:{self.sample.value}")))
        limit = self.session.config.upload_bytes / 1e6
        self.upload = self.gui.add_upload_button(
            "Open a file ...", hint=f"GLB, OBJ, PLY, STL, USD, NPZ or a scene of the studio, up to {limit:.0f} MB"
        )
        self.upload.on_upload(self._take)
        self.facts = self.gui.add_markdown("")

    def _take(self, event: Any) -> None:
        file = event.target.value
        name = "".join(c for c in file.name if c.isprintable())[:80]
        work = partial(check_upload, name, file.content, self.session.folder, self.session.config)
        self.session.later(f"Reading '{name}' ...", work, self._show)

    def _show(self, taken: Upload) -> None:
        if taken.scene is None:
            self.session.open(taken.asset, taken.notes)
        else:
            restore(self.scene, taken.scene, taken.notes)
            self.session.opened()

    def opened(self) -> None:
        asset = self.scene.open_asset
        mesh, joints = asset.mesh, self.scene.made_asset().articulation
        low, high = mesh.bounds
        sides = " x ".join(f"{side * mesh.unit:.3g}" for side in high - low)
        dof = 0 if joints is None else joints.dof
        counts = {"vertex": mesh.vertex_count, "face": mesh.face_count, "part": mesh.part_count}
        counts |= {"joint value": dof, "animation": len(asset.clips)}
        told = ", ".join(counted(number, noun) for noun, number in counts.items())
        self.facts.content = f"{told}. {sides} m, {mesh.up} up."


MOST_SLIDERS = 24
"""Coordinates with a slider of their own; the others move by hand or at random."""


class PosesPanel(Panel):
    """The tab of poses."""

    def build(self) -> None:
        self.seeds = itertools.count()
        acts = {"Random state": lambda: self.scene.random_pose(next(self.seeds)), "Back to rest": self.scene.rest}
        self.row("Pose", acts)
        self.gui.add_markdown(
            "Drag a point of the surface: it follows by itself while paused, on a spring while running."
        )
        self.folder = self.gui.add_folder("Coordinates")
        self.sliders: list[Any] = []
        self.space: Any = None

    def refresh(self) -> None:
        space = self.scene.space
        if space is not self.space:
            self._rebuild()
        for slider, value in zip(self.sliders, self.scene.q, strict=False):
            slider.value = _near(float(value), slider.step)

    def opened(self) -> None:
        self._rebuild()

    def _rebuild(self) -> None:
        space = self.space = self.scene.space
        for slider in self.sliders:
            slider.remove()
        self.sliders = []
        if space is None or not space.dim:
            return
        with self.folder:
            for index in range(min(space.dim, MOST_SLIDERS)):
                low, high, step = scale_of(*(float(value) for value in space.ranges[index]))
                value = min(max(_near(float(self.scene.q[index]), step), low), high)
                unit = "length" if space.is_length[index] else "rad"
                made = self.gui.add_slider(space.names[index], low, high, step, value, hint=f"[{unit}]")
                self.input(made, partial(self.scene.set_coordinate, index))
                self.sliders.append(made)

    def ticked(self) -> None:
        if self.scene.mode == "posing":
            self.refresh()


def scale_of(low: float, high: float) -> tuple[float, float, float]:
    """Ends and step of a slider over a range, in round numbers: a hundred to a thousand steps."""
    step = 10.0 ** math.floor(math.log10(max(high - low, 1e-6) / 100.0))
    first, last = math.floor(low / step + 1e-6), math.ceil(high / step - 1e-6)
    return _near(first * step, step), _near(max(last, first + 1) * step, step), step


def _near(value: float, step: float) -> float:
    """The nearest number on the scale, without digits that mean nothing."""
    return round(round(value / step) * step, max(0, -math.floor(math.log10(step))))


class ForcesPanel(Panel):
    """The tab of forces."""

    def build(self) -> None:
        gui, forces = self.gui, Forces()
        self.inputs = {
            "gravity": gui.add_slider("Gravity", -2.0, 3.0, 0.05, forces.gravity, hint="in multiples of the earth's"),
            "wind": gui.add_slider("Wind", 0.0, 40.0, 0.5, forces.wind, hint="[m/s]"),
            "wind_to": gui.add_dropdown("Wind blows to", tuple(SIDES), initial_value=forces.wind_to),
            "ground": gui.add_checkbox("Ground", forces.ground),
            "base": gui.add_dropdown("Base", get_args(BaseName), initial_value=forces.base),
            "engine": gui.add_dropdown("Engine", get_args(EngineName), initial_value=forces.engine),
        }
        for name, made in self.inputs.items():
            self.input(made, self._ground if name == "ground" else partial(self._put, name))
        with gui.add_folder("Action"):
            self.act = gui.add_dropdown("Do", get_args(ActionName))
            self.strength = gui.add_slider("Strength", 0.1, 5.0, 0.1, 1.0)
            self.button("Do it", self._act)
        with gui.add_folder("Push"):
            self.place = gui.add_dropdown("Place", ("top",))
            self.to = gui.add_dropdown("Towards", tuple(SIDES), initial_value="front")
            self.force = gui.add_slider("Push strength", 0.1, 10.0, 0.1, 1.0, hint="in halves of the weight")
            self.button("Push", lambda: self.scene.push(self.place.value, self.to.value, self.force.value))

    def _put(self, name: str, value: Any) -> None:
        self.scene.set_forces(**{name: value})

    def _ground(self, there: bool) -> None:
        self.scene.set_forces(ground=there)
        self.session.drawn = (None, "object", None)

    def _act(self) -> None:
        """An action is a run of its own: from the pose that is shown, once."""
        if self.scene.mode in ("running", "paused"):
            self.scene.rest()
        before = self.scene.forces
        self.scene.set_forces(act=self.act.value, strength=float(self.strength.value))
        try:
            self.scene.run()
        finally:
            self.scene.set_forces(act=before.act, strength=before.strength)

    def opened(self) -> None:
        names = [name for name in self.scene.object_mesh.part_names if "/" not in name]
        self.place.options = ("top", "center", *dict.fromkeys(names[:40]))

    def refresh(self) -> None:
        for name, made in self.inputs.items():
            made.value = getattr(self.scene.forces, name)


MOST_ROWS = 40
"""Regions that are listed."""


class MaterialsPanel(Panel):
    """The tab of materials."""

    def build(self) -> None:
        gui = self.gui
        self.shows = self.input(gui.add_checkbox("Colour by material", False), self._show)
        self.region = gui.add_dropdown("Region", ("all",))
        self.material = gui.add_dropdown("Material", tuple(sorted(library())))
        self.button("Set material", lambda: self.scene.set_material(self.region.value, self.material.value))
        self.list = gui.add_markdown("")
        self.known: Any = None

    def _show(self, on: bool) -> None:
        self.session.coloring = "materials" if on else "object"

    def opened(self) -> None:
        self.known = None
        self.refresh()

    def refresh(self) -> None:
        key = (self.scene.asset, self.scene.plan, self.scene.is_edited, tuple(self.scene.materials.items()))
        if self.scene.asset is None or (
            self.known is not None and all(a is b or a == b for a, b in zip(key, self.known))
        ):
            return
        self.known = key
        found = self.scene.proposals()
        names = list(dict.fromkeys(item.region.name for item in found.items))
        self.region.options = ("all", *names)
        order = {name: k for k, name in enumerate(dict.fromkeys(m.name for m in found.field.materials))}
        rows = []
        for item in found.items[:MOST_ROWS]:
            red, green, blue = (int(255 * c) for c in part_color(order[item.material.name]))
            dot = f'<span style="color:rgb({red},{green},{blue})">&#9632;</span>'
            rows.append(f"{dot} {item.region.name}: **{item.material.name}** ({item.confidence:.2f})")
        self.list.content = "  \n".join(rows)


class GeneratePanel(Panel):
    """Objects that are made instead of opened."""

    def build(self) -> None:
        gui = self.gui
        with gui.add_folder("Generate"):
            self.words = gui.add_text("Words", "a wooden cabinet with two doors")
            self.seed = gui.add_number("Seed", 0, min=0, max=1_000_000, step=1)
            gui.add_button("Make it").on_click(lambda _: self._make(None))
            self.picture = gui.add_upload_button("Make it from a picture ...", mime_type="image/*")
            self.picture.on_upload(self._take)
            self.facts = gui.add_markdown("")

    def _take(self, event: Any) -> None:
        file = event.target.value
        if len(file.content) > self.session.config.upload_bytes:
            self.session.say(f"The picture has {len(file.content) / 1e6:.0f} MB, which is too large.", bad=True)
            return
        self._make(file)

    def _make(self, file: Any) -> None:
        words, seed = self.words.value, int(self.seed.value)

        def work() -> Generated:
            # Networks come along, which the first picture can do without.
            from neurok.generation.verb import generate

            if file is None:
                return generate(words, seed=seed)[0]
            with tempfile.TemporaryDirectory(dir=self.session.folder) as folder:
                path = Path(folder) / f"picture{Path(file.name).suffix.lower()[:6]}"
                path.write_bytes(file.content)
                found = generate("", path, seed=seed)
            if not found:
                raise NeurokError("Nothing was made of the picture.")
            return found[0]

        self.session.later("Making it ...", work, self._show)

    def _show(self, made: Generated) -> None:
        self.session.open(made.asset, made.notes)
        sentences = [f"Made: {made.assembly.category}, seed {made.seed}."]
        if made.ignored:
            sentences.append(f"Not understood: {', '.join(made.ignored)}.")
        self.facts.content = " ".join(sentences)


class RecordPanel(Panel):
    """The tab of recordings and files."""

    def build(self) -> None:
        gui = self.gui
        acts = {"Record": lambda: self.scene.record(not self.scene.records), "Play": self.scene.play}
        self.record = self.row("Recording", acts)
        self.frame = self.input(gui.add_slider("Frame", 0, 1, 1, 0), lambda value: self.scene.scrub(int(value)))
        self.loop = self.input(gui.add_checkbox("Loop", True), self.scene.set_loop)
        self.plots: list[Any] = []
        self.plotted: Any = None
        self.plot_folder = gui.add_folder("Plots")
        with gui.add_folder("Download"):
            self.format = gui.add_dropdown("Format", tuple(FORMATS))
            gui.add_button("Download", icon="download").on_click(lambda _: self._download())

    def _download(self) -> None:
        chosen = self.format.value
        with self.session.lock:
            still = copy.copy(self.scene)  # what happens while it is written is not in the file

        def work() -> tuple[str, bytes]:
            return export(still, chosen)

        def give(file: tuple[str, bytes]) -> None:
            self.session.client.send_file_download(*file, save_immediately=True)

        self.session.later(f"Writing {chosen} ...", work, give)

    def opened(self) -> None:
        self.refresh()

    def refresh(self) -> None:
        recording = self.scene.playback.recording
        labels = ("Stop" if self.scene.records else "Record", "Play")
        if self.record.options != labels:
            self.record.options = labels
        if recording is not None:
            last = max(recording.clip.frame_count - 1, 1)
            if self.frame.max != last:
                self.frame.max = last
            self.frame.value = min(int(self.scene.playback.frame), last)
        if recording is not self.plotted:
            self._plot()

    def ticked(self) -> None:
        self.refresh()

    def _plot(self) -> None:
        for plot in self.plots:
            plot.remove()
        self.plots, recording = [], self.scene.playback.recording
        self.plotted = recording
        if recording is None:
            return
        times = np.arange(recording.clip.frame_count) / recording.clip.fps
        with self.plot_folder:
            for label, values in (("energy [J]", recording.energies), ("deepest so far [m]", recording.depths)):
                if np.isfinite(values).any():
                    series = ({"label": "s"}, {"label": label, "stroke": "#1f77b4", "width": 1.5})
                    self.plots.append(
                        self.gui.add_uplot(
                            (times, np.nan_to_num(values)),
                            series,
                            scales={"x": {"time": False}},
                            title=label,
                            height=140,
                        )
                    )
