"""The zero surface of a field or of values on a grid as a mesh, and pieces melted into one surface."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy import ndimage
from scipy.spatial import cKDTree

from neurok.geometry.decimate import decimate
from neurok.geometry.operators import face_areas
from neurok.geometry.sampling import sample_surface
from neurok.geometry.voxels import shell_grid

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


@dataclass(frozen=True)
class MeltConfig:
    """How fine the surface is. By eye."""

    cells: int = 64
    """Cells along the longest side: what is nearer than one grows together."""

    blur: float = 0.7
    """Standard deviation by which creases are rounded [cells] ..."""

    thin: float = 0.6
    """... but a cell of the object never falls below this occupancy (the surface is at 0.5): legs and sheets stay."""

    faces: int = 5_000
    """Faces that are left of it."""

    samples: int = 40_000
    """Places of the old surface that the new faces are compared with."""


MELT = MeltConfig()


def melted(
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    config: MeltConfig = MELT,
    rng: np.random.Generator | None = None,
) -> tuple[Float[np.ndarray, "W 3"], Int[np.ndarray, "G 3"], Int[np.ndarray, " G"]]:
    """The outside of everything within half a cell of the surface, filled where nothing gets in, and the nearest old
    face of each new one."""
    used = vertices[faces.reshape(-1)]
    low, high = used.min(axis=0), used.max(axis=0)
    cell = max(float((high - low).max()), 1e-12) / config.cells
    low = low - 3.5 * cell
    shape = tuple(int(n) for n in np.ceil((high - low) / cell).astype(int) + 4)
    full = ndimage.binary_fill_holes(shell_grid(vertices, faces, low, cell, shape))
    rounded = ndimage.gaussian_filter(full.astype(np.float64), config.blur)
    values = 0.5 - np.maximum(rounded, config.thin * full)
    middle = low + 0.5 * cell
    points, triangles = level_set(values, middle, middle + cell * (np.array(shape) - 1.0))
    if len(triangles) > config.faces:
        points, triangles = decimate(points, triangles, config.faces)[:2]
    areas = face_areas(vertices, faces)
    count = int(config.samples)
    samples = sample_surface(vertices, faces, count, np.random.default_rng(0) if rng is None else rng)
    places, owners = samples.interpolate(vertices), samples.face_ids
    small = np.flatnonzero(areas > 0)
    places = np.concatenate([places, vertices[faces[small]].mean(axis=1)])
    owners = np.concatenate([owners, small])
    return points, triangles, owners[cKDTree(places).query(points[triangles].mean(axis=1))[1]]
