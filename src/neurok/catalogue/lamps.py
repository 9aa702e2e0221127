"""Lamps: desk lamps with joints in the arm, floor lamps, table lamps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from neurok.catalogue import materials
from neurok.catalogue.appearance import draw_appearance
from neurok.catalogue.assemble import ROOT, Maker, around
from neurok.catalogue.parts import Appearance, Assembly, Hinge
from neurok.catalogue.solids import Solid, block, lathe, profile, towards, tube, turned
from neurok.modelling.forms import Hollow
from neurok.modelling.sampler import Sampler

Limits = tuple[float, float]
Shares = list[tuple[float, float, float]]


def _joint(at: np.ndarray, limits: Limits) -> Hinge:
    """Arms move in the plane of y and z."""
    return Hinge("revolute", (1.0, 0.0, 0.0), at, *limits)


def _both_ways(degrees: float) -> Limits:
    return float(-np.radians(degrees)), float(np.radians(degrees))


def desk_lamp(d: Sampler) -> Assembly:
    """A heavy foot, two arms and a shade, with a joint before each."""
    m = Maker("lamp", "desk lamp")
    finish = _frame_finish(d)
    other = finish if d.chance(0.7) else _frame_finish(d)
    base = _base(m, d, finish, d.between(0.07, 0.1), d.between(0.018, 0.035))
    start = np.array([0.0, float(m.parts[base].size[1]) - 0.004, 0.0])
    back, up = np.radians(d.between(8, 32)), np.radians(d.between(12, 45))
    elbow = start + d.between(0.22, 0.36) * np.array([0.0, np.cos(back), -np.sin(back)])
    end = elbow + d.between(0.2, 0.34) * np.array([0.0, np.sin(up), np.cos(up)])
    thick, square = d.between(0.005, 0.01), d.pick([0.0, 1.0])
    hinge = _joint(start, _both_ways(d.between(20, 30)))
    lower = m.add("arm", tube([start, elbow], thick, square=square), other, base, "jointed", hinge=hinge)
    knuckle = draw_appearance(d, "black, silver, gold, charcoal", "steel, brass")
    for place in (start, elbow):
        m.add("joint", _knuckle(place, 1.9 * thick), knuckle, lower, "round")
    hinge = _joint(elbow, _both_ways(d.between(25, 45)))
    upper = m.add("arm", tube([elbow, end], 0.9 * thick, square=square), other, lower, "jointed", hinge=hinge)
    tilt = np.radians(d.between(5, 45))
    way = np.array([0.0, -np.cos(tilt), np.sin(tilt)])
    _shade(m, d, finish, upper, end, way, d.between(0.06, 0.09), _both_ways(40))
    return m.done()


def _frame_finish(d: Sampler) -> Appearance:
    if d.chance(0.7):
        colours = "black*4, white*3, silver, red, yellow, teal, mint, gold, orange, navy, green"
        return draw_appearance(d, colours, "steel*2, aluminium")
    return d.pick([materials.metal, materials.wood, materials.plastic], [2, 1, 1])(d)


def _base(m: Maker, d: Sampler, finish: Appearance, radius: float, tall: float) -> int:
    if d.chance(0.25):
        slab = block((2 * radius, tall, 1.8 * radius), (0, tall / 2, 0), corner=0.1, edge=0.2)
        return m.add("base", slab, finish, ROOT, "square")
    dome = d.between(0.3, 0.85)
    knots = profile(radius, tall, [(1, 0, 1), (1, 0.4, 0.4), (dome, 0.85, 0.2), (0.16, 1, 1)])
    return m.add("base", lathe(knots), finish, ROOT, "round")


def _knuckle(at: np.ndarray, radius: float) -> Solid:
    knots = profile(radius, 1.3 * radius, [(0.9, -1, 1), (1, -0.8, 0.5), (1, 0.8, 0.5), (0.9, 1, 1)])
    return lathe(knots, at, turned(z=90))


SHADES: dict[str, tuple[float, Shares, tuple[float, float]]] = {
    "conical": (3, [(1, 0, 1), (0.45, 0.75, 0.5)], (0.92, 0.4)),
    "domed": (2, [(1, 0, 1), (0.97, 0.3, 0), (0.7, 0.7, 0)], (0.93, 0.2)),
    "cylindrical": (1, [(0.7, 0, 1), (0.7, 0.8, 0.6)], (0.93, 0.4)),
}
"""Shades of arms: how often, profile in shares of radius and height, height and sharpness where the neck begins."""


def _shade(
    m: Maker,
    d: Sampler,
    finish: Appearance,
    parent: int,
    end: np.ndarray,
    way: np.ndarray,
    radius: float,
    limits: Limits,
) -> None:
    """A cone or dome whose closed end sits on the end of an arm and that shines along ``way``."""
    tall, neck = d.between(1.3, 1.9) * radius, 0.022
    kind = d.pick(list(SHADES), [row[0] for row in SHADES.values()])
    _, shares, (high, sharp) = SHADES[kind]
    knots = [*profile(radius, tall, shares), (neck, high * tall, sharp), (neck, tall, 1)]
    turn, at = towards(end + way, end), end + way * (tall - 0.008)
    cover = finish if d.chance(0.75) else _frame_finish(d)
    hollow, hinge = Hollow(0.003, "bottom"), _joint(end, limits)
    shade = m.add("shade", lathe(knots, at, turn), cover, parent, kind, hollow=hollow, hinge=hinge)
    _bulb(m, d, shade, at, turn, tall, 0.42 * radius)


def _bulb(m: Maker, d: Sampler, parent: int, at: np.ndarray, turn: np.ndarray, tall: float, radius: float) -> None:
    r = min(radius, 0.03)
    glow = draw_appearance(d, "white, cream, yellow", "glass", feels="stiff")
    low = max(tall - 4.5 * r, 0.12 * tall)
    knots = [(0.02 * r, low, 0), (r, low + r, 0), (0.55 * r, low + 2.0 * r, 0.1), (0.5 * r, tall - 0.002, 1)]
    m.add("bulb", lathe(knots, at, turn), glow, parent, "round")


def floor_lamp(d: Sampler) -> Assembly:
    """Tall: a column, an arc or three legs, below a cloth shade or a reading shade that tilts."""
    m = Maker("lamp", "floor lamp")
    finish = _frame_finish(d)
    kind = d.pick(["column", "tripod", "arc", "reading"], [4, 2, 2, 2])
    tall, r = d.between(1.25, 1.65), d.between(0.009, 0.016)
    if kind == "tripod":
        solid = lathe([(0.03, 0.72 * tall, 1), (0.03, 0.8 * tall, 1), (r, 0.82 * tall, 0.5), (r, tall, 1)])
        hub = m.add("column", solid, finish, role="body")
        leg = tube([(0, 0.77 * tall, 0.01), (0, 0.0, d.between(0.25, 0.36))], [0.016, 0.014, 0.01])
        m.add("leg", leg, finish if d.chance(0.4) else materials.wood(d), hub, "tripod", "splayed", repeat=around(3))
        _cloth_shade(m, d, hub, tall, d.between(0.18, 0.26))
        return m.done()
    base = _base(m, d, finish, d.between(0.13, 0.19), d.between(0.02, 0.035))
    foot = float(m.parts[base].size[1]) - 0.005
    if kind == "arc":
        m.style.append("arc")
        reach = d.between(0.5, 0.8)
        end = np.array([0.0, 0.93 * tall, reach])
        points = [(0, foot, 0), (0, 0.6 * tall, -0.02), (0, 0.92 * tall, 0.18), (0, tall, 0.55 * reach)]
        arm = m.add("arm", tube([*points, tuple(end)], r), finish, base, "arched")
        _shade(m, d, finish, arm, end, np.array([0.0, -1.0, 0.0]), d.between(0.12, 0.18), (-0.4, 0.4))
        return m.done()
    column = m.add("column", tube([(0, foot, 0), (0, tall, 0)], r), finish, base, "round", role="body")
    if kind == "column":
        _cloth_shade(m, d, column, tall, d.between(0.16, 0.25))
        return m.done()
    top = np.array([0.0, tall - 0.01, 0.0])
    end = top + d.between(0.25, 0.4) * np.array([0.0, 0.25, 0.97])
    arm = m.add("arm", tube([top, end], 0.8 * r), finish, column, "jointed", hinge=_joint(top, (-0.6, 0.5)))
    m.add("joint", _knuckle(top, 1.8 * r), finish, column, "round")
    _shade(m, d, finish, arm, end, np.array([0.0, -0.94, 0.34]), d.between(0.07, 0.1), (-0.6, 0.6))
    return m.done()


def _cloth_shade(m: Maker, d: Sampler, parent: int, top: float, radius: float) -> None:
    """A drum or cone around the top of a column, closed above."""
    tall = d.between(0.9, 1.4) * radius
    kind = d.pick(["drum", "conical"])
    upper = radius * (d.between(0.92, 1.0) if kind == "drum" else d.between(0.45, 0.7))
    colours = "white*4, cream, beige*2, black, grey, red, teal, mustard, navy, pink, green"
    cloths, prints = "linen, cotton*2, silk, cardboard, glass", "plain*6, stripes, floral, weave"
    cloth = draw_appearance(d, colours, cloths, patterns=prints, tile=0.12)
    at = np.array([0.0, top - tall + 0.002, 0.0])
    solid = lathe([(radius, 0, 1), (upper, tall, 1)], at)
    shade = m.add("shade", solid, cloth, parent, kind, hollow=Hollow(0.004, "bottom"))
    if d.chance(0.5):
        _bulb(m, d, shade, at, np.eye(3), tall, 0.03)


BODIES: dict[str, Shares] = {
    "bulbous": [(0.6, 0, 1), (1, 0.4, 0), (0.5, 0.85, 0), (0.25, 1, 1)],
    "bottle": [(0.9, 0, 1), (1, 0.25, 0), (0.8, 0.55, 0), (0.22, 0.8, 0), (0.2, 1, 1)],
    "turned": [(1, 0, 1), (1, 0.06, 0.8), (0.35, 0.16, 0), (0.6, 0.4, 0), (0.25, 0.62, 0), (0.45, 0.8, 0), (0.2, 1, 1)],
    "cylindrical": [(0.7, 0, 1), (0.7, 0.95, 0.8), (0.3, 1, 1)],
}
"""Profiles of table lamps in shares of radius and height."""


def table_lamp(d: Sampler) -> Assembly:
    """A turned body of ceramic, glass, wood or metal below a cloth shade."""
    m = Maker("lamp", "table lamp")
    makers: list[Callable[[Sampler], Appearance]] = [materials.ceramic, materials.wood, materials.metal, materials.pane]
    finish = d.pick(makers, [4, 2, 2, 0.7])(d)
    tall, r = d.between(0.2, 0.36), d.between(0.06, 0.11)
    kind = d.pick(list(BODIES))
    body = m.add("body", lathe(profile(r, tall, BODIES[kind])), finish, ROOT, kind)
    wide = d.between(0.12, 0.19)
    top = tall + d.between(0.9, 1.1) * wide
    metal = draw_appearance(d, "gold, silver, black", "brass, steel")
    column = m.add("column", tube([(0, tall - 0.01, 0), (0, top, 0)], 0.008), metal, body, "round")
    _cloth_shade(m, d, column, top, wide)
    return m.done()
