"""Plane outlines and space curves from which solids are turned, swept and extruded."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

Number = float | int


def circle(radius: Number, segments: int = 24) -> Float[np.ndarray, "N 2"]:
    """A regular polygon, counter-clockwise, first point at +x."""
    return ellipse(radius, radius, segments)


def ellipse(radius_x: Number, radius_y: Number, segments: int = 24) -> Float[np.ndarray, "N 2"]:
    """An ellipse, counter-clockwise, first point at +x."""
    angle = np.linspace(0.0, 2.0 * np.pi, segments, endpoint=False)
    return np.column_stack([radius_x * np.cos(angle), radius_y * np.sin(angle)])


def superellipse(radius_x: Number, radius_y: Number, power: Number = 4, segments: int = 32) -> Float[np.ndarray, "N 2"]:
    """Between an ellipse (power 2) and a rectangle (large power), counter-clockwise."""
    angle = np.linspace(0.0, 2.0 * np.pi, segments, endpoint=False)
    bent = [np.sign(v) * np.abs(v) ** (2.0 / power) for v in (np.cos(angle), np.sin(angle))]
    return np.column_stack([radius_x * bent[0], radius_y * bent[1]])


def rectangle(width: Number, height: Number, radius: Number = 0, segments: int = 4) -> Float[np.ndarray, "N 2"]:
    """A rectangle about the origin with rounded corners, counter-clockwise."""
    half = np.array([width, height], dtype=np.float64) / 2
    if radius <= 0:
        return half * np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    radius = min(float(radius), 0.999 * float(half.min()))
    angle = np.linspace(0.0, np.pi / 2, segments + 1)
    corner = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    turns = [np.array([[c, s], [-s, c]]) for c, s in ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))]
    signs = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
    return np.concatenate([corner @ turn + sign * (half - radius) for turn, sign in zip(turns, signs, strict=True)])


def arc(
    radius: Number, start: Number, end: Number, segments: int = 12, center: Sequence[Number] = (0.0, 0.0)
) -> Float[np.ndarray, "N 2"]:
    """Part of a circle between two angles [degrees], both ends included."""
    angle = np.radians(np.linspace(start, end, segments + 1))
    return np.column_stack([center[0] + radius * np.cos(angle), center[1] + radius * np.sin(angle)])


def is_ccw(outline: Float[np.ndarray, "N 2"]) -> bool:
    """Whether a closed outline runs counter-clockwise."""
    x, y = outline.T
    return bool(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)) > 0)


def inset(outline: Float[np.ndarray, "N 2"], amount: Number) -> Float[np.ndarray, "N 2"]:
    """A closed counter-clockwise outline moved inwards with mitred corners; negative moves outwards.

    Meant for amounts below the smallest feature: corners are moved, never removed.
    """
    sides = outline - np.roll(outline, 1, axis=0), np.roll(outline, -1, axis=0) - outline
    n0, n1 = (np.column_stack([-d[:, 1], d[:, 0]]) / np.linalg.norm(d, axis=1, keepdims=True) for d in sides)
    bisector = n0 + n1
    scale = np.maximum(np.sum(bisector * n0, axis=1), 0.2)
    return outline + amount * bisector / scale[:, None]


def smooth_curve(points: npt.ArrayLike, samples: int = 24, closed: bool = False) -> Float[np.ndarray, "N D"]:
    """A Catmull-Rom curve through the points, in any dimension."""
    p = np.asarray(points, dtype=np.float64)
    if closed:
        p = np.concatenate([p[-1:], p, p[:2]])
    else:
        p = np.concatenate([2 * p[:1] - p[1:2], p, 2 * p[-1:] - p[-2:-1]])
    count = len(p) - 3
    t = np.linspace(0.0, count, samples, endpoint=not closed)
    i = np.minimum(t.astype(int), count - 1)
    u = (t - i)[:, None]
    a, b, c, d = p[i], p[i + 1], p[i + 2], p[i + 3]
    return 0.5 * (2 * b + (c - a) * u + (2 * a - 5 * b + 4 * c - d) * u**2 + (3 * b - a - 3 * c + d) * u**3)


def evenly(curve: Float[np.ndarray, "N D"], count: int) -> Float[np.ndarray, "M D"]:
    """So many points along a polyline, equally far apart."""
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1))])
    at = np.linspace(0.0, length[-1], count)
    return np.column_stack([np.interp(at, length, curve[:, k]) for k in range(curve.shape[1])])


def rounded_path(points: npt.ArrayLike, radius: Number, segments: int = 5) -> Float[np.ndarray, "N D"]:
    """A polyline whose inner corners are replaced by curves that leave it ``radius`` before each corner."""
    p = np.asarray(points, dtype=np.float64)
    out = [p[:1]]
    for before, corner, after in zip(p[:-2], p[1:-1], p[2:], strict=True):
        towards = [before - corner, after - corner]
        lengths = [float(np.linalg.norm(d)) for d in towards]
        reach = min(float(radius), 0.49 * min(lengths))
        start, end = (corner + reach * d / length for d, length in zip(towards, lengths, strict=True))
        u = np.linspace(0.0, 1.0, segments + 1)[:, None]
        out.append((1 - u) ** 2 * start + 2 * u * (1 - u) * corner + u**2 * end)
    out.append(p[-1:])
    return np.concatenate(out)
