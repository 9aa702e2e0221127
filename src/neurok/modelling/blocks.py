"""Blocks: solids between a box, an ellipsoid and a cushion, drawn as rings along y."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float

from neurok.modelling.shapes import Shape

Fields = Mapping[str, Float[np.ndarray, " _"]]

HARD_CORNER = 0.3
"""Plan corners below this are kept as they are; softer outlines are sampled evenly, which caps need for dents."""

STATIONS = np.linspace(-1.0, 1.0, 5)
"""Heights, in shares of half the box, at which widths and depths are given."""


def block_shape(fields: Fields, half: Float[np.ndarray, "3"], relief: str = "smooth") -> Shape:
    """A block of height ``2 half[1]``; all other lengths are in units of the longest half side."""
    unit = float(half.max())
    corner, pinch = float(np.clip(fields["corner"][0], 0.02, 1.2)), float(fields["pinch"][0])
    is_flat = relief == "smooth" and not np.any(np.abs(fields["crowns"]) > 1e-3)
    is_bar = unit * float(max(fields["widths"].max(), fields["depths"].max())) < 0.3 * half[1]
    around = 72 if relief != "smooth" else (24 if is_bar or (is_flat and corner < HARD_CORNER) else 48)
    outline = _outline(corner, pinch, around, even=not is_flat or corner >= HARD_CORNER)
    heights, insets, shares = _rings(fields, half, unit, caps=1 if is_flat else (14 if relief != "smooth" else 6))
    place = np.clip(2.0 * (heights - heights.min()) / max(np.ptp(heights), 1e-9) - 1.0, -1.0, 1.0)
    sides = [
        np.maximum(_along(fields[name], place) * unit - insets, 1e-4 * unit) * shares for name in ("widths", "depths")
    ]
    sway = [unit * (fields["lean"][k] * place + fields["bow"][k] * (1.0 - place**2)) for k in (0, 1)]
    x = sides[0][:, None] * outline[None, :, 0] + sway[0][:, None]
    z = sides[1][:, None] * outline[None, :, 1] + sway[1][:, None]
    y = np.repeat(heights[:, None], len(outline), axis=1)
    rings = np.stack([x, y, z], -1)
    if relief != "smooth":
        rings = _dented(rings, shares, half, relief)
    return _closed(rings)


def _outline(corner: float, pinch: float, count: int, even: bool) -> Float[np.ndarray, "N 2"]:
    """A superellipse of half width 1 whose sides are drawn in by ``pinch``; it has points at its four corners."""
    quarter = np.linspace(0.0, np.pi / 2, 2 * max(count // 8, 1) * (24 if even else 1) + 1)
    if not even:
        quarter = np.pi / 4 + np.pi / 4 * np.sign(quarter - np.pi / 4) * np.abs(quarter / (np.pi / 4) - 1.0) ** 1.3
    c, s = np.cos(quarter), np.sin(quarter)
    curve = np.column_stack([np.abs(c) ** corner, np.abs(s) ** corner])
    curve *= 1.0 - pinch * np.cos(2.0 * quarter)[:, None] ** 2
    if even:
        middle = len(curve) // 2
        curve = np.concatenate(
            [_evenly(curve[: middle + 1], count // 8 + 1)[:-1], _evenly(curve[middle:], count // 8 + 1)]
        )
    curve = curve[:-1]
    return np.concatenate([curve, curve[:, ::-1] * [-1.0, 1.0], -curve, curve[:, ::-1] * [1.0, -1.0]])


def _evenly(curve: Float[np.ndarray, "N 2"], count: int) -> Float[np.ndarray, "M 2"]:
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1))])
    at = np.linspace(0.0, length[-1], count)
    return np.column_stack([np.interp(at, length, curve[:, k]) for k in (0, 1)])


def _rings(
    fields: Fields, half: Float[np.ndarray, "3"], unit: float, caps: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Height, inset and share of each ring: up the bottom cap, its edge, the side, and over the top."""
    raised = np.clip(fields["crowns"], -0.9, 8.0)
    flat = half[1] / (1.0 + float(np.maximum(raised, 0.0).mean()))
    small = min(flat, unit * float(min(fields["widths"].min(), fields["depths"].min())))
    edge = np.clip(fields["edges"], 0.0, 1.0) * max(small, 1e-4 * unit)
    edge *= min(1.0, 1.98 * flat / max(float(edge.sum()), 1e-9))
    low, high = -flat + edge[0], flat - edge[1]
    turns = [max(2, int(np.ceil(6 * e / (edge.max() + 1e-9)))) if e > 1e-6 * unit else 1 for e in edge]
    dome = raised * flat
    share = np.linspace(0.0, 1.0, caps + 1)[:-1] if caps > 1 else np.zeros(1)
    rows: list[tuple[float, float, float]] = [(-flat - dome[0] * (1 - s**2.6), edge[0], s) for s in share]
    rows += [
        (low - edge[0] * np.cos(a), edge[0] * (1 - np.sin(a)), 1.0) for a in np.linspace(0, np.pi / 2, turns[0] + 1)
    ]
    is_straight = (
        max(np.ptp(fields["widths"]), np.ptp(fields["depths"]), *np.abs(fields["bow"]), fields["welt"][0]) < 1e-6
    )
    middle = np.linspace(low, high, 9)[1:-1] if high - low > 1e-6 * unit and not is_straight else np.zeros(0)
    rows += [(y, 0.0, 1.0) for y in middle]
    rows += [
        (high + edge[1] * np.sin(a), edge[1] * (1 - np.cos(a)), 1.0) for a in np.linspace(0, np.pi / 2, turns[1] + 1)
    ]
    rows += [(flat + dome[1] * (1 - s**2.6), edge[1], s) for s in share[::-1]]
    heights, insets, shares = np.array(rows).T
    return heights, insets - _welt(heights, float(fields["welt"][0]) * unit, flat), shares


def _welt(heights: np.ndarray, size: float, half: float) -> np.ndarray:
    """The ridge of a seam around the middle."""
    return size * np.exp(-((heights / max(0.12 * half, 1.5 * abs(size), 1e-9)) ** 2))


def _along(values: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Values of the five stations between them, smoothly and without overshoot."""
    from scipy.interpolate import PchipInterpolator

    if np.ptp(values) < 1e-9:
        return np.full(len(place), float(values[0]))
    return np.asarray(PchipInterpolator(STATIONS, values)(place))


def _dented(rings: np.ndarray, shares: np.ndarray, half: np.ndarray, relief: str) -> np.ndarray:
    """Buttons, quilting or channels pressed into the upper cap."""
    size = np.array([np.ptp(rings[..., 0]), np.ptp(rings[..., 2])])
    count = np.maximum(np.round(size / max(0.3 * float(size.max()), 0.13) * 1.2), 2)
    u, v = ((rings[..., k] - rings[..., k].min()) / size[i] for i, k in ((0, 0), (1, 2)))
    if relief == "channelled":
        press = np.abs(np.cos(np.pi * u * (count[0] + 2))) ** 6
    else:
        a, b = u * count[0] + v * count[1], u * count[0] - v * count[1]
        near = lambda t: np.abs(np.cos(np.pi * t))  # noqa: E731
        lines = np.maximum(near(a) ** 10, near(b) ** 10)
        buttons = (near(a) * near(b)) ** 6
        press = 0.45 * lines + 0.55 * buttons if relief == "tufted" else 0.5 * lines
    upper = (rings[..., 1] > 0) & (shares[:, None] < 1.0)
    depth = 0.3 * half[1] * np.clip((1.0 - shares[:, None]) * 8.0, 0.0, 1.0)
    out = rings.copy()
    out[..., 1] -= np.where(upper, depth * press, 0.0)
    return out


def _closed(rings: Float[np.ndarray, "N M 3"]) -> Shape:
    """Rings whose first and last are points, as one closed surface."""
    count, around = len(rings) - 2, rings.shape[1]
    inner = rings[1:-1].reshape(-1, 3)
    i = np.arange(around)
    j = (i + 1) % around
    row = np.arange(count - 1)[:, None] * around
    side = [
        np.stack([row + i, row + around + j, row + j], -1),
        np.stack([row + i, row + around + i, row + around + j], -1),
    ]
    low, high, last = len(inner), len(inner) + 1, (count - 1) * around
    ends = [np.column_stack([i, j, np.full(around, low)]), np.column_stack([last + j, last + i, np.full(around, high)])]
    vertices = np.concatenate([inner, rings[0, :1], rings[-1, :1]])
    return Shape(vertices, np.concatenate([*(f.reshape(-1, 3) for f in side), *ends])).outward()
