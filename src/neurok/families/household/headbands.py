"""Headbands: arches over the head and rings around it, with what sits on them."""

from __future__ import annotations

import numpy as np

from neurok.families.household import stuffs
from neurok.families.household.assemble import PAIR, ROOT, Maker
from neurok.families.household.hats import OVAL, trim
from neurok.families.household.looks import draw_look
from neurok.families.household.parts import Assembly, Look, Repeat
from neurok.families.household.solids import block, lathe, plate, tube, turned
from neurok.modelling.dice import Dice
from neurok.modelling.forms import Hollow


def headband(d: Dice) -> Assembly:
    """An arch that is worn over the head, or a ring around it, with what sits on it."""
    m = Maker("headband")
    if d.chance(0.25):
        _ring(m, d)
        return m.done()
    w, tall = d.between(0.065, 0.078), d.between(0.1, 0.13)
    padded = d.chance(0.4)
    if padded:
        look = stuffs.padding(d, "stuffing", hides=0.1, tile=0.05)
    else:
        look = d.pick([stuffs.plastic, stuffs.metal, trim], [3, 1.2, 1])(d)
    wide = d.between(0.012, 0.024) if padded else d.between(0.003, 0.02)
    flat = d.between(0.35, 0.6) if padded else min(1.0, 0.0035 / wide + 0.08)
    points = [
        (-0.82 * w, 0, 0),
        (-1.02 * w, 0.4 * tall, 0),
        (-0.62 * w, 0.9 * tall, 0),
        (0.62 * w, 0.9 * tall, 0),
        (1.02 * w, 0.4 * tall, 0),
        (0.82 * w, 0, 0),
    ]
    radii = (d.between(0.45, 0.9) * wide, wide, d.between(0.45, 0.9) * wide)
    solid = tube(points, (radii[0], wide, radii[0]), flat=flat, bend=1.0)
    band = m.add(
        "band", solid, look, ROOT, "padded" if padded else "thin", "wide" if wide > 0.012 else "narrow", role="body"
    )
    _decorate(m, d, look, band, (w, 0.97 * tall, wide, wide * flat))
    return m.done()


def _ring(m: Maker, d: Dice) -> None:
    """A stretch band around the head."""
    r, high = d.between(0.085, 0.095), d.between(0.02, 0.07)
    look = draw_look(
        d,
        list(stuffs.BRIGHT) + stuffs.NEUTRAL,
        "knit, cotton, polyester, wool",
        feels="none, soft, flexible",
        patterns="plain*2, stripes, bands, dots, floral",
        tile=0.06,
    )
    solid = lathe([(r, 0, 0.5), (1.02 * r, high / 2, 0), (r, high, 0.5)], stretch=OVAL)
    band = m.add(
        "band",
        solid,
        look,
        ROOT,
        "round",
        "wide" if high > 0.04 else "narrow",
        role="body",
        hollow=Hollow(d.between(0.003, 0.008), "through"),
        relief=d.pick(["smooth", "smooth", "fluted"]),
    )
    if d.chance(0.5):
        knot = draw_look(d, [look.colour], "knit, cotton")
        solid = block((0.03, high + 0.012, 0.02), (0, high / 2, OVAL * r), corner=0.7, edge=0.8, crown=0.3)
        m.add("knot", solid, knot if d.chance(0.3) else look, band)


def _decorate(m: Maker, d: Dice, look: Look, band: int, size: tuple[float, float, float, float]) -> None:
    """Ears, a bow, flowers, beads or a knot."""
    w, top, wide, _ = size
    kind = d.pick(["none", "ears", "bow", "flowers", "beads", "knot", "antlers"], [2.5, 2, 2.5, 2, 1.5, 1.5, 0.6])
    if kind == "none":
        return
    m.style.append(
        {
            "ears": "eared",
            "bow": "bowed",
            "flowers": "flowered",
            "beads": "beaded",
            "knot": "knotted",
            "antlers": "antlered",
        }[kind]
    )
    other = trim(d)
    if kind == "ears":
        tall, a = d.between(0.045, 0.09), 0.55 * w
        pointed = d.chance(0.5)
        half = 0.45 * tall if pointed else 0.5 * tall
        corners = (
            [
                [-half, 0],
                [half, 0],
                [0.6 * half, 0.55 * tall],
                [0.08 * half, tall],
                [-0.08 * half, tall],
                [-0.6 * half, 0.55 * tall],
            ]
            if pointed
            else [
                [-0.8 * half, 0],
                [0.8 * half, 0],
                [half, 0.5 * tall],
                [0.6 * half, tall],
                [-0.6 * half, tall],
                [-half, 0.5 * tall],
            ]
        )
        turn = turned(z=-24)
        solid = plate(corners, 0.014, (a, 0.9 * top, 0), turn, rounding=0.3 if pointed else 0.9, bevel=0.8, puff=0.3)
        ears = m.add(
            "ear",
            solid,
            look if d.chance(0.5) else other,
            band,
            "pointed" if pointed else "round",
            role="trim",
            repeat=PAIR,
        )
        inner = np.array(corners) * 0.62 + [0, 0.12 * tall]
        solid = plate(inner, 0.014, np.array([a, 0.9 * top, 0.005]), turn, rounding=0.4, bevel=0.6, puff=0.3)
        shown = draw_look(d, "pink, white, cream, hot pink", "felt, velvet")
        m.add("inner ear", solid, shown, ears, role="trim", repeat=PAIR)
    elif kind == "bow":
        s, x = d.between(0.03, 0.05), d.pick([0.0, 0.5 * w])
        at = (x, top + (0.2 * s if x == 0 else -0.05 * top), 0)
        knot = m.add("knot", block((0.5 * s, 0.55 * s, 0.5 * s), at, corner=0.8, edge=0.9), other, band)
        loop = (
            np.array([[-0.05, -0.2], [0.7, -0.6], [1.0, -0.55], [1.05, 0.0], [1.0, 0.55], [0.7, 0.6], [-0.05, 0.2]]) * s
        )
        solid = plate(loop, 0.35 * s, at, rounding=0.6, bevel=0.8, puff=0.25)
        m.add("bow", solid, other, knot, "winged", repeat=Repeat("x", pivot=(x, 0)))
    elif kind in ("flowers", "beads"):
        _row_of_things(m, d, band, kind, size)
    elif kind == "knot":
        solid = block((0.035, 0.026, 2.1 * wide), (0, top + 0.002, 0), corner=0.7, edge=0.9, crown=0.3)
        m.add("knot", solid, look, band, "thick")
    else:
        horn = draw_look(d, "brown, dark brown, tan, gold", "felt, abs")
        points = [(0.45 * w, 0.93 * top, 0), (0.7 * w, top + 0.05, 0), (0.6 * w, top + 0.1, 0.01)]
        horns = m.add("branch", tube(points, (0.006, 0.005, 0.003)), horn, band, "curved", repeat=PAIR)
        solid = tube([(0.66 * w, top + 0.045, 0), (0.95 * w, top + 0.075, 0)], (0.005, 0.004, 0.003))
        m.add("branch", solid, horn, horns, repeat=PAIR)


def _row_of_things(m: Maker, d: Dice, band: int, kind: str, size: tuple[float, float, float, float]) -> None:
    """Beads or flowers along the top of the arch."""
    w, top, _, thick = size
    if kind == "beads":
        look = draw_look(d, ["white", "cream", "gold", "silver", *stuffs.BRIGHT], "abs, glass, acrylic", feels="stiff")
        r = d.between(0.005, 0.009)
        for x, y in ((0.0, 1.0), (0.26, 0.985), (0.5, 0.94)):
            solid = block((2 * r, 2 * r, 2 * r), (x * w, y * top + thick + 0.3 * r, 0), corner=1.0, edge=1.0)
            m.add("bead", solid, look, band, "round", repeat=PAIR if x else Repeat())
        return
    for x, y in ((0.0, 1.0), (0.42, 0.96), (-0.42, 0.96))[: d.pick([1, 3, 3])]:
        petals = draw_look(d, list(stuffs.BRIGHT) + ["white", "white"], "silk, cotton, felt")
        solid = block((0.018, 0.016, 0.018), (x * w, y * top + thick + 0.002, 0), corner=1.0, edge=1.0)
        shown = draw_look(d, "yellow, white, orange, brown", "felt, abs")
        middle = m.add("flower centre", solid, shown, band, "round", role="trim")
        count = d.count(5, 6)
        at = np.array([x * w, y * top + thick + 0.003, 0.004])
        solid = block((0.02, 0.006, 0.026), at + [0, 0.001, 0.013], turned(x=-15), corner=0.9, edge=0.8)
        m.add(
            "petal",
            solid,
            petals,
            middle,
            "rounded",
            role="trim",
            meets=at,
            repeat=Repeat(count=count, turn=2 * np.pi / count, pivot=(x * w, 0)),
        )
