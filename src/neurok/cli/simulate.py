"""``neurok simulate``: push, drop, drag or blow at an object and save how it moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import tyro

from neurok.cli.flags import (
    ForceFlag,
    JsonFlag,
    MassFlags,
    NodesFlag,
    NoInteriorFlag,
    OutFlag,
    PlanFlag,
    UnitFlag,
    UpFlag,
    WeightsFlag,
    arg,
    one_of,
)
from neurok.cli.outputs import EXIT_CODES, Command, check_outputs, frame_facts, frame_words, stoppable, warn
from neurok.core.material_library import parse_material
from neurok.core.select import parse_vector
from neurok.doctor.frame import parse_unit, parse_up
from neurok.dynamics.choice import EngineName
from neurok.dynamics.particles.engine_config import RESOLUTIONS, parse_resolution
from neurok.dynamics.reduced.engine import IntegratorName
from neurok.errors import NeurokError, counted
from neurok.model import SpaceName, Weights
from neurok.scene.description import (
    ActionName,
    Scene,
    SceneError,
    SceneGround,
    SceneObject,
    ScenePin,
    SceneWorld,
    parse_drag,
    parse_gravity,
    parse_push,
    parse_velocity,
)
from neurok.scene.files import SUFFIXES as SCENES
from neurok.scene.files import absolute_paths, check_scene_suffix, read_scene, write_scene
from neurok.scene.output import check_output, write_output
from neurok.scene.report import motion_sentences, travel
from neurok.scene.run import ReadyScene, SceneRun, prepare_scene, run_ready
from neurok.staging import together

Words = tyro.conf.UseAppendAction[tuple[str, ...]]


@dataclass(frozen=True)
class LoadFlags:
    """Loads and initial conditions."""

    ground: Annotated[tuple[float, ...] | None, arg("[FRICTION]", "none")] = None
    """Put the object, free to move, on a ground with this friction (0.5 if not given)."""

    gravity: Annotated[str | None, arg("VEC", "9.81 downwards")] = None
    """Acceleration [m/s^2], 0 for none."""

    velocity: Annotated[Words, arg("AT:VEC")] = ()
    """Initial velocity of a place [length/s]."""

    drag: Annotated[Words, arg("AT:PATH")] = ()
    """Move a place along displacements from its initial position, over the whole time unless each gives a time:
    door:0,0,0.3;0.2,0,0.3 or door:0,0,0.3@1."""

    pin: Annotated[Words, arg("AT")] = ()
    """Hold a place at its initial position."""

    wind: Annotated[str | None, arg("VEC", "none")] = None
    """Velocity of the air [m/s]."""

    strength: Annotated[float | None, arg("X", "1")] = None
    """Strength of the action: height, range, slope, reach, or force of the wind are multiplied by this."""

    jolt: Annotated[float | None, arg("SPEED", "none")] = None
    """Start with a random velocity drawn from the seed; the fastest vertex has this speed [length/s]."""

    rotate: Annotated[str | None, arg("VEC", "not turned")] = None
    """Rotate the object first: the direction is the axis, the length the angle in degrees."""

    free: bool = False
    """Let the object move as a whole, without any ground."""


@dataclass(frozen=True)
class MatterFlags:
    """Materials and kinematics of the object."""

    plan: PlanFlag = None
    weights: WeightsFlag = None

    material: Annotated[Words, arg("PART=NAME")] = ()
    """Material of a part, by a name of the library: seat=foam, all=steel."""

    materials: Annotated[Path | None, arg("FILE.json", "as the file says, or proposed")] = None
    """Materials of all parts: a file written by 'neurok materials', possibly edited."""

    density: Annotated[float | None, arg("RHO", "that of its materials")] = None
    """Mass per volume [kg/m^3], if the file gives none."""

    damping: Annotated[float | None, arg("RATE", "0")] = None
    """Damping of all motion, proportional to mass [1/s]."""

    joint_damping: Annotated[float | None, arg("RATE", "4 where there is a ground, else 0")] = None
    """Damping of joints whose file specifies none [1/s]."""

    joint_friction: Annotated[float | None, arg("MU", "0.3 where there is a ground, else 0")] = None
    """Coefficient of the dry friction of joints."""

    no_interior: NoInteriorFlag = False


@dataclass(frozen=True)
class SteppingFlags:
    """Time stepping."""

    fps: Annotated[float | None, arg("FPS", "24")] = None
    """Frames per second."""

    dt: Annotated[float | None, arg("S", "one that suits the integrator")] = None
    """Longest time step."""

    integrator: Annotated[IntegratorName | None, one_of(IntegratorName, "auto")] = None
    """Integrator of the engine 'reduced'; auto takes implicit if there can be contact, else gauss, which conserves
    energy."""

    resolution: Annotated[str | None, arg("coarse|medium|fine|CELLS", "medium")] = None
    """For particles: number of cells along the longest side."""

    stiffest: Annotated[float | None, arg("PA", "what is stiff is rigid")] = None
    """For particles: step stiffer materials with this Young's modulus instead of as rigid."""

    seed: Annotated[int | None, arg("N", "0")] = None
    """Random seed: the same seed gives the same files."""

    scene: Annotated[Path | None, arg("FILE", "none")] = None
    """Read everything from a scene file (.yaml, .json, .toml); flags given with it override or extend it, for its first
    object."""


@dataclass
class Simulate(Command):
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
    nodes: NodesFlag = ()

    force: ForceFlag = False
    json: JsonFlag = False

    loads: tyro.conf.OmitArgPrefixes[LoadFlags] = field(default_factory=LoadFlags)
    matter: tyro.conf.OmitArgPrefixes[MatterFlags] = field(default_factory=MatterFlags)
    weighing: tyro.conf.OmitArgPrefixes[MassFlags] = field(default_factory=MassFlags)
    stepping: tyro.conf.OmitArgPrefixes[SteppingFlags] = field(default_factory=SteppingFlags)

    def run(self) -> dict[str, Any]:
        weights = None if self.matter.weights is None else Weights(self.matter.weights)
        figures, self.exit_code = simulate_and_write(self, self.as_scene(), self.out, weights)
        return figures

    def check_flags(self) -> None:
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
        changes = _given(self, "seconds", "engine") | _given(stepping, "seed", "fps", "dt", "integrator", "stiffest")
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
        def parse(function: Callable[[str], Any], texts: Any) -> tuple[Any, ...]:
            return tuple(_noted(problems, function, texts))

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
        if self.nodes:
            changes["nodes"] = self.nodes
        if self.matter.no_interior:
            changes["interior"] = False
        changes |= _given(self, "act", "space") | _given(self.loads, "strength", "jolt")
        changes |= _given(self.matter, "density", "damping", "joint_damping", "joint_friction")
        for given in _noted(problems, lambda _: self.weighing.given(), ["mass"]):
            changes |= given
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
    command: Command, scene: Scene, out: Sequence[Path], weights: Weights | None = None
) -> tuple[dict[str, Any], int]:
    """Run a scene, write its motion and say how it went; the figures for ``--json``, and the exit code."""
    motions = [path for path in out if path.suffix.lower() not in SCENES]
    ready = prepare_scene(scene, weights)
    warn(*ready.notes)
    command.say(*(line for report in ready.reports for line in report.sentences))
    run = None
    if motions:
        with stoppable("simulating", json=command.json) as tell:
            run = run_ready(ready, progress=tell, say=warn)
    files = list[Path]()
    with together():
        for path in out:
            if path in motions and run is not None:
                files += write_output(run, path, watch=command.watch)
            else:
                write_scene(ready.scene, path)
                files.append(path)
    return _report(command, ready, run, out, files)


def _report(
    command: Command, ready: ReadyScene, run: SceneRun | None, out: Sequence[Path], files: list[Path]
) -> tuple[dict[str, Any], int]:
    space, mesh, names = ready.bodies[0].poses.kind, ready.models[0].mesh, ", ".join(map(str, out))
    figures: dict[str, Any] = {
        "out": str(out[0]),
        "files": [str(path) for path in files],
        "mass": ready.mass,
        **frame_facts(mesh),
        "space": space,
        "objects": [report.facts for report in ready.reports],
    }
    if run is None:
        command.say(f"{names}: the scene; {frame_words(mesh)}, space {space}")
        return figures | {"engine": ready.scene.engine}, 0
    rollout = run.rollout
    figures |= {
        "status": rollout.status,
        "message": rollout.message,
        "frames": rollout.frame_count,
        "seconds": (rollout.frame_count - 1) * rollout.dt,
        **rollout.report,
        "travel": {body.name: travel(each, body) for body, each in zip(ready.bodies, run.rollouts, strict=True)},
    }
    command.say(
        f"{names}: {counted(rollout.frame_count, 'frame')}, {counted(figures['dof'], 'coordinate')}, "
        f"{figures['real_time_factor']:.3g} x real time, engine {figures['engine']} ({figures['engine_reason']})"
    )
    if rollout.status != "ok":
        warn(rollout.message)
    warn(*motion_sentences(run))
    return figures, EXIT_CODES.get(rollout.status, 0)


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
