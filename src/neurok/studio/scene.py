"""What is in the window, as a state machine: tests drive it without a browser, panels only translate clicks.

Modes: ``empty`` - nothing is open; ``posing`` - coordinates are set by hand; ``running`` and ``paused`` - a simulation
in a process of its own; ``playing`` - a recording goes by. Every method raises ``NeurokError`` where it cannot be done,
and nothing has changed then.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from jaxtyping import Float, Int

from neurok.bodyplan.editing import plan_of_joints
from neurok.bodyplan.plan import BodyPlan
from neurok.core import Asset, Mesh
from neurok.errors import NeurokError
from neurok.inference.materials import Proposals
from neurok.kinematics.fit import fit_vertices
from neurok.kinematics.space import KinematicSpace, decode
from neurok.model import Model, understand
from neurok.scene.description import Scene
from neurok.studio.config import CONFIG, StudioConfig
from neurok.studio.live import LiveSimulation, News, Simulation
from neurok.studio.motion import skinned_clip
from neurok.studio.state import Corrections, Forces, History, Playback, Recording, Studied, StudioPush, study

Mode = Literal["empty", "posing", "running", "paused", "playing"]


@dataclass(eq=False)
class StudioScene:
    """One object, what is known of it and what is being done to it."""

    folder: Path
    """Where files of this scene may be written; nobody else's."""

    config: StudioConfig = CONFIG
    simulate: Callable[[Scene, StudioConfig], Simulation] = LiveSimulation

    mode: Mode = "empty"
    model: Model | None = None
    """The object as it was opened, and what was found about it."""

    corrections: Corrections = field(default_factory=Corrections)
    """What is known of its bodies and materials, found or named by hand."""

    space: KinematicSpace | None = None
    q: Float[np.ndarray, " D"] = field(default_factory=lambda: np.zeros(0))
    positions: Float[np.ndarray, "V 3"] = field(default_factory=lambda: np.zeros((0, 3)))
    """Of the vertices as they are shown now."""

    forces: Forces = field(default_factory=Forces)
    notes: list[str] = field(default_factory=list)
    meter: dict[str, Any] = field(default_factory=dict)
    playback: Playback = field(default_factory=Playback)
    records: bool = False
    """Whether what runs is being recorded; set before a run, it records from the start."""

    shown: Mesh | None = None
    """The mesh of a simulation that has loose stuff; else that of the object is shown."""

    _simulation: Simulation | None = None
    _history: History = field(default_factory=lambda: History(CONFIG.undo))
    _grabbed: int | None = None
    _push: StudioPush | None = None
    _mass: float | None = None

    # What is open.

    def open(self, asset: Asset, notes: tuple[str, ...] = ()) -> None:
        """Show another object. What it can do is found by ``study``, which may take seconds."""
        count = asset.mesh.vertex_count
        if count > self.config.most_vertices:
            raise NeurokError(
                f"'{asset.mesh.name}' has {count:,} vertices; the studio shows up to {self.config.most_vertices:,}. "
                "Reduce it with 'neurok convert MESH --max-faces N --out FILE'."
            )
        self.close()
        self.model, self.mode, self.notes = understand(asset), "posing", [*asset.notes, *notes]
        self.corrections, self.space, self.q = Corrections(), None, np.zeros(0)
        self.playback, self.forces = Playback(loop=self.playback.loop), Forces()
        self.shown = None
        self.forget_edits()
        self.positions = asset.mesh.vertices
        if asset.clips and asset.clips[0].rest.vertex_count == count:
            self.keep(Recording.of_clip(asset.clips[0]))
        self._find_quick_space()

    def _find_quick_space(self) -> None:
        """Joints and clips of the file need no search."""
        asset = self.open_asset
        joints = asset.articulation
        if (joints is not None and joints.dof) or asset.clips:
            self._take_space(self.open_model.space())
        if joints is not None and joints.dof:
            try:
                self.corrections = Corrections(plan_of_joints(joints))
            except NeurokError as error:
                self.notes.append(f"{error} Its joints can be moved, but not edited.")

    @property
    def needs_study(self) -> bool:
        """Whether nothing is known yet of how the object moves."""
        return self.model is not None and self.space is None and self.plan is None

    def study(self) -> Studied:
        """Look for bodies and joints; changes nothing, ``learn`` takes the answer."""
        return study(self.open_model)

    def learn(self, asset: Asset, found: Studied) -> None:
        """Take what ``study`` found, if that object is still open."""
        if asset is not self.asset or self.plan is not None:
            return
        self.corrections = replace(self.corrections, plan=found.plan, is_edited=found.space is not None)
        if found.note:
            self.notes.append(found.note)
        if found.space is not None and self.mode == "posing":
            self._take_space(found.space)

    @property
    def asset(self) -> Asset | None:
        """As it was opened."""
        return None if self.model is None else self.model.asset

    @property
    def open_model(self) -> Model:
        if self.model is None:
            raise NeurokError("Nothing is open; open a file or a sample first.")
        return self.model

    @property
    def open_asset(self) -> Asset:
        return self.open_model.asset

    @property
    def mesh(self) -> Mesh:
        """What is shown, at rest."""
        return self.shown or self.object_mesh

    @property
    def object_mesh(self) -> Mesh:
        """The object at rest, cut into the bodies of its plan if that counts."""
        return self.corrections.mesh_of(self.open_asset)

    @property
    def parts(self) -> Int[np.ndarray, " V"]:
        """The part of each vertex that is shown."""
        ids = self.mesh.part_ids
        return np.zeros(self.mesh.vertex_count, dtype=np.int64) if ids is None else ids

    def close(self) -> None:
        """End what runs."""
        if self._simulation is not None:
            self._simulation.close()
        self._simulation, self._grabbed, self._push, self.records = None, None, None, False
        self.meter = {}

    # Poses.

    def _take_space(self, space: KinematicSpace) -> None:
        self.space, self.q = space, np.zeros(space.dim)
        self._show_pose()

    def _show_pose(self) -> None:
        self.shown = None
        if self.space is None or not self.q.any():  # at rest, which needs no network: the first picture is quick
            self.positions = self.object_mesh.vertices
        else:
            self.positions = decode(self.space, self.q)

    def _pose_now(self) -> KinematicSpace:
        """Go back to posing; the values of a simulation that ran are kept where it tells them."""
        if self.mode in ("running", "paused", "playing"):
            values = self.meter.get("q")
            self.close()
            self.mode = "posing"
            if values is not None and self.space is not None and len(values) >= self.space.dim > 0:
                low, high = self.space.limits.T
                self.q = np.clip(np.asarray(values)[-self.space.dim :], low, high)
            self._show_pose()
        if self.space is None or not self.space.dim:
            name = self.open_asset.mesh.name
            raise NeurokError(
                f"'{name}' has only the pose it is in: nothing is known to move. Run it, or edit its plan."
            )
        return self.space

    def set_coordinate(self, index: int, value: float) -> None:
        """Move one coordinate, within its range."""
        space = self._pose_now()
        if not 0 <= index < space.dim:
            raise NeurokError(f"There is no coordinate {index}; there are 0 to {space.dim - 1}.")
        low, high = space.ranges[index]
        self.q = self.q.copy()
        self.q[index] = np.clip(value, low, high)
        self._show_pose()

    def random_pose(self, seed: int) -> None:
        """A plausible state."""
        self.q = self._pose_now().sample(1, seed)[0]
        self._show_pose()

    def rest(self) -> None:
        """Back to rest; a simulation ends."""
        self.close()
        self.mode = "posing" if self.asset is not None else "empty"
        self.q = np.zeros_like(self.q)
        self.open_asset  # noqa: B018
        self._show_pose()

    # A hand.

    def nearest(self, point: Float[np.ndarray, "3"], part: int | None = None) -> int:
        """The vertex that is shown nearest to a point, of one part or any."""
        used = np.unique(self.mesh.faces)
        among = used if part is None else used[self.parts[used] == part]
        among = among if len(among) else used
        return int(among[np.argmin(((self.positions[among] - point) ** 2).sum(axis=1))])

    def grab(self, vertex: int) -> None:
        """Take hold of a vertex."""
        if not 0 <= vertex < len(self.positions):
            raise NeurokError(f"There is no vertex {vertex} to grab; there are 0 to {len(self.positions) - 1}.")
        if self.mode != "running":
            self._pose_now()
        self._grabbed = vertex

    def drag(self, target: Float[np.ndarray, "3"]) -> None:
        """Lead what is held to a place: a spring while it runs, inverse kinematics otherwise."""
        if self._grabbed is None:
            raise NeurokError("Nothing is held; grab a point of the surface first.")
        place = np.asarray(target, dtype=np.float64)
        if place.shape != (3,) or not np.isfinite(place).all():
            raise NeurokError(f"A place must be three finite numbers, got {target!r}.")
        if self.mode == "running" and self._simulation is not None:
            self._simulation.order(
                "grab", vertices=[self._grabbed], target=place.tolist(), stiffness=None, seconds=None
            )
            return
        space = self._pose_now()
        self.q = fit_vertices(space, np.array([self._grabbed]), place[None], self.q, self.config.reach_iterations).q
        self._show_pose()

    def release(self) -> None:
        """Let go."""
        if self._grabbed is not None and self._simulation is not None:
            self._simulation.order("release")
        self._grabbed = None

    # A simulation.

    def set_forces(self, **changes: Any) -> None:
        """Other forces; gravity and wind act at once on what runs, the rest on the next run."""
        before, self.forces = self.forces, replace(self.forces, **changes)
        if self._simulation is None:
            return
        if self.forces.gravity != before.gravity:
            self._simulation.order("gravity", vector=list(self.forces.gravity_vector(self.object_mesh)))
        if (self.forces.wind, self.forces.wind_to) != (before.wind, before.wind_to):
            self._simulation.order("wind", vector=list(self.forces.wind_vector(self.object_mesh)))

    def run(self) -> None:
        """Let it go, or go on."""
        self.open_asset  # noqa: B018
        if self.mode == "paused" and self._simulation is not None:
            self._simulation.order("play")
            self.mode = "running"
            return
        if self.mode == "running":
            return
        self.shown = None
        self._simulation = self.simulate(self._live_scene(), self.config)
        self._simulation.order("play")
        if self.records:
            self._simulation.order("record", on=True)
        self.mode, self.meter = "running", {}

    def _live_scene(self) -> Scene:
        """The object as it is now and what acts on it."""
        q = self.q if self._moves_by_joints and self.q.any() else None
        return self.forces.scene(self.corrections.model(self.open_model), self.object_mesh, q)

    @property
    def _moves_by_joints(self) -> bool:
        return self.space is not None and self.space.dim > 0 and self.space.articulation is not None

    def pause(self) -> None:
        """Hold the simulation or the recording."""
        if self.mode == "running" and self._simulation is not None:
            self._simulation.order("pause")
            self.mode = "paused"
        elif self.mode == "playing":
            self.mode = "posing"

    def push(self, at: str, to: str, strength: float) -> None:
        """A short push on a place towards a side, in halves of the object's weight; it starts the simulation."""
        self._push = StudioPush(self.object_mesh, at, to, strength)
        if self.mode != "running":
            self.run()
        elif self._mass is not None:
            self._give_push()

    def _give_push(self) -> None:
        if self._push is None or self._simulation is None or self._mass is None:
            return
        self._simulation.order("grab", **self._push.spring(self.positions, self._mass, self.config))
        self._push = None

    def record(self, on: bool) -> None:
        """Begin to record, or stop and keep what there is."""
        self.open_asset  # noqa: B018
        running = self._simulation is not None
        if on and running:
            assert self._simulation is not None
            self._simulation.order("record", on=True)
        elif not on and running and self.records:
            assert self._simulation is not None
            self._simulation.order("record", on=False)
            self._simulation.order("keep")
        self.records = on

    # Time goes by.

    def tick(self, seconds: float) -> bool:
        """Take what the simulation tells, or go on in the recording; whether anything changed."""
        if self.mode == "playing":
            return self._play_on(seconds)
        if self._simulation is None:
            return False
        found = self._simulation.news()
        for one in found:
            self._hear(one)
        return bool(found)

    def _hear(self, news: News) -> None:
        if news.kind == "ready":
            self._mass = float(news.figures["mass"])
            if news.text:
                self.notes.append(news.text)
            if "mesh" in news.figures:
                self.shown = news.figures["mesh"]
            self._give_push()
        elif news.kind == "kept":
            self._take_recording(news.figures)
        elif news.kind == "error":
            self.notes.append(news.text)
            self.close()
            self.mode = "posing"
            self._show_pose()
        if news.positions is not None and len(news.positions) == self.mesh.vertex_count:
            self.positions = news.positions.astype(np.float64)
        if news.figures and news.kind in ("frame", "progress", "ended"):
            self.meter = {**self.meter, **news.figures}
        if news.kind == "ended":
            self.notes.append(news.text)
            self.mode = "paused"

    def _take_recording(self, kept: dict[str, Any]) -> None:
        if "positions" not in kept:
            self.notes.append("Nothing was recorded: the simulation did not run meanwhile.")
            return
        clip = skinned_clip(self.mesh, kept["positions"], kept["fps"], self.config.stiff)
        self.keep(Recording(clip, kept["energies"], kept["depths"]))
        self.playback = self.playback.at(self.playback.last)

    def keep(self, recording: Recording | None) -> None:
        """Have another recording, or none."""
        self.playback = Playback(recording, self.playback.loop)

    def set_loop(self, on: bool) -> None:
        """Whether a recording starts again at its end."""
        self.playback = replace(self.playback, loop=on)

    def play(self) -> None:
        """Show the recording from where it stands, or from its start if it is over."""
        self.playback = self.playback.begun()
        self.close()
        self.mode = "playing"
        self._show_frame()

    def scrub(self, frame: int) -> None:
        """Show one frame of the recording."""
        self.playback = self.playback.at(frame)
        if self.mode in ("running", "paused"):
            self.close()
        self.mode = "posing"
        self._show_frame()

    def _play_on(self, seconds: float) -> bool:
        before, self.playback = self.playback.frame, self.playback.advanced(seconds)
        if self.playback.is_over:
            self.mode = "posing"
        self._show_frame()
        return self.playback.frame != before or self.mode != "playing"

    def _show_frame(self) -> None:
        rest = self.playback.recorded.clip.rest
        self.shown = rest if rest.vertex_count != self.object_mesh.vertex_count else None
        self.positions = self.playback.positions

    # Corrections.

    def edit(self, what: str, change: Callable[[BodyPlan], BodyPlan]) -> None:
        """Correct the plan; poses, simulation and exports follow at once."""
        if self.plan is None:
            raise NeurokError("There is no plan to edit yet; wait until the joints are found.")
        self._apply(what, replace(self.corrections, plan=change(self.plan), is_edited=True))

    def set_material(self, region: str, name: str) -> None:
        """Say what a part or surface is made of."""
        new = replace(self.corrections, materials={**self.materials, region: name})
        new.proposals(self.open_model)  # refuses unknown names
        self._apply(f"{region} is {name}", new)

    @property
    def plan(self) -> BodyPlan | None:
        return self.corrections.plan

    @property
    def is_edited(self) -> bool:
        """Whether the plan counts over the joints of the file."""
        return self.corrections.is_edited

    @property
    def materials(self) -> dict[str, str]:
        """Named by hand, by part or surface."""
        return self.corrections.materials

    def _apply(self, what: str, new: Corrections) -> None:
        self._history = self._history.after(what, self.corrections)
        self._become(new)

    def _become(self, new: Corrections) -> None:
        is_other = new.plan is not self.plan or new.is_edited != self.is_edited
        names = () if self.space is None else self.space.names
        values = dict(zip(names, self.q.tolist(), strict=False))
        self.close()
        self.mode, self.corrections = "posing", new
        if not is_other:
            self._show_pose()
            return
        recording = self.playback.recording
        if recording is not None and not any(recording.clip is clip for clip in self.open_asset.clips):
            self.keep(None)  # it shows what the object no longer does
        self.space = new.space_of(self.open_model)
        self.q = np.zeros(0) if self.space is None else np.array([values.get(name, 0.0) for name in self.space.names])
        if self.space is not None and self.space.dim:
            low, high = self.space.limits.T
            self.q = np.clip(self.q, low, high)
        self._show_pose()

    def undo(self) -> str:
        """Take back the last edit; says which."""
        self._history, what, before = self._history.undo(self.corrections)
        self._become(before)
        return what

    def redo(self) -> str:
        """Do it again after all; says what."""
        self._history, what, after = self._history.redo(self.corrections)
        self._become(after)
        return what

    def forget_edits(self) -> None:
        """What was edited so far can no longer be undone: it was opened like this."""
        self._history = History(self.config.undo)

    def proposals(self) -> Proposals:
        """What each region is made of, by hand or proposed."""
        return self.corrections.proposals(self.open_model)

    def made_asset(self) -> Asset:
        """The object as it stands corrected, with joints and what it is made of; without motion."""
        return self.corrections.made(self.open_model)
