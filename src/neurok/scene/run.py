"""From a scene to motion: load the objects, place them, say what acts on them, let go."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from neurok.core import Asset, Clip, Material, MaterialField, Mesh, Rollout, Skin
from neurok.core.mesh import joined_uv_sets
from neurok.core.surface import Surface
from neurok.dynamics.body import Body
from neurok.dynamics.choice import EngineName
from neurok.dynamics.condition import Ground, Obstacle, Wind, World
from neurok.dynamics.engine import Engine
from neurok.dynamics.particles.engine import ParticleEngine
from neurok.dynamics.particles.engine_config import ParticleEngineConfig, parse_resolution
from neurok.dynamics.reduced.engine import IntegratorName
from neurok.dynamics.simulate import simulate_together
from neurok.errors import NeurokError, did_you_mean
from neurok.geometry import lie
from neurok.io.files import unique_names
from neurok.kinematics import KinematicSpace
from neurok.model import Model, Weights, understand
from neurok.scene.actions import ActionSubject, acted
from neurok.scene.description import (
    Scene,
    SceneError,
    SceneGround,
    SceneMaterial,
    SceneObject,
    SceneObstacle,
    SceneWorld,
    Source,
    vector,
)
from neurok.scene.outcome import judged
from neurok.scene.placing import PlacedObject, collect, make_body, mass_of, placement_of, say_all
from neurok.scene.report import ObjectReport


def merge_meshes(meshes: Sequence[Mesh], names: Sequence[str]) -> Mesh:
    """One mesh of all; parts are called ``object/part``, or like the object where it has none.

    Raises:
        NeurokError: If units or up axes differ.
    """
    first = meshes[0]
    if any((mesh.unit, mesh.up) != (first.unit, first.up) for mesh in meshes):
        raise NeurokError("Objects of one mesh need one unit and up axis; use Mesh.in_frame.")
    vertex_starts = np.cumsum([0, *(mesh.vertex_count for mesh in meshes)])
    part_starts = np.cumsum([0, *(mesh.part_count for mesh in meshes)])
    surfaces_of = [mesh.surfaces or (Surface(),) for mesh in meshes]
    surface_starts = np.cumsum([0, *map(len, surfaces_of)])
    part_ids = [_or(mesh.part_ids, np.zeros(mesh.vertex_count, dtype=np.int64)) for mesh in meshes]
    face_surfaces = [_or(mesh.face_surfaces, np.zeros(mesh.face_count, dtype=np.int64)) for mesh in meshes]
    has_uv = any(mesh.uv is not None for mesh in meshes)
    has_colors = any(mesh.vertex_colors is not None for mesh in meshes)
    return Mesh(
        vertices=np.concatenate([mesh.vertices for mesh in meshes]),
        faces=np.concatenate([mesh.faces + start for mesh, start in zip(meshes, vertex_starts, strict=False)]),
        uv=np.concatenate([_or(m.uv, np.zeros((m.vertex_count, 2))) for m in meshes]) if has_uv else None,
        vertex_colors=np.concatenate([_or(m.vertex_colors, np.ones((m.vertex_count, 4))) for m in meshes])
        if has_colors
        else None,
        part_ids=np.concatenate([ids + start for ids, start in zip(part_ids, part_starts, strict=False)]),
        part_names=tuple(part for mesh, name in zip(meshes, names, strict=True) for part in _part_names(mesh, name)),
        surfaces=tuple(surface for row in surfaces_of for surface in row),
        face_surfaces=np.concatenate([ids + start for ids, start in zip(face_surfaces, surface_starts, strict=False)]),
        unit=first.unit,
        up=first.up,
        name="scene",
        authored=joined_uv_sets([m.authored for m in meshes], [m.uv for m in meshes], [m.vertex_count for m in meshes]),
    )


def merge_clips(clips: Sequence[Clip], names: Sequence[str]) -> Clip:
    """One clip of all, as long as the shortest; handles are kept when every object has them."""
    count = min(clip.frame_count for clip in clips)
    mesh = merge_meshes([clip.rest for clip in clips], names)
    positions = np.concatenate([clip.positions[:count] for clip in clips], axis=1)
    skins = [clip.skin for clip in clips if clip.skin is not None]
    skin = _merge_skins(skins, count) if len(skins) == len(clips) else None
    return Clip(mesh, positions, clips[0].fps, clips[0].name, skin)


def still_clip(mesh: Mesh, frame_count: int, fps: float) -> Clip:
    """A mesh that does not move, as a clip with one handle."""
    skin = Skin(np.ones((mesh.vertex_count, 1)), np.tile(np.eye(4), (frame_count, 1, 1, 1)))
    return Clip(mesh, np.tile(mesh.vertices, (frame_count, 1, 1)), fps, "motion", skin)


def _merge_skins(skins: Sequence[Skin], count: int) -> Skin:
    weights = np.zeros((sum(len(s.weights) for s in skins), sum(s.weights.shape[1] for s in skins)))
    row = column = 0
    for skin in skins:
        height, width = skin.weights.shape
        weights[row : row + height, column : column + width] = skin.weights
        row, column = row + height, column + width
    return Skin(weights, np.concatenate([skin.transforms[:count] for skin in skins], axis=1))


def _part_names(mesh: Mesh, name: str) -> tuple[str, ...]:
    return tuple(f"{name}/{part}" for part in mesh.part_names) or (name,)


def _or(array: np.ndarray | None, default: np.ndarray) -> np.ndarray:
    return default if array is None else array


MAX_BYTES = 8e9
"""Of the positions of one run: what a common machine can hold [bytes]."""


@dataclass(frozen=True, eq=False)
class ReadyScene:
    """A scene made ready: bodies with their conditions, and the world around them."""

    scene: Scene
    models: tuple[Model, ...]
    names: tuple[str, ...]
    bodies: tuple[Body, ...]
    world: World
    mass: float
    """Of everything that is simulated [kg]."""

    notes: tuple[str, ...] = ()
    """What was read otherwise than the files say, one sentence each."""

    reports: tuple[ObjectReport, ...] = ()
    """What each object was taken for."""

    @property
    def assets(self) -> tuple[Asset, ...]:
        return tuple(model.asset for model in self.models)


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
        return MaterialField.joined([*map(_materials_of, self.ready.bodies, self.rollouts), *still])


def _materials_of(body: Body, rollout: Rollout) -> MaterialField:
    """What a body is made of, its grains included."""
    if not rollout.grains:
        return body.stuff
    return body.stuff.at(rollout.rest.vertices, body.mesh.vertices)


def run_scene(
    scene: Scene, *, weights: Weights | None = None, progress: Callable[[float], None] | None = None
) -> SceneRun:
    """Simulate a scene. The same scene gives the same bits every time.

    Raises:
        SceneError: Naming all that is impossible about it.
    """
    return run_ready(prepare_scene(scene, weights), progress=progress)


def run_ready(
    ready: ReadyScene,
    *,
    engine: Engine | EngineName | None = None,
    progress: Callable[[float], None] | None = None,
    say: Callable[[str], None] | None = None,
) -> SceneRun:
    """Simulate what ``prepare_scene`` made ready; ``say`` is told in a sentence what will take long.

    An ``engine`` that is handed over takes the place of the one that the scene names.
    """
    scene = ready.scene
    rollouts = simulate_together(
        ready.bodies,
        ready.world,
        seconds=scene.seconds,
        fps=scene.fps,
        dt=scene.dt,
        integrator=scene.integrator,
        engine=engine or engine_of(scene, say),
        progress=progress,
    )
    return SceneRun(ready, judged(rollouts, ready.bodies, ready.world))


def engine_of(scene: Scene, say: Callable[[str], None] | None = None) -> Engine | EngineName:
    """The engine that a scene asks for, with what it says of it."""
    if scene.engine != "particles":
        return scene.engine
    if scene.integrator != "auto":
        raise NeurokError(
            f"The integrator '{scene.integrator}' belongs to the engine 'reduced'; leave it at 'auto' with 'particles'."
        )
    config = ParticleEngineConfig(cells=parse_resolution(scene.resolution), stiffest=scene.stiffest)
    return ParticleEngine(config, "asked for", say)


def prepare_scene(
    scene: Scene, weights: Weights | None = None, spaces: Mapping[int, KinematicSpace] | None = None
) -> ReadyScene:
    """Load, understand and place everything and turn words into vertices; nothing moves yet.

    Args:
        scene: What is done to which objects.
        weights: Networks that are asked about objects without joints; the shipped ones by default.
        spaces: Poses of objects, by their place, that are known from a scene with the same object.
    """
    problems: list[str] = []
    once = cache(lambda key: _understood(scene.objects[key], weights))
    models: list[Model] = collect(problems, once, _first_alike(scene.objects))
    found: list[Model] = collect(problems, lambda thing: understand(thing.source), scene.world.obstacles)
    say_all(problems)
    _check_memory(scene, models)
    scene = _with_frames(scene, models)
    first = models[0].mesh
    turned = {id(model): model.in_frame(first.up, first.unit) for model in models}
    models = [turned[id(model)] for model in models]
    obstacles = tuple(
        _obstacle(entry, model.in_frame(first.up, first.unit).mesh)
        for entry, model in zip(scene.world.obstacles, found, strict=True)
    )
    notes = tuple(note for model in models for note in model.notes)
    notes += tuple(f"obstacle: {note}" for model in found for note in model.notes)
    names = tuple(unique_names([thing.name or _default_name(thing.source) for thing in scene.objects]))

    def bodied(k: int) -> Body:
        return make_body(scene, k, names[k], models[k], (spaces or {}).get(k))

    bare: list[Body] = collect(problems, bodied, range(len(models)))
    say_all(problems)
    scene = _acted(scene, names, bare)

    def placed_at(k: int) -> PlacedObject:
        return PlacedObject.of(scene, k, bare[k], models[k].yields)

    placed: list[PlacedObject] = collect(problems, placed_at, range(len(models)))
    say_all(problems)
    rigid = scene.engine != "particles"
    if rigid and all(thing.body.poses.dim == 0 and not thing.body.free for thing in placed):
        raise NeurokError(
            f"Nothing can move: {', '.join(repr(name) for name in names)} has no joints and a fixed root. "
            "Let it fall with --drop, set it on the --ground, or give it joints."
        )
    ground = _ground(scene, placed, first)
    placed = [thing.lifted(ground) for thing in placed]
    bodies: list[Body] = collect(problems, PlacedObject.conditioned, placed)
    say_all(problems)
    blows = scene.world.wind is not None and any(scene.world.wind)
    wind = Wind(np.array(scene.world.wind), until=scene.world.wind_until) if blows else None
    gravity = None if scene.world.gravity is None else np.array(scene.world.gravity)
    world = World(gravity, wind, ground, obstacles, scene.world.friction)
    reports = tuple(
        ObjectReport.of(name, model, thing.body, thing.mass, thing.entry.space, has_poses=rigid)
        for name, model, thing in zip(names, models, placed, strict=True)
    )
    mass = sum(thing.mass for thing in placed)
    return ReadyScene(scene, tuple(models), names, tuple(bodies), world, mass, notes, reports)


def _first_alike(things: Sequence[SceneObject]) -> list[int]:
    """The first of those objects of a scene that are of one file and one matter, of each: it is understood once."""
    first: dict[str, int] = {}
    said = [(t.source, t.plan, t.unit, t.up, t.nodes, t.interior, t.materials, t.materials_file) for t in things]
    return [first.setdefault(repr(each), k) if isinstance(things[k].source, str) else k for k, each in enumerate(said)]


def _understood(thing: SceneObject, weights: Weights | None) -> Model:
    """What an object of a scene is, with all that the scene says of it."""
    given = {
        part: Material(part, **asdict(one)) if isinstance(one, SceneMaterial) else one
        for part, one in thing.materials.items()
    }
    model = understand(
        thing.source,
        plan=thing.plan or None,
        materials=given,
        weights=weights,
        unit=thing.unit,
        up=thing.up,
        nodes=thing.nodes,
        interior=None if thing.interior else False,
    )
    wall = None if thing.thickness is None else thing.thickness * model.mesh.unit
    return understand(
        model, materials=thing.materials_file or None, mass=thing.mass, hollow=thing.hollow, thickness=wall
    )


def _with_frames(scene: Scene, models: Sequence[Model]) -> Scene:
    """The scene, which says in which frame an object is read where that was a guess."""
    things = tuple(
        replace(thing, unit=model.mesh.unit, up=model.mesh.up) if model.notes else thing
        for thing, model in zip(scene.objects, models, strict=True)
    )
    return replace(scene, objects=things)


def _acted(scene: Scene, names: Sequence[str], bodies: Sequence[Body]) -> Scene:
    """The scene with all actions written out, scaled to the sizes and masses of the objects."""
    problems: list[str] = []
    for k, body in enumerate(bodies):
        if scene.objects[k].act is None:
            continue
        try:
            scene = acted(scene, k, ActionSubject.of(names[k], body.mesh, mass_of(body), body.materials))
        except SceneError as error:
            problems += error.problems
    say_all(problems)
    return scene


def _check_memory(scene: Scene, models: Sequence[Model]) -> None:
    need = 24.0 * scene.seconds * scene.fps * sum(model.mesh.vertex_count for model in models)
    if need > MAX_BYTES:
        raise NeurokError(
            f"{scene.seconds * scene.fps:.0f} frames of this mesh take {need / 1e9:.0f} GB, more than "
            f"{MAX_BYTES / 1e9:.0f}; ask for fewer seconds or frames per second."
        )


def _ground(scene: Scene, placed: Sequence[PlacedObject], first: Mesh) -> Ground | None:
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
    return Obstacle(replace(mesh, vertices=vertices, name=_default_name(entry.source)), entry.friction)


def _default_name(source: Source) -> str:
    if not isinstance(source, str):
        return (source if isinstance(source, Mesh) else source.mesh).name or "object"
    return source.removeprefix("sample:") if source.startswith("sample:") else Path(source).stem


def simulate(
    thing: Any,
    world: World | SceneWorld | None = None,
    *,
    seconds: float = 2.0,
    fps: float = 24.0,
    dt: float | None = None,
    integrator: IntegratorName = "auto",
    engine: Engine | EngineName = "auto",
    weights: Weights | None = None,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
    **conditions: Any,
) -> Rollout:
    """Roll one object forward in time, as the command ``neurok simulate`` does.

    Args:
        thing: A file, an asset, a mesh or a ``Model``: its joints, materials and masses are what ``understand`` finds.
            Or a body, a space or an articulation, which is taken as it is; see ``neurok.dynamics.Body``.
        world: Gravity, wind, ground, obstacles. By default only gravity.
        seconds: Length of the motion.
        fps: Stored frames per second.
        dt: Longest time step [s]; by default one that suits the integrator.
        integrator: Of the reduced engine; see ``neurok.dynamics.simulate``.
        engine: ``reduced``, ``mujoco``, ``particles``, one of your own, or ``auto``: MuJoCo for rigid things that can
            touch something.
        weights: Networks that are asked; the shipped ones by default.
        seed: Of whatever is random.
        progress: Called now and then with the fraction done.
        conditions: Fields of ``SceneObject``: ``act="drop"``, ``strength``, ``space``, ``plan``, ``materials``,
            ``drop``, ``pushes``, ``pins``, ``drags``, ``velocity``, ``spin``, ``base`` ...

    Returns:
        The motion, with positions, coordinates, energies, status and a report.
    """
    if not isinstance(thing, str | Path | Mesh | Asset | Model):
        if conditions:
            raise NeurokError(
                f"{', '.join(conditions)}: say these of a file, a mesh or an asset, or in Body.condition."
            )
        options: dict[str, Any] = {"seconds": seconds, "fps": fps, "dt": dt, "integrator": integrator}
        given = world if isinstance(world, World) or world is None else None
        return simulate_together([thing], given, engine=engine, progress=progress, **options)[0]
    known = {item.name for item in fields(SceneObject)} - {"source"}
    if unknown := sorted(set(conditions) - known):
        raise NeurokError(
            f"'{unknown[0]}' is nothing that can be said of an object; known are {', '.join(sorted(known))}."
            f"{did_you_mean(unknown[0], known)}"
        )
    for name in ("plan", "materials"):  # a scene has words for both, Python also objects
        if name in conditions and not isinstance(conditions[name], str):
            thing = understand(thing, **{name: conditions.pop(name)})
    entry = SceneObject(str(thing) if isinstance(thing, Path) else thing, **conditions)
    around = world if isinstance(world, SceneWorld) else _world_as_words(world)
    named = engine if isinstance(engine, str) else "auto"
    scene = Scene((entry,), around, float(seconds), float(fps), dt, integrator, seed, named)
    ready = prepare_scene(scene, weights)
    chosen = engine_of(ready.scene) if isinstance(engine, str) else engine
    return run_ready(ready, engine=chosen, progress=progress).rollout


def _world_as_words(world: World | None) -> SceneWorld:
    """A world of numbers as that of a scene."""
    if world is None:
        return SceneWorld()
    ground, wind = world.ground, world.wind
    return SceneWorld(
        gravity=None if world.gravity is None else vector(world.gravity),
        wind=None if wind is None else vector(wind.velocity),
        wind_until=None if wind is None else wind.until,
        ground=None
        if ground is None
        else SceneGround(ground.height, None if ground.normal is None else vector(ground.normal), ground.friction),
        obstacles=tuple(SceneObstacle(one.mesh, friction=one.friction) for one in world.obstacles),
        friction=world.friction,
    )
