"""How the faces of a possibly broken mesh hang together; the diagnosis counts these things, the repair mends them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.core import Mesh
from neurok.core.arrays import within_reach


def sound_vertices(vertices: Float[np.ndarray, "V 3"]) -> Bool[np.ndarray, " V"]:
    """Vertices that are numbers one can compute with."""
    return cast(np.ndarray, within_reach(vertices).all(axis=1))


def faces_in_range(faces: Int[np.ndarray, "F 3"], vertex_count: int) -> Bool[np.ndarray, " F"]:
    """Faces whose three corners exist."""
    return cast(np.ndarray, ((faces >= 0) & (faces < vertex_count)).all(axis=1))


def row_ids(rows: np.ndarray) -> Int[np.ndarray, " N"]:
    """The same number for equal rows, numbered from 0."""
    if len(rows) == 0:
        return np.zeros(0, dtype=np.int64)
    order = np.lexsort(rows.T)
    ordered = rows[order]
    ids = np.empty(len(rows), dtype=np.int64)
    ids[order] = np.cumsum(np.append(False, (ordered[1:] != ordered[:-1]).any(axis=1)))
    return ids


def vertex_classes(mesh: Mesh) -> Int[np.ndarray, " V"]:
    """Vertices that are alike in everything: position, texture coordinate, colour, part."""
    columns = [mesh.vertices]
    columns += [array for array in (mesh.uv, mesh.vertex_colors) if array is not None]
    columns += [] if mesh.part_ids is None else [mesh.part_ids[:, None].astype(np.float64)]
    return row_ids(np.concatenate(columns, axis=1))


def face_surfaces(mesh: Mesh) -> Int[np.ndarray, " F"]:
    """The surface of each face."""
    return np.zeros(len(mesh.faces), dtype=np.int64) if mesh.face_surfaces is None else mesh.face_surfaces


@dataclass(frozen=True, eq=False)
class HalfEdges:
    """The directed edges of faces, three rows per face, with the undirected edge each belongs to."""

    start: Int[np.ndarray, " H"]
    end: Int[np.ndarray, " H"]
    edge: Int[np.ndarray, " H"]
    """Number of the undirected edge."""

    uses: Int[np.ndarray, " H"]
    """How many half-edges lie on that edge."""

    @staticmethod
    def of(
        corners: Int[np.ndarray, "F 3"],
        walls: Int[np.ndarray, " F"] | None = None,
        chosen: Bool[np.ndarray, " H"] | None = None,
    ) -> HalfEdges:
        """Edges of faces given by the numbers of their corners; faces of different walls share no edge.

        ``chosen`` leaves out half-edges.
        """
        wall = np.zeros(len(corners), dtype=np.int64) if walls is None else walls
        pairs, wall = corners[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2).astype(np.int64), np.repeat(wall, 3)
        if chosen is not None:
            pairs, wall = pairs[chosen], wall[chosen]
        low, high = pairs.min(axis=1), pairs.max(axis=1)
        key = low * (int(high.max(initial=0)) + 1) + high
        if wall.any():
            key = np.unique(key, return_inverse=True)[1].reshape(-1) * (int(wall.max()) + 1) + wall
        edge, counts = np.unique(key, return_inverse=True, return_counts=True)[1:]
        edge = edge.reshape(-1)
        return HalfEdges(pairs[:, 0], pairs[:, 1], edge, counts[edge])

    @property
    def couples(self) -> tuple[Int[np.ndarray, " E"], Int[np.ndarray, " E"]]:
        """The two half-edges of every edge that exactly two faces share."""
        two = np.flatnonzero(self.uses == 2)
        two = two[np.argsort(self.edge[two], kind="stable")]
        return two[0::2], two[1::2]


def twin_faces(corners: Int[np.ndarray, "F 3"], surfaces: Int[np.ndarray, " F"]) -> Bool[np.ndarray, " F"]:
    """Faces that repeat an earlier one: the same corners in the same turning sense, with the same surface."""
    first = corners.argmin(axis=1)
    turned = np.take_along_axis(corners, (first[:, None] + np.arange(3)) % 3, axis=1)
    ids = row_ids(np.column_stack([turned, surfaces]))
    earliest = np.full(int(ids.max(initial=-1)) + 1, len(corners))
    np.minimum.at(earliest, ids, np.arange(len(corners)))
    return earliest[ids] != np.arange(len(corners))


def weld_map(mesh: Mesh) -> Int[np.ndarray, " V"]:
    """For each vertex the one it may be merged into: alike in everything, and joined by an edge.

    Two faces are joined where an open edge of each has both ends alike and no third face has one there; a single
    touching point, or the closed edges of touching solids, join nothing, so parts that merely touch stay apart.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    count = len(mesh.vertices)
    classes = vertex_classes(mesh)
    if count and int(classes.max()) + 1 == count:
        return np.arange(count)  # no two are alike
    is_open = HalfEdges.of(mesh.faces).uses == 1
    half = HalfEdges.of(classes[mesh.faces], face_surfaces(mesh), is_open)
    corners = mesh.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)[is_open]
    a, b = half.couples
    same_way = half.start[a] == half.start[b]
    other = np.where(same_way[:, None], corners[b], corners[b][:, ::-1])
    left, right = corners[a].reshape(-1), other.reshape(-1)
    graph = coo_matrix((np.ones(len(left), dtype=np.int8), (left, right)), shape=(count, count))
    labels = connected_components(graph, directed=False)[1]
    first = np.full(int(labels.max(initial=-1)) + 1, count)
    np.minimum.at(first, labels, np.arange(count))
    return first[labels]


def boundary_loops(half: HalfEdges) -> int:
    """Number of connected rings of edges that only one face uses: the holes of the surface."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    rim = half.uses == 1
    if not rim.any():
        return 0
    ends, index = np.unique(np.stack([half.start[rim], half.end[rim]]), return_inverse=True)
    index = index.reshape(2, -1)
    graph = coo_matrix((np.ones(index.shape[1]), (index[0], index[1])), shape=(len(ends), len(ends)))
    return int(connected_components(graph, directed=False)[0])
