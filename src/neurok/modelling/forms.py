"""Thin and long solids: bars along a few points, and sheets given by their widths and bends.

Turned solids: a profile of knots, each sharp or smooth, revolved about y; solid, or a shell of even thickness.

Forms: solids written as a kind and at most 24 numbers, so that a network can write them too.

A form fills a box about the origin. Lengths in a code are in halves of the box's longest side, so that a code says the
same at every size; whatever the numbers, the solid is closed and is stretched to fill its box.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from neurok.errors import NeurokError, ShapeError
from neurok.modelling import profiles
from neurok.modelling.booleans import difference, from_manifold, to_manifold
from neurok.modelling.shapes import Shape, loft
from neurok.modelling.sweeps import sweep

Fields = Mapping[str, Float[np.ndarray, " _"]]

SMOOTH_BEND = 0.75
"""From here on a bar follows a smooth curve through its points; below, straight runs with rounded corners."""


def bar_path(points: Float[np.ndarray, "6 3"], bend: float) -> tuple[Float[np.ndarray, "N 3"], bool]:
    """The centre line, and whether it is closed: its last point then lies on its first."""
    closed = bool(np.linalg.norm(points[0] - points[-1]) < 0.02 * max(float(np.ptp(points, axis=0).max()), 1e-9))
    points = points[:-1] if closed else points
    gap = np.linalg.norm(np.diff(points, axis=0), axis=1)
    points = points[np.concatenate([[True], gap > 1e-3 * max(float(gap.max()), 1e-9)])]
    if len(points) < 2:
        points = np.array([[0.0, -1.0, 0.0], [0.0, 1.0, 0.0]])
    if closed:
        return profiles.smooth_curve(points, 40, closed=True), True
    if bend >= SMOOTH_BEND:
        return profiles.smooth_curve(points, 32), False
    return profiles.rounded_path(points, max(bend, 0.01), 6), False


def bar_shape(fields: Fields, unit: float, thinner: float = 0.0) -> Shape:
    """A bar of changing radius; its section is flattened across local z and squared. Lengths in units of ``unit``."""
    path, closed = bar_path(fields["points"].reshape(-1, 3), float(fields["bend"][0]))
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    radii = np.interp(length / length[-1], [0.0, 0.5, 1.0], np.maximum(fields["radii"], 2e-3)) - thinner / unit
    radii = np.maximum(radii, 1e-3)
    flat, square = float(np.clip(fields["flat"][0], 0.02, 1.0)), float(np.clip(fields["square"][0], 0.0, 1.0))
    power = 2.0 / max(1.0 - 0.94 * square, 0.06)
    section = profiles.superellipse(flat, 1.0, power, 16)
    start = path[1] - path[0]
    hint = (0.0, 0.0, 1.0) if np.abs(start[2]) < 0.95 * np.linalg.norm(start) else (1.0, 0.0, 0.0)
    shape = sweep(section, path, closed, scales=radii, up=hint)
    return shape.scale(unit).outward()


def sheet_shape(fields: Fields, unit: float) -> Shape:
    """A sheet that starts at the origin along y, across x; lengths in units of ``unit``."""
    from scipy.interpolate import PchipInterpolator

    stations, v = np.linspace(0.0, 1.0, 9), np.linspace(0.0, 1.0, 26)
    width = np.maximum(PchipInterpolator(stations, fields["widths"])(v), 0.004)
    angle = np.cumsum(PchipInterpolator(stations, fields["bends"])(v)) * 8.0 / 25.0
    step = max(float(fields["length"][0]), 1e-3) / 25.0
    run = np.column_stack([np.zeros(26), np.cos(angle), np.sin(angle)])
    centre = np.concatenate([np.zeros((1, 3)), np.cumsum(0.5 * step * (run[1:] + run[:-1]), axis=0)])
    normal = np.column_stack([np.zeros(26), -np.sin(angle), np.cos(angle)])
    twist = float(fields["twist"][0]) * v
    side = np.cos(twist)[:, None] * np.array([1.0, 0.0, 0.0]) + np.sin(twist)[:, None] * normal
    out = np.cross(side, run)
    u = np.linspace(-1.0, 1.0, 9)
    lift = float(fields["cup"][0]) * width[:, None] * np.abs(u) ** 1.5
    lift = lift + float(fields["wave"][0]) * u**2 * np.sin(2.0 * np.pi * float(fields["waves"][0]) * v)[:, None]
    middle = centre[:, None] + width[:, None, None] * u[None, :, None] * side[:, None] + lift[..., None] * out[:, None]
    half = 0.5 * max(float(fields["thickness"][0]), 1e-3) * (1.0 - 0.5 * u**2)[None, :, None] * out[:, None]
    rings = np.concatenate([middle + half, (middle - half)[:, ::-1]], axis=1)
    return loft(rings * unit)


SEGMENTS = {"faceted": 8}
"""Sides of a turned solid by its relief ..."""

ROUND = 40
"""... and otherwise."""


def profile_curve(knots: Float[np.ndarray, "*B K 3"], samples: int = 7) -> Float[np.ndarray, "*B N 2"]:
    """The curve through knots of (radius, height, sharpness): corners where sharpness is 1, smooth where it is 0."""
    point, sharp = knots[..., :2], np.clip(knots[..., 2:], 0.0, 1.0)
    step = np.diff(point, axis=-2)
    length = np.maximum(np.linalg.norm(step, axis=-1, keepdims=True), 1e-9)
    slope = step / length
    before, a = (np.concatenate([values[..., :1, :], values], axis=-2) for values in (slope, length))
    after, b = (np.concatenate([values, values[..., -1:, :]], axis=-2) for values in (slope, length))
    # Harmonic means, and none at an extreme (Fritsch and Carlson 1980): a curve that never swings past its knots.
    weight = [2 * b + a, b + 2 * a]
    agree = before * after > 1e-12
    below = np.where(agree, weight[0] / np.where(agree, before, 1.0) + weight[1] / np.where(agree, after, 1.0), 1.0)
    smooth = np.where(agree, (weight[0] + weight[1]) / below, 0.0)
    smooth[..., 0, :], smooth[..., -1, :] = before[..., 0, :], after[..., -1, :]
    leave = (sharp * after + (1 - sharp) * smooth)[..., :-1, :] * length
    arrive = (sharp * before + (1 - sharp) * smooth)[..., 1:, :] * length
    t = np.linspace(0.0, 1.0, samples)[:-1, None]
    a, b, da, db = (one[..., None, :] for one in (point[..., :-1, :], point[..., 1:, :], leave, arrive))
    curve = (2 * t**3 - 3 * t**2 + 1) * a + (t**3 - 2 * t**2 + t) * da + (3 * t**2 - 2 * t**3) * b + (t**3 - t**2) * db
    curve = np.concatenate([curve.reshape(*knots.shape[:-2], -1, 2), point[..., -1:, :]], axis=-2)
    curve[..., 0] = np.maximum(curve[..., 0], 0.0)
    return curve


def turned_shape(
    knots: Float[np.ndarray, "K 3"], wall: float = 0.0, opening: str = "", relief: str = "smooth"
) -> Shape:
    """The solid inside a profile, or with ``wall`` its shell, open at the ``top`` (last knot), ``bottom`` or both ends.

    Profiles that cross themselves are cleaned, so that any knots give a closed solid.
    """
    curve = profile_curve(knots)
    if relief == "ribbed":
        curve = ribbed(curve)
    section = _section(curve)
    if wall > 0.0 and opening:
        section = section - _cavity(curve, wall, opening)
    solid = section.revolve(SEGMENTS.get(relief, ROUND))
    shape = from_manifold(solid)
    if relief == "fluted":
        angle = np.arctan2(shape.vertices[:, 1], shape.vertices[:, 0])
        press = fluted(angle)
        shape = Shape(shape.vertices * np.column_stack([press, press, np.ones(len(press))]), shape.faces)
    return shape.turn("x", -90)


def _section(curve: Float[np.ndarray, "N 2"]):  # type: ignore[no-untyped-def]
    """Both halves of a profile as one outline, so that the axis is inside and offsets leave it alone."""
    from manifold3d import CrossSection, FillRule

    outline = np.concatenate([curve, curve[::-1] * np.array([-1.0, 1.0])])
    return CrossSection([outline], FillRule.NonZero)


def _cavity(curve: Float[np.ndarray, "N 2"], wall: float, opening: str):  # type: ignore[no-untyped-def]
    from manifold3d import JoinType

    reach = np.array([0.0, 2.5 * wall])
    low = [] if opening == "top" else [curve[:1] - reach]
    high = [] if opening == "bottom" else [curve[-1:] + reach]
    return _section(np.concatenate([*low, curve, *high])).offset(-wall, JoinType.Miter, 2.0)


def fluted(angle: Float[np.ndarray, " N"]) -> Float[np.ndarray, " N"]:
    """Share of the radius that ten flutes leave at each angle [rad]."""
    return 1.0 - 0.07 * (1.0 - np.abs(np.cos(5.0 * angle)))


def ribbed(curve: Float[np.ndarray, "N 2"]) -> Float[np.ndarray, "N 2"]:
    """Rings around the middle of the profile."""
    fine = profiles.evenly(curve, 160)
    share = np.clip((fine[:, 1] - fine[:, 1].min()) / max(np.ptp(fine[:, 1]), 1e-9), 0.0, 1.0)
    fade = np.clip(np.minimum(share - 0.1, 0.9 - share) * 20.0, 0.0, 1.0)
    fine[:, 0] *= 1.0 - 0.03 * fade * (1.0 + np.cos(2.0 * np.pi * 13.0 * share))
    return fine


Kind = Literal["implicit", "block", "plate", "lathe", "tube", "sheet"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""``implicit`` has no code of its own: a mesh, or whatever a decoder makes of 24 numbers."""

CODE = 24
"""Numbers of a code; those that a kind does not use are zero."""

LAYOUT: Mapping[str, tuple[tuple[str, int], ...]] = {
    kind: tuple((name, int(count)) for name, count in (entry.split() for entry in fields.split(", ")))
    for kind, fields in {
        "block": "widths 5, depths 5, lean 2, bow 2, corner 1, edges 2, crowns 2, pinch 1, welt 1",
        "plate": "knots 18, thickness 1, round 1, bevel 1, puff 1, bow 1, curl 1",
        "lathe": "knots 24",
        "tube": "points 18, radii 3, flat 1, square 1, bend 1",
        "sheet": "widths 9, bends 9, thickness 1, length 1, cup 1, twist 1, wave 1, waves 1",
    }.items()
}
"""What the numbers of each kind are, in order.

``block``: half widths (x) and half depths (z) at five heights; lean and bow of its axis towards x and z; corner of the
plan (1 an ellipse, towards 0 a rectangle); rounding of the bottom and top edge (1 as round as it can be); crown of the
bottom and top face (share of half its height; negative is a dent); how far its sides are drawn in; ridge of a seam.
``plate``: nine corners (x, y) of its outline, counter-clockwise; thickness; rounding of corners; bevel; puff of its
faces; bow along x; curl along y. ``lathe``: eight knots of (radius, height, sharpness) from bottom to top. ``tube``:
six points of its centre line, radius at its start, middle and end, flatness (1 is round) across local z, squareness,
and bend: radius of corners, or a smooth curve from 0.75. ``sheet``: half widths and bends [rad] at nine stations,
thickness, length, cup, twist [rad], height and number of waves."""

LEAST_RADIUS = 1e-3
"""A turned solid whose radii are all below this [halves of its longest side] is turned inside out, or a thread."""

Opening = Literal["", "top", "bottom", "through"]
OPENINGS: tuple[Opening, ...] = get_args(Opening)

Relief = Literal["smooth", "tufted", "quilted", "channelled", "faceted", "ribbed", "fluted"]
RELIEFS: tuple[Relief, ...] = get_args(Relief)
"""Of a surface: the first four on blocks (the face towards +y), the others on turned solids."""


@dataclass(frozen=True)
class Hollow:
    """A wall instead of a full solid."""

    wall: float
    """Thickness [m]."""

    opening: Opening = "top"


def code_of(kind: str, **fields: npt.ArrayLike) -> Float[np.ndarray, "24"]:
    """The numbers of a kind in their order; fields that are not given are zero."""
    known = dict(LAYOUT[kind])
    unknown = set(fields) - set(known)
    if unknown:
        raise NeurokError(f"A {kind} has no {sorted(unknown)[0]!r}; it has {', '.join(known)}.")
    rows = []
    for name, count in LAYOUT[kind]:
        values = np.asarray(fields.get(name, np.zeros(count)), dtype=np.float64).reshape(-1)
        if len(values) != count:
            raise ShapeError(f"'{name}' of a {kind} has {count} numbers, got {len(values)}.")
        rows.append(values)
    code = np.concatenate(rows)
    return np.concatenate([code, np.zeros(CODE - len(code))])


def fields_of(kind: str, code: npt.ArrayLike) -> dict[str, np.ndarray]:
    """The named numbers of a code."""
    values = np.asarray(code, dtype=np.float64)
    if values.shape != (CODE,):
        raise ShapeError(f"A code has {CODE} numbers, got shape {values.shape}.")
    ends = np.cumsum([0, *(count for _, count in LAYOUT[kind])])
    return {name: values[a:b] for (name, _), a, b in zip(LAYOUT[kind], ends[:-1], ends[1:], strict=True)}


def mesh_of(
    kind: str,
    code: npt.ArrayLike,
    size: npt.ArrayLike,
    hollow: Hollow | None = None,
    relief: str = "smooth",
) -> Shape:
    """The closed solid of a code, filling a box of ``size`` [m] about the origin.

    Raises:
        NeurokError: If the kind has no explicit code (``implicit``) or does not exist.
    """
    if kind not in LAYOUT:
        raise NeurokError(f"A form of kind {kind!r} has no code that says its shape; those of {', '.join(LAYOUT)} do.")
    half = np.maximum(np.asarray(size, dtype=np.float64), 1e-5) / 2.0
    fields = fields_of(kind, code)
    wall = hollow.wall if hollow is not None else 0.0
    if wall > 0 and hollow is not None and kind == "lathe":
        return fitted(_lathe(fields, half, wall, hollow.opening, relief), 2 * half)
    outer = fitted(_SOLIDS[kind](fields, half, relief), 2 * half)
    if wall <= 0 or hollow is None or not hollow.opening or kind not in ("block", "plate"):
        return outer
    return hollowed(outer, wall, hollow.opening)


def raw_shape(kind: str, code: npt.ArrayLike, half: Float[np.ndarray, "3"], relief: str = "smooth") -> Shape:
    """The solid before it is stretched to its box, in the frame in which its code was written."""
    return _SOLIDS[kind](fields_of(kind, code), half, relief)


def fitted(shape: Shape, size: Float[np.ndarray, "3"]) -> Shape:
    """Stretched and moved to fill a box about the origin."""
    low, high = shape.bounds
    factor = np.divide(size, high - low, out=np.ones(3), where=high - low > 1e-12)
    return Shape((shape.vertices - (low + high) / 2.0) * factor, shape.faces, shape.uv)


def hollowed(outer: Shape, wall: float, opening: str) -> Shape:
    """A solid without its inside, which reaches out through the opening; edges there should not be rounded."""
    size = np.ptp(outer.bounds, axis=0)
    wall = min(wall, 0.3 * float(size.min()))
    inner = fitted(outer, size + wall * np.array([-2.0, 4.0 if opening == "through" else 1.0, -2.0]))
    return difference(outer, inner.move(y={"top": 1.5, "bottom": -1.5, "through": 0.0}[opening] * wall))


def _lathe(fields: Fields, half: np.ndarray, wall: float, opening: str, relief: str) -> Shape:
    unit = float(half.max())
    knots = fields["knots"].reshape(-1, 3) * np.array([unit, unit, 1.0])
    if knots[:, 0].max() < LEAST_RADIUS * unit:  # nothing would be left of it
        knots[:, 0] = np.maximum(np.abs(knots[:, 0]), LEAST_RADIUS * unit)
    return turned_shape(knots, wall, opening, relief)


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
            [profiles.evenly(curve[: middle + 1], count // 8 + 1)[:-1], profiles.evenly(curve[middle:], count // 8 + 1)]
        )
    curve = curve[:-1]
    return np.concatenate([curve, curve[:, ::-1] * [-1.0, 1.0], -curve, curve[:, ::-1] * [1.0, -1.0]])


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
        near_a, near_b = np.abs(np.cos(np.pi * a)), np.abs(np.cos(np.pi * b))
        lines = np.maximum(near_a**10, near_b**10)
        buttons = (near_a * near_b) ** 6
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


def plate_shape(fields: Fields, unit: float) -> Shape:
    """A plate about the xy plane; lengths are in units of ``unit``."""
    outline = plate_outline(fields["knots"].reshape(-1, 2), float(fields["round"][0])) * unit
    thick = max(float(fields["thickness"][0]), 1e-3) * unit
    narrow = min(np.ptp(outline[:, 0]), np.ptp(outline[:, 1]))
    bevel = float(np.clip(fields["bevel"][0], 0.0, 0.98)) * min(thick / 2, 0.2 * narrow)
    rows = [(-thick / 2 + bevel * (1 - np.cos(a)), bevel * (1 - np.sin(a))) for a in np.linspace(0, np.pi / 2, 4)]
    rows = rows if bevel > 1e-5 * unit else [(-thick / 2, 0.0)]
    rows += [(-z, cut) for z, cut in rows[::-1]]
    solid = loft([np.column_stack([profiles.inset(outline, cut), np.full(len(outline), z)]) for z, cut in rows])
    puff, bow, curl = (float(fields[name][0]) for name in ("puff", "bow", "curl"))
    if max(abs(puff), abs(bow), abs(curl)) < 1e-3:
        return solid
    fine = from_manifold(to_manifold(solid).refine_to_length(0.16 * unit))
    return Shape(_bent(fine.vertices, outline, (puff * thick, bow * unit, curl * unit)), fine.faces)


def plate_outline(knots: Float[np.ndarray, "K 2"], rounding: float) -> Float[np.ndarray, "N 2"]:
    """A closed outline with each corner replaced by a curve over a share of its sides; crossings are cleaned away."""
    from manifold3d import CrossSection, FillRule

    share = 0.5 * float(np.clip(rounding, 0.0, 1.0))
    before, after = np.roll(knots, 1, axis=0) - knots, np.roll(knots, -1, axis=0) - knots
    if share > 0.01:
        u = np.linspace(0.0, 1.0, 7)[None, :, None]
        start, end = (knots + share * before)[:, None], (knots + share * after)[:, None]
        knots = ((1 - u) ** 2 * start + 2 * u * (1 - u) * knots[:, None] + u**2 * end).reshape(-1, 2)
    clean = CrossSection([knots], FillRule.NonZero).simplify(2e-3 * float(np.ptp(knots, axis=0).max()))
    loops = clean.to_polygons()
    loops = loops if loops else [profiles.rectangle(2.0, 2.0)]
    areas = [abs(_area(loop)) for loop in loops]
    outline = np.asarray(loops[int(np.argmax(areas))], dtype=np.float64)
    return outline if profiles.is_ccw(outline) else outline[::-1]


def _area(loop: Float[np.ndarray, "N 2"]) -> float:
    x, y = np.asarray(loop).T
    return 0.5 * float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))


def _bent(vertices: np.ndarray, outline: np.ndarray, amounts: tuple[float, float, float]) -> np.ndarray:
    """Faces raised away from the outline, then the plate bent along x (``bow``) and along y (``curl``)."""
    puff, bow, curl = amounts
    out = vertices.copy()
    if puff:
        a, step = outline, np.roll(outline, -1, axis=0) - outline
        offset = vertices[:, None, :2] - a[None]
        along = np.clip(np.sum(offset * step, -1) / np.maximum(np.sum(step**2, -1), 1e-12), 0.0, 1.0)
        far = np.linalg.norm(offset - along[..., None] * step[None], axis=-1).min(axis=1)
        share = np.clip(far / max(float(far.max()), 1e-9), 0.0, 1.0)
        out[:, 2] += np.sign(vertices[:, 2]) * puff * np.sqrt(1.0 - (1.0 - share) ** 2)
    for k, amount in ((0, bow), (1, curl)):
        reach = max(float(np.abs(outline[:, k]).max()), 1e-9)
        out[:, 2] += amount * (vertices[:, k] / reach) ** 2
    return out


_SOLIDS: Mapping[str, Callable[[Fields, np.ndarray, str], Shape]] = {
    "block": block_shape,
    "plate": lambda fields, half, relief: plate_shape(fields, float(half.max())),
    "lathe": lambda fields, half, relief: _lathe(fields, half, 0.0, "", relief),
    "tube": lambda fields, half, relief: bar_shape(fields, float(half.max())),
    "sheet": lambda fields, half, relief: sheet_shape(fields, float(half.max())),
}
