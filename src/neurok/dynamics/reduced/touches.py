"""Everything in a scene that can touch something: with the ground, obstacles, other objects, and within one object."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from neurok.dynamics.colliders import Collider, HalfSpace, Hull, obstacle_colliders
from neurok.dynamics.condition import Ground, World
from neurok.dynamics.reduced.build import Bound, gravity_of
from neurok.dynamics.reduced.config import STANDARD_GRAVITY, ContactConfig
from neurok.dynamics.reduced.contact import Touch
from neurok.dynamics.reduced.shapes import Piece, Shape
from neurok.dynamics.reduced.system import State, System
from neurok.geometry.lie import seen_from


def touches_of(
    bounds: Sequence[Bound],
    shapes: Sequence[Shape],
    world: World,
    system: System,
    state: State,
    config: ContactConfig,
) -> list[Touch]:
    """All pairs of points and solids."""
    steep = [_stiffness(bound, world, config) for bound in bounds]
    out: list[Touch] = []
    solids: list[tuple[Collider, float]] = []
    if world.ground is not None:
        ground = _ground(world.ground, bounds, shapes, system, state)
        for k, shape in enumerate(shapes):
            surface = _surface(bounds[k], world.ground.friction, config)
            out.append(Touch(shape.corners, ground, *surface, steep[k]))
    for obstacle in world.obstacles:
        solids += [(collider, obstacle.friction) for collider in obstacle_colliders(obstacle.mesh, config.colliders)]
    for k, shape in enumerate(shapes):
        for collider, friction in solids:
            out.append(Touch(shape.samples, collider, *_surface(bounds[k], friction, config), steep[k]))
        for other, pieces in enumerate(shape.pieces for shape in shapes):
            if other != k:
                surface = _surfaces(bounds[k], bounds[other], world.friction, config)
                stiffness = min(steep[k], steep[other])
                out += [Touch(shape.samples, p.collider, *surface, stiffness, other, p.node) for p in pieces]
        out += _within(bounds[k], shape, world, steep[k], config)
    return out


def friction_of(bound: Bound) -> float | None:
    """Of the surface of an object, where its materials are named."""
    return None if bound.body.materials is None else float(np.mean(bound.body.materials.friction))


def bounce_of(bound: Bound) -> float:
    """Speed that a rigid object keeps when it strikes something hard; nothing where no material is named.

    What bends has no such figure: it bounces by its own elasticity.
    """
    field = bound.body.materials
    if field is None or not len(bound.mechanics.part_nodes):
        return 0.0
    damping = field.damping_ratio
    return float(np.mean(np.exp(-np.pi * damping / np.sqrt(1.0 - damping**2))))


def _surface(bound: Bound, friction: float, config: ContactConfig) -> tuple[float, float]:
    """Friction and restitution of an object on something that stands still."""
    own = friction_of(bound)
    kept = config.assembled if bound.body.poses.dim else config.hard
    return friction if own is None else float(np.sqrt(own * friction)), kept * bounce_of(bound)


def _surfaces(a: Bound, b: Bound, friction: float, config: ContactConfig) -> tuple[float, float]:
    """The same between two objects: an object without a material takes the world's friction."""
    first, second = (friction if own is None else own for own in (friction_of(a), friction_of(b)))
    is_plain = not (a.body.poses.dim or b.body.poses.dim)
    kept = 1.0 if is_plain else config.assembled
    return float(np.sqrt(first * second)), kept * bounce_of(a) * bounce_of(b)


def _within(bound: Bound, shape: Shape, world: World, stiffness: float, config: ContactConfig) -> list[Touch]:
    """Parts of one object against each other, but for those that touch at rest or that a joint leads through each
    other: they were made to."""
    articulation = bound.body.poses.articulation
    if articulation is None or not bound.body.poses.dim or len(shape.parts) < 2:
        return []
    own = friction_of(bound)
    friction = world.friction if own is None else own
    pairs = [
        (part, piece)
        for part in shape.parts
        for piece in shape.pieces
        if piece.node != bound.mechanics.part_nodes[part] and len(shape.pieces) <= config.max_own_pieces
    ]
    poses = _poses(bound, config)
    apart = np.min([_heights(bound, shape, pairs, q) for q in poses], axis=0) if pairs else []
    at_rest = _heights(bound, shape, pairs, poses[0])
    owner, size = shape.corners.owner, bound.body.mesh.size
    out = []
    for (part, piece), least, rest in zip(pairs, apart, at_rest, strict=True):
        if least > -config.overlap * size and rest > config.overlap * size:
            points = shape.parts[part]
            out.append(Touch(points, piece.collider, friction, 0.0, stiffness, owner, piece.node))
    return out


def _poses(bound: Bound, config: ContactConfig) -> list[Float[np.ndarray, " D"]]:
    """The start, rest, and each joint alone between its limits."""
    base = bound.mechanics.dim - bound.body.poses.dim
    out = [bound.q, np.zeros_like(bound.q)]
    for k, (low, high) in enumerate(bound.body.poses.limits):
        if np.isfinite([low, high]).all():
            for value in np.linspace(low, high, config.own_poses):
                q = np.zeros_like(bound.q)
                q[base + k] = value
                out.append(q)
    return out


def _heights(
    bound: Bound, shape: Shape, pairs: Sequence[tuple[int, Piece]], q: Float[np.ndarray, " D"]
) -> Float[np.ndarray, " n"]:
    """How far the lowest point of a part is above a piece of another, for each pair; negative inside."""
    motion = bound.mechanics.motion(np.eye(4), q[None], np.zeros_like(q[None]))
    places = {part: points.points.positions(motion)[0] for part, points in shape.parts.items()}
    out = []
    for part, piece in pairs:
        hull = piece.collider
        assert isinstance(hull, Hull)
        local = seen_from(motion.node_frame(piece.node), places[part])
        heights = (local @ hull.normals.T - hull.heights).max(axis=1) - shape.parts[part].radii
        out.append(float(heights.min()))
    return np.array(out)


def _stiffness(bound: Bound, world: World, config: ContactConfig) -> float:
    """Of one contact point: it alone carries the object at the depth of rest."""
    mesh = bound.body.mesh
    gravity = max(float(np.linalg.norm(gravity_of(world, bound.body))), STANDARD_GRAVITY / mesh.unit)
    return bound.mechanics.mass * gravity / (config.rest_depth * mesh.size)


def _ground(
    ground: Ground, bounds: Sequence[Bound], shapes: Sequence[Shape], system: System, state: State
) -> HalfSpace:
    normal = np.asarray(bounds[0].body.mesh.up_vector if ground.normal is None else ground.normal, dtype=np.float64)
    height = ground.height
    if height is None:
        motions = system.motions(state.poses, state.q[None], np.zeros_like(state.q[None]))
        lowest = [
            (shape.corners.points.positions(motion)[0] @ normal - shape.corners.radii).min()
            for shape, motion in zip(shapes, motions, strict=True)
        ]
        height = float(min(lowest))
    return HalfSpace(normal, height)
