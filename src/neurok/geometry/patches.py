"""Patches of a surface: faces grown together where it is smooth, with borders along creases, inward ones above all."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from neurok.geometry.operators import face_areas, face_normals


@dataclass(frozen=True)
class PatchConfig:
    """Where patches end. By eye, on furniture melted into one surface and on scans."""

    flat: float = 0.14
    """Faces across an edge that bends less than this are joined at once [rad]."""

    outward: float = 0.35
    """What an outward bend counts beside an inward one: a box is one patch before it is two with what it stands on."""

    small: float = 0.25
    """Power of the smaller area in the price of joining two patches: crumbs go first."""

    most: int = 40
    """Patches at most ..."""

    price: float = 0.05
    """... and joined while that costs less than this."""


PATCHES = PatchConfig()


def cut_patches(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"], config: PatchConfig = PATCHES
) -> Int[np.ndarray, " F"]:
    """A patch for each face, numbered from 0. Faces that share no edge are never of one patch unless others join
    them; vertices at one place count as one."""
    pairs, bends, lengths = edge_bends(vertices, faces)
    labels = _joined(len(faces), pairs[np.abs(bends) < config.flat])
    count = int(labels.max(initial=0)) + 1
    areas = np.bincount(labels, face_areas(vertices, faces), count)
    prices = np.where(bends < 0, -bends, config.outward * bends)
    return _merged(labels, areas / max(float(areas.sum()), 1e-300), pairs, prices, lengths, config)


def edge_bends(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]
) -> tuple[Int[np.ndarray, "E 2"], Float[np.ndarray, " E"], Float[np.ndarray, " E"]]:
    """Pairs of faces that share an edge, by how much the surface bends there (inward is negative), and its length."""
    welded = np.unique(vertices, axis=0, return_inverse=True)[1].reshape(-1)[faces]
    edges = np.sort(welded[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    key = edges[:, 0] * (int(welded.max(initial=0)) + 1) + edges[:, 1]
    order = np.argsort(key, kind="stable")
    owners = np.repeat(np.arange(len(faces)), 3)[order]
    # Where more than two faces meet, neighbours in the order of the file are paired.
    same = np.flatnonzero(key[order][1:] == key[order][:-1])
    pairs = np.stack([owners[same], owners[same + 1]], axis=1)
    ends = vertices[faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)[order][same]]
    length = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    normals, middles = face_normals(vertices, faces), vertices[faces].mean(axis=1)
    first, second = normals[pairs[:, 0]], normals[pairs[:, 1]]
    angle = np.arccos(np.clip((first * second).sum(axis=1), -1.0, 1.0))
    away = middles[pairs[:, 1]] - middles[pairs[:, 0]]
    inward = (first * away).sum(axis=1) - (second * away).sum(axis=1) > 0
    return pairs, np.where(inward, -angle, angle), length


def _joined(count: int, pairs: Int[np.ndarray, "E 2"]) -> Int[np.ndarray, " N"]:
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    graph = coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(count, count))
    return connected_components(graph, directed=False)[1].astype(np.int64)


def _merged(
    labels: Int[np.ndarray, " F"],
    areas: Float[np.ndarray, " N"],
    pairs: Int[np.ndarray, "E 2"],
    prices: Float[np.ndarray, " E"],
    lengths: Float[np.ndarray, " E"],
    config: PatchConfig,
) -> Int[np.ndarray, " F"]:
    """Neighbours joined, the cheapest first: mean price along the common border, times a power of the smaller area."""
    around: list[dict[int, list[float]]] = [{} for _ in areas]
    for (first, second), price, length in zip(labels[pairs], prices, lengths, strict=True):
        if first != second:
            for one, other in ((first, second), (second, first)):
                sums = around[one].setdefault(int(other), [0.0, 0.0])
                sums[0] += price * length
                sums[1] += length
    size, owner, version = areas.copy(), np.arange(len(areas)), np.zeros(len(areas), dtype=np.int64)
    heap: list[tuple[float, int, int, int, int]] = []

    def offer(one: int, other: int) -> None:
        total, length = around[one][other]
        cost = total / max(length, 1e-300) * min(size[one], size[other]) ** config.small
        heapq.heappush(heap, (float(cost), one, other, int(version[one]), int(version[other])))

    for one, others in enumerate(around):
        for other in others:
            if one < other:
                offer(one, other)
    left = len(areas)
    while heap:
        cost, one, other, seen_one, seen_other = heapq.heappop(heap)
        if version[one] != seen_one or version[other] != seen_other:
            continue
        if left <= config.most and cost > config.price:
            break
        if len(around[one]) < len(around[other]):
            one, other = other, one
        owner[other], left = one, left - 1
        size[one] += size[other]
        version[one] += 1
        version[other] = -1
        for third, (total, length) in around[other].items():
            del around[third][other]
            if third != one:
                sums = around[one].setdefault(third, [0.0, 0.0])
                sums[0], sums[1] = sums[0] + total, sums[1] + length
                around[third][one] = sums
        around[other] = {}
        for third in around[one]:
            offer(one, third)
    while (owner[owner] != owner).any():
        owner = owner[owner]
    return np.unique(owner[labels], return_inverse=True)[1].reshape(-1)
