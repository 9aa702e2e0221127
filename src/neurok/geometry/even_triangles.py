"""A surface as triangles of one size: what a simulation of cloth wants, whatever the modeller drew.

The surface is cut so finely that paths along its edges are straight enough; seeds are spread over it, borders first;
each point goes to the seed that is nearest along the surface; and three cells that meet make a triangle.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from neurok.geometry.distance import closest_point
from neurok.geometry.operators import face_areas, vertex_normals

FINE = 0.4
"""Longest edge of the fine surface, as a share of the wanted edge."""

ROUNDS = 3
"""How often seeds go to the middle of their cells."""

KEPT = 0.8
"""A result with less than this share of the area is too coarse for the surface: it is tried with half the edge."""

TRIES = 4

SIDES = 0.6
"""How far apart two points seem for the angle between their normals, in wanted edges: the two sides of a thin slab get
seeds of their own, its rim does not."""


def even_triangles(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"], edge: float
) -> tuple[Float[np.ndarray, "W 3"], Int[np.ndarray, "G 3"]]:
    """The surface with edges of about ``edge``, shorter where it is narrow; open borders stay where they are."""
    area = _area(vertices, faces)
    for attempt in range(TRIES):
        wanted = edge / 2**attempt
        points, triangles = split_long_edges(vertices, faces, FINE * wanted)
        points, triangles = _clustered(points, triangles, wanted)
        if len(triangles) and _area(points, triangles) >= KEPT * area:
            return points, triangles
    return vertices, faces


def split_long_edges(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"], longest: float
) -> tuple[Float[np.ndarray, "W 3"], Int[np.ndarray, "G 3"]]:
    """The same surface with no edge longer than that, without gaps; the old vertices keep their numbers."""
    while True:
        keys, index, _ = _edges(faces, len(vertices))
        cut = np.linalg.norm(vertices[keys[:, 0]] - vertices[keys[:, 1]], axis=1) > longest
        if not cut.any():
            return vertices, faces
        middle = np.full(len(keys), -1)
        middle[cut] = len(vertices) + np.arange(int(cut.sum()))
        vertices = np.concatenate([vertices, vertices[keys[cut]].mean(axis=1)])
        faces = _split(faces, middle[index.reshape(-1, 3)])


def _edges(
    faces: Int[np.ndarray, "F 3"], count: int
) -> tuple[Int[np.ndarray, "E 2"], Int[np.ndarray, " n"], Int[np.ndarray, " E"]]:
    """Edges, the edge of each side of each face, and how many sides each has."""
    pairs = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    keys, index, uses = np.unique(pairs[:, 0] * count + pairs[:, 1], return_inverse=True, return_counts=True)
    return np.column_stack([keys // count, keys % count]), index.reshape(-1), uses


def _split(faces: Int[np.ndarray, "F 3"], middles: Int[np.ndarray, "F 3"]) -> Int[np.ndarray, "G 3"]:
    """Faces cut at the middles of their edges (-1 where an edge stays whole) into two, three or four."""
    count = (middles >= 0).sum(axis=1)
    # Turn each face so that its lone whole or lone cut edge comes first.
    lone = np.where(count == 1, (middles >= 0).argmax(axis=1), (middles < 0).argmax(axis=1))
    turn = (np.where(np.isin(count, (1, 2)), lone, 0)[:, None] + np.arange(3)) % 3
    (a, b, c), (ab, bc, ca) = (np.take_along_axis(rows, turn, axis=1).T for rows in (faces, middles))
    one, two, three = count == 1, count == 2, count == 3
    pick = lambda mask, *corners: np.column_stack([corner[mask] for corner in corners])  # noqa: E731
    return np.concatenate(
        [
            faces[count == 0],
            pick(one, a, ab, c),
            pick(one, ab, b, c),
            pick(two, bc, c, ca),
            pick(two, a, b, bc),
            pick(two, a, bc, ca),
            pick(three, a, ab, ca),
            pick(three, ab, b, bc),
            pick(three, bc, c, ca),
            pick(three, ab, bc, ca),
        ]
    )


def _clustered(
    points: Float[np.ndarray, "W 3"], faces: Int[np.ndarray, "G 3"], spacing: float
) -> tuple[Float[np.ndarray, "S 3"], Int[np.ndarray, "T 3"]]:
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import dijkstra

    edges, _, uses = _edges(faces, len(points))
    lengths = np.maximum(np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1), 1e-12 * spacing)
    graph = coo_matrix((lengths, (edges[:, 0], edges[:, 1])), shape=(len(points),) * 2).tocsr()
    border = np.unique(edges[uses == 1])
    used = np.unique(faces)
    sides = np.concatenate([points, SIDES * spacing * vertex_normals(points, faces)], axis=1)
    seeds = _spread(sides, np.concatenate([border, np.setdiff1d(used, border)]), 0.9 * spacing)
    fixed = np.isin(seeds, border)
    for k in range(ROUNDS + 1):
        nearest = dijkstra(graph, directed=False, indices=seeds, return_predecessors=True, min_only=True)[2]
        cell = np.full(len(points), -1)
        cell[seeds] = np.arange(len(seeds))
        label = cell[np.where(nearest >= 0, nearest, seeds[0])]
        if k < ROUNDS:
            seeds = _centred(points, used, label, seeds, fixed)
    triangles = label[faces]
    triangles = triangles[(np.diff(np.sort(triangles, axis=1), axis=1) > 0).all(axis=1)]
    first = np.unique(np.sort(triangles, axis=1), axis=0, return_index=True)[1]
    met, index = np.unique(triangles[np.sort(first)], return_inverse=True)  # a cell that meets no two others is lost
    return points[seeds[met]], index.reshape(-1, 3)


def _spread(points: Float[np.ndarray, "W 6"], order: Int[np.ndarray, " n"], spacing: float) -> Int[np.ndarray, " S"]:
    """Points in that order, without those that are closer to an earlier one."""
    from scipy.spatial import cKDTree

    near = cKDTree(points[order]).query_ball_point(points[order], spacing)
    free = np.ones(len(order), dtype=bool)
    chosen = []
    for i in range(len(order)):
        if free[i]:
            chosen.append(i)
            free[near[i]] = False
    return order[chosen]


def _centred(
    points: Float[np.ndarray, "W 3"],
    used: Int[np.ndarray, " u"],
    label: Int[np.ndarray, " W"],
    seeds: Int[np.ndarray, " S"],
    fixed: np.ndarray,
) -> Int[np.ndarray, " S"]:
    """For each cell the point that is nearest to the middle of its points; seeds on borders stay."""
    mine = label[used]
    count = np.maximum(np.bincount(mine, minlength=len(seeds)), 1)
    middle = np.stack([np.bincount(mine, points[used, k], minlength=len(seeds)) for k in range(3)], axis=1)
    away = np.linalg.norm(points[used] - (middle / count[:, None])[mine], axis=1)
    order = np.lexsort((away, mine))
    best = seeds.copy()
    names, first = np.unique(mine[order], return_index=True)
    best[names] = used[order[first]]
    return np.where(fixed, seeds, best)


def _area(vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]) -> float:
    return float(face_areas(vertices, faces).sum())


def drawn_out(
    points: Float[np.ndarray, "W 3"],
    triangles: Int[np.ndarray, "G 3"],
    wanted: Float[np.ndarray, "n 3"],
    off: float,
) -> Float[np.ndarray, "W 3"]:
    """The points, some moved so that the triangles come closer to places that are farther from them than ``off``.

    Even triangles cut corners and tips: the nearest corner of the nearest triangle goes there, the farthest place
    first, unless a triangle would become lower than ``off``.
    """
    points, moved = points.copy(), np.zeros(len(points), dtype=bool)
    around: list[list[int]] = [[] for _ in points]
    for face, corners in enumerate(triangles):
        for corner in corners:
            around[corner].append(face)
    for _ in range(TRIES):
        found = closest_point(wanted, points, triangles)
        changed = False
        for index in np.argsort(-found.distances, kind="stable"):
            if found.distances[index] <= off:
                break
            corner = triangles[found.face_ids[index], found.barycentric[index].argmax()]
            if moved[corner]:
                continue
            moved[corner], mine, before = True, triangles[around[corner]], points[corner].copy()
            least = _least_height(points, mine)
            points[corner] = wanted[index]
            if _least_height(points, mine) < min(off, least):
                points[corner] = before
            else:
                changed = True
        if not changed:
            break
    return points


def _least_height(points: Float[np.ndarray, "W 3"], triangles: Int[np.ndarray, "n 3"]) -> float:
    sides = np.linalg.norm(points[triangles] - points[np.roll(triangles, 1, axis=1)], axis=2).max(axis=1)
    return float((2.0 * face_areas(points, triangles) / np.maximum(sides, 1e-300)).min())
