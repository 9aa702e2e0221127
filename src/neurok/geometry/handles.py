"""Handles: an over-segmentation of a surface that respects its connected components.

Each handle is a small patch that is taken to move rigidly. Patches never reach across components, so a drawer front
cannot drag its frame along; inside one component neighbouring patches blend smoothly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.spatial import cKDTree

from neurok.geometry.operators import face_areas
from neurok.geometry.topology import face_components

BLEND = 4
"""How many handles of its own component a point follows at most."""


@dataclass(frozen=True, eq=False)
class Handles:
    """Centres of the patches, the group of components each belongs to, and where every face stands."""

    centers: Float[np.ndarray, "H 3"]
    groups: Int[np.ndarray, " H"]
    """Handles of one group may blend into each other; a group is a component with the crumbs that joined it."""

    face_groups: Int[np.ndarray, " F"]
    widths: Float[np.ndarray, " G"]
    """Typical distance between neighbouring handles of each group."""

    @property
    def count(self) -> int:
        return len(self.centers)

    def weights(
        self, points: Float[np.ndarray, "N 3"], groups: Int[np.ndarray, " N"]
    ) -> tuple[Int[np.ndarray, "N K"], Float[np.ndarray, "N K"]]:
        """The handles each point follows and how much; rows sum to one."""
        index = np.zeros((len(points), BLEND), dtype=np.int64)
        weight = np.zeros((len(points), BLEND))
        for group in np.unique(groups):
            rows = np.flatnonzero(groups == group)
            members = np.flatnonzero(self.groups == group)
            near = min(BLEND, len(members))
            distance, order = cKDTree(self.centers[members]).query(points[rows], k=range(1, near + 1))
            # Squares relative to the nearest keep the exponent small and the nearest weight largest.
            fall = np.exp(-(distance**2 - distance[:, :1] ** 2) / (0.5 * self.widths[group] ** 2 + 1e-12))
            index[rows[:, None], np.arange(near)] = members[order]
            weight[rows[:, None], np.arange(near)] = fall / fall.sum(axis=1, keepdims=True)
            index[rows[:, None], np.arange(near, BLEND)] = members[order[:, :1]]
        return index, weight


def find_handles(
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    count: int = 32,
    walls: Int[np.ndarray, " F"] | None = None,
    samples_per_handle: int = 48,
) -> Handles:
    """Place at most ``count`` handles: one per component at least (crumbs join what they touch), more on large ones.

    Deterministic; the samples behind it come from a fixed low-discrepancy pattern.
    """
    groups = _gather_crumbs(vertices, faces, face_components(vertices, faces, walls), max(1, (3 * count) // 4))
    points, owner = _even_points(vertices, faces, count * samples_per_handle)
    point_groups = groups[owner]
    group_count = int(groups.max()) + 1
    spans = np.array([_span(vertices[faces[groups == g]].reshape(-1, 3)) for g in range(group_count)])
    shares = np.ones(group_count, dtype=np.int64)
    available = np.bincount(point_groups, minlength=group_count)
    for _ in range(count - group_count):
        appetite = np.where(shares < np.maximum(1, available // 4), spans / shares**0.6, 0.0)
        if appetite.max() <= 0.12 * spans.max():
            break  # patches are fine enough everywhere: a small object needs no more handles
        shares[np.argmax(appetite)] += 1
    centers, owners, widths = [], [], np.zeros(group_count)
    for g in range(group_count):
        own = points[point_groups == g]
        if len(own) == 0:
            own = vertices[faces[groups == g]].reshape(-1, 3).mean(axis=0, keepdims=True)
        found = _clusters(own, int(shares[g]))
        centers.append(found)
        owners += [g] * len(found)
        widths[g] = _spacing(found, spans[g])
    return Handles(np.concatenate(centers), np.array(owners, dtype=np.int64), groups, widths)


def _gather_crumbs(
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    components: Int[np.ndarray, " F"],
    limit: int,
) -> Int[np.ndarray, " F"]:
    """Join the smallest components to the nearest larger one until at most ``limit`` groups are left."""
    count = int(components.max()) + 1
    if count <= limit:
        return components
    corners = vertices[faces]
    spans = np.array([_span(corners[components == c].reshape(-1, 3)) for c in range(count)])
    order = np.argsort(spans, kind="stable")
    crumbs, kept = order[: count - limit], order[count - limit :]
    clouds = np.concatenate([corners, corners.mean(axis=1, keepdims=True)], axis=1)
    solid = np.isin(components, kept)
    tree = cKDTree(clouds[solid].reshape(-1, 3))
    owner = np.repeat(components[solid], 4)
    target = np.arange(count)
    for crumb in crumbs:
        cloud = clouds[components == crumb].reshape(-1, 3)
        distance, nearest = tree.query(cloud[:: max(1, len(cloud) // 64)])
        # The neighbour that most of the closest points agree on, not one stray touching corner.
        close = nearest[distance <= np.quantile(distance, 0.25) + 1e-12]
        target[crumb] = np.bincount(owner[close]).argmax()
    return np.unique(target[components], return_inverse=True)[1].reshape(-1)


def _even_points(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"], count: int
) -> tuple[Float[np.ndarray, "N 3"], Int[np.ndarray, " N"]]:
    """Points spread by area with a golden-ratio pattern, plus the centre of every face: no part goes unseen."""
    areas = face_areas(vertices, faces)
    ends = np.cumsum(areas)
    if ends[-1] <= 0:
        return vertices[faces].mean(axis=1), np.arange(len(faces))
    at = (np.arange(count) + 0.5) / count * ends[-1]
    owner = np.minimum(np.searchsorted(ends, at), len(faces) - 1)
    u = (np.arange(count) * 0.7548776662466927) % 1.0
    v = (np.arange(count) * 0.5698402909980532) % 1.0
    fold = u + v > 1
    u, v = np.where(fold, 1 - u, u), np.where(fold, 1 - v, v)
    a, b, c = (vertices[faces[owner, i]] for i in range(3))
    spread = a + u[:, None] * (b - a) + v[:, None] * (c - a)
    stride = max(1, len(faces) // count)
    extra = np.arange(0, len(faces), stride)
    return np.concatenate([spread, vertices[faces[extra]].mean(axis=1)]), np.concatenate([owner, extra])


def _clusters(points: Float[np.ndarray, "N 3"], count: int, rounds: int = 8) -> Float[np.ndarray, "K 3"]:
    """Deterministic k-means: farthest-point start, then Lloyd."""
    if count <= 1 or len(points) <= 1:
        return points.mean(axis=0, keepdims=True)
    centers = [points[np.argmax(((points - points.mean(axis=0)) ** 2).sum(axis=1))]]
    distance = ((points - centers[0]) ** 2).sum(axis=1)
    while len(centers) < count and distance.max() > 1e-18:
        centers.append(points[np.argmax(distance)])
        distance = np.minimum(distance, ((points - centers[-1]) ** 2).sum(axis=1))
    found = np.array(centers)
    for _ in range(rounds):
        nearest = cKDTree(found).query(points)[1]
        size = np.bincount(nearest, minlength=len(found))
        sums = np.stack([np.bincount(nearest, weights=points[:, i], minlength=len(found)) for i in range(3)], axis=1)
        found = np.where(size[:, None] > 0, sums / np.maximum(size, 1)[:, None], found)
    return found


def _span(points: Float[np.ndarray, "N 3"]) -> float:
    return float(np.linalg.norm(points.max(axis=0) - points.min(axis=0)))


def _spacing(centers: Float[np.ndarray, "K 3"], span: float) -> float:
    if len(centers) < 2:
        return max(span, 1e-9)
    return float(np.median(cKDTree(centers).query(centers, k=2)[0][:, 1]))
