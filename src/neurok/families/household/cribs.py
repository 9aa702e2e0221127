"""Cribs with spindles or panels, some with a gate that slides down, some on rockers; and cradles woven as baskets."""

from __future__ import annotations

import numpy as np

from neurok.families.household import stuffs
from neurok.families.household.assemble import FOUR, PAIR, ROOT, Maker
from neurok.families.household.framing import bar, leg_solid, row, turned_bar
from neurok.families.household.looks import draw_look
from neurok.families.household.parts import Assembly, Hinge, Look, Mirror, Repeat
from neurok.families.household.solids import block, plate, tube, turned
from neurok.modelling.dice import Dice
from neurok.modelling.forms import Hollow


def crib(d: Dice) -> Assembly:
    """Ends at both sides, bars before and behind, a mattress between."""
    m = Maker("crib")
    long, deep, tall = d.between(0.95, 1.4), d.between(0.52, 0.75), d.between(0.8, 1.1)
    look = stuffs.wood(d, painted=0.5) if d.chance(0.85) else stuffs.metal(d)
    floor = d.between(0.25, 0.45)
    board = m.add("base", block((long, 0.035, deep), (0, floor, 0), corner=0.04, edge=0.1), look)
    thick = d.between(0.035, 0.055)
    x, z = long / 2 - 0.01, deep / 2 - 0.01
    if d.chance(0.4):
        ends = _panels(m, d, look, board, (x, deep, tall))
        tall *= 0.87
    else:
        solid = bar((x, 0, z), (x, tall, z), thick, corner=d.pick([0.1, 1.0]))
        ends = m.add("post", solid, look, board, role="support", repeat=FOUR)
        _bars(m, d, look, ends, (z, tall, floor), x, across="z")
    has_gate = d.chance(0.4)
    if not has_gate:
        _bars(m, d, look, ends, (x, tall, floor), z, across="x")
    else:
        _bars(m, d, look, ends, (x, tall, floor), -z, across="x", once=True)
        _gate(m, d, look, ends, (x, tall, floor), z)
        m.style.append("gated")
    _bedding(m, d, board, (long, deep, floor))
    _stand(m, d, look, ends, (x, z, tall))
    return m.done()


def _panels(m: Maker, d: Dice, look: Look, board: int, size: tuple[float, float, float]) -> int:
    """Solid ends, cut straight, arched or wavy."""
    x, deep, tall = size
    w = deep / 2 + 0.02
    style = d.pick(["square", "arched", "scalloped"])
    top = {
        "square": [[w, tall], [-w, tall]],
        "arched": [[w, 0.9 * tall], [0.5 * w, 0.99 * tall], [-0.5 * w, 0.99 * tall], [-w, 0.9 * tall]],
        "scalloped": [[w, 0.95 * tall], [0.6 * w, 0.9 * tall], [0, tall], [-0.6 * w, 0.9 * tall], [-w, 0.95 * tall]],
    }[style]
    corners = [[-w, 0.0], [w, 0.0], *top]
    solid = plate(corners, d.between(0.022, 0.04), (x, 0, 0), turned(y=90), rounding=0.2, bevel=0.4)
    return m.add("end panel", solid, look, board, style, "panel", repeat=PAIR)


def _bars(
    m: Maker,
    d: Dice,
    look: Look,
    ends: int,
    size: tuple[float, float, float],
    at: float,
    across: str,
    once: bool = False,
) -> None:
    """Two rails and the spindles between them, along x or z, mirrored unless ``once``."""
    half, tall, floor = size
    place = (lambda u, y: (u, y, at)) if across == "x" else (lambda u, y: (at, y, u))
    mirror: Mirror = "" if once else ("z" if across == "x" else "x")
    high, low = tall - 0.03, floor - 0.04
    solid = bar(place(-half, high), place(half, high), 0.045, 0.03)
    top = m.add("top rail", solid, look, ends, role="body", repeat=Repeat(mirror))
    solid = bar(place(-half, low), place(half, low), 0.045, 0.03)
    m.add("lower rail", solid, look, ends, role="body", repeat=Repeat(mirror))
    count = max(4, round(2 * half / d.between(0.075, 0.11)))
    u, step = row(count, half)
    is_turned = look.material not in stuffs.METALS and d.chance(0.3)
    radius = d.between(0.012, 0.02)
    solid = (
        turned_bar(place(u, low), place(u, high), 0.6 * radius)
        if is_turned
        else bar(place(u, low), place(u, high), radius, corner=d.pick([0.15, 1.0]))
    )
    move = (step, 0, 0) if across == "x" else (0, 0, step)
    m.add("spindle", solid, look, top, "turned" if is_turned else "", role="body", repeat=Repeat(mirror, count, move))


def _gate(m: Maker, d: Dice, look: Look, ends: int, size: tuple[float, float, float], z: float) -> None:
    """The front: it slides down between the posts."""
    half, tall, floor = size
    high, low = tall - 0.03, floor - 0.04
    drop = d.between(0.15, max(0.16, min(0.3, low - 0.03)))
    slide = Hinge("prismatic", (0, 1, 0), (0, high, z), -drop, 0.0)
    gate = m.add("gate", bar((-half, high, z), (half, high, z), 0.05, 0.032), look, ends, "sliding", hinge=slide)
    count = max(4, round(2 * half / d.between(0.075, 0.11)))
    x, step = row(count, half)
    solid = bar((x, low, z), (x, high, z), d.between(0.012, 0.02), corner=d.pick([0.15, 1.0]))
    m.add("spindle", solid, look, gate, role="body", repeat=Repeat(count=count, step=(step, 0, 0)))
    spindle = len(m.parts) - 1
    m.add("lower rail", bar((-half + 0.04, low, z), (half - 0.04, low, z), 0.045, 0.03), look, spindle, role="body")


def _bedding(m: Maker, d: Dice, board: int, size: tuple[float, float, float]) -> None:
    long, deep, floor = size
    tall = d.between(0.08, 0.14)
    sheet = draw_look(
        d,
        "white*2, cream, light blue, pink, mint, yellow, light grey",
        "mattress",
        covers="cotton, polyester",
        feels=stuffs.PADDED,
        patterns=stuffs.PRINTS,
        tile=0.2,
    )
    solid = block(
        (long - 0.05, tall, deep - 0.05), (0, floor + 0.01 + tall / 2, 0), corner=0.08, edge=0.5, crown=(0.0, 0.1)
    )
    mattress = m.add("mattress", solid, sheet, board)
    top = floor + 0.01 + tall
    cloth = draw_look(
        d,
        stuffs.cloth_colours(d),
        "stuffing",
        covers="cotton, wool, knit",
        feels="none, soft",
        patterns=stuffs.PRINTS,
        tile=0.2,
    )
    if d.chance(0.5):
        solid = block((0.2, 0.08, 0.3), (-long / 2 + 0.16, top + 0.015, 0), corner=0.3, edge=1.0, crown=2.0)
        m.add("pillow", solid, cloth, mattress, "oblong")
    if d.chance(0.5):
        share = d.between(0.4, 0.65)
        solid = block(
            (share * long, 0.045, deep - 0.03),
            (long / 2 - share * long / 2 - 0.02, top + 0.005, 0),
            corner=0.1,
            edge=0.8,
            crown=(0.0, 0.3),
        )
        m.add("blanket", solid, cloth, mattress)


def _stand(m: Maker, d: Dice, look: Look, ends: int, size: tuple[float, float, float]) -> None:
    """Castors, rockers or nothing."""
    x, z, _ = size
    kind = d.pick(["none", "castors", "rockers"], [4, 2, 1.5])
    if kind == "castors":
        wheel = draw_look(d, "black, charcoal, white, grey", "rubber, nylon")
        solid = block((0.06, 0.025, 0.06), (x, -0.015, z), turned(z=90), corner=1.0, edge=0.2)
        m.add("castor", solid, wheel, ends, "round", repeat=FOUR)
    elif kind == "rockers":
        points = [(x, 0.07, -z - 0.14), (x, 0.0, -0.5 * z), (x, 0.0, 0.5 * z), (x, 0.07, z + 0.14)]
        m.add("rocker", tube(points, 0.022, square=0.8, bend=1.0), look, ends, "curved", repeat=PAIR)
        m.style.append("rocking")


def cradle(d: Dice) -> Assembly:
    """A basket or tub on legs or rockers, with a mattress in it."""
    m = Maker("crib")
    long, deep, tall = d.between(0.7, 0.9), d.between(0.4, 0.52), d.between(0.24, 0.34)
    lift = d.between(0.2, 0.45)
    woven = draw_look(
        d, "beige, tan, light brown, white, cream, light grey", "rattan, straw, cotton", patterns="weave", tile=0.12
    )
    wider = np.linspace(d.between(0.82, 0.95), 1.0, 5)
    solid = block(
        (long, tall, deep),
        (0, lift + tall / 2, 0),
        corner=d.between(0.3, 0.9),
        edge=(0.3, 0.0),
        widths=wider,
        depths=wider,
    )
    tub = m.add("basket", solid, woven, ROOT, "woven", hollow=Hollow(0.02, "top"))
    frame = stuffs.wood(d)
    x, z = 0.36 * long, 0.3 * deep
    solid, words = leg_solid(
        d,
        d.pick(["square", "round", "tapered"]),
        np.array([x, lift + 0.02, z]),
        np.array([x + 0.06, 0.0, z + 0.06]),
        0.035,
    )
    legs = m.add("leg", solid, frame, tub, *words, "splayed", repeat=FOUR)
    if d.chance(0.4):
        points = [
            (x + 0.06, 0.06, -z - 0.2),
            (x + 0.06, 0.0, -0.5 * z),
            (x + 0.06, 0.0, 0.5 * z),
            (x + 0.06, 0.06, z + 0.2),
        ]
        m.add("rocker", tube(points, 0.02, square=0.8, bend=1.0), frame, legs, "curved", repeat=PAIR)
        m.style.append("rocking")
    bedding = draw_look(
        d, "white, cream, light blue, pink, mint, light grey", "mattress", covers="cotton", feels=stuffs.PADDED
    )
    solid = block((0.78 * long, 0.1, 0.76 * deep), (0, lift + 0.065, 0), corner=0.6, edge=0.6, crown=(0.0, 0.3))
    m.add("mattress", solid, bedding, tub)
    if d.chance(0.4):
        side = 0.5 * deep - 0.012
        hood = [
            (0, lift + tall - 0.04, -side),
            (0, lift + tall + 0.2, -0.7 * side),
            (0, lift + tall + 0.2, 0.7 * side),
            (0, lift + tall - 0.04, side),
        ]
        m.add("handle", tube(hood, 0.012, bend=1.0), frame, tub, "curved")
    return m.done()
