"""How far apart two shapes are: closest points, Chamfer distances, overlap of volumes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.errors import NeurokError

_SIZE_CLASSES = 8
_PAIRS_AT_ONCE = 1 << 19


@dataclass(frozen=True, eq=False)
class ClosestPoints:
    """The nearest place on a surface for each query point."""

    points: Float[np.ndarray, "N 3"]
    distances: Float[np.ndarray, " N"]
    face_ids: Int[np.ndarray, " N"]
    barycentric: Float[np.ndarray, "N 3"]


def closest_point(
    points: Float[np.ndarray, "N 3"],
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    point_groups: Int[np.ndarray, " N"] | None = None,
    face_groups: Int[np.ndarray, " F"] | None = None,
    candidates: int | None = None,
) -> ClosestPoints:
    """The exact closest point on a triangle mesh.

    With groups, a point sees only the faces of its own group (if that group has any). Triangles are searched by
    size class: a triangle can be nearer than its centre by at most its radius, so few candidates need testing.
    ``candidates`` caps their number per class, which is several times faster and no longer exact.
    """
    from scipy.spatial import cKDTree

    if len(faces) == 0:
        raise NeurokError("Closest points need a mesh with faces.")
    corners = vertices[faces]
    centers = corners.mean(axis=1)
    radii = np.linalg.norm(corners - centers[:, None], axis=2).max(axis=1)
    # Groups are kept apart by a fourth coordinate, farther away than anything in space can be.
    lift = _group_coordinate(points, vertices, len(faces), point_groups, face_groups)
    queries, sites = np.column_stack([points, lift[0]]), np.column_stack([centers, lift[1]])

    best = np.full(len(points), np.inf)
    found = np.zeros(len(points), dtype=np.int64)
    weights = np.zeros((len(points), 3))
    sizes = np.clip(np.floor(-np.log2(np.maximum(radii / max(radii.max(), 1e-300), 1e-300))), 0, _SIZE_CLASSES - 1)
    for size in np.unique(sizes)[::-1]:
        members = np.flatnonzero(sizes == size)
        tree, reach = cKDTree(sites[members]), radii[members].max()
        pending, seen = np.arange(len(points)), 0
        while len(pending) and seen < min(len(members), candidates or len(members)):
            upto = min(max(4, 4 * seen), len(members), candidates or len(members))
            ranks = np.arange(seen + 1, upto + 1)
            farthest = np.empty(len(pending))
            step = max(1, _PAIRS_AT_ONCE // len(ranks))
            for lo in range(0, len(pending), step):
                rows = pending[lo : lo + step]
                away, near = tree.query(queries[rows], k=ranks)
                farthest[lo : lo + step] = away[:, -1]
                least = away - radii[members[near]]
                for ranked in (slice(0, 1), slice(1, None)):  # the nearest first: it rules out most others
                    row, col = np.nonzero(least[:, ranked] < best[rows, None])
                    chosen = members[near[:, ranked][row, col]]
                    _improve(points, corners, rows[row], chosen, lift, best, found, weights)
            pending, seen = pending[farthest - reach < best[pending]], upto
    landed = np.einsum("nk,nkd->nd", weights, corners[found])
    return ClosestPoints(landed, np.linalg.norm(landed - points, axis=1), found, weights)


def _group_coordinate(points, vertices, face_count, point_groups, face_groups):  # type: ignore[no-untyped-def]
    if point_groups is None or face_groups is None:
        return np.zeros(len(points)), np.zeros(face_count)
    low = np.minimum(points.min(axis=0, initial=np.inf), vertices.min(axis=0))
    high = np.maximum(points.max(axis=0, initial=-np.inf), vertices.max(axis=0))
    apart = 4.0 * float(np.linalg.norm(high - low)) + 1e-300
    return point_groups * apart, face_groups * apart


def _improve(points, corners, rows, faces, lift, best, found, weights):  # type: ignore[no-untyped-def]
    """Test point-triangle pairs and keep the best of each point."""
    if len(rows) == 0:
        return
    bary = closest_barycentric(points[rows], corners[faces])
    landed = np.einsum("nk,nkd->nd", bary, corners[faces])
    away = ((landed - points[rows]) ** 2).sum(axis=1)
    away = np.sqrt(away + (lift[0][rows] - lift[1][faces]) ** 2)
    starts = np.flatnonzero(np.append(True, rows[1:] != rows[:-1]))  # pairs come sorted by point
    least = np.repeat(np.minimum.reduceat(away, starts), np.diff(np.append(starts, len(rows))))
    first = np.flatnonzero((away == least) & (away < best[rows]))
    first = first[np.append(True, rows[first][1:] != rows[first][:-1])[: len(first)]]
    best[rows[first]], found[rows[first]], weights[rows[first]] = away[first], faces[first], bary[first]


def closest_barycentric(
    points: Float[np.ndarray, "N 3"], triangles: Float[np.ndarray, "N 3 3"]
) -> Float[np.ndarray, "N 3"]:
    """Barycentric weights of the point of each triangle that is closest to its query (Ericson's regions)."""
    a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    ab, ac, bc = b - a, c - a, c - b
    dot = lambda x, y: np.einsum("nd,nd->n", x, y)  # noqa: E731
    d00, d01, d11 = dot(ab, ab), dot(ab, ac), dot(ac, ac)
    d20, d21 = dot(points - a, ab), dot(points - a, ac)
    area = d00 * d11 - d01 * d01
    flat = area <= 1e-14 * d00 * d11
    safe = np.where(flat, 1.0, area)
    v, w = (d11 * d20 - d01 * d21) / safe, (d00 * d21 - d01 * d20) / safe
    bary = np.stack([1.0 - v - w, v, w], axis=1)
    outside = flat | (bary.min(axis=1) < 0)
    if outside.any():
        p, o = points[outside], outside
        # Outside the triangle the closest point lies on an edge: take the best of the three.
        options, distances = [], []
        for start, edge, i, j in ((a[o], ab[o], 0, 1), (b[o], bc[o], 1, 2), (a[o], ac[o], 0, 2)):
            length = dot(edge, edge)
            t = np.clip(dot(p - start, edge) / np.where(length > 0, length, 1.0), 0.0, 1.0)
            option = np.zeros((len(p), 3))
            option[:, i], option[:, j] = 1.0 - t, t
            options.append(option)
            distances.append(((start + t[:, None] * edge - p) ** 2).sum(axis=1))
        pick = np.argmin(distances, axis=0)
        bary[outside] = np.stack(options)[pick, np.arange(len(p))]
    return bary


def nearest_distances(source: Float[np.ndarray, "N D"], target: Float[np.ndarray, "M D"]) -> Float[np.ndarray, " N"]:
    """Euclidean distance from each source point to the nearest target point."""
    from scipy.spatial import cKDTree

    if len(source) == 0 or len(target) == 0:
        raise NeurokError("A Chamfer distance needs at least one point on each side.")
    return np.asarray(cKDTree(target).query(source)[0])


def chamfer_l1(first: Float[np.ndarray, "N D"], second: Float[np.ndarray, "M D"]) -> float:
    """Mean nearest-neighbour distance (not squared), averaged over both directions."""
    return 0.5 * float(nearest_distances(first, second).mean() + nearest_distances(second, first).mean())


def chamfer_l2(first: Float[np.ndarray, "N D"], second: Float[np.ndarray, "M D"]) -> float:
    """Mean squared nearest-neighbour distance, averaged over both directions."""
    return 0.5 * float((nearest_distances(first, second) ** 2).mean() + (nearest_distances(second, first) ** 2).mean())


def volumetric_iou(
    first: tuple[Float[np.ndarray, "V 3"], Int[np.ndarray, "F 3"]],
    second: tuple[Float[np.ndarray, "W 3"], Int[np.ndarray, "G 3"]],
    resolution: int = 64,
    shell: bool = False,
) -> float:
    """Shared volume over joint volume of two meshes, on cubic cells: ``resolution`` along the longest side.

    ``shell`` also counts the cells a surface passes through, which gives objects made of sheets a volume.
    Two objects that fill no cell at all have IoU 0.
    """
    from neurok.geometry.voxels import inside_grid, shell_grid

    both = np.concatenate([first[0][first[1].reshape(-1)], second[0][second[1].reshape(-1)]])
    low, high = both.min(axis=0), both.max(axis=0)
    cell = float((high - low).max()) / resolution
    if not cell > 0:
        raise NeurokError("A volumetric overlap needs objects of some size.")
    shape = tuple(int(n) for n in np.maximum(np.ceil((high - low) / cell - 1e-9), 1))
    filled: list[Bool[np.ndarray, "X Y Z"]] = []
    for vertices, faces in (first, second):
        grid = inside_grid(vertices, faces, low, cell, shape)
        filled.append(grid | shell_grid(vertices, faces, low, cell, shape) if shell else grid)
    joint = int((filled[0] | filled[1]).sum())
    return float((filled[0] & filled[1]).sum()) / joint if joint else 0.0
