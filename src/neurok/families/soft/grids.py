"""Coarse grids that are simulated, and the fine surfaces that ride on them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from neurok.geometry.operators import vertex_normals
from neurok.modelling.profiles import smooth_curve


@dataclass(frozen=True)
class SheetGrid:
    """A sheet of rows x columns of points; the columns may run around in a ring."""

    rows: int
    columns: int
    is_ring: bool = False

    @property
    def triangles(self) -> Int[np.ndarray, "F 3"]:
        """Two for each square, the diagonals alternating so that no direction is favoured."""
        across = self.columns if self.is_ring else self.columns - 1
        i, j = (g.reshape(-1) for g in np.meshgrid(np.arange(self.rows - 1), np.arange(across), indexing="ij"))
        k = (j + 1) % self.columns
        a, b, c, d = i * self.columns + j, i * self.columns + k, (i + 1) * self.columns + j, (i + 1) * self.columns + k
        even = ((i + j) % 2 == 0)[:, None]
        first = np.where(even, np.stack([a, b, c], -1), np.stack([a, b, d], -1))
        second = np.where(even, np.stack([b, d, c], -1), np.stack([a, d, c], -1))
        return np.concatenate([first, second])

    @property
    def parameters(self) -> Float[np.ndarray, "N 2"]:
        """(row, column) of every point, each from 0 to 1 (a ring's columns end one step before 1)."""
        u = np.linspace(0.0, 1.0, self.rows)
        v = np.linspace(0.0, 1.0, self.columns, endpoint=not self.is_ring)
        return np.stack(np.meshgrid(u, v, indexing="ij"), -1).reshape(-1, 2)

    def index(self, row: int, column: int) -> int:
        return (row % self.rows) * self.columns + column % self.columns

    def refined(self, factor: int) -> SheetGrid:
        """The same sheet with ``factor`` times as many squares along each side."""
        columns = self.columns * factor if self.is_ring else (self.columns - 1) * factor + 1
        return SheetGrid((self.rows - 1) * factor + 1, columns, self.is_ring)

    def refine(self, positions: Float[np.ndarray, "*T N 3"], factor: int) -> Float[np.ndarray, "*T M 3"]:
        """Points of the refined sheet on the smooth (Catmull-Rom) surface through the coarse points."""
        fine = self.refined(factor)
        along = smooth_curve(np.eye(self.rows), fine.rows)
        across = smooth_curve(np.eye(self.columns), fine.columns, closed=self.is_ring)
        grid = positions.reshape(-1, self.rows, self.columns, 3)
        out = np.einsum("ar,trck,bc->tabk", along, grid, across, optimize=True)
        return out.reshape(*positions.shape[:-2], -1, 3)


def thicken(
    positions: Float[np.ndarray, "T V 3"], faces: Int[np.ndarray, "F 3"], thickness: float
) -> tuple[Float[np.ndarray, "T W 3"], Int[np.ndarray, "G 3"]]:
    """A thin closed shell about an open sheet: both faces and a wall along the rim."""
    count = positions.shape[1]
    offset = 0.5 * thickness * np.stack([vertex_normals(x, faces) for x in positions])
    edges = faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    keys = edges[:, 0] * count + edges[:, 1]
    rim = edges[~np.isin(keys, edges[:, 1] * count + edges[:, 0])]
    a, b = rim.T
    wall = np.concatenate([np.stack([b, a, a + count], -1), np.stack([b, a + count, b + count], -1)])
    return np.concatenate([positions + offset, positions - offset], axis=1), np.concatenate(
        [faces, faces[:, ::-1] + count, wall]
    )


@dataclass(frozen=True)
class BoxGrid:
    """A block of points in the unit cube [-1, 1]^3 that a map bends into a solid."""

    counts: tuple[int, int, int]
    """Points along x, y and z."""

    @property
    def points(self) -> Float[np.ndarray, "N 3"]:
        axes = [np.linspace(-1.0, 1.0, n) for n in self.counts]
        return np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 3)

    @property
    def tetrahedra(self) -> Int[np.ndarray, "M 4"]:
        """Six for each cell, all sharing its diagonal, so that neighbours fit."""
        index = np.arange(int(np.prod(self.counts))).reshape(self.counts)
        return cell_tetrahedra(index, np.ones(tuple(n - 1 for n in self.counts), dtype=bool))

    def surface(self) -> tuple[Float[np.ndarray, "V 3"], Int[np.ndarray, "F 3"]]:
        """The points on the outside and the triangles between them."""
        index = np.arange(int(np.prod(self.counts))).reshape(self.counts)
        faces = []
        for axis in range(3):
            for side in (0, -1):
                sheet = np.take(index, side, axis=axis)
                # Moving one axis to the front keeps the handedness only for x and z.
                flip = (side == 0) != (axis == 1)
                a, b, c, d = sheet[:-1, :-1], sheet[1:, :-1], sheet[1:, 1:], sheet[:-1, 1:]
                quads = [np.stack([a, b, c], -1), np.stack([a, c, d], -1)]
                faces += [(q[..., ::-1] if flip else q).reshape(-1, 3) for q in quads]
        stacked = np.concatenate(faces)
        used, inverse = np.unique(stacked, return_inverse=True)
        return self.points[used], inverse.reshape(-1, 3)

    def weights(self, parameters: Float[np.ndarray, "V 3"]) -> Float[np.ndarray, "V N"]:
        """Smooth interpolation weights of the points at parameters of the cube."""
        rows = []
        for axis, n in enumerate(self.counts):
            table = smooth_curve(np.eye(n), 64 * (n - 1) + 1)
            where = np.rint((parameters[:, axis] + 1.0) * 32 * (n - 1)).astype(int)
            rows.append(table[np.clip(where, 0, len(table) - 1)])
        return np.einsum("vi,vj,vk->vijk", *rows).reshape(len(parameters), -1)


def cell_tetrahedra(index: Int[np.ndarray, "X Y Z"], keep: np.ndarray) -> Int[np.ndarray, "M 4"]:
    """Kuhn's six tetrahedra of every kept cell of a block of point indices."""
    cells = np.argwhere(keep)
    out = []
    for order, odd in (
        ((0, 1, 2), False),
        ((1, 2, 0), False),
        ((2, 0, 1), False),
        ((0, 2, 1), True),
        ((2, 1, 0), True),
        ((1, 0, 2), True),
    ):
        corner = cells.copy()
        path = [index[tuple(corner.T)]]
        for axis in order:
            corner[:, axis] += 1
            path.append(index[tuple(corner.T)])
        tetrahedra = np.stack(path, -1)
        out.append(tetrahedra[:, [0, 2, 1, 3]] if odd else tetrahedra)
    return np.concatenate(out)
