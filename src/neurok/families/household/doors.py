"""Doors of rooms and houses: one leaf or two in a frame, with handles on both sides."""

from __future__ import annotations

import numpy as np

from neurok.families.household import stuffs
from neurok.families.household.assemble import PAIR, Maker
from neurok.families.household.casework import GAP, SINK, Opening, Side, board_between
from neurok.families.household.looks import draw_look
from neurok.families.household.parts import Assembly, Hinge, Look, Repeat
from neurok.families.household.solids import block, lathe, tube, turned
from neurok.modelling.dice import Dice


def door(d: Dice) -> Assembly:
    """A frame on the ground, one or two leaves in it that open towards +z."""
    m = Maker("door")
    leaves = d.pick([1, 2], [4, 1])
    is_front = leaves == 1 and d.chance(0.35)
    m.style.append("double door" if leaves == 2 else ("front door" if is_front else "inner door"))
    wide, tall = leaves * d.between(0.7, 0.95), d.between(1.95, 2.15)
    look = d.pick([stuffs.wood, _paint, stuffs.metal], [4, 4, 0.6])(d)
    around = look if d.chance(0.5) else d.pick([stuffs.wood, _paint])(d)
    broad, deep = d.between(0.05, 0.1), d.between(0.09, 0.14)
    solid = board_between((-wide / 2 - broad, tall, -deep / 2), (wide / 2 + broad, tall + broad, deep / 2))
    frame = m.add("lintel", solid, around)
    solid = board_between((wide / 2, 0, -deep / 2), (wide / 2 + broad, tall + SINK, deep / 2))
    jambs = m.add("jamb", solid, around, frame, repeat=PAIR)
    if d.chance(0.4):
        sill = board_between((-wide / 2 - SINK, 0, -deep / 2), (wide / 2 + SINK, 0.012, deep / 2 - 0.002))
        m.add("threshold", sill, around if d.chance(0.5) else stuffs.metal(d), jambs)
    room = Opening(-wide / 2, wide / 2, 0.012, tall, deep / 2 + 0.004)
    thick, metal = d.between(0.035, 0.048), stuffs.fittings(d)
    fill = d.pick(["plain", "panelled", "glazed"], [2, 4, 2.5])
    inside = {"plain": look, "panelled": look if d.chance(0.7) else _paint(d), "glazed": stuffs.milk_glass(d)}[fill]
    rows = d.count(1, 3)
    halves: list[tuple[Opening, Side]] = [(room, d.pick([-1, 1]))]
    if leaves == 2:
        left, right = room.columns([1.0, 1.0], 0.0)
        halves = [(left, -1), (right, 1)]
    grip, upper = d.pick(["lever", "knob", "bar"], [4, 2.5, 1]), float(np.radians(d.between(85, 115)))
    for half, side in halves:
        _leaf(m, half, side, (look, inside, metal), (fill, rows, grip), thick, upper, jambs)
    return m.done()


def _paint(d: Dice) -> Look:
    return draw_look(d, [*stuffs.PAINTED, "teal", "burgundy", "dark green", "blue"], "wood*2, mdf")


def _leaf(
    m: Maker,
    opening: Opening,
    side: Side,
    looks: tuple[Look, Look, Look],
    words: tuple[str, int, str],
    thick: float,
    upper: float,
    jambs: int,
) -> None:
    """A leaf with its panels or panes, its handle and its hinges."""
    look, inside, metal = looks
    fill, rows, grip = words
    left = opening.left + (-SINK if side < 0 else GAP)
    right = opening.right - (-SINK if side > 0 else GAP)
    low, high, z = opening.low, opening.high - GAP, opening.z
    hung = opening.left if side < 0 else opening.right
    hinge = Hinge("revolute", (0, side, 0), (hung, (low + high) / 2, z), 0.0, upper)
    style = {"plain": "flat", "panelled": "panelled", "glazed": "glazed"}[fill]
    leaf = m.add("door", board_between((left, low, z - thick), (right, high, z)), look, jambs, style, hinge=hinge)
    wide, x = right - left, (left + right) / 2
    if fill != "plain":
        rail, out = 0.13 * wide + 0.01, 0.006
        step = (high - low - 2 * rail) / rows
        is_split = wide > 0.6 and rows > 1
        edge = 0.03 if is_split else 0.0
        a = (x + edge if is_split else left + rail, low + rail, z - thick - out)
        b = (right - rail, low + rail + step - (0.06 if rows > 1 else 0.0), z + out)
        repeat = Repeat("x" if is_split else "", rows, (0, step, 0), pivot=(x, z))
        solid = block(np.subtract(b, a), np.add(a, b) / 2, corner=0.02, edge=0.35 if fill == "panelled" else 0.05)
        m.add("panel" if fill == "panelled" else "glass pane", solid, inside, leaf, role="trim", repeat=repeat)
    at = np.array([right - 0.065 if side < 0 else left + 0.065, 1.02, z])
    both = Repeat("z", pivot=(0.0, z - thick / 2))
    if grip == "lever":
        rose = lathe([(0.026, -0.003, 1), (0.026, 0.006, 0.7), (0.01, 0.009, 0.5), (0.01, 0.045, 1)], at, turned(x=90))
        plate = m.add("lock", rose, metal, leaf, "round", repeat=both)
        points = [
            at + np.array([0, 0, 0.038]),
            at + np.array([side * 0.06, 0, 0.042]),
            at + np.array([side * 0.125, 0, 0.04]),
        ]
        m.add("handle", tube(points, 0.009), metal, plate, "lever", repeat=both)
    elif grip == "knob":
        knots = [(0.028, -0.003, 1), (0.028, 0.005, 0.7), (0.011, 0.02, 0.2), (0.03, 0.045, 0), (0.02, 0.062, 0.4)]
        m.add("knob", lathe(knots, at, turned(x=90)), metal, leaf, "round", repeat=both)
    else:
        points = [at + np.array([0, y, out]) for y, out in ((-0.2, -0.003), (-0.2, 0.045), (0.2, 0.045), (0.2, -0.003))]
        m.add("handle", tube(points, 0.011, bend=0.02), metal, leaf, "bar", repeat=both)
    barrel = lathe([(0.008, -0.05, 1), (0.008, 0.05, 1)], (hung, low + 0.2, z + 0.001))
    m.add("hinge", barrel, metal, jambs, "round", repeat=Repeat(count=3, step=(0, (high - low - 0.4) / 2, 0)))
