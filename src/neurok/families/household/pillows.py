"""Pillows and cushions: square, oblong, round, rolls, hearts; with piping, buttons, tassels and frills."""

from __future__ import annotations

import numpy as np

from neurok.families.household import stuffs
from neurok.families.household.assemble import ROOT, Maker
from neurok.families.household.framing import towards
from neurok.families.household.looks import draw_look
from neurok.families.household.parts import Assembly, Look, Repeat
from neurok.families.household.solids import block, lathe, plate, turned
from neurok.modelling.dice import Dice


def pillow(d: Dice) -> Assembly:
    m = Maker("pillow")
    look = _look(d)
    kind = d.pick(["square", "oblong", "round", "roll", "heart", "floor"], [5, 5, 2, 2, 0.6, 1])
    m.style.append({"floor": "square"}.get(kind, kind))
    {"square": _knife, "oblong": _knife, "round": _round, "roll": _roll, "heart": _heart, "floor": _box}[kind](
        m, d, look, kind
    )
    return m.done()


def _look(d: Dice) -> Look:
    filling = d.pick(["stuffing", "down", "polyurethane foam", "memory foam", "latex foam"], [4, 4, 2, 1, 1])
    return stuffs.padding(d, filling, hides=0.06, tile=0.25)


def _knife(m: Maker, d: Dice, look: Look, kind: str) -> None:
    """Thin at its edges, its corners a little drawn out."""
    wide = d.between(0.35, 0.5) if kind == "square" else d.between(0.5, 0.8)
    deep = wide if kind == "square" else wide * d.between(0.5, 0.72)
    tall = min(wide, deep) * d.between(0.28, 0.5)
    lie = d.chance(0.6)
    turn = turned() if lie else turned(x=d.between(62, 85))
    solid = block(
        (wide, tall, deep),
        turn=turn,
        corner=d.between(0.15, 0.35),
        edge=1.0,
        crown=d.between(2.5, 6.0),
        pinch=d.between(0.0, 0.06),
        welt=d.pick([0.0, 0.0, 0.006]),
    )
    body = m.add(
        "body",
        solid,
        look,
        ROOT,
        "square" if kind == "square" else "oblong",
        relief=d.pick(["smooth", "smooth", "smooth", "smooth", "quilted", "tufted"]),
    )
    if d.chance(0.12):
        tassel = draw_look(d, stuffs.BRIGHT + stuffs.NEUTRAL, "cotton, wool")
        knots = [(0.004, 0, 1), (0.011, 0.012, 0), (0.007, 0.022, 0), (0.013, 0.05, 0), (0.014, 0.065, 1)]
        corner = turn @ np.array([0.5 * wide, 0.0, 0.5 * deep]) * 0.94
        out = turn @ np.array([1.0, 0.0, 1.0]) / np.sqrt(2)
        if lie:
            m.add("tassel", lathe(knots, corner, towards(np.zeros(3), out)), tassel, body, repeat=Repeat("xz"))


def _round(m: Maker, d: Dice, look: Look, kind: str) -> None:
    wide = d.between(0.32, 0.5)
    solid = block(
        (wide, wide * d.between(0.16, 0.4), wide),
        corner=1.0,
        edge=1.0,
        crown=d.between(0.2, 2.0),
        welt=d.pick([0.0, 0.005]),
    )
    body = m.add("body", solid, look, ROOT, "round", relief=d.pick(["smooth", "smooth", "tufted"]))
    if d.chance(0.5):
        top = float(m.parts[body].copies[0].bounds[1, 1])
        button = draw_look(d, stuffs.BRIGHT + stuffs.NEUTRAL, "abs, wood")
        r = d.between(0.012, 0.022)
        m.add("button", block((2 * r, 0.012, 2 * r), (0, top - 0.003, 0), corner=1.0, edge=0.8), button, body, "round")


def _roll(m: Maker, d: Dice, look: Look, kind: str) -> None:
    """A bolster."""
    r, long = d.between(0.07, 0.12), d.between(0.4, 0.9)
    knots = [
        (0.25 * r, 0, 1),
        (0.85 * r, 0.01, 0),
        (r, 0.04, 0),
        (r, long / 2, 0),
        (r, long - 0.04, 0),
        (0.85 * r, long - 0.01, 0),
        (0.25 * r, long, 1),
    ]
    body = m.add("body", lathe(knots, (-long / 2, r, 0), turned(z=-90)), look, ROOT, "round", "long")
    if d.chance(0.4):
        cap = draw_look(d, stuffs.BRIGHT + stuffs.NEUTRAL, "cotton, velvet")
        solid = block((0.035, 0.012, 0.035), (long / 2, r, 0), turned(z=-90), corner=1.0, edge=0.9)
        m.add("button", solid, cap, body, "round", repeat=Repeat("x"))


def _heart(m: Maker, d: Dice, look: Look, kind: str) -> None:
    w = d.between(0.16, 0.24)
    corners = (
        np.array(
            [[0, -1.0], [0.85, -0.1], [1.0, 0.45], [0.55, 0.9], [0.0, 0.5], [-0.55, 0.9], [-1.0, 0.45], [-0.85, -0.1]]
        )
        * w
    )
    solid = plate(corners, 0.2 * w, turn=turned(x=-80), rounding=0.85, bevel=0.95, puff=d.between(1.2, 2.0))
    m.add("body", solid, look, ROOT, "heart-shaped")


def _box(m: Maker, d: Dice, look: Look, kind: str) -> None:
    """A floor cushion with upright sides."""
    wide, tall = d.between(0.4, 0.65), d.between(0.07, 0.16)
    solid = block(
        (wide, tall, wide * d.between(0.85, 1.0)),
        corner=d.between(0.12, 0.3),
        edge=0.5,
        crown=d.between(0.1, 0.3),
        welt=d.pick([0.0, 0.006]),
    )
    m.add("body", solid, look, ROOT, "square", "thick", relief=d.pick(["smooth", "tufted", "quilted"]))
