"""The zero surface of values on a grid as a closed mesh, by marching tetrahedra."""

from __future__ import annotations

import itertools

import numpy as np
from jaxtyping import Float, Int

# The six tetrahedra of a cube about its long diagonal: neighbouring cubes agree on the faces between them.
_CORNERS = np.array(list(itertools.product((0, 1), repeat=3)))
_TETRAHEDRA = np.array([
    [0, *np.cumsum([4 >> axis for axis in order])] for order in itertools.permutations(range(3))
])  # fmt: skip


def level_set(
    values: Float[np.ndarray, "X Y Z"], low: Float[np.ndarray, "3"], high: Float[np.ndarray, "3"]
) -> tuple[Float[np.ndarray, "V 3"], Int[np.ndarray, "F 3"]]:
    """Where values on a grid between two corners are zero; negative is inside, and faces look outwards.

    The outermost layer counts as outside, so that the mesh is always closed, and every edge has two faces.
    """
    field = np.array(values, dtype=np.float64)
    away = max(float(np.abs(field).max(initial=0.0)), 1e-12)
    field[np.abs(field) < 1e-6 * away] = 1e-6 * away
    for axis in range(3):
        edge = np.moveaxis(field, axis, 0)
        edge[[0, -1]] = np.maximum(edge[[0, -1]], 1e-3 * away)
    inside = field < 0
    steps = np.array(field.strides) // field.itemsize
    corners = _CORNERS @ steps
    total = sum(
        inside[tuple(slice(c, n - 1 + c) for c, n in zip(corner, field.shape, strict=True))].astype(np.int8)
        for corner in _CORNERS
    )
    cubes = np.argwhere((total > 0) & (total < 8)) @ steps
    tets = (cubes[:, None, None] + corners[_TETRAHEDRA]).reshape(-1, 4)
    flat = inside.reshape(-1)
    is_in = flat[tets]
    count = is_in.sum(axis=1)
    triangles = [
        _cut_corner(tets[count == 1], is_in[count == 1]),
        _cut_corner(tets[count == 3], ~is_in[count == 3]),
        *_cut_middle(tets[count == 2], is_in[count == 2]),
    ]
    ends = np.sort(np.concatenate(triangles), axis=2)
    keys, index = np.unique(ends[..., 0].reshape(-1) * field.size + ends[..., 1].reshape(-1), return_inverse=True)
    edges, faces = np.stack([keys // field.size, keys % field.size], axis=1), index.reshape(-1, 3)
    a, b = field.reshape(-1)[edges].T
    share = np.clip(a / (a - b), 0.01, 0.99)[:, None]
    place = lambda ids: np.stack(np.unravel_index(ids, field.shape), axis=1).astype(np.float64)  # noqa: E731
    grid = place(edges[:, 0]) * (1.0 - share) + place(edges[:, 1]) * share
    vertices = low + grid * (np.asarray(high) - low) / (np.array(field.shape) - 1.0)
    return vertices, _outward(grid, faces, edges, flat, place)


def _cut_corner(tets: np.ndarray, alone: np.ndarray) -> np.ndarray:
    """Triangles that cut one corner off, as pairs of grid points."""
    order = np.argsort(~alone, axis=1, kind="stable")
    own = np.take_along_axis(tets, order, axis=1)
    return np.stack([own[:, [0, 1]], own[:, [0, 2]], own[:, [0, 3]]], axis=1)


def _cut_middle(tets: np.ndarray, is_in: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two triangles each that part two corners from the other two."""
    order = np.argsort(~is_in, axis=1, kind="stable")
    own = np.take_along_axis(tets, order, axis=1)
    a, b, c, d = own[:, [0, 2]], own[:, [0, 3]], own[:, [1, 3]], own[:, [1, 2]]
    return np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)


def _outward(grid, faces, edges, flat, place):  # type: ignore[no-untyped-def]
    """Faces turned so that they look from where it is inside to where it is outside."""
    towards = (place(edges[:, 1]) - place(edges[:, 0])) * np.where(flat[edges[:, 0]], 1.0, -1.0)[:, None]
    a, b, c = (grid[faces[:, i]] for i in range(3))
    turned = (np.cross(b - a, c - a) * towards[faces].sum(axis=1)).sum(axis=1) < 0
    out = faces.copy()
    out[turned] = out[turned][:, ::-1]
    return out
