"""A square cushion with piping, pinched corners and creases: one closed, soft surface."""

from __future__ import annotations

import numpy as np

from neurok.core import Asset, Mesh
from neurok.modelling import looks, profiles
from neurok.modelling.shapes import lathe

HALF, THICKNESS, PIPING = 0.225, 0.075, 0.0055
AROUND, RINGS = 128, 26


def make_pillow() -> Asset:
    rings = [_ring(s, 1.0) for s in np.linspace(0.0, 1.0, RINGS) ** 0.8]
    rim = rings[-1]
    outward = rim * (1.0, 0.0, 1.0)
    outward /= np.linalg.norm(outward, axis=1, keepdims=True)
    for angle in np.radians([120, 75, 30, 0, -30, -75, -120]):
        lift = np.sin(angle) * PIPING * np.array([0.0, 1.0, 0.0])
        rings.append(rim * (1.0, 0.0, 1.0) + (1.0 + np.cos(angle)) * PIPING * outward + lift)
    rings += [_ring(s, -1.0) for s in np.linspace(1.0, 0.0, RINGS) ** 0.8]
    solid = lathe(
        np.column_stack([np.r_[0.0, np.ones(len(rings) - 2), 0.0], np.arange(len(rings), dtype=float)]), AROUND
    )
    vertices = np.concatenate([np.concatenate(rings[1:-1]), rings[0][:1], rings[-1][:1]])
    faces = solid.faces[:, ::-1] if _volume(vertices, solid.faces) < 0 else solid.faces
    vertices = vertices - (0.0, vertices[:, 1].min(), 0.0)
    uv = vertices[:, [0, 2]] * 2.2
    mesh = Mesh(vertices, faces, uv=uv, surfaces=(looks.woven(),), name="pillow")
    return Asset(mesh, provenance={"source": "neurok", "license": "Apache-2.0", "category": "pillow"})


def _ring(s: float, side: float) -> np.ndarray:
    """The loop at a share ``s`` of the way from the middle to the seam, on one side."""
    outline = profiles.superellipse(1.0, 1.0, 2.0 + 5.0 * s, AROUND)
    corner = (np.abs(outline).min(axis=1) / np.abs(outline).max(axis=1)) ** 3
    # Filling draws the middle of each edge in and leaves the corners out as ears.
    outline = outline * (1.0 - 0.055 * s**2 * (1.0 - corner))[:, None]
    bulge = (1.0 - s**2.4) ** 0.72 * (1.0 - 0.25 * s**2 * corner)
    angle = np.arctan2(outline[:, 1], outline[:, 0])
    near_seam = np.exp(-(((s - 0.86) / 0.13) ** 2))
    creases = np.sin(23 * angle + side) + 0.6 * np.sin(41 * angle + 2.0 * side) + 0.5 * np.sin(9 * angle)
    folds = 0.0035 * near_seam * creases * (1.0 - 0.6 * corner)
    dents = 0.006 * np.exp(-(((s - 0.45) / 0.25) ** 2)) * np.sin(3 * angle + 1.3 * side) * np.sin(2 * angle)
    height = side * np.maximum(THICKNESS * bulge + (folds + dents) * min(1.0, 8.0 * (1.0 - s)), 0.0)
    return np.column_stack([HALF * s * outline[:, 0], height, HALF * s * outline[:, 1]])


def _volume(vertices: np.ndarray, faces: np.ndarray) -> float:
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    return float(np.sum(a * np.cross(b, c)))
