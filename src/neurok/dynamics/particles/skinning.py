"""How the vertices of a mesh follow particles, so that a written mesh keeps its faces and its texture.

Vertices of solids follow the particles around them by moving least squares: exact for every affine motion, and the same
for vertices in one place, so no seam opens. Vertices of sheets keep their offset from the nearest triangle of the
simulation; vertices of rigid parts move with these. Forces on vertices go to particles by the same weights: neither
force nor torque is lost.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.core.mesh import Mesh
from neurok.dynamics.particles.constitution import SHEET, SOLID
from neurok.dynamics.particles.filling import Filling
from neurok.dynamics.particles.state import SoftSkin
from neurok.geometry import lie
from neurok.geometry.distance import closest_point
from neurok.geometry.operators import face_normals
from neurok.geometry.topology import vertex_labels
from neurok.geometry.transfer import local_weights

MOST_GRAINS = 6000
"""Grains of one object; of more particles every so-manieth is drawn, larger."""

GRAIN_RADIUS = 0.62
"""Of a grain, in cube roots of the volume it stands for: grains then just hide what is behind them."""

OUTER_REACH = 1.2
"""The outermost particles lie at most so far behind the surface [spacings]. A lattice leaves at most one on a side that
lies along it, and a little more below a round one."""

VERTEX_PLACE = 0.25
"""Vertices in one place of this width are one [spacings]."""

SHEET_REACH = 0.5
"""Triangles of sheets reach this share of the way to vertices that lie off them: what is drawn neither sinks in nor
hovers by more than the other half."""

LATTICE_REACH = 1.8
"""Particles with places free within this distance may be outermost [spacings]: 26 places of a lattice are nearer."""

ELSEWHERE = 1.0
"""How much farther particles of other pieces seem [spacings of particles]: a vertex follows its own."""

RIDGE = 1e-8
"""Of the fit, where particles lie in a plane."""

NEIGHBOURS = 14
"""Particles that count for one vertex; an affine fit needs four, and twice the layers keep it smooth."""


@dataclass(frozen=True, eq=False)
class EmbeddedSurface:
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
        self, particles: Float[np.ndarray, "P 3"], turns: Float[np.ndarray, "R 3 3"], shifts: Float[np.ndarray, "R 3"]
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


def embed(filling: Filling, vertices: Float[np.ndarray, "V 3"], rigid: Int[np.ndarray, " P"]) -> EmbeddedSurface:
    """The surface of vertices [m] on the particles that fill their mesh; ``rigid`` is the part of each particle."""
    from scipy.sparse import csr_matrix

    pieces = filling.pieces
    piece = vertex_labels(pieces.faces, pieces.piece, len(vertices), unused=-1)
    on_sheet = np.zeros(pieces.count, dtype=bool)
    on_sheet[np.unique(filling.piece[filling.fill == SHEET])] = True
    sheet = np.flatnonzero((piece >= 0) & on_sheet[piece])
    others = np.setdiff1d(np.arange(len(vertices)), sheet)
    near, local = _followed(filling, vertices[others], piece[others])
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
    return EmbeddedSurface(weights, sheet, triangle, offset, part, vertices)


def _frames(points: Float[np.ndarray, "P 3"], triangles: Int[np.ndarray, "n 3"]) -> Float[np.ndarray, "n 3 3"]:
    """Along the first edge of each triangle, across it, and along its normal."""
    along = points[triangles[:, 1]] - points[triangles[:, 0]]
    along = along / np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-300)
    normals = face_normals(points, triangles)
    return np.stack([along, np.cross(normals, along), normals], axis=1)


def _followed(
    filling: Filling, points: Float[np.ndarray, "n 3"], piece: Int[np.ndarray, " n"]
) -> tuple[Int[np.ndarray, "n k"], Float[np.ndarray, "n k"]]:
    """Particles around each point, its own piece's first, and their weights."""
    from scipy.spatial import cKDTree

    count = min(NEIGHBOURS, filling.count)
    if not len(points):
        return np.zeros((0, count), dtype=np.int64), np.zeros((0, count))
    away, near = cKDTree(filling.points).query(points, k=count)
    away, near = away.reshape(len(points), -1), near.reshape(len(points), -1)
    spacing = float(np.median(filling.volumes)) ** (1.0 / 3.0)
    far = away + ELSEWHERE * spacing * (filling.piece[near] != piece[:, None])
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
    return near, local_weights(filling.points[near], points, far, RIDGE)


def soft_skin(
    filling: Filling, surface: EmbeddedSurface, soft: Bool[np.ndarray, " P"], faces: Int[np.ndarray, "F 3"]
) -> SoftSkin:
    """Vertices of solids that bend, at most one in each small place."""
    from scipy.sparse import csr_matrix

    used = np.setdiff1d(np.unique(faces), surface.sheet)
    rows = csr_matrix(surface.weights)[used]
    leader = np.asarray(rows.argmax(axis=1)).reshape(-1)
    mine = (surface.rigid[used] < 0) & soft[leader]
    place = np.floor(surface.start[used[mine]] / (VERTEX_PLACE * filling.spacing)).astype(np.int64)
    chosen = np.flatnonzero(mine)[np.sort(np.unique(place, axis=0, return_index=True)[1])]
    return SoftSkin(rows[chosen], leader[chosen])


def radii(filling: Filling, surface: EmbeddedSurface, loose: Bool[np.ndarray, " P"]) -> Float[np.ndarray, " P"]:
    """How far each particle reaches [m].

    Sheets and shells lie on the surface. Loose materials has none that lasts, and fills its own place.
    """
    out = np.zeros(filling.count)
    solid = filling.fill == SOLID
    out[solid] = 0.5 * np.cbrt(filling.volumes[solid])
    outer, away = _behind(filling, surface, np.flatnonzero(solid & ~loose))
    out[outer] = away
    far = SHEET_REACH * np.linalg.norm(surface.offset, axis=1)
    np.maximum.at(out, surface.triangle.reshape(-1), np.repeat(far, 3))
    return out


def _behind(
    filling: Filling, surface: EmbeddedSurface, solid: Int[np.ndarray, " n"]
) -> tuple[Int[np.ndarray, " m"], Float[np.ndarray, " m"]]:
    """The outermost particles of solids, and how far their surface is: the lattice meets it anyhow."""
    from scipy.spatial import cKDTree

    if not len(solid):
        return solid, np.zeros(0)
    points, pieces = filling.points[solid], filling.pieces
    around = cKDTree(points).query_ball_point(points, LATTICE_REACH * filling.spacing, return_length=True)
    outer = solid[np.asarray(around) < 27]
    if not len(outer):
        return outer, np.zeros(0)
    found = closest_point(
        filling.points[outer], surface.start, pieces.faces, filling.piece[outer], pieces.piece
    ).distances
    near = found <= OUTER_REACH * filling.spacing
    return outer[near], found[near]


CORNERS = np.concatenate([np.eye(3), -np.eye(3)])
SIDES = np.array([[0, 1, 2], [1, 3, 2], [3, 4, 2], [4, 0, 2], [1, 0, 5], [3, 1, 5], [4, 3, 5], [0, 4, 5]])


@dataclass(frozen=True, eq=False)
class Grains:
    """The loose particles of one object as they are drawn."""

    mesh: Mesh
    """All vertices of the object, then six for each grain; faces of what is not loose, then those of the grains."""

    chosen: Int[np.ndarray, " G"]
    """Particles that are drawn."""

    radius: float
    """[m]."""

    follow: Int[np.ndarray, " n"]
    """Vertices of loose pieces: no face uses them any more ..."""

    leader: Int[np.ndarray, " n"]
    """... and each goes where this particle goes."""

    def positions(
        self, vertices: Float[np.ndarray, "V 3"], particles: Float[np.ndarray, "P 3"]
    ) -> Float[np.ndarray, "W 3"]:
        """Vertices of the mesh with grains [m]."""
        if not len(self.chosen):
            return vertices
        out = vertices.copy()
        out[self.follow] = particles[self.leader]
        corners = particles[self.chosen][:, None] + self.radius * CORNERS
        return np.concatenate([out, corners.reshape(-1, 3)])


def grains_of(
    mesh: Mesh,
    vertices: Float[np.ndarray, "V 3"],
    filling: Filling,
    loose: Bool[np.ndarray, " P"],
    pose: Float[np.ndarray, "4 4"],
) -> Grains:
    """The mesh of an object whose ``loose`` particles are drawn as grains; the mesh itself if there are none.

    ``vertices`` and particles are where they start [m]; ``pose`` took the object there [mesh units].
    """
    from scipy.spatial import cKDTree

    nothing = np.zeros(0, dtype=np.int64)
    every = np.flatnonzero(loose)
    if not len(every):
        return Grains(mesh, nothing, 0.0, nothing, nothing)
    pieces = filling.pieces
    is_loose = np.zeros(pieces.count, dtype=bool)
    is_loose[np.unique(filling.piece[every])] = True
    stride = -(-len(every) // MOST_GRAINS)
    chosen = every[::stride]
    radius = GRAIN_RADIUS * float(np.median(filling.volumes[every]) * stride) ** (1.0 / 3.0)
    gone = pieces.source[is_loose[pieces.piece]]
    kept = np.setdiff1d(np.arange(mesh.face_count), gone)
    follow = np.setdiff1d(mesh.faces[gone], mesh.faces[kept])
    leader = every[cKDTree(filling.points[every]).query(vertices[follow])[1]]
    like = filling.vertex[chosen]
    home = lie.apply(lie.inverse(pose), filling.points[chosen] / mesh.unit)
    return Grains(_with_grains(mesh, home, like, kept, gone, radius / mesh.unit), chosen, radius, follow, leader)


def _with_grains(
    mesh: Mesh,
    centres: Float[np.ndarray, "G 3"],
    like: Int[np.ndarray, " G"],
    kept: Int[np.ndarray, " n"],
    gone: Int[np.ndarray, " m"],
    radius: float,
) -> Mesh:
    count, each = len(centres), np.repeat(like, 6)
    faces = mesh.vertex_count + 6 * np.arange(count)[:, None, None] + SIDES
    more = lambda rows: None if rows is None else np.concatenate([rows, rows[each]])  # noqa: E731
    looks = mesh.face_surfaces
    if looks is not None:
        of_vertex = np.zeros(mesh.vertex_count, dtype=np.int64)
        of_vertex[mesh.faces[gone].reshape(-1)] = np.repeat(looks[gone], 3)
        looks = np.concatenate([looks[kept], np.repeat(of_vertex[like], 8)])
    corners = (centres[:, None] + radius * CORNERS).reshape(-1, 3)
    return replace(
        mesh,
        vertices=np.concatenate([mesh.vertices, corners]),
        faces=np.concatenate([mesh.faces[kept], faces.reshape(-1, 3)]),
        uv=more(mesh.uv),
        vertex_colors=more(mesh.vertex_colors),
        part_ids=more(mesh.part_ids),
        face_surfaces=looks,
    )
