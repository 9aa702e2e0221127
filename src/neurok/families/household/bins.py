"""Bins: with a pedal, a flap that swings, or a lid to flip."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from neurok.families.household import stuffs
from neurok.families.household.assemble import ROOT, Maker
from neurok.families.household.casework import SINK, board_between
from neurok.families.household.looks import draw_look
from neurok.families.household.parts import Assembly, Hinge, Look
from neurok.families.household.solids import Solid, block, lathe, tube
from neurok.modelling.dice import Dice
from neurok.modelling.forms import Hollow

UPWARDS = (-1.0, 0.0, 0.0)
"""Axis of what is hung at the back: it opens by a positive angle."""


def _look(d: Dice) -> Look:
    if d.chance(0.45):
        return draw_look(d, "silver*2, grey, black, white, gold", "steel")
    colours = ["white", "grey", "black", "charcoal", "cream", *stuffs.BRIGHT]
    return draw_look(d, colours, "polypropylene, abs, steel, polypropylene")


def _vessel(d: Dice, is_round: bool, wide: float, deep: float, tall: float) -> tuple[Solid, float]:
    """A body and how much wider it is above than below."""
    taper = d.between(0.78, 1.0)
    if is_round:
        r = wide / 2
        return lathe([(taper * r, 0, 1), (taper * r, 0.02 * tall, 0.6), (r, tall, 1)]), taper
    shares = np.linspace(taper, 1.0, 5)
    solid = block(
        (wide, tall, deep),
        (0, tall / 2, 0),
        corner=d.between(0.05, 0.25),
        edge=(0.05, 0.0),
        widths=shares,
        depths=shares,
    )
    return solid, taper


def _lid_solid(is_round: bool, size: tuple[float, float, float], at: float, dome: float) -> Solid:
    wide, deep, thick = size
    if is_round:
        r = wide / 2
        return lathe(
            [(r, 0, 1), (r, 0.35 * thick, 0.6), (0.8 * r, (0.5 + 0.4 * dome) * thick, 0), (0.05 * r, thick, 0)],
            (0, at, 0),
        )
    solid = block((wide, thick, deep), corner=0.08, edge=(0.0, 0.5), crown=(0.0, 0.6 * dome))
    return replace(solid, centre=np.array([0.0, at + solid.size[1] / 2, 0.0]))


def _body(m: Maker, d: Dice, tall: float, wide: float) -> tuple[int, bool, float, float]:
    is_round = d.chance(0.6)
    deep = wide if is_round else d.between(0.75, 1.0) * wide
    solid, taper = _vessel(d, is_round, wide, deep, tall)
    body = m.add(
        "body",
        solid,
        _look(d),
        ROOT,
        "round" if is_round else "boxy",
        "tapered" if taper < 0.9 else "",
        hollow=Hollow(0.005, "top"),
    )
    return body, is_round, deep, taper


def pedal_bin(d: Dice) -> Assembly:
    """A lid hung at the back and a pedal at the foot of the front."""
    m = Maker("bin", "pedal bin")
    wide, tall = d.between(0.2, 0.36), d.between(0.26, 0.68)
    body, is_round, deep, taper = _body(m, d, tall, wide)
    look = m.parts[body].look
    upper = look if d.chance(0.55) else _look(d)
    thick = d.between(0.025, 0.05)
    hinge = Hinge("revolute", UPWARDS, (0, tall, -deep / 2), 0.0, float(np.radians(d.between(70, 92))))
    solid = _lid_solid(is_round, (wide * 1.01, deep * 1.01, thick), tall - SINK, d.between(0.2, 1.0))
    m.add("lid", solid, upper, body, "round" if is_round else "flat", "hinged", hinge=hinge)
    dark = draw_look(d, "black*2, charcoal, silver", "abs, steel")
    low, front = 0.035, taper * deep / 2
    solid = _foot(is_round, 1.02 * taper * wide, 1.02 * taper * deep)
    foot = m.add("base", solid, dark, body, "round" if is_round else "boxy", role="support")
    pivot = np.array([0.0, 0.004, 0.6 * front])
    press = Hinge("revolute", (1, 0, 0), pivot, 0.0, 0.12)
    pedal = board_between((-0.04, -0.001, 0.6 * front), (0.04, 0.013, front + d.between(0.035, 0.05)))
    m.add("pedal", pedal, dark if d.chance(0.7) else draw_look(d, "silver", "steel"), foot, hinge=press)
    solid = board_between((-0.035, tall - low, -deep / 2 - 0.014), (0.035, tall - 0.003, -deep / 2 + 0.006))
    m.add("hinge", solid, dark, body)
    if d.chance(0.3):
        x, y = wide / 2 * 0.93, 0.8 * tall
        points = [
            (-x, y, 0),
            (-x - 0.012, y - 0.02, 0.5 * deep),
            (0, y - 0.05, 0.5 * deep + 0.02),
            (x + 0.012, y - 0.02, 0.5 * deep),
            (x, y, 0),
        ]
        m.add("handle", tube(points, 0.003), draw_look(d, "silver, black", "steel"), body, "curved")
    return m.done()


def _foot(is_round: bool, wide: float, deep: float) -> Solid:
    if is_round:
        return lathe([(wide / 2, -0.012, 1), (wide / 2, 0.012, 1)])
    return block((wide, 0.024, deep), (0, 0, 0), corner=0.12, edge=0.1)


def swing_bin(d: Dice) -> Assembly:
    """A hood with an opening that a flap closes; the flap swings about its middle."""
    m = Maker("bin", "swing bin")
    wide, tall = d.between(0.24, 0.36), d.between(0.35, 0.6)
    deep = d.between(0.8, 1.0) * wide
    shares = np.linspace(d.between(0.8, 0.95), 1.0, 5)
    look = _look(d)
    solid = block((wide, tall, deep), (0, tall / 2, 0), corner=0.12, edge=(0.05, 0.0), widths=shares, depths=shares)
    body = m.add("body", solid, look, ROOT, "boxy", hollow=Hollow(0.005, "top"))
    high = d.between(0.1, 0.16)
    hood_look = look if d.chance(0.5) else _look(d)
    taper = np.linspace(1.0, d.between(0.82, 0.92), 5)
    hood = block(
        (1.02 * wide, high, 1.02 * deep),
        (0, tall + high / 2 - 0.006, 0),
        corner=0.12,
        edge=0.0,
        widths=taper,
        depths=taper,
    )
    cover = m.add("hood", hood, hood_look, body, hollow=Hollow(0.012, "through"))
    top = tall + high - 0.006
    w, z = taper[-1] * 1.02 * wide, taper[-1] * 1.02 * deep - 0.03
    flap_look = hood_look if d.chance(0.4) else _look(d)
    flap = block((w, 0.012, z), (0, top - 0.012, 0), corner=0.12, edge=0.1)
    swing = Hinge("revolute", (1, 0, 0), (0, top - 0.012, 0), -1.1, 1.1)
    m.add("flap", flap, flap_look, cover, "swinging", role="moving", hinge=swing)
    return m.done()


def flip_bin(d: Dice) -> Assembly:
    """A plain vessel with a lid to lift, a knob or handle on it."""
    m = Maker("bin", "flip bin")
    wide, tall = d.between(0.24, 0.5), d.between(0.35, 0.75)
    body, is_round, deep, _ = _body(m, d, tall, wide)
    look = m.parts[body].look
    upper = look if d.chance(0.6) else _look(d)
    thick = d.between(0.025, 0.06)
    hinge = Hinge("revolute", UPWARDS, (0, tall, -deep / 2), 0.0, float(np.radians(d.between(80, 110))))
    solid = _lid_solid(is_round, (1.03 * wide, 1.03 * deep, thick), tall - SINK, d.between(0.2, 1.0))
    lid = m.add("lid", solid, upper, body, "round" if is_round else "flat", "hinged", hinge=hinge)
    grip = upper if d.chance(0.5) else draw_look(d, "black, silver", "abs, steel")
    y = tall + thick - 0.008
    points = [(-0.05, y, 0), (-0.05, y + 0.035, 0), (0.05, y + 0.035, 0), (0.05, y, 0)]
    m.add("handle", tube(points, 0.006, bend=0.012), grip, lid)
    if d.chance(0.35):
        rim = lathe(
            [
                (wide / 2, tall - 0.03, 1),
                (wide / 2 + 0.006, tall - 0.028, 0.5),
                (wide / 2 + 0.006, tall - 0.01, 0.5),
                (wide / 2, tall - 0.008, 1),
            ]
        )
        if is_round:
            m.add("rim", rim, grip, body, "round", hollow=Hollow(0.006, "through"))
    return m.done()
