"""What of an object touches, and what of it can be touched: points, round pieces, solids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from neurok.core.mesh import Mesh
from neurok.dynamics.colliders import Collider, hull_pieces
from neurok.dynamics.reduced.bending import BendingSurface
from neurok.dynamics.reduced.build import Bound
from neurok.dynamics.reduced.config import ContactConfig
from neurok.geometry.convex import convex_hull, directions
from neurok.geometry.sampling import farthest_points


@dataclass(frozen=True, eq=False)
class PointSet:
    """Points of one object that feel contact."""

    owner: int
    points: Any
    radii: Float[np.ndarray, " n"]
    """0 for a point, or the radius of a ball around it that is felt in its place."""

    nodes: Int[np.ndarray, " n"]
    """Rigid node that carries each, or -1."""

    patches: Patches | None = None
    """Of a surface that bends and has many vertices: whom to ask before all of them."""


@dataclass(frozen=True, eq=False)
class Patches:
    """The points of a set in neighbourhoods: one of each is always asked, the others where it is near something."""

    scouts: Int[np.ndarray, " m"]
    """The one that is asked."""

    asked: Any
    """The same, to be asked for their places."""

    radii: Float[np.ndarray, " m"]
    """How far the others are from it at rest."""

    members: Int[np.ndarray, " n"]
    """All points, patch by patch ..."""

    first: Int[np.ndarray, " m+1"]
    """... and where each patch begins among them."""

    @staticmethod
    def of(asked: Any, scouts: Int[np.ndarray, " m"], places: Float[np.ndarray, "n 3"]) -> Patches:
        """Every point with its nearest scout."""
        from scipy.spatial import cKDTree

        away, nearest = cKDTree(places[scouts]).query(places)
        nearest[scouts] = np.arange(len(scouts))
        members = np.argsort(nearest, kind="stable")
        counts = np.bincount(nearest, minlength=len(scouts))
        radii = np.zeros(len(scouts))
        np.maximum.at(radii, nearest, away)
        return Patches(scouts, asked, radii, members, np.concatenate([[0], np.cumsum(counts)]))

    def of_patches(self, which: Int[np.ndarray, " k"]) -> tuple[Int[np.ndarray, " p"], Int[np.ndarray, " k"]]:
        """Points of some patches, and where each patch begins among them."""
        counts = self.first[which + 1] - self.first[which]
        begins = np.cumsum(counts) - counts
        return self.members[np.arange(counts.sum()) + np.repeat(self.first[which] - begins, counts)], begins


@dataclass(frozen=True, eq=False)
class Piece:
    """A solid that belongs to an object: a convex piece of a rigid part, or a surface that bends."""

    owner: int
    collider: Collider | BendingSurface
    node: int
    part: int


@dataclass(frozen=True, eq=False)
class Shape:
    """One object as others feel it."""

    corners: PointSet
    """What can meet a plane first."""

    samples: PointSet
    """What can meet any solid."""

    parts: dict[int, PointSet]
    """The same of each rigid part."""

    pieces: tuple[Piece, ...]
    radius: float
    """Of its largest ball, which rolls; 0 where there is none."""


def shape_of(bound: Bound, owner: int, config: ContactConfig, is_alone: bool = False) -> Shape:
    """Points and solids of a body; where it is alone, nobody touches a surface that bends."""
    mechanics, mesh = bound.mechanics, bound.body.mesh
    if not len(mechanics.part_nodes):
        lowest, spread = _soft_points(bound, owner, config)
        if is_alone:
            return Shape(lowest, spread, {}, (), 0.0)
        surface = BendingSurface.of(bound.body, mechanics, config.max_triangles)  # type: ignore[arg-type]
        return Shape(lowest, spread, {}, (Piece(owner, surface, -1, -1),), 0.0)
    corners: list[tuple[np.ndarray, int, float]] = []
    samples: dict[int, list[tuple[np.ndarray, int, float]]] = {}
    pieces = []
    for part, node in enumerate(int(node) for node in mechanics.part_nodes):
        mine = mesh.faces[mesh.face_parts == part]
        ball = _ball(mesh, mine, config)
        if ball is not None:
            corners.append((ball[0][None], node, ball[1]))
        else:
            corners.append((_hull_corners(mesh, mine, config), node, 0.0))
        for hull, points in hull_pieces(mesh.vertices, mine, config.colliders):
            pieces.append(Piece(owner, hull, node, part))
            samples.setdefault(part, []).append((points, node, 0.0))
        if ball is not None and part in samples:
            samples[part] = corners[-1:]
    everything = [entry for entries in samples.values() for entry in entries]
    return Shape(
        _point_set(bound, owner, corners, None),
        _point_set(bound, owner, everything or corners, config.max_points),
        {part: _point_set(bound, owner, entries, config.part_points) for part, entries in samples.items()},
        tuple(pieces),
        max((radius for _, _, radius in corners), default=0.0),
    )


def _point_set(
    bound: Bound, owner: int, entries: Sequence[tuple[np.ndarray, int, float]], limit: int | None
) -> PointSet:
    places = np.concatenate([places for places, _, _ in entries])
    nodes = np.concatenate([np.full(len(places), node) for places, node, _ in entries])
    radii = np.concatenate([np.full(len(places), radius) for places, _, radius in entries])
    if limit is not None and len(places) > limit:
        # The extreme points of the whole object carry it, so they go first.
        spread = np.concatenate([places, 1e-3 * nodes[:, None]], axis=1)
        lowest = int(np.argmin(places @ bound.body.mesh.up_vector))
        chosen = np.sort(farthest_points(spread, limit, lowest))
        places, nodes, radii = places[chosen], nodes[chosen], radii[chosen]
    return PointSet(owner, bound.mechanics.node_points(places, nodes), radii, nodes)


def _soft_points(bound: Bound, owner: int, config: ContactConfig) -> tuple[PointSet, PointSet]:
    """All vertices in patches, for planes, where it is known how far they move; and those spread over the surface, for
    other solids."""
    mesh, points = bound.body.mesh, bound.mechanics.points
    used = np.unique(mesh.faces)
    outer = _outermost(mesh, used, config.soft_points // 4)
    thin = len(used) // (8 * config.soft_points)  # large meshes: every so many will do to choose from
    used = np.unique(np.concatenate([outer, used[:: max(1, thin)]]))
    spread = used
    if len(used) > config.soft_points:
        chosen = farthest_points(mesh.vertices[used], config.soft_points)
        spread = np.unique(np.concatenate([outer, used[chosen]]))
    samples = PointSet(owner, points(spread), np.zeros(len(spread)), np.full(len(spread), -1))
    if len(spread) == len(used) or not bound.mechanics.is_bounded:  # type: ignore[attr-defined]
        return samples, samples
    patches = Patches.of(samples.points, np.searchsorted(used, spread), mesh.vertices[used])
    return PointSet(owner, points(used), np.zeros(len(used)), np.full(len(used), -1), patches), samples


def _outermost(mesh: Mesh, vertices: Int[np.ndarray, " n"], count: int) -> Int[np.ndarray, " m"]:
    """Vertices that stick out farthest, in directions spread over the sphere: what lands, lands on these."""
    outward = directions(count).T
    best = np.zeros(count, dtype=np.int64)
    reach = np.full(count, -np.inf)
    for first in range(0, len(vertices), 4096):
        heights = mesh.vertices[vertices[first : first + 4096]] @ outward
        top = heights.argmax(axis=0)
        higher = heights[top, np.arange(count)] > reach
        best, reach = np.where(higher, first + top, best), np.where(higher, heights.max(axis=0), reach)
    return np.unique(vertices[best])


def _hull_corners(mesh: Mesh, faces: Int[np.ndarray, "f 3"], config: ContactConfig) -> Float[np.ndarray, "n 3"]:
    """Corners of the hull of a part, and what sticks out farthest."""
    used = np.unique(faces)
    vertices = mesh.vertices[used]
    hull = convex_hull(vertices, 0.0) if len(faces) else None
    if hull is None:
        corners = vertices
    else:
        corners = np.unique(np.concatenate([hull[0], mesh.vertices[_outermost(mesh, used, config.outermost)]]), axis=0)
    limit = config.max_corners + config.outermost
    return corners[farthest_points(corners, limit)] if len(corners) > limit else corners


def _ball(
    mesh: Mesh, faces: Int[np.ndarray, "f 3"], config: ContactConfig
) -> tuple[Float[np.ndarray, "3"], float] | None:
    """Centre and radius of a part that is a ball."""
    vertices = mesh.vertices[np.unique(faces)]
    if len(vertices) < config.ball_vertices:
        return None
    lifted = np.concatenate([2.0 * vertices, np.ones((len(vertices), 1))], axis=1)
    solution = np.linalg.lstsq(lifted, (vertices**2).sum(axis=1), rcond=None)[0]
    center = solution[:3]
    away = np.linalg.norm(vertices - center, axis=1)
    whole = np.ptp(vertices, axis=0).min() > (2.0 - 4.0 * config.ball_error) * away.max()
    is_ball = whole and np.ptp(away) < config.ball_error * away.max()
    return (center, float(away.max())) if is_ball else None
