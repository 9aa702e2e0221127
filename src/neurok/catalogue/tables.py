"""Tables: with legs, aprons and drawers, round ones on a pedestal; and desks with drawers beside the knees."""

from __future__ import annotations

import numpy as np

from neurok.catalogue import casework, materials
from neurok.catalogue.appearance import draw_appearance
from neurok.catalogue.assemble import FOUR, PAIR, ROOT, Maker, add_legs, around
from neurok.catalogue.casework import SINK, Fronts, Opening, board_between, carcass
from neurok.catalogue.parts import Appearance, Assembly, Repeat
from neurok.catalogue.solids import Solid, bar, block, lathe
from neurok.modelling.forms import Hollow
from neurok.modelling.sampler import Sampler

WALL = 0.016
"""Boards of aprons and pedestals [m]."""

SIZES = {
    "dining": ((1.1, 2.0), (0.75, 1.0), (0.72, 0.77)),
    "coffee": ((0.7, 1.2), (0.45, 0.7), (0.35, 0.48)),
    "side": ((0.4, 0.55), (0.38, 0.5), (0.48, 0.62)),
    "console": ((0.8, 1.3), (0.3, 0.4), (0.72, 0.85)),
}
"""Ranges of width, depth and height [m]."""


def table(d: Sampler) -> Assembly:
    """A top on four legs, with an apron, drawers in it, and a shelf or bars below."""
    kind = d.pick(list(SIZES), [4, 3, 2, 1.5])
    m = Maker("table", kind)
    wide, deep, tall = (d.between(*ends) for ends in SIZES[kind])
    deep = wide if d.chance(0.15) and kind != "console" else deep
    drawers = min(d.pick([0, 1, 2, 3], [4, 2.5, 2, 1]), int(wide / 0.3))
    is_round = not drawers and kind != "console" and d.chance(0.3)
    finish = materials.board(d, painted=0.25)
    thick = d.between(0.02, 0.04)
    upper = _top_finish(d, finish)
    if is_round:
        shape = "round" if deep > 0.93 * wide else "oval"
    else:
        shape = "square" if deep > 0.95 * wide else "oblong"
    top = m.add("top", _top(is_round, (wide, deep), tall, thick), upper, ROOT, shape)
    frame = finish if d.chance(0.65) else materials.frame(d)
    high = d.between(0.1, 0.15) if drawers else d.between(0.06, 0.1)
    w, z = (0.62 * wide, 0.62 * deep) if is_round else (wide - d.between(0.04, 0.12), deep - d.between(0.04, 0.1))
    thick_leg = d.between(0.035, 0.07) if kind == "dining" else d.between(0.025, 0.045)
    under = tall - thick
    if drawers:
        fronts, half, inner = casework.draw_fronts(d, finish), (w - 0.02) / 2, z - 0.01
        room = _room(-half, half, under, high, inner)
        apron = casework.add_drawer_case(m, finish, fronts, room, inner, drawers, 0.5, WALL, top)
    elif not is_round and d.chance(0.6):
        solid = block((w - 0.02, high, z - 0.02), (0, under - high / 2 + SINK, 0), corner=0.02, edge=0.0)
        apron = m.add("apron", solid, frame, top, hollow=Hollow(0.02, "through"))
    else:
        apron = top
    join = under - (0.7 * high if drawers else -0.004)
    has_more = not is_round and d.chance(0.3)
    shape = d.pick(["square", "round", "tapered", "turned"], [4, 1.5, 3, 1])
    x, y, s = w / 2 - thick_leg / 2, z / 2 - thick_leg / 2, 0.0
    if shape != "square" and not has_more and d.chance(0.35):
        s = d.between(0.02, 0.06)
    word = "splayed" if s else ""
    legs = add_legs(m, d, shape, frame, apron, (x, join, y), (x + s, 0.0, y + s), thick_leg, word)
    if has_more:
        _below(m, d, frame, legs, (w - 0.6 * thick_leg, z - 0.6 * thick_leg, d.between(0.12, 0.25) * tall))
    return m.done()


def _top_finish(d: Sampler, finish: Appearance) -> Appearance:
    kind = d.pick(["same", "wood", "glass", "stone"], [6, 2, 0.8, 0.8])
    if kind == "stone":
        return draw_appearance(
            d, "white, black, grey, cream, dark green", "marble, granite", patterns="marble", tile=0.5
        )
    return finish if kind == "same" else {"wood": materials.wood, "glass": materials.pane}[kind](d)


def _top(is_round: bool, size: tuple[float, float], tall: float, thick: float) -> Solid:
    wide, deep = size
    if not is_round:
        return block((wide, thick, deep), (0, tall - thick / 2, 0), corner=0.03, edge=0.15)
    r = wide / 2
    knots = [(r - 0.004, 0, 1), (r, 0.3 * thick, 0.3), (r, 0.7 * thick, 0.3), (r - 0.004, thick, 1)]
    return lathe(knots, (0, tall - thick, 0), stretch=deep / wide)


def _room(left: float, right: float, under: float, high: float, deep: float) -> Opening:
    """What is inside a flat case below a top whose underside is at ``under``."""
    low, upper = under + SINK - high, under + SINK
    return Opening(left + WALL, right - WALL, low + WALL, upper - WALL, deep / 2 + 0.004)


def _below(m: Maker, d: Sampler, finish: Appearance, legs: int, size: tuple[float, float, float]) -> None:
    """A shelf or bars between the legs."""
    w, deep, y = size
    if d.chance(0.5):
        board = finish if d.chance(0.6) else materials.board(d)
        m.add("shelf", board_between((-w / 2, y, -deep / 2), (w / 2, y + 0.02, deep / 2)), board, legs)
        return
    side = bar((w / 2, y, -deep / 2), (w / 2, y, deep / 2), 0.025)
    sides = m.add("stretcher", side, finish, legs, repeat=PAIR)
    m.add("cross bar", bar((-w / 2, y, 0), (w / 2, y, 0), 0.025), finish, sides, role="support")


def pedestal_table(d: Sampler) -> Assembly:
    """A round or square top on one column with a wide foot."""
    is_small = d.chance(0.45)
    m = Maker("table", "side" if is_small else "dining")
    wide = d.between(0.38, 0.6) if is_small else d.between(0.7, 1.3)
    tall = d.between(0.45, 0.65) if is_small else d.between(0.71, 0.77)
    finish = materials.board(d)
    thick, is_round = d.between(0.018, 0.035), d.chance(0.75)
    solid = _top(is_round, (wide, wide), tall, thick)
    top = m.add("top", solid, _top_finish(d, finish), ROOT, "round" if is_round else "square")
    frame = finish if d.chance(0.5) else materials.metal(d)
    under, r = tall - thick + 0.003, d.between(0.028, 0.05)
    reach = d.between(0.3, 0.4) * wide
    if d.chance(0.55):
        flare = d.between(1.0, 2.0)
        foot = [(reach, 0, 1), (reach, 0.015, 0.6), (0.5 * reach, 0.035, 0.2)]
        shaft = [(1.3 * r, 0.12 * tall, 0.0), (r, 0.4 * tall, 0), (r, 0.7 * tall, 0), (flare * r, under, 1)]
        m.add("pedestal", lathe([*foot, *shaft]), frame, top, "round", "flared" if flare > 1.4 else "")
        return m.done()
    shaft = [(1.3 * r, 0.06, 1.0), (1.3 * r, 0.14, 0.4), (r, 0.2 * tall + 0.08, 0), (r, 0.8 * tall, 0.3)]
    column = m.add("column", lathe([*shaft, (1.5 * r, under, 1)]), frame, top, "turned")
    feet = d.pick([3, 4, 4])
    arm = bar((0, 0.09, 0.01), (0, 0.018, reach), 0.04, 0.035, corner=0.3, taper=1.3)
    m.add("foot", arm, frame, column, repeat=around(feet))
    return m.done()


def desk(d: Sampler) -> Assembly:
    """A top on legs or panels, with a case of drawers at one side or both, and sometimes a drawer over the knees."""
    m = Maker("desk")
    wide, deep, tall = d.between(1.0, 1.7), d.between(0.5, 0.75), d.between(0.71, 0.77)
    thick = d.between(0.02, 0.035)
    finish = materials.board(d)
    upper = finish if d.chance(0.7) else materials.wood(d)
    solid = block((wide, thick, deep), (0, tall - thick / 2, 0), corner=0.03, edge=0.12)
    top = m.add("top", solid, upper, ROOT, "oblong")
    cases = d.pick([0, 1, 2], [2, 5, 2])
    m.style.append({0: "writing", 1: "single", 2: "twin"}[cases])
    under, half = tall - thick, wide / 2 - 0.02
    fronts = casework.draw_fronts(d, finish)
    case_wide, sides = d.between(0.34, 0.44), {0: (), 1: (d.sign(),), 2: (-1, 1)}[cases]
    left_over = 5 if cases else 3
    for side in sides:
        left = side * half if side < 0 else half - case_wide
        count = min(d.count(2, 4) if cases == 1 else d.count(2, 3), left_over)
        left_over -= count
        has_door = cases == 2 and d.chance(0.25)
        _case(m, d, finish, fronts, (left, left + case_wide, under, deep - 0.04), count, has_door, top)
    free = [side for side in (-1, 1) if side not in sides]
    frame = finish if d.chance(0.5) else materials.frame(d)
    if free:
        _sides(m, d, finish, frame, top, (half, deep / 2 - 0.03, under), free)
    knees = -half + (case_wide if -1 in sides else 0.05), half - (case_wide if 1 in sides else 0.05)
    if left_over > 0 and d.chance(0.6 if cases < 2 else 0.3):
        count = min(left_over, 1 if cases else d.count(1, 3))
        room = _room(knees[0] + 0.02, knees[1] - 0.02, under, d.between(0.09, 0.13), deep - 0.08)
        casework.add_drawer_case(m, finish, fronts, room, deep - 0.08, count, 0.45, WALL, top)
    if d.chance(0.4):
        low = (knees[0] - 0.005 if -1 in sides else -half, under - d.between(0.25, 0.45), -deep / 2 + 0.06)
        end = (knees[1] + 0.005 if 1 in sides else half, under + SINK, -deep / 2 + 0.075)
        m.add("back panel", board_between(low, end), finish, top)
    return m.done()


def _case(
    m: Maker,
    d: Sampler,
    finish: Appearance,
    fronts: Fronts,
    size: tuple[float, float, float, float],
    drawers: int,
    has_door: bool,
    top: int,
) -> None:
    """Drawers above each other, or a drawer above a door, from the ground to the top."""
    left, right, under, deep = size
    low, middle = 0.03, (left + right) / 2
    box = (right - left, under - low + SINK, deep)
    solid, hollow = carcass(box, (middle, (under + low + SINK) / 2, 0), WALL)
    body = m.add("body", solid, finish, top, hollow=hollow)
    room = Opening(left + WALL, right - WALL, low + WALL, under - WALL, deep / 2 + 0.004)
    if has_door:
        below, above = room.rows([0.72, 0.28], [WALL])
        back = -deep / 2 + WALL - SINK
        solid = board_between((room.left - SINK, below.high, back), (room.right + SINK, above.low, deep / 2 - 0.002))
        m.add("shelf", solid, finish, body)
        casework.add_drawer(m, above, deep - WALL - 0.03, fronts, body)
        casework.add_door(m, below, -1 if left < 0 else 1, fronts, body, upper=float(np.radians(d.between(92, 110))))
    else:
        shares = [1.0] * drawers if d.chance(0.6) else [1.0 + 0.6 * (k == 0) for k in range(drawers)]
        for row in room.rows(shares, [0.004] * (drawers - 1)):
            casework.add_drawer(m, row, deep - WALL - 0.03, fronts, body)
    rubber = draw_appearance(d, "black, charcoal", "rubber, abs")
    x, z = middle + ((right - left) / 2 - 0.03), deep / 2 - 0.03
    foot = board_between((x - 0.018, 0, z - 0.018), (x + 0.018, low + 0.004, z + 0.018))
    m.add("foot", foot, rubber, body, repeat=Repeat("xz", pivot=(middle, 0.0)))


def _sides(
    m: Maker,
    d: Sampler,
    finish: Appearance,
    frame: Appearance,
    top: int,
    size: tuple[float, float, float],
    free: list[int],
) -> None:
    """A panel or two legs where there is no case."""
    half, z, under = size
    if d.chance(0.3):
        panel = board_between((half - 0.02, 0, -z), (half, under + SINK, z))
        if free == [-1]:
            panel = board_between((-half, 0, -z), (-half + 0.02, under + SINK, z))
        m.add("side panel", panel, finish, top, repeat=PAIR if len(free) == 2 else Repeat())
        return
    side, thick = free[-1], d.between(0.035, 0.055)
    x, z = side * (half - thick / 2), z - thick / 2
    repeat = FOUR if len(free) == 2 else Repeat("z")
    kind = d.pick(["square", "round", "tapered"])
    add_legs(m, d, kind, frame, top, (x, under + 0.004, z), (x, 0.0, z), thick, repeat=repeat)
