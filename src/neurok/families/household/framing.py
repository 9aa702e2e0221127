"""Helpers of furniture makers: bars between points, legs, rows of copies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from neurok.families.household.solids import Solid, block, lathe
from neurok.modelling.dice import Dice

Triple = Sequence[float] | np.ndarray


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
    long, r = float(np.linalg.norm(end - start)), radius
    knots = [
        (0.7 * r, 0, 1),
        (0.65 * r, 0.18 * long, 0),
        (1.3 * r * beads, 0.3 * long, 0),
        (0.75 * r, 0.42 * long, 0),
        (1.0 * r, 0.5 * long, 0),
        (1.35 * r * beads, 0.66 * long, 0),
        (0.8 * r, 0.82 * long, 0),
        (0.8 * r, long, 1),
    ]
    return lathe(knots, start, towards(start, end))


def leg_solid(d: Dice, kind: str, top: np.ndarray, foot: np.ndarray, thick: float) -> tuple[Solid, list[str]]:
    """A leg from ``foot`` up to ``top`` and the words for it."""
    if kind == "turned":
        return turned_bar(foot, top, 0.55 * thick, d.between(0.9, 1.25)), ["turned"]
    if kind == "sabre":
        long = float(np.linalg.norm(top - foot))
        out = 0.1 * long * d.between(0.4, 1.0)
        solid = block(
            (thick, long, thick),
            (top + foot) / 2,
            towards(foot, top),
            corner=0.15,
            edge=0.2,
            widths=np.linspace(0.7, 1, 5),
            depths=np.linspace(0.7, 1, 5),
            bow=(0.0, -0.5 * out),
        )
        return solid, ["curved"]
    taper = d.between(0.45, 0.7) if kind == "tapered" else 1.0
    corner = {"square": 0.1, "round": 1.0, "tapered": d.pick([0.12, 1.0])}[kind]
    return bar(foot, top, thick, corner=corner, taper=taper), [kind]


def row(count: int, half: float) -> tuple[float, float]:
    """First place and step of ``count`` copies spread over ``-half..half`` with equal gaps at the ends."""
    step = 2.0 * half / (count + 1)
    return -half + step, step
