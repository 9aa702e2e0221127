"""The zero surface of a field as an even mesh."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Float, Int

Field = Callable[[Float[np.ndarray, "N 3"]], Float[np.ndarray, " N"]]
"""Roughly the distance to a surface, negative inside."""


def surface_nets(
    field: Field, bounds: Float[np.ndarray, "2 3"], spacing: float
) -> tuple[Float[np.ndarray, "V 3"], Int[np.ndarray, "F 3"]]:
    """The zero surface of a field as an even mesh: one vertex for each grid cell it passes through."""
    pad = np.array([[-1.5], [1.5]]) * spacing
    axes = grid_axes(np.asarray(bounds) + pad, spacing)
    points = np.stack(np.meshgrid(*axes, indexing="ij"), -1)
    inside = (field(points.reshape(-1, 3)) < 0).reshape(points.shape[:3])
    corners = [
        inside[i : i - 1 or None, j : j - 1 or None, k : k - 1 or None] for i in (0, 1) for j in (0, 1) for k in (0, 1)
    ]
    total = np.sum(corners, axis=0)
    mixed = (total > 0) & (total < 8)
    index = np.full(mixed.shape, -1, dtype=np.int64)
    index[mixed] = np.arange(int(mixed.sum()))
    vertices = onto_surface(field, points[:-1, :-1, :-1][mixed] + spacing / 2)
    faces = []
    for axis in range(3):
        b, c = (axis + 1) % 3, (axis + 2) % 3
        here, ahead = np.moveaxis(inside, axis, 0)[:-1], np.moveaxis(inside, axis, 0)[1:]
        where = np.argwhere(np.moveaxis(here != ahead, 0, axis))
        where = where[(where[:, b] > 0) & (where[:, c] > 0)]
        step_b, step_c = np.eye(3, dtype=int)[b], np.eye(3, dtype=int)[c]
        quad = np.stack([index[tuple((where - s).T)] for s in (step_b + step_c, step_c, 0 * step_b, step_b)], -1)
        outward = inside[tuple(where.T)]
        quad[~outward] = quad[~outward][:, ::-1]
        faces += [quad[:, [0, 1, 2]], quad[:, [0, 2, 3]]]
    return vertices, np.concatenate(faces)


def gradient(field: Field, x: Float[np.ndarray, "N 3"], step: float = 1e-4) -> Float[np.ndarray, "N 3"]:
    return np.stack([(field(x + step * e) - field(x - step * e)) / (2 * step) for e in np.eye(3)], axis=1)


def onto_surface(field: Field, x: Float[np.ndarray, "N 3"], rounds: int = 3) -> Float[np.ndarray, "N 3"]:
    """Points moved to where the field is zero, by Newton's method along its gradient."""
    for _ in range(rounds):
        slope = gradient(field, x)
        x = x - (field(x) / np.maximum(np.sum(slope**2, axis=1), 0.05))[:, None] * slope
    return x


def grid_axes(bounds: Float[np.ndarray, "2 3"], spacing: float) -> list[np.ndarray]:
    """Coordinates of a grid of this spacing that covers a box, centred on it."""
    counts = np.maximum(np.ceil((bounds[1] - bounds[0]) / spacing).astype(int), 1) + 1
    middle = (bounds[0] + bounds[1]) / 2
    return [m + spacing * (np.arange(n) - (n - 1) / 2) for m, n in zip(middle, counts, strict=True)]
