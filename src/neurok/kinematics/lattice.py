"""A lattice of elastic bricks around a mesh: how much material lies in each cell, and how stiff it is there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.core.material import STANDARD_GRAVITY, MaterialField
from neurok.core.mesh import Mesh
from neurok.errors import NeurokError
from neurok.geometry.operators import closed_components, face_areas
from neurok.geometry.topology import face_components
from neurok.geometry.voxels import ENCLOSED, enclosed_grid

CORNERS = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
"""Corners of a brick, in the order of its nodes."""

_SIGNS = 2.0 * CORNERS - 1.0


@dataclass(frozen=True)
class LatticeConfig:
    """How a mesh becomes bricks."""

    cells: int = 800
    """The lattice is refined until so many cells are filled ..."""

    most_cells: int = 2400
    """... and coarsened when there are more: the lowest modes of so many take a few seconds."""

    finest: int = 48
    """Cells along the longest side at most."""

    coarsest: int = 6
    samples: int = 3
    """Samples of the inside along each side of a cell."""

    enclosed: float = ENCLOSED
    """Winding number beyond which a place is inside."""

    crumb: float = 0.1
    """Cells filled to a lesser share beside ones that are filled to five times this are left out if a solid only grazes
    them, and are at least as stiff as this share of those if a sheet lies in them: they would rattle."""

    contrast: float = 1e7
    """Stiffness of the stiffest cell over that of the softest at most; beyond, stiff parts are rigid anyway, and modes
    would drown in round-off."""

    floppy: float = 1e-3
    """Sheets are at least as stiff as one that, a cell thick, sags under its weight by about its own length times this
    over the cube of the cells along it: a few modes could not follow softer cloth."""

    thinnest: float = 0.04
    """Least share of a cell that a sheet fills, for its stiffness in bending: thinner cloth hangs as this would."""

    hollow: float = 1e-7
    """Closed pieces with less volume by area than this share of the object's size are sheets with two faces."""

    weak: float = 0.5
    """Bricks that are weaker than this share of their material are thin parts."""

    filler: float = 1e-3
    """Mass of a cell that only ties others together, as a share of that of a full one."""

    poisson_step: float = 0.05
    """Poisson's ratios are rounded to this, so that few kinds of bricks are needed."""


LATTICE = LatticeConfig()


@dataclass(frozen=True, eq=False)
class Lattice:
    """Filled cells of a regular grid [m], all parts of one connected solid."""

    low: Float[np.ndarray, "3"]
    sides: Float[np.ndarray, "3"]
    """Of a cell [m]."""

    cells: Int[np.ndarray, "C 3"]
    young: Float[np.ndarray, " C"]
    """[Pa], of a whole brick that is as stiff as what lies in the cell."""

    poisson: Float[np.ndarray, " C"]
    masses: Float[np.ndarray, " C"]
    """[kg]."""

    damping: Float[np.ndarray, " C"]
    """Share of critical damping."""

    vertices: Int[np.ndarray, " C"]
    """Vertex of the mesh whose material each cell is of."""

    membranes: Float[np.ndarray, "C 6 6"] | None = None
    """How sheets in a cell resist its mean strain [J], besides the brick that bends as they do."""

    @staticmethod
    def of(
        mesh: Mesh,
        materials: MaterialField,
        thickness: Float[np.ndarray, " F"],
        membrane: Float[np.ndarray, " F"] | None = None,
        config: LatticeConfig = LATTICE,
    ) -> Lattice:
        """The lattice of a mesh.

        Args:
            mesh: Closed pieces, and open ones with small holes, are filled; other open ones are sheets.
            materials: Material of each vertex.
            thickness: Of the sheet that each face is, where it is one, in mesh units.
            membrane: E t of the sheet in each face, which resists being stretched in its plane [N/m].
            config: How finely.
        """
        filling = _Filling(mesh, materials, thickness, membrane, config)
        count = 16
        for _ in range(8):
            grid = filling.grid(count)
            full = int((grid.fill > 0).sum())
            better = round(count * (0.5 * (config.cells + config.most_cells) / max(full, 1)) ** 0.4)
            better = int(np.clip(better, config.coarsest, config.finest))
            if config.cells <= full <= config.most_cells or better == count:
                break
            count = better
        return grid.lattice(materials, config)

    @cached_property
    def _numbers(self) -> tuple[Float[np.ndarray, "N 3"], Int[np.ndarray, "C 8"]]:
        shape = self.cells.max(axis=0) + 2
        keys = (self.cells[:, None] + CORNERS) @ np.array([shape[1] * shape[2], shape[2], 1])
        used, index = np.unique(keys, return_inverse=True)
        place = np.stack(np.unravel_index(used, tuple(shape)), axis=1)
        return self.low + place * self.sides, index.reshape(-1, 8)

    @property
    def nodes(self) -> Float[np.ndarray, "N 3"]:
        """[m]."""
        return self._numbers[0]

    @property
    def bricks(self) -> Int[np.ndarray, "C 8"]:
        """Nodes of each cell."""
        return self._numbers[1]

    @cached_property
    def node_masses(self) -> Float[np.ndarray, " N"]:
        """[kg]."""
        return np.bincount(self.bricks.reshape(-1), np.repeat(self.masses / 8.0, 8), minlength=len(self.nodes))

    @cached_property
    def stiffness(self) -> Any:
        """Sparse (3N × 3N) [N/m]."""
        from scipy.sparse import coo_matrix

        kinds, kind = np.unique(self.poisson, return_inverse=True)
        blocks = np.stack([brick_stiffness(self.sides, float(nu)) for nu in kinds])
        values = self.young[:, None, None] * blocks[kind]
        if self.membranes is not None:  # at the middle of the brick alone: a membrane does not bend
            strain = _strain_matrix(np.zeros(3), self.sides)[:, :24]
            values += strain.T @ self.membranes @ strain
        rows = (3 * self.bricks[:, :, None] + np.arange(3)).reshape(len(self.cells), 24)
        size = 3 * len(self.nodes)
        spread = (np.repeat(rows, 24, axis=1).reshape(-1), np.tile(rows, (1, 24)).reshape(-1))
        return coo_matrix((values.reshape(-1), spread), (size, size)).tocsc()

    def interpolation(self, points: Float[np.ndarray, "n 3"]) -> Any:
        """Sparse (n × N) matrix from values at nodes to points [m], which lie in the cells or close to them."""
        from scipy.sparse import csr_matrix
        from scipy.spatial import cKDTree

        place = (points - self.low) / self.sides
        found = cKDTree(self.cells + 0.5).query(place, k=1)[1]
        local = np.clip(place - self.cells[found], 0.0, 1.0)
        share = np.where(CORNERS[None] == 1, local[:, None], 1.0 - local[:, None]).prod(axis=2)
        rows = np.repeat(np.arange(len(points)), 8)
        return csr_matrix((share.reshape(-1), (rows, self.bricks[found].reshape(-1))), (len(points), len(self.nodes)))

    def near(self, points: Float[np.ndarray, "n 3"]) -> Bool[np.ndarray, " N"]:
        """Nodes within half a cell of one of some points [m]."""
        from scipy.spatial import cKDTree

        distance = cKDTree(points / self.sides).query(self.nodes / self.sides, p=np.inf)[0]
        return np.asarray(distance <= 0.5 + 1e-6)


@dataclass(frozen=True, eq=False)
class _Grid:
    """What lies in each cell of a box of cells."""

    low: np.ndarray
    sides: np.ndarray
    fill: Float[np.ndarray, "X Y Z"]
    """Share of the cell that is material; 0 where there is none."""

    strength: Float[np.ndarray, "X Y Z"]
    """Stiffness of the whole brick as a share of that of the material."""

    nearest: Int[np.ndarray, "X Y Z"]
    """Vertex whose material counts."""

    least: Float[np.ndarray, "X Y Z"]
    """Stiffness that thin stiff parts give a brick, whatever else lies in the cell [Pa]."""

    support: Int[np.ndarray, "X Y Z"]
    """Cell of the thick part that a sheet lies on, where one does, else the cell itself."""

    membranes: Float[np.ndarray, "X Y Z 6 6"] | None
    """Of the sheets in each cell [J]."""

    def _young(self, materials: MaterialField, flat: Int[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        """Of the bricks of some cells [Pa]."""
        strength, nearest, least = (grid.reshape(-1)[flat] for grid in (self.strength, self.nearest, self.least))
        return np.maximum(materials.young[nearest] * strength, least)

    def lattice(self, materials: MaterialField, config: LatticeConfig) -> Lattice:
        tied = _tied(self.fill > 0)
        cells = np.argwhere(tied)
        i, j, k = cells.T
        real = self.fill[i, j, k] > 0
        if not real.any():
            raise NeurokError("The mesh fills no cell of a lattice, so it cannot be elastic; check its size and faces.")
        source = np.arange(len(cells))
        if not real.all():  # cells that only tie others together are made as their neighbours are
            from scipy.spatial import cKDTree

            known = np.flatnonzero(real)
            source[~real] = known[cKDTree(cells[real]).query(cells[~real])[1]]
        a, b, c = cells[source].T
        vertex, volume = self.nearest[a, b, c], float(np.prod(self.sides))
        mine = np.ravel_multi_index((a, b, c), self.fill.shape)
        below = self.support.reshape(-1)[mine]
        young = self._young(materials, mine)
        young = np.where(below != mine, np.maximum(young, config.crumb * self._young(materials, below)), young)
        share = np.where(real, self.fill[a, b, c], config.filler)
        extent = float((np.ptp(cells, axis=0) * self.sides).max())
        least = config.floppy * STANDARD_GRAVITY * extent**3 * materials.density[vertex] / volume ** (2 / 3)
        least = least * np.maximum(share, config.thinnest)
        young = np.where(self.strength[a, b, c] < config.weak, np.maximum(young, least), young)
        young = np.minimum(young, config.contrast * young.min())
        poisson = np.round(materials.poisson[vertex] / config.poisson_step) * config.poisson_step
        return Lattice(
            self.low,
            self.sides,
            cells,
            young,
            np.clip(poisson, -0.9, 0.5 - 0.4 * config.poisson_step),
            materials.density[vertex] * volume * share,
            materials.damping_ratio[vertex],
            vertex,
            None if self.membranes is None else self.membranes[i, j, k],
        )


class _Filling:
    """Fills grids of any fineness with one mesh."""

    def __init__(
        self,
        mesh: Mesh,
        materials: MaterialField,
        thickness: Float[np.ndarray, " F"],
        membrane: Float[np.ndarray, " F"] | None,
        config: LatticeConfig,
    ) -> None:
        self.config = config
        self.vertices = mesh.vertices * mesh.unit
        self.low, self.high = (
            self.vertices[np.unique(mesh.faces)].min(axis=0),
            self.vertices[np.unique(mesh.faces)].max(axis=0),
        )
        piece = face_components(mesh.vertices, mesh.faces, mesh.face_parts)
        closed = closed_components(mesh.vertices, mesh.faces, piece)[piece]
        self.faces, self.closed = mesh.faces, closed
        areas = face_areas(self.vertices, mesh.faces)
        solids = np.linalg.det(self.vertices[mesh.faces] - self.vertices.mean(axis=0)) / 6.0
        behind = np.abs(np.bincount(piece, solids)) / np.maximum(np.bincount(piece, areas), 1e-300)
        full = closed & (behind[piece] > config.hollow * mesh.size * mesh.unit)
        self.thickness = np.where(full, behind[piece], np.asarray(thickness, dtype=np.float64) * mesh.unit)
        self.young = materials.young[mesh.faces[:, 0]]
        self.membranes = None
        if membrane is not None and membrane.any():
            poisson = materials.poisson[mesh.faces[:, 0]]
            self.membranes = (membrane * areas)[:, None, None] * _plane_laws(self.vertices[mesh.faces], poisson)

    def grid(self, count: int) -> _Grid:
        extent = self.high - self.low
        side = float(extent.max()) / count
        counts = np.maximum(1, np.round(extent / side)).astype(np.int64)
        flat = extent < 0.5 * side
        sides = np.where(flat, side, extent / counts)
        low = np.where(flat, 0.5 * (self.low + self.high) - 0.5 * side, self.low)
        shape = tuple(int(n) for n in counts)
        scaled = (self.vertices - low) / sides
        from scipy.ndimage import distance_transform_edt, maximum_filter

        n = self.config.samples
        slight = self.closed & (2.0 * self.thickness * n < sides.min())  # samples of the inside would miss these
        fine = self._inside(scaled, shape, ~slight)
        inside = fine.reshape(shape[0], n, shape[1], n, shape[2], n).mean(axis=(1, 3, 5))
        points, source = spread_points(scaled, self.faces)
        cells = tuple(np.clip(np.floor(points).astype(np.int64), 0, np.array(shape) - 1).T)
        areas = face_areas(self.vertices, self.faces) / np.bincount(source, minlength=len(self.faces))
        volumes = (areas * self.thickness)[source] / float(np.prod(sides))
        depth = np.where(self._is_skin(scaled, points, source, fine, slight), 0.0, volumes)
        sheet, firm = np.zeros(shape), np.zeros(shape)
        for closed in (False, True):
            mine = (slight[source] == closed) & (depth > 0)
            here = tuple(index[mine] for index in cells)
            share, faced = np.zeros(shape), np.zeros(shape)
            np.add.at(share, here, depth[mine])
            np.add.at(faced, here, areas[source[mine]] / float(np.prod(sides)) ** (2 / 3))
            sheet, firm = sheet + share, firm + thin_strength(share, faced, closed)
        sheet = np.minimum(sheet, 1.0)
        surface = np.zeros(shape, dtype=bool)
        surface[cells] = True
        # A surface cell that the samples miss still holds a thin part of a solid.
        inside = np.where(surface & (inside + sheet <= 0), 0.5 / n**3, inside)
        fill = np.clip(inside + sheet, 0.0, 1.0)
        around = maximum_filter(fill, 3, mode="constant")
        thick = fill > 5.0 * self.config.crumb
        grazed = (fill < self.config.crumb) & (around > 5.0 * self.config.crumb)
        laid, crumbs = grazed & (sheet > inside), grazed & (sheet <= inside)
        lost = 1.0 + fill[crumbs].sum() / max(float(fill[~crumbs].sum()), 1e-300)
        fill = np.where(crumbs, 0.0, fill)
        # A corner of something thick is as stiff as that.
        strength = np.where(inside >= sheet, fill * around, np.clip(firm, self.config.thinnest**3, 1.0))
        nearest = self._nearest(points, source, shape, fill > 0)
        support = np.arange(fill.size).reshape(shape)
        if laid.any():
            below = distance_transform_edt(~thick, sampling=sides, return_distances=False, return_indices=True)
            support = np.where(laid, np.ravel_multi_index(tuple(below), shape), support)
        least = self._least(cells, source, volumes, shape)
        return _Grid(low, sides, lost * fill, strength, nearest, least, support, self._tension(cells, source, shape))

    def _tension(
        self, cells: tuple[np.ndarray, ...], source: np.ndarray, shape: tuple[int, ...]
    ) -> Float[np.ndarray, "X Y Z 6 6"] | None:
        """Each face in the cells that it passes through, by its points in them."""
        from scipy.sparse import coo_matrix

        if self.membranes is None:
            return None
        count = len(self.faces)
        share = 1.0 / np.bincount(source, minlength=count)[source]
        flat = np.ravel_multi_index(cells, shape)
        spread = coo_matrix((share, (flat, source)), (int(np.prod(shape)), count)).tocsr()
        return np.asarray(spread @ self.membranes.reshape(count, 36)).reshape(*shape, 6, 6)

    def _least(
        self, cells: tuple[np.ndarray, ...], source: np.ndarray, volumes: np.ndarray, shape: tuple[int, ...]
    ) -> Float[np.ndarray, "X Y Z"]:
        """Of a board in the same cells as the foam on it: its share of the cell counts by the cube, as of a sheet."""
        from scipy.ndimage import maximum_filter

        out, young = np.zeros(shape), self.young[source]
        for level in np.unique(young)[1:]:
            share, mine = np.zeros(shape), young == level
            np.add.at(share, tuple(index[mine] for index in cells), volumes[mine])
            share = np.minimum(share, 1.0)
            out = np.maximum(out, level * share * maximum_filter(share, 3, mode="constant") ** 2)
        return out

    def _inside(
        self, scaled: np.ndarray, shape: tuple[int, ...], counted: Bool[np.ndarray, " F"]
    ) -> Bool[np.ndarray, "X Y Z"]:
        n = self.config.samples
        fine = tuple(n * s for s in shape)
        faces, closed = self.faces[counted], self.closed[counted]
        return enclosed_grid(scaled, faces, closed, np.zeros(3), 1.0 / n, fine, self.config.enclosed)

    def _is_skin(
        self,
        scaled: np.ndarray,
        points: np.ndarray,
        source: np.ndarray,
        fine: Bool[np.ndarray, "X Y Z"],
        slight: Bool[np.ndarray, " F"],
    ) -> Bool[np.ndarray, " n"]:
        """Points of surfaces with a filled inside on one of their sides; other surfaces are sheets."""
        a, b, c = (scaled[self.faces[:, i]] for i in range(3))
        normal = np.cross(b - a, c - a)
        normal = (normal / np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300))[source]
        out = (self.closed & ~slight)[source]
        for side in (-0.6, 0.6):
            place = np.floor(self.config.samples * (points + side * normal)).astype(np.int64)
            within = ((place >= 0) & (place < fine.shape)).all(axis=1)
            out[within] |= fine[tuple(place[within].T)]
        return out & ~slight[source]

    def _nearest(
        self, points: np.ndarray, source: np.ndarray, shape: tuple[int, ...], filled: np.ndarray
    ) -> Int[np.ndarray, "X Y Z"]:
        from scipy.spatial import cKDTree

        out = np.zeros(shape, dtype=np.int64)
        centres = np.argwhere(filled)
        found = cKDTree(points).query(centres + 0.5)[1]
        out[tuple(centres.T)] = self.faces[source[found], 0]
        return out


def _plane_laws(corners: Float[np.ndarray, "F 3 3"], poisson: Float[np.ndarray, " F"]) -> Float[np.ndarray, "F 6 6"]:
    """Plane stress of unit stiffness in each triangle, for engineering strains xx yy zz xy yz zx."""
    along = corners[:, 1] - corners[:, 0]
    normal = np.cross(along, corners[:, 2] - corners[:, 0])
    frame = [vector / np.maximum(np.linalg.norm(vector, axis=1, keepdims=True), 1e-300) for vector in (along, normal)]
    u, v = frame[0], np.cross(frame[1], frame[0])
    pairs = ((0, 1), (1, 2), (2, 0))
    rows = [np.concatenate([a * a, np.stack([a[:, i] * a[:, j] for i, j in pairs], axis=1)], axis=1) for a in (u, v)]
    shear = np.stack([u[:, i] * v[:, j] + u[:, j] * v[:, i] for i, j in pairs], axis=1)
    strain = np.stack([*rows, np.concatenate([2.0 * u * v, shear], axis=1)], axis=1)
    law = np.zeros((len(u), 3, 3))
    law[:, 0, 0] = law[:, 1, 1] = 1.0
    law[:, 0, 1] = law[:, 1, 0] = poisson
    law[:, 2, 2] = 0.5 * (1.0 - poisson)
    law /= (1.0 - poisson**2)[:, None, None]
    return np.asarray(strain.swapaxes(1, 2) @ law @ strain)


def thin_strength(
    share: Float[np.ndarray, "*C"], faced: Float[np.ndarray, "*C"], closed: bool
) -> Float[np.ndarray, "*C"]:
    """Stiffness in bending of thin parts in a cell, over that of a whole brick of the same material.

    A bar of width w and thickness t, in sides of the cell, fills the share w t and is as stiff as w t³; several count
    as many times. Its thickness follows from how much surface it has: w on one side of a sheet, 2 (w + t) all around.

    Args:
        share: What the parts fill.
        faced: Their surface, in squares of the side of the cell: one side of open sheets, all of closed ones.
        closed: Which of the two.
    """
    if not closed:
        thickness = np.divide(share, faced, out=np.zeros_like(share), where=faced > 0)
    else:
        half = 0.25 * faced
        thickness = half - np.sqrt(np.maximum(half**2 - share, 0.0))
    return share * thickness**2


def spread_points(scaled: np.ndarray, faces: np.ndarray) -> tuple[Float[np.ndarray, "n 3"], Int[np.ndarray, " n"]]:
    """Points on faces about a sixth of a cell apart, and the face of each."""
    corners = scaled[faces]
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    pieces = np.clip(np.ceil(6.0 * longest), 1, 400).astype(np.int64)
    points, source = [], []
    for n in np.unique(pieces):
        i, j = (index.reshape(-1) for index in np.meshgrid(np.arange(n), np.arange(n), indexing="ij"))
        up, down = i + j < n, i + j < n - 1  # middles of n² equal triangles
        i, j = (np.concatenate([k[up] + 1 / 3, k[down] + 2 / 3]) for k in (i, j))
        weights = np.stack([i / n, j / n, 1.0 - (i + j) / n], axis=1)
        mine = np.flatnonzero(pieces == n)
        points.append(np.einsum("mk,fkd->fmd", weights, corners[mine]).reshape(-1, 3))
        source.append(np.repeat(mine, len(weights)))
    return np.concatenate(points), np.concatenate(source)


def _tied(filled: Bool[np.ndarray, "X Y Z"]) -> Bool[np.ndarray, "X Y Z"]:
    """The filled cells and as many others as it takes that all hang together by whole sides, not by edges."""
    from scipy.ndimage import label
    from scipy.spatial import cKDTree

    out = filled.copy()
    for first, second in ((0, 1), (0, 2), (1, 2)):
        for sign in (1, -1):
            view = np.flip(out, axis=second) if sign < 0 else out
            low, high = slice(None, -1), slice(1, None)
            pick = lambda a, b, f=first, s=second: tuple({f: a, s: b}.get(axis, slice(None)) for axis in range(3))  # noqa: E731
            loose = view[pick(low, low)] & view[pick(high, high)] & ~view[pick(low, high)] & ~view[pick(high, low)]
            view[pick(low, high)] |= loose
    names, count = label(out)
    while count > 1:
        sizes = np.bincount(names.reshape(-1))[1:]
        main = 1 + int(sizes.argmax())
        others, mine = np.argwhere((names > 0) & (names != main)), np.argwhere(names == main)
        gaps, partner = cKDTree(mine).query(others)
        best = int(gaps.argmin())
        a, b = mine[partner[best]], others[best]
        for axis in range(3):
            step = int(np.sign(b[axis] - a[axis]))
            while a[axis] != b[axis]:
                a = a.copy()
                a[axis] += step
                out[tuple(a)] = True
        names, count = label(out)
    return out


def brick_stiffness(sides: Float[np.ndarray, "3"], poisson: float) -> Float[np.ndarray, "24 24"]:
    """Stiffness of a brick of these sides [m] per unit of Young's modulus [m]; multiply by [Pa] for [N/m].

    Linear shape functions alone are far too stiff in bending; nine inner parabolas, condensed out, let each brick
    bend freely (Wilson's element, exact for bending and passing the patch test for bricks).
    """
    lam = poisson / ((1 + poisson) * (1 - 2 * poisson))
    mu = 1.0 / (2 * (1 + poisson))
    law = np.zeros((6, 6))
    law[:3, :3] = lam
    law[np.arange(3), np.arange(3)] += 2 * mu
    law[np.arange(3, 6), np.arange(3, 6)] = mu
    full = np.zeros((33, 33))
    root = 1.0 / np.sqrt(3.0)
    for point in root * _SIGNS:
        strain = _strain_matrix(point, np.asarray(sides, dtype=np.float64))
        full += strain.T @ law @ strain
    full *= float(np.prod(sides)) / 8.0
    outer, cross, inner = full[:24, :24], full[:24, 24:], full[24:, 24:]
    return outer - cross @ np.linalg.solve(inner, cross.T)


def _strain_matrix(point: Float[np.ndarray, "3"], sides: Float[np.ndarray, "3"]) -> Float[np.ndarray, "6 33"]:
    """Engineering strains xx yy zz xy yz zx at a point of [-1, 1]³, from corner displacements and inner parabolas."""
    terms = 1.0 + _SIGNS * point
    slopes = np.stack([_SIGNS[:, a] * terms[:, (a + 1) % 3] * terms[:, (a + 2) % 3] / 8.0 for a in range(3)], axis=1)
    gradients = np.concatenate([slopes, np.diag(-2.0 * point)]) * (2.0 / sides)
    out = np.zeros((6, 33))
    for node, (x, y, z) in enumerate(gradients):
        out[:, 3 * node : 3 * node + 3] = [[x, 0, 0], [0, y, 0], [0, 0, z], [y, x, 0], [0, z, y], [z, 0, x]]
    return out
