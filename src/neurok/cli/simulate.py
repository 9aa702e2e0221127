"""``neurok simulate``: push, drop, drag or blow at an object and save how it moves."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro

from neurok.cli.frame import UnitFlag, UpFlag
from neurok.cli.report import progress, say
from neurok.cli.space import warn_of
from neurok.core.material_library import parse_material
from neurok.core.select import parse_vector
from neurok.doctor.frame import parse_unit, parse_up
from neurok.dynamics.choice import EngineName
from neurok.dynamics.particles.engine_config import RESOLUTIONS, parse_resolution
from neurok.dynamics.reduced.engine import IntegratorName
from neurok.errors import NeurokError
from neurok.inference.spaces import SpaceName
from neurok.scene.description import ActionName, Scene, SceneError, SceneGround, SceneObject, ScenePin, SceneWorld
from neurok.scene.files import absolute_paths, check_scene_suffix, read_scene, write_scene
from neurok.scene.output import check_output, write_output
from neurok.scene.run import SceneRun, prepare_scene, run_ready
from neurok.scene.words import parse_drag, parse_gravity, parse_push, parse_velocity

DIVERGED = 3
"""Exit code when the motion diverged; the good frames are written all the same."""

STILL = 1e-6
"""Coordinates [m or rad] that change less are at rest."""

Words = tyro.conf.UseAppendAction[tuple[str, ...]]


@dataclass
class Simulate:
    """Push, drop, drag or blow at an object and save how it moves.

    AT is a place on the object: a vertex number, a point x,y,z, a part's name, or top, bottom, left, right, front,
    back, center, all; part/top and the like look within one part. VEC is x,y,z in world axes. Objects with joints move
    in them and stand fixed on their root, unless dropped, put on the ground or set free.
    """

    object: Annotated[tyro.conf.Positional[str | None], tyro.conf.arg(metavar="OBJECT")] = None
    """Mesh, articulated object (URDF, MJCF, PartNet-Mobility folder, GLB, NPZ) or a built-in one such as
    sample:laptop; not needed with --scene."""

    out: Annotated[Path | None, tyro.conf.arg(metavar="OUT")] = None
    """Where to write: .glb .usd .npz .pc2 (or frame_%04d.obj) for the motion, .mp4 .gif for a film, .png for a sheet of
    pictures, .obj .ply .stl .off for the last frame."""

    seconds: Annotated[float | None, tyro.conf.arg(metavar="S")] = None
    """Length of the motion [2]."""

    fps: Annotated[float | None, tyro.conf.arg(metavar="FPS")] = None
    """Frames per second [24]."""

    dt: Annotated[float | None, tyro.conf.arg(metavar="S")] = None
    """Longest time step; by default one that suits the integrator."""

    engine: EngineName | None = None
    """What moves it: reduced takes everything, mujoco what is rigid or has joints (extra 'sim'), particles all
    materials at full order, sand and water too (extra 'particles'); auto takes mujoco for rigid things that can touch
    something, if it is installed."""

    resolution: Annotated[str | None, tyro.conf.arg(metavar="coarse|medium|fine|CELLS")] = None
    """Of particles: how many cells lie along the longest side [medium]."""

    stiffest: Annotated[float | None, tyro.conf.arg(metavar="PA")] = None
    """Of particles: step what is stiffer with this Young's modulus; by default it is rigid."""

    integrator: IntegratorName | None = None
    """How to step; auto takes implicit where something can be touched, and gauss, which keeps energy, elsewhere."""

    gravity: Annotated[str | None, tyro.conf.arg(metavar="VEC")] = None
    """Acceleration [m/s^2], 0 for none; 9.81 downwards by default."""

    push: Annotated[Words, tyro.conf.arg(metavar="AT:VEC[@START-END]")] = ()
    """Force [N] on a place, for the first 0.2 s unless times are given: door:0,0,20@0-0.5. May be repeated."""

    velocity: Annotated[Words, tyro.conf.arg(metavar="AT:VEC")] = ()
    """Velocity of a place at the start [length/s]. May be repeated."""

    drag: Annotated[Words, tyro.conf.arg(metavar="AT:PATH")] = ()
    """Lead a place along displacements from where it starts, over the whole time unless each says when:
    door:0,0,0.3;0.2,0,0.3 or door:0,0,0.3@1. May be repeated."""

    pin: Annotated[Words, tyro.conf.arg(metavar="AT")] = ()
    """Hold a place where it is. May be repeated."""

    wind: Annotated[str | None, tyro.conf.arg(metavar="VEC")] = None
    """Velocity of the air [m/s]."""

    ground: Annotated[tuple[float, ...] | None, tyro.conf.arg(metavar="[FRICTION]")] = None
    """Put the object, free to move, on a ground with this friction [0.5]."""

    drop: Annotated[tuple[float, ...] | None, tyro.conf.arg(metavar="[HEIGHT]")] = None
    """Let the object fall on the ground from this height; half its size if not given."""

    act: ActionName | None = None
    """Do one of these to it, as strongly as suits its size and mass: let it fall, throw it, tilt the ground under it,
    pull its top aside and let go, or let a gust of wind blow."""

    strength: Annotated[float | None, tyro.conf.arg(metavar="X")] = None
    """Of the action [1]: height, range, slope, reach, or force of the wind are this many times the usual."""

    unit: UnitFlag = None
    up: UpFlag = None

    rotate: Annotated[str | None, tyro.conf.arg(metavar="VEC")] = None
    """Turn the object first: the direction is the axis, the length the angle in degrees."""

    free: bool = False
    """Let the object move as a whole, without any ground."""

    jolt: Annotated[float | None, tyro.conf.arg(metavar="SPEED")] = None
    """Start with a random motion drawn from the seed; the fastest vertex has this speed [length/s]."""

    space: SpaceName | None = None
    """Which poses it can take: those of its joints, of its own clip, learned ones, or only the one it has (rigid);
    auto takes the first of these there is."""

    plan: Annotated[Path | None, tyro.conf.arg(metavar="PLAN.json")] = None
    """A body plan that 'neurok plan' wrote and somebody may have edited: the object moves as it says."""

    weights: Annotated[str | None, tyro.conf.arg(metavar="FILE")] = None
    """Of the learned space: a .safetensors file or a hub id; the shipped ones by default."""

    density: Annotated[float | None, tyro.conf.arg(metavar="RHO")] = None
    """Mass per volume [kg/m^3], where the file gives none [500]."""

    material: Annotated[Words, tyro.conf.arg(metavar="PART=NAME")] = ()
    """What a part is made of, by a name of the library: seat=foam, all=steel. May be repeated."""

    materials: Annotated[Path | None, tyro.conf.arg(metavar="FILE.json")] = None
    """Materials of all parts, as 'neurok materials' writes them and somebody may have edited them."""

    damping: Annotated[float | None, tyro.conf.arg(metavar="RATE")] = None
    """Slow everything in proportion to its mass [1/s]."""

    joint_damping: Annotated[float | None, tyro.conf.arg(metavar="RATE")] = None
    """Slow the joints that name no damping of their own [1/s]; 4 where there is a ground, else 0."""

    joint_friction: Annotated[float | None, tyro.conf.arg(metavar="MU")] = None
    """Coefficient of the dry friction of joints; 0.3 where there is a ground, else 0."""

    seed: Annotated[int | None, tyro.conf.arg(metavar="N")] = None
    """Of whatever is random [0]."""

    scene: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Read all of this from a scene file (.yaml, .json, .toml); flags given beside it count instead of or in addition
    to what it says, for its first object."""

    save_scene: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Write the scene (.yaml, .json), so that the run can be repeated."""

    json: bool = False
    """Print one JSON object and nothing else."""

    exit_code: int = field(default=0, init=False)

    def run(self) -> dict[str, Any]:
        if self.out is None and self.save_scene is None:
            raise NeurokError("Say where to write the motion with --out, for instance --out motion.glb.")
        if self.out is not None:
            check_output(self.out)
        if self.save_scene is not None:
            check_scene_suffix(self.save_scene, writing=True)
        from neurok.inference.spaces import learner

        ready = prepare_scene(self.as_scene(), learner(self.weights))
        for note in ready.notes:
            print(f"neurok: {note}", file=sys.stderr)
        for body in ready.bodies:
            warn_of(body.poses)
        if self.out is None:
            self._keep_scene(ready.scene)
            return {"scene": str(self.save_scene), "mass": ready.mass}
        with stoppable("simulating", json=self.json) as tell:
            run = run_ready(ready, progress=tell, say=lambda text: print(f"neurok: {text}", file=sys.stderr))
        write_output(run, self.out, watch=lambda f, n: progress(f, "rendering", total=n, json=self.json))
        self._keep_scene(ready.scene)
        return self._report(run, self.out)

    def _keep_scene(self, scene: Scene) -> None:
        if self.save_scene is not None:
            write_scene(scene, self.save_scene)
            say(f"{self.save_scene}: the scene", json=self.json)

    def as_scene(self) -> Scene:
        """The scene that the flags describe, on top of the file's."""
        problems: list[str] = []
        names = ("seconds", "fps", "dt", "engine", "integrator", "seed", "stiffest")
        changes = {name: getattr(self, name) for name in names}
        changes = {name: value for name, value in changes.items() if value is not None}
        for cells in _noted(problems, _resolution, self.resolution and [self.resolution]):
            changes["resolution"] = cells
        base = self._base(problems)
        try:
            thing, world = self._object(base.objects[0], problems), self._world(base.world, problems)
            scene = replace(base, objects=(thing, *base.objects[1:]), world=world, **changes)
        except SceneError as error:
            raise SceneError([*problems, *error.problems]) from None
        if problems:
            raise SceneError(problems)
        return scene if self.scene is not None else absolute_paths(scene, Path.cwd())

    def _base(self, problems: list[str]) -> Scene:
        if self.scene is not None:
            scene = read_scene(self.scene)
            if self.object is None:
                return scene
            path = absolute_paths(Scene((SceneObject(self.object),)), Path.cwd()).objects[0].path
            return replace(scene, objects=(replace(scene.objects[0], path=path), *scene.objects[1:]))
        if self.object is None:
            raise NeurokError("Name an object, such as sample:laptop, or a scene with --scene.")
        return Scene((SceneObject(self.object),))

    def _object(self, thing: SceneObject, problems: list[str]) -> SceneObject:
        parse = lambda function, texts: tuple(_noted(problems, function, texts))  # noqa: E731
        changes: dict[str, Any] = {
            "pushes": thing.pushes + parse(parse_push, self.push),
            "velocities": thing.velocities + parse(parse_velocity, self.velocity),
            "drags": thing.drags + parse(parse_drag, self.drag),
            "pins": thing.pins + tuple(ScenePin(at) for at in self.pin),
        }
        for value in _noted(problems, parse_unit, self.unit and [self.unit]):
            changes["unit"] = value
        for value in _noted(problems, parse_up, self.up and [self.up]):
            changes["up"] = value
        for name in ("act", "strength", "space", "jolt", "density", "damping", "joint_damping", "joint_friction"):
            if getattr(self, name) is not None:
                changes[name] = getattr(self, name)
        for vector in parse(lambda text: parse_vector(text, "the rotation"), self.rotate and [self.rotate]):
            changes["rotation"] = vector
        if self.drop is not None:
            changes["drop"] = _one(self.drop, "--drop", problems, "auto")
        if self.materials is not None:
            changes["materials_file"] = str(self.materials.absolute())
        if self.material:
            changes["materials"] = {**thing.materials, **dict(parse(parse_material, self.material))}
        if self.plan is not None:
            changes["plan"] = str(self.plan.absolute())
        if self.free:
            changes["base"] = "free"
        return replace(thing, **changes)

    def _world(self, world: SceneWorld, problems: list[str]) -> SceneWorld:
        changes: dict[str, Any] = {}
        for gravity in _noted(problems, parse_gravity, self.gravity and [self.gravity]):
            changes["gravity"] = gravity
        for wind in _noted(problems, lambda text: parse_vector(text, "the wind"), self.wind and [self.wind]):
            changes["wind"] = wind
        if self.ground is not None:
            ground = world.ground or SceneGround()
            changes["ground"] = replace(ground, friction=_one(self.ground, "--ground", problems, ground.friction))
        elif self.drop is not None and world.ground is None:
            changes["ground"] = SceneGround()
        return replace(world, **changes)

    def _report(self, run: SceneRun, out: Path) -> dict[str, Any]:
        rollout = run.rollout
        figures = {
            "out": str(out),
            "status": rollout.status,
            "message": rollout.message,
            "frames": rollout.frame_count,
            "seconds": (rollout.frame_count - 1) * rollout.dt,
            "mass": run.ready.mass,
            **rollout.report,
        }
        say(
            f"{out}: {rollout.frame_count} frames, {figures['dof']} degrees of freedom, {run.ready.mass:.3g} kg, "
            f"{figures['real_time_factor']:.3g} x real time, engine {figures['engine']} ({figures['engine_reason']})",
            json=self.json,
        )
        if rollout.status != "ok":
            print(f"neurok: {rollout.message}", file=sys.stderr)
        elif not any(each.q is None or np.ptp(each.q, axis=0).max() > STILL for each in run.rollouts):
            print("neurok: Nothing moved; push a part that has a joint, or let go of the object.", file=sys.stderr)
        if rollout.status == "diverged":
            self.exit_code = DIVERGED
        return figures


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


@contextmanager
def stoppable(title: str, *, json: bool) -> Iterator[Callable[[float], None]]:
    """A progress callback with a bar on stderr; the first Ctrl-C ends the run at the next frame, the second at once."""
    asked: list[int] = []
    previous = signal.getsignal(signal.SIGINT)
    # Only the main thread may listen, and a handler that is not Python's could not be put back.
    listening = threading.current_thread() is threading.main_thread() and previous is not None

    def ask(number: int, frame: object) -> None:
        asked.append(number)
        signal.signal(signal.SIGINT, previous)

    if listening:
        signal.signal(signal.SIGINT, ask)
    with _bar(title, json) as show:

        def progress(fraction: float) -> None:
            show(fraction)
            if asked:
                raise KeyboardInterrupt

        try:
            yield progress
        finally:
            if listening:
                signal.signal(signal.SIGINT, previous)


@contextmanager
def _bar(title: str, json: bool) -> Iterator[Callable[[float], None]]:
    if json or not sys.stderr.isatty():
        yield lambda fraction: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=1.0)
        yield lambda fraction: bar.update(task, completed=fraction)
