"""Microwaves and fridges: a clad body, doors before it, and what is inside."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from neurok.catalogue import casework, materials
from neurok.catalogue.appearance import draw_appearance
from neurok.catalogue.assemble import FOUR, Maker
from neurok.catalogue.casework import GAP, SINK, Fronts, Grip, Opening, Side, board_between, carcass
from neurok.catalogue.parts import Appearance, Assembly, Hinge, Repeat
from neurok.catalogue.solids import block, lathe, turned
from neurok.modelling.forms import Hollow
from neurok.modelling.sampler import Sampler


def microwave(d: Sampler) -> Assembly:
    """A box with a door at its left and knobs or buttons at its right; a plate turns inside."""
    m = Maker("microwave")
    wide, tall, deep, wall = d.between(0.42, 0.54), d.between(0.25, 0.32), d.between(0.32, 0.4), 0.02
    finish = materials.enamel(d)
    solid, hollow = carcass((wide, tall, deep), (0, tall / 2, 0), wall)
    body = m.add("body", solid, finish, hollow=hollow)
    split = wide / 2 - d.between(0.2, 0.28) * wide
    thick, face = 0.03, deep / 2 - SINK
    dark = draw_appearance(d, "black*3, charcoal, silver, white, grey", "abs") if d.chance(0.6) else finish
    low, high = (split + GAP, 0.001, -deep / 2 + wall - SINK), (wide / 2 - 0.001, tall - 0.001, face + thick)
    panel = m.add("control panel", board_between(low, high), dark, body)
    grip: Grip = d.pick(["bar", "none"], [3, 1])
    chrome = draw_appearance(d, "silver, black, white", "steel, abs")
    fronts = Fronts(finish if d.chance(0.6) else dark, grip, chrome, d.between(0.5, 0.7) * tall)
    room = Opening(-wide / 2 + SINK, split, -GAP, tall + GAP, face + thick)
    door = casework.add_door(m, room, -1, fronts, body, thick=thick, upper=float(np.radians(d.between(92, 115))))
    z, edge = room.z, d.between(0.03, 0.05)
    glass = board_between((room.left + edge, 0.2 * tall, z - 0.01), (split - edge - 0.03, 0.82 * tall, z + 0.002))
    m.add("window", glass, materials.dark_glass(d), door)
    _controls(m, d, panel, (split, wide / 2, tall, z), chrome)
    r, x = 0.36 * (split + wide / 2), (split - wide / 2) / 2
    hub = m.add("base", lathe([(0.03, 0, 1), (0.03, 0.014, 1)], (x, wall - 0.002, 0)), dark, body, "round", role="trim")
    knots = [(0.6 * r, 0, 1), (r, 0.01, 0.6), (0.98 * r, 0.014, 1), (0.6 * r, 0.005, 0.5)]
    at = (x, wall + 0.011, 0)
    spin = Hinge("continuous", (0, 1, 0), at)
    m.add("turntable", lathe(knots, at), materials.pane(d), hub, "round", hinge=spin)
    rubber = draw_appearance(d, "black, charcoal", "rubber")
    foot = lathe([(0.012, 0, 1), (0.014, 0.014, 1)], (wide / 2 - 0.04, -0.012, deep / 2 - 0.04))
    m.add("foot", foot, rubber, body, "round", repeat=FOUR)
    return m.done()


def _controls(m: Maker, d: Sampler, panel: int, place: tuple[float, float, float, float], chrome: Appearance) -> None:
    """A display, and knobs that turn or rows of buttons."""
    left, right, tall, z = place
    x, room = (left + right) / 2, right - left
    if d.chance(0.75):
        glow = draw_appearance(d, "black, green, teal, charcoal", "glass", feels="stiff")
        low, high = (x - 0.32 * room, 0.78 * tall, z - 0.004), (x + 0.32 * room, 0.9 * tall, z + 0.0015)
        m.add("display", board_between(low, high), glow, panel)
    if d.chance(0.5):
        r = d.between(0.2, 0.27) * room
        for y in [0.55 * tall, 0.24 * tall][: d.count(1, 2)]:
            solid = lathe([(r, -0.003, 1), (0.95 * r, 0.015, 0.6), (0.8 * r, 0.02, 1)], (x, y, z), turned(x=90))
            turn = Hinge("revolute", (0, 0, 1), (x, y, z), 0.0, float(np.radians(270)))
            knob = m.add("knob", solid, chrome, panel, "round", hinge=turn)
            low, high = (x - 0.08 * r, y + 0.2 * r, z + 0.016), (x + 0.08 * r, y + 0.75 * r, z + 0.023)
            m.add("joint", board_between(low, high), draw_appearance(d, "white, red, black", "abs"), knob)
        return
    rows = d.count(3, 5)
    step, y = 0.56 * tall / rows, 0.14 * tall
    button = board_between((x + 0.06 * room, y, z - 0.003), (x + 0.3 * room, y + 0.6 * step, z + 0.003))
    m.add("button", button, chrome, panel, repeat=Repeat("x", rows, (0, step, 0), pivot=(x, z)))


FRIDGES = {"single": 2, "minibar": 1.5, "freezer above": 3, "freezer below": 3, "american": 2, "french": 1.5}
"""Kinds of fridges and how often they are drawn."""


def fridge(d: Sampler) -> Assembly:
    """One door, two above each other or side by side, or three; shelves and a tray inside, racks in the doors."""
    kind = d.pick(list(FRIDGES), list(FRIDGES.values()))
    word = {"single": "", "minibar": "minibar", "american": "american"}.get(kind, "freezer")
    m = Maker("fridge", *filter(None, [word]))
    wide = d.between(0.8, 0.95) if kind in ("american", "french") else d.between(0.48, 0.7)
    tall = d.between(0.5, 0.85) if kind == "minibar" else d.between(1.35, 2.0)
    deep, wall, thick = d.between(0.5, 0.66), 0.035, d.between(0.04, 0.06)
    finish = materials.enamel(d)
    solid, hollow = carcass((wide, tall, deep), (0, tall / 2, 0), wall)
    body = m.add("body", solid, finish, hollow=hollow)
    grip: Grip = d.pick(["bar", "none"], [5, 1])
    metal = draw_appearance(d, "silver*2, black, grey", "steel, aluminium")
    fronts = Fronts(finish, grip, metal, d.between(0.25, 0.5))
    room = Opening(-wide / 2 + SINK, wide / 2 - SINK, 0.0, tall, deep / 2 - SINK + thick)
    inner = Opening(-wide / 2 + wall, wide / 2 - wall, wall, tall - wall, deep / 2)
    upper = float(np.radians(d.between(95, 115)))
    hung: Side = d.pick([-1, 1])
    share = d.between(0.26, 0.38)
    rows = [share, 1 - share] if kind in ("freezer below", "french") else [1 - share, share]
    rows = rows if word == "freezer" else [1.0]
    openings = room.rows(rows, [0.0] * (len(rows) - 1))
    back, face = -deep / 2 + wall, deep / 2 - 0.002
    for below in openings[:-1]:
        low = (inner.left - SINK, below.high - wall / 2, back - SINK)
        m.add("divider", board_between(low, (inner.right + SINK, below.high + wall / 2, face)), finish, body)
    if kind == "american":
        low = (-wall / 2, inner.low - SINK, back - SINK)
        m.add("divider", board_between(low, (wall / 2, inner.high + SINK, face)), finish, body)
    main = int(np.argmax(rows))
    at = openings[main]
    space = replace(inner, low=max(inner.low, at.low + wall / 2), high=min(inner.high, at.high - wall / 2))
    _inside(m, d, space, back, len(m.parts) - 1 if main > 0 else body, body)
    rack = draw_appearance(d, "white, light grey, light blue", "acrylic, abs")
    for k, opening in enumerate(openings):
        halves: list[tuple[Opening, Side]] = [(opening, hung)]
        if kind == "american" or (kind == "french" and k == 1):
            halves = [(replace(opening, right=0.0), -1), (replace(opening, left=0.0), 1)]
        for half, side in halves:
            door = casework.add_door(m, half, side, fronts, body, thick=thick, upper=upper)
            if half.tall > 0.45:
                _rack(m, rack, half, deep / 2, wall, door)
    rubber = draw_appearance(d, "black, charcoal", "rubber, abs")
    foot = lathe([(0.02, 0, 1), (0.02, 0.034, 1)], (wide / 2 - 0.05, -0.03, deep / 2 - 0.06))
    m.add("foot", foot, rubber, body, "round", repeat=FOUR)
    return m.done()


def _inside(m: Maker, d: Sampler, space: Opening, back: float, floor: int, body: int) -> None:
    """Glass shelves set back behind the racks of the door, and a tray for vegetables at the bottom."""
    clear = draw_appearance(d, "white, light grey, light blue", "glass, acrylic")
    set_back = replace(space, z=space.z - 0.1)
    if space.tall > 0.5 and d.chance(0.7):
        high, deep = 0.16, set_back.z - back
        size, at = (2 * (space.right - 0.01), high, 0.7 * deep), (0, space.low + high / 2 - 0.002, back + 0.36 * deep)
        m.add("tray", block(size, at, corner=0.02, edge=0.0), clear, floor, hollow=Hollow(0.006, "top"))
        set_back = replace(set_back, low=space.low + high)
    casework.add_shelves(
        m, set_back, back, max(1, int(set_back.tall / d.between(0.25, 0.35))), clear, body, thick=0.008
    )


def _rack(m: Maker, finish: Appearance, half: Opening, face: float, wall: float, door: int) -> None:
    """Open trays on the inner face of a door, clear of the walls when it turns."""
    count = max(1, int((half.tall - 0.15) / 0.32))
    size, at = (half.wide - 2 * wall - 0.07, 0.07, 0.075), (half.middle[0], half.low + 0.115, face - 0.0365)
    tray, repeat = block(size, at, corner=0.05, edge=0.0), Repeat(count=count, step=(0, (half.tall - 0.15) / count, 0))
    m.add("door shelf", tray, finish, door, hollow=Hollow(0.004, "top"), repeat=repeat)
