"""How the vertices of a mesh follow particles, so that a written mesh keeps its faces and its texture.

Vertices of solids follow the particles around them by moving least squares: exact for every affine motion, and the same
for vertices in one place, so no seam opens. Vertices of sheets keep their offset from the nearest triangle of the
simulation; vertices of rigid parts move with these. Forces on vertices go to particles by the same weights: neither
force nor torque is lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from neurok.dynamics.particles.filling import Filling
from neurok.dynamics.particles.stuff import SHEET
from neurok.geometry.distance import closest_point
from neurok.geometry.transfer import local_weights
from neurok.geometry.operators import face_normals
from neurok.geometry.topology import vertex_labels


@dataclass(frozen=True)
class CarryConfig:
    """Whom a vertex follows."""

    neighbours: int = 14
    """Particles that count for one vertex; an affine fit needs four, and twice the layers keep it smooth."""

    elsewhere: float = 1.0
    """How much farther particles of other pieces seem [spacings of particles]: a vertex follows its own."""

    ridge: float = 1e-8
    """Of the fit, where particles lie in a plane."""


CARRY = CarryConfig()


@dataclass(frozen=True, eq=False)
class Carrier:
    """The vertices of one object on its particles."""

    weights: Any
    """Sparse (V × P): how much each vertex follows each particle; rows sum to one."""

    sheet: Int[np.ndarray, " n"]
    """Vertices that lie on triangles of a sheet ..."""

    triangle: Int[np.ndarray, "n 3"]
    """... the particles of these ..."""

    offset: Float[np.ndarray, "n 3"]
    """... and where from their nearest point it is, along the first edge, across it, and above [m]."""

    rigid: Int[np.ndarray, " V"]
    """Rigid part that a vertex moves with; -1 where it bends."""

    start: Float[np.ndarray, "V 3"]
    """Where vertices are at the start [m]."""

    def positions(
        self,
        particles: Float[np.ndarray, "P 3"],
        turns: Float[np.ndarray, "R 3 3"],
        shifts: Float[np.ndarray, "R 3"],
    ) -> Float[np.ndarray, "V 3"]:
        """Where vertices are [m]; rigid parts moved from x to ``turns`` x + ``shifts``."""
        out = np.asarray(self.weights @ particles)
        if len(self.sheet):
            out[self.sheet] += np.einsum("nk,nkd->nd", self.offset, _frames(particles, self.triangle))
        stiff = self.rigid >= 0
        if stiff.any():
            turn, shift = turns[self.rigid[stiff]], shifts[self.rigid[stiff]]
            out[stiff] = np.einsum("nij,nj->ni", turn, self.start[stiff]) + shift
        return out

    def velocities(self, rates: Float[np.ndarray, "P 3"]) -> Float[np.ndarray, "V 3"]:
        """Of vertices, from those of particles."""
        return np.asarray(self.weights @ rates)

    def corners(self, faces: Int[np.ndarray, "F 3"], part: int) -> Float[np.ndarray, "n 3"]:
        """Vertices of a rigid part at the start [m], but for those between others, which no plane can meet."""
        from scipy.spatial import ConvexHull, QhullError

        used = np.unique(faces)
        points = np.unique(self.start[used[self.rigid[used] == part]], axis=0)
        if len(points) <= 4:
            return points
        try:
            return points[ConvexHull(points).vertices]
        except QhullError:  # all in a plane or on a line
            return points

    def spread(self, forces: Float[np.ndarray, "V 3"]) -> Float[np.ndarray, "P 3"]:
        """Forces on vertices as forces on particles."""
        return np.asarray(self.weights.T @ forces)


def carry(
    filling: Filling,
    vertices: Float[np.ndarray, "V 3"],
    rigid: Int[np.ndarray, " P"],
    config: CarryConfig = CARRY,
) -> Carrier:
    """The carrier of vertices [m] on the particles that fill their mesh; ``rigid`` is the part of each particle."""
    from scipy.sparse import csr_matrix

    pieces = filling.pieces
    piece = vertex_labels(pieces.faces, pieces.piece, len(vertices), unused=-1)
    on_sheet = np.zeros(pieces.count, dtype=bool)
    on_sheet[np.unique(filling.piece[filling.fill == SHEET])] = True
    sheet = np.flatnonzero((piece >= 0) & on_sheet[piece])
    others = np.setdiff1d(np.arange(len(vertices)), sheet)
    near, local = _followed(filling, vertices[others], piece[others], config)
    rows, columns, values = [np.repeat(others, near.shape[1])], [near.reshape(-1)], [local.reshape(-1)]
    triangle, offset = np.zeros((0, 3), dtype=np.int64), np.zeros((0, 3))
    if len(sheet):
        found = closest_point(vertices[sheet], filling.points, filling.triangles)
        triangle = filling.triangles[found.face_ids]
        offset = np.einsum("nd,nkd->nk", vertices[sheet] - found.points, _frames(filling.points, triangle))
        rows.append(np.repeat(sheet, 3))
        columns.append(triangle.reshape(-1))
        values.append(found.barycentric.reshape(-1))
    shape = len(vertices), filling.count
    index = np.concatenate(rows), np.concatenate(columns)
    weights = csr_matrix((np.concatenate(values), index), shape)
    part = np.full(len(vertices), -1, dtype=np.int64)
    nearest = near[:, 0]
    part[others] = np.where((piece[others] < 0) | (filling.piece[nearest] == piece[others]), rigid[nearest], -1)
    return Carrier(weights, sheet, triangle, offset, part, vertices)


def _frames(points: Float[np.ndarray, "P 3"], triangles: Int[np.ndarray, "n 3"]) -> Float[np.ndarray, "n 3 3"]:
    """Along the first edge of each triangle, across it, and along its normal."""
    along = points[triangles[:, 1]] - points[triangles[:, 0]]
    along = along / np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-300)
    normals = face_normals(points, triangles)
    return np.stack([along, np.cross(normals, along), normals], axis=1)


def _followed(
    filling: Filling, points: Float[np.ndarray, "n 3"], piece: Int[np.ndarray, " n"], config: CarryConfig
) -> tuple[Int[np.ndarray, "n k"], Float[np.ndarray, "n k"]]:
    """Particles around each point, its own piece's first, and their weights."""
    from scipy.spatial import cKDTree

    count = min(config.neighbours, filling.count)
    if not len(points):
        return np.zeros((0, count), dtype=np.int64), np.zeros((0, count))
    away, near = cKDTree(filling.points).query(points, k=count)
    away, near = away.reshape(len(points), -1), near.reshape(len(points), -1)
    spacing = float(np.median(filling.volumes)) ** (1.0 / 3.0)
    far = away + config.elsewhere * spacing * (filling.piece[near] != piece[:, None])
    for index in np.unique(piece[piece >= 0]):
        own = np.flatnonzero(filling.piece == index)
        mine = np.flatnonzero((piece == index) & (filling.piece[near] != index).any(axis=1))
        if not len(own) or not len(mine):
            continue
        more, which = cKDTree(filling.points[own]).query(points[mine], k=min(count, len(own)))
        more, which = more.reshape(len(mine), -1), own[which.reshape(len(mine), -1)]
        foreign = np.where(filling.piece[near[mine]] == index, np.inf, far[mine])
        both = np.concatenate([more, foreign], axis=1)
        order = np.argsort(both, axis=1, kind="stable")[:, :count]
        far[mine] = np.take_along_axis(both, order, axis=1)
        near[mine] = np.take_along_axis(np.concatenate([which, near[mine]], axis=1), order, axis=1)
    order = np.argsort(far, axis=1, kind="stable")
    near, far = np.take_along_axis(near, order, axis=1), np.take_along_axis(far, order, axis=1)
    return near, local_weights(filling.points[near], points, far, config.ridge)
