"""What lies inside an object: points by their winding number, cells of a regular grid by rays along its axes."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int

_PAIRS_AT_ONCE = 1 << 21

CROOKED = np.linalg.qr(np.array([[0.91, 0.23, 0.34], [0.11, 0.87, -0.48], [0.29, -0.41, 0.86]]))[0]
"""Axes of rays (the last) that do not run along the flat sides that modelled things have."""


def solid_angles(points: Float[np.ndarray, "N 3"], triangles: Float[np.ndarray, "F 3 3"]) -> Float[np.ndarray, "N F"]:
    """Signed solid angle of each triangle seen from each point (Van Oosterom and Strackee)."""
    a, b, c = (triangles[None, :, i] - points[:, None] for i in range(3))
    la, lb, lc = (np.linalg.norm(x, axis=-1) for x in (a, b, c))
    above = np.einsum("nfd,nfd->nf", a, np.cross(b, c))
    ab, bc, ca = (np.einsum("nfd,nfd->nf", x, y) for x, y in ((a, b), (b, c), (c, a)))
    return 2.0 * np.arctan2(above, la * lb * lc + ab * lc + bc * la + ca * lb)


def winding_numbers(
    points: Float[np.ndarray, "N 3"], vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]
) -> Float[np.ndarray, " N"]:
    """How often a surface goes around each point: whole where it is closed, a share where it is open; O(N F) work."""
    triangles, out = vertices[faces], np.zeros(len(points))
    step = max(1, _PAIRS_AT_ONCE // max(8 * len(faces), 1))
    for start in range(0, len(points), step):
        out[start : start + step] = solid_angles(points[start : start + step], triangles).sum(axis=1)
    return out / (4.0 * np.pi)


def inside_closed(
    points: Float[np.ndarray, "N 3"], vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]
) -> Bool[np.ndarray, " N"]:
    """Whether points lie inside a closed surface: the signed crossings of a ray from each do not cancel out.

    Surfaces that touch or cut each other are no matter; ``winding_numbers`` answers for open ones.
    """
    out = np.zeros(len(points), dtype=bool)
    if len(faces) == 0:
        return out
    seen, corners = points @ CROOKED, vertices[faces] @ CROOKED
    near = np.flatnonzero(((seen >= corners.min(axis=(0, 1))) & (seen <= corners.max(axis=(0, 1)))).all(axis=1))
    area = _cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    a, b, c = np.moveaxis(corners[np.abs(area) > 1e-300], 1, 0)
    area = area[np.abs(area) > 1e-300]
    step = max(1, _PAIRS_AT_ONCE // max(1, 2 * len(a)))
    for start in range(0, len(near), step):
        rows = near[start : start + step]
        offset = seen[rows][:, None] - a
        u, v = _cross(offset, c - a) / area, _cross(b - a, offset) / area
        is_above = u * (b - a)[:, 2] + v * (c - a)[:, 2] > offset[..., 2]
        is_hit = (u >= 0) & (v >= 0) & (u + v <= 1) & is_above
        out[rows] = is_hit @ np.sign(area) != 0
    return out


def inside_grid(
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    low: Float[np.ndarray, "3"],
    cell: float,
    shape: tuple[int, ...],
) -> Bool[np.ndarray, "X Y Z"]:
    """Cells whose centre lies inside, for closed and for slightly open meshes."""
    return winding_grid(vertices, faces, low, cell, shape) > 0.5


ENCLOSED = 0.9
"""Winding number beyond which a place is inside, where surfaces may be open. Seams and small holes leave it near 1; in
a cup it is below 0.84, since one of six rays leaves through the mouth."""


def enclosed_grid(
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    closed: Bool[np.ndarray, " F"],
    low: Float[np.ndarray, "3"],
    cell: float,
    shape: tuple[int, ...],
    enclosed: float = ENCLOSED,
) -> Bool[np.ndarray, "X Y Z"]:
    """Cells whose centre lies within material, for meshes of closed and open pieces that may cut each other.

    Closed pieces and open ones are asked apart: what lies in the hollow of an open one is winded back by it.
    """
    out = np.zeros(shape, dtype=bool)
    for mine in (faces[closed], faces[~closed]):
        if len(mine):
            out |= np.abs(winding_grid(vertices, mine, low, cell, shape)) > enclosed
    return out


def winding_grid(
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    low: Float[np.ndarray, "3"],
    cell: float,
    shape: tuple[int, ...],
) -> Float[np.ndarray, "X Y Z"]:
    """How often the surface goes around the centre of each cell: 1 inside what is closed, 0 outside, between in a cup.

    The winding number of a point is the mean, over all directions, of the signed crossings of a ray with the
    surface. Here the mean is taken over the six axis directions; for closed surfaces every single one is exact.
    """
    winding = np.zeros(shape)
    scaled = (vertices - low) / cell - 0.5  # cell centres at whole numbers
    for axis in range(3):
        others = [(axis + 1) % 3, (axis + 2) % 3]
        columns = (shape[others[0]], shape[others[1]])
        counts = _mean_crossings(scaled[:, [*others, axis]], faces, columns, shape[axis])
        winding += np.moveaxis(counts, [0, 1, 2], [*others, axis])
    return winding / 3.0


def _mean_crossings(
    points: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"], columns: tuple[int, int], depth: int
) -> Float[np.ndarray, "A B C"]:
    """Mean signed crossings of the rays along plus and minus the last axis, for every cell centre."""
    # Rays are moved off the round numbers that modelled vertices and edges like to lie on.
    nudge = np.array([np.sqrt(2.0) * 1e-5, np.sqrt(3.0) * 1e-5])
    triangles = points[faces]
    flat = triangles[:, :, :2] - nudge
    first = np.maximum(np.ceil(flat.min(axis=1)).astype(np.int64), 0)
    last = np.minimum(np.floor(flat.max(axis=1)).astype(np.int64), np.array(columns) - 1)
    span = np.maximum(last - first + 1, 0)
    area = _cross(flat[:, 1] - flat[:, 0], flat[:, 2] - flat[:, 0])
    work = np.where(area != 0, span[:, 0] * span[:, 1], 0)
    steps = np.zeros((*columns, depth + 1))
    ends = np.cumsum(work)
    start = 0
    while start < len(faces):
        begun = ends[start] - work[start]
        stop = max(start + 1, int(np.searchsorted(ends, begun + _PAIRS_AT_ONCE)))
        ids = np.repeat(np.arange(start, stop), work[start:stop])
        local = np.arange(len(ids)) - np.repeat(np.cumsum(work[start:stop]) - work[start:stop], work[start:stop])
        column = first[ids] + np.stack([local // np.maximum(span[ids, 1], 1), local % np.maximum(span[ids, 1], 1)], 1)
        _record_hits(steps, column, ids, flat, triangles[:, :, 2], area)
        start = stop
    above = np.cumsum(steps[:, :, ::-1], axis=2)[:, :, ::-1]
    total, above = above[:, :, :1], above[:, :, 1:]
    return above - 0.5 * total


def _record_hits(steps, column, ids, flat, height, area):  # type: ignore[no-untyped-def]
    """Add the sign of each crossing at the number of cell centres below it."""
    a, b, c = (flat[ids, i] for i in range(3))
    weights = np.stack([_cross(c - b, column - b), _cross(a - c, column - c), _cross(b - a, column - a)], axis=1)
    weights /= area[ids, None]
    hit = weights.min(axis=1) >= 0
    depth = steps.shape[2] - 1
    heights = (weights[hit] * height[ids[hit]]).sum(axis=1)
    below = np.clip(np.floor(heights) + 1, 0, depth).astype(np.int64)
    np.add.at(steps, (column[hit, 0], column[hit, 1], below), np.sign(area[ids[hit]]))


def _cross(u, v):  # type: ignore[no-untyped-def]
    return u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0]


def shell_grid(
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    low: Float[np.ndarray, "3"],
    cell: float,
    shape: tuple[int, ...],
) -> Bool[np.ndarray, "X Y Z"]:
    """Cells that hold a point of the surface; every triangle is covered with points at most half a cell apart."""
    corners = (vertices[faces] - low) / cell
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    pieces = np.maximum(np.ceil(2.0 * longest), 1).astype(np.int64)
    grid = np.zeros(shape, dtype=bool)
    limit = np.array(shape) - 1
    for n in np.unique(pieces):
        i, j = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
        keep = i + j <= n
        weights = np.stack([i[keep], j[keep], n - i[keep] - j[keep]], axis=1) / n
        chosen = corners[pieces == n]
        step = max(1, _PAIRS_AT_ONCE // len(weights))
        for lo in range(0, len(chosen), step):
            cells = np.floor(np.einsum("mk,fkd->fmd", weights, chosen[lo : lo + step]).reshape(-1, 3)).astype(np.int64)
            cells = np.clip(cells, 0, limit)
            grid[cells[:, 0], cells[:, 1], cells[:, 2]] = True
    return grid
