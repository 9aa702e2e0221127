"""Forms as rings with triangles that stay the same, many codes at once: what fitting moves.

The solids are those of ``modelling.forms`` but for how finely they are cut; outlines of plates that cross themselves
are not cleaned. Tubes are not among them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

import numpy as np
from jaxtyping import Float, Int

from neurok.modelling.forms import LAYOUT, ROUND, SEGMENTS, fluted, profile_curve, ribbed
from neurok.modelling.shapes import Shape

Batch = Mapping[str, Float[np.ndarray, "B n"]]
Rings = Float[np.ndarray, "B R N 3"]

AROUND = 48
"""Points of the outline of a block."""

CAPS = 4
"""Rings of each end of a block, and of each face of a plate ..."""

TURNS = 4
"""... steps of its edges ..."""

SIDE = 7
"""... and rings of its side."""


def can_be_rings(kind: str) -> bool:
    return kind in _RINGS


def ring_solids(
    kind: str, codes: Float[np.ndarray, "B 24"], sizes: Float[np.ndarray, "B 3"], relief: str = "smooth"
) -> tuple[Float[np.ndarray, "B V 3"], Int[np.ndarray, "F 3"]]:
    """Corners of the solids of many codes of one kind, each filling its box [m], and their triangles.

    Reliefs are those of turned solids; blocks are smooth.
    """
    half = np.maximum(sizes, 1e-5) / 2.0
    ends = np.cumsum([0, *(count for _, count in LAYOUT[kind])])
    fields = {name: codes[:, a:b] for (name, _), a, b in zip(LAYOUT[kind], ends[:-1], ends[1:], strict=True)}
    half_share = half / half.max(axis=1, keepdims=True)
    rings = _lathe(fields, half_share, relief) if kind == "lathe" else _RINGS[kind](fields, half_share)
    count, around = rings.shape[1:3]
    places = rings.reshape(len(codes), -1, 3)
    middles = places[:, :around].mean(axis=1, keepdims=True), places[:, -around:].mean(axis=1, keepdims=True)
    places = np.concatenate([places, *middles], axis=1)
    low, high = places.min(axis=1, keepdims=True), places.max(axis=1, keepdims=True)
    extent = np.maximum(high - low, 1e-12)
    return (places - (low + high) / 2.0) * (2.0 * half[:, None] / extent), _faces(count, around)


def ring_solid(kind: str, code: Float[np.ndarray, "24"], size: Float[np.ndarray, "3"], relief: str = "smooth") -> Shape:
    """One of them, looking outwards."""
    places, faces = ring_solids(kind, code[None], np.asarray(size)[None], relief)
    return Shape(places[0], faces).outward()


@cache
def _faces(count: int, around: int) -> Int[np.ndarray, "F 3"]:
    """Triangles between rings, and from the first and the last one to their middles, which come after them."""
    i = np.arange(around)
    j = (i + 1) % around
    row = np.arange(count - 1)[:, None] * around
    side = [
        np.stack([row + i, row + around + j, row + j], -1),
        np.stack([row + i, row + around + i, row + around + j], -1),
    ]
    low, last = count * around, (count - 1) * around
    ends = [
        np.column_stack([i, j, np.full(around, low)]),
        np.column_stack([last + j, last + i, np.full(around, low + 1)]),
    ]
    return np.concatenate([*(one.reshape(-1, 3) for one in side), *ends])


def _block(fields: Batch, half: Float[np.ndarray, "B 3"]) -> Rings:
    """See ``modelling.blocks``; the longest half side is 1."""
    corner, pinch = np.clip(fields["corner"], 0.02, 1.2), fields["pinch"]
    quarter = np.linspace(0.0, np.pi / 2, AROUND // 4 + 1)
    quarter = np.pi / 4 + np.pi / 4 * np.sign(quarter - np.pi / 4) * np.abs(quarter / (np.pi / 4) - 1.0) ** 1.3
    curve = np.stack([np.abs(np.cos(quarter)) ** corner, np.abs(np.sin(quarter)) ** corner], axis=-1)
    curve = (curve * (1.0 - pinch * np.cos(2.0 * quarter) ** 2)[..., None])[:, :-1]
    other = curve[..., ::-1]
    outline = np.concatenate([curve, other * [-1.0, 1.0], -curve, other * [1.0, -1.0]], axis=1)
    raised = np.clip(fields["crowns"], -0.9, 8.0)
    flat = half[:, 1] / (1.0 + np.maximum(raised, 0.0).mean(axis=1))
    small = np.minimum(flat, np.minimum(fields["widths"].min(axis=1), fields["depths"].min(axis=1)))
    edge = np.clip(fields["edges"], 0.0, 1.0) * np.maximum(small, 1e-4)[:, None]
    edge = edge * np.minimum(1.0, 1.98 * flat / np.maximum(edge.sum(axis=1), 1e-9))[:, None]
    dome, ends = raised * flat[:, None], np.stack([-flat + edge[:, 0], flat - edge[:, 1]], axis=1)
    share = np.linspace(0.0, 1.0, CAPS + 1)[:-1]
    angle = np.linspace(0.0, np.pi / 2, TURNS + 1)
    bulge = 1.0 - share**2.6
    side = np.linspace(0.0, 1.0, SIDE + 2)[1:-1]
    heights = np.concatenate([
        -flat[:, None] - dome[:, :1] * bulge,
        ends[:, :1] - edge[:, :1] * np.cos(angle),
        ends[:, :1] + (ends[:, 1:] - ends[:, :1]) * side,
        ends[:, 1:] + edge[:, 1:] * np.sin(angle),
        flat[:, None] + dome[:, 1:] * bulge[::-1],
    ], axis=1)  # fmt: skip
    wide = lambda k, values: edge[:, k : k + 1] * values  # noqa: E731
    insets = np.concatenate([
        wide(0, np.ones(CAPS)), wide(0, 1.0 - np.sin(angle)), wide(0, np.zeros(SIDE)),
        wide(1, 1.0 - np.cos(angle)), wide(1, np.ones(CAPS)),
    ], axis=1)  # fmt: skip
    welt = fields["welt"]
    insets = insets - welt * np.exp(
        -((heights / np.maximum(np.maximum(0.12 * flat[:, None], 1.5 * np.abs(welt)), 1e-9)) ** 2)
    )
    shares = np.concatenate([share, np.ones(2 * (TURNS + 1) + SIDE), share[::-1]])
    low, extent = heights.min(axis=1, keepdims=True), np.maximum(np.ptp(heights, axis=1)[:, None], 1e-9)
    place = np.clip(2.0 * (heights - low) / extent - 1.0, -1.0, 1.0)
    stations = 2.0 * (place + 1.0)
    sides = [np.maximum(_along(fields[name], stations) - insets, 1e-4) * shares for name in ("widths", "depths")]
    sway = [fields["lean"][:, k : k + 1] * place + fields["bow"][:, k : k + 1] * (1.0 - place**2) for k in (0, 1)]
    x, z = (
        side[..., None] * outline[:, None, :, k] + off[..., None]
        for k, (side, off) in enumerate(zip(sides, sway, strict=True))
    )
    return np.stack([x, np.broadcast_to(heights[..., None], x.shape), z], axis=-1)


def _along(values: Float[np.ndarray, "B K"], at: Float[np.ndarray, "B N"]) -> Float[np.ndarray, "B N"]:
    """Values given at 0, 1, 2 ... between them, smoothly and without overshoot (Fritsch and Carlson 1980)."""
    step = np.diff(values, axis=1)
    first, second = step[:, :-1], step[:, 1:]
    agree = first * second > 0.0
    inner = np.where(agree, 2.0 * first * second / np.where(agree, first + second, 1.0), 0.0)
    slopes = np.concatenate([_end(step[:, :1], step[:, 1:2]), inner, _end(step[:, -1:], step[:, -2:-1])], axis=1)
    left = np.clip(at.astype(int), 0, values.shape[1] - 2)
    t = at - left
    take = lambda table, k: np.take_along_axis(table, k, axis=1)  # noqa: E731
    a, b, da, db = take(values, left), take(values, left + 1), take(slopes, left), take(slopes, left + 1)
    return (2 * t**3 - 3 * t**2 + 1) * a + (t**3 - 2 * t**2 + t) * da + (3 * t**2 - 2 * t**3) * b + (t**3 - t**2) * db


def _end(near: np.ndarray, next_one: np.ndarray) -> np.ndarray:
    """Slope at an end, of three points, that does not overshoot."""
    slope = (3.0 * near - next_one) / 2.0
    slope = np.where(slope * near <= 0.0, 0.0, slope)
    return np.where((near * next_one < 0.0) & (np.abs(slope) > 3.0 * np.abs(near)), 3.0 * near, slope)


def _lathe(fields: Batch, half: Float[np.ndarray, "B 3"], relief: str = "smooth") -> Rings:
    curve = profile_curve(fields["knots"].reshape(len(half), -1, 3))
    if relief == "ribbed":
        curve = np.stack([ribbed(one) for one in curve])
    count = SEGMENTS.get(relief, ROUND)
    angles = 2.0 * np.pi * np.arange(count) / count
    press = fluted(angles) if relief == "fluted" else np.ones(count)
    radius, height = (curve[..., :1] + 1e-6) * press, np.broadcast_to(curve[..., 1:], (*curve.shape[:2], count))
    return np.stack([radius * np.cos(angles), height, radius * np.sin(angles)], axis=-1)


def _sheet(fields: Batch, half: Float[np.ndarray, "B 3"]) -> Rings:
    """See ``modelling.strips.sheet_shape``."""
    count = 26
    v = np.linspace(0.0, 1.0, count)
    at = np.broadcast_to(8.0 * v, (len(half), count))
    width = np.maximum(_along(fields["widths"], at), 0.004)
    angle = np.cumsum(_along(fields["bends"], at), axis=1) * 8.0 / (count - 1)
    step = np.maximum(fields["length"], 1e-3)[..., None] / (count - 1)
    none = np.zeros_like(angle)
    run = np.stack([none, np.cos(angle), np.sin(angle)], axis=-1)
    moved = np.cumsum(0.5 * step * (run[:, 1:] + run[:, :-1]), axis=1)
    centre = np.concatenate([np.zeros((len(half), 1, 3)), moved], axis=1)
    normal = np.stack([none, -np.sin(angle), np.cos(angle)], axis=-1)
    twist = (fields["twist"] * v)[..., None]
    side = np.cos(twist) * np.array([1.0, 0.0, 0.0]) + np.sin(twist) * normal
    out = np.cross(side, run)
    u = np.linspace(-1.0, 1.0, 9)
    lift = fields["cup"][..., None] * width[..., None] * np.abs(u) ** 1.5
    lift = lift + fields["wave"][..., None] * u**2 * np.sin(2.0 * np.pi * fields["waves"] * v)[..., None]
    middle = (
        centre[:, :, None] + (width[..., None] * u)[..., None] * side[:, :, None] + lift[..., None] * out[:, :, None]
    )
    thick = 0.5 * np.maximum(fields["thickness"], 1e-3)[..., None, None] * (1.0 - 0.5 * u**2)[:, None]
    return np.concatenate([middle + thick * out[:, :, None], (middle - thick * out[:, :, None])[:, :, ::-1]], axis=2)


def _plate(fields: Batch, half: Float[np.ndarray, "B 3"]) -> Rings:
    """See ``modelling.plates``: the bevelled rim between two faces of rings around the middle of the outline."""
    knots = fields["knots"].reshape(len(half), -1, 2)
    before, after = np.roll(knots, 1, axis=1) - knots, np.roll(knots, -1, axis=1) - knots
    share = 0.5 * np.clip(fields["round"], 0.01, 1.0)[..., None]
    u = np.linspace(0.0, 1.0, 6)[:, None]
    start, end = (knots + share * before)[:, :, None], (knots + share * after)[:, :, None]
    outline = ((1 - u) ** 2 * start + 2 * u * (1 - u) * knots[:, :, None] + u**2 * end).reshape(len(half), -1, 2)
    thick = np.maximum(fields["thickness"], 1e-3)
    narrow = np.ptp(outline, axis=1).min(axis=1, keepdims=True)
    bevel = np.clip(fields["bevel"], 0.0, 0.98) * np.minimum(thick / 2, 0.2 * narrow)
    angle = np.linspace(0.0, np.pi / 2, 4)
    depth, cut = -thick / 2 + bevel * (1 - np.cos(angle)), bevel * (1 - np.sin(angle))
    rim = [_inset(outline, cut[:, k : k + 1]) for k in range(len(angle))]
    middle = outline.mean(axis=1, keepdims=True)
    inner = [middle + one * (rim[0] - middle) for one in np.linspace(0.1, 1.0, CAPS + 1)[:-1]]
    face = np.stack([*inner, *rim], axis=1)
    depth = np.concatenate([np.repeat(depth[:, :1], CAPS, axis=1), depth], axis=1)[..., None]
    depth = np.broadcast_to(depth, face.shape[:3])
    low = np.concatenate([face, depth[..., None]], axis=-1)
    puff = fields["puff"] * thick
    if np.abs(fields["puff"]).max() > 1e-3:
        far = _to_outline(face.reshape(len(half), -1, 2), outline).reshape(depth.shape)
        far = np.clip(far / np.maximum(far.max(axis=(1, 2), keepdims=True), 1e-9), 0.0, 1.0)
        low[..., 2] -= puff[..., None] * np.sqrt(1.0 - (1.0 - far) ** 2)
    high = low[:, ::-1] * [1.0, 1.0, -1.0]
    rings = np.concatenate([low, high], axis=1)
    reach = np.maximum(np.abs(outline).max(axis=1), 1e-9)[:, None, None]
    bend = np.concatenate([fields["bow"], fields["curl"]], axis=1)[:, None, None]
    rings[..., 2] += (bend * (rings[..., :2] / reach) ** 2).sum(axis=-1)
    return rings


def _inset(outline: Float[np.ndarray, "B N 2"], amount: Float[np.ndarray, "B 1"]) -> Float[np.ndarray, "B N 2"]:
    along = np.roll(outline, -1, axis=1) - np.roll(outline, 1, axis=1)
    inwards = np.stack([-along[..., 1], along[..., 0]], axis=-1)
    return outline + amount[..., None] * inwards / np.maximum(np.linalg.norm(inwards, axis=-1, keepdims=True), 1e-9)


def _to_outline(points: Float[np.ndarray, "B P 2"], outline: Float[np.ndarray, "B N 2"]) -> Float[np.ndarray, "B P"]:
    """Distance to a closed outline, of which every other corner is enough."""
    outline = outline[:, ::2]
    step = (np.roll(outline, -1, axis=1) - outline)[:, None]
    offset = points[:, :, None] - outline[:, None]
    along = np.clip((offset * step).sum(-1) / np.maximum((step**2).sum(-1), 1e-12), 0.0, 1.0)
    away = offset - along[..., None] * step
    return np.asarray(np.sqrt((away**2).sum(-1).min(axis=2)))


_RINGS: Mapping[str, Callable[[Batch, Float[np.ndarray, "B 3"]], Rings]] = {
    "block": _block, "plate": _plate, "lathe": _lathe, "sheet": _sheet,
}  # fmt: skip
