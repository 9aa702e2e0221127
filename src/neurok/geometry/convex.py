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


def directions(count: int) -> Float[np.ndarray, "N 3"]:
    """Evenly spread unit vectors (a Fibonacci spiral)."""
    k = np.arange(count) + 0.5
    polar, turn = np.arccos(1.0 - 2.0 * k / count), np.pi * (1.0 + 5.0**0.5) * k
    return np.column_stack([np.cos(turn) * np.sin(polar), np.sin(turn) * np.sin(polar), np.cos(polar)])
