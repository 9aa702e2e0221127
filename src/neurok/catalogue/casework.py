"""Which parts close the opening of which hollow: doors and drawers of a body, lids of a box. Said once per category.

Carcasses with their doors, drawers, shelves and handles: what cabinets, tables, desks and fridges share.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from neurok.catalogue import materials
from neurok.catalogue.assemble import ONCE, Maker
from neurok.catalogue.parts import Appearance, Hinge, Part, Repeat
from neurok.catalogue.solids import Solid, block, lathe, tube, turned
from neurok.modelling.forms import Hollow
from neurok.modelling.sampler import Sampler


@dataclass(frozen=True)
class Face:
    """How the fronts of a category close the openings of its hollow parts."""

    lies: Literal["in", "before"]
    """Whether fronts stand between the walls, or lie before them and cover their edges."""

    fronts: tuple[str, ...]
    """Names of the parts that share the face; those that do not move, too."""

    boards: tuple[str, ...] = ()
    """Names of the boards that stand in the hollow, between fronts or behind them."""

    open_kinds: tuple[str, ...] = ()
    """Kinds of objects of which some of the face may stay open."""


FACES: Mapping[str, Face] = {
    "cabinet": Face("in", ("door", "drawer"), ("divider", "shelf", "rail"), ("bookcase", "nightstand", "sideboard")),
    "desk": Face("in", ("door", "drawer"), ("divider", "shelf")),
    "table": Face("in", ("drawer",), ("divider",)),
    "fridge": Face("before", ("door",), ("divider", "shelf")),
    "microwave": Face("before", ("door", "control panel")),
    "box": Face("before", ("lid",)),
    "bin": Face("before", ("lid",)),
}


def fronts_of(category: str, parts: Sequence[Part]) -> dict[int, list[int]]:
    """The numbers of the fronts of each hollow part that has some."""
    face, found = FACES.get(category), dict[int, list[int]]()
    if face is None:
        return found
    for number, part in enumerate(parts):
        hollow = part.parent if part.name in face.fronts and "sliding" not in part.style else -1
        while hollow >= 0 and (parts[hollow].hollow is None or parts[hollow].hinge is not None):
            hollow = parts[hollow].parent
        if hollow >= 0:
            found.setdefault(hollow, []).append(number)
    return found


def boards_of(category: str, parts: Sequence[Part], hollow: int) -> list[int]:
    """Numbers of the boards that stand in a hollow part: dividers and shelves."""
    names, inside = FACES[category].boards, {hollow}
    for number, part in enumerate(parts):
        if part.parent in inside and part.name in names:
            inside.add(number)
    return sorted(inside - {hollow})


# Measures of joinery [m].
SINK = 0.0015  # How far parts reach into each other where they meet; less than one sees, more than rounding errors
GAP = 0.0025  # Between a front and what it does not hang on; joiners leave 2 to 3 mm
THICKNESS = 0.018  # Of doors; the usual strength of boards
TRAY_WALL = 0.012  # Walls of drawers
PULLED_SHARE = 0.75  # Share of its depth that a drawer comes out; beyond, it would tip

Grip = Literal["knob", "bar", "cup", "none"]
Side = Literal[-1, 1]
"""-1 is hung at its left edge, 1 at its right one, as seen from the front."""


@dataclass(frozen=True)
class Opening:
    """A rectangle in a plane that faces +z: what a front closes [m]."""

    left: float
    right: float
    low: float
    high: float
    z: float
    """Plane of the face of the front."""

    @property
    def middle(self) -> tuple[float, float]:
        return (self.left + self.right) / 2, (self.low + self.high) / 2

    @property
    def wide(self) -> float:
        return self.right - self.left

    @property
    def tall(self) -> float:
        return self.high - self.low

    def columns(self, shares: Sequence[float], between: float) -> list[Opening]:
        """Parts of it side by side, from left to right, ``between`` apart."""
        room = self.wide - between * (len(shares) - 1)
        ends = self.left + np.concatenate([[0.0], np.cumsum(np.asarray(shares) / np.sum(shares) * room)])
        return [
            replace(self, left=float(ends[k] + k * between), right=float(ends[k + 1] + k * between))
            for k in range(len(shares))
        ]

    def hung(self, side: Side) -> Opening:
        """What a front on hinges fills: its hung edge reaches into the wall, the other keeps a gap."""
        left, right = (-SINK, GAP) if side < 0 else (GAP, -SINK)
        return replace(self, left=self.left + left, right=self.right - right)

    def rows(self, shares: Sequence[float], between: Sequence[float]) -> list[Opening]:
        """Parts of it above each other, from the bottom, with so much between each and the next."""
        room = self.tall - float(np.sum(between))
        heights = np.asarray(shares) / np.sum(shares) * room
        out, low = [], self.low
        for height, space in zip(heights, [*between, 0.0], strict=True):
            out.append(replace(self, low=float(low), high=float(low + height)))
            low += height + space
        return out


@dataclass(frozen=True)
class Fronts:
    """How the doors and drawers of one thing look."""

    appearance: Appearance
    grip: Grip
    metal: Appearance
    """Of handles."""

    wide: float
    """Length of a handle or width of a knob [m]."""

    fill: str = "plain"
    """``plain``, ``panelled`` or ``glazed``: what a door has in its middle."""

    inside: Appearance | None = None
    """Of panels and panes."""


def draw_fronts(d: Sampler, finish: Appearance, fills: Sequence[str] = ("plain",)) -> Fronts:
    """Mostly of the same look as the body."""
    grip: Grip = d.pick(["knob", "bar", "cup", "none"], [4, 4, 1, 0.7])
    wide = {"knob": d.between(0.022, 0.038), "bar": d.between(0.09, 0.2), "cup": d.between(0.07, 0.1), "none": 0.0}
    fill = d.pick(list(fills))
    face = finish if d.chance(0.75) else materials.board(d)
    panel, pane = face if d.chance(0.6) else materials.board(d), materials.milk_glass(d)
    inside = {"plain": None, "panelled": panel, "glazed": pane}[fill]
    return Fronts(face, grip, materials.fittings(d), wide[grip], fill, inside)


def carcass(size: npt.ArrayLike, at: npt.ArrayLike, wall: float) -> tuple[Solid, Hollow]:
    """A box of width, height and depth that is open towards +z."""
    wide, tall, deep = np.asarray(size, dtype=np.float64)
    return block((wide, deep, tall), at, turned(x=90), corner=0.02, edge=0.0), Hollow(wall, "top")


def board_between(low: npt.ArrayLike, high: npt.ArrayLike) -> Solid:
    """A straight board that fills a box between two corners."""
    a, b = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    return block(b - a, (a + b) / 2, corner=0.02, edge=0.05)


def hung_board(opening: Opening, side: Side, thick: float, upper: float) -> tuple[Solid, Hinge]:
    """A board in an opening that turns about the front corner of its hung edge, by ``upper`` [rad]."""
    edge, inner = opening.left if side < 0 else opening.right, opening.hung(side)
    hinge = Hinge("revolute", (0, side, 0), (edge, opening.middle[1], opening.z), 0.0, upper)
    low = (inner.left, opening.low, opening.z - thick)
    return board_between(low, (inner.right, opening.high, opening.z)), hinge


def add_door(
    m: Maker, opening: Opening, side: Side, fronts: Fronts, parent: int, *, thick: float = THICKNESS, upper: float
) -> int:
    """A door, with its panel or pane and its handle, that turns by ``upper`` [rad]."""
    low, high, z = opening.low + GAP, opening.high - GAP, opening.z
    solid, hinge = hung_board(replace(opening, low=low, high=high), side, thick, upper)
    door = m.add("door", solid, fronts.appearance, parent, "" if fronts.fill == "plain" else fronts.fill, hinge=hinge)
    left, right = opening.hung(side).left, opening.hung(side).right
    rail = float(min(0.07, 0.2 * (right - left)))
    if fronts.inside is not None:
        back = z - thick - 0.001 if fronts.fill == "glazed" else z - 0.01
        inner = board_between((left + rail, low + rail, back), (right - rail, high - rail, z + 0.003))
        m.add("glass pane" if fronts.fill == "glazed" else "panel", inner, fronts.inside, door)
    inset = rail / 2 if fronts.fill != "plain" else min(0.045, 0.14 * opening.wide)
    x = right - inset if side < 0 else left + inset
    middle = (low + high) / 2
    y = middle if opening.tall < 1.2 and opening.low > 0.5 else min(max(middle, high - 0.25), 1.05)
    add_grip(m, fronts, (x, min(y, high - 0.06), z), door, upright=True, most=0.6 * opening.tall)
    return door


def add_dividers(
    m: Maker, columns: Sequence[Opening], back: float, face: float, finish: Appearance, body: int
) -> list[int]:
    """Upright boards between columns, and the wall at the left of each column: the body, then the dividers."""
    walls = [body]
    for a, b in itertools.pairwise(columns):
        solid = board_between((a.right, a.low - SINK, back - SINK), (b.left, a.high + SINK, face))
        walls.append(m.add("divider", solid, finish, body))
    return walls


def add_drawer_case(
    m: Maker,
    finish: Appearance,
    fronts: Fronts,
    room: Opening,
    deep: float,
    count: int,
    most: float,
    wall: float,
    top: int,
) -> int:
    """A flat case around ``room``, open to the front, with drawers side by side that are at most so deep."""
    size = (room.wide + 2 * wall, room.tall + 2 * wall, deep)
    solid, hollow = carcass(size, (*room.middle, 0), wall)
    apron = m.add("apron", solid, finish, top, hollow=hollow)
    columns = room.columns([1.0] * count, wall)
    walls = add_dividers(m, columns, -deep / 2 + wall, deep / 2 - 0.002, finish, apron)
    for column, side in zip(columns, walls, strict=True):
        add_drawer(m, column, min(deep - wall - 0.02, most), fronts, side)
    return apron


def add_drawer(m: Maker, opening: Opening, deep: float, fronts: Fronts, parent: int) -> int:
    """A tray that slides out towards +z; its sides reach a little into the walls that carry it."""
    x, y = opening.middle
    size = (opening.wide + 2 * SINK, opening.tall - 2 * GAP, deep)
    at = (x, y, opening.z - deep / 2)
    slide = Hinge("prismatic", (0, 0, 1), at, 0.0, PULLED_SHARE * deep)
    tray = Hollow(min(TRAY_WALL, 0.2 * size[1]), "top")
    solid = block(size, at, corner=0.02, edge=0.0)
    drawer = m.add("drawer", solid, fronts.appearance, parent, hollow=tray, hinge=slide)
    is_wide = opening.wide > 0.7 and fronts.grip != "none"
    off = 0.28 * opening.wide if is_wide else 0.0
    repeat = Repeat("x", pivot=(x, opening.z)) if is_wide else ONCE
    most, high = 0.5 * opening.wide, 0.6 * opening.tall
    add_grip(m, fronts, (x + off, y, opening.z), drawer, most=most, high=high, repeat=repeat)
    return drawer


def add_grip(
    m: Maker,
    fronts: Fronts,
    at: tuple[float, float, float],
    parent: int,
    *,
    upright: bool = False,
    most: float = 1.0,
    high: float = 1.0,
    repeat: Repeat = ONCE,
) -> None:
    """A knob or handle on a front, no longer than ``most`` and no higher than ``high`` [m]; it moves along."""
    wide = min(fronts.wide, most)
    if fronts.grip == "knob":
        r, z = min(wide, high) / 2, 0.9 * min(wide, high)
        knots = [(0.5 * r, -0.003, 1), (0.42 * r, 0.45 * z, 0.3), (r, 0.7 * z, 0.2), (0.75 * r, z, 0.6)]
        m.add("knob", lathe(knots, at, turned(x=90)), fronts.metal, parent, "round", repeat=repeat)
    elif fronts.grip == "bar":
        out, long = 0.028, wide / 2
        across = np.array([0.0, 1.0, 0.0]) if upright else np.array([1.0, 0.0, 0.0])
        ends = ((-1, -0.003), (-1, out), (1, out), (1, -0.003))
        points = [sign * long * across + np.array([0.0, 0.0, z]) for sign, z in ends]
        bar = tube(points, min(0.0055, 0.2 * high), at, bend=0.008)
        m.add("handle", bar, fronts.metal, parent, "bar", repeat=repeat)
    elif fronts.grip == "cup":
        tall = min(0.32 * wide, 0.5 * high)
        cup = block((wide, tall, 0.028), np.add(at, (0, 0, 0.011)), corner=0.5, edge=(0.1, 0.8))
        m.add("handle", cup, fronts.metal, parent, "cup", repeat=repeat)


def add_shelves(
    m: Maker, opening: Opening, back: float, count: int, finish: Appearance, parent: int, thick: float = 0.016
) -> None:
    """Shelves behind a front, evenly spaced, held by the walls and the back; as one part."""
    if count < 1:
        return
    step = opening.tall / (count + 1)
    y, front = opening.low + step, opening.z - THICKNESS - 0.012
    low = (opening.left - SINK, y - thick / 2, back - SINK)
    high = (opening.right + SINK, y + thick / 2, front)
    m.add("shelf", board_between(low, high), finish, parent, repeat=Repeat(count=count, step=(0, step, 0)))
