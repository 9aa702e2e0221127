"""Plants in pots: rosettes, trees, bushes, succulents, cacti and flowers; vases, empty or with a bouquet."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from neurok.catalogue import materials
from neurok.catalogue.appearance import draw_appearance
from neurok.catalogue.assemble import PAIR, ROOT, Maker, around
from neurok.catalogue.parts import Appearance, Assembly, Repeat
from neurok.catalogue.solids import Solid, block, ellipsoid, lathe, profile, sheet, tube
from neurok.modelling.forms import Hollow, Relief, profile_curve
from neurok.modelling.sampler import Sampler

GOLDEN = float(np.radians(137.5))
"""From one leaf to the next [rad]."""

GREENS = "green*2, dark green*2, lime green, olive, green, mint, burgundy"
PETALS = "red, pink, hot pink, white, yellow, orange, purple, lavender, coral, blue, peach, plum"


def _leaf_finish(d: Sampler) -> Appearance:
    return draw_appearance(d, GREENS, "leaf", feels="none*2, stiff, flexible")


def _stem_finish(d: Sampler, wood: bool = False) -> Appearance:
    """How stems or trunks look."""
    if wood:
        return draw_appearance(d, "brown, light brown, dark brown, grey", "green wood, bark")
    return draw_appearance(d, "green, dark green, olive, lime green", "stem")


_U = np.linspace(0, 1, 9)
LEAVES = {
    "blade": np.minimum(1.0, 6 * _U + 0.35) * (1 - _U**2.5),
    "oval": np.sin(np.pi * np.clip(_U, 0.06, 0.985) ** 0.85) ** 0.75,
    "heart": np.clip(np.sin(np.pi * np.clip(_U * 0.86 + 0.14, 0, 1)), 0, 1) ** 0.7 * np.where(_U < 0.05, 0.3, 1),
    "spear": np.sin(np.pi * np.clip(_U, 0.04, 0.99) ** 0.6) ** 1.1,
}
"""Widths of leaves from base to tip, in shares of the widest."""


def _leaf(
    d: Sampler, kind: str, long: float, wide: float, at: Sequence[float] | np.ndarray, turn: np.ndarray, droop: float
) -> Solid:
    """A leaf from its base: ``blade`` long and narrow, ``oval``, ``heart`` or ``spear``."""
    widths, bends = 0.5 * wide * np.maximum(LEAVES[kind], 0.06), np.full(9, -droop / 8.0)
    folds = {"cup": d.between(0.05, 0.35), "wave": d.pick([0.0, 0.0, 0.03 * wide]), "waves": d.between(1.5, 3.0)}
    return sheet(widths, long, max(0.0022, 0.012 * long), at, turn, bends=bends, **folds)


def _outward(azimuth: float, elevation: float) -> np.ndarray:
    """Axes of a leaf that leaves at an elevation [degrees] and bends down as it goes."""
    a, e = np.radians(azimuth), np.radians(elevation)
    y = np.array([np.sin(a) * np.cos(e), np.sin(e), np.cos(a) * np.cos(e)])
    x = np.array([np.cos(a), 0.0, -np.sin(a)])
    return np.column_stack([x, y, np.cross(x, y)])


def _shoot(azimuth: float, spread: float, low: float, tall: float, lean: float) -> tuple[np.ndarray, np.ndarray]:
    """Foot and tip of a shoot that stands ``spread`` aside of the middle and leans outwards by ``lean`` [m]."""
    s, c = np.sin(azimuth), np.cos(azimuth)
    foot = np.array([spread * s, low, spread * c])
    return foot, foot + [lean * s, tall, lean * c]


def _add_spiral(
    m: Maker,
    d: Sampler,
    stem: int,
    finish: Appearance,
    kind: str,
    foot: np.ndarray,
    tip: np.ndarray,
    long: float,
    count: int,
) -> None:
    """Leaves around a stem, smaller towards its tip: one token each half, so that they follow its lean."""
    start, step = foot + 0.3 * (tip - foot), 0.68 * (tip - foot) / max(count - 1, 1)
    turn = _outward(d.between(0, 360), d.between(15, 45))
    wide = long * {"oval": 0.45, "heart": 0.7, "spear": 0.28, "blade": 0.1}[kind] * d.between(0.85, 1.15)
    at = start - 0.004 * turn[:, 1]
    solid = _leaf(d, kind, long, wide, at, turn, -d.between(0.3, 1.1))
    repeat = Repeat(count=count, step=step, turn=GOLDEN, scale=0.94, pivot=(float(start[0]), float(start[2])))
    m.add("leaf", solid, finish, stem, "pointed" if kind == "spear" else "rounded", meets=at, repeat=repeat)


def _add_stalks(m: Maker, d: Sampler, soil: int, top: float, tall: float, count: int, spread: float) -> None:
    """Stalks, each with a flower or a spray of them."""
    green, petals = _stem_finish(d), draw_appearance(d, PETALS, "petal")
    for k in range(count):
        a, bend = GOLDEN * k + d.between(0, 1), d.between(0.05, 0.35) * tall
        foot, tip = _shoot(a, spread, top - 0.01, tall * d.between(0.8, 1.0), bend)
        solid = tube([foot, (foot + tip) / 2 + [0, 0.1 * tall, 0], tip], max(0.0022, 0.012 * tall))
        stem = m.add("stem", solid, green, soil, "thin", "long")
        _add_bloom(m, d, stem, petals, tip, d.between(0.06, 0.1) * tall + 0.006)


def _add_bloom(m: Maker, d: Sampler, stem: int, petals: Appearance, tip: np.ndarray, r: float) -> None:
    """A flower: petals around a middle."""
    yellow = draw_appearance(d, "yellow*2, mustard, orange, brown, white", "petal")
    middle = m.add("flower centre", ellipsoid((0.6 * r, 0.5 * r, 0.6 * r), tip), yellow, stem, "round")
    count, rise = d.count(5, 7), d.between(5, 65)
    turn = _outward(d.between(0, 360), rise)
    at = tip + 0.12 * r * turn[:, 1]
    widths = 0.42 * r * np.maximum(np.sin(np.pi * np.clip(_U, 0.1, 0.96)) ** 0.6, 0.15)
    solid = sheet(widths, 1.15 * r, 0.1 * r, at, turn, bends=-d.between(0.0, 0.12), cup=0.25)
    repeat = around(count, (float(tip[0]), float(tip[2])))
    m.add("petal", solid, petals, middle, "rounded", meets=at, repeat=repeat)


def vase(d: Sampler) -> Assembly:
    """Turned or squared, hollow, with necks, feet, handles, and sometimes flowers or twigs."""
    m = Maker("vase")
    finish = _vase_finish(d)
    tall, wall = d.between(0.16, 0.5), d.between(0.004, 0.009)
    if d.chance(0.13):
        wide = tall * d.between(0.3, 0.6)
        taper = np.linspace(d.between(0.7, 1.0), 1.0, 5)
        size = (wide, tall, wide * d.between(0.6, 1.0))
        solid = block(size, (0, tall / 2, 0), corner=0.06, edge=(0.08, 0.0), widths=taper, depths=taper)
        body = m.add("body", solid, finish, ROOT, "square", hollow=Hollow(wall))
        radius = 0.5 * wide
    else:
        name = d.pick(list(PROFILES), [row[0] for row in PROFILES.values()])
        _, word, ranges, shape = PROFILES[name]
        knots = shape(*(d.between(*ends) for ends in ranges))
        scale = tall / (knots[-1][1] - knots[0][1])
        knots = [(r * scale, y * scale, s) for r, y, s in knots]
        relief: Relief = d.pick(["smooth", "smooth", "smooth", "smooth", "ribbed", "fluted", "faceted"])
        words = name, word, relief if relief != "smooth" else ""
        body = m.add("body", lathe(knots), finish, ROOT, *words, hollow=Hollow(wall), relief=relief)
        radius = max(k[0] for k in knots)
        if d.chance(0.18) and name in ("amphora", "bottle", "urn"):
            _handles(m, d, finish, body, np.array(knots), tall)
    if d.chance(0.2):
        _add_bouquet(m, d, body, tall, radius)
    return m.done()


def _vase_finish(d: Sampler) -> Appearance:
    kind = d.pick(["ceramic", "glass", "metal", "wood"], [7, 2, 0.7, 0.4])
    if kind == "glass":
        colours = "light blue, mint, white, turquoise, green, pink, lavender, blue, light grey, tan"
        return draw_appearance(d, colours, "glass", feels="none, heavy")
    return {"ceramic": materials.ceramic, "metal": materials.metal, "wood": materials.wood}[kind](d)


Knots = list[tuple[float, float, float]]


def _bulbous(foot: float, belly: float, neck: float, lip: float, at: float) -> Knots:
    low = [(foot, 0, 1), (0.9 * foot + 0.1 * belly, 0.05, 0), (belly, at, 0)]
    return [*low, (0.8 * belly + 0.1 * neck, at + 0.18, 0), (neck, 0.85, 0), (neck, 0.92, 0), (lip, 1.0, 1)]


def _cylindrical(foot: float, top: float, bulge: float) -> Knots:
    return [(foot, 0, 1), (foot + 0.01, 0.03, 0), ((foot + top) / 2 + bulge, 0.5, 0), (top, 1.0, 1)]


def _trumpet(foot: float, waist: float, top: float) -> Knots:
    low = [(foot, 0, 1), (foot, 0.04, 1), (waist, 0.18, 0), (waist * 1.05, 0.45, 0)]
    return [*low, (0.55 * top, 0.8, 0), (top, 1.0, 1)]


def _bottle(belly: float, neck: float, at: float, lip: float) -> Knots:
    low = [(0.8 * belly, 0, 1), (belly, 0.06, 0), (belly, at, 0), (0.75 * belly, at + 0.12, 0)]
    return [*low, (neck, at + 0.24, 0), (neck, 0.9, 0), (neck * lip, 1.0, 1)]


def _urn(belly: float, foot: float) -> Knots:
    low = [(foot, 0, 1), (foot, 0.05, 1), (0.55 * foot, 0.12, 0), (0.8 * belly, 0.4, 0)]
    return [*low, (belly, 0.65, 0), (0.8 * belly, 0.86, 0), (0.85 * belly, 0.94, 1), (belly, 1.0, 1)]


def _bowl(belly: float, top: float) -> Knots:
    low = [(0.5 * belly, 0, 1), (0.85 * belly, 0.2, 0), (belly, 0.5, 0), (0.95 * belly, 0.75, 0)]
    return [*low, (min(top, 0.93 * belly), 1.0, 1)]


def _amphora(belly: float, foot: float, lip: float) -> Knots:
    low = [(foot, 0, 1), (0.8 * foot, 0.04, 0), (0.75 * belly, 0.35, 0), (belly, 0.6, 0)]
    return [*low, (0.7 * belly, 0.76, 0), (0.1, 0.84, 0), (0.1, 0.94, 0), (lip, 1.0, 1)]


Range = tuple[float, float]
PROFILES: dict[str, tuple[float, str, tuple[Range, ...], Callable[..., Knots]]] = {
    "bulbous": (4.0, "", ((0.14, 0.24), (0.28, 0.42), (0.1, 0.2), (0.14, 0.26), (0.3, 0.62)), _bulbous),
    "cylindrical": (3.0, "tall", ((0.14, 0.26), (0.16, 0.3), (-0.02, 0.04)), _cylindrical),
    "trumpet": (1.5, "flared", ((0.14, 0.24), (0.07, 0.13), (0.2, 0.36)), _trumpet),
    "bottle": (1.5, "narrow", ((0.2, 0.32), (0.05, 0.09), (0.2, 0.4), (1.1, 1.6)), _bottle),
    "urn": (1.5, "footed", ((0.3, 0.4), (0.14, 0.2)), _urn),
    "bowl": (1.0, "wide", ((0.5, 0.7), (0.35, 0.6)), _bowl),
    "amphora": (1.5, "narrow", ((0.24, 0.34), (0.08, 0.14), (0.13, 0.18)), _amphora),
}
"""Profiles of height 1 by name: how often, a further word, and the ranges of the numbers that shape them."""


def _handles(m: Maker, d: Sampler, finish: Appearance, body: int, knots: np.ndarray, tall: float) -> None:
    """A pair of handles from the shoulder to the neck."""
    low, high = 0.62, 0.9
    lower, upper = (float(np.interp(share * tall, knots[:, 1], knots[:, 0])) for share in (low, high))
    out = max(lower, upper) + d.between(0.1, 0.2) * tall
    ends = (lower - 0.004, low * tall, 0), (upper - 0.004, high * tall, 0)
    points = [ends[0], (out, (low + 0.05) * tall, 0), (out, (high - 0.02) * tall, 0), ends[1]]
    m.add("handle", tube(points, 0.025 * tall, flat=0.7, bend=1.0), finish, body, "curved", repeat=PAIR)


def _add_bouquet(m: Maker, d: Sampler, body: int, tall: float, radius: float) -> None:
    """Flowers or dry twigs that stand on the bottom of a vase."""
    green = _stem_finish(d, wood=d.chance(0.3))
    petals = draw_appearance(d, PETALS, "petal")
    up, lean = tall * d.between(1.5, 2.1), 0.35 * radius
    for k in range(d.count(2, 5)):
        foot, neck = _shoot(GOLDEN * k, 0.015, 0.002, tall, 0.2 * lean)
        _, tip = _shoot(GOLDEN * k, 0.0, 0.0, up * d.between(0.85, 1.0), 1.8 * lean)
        stem = m.add("stem", tube([foot, neck, tip], 0.003), green, body, "thin", "long")
        _add_bloom(m, d, stem, petals, tip, 0.05 * up)


def plant(d: Sampler) -> Assembly:
    """Something that grows in a pot."""
    m = Maker("plant")
    soil, top, radius = _pot(m, d)
    kind = d.pick(list(_KINDS), [weight for weight, _ in _KINDS.values()])
    m.style.append(kind)
    _KINDS[kind][1](m, d, soil, top, radius)
    return m.done()


POTS: dict[str, tuple[float, tuple[str, ...], list[tuple[float, float, float]]]] = {
    "classic": (4, ("tapered", "rimmed"), [(0, 0, 1), (0.97, 0.78, 1), (1.1, 0.78, 1), (1.13, 1, 1)]),
    "straight": (3, ("cylindrical",), [(0.92, 0, 0.6), (1, 0.06, 0.3), (1.02, 1, 1)]),
    "round": (2.5, ("round",), [(0.65, 0, 1), (1.05, 0.35, 0), (1.1, 0.6, 0), (0.92, 1, 1)]),
    "bowl": (1.2, ("bowl", "wide"), [(0.6, 0, 1), (1.15, 0.35, 0), (1.4, 0.9, 0.4), (1.4, 1, 1)]),
    "square": (2, ("square",), []),
    "footed": (1, ("footed",), [(0.7, 0, 1), (0.45, 0.15, 0), (0.9, 0.4, 0), (1.1, 0.85, 0), (1.2, 1, 1)]),
}
"""Pots: how often, words, and profiles in shares of radius and height; how far the classic one tapers is drawn."""


def _pot(m: Maker, d: Sampler) -> tuple[int, float, float]:
    """The pot with its soil: its number, the height of the soil and the radius of the opening."""
    finish = d.pick(
        [materials.ceramic, materials.plastic, materials.metal, materials.wood, _basket], [7, 1, 0.8, 0.7, 1]
    )(d)
    tall, wall = d.between(0.09, 0.28), d.between(0.006, 0.014)
    r = tall * d.between(0.45, 0.8)
    kind = d.pick(list(POTS), [row[0] for row in POTS.values()])
    taper, is_square = d.between(0.6, 0.85), kind == "square"
    _, words, shares = POTS[kind]
    knots = np.array(profile(r, tall, shares))
    if is_square:
        grow = np.linspace(taper, 1.0, 5)
        size = (2 * r * d.pick([1.0, 1.0, 1.0, 2.2]), tall, 2 * r)
        solid = block(size, (0, tall / 2, 0), corner=0.06, edge=(0.1, 0.0), widths=grow, depths=grow)
    else:
        knots[0, 0] = taper * r if kind == "classic" else knots[0, 0]
        solid = lathe(knots)
    relief: Relief = "smooth" if is_square else d.pick(["smooth", "smooth", "smooth", "ribbed", "faceted"])
    pot = m.add("pot", solid, finish, ROOT, *words, hollow=Hollow(wall, "top"), relief=relief)
    top = tall * d.between(0.8, 0.92)
    earth = "dark brown*3, brown, black, light grey", "soil*3, gravel"
    if is_square:
        inner = r * (taper + (1.0 - taper) * (top - 0.03) / tall) - 0.4 * wall
        size = (2 * inner * (float(solid.size[0] / solid.size[2])), 0.03, 2 * inner)
        ground = block(size, (0, top - 0.015, 0), corner=0.06, edge=0.2)
    else:
        # Soil fits where the pot is narrowest at its height.
        curve = profile_curve(knots)
        near = np.interp(np.linspace(top - 0.03, top, 5), curve[:, 1], curve[:, 0])
        inner = {"faceted": 0.92, "ribbed": 0.95}.get(relief, 1.0) * float(near.min()) - 0.5 * wall
        ground = lathe([(inner, top - 0.03, 1), (inner, top - 0.004, 1), (0.4 * inner, top + 0.004, 0)])
    soil = m.add("soil", ground, draw_appearance(d, *earth), pot)
    if d.chance(0.25) and kind not in ("footed", "square"):
        foot = float(knots[0, 0])
        dish = lathe([(foot + 0.01, -0.004, 1), (foot + 0.03, 0.024, 1)])
        m.add("saucer", dish, finish, pot, "flat", hollow=Hollow(0.007, "top"))
    return soil, top, inner


def _basket(d: Sampler) -> Appearance:
    return draw_appearance(
        d, "beige, tan, light brown, brown, white", "rattan, straw, bamboo", patterns="weave", tile=0.08
    )


def _rosette(m: Maker, d: Sampler, soil: int, top: float, radius: float) -> None:
    """Leaves that all start from one place; inner ones stand, outer ones hang."""
    finish, kind = _leaf_finish(d), d.pick(["blade", "blade", "spear"])
    long = radius * d.between(2.6, 5.6)
    wide = long * (d.between(0.06, 0.14) if kind == "blade" else d.between(0.16, 0.3))
    rings = d.count(2, 4)
    for k in range(rings):
        count = d.count(5, 9)
        share = (k + 0.5) / rings
        rise, droop = 82 - 50 * share, -(d.between(0.2, 0.6) + d.between(0.7, 1.5) * share)
        turn = _outward(d.between(0, 360), rise)
        at = np.array([0, top - 0.006, 0]) + (0.012 + 0.05 * radius) * turn[:, 2] * [-1, 0, -1]
        solid = _leaf(d, kind, long * d.between(0.75, 1.0), wide, at, turn, droop)
        step, lean = GOLDEN if count < 7 else 2 * np.pi / count, d.between(-0.06, 0.06)
        repeat = Repeat(count=count, turn=step, lean=lean, scale=d.between(0.9, 1.0))
        m.add("leaf", solid, finish, soil, "long", "pointed", meets=at, repeat=repeat)
    if d.chance(0.3):
        _add_stalks(m, d, soil, top, 0.9 * long, d.count(1, 2), 0.25 * radius)


def _stems(m: Maker, d: Sampler, soil: int, top: float, radius: float) -> None:
    """A few stems with broad leaves."""
    green, finish = _stem_finish(d), _leaf_finish(d)
    kind, thick = d.pick(["oval", "heart", "spear"]), 0.03 * radius + 0.003
    for _ in range(d.count(2, 4)):
        a, lean, tall = d.between(0, 2 * np.pi), d.between(0.05, 0.5), radius * d.between(2.2, 4.5)
        foot, tip = _shoot(a, 0.3 * radius, top - 0.012, tall, lean * tall)
        points = [foot, (foot + tip) / 2 + [0, 0.06 * tall, 0], tip]
        stem = m.add("stem", tube(points, (thick, 0.8 * thick, 0.6 * thick)), green, soil, "thin")
        _add_spiral(m, d, stem, finish, kind, foot, tip, radius * d.between(1.2, 2.4), d.count(5, 9))


def _tree(m: Maker, d: Sampler, soil: int, top: float, radius: float) -> None:
    """A trunk with a crown of leaves or of clumps."""
    bark, finish = _stem_finish(d, wood=True), _leaf_finish(d)
    tall, thick = radius * d.between(3.0, 6.0), radius * d.between(0.06, 0.12)
    sway, high = radius * d.between(-0.5, 0.5), top + tall
    points = [(0, top - 0.012, 0), (sway, top + 0.45 * tall, 0.2 * sway), (0.3 * sway, high, 0)]
    trunk = m.add("trunk", tube(points, (thick, 0.8 * thick, 0.6 * thick)), bark, soil, "curved")
    if d.chance(0.45):
        r = radius * d.between(0.9, 1.5)
        ball = ellipsoid((2 * r, 1.7 * r, 2 * r), (0.3 * sway, high + 0.4 * r, 0))
        crown = m.add("crown", ball, finish, trunk, "round", role="foliage", relief="quilted")
        if d.chance(0.5):
            ball = ellipsoid((1.2 * r, r, 1.2 * r), (0.8 * r, high, 0.2 * r))
            repeat = Repeat(count=3, turn=2.1, pivot=(0.3 * sway, 0))
            m.add("crown", ball, finish, crown, "round", role="foliage", repeat=repeat)
        return
    tip, foot = np.array([0.3 * sway, high, 0]), np.array([0.65 * sway, top + 0.72 * tall, 0.1 * sway])
    for _ in range(2):
        kind = d.pick(["oval", "spear"])
        _add_spiral(m, d, trunk, finish, kind, foot, tip, radius * d.between(1.2, 2.2), d.count(6, 10))


def _palm(m: Maker, d: Sampler, soil: int, top: float, radius: float) -> None:
    """One to three bare trunks, each with a tuft of blades."""
    bark, finish = _stem_finish(d, wood=True), _leaf_finish(d)
    for k in range(d.count(1, 3)):
        a, tall = 2.2 * k + d.between(0, 1), radius * d.between(1.6, 5.5)
        foot, tip = _shoot(a, 0.35 * radius if k else 0.0, top - 0.012, tall, 0.12 * tall)
        thick = radius * d.between(0.06, 0.1)
        solid = tube([foot, (foot + tip) / 2, tip], (1.2 * thick, thick, thick))
        trunk = m.add("trunk", solid, bark, soil, "tall")
        long, at = radius * d.between(1.8, 3.4), tip - [0, 0.01 + 0.2 * thick, 0]
        for rise in (75, 40, 10):
            turn = _outward(d.between(0, 360), rise + d.between(-8, 8))
            solid = _leaf(d, "blade", long, long * d.between(0.06, 0.11), at, turn, -d.between(0.2, 0.9))
            count, shrink = d.count(6, 10), d.between(0.94, 1.0)
            repeat = Repeat(count=count, turn=2 * np.pi / count, scale=shrink, pivot=(float(tip[0]), float(tip[2])))
            m.add("leaf", solid, finish, trunk, "long", "pointed", meets=at, repeat=repeat)


def _succulent(m: Maker, d: Sampler, soil: int, top: float, radius: float) -> None:
    """Fat leaves in rings."""
    finish = draw_appearance(d, "mint, green, lime green, olive, dark green, plum, teal", "leaf", feels="stiff, heavy")
    r = radius * d.between(0.5, 0.85)
    core = m.add("stem", ellipsoid((0.5 * r, 0.5 * r, 0.5 * r), (0, top + 0.12 * r, 0)), finish, soil, "short")
    widths, depths = (0.6, 0.8, 1.0, 0.95, 0.45), (1, 1, 1, 0.8, 0.5)
    for k in range(3):
        long, rise = r * (1.15 - 0.22 * k), 12 + 28 * k
        turn = _outward(d.between(0, 360), rise)
        at = np.array([0, top + 0.1 * r + 0.05 * k * r, 0]) + 0.12 * r * turn[:, 1]
        size, middle, bow = (0.42 * long, long, 0.16 * long), at + 0.45 * long * turn[:, 1], (0.0, 0.04 * long)
        solid = block(size, middle, turn, corner=0.9, edge=0.9, widths=widths, depths=depths, bow=bow)
        m.add("leaf", solid, finish, core, "fat", "short", meets=at, repeat=around(9 - 2 * k))
    if d.chance(0.25):
        _add_stalks(m, d, soil, top, 2.2 * radius, 1, 0.0)


def _cactus(m: Maker, d: Sampler, soil: int, top: float, radius: float) -> None:
    """A fluted trunk, perhaps with arms or a flower on top."""
    finish = draw_appearance(d, "green, dark green, olive, teal", "leaf", feels="stiff, heavy")
    tall, r = radius * d.between(1.0, 4.0), radius * d.between(0.3, 0.6)
    knots = profile(r, tall, [(1, 0.2, 0), (1, 0.75, 0), (0.7, 0.94, 0), (0.15, 1, 0)], top)
    trunk = m.add("trunk", lathe([(0.7 * r, top - 0.012, 1), *knots]), finish, soil, "ribbed", "fat", relief="fluted")
    if tall > 2.0 * radius:
        for side in [1, -1][: d.count(0, 2)]:
            y, out = top + tall * d.between(0.35, 0.55), side * (1.9 * r)
            points = [(side * 0.5 * r, y, 0), (out, y, 0), (out, y + 0.5 * r, 0)]
            points.append((out, y + tall * d.between(0.2, 0.35), 0))
            m.add("branch", tube(points, 0.5 * r, bend=0.4 * r), finish, trunk, "bent", role="foliage")
    if d.chance(0.4):
        bloom, grow = draw_appearance(d, PETALS, "petal"), (0.4, 0.7, 0.9, 1, 1)
        size, at = (0.7 * r, 0.5 * r, 0.7 * r), (0, top + tall, 0)
        solid = block(size, at, corner=0.9, edge=(0.9, 0.3), widths=grow, depths=grow)
        m.add("flower", solid, bloom, trunk, "round")


def _bush(m: Maker, d: Sampler, soil: int, top: float, radius: float) -> None:
    """Many short stems with small leaves, perhaps in flower."""
    green, finish = _stem_finish(d), _leaf_finish(d)
    blooms = draw_appearance(d, PETALS, "petal") if d.chance(0.5) else None
    for k in range(d.count(4, 6)):
        a, tall = GOLDEN * k, radius * d.between(1.1, 2.6)
        foot, tip = _shoot(a, 0.45 * radius, top - 0.012, tall, 0.4 * tall)
        solid = tube([foot, (foot + tip) / 2 + [0, 0.08 * tall, 0], tip], 0.02 * radius + 0.002)
        stem = m.add("stem", solid, green, soil, "thin")
        _add_spiral(m, d, stem, finish, "oval", foot, tip, radius * d.between(0.7, 1.2), 7)
        if blooms is not None and d.chance(0.7):
            _add_bloom(m, d, stem, blooms, tip, 0.22 * radius + 0.008)


def _orchid(m: Maker, d: Sampler, soil: int, top: float, radius: float) -> None:
    """Broad leaves at the ground and arching stalks with flowers."""
    finish = _leaf_finish(d)
    count = d.count(3, 5)
    turn, at = _outward(d.between(0, 360), d.between(15, 40)), np.array([0, top - 0.006, 0])
    solid = _leaf(d, "oval", 1.9 * radius, 0.6 * radius, at, turn, -0.7)
    m.add("leaf", solid, finish, soil, "wide", "rounded", meets=at, repeat=around(count))
    _add_stalks(m, d, soil, top, radius * d.between(3.0, 4.5), d.count(1, 3), 0.2 * radius)


def _trailing(m: Maker, d: Sampler, soil: int, top: float, radius: float) -> None:
    """Shoots that hang over the rim."""
    green, finish = _stem_finish(d), _leaf_finish(d)
    for k in range(d.count(4, 6)):
        a, drop = GOLDEN * k + d.between(-0.3, 0.3), d.between(0.3, 0.95) * top
        out = radius * np.array([np.sin(a), 0, np.cos(a)])
        rows = [(0.3, top - 0.01), (0.9, top + 0.5 * radius), (1.5, top + 0.2 * radius), (1.75, top - drop)]
        points = np.array([share * out + [0, y, 0] for share, y in rows])
        stem = m.add("stem", tube(points, 0.018 * radius + 0.002), green, soil, "long", "curved")
        for start, (least, most) in ((0, (0.45, 0.7)), (2, (0.4, 0.6))):
            kind = d.pick(["heart", "oval"])
            _add_spiral(m, d, stem, finish, kind, points[start], points[start + 1], radius * d.between(least, most), 4)


_KINDS = {
    "rosette": (5, _rosette),
    "stems": (3, _stems),
    "tree": (2, _tree),
    "palm": (2, _palm),
    "succulent": (1, _succulent),
    "cactus": (0.8, _cactus),
    "bush": (2, _bush),
    "orchid": (1.8, _orchid),
    "trailing": (1.2, _trailing),
}
"""Kinds of plants: how often, and what grows them out of the soil."""
