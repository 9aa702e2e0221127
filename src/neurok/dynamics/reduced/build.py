"""From bodies and a world to a mechanical system: mechanics, loads and the moment it starts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from neurok.core.articulation import Articulation
from neurok.dynamics.body import Body
from neurok.dynamics.condition import Drag, Pin, VertexValues, Wind, World, check_positive
from neurok.dynamics.elasticity import elastic_energy
from neurok.dynamics.energies import CoordinateEnergy, PointEnergy, Quadratic, energy_name
from neurok.dynamics.masses import part_moments, vertex_masses
from neurok.dynamics.reduced.config import DEFAULTS, STANDARD_GRAVITY, ReducedConfig
from neurok.dynamics.reduced.equations import FeatureMechanics, Mechanics, Pose, TreeMechanics
from neurok.dynamics.reduced.loads import (
    CoordinateLoad,
    Damping,
    Hold,
    LimitWell,
    PointLoad,
    Push,
    StrainWell,
    UniformField,
    WindLoad,
    autodiff_energy,
)
from neurok.dynamics.reduced.system import Member, State, System
from neurok.errors import NeurokError
from neurok.geometry.operators import closed_components
from neurok.geometry.operators import face_areas
from neurok.geometry.topology import face_components
from neurok.kinematics.fit import least_squares


def mechanics_of(body: Body) -> Mechanics:
    """The fastest mechanics that suits the space of a body."""
    if body.poses.articulation is not None:
        return tree_mechanics(body, body.poses.articulation)
    return FeatureMechanics.of(body.poses, vertex_masses(body), body.free)


def tree_mechanics(body: Body, articulation: Articulation) -> TreeMechanics:
    """Rigid parts: exact moments of each part, gathered on the nodes of the joint tree."""
    moments = part_moments(body, articulation)
    total = moments.sum(axis=0)
    tree = replace(articulation.tree, free=body.free, center=total[:3, 3] / total[3, 3])
    part_nodes = articulation.part_nodes
    node_moments = np.zeros((tree.joint_count + 1, 4, 4))
    np.add.at(node_moments, part_nodes, moments)
    parts = articulation.vertex_parts
    mechanics = TreeMechanics(tree, node_moments, articulation.mesh.vertices, part_nodes[parts], parts, part_nodes)
    _check_masses(mechanics, body, articulation.dof_names)
    return mechanics


def _check_masses(mechanics: TreeMechanics, body: Body, names: Sequence[str]) -> None:
    """Every joint must move some mass, or its motion has no answer."""
    dim = mechanics.dim
    mass = mechanics.motion(np.eye(4), np.zeros((1, dim)), np.zeros((1, dim))).mass_matrices()[0]
    base = mechanics.tree.base_dim
    if base and not mechanics.moments[0, 3, 3] > 1e-12 * mechanics.mass:
        raise NeurokError(
            f"'{body.name}' cannot be free: none of its parts is fixed to its root, so the root has no mass; "
            "make the joint of its main part fixed."
        )
    for k in range(base, dim):
        if not mass[k, k] > 1e-14 * mechanics.mass * body.mesh.size**2:
            raise NeurokError(
                f"Joint '{names[k - base]}' of '{body.name}' moves no mass, so its motion is undefined; "
                "give its part some geometry or an inertial, or make the joint fixed."
            )


def gravity_of(world: World, body: Body) -> Float[np.ndarray, "3"]:
    """Acceleration in mesh units."""
    mesh = body.mesh
    vector = -STANDARD_GRAVITY * mesh.up_vector if world.gravity is None else world.gravity
    return np.asarray(vector, dtype=np.float64) / mesh.unit


@dataclass(frozen=True, eq=False)
class Bound:
    """A body made ready: its mechanics, where it starts, and what acts on it."""

    body: Body
    mechanics: Mechanics
    pose: Pose
    q: Float[np.ndarray, " D"]
    qdot: Float[np.ndarray, " D"]
    loads: tuple[Any, ...]


def bind(body: Body, world: World, config: ReducedConfig = DEFAULTS) -> Bound:
    """Mechanics, start and loads of one body."""
    check_vertices(body)
    mechanics = mechanics_of(body)
    pose, q, qdot = start_of(body, mechanics)
    return Bound(body, mechanics, pose, q, qdot, tuple(_loads(body, world, mechanics, pose, q, config)))


def assemble(bounds: Sequence[Bound]) -> tuple[System, State]:
    """All bodies as one system, and its first moment."""
    members, offset = [], 0
    for bound in bounds:
        members.append(Member(bound.mechanics, bound.loads, slice(offset, offset + bound.mechanics.dim)))
        offset += bound.mechanics.dim
    system = System(tuple(members))
    q = np.concatenate([bound.q for bound in bounds])
    qdot = np.concatenate([bound.qdot for bound in bounds])
    poses = tuple(bound.pose for bound in bounds)
    momentum = system.momentum(system.motions(poses, q[None], qdot[None]))[0]
    return system, State(poses, q, momentum)


def start_of(body: Body, mechanics: Mechanics) -> tuple[Pose, np.ndarray, np.ndarray]:
    """Pose, coordinates and rates that meet the start condition in least squares."""
    start, base = body.condition.start, mechanics.dim - body.poses.dim
    pose = np.eye(4) if body.placement is None else np.array(body.placement)
    q, qdot = np.zeros(mechanics.dim), np.zeros(mechanics.dim)
    for name, target in (("q", q), ("qdot", qdot)):
        value = getattr(start, name)
        if value is not None:
            if len(value) != body.poses.dim:
                raise NeurokError(f"'{body.name}' has {body.poses.dim} coordinates, but {name} holds {len(value)}.")
            target[base:] = value
    if start.positions is not None:
        q = _fit_positions(mechanics, pose, q, start.positions)
        pose, q, _ = mechanics.rebase(pose, q, np.zeros_like(q))
    if base:
        qdot[:3], qdot[3:6] = start.velocity, start.spin
    elif np.any(start.velocity) or np.any(start.spin):
        raise NeurokError(f"'{body.name}' has a fixed root, so it cannot start with a velocity or spin; set it free.")
    if start.velocities is not None:
        qdot = qdot + _fit_velocities(mechanics, pose, q, qdot, start.velocities)
    return pose, q, qdot


def _fit_positions(mechanics: Mechanics, pose: Pose, q: np.ndarray, wish: VertexValues) -> Float[np.ndarray, " D"]:
    points = mechanics.points(wish.vertices)

    def evaluate(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        motion = mechanics.motion(pose, values[None], np.zeros_like(values[None]))
        gaps = points.positions(motion)[0] - wish.values
        return gaps.reshape(-1), points.jacobian(motion).reshape(gaps.size, -1)

    return least_squares(evaluate, q)[0]


def _fit_velocities(
    mechanics: Mechanics, pose: Pose, q: np.ndarray, qdot: np.ndarray, wish: VertexValues
) -> Float[np.ndarray, " D"]:
    """The change of rates with the least kinetic energy among those that come closest to the wished velocities."""
    motion = mechanics.motion(pose, q[None], qdot[None])
    points = mechanics.points(wish.vertices)
    slopes = points.jacobian(motion)
    missing = (wish.values - slopes @ qdot).reshape(-1)
    lower = np.linalg.cholesky(motion.mass_matrices()[0] + 1e-14 * np.eye(len(q)))
    whitened = np.linalg.solve(lower, slopes.reshape(len(missing), -1).T).T
    return np.linalg.solve(lower.T, np.linalg.lstsq(whitened, missing, rcond=1e-9)[0])


def _loads(
    body: Body, world: World, mechanics: Mechanics, pose: Pose, q: np.ndarray, config: ReducedConfig
) -> list[Any]:
    mesh, condition = body.mesh, body.condition
    loads: list[Any] = gravity_load(body, world)
    loads += [_limits(body, world, mechanics, q, config)] if _has_limits(body) else []
    loads += _strain_limits(body, world, mechanics, config)
    loads += _damping(body, world, mechanics, config)
    for force in condition.forces:
        share = 1.0 / (mesh.unit * len(force.vertices))
        loads.append(Push(mechanics.points(force.vertices), force, share))
    loads += _holds(body, mechanics, pose, q, config)
    if world.wind is not None:
        loads.append(wind_load(body, world.wind, mechanics, config))
    for energy in body.energies:
        loads.append(_bound_energy(energy, body, mechanics))
    return loads + [_bound_energy(energy, body, mechanics) for energy in _elasticity(body, mechanics, config)]


def _elasticity(body: Body, mechanics: Mechanics, config: ReducedConfig) -> list[Any]:
    """What pulls bent things back to rest: their material, or the swing that the space knows where none is named."""
    space = body.poses
    if not body.elastic or not space.dim:
        return []
    if space.stiffness is not None:
        return [Quadratic(space.stiffness)]
    if space.swing is not None and body.materials is None:
        still, base = np.zeros((1, mechanics.dim)), mechanics.dim - space.dim
        mass = mechanics.motion(np.eye(4), still, still).mass_matrices()[0][base:, base:]
        return [Quadratic((2 * np.pi * space.swing) ** 2 * mass * body.mesh.unit**2)]
    energy = elastic_energy(body, config.elastic)
    return [] if energy is None else [energy]


def gravity_load(body: Body, world: World) -> list[Any]:
    """Gravity, if there is any."""
    gravity = gravity_of(world, body)
    return [UniformField(gravity)] if np.any(gravity) else []


def _has_limits(body: Body) -> bool:
    return body.limit_stiffness != 0 and bool(np.isfinite(body.poses.limits).any())


def _limits(body: Body, world: World, mechanics: Mechanics, q: np.ndarray, config: ReducedConfig) -> LimitWell:
    """The well of the limits, steep enough to carry the weight that hangs on a joint within its softness."""
    mesh, base = body.mesh, mechanics.dim - body.poses.dim
    limits = body.poses.limits
    slides = body.poses.is_length
    own = body.poses.limit_softness
    depth = np.where(slides, config.limit_softness * mesh.size, config.limit_softness if own is None else own)
    inertia, lever = _lever(mechanics)
    force = STANDARD_GRAVITY / mesh.unit * lever[base:]
    fall = force / inertia[base:]
    if body.limit_stiffness is not None:
        force = np.where(slides, body.limit_stiffness, body.limit_stiffness / mesh.unit**2) * depth
    free = np.full(base, np.inf)
    if own is None:
        limits = limits + 2.0 * np.pi * np.where(slides, 0.0, _turns(limits, q[base:]))[:, None]
    # An object that begins beyond its limits stays free there, or the well would shoot it away.
    lower = np.minimum(np.concatenate([-free, limits[:, 0]]), q)
    upper = np.maximum(np.concatenate([free, limits[:, 1]]), q)
    steepness = force / depth**2
    # A weight that rests on a well at depth d swings there at the rate sqrt(2 fall / d), whatever the weight.
    is_damped = world.has_contact and body.joint_damping != 0
    damping = 2.0 * config.buffer * steepness * np.sqrt(2.0 / fall) if is_damped else 0.0
    nothing = np.zeros(base)
    return LimitWell(
        lower, upper, np.concatenate([nothing, steepness]), np.concatenate([nothing, damping * np.ones_like(force)])
    )


def _strain_limits(body: Body, world: World, mechanics: Mechanics, config: ReducedConfig) -> list[StrainWell]:
    """Wells that keep what bends from being strained too much by all coordinates together."""
    limits = body.poses.strain_limits
    if limits is None or body.limit_stiffness == 0:
        return []
    steepness = limits.steepness / body.mesh.unit**2
    buffer = 2.0 * config.buffer * np.sqrt(2.0 / limits.fall) if world.has_contact else np.zeros_like(limits.fall)
    vectors = limits.beside(mechanics.dim - body.poses.dim, 0).rows
    return [StrainWell(np.ascontiguousarray(vectors), np.stack([steepness, steepness * buffer], axis=1))]


def _turns(limits: Float[np.ndarray, "D 2"], q: Float[np.ndarray, " D"]) -> Float[np.ndarray, " D"]:
    """Whole turns by which limits of hinges must be shifted to hold the start; files count angles from anywhere."""
    finite = np.isfinite(limits).all(axis=1)
    low, high = np.where(finite[:, None], limits, 0.0).T
    up = np.ceil((q - high) / (2 * np.pi) - 1e-9)
    holds = finite & (low + 2 * np.pi * up <= q + 1e-9)
    return np.where(holds, up, 0.0)


def _lever(mechanics: Mechanics) -> tuple[Float[np.ndarray, " D"], Float[np.ndarray, " D"]]:
    """Inertia of each coordinate at rest; and the mass it moves times the radius of gyration by which it does."""
    still = np.zeros((1, mechanics.dim))
    inertia = np.diagonal(mechanics.motion(np.eye(4), still, still).mass_matrices()[0])
    return inertia, np.sqrt(mechanics.carried * inertia)


def _damping(body: Body, world: World, mechanics: Mechanics, config: ReducedConfig) -> list[Damping]:
    coefficients = np.zeros(mechanics.dim)
    base = mechanics.dim - body.poses.dim
    turns = np.where(body.poses.is_length, 1.0, body.mesh.unit**-2.0)
    coefficients[base:] = body.poses.damping * turns
    if body.poses.articulation is not None and body.poses.dim:
        rate = body.joint_damping
        if rate is None:
            rate = config.rubbing if world.has_contact else 0.0
        still = np.zeros((1, mechanics.dim))
        carried = np.diagonal(mechanics.motion(np.eye(4), still, still).mass_matrices()[0])
        rubs = (coefficients == 0) & (np.arange(mechanics.dim) >= base)
        coefficients = np.where(rubs, rate * carried, coefficients)
    if not np.any(coefficients) and not body.damping:
        return []
    return [Damping(coefficients, body.damping)]


def _holds(body: Body, mechanics: Mechanics, pose: Pose, q: np.ndarray, config: ReducedConfig) -> list[Hold]:
    out = []
    motion = mechanics.motion(pose, q[None], np.zeros_like(q[None]))
    everything: list[Pin | Drag] = [*body.condition.pins, *body.condition.drags]
    for held in everything:
        points = mechanics.points(held.vertices)
        places = points.positions(motion)[0]
        name = "drag" if isinstance(held, Drag) else "pin"
        springs = _springs(body, mechanics, held.stiffness, config.hold_sag, len(held.vertices))
        end = held.end if isinstance(held, Drag) and held.end is not None else math.inf
        out.append(Hold(points, _targets(held, places), *springs, name, end=end))
    return out


def _springs(body: Body, mechanics: Mechanics, total: float | None, sag: float, count: int) -> tuple[float, float]:
    """Stiffness and damping of each of some springs that hold a body, by default with a sag under its own weight."""
    mesh = body.mesh
    if total is None:
        total = mechanics.mass * STANDARD_GRAVITY / (mesh.unit * sag * mesh.size)
    damping = 2.0 * np.sqrt(total * mechanics.mass)
    return total / count, damping / count


def grip(
    bound: Bound,
    vertices: Int[np.ndarray, " n"],
    target: Float[np.ndarray, "3"],
    now: tuple[Pose, np.ndarray],
    stiffness: float | None,
    config: ReducedConfig,
) -> Hold:
    """Springs that pull some vertices so that their mean comes to ``target``, which may change later."""
    check_positive(stiffness, "stiffness")
    mechanics, (pose, q) = bound.mechanics, now
    points = mechanics.points(vertices)
    places = points.positions(mechanics.motion(pose, q[None], np.zeros_like(q[None])))[0]
    offsets = places - places.mean(axis=0)
    springs = _springs(bound.body, mechanics, stiffness, config.grab_sag, len(vertices))
    return Hold(points, lambda t: target + offsets, *springs, "grab")


def _targets(held: Pin | Drag, places: Float[np.ndarray, "n 3"]) -> Callable[[float], Float[np.ndarray, "n 3"]]:
    """Where held vertices shall be over time."""
    if isinstance(held, Pin):
        return lambda t: places
    offsets = places - places.mean(axis=0)
    return lambda t: held.at(t) + offsets


def wind_load(body: Body, wind: Wind, mechanics: Mechanics, config: ReducedConfig) -> WindLoad:
    """The wind on an area-weighted choice of faces, the same in every run."""
    mesh = body.mesh
    areas = face_areas(mesh.vertices, mesh.faces)
    component = face_components(mesh.vertices, mesh.faces)
    # Of a closed piece only the windward half is exposed at a time.
    areas = areas * np.where(closed_components(mesh.vertices, mesh.faces, component)[component], 0.5, 1.0)
    chosen, share = np.arange(mesh.face_count), areas
    count = config.max_wind_faces
    if mesh.face_count > count:
        marks = (np.arange(count) + 0.5) / count * areas.sum()
        chosen = np.searchsorted(np.cumsum(areas), marks).clip(max=mesh.face_count - 1)
        share = np.full(count, areas.sum() / count)
    points = mechanics.points(mesh.faces[chosen].reshape(-1))
    pressure = 0.5 * wind.air_density * wind.drag * mesh.unit**3
    until = math.inf if wind.until is None else wind.until
    return WindLoad(points, share, wind.velocity / mesh.unit, pressure, until=until)


def _bound_energy(energy: Any, body: Body, mechanics: Mechanics) -> Any:
    unit, name = body.mesh.unit, energy_name(energy)
    if isinstance(energy, CoordinateEnergy):
        bend = energy.stiffness if isinstance(energy, Quadratic) else None
        return CoordinateLoad(energy.of_coordinates, mechanics.dim - body.poses.dim, unit, name, bend)
    if isinstance(energy, PointEnergy):
        bend = getattr(energy, "curvature", None)
        return PointLoad(mechanics.points(energy.vertices), energy.evaluate, unit, name, bend)
    if not callable(energy):
        raise NeurokError(f"'{name}' is no energy: it must be a function of vertex positions, or have 'evaluate'.")
    everything = np.arange(body.mesh.vertex_count)
    return PointLoad(mechanics.points(everything), autodiff_energy(energy), unit, name)


def check_vertices(body: Body) -> None:
    """Refuse conditions on vertices that are not there, or that contradict each other."""
    condition, count = body.condition, body.mesh.vertex_count
    wishes = [w for w in (condition.start.positions, condition.start.velocities) if w is not None]
    noun: Any
    for noun in (*condition.forces, *condition.impulses, *condition.drags, *condition.pins, *wishes):
        if noun.vertices.max() >= count:
            raise NeurokError(
                f"A {type(noun).__name__.lower()} names vertex {noun.vertices.max()}, "
                f"but '{body.name}' has vertices 0 to {count - 1}."
            )
    held = [set(pin.vertices.tolist()) for pin in condition.pins]
    for drag in condition.drags:
        if any(set(drag.vertices.tolist()) <= pinned for pinned in held):
            raise NeurokError(f"'{body.name}' has vertices that are pinned and dragged at once; choose one of them.")
