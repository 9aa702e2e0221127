"""Tables: with legs, aprons and drawers, round ones on a pedestal; and desks with drawers beside the knees."""

from __future__ import annotations

import numpy as np

from neurok.families.household import stuffs
from neurok.families.household.assemble import FOUR, PAIR, ROOT, Maker
from neurok.families.household.casework import (
    SINK,
    Fronts,
    Opening,
    add_door,
    add_drawer,
    board_between,
    carcass,
    draw_fronts,
)
from neurok.families.household.framing import bar, leg_solid
from neurok.families.household.looks import draw_look
from neurok.families.household.parts import Assembly, Look, Repeat
from neurok.families.household.solids import Solid, block, lathe
from neurok.modelling.dice import Dice
from neurok.modelling.forms import Hollow

WALL = 0.016
"""Boards of aprons and pedestals [m]."""

SIZES = {
    "dining": ((1.1, 2.0), (0.75, 1.0), (0.72, 0.77)),
    "coffee": ((0.7, 1.2), (0.45, 0.7), (0.35, 0.48)),
    "side": ((0.4, 0.55), (0.38, 0.5), (0.48, 0.62)),
    "console": ((0.8, 1.3), (0.3, 0.4), (0.72, 0.85)),
}
"""Ranges of width, depth and height [m]."""


def table(d: Dice) -> Assembly:
    """A top on four legs, with an apron, drawers in it, and a shelf or bars below."""
    m = Maker("table")
    kind = d.pick(list(SIZES), [4, 3, 2, 1.5])
    m.style.append(kind)
    wide, deep, tall = (d.between(*ends) for ends in SIZES[kind])
    deep = wide if d.chance(0.15) and kind != "console" else deep
    drawers = d.pick([0, 1, 2, 3], [4, 2.5, 2, 1])
    drawers = min(drawers, int(wide / 0.3))
    is_round = not drawers and kind != "console" and d.chance(0.3)
    look = stuffs.board(d, painted=0.25)
    thick = d.between(0.02, 0.04)
    upper = _top_look(d, look)
    top = m.add("top", _top(is_round, (wide, deep), tall, thick), upper, ROOT, _shape_word(is_round, wide, deep))
    frame = look if d.chance(0.65) else stuffs.frame(d)
    high = d.between(0.1, 0.15) if drawers else d.between(0.06, 0.1)
    w, z = (0.62 * wide, 0.62 * deep) if is_round else (wide - d.between(0.04, 0.12), deep - d.between(0.04, 0.1))
    thick_leg = d.between(0.035, 0.07) if kind == "dining" else d.between(0.025, 0.045)
    if drawers:
        apron = _housing(m, d, look, (w - 0.02, z - 0.01, high), tall - thick, drawers, top)
    elif not is_round and d.chance(0.6):
        solid = block((w - 0.02, high, z - 0.02), (0, tall - thick - high / 2 + SINK, 0), corner=0.02, edge=0.0)
        apron = m.add("apron", solid, frame, top, hollow=Hollow(0.02, "through"))
    else:
        apron = top
    join = tall - thick - (0.7 * high if drawers else -0.004)
    has_more = not is_round and d.chance(0.3)
    legs = _legs(m, d, frame, apron, (w, z, join, thick_leg), upright=has_more)
    if has_more:
        _below(m, d, frame, legs, (w - 0.6 * thick_leg, z - 0.6 * thick_leg, d.between(0.12, 0.25) * tall))
    return m.done()


def _top_look(d: Dice, look: Look) -> Look:
    kind = d.pick(["same", "wood", "glass", "stone"], [6, 2, 0.8, 0.8])
    if kind == "stone":
        colours = ["white", "black", "grey", "cream", "dark green"]
        return draw_look(d, colours, "marble, granite", patterns="marble", tile=0.5)
    return {"same": lambda: look, "wood": lambda: stuffs.wood(d), "glass": lambda: stuffs.pane(d)}[kind]()


def _top(is_round: bool, size: tuple[float, float], tall: float, thick: float) -> Solid:
    wide, deep = size
    if is_round:
        r = wide / 2
        return lathe(
            [(r - 0.004, 0, 1), (r, 0.3 * thick, 0.3), (r, 0.7 * thick, 0.3), (r - 0.004, thick, 1)],
            (0, tall - thick, 0),
            stretch=deep / wide,
        )
    return block((wide, thick, deep), (0, tall - thick / 2, 0), corner=0.03, edge=0.15)


def _shape_word(is_round: bool, wide: float, deep: float) -> str:
    if is_round:
        return "round" if deep > 0.93 * wide else "oval"
    return "square" if deep > 0.95 * wide else "oblong"


def _housing(
    m: Maker, d: Dice, look: Look, size: tuple[float, float, float], under: float, drawers: int, top: int
) -> int:
    """An apron that is a flat case open to the front, with its drawers side by side."""
    wide, deep, high = size
    solid, hollow = carcass((wide, high, deep), (0, under - high / 2 + SINK, 0), WALL)
    apron = m.add("apron", solid, look, top, hollow=hollow)
    fronts = draw_fronts(d, look)
    z, back = deep / 2 + 0.004, -deep / 2 + WALL
    room = Opening(-wide / 2 + WALL, wide / 2 - WALL, under + SINK - high + WALL, under + SINK - WALL, z)
    columns = room.columns([1.0] * drawers, WALL)
    walls = [apron]
    for left in columns[:-1]:
        low = (left.right, room.low - SINK, back - SINK)
        walls.append(
            m.add("divider", board_between(low, (left.right + WALL, room.high + SINK, z - 0.006)), look, apron)
        )
    for column, wall in zip(columns, walls, strict=True):
        add_drawer(m, column, min(deep - WALL - 0.02, 0.5), fronts, wall)
    return apron


def _legs(m: Maker, d: Dice, look: Look, parent: int, size: tuple[float, float, float, float], upright: bool) -> int:
    w, deep, join, thick = size
    kind = d.pick(["square", "round", "tapered", "turned"], [4, 1.5, 3, 1])
    x, z = w / 2 - thick / 2, deep / 2 - thick / 2
    splay = d.between(0.02, 0.06) if kind != "square" and not upright and d.chance(0.35) else 0.0
    solid, words = leg_solid(d, kind, np.array([x, join, z]), np.array([x + splay, 0.0, z + splay]), thick)
    return m.add("leg", solid, look, parent, *words, "splayed" if splay else "", repeat=FOUR)


def _below(m: Maker, d: Dice, look: Look, legs: int, size: tuple[float, float, float]) -> None:
    """A shelf or bars between the legs."""
    w, deep, y = size
    if d.chance(0.5):
        board = look if d.chance(0.6) else stuffs.board(d)
        m.add("shelf", board_between((-w / 2, y, -deep / 2), (w / 2, y + 0.02, deep / 2)), board, legs)
        return
    side = bar((w / 2, y, -deep / 2), (w / 2, y, deep / 2), 0.025)
    sides = m.add("stretcher", side, look, legs, repeat=PAIR)
    m.add("cross bar", bar((-w / 2, y, 0), (w / 2, y, 0), 0.025), look, sides, role="support")


def pedestal_table(d: Dice) -> Assembly:
    """A round or square top on one column with a wide foot."""
    m = Maker("table")
    is_small = d.chance(0.45)
    m.style.append("side" if is_small else "dining")
    wide = d.between(0.38, 0.6) if is_small else d.between(0.7, 1.3)
    tall = d.between(0.45, 0.65) if is_small else d.between(0.71, 0.77)
    look = stuffs.board(d)
    thick, is_round = d.between(0.018, 0.035), d.chance(0.75)
    top = m.add(
        "top", _top(is_round, (wide, wide), tall, thick), _top_look(d, look), ROOT, "round" if is_round else "square"
    )
    frame = look if d.chance(0.5) else stuffs.metal(d)
    under, r = tall - thick + 0.003, d.between(0.028, 0.05)
    reach = d.between(0.3, 0.4) * wide
    if d.chance(0.55):
        flare = d.between(1.0, 2.0)
        knots = [
            (reach, 0, 1),
            (reach, 0.015, 0.6),
            (0.5 * reach, 0.035, 0.2),
            (1.3 * r, 0.12 * tall, 0),
            (r, 0.4 * tall, 0),
            (r, 0.7 * tall, 0),
            (flare * r, under, 1),
        ]
        m.add("pedestal", lathe(knots), frame, top, "round", "flared" if flare > 1.4 else "")
        return m.done()
    knots = [
        (1.3 * r, 0.06, 1),
        (1.3 * r, 0.14, 0.4),
        (r, 0.2 * tall + 0.08, 0),
        (r, 0.8 * tall, 0.3),
        (1.5 * r, under, 1),
    ]
    column = m.add("column", lathe(knots), frame, top, "turned")
    feet = d.pick([3, 4, 4])
    foot = bar((0, 0.09, 0.01), (0, 0.018, reach), 0.04, 0.035, corner=0.3, taper=1.3)
    m.add("foot", foot, frame, column, repeat=Repeat(count=feet, turn=2 * np.pi / feet))
    return m.done()


def desk(d: Dice) -> Assembly:
    """A top on legs or panels, with a case of drawers at one side or both, and sometimes a drawer over the knees."""
    m = Maker("desk")
    wide, deep, tall = d.between(1.0, 1.7), d.between(0.5, 0.75), d.between(0.71, 0.77)
    thick = d.between(0.02, 0.035)
    look = stuffs.board(d)
    upper = look if d.chance(0.7) else stuffs.wood(d)
    top = m.add(
        "top", block((wide, thick, deep), (0, tall - thick / 2, 0), corner=0.03, edge=0.12), upper, ROOT, "oblong"
    )
    cases = d.pick([0, 1, 2], [2, 5, 2])
    m.style.append({0: "writing", 1: "single", 2: "twin"}[cases])
    under, half = tall - thick, wide / 2 - 0.02
    fronts = draw_fronts(d, look)
    case_wide, sides = d.between(0.34, 0.44), {0: (), 1: (d.sign(),), 2: (-1, 1)}[cases]
    left_over = 5 if cases else 3
    for side in sides:
        left = side * half if side < 0 else half - case_wide
        count = min(d.count(2, 4) if cases == 1 else d.count(2, 3), left_over)
        left_over -= count
        has_door = cases == 2 and d.chance(0.25)
        _case(m, d, look, fronts, (left, left + case_wide, under, deep - 0.04), count, has_door, top)
    free = [side for side in (-1, 1) if side not in sides]
    frame = look if d.chance(0.5) else stuffs.frame(d)
    if free:
        _sides(m, d, look, frame, top, (half, deep / 2 - 0.03, under), tuple(free))
    knees = -half + (case_wide if -1 in sides else 0.05), half - (case_wide if 1 in sides else 0.05)
    if left_over > 0 and d.chance(0.6 if cases < 2 else 0.3):
        _knee_drawers(m, d, look, fronts, knees, (under, deep), min(left_over, 1 if cases else d.count(1, 3)), top)
    if d.chance(0.4):
        low = (knees[0] - 0.005 if -1 in sides else -half, under - d.between(0.25, 0.45), -deep / 2 + 0.06)
        high = (knees[1] + 0.005 if 1 in sides else half, under + SINK, -deep / 2 + 0.075)
        m.add("back panel", board_between(low, high), look, top)
    return m.done()


def _case(
    m: Maker,
    d: Dice,
    look: Look,
    fronts: Fronts,
    size: tuple[float, float, float, float],
    drawers: int,
    has_door: bool,
    top: int,
) -> None:
    """Drawers above each other, or a drawer above a door, from the ground to the top."""
    left, right, under, deep = size
    low = 0.03
    solid, hollow = carcass(
        (right - left, under - low + SINK, deep), ((left + right) / 2, (under + low + SINK) / 2, 0), WALL
    )
    body = m.add("body", solid, look, top, hollow=hollow)
    z = deep / 2 + 0.004
    room = Opening(left + WALL, right - WALL, low + WALL, under - WALL, z)
    if has_door:
        below, above = room.rows([0.72, 0.28], [WALL])
        shelf = (
            (room.left - SINK, below.high, -deep / 2 + WALL - SINK),
            (room.right + SINK, above.low, deep / 2 - 0.002),
        )
        m.add("shelf", board_between(*shelf), look, body)
        add_drawer(m, above, deep - WALL - 0.03, fronts, body)
        add_door(m, below, -1 if left < 0 else 1, fronts, body, upper=float(np.radians(d.between(92, 110))))
    else:
        for row in room.rows(
            [1.0] * drawers if d.chance(0.6) else [1.0 + 0.6 * (k == 0) for k in range(drawers)],
            [0.004] * (drawers - 1),
        ):
            add_drawer(m, row, deep - WALL - 0.03, fronts, body)
    foot = draw_look(d, "black, charcoal", "rubber, abs")
    x, zf = (right - left) / 2 - 0.03, deep / 2 - 0.03
    middle = (left + right) / 2
    solid = board_between((middle + x - 0.018, 0, zf - 0.018), (middle + x + 0.018, low + 0.004, zf + 0.018))
    m.add("foot", solid, foot, body, repeat=Repeat("xz", pivot=(middle, 0.0)))


def _sides(
    m: Maker, d: Dice, look: Look, frame: Look, top: int, size: tuple[float, float, float], free: tuple[int, ...]
) -> None:
    """A panel or two legs where there is no case."""
    half, z, under = size
    if d.chance(0.3):
        panel = board_between((half - 0.02, 0, -z), (half, under + SINK, z))
        if len(free) == 1 and free[0] < 0:
            panel = board_between((-half, 0, -z), (-half + 0.02, under + SINK, z))
        m.add("side panel", panel, look, top, repeat=PAIR if len(free) == 2 else Repeat())
        return
    side, thick = free[-1], d.between(0.035, 0.055)
    x = side * (half - thick / 2)
    kind = d.pick(["square", "round", "tapered"])
    leg, words = leg_solid(
        d, kind, np.array([x, under + 0.004, z - thick / 2]), np.array([x, 0.0, z - thick / 2]), thick
    )
    m.add("leg", leg, frame, top, *words, repeat=FOUR if len(free) == 2 else Repeat("z"))


def _knee_drawers(
    m: Maker,
    d: Dice,
    look: Look,
    fronts: Fronts,
    knees: tuple[float, float],
    size: tuple[float, float],
    count: int,
    top: int,
) -> None:
    """A flat case below the middle of the top."""
    (left, right), (under, deep) = knees, size
    high, gap = d.between(0.09, 0.13), 0.02
    left, right, deep = left + gap, right - gap, deep - 0.08
    solid, hollow = carcass((right - left, high, deep), ((left + right) / 2, under - high / 2 + SINK, 0.0), WALL)
    apron = m.add("apron", solid, look, top, hollow=hollow)
    room = Opening(left + WALL, right - WALL, under + SINK - high + WALL, under + SINK - WALL, deep / 2 + 0.004)
    walls, columns = [apron], room.columns([1.0] * count, WALL)
    for column in columns[:-1]:
        low = (column.right, room.low - SINK, -deep / 2 + WALL - SINK)
        walls.append(
            m.add("divider", board_between(low, (column.right + WALL, room.high + SINK, deep / 2 - 0.002)), look, apron)
        )
    for column, wall in zip(columns, walls, strict=True):
        add_drawer(m, column, min(deep - WALL - 0.02, 0.45), fronts, wall)
