"""From a scene to motion: load the objects, place them, say what acts on them, let go."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from neurok import io
from neurok.core import Asset, Clip, Material, MaterialField, Mesh, Rollout
from neurok.doctor.frame import Framed, framed, parse_unit
from neurok.dynamics.body import Body
from neurok.dynamics.choice import EngineName
from neurok.dynamics.condition import Ground, Obstacle, Wind, World
from neurok.dynamics.engine import Engine
from neurok.dynamics.particles.engine import ParticleEngine
from neurok.dynamics.particles.engine_config import ParticleEngineConfig, parse_resolution
from neurok.dynamics.particles.filling import FILLING
from neurok.dynamics.particles.stuff import STUFF
from neurok.dynamics.simulate import simulate_together
from neurok.errors import NeurokError
from neurok.geometry import lie
from neurok.inference.spaces import Learner, reason
from neurok.io.formats import states_frame
from neurok.kinematics import KinematicSpace
from neurok.scene.actions import Subject, acted
from neurok.scene.description import Scene, SceneError, SceneGround, SceneObstacle
from neurok.scene.merge import merge_clips, still_clip, unique_names
from neurok.scene.placing import Placed, collect, placement_of, say_all

MAX_BYTES = 8e9
"""Of the positions of one run: what a common machine can hold [bytes]."""


@dataclass(frozen=True, eq=False)
class ReadyScene:
    """A scene made ready: bodies with their conditions, and the world around them."""

    scene: Scene
    assets: tuple[Asset, ...]
    names: tuple[str, ...]
    bodies: tuple[Body, ...]
    world: World
    mass: float
    """Of everything that is simulated [kg]."""

    notes: tuple[str, ...] = ()
    """What was read otherwise than the files say, one sentence each."""

    reasons: tuple[str, ...] = ()
    """For each object which space of poses it has and why, in one sentence; empty for particles."""


@dataclass(frozen=True, eq=False)
class SceneRun:
    """How a scene went."""

    ready: ReadyScene
    rollouts: tuple[Rollout, ...]
    """One for each object; energies, status and report are of the whole scene."""

    @property
    def rollout(self) -> Rollout:
        """The first object's."""
        return self.rollouts[0]

    def clip(self) -> Clip:
        """The motion of all objects, with the obstacles standing among them."""
        clips = [rollout.clip() for rollout in self.rollouts]
        obstacles = [obstacle.mesh for obstacle in self.ready.world.obstacles]
        if len(clips) + len(obstacles) == 1:
            return clips[0]
        clips += [still_clip(mesh, clips[0].frame_count, clips[0].fps) for mesh in obstacles]
        return merge_clips(clips, unique_names([*self.ready.names, *(mesh.name for mesh in obstacles)]))

    def asset(self) -> Asset:
        """What is written: the motion, what things are made of, and the joints of a single object."""
        clip, alone = self.clip(), self.ready.assets[0]
        if clip.rest.vertex_count != alone.mesh.vertex_count:
            return Asset(clip.rest, clips=(clip,), materials=self._materials())
        body = self.ready.bodies[0]
        found = body.poses.articulation
        joints = found if found is not None and found.dof else alone.articulation
        return replace(alone, mesh=clip.rest, clips=(clip,), articulation=joints, materials=body.materials)

    def _materials(self) -> MaterialField | None:
        """What everything in the clip is made of, if it was said of anything."""
        if all(body.materials is None for body in self.ready.bodies):
            return None
        still = [
            MaterialField.uniform(Material("obstacle", kind="rigid"), obstacle.mesh.vertex_count)
            for obstacle in self.ready.world.obstacles
        ]
        return MaterialField.joined([*map(_stuff, self.ready.bodies, self.rollouts), *still])


def _stuff(body: Body, rollout: Rollout) -> MaterialField:
    """What a body is made of, its grains included."""
    if not rollout.grains:
        return body.stuff
    return body.stuff.at(rollout.rest.vertices, body.mesh.vertices)


def run_scene(
    scene: Scene, *, learner: Learner | None = None, progress: Callable[[float], None] | None = None
) -> SceneRun:
    """Simulate a scene. The same scene gives the same bits every time.

    ``learner`` finds the poses of meshes without joints (``inference.spaces.learner``); without one they are rigid.

    Raises:
        SceneError: Naming all that is impossible about it.
    """
    return run_ready(prepare_scene(scene, learner), progress=progress)


def run_ready(
    ready: ReadyScene,
    *,
    progress: Callable[[float], None] | None = None,
    say: Callable[[str], None] | None = None,
) -> SceneRun:
    """Simulate what ``prepare_scene`` made ready; ``say`` is told in a sentence what will take long."""
    scene = ready.scene
    rollouts = simulate_together(
        ready.bodies,
        ready.world,
        seconds=scene.seconds,
        fps=scene.fps,
        dt=scene.dt,
        integrator=scene.integrator,
        engine=engine_of(scene, say),
        progress=progress,
    )
    return SceneRun(ready, rollouts)


def engine_of(scene: Scene, say: Callable[[str], None] | None = None) -> Engine | EngineName:
    """The engine that a scene asks for, with what it says of it."""
    if scene.engine != "particles":
        return scene.engine
    if scene.integrator != "auto":
        raise NeurokError(
            f"The integrator '{scene.integrator}' belongs to the engine 'reduced'; leave it at 'auto' with 'particles'."
        )
    filling = replace(FILLING, stuff=replace(STUFF, stiffest=scene.stiffest))
    config = ParticleEngineConfig(cells=parse_resolution(scene.resolution), filling=filling)
    return ParticleEngine(config, "asked for", say)


def prepare_scene(
    scene: Scene, learner: Learner | None = None, spaces: Mapping[int, KinematicSpace] | None = None
) -> ReadyScene:
    """Load and place everything and turn words into vertices; nothing moves yet.

    ``spaces`` holds the poses of objects, by their place, that are known from a scene with the same object.
    """
    problems: list[str] = []
    assets: list[Asset] = collect(problems, io.load, [thing.path for thing in scene.objects])
    found: list[Framed] = collect(problems, _load_framed, [thing.path for thing in scene.world.obstacles])
    say_all(problems)
    _check_memory(scene, assets)
    scene, assets, notes = _framed(scene, assets)
    first = assets[0].mesh
    assets = [asset.in_frame(first.up, first.unit) for asset in assets]
    obstacles = tuple(
        _obstacle(entry, each.asset.mesh.in_frame(first.up, first.unit))
        for entry, each in zip(scene.world.obstacles, found, strict=True)
    )
    notes += tuple(f"obstacle: {note}" for each in found for note in each.notes)
    names = unique_names([thing.name or _default_name(thing.path) for thing in scene.objects])
    scene, known = _acted(scene, names, assets, learner, spaces or {})
    place = lambda k: Placed.of(scene, k, names[k], assets[k], learner, known.get(k))  # noqa: E731
    placed: list[Placed] = collect(problems, place, range(len(assets)))
    say_all(problems)
    rigid = scene.engine != "particles"
    if rigid and all(thing.body.poses.dim == 0 and not thing.body.free for thing in placed):
        raise NeurokError(
            f"Nothing can move: {', '.join(repr(name) for name in names)} has no joints and a fixed root. "
            "Let it fall with --drop, set it on the --ground, or give it joints."
        )
    ground = _ground(scene, placed, first)
    placed = [thing.lifted(ground) for thing in placed]
    bodies: list[Body] = collect(problems, Placed.conditioned, placed)
    say_all(problems)
    blows = scene.world.wind is not None and any(scene.world.wind)
    wind = Wind(np.array(scene.world.wind), until=scene.world.wind_until) if blows else None
    gravity = None if scene.world.gravity is None else np.array(scene.world.gravity)
    world = World(gravity, wind, ground, obstacles, scene.world.friction)
    mass = sum(thing.mass for thing in placed)
    notes += tuple(thing.note for thing in placed if thing.note)
    reasons = tuple(
        reason(asset, thing.body.poses, thing.entry.space, bool(thing.entry.plan))
        for asset, thing in zip(assets, placed, strict=True)
        if rigid
    )
    return ReadyScene(scene, tuple(assets), names, tuple(bodies), world, mass, notes, reasons)


def _load_framed(path: str) -> Framed:
    """An obstacle in the unit and axes that are surely right, and what was guessed about them."""
    return framed(io.load(path), is_stated=states_frame(path))


def _framed(scene: Scene, assets: Sequence[Asset]) -> tuple[Scene, list[Asset], tuple[str, ...]]:
    """The objects in the units and axes that are given or surely right; the scene says so where that was a guess."""
    things, out, notes = list(scene.objects), list(assets), list[str]()
    for k, asset in enumerate(assets):
        unit = None if things[k].unit is None else parse_unit(str(things[k].unit))
        found = framed(asset, is_stated=states_frame(things[k].path), unit=unit, up=things[k].up)
        if found.notes:
            things[k] = replace(things[k], unit=found.asset.mesh.unit, up=found.asset.mesh.up)
        out[k] = found.asset
        notes += found.notes
    return replace(scene, objects=tuple(things)), out, tuple(notes)


def _acted(
    scene: Scene,
    names: Sequence[str],
    assets: Sequence[Asset],
    learner: Learner | None,
    known: Mapping[int, KinematicSpace],
) -> tuple[Scene, dict[int, KinematicSpace]]:
    """The scene with all actions written out, and the poses of the objects that were known or weighed for it."""
    problems: list[str] = []
    spaces = dict(known)
    for k in [k for k, thing in enumerate(scene.objects) if thing.act is not None]:
        grounded = replace(scene, world=replace(scene.world, ground=scene.world.ground or SceneGround()))
        try:
            placed = Placed.of(grounded, k, names[k], assets[k], learner, spaces.get(k))
            spaces[k] = placed.body.poses
            scene = acted(scene, k, Subject.of(names[k], placed.body.mesh, placed.mass, placed.body.materials))
        except SceneError as error:
            problems += error.problems
    say_all(problems)
    return scene, spaces


def _check_memory(scene: Scene, assets: Sequence[Asset]) -> None:
    need = 24.0 * scene.seconds * scene.fps * sum(asset.mesh.vertex_count for asset in assets)
    if need > MAX_BYTES:
        raise NeurokError(
            f"{scene.seconds * scene.fps:.0f} frames of this mesh take {need / 1e9:.0f} GB, more than "
            f"{MAX_BYTES / 1e9:.0f}; ask for fewer seconds or frames per second."
        )


def _ground(scene: Scene, placed: Sequence[Placed], first: Mesh) -> Ground | None:
    """The ground with its height worked out; something that is dropped brings one along."""
    entry = scene.world.ground
    if entry is None and not any(thing.entry.drop is not None for thing in placed):
        return None
    entry = entry or SceneGround()
    normal = first.up_vector if entry.normal is None else np.array(entry.normal) / np.linalg.norm(entry.normal)
    height = entry.height
    if height is None:
        height = min(thing.lowest(normal) for thing in placed)
    return Ground(height, normal, entry.friction)


def _obstacle(entry: SceneObstacle, mesh: Mesh) -> Obstacle:
    vertices = lie.apply(placement_of(entry, mesh), mesh.vertices)
    return Obstacle(replace(mesh, vertices=vertices, name=_default_name(entry.path)), entry.friction)


def _default_name(path: str) -> str:
    return path.removeprefix("sample:") if path.startswith("sample:") else Path(path).stem
