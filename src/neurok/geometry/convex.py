"""Convex pieces that stand in for a mesh in collisions, and the boxes, cylinders and spheres that some of them are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, Int

from neurok.geometry import topology

Piece = tuple[Float[np.ndarray, "_ 3"], Int[np.ndarray, "_ 3"]]
"""Vertices and outward faces of one convex piece."""

MAX_HULL_POINTS = 160
"""Rounder hulls are replaced by their extreme points in that many directions."""


def convex_pieces(
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    limit: int = 12,
    least: float = 0.1,
    corners: int = MAX_HULL_POINTS,
) -> list[Piece]:
    """One hull for each connected component, at most ``limit``, with about ``corners`` corners at most.

    Components smaller than ``least`` of the whole, or beyond the limit, join the piece they enlarge the least. Flat
    ones get a little thickness; a mesh without any extent gives no piece.
    """
    if len(faces) == 0:
        return []
    component = topology.face_components(vertices, faces)
    clusters = [np.unique(faces[component == c]) for c in range(int(component.max()) + 1)]
    boxes = np.array([[vertices[c].min(axis=0), vertices[c].max(axis=0)] for c in clusters])
    sizes = np.linalg.norm(boxes[:, 1] - boxes[:, 0], axis=1)
    whole = float(np.linalg.norm(boxes[:, 1].max(axis=0) - boxes[:, 0].min(axis=0)))
    if whole <= 0.0:
        return []
    order = np.argsort(-sizes, kind="stable")
    kept = [int(i) for i in order[:limit] if sizes[i] >= least * whole] or [int(order[0])]
    members = {i: [clusters[i]] for i in kept}
    for i in order:
        if int(i) not in members:
            low = np.minimum(boxes[kept, 0], boxes[i, 0])
            high = np.maximum(boxes[kept, 1], boxes[i, 1])
            growth = np.linalg.norm(high - low, axis=1) - sizes[kept]
            members[kept[int(np.argmin(growth))]].append(clusters[i])
    pieces = [convex_hull(vertices[np.concatenate(parts)], 1e-3 * whole, corners) for parts in members.values()]
    return [piece for piece in pieces if piece is not None]


def convex_hull(points: Float[np.ndarray, "N 3"], thickness: float, corners: int = MAX_HULL_POINTS) -> Piece | None:
    """The hull with outward faces; flat or thin sets are padded to ``thickness``, and a single point gives ``None``."""
    from scipy.spatial import ConvexHull, QhullError

    points = np.unique(points, axis=0)
    middle = points.mean(axis=0)
    axes = np.linalg.eigh((points - middle).T @ (points - middle))[1].T[::-1]
    extent = np.ptp((points - middle) @ axes.T, axis=0)
    if extent[0] <= 0.0:
        return None
    for axis, width in zip(axes, extent, strict=True):
        if width < thickness:
            points = np.concatenate([points - 0.5 * thickness * axis, points + 0.5 * thickness * axis])
    try:
        hull = ConvexHull(points)
        if len(hull.vertices) > corners:
            points = points[hull.vertices]
            extreme = np.argmax((points - middle) @ directions(corners).T, axis=0)
            points = points[np.unique(extreme)]
            hull = ConvexHull(points)
    except QhullError:
        return None
    faces = hull.simplices.astype(np.int64)
    a, b, c = (points[faces[:, i]] for i in range(3))
    inward = np.einsum("fi,fi->f", np.cross(b - a, c - a), hull.equations[:, :3]) < 0
    faces[inward] = faces[inward][:, ::-1]
    used, inverse = np.unique(faces, return_inverse=True)
    return points[used], inverse.reshape(-1, 3)


def hull_volume(piece: Piece) -> float:
    """What a convex piece encloses."""
    vertices, faces = piece
    corners = vertices[faces] - vertices.mean(axis=0)
    return float(abs(np.linalg.det(corners).sum()) / 6.0)


def hull_planes(piece: Piece) -> tuple[Float[np.ndarray, "F 3"], Float[np.ndarray, " F"]]:
    """Outward unit normals of the faces of a convex piece, and how far along them it goes."""
    vertices, faces = piece
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    cross = np.cross(b - a, c - a)
    length = np.linalg.norm(cross, axis=1)
    good = length > 1e-12 * length.max(initial=0.0)
    normals = cross[good] / length[good, None]
    # Triangles of one flat side are one plane.
    normals = normals[np.sort(np.unique(np.round(normals / 1e-6), axis=0, return_index=True)[1])]
    # Round-off must not put a corner outside of its own piece.
    return normals, (vertices @ normals.T).max(axis=0)


def separation(one: Piece, two: Piece) -> tuple[float, Float[np.ndarray, "3"]]:
    """How far two convex pieces are apart along the direction that parts them best; negative if they overlap.

    The direction, from the first to the second, is sought among the normals of their faces and the products of their
    longest edges: what overlaps is surely found, what passes by with edges across each other may be said to touch.
    """
    axes = np.concatenate([hull_planes(one)[0], -hull_planes(two)[0], _edge_products(one, two)])
    gaps = (two[0] @ axes.T).min(axis=0) - (one[0] @ axes.T).max(axis=0)
    best = int(gaps.argmax())
    return float(gaps[best]), axes[best]


def _edge_products(one: Piece, two: Piece, count: int = 9) -> Float[np.ndarray, "_ 3"]:
    """Directions across the longest edges of two pieces, both ways."""
    longest = []
    for vertices, faces in (one, two):
        edges = vertices[np.roll(faces, -1, axis=1)].reshape(-1, 3) - vertices[faces].reshape(-1, 3)
        longest.append(edges[np.argsort(-np.linalg.norm(edges, axis=1))[: 2 * count : 2]])
    cross = np.cross(longest[0][:, None], longest[1][None]).reshape(-1, 3)
    length = np.linalg.norm(cross, axis=1)
    scale = np.linalg.norm(longest[0][0]) * np.linalg.norm(longest[1][0])
    cross = cross[length > 1e-3 * scale] / length[length > 1e-3 * scale, None]
    return np.concatenate([cross, -cross])


def clipped(
    triangles: Float[np.ndarray, "n 3 3"], normal: Float[np.ndarray, "3"], height: float
) -> Float[np.ndarray, "m 3 3"]:
    """What of some triangles lies beyond a plane, on the side to which its normal points."""
    gap = triangles @ normal - height
    # What lies in the plane belongs to neither side, or walls along a cut would reach into both.
    beyond = gap.max(axis=1, initial=0.0) > 1e-9 * max(float(np.abs(gap).max(initial=0.0)), 1e-300)
    triangles, gap = triangles[beyond], gap[beyond]
    inside = gap >= 0
    count = inside.sum(axis=1)
    out = [triangles[count == 3]]
    for alone, is_inside in ((1, True), (2, False)):
        mine = np.flatnonzero(count == alone)
        if not len(mine):
            continue
        lone = (inside[mine] if is_inside else ~inside[mine]).argmax(axis=1)
        turn = (lone[:, None] + np.arange(3)) % 3
        corner = np.take_along_axis(triangles[mine], turn[:, :, None], axis=1)
        level = np.take_along_axis(gap[mine], turn, axis=1)
        one, two = (
            corner[:, 0] + (level[:, 0] / (level[:, 0] - level[:, k]))[:, None] * (corner[:, k] - corner[:, 0])
            for k in (1, 2)
        )
        if is_inside:
            out.append(np.stack([corner[:, 0], one, two], axis=1))
        else:
            out.append(np.stack([one, corner[:, 1], corner[:, 2]], axis=1))
            out.append(np.stack([one, corner[:, 2], two], axis=1))
    return np.concatenate(out)


def directions(count: int) -> Float[np.ndarray, "N 3"]:
    """Evenly spread unit vectors (a Fibonacci spiral)."""
    k = np.arange(count) + 0.5
    polar, turn = np.arccos(1.0 - 2.0 * k / count), np.pi * (1.0 + 5.0**0.5) * k
    return np.column_stack([np.cos(turn) * np.sin(polar), np.sin(turn) * np.sin(polar), np.cos(polar)])


PrimitiveKind = Literal["box", "cylinder", "sphere"]

TOLERANCE = 0.01
"""How far corners may lie beside a primitive, as a share of its size; a rounded edge is farther off."""

BOX_FILLED = 0.995
"""Share of a box that a hull fills which is taken for one: a box that stands out of it would push neighbours away."""

LEAST_SIDES = 10
"""A prism with fewer sides is no cylinder: its edges stick out by more than 5 % of the radius."""


@dataclass(frozen=True, eq=False)
class Primitive:
    """A solid that simulators know by name."""

    kind: PrimitiveKind
    pose: Float[np.ndarray, "4 4"]
    """From its own frame; a cylinder stands along its z axis."""

    size: Float[np.ndarray, "3"]
    """Full lengths along its own axes."""

    def moved(self, offset: Float[np.ndarray, "3"]) -> Primitive:
        """The same elsewhere."""
        pose = np.array(self.pose)
        pose[:3, 3] += offset
        return Primitive(self.kind, pose, self.size)


SIDES = 24
"""Of the prism around a cylinder, and of the rings of the polyhedron around a sphere."""


def enclosing(primitive: Primitive) -> Piece:
    """A convex piece that holds a primitive and is hardly larger: a box, a prism, or a polyhedron of rings."""
    box = np.array([[i, j, k] for i in (-0.5, 0.5) for j in (-0.5, 0.5) for k in (-0.5, 0.5)])
    turns = 2 * np.pi * (np.arange(SIDES) + 0.5) / SIDES
    ring = np.stack([np.cos(turns), np.sin(turns)], axis=1) * 0.5 / np.cos(np.pi / SIDES)
    if primitive.kind == "box":
        points = box
    elif primitive.kind == "cylinder":
        points = np.concatenate([np.column_stack([ring, np.full(SIDES, end)]) for end in (-0.5, 0.5)])
    else:
        heights = np.cos(np.pi * (np.arange(SIDES // 2 + 1)) / (SIDES // 2))
        rows = [np.column_stack([ring * np.sqrt(1 - h * h), np.full(SIDES, h / 2)]) for h in heights]
        points = np.concatenate(rows) / np.cos(np.pi / SIDES)
    hull = convex_hull((points * primitive.size) @ primitive.pose[:3, :3].T + primitive.pose[:3, 3], 0.0, len(points))
    assert hull is not None
    return hull


def fit_primitive(piece: Piece) -> Primitive | None:
    """The primitive that a convex piece is, or ``None``."""
    corners, _ = piece
    volume = hull_volume(piece)
    if volume <= 0:
        return None
    frame, size, middle = _frame(piece)
    if volume >= BOX_FILLED * size.prod():
        return _made("box", frame, middle, size)
    local = (corners - middle) @ frame
    return _sphere(local, frame, middle, size) or _cylinder(local, frame, middle, size, volume)


def _frame(
    piece: Piece,
) -> tuple[Float[np.ndarray, "3 3"], Float[np.ndarray, "3"], Float[np.ndarray, "3"]]:
    """Axes (as columns), lengths and middle of the smallest box that has a face on one of the piece's faces."""
    corners, faces = piece
    a, b, c = (corners[faces[:, i]] for i in range(3))
    cross = np.cross(b - a, c - a)
    area = np.linalg.norm(cross, axis=1)
    big = np.argsort(-area)[:12]
    normals = cross[big] / np.maximum(area[big, None], 1e-300)
    edges = (b - a)[big] / np.maximum(np.linalg.norm((b - a)[big], axis=1, keepdims=True), 1e-300)
    best: tuple[float, np.ndarray, np.ndarray, np.ndarray] | None = None
    candidates = [np.eye(3)]
    for normal, edge in zip(normals, edges, strict=True):
        first = edge - normal * (edge @ normal)
        length = np.linalg.norm(first)
        if length > 1e-6:
            first = first / length
            candidates.append(np.column_stack([first, np.cross(normal, first), normal]))
    for frame in candidates:
        local = corners @ frame
        low, high = local.min(axis=0), local.max(axis=0)
        volume = float((high - low).prod())
        if best is None or volume < (1.0 - 1e-6) * best[0]:
            best = volume, frame, high - low, frame @ (0.5 * (low + high))
    assert best is not None
    return best[1], best[2], best[3]


def _made(kind: PrimitiveKind, frame: np.ndarray, middle: np.ndarray, size: np.ndarray) -> Primitive:
    pose = np.eye(4)
    pose[:3, :3] = frame * np.sign(np.linalg.det(frame))
    pose[:3, 3] = middle
    return Primitive(kind, pose, np.asarray(size, dtype=np.float64))


def _sphere(local: np.ndarray, frame: np.ndarray, middle: np.ndarray, size: np.ndarray) -> Primitive | None:
    # A sphere of flat faces has no corner opposite to each other one, so its middle is fitted.
    system = np.column_stack([2.0 * local, np.ones(len(local))])
    solved = np.linalg.lstsq(system, (local**2).sum(axis=1), rcond=None)[0]
    center = solved[:3]
    radii = np.linalg.norm(local - center, axis=1)
    radius = float(radii.mean())
    if len(local) < 2 * LEAST_SIDES or np.ptp(radii) > TOLERANCE * radius or np.ptp(size) > 0.1 * size.max():
        return None
    return _made("sphere", frame, middle + frame @ center, np.full(3, 2.0 * radius))


def _cylinder(
    local: np.ndarray, frame: np.ndarray, middle: np.ndarray, size: np.ndarray, volume: float
) -> Primitive | None:
    for axis in range(3):
        others = [(axis + 1) % 3, (axis + 2) % 3]
        center = np.zeros(2)
        radial = np.linalg.norm(local[:, others] - center, axis=1)
        radius, height = float(radial.max()), float(size[axis])
        ends = np.minimum(np.abs(local[:, axis] - height / 2), np.abs(local[:, axis] + height / 2))
        rim = radial > 0.5 * radius  # a cap may have a corner in its middle
        if np.ptp(radial[rim]) > 2 * TOLERANCE * radius or ends.max() > TOLERANCE * max(height, radius):
            continue
        count = len(np.unique(np.round(np.arctan2(*local[rim][:, others].T) / 1e-3)))
        # A regular prism of n sides fills sin(2π/n)/(2π/n) of its cylinder.
        share = np.sin(2 * np.pi / max(count, 3)) / (2 * np.pi / max(count, 3))
        if count >= LEAST_SIDES and volume >= 0.98 * share * np.pi * radius**2 * height:
            turn = frame[:, [*others, axis]]
            return _made("cylinder", turn, middle, np.array([2 * radius, 2 * radius, height]))
    return None
