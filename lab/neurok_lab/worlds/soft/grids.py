"""Coarse grids that are simulated, and the fine surfaces that ride on them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from neurok.geometry.distance import closest_point
from neurok.geometry.operators import vertex_normals
from neurok.geometry.transfer import affine_weights
from neurok.geometry.voxels import shell_grid, winding_grid
from neurok.modelling.profiles import smooth_curve

CRUSHED = 0.2
"""Six times the volume of the smallest tetrahedron that is kept, in cells."""


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


@dataclass(frozen=True, eq=False)
class TetrahedralLattice:
    """A coarse lattice of tetrahedra that fills a closed surface."""

    nodes: Float[np.ndarray, "N 3"]
    tetrahedra: Int[np.ndarray, "M 4"]
    spacing: float
    """[m]."""

    @property
    def volume(self) -> float:
        sides = self.nodes[self.tetrahedra[:, 1:]] - self.nodes[self.tetrahedra[:, :1]]
        return float(np.abs(np.linalg.det(sides)).sum()) / 6.0

    def components(self) -> list[Int[np.ndarray, " K"]]:
        """The nodes of each connected piece."""
        from scipy.sparse import coo_matrix
        from scipy.sparse.csgraph import connected_components

        a, b = self.tetrahedra[:, :3].ravel(), self.tetrahedra[:, 1:].ravel()
        links = coo_matrix((np.ones(len(a)), (a, b)), shape=(len(self.nodes),) * 2)
        labels = connected_components(links, directed=False)[1]
        return [np.flatnonzero(labels == label) for label in np.unique(labels)]

    def follow(
        self, points: Float[np.ndarray, "P 3"], frames: Float[np.ndarray, "T N 3"], floor: float | None = None
    ) -> Float[np.ndarray, "T P 3"]:
        """Where points on or near the solid go; pressed flat on a ``floor`` [m], if any.

        Contact is felt by the nodes alone, so that a surface between them could reach a little below.
        """
        moved = points + np.einsum(
            "vn,tnk->tvk", smooth_weights(self.nodes, points), frames - self.nodes, optimize=True
        )
        if floor is not None:
            moved[..., 1] = np.maximum(moved[..., 1], floor)
        return moved


def lattice_of(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"], most: int = 320
) -> TetrahedralLattice:
    """The finest lattice of at most so many nodes in closed surfaces, which may overlap and be thin.

    Cells that hold anything of the solid are kept; nodes outside are drawn onto the surface, so that contact happens
    there, and what that crushes is left out.
    """
    low, size = vertices.min(axis=0), np.ptp(vertices, axis=0)
    spacing = float(size.max()) / 14
    while True:
        counts = np.ceil(size / spacing - 1e-6).astype(int).clip(1)
        start = low - 0.5 * (counts * spacing - size)
        grid = (vertices, faces, start, spacing, tuple(counts.tolist()))
        cells = (winding_grid(*grid) > 0.5) | shell_grid(*grid)
        points = np.stack(np.meshgrid(*(np.arange(n + 1) for n in counts), indexing="ij"), -1).reshape(-1, 3)
        tetrahedra = cell_tetrahedra(np.arange(len(points)).reshape(*(counts + 1)), cells)
        if len(np.unique(tetrahedra)) <= most:
            break
        spacing *= 1.12
    nodes = start + spacing * points
    around = winding_grid(vertices, faces, start - spacing / 2, spacing, tuple((counts + 1).tolist()))
    outside = around.reshape(-1) < 0.5
    nodes[outside] = closest_point(nodes[outside], vertices, faces).points
    sides = nodes[tetrahedra[:, 1:]] - nodes[tetrahedra[:, :1]]
    used, inverse = np.unique(tetrahedra[np.linalg.det(sides) > CRUSHED * spacing**3], return_inverse=True)
    return TetrahedralLattice(nodes[used], inverse.reshape(-1, 4), spacing)


def smooth_weights(nodes: Float[np.ndarray, "N 3"], points: Float[np.ndarray, "P 3"], count: int = 14) -> np.ndarray:
    """Moving-least-squares weights: smooth, and exact for every affine motion of the nodes."""
    near, local = affine_weights(nodes, points, count)
    weights = np.zeros((len(points), len(nodes)))
    np.put_along_axis(weights, near, local, axis=1)
    return weights


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
