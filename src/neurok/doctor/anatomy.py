"""How the faces of a possibly broken mesh hang together, and which look the wrong way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.core import Mesh
from neurok.core.mesh import within_reach
from neurok.geometry.topology import HalfEdges as HalfEdges
from neurok.geometry.topology import row_ids
from neurok.geometry.voxels import solid_angles


def sound_vertices(vertices: Float[np.ndarray, "V 3"]) -> Bool[np.ndarray, " V"]:
    """Vertices that are numbers one can compute with."""
    return cast(np.ndarray, within_reach(vertices).all(axis=1))


def faces_in_range(faces: Int[np.ndarray, "F 3"], vertex_count: int) -> Bool[np.ndarray, " F"]:
    """Faces whose three corners exist."""
    return cast(np.ndarray, ((faces >= 0) & (faces < vertex_count)).all(axis=1))


def vertex_classes(mesh: Mesh) -> Int[np.ndarray, " V"]:
    """Vertices that are alike in everything: position, texture coordinate, colour, part."""
    columns = [mesh.vertices]
    columns += [array for array in (mesh.uv, mesh.vertex_colors) if array is not None]
    columns += [] if mesh.part_ids is None else [mesh.part_ids[:, None].astype(np.float64)]
    return row_ids(np.concatenate(columns, axis=1))


def face_surfaces(mesh: Mesh) -> Int[np.ndarray, " F"]:
    """The surface of each face."""
    return np.zeros(len(mesh.faces), dtype=np.int64) if mesh.face_surfaces is None else mesh.face_surfaces


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


@dataclass(frozen=True, eq=False)
class Winding:
    """How the faces of a mesh are turned against each other."""

    flip: Bool[np.ndarray, " F"]
    """Faces to turn round: the minority of each patch, and closed patches that are inside out."""

    clashes: int
    """Edges that two neighbours run along in the same direction."""

    inside_out: int
    """Closed patches whose faces agree with each other and all look inwards."""


def check_winding(vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"], half: HalfEdges) -> Winding:
    """Judge every patch of faces that are joined across edges of exactly two faces.

    A patch that cannot be oriented (a Moebius strip) is left alone, and so is a closed patch that looks inwards
    because it is the wall of a cavity in another one.
    """
    a, b = half.couples
    clash = half.start[a] == half.start[b]
    patch, side, orientable = _two_sides(len(faces), a // 3, b // 3, clash)
    count = int(patch.max(initial=-1)) + 1
    turned = np.bincount(patch, weights=side, minlength=count)
    total = np.bincount(patch, minlength=count)
    mostly_turned = turned > 0.5 * total
    flip = orientable[patch] & (side != mostly_turned[patch])
    mixed = (turned > 0) & (turned < total)

    closed = np.ones(count, dtype=bool)
    np.logical_and.at(closed, patch, (half.uses.reshape(-1, 3) == 2).all(axis=1))
    inward = _looks_inward(vertices, faces, flip, patch, count) & closed & orientable
    inward &= ~_is_cavity(vertices, faces, patch, closed, inward)
    return Winding(flip ^ inward[patch], int(clash.sum()), int((inward & ~mixed).sum()))


def _two_sides(
    count: int, left: Int[np.ndarray, " E"], right: Int[np.ndarray, " E"], clash: Bool[np.ndarray, " E"]
) -> tuple[Int[np.ndarray, " F"], Bool[np.ndarray, " F"], Bool[np.ndarray, " P"]]:
    """Patches, a side for each face so that faces of one side agree, and which patches can be oriented.

    Every face appears twice, as it is and turned round; a clash links the one with the other.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    crossed = right + np.where(clash, count, 0)
    mirrored = right + np.where(clash, 0, count)
    rows, cols = np.concatenate([left, left + count]), np.concatenate([crossed, mirrored])
    graph = coo_matrix((np.ones(len(rows), dtype=np.int8), (rows, cols)), shape=(2 * count, 2 * count))
    labels = connected_components(graph, directed=False)[1]
    here, there = labels[:count], labels[count:]
    patch = np.unique(np.minimum(here, there), return_inverse=True)[1].reshape(-1)
    orientable = np.ones(int(patch.max(initial=-1)) + 1, dtype=bool)
    orientable[patch[here == there]] = False
    return patch, here > there, orientable


def _looks_inward(
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    flip: Bool[np.ndarray, " F"],
    patch: Int[np.ndarray, " F"],
    count: int,
) -> Bool[np.ndarray, " P"]:
    """Patches with negative volume, by more than rounding."""
    corners = vertices[faces]
    # Volumes are taken about a corner of each patch, so that one far from the origin keeps its digits.
    anchor = np.zeros((count, 3))
    anchor[patch[::-1]] = corners[::-1, 0]
    corners = corners - anchor[patch][:, None]
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    volume = np.where(flip, -1.0, 1.0) * np.einsum("fd,fd->f", corners[:, 0], cross) / 6.0
    area = 0.5 * np.linalg.norm(cross, axis=1)
    sums = np.bincount(patch, weights=volume, minlength=count)
    return sums < -1e-9 * np.bincount(patch, weights=area, minlength=count) ** 1.5


def _is_cavity(
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    patch: Int[np.ndarray, " F"],
    closed: Bool[np.ndarray, " P"],
    inward: Bool[np.ndarray, " P"],
) -> Bool[np.ndarray, " P"]:
    """Inward-looking closed patches that lie inside another closed patch."""
    out = np.zeros(len(closed), dtype=bool)
    if not inward.any() or closed.sum() < 2:
        return out
    corners = vertices[faces]
    low, high = np.full((len(closed), 3), np.inf), np.full((len(closed), 3), -np.inf)
    np.minimum.at(low, patch, corners.min(axis=1))
    np.maximum.at(high, patch, corners.max(axis=1))
    for p in np.flatnonzero(inward):
        around = closed & (low < low[p]).all(axis=1) & (high > high[p]).all(axis=1)
        if not around.any():
            continue
        point = corners[np.flatnonzero(patch == p)[0]].mean(axis=0)
        chosen = np.flatnonzero(around[patch])
        turns = np.bincount(patch[chosen], weights=solid_angles(point[None], corners[chosen])[0]) / (4.0 * np.pi)
        out[p] = bool((np.abs(turns) > 0.5).any())
    return out
