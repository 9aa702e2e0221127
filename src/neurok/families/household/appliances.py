"""Microwaves and fridges: a clad body, doors before it, and what is inside."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from neurok.families.household import stuffs
from neurok.families.household.assemble import FOUR, Maker
from neurok.families.household.casework import (
    GAP,
    SINK,
    Fronts,
    Grip,
    Opening,
    Side,
    add_door,
    add_shelves,
    board_between,
    carcass,
)
from neurok.families.household.looks import draw_look
from neurok.families.household.parts import Assembly, Hinge, Look, Repeat
from neurok.families.household.solids import block, lathe, turned
from neurok.modelling.dice import Dice
from neurok.modelling.forms import Hollow


def microwave(d: Dice) -> Assembly:
    """A box with a door at its left and knobs or buttons at its right; a plate turns inside."""
    m = Maker("microwave")
    wide, tall, deep, wall = d.between(0.42, 0.54), d.between(0.25, 0.32), d.between(0.32, 0.4), 0.02
    look = stuffs.enamel(d)
    solid, hollow = carcass((wide, tall, deep), (0, tall / 2, 0), wall)
    body = m.add("body", solid, look, hollow=hollow)
    split = wide / 2 - d.between(0.2, 0.28) * wide
    thick, face = 0.03, deep / 2 - SINK
    dark = draw_look(d, "black*3, charcoal, silver, white, grey", "abs") if d.chance(0.6) else look
    solid = board_between((split + GAP, 0.001, -deep / 2 + wall - SINK), (wide / 2 - 0.001, tall - 0.001, face + thick))
    panel = m.add("control panel", solid, dark, body)
    grip: Grip = d.pick(["bar", "none"], [3, 1])
    chrome = draw_look(d, "silver, black, white", "steel, abs")
    fronts = Fronts(look if d.chance(0.6) else dark, grip, chrome, d.between(0.5, 0.7) * tall)
    room = Opening(-wide / 2 + SINK, split, -GAP, tall + GAP, face + thick)
    door = add_door(m, room, -1, fronts, body, thick=thick, upper=float(np.radians(d.between(92, 115))))
    z = room.z
    edge = d.between(0.03, 0.05)
    glass = board_between((room.left + edge, 0.2 * tall, z - 0.01), (split - edge - 0.03, 0.82 * tall, z + 0.002))
    m.add("window", glass, stuffs.dark_glass(d), door)
    _controls(m, d, panel, (split, wide / 2, tall, z), chrome)
    r = 0.36 * (split + wide / 2)
    solid = lathe([(0.03, 0, 1), (0.03, 0.014, 1)], ((split - wide / 2) / 2, wall - 0.002, 0))
    hub = m.add("base", solid, dark, body, "round", role="trim")
    plate = lathe(
        [(0.6 * r, 0, 1), (r, 0.01, 0.6), (0.98 * r, 0.014, 1), (0.6 * r, 0.005, 0.5)],
        ((split - wide / 2) / 2, wall + 0.011, 0),
    )
    spin = Hinge("continuous", (0, 1, 0), ((split - wide / 2) / 2, wall + 0.011, 0))
    m.add("turntable", plate, stuffs.pane(d), hub, "round", hinge=spin)
    x, zf = wide / 2 - 0.04, deep / 2 - 0.04
    rubber = draw_look(d, "black, charcoal", "rubber")
    m.add("foot", lathe([(0.012, 0, 1), (0.014, 0.014, 1)], (x, -0.012, zf)), rubber, body, "round", repeat=FOUR)
    return m.done()


def _controls(m: Maker, d: Dice, panel: int, place: tuple[float, float, float, float], chrome: Look) -> None:
    """A display, and knobs that turn or rows of buttons."""
    left, right, tall, z = place
    x, room = (left + right) / 2, right - left
    shown = d.chance(0.75)
    if shown:
        glow = draw_look(d, "black, green, teal, charcoal", "glass", feels="stiff")
        solid = board_between((x - 0.32 * room, 0.78 * tall, z - 0.004), (x + 0.32 * room, 0.9 * tall, z + 0.0015))
        m.add("display", solid, glow, panel)
    if d.chance(0.5):
        r = d.between(0.2, 0.27) * room
        for y in [0.55 * tall, 0.24 * tall][: d.count(1, 2)]:
            knots = [(r, -0.003, 1), (0.95 * r, 0.015, 0.6), (0.8 * r, 0.02, 1)]
            turn = Hinge("revolute", (0, 0, 1), (x, y, z), 0.0, float(np.radians(270)))
            knob = m.add("knob", lathe(knots, (x, y, z), turned(x=90)), chrome, panel, "round", hinge=turn)
            solid = board_between((x - 0.08 * r, y + 0.2 * r, z + 0.016), (x + 0.08 * r, y + 0.75 * r, z + 0.023))
            shown = draw_look(d, "white, red, black", "abs")
            m.add("joint", solid, shown, knob)
        return
    rows = d.count(3, 5)
    step = 0.56 * tall / rows
    button = board_between(
        (x + 0.06 * room, 0.14 * tall, z - 0.003), (x + 0.3 * room, 0.14 * tall + 0.6 * step, z + 0.003)
    )
    m.add("button", button, chrome, panel, repeat=Repeat("x", rows, (0, step, 0), pivot=(x, z)))


def fridge(d: Dice) -> Assembly:
    """One door, two above each other or side by side, or three; shelves and a tray inside, racks in the doors."""
    m = Maker("fridge")
    kind = d.pick(["single", "minibar", "freezer above", "freezer below", "american", "french"], [2, 1.5, 3, 3, 2, 1.5])
    is_wide = kind in ("american", "french")
    wide = d.between(0.8, 0.95) if is_wide else d.between(0.48, 0.7)
    tall = d.between(0.5, 0.85) if kind == "minibar" else d.between(1.35, 2.0)
    deep, wall, thick = d.between(0.5, 0.66), 0.035, d.between(0.04, 0.06)
    m.style.append({"single": "", "minibar": "minibar", "american": "american"}.get(kind, "freezer"))
    m.style = [word for word in m.style if word]
    look = stuffs.enamel(d)
    solid, hollow = carcass((wide, tall, deep), (0, tall / 2, 0), wall)
    body = m.add("body", solid, look, hollow=hollow)
    grip: Grip = d.pick(["bar", "none"], [5, 1])
    fronts = Fronts(look, grip, draw_look(d, "silver*2, black, grey", "steel, aluminium"), d.between(0.25, 0.5))
    room = Opening(-wide / 2 + SINK, wide / 2 - SINK, 0.0, tall, deep / 2 - SINK + thick)
    inner = Opening(-wide / 2 + wall, wide / 2 - wall, wall, tall - wall, deep / 2)
    upper = float(np.radians(d.between(95, 115)))
    hung: Side = d.pick([-1, 1])
    share = d.between(0.26, 0.38)
    rows = {"freezer above": [1 - share, share], "freezer below": [share, 1 - share], "french": [share, 1 - share]}.get(
        kind, [1.0]
    )
    fronts_at = room.rows(rows, [0.0] * (len(rows) - 1))
    spaces = [
        replace(inner, low=max(inner.low, at.low + wall / 2), high=min(inner.high, at.high - wall / 2))
        for at in fronts_at
    ]
    for below in fronts_at[:-1]:
        low = (inner.left - SINK, below.high - wall / 2, -deep / 2 + wall - SINK)
        m.add("divider", board_between(low, (inner.right + SINK, below.high + wall / 2, deep / 2 - 0.002)), look, body)
    pairs = [kind == "american" or (kind == "french" and k == 1) for k in range(len(rows))]
    if kind == "american":
        low = (-wall / 2, inner.low - SINK, -deep / 2 + wall - SINK)
        m.add("divider", board_between(low, (wall / 2, inner.high + SINK, deep / 2 - 0.002)), look, body)
    main = int(np.argmax(rows))
    floor = len(m.parts) - 1 if main > 0 else body
    _inside(m, d, spaces[main], -deep / 2 + wall, floor, body)
    rack = draw_look(d, "white, light grey, light blue", "acrylic, abs")
    for opening, is_pair in zip(fronts_at, pairs, strict=True):
        halves = [(replace(opening, right=0.0), -1), (replace(opening, left=0.0), 1)] if is_pair else [(opening, hung)]
        for half, side in halves:
            door = add_door(m, half, side, fronts, body, thick=thick, upper=upper)  # type: ignore[arg-type]
            if half.tall > 0.45:
                _rack(m, rack, half, deep / 2, wall, door)
    x, z = wide / 2 - 0.05, deep / 2 - 0.06
    rubber = draw_look(d, "black, charcoal", "rubber, abs")
    m.add("foot", lathe([(0.02, 0, 1), (0.02, 0.034, 1)], (x, -0.03, z)), rubber, body, "round", repeat=FOUR)
    return m.done()


def _inside(m: Maker, d: Dice, space: Opening, back: float, floor: int, body: int) -> None:
    """Glass shelves set back behind the racks of the door, and a tray for vegetables at the bottom."""
    clear = draw_look(d, "white, light grey, light blue", "glass, acrylic")
    set_back = replace(space, z=space.z - 0.1)
    if space.tall > 0.5 and d.chance(0.7):
        high, x = 0.16, space.right - 0.01
        tray = block(
            (2 * x, high, 0.7 * (set_back.z - back)),
            (0, space.low + high / 2 - 0.002, back + 0.36 * (set_back.z - back)),
            corner=0.02,
            edge=0.0,
        )
        m.add("tray", tray, clear, floor, hollow=Hollow(0.006, "top"))
        set_back = replace(set_back, low=space.low + high)
    add_shelves(m, set_back, back, max(1, int(set_back.tall / d.between(0.25, 0.35))), clear, body, thick=0.008)


def _rack(m: Maker, look: Look, half: Opening, face: float, wall: float, door: int) -> None:
    """Open trays on the inner face of a door, clear of the walls when it turns."""
    x, _ = half.middle
    wide = half.wide - 2 * wall - 0.07
    count = max(1, int((half.tall - 0.15) / 0.32))
    step = (half.tall - 0.15) / count
    tray = block((wide, 0.07, 0.075), (x, half.low + 0.115, face - 0.0365), corner=0.05, edge=0.0)
    m.add("door shelf", tray, look, door, hollow=Hollow(0.004, "top"), repeat=Repeat(count=count, step=(0, step, 0)))
