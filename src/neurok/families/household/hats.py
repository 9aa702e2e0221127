"""Hats, caps and beanies as hollow shells; and headbands."""

from __future__ import annotations

import numpy as np

from neurok.families.household import stuffs
from neurok.families.household.assemble import PAIR, ROOT, Maker
from neurok.families.household.looks import draw_look
from neurok.families.household.parts import Assembly, Look, Repeat
from neurok.families.household.solids import block, lathe, plate, sheet, turned
from neurok.modelling.dice import Dice
from neurok.modelling.forms import Hollow

OVAL = 1.16
"""A head is longer than wide."""


def _cloth(d: Dice, straw: float = 0.3) -> Look:
    if d.chance(straw):
        return draw_look(
            d, "beige, tan, cream, light brown, white, black", "straw", patterns="weave*2, plain", tile=0.05
        )
    colours = stuffs.cloth_colours(d)
    return draw_look(
        d,
        colours,
        "felt*2, cotton, wool, canvas, leather, denim",
        feels="none, soft, stiff",
        patterns="plain*9, weave, plaid, stripes",
        tile=0.08,
    )


def trim(d: Dice) -> Look:
    """Ribbons and bands."""
    return draw_look(
        d, [*stuffs.BRIGHT, "black", "black", "white", "dark brown", "brown", "cream"], "silk, cotton, leather, velvet"
    )


def brimmed_hat(d: Dice) -> Assembly:
    """A crown and a brim in one shell: sun hats, fedoras, bowlers, top hats, bucket hats."""
    m = Maker("hat")
    kind = d.pick(["fedora", "sun", "bowler", "top", "bucket", "cowboy"], [3, 2.5, 1.5, 1.2, 1.5, 1.2])
    m.style.append(kind)
    look = _cloth(d, 0.6 if kind == "sun" else 0.2)
    r, wall = d.between(0.085, 0.1), d.between(0.003, 0.006)
    tall = {
        "fedora": d.between(0.1, 0.13),
        "sun": d.between(0.085, 0.12),
        "bowler": d.between(0.1, 0.12),
        "top": d.between(0.14, 0.2),
        "bucket": d.between(0.085, 0.11),
        "cowboy": d.between(0.11, 0.14),
    }[kind]
    brim = {
        "fedora": d.between(0.045, 0.07),
        "sun": d.between(0.08, 0.16),
        "bowler": d.between(0.03, 0.045),
        "top": d.between(0.035, 0.055),
        "bucket": d.between(0.04, 0.06),
        "cowboy": d.between(0.07, 0.1),
    }[kind]
    droop = {"bucket": d.between(0.03, 0.05), "sun": d.between(-0.01, 0.04), "cowboy": -0.01}.get(
        kind, d.between(-0.012, 0.01)
    )
    top = {"fedora": 0.72, "sun": 0.8, "bowler": 0.6, "top": d.between(0.95, 1.1), "bucket": 0.85, "cowboy": 0.7}[kind]
    dome = {"bowler": 0.1, "sun": 0.3, "top": 1.0, "bucket": 0.8}.get(kind, 0.4)
    dent = 0.012 if kind in ("fedora", "cowboy") else 0.0
    knots = [
        (r + brim, -droop, 1),
        (r + 0.5 * brim, -0.3 * droop + 0.004, 0),
        (r + 0.006, 0.008, 0.6),
        (r, 0.022, 0.6),
        (0.97 * r, 0.6 * tall, 0),
        (top * r, tall, dome),
        (0.4 * top * r, tall - dent + 0.003, 0),
        (0.003, tall - dent, 0),
    ]
    solid = lathe(knots, stretch=OVAL)
    hat = m.add(
        "crown",
        solid,
        look,
        ROOT,
        "round",
        "wide" if brim > 0.07 else "narrow",
        "tall" if tall > 0.13 else "",
        hollow=Hollow(wall, "bottom"),
    )
    if kind != "bucket" and d.chance(0.8):
        high = d.between(0.015, 0.04)
        band = lathe([(1.02 * r, 0.022, 1), (1.02 * r, 0.022 + high, 1)], stretch=OVAL)
        ribbon = m.add("band", band, trim(d), hat, "wide" if high > 0.03 else "narrow", hollow=Hollow(0.006, "through"))
        if d.chance(0.3):
            _bow(m, d, m.parts[ribbon].look, ribbon, (1.0 * r, 0.022 + high / 2, 0.0), 0.03)
        elif d.chance(0.15):
            u = np.linspace(0, 1, 9)
            feather = sheet(
                0.012 * np.sin(np.pi * np.clip(u, 0.1, 0.95)),
                0.11,
                0.002,
                (0.99 * r, 0.02 + high / 2, 0.01),
                turned(x=-25, z=-8),
                bends=0.06,
            )
            m.add("leaf", feather, draw_look(d, list(stuffs.BRIGHT), "horn"), ribbon, "long", "pointed", role="trim")
    return m.done()


def _bow(m: Maker, d: Dice, look: Look, parent: int, at: tuple[float, float, float], size: float) -> None:
    """A bow on the side of something, facing +x."""
    x, y, z = at
    knot = m.add("knot", block((0.45 * size, 0.6 * size, 0.6 * size), at, corner=0.8, edge=0.9), look, parent)
    corners = (
        np.array([[-0.05, -0.2], [0.7, -0.6], [1.0, -0.55], [1.05, 0.0], [1.0, 0.55], [0.7, 0.6], [-0.05, 0.2]]) * size
    )
    solid = plate(corners, 0.3 * size, (x + 0.04 * size, y, z), turned(y=-90), rounding=0.6, bevel=0.8, puff=0.25)
    m.add("bow", solid, look, knot, "winged", repeat=Repeat("z", pivot=(x, z)))


def cap(d: Dice) -> Assembly:
    """A dome with a peak in front."""
    m = Maker("hat", "cap")
    look = _cloth(d, 0.03)
    r, tall = d.between(0.088, 0.098), d.between(0.095, 0.125)
    is_flat = d.chance(0.2)
    knots = [
        (r, 0, 1),
        (1.01 * r, 0.03, 0),
        (0.97 * r, 0.5 * tall, 0),
        (0.78 * r, 0.8 * tall, 0),
        (0.45 * r, 0.95 * tall, 0),
        (0.003, tall, 0),
    ]
    if is_flat:
        knots = [
            (r, 0, 1),
            (r, 0.02, 0),
            (1.3 * r, 0.05, 0),
            (1.15 * r, 0.075, 0),
            (0.5 * r, 0.085, 0),
            (0.003, 0.088, 0),
        ]
    solid = lathe(knots, stretch=OVAL)
    dome = m.add("crown", solid, look, ROOT, "round", "flat" if is_flat else "", hollow=Hollow(0.004, "bottom"))
    peak = look if d.chance(0.6) else _cloth(d, 0.0)
    long = d.between(0.05, 0.08)
    corners = np.array(
        [
            [-0.85 * r, 0.0],
            [0.85 * r, 0.0],
            [0.8 * r, 0.7 * long],
            [0.4 * r, long],
            [-0.4 * r, long],
            [-0.8 * r, 0.7 * long],
        ]
    )
    solid = plate(
        corners - [0, 0.5 * long],
        0.005,
        (0, 0.012, OVAL * 0.82 * r + 0.5 * long),
        turned(x=90 + d.between(4, 14)),
        rounding=0.7,
        bevel=0.4,
        bow=d.between(0.004, 0.016),
    )
    m.add("peak", solid, peak, dome, "curved")
    top = 0.088 if is_flat else tall
    if d.chance(0.8):
        m.add("button", block((0.016, 0.01, 0.016), (0, top, 0), corner=1.0, edge=0.8), peak, dome, "round")
    if d.chance(0.3):
        badge = trim(d)
        solid = lathe([(1.015 * r, 0.002, 1), (1.02 * r, 0.022, 1)], stretch=OVAL)
        m.add("band", solid, badge, dome, "narrow", hollow=Hollow(0.006, "through"))
    return m.done()


def beanie(d: Dice) -> Assembly:
    """A knitted dome with a turned-up edge, perhaps a pompom; or a beret."""
    m = Maker("hat", "beanie")
    look = draw_look(
        d,
        list(stuffs.BRIGHT) + stuffs.NEUTRAL,
        "knit, wool, knit",
        feels="none, soft*2",
        patterns="plain*3, bands, stripes",
        tile=0.1,
    )
    r, tall = d.between(0.085, 0.095), d.between(0.14, 0.2)
    knots = [
        (r, 0, 1),
        (1.03 * r, 0.3 * tall, 0),
        (0.95 * r, 0.6 * tall, 0),
        (0.7 * r, 0.85 * tall, 0),
        (0.35 * r, 0.97 * tall, 0),
        (0.003, tall, 0),
    ]
    solid = lathe(knots, stretch=1.08)
    dome = m.add(
        "crown",
        solid,
        look,
        ROOT,
        "round",
        "tall" if tall > 0.17 else "",
        hollow=Hollow(0.006, "bottom"),
        relief=d.pick(["smooth", "fluted"]),
    )
    if d.chance(0.7):
        edge = look if d.chance(0.6) else draw_look(d, list(stuffs.BRIGHT) + stuffs.NEUTRAL, "knit, wool")
        high = d.between(0.035, 0.06)
        solid = lathe([(1.05 * r, 0, 0.5), (1.1 * r, 0.5 * high, 0), (1.05 * r, high, 0.5)], stretch=1.08)
        m.add("band", solid, edge, dome, "wide", "rolled", hollow=Hollow(0.011, "through"))
    if d.chance(0.55):
        puff = draw_look(d, list(stuffs.BRIGHT) + ["white", "cream", "grey"], "wool, fur", feels="none, soft")
        p = d.between(0.022, 0.038)
        m.add("pompom", block((2 * p, 2 * p, 2 * p), (0, tall + 0.6 * p, 0), corner=1.0, edge=1.0), puff, dome, "round")
    if d.chance(0.25):
        solid = block((0.012, 0.09, 0.075), (0.98 * r, -0.02, 0), corner=0.7, edge=0.8, depths=(0.5, 0.8, 1, 1, 1))
        m.add("ear", solid, look, dome, "flat", role="body", repeat=PAIR)
    return m.done()


def pointed_hat(d: Dice) -> Assembly:
    """Party hats, witches' hats and nightcaps."""
    m = Maker("hat", "pointed")
    look = draw_look(
        d,
        list(stuffs.BRIGHT) + ["black", "white"],
        "felt, cardboard, cotton",
        patterns="plain*2, dots, stripes, bands, checks",
        tile=0.08,
    )
    r, tall, brim = d.between(0.075, 0.095), d.between(0.16, 0.3), d.pick([0.0, d.between(0.05, 0.1)])
    low = [(r + brim, 0, 1), (r + 0.004, 0.008, 0.6)] if brim else [(r, 0, 1)]
    knots = [*low, (0.62 * r, 0.4 * tall, 0), (0.28 * r, 0.72 * tall, 0), (0.004, tall, 0)]
    cone = m.add("crown", lathe(knots), look, ROOT, "pointed", "tall", hollow=Hollow(0.003, "bottom"))
    if d.chance(0.6):
        puff = draw_look(d, list(stuffs.BRIGHT) + ["white"], "wool, cotton")
        m.add("pompom", block((0.045, 0.045, 0.045), (0, tall + 0.005, 0), corner=1.0, edge=1.0), puff, cone, "round")
    if brim or d.chance(0.4):
        solid = lathe([(1.0 * r, 0.01, 1), (0.94 * r, 0.04, 1)])
        m.add("band", solid, trim(d), cone, "narrow", hollow=Hollow(0.007, "through"))
    return m.done()
