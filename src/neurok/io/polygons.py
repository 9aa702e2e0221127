"""Polygons and per-corner attributes, as many formats store them, to triangles with per-vertex attributes."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from neurok.geometry.lie import across


def triangulate(
    counts: Int[np.ndarray, " P"], corners: Int[np.ndarray, " C"], vertices: Float[np.ndarray, "V 3"]
) -> tuple[Int[np.ndarray, "F 3"], Int[np.ndarray, " F"]]:
    """Cut polygons into triangles: a fan where the polygon is convex, ears where it is not.

    Args:
        counts: Number of corners of each polygon; those with fewer than three vanish.
        corners: The vertex of every corner, one polygon after the other.
        vertices: Positions, which decide where a polygon is concave.

    Returns:
        Triangles as positions in ``corners`` (so that any per-corner array can be indexed) and the polygon of each.
    """
    offsets = np.cumsum(counts) - counts
    triangle_counts = np.maximum(counts - 2, 0)
    owner = np.repeat(np.arange(len(counts)), triangle_counts)
    step = np.arange(len(owner)) - (np.cumsum(triangle_counts) - triangle_counts)[owner]
    triangles = np.stack([offsets[owner], offsets[owner] + step + 1, offsets[owner] + step + 2], axis=1)
    in_range = len(corners) == 0 or (corners.min() >= 0 and corners.max() < len(vertices))
    if in_range and len(counts) and counts.max() > 3:
        first = np.cumsum(triangle_counts) - triangle_counts
        for polygon in _concave(counts, offsets, corners, vertices):
            start, size = offsets[polygon], counts[polygon]
            ears = _ears(vertices[corners[start : start + size]])
            if len(ears) == size - 2:
                triangles[first[polygon] : first[polygon] + size - 2] = ears + start
    return triangles, owner


def _concave(
    counts: Int[np.ndarray, " P"],
    offsets: Int[np.ndarray, " P"],
    corners: Int[np.ndarray, " C"],
    vertices: Float[np.ndarray, "V 3"],
) -> Int[np.ndarray, " N"]:
    """Polygons of more than three corners, one of which turns the other way."""
    big = np.flatnonzero(counts > 3)
    size, start = counts[big], offsets[big]
    owner = np.repeat(np.arange(len(big)), size)
    k = np.arange(len(owner)) - (np.cumsum(size) - size)[owner]
    at = lambda shift: vertices[corners[start[owner] + (k + shift) % size[owner]]]  # noqa: E731
    with np.errstate(all="ignore"):
        here = at(0)
        turns = np.cross(here - at(-1), at(1) - here)
        normal = np.stack([np.bincount(owner, turns[:, i], minlength=len(big)) for i in range(3)], axis=1)
        along = np.einsum("ci,ci->c", turns, normal[owner])
        scale = (normal**2).sum(axis=1)[owner]
        return big[np.unique(owner[along < -1e-9 * scale])]


def _ears(points: Float[np.ndarray, "N 3"]) -> Int[np.ndarray, "M 3"]:
    """Triangles of one simple polygon, seen along its own normal; nothing when it has none."""
    from manifold3d import triangulate as cut

    normal = np.cross(points, np.roll(points, -1, axis=0)).sum(axis=0)
    length = np.linalg.norm(normal)
    if not (np.isfinite(length) and length > 0):
        return np.zeros((0, 3), dtype=np.int64)
    normal = normal / length
    flat = (points - points.mean(axis=0)) @ np.stack(across(normal), axis=1)
    return np.asarray(cut([flat]), dtype=np.int64).reshape(-1, 3)


def split_corners(
    faces: Int[np.ndarray, "F 3"], codes: Int[np.ndarray, "F 3"], vertex_count: int
) -> tuple[Int[np.ndarray, " W"], Int[np.ndarray, "F 3"], Int[np.ndarray, " W"]]:
    """Copy vertices only where their corners disagree.

    Args:
        faces: Vertex of each corner.
        codes: What else the corner says (a number for its uv, its part ...), zero or larger.
        vertex_count: Number of vertices, the unreferenced ones included.

    Returns:
        The old index of each new vertex, the new faces, and the code of each new vertex (0 where no face uses it).
        Old vertices keep their number; the copies follow them.
    """
    vertex, code = faces.reshape(-1), codes.reshape(-1)
    kept = np.full(vertex_count, -1, dtype=np.int64)
    kept[vertex[::-1]] = code[::-1]
    stray = code != kept[vertex]
    kept = np.maximum(kept, 0)
    if not stray.any():
        return np.arange(vertex_count), faces, kept
    pairs, inverse = np.unique(np.stack([vertex[stray], code[stray]], axis=1), axis=0, return_inverse=True)
    new = vertex.copy()
    new[stray] = vertex_count + inverse.reshape(-1)
    return (
        np.concatenate([np.arange(vertex_count), pairs[:, 0]]),
        new.reshape(-1, 3),
        np.concatenate([kept, pairs[:, 1]]),
    )
