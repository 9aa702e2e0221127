"""One object of a scene: where it stands, how it begins, and what acts on it, in vertices and numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.core import Mesh
from neurok.core.select import select_vertices
from neurok.dynamics.body import Body
from neurok.dynamics.condition import Condition, Drag, Force, Ground, Impulse, Pin, Start, VertexValues
from neurok.dynamics.masses import inertial_of, part_moments, vertex_masses
from neurok.dynamics.reduced.build import mechanics_of, start_of
from neurok.dynamics.reduced.equations import Mechanics
from neurok.dynamics.soft import soften
from neurok.errors import NeurokError
from neurok.geometry import lie
from neurok.kinematics import ArticulatedSpace, KinematicSpace
from neurok.model import Model
from neurok.scene.description import AUTO_DROP, Scene, SceneDrag, SceneError, SceneObject, SceneObstacle, Vector


def make_body(scene: Scene, index: int, name: str, model: Model, space: KinematicSpace | None = None) -> Body:
    """An object as a body that nothing acts on yet: its poses, materials and masses, as the model has them.

    ``space`` holds its poses where they are known already.
    """
    entry = scene.objects[index]
    if scene.engine == "particles":  # no poses are sought for particles
        joints = model.asset.articulation if entry.space in ("auto", "joints") else None
        space = ArticulatedSpace(joints) if joints is not None else model.space("rigid")
    space = space or model.space(entry.space)
    mesh = space.rest
    body = Body.of(
        space,
        placement=placement_of(entry, mesh),
        thickness=entry.thickness,
        **_made_of(model, space, entry),
        damping=entry.damping,
        joint_damping=entry.joint_damping,
        joint_friction=entry.joint_friction,
        name=name,
    )
    return _weighed(body, model.named_on(mesh))


def mass_of(body: Body) -> float:
    """[kg]."""
    joints = body.poses.articulation
    if joints is not None and joints.inertials is not None and all(joints.inertials):
        return float(sum(inertial.mass for inertial in joints.inertials if inertial is not None))
    return float(vertex_masses(body).sum())


@dataclass(frozen=True, eq=False)
class PlacedObject:
    """An object on its way into a scene: its body as it starts, and where its vertices then are."""

    scene: Scene
    entry: SceneObject
    body: Body
    start_positions: Float[np.ndarray, "V 3"]
    mass: float

    @staticmethod
    def of(scene: Scene, index: int, body: Body, yields: bool = True) -> PlacedObject:
        """Place a body: where it stands, how it deforms if anything of it ``yields``, and how it starts."""
        entry = scene.objects[index]
        body = replace(body, free=_is_free(scene, entry))
        if scene.engine != "particles" and (yields or entry.space == "elastic"):
            body = _softened(body, entry)
        mechanics = mechanics_of(body)
        body = replace(body, condition=Condition(_start(scene, index, body, mechanics)))
        pose, q, _ = start_of(body, mechanics)
        return PlacedObject(scene, entry, body, mechanics.positions(pose, q), float(mechanics.mass))

    def lowest(self, normal: Float[np.ndarray, "3"]) -> float:
        """How far down the object reaches against a normal."""
        return float((self.start_positions[np.unique(self.body.mesh.faces)] @ normal).min())

    def lifted(self, ground: Ground | None) -> PlacedObject:
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
            wanted = condition.start.positions
            start = replace(condition.start, positions=VertexValues(wanted.vertices, wanted.values + lift))
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


def _softened(body: Body, entry: SceneObject) -> Body:
    """The body in its elastic space if it is soft, held where it is pinned; what is said of its space is believed."""
    if entry.space not in ("auto", "learned", "elastic") or body.materials is None:
        return body
    if entry.space != "elastic" and body.poses.own_bends is None and not body.stuff.is_soft.any():
        return body
    if body.poses.stiffness is not None:  # it is elastic already, but may be pinned only now
        if not entry.pins or not body.free:
            return body
        body = replace(body, space=None)
    pins = [select_vertices(body.mesh, pin.at) for pin in entry.pins]
    return soften(body, np.unique(np.concatenate(pins)) if pins else None, anyway=entry.space == "elastic")


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
        _vertex_values(moves, lambda vertices, by: placed[vertices] + by),
        _vertex_values(rates, lambda vertices, velocity: np.tile(velocity, (len(vertices), 1))),
        np.array(entry.velocity),
        spin,
    )


def _vertex_values(
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


def _made_of(model: Model, space: KinematicSpace, entry: SceneObject) -> dict[str, Any]:
    """Materials of a body; a density that was given holds where nobody says what it is made of.

    What deforms in its own animation is not as stiff as it looks: it gets a density alone, and swings as it did.
    """
    found = model.field_on(space.rest)
    guessed = {item.material.name for item in model.materials.items if not item.is_known}
    if guessed and space.articulation is None and entry.space in ("auto", "clip") and model.asset.clips:
        return {"density": float(found.density.mean()) if entry.density is None else entry.density}
    if entry.density is None:
        return {"materials": found}
    free = np.array([one.name in guessed for one in found.materials])[found.ids]
    density = np.where(free, entry.density, found.density)
    return {"materials": replace(found, values={**found.values, "density": density})}


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
