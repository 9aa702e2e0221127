"""Who is connected to whom: splitting, components, edges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int


def row_ids(rows: np.ndarray) -> Int[np.ndarray, " N"]:
    """The same number for equal rows, numbered from 0."""
    if len(rows) == 0:
        return np.zeros(0, dtype=np.int64)
    order = np.lexsort(rows.T)
    ordered = rows[order]
    ids = np.empty(len(rows), dtype=np.int64)
    ids[order] = np.cumsum(np.append(False, (ordered[1:] != ordered[:-1]).any(axis=1)))
    return ids


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


def split_by_face_label(
    faces: Int[np.ndarray, "F 3"], labels: Int[np.ndarray, " F"]
) -> tuple[Int[np.ndarray, " W"], Int[np.ndarray, "F 3"], Int[np.ndarray, " W"]]:
    """Give every label its own copy of the vertices it uses.

    Returns:
        The old index of each new vertex (index any per-vertex array with it), the new faces, and the label of
        each new vertex. Unreferenced vertices are dropped.
    """
    keys = faces.astype(np.int64) * (int(labels.max(initial=0)) + 1) + labels[:, None]
    unique, inverse = np.unique(keys, return_inverse=True)
    return (
        unique // (int(labels.max(initial=0)) + 1),
        inverse.reshape(faces.shape),
        unique % (int(labels.max(initial=0)) + 1),
    )


def unique_edges(faces: Int[np.ndarray, "F 3"]) -> Int[np.ndarray, "E 2"]:
    """Each undirected edge once, smaller index first, sorted."""
    edges = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    return np.unique(edges, axis=0)


def face_components(
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    walls: Int[np.ndarray, " F"] | None = None,
    weld: bool = True,
) -> Int[np.ndarray, " F"]:
    """Connected component of each face, numbered from 0 by first appearance.

    Faces are joined when they share a vertex index, or (``weld``) across a seam: an open edge of each whose ends lie
    at exactly the same places, with no third face there. Files that split vertices at creases and texture seams need
    that; closed solids that merely touch, even edge to edge, have no open edges and stay apart. Nothing is joined
    across different ``walls`` (scene nodes, groups, materials: evidence of parts).
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    count = len(faces)
    wall = np.zeros(count, dtype=np.int64) if walls is None else np.unique(walls, return_inverse=True)[1].reshape(-1)
    corners = faces.astype(np.int64) * (int(wall.max(initial=0)) + 1) + wall[:, None]
    links = [_chain(corners.reshape(-1), np.repeat(np.arange(count), 3))]
    if weld and count:
        links.append(_seams(vertices, faces, wall))
    pairs = np.concatenate(links)
    graph = coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(count, count))
    labels = connected_components(graph, directed=False)[1]
    order = np.unique(labels, return_index=True)[1]
    rank = np.empty(len(order), dtype=np.int64)
    rank[np.argsort(order)] = np.arange(len(order))
    return rank[labels]


def _seams(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"], wall: Int[np.ndarray, " F"]
) -> Int[np.ndarray, "M 2"]:
    """Pairs of faces that meet at a coincident open edge which no other face uses."""
    edges = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    _, edge, uses = np.unique(edges[:, 0] * len(vertices) + edges[:, 1], return_inverse=True, return_counts=True)
    is_open = uses[edge.reshape(-1)] == 1
    if not is_open.any():
        return np.zeros((0, 2), dtype=np.int64)
    owners = np.repeat(np.arange(len(faces)), 3)[is_open]
    ends, place = np.unique(edges[is_open], return_inverse=True)
    at = np.unique(vertices[ends], axis=0, return_inverse=True)[1].reshape(-1)
    placed = np.sort(at[place.reshape(-1, 2)], axis=1)
    solid = placed[:, 0] != placed[:, 1]
    keyed = np.column_stack([placed, wall[owners]])[solid]
    key, meeting = np.unique(keyed, axis=0, return_inverse=True, return_counts=True)[1:]
    key = key.reshape(-1)
    paired = meeting[key] == 2
    return _chain(key[paired], owners[solid][paired])


def _chain(keys: Int[np.ndarray, " N"], items: Int[np.ndarray, " N"]) -> Int[np.ndarray, "M 2"]:
    """Links between consecutive items that share a key: enough to connect them all."""
    order = np.argsort(keys, kind="stable")
    same = keys[order][1:] == keys[order][:-1]
    return np.column_stack([items[order][:-1][same], items[order][1:][same]])


def vertex_labels(
    faces: Int[np.ndarray, "F 3"], face_labels: Int[np.ndarray, " F"], vertex_count: int, unused: int = 0
) -> Int[np.ndarray, " V"]:
    """The label of a face at each vertex, the last one's; ``unused`` where there is none."""
    out = np.full(vertex_count, unused, dtype=np.int64)
    out[faces.reshape(-1)] = np.repeat(face_labels, 3)
    return out


def is_watertight(faces: Int[np.ndarray, "F 3"]) -> bool:
    """Every edge is used by exactly two faces, once in each direction."""
    half = HalfEdges.of(faces)
    first, second = half.couples
    return bool((half.uses == 2).all() and (half.start[first] == half.end[second]).all())


def degenerate_faces(vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]) -> Bool[np.ndarray, " F"]:
    """Faces without area: a repeated corner, or three corners on a line (relative to the longest edge)."""
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    twice_area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    longest = np.maximum.reduce([((b - a) ** 2).sum(1), ((c - b) ** 2).sum(1), ((a - c) ** 2).sum(1)])
    return twice_area <= 1e-12 * longest
