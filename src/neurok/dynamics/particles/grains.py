"""Loose stuff in a mesh with faces that never change: sand and water are drawn as grains, one octahedron each."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.core.mesh import Mesh
from neurok.dynamics.particles.filling import Filling
from neurok.geometry import lie

CORNERS = np.concatenate([np.eye(3), -np.eye(3)])
SIDES = np.array([[0, 1, 2], [1, 3, 2], [3, 4, 2], [4, 0, 2], [1, 0, 5], [3, 1, 5], [4, 3, 5], [0, 4, 5]])


@dataclass(frozen=True)
class GrainConfig:
    """How loose stuff is drawn."""

    most: int = 6000
    """Grains of one object; of more particles every so-manieth is drawn, larger."""

    radius: float = 0.62
    """Of a grain, in cube roots of the volume it stands for: grains then just hide what is behind them."""


GRAINS = GrainConfig()


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
    config: GrainConfig = GRAINS,
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
    stride = -(-len(every) // config.most)
    chosen = every[::stride]
    radius = config.radius * float(np.median(filling.volumes[every]) * stride) ** (1.0 / 3.0)
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
