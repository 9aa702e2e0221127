"""One object of a scene: where it stands, how it begins, and what acts on it, in vertices and numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.core import Asset, Material, MaterialField, Mesh
from neurok.core.material_library import material
from neurok.core.regions import select_stuff
from neurok.core.select import select_vertices
from neurok.dynamics.body import Body
from neurok.dynamics.condition import Condition, Drag, Force, Ground, Impulse, Pin, Start, VertexValues
from neurok.dynamics.masses import inertial_of, part_moments
from neurok.dynamics.particles.binding import mass_of
from neurok.dynamics.particles.engine_config import ParticleEngineConfig, parse_resolution
from neurok.dynamics.reduced.build import mechanics_of, start_of
from neurok.dynamics.reduced.equations import Mechanics
from neurok.dynamics.soft import soft_share, soften
from neurok.errors import NeurokError
from neurok.geometry import lie
from neurok.inference.materials import Proposals, propose_materials
from neurok.inference.spaces import Learner, space_for
from neurok.io.materials_file import read_materials
from neurok.kinematics import ArticulatedSpace, KinematicSpace
from neurok.scene.description import AUTO_DROP, Scene, SceneDrag, SceneError, SceneObject, SceneObstacle, Vector

MOSTLY = 0.5
"""Share of the surface that must be soft for the whole object to be taken for soft."""

CONFIDENT = 0.5
"""Confidence from which a proposed material counts without a word from the user."""


@dataclass(frozen=True, eq=False)
class Placed:
    """An object on its way into a scene: its body as it starts, and where its vertices then are."""

    scene: Scene
    entry: SceneObject
    body: Body
    start_positions: Float[np.ndarray, "V 3"]
    mass: float
    note: str = ""
    """One sentence about what was decided without a word from the user; empty if nothing."""

    @staticmethod
    def of(
        scene: Scene,
        index: int,
        name: str,
        asset: Asset,
        learner: Learner | None = None,
        space: KinematicSpace | None = None,
    ) -> Placed:
        """Place an object; ``space`` holds its poses where they are known already."""
        entry = scene.objects[index]
        if scene.engine == "particles":
            return _as_particles(scene, index, name, asset)
        soft, note = _soft_stuff(entry, asset)
        if space is None and entry.plan:
            space = _planned(entry, asset, learner)
        elif space is None:
            space = space_for(asset, entry.space if soft is None else "elastic", learner)
        body = Body.of(
            space,
            free=_is_free(scene, entry),
            placement=placement_of(entry, space.rest),
            density=entry.density,
            thickness=entry.thickness,
            materials=_materials(entry, asset, space.rest) if soft is None else soft,
            damping=entry.damping,
            joint_damping=entry.joint_damping,
            joint_friction=entry.joint_friction,
            name=name,
        )
        body = _weighed(_softened(body, entry), _touched(entry, space.rest))
        mechanics = mechanics_of(body)
        body = replace(body, condition=Condition(_start(scene, index, body, mechanics)))
        pose, q, _ = start_of(body, mechanics)
        return Placed(scene, entry, body, mechanics.positions(pose, q), float(mechanics.mass), note)

    def lowest(self, normal: Float[np.ndarray, "3"]) -> float:
        """How far down the object reaches against a normal."""
        return float((self.start_positions[np.unique(self.body.mesh.faces)] @ normal).min())

    def lifted(self, ground: Ground | None) -> Placed:
        """The same object at the height it is dropped from."""
        if self.entry.drop is None:
            return self
        assert ground is not None
        assert ground.normal is not None
        assert ground.height is not None
        mesh = self.body.mesh
        height = AUTO_DROP * mesh.size if self.entry.drop == "auto" else self.entry.drop
        lift = (height + ground.height - self.lowest(ground.normal)) * ground.normal
        placement = lie.translation(lift) @ self.body.placement
        condition = self.body.condition
        if condition.start.positions is not None:
            wish = condition.start.positions
            start = replace(condition.start, positions=VertexValues(wish.vertices, wish.values + lift))
            condition = replace(condition, start=start)
        body = replace(self.body, placement=placement, condition=condition)
        return replace(self, body=body, start_positions=self.start_positions + lift)

    def conditioned(self) -> Body:
        """The body with all that acts on it."""
        entry, mesh, name = self.entry, self.body.mesh, self.body.name
        problems: list[str] = []

        def found(things: Sequence[Any]) -> list[tuple[Any, Int[np.ndarray, " n"]]]:
            return collect(problems, lambda thing: (thing, select_vertices(mesh, thing.at)), things)

        pins, drags = found(entry.pins), found(entry.drags)
        pushes, blows = found(entry.pushes), found(entry.impulses)
        pinned = np.unique(np.concatenate([vertices for _, vertices in pins])) if pins else np.zeros(0, dtype=np.int64)
        if len(np.setdiff1d(mesh.faces, pinned)) == 0:
            problems.append(f"All vertices of '{name}' are pinned, so nothing can move; pin fewer")
        problems += [
            f"{drag.at!r} of '{name}' is pinned and dragged at once; choose one"
            for drag, vertices in drags
            if len(np.setdiff1d(vertices, pinned)) == 0
        ]
        say_all(problems)
        condition = replace(
            self.body.condition,
            forces=tuple(Force.constant(v, np.array(t.force), t.start, t.end) for t, v in pushes),
            impulses=tuple(Impulse(v, np.array(t.impulse), t.time) for t, v in blows),
            drags=tuple(self._drag(t, v) for t, v in drags),
            pins=tuple(Pin(v, t.stiffness) for t, v in pins)
            if self.body.poses.stiffness is None or self.body.free
            else (),
        )
        return replace(self.body, condition=condition)

    def _drag(self, entry: SceneDrag, vertices: Int[np.ndarray, " n"]) -> Drag:
        path, seconds = np.array(entry.path, dtype=np.float64).reshape(-1, 3), self.scene.seconds
        seconds = seconds if entry.end is None else min(entry.end, seconds)
        times = np.array(entry.times) if entry.times else np.linspace(0.0, seconds, len(path) + 1)[1:]
        if times[0] > 0:  # the path begins where the vertices are
            path, times = np.concatenate([np.zeros((1, 3)), path]), np.concatenate([[0.0], times])
        return Drag(vertices, self.start_positions[vertices].mean(axis=0) + path, times, entry.stiffness, entry.end)


def _is_free(scene: Scene, entry: SceneObject) -> bool:
    """Whether an object moves as a whole."""
    rests = scene.world.ground is not None or entry.drop is not None
    return entry.base == "free" or (entry.base == "auto" and rests)


def _as_particles(scene: Scene, index: int, name: str, asset: Asset) -> Placed:
    """An object for the particle engine: no poses are sought for it, but everything is made of something."""
    entry = scene.objects[index]
    named = _materials(entry, asset, asset.mesh)
    stuff, note = (named, "") if named is not None else _proposed(asset)
    joints = asset.articulation if entry.space in ("auto", "joints") else None
    if joints is not None and (entry.materials or entry.materials_file):
        joints = replace(joints, inertials=None)
    body = Body.of(
        asset.mesh if joints is None else joints,
        free=_is_free(scene, entry),
        placement=placement_of(entry, asset.mesh),
        density=entry.density,
        thickness=entry.thickness,
        materials=stuff,
        damping=entry.damping,
        name=name,
    )
    mechanics = mechanics_of(body)
    body = replace(body, condition=Condition(_start(scene, index, body, mechanics)))
    pose, q, _ = start_of(body, mechanics)
    config = ParticleEngineConfig(cells=parse_resolution(scene.resolution))
    return Placed(scene, entry, body, mechanics.positions(pose, q), mass_of(body, config), note)


def _proposed(asset: Asset) -> tuple[MaterialField, str]:
    """What an object is probably made of, and a sentence that says so."""
    found = propose_materials(asset)
    return found.field, _taken_for(asset, found)


def _taken_for(asset: Asset, found: Proposals) -> str:
    names = ", ".join(dict.fromkeys(item.material.name for item in found.items))
    return f"'{asset.mesh.name}' is taken to be of {names}; name materials with --material PART=NAME."


def _soft_stuff(entry: SceneObject, asset: Asset) -> tuple[MaterialField | None, str]:
    """What an object without joints or animation is made of, named or proposed, if most of it is soft; and a note.

    Joints that only a plan finds in soft things, such as straps, are its bends.
    """
    moves = asset.articulation is not None or any(clip.frame_count > 1 for clip in asset.clips)
    if entry.space != "auto" or entry.plan or moves:
        return None, ""
    named = _materials(entry, asset, asset.mesh)
    if named is not None:
        return (named if soft_share(asset.mesh, named) > MOSTLY else None), ""
    proposals = propose_materials(asset)
    sure = np.zeros(asset.mesh.vertex_count)
    for item in proposals.items:
        sure[item.region.vertices] = item.confidence
    if soft_share(asset.mesh, proposals.field, sure >= CONFIDENT) <= MOSTLY:
        return None, ""
    return proposals.field, _taken_for(asset, proposals)


def _softened(body: Body, entry: SceneObject) -> Body:
    """The body in its elastic space if it is soft, held where it is pinned; what is said of its space is believed."""
    if entry.space not in ("auto", "learned", "elastic"):
        return body
    if body.poses.stiffness is not None:  # it is elastic already, but may be pinned only now
        if not entry.pins or not body.free:
            return body
        body = replace(body, space=None)
    if entry.space == "auto" and body.materials is None and body.poses.learned_bends is None:
        return body  # nobody says that it is soft
    pins = [select_vertices(body.mesh, pin.at) for pin in entry.pins]
    return soften(body, np.unique(np.concatenate(pins)) if pins else None, anyway=entry.space == "elastic")


def _planned(entry: SceneObject, asset: Asset, learner: Learner | None) -> KinematicSpace:
    """The poses that a body plan allows; the object moves as a whole where the plan has no joint."""
    space = None if learner is None else learner(asset.mesh, entry.plan)
    return space_for(asset, "rigid") if space is None else space


def placement_of(entry: SceneObject | SceneObstacle, mesh: Mesh) -> Float[np.ndarray, "4 4"]:
    """Turned about the middle of its box, then moved."""
    turn = np.radians(np.array(entry.rotation, dtype=np.float64))
    angle = float(np.linalg.norm(turn))
    out = lie.translation(np.array(entry.position, dtype=np.float64))
    if angle > 0:
        out = out @ lie.rotation_about(turn / angle, mesh.bounds.mean(axis=0), np.array(angle))
    return out


def _start(scene: Scene, index: int, body: Body, mechanics: Mechanics) -> Start:
    """How an object begins, the random part included."""
    entry, mesh, space = scene.objects[index], body.mesh, body.poses
    problems: list[str] = []
    moves = collect(problems, lambda t: (t.by, select_vertices(mesh, t.at)), entry.moves)
    rates = collect(problems, lambda t: (t.velocity, select_vertices(mesh, t.at)), entry.velocities)
    for key in ("q", "qdot"):
        value = getattr(entry, key)
        if value is not None and len(value) != space.dim:
            problems.append(f"'{body.name}' has {space.dim} joint values, but {key} holds {len(value)}")
    if not body.free and (any(entry.velocity) or any(entry.spin)):
        problems.append(f"'{body.name}' has a fixed root, so it cannot start with a velocity or spin; set base to free")
    say_all(problems)
    q = np.zeros(space.dim) if entry.q is None else np.array(entry.q)
    qdot = np.zeros(space.dim) if entry.qdot is None else np.array(entry.qdot)
    spin = np.array(entry.spin)
    if entry.jolt > 0:
        more_qdot, more_spin = _jolt(entry.jolt, np.random.default_rng([scene.seed, index]), body, mechanics, q)
        qdot, spin = qdot + more_qdot, spin + more_spin
    placed = lie.apply(body.placement, mesh.vertices)  # type: ignore[arg-type]
    return Start(
        q,
        qdot,
        _wishes(moves, lambda vertices, by: placed[vertices] + by),
        _wishes(rates, lambda vertices, velocity: np.tile(velocity, (len(vertices), 1))),
        np.array(entry.velocity),
        spin,
    )


def _wishes(
    found: Sequence[tuple[Vector, Int[np.ndarray, " n"]]], values: Callable[[Any, Any], np.ndarray]
) -> VertexValues | None:
    if not found:
        return None
    rows = [values(vertices, np.array(vector)) for vector, vertices in found]
    return VertexValues(np.concatenate([vertices for _, vertices in found]), np.concatenate(rows))


def _jolt(
    speed: float, generator: np.random.Generator, body: Body, mechanics: Mechanics, q: Float[np.ndarray, " D"]
) -> tuple[Float[np.ndarray, " D"], Float[np.ndarray, "3"]]:
    """Random rates and, for a free object, a random spin; the fastest vertex has the given speed."""
    base = mechanics.dim - body.poses.dim
    rates = generator.standard_normal(mechanics.dim)
    rates[: min(base, 3)] = 0.0
    values = np.concatenate([np.zeros(base), q])
    motion = mechanics.motion(np.eye(4), values[None], rates[None])
    velocities = mechanics.points(np.unique(body.mesh.faces)).velocities(motion)[0]
    fastest = float(np.linalg.norm(velocities, axis=1).max())
    rates = rates * (speed / fastest if fastest > 0 else 0.0)
    return rates[base:], rates[3:6] if base else np.zeros(3)


def _materials(entry: SceneObject, asset: Asset, mesh: Mesh) -> MaterialField | None:
    """Materials by part over those of the file."""
    known = read_materials(entry.materials_file, mesh) if entry.materials_file else asset.materials
    if not entry.materials:
        return known
    out = known or MaterialField.uniform(Material(density=entry.density), mesh.vertex_count)
    for part, given in sorted(entry.materials.items(), key=lambda item: item[0] != "all"):  # parts count over all
        stuff = material(given) if isinstance(given, str) else Material(part, **asdict(given))
        out = out.with_part(select_stuff(mesh, part), stuff)
    return out


def _touched(entry: SceneObject, mesh: Mesh) -> Bool[np.ndarray, " V"]:
    """Vertices whose material the scene names: what the file says of their mass no longer holds."""
    out = np.full(mesh.vertex_count, bool(entry.materials_file))
    for part in entry.materials:
        out[select_stuff(mesh, part)] = True
    return out


def _weighed(body: Body, touched: Bool[np.ndarray, " V"]) -> Body:
    """The same body with the mass of each rigid part written down, since weighing a large mesh takes a while."""
    articulation = body.poses.articulation
    if articulation is None:
        return body
    if articulation.inertials is not None:
        stale = np.unique(articulation.vertex_parts[touched])
        kept = tuple(None if part in stale else known for part, known in enumerate(articulation.inertials))
        articulation = replace(articulation, inertials=kept)
    moments, unit = part_moments(body, articulation), articulation.mesh.unit
    known = replace(articulation, inertials=tuple(inertial_of(moment, unit) for moment in moments))
    return replace(body, space=ArticulatedSpace(known))


def collect(problems: list[str], make: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
    """What is made of each item; complaints are noted, so that all of them are said at once."""
    out = []
    for item in items:
        try:
            out.append(make(item))
        except SceneError as error:
            problems.extend(error.problems)
        except NeurokError as error:
            problems.append(str(error).removesuffix("."))
    return out


def say_all(problems: list[str]) -> None:
    if problems:
        raise SceneError(problems)
