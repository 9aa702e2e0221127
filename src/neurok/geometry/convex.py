"""Convex pieces that stand in for a mesh in collisions."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from neurok.geometry import topology

Piece = tuple[Float[np.ndarray, "_ 3"], Int[np.ndarray, "_ 3"]]
"""Vertices and outward faces of one convex piece."""

MAX_HULL_POINTS = 160
"""Rounder hulls are replaced by their extreme points in that many directions."""


def convex_pieces(
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    limit: int = 12,
    least: float = 0.1,
    corners: int = MAX_HULL_POINTS,
) -> list[Piece]:
    """One hull for each connected component, at most ``limit``, with about ``corners`` corners at most.

    Components smaller than ``least`` of the whole, or beyond the limit, join the piece they enlarge the least. Flat
    ones get a little thickness; a mesh without any extent gives no piece.
    """
    if len(faces) == 0:
        return []
    component = topology.face_components(vertices, faces)
    clusters = [np.unique(faces[component == c]) for c in range(int(component.max()) + 1)]
    boxes = np.array([[vertices[c].min(axis=0), vertices[c].max(axis=0)] for c in clusters])
    sizes = np.linalg.norm(boxes[:, 1] - boxes[:, 0], axis=1)
    whole = float(np.linalg.norm(boxes[:, 1].max(axis=0) - boxes[:, 0].min(axis=0)))
    if whole <= 0.0:
        return []
    order = np.argsort(-sizes, kind="stable")
    kept = [int(i) for i in order[:limit] if sizes[i] >= least * whole] or [int(order[0])]
    members = {i: [clusters[i]] for i in kept}
    for i in order:
        if int(i) not in members:
            low = np.minimum(boxes[kept, 0], boxes[i, 0])
            high = np.maximum(boxes[kept, 1], boxes[i, 1])
            growth = np.linalg.norm(high - low, axis=1) - sizes[kept]
            members[kept[int(np.argmin(growth))]].append(clusters[i])
    pieces = [convex_hull(vertices[np.concatenate(parts)], 1e-3 * whole, corners) for parts in members.values()]
    return [piece for piece in pieces if piece is not None]


def convex_hull(points: Float[np.ndarray, "N 3"], thickness: float, corners: int = MAX_HULL_POINTS) -> Piece | None:
    """The hull with outward faces; flat or thin sets are padded to ``thickness``, and a single point gives ``None``."""
    from scipy.spatial import ConvexHull, QhullError

    points = np.unique(points, axis=0)
    middle = points.mean(axis=0)
    axes = np.linalg.eigh((points - middle).T @ (points - middle))[1].T[::-1]
    extent = np.ptp((points - middle) @ axes.T, axis=0)
    if extent[0] <= 0.0:
        return None
    for axis, width in zip(axes, extent, strict=True):
        if width < thickness:
            points = np.concatenate([points - 0.5 * thickness * axis, points + 0.5 * thickness * axis])
    try:
        hull = ConvexHull(points)
        if len(hull.vertices) > corners:
            points = points[hull.vertices]
            extreme = np.argmax((points - middle) @ directions(corners).T, axis=0)
            points = points[np.unique(extreme)]
            hull = ConvexHull(points)
    except QhullError:
        return None
    faces = hull.simplices.astype(np.int64)
    a, b, c = (points[faces[:, i]] for i in range(3))
    inward = np.einsum("fi,fi->f", np.cross(b - a, c - a), hull.equations[:, :3]) < 0
    faces[inward] = faces[inward][:, ::-1]
    used, inverse = np.unique(faces, return_inverse=True)
    return points[used], inverse.reshape(-1, 3)


def hull_volume(piece: Piece) -> float:
    """What a convex piece encloses."""
    vertices, faces = piece
    corners = vertices[faces] - vertices.mean(axis=0)
    return float(abs(np.linalg.det(corners).sum()) / 6.0)


def hull_planes(piece: Piece) -> tuple[Float[np.ndarray, "F 3"], Float[np.ndarray, " F"]]:
    """Outward unit normals of the faces of a convex piece, and how far along them it goes."""
    vertices, faces = piece
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    cross = np.cross(b - a, c - a)
    length = np.linalg.norm(cross, axis=1)
    good = length > 1e-12 * length.max(initial=0.0)
    normals = cross[good] / length[good, None]
    # Triangles of one flat side are one plane.
    normals = normals[np.sort(np.unique(np.round(normals / 1e-6), axis=0, return_index=True)[1])]
    # Round-off must not put a corner outside of its own piece.
    return normals, (vertices @ normals.T).max(axis=0)


def separation(one: Piece, two: Piece) -> tuple[float, Float[np.ndarray, "3"]]:
    """How far two convex pieces are apart along the direction that parts them best; negative if they overlap.

    The direction, from the first to the second, is sought among the normals of their faces and the products of their
    longest edges: what overlaps is surely found, what passes by with edges across each other may be said to touch.
    """
    axes = np.concatenate([hull_planes(one)[0], -hull_planes(two)[0], _edge_products(one, two)])
    gaps = (two[0] @ axes.T).min(axis=0) - (one[0] @ axes.T).max(axis=0)
    best = int(gaps.argmax())
    return float(gaps[best]), axes[best]


def _edge_products(one: Piece, two: Piece, count: int = 9) -> Float[np.ndarray, "_ 3"]:
    """Directions across the longest edges of two pieces, both ways."""
    longest = []
    for vertices, faces in (one, two):
        edges = vertices[np.roll(faces, -1, axis=1)].reshape(-1, 3) - vertices[faces].reshape(-1, 3)
        longest.append(edges[np.argsort(-np.linalg.norm(edges, axis=1))[: 2 * count : 2]])
    cross = np.cross(longest[0][:, None], longest[1][None]).reshape(-1, 3)
    length = np.linalg.norm(cross, axis=1)
    scale = np.linalg.norm(longest[0][0]) * np.linalg.norm(longest[1][0])
    cross = cross[length > 1e-3 * scale] / length[length > 1e-3 * scale, None]
    return np.concatenate([cross, -cross])


def clipped(
    triangles: Float[np.ndarray, "n 3 3"], normal: Float[np.ndarray, "3"], height: float
) -> Float[np.ndarray, "m 3 3"]:
    """What of some triangles lies beyond a plane, on the side to which its normal points."""
    gap = triangles @ normal - height
    # What lies in the plane belongs to neither side, or walls along a cut would reach into both.
    beyond = gap.max(axis=1, initial=0.0) > 1e-9 * max(float(np.abs(gap).max(initial=0.0)), 1e-300)
    triangles, gap = triangles[beyond], gap[beyond]
    inside = gap >= 0
    count = inside.sum(axis=1)
    out = [triangles[count == 3]]
    for alone, is_inside in ((1, True), (2, False)):
        mine = np.flatnonzero(count == alone)
        if not len(mine):
            continue
        lone = (inside[mine] if is_inside else ~inside[mine]).argmax(axis=1)
        turn = (lone[:, None] + np.arange(3)) % 3
        corner = np.take_along_axis(triangles[mine], turn[:, :, None], axis=1)
        level = np.take_along_axis(gap[mine], turn, axis=1)
        one, two = (
            corner[:, 0] + (level[:, 0] / (level[:, 0] - level[:, k]))[:, None] * (corner[:, k] - corner[:, 0])
            for k in (1, 2)
        )
        if is_inside:
            out.append(np.stack([corner[:, 0], one, two], axis=1))
        else:
            out.append(np.stack([one, corner[:, 1], corner[:, 2]], axis=1))
            out.append(np.stack([one, corner[:, 2], two], axis=1))
    return np.concatenate(out)


def directions(count: int) -> Float[np.ndarray, "N 3"]:
    """Evenly spread unit vectors (a Fibonacci spiral)."""
    k = np.arange(count) + 0.5
    polar, turn = np.arccos(1.0 - 2.0 * k / count), np.pi * (1.0 + 5.0**0.5) * k
    return np.column_stack([np.cos(turn) * np.sin(polar), np.sin(turn) * np.sin(polar), np.cos(polar)])
