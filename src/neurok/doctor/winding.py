"""Which faces look the wrong way."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.doctor.anatomy import HalfEdges


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
        turns = np.bincount(patch[chosen], weights=_solid_angles(point, corners[chosen])) / (4.0 * np.pi)
        out[p] = bool((np.abs(turns) > 0.5).any())
    return out


def _solid_angles(point: Float[np.ndarray, "3"], triangles: Float[np.ndarray, "F 3 3"]) -> Float[np.ndarray, " F"]:
    """Signed solid angle of each triangle seen from a point (Van Oosterom and Strackee)."""
    a, b, c = (triangles[:, i] - point for i in range(3))
    la, lb, lc = (np.linalg.norm(x, axis=1) for x in (a, b, c))
    dot = lambda x, y: np.einsum("fd,fd->f", x, y)  # noqa: E731
    above = np.einsum("fd,fd->f", a, np.cross(b, c))
    below = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb
    return 2.0 * np.arctan2(above, below)
