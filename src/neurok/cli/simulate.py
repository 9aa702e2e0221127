"""``neurok simulate``: push, drop, drag or blow at an object and save how it moves."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro

from neurok.cli.flags import ForceFlag, JsonFlag, OutFlag, UnitFlag, UpFlag, arg, one_of
from neurok.cli.frame import frame_facts, frame_words
from neurok.cli.outputs import check_outputs
from neurok.cli.report import progress, say
from neurok.cli.simulate_flags import LoadFlags, MatterFlags, SteppingFlags, Words
from neurok.cli.space import warn_of
from neurok.cli.stopping import stoppable
from neurok.core.material_library import parse_material
from neurok.core.select import parse_vector
from neurok.doctor.frame import parse_unit, parse_up
from neurok.dynamics.choice import EngineName
from neurok.dynamics.particles.engine_config import RESOLUTIONS, parse_resolution
from neurok.errors import NeurokError
from neurok.model import SpaceName, Weights
from neurok.scene.description import ActionName, Scene, SceneError, SceneGround, SceneObject, ScenePin, SceneWorld
from neurok.scene.files import SUFFIXES as SCENES
from neurok.scene.files import absolute_paths, check_scene_suffix, read_scene, write_scene
from neurok.scene.output import check_output, write_output
from neurok.scene.run import ReadyScene, SceneRun, prepare_scene, run_ready
from neurok.scene.words import parse_drag, parse_gravity, parse_push, parse_velocity
from neurok.staging import together

DIVERGED = 3
"""Exit code when the motion diverged; the good frames are written all the same."""

STILL = 1e-6
"""Coordinates [m or rad] that change less are at rest."""


@dataclass
class Simulate:
    """Simulate an object under forces, falls, drags or wind, and save its motion.

    AT is a place on the object: a vertex number, a point x,y,z, a part's name, or top, bottom, left, right, front,
    back, center, all; part/top and the like refer to one part. VEC is x,y,z in world axes. Objects with joints move in
    them and have a fixed root, unless dropped, put on the ground or set free.
    """

    object: Annotated[tyro.conf.Positional[str | None], arg("[OBJECT]", "that of --scene")] = None
    """Mesh, articulated object (URDF, MJCF, PartNet-Mobility folder, GLB, NPZ) or a built-in one such as
    sample:laptop."""

    out: OutFlag = ()
    """Where to write: .glb .usd .npz .pc2 (or frame_%04d.obj) for the motion, .mp4 .gif for a video, .png for a contact
    sheet, .obj .ply .stl .off for the last frame, .yaml .json for the scene, so that the run can be repeated."""

    drop: Annotated[tuple[float, ...] | None, arg("[HEIGHT]", "it is not dropped")] = None
    """Drop the object on the ground from this height; half its size if not given."""

    push: Annotated[Words, arg("AT:VEC[@START-END]")] = ()
    """Force [N] on a place, for the first 0.2 s unless times are given: door:0,0,20@0-0.5."""

    act: Annotated[ActionName | None, one_of(ActionName, "none")] = None
    """Apply one of these actions, scaled to its size and mass: drop it, throw it, tilt the ground under it, pull its
    top aside and release it, or expose it to a gust of wind."""

    seconds: Annotated[float | None, arg("S", "2")] = None
    """Length of the motion."""

    engine: Annotated[EngineName | None, one_of(EngineName, "auto")] = None
    """The simulation engine: reduced takes everything, mujoco what is rigid or has joints (extra 'sim'), particles all
    materials at full order, including sand and water (extra 'particles'); auto takes mujoco for rigid objects that can
    touch something, if it is installed."""

    space: Annotated[SpaceName | None, one_of(SpaceName, "auto")] = None
    """Which poses it can take: those of its joints, of its own clip, learned ones, elastic ones, or only its rest pose
    (rigid); auto takes the first one available."""

    unit: UnitFlag = None
    up: UpFlag = None

    seed: Annotated[int | None, arg("N", "0")] = None
    """Random seed: the same seed gives the same files."""

    force: ForceFlag = False
    json: JsonFlag = False

    loads: tyro.conf.OmitArgPrefixes[LoadFlags] = field(default_factory=LoadFlags)
    matter: tyro.conf.OmitArgPrefixes[MatterFlags] = field(default_factory=MatterFlags)
    stepping: tyro.conf.OmitArgPrefixes[SteppingFlags] = field(default_factory=SteppingFlags)

    exit_code: int = field(default=0, init=False)

    def run(self) -> dict[str, Any]:
        self._check()
        weights = None if self.matter.weights is None else Weights(self.matter.weights)
        figures, self.exit_code = simulate_and_write(self.as_scene(), self.out, weights, json=self.json)
        return figures

    def _check(self) -> None:
        if not self.out:
            raise NeurokError("Say where to write the motion with --out, for instance --out motion.glb.")
        for path in self.out:
            if path.suffix.lower() in SCENES:
                check_scene_suffix(path, writing=True)
            else:
                check_output(path)
        inputs = [self.object, self.stepping.scene, self.matter.plan, self.matter.materials]
        check_outputs(self.out, inputs, force=self.force)

    def as_scene(self) -> Scene:
        """The scene that the flags describe, on top of the file's."""
        problems: list[str] = []
        stepping = self.stepping
        changes = _given(self, "seconds", "engine", "seed") | _given(stepping, "fps", "dt", "integrator", "stiffest")
        for cells in _noted(problems, _resolution, stepping.resolution and [stepping.resolution]):
            changes["resolution"] = cells
        base = self._base(problems)
        try:
            thing, world = self._object(base.objects[0], problems), self._world(base.world, problems)
            scene = replace(base, objects=(thing, *base.objects[1:]), world=world, **changes)
        except SceneError as error:
            raise SceneError([*problems, *error.problems]) from None
        if problems:
            raise SceneError(problems)
        return scene if self.stepping.scene is not None else absolute_paths(scene, Path.cwd())

    def _base(self, problems: list[str]) -> Scene:
        if self.stepping.scene is not None:
            scene = read_scene(self.stepping.scene)
            if self.object is None:
                return scene
            source = absolute_paths(Scene((SceneObject(self.object),)), Path.cwd()).objects[0].source
            return replace(scene, objects=(replace(scene.objects[0], source=source), *scene.objects[1:]))
        if self.object is None:
            raise NeurokError("Name an object, such as sample:laptop, or a scene with --scene.")
        return Scene((SceneObject(self.object),))

    def _object(self, thing: SceneObject, problems: list[str]) -> SceneObject:
        parse = lambda function, texts: tuple(_noted(problems, function, texts))  # noqa: E731
        changes: dict[str, Any] = {
            "pushes": thing.pushes + parse(parse_push, self.push),
            "velocities": thing.velocities + parse(parse_velocity, self.loads.velocity),
            "drags": thing.drags + parse(parse_drag, self.loads.drag),
            "pins": thing.pins + tuple(ScenePin(at) for at in self.loads.pin),
        }
        for value in _noted(problems, parse_unit, self.unit and [self.unit]):
            changes["unit"] = value
        for value in _noted(problems, parse_up, self.up and [self.up]):
            changes["up"] = value
        changes |= _given(self, "act", "space") | _given(self.loads, "strength", "jolt")
        changes |= _given(self.matter, "density", "damping", "joint_damping", "joint_friction")
        for vector in parse(lambda text: parse_vector(text, "the rotation"), self.loads.rotate and [self.loads.rotate]):
            changes["rotation"] = vector
        if self.drop is not None:
            changes["drop"] = _one(self.drop, "--drop", problems, "auto")
        if self.matter.materials is not None:
            changes["materials_file"] = str(self.matter.materials.absolute())
        if self.matter.material:
            changes["materials"] = {**thing.materials, **dict(parse(parse_material, self.matter.material))}
        if self.matter.plan is not None:
            changes["plan"] = str(self.matter.plan.absolute())
        if self.loads.free:
            changes["base"] = "free"
        return replace(thing, **changes)

    def _world(self, world: SceneWorld, problems: list[str]) -> SceneWorld:
        changes: dict[str, Any] = {}
        for gravity in _noted(problems, parse_gravity, self.loads.gravity and [self.loads.gravity]):
            changes["gravity"] = gravity
        for wind in _noted(
            problems, lambda text: parse_vector(text, "the wind"), self.loads.wind and [self.loads.wind]
        ):
            changes["wind"] = wind
        if self.loads.ground is not None:
            ground = world.ground or SceneGround()
            changes["ground"] = replace(ground, friction=_one(self.loads.ground, "--ground", problems, ground.friction))
        elif self.drop is not None and world.ground is None:
            changes["ground"] = SceneGround()
        return replace(world, **changes)


def simulate_and_write(
    scene: Scene, out: Sequence[Path], weights: Weights | None = None, *, json: bool = False
) -> tuple[dict[str, Any], int]:
    """Run a scene, write its motion and say how it went; the figures for ``--json``, and the exit code."""
    motions = [path for path in out if path.suffix.lower() not in SCENES]
    ready = prepare_scene(scene, weights)
    for note in ready.notes:
        print(f"neurok: {note}", file=sys.stderr)
    for name, why in zip(ready.names, ready.reasons, strict=False):
        say(f"Space of {name}: {why}", json=json)
    for name, made_of in zip(ready.names, ready.matter, strict=True):
        if made_of:
            say(f"Matter of {name}: {made_of}", json=json)
    for body in ready.bodies:
        warn_of(body.poses)
    run = None
    if motions:
        with stoppable("simulating", json=json) as tell:
            run = run_ready(ready, progress=tell, say=lambda text: print(f"neurok: {text}", file=sys.stderr))

    def watch(frames: Iterable[Any], total: int) -> Iterable[Any]:
        return progress(frames, "rendering", total=total, json=json)

    files = list[Path]()
    with together():
        for path in out:
            if path in motions and run is not None:
                files += write_output(run, path, watch=watch)
            else:
                write_scene(ready.scene, path)
                files.append(path)
    return _report(ready, run, out, files, json)


def _report(
    ready: ReadyScene, run: SceneRun | None, out: Sequence[Path], files: list[Path], json: bool
) -> tuple[dict[str, Any], int]:
    spaces = [body.poses.kind for body in ready.bodies]
    mesh, names = ready.models[0].mesh, ", ".join(map(str, out))
    figures: dict[str, Any] = {
        "out": str(out[0]),
        "files": [str(path) for path in files],
        "mass": ready.mass,
        **frame_facts(mesh),
        "space": spaces[0],
        "spaces": list(ready.reasons),
        "matter": list(ready.matter),
    }
    if run is None:
        say(f"{names}: the scene; {frame_words(mesh)}, space {spaces[0]}", json=json)
        return figures | {"engine": ready.scene.engine}, 0
    rollout = run.rollout
    figures |= {
        "status": rollout.status,
        "message": rollout.message,
        "frames": rollout.frame_count,
        "seconds": (rollout.frame_count - 1) * rollout.dt,
        **rollout.report,
    }
    say(
        f"{names}: {rollout.frame_count} frames, {figures['dof']} degrees of freedom, {ready.mass:.3g} kg, "
        f"{figures['real_time_factor']:.3g} x real time, engine {figures['engine']} ({figures['engine_reason']}), "
        f"space {spaces[0]}, {frame_words(mesh)}",
        json=json,
    )
    if rollout.status != "ok":
        print(f"neurok: {rollout.message}", file=sys.stderr)
    elif not any(each.q is None or np.ptp(each.q, axis=0).max() > STILL for each in run.rollouts):
        print(f"neurok: {_why_still(ready)}", file=sys.stderr)
    return figures, DIVERGED if rollout.status == "diverged" else 0


def _why_still(ready: ReadyScene) -> str:
    """What to do where nothing moved."""
    if any(body.poses.dim for body in ready.bodies):
        return "Nothing moved: what acts on it does not act along its joints; push across the axis, or harder."
    return "Nothing moved: nothing of it has a joint; let it fall with --drop, or let go of it with --free."


def _given(flags: Any, *names: str) -> dict[str, Any]:
    """The flags of these names that were given."""
    return {name: getattr(flags, name) for name in names if getattr(flags, name) is not None}


def _noted(problems: list[str], function: Callable[[str], Any], texts: Any) -> Iterator[Any]:
    """What a function makes of each text; its complaints are kept for later."""
    for text in texts or ():
        try:
            yield function(text)
        except NeurokError as error:
            problems.append(str(error).removesuffix("."))


def _resolution(text: str) -> str | int:
    """A word or a number of cells, checked."""
    cells = parse_resolution(text)
    return text if text in RESOLUTIONS else cells


def _one(values: tuple[float, ...], flag: str, problems: list[str], default: Any) -> Any:
    """The value of a flag that takes one number or none."""
    if len(values) > 1:
        problems.append(f"{flag} takes one number at most, got {len(values)}")
    return values[0] if values else default
