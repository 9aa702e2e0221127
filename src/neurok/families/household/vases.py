"""Vases: turned or squared, hollow, with necks, feet, handles, and sometimes flowers or twigs."""

from __future__ import annotations

import numpy as np

from neurok.families.household import stuffs
from neurok.families.household.assemble import PAIR, ROOT, Maker
from neurok.families.household.foliage import add_bouquet
from neurok.families.household.looks import draw_look
from neurok.families.household.parts import Assembly, Look
from neurok.families.household.solids import block, lathe, tube
from neurok.modelling.dice import Dice
from neurok.modelling.forms import Hollow, Relief


def vase(d: Dice) -> Assembly:
    m = Maker("vase")
    look = _look(d)
    tall = d.between(0.16, 0.5)
    wall = d.between(0.004, 0.009)
    if d.chance(0.13):
        wide = tall * d.between(0.3, 0.6)
        taper = np.linspace(d.between(0.7, 1.0), 1.0, 5)
        solid = block(
            (wide, tall, wide * d.between(0.6, 1.0)),
            (0, tall / 2, 0),
            corner=0.06,
            edge=(0.08, 0.0),
            widths=taper,
            depths=taper,
        )
        body = m.add("body", solid, look, ROOT, "square", hollow=Hollow(wall))
        radius = 0.5 * wide
    else:
        name = d.pick(list(PROFILES), list(WEIGHTS.values()))
        knots, words = PROFILES[name](d)
        scale = tall / (knots[-1][1] - knots[0][1])
        knots = [(r * scale, y * scale, s) for r, y, s in knots]
        relief: Relief = d.pick(["smooth", "smooth", "smooth", "smooth", "ribbed", "fluted", "faceted"])
        solid = lathe(knots)
        body = m.add(
            "body",
            solid,
            look,
            ROOT,
            name,
            *words,
            relief if relief != "smooth" else "",
            hollow=Hollow(wall),
            relief=relief,
        )
        radius = max(k[0] for k in knots)
        if d.chance(0.18) and name in ("amphora", "bottle", "urn"):
            _handles(m, d, look, body, knots, tall)
    if d.chance(0.2):
        add_bouquet(m, d, body, tall, radius)
    return m.done()


def _look(d: Dice) -> Look:
    kind = d.pick(["ceramic", "glass", "metal", "wood"], [7, 2, 0.7, 0.4])
    if kind == "glass":
        return draw_look(
            d,
            "light blue, mint, white, turquoise, green, pink, lavender, blue, light grey, tan",
            "glass",
            feels="none, heavy",
        )
    return {"ceramic": stuffs.ceramic, "metal": stuffs.metal, "wood": stuffs.wood}[kind](d)


def _bulb(d: Dice):  # type: ignore[no-untyped-def]
    foot, belly, neck, lip = d.between(0.14, 0.24), d.between(0.28, 0.42), d.between(0.1, 0.2), d.between(0.14, 0.26)
    at = d.between(0.3, 0.62)
    return [
        (foot, 0, 1),
        (0.9 * foot + 0.1 * belly, 0.05, 0),
        (belly, at, 0),
        (0.8 * belly + 0.1 * neck, at + 0.18, 0),
        (neck, 0.85, 0),
        (neck, 0.92, 0),
        (lip, 1.0, 1),
    ], []


def _cylinder(d: Dice):  # type: ignore[no-untyped-def]
    foot, top = d.between(0.14, 0.26), d.between(0.16, 0.3)
    return [(foot, 0, 1), (foot + 0.01, 0.03, 0), ((foot + top) / 2 + d.between(-0.02, 0.04), 0.5, 0), (top, 1.0, 1)], [
        "tall"
    ]


def _trumpet(d: Dice):  # type: ignore[no-untyped-def]
    foot, waist, top = d.between(0.14, 0.24), d.between(0.07, 0.13), d.between(0.2, 0.36)
    return [
        (foot, 0, 1),
        (foot, 0.04, 1),
        (waist, 0.18, 0),
        (waist * 1.05, 0.45, 0),
        (0.55 * top, 0.8, 0),
        (top, 1.0, 1),
    ], ["flared"]


def _bottle(d: Dice):  # type: ignore[no-untyped-def]
    belly, neck = d.between(0.2, 0.32), d.between(0.05, 0.09)
    at = d.between(0.2, 0.4)
    return [
        (0.8 * belly, 0, 1),
        (belly, 0.06, 0),
        (belly, at, 0),
        (0.75 * belly, at + 0.12, 0),
        (neck, at + 0.24, 0),
        (neck, 0.9, 0),
        (neck * d.between(1.1, 1.6), 1.0, 1),
    ], ["narrow"]


def _urn(d: Dice):  # type: ignore[no-untyped-def]
    belly, foot = d.between(0.3, 0.4), d.between(0.14, 0.2)
    return [
        (foot, 0, 1),
        (foot, 0.05, 1),
        (0.55 * foot, 0.12, 0),
        (0.8 * belly, 0.4, 0),
        (belly, 0.65, 0),
        (0.8 * belly, 0.86, 0),
        (0.85 * belly, 0.94, 1),
        (belly, 1.0, 1),
    ], ["footed"]


def _bowl(d: Dice):  # type: ignore[no-untyped-def]
    belly, top = d.between(0.5, 0.7), d.between(0.35, 0.6)
    return [
        (0.5 * belly, 0, 1),
        (0.85 * belly, 0.2, 0),
        (belly, 0.5, 0),
        (0.95 * belly, 0.75, 0),
        (min(top, 0.93 * belly), 1.0, 1),
    ], ["wide"]


def _amphora(d: Dice):  # type: ignore[no-untyped-def]
    belly, foot = d.between(0.24, 0.34), d.between(0.08, 0.14)
    return [
        (foot, 0, 1),
        (0.8 * foot, 0.04, 0),
        (0.75 * belly, 0.35, 0),
        (belly, 0.6, 0),
        (0.7 * belly, 0.76, 0),
        (0.1, 0.84, 0),
        (0.1, 0.94, 0),
        (d.between(0.13, 0.18), 1.0, 1),
    ], ["narrow"]


PROFILES = {
    "bulbous": _bulb,
    "cylindrical": _cylinder,
    "trumpet": _trumpet,
    "bottle": _bottle,
    "urn": _urn,
    "bowl": _bowl,
    "amphora": _amphora,
}
"""Profiles of height 1 by name, each with further words for it."""

WEIGHTS = {"bulbous": 4.0, "cylindrical": 3.0, "trumpet": 1.5, "bottle": 1.5, "urn": 1.5, "bowl": 1.0, "amphora": 1.5}


def _handles(m: Maker, d: Dice, look: Look, body: int, knots: list, tall: float) -> None:  # type: ignore[type-arg]
    """A pair of handles from the shoulder to the neck."""
    heights, radii = np.array([k[1] for k in knots]), np.array([k[0] for k in knots])
    at = lambda share: float(np.interp(share * tall, heights, radii))  # noqa: E731
    low, high = 0.62, 0.9
    out = max(at(low), at(high)) + d.between(0.1, 0.2) * tall
    inside = 0.004
    points = [
        (at(low) - inside, low * tall, 0),
        (out, (low + 0.05) * tall, 0),
        (out, (high - 0.02) * tall, 0),
        (at(high) - inside, high * tall, 0),
    ]
    m.add("handle", tube(points, 0.025 * tall, flat=0.7, bend=1.0), look, body, "curved", repeat=PAIR)
