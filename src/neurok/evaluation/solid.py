"""Meshes of the wild as solids: doubled faces, and faces that look every way."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.geometry.topology import face_components

_PAIRS_AT_ONCE = 1 << 20


def solid_faces(vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]) -> Int[np.ndarray, "G 3"]:
    """Faces that enclose what the object seems to enclose.

    A face that appears again with the same corners is dropped, since a doubled surface encloses nothing; neighbours
    are made to agree; and each component is turned so that its volume is positive.
    """
    from neurok.doctor.anatomy import HalfEdges
    from neurok.doctor.winding import check_winding

    faces = faces[np.sort(np.unique(np.sort(faces, axis=1), axis=0, return_index=True)[1])]
    place = np.unique(vertices, axis=0, return_inverse=True)[1].reshape(-1)
    flip = check_winding(vertices, faces, HalfEdges.of(place[faces])).flip
    faces = np.where(flip[:, None], faces[:, ::-1], faces)
    component = face_components(vertices, faces)
    corners = vertices[faces]
    middles = corners.mean(axis=1)
    sizes = np.bincount(component)
    centers = np.stack([np.bincount(component, weights=middles[:, k]) / sizes for k in range(3)], axis=1)
    local = corners - centers[component][:, None]
    volume = np.einsum("fd,fd->f", local[:, 0], np.cross(local[:, 1], local[:, 2]))
    inward = np.bincount(component, weights=volume) < 0
    return np.where(inward[component][:, None], faces[:, ::-1], faces)


def is_closed(vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]) -> bool:
    """Every edge, by the places of its ends, belongs to an even number of faces."""
    place = np.unique(vertices[faces.reshape(-1)], axis=0, return_inverse=True)[1].reshape(-1, 3)
    edges = np.sort(place[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    return bool((np.unique(edges, axis=0, return_counts=True)[1] % 2 == 0).all())


def inside_closed(
    points: Float[np.ndarray, "N 3"], vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]
) -> Bool[np.ndarray, " N"]:
    """Whether each point lies inside a closed surface: a ray from it crosses the surface an odd number of times."""
    # A crooked direction, so that rays do not run along the flat sides that modelled things have.
    axes = np.linalg.qr(np.array([[0.91, 0.23, 0.34], [0.11, 0.87, -0.48], [0.29, -0.41, 0.86]]))[0]
    seen, corners = points @ axes, vertices[faces] @ axes
    out = np.zeros(len(points), dtype=bool)
    near = np.flatnonzero(((seen >= corners.min(axis=(0, 1))) & (seen <= corners.max(axis=(0, 1)))).all(axis=1))
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    area = _cross(b - a, c - a)
    kept = np.abs(area) > 1e-300
    a, b, c, area = a[kept], b[kept], c[kept], area[kept]
    step = max(1, _PAIRS_AT_ONCE // max(1, len(a)))
    for start in range(0, len(near), step):
        rows = near[start : start + step]
        p = seen[rows][:, None]
        u, v = _cross(p - a, c - a) / area, _cross(b - a, p - a) / area
        hit = (u >= 0) & (v >= 0) & (u + v <= 1)
        height = a[:, 2] + u * (b - a)[:, 2] + v * (c - a)[:, 2]
        out[rows] = (hit & (height > p[..., 2])).sum(axis=1) % 2 == 1
    return out


def _cross(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    return u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0]
