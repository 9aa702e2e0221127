"""Contact and Coulomb friction as an incremental potential.

A point inside a solid pays ½ k depth². Friction ties each touching point to an anchor on the solid by a spring that
yields at the friction coefficient times the normal force (taken from the last pass, so that the potential stays
convex); the anchor slides along when it yields. Sticking contacts therefore hold still: nothing creeps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from neurok.dynamics.colliders import Collider, HalfSpace, hull_pieces, obstacle_colliders
from neurok.dynamics.condition import Ground, World
from neurok.dynamics.reduced.build import Bound, gravity_of
from neurok.dynamics.reduced.config import STANDARD_GRAVITY, ContactConfig
from neurok.dynamics.reduced.system import State, System
from neurok.geometry.convex import convex_hull
from neurok.geometry.lie import seen_from
from neurok.geometry.sampling import farthest_points

_UPRIGHT = np.eye(3)


@dataclass(eq=False)
class Touch:
    """Points of one object against one solid, which stands still or is part of another object."""

    owner: int
    """Index of the object the points belong to."""

    points: Any
    collider: Collider
    friction: float
    stiffness: float
    config: ContactConfig
    other: int | None = None
    """Index of the object the solid belongs to."""

    node: int = 0
    """Node of that object which carries the solid."""

    near: Int[np.ndarray, " n"] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """The points that may touch in the present step; all that follows is about them."""

    anchors: Float[np.ndarray, "n 3"] = field(default_factory=lambda: np.zeros((0, 3)))
    """Where friction holds each point, in the frame of the solid."""

    loads: Float[np.ndarray, " n"] = field(default_factory=lambda: np.zeros(0))
    """Normal force on each point, from the last pass."""

    _close: Any = field(default=None, init=False)
    _bend: tuple[Any, ...] | None = field(default=None, init=False)

    def approach(self, motions: Sequence[Any], dt: float, size: float, seen: dict[int, Any]) -> float:
        """Find the points that may touch within ``dt``; how far they may move then, as a share of the thickness.

        Points that several solids share are followed once; ``seen`` holds them.
        """
        if id(self.points) not in seen:
            motion = motions[self.owner]
            seen[id(self.points)] = self.points.positions(motion)[0], self.points.velocities(motion)[0]
        local, rates = seen[id(self.points)]
        if self.other is not None:
            frame, twist = motions[self.other].node_frame(self.node), motions[self.other].node_twist(self.node)
            rates = rates - local @ twist[:3, :3].T - twist[:3, 3]
            local = seen_from(frame, local)
        speeds = np.sqrt((rates**2).sum(axis=1))
        margin = self.config.near_travel * dt * float(speeds.max(initial=0.0)) + self.config.near * size
        near = np.flatnonzero(self.collider.near(local, margin))
        if self._close is None or not np.array_equal(near, self.near):
            anchors, loads = np.zeros((len(near), 3)), np.zeros(len(near))
            _, new, old = np.intersect1d(near, self.near, assume_unique=True, return_indices=True)
            anchors[new], loads[new] = self.anchors[old], self.loads[old]
            self.near, self.anchors, self.loads, self._close = near, anchors, loads, self.points.take(near)
        return dt * float(speeds[near].max(initial=0.0)) / self.collider.thickness

    def places(self, motions: Sequence[Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Points in the world and in the frame of the solid, and that frame's rotation."""
        x = self._close.positions(motions[self.owner])[0]
        if self.other is None:
            return x, x, _UPRIGHT
        frame = motions[self.other].node_frame(self.node)
        return x, seen_from(frame, x), frame[:3, :3]

    def begin(self, motions: Sequence[Any]) -> None:
        """Start of a step: points that did not touch get their anchor where they are."""
        _, local, _ = self.places(motions)
        gaps, _ = self.collider.distance(local)
        apart = (gaps >= 0) | (self.loads <= 0)
        self.anchors[apart] = local[apart]
        self.loads = self.stiffness * np.maximum(-gaps, 0.0)

    def measure(self, motions: Sequence[Any]) -> tuple[float, bool]:
        """Bring the normal forces up to date; the largest depth, and whether friction has to be found again."""
        depths = np.maximum(-self.collider.distance(self.places(motions)[1])[0], 0.0)
        change = np.abs(self.stiffness * depths - self.loads).max(initial=0.0)
        self.loads = self.stiffness * depths
        deepest = float(depths.max(initial=0.0))
        return deepest, bool(self.friction > 0 and change > self.config.same_load * self.stiffness * deepest)

    def finish(self, motions: Sequence[Any]) -> None:
        """End of a step: anchors that were pulled beyond the friction cone slide along."""
        _, local, _ = self.places(motions)
        gaps, normals = self.collider.distance(local)
        self.loads = self.stiffness * np.maximum(-gaps, 0.0)
        offset = local - self.anchors
        offset -= normals * (offset * normals).sum(axis=1, keepdims=True)
        length = np.linalg.norm(offset, axis=1)
        reach = self.friction * self.loads / self.stiffness
        slips = length > reach
        shorter = np.where(slips, reach / np.maximum(length, 1e-300), 1.0)
        self.anchors = np.where((self.loads > 0)[:, None], local - shorter[:, None] * offset, local)

    def evaluate(self, motions: Sequence[Any], system: System) -> tuple[float, np.ndarray]:
        """Energy and its gradient in all coordinates."""
        self._bend = None
        x, local, turn = self.places(motions)
        gaps, normals = self.collider.distance(local)
        active = np.flatnonzero((gaps < 0) | (self.loads > 0))
        if len(active) == 0:
            return 0.0, np.zeros(system.dim)
        depth, normal, limit = np.maximum(-gaps[active], 0.0), normals[active], self.friction * self.loads[active]
        offset = local[active] - self.anchors[active]
        offset = offset - normal * (offset * normal).sum(axis=1, keepdims=True)
        length = np.linalg.norm(offset, axis=1)
        k = self.stiffness
        sticks = k * length <= limit
        slope = np.where(sticks, k, limit / np.maximum(length, 1e-300))
        held = np.where(sticks, 0.5 * k * length**2, limit * (length - limit / (2.0 * k)))
        force = (-k * depth[:, None] * normal + slope[:, None] * offset) @ turn.T
        jacobian = self._jacobian(motions, system, active, x[active])
        # What slides gives way along its path, where friction is the same however far it goes; a tenth is kept, or
        # steps would overshoot what comes to a stop.
        path = offset / np.maximum(length, 1e-300)[:, None]
        pressed = (np.where(depth > 0, k, 0.0) - slope, normal @ turn.T)
        self._bend = (jacobian, slope, pressed, (np.where(sticks, 0.0, -0.9 * slope), path @ turn.T))
        flat = jacobian.reshape(-1, system.dim)
        return float((0.5 * k * depth**2 + held).sum()), force.reshape(-1) @ flat

    def add_curvature(self, matrix: Float[np.ndarray, "D D"]) -> None:
        """Add a positive approximation of the curvature where the energy was last evaluated."""
        if self._bend is None:
            return
        jacobian, across, *directions = self._bend
        flat = jacobian.reshape(-1, len(matrix))
        matrix += flat.T @ (np.repeat(across, 3)[:, None] * flat)
        for extra, direction in directions:
            rows = (jacobian * direction[:, :, None]).sum(axis=1)
            matrix += rows.T @ (extra[:, None] * rows)

    def _jacobian(
        self, motions: Sequence[Any], system: System, active: Int[np.ndarray, " n"], x: Float[np.ndarray, "n 3"]
    ) -> Float[np.ndarray, "n 3 D"]:
        """How the points move against the solid."""
        out = np.zeros((len(active), 3, system.dim))
        out[:, :, system.members[self.owner].where] = self._close.take(active).jacobian(motions[self.owner])
        if self.other is not None:
            out[:, :, system.members[self.other].where] -= motions[self.other].node_jacobian(self.node, x)
        return out


def touches_of(
    bounds: Sequence[Bound], world: World, system: System, state: State, config: ContactConfig
) -> list[Touch]:
    """Everything in a scene that can touch something."""
    shapes = [_shapes(bound, config) for bound in bounds]
    samples = [_samples(bound, shape, config) for bound, shape in zip(bounds, shapes, strict=True)]
    steep = [_stiffness(bound, world, config) for bound in bounds]
    out: list[Touch] = []
    solids: list[tuple[Collider, float]] = []
    if world.ground is not None:
        motions = system.motions(state.poses, state.q[None], np.zeros_like(state.q[None]))
        corners = [_corners(bound, config) for bound in bounds]
        ground = _ground(world.ground, bounds, corners, motions)
        for index, points in enumerate(corners):
            out.append(Touch(index, points, ground, world.ground.friction, steep[index], config))
    for obstacle in world.obstacles:
        solids += [(collider, obstacle.friction) for collider in obstacle_colliders(obstacle.mesh, config.colliders)]
    for index in range(len(bounds)):
        for collider, friction in solids:
            out.append(Touch(index, samples[index], collider, friction, steep[index], config))
        for other in range(len(bounds)):
            if other != index:
                for node, hull, _ in shapes[other]:
                    stiffness = min(steep[index], steep[other])
                    out.append(Touch(index, samples[index], hull, world.friction, stiffness, config, other, node))
    return out


def _shapes(bound: Bound, config: ContactConfig) -> list[tuple[int, Any, Float[np.ndarray, "n 3"]]]:
    """Node, hull and contact points of each convex piece of each rigid part; what bends has none."""
    mesh, out = bound.body.mesh, []
    for part, node in enumerate(bound.mechanics.part_nodes):
        mine = mesh.faces[mesh.face_parts == part]
        for hull, points in hull_pieces(mesh.vertices, mine, config.colliders):
            out.append((int(node), hull, points))
    return out


def _corners(bound: Bound, config: ContactConfig) -> Any:
    """The points that can meet a plane first: corners of the hull of each part."""
    mechanics, mesh = bound.mechanics, bound.body.mesh
    if not len(mechanics.part_nodes):
        return _samples(bound, [], config)
    points, nodes = [], []
    for part, node in enumerate(mechanics.part_nodes):
        mine = mesh.faces[mesh.face_parts == part]
        hull = convex_hull(mesh.vertices[np.unique(mine)], 0.0) if len(mine) else None
        corners = mesh.vertices[np.unique(mine)] if hull is None else hull[0]
        if len(corners) > config.max_corners:
            corners = corners[farthest_points(corners, config.max_corners)]
        points.append(corners)
        nodes.append(np.full(len(corners), node))
    return mechanics.node_points(np.concatenate(points), np.concatenate(nodes))


def _samples(bound: Bound, shapes: list[tuple[int, Any, np.ndarray]], config: ContactConfig) -> Any:
    """A bounded number of points that feel contact."""
    mesh = bound.body.mesh
    if not shapes:
        vertices = np.unique(mesh.faces)
        if len(vertices) > config.max_points:
            vertices = vertices[farthest_points(mesh.vertices[vertices], config.max_points)]
        return bound.mechanics.points(vertices)
    points = np.concatenate([points for _, _, points in shapes])
    nodes = np.concatenate([np.full(len(points), node) for node, _, points in shapes])
    if len(points) > config.max_points:
        # The extreme points of the whole object carry it, so they go first.
        spread = np.concatenate([points, 1e-3 * nodes[:, None]], axis=1)
        chosen = np.sort(farthest_points(spread, config.max_points, int(np.argmin(points @ mesh.up_vector))))
        points, nodes = points[chosen], nodes[chosen]
    return bound.mechanics.node_points(points, nodes)


def _stiffness(bound: Bound, world: World, config: ContactConfig) -> float:
    """Of one contact point: it alone carries the object at the depth of rest."""
    mesh = bound.body.mesh
    gravity = max(float(np.linalg.norm(gravity_of(world, bound.body))), STANDARD_GRAVITY / mesh.unit)
    return bound.mechanics.mass * gravity / (config.rest_depth * mesh.size)


def _ground(ground: Ground, bounds: Sequence[Bound], samples: Sequence[Any], motions: Sequence[Any]) -> HalfSpace:
    normal = bounds[0].body.mesh.up_vector if ground.normal is None else ground.normal
    height = ground.height
    if height is None:
        lowest = [points.positions(motion)[0] @ normal for points, motion in zip(samples, motions, strict=True)]
        height = float(min(values.min() for values in lowest))
    return HalfSpace(np.asarray(normal, dtype=np.float64), height)
