"""Fewer triangles for the same shape, group by group, so that what was apart stays apart."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from neurok.geometry.topology import row_ids

SMALLEST = 12
"""No group is simplified below this many faces; smaller ones are kept as they are."""


def decimate(
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    max_faces: int,
    groups: Int[np.ndarray, " F"] | None = None,
) -> tuple[Float[np.ndarray, "W 3"], Int[np.ndarray, "G 3"], Int[np.ndarray, " G"]]:
    """Quadric edge collapse of each group of faces to its share of ``max_faces``.

    Groups never share a vertex afterwards and never vanish, so with very many small groups the result can have
    more than ``max_faces`` faces. Coincident vertices inside a group are joined first: seams must not tear open.

    Returns:
        New vertices, new faces, and the group of each new face.
    """
    groups = np.zeros(len(faces), dtype=np.int64) if groups is None else groups
    order = np.argsort(groups, kind="stable")
    names, starts, counts = np.unique(groups[order], return_index=True, return_counts=True)
    out_vertices, out_faces, out_groups, used = [], [], [], 0
    for name, start, count, share in zip(names, starts, counts, _shares(counts, max_faces)):
        corners, local = _weld(vertices, faces[order[start : start + count]])
        corners, local = _simplify(corners, local, int(share))
        out_vertices.append(corners)
        out_faces.append(local + used)
        out_groups.append(np.full(len(local), name))
        used += len(corners)
    return np.concatenate(out_vertices), np.concatenate(out_faces), np.concatenate(out_groups)


def _shares(counts: Int[np.ndarray, " N"], max_faces: int) -> Int[np.ndarray, " N"]:
    """Faces for each group: in proportion to what it has, but at least ``SMALLEST`` (or all it has)."""
    floor = np.minimum(counts, SMALLEST)
    low, high = 0.0, 1.0
    for _ in range(50):
        ratio = 0.5 * (low + high)
        over = np.maximum(floor, np.floor(counts * ratio)).sum() > max_faces
        low, high = (low, ratio) if over else (ratio, high)
    return np.maximum(floor, np.floor(counts * low)).astype(np.int64)


def _weld(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]
) -> tuple[Float[np.ndarray, "W 3"], Int[np.ndarray, "F 3"]]:
    """The vertices a group uses, coincident ones joined."""
    used, corner = np.unique(faces, return_inverse=True)
    place = row_ids(vertices[used])
    first = np.unique(place, return_index=True)[1]
    return vertices[used][first], place[corner].reshape(-1, 3)


def _simplify(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"], target: int
) -> tuple[Float[np.ndarray, "W 3"], Int[np.ndarray, "G 3"]]:
    import fast_simplification

    if target >= len(faces):
        return vertices, faces
    # The collapse thresholds inside are absolute numbers: give it the same size for every object.
    low = vertices.min(axis=0)
    size = float((vertices.max(axis=0) - low).max()) or 1.0
    points, triangles = fast_simplification.simplify(
        (vertices - low) / size, faces.astype(np.int32), target_count=target
    )
    whole = len(triangles) > 0 and bool(np.isfinite(points).all())
    if not whole:
        return vertices, faces
    used, inverse = np.unique(triangles, return_inverse=True)
    return points[used] * size + low, inverse.reshape(-1, 3).astype(np.int64)
