"""Solids in the measures of a maker: metres in, a kind, a code and a placed box out."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from neurok.geometry import lie
from neurok.modelling import profiles
from neurok.modelling.forms import Kind, code_of, raw_shape
from neurok.modelling.sampler import Sampler
from neurok.modelling.shapes import AXES

Pair = tuple[float, float]
Fields = dict[str, npt.ArrayLike]
Triple = Sequence[float] | np.ndarray


@dataclass(frozen=True, eq=False)
class Solid:
    """A form and where its box stands."""

    kind: Kind
    code: Float[np.ndarray, "24"]
    size: Float[np.ndarray, "3"]
    centre: Float[np.ndarray, "3"]
    turn: Float[np.ndarray, "3 3"]


def turned(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Float[np.ndarray, "3 3"]:
    """A rotation of so many degrees about z, then x, then y."""
    about_y, about_x, about_z = (
        lie.axis_angle_matrix(AXES[axis], np.radians(degrees)) for axis, degrees in (("y", y), ("x", x), ("z", z))
    )
    return about_y @ about_x @ about_z


def block(
    size: npt.ArrayLike,
    at: npt.ArrayLike = (0.0, 0.0, 0.0),
    turn: npt.ArrayLike | None = None,
    *,
    corner: float = 0.08,
    edge: float | Pair = 0.1,
    widths: npt.ArrayLike = (1.0,) * 5,
    depths: npt.ArrayLike = (1.0,) * 5,
    lean: Pair = (0.0, 0.0),
    bow: Pair = (0.0, 0.0),
    crown: float | Pair = 0.0,
    pinch: float = 0.0,
    welt: float = 0.0,
) -> Solid:
    """A block of about ``size`` whose middle is ``at``; widths and depths are shares of it, from bottom to top.

    ``lean``, ``bow`` and ``welt`` are in metres; crowns are shares of what is left of the height without them.
    """
    half = np.asarray(size, dtype=np.float64) / 2.0
    unit = float(half.max())
    fields: Fields = {
        "widths": np.asarray(widths) * half[0] / unit,
        "depths": np.asarray(depths) * half[2] / unit,
        "lean": np.asarray(lean) / unit,
        "bow": np.asarray(bow) / unit,
        "corner": corner,
        "edges": edge if isinstance(edge, tuple) else (edge, edge),
        "crowns": crown if isinstance(crown, tuple) else (crown, crown),
        "pinch": pinch,
        "welt": welt / unit,
    }
    return _solid("block", fields, half, at, turn)


def ellipsoid(size: npt.ArrayLike, at: npt.ArrayLike = (0.0, 0.0, 0.0), turn: npt.ArrayLike | None = None) -> Solid:
    """A block that is as round as it can be."""
    return block(size, at, turn, corner=1.0, edge=1.0)


def arch(right: Sequence[Sequence[float]]) -> list[tuple[float, ...]]:
    """A line that is its own mirror image in x, from left to right; its right half is given from the end inwards."""
    return [*((-x, *rest) for x, *rest in right), *(tuple(point) for point in reversed(right) if point[0])]


def symmetric(right: Sequence[Sequence[float]]) -> Float[np.ndarray, "N 2"]:
    """An outline that is its own mirror image in x; its right half is given from the bottom up."""
    mirrored = [(-x, y) for x, y in right]
    left = [point for point in reversed(mirrored[1:]) if point[0]]
    return np.array([*(mirrored[:1] if right[0][0] else []), *right, *left], dtype=np.float64)


def profile(radius: float, height: float, knots: Sequence[Sequence[float]], low: float = 0.0) -> list[list[float]]:
    """Knots of (radius, height, sharpness) given in shares of a radius and a height [m], from ``low`` up."""
    return [[r * radius, low + y * height if low else y * height, sharp] for r, y, sharp in knots]


def plate(
    outline: npt.ArrayLike,
    thickness: float,
    at: npt.ArrayLike = (0.0, 0.0, 0.0),
    turn: npt.ArrayLike | None = None,
    *,
    rounding: float = 0.3,
    bevel: float = 0.3,
    puff: float = 0.0,
    bow: float = 0.0,
    curl: float = 0.0,
) -> Solid:
    """A plate whose outline (at most nine corners [m], counter-clockwise) lies in xy about ``at``."""
    corners = _split_longest(np.asarray(outline, dtype=np.float64), 9, closed=True)
    half = np.append(np.abs(corners).max(axis=0), thickness / 2)
    unit = float(half.max())
    fields: Fields = {
        "knots": corners / unit,
        "thickness": thickness / unit,
        "round": rounding,
        "bevel": bevel,
        "puff": puff,
        "bow": bow / unit,
        "curl": curl / unit,
    }
    return _solid("plate", fields, half, at, turn)


def lathe(
    knots: Sequence[Sequence[float]] | np.ndarray,
    at: npt.ArrayLike = (0.0, 0.0, 0.0),
    turn: npt.ArrayLike | None = None,
    *,
    stretch: float = 1.0,
) -> Solid:
    """A turned solid of at most eight knots of (radius, height[, sharpness]) [m]; ``stretch`` makes it oval (z)."""
    rows = _eight(np.array([(*knot, 1.0)[:3] for knot in knots], dtype=np.float64))
    unit = max(float(rows[:, 0].max()), float(np.ptp(rows[:, 1])) / 2)
    solid = _solid("lathe", {"knots": rows / np.array([unit, unit, 1.0])}, np.full(3, unit), at, turn)
    return Solid(solid.kind, solid.code, solid.size * np.array([1.0, 1.0, stretch]), solid.centre, solid.turn)


def tube(
    points: npt.ArrayLike,
    radius: float | Sequence[float],
    at: npt.ArrayLike = (0.0, 0.0, 0.0),
    turn: npt.ArrayLike | None = None,
    *,
    flat: float = 1.0,
    square: float = 0.0,
    bend: float = 1.0,
) -> Solid:
    """A bar through two to six points [m]; ``bend`` [m] rounds its corners, 1 makes it a smooth curve."""
    path = _six(np.asarray(points, dtype=np.float64), is_smooth=bend >= 1.0)
    radii = np.broadcast_to(np.asarray(radius, dtype=np.float64), (3,))
    half = np.maximum(np.abs(path).max(axis=0), radii.max())
    unit = float(half.max())
    fields: Fields = {
        "points": path / unit,
        "radii": radii / unit,
        "flat": flat,
        "square": square,
        "bend": 1.0 if bend >= 1.0 else min(bend / unit, 0.5),
    }
    return _solid("tube", fields, half, at, turn)


def sheet(
    widths: npt.ArrayLike,
    length: float,
    thickness: float,
    at: npt.ArrayLike = (0.0, 0.0, 0.0),
    turn: npt.ArrayLike | None = None,
    *,
    bends: npt.ArrayLike = 0.0,
    cup: float = 0.0,
    twist: float = 0.0,
    wave: float = 0.0,
    waves: float = 0.0,
) -> Solid:
    """A sheet that starts ``at`` and runs along its own y; half widths [m] and bends [rad] at nine stations."""
    half_widths = np.broadcast_to(np.asarray(widths, dtype=np.float64), (9,))
    unit = max(length / 2, float(half_widths.max()))
    fields: Fields = {
        "widths": half_widths / unit,
        "bends": np.broadcast_to(np.asarray(bends, dtype=np.float64), (9,)),
        "thickness": thickness / unit,
        "length": length / unit,
        "cup": cup,
        "twist": twist,
        "wave": wave / unit,
        "waves": waves,
    }
    return _solid("sheet", fields, np.full(3, unit), at, turn)


def _solid(kind: Kind, fields: Fields, half: np.ndarray, at: npt.ArrayLike, turn: npt.ArrayLike | None) -> Solid:
    """Measured once as it is made, so that code and box agree: lengths are rescaled to the box that came out."""
    unit = float(half.max())
    low, high = raw_shape(kind, code_of(kind, **fields), half).bounds
    size, middle = high - low, (low + high) / 2.0
    new = float(size.max()) / 2.0
    code = code_of(kind, **_rescaled(kind, fields, unit / new, middle / unit))
    rotation = np.eye(3) if turn is None else np.asarray(turn, dtype=np.float64)
    return Solid(kind, code, size, np.asarray(at, dtype=np.float64) + rotation @ middle, rotation)


def _rescaled(kind: str, fields: Fields, by: float, middle: np.ndarray) -> dict[str, npt.ArrayLike]:
    """Lengths in another unit, and points about the middle of the box."""
    lengths = {
        "block": ("widths", "depths", "lean", "bow", "welt"),
        "plate": ("thickness", "bow", "curl"),
        "lathe": (),
        "tube": ("radii",),
        "sheet": ("widths", "thickness", "length", "wave"),
    }[kind]
    out = {name: np.asarray(value) * by if name in lengths else value for name, value in fields.items()}
    if kind == "plate":
        out["knots"] = (np.asarray(fields["knots"]) - middle[:2]) * by
    if kind == "tube":
        out["points"] = (np.asarray(fields["points"]) - middle) * by
        out["bend"] = fields["bend"] if float(np.asarray(fields["bend"])) >= 1.0 else np.asarray(fields["bend"]) * by
    if kind == "lathe":
        knots = np.array(fields["knots"], dtype=np.float64)
        knots[:, 1] -= middle[1]
        out["knots"] = knots * np.array([by, by, 1.0])
    return out


def _split_longest(points: np.ndarray, count: int, closed: bool) -> np.ndarray:
    """More points on the longest runs, until there are ``count``."""
    assert len(points) <= count, f"there may be at most {count} points, not {len(points)}"
    rows = [np.array(point) for point in points]
    while len(rows) < count:
        ends = [*rows, rows[0]] if closed else rows
        k = int(np.argmax([np.linalg.norm((b - a)[:3]) for a, b in itertools.pairwise(ends)]))
        rows.insert(k + 1, (ends[k] + ends[k + 1]) / 2.0)
    return np.array(rows)


def _six(points: np.ndarray, is_smooth: bool) -> np.ndarray:
    if len(points) > 6 or (is_smooth and 2 < len(points) < 6):
        return profiles.evenly(profiles.smooth_curve(points, 200), 6)
    return _split_longest(points, 6, closed=False)


def _eight(knots: np.ndarray) -> np.ndarray:
    """Eight knots; those that are added lie on straight runs, between sharp ends first."""
    assert len(knots) <= 8, "a turned solid has at most eight knots"
    rows = [np.array(knot) for knot in knots]
    while len(rows) < 8:
        run = [np.linalg.norm((b - a)[:2]) * (0.5 + a[2] + b[2]) for a, b in itertools.pairwise(rows)]
        k = int(np.argmax(run))
        added = (rows[k] + rows[k + 1]) / 2.0
        added[2] = min(rows[k][2], rows[k + 1][2])
        rows.insert(k + 1, added)
    return np.array(rows)


@dataclass(frozen=True, eq=False)
class Frame:
    """An own set of axes, such as those of a leaning back."""

    origin: Triple
    turn: Float[np.ndarray, "3 3"]

    def at(self, x: float, y: float, z: float) -> Float[np.ndarray, "3"]:
        return np.asarray(self.origin, dtype=np.float64) + self.turn @ np.array([x, y, z], dtype=np.float64)

    def bar(self, a: Triple, b: Triple, wide: float, deep: float | None = None, corner: float = 0.12) -> Solid:
        return bar(self.at(*a), self.at(*b), wide, deep, corner=corner)

    def spindle(self, a: Triple, b: Triple, radius: float) -> Solid:
        """A turned bar with a swelling."""
        start, end = self.at(*a), self.at(*b)
        return turned_bar(start, end, radius)


def towards(a: npt.ArrayLike, b: npt.ArrayLike) -> Float[np.ndarray, "3 3"]:
    """Axes whose y points from ``a`` to ``b`` and whose z stays as near to the object's as it can."""
    y = np.asarray(b, dtype=np.float64) - np.asarray(a, dtype=np.float64)
    y /= np.linalg.norm(y)
    hint = np.array([0.0, 0.0, 1.0]) if abs(y[2]) < 0.9 else np.array([0.0, 1.0, 0.0])
    x = np.cross(y, hint)
    x /= np.linalg.norm(x)
    return np.column_stack([x, y, np.cross(x, y)])


def bar(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    wide: float,
    deep: float | None = None,
    *,
    corner: float = 0.12,
    edge: float = 0.15,
    taper: float = 1.0,
) -> Solid:
    """A straight bar from ``a`` to ``b``; ``taper`` is its thickness at ``a`` beside that at ``b``."""
    start, end = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    shares = np.linspace(taper, 1.0, 5)
    size = (wide, float(np.linalg.norm(end - start)), wide if deep is None else deep)
    return block(size, (start + end) / 2, towards(start, end), corner=corner, edge=edge, widths=shares, depths=shares)


def turned_bar(a: npt.ArrayLike, b: npt.ArrayLike, radius: float, beads: float = 1.0) -> Solid:
    """A bar turned on a lathe, with a bead and a swelling."""
    start, end = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    long, bead = float(np.linalg.norm(end - start)), beads
    shares = [(0.7, 0, 1), (0.65, 0.18, 0), (1.3 * bead, 0.3, 0), (0.75, 0.42, 0), (1, 0.5, 0), (1.35 * bead, 0.66, 0)]
    knots = profile(radius, long, [*shares, (0.8, 0.82, 0), (0.8, 1, 1)])
    return lathe(knots, start, towards(start, end))


def leg_solid(d: Sampler, kind: str, top: Triple, foot: Triple, thick: float) -> tuple[Solid, str]:
    """A leg from ``foot`` up to ``top`` and the word for it."""
    top, foot = np.asarray(top), np.asarray(foot)
    shares = np.linspace(0.7, 1, 5)
    if kind == "turned":
        return turned_bar(foot, top, 0.55 * thick, d.between(0.9, 1.25)), "turned"
    if kind == "sabre":
        size = (thick, float(np.linalg.norm(top - foot)), thick)
        bow = (0.0, -0.5 * (0.1 * size[1] * d.between(0.4, 1.0)))
        middle, turn = (top + foot) / 2, towards(foot, top)
        return block(size, middle, turn, corner=0.15, edge=0.2, widths=shares, depths=shares, bow=bow), "curved"
    taper = d.between(0.45, 0.7) if kind == "tapered" else 1.0
    corner = {"square": 0.1, "round": 1.0, "tapered": d.pick([0.12, 1.0])}[kind]
    return bar(foot, top, thick, corner=corner, taper=taper), kind


def row(count: int, half: float) -> tuple[float, float]:
    """First place and step of ``count`` copies spread over ``-half..half`` with equal gaps at the ends."""
    step = 2.0 * half / (count + 1)
    return -half + step, step
