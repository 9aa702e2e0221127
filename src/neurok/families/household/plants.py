"""Plants in pots: rosettes, trees, bushes, succulents, cacti and flowers; and bouquets for vases."""

from __future__ import annotations

import numpy as np

from neurok.families.household import stuffs
from neurok.families.household.assemble import ROOT, Maker
from neurok.families.household.foliage import (
    GOLDEN,
    PETALS,
    add_bloom,
    add_spiral,
    add_stalks,
    leaf,
    leaf_look,
    outward,
    stem_look,
)
from neurok.families.household.looks import draw_look
from neurok.families.household.parts import Assembly, Look, Repeat
from neurok.families.household.solids import block, lathe, tube
from neurok.modelling.dice import Dice
from neurok.modelling.forms import Hollow, Relief
from neurok.modelling.turned import profile_curve


def plant(d: Dice) -> Assembly:
    m = Maker("plant")
    soil, top, radius = _pot(m, d)
    kind = d.pick(
        ["rosette", "stems", "tree", "palm", "succulent", "cactus", "bush", "orchid", "trailing"],
        [5, 3, 2, 2, 1, 0.8, 2, 1.8, 1.2],
    )
    m.style.append(kind)
    _KINDS[kind](m, d, soil, top, radius)
    return m.done()


def _pot(m: Maker, d: Dice) -> tuple[int, float, float]:
    """The pot with its soil: its number, the height of the soil and the radius of the opening."""
    look = d.pick([stuffs.ceramic, stuffs.plastic, stuffs.metal, stuffs.wood, _basket], [7, 1, 0.8, 0.7, 1])(d)
    tall = d.between(0.09, 0.28)
    wall = d.between(0.006, 0.014)
    r = tall * d.between(0.45, 0.8)
    kind = d.pick(["classic", "straight", "round", "bowl", "square", "footed"], [4, 3, 2.5, 1.2, 2, 1])
    taper = d.between(0.6, 0.85)
    if kind == "square":
        grow = np.linspace(taper, 1.0, 5)
        long = d.pick([1.0, 1.0, 1.0, 2.2])
        solid = block(
            (2 * r * long, tall, 2 * r), (0, tall / 2, 0), corner=0.06, edge=(0.1, 0.0), widths=grow, depths=grow
        )
    else:
        profiles: dict[str, list[tuple[float, float, float]]] = {
            "classic": [(taper * r, 0, 1), (0.97 * r, 0.78 * tall, 1), (1.1 * r, 0.78 * tall, 1), (1.13 * r, tall, 1)],
            "straight": [(0.92 * r, 0, 0.6), (r, 0.06 * tall, 0.3), (1.02 * r, tall, 1)],
            "round": [(0.65 * r, 0, 1), (1.05 * r, 0.35 * tall, 0), (1.1 * r, 0.6 * tall, 0), (0.92 * r, tall, 1)],
            "bowl": [(0.6 * r, 0, 1), (1.15 * r, 0.35 * tall, 0), (1.4 * r, 0.9 * tall, 0.4), (1.4 * r, tall, 1)],
            "footed": [
                (0.7 * r, 0, 1),
                (0.45 * r, 0.15 * tall, 0),
                (0.9 * r, 0.4 * tall, 0),
                (1.1 * r, 0.85 * tall, 0),
                (1.2 * r, tall, 1),
            ],
        }
        knots = profiles[kind]
        solid = lathe(knots)
    words = {
        "classic": ["tapered", "rimmed"],
        "straight": ["cylindrical"],
        "round": ["round"],
        "bowl": ["bowl", "wide"],
        "square": ["square"],
        "footed": ["footed"],
    }[kind]
    relief: Relief = d.pick(["smooth", "smooth", "smooth", "ribbed", "faceted"]) if kind != "square" else "smooth"
    pot = m.add("pot", solid, look, ROOT, *words, hollow=Hollow(wall, "top"), relief=relief)
    top = tall * d.between(0.8, 0.92)
    if kind == "square":
        inner = r * (taper + (1.0 - taper) * (top - 0.03) / tall) - 0.4 * wall
    else:
        inner = _inside(np.array(knots), top, {"faceted": 0.92, "ribbed": 0.95}.get(relief, 1.0)) - 0.5 * wall
    earth = draw_look(d, "dark brown*3, brown, black, light grey", "soil*3, gravel")
    if kind == "square":
        ground = block(
            (2 * inner * (float(solid.size[0] / solid.size[2])), 0.03, 2 * inner),
            (0, top - 0.015, 0),
            corner=0.06,
            edge=0.2,
        )
    else:
        ground = lathe([(inner, top - 0.03, 1), (inner, top - 0.004, 1), (0.4 * inner, top + 0.004, 0)])
    soil = m.add("soil", ground, earth, pot)
    if d.chance(0.25) and kind not in ("footed", "square"):
        foot = {"bowl": 0.6, "round": 0.65, "straight": 0.92, "classic": taper}[kind] * r
        dish = lathe([(foot + 0.01, -0.004, 1), (foot + 0.03, 0.024, 1)])
        m.add("saucer", dish, look, pot, "flat", hollow=Hollow(0.007, "top"))
    return soil, top, inner


def _inside(knots: np.ndarray, top: float, share: float) -> float:
    """The radius that soil may have at most: the narrowest of the pot where the soil is."""
    curve = profile_curve(knots)
    near = np.interp(np.linspace(top - 0.03, top, 5), curve[:, 1], curve[:, 0])
    return share * float(near.min())


def _basket(d: Dice) -> Look:
    return draw_look(d, "beige, tan, light brown, brown, white", "rattan, straw, bamboo", patterns="weave", tile=0.08)


def _rosette(m: Maker, d: Dice, soil: int, top: float, radius: float, name: str = "leaf") -> None:
    """Leaves that all start from one place; inner ones stand, outer ones hang."""
    look, kind = leaf_look(d), d.pick(["blade", "blade", "spear"])
    long = radius * d.between(2.6, 5.6)
    wide = long * (d.between(0.06, 0.14) if kind == "blade" else d.between(0.16, 0.3))
    rings = d.count(2, 4)
    base = 0.012 + 0.05 * radius
    for k in range(rings):
        count = d.count(5, 9)
        share = (k + 0.5) / rings
        rise, droop = 82 - 50 * share, -(d.between(0.2, 0.6) + d.between(0.7, 1.5) * share)
        turn = outward(d.between(0, 360), rise)
        at = np.array([0, top - 0.006, 0]) + base * turn[:, 2] * [-1, 0, -1]
        solid = leaf(d, kind, long * d.between(0.75, 1.0), wide, at, turn, droop)
        m.add(
            name,
            solid,
            look,
            soil,
            "long",
            "pointed",
            role="foliage",
            meets=at,
            repeat=Repeat(
                count=count,
                turn=GOLDEN if count < 7 else 2 * np.pi / count,
                lean=d.between(-0.06, 0.06),
                scale=d.between(0.9, 1.0),
            ),
        )
    if d.chance(0.3):
        add_stalks(m, d, soil, top, 0.9 * long, d.count(1, 2), 0.25 * radius)


def _stems(m: Maker, d: Dice, soil: int, top: float, radius: float) -> None:
    """A few stems with broad leaves."""
    green, look = stem_look(d), leaf_look(d)
    kind = d.pick(["oval", "heart", "spear"])
    for _ in range(d.count(2, 4)):
        a, lean, tall = d.between(0, 2 * np.pi), d.between(0.05, 0.5), radius * d.between(2.2, 4.5)
        foot = np.array([0.3 * radius * np.sin(a), top - 0.012, 0.3 * radius * np.cos(a)])
        tip = foot + [lean * tall * np.sin(a), tall, lean * tall * np.cos(a)]
        thick = 0.03 * radius + 0.003
        solid = tube([foot, (foot + tip) / 2 + [0, 0.06 * tall, 0], tip], (thick, 0.8 * thick, 0.6 * thick))
        stem = m.add("stem", solid, green, soil, "thin")
        add_spiral(m, d, stem, look, kind, foot, tip, radius * d.between(1.2, 2.4), d.count(5, 9))


def _tree(m: Maker, d: Dice, soil: int, top: float, radius: float) -> None:
    """A trunk with a crown of leaves or of clumps."""
    bark, look = stem_look(d, wood=True), leaf_look(d)
    tall, thick = radius * d.between(3.0, 6.0), radius * d.between(0.06, 0.12)
    sway = radius * d.between(-0.5, 0.5)
    points = [(0, top - 0.012, 0), (sway, top + 0.45 * tall, 0.2 * sway), (0.3 * sway, top + tall, 0)]
    trunk = m.add("trunk", tube(points, (thick, 0.8 * thick, 0.6 * thick)), bark, soil, "curved")
    if d.chance(0.45):
        r = radius * d.between(0.9, 1.5)
        ball = block((2 * r, 1.7 * r, 2 * r), (0.3 * sway, top + tall + 0.4 * r, 0), corner=1.0, edge=1.0)
        crown = m.add("crown", ball, look, trunk, "round", role="foliage", relief="quilted")
        if d.chance(0.5):
            solid = block((1.2 * r, r, 1.2 * r), (0.8 * r, top + tall, 0.2 * r), corner=1.0, edge=1.0)
            m.add(
                "crown",
                solid,
                look,
                crown,
                "round",
                role="foliage",
                repeat=Repeat(count=3, turn=2.1, pivot=(0.3 * sway, 0)),
            )
        return
    tip, foot = np.array([0.3 * sway, top + tall, 0]), np.array([0.65 * sway, top + 0.72 * tall, 0.1 * sway])
    for _ in range(2):
        add_spiral(
            m, d, trunk, look, d.pick(["oval", "spear"]), foot, tip, radius * d.between(1.2, 2.2), d.count(6, 10)
        )


def _palm(m: Maker, d: Dice, soil: int, top: float, radius: float) -> None:
    """One to three bare trunks, each with a tuft of blades."""
    bark, look = stem_look(d, wood=True), leaf_look(d)
    for k in range(d.count(1, 3)):
        a, tall = 2.2 * k + d.between(0, 1), radius * d.between(1.6, 5.5)
        foot = np.array([0.35 * radius * np.sin(a) * (k > 0), top - 0.012, 0.35 * radius * np.cos(a) * (k > 0)])
        tip = foot + [0.12 * tall * np.sin(a), tall, 0.12 * tall * np.cos(a)]
        thick = radius * d.between(0.06, 0.1)
        trunk = m.add("trunk", tube([foot, (foot + tip) / 2, tip], (1.2 * thick, thick, thick)), bark, soil, "tall")
        long = radius * d.between(1.8, 3.4)
        for rise in (75, 40, 10):
            turn = outward(d.between(0, 360), rise + d.between(-8, 8))
            at = tip - [0, 0.01 + 0.2 * thick, 0]
            solid = leaf(d, "blade", long, long * d.between(0.06, 0.11), at, turn, -d.between(0.2, 0.9))
            count, shrink = d.count(6, 10), d.between(0.94, 1.0)
            m.add(
                "leaf",
                solid,
                look,
                trunk,
                "long",
                "pointed",
                meets=at,
                repeat=Repeat(count=count, turn=2 * np.pi / count, scale=shrink, pivot=(float(tip[0]), float(tip[2]))),
            )


def _succulent(m: Maker, d: Dice, soil: int, top: float, radius: float) -> None:
    """Fat leaves in rings."""
    look = draw_look(d, "mint, green, lime green, olive, dark green, plum, teal", "leaf", feels="stiff, heavy")
    r = radius * d.between(0.5, 0.85)
    core = m.add(
        "stem", block((0.5 * r, 0.5 * r, 0.5 * r), (0, top + 0.12 * r, 0), corner=1.0, edge=1.0), look, soil, "short"
    )
    for k in range(3):
        long, rise = r * (1.15 - 0.22 * k), 12 + 28 * k
        turn = outward(d.between(0, 360), rise)
        at = np.array([0, top + 0.1 * r + 0.05 * k * r, 0]) + 0.12 * r * turn[:, 1]
        solid = block(
            (0.42 * long, long, 0.16 * long),
            at + 0.45 * long * turn[:, 1],
            turn,
            corner=0.9,
            edge=0.9,
            widths=(0.6, 0.8, 1.0, 0.95, 0.45),
            depths=(1, 1, 1, 0.8, 0.5),
            bow=(0.0, 0.04 * long),
        )
        count = 9 - 2 * k
        m.add("leaf", solid, look, core, "fat", "short", meets=at, repeat=Repeat(count=count, turn=2 * np.pi / count))
    if d.chance(0.25):
        add_stalks(m, d, soil, top, 2.2 * radius, 1, 0.0)


def _cactus(m: Maker, d: Dice, soil: int, top: float, radius: float) -> None:
    look = draw_look(d, "green, dark green, olive, teal", "leaf", feels="stiff, heavy")
    tall, r = radius * d.between(1.0, 4.0), radius * d.between(0.3, 0.6)
    knots = [
        (0.7 * r, top - 0.012, 1),
        (r, top + 0.2 * tall, 0),
        (r, top + 0.75 * tall, 0),
        (0.7 * r, top + 0.94 * tall, 0),
        (0.15 * r, top + tall, 0),
    ]
    trunk = m.add("trunk", lathe(knots), look, soil, "ribbed", "fat", relief="fluted")
    if tall > 2.0 * radius:
        for side in [1, -1][: d.count(0, 2)]:
            y, out = top + tall * d.between(0.35, 0.55), 1.9 * r
            points = [
                (side * 0.5 * r, y, 0),
                (side * out, y, 0),
                (side * out, y + 0.5 * r, 0),
                (side * out, y + tall * d.between(0.2, 0.35), 0),
            ]
            m.add("branch", tube(points, 0.5 * r, bend=0.4 * r), look, trunk, "bent", role="foliage")
    if d.chance(0.4):
        bloom = draw_look(d, PETALS, "petal")
        solid = block(
            (0.7 * r, 0.5 * r, 0.7 * r),
            (0, top + tall, 0),
            corner=0.9,
            edge=(0.9, 0.3),
            widths=(0.4, 0.7, 0.9, 1, 1),
            depths=(0.4, 0.7, 0.9, 1, 1),
        )
        m.add("flower", solid, bloom, trunk, "round")


def _bush(m: Maker, d: Dice, soil: int, top: float, radius: float) -> None:
    """Many short stems with small leaves, perhaps in flower."""
    green, look = stem_look(d), leaf_look(d)
    blooms = draw_look(d, PETALS, "petal") if d.chance(0.5) else None
    for k in range(d.count(4, 6)):
        a, tall = GOLDEN * k, radius * d.between(1.1, 2.6)
        foot = np.array([0.45 * radius * np.sin(a), top - 0.012, 0.45 * radius * np.cos(a)])
        tip = foot + [0.4 * tall * np.sin(a), tall, 0.4 * tall * np.cos(a)]
        solid = tube([foot, (foot + tip) / 2 + [0, 0.08 * tall, 0], tip], 0.02 * radius + 0.002)
        stem = m.add("stem", solid, green, soil, "thin")
        add_spiral(m, d, stem, look, "oval", foot, tip, radius * d.between(0.7, 1.2), 7)
        if blooms is not None and d.chance(0.7):
            add_bloom(m, d, stem, blooms, tip, 0.22 * radius + 0.008)


def _orchid(m: Maker, d: Dice, soil: int, top: float, radius: float) -> None:
    """Broad leaves at the ground and arching stalks with flowers."""
    look = leaf_look(d)
    count = d.count(3, 5)
    turn = outward(d.between(0, 360), d.between(15, 40))
    at = np.array([0, top - 0.006, 0])
    solid = leaf(d, "oval", 1.9 * radius, 0.6 * radius, at, turn, -0.7)
    m.add("leaf", solid, look, soil, "wide", "rounded", meets=at, repeat=Repeat(count=count, turn=2 * np.pi / count))
    add_stalks(m, d, soil, top, radius * d.between(3.0, 4.5), d.count(1, 3), 0.2 * radius)


def _trailing(m: Maker, d: Dice, soil: int, top: float, radius: float) -> None:
    """Shoots that hang over the rim."""
    green, look = stem_look(d), leaf_look(d)
    for k in range(d.count(4, 6)):
        a, drop = GOLDEN * k + d.between(-0.3, 0.3), d.between(0.3, 0.95) * top
        out = np.array([np.sin(a), 0, np.cos(a)])
        points = np.array(
            [
                0.3 * radius * out + [0, top - 0.01, 0],
                0.9 * radius * out + [0, top + 0.5 * radius, 0],
                1.5 * radius * out + [0, top + 0.2 * radius, 0],
                1.75 * radius * out + [0, top - drop, 0],
            ]
        )
        stem = m.add("stem", tube(points, 0.018 * radius + 0.002), green, soil, "long", "curved")
        add_spiral(m, d, stem, look, d.pick(["heart", "oval"]), points[0], points[1], radius * d.between(0.45, 0.7), 4)
        add_spiral(m, d, stem, look, d.pick(["heart", "oval"]), points[2], points[3], radius * d.between(0.4, 0.6), 4)


_KINDS = {
    "rosette": _rosette,
    "stems": _stems,
    "tree": _tree,
    "palm": _palm,
    "succulent": _succulent,
    "cactus": _cactus,
    "bush": _bush,
    "orchid": _orchid,
    "trailing": _trailing,
}
