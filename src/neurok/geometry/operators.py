"""Areas, normals, masses and their moments."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int


def face_normals(vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]) -> Float[np.ndarray, "F 3"]:
    """Unit normals; zero for faces without area."""
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    cross = np.cross(b - a, c - a)
    length = np.linalg.norm(cross, axis=1, keepdims=True)
    return np.divide(cross, length, out=np.zeros_like(cross), where=length > 0)


def face_areas(vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]) -> Float[np.ndarray, " F"]:
    """Area of each triangle."""
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    return 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)


def vertex_areas(vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]) -> Float[np.ndarray, " V"]:
    """A third of the area of the faces around each vertex; sums to the area of the mesh."""
    shares = np.repeat(face_areas(vertices, faces) / 3.0, 3)
    return np.bincount(faces.reshape(-1), weights=shares, minlength=len(vertices))


def vertex_normals(vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]) -> Float[np.ndarray, "V 3"]:
    """Area-weighted unit normals; (0, 0, 1) where a vertex has no face."""
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    cross = np.cross(b - a, c - a)
    flat = faces.reshape(-1)
    normals = np.stack(
        [np.bincount(flat, weights=np.repeat(cross[:, i], 3), minlength=len(vertices)) for i in range(3)], axis=1
    )
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    fallback = np.broadcast_to(np.array([0.0, 0.0, 1.0]), normals.shape)
    return np.where(length > 1e-300, normals / np.maximum(length, 1e-300), fallback)


def flat_share(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"], sides: int = 6, within: float = np.deg2rad(8.0)
) -> float:
    """Share of the surface that faces one of a few directions: 1 for a board or a box, little for what is round.

    Args:
        vertices: Of the mesh.
        faces: Those to look at.
        sides: How many directions there may be.
        within: How far normals may stray from them, in radians.
    """
    normals, left = face_normals(vertices, faces), face_areas(vertices, faces)
    total = float(left.sum())
    if total <= 0.0:
        return 1.0
    for _ in range(sides):
        left[normals @ normals[left.argmax()] > np.cos(within)] = 0.0
    return 1.0 - float(left.sum()) / total
