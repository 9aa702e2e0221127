"""Cabinets: wardrobes, sideboards, nightstands, chests of drawers, cupboards and bookcases; and doors of rooms."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np

from neurok.catalogue import casework, materials
from neurok.catalogue.appearance import draw_appearance
from neurok.catalogue.assemble import PAIR, Maker, add_castors, add_legs
from neurok.catalogue.casework import GAP, SINK, THICKNESS, Fronts, Opening, Side, board_between, carcass
from neurok.catalogue.parts import Appearance, Assembly, Repeat
from neurok.catalogue.solids import block, lathe, tube, turned
from neurok.modelling.sampler import Sampler

Cells = list[tuple[str, float]]
"""What stands above each other in a column, from the bottom: ``door``, ``pair`` (of doors), ``drawer`` or ``open``, and
its share of the height."""

WALL = 0.018
"""Thickness of the boards of a body [m]."""

DRAWER_GAP = 0.004
"""Between drawers above each other [m], besides the gap of each."""

MOST = 24
"""Parts of one object, so that a network can write it in one row of tokens."""

CROWDED = 13
"""Parts of fronts with panels above which doors go without, to stay below that."""


@dataclass(frozen=True)
class CabinetPlan:
    """The measures of a cabinet and what is in it."""

    wide: float
    tall: float
    deep: float
    columns: list[tuple[float, Cells]]
    """Share of the width, and cells."""

    fills: tuple[str, ...] = ("plain", "plain", "panelled", "glazed")
    feet: tuple[str, ...] = ("none", "leg", "plinth")
    has_rail: bool = False
    """Whether clothes hang in it."""

    topped: float = 0.4
    """Chance of a top of its own that juts out."""


def _stack(count: int, kind: str = "drawer") -> Cells:
    return [(kind, 1.0)] * count


def wardrobe(d: Sampler) -> Assembly:
    """One to four tall doors, sometimes drawers beneath."""
    doors, drawers = d.pick([1, 2, 3, 4], [1, 5, 2, 2]), d.pick([0, 1, 2, 3], [4, 1, 2, 1])
    wide, tall = doors * d.between(0.42, 0.55) + 0.04, d.between(1.75, 2.2)
    groups = {1: ["door"], 2: ["pair"], 3: ["pair", "door"], 4: ["pair", "pair"]}[doors]
    columns: list[tuple[float, Cells]] = []
    for k, kind in enumerate(groups):
        under = {1: [drawers], 2: [drawers - drawers // 2, drawers // 2]}[len(groups)][k]
        columns.append((2.0 if kind == "pair" else 1.0, [*[("drawer", 0.13)] * under, (kind, 1.0 - 0.13 * under)]))
    plan = CabinetPlan(
        wide, tall, d.between(0.5, 0.62), columns, ("plain", "plain", "panelled"), has_rail=True, topped=0.25
    )
    return _cabinet(d, plan, "wardrobe")


def sideboard(d: Sampler) -> Assembly:
    """Long and low: columns of doors, drawers and open shelves."""
    count = d.pick([2, 3, 4], [2, 4, 1])
    drawer_column = d.count(0, count - 1) if d.chance(0.65) else -1
    columns: list[tuple[float, Cells]] = []
    for k in range(count):
        cells = _stack(d.count(2, 4)) if k == drawer_column else _stack(1, "open" if d.chance(0.15) else "door")
        columns.append((1.0, cells))
    if drawer_column < 0 and count < 4 and d.chance(0.4):
        columns = [(share, [(cells[0][0], 0.75), ("drawer", 0.25)]) for share, cells in columns]
    size = count * d.between(0.38, 0.5), d.between(0.5, 0.8), d.between(0.36, 0.48)
    return _cabinet(d, CabinetPlan(*size, columns, feet=("leg", "leg", "plinth")), "sideboard")


def nightstand(d: Sampler) -> Assembly:
    """Small, with a drawer or three, a door or an open shelf."""
    open_below, door_below = [("open", 0.55), ("drawer", 0.45)], [("door", 0.65), ("drawer", 0.35)]
    mixed = [open_below, door_below, [("door", 1.0)], [("open", 0.4), ("drawer", 0.3), ("drawer", 0.3)]]
    cells: Cells = d.pick([_stack(1), _stack(2), _stack(3), *mixed], [0.6, 3, 2, 2.5, 2, 1, 1])
    tall = d.between(0.22, 0.3) if len(cells) == 1 and cells[0][0] == "drawer" else d.between(0.38, 0.55)
    plan = CabinetPlan(
        d.between(0.38, 0.55), tall, d.between(0.34, 0.42), [(1.0, cells)], feet=("leg", "leg", "plinth")
    )
    return _cabinet(d, plan, "nightstand")


def chest(d: Sampler) -> Assembly:
    """Three to five drawers, the upper ones sometimes side by side."""
    count = d.pick([3, 4, 5], [3, 4, 2])
    if d.chance(0.2):
        columns: list[tuple[float, Cells]] = [(1.0, _stack(2)), (1.0, _stack(d.pick([2, 3])))]
    else:
        grow = d.between(0.0, 0.12)
        columns = [(1.0, [("drawer", 1.0 + grow * (count - k)) for k in range(count)])]
    wide = d.between(0.55, 1.15) * (1.2 if len(columns) > 1 else 1.0)
    plan = CabinetPlan(wide, d.between(0.19, 0.25) * max(count, 3), d.between(0.38, 0.5), columns, ("plain",))
    return _cabinet(d, plan, "chest")


def cupboard(d: Sampler) -> Assembly:
    """One or two doors, low or tall, sometimes below a row of drawers."""
    pair, drawers = d.chance(0.65), d.pick([0, 1, 2, 3], [4, 3, 2, 1.5])
    is_tall = d.chance(0.3)
    tall = d.between(1.3, 1.8) if is_tall else d.between(0.75, 1.0)
    share = 0.12 if is_tall else 0.2
    doors: tuple[str, float] = ("pair" if pair else "door", 1.0 - share * drawers)
    cells: Cells = [doors, *[("drawer", share)] * drawers]
    if d.chance(0.15):
        cells = [doors, ("open", 0.4), *[("drawer", share)] * min(drawers, 1)]
    wide = d.between(0.7, 1.05) if pair else d.between(0.4, 0.6)
    return _cabinet(d, CabinetPlan(wide, tall, d.between(0.35, 0.6), [(1.0, cells)]), "cupboard")


def bookcase(d: Sampler) -> Assembly:
    """Open shelves, sometimes with doors or drawers at the bottom."""
    low: Cells = d.pick([[], [("pair", 0.5)], [("drawer", 0.2)], [("drawer", 0.18)] * 2], [4, 2, 1, 1])
    size = d.between(0.6, 1.1), d.between(1.1, 2.0), d.between(0.26, 0.38)
    return _cabinet(d, CabinetPlan(*size, [(1.0, [*low, ("open", 1.0)])], ("plain",)), "bookcase")


def _cabinet(d: Sampler, plan: CabinetPlan, kind: str) -> Assembly:
    """A body, what is in it, and what it stands on."""
    m = Maker("cabinet", kind)
    finish = materials.board(d) if kind != "cupboard" or d.chance(0.85) else materials.enamel(d)
    wide, tall, deep = plan.wide, plan.tall, plan.deep
    solid, hollow = carcass((wide, tall, deep), (0, tall / 2, 0), WALL)
    body = m.add("body", solid, finish, hollow=hollow)
    kinds = [cell for _, cells in plan.columns for cell, _ in cells]
    doors, drawers = kinds.count("door") + 2 * kinds.count("pair"), kinds.count("drawer")
    fronts = casework.draw_fronts(d, finish, plan.fills if 3 * doors + 2 * drawers <= CROWDED else ("plain",))
    proud = d.pick([-0.003, 0.004, THICKNESS - 0.004])
    room = Opening(-wide / 2 + WALL, wide / 2 - WALL, WALL, tall - WALL, deep / 2 + proud)
    _Interior(m, d, plan, fronts, finish, body, has_rod=2 * doors + 2 * drawers <= 10).fill(room)
    _feet(m, d, plan, finish, body)
    if d.chance(plan.topped):
        over, thick = d.between(0.01, 0.025), d.between(0.018, 0.03)
        upper = finish if d.chance(0.7) else materials.board(d)
        z = deep / 2 + over + max(proud, 0.0)
        solid = board_between((-wide / 2 - over, tall - SINK, -deep / 2), (wide / 2 + over, tall + thick, z))
        m.add("top", solid, upper, body)
    if kind == "wardrobe" and "glass pane" not in [p.name for p in m.parts] and d.chance(0.25):
        _mirror(m, d)
    return m.done()


@dataclass(frozen=True)
class _Interior:
    """What is put into a body: dividers, boards, doors, drawers and shelves."""

    m: Maker
    d: Sampler
    plan: CabinetPlan
    fronts: Fronts
    appearance: Appearance
    body: int
    has_rod: bool
    """Whether there is room among the parts for the rod that clothes hang on."""

    @property
    def back(self) -> float:
        return -self.plan.deep / 2 + WALL

    def fill(self, room: Opening) -> None:
        """Dividers between columns, boards between cells, and the cells."""
        face = self.plan.deep / 2 - 0.002
        columns = room.columns([share for share, _ in self.plan.columns], WALL)
        walls = casework.add_dividers(self.m, columns, self.back, face, self.appearance, self.body)
        for k, (column, (_, cells)) in enumerate(zip(columns, self.plan.columns, strict=True)):
            between = [DRAWER_GAP if a[0] == b[0] == "drawer" else WALL for a, b in itertools.pairwise(cells)]
            rows = column.rows([share for _, share in cells], between)
            for row, space in zip(rows[:-1], between, strict=True):
                if space > DRAWER_GAP:
                    low = (row.left - SINK, row.high, self.back - SINK)
                    solid = board_between(low, (row.right + SINK, row.high + space, face))
                    self.m.add("shelf", solid, self.appearance, self.body)
            for (kind, _), row in zip(cells, rows, strict=True):
                self._cell(kind, row, walls[k], (*walls, self.body)[k + 1], is_first=k == 0)

    def _cell(self, kind: str, row: Opening, left: int, right: int, is_first: bool) -> None:
        """One drawer, door, pair of doors or open space with shelves in it."""
        m, d, fronts = self.m, self.d, self.fronts
        if kind == "drawer":
            casework.add_drawer(m, row, row.z - self.back - 0.02, fronts, left)
            return
        if self.plan.has_rail and kind != "open":
            self._hang(row)
        elif kind == "open" or len(m.parts) < MOST - 8:
            # About one shelf for every 30 cm; a closed low space may have none.
            count = max(int(row.tall / 0.26) - d.count(0, 1), 1 if kind == "open" and row.tall > 0.45 else 0)
            space = replace(row, z=min(row.z, self.plan.deep / 2))
            casework.add_shelves(m, space, self.back, count, self.appearance, self.body)
        upper = float(np.radians(d.between(92, 112)))
        if kind == "pair":
            middle = row.middle[0]
            casework.add_door(m, replace(row, right=middle), -1, fronts, left, upper=upper)
            casework.add_door(m, replace(row, left=middle), 1, fronts, right, upper=upper)
        elif kind == "door":
            casework.add_door(m, row, -1 if is_first else 1, fronts, left if is_first else right, upper=upper)

    def _hang(self, row: Opening) -> None:
        """A shelf for hats and the rod below it."""
        y, z = row.high - self.d.between(0.25, 0.35), (self.back + row.z) / 2
        solid = board_between((row.left - SINK, y, self.back - SINK), (row.right + SINK, y + WALL, row.z - 0.05))
        self.m.add("shelf", solid, self.appearance, self.body)
        if self.has_rod:
            rod = tube([(row.left - 0.004, y - 0.06, z), (row.right + 0.004, y - 0.06, z)], 0.012)
            self.m.add("rail", rod, materials.metal(self.d), self.body, "round")


def _feet(m: Maker, d: Sampler, plan: CabinetPlan, finish: Appearance, body: int) -> None:
    kind = d.pick(list(plan.feet))
    wide, deep = plan.wide, plan.deep
    if kind == "plinth":
        high = d.between(0.04, 0.08)
        low = (-wide / 2 + 0.015, -high, -deep / 2 + 0.01)
        m.add("plinth", board_between(low, (wide / 2 - 0.015, SINK, deep / 2 - 0.04)), finish, body)
    elif kind == "leg":
        high = d.between(0.1, 0.22) if plan.tall < 1.0 else d.between(0.06, 0.12)
        thick = d.between(0.03, 0.05)
        x, z, splay = wide / 2 - 0.06, deep / 2 - 0.05, d.pick([0.0, 0.03])
        frame = materials.frame(d) if d.chance(0.5) else finish
        shape, foot = d.pick(["square", "round", "tapered", "tapered"]), (x + splay, -high, z + splay)
        add_legs(m, d, shape, frame, body, (x, 0.004, z), foot, thick, "splayed" if splay else "")
    elif d.chance(0.3):
        wheel = draw_appearance(d, "black, charcoal, grey", "rubber, nylon")
        add_castors(m, wheel, body, (wide / 2 - 0.05, -0.018, deep / 2 - 0.05), (0.05, 0.024), 0.2)


def _mirror(m: Maker, d: Sampler) -> None:
    """A looking glass on one door."""
    doors = [k for k, part in enumerate(m.parts) if part.name == "door"]
    k = doors[d.count(0, len(doors) - 1)]
    (x, y, z), (w, h, t) = m.parts[k].centre, m.parts[k].size
    finish = replace(draw_appearance(d, "light grey, light blue, silver", "glass"), feel="stiff")
    low, high = (x - 0.5 * w + 0.085, y - 0.44 * h, z), (x + 0.5 * w - 0.085, y + 0.44 * h, z + t / 2 + 0.006)
    m.add("mirror", board_between(low, high), finish, k)


def door(d: Sampler) -> Assembly:
    """The door of a room or a house: a frame on the ground, one or two leaves in it that open towards +z."""
    leaves = d.pick([1, 2], [4, 1])
    is_front = leaves == 1 and d.chance(0.35)
    m = Maker("door", "double door" if leaves == 2 else ("front door" if is_front else "inner door"))
    wide, tall = leaves * d.between(0.7, 0.95), d.between(1.95, 2.15)
    finish = d.pick([materials.wood, _paint, materials.metal], [4, 4, 0.6])(d)
    around = finish if d.chance(0.5) else d.pick([materials.wood, _paint])(d)
    broad, deep = d.between(0.05, 0.1), d.between(0.09, 0.14)
    x, z = wide / 2, deep / 2
    frame = m.add("lintel", board_between((-x - broad, tall, -z), (x + broad, tall + broad, z)), around)
    jambs = m.add("jamb", board_between((x, 0, -z), (x + broad, tall + SINK, z)), around, frame, repeat=PAIR)
    if d.chance(0.4):
        sill = board_between((-x - SINK, 0, -z), (x + SINK, 0.012, z - 0.002))
        m.add("threshold", sill, around if d.chance(0.5) else materials.metal(d), jambs)
    room = Opening(-x, x, 0.012, tall, z + 0.004)
    thick, metal = d.between(0.035, 0.048), materials.fittings(d)
    fill = d.pick(["plain", "panelled", "glazed"], [2, 4, 2.5])
    panel, pane = finish if d.chance(0.7) else _paint(d), materials.milk_glass(d)
    inside = {"plain": finish, "panelled": panel, "glazed": pane}[fill]
    rows = d.count(1, 3)
    halves: list[tuple[Opening, Side]] = [(room, d.pick([-1, 1]))]
    if leaves == 2:
        left, right = room.columns([1.0, 1.0], 0.0)
        halves = [(left, -1), (right, 1)]
    grip, upper = d.pick(["lever", "knob", "bar"], [4, 2.5, 1]), float(np.radians(d.between(85, 115)))
    for half, side in halves:
        _leaf(m, half, side, (finish, inside, metal), (fill, rows, grip), thick, upper, jambs)
    return m.done()


def _paint(d: Sampler) -> Appearance:
    return draw_appearance(d, [*materials.PAINTED, "teal", "burgundy", "dark green", "blue"], "wood*2, mdf")


def _leaf(
    m: Maker,
    opening: Opening,
    side: Side,
    looks: tuple[Appearance, Appearance, Appearance],
    words: tuple[str, int, str],
    thick: float,
    upper: float,
    jambs: int,
) -> None:
    """A leaf with its panels or panes, its handles on both sides and its hinges."""
    (finish, inside, metal), (fill, rows, grip) = looks, words
    opening = replace(opening, high=opening.high - GAP)
    solid, hinge = casework.hung_board(opening, side, thick, upper)
    leaf = m.add("door", solid, finish, jambs, {"plain": "flat"}.get(fill, fill), hinge=hinge)
    left, right = opening.hung(side).left, opening.hung(side).right
    low, high, z = opening.low, opening.high, opening.z
    wide, x = right - left, (left + right) / 2
    if fill != "plain":
        rail, out = 0.13 * wide + 0.01, 0.006
        step = (high - low - 2 * rail) / rows
        is_split = wide > 0.6 and rows > 1
        a = (x + 0.03 if is_split else left + rail, low + rail, z - thick - out)
        b = (right - rail, low + rail + step - (0.06 if rows > 1 else 0.0), z + out)
        repeat = Repeat("x" if is_split else "", rows, (0, step, 0), pivot=(x, z))
        solid = block(np.subtract(b, a), np.add(a, b) / 2, corner=0.02, edge=0.35 if fill == "panelled" else 0.05)
        m.add("panel" if fill == "panelled" else "glass pane", solid, inside, leaf, repeat=repeat)
    at = np.array([right - 0.065 if side < 0 else left + 0.065, 1.02, z])
    both = Repeat("z", pivot=(0.0, z - thick / 2))
    if grip == "lever":
        rose = lathe([(0.026, -0.003, 1), (0.026, 0.006, 0.7), (0.01, 0.009, 0.5), (0.01, 0.045, 1)], at, turned(x=90))
        rosette = m.add("lock", rose, metal, leaf, "round", repeat=both)
        points = [at + np.array([side * far, 0, out]) for far, out in ((0, 0.038), (0.06, 0.042), (0.125, 0.04))]
        m.add("handle", tube(points, 0.009), metal, rosette, "lever", repeat=both)
    elif grip == "knob":
        knots = [(0.028, -0.003, 1), (0.028, 0.005, 0.7), (0.011, 0.02, 0.2), (0.03, 0.045, 0), (0.02, 0.062, 0.4)]
        m.add("knob", lathe(knots, at, turned(x=90)), metal, leaf, "round", repeat=both)
    else:
        points = [at + np.array([0, y, out]) for y, out in ((-0.2, -0.003), (-0.2, 0.045), (0.2, 0.045), (0.2, -0.003))]
        m.add("handle", tube(points, 0.011, bend=0.02), metal, leaf, "bar", repeat=both)
    barrel = lathe([(0.008, -0.05, 1), (0.008, 0.05, 1)], (hinge.origin[0], low + 0.2, z + 0.001))
    m.add("hinge", barrel, metal, jambs, "round", repeat=Repeat(count=3, step=(0, (high - low - 0.4) / 2, 0)))
