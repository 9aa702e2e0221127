"""Lamps: desk lamps with joints in the arm, floor lamps, table lamps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from neurok.families.household import stuffs
from neurok.families.household.assemble import ROOT, Maker
from neurok.families.household.framing import towards
from neurok.families.household.looks import draw_look
from neurok.families.household.parts import Assembly, Hinge, Look, Repeat
from neurok.families.household.solids import Solid, block, lathe, tube, turned
from neurok.modelling.dice import Dice
from neurok.modelling.forms import Hollow

ACROSS = (1.0, 0.0, 0.0)
"""Axis of the joints: arms move in the plane of y and z."""


def desk_lamp(d: Dice) -> Assembly:
    """A heavy foot, two arms and a shade, with a joint before each."""
    m = Maker("lamp", "desk lamp")
    look = _frame_look(d)
    other = look if d.chance(0.7) else _frame_look(d)
    base = _base(m, d, look, d.between(0.07, 0.1), d.between(0.018, 0.035))
    start = np.array([0.0, float(m.parts[base].size[1]) - 0.004, 0.0])
    back, up = np.radians(d.between(8, 32)), np.radians(d.between(12, 45))
    elbow = start + d.between(0.22, 0.36) * np.array([0.0, np.cos(back), -np.sin(back)])
    end = elbow + d.between(0.2, 0.34) * np.array([0.0, np.sin(up), np.cos(up)])
    thick = d.between(0.005, 0.01)
    square = d.pick([0.0, 1.0])
    limit = lambda degrees: (float(-np.radians(degrees)), float(np.radians(degrees)))  # noqa: E731
    solid = tube([start, elbow], thick, square=square)
    lower = m.add(
        "arm", solid, other, base, "jointed", hinge=Hinge("revolute", ACROSS, start, *limit(d.between(20, 30)))
    )
    knuckle = draw_look(d, "black, silver, gold, charcoal", "steel, brass")
    for place in (start, elbow):
        m.add("joint", _knuckle(place, 1.9 * thick), knuckle, lower, "round")
    solid = tube([elbow, end], 0.9 * thick, square=square)
    upper = m.add(
        "arm", solid, other, lower, "jointed", hinge=Hinge("revolute", ACROSS, elbow, *limit(d.between(25, 45)))
    )
    tilt = np.radians(d.between(5, 45))
    _shade(m, d, look, upper, end, np.array([0.0, -np.cos(tilt), np.sin(tilt)]), d.between(0.06, 0.09), limit(40))
    return m.done()


def _frame_look(d: Dice) -> Look:
    if d.chance(0.7):
        colours = (
            ["black"] * 4
            + ["white"] * 3
            + ["silver", "red", "yellow", "teal", "mint", "gold", "orange", "navy", "green"]
        )
        return draw_look(d, colours, "steel*2, aluminium")
    return d.pick([stuffs.metal, stuffs.wood, stuffs.plastic], [2, 1, 1])(d)


def _base(m: Maker, d: Dice, look: Look, radius: float, tall: float) -> int:
    if d.chance(0.25):
        slab = block((2 * radius, tall, 1.8 * radius), (0, tall / 2, 0), corner=0.1, edge=0.2)
        return m.add("base", slab, look, ROOT, "square")
    dome = d.between(0.3, 0.85)
    knots = [(radius, 0, 1), (radius, 0.4 * tall, 0.4), (dome * radius, 0.85 * tall, 0.2), (0.16 * radius, tall, 1)]
    return m.add("base", lathe(knots), look, ROOT, "round")


def _knuckle(at: np.ndarray, radius: float) -> Solid:
    long = 1.3 * radius
    return lathe(
        [(0.9 * radius, -long, 1), (radius, -0.8 * long, 0.5), (radius, 0.8 * long, 0.5), (0.9 * radius, long, 1)],
        at,
        turned(z=90),
    )


def _shade(
    m: Maker,
    d: Dice,
    look: Look,
    parent: int,
    end: np.ndarray,
    way: np.ndarray,
    radius: float,
    limits: tuple[float, float] | None,
) -> None:
    """A cone or dome whose closed end sits on the end of an arm and that shines along ``way``."""
    tall = d.between(1.3, 1.9) * radius
    kind = d.pick(["conical", "domed", "cylindrical"], [3, 2, 1])
    neck = 0.022
    knots = {
        "conical": [(radius, 0, 1), (0.45 * radius, 0.75 * tall, 0.5), (neck, 0.92 * tall, 0.4), (neck, tall, 1)],
        "domed": [
            (radius, 0, 1),
            (0.97 * radius, 0.3 * tall, 0),
            (0.7 * radius, 0.7 * tall, 0),
            (neck, 0.93 * tall, 0.2),
            (neck, tall, 1),
        ],
        "cylindrical": [
            (0.7 * radius, 0, 1),
            (0.7 * radius, 0.8 * tall, 0.6),
            (neck, 0.93 * tall, 0.4),
            (neck, tall, 1),
        ],
    }[kind]
    turn = towards(end + way, end)
    at = end + way * (tall - 0.008)
    own = look if d.chance(0.75) else _frame_look(d)
    hinge = Hinge("revolute", ACROSS, end, *limits) if limits else None
    shade = m.add("shade", lathe(knots, at, turn), own, parent, kind, hollow=Hollow(0.003, "bottom"), hinge=hinge)
    _bulb(m, d, shade, at, turn, tall, 0.42 * radius)


def _bulb(m: Maker, d: Dice, parent: int, at: np.ndarray, turn: np.ndarray, tall: float, radius: float) -> None:
    radius = min(radius, 0.03)
    glow = draw_look(d, "white, cream, yellow", "glass", feels="stiff")
    low = max(tall - 4.5 * radius, 0.12 * tall)
    knots = [
        (0.02 * radius, low, 0),
        (radius, low + radius, 0),
        (0.55 * radius, low + 2.0 * radius, 0.1),
        (0.5 * radius, tall - 0.002, 1),
    ]
    m.add("bulb", lathe(knots, at, turn), glow, parent, "round")


def floor_lamp(d: Dice) -> Assembly:
    """Tall: a column, an arc or three legs, below a cloth shade or a reading shade that tilts."""
    m = Maker("lamp", "floor lamp")
    look = _frame_look(d)
    kind = d.pick(["column", "tripod", "arc", "reading"], [4, 2, 2, 2])
    tall = d.between(1.25, 1.65)
    r = d.between(0.009, 0.016)
    if kind == "tripod":
        solid = lathe([(0.03, 0.72 * tall, 1), (0.03, 0.8 * tall, 1), (r, 0.82 * tall, 0.5), (r, tall, 1)])
        hub = m.add("column", solid, look, role="body")
        leg = tube([(0, 0.77 * tall, 0.01), (0, 0.0, d.between(0.25, 0.36))], [0.016, 0.014, 0.01])
        m.add(
            "leg",
            leg,
            look if d.chance(0.4) else stuffs.wood(d),
            hub,
            "tripod",
            "splayed",
            repeat=Repeat(count=3, turn=2 * np.pi / 3),
        )
        _cloth_shade(m, d, hub, tall, d.between(0.18, 0.26))
        return m.done()
    base = _base(m, d, look, d.between(0.13, 0.19), d.between(0.02, 0.035))
    foot = float(m.parts[base].size[1]) - 0.005
    if kind == "arc":
        m.style.append("arc")
        reach = d.between(0.5, 0.8)
        points = [
            (0, foot, 0),
            (0, 0.6 * tall, -0.02),
            (0, 0.92 * tall, 0.18),
            (0, tall, 0.55 * reach),
            (0, 0.93 * tall, reach),
        ]
        arm = m.add("arm", tube(points, r), look, base, "arched")
        end = np.array([0.0, 0.93 * tall, reach])
        _shade(m, d, look, arm, end, np.array([0.0, -1.0, 0.0]), d.between(0.12, 0.18), (-0.4, 0.4))
        return m.done()
    column = m.add("column", tube([(0, foot, 0), (0, tall, 0)], r), look, base, "round", role="body")
    if kind == "reading":
        top, long = np.array([0.0, tall - 0.01, 0.0]), d.between(0.25, 0.4)
        end = top + long * np.array([0.0, 0.25, 0.97])
        arm = m.add(
            "arm", tube([top, end], 0.8 * r), look, column, "jointed", hinge=Hinge("revolute", ACROSS, top, -0.6, 0.5)
        )
        m.add("joint", _knuckle(top, 1.8 * r), look, column, "round")
        _shade(m, d, look, arm, end, np.array([0.0, -0.94, 0.34]), d.between(0.07, 0.1), (-0.6, 0.6))
        return m.done()
    _cloth_shade(m, d, column, tall, d.between(0.16, 0.25))
    return m.done()


def _cloth_shade(m: Maker, d: Dice, parent: int, top: float, radius: float) -> None:
    """A drum or cone around the top of a column, closed above."""
    tall = d.between(0.9, 1.4) * radius
    kind = d.pick(["drum", "conical"])
    upper = radius * (d.between(0.92, 1.0) if kind == "drum" else d.between(0.45, 0.7))
    cloth = draw_look(
        d,
        "white*4, cream, beige*2, black, grey, red, teal, mustard, navy, pink, green",
        "linen, cotton*2, silk, cardboard, glass",
        patterns="plain*6, stripes, floral, weave",
        tile=0.12,
    )
    at = np.array([0.0, top - tall + 0.002, 0.0])
    knots = [(radius, 0, 1), (upper, tall, 1)]
    shade = m.add("shade", lathe(knots, at), cloth, parent, kind, hollow=Hollow(0.004, "bottom"))
    if d.chance(0.5):
        _bulb(m, d, shade, at, np.eye(3), tall, 0.03)


def table_lamp(d: Dice) -> Assembly:
    """A turned body of ceramic, glass, wood or metal below a cloth shade."""
    m = Maker("lamp", "table lamp")
    makers: list[Callable[[Dice], Look]] = [stuffs.ceramic, stuffs.wood, stuffs.metal, stuffs.pane]
    look = d.pick(makers, [4, 2, 2, 0.7])(d)
    tall, r = d.between(0.2, 0.36), d.between(0.06, 0.11)
    kind = d.pick(["bulbous", "bottle", "turned", "cylindrical"])
    knots: dict[str, Sequence[Sequence[float]]] = {
        "bulbous": [(0.6 * r, 0, 1), (r, 0.4 * tall, 0), (0.5 * r, 0.85 * tall, 0), (0.25 * r, tall, 1)],
        "bottle": [
            (0.9 * r, 0, 1),
            (r, 0.25 * tall, 0),
            (0.8 * r, 0.55 * tall, 0),
            (0.22 * r, 0.8 * tall, 0),
            (0.2 * r, tall, 1),
        ],
        "turned": [
            (r, 0, 1),
            (r, 0.06 * tall, 0.8),
            (0.35 * r, 0.16 * tall, 0),
            (0.6 * r, 0.4 * tall, 0),
            (0.25 * r, 0.62 * tall, 0),
            (0.45 * r, 0.8 * tall, 0),
            (0.2 * r, tall, 1),
        ],
        "cylindrical": [(0.7 * r, 0, 1), (0.7 * r, 0.95 * tall, 0.8), (0.3 * r, tall, 1)],
    }
    body = m.add("body", lathe(knots[kind]), look, ROOT, kind)
    wide = d.between(0.12, 0.19)
    top = tall + d.between(0.9, 1.1) * wide
    metal = draw_look(d, "gold, silver, black", "brass, steel")
    column = m.add("column", tube([(0, tall - 0.01, 0), (0, top, 0)], 0.008), metal, body, "round")
    _cloth_shade(m, d, column, top, wide)
    return m.done()
