"""Boxes, cylinders and spheres that a set of points is, exactly enough to stand for it in collisions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from neurok.geometry.convex import Piece, convex_hull, hull_volume

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
