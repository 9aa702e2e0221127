"""What makers of furniture share: bars between points, legs, castors and rockers, copies in rows and around."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from neurok.families.household.assemble import FOUR, PAIR, Maker
from neurok.families.household.parts import Look, Repeat
from neurok.families.household.solids import Solid, block, lathe, profile, tube, turned
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
    long, bead = float(np.linalg.norm(end - start)), beads
    shares = [(0.7, 0, 1), (0.65, 0.18, 0), (1.3 * bead, 0.3, 0), (0.75, 0.42, 0), (1, 0.5, 0), (1.35 * bead, 0.66, 0)]
    knots = profile(radius, long, [*shares, (0.8, 0.82, 0), (0.8, 1, 1)])
    return lathe(knots, start, towards(start, end))


def leg_solid(d: Dice, kind: str, top: Triple, foot: Triple, thick: float) -> tuple[Solid, str]:
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


def add_legs(
    m: Maker,
    d: Dice,
    kind: str,
    look: Look,
    parent: int,
    top: Triple,
    foot: Triple,
    thick: float,
    *style: str,
    name: str = "leg",
    repeat: Repeat = FOUR,
) -> int:
    """Legs from ``foot`` up to ``top`` (of the first), under the four corners of something unless said otherwise."""
    solid, word = leg_solid(d, kind, top, foot, thick)
    return m.add(name, solid, look, parent, word, *style, repeat=repeat)


def add_castors(
    m: Maker, look: Look, parent: int, at: Triple, size: tuple[float, float], edge: float, repeat: Repeat = FOUR
) -> int:
    """Small wheels of a diameter and a width [m] that roll along z."""
    wide, thin = size
    solid = block((wide, thin, wide), at, turned(z=90), corner=1.0, edge=edge)
    return m.add("castor", solid, look, parent, "round", repeat=repeat)


def add_rockers(m: Maker, look: Look, parent: int, x: float, z: float, beyond: float, rise: float, r: float) -> None:
    """A pair of runners along z on which something rocks."""
    points = [(x, rise, -z - beyond), (x, 0.0, -0.5 * z), (x, 0.0, 0.5 * z), (x, rise, z + beyond)]
    m.add("rocker", tube(points, r, square=0.8, bend=1.0), look, parent, "curved", repeat=PAIR)
    m.style.append("rocking")


def around(count: int, pivot: tuple[float, float] = (0.0, 0.0)) -> Repeat:
    """Copies evenly about the vertical through a pivot (x, z)."""
    return Repeat(count=count, turn=2 * np.pi / count, pivot=pivot)


def row(count: int, half: float) -> tuple[float, float]:
    """First place and step of ``count`` copies spread over ``-half..half`` with equal gaps at the ends."""
    step = 2.0 * half / (count + 1)
    return -half + step, step
