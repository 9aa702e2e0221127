"""The pieces that the grouping network sees of a mesh: connected components, few enough and none too tiny.

A mesh that is one surface, or nearly so (scans, sculpts, shapes made by generators), is cut into patches along its
creases.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.spatial import cKDTree

from neurok.articulation.config import CloudConfig
from neurok.bodyplan.plan import connected_pieces
from neurok.core import Mesh
from neurok.geometry.decimate import decimate
from neurok.geometry.operators import face_areas
from neurok.geometry.patches import cut_patches


@dataclass(frozen=True)
class PieceCutConfig:
    """Which components count. Trained with; buttons are lost if more is joined."""

    most: int = 64
    """Pieces at most: attention grows with their square."""

    least_area: float = 2e-4
    """A component is tiny if it has less of the surface than this ..."""

    least_size: float = 0.012
    """... and its box is smaller than this [diagonals of the object]."""

    size_weight: float = 0.2
    """Where there are too many, those are kept that have most area, plus this times their squared size."""

    whole: float = 0.995
    """A component with more of the surface than this is a single surface, and cut into patches ..."""

    finest: int = 8_000
    """... after it was reduced to so many faces, if it has more: noise has creases, too."""


PIECE_CUT = PieceCutConfig()
PIECE_CLOUDS = CloudConfig(points=96, view_points=96, dense_points=12_000, frame_only=True)
"""What the grouping network sees of each piece; many pieces need fewer points than few parts. Trained with."""


def cut_pieces(mesh: Mesh, config: PieceCutConfig = PIECE_CUT) -> Int[np.ndarray, " F"]:
    """A piece for each face, numbered from 0: components of the plan, tiny ones and too many joined to the nearest, or
    patches where nearly all of the mesh is one component."""
    return join_tiny(mesh, cut_single(mesh, connected_pieces(mesh), config), config)


def cut_single(mesh: Mesh, labels: Int[np.ndarray, " F"], config: PieceCutConfig = PIECE_CUT) -> Int[np.ndarray, " F"]:
    """The same pieces, but a single surface in patches; numbered by first appearance."""
    areas = face_areas(mesh.vertices, mesh.faces)
    share = np.bincount(labels, areas) / max(float(areas.sum()), 1e-300)
    largest = int(share.argmax()) if len(share) else 0
    if not len(share) or share[largest] <= config.whole:
        return labels
    mine = np.flatnonzero(labels == largest)
    faces = mesh.faces[mine]
    if len(faces) <= config.finest:
        patches = cut_patches(mesh.vertices, faces)
    else:
        coarse, triangles, _ = decimate(mesh.vertices, faces, config.finest)
        near = cKDTree(coarse[triangles].mean(axis=1)).query(mesh.vertices[faces].mean(axis=1))[1]
        patches = cut_patches(coarse, triangles)[near]
    out = labels.copy()
    out[mine] = len(share) + patches
    first = np.unique(out, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first[1]))
    return np.asarray(rank[first[2].reshape(-1)])


def join_tiny(mesh: Mesh, labels: Int[np.ndarray, " F"], config: PieceCutConfig = PIECE_CUT) -> Int[np.ndarray, " F"]:
    """The same pieces without the tiny ones, and at most so many."""
    count = int(labels.max(initial=0)) + 1
    if count == 1:
        return labels
    corners, areas = mesh.vertices[mesh.faces], face_areas(mesh.vertices, mesh.faces)
    low, high = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
    np.minimum.at(low, labels, corners.min(axis=1))
    np.maximum.at(high, labels, corners.max(axis=1))
    diagonal = max(float(np.linalg.norm(high.max(axis=0) - low.min(axis=0))), 1e-300)
    size = np.linalg.norm(high - low, axis=1) / diagonal
    share = np.bincount(labels, areas, count) / max(float(areas.sum()), 1e-300)
    score = share + config.size_weight * size**2
    kept = np.flatnonzero((share >= config.least_area) | (size >= config.least_size))
    if len(kept) == 0:
        kept = np.array([int(score.argmax())])
    kept = kept[np.argsort(-score[kept], kind="stable")][: config.most]
    target = _nearest_kept(corners, labels, np.isin(np.arange(count), kept), diagonal)
    return np.unique(target[labels], return_inverse=True)[1].reshape(-1)


def _nearest_kept(
    corners: Float[np.ndarray, "F 3 3"], labels: Int[np.ndarray, " F"], is_kept: np.ndarray, diagonal: float
) -> Int[np.ndarray, " P"]:
    """For each piece itself if it is kept, or the kept piece that most of its faces are nearest to."""
    target = np.arange(len(is_kept))
    if is_kept.all():
        return target
    mine = np.flatnonzero(is_kept[labels])
    # Corners and middles: large faces have few of either, but what is tiny sits near some of them.
    places = np.concatenate([corners[mine].reshape(-1, 3), corners[mine].mean(axis=1)])
    owners = np.concatenate([np.repeat(labels[mine], 3), labels[mine]])
    others = np.flatnonzero(~is_kept[labels])
    gaps, near = cKDTree(places).query(corners[others].mean(axis=1))
    votes = np.zeros((len(is_kept), len(is_kept)))
    np.add.at(votes, (labels[others], owners[near]), np.exp(-gaps / (0.01 * diagonal)) + 1e-12)
    return np.where(is_kept, target, votes.argmax(axis=1))
