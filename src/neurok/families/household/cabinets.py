"""Cabinets: wardrobes, sideboards, nightstands, chests of drawers, cupboards and bookcases."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np

from neurok.families.household import stuffs
from neurok.families.household.assemble import FOUR, Maker
from neurok.families.household.casework import (
    CASEWORK,
    SINK,
    Fronts,
    Opening,
    Side,
    add_door,
    add_drawer,
    add_shelves,
    board_between,
    carcass,
    draw_fronts,
)
from neurok.families.household.framing import leg_solid
from neurok.families.household.looks import draw_look
from neurok.families.household.parts import Assembly, Look
from neurok.families.household.solids import block, tube, turned
from neurok.modelling.dice import Dice

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
class Plan:
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

    has_rod: bool = True
    """Whether there is room among the parts for the rod that they hang on."""

    topped: float = 0.4
    """Chance of a top of its own that juts out."""


def _stack(count: int, kind: str = "drawer") -> Cells:
    return [(kind, 1.0)] * count


def wardrobe(d: Dice) -> Assembly:
    """One to four tall doors, sometimes drawers beneath."""
    doors, drawers = d.pick([1, 2, 3, 4], [1, 5, 2, 2]), d.pick([0, 1, 2, 3], [4, 1, 2, 1])
    wide, tall = doors * d.between(0.42, 0.55) + 0.04, d.between(1.75, 2.2)
    groups = {1: ["door"], 2: ["pair"], 3: ["pair", "door"], 4: ["pair", "pair"]}[doors]
    columns: list[tuple[float, Cells]] = []
    for k, kind in enumerate(groups):
        under = {1: [drawers], 2: [drawers - drawers // 2, drawers // 2]}[len(groups)][k]
        columns.append((2.0 if kind == "pair" else 1.0, [*[("drawer", 0.13)] * under, (kind, 1.0 - 0.13 * under)]))
    plan = Plan(wide, tall, d.between(0.5, 0.62), columns, ("plain", "plain", "panelled"), has_rail=True, topped=0.25)
    return _cabinet(d, plan, "wardrobe")


def sideboard(d: Dice) -> Assembly:
    """Long and low: columns of doors, drawers and open shelves."""
    count = d.pick([2, 3, 4], [2, 4, 1])
    drawer_column = d.count(0, count - 1) if d.chance(0.65) else -1
    columns: list[tuple[float, Cells]] = []
    for k in range(count):
        if k == drawer_column:
            columns.append((1.0, _stack(d.count(2, 4))))
        elif d.chance(0.15):
            columns.append((1.0, [("open", 1.0)]))
        else:
            columns.append((1.0, [("door", 1.0)]))
    if drawer_column < 0 and count < 4 and d.chance(0.4):
        columns = [(share, [(cells[0][0], 0.75), ("drawer", 0.25)]) for share, cells in columns]
    plan = Plan(
        count * d.between(0.38, 0.5), d.between(0.5, 0.8), d.between(0.36, 0.48), columns, feet=("leg", "leg", "plinth")
    )
    return _cabinet(d, plan, "sideboard")


def nightstand(d: Dice) -> Assembly:
    """Small, with a drawer or three, a door or an open shelf."""
    cells: Cells = d.pick(
        [
            _stack(1),
            _stack(2),
            _stack(3),
            [("open", 0.55), ("drawer", 0.45)],
            [("door", 0.65), ("drawer", 0.35)],
            [("door", 1.0)],
            [("open", 0.4), ("drawer", 0.3), ("drawer", 0.3)],
        ],
        [0.6, 3, 2, 2.5, 2, 1, 1],
    )
    tall = d.between(0.22, 0.3) if len(cells) == 1 and cells[0][0] == "drawer" else d.between(0.38, 0.55)
    plan = Plan(d.between(0.38, 0.55), tall, d.between(0.34, 0.42), [(1.0, cells)], feet=("leg", "leg", "plinth"))
    return _cabinet(d, plan, "nightstand")


def chest(d: Dice) -> Assembly:
    """Three to five drawers, the upper ones sometimes side by side."""
    count = d.pick([3, 4, 5], [3, 4, 2])
    if d.chance(0.2):
        columns: list[tuple[float, Cells]] = [(1.0, _stack(2)), (1.0, _stack(d.pick([2, 3])))]
    else:
        grow = d.between(0.0, 0.12)
        columns = [(1.0, [("drawer", 1.0 + grow * (count - k)) for k in range(count)])]
    wide = d.between(0.55, 1.15) * (1.2 if len(columns) > 1 else 1.0)
    plan = Plan(wide, d.between(0.19, 0.25) * max(count, 3), d.between(0.38, 0.5), columns, ("plain",))
    return _cabinet(d, plan, "chest")


def cupboard(d: Dice) -> Assembly:
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
    return _cabinet(d, Plan(wide, tall, d.between(0.35, 0.6), [(1.0, cells)]), "cupboard")


def bookcase(d: Dice) -> Assembly:
    """Open shelves, sometimes with doors or drawers at the bottom."""
    low: Cells = d.pick([[], [("pair", 0.5)], [("drawer", 0.2)], [("drawer", 0.18)] * 2], [4, 2, 1, 1])
    plan = Plan(
        d.between(0.6, 1.1), d.between(1.1, 2.0), d.between(0.26, 0.38), [(1.0, [*low, ("open", 1.0)])], ("plain",)
    )
    return _cabinet(d, plan, "bookcase")


def _cabinet(d: Dice, plan: Plan, kind: str) -> Assembly:
    """A body, what is in it, and what it stands on."""
    m = Maker("cabinet")
    m.style.append(kind)
    look = stuffs.board(d) if kind != "cupboard" or d.chance(0.85) else stuffs.enamel(d)
    wide, tall, deep = plan.wide, plan.tall, plan.deep
    solid, hollow = carcass((wide, tall, deep), (0, tall / 2, 0), WALL)
    body = m.add("body", solid, look, hollow=hollow)
    kinds = [cell for _, cells in plan.columns for cell, _ in cells]
    doors, drawers = kinds.count("door") + 2 * kinds.count("pair"), kinds.count("drawer")
    fronts = draw_fronts(d, look, plan.fills if 3 * doors + 2 * drawers <= CROWDED else ("plain",))
    plan = replace(plan, has_rod=2 * doors + 2 * drawers <= 10)
    proud = d.pick([-0.003, 0.004, CASEWORK.thick - 0.004])
    room = Opening(-wide / 2 + WALL, wide / 2 - WALL, WALL, tall - WALL, deep / 2 + proud)
    fit_out(m, d, room, deep, plan, fronts, look, body)
    _feet(m, d, plan, look, body)
    if d.chance(plan.topped):
        over, thick = d.between(0.01, 0.025), d.between(0.018, 0.03)
        upper = look if d.chance(0.7) else stuffs.board(d)
        z = deep / 2 + over + max(proud, 0.0)
        solid = board_between((-wide / 2 - over, tall - SINK, -deep / 2), (wide / 2 + over, tall + thick, z))
        m.add("top", solid, upper, body)
    if kind == "wardrobe" and "glass pane" not in [p.name for p in m.parts] and d.chance(0.25):
        _mirror(m, d)
    return m.done()


def fit_out(m: Maker, d: Dice, room: Opening, deep: float, plan: Plan, fronts: Fronts, look: Look, body: int) -> None:
    """Dividers between columns, boards between cells, doors, drawers and shelves."""
    back, face = -deep / 2 + WALL, deep / 2 - 0.002
    columns = room.columns([share for share, _ in plan.columns], WALL)
    walls = [body]
    for left in columns[:-1]:
        low = (left.right, room.low - SINK, back - SINK)
        high = (left.right + WALL, room.high + SINK, face)
        walls.append(m.add("divider", board_between(low, high), look, body))
    for k, (column, (_, cells)) in enumerate(zip(columns, plan.columns, strict=True)):
        ends = walls[k], body if k == len(columns) - 1 else walls[k + 1]
        between = [DRAWER_GAP if a[0] == b[0] == "drawer" else WALL for a, b in itertools.pairwise(cells)]
        rows = column.rows([share for _, share in cells], between)
        for row, space in zip(rows[:-1], between, strict=True):
            if space > DRAWER_GAP:
                low, high = (row.left - SINK, row.high, back - SINK), (row.right + SINK, row.high + space, face)
                m.add("shelf", board_between(low, high), look, body)
        for (kind, _), row in zip(cells, rows, strict=True):
            _cell(m, d, kind, row, (back, k == 0), plan, fronts, look, (body, *ends))


def _cell(
    m: Maker,
    d: Dice,
    kind: str,
    row: Opening,
    place: tuple[float, bool],
    plan: Plan,
    fronts: Fronts,
    look: Look,
    walls: tuple[int, int, int],
) -> None:
    """One drawer, door, pair of doors or open space with shelves in it."""
    back, is_first = place
    body, left, right = walls
    if kind == "drawer":
        add_drawer(m, row, row.z - back - 0.02, fronts, left)
        return
    if plan.has_rail and kind != "open":
        _hanging(m, d, row, (back, plan.has_rod), look, body)
    elif kind == "open" or len(m.parts) < MOST - 8:
        add_shelves(m, replace(row, z=min(row.z, plan.deep / 2)), back, _shelf_count(d, row, kind), look, body)
    upper = float(np.radians(d.between(92, 112)))
    if kind == "pair":
        middle = row.middle[0]
        add_door(m, replace(row, right=middle), -1, fronts, left, upper=upper)
        add_door(m, replace(row, left=middle), 1, fronts, right, upper=upper)
    elif kind == "door":
        side: Side = -1 if is_first else 1
        add_door(m, row, side, fronts, left if side < 0 else right, upper=upper)


def _shelf_count(d: Dice, row: Opening, kind: str) -> int:
    """About one for every 30 cm; a closed low space may have none."""
    most = int(row.tall / 0.26)
    return max(most - d.count(0, 1), 1 if kind == "open" and row.tall > 0.45 else 0)


def _hanging(m: Maker, d: Dice, row: Opening, place: tuple[float, bool], look: Look, body: int) -> None:
    """A shelf for hats and the rod below it."""
    back, has_rod = place
    y = row.high - d.between(0.25, 0.35)
    low = (row.left - SINK, y, back - SINK)
    m.add("shelf", board_between(low, (row.right + SINK, y + WALL, row.z - 0.05)), look, body)
    rod = [(row.left - 0.004, y - 0.06, (back + row.z) / 2), (row.right + 0.004, y - 0.06, (back + row.z) / 2)]
    if has_rod:
        m.add("rail", tube(rod, 0.012), stuffs.metal(d), body, "round")


def _feet(m: Maker, d: Dice, plan: Plan, look: Look, body: int) -> None:
    kind = d.pick(list(plan.feet))
    wide, deep = plan.wide, plan.deep
    if kind == "plinth":
        high = d.between(0.04, 0.08)
        low = (-wide / 2 + 0.015, -high, -deep / 2 + 0.01)
        m.add("plinth", board_between(low, (wide / 2 - 0.015, SINK, deep / 2 - 0.04)), look, body)
    elif kind == "leg":
        high = d.between(0.1, 0.22) if plan.tall < 1.0 else d.between(0.06, 0.12)
        thick = d.between(0.03, 0.05)
        x, z = wide / 2 - 0.06, deep / 2 - 0.05
        splay = d.pick([0.0, 0.03])
        frame = stuffs.frame(d) if d.chance(0.5) else look
        leg, words = leg_solid(
            d,
            d.pick(["square", "round", "tapered", "tapered"]),
            np.array([x, 0.004, z]),
            np.array([x + splay, -high, z + splay]),
            thick,
        )
        m.add("leg", leg, frame, body, *words, "splayed" if splay else "", repeat=FOUR)
    elif d.chance(0.3):
        wheel = draw_look(d, "black, charcoal, grey", "rubber, nylon")
        disc = block(
            (0.05, 0.024, 0.05), (wide / 2 - 0.05, -0.018, deep / 2 - 0.05), turned(z=90), corner=1.0, edge=0.2
        )
        m.add("castor", disc, wheel, body, "round", repeat=FOUR)


def _mirror(m: Maker, d: Dice) -> None:
    """A looking glass on one door."""
    doors = [k for k, part in enumerate(m.parts) if part.name == "door"]
    k = doors[d.count(0, len(doors) - 1)]
    (x, y, z), (w, h, t) = m.parts[k].centre, m.parts[k].size
    look = replace(draw_look(d, "light grey, light blue, silver", "glass"), feel="stiff")
    glass = board_between(
        (x - 0.5 * w + 0.085, y - 0.44 * h, z), (x + 0.5 * w - 0.085, y + 0.44 * h, z + t / 2 + 0.006)
    )
    m.add("mirror", glass, look, k)
