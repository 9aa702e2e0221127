"""Velocity fields of joints over a surface, and how alike two fields are."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from neurok.core.articulation import Articulation

Fields = Float[np.ndarray, "D F 9"]
"""Velocities of the three corners of every face, for each coordinate."""


def joint_fields(articulation: Articulation) -> Fields:
    """Velocity of every corner of every face with each joint value, at rest."""
    corners = articulation.mesh.vertices[articulation.mesh.faces]
    parents = [joint.parent for joint in articulation.joints]
    out = []
    for part, joint in enumerate(articulation.joints):
        moved = np.isin(articulation.mesh.face_parts, carried(parents, part))[:, None, None]
        for slides in {"prismatic": [True], "cylindrical": [False, True], "fixed": []}.get(joint.kind, [False]):
            slide = np.broadcast_to(joint.axis, corners.shape)
            field = slide if slides else np.cross(joint.axis, corners - joint.origin)
            out.append((field * moved).reshape(len(corners), 9))
    return np.array(out).reshape(-1, len(corners), 9)


def carried(parents: list[int], part: int) -> list[int]:
    """A part and all that hang on it."""
    found = [part]
    for top in found:
        found += [child for child, parent in enumerate(parents) if parent == top]
    return found


def cosines(first: Fields, second: Fields, areas: Float[np.ndarray, " F"]) -> Float[np.ndarray, "A B"]:
    """Cosines of velocity fields, weighted by area, without sign."""
    length = lambda fields: np.sqrt(np.einsum("afk,afk,f->a", fields, fields, areas))  # noqa: E731
    inner = np.abs(np.einsum("afk,bfk,f->ab", first, second, areas, optimize=True))
    return inner / np.maximum(length(first)[:, None] * length(second), 1e-300)
