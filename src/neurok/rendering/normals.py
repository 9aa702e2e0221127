"""Which corners of a mesh share a normal: smooth where the surface is smooth, sharp at creases."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from neurok.geometry.operators import face_normals
from neurok.geometry.topology import HalfEdges, row_ids

if TYPE_CHECKING:
    from neurok.core import Mesh

CREASE_DEGREES = 38.0
UNTURNED = 1.0 - 1e-6
"""Cosine of the angle from which on a face counts as not turned."""

TURNED_OVER = -0.9
"""Cosine below which a face has turned so far that its old normal says nothing."""


@dataclass(frozen=True, eq=False)
class Corners:
    """The vertices to draw: one for each place and smooth patch around it. Found once at rest, used in every frame."""

    source: Int[np.ndarray, " C"]
    """The mesh vertex of each drawn vertex."""

    faces: Int[np.ndarray, "F 3"]
    """Indices of drawn vertices."""

    patch: Int[np.ndarray, " C"]
    """Drawn vertices with the same number share a normal although they may differ in texture or colour."""

    @cached_property
    def _gather(self):  # type: ignore[no-untyped-def]
        """Sparse sum of the faces around each patch."""
        from scipy.sparse import csr_matrix

        rows = self.patch[self.faces].reshape(-1)
        columns = np.repeat(np.arange(len(self.faces)), 3)
        shape = (int(self.patch.max()) + 1, len(self.faces))
        return csr_matrix((np.ones(len(rows), dtype=np.float32), (rows, columns)), shape=shape)

    def normals(self, positions: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]) -> Float[np.ndarray, "C 3"]:
        """Area-weighted unit normals of the drawn vertices, single precision; zero where all faces are degenerate."""
        corners = positions.astype(np.float32)[faces]
        first, second = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
        cross = np.empty_like(first)
        for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            cross[:, i] = first[:, j] * second[:, k] - first[:, k] * second[:, j]
        total = self._gather @ cross
        length = np.sqrt(np.einsum("ij,ij->i", total, total))[:, None]
        return np.divide(total, length, out=np.zeros_like(total), where=length > 0)[self.patch]


@dataclass(frozen=True, eq=False)
class AuthoredNormals:
    """Normals that the file gives, carried along by those of the moving faces."""

    given: Float[np.ndarray, "C 3"]
    resting: Float[np.ndarray, "C 3"]
    """Normals of the faces at rest, in the same axes."""

    turn: Float[np.ndarray, "3 3"]
    """To the axes of the picture."""

    def follow(self, normals: Float[np.ndarray, "C 3"]) -> Float[np.ndarray, "C 3"]:
        """The given normals after the shortest turn that takes the faces from rest to ``normals``."""
        given, resting = self.given @ self.turn.T, self.resting @ self.turn.T
        cosine = np.einsum("ij,ij->i", resting, normals)[:, None]
        if cosine.min() > UNTURNED:
            return given
        axis = np.cross(resting, normals)
        turned = given * cosine + np.cross(axis, given)
        turned += axis * (np.einsum("ij,ij->i", axis, given)[:, None] / np.maximum(1.0 + cosine, 0.05))
        return np.where(cosine > TURNED_OVER, turned, normals)


def authored_turns(mesh: Mesh, corners: Corners) -> AuthoredNormals | None:
    """The file's own normals for drawing, if it gives one for every vertex.

    Two faces back to back share their vertices and with them one normal; it is turned over for the one it does not fit.
    """
    from neurok.core.mesh import frame_change

    given = mesh.normals
    if given is None or not (np.abs(given).max(axis=1) > 0)[corners.source].all():
        return None
    resting = corners.normals(mesh.vertices, mesh.faces)
    given = given[corners.source]
    against = np.einsum("ij,ij->i", given, resting)[:, None] < 0.0
    return AuthoredNormals(np.where(against, -given, given), resting, frame_change(mesh.up, "y").astype(np.float32))


def find_corners(mesh: Mesh, crease: float = CREASE_DEGREES) -> Corners:
    """Group the corners of a mesh; ``crease`` is the largest angle [degrees] between faces that shade smoothly.

    Vertices split for texture seams are welded by place (within 1e-6 of the size) as long as they belong to the
    same part; a crease of 0 gives every face its own flat normal.
    """
    faces = mesh.faces
    if crease <= 0.0:
        corner = np.arange(3 * len(faces))
        return Corners(faces.reshape(-1), corner.reshape(-1, 3), corner)
    patch = _patches(mesh, crease)
    keys = faces.reshape(-1) * (int(patch.max()) + 1) + patch
    unique, inverse = np.unique(keys, return_inverse=True)
    return Corners(unique // (int(patch.max()) + 1), inverse.reshape(-1, 3), unique % (int(patch.max()) + 1))


def _patches(mesh: Mesh, crease: float) -> Int[np.ndarray, " K"]:
    """Smooth patch of each corner (three per face in order)."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    place = _places(mesh)[mesh.faces]
    normals = face_normals(mesh.vertices, mesh.faces)
    half = HalfEdges.of(place)
    edge, mate = half.couples
    opposite = half.start[edge] == half.end[mate]  # neighbours are wound the same way
    edge, mate = edge[opposite], mate[opposite]
    face, other = edge // 3, mate // 3
    smooth = np.einsum("ij,ij->i", normals[face], normals[other]) > np.cos(np.radians(crease))
    edge, mate = edge[smooth], mate[smooth]
    # The half-edge of the neighbour runs the other way: its end lies where ours starts.
    links_a = np.concatenate([edge, _next(edge)])
    links_b = np.concatenate([_next(mate), mate])
    size = 3 * len(mesh.faces)
    graph = coo_matrix((np.ones(len(links_a), dtype=np.int8), (links_a, links_b)), shape=(size, size))
    return connected_components(graph, directed=False)[1].astype(np.int64)


def _places(mesh: Mesh) -> Int[np.ndarray, " V"]:
    """A number per vertex, equal for vertices of one part that lie at the same place."""
    step = max(mesh.size, 1e-300) * 1e-6
    columns = np.round((mesh.vertices - mesh.vertices.min(axis=0)) / step).astype(np.int64)
    if mesh.part_ids is not None:
        columns = np.column_stack([columns, mesh.part_ids])
    return row_ids(columns)


def _next(corner: Int[np.ndarray, " M"]) -> Int[np.ndarray, " M"]:
    """The corner that follows in the same face."""
    return corner - corner % 3 + (corner + 1) % 3
