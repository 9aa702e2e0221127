"""Backpacks, duffels and briefcases."""

from __future__ import annotations

import numpy as np

from neurok.families.household.assemble import PAIR, ROOT, Maker
from neurok.families.household.bags import add_flap, bag_cloth, fitting, half_depth, low_front
from neurok.families.household.parts import Assembly, Repeat
from neurok.families.household.solids import block, lathe, plate, tube, turned
from neurok.modelling.dice import Dice
from neurok.modelling.forms import Hollow


def backpack(d: Dice) -> Assembly:
    m = Maker("bag", "backpack")
    look = bag_cloth(d, 0.2)
    w, h, t = d.between(0.26, 0.34), d.between(0.36, 0.5), d.between(0.14, 0.2)
    grow = np.array([0.95, 1.0, 1.0, 0.95, d.between(0.7, 0.9)])
    solid = block(
        (w, h, t),
        (0, h / 2, 0),
        corner=d.between(0.3, 0.55),
        edge=(0.35, d.between(0.6, 1.0)),
        widths=grow,
        depths=(1.0, 1.0, 0.95, 0.85, 0.7),
    )
    body = m.add("body", solid, look, ROOT, "rounded")
    trim = look if d.chance(0.4) else bag_cloth(d, 0.4)
    z = half_depth(m, body, 0.3 * h, 0.0)
    if d.chance(0.85):
        solid = block((0.76 * w, 0.42 * h, 0.08), (0, 0.26 * h, z + 0.005), corner=0.35, edge=0.7)
        pocket = m.add("pocket", solid, trim, body, "rounded")
        solid = block((0.6 * w, 0.008, 0.01), (0, 0.4 * h, z + 0.043), corner=0.2, edge=0.5)
        m.add("zip", solid, fitting(d), pocket, "long")
    if d.chance(0.5):
        corners = np.array(
            [
                [-0.45 * w, 0],
                [-0.46 * w, -0.28 * h],
                [-0.3 * w, -0.36 * h],
                [0.3 * w, -0.36 * h],
                [0.46 * w, -0.28 * h],
                [0.45 * w, 0],
            ]
        )
        zt = half_depth(m, body, 0.9 * h, 0.0) - 0.002
        solid = plate(corners, 0.014, (0, 0.97 * h, zt - 0.004), turned(x=-8), rounding=0.6, bevel=0.6)
        flap = m.add("flap", solid, trim, body, "rounded")
        m.add(
            "buckle", block((0.03, 0.03, 0.014), low_front(m, flap), corner=0.2, edge=0.4), fitting(d), flap, "square"
        )
    back = -0.5 * t
    points = [
        (0.2 * w, 0.93 * h, back + 0.03),
        (0.27 * w, 0.9 * h, back - 0.05),
        (0.32 * w, 0.55 * h, back - 0.085),
        (0.34 * w, 0.25 * h, back - 0.04),
        (0.36 * w, 0.1 * h, back + 0.03),
    ]
    m.add("strap", tube(points, 0.02, flat=0.35, bend=1.0), trim, body, "wide", "curved", repeat=PAIR)
    loop = [
        (-0.05, h - 0.02, -0.2 * t),
        (-0.04, h + 0.035, -0.2 * t),
        (0.04, h + 0.035, -0.2 * t),
        (0.05, h - 0.02, -0.2 * t),
    ]
    m.add("handle", tube(loop, 0.007, bend=1.0), trim, body, "short", "curved")
    if d.chance(0.35):
        solid = block((0.05, 0.3 * h, 0.6 * t), (0.5 * w, 0.24 * h, 0), corner=0.4, edge=0.6)
        m.add("pocket", solid, trim, body, "narrow", repeat=PAIR)
    return m.done()


def duffel(d: Dice) -> Assembly:
    """A roll lying on its side, with handles and a zip."""
    m = Maker("bag", "duffel")
    look, trim = bag_cloth(d, 0.25), bag_cloth(d, 0.6)
    long, r = d.between(0.42, 0.6), d.between(0.12, 0.16)
    knots = [(0.85 * r, 0, 0.6), (r, 0.03, 0), (r, long / 2, 0), (r, long - 0.03, 0), (0.85 * r, long, 0.6)]
    body = m.add("body", lathe(knots, (-long / 2, r, 0), turned(z=-90)), look, ROOT, "round", "long")
    m.add(
        "zip", block((0.8 * long, 0.008, 0.012), (0, 2 * r - 0.001, 0), corner=0.2, edge=0.5), fitting(d), body, "long"
    )
    a, drop = 0.17 * long, d.between(0.1, 0.16)
    points = [
        (-a, r, 0.99 * r),
        (-a, 1.6 * r, 0.78 * r),
        (-0.8 * a, 2 * r + drop, 0.25 * r),
        (0.8 * a, 2 * r + drop, 0.25 * r),
        (a, 1.6 * r, 0.78 * r),
        (a, r, 0.99 * r),
    ]
    m.add("handle", tube(points, 0.011, flat=0.6, bend=1.0), trim, body, "curved", repeat=Repeat("z"))
    x = 0.28 * long
    band = lathe([(1.015 * r, -0.018, 1), (1.015 * r, 0.018, 1)], (x, r, 0), turned(z=-90))
    m.add("strap", band, trim, body, "flat", role="trim", hollow=Hollow(0.012, "through"), repeat=PAIR)
    if d.chance(0.4):
        solid = block((0.3 * long, 0.9 * r, 0.05), (0, 0.8 * r, 0.93 * r), corner=0.2, edge=0.6)
        m.add("pocket", solid, trim, body, "square")
    return m.done()


def briefcase(d: Dice) -> Assembly:
    """Briefcases, satchels and small suitcases."""
    m = Maker("bag", "briefcase")
    look = bag_cloth(d, 0.85)
    w, h, t = d.between(0.36, 0.46), d.between(0.26, 0.34), d.between(0.07, 0.14)
    solid = block((w, h, t), (0, h / 2, 0), corner=0.1, edge=d.between(0.1, 0.4), welt=d.pick([0.0, 0.003]))
    body = m.add("body", solid, look, ROOT, "boxy")
    trim = look if d.chance(0.7) else bag_cloth(d, 1.0)
    if d.chance(0.6):
        add_flap(m, d, trim, body, (0.98 * w, h, h, t / 2))
    else:
        x = 0.3 * w
        solid = block((0.035, 0.03, 0.014), (x, 0.85 * h, t / 2 + 0.002), corner=0.2, edge=0.4)
        m.add("clasp", solid, fitting(d), body, "square", repeat=PAIR)
        m.add(
            "rim", block((1.004 * w, 0.012, 1.02 * t), (0, 0.78 * h, 0), corner=0.1, edge=0.4), fitting(d), body, "thin"
        )
    a = d.between(0.07, 0.09)
    points = [
        (-a, h - 0.01, 0),
        (-a, h + 0.03, 0),
        (-0.7 * a, h + 0.045, 0),
        (0.7 * a, h + 0.045, 0),
        (a, h + 0.03, 0),
        (a, h - 0.01, 0),
    ]
    m.add("handle", tube(points, 0.008, bend=0.015), trim, body, "short")
    solid = block((0.026, 0.012, 0.022), (a, h + 0.002, 0), corner=0.3, edge=0.5)
    m.add("buckle", solid, fitting(d), len(m.parts) - 1, "square", repeat=PAIR)
    return m.done()
