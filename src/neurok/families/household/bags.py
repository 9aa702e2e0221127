"""Bags: totes, handbags, backpacks, duffels and briefcases."""

from __future__ import annotations

import numpy as np

from neurok.families.household import stuffs
from neurok.families.household.assemble import PAIR, ROOT, Maker
from neurok.families.household.looks import draw_look
from neurok.families.household.parts import Assembly, Look, Repeat
from neurok.families.household.solids import block, plate, tube, turned
from neurok.modelling.dice import Dice
from neurok.modelling.forms import Hollow


def bag_cloth(d: Dice, leather: float = 0.45) -> Look:
    """Leather, or a strong cloth."""
    if d.chance(leather):
        return draw_look(
            d,
            "brown, tan, black, dark brown, burgundy, red, cream, navy, pink, grey, green",
            "leather*2, artificial leather, suede",
            feels="none, soft, stiff",
        )
    return draw_look(
        d,
        stuffs.cloth_colours(d),
        "canvas*2, cotton, denim, nylon, polyester, burlap",
        feels="none, soft, light",
        patterns="plain*8, stripes, checks, plaid, dots, floral, weave",
        tile=d.between(0.08, 0.18),
    )


def fitting(d: Dice) -> Look:
    """The metal of clasps and zips."""
    return draw_look(d, "gold*2, silver*2, charcoal", "brass, steel, zinc")


def tote(d: Dice) -> Assembly:
    """Open above, with two handles: shoppers, beach bags, baskets."""
    m = Maker("bag", "tote")
    woven = d.chance(0.2)
    look = (
        draw_look(d, "beige, tan, light brown, cream", "straw, rattan", patterns="weave", tile=0.06)
        if woven
        else bag_cloth(d, 0.35)
    )
    w, h, t = d.between(0.26, 0.44), d.between(0.24, 0.38), d.between(0.08, 0.17)
    grow = np.linspace(d.between(0.72, 1.0), 1.0, 5)
    solid = block(
        (w, h, t),
        (0, h / 2, 0),
        corner=d.between(0.15, 0.6),
        edge=(0.3, 0.0),
        widths=grow,
        depths=np.linspace(1.0, d.between(0.5, 1.0), 5),
    )
    body = m.add(
        "body",
        solid,
        look,
        ROOT,
        "woven" if woven else "",
        "wide" if w > 1.2 * h else "tall",
        hollow=Hollow(0.006 if not woven else 0.01),
    )
    trim = look if d.chance(0.5) else bag_cloth(d, 0.7)
    a, drop = d.between(0.18, 0.3) * w, d.between(0.1, 0.24)
    z = half_depth(m, body, h - 0.02, a) - 0.002
    points = [
        (-a, h - d.between(0.03, 0.08), z),
        (-0.95 * a, h + 0.5 * drop, z),
        (-0.5 * a, h + drop, z),
        (0.5 * a, h + drop, z),
        (0.95 * a, h + 0.5 * drop, z),
        (a, h - 0.05, z),
    ]
    is_flat = d.chance(0.5)
    solid = tube(points, 0.012 if is_flat else d.between(0.005, 0.009), flat=1.0 if not is_flat else 0.45, bend=1.0)
    m.add("handle", solid, trim, body, "long" if drop > 0.18 else "short", "curved", repeat=Repeat("z"))
    if d.chance(0.3):
        front = z + 0.001
        m.add(
            "pocket", block((0.5 * w, 0.4 * h, 0.02), (0, 0.42 * h, front), corner=0.12, edge=0.4), trim, body, "square"
        )
    return m.done()


def half_depth(m: Maker, body: int, y: float, x: float) -> float:
    """How far a body reaches towards +z near a height and a place across [m]: where to sew something on."""
    v = m.parts[body].copies[0].vertices
    near = v[np.abs(v[:, 1] - y) < 0.25 * np.ptp(v[:, 1])]
    near = near[np.argsort(np.abs(np.abs(near[:, 0]) - abs(x)))[: max(12, len(near) // 12)]]
    return float(near[:, 2].max())


def low_front(m: Maker, flap: int) -> np.ndarray:
    """Where a clasp sits on a flap: in the middle, a little above its lower edge."""
    v = m.parts[flap].copies[0].vertices
    low = v[v[:, 1] < v[:, 1].min() + 0.35 * np.ptp(v[:, 1])]
    return np.array([0.0, v[:, 1].min() + 0.022, low[:, 2].max() - 0.001])


def handbag(d: Dice) -> Assembly:
    """A closed body with a flap or a zip, a clasp and a handle or strap."""
    m = Maker("bag", "handbag")
    look = bag_cloth(d, 0.8)
    w, h, t = d.between(0.2, 0.36), d.between(0.14, 0.25), d.between(0.06, 0.13)
    shape = d.pick(["trapezoid", "box", "round"], [3, 2, 1.2])
    if shape == "round":
        corners = np.array(
            [
                [-0.5, 0.1],
                [-0.3, -0.45],
                [0.3, -0.45],
                [0.5, 0.1],
                [0.42, 0.5],
                [0.15, 0.56],
                [-0.15, 0.56],
                [-0.42, 0.5],
            ]
        ) * [w, h]
        body = m.add(
            "body", plate(corners, 0.7 * t, (0, 0.5 * h, 0), rounding=0.6, bevel=0.7, puff=0.25), look, ROOT, "round"
        )
    else:
        grow = np.linspace(1.0, d.between(0.65, 0.9) if shape == "trapezoid" else 1.0, 5)
        solid = block(
            (w, h, t),
            (0, h / 2, 0),
            corner=d.between(0.12, 0.3),
            edge=(0.3, 0.5),
            widths=grow,
            depths=np.linspace(1.0, d.between(0.35, 0.9), 5),
            welt=d.pick([0.0, 0.002]),
        )
        body = m.add("body", solid, look, ROOT, "tapered" if shape == "trapezoid" else "boxy")
    top = float(m.parts[body].copies[0].bounds[1, 1])
    trim = look if d.chance(0.6) else bag_cloth(d, 1.0)
    z = half_depth(m, body, 0.9 * h, 0.0) - 0.003
    if d.chance(0.6):
        add_flap(m, d, trim, body, (0.9 * w * (0.8 if shape == "trapezoid" else 0.95), h, top, z))
    else:
        m.add("zip", block((0.6 * w, 0.01, 0.012), (0, top - 0.001, 0), corner=0.2, edge=0.5), fitting(d), body, "long")
    _hand_strap(m, d, trim, body, (w, top), shape)
    return m.done()


def add_flap(m: Maker, d: Dice, look: Look, body: int, size: tuple[float, float, float, float]) -> None:
    """A flap over the front, with a clasp."""
    w, h, top, z = size
    long, half = d.between(0.4, 0.65) * h, w / 2
    round_ = d.between(0.15, 0.9)
    corners = np.array(
        [[-half, 0], [-half, -0.7 * long], [-0.5 * half, -long], [0.5 * half, -long], [half, -0.7 * long], [half, 0]]
    )
    solid = plate(corners, 0.01, (0, top - 0.004, z + 0.001), turned(x=d.between(0, 5)), rounding=round_, bevel=0.5)
    flap = m.add("flap", solid, look, body, "rounded" if round_ > 0.5 else "square")
    solid = block((0.03, 0.022, 0.012), low_front(m, flap), corner=d.pick([0.15, 1.0]), edge=0.4)
    m.add("clasp", solid, fitting(d), flap, "square")


def _hand_strap(m: Maker, d: Dice, look: Look, body: int, size: tuple[float, float], shape: str) -> None:
    w, top = size
    if d.chance(0.25):
        look = draw_look(d, "gold, silver", "brass, steel")
    a = (0.28 if shape == "trapezoid" else 0.36) * w
    drop = d.pick([d.between(0.05, 0.12), d.between(0.18, 0.3)])
    points = [
        (-a, top - 0.012, 0),
        (-1.0 * a, top + 0.55 * drop, 0),
        (-0.5 * a, top + drop, 0),
        (0.5 * a, top + drop, 0),
        (a, top + 0.55 * drop, 0),
        (a, top - 0.012, 0),
    ]
    solid = tube(points, d.between(0.005, 0.009), flat=d.pick([1.0, 0.5]), bend=1.0)
    m.add("handle" if drop < 0.13 else "strap", solid, look, body, "short" if drop < 0.13 else "long", "curved")
    solid = block((0.018, 0.018, 0.018), (a, top, 0), corner=1.0, edge=0.6)
    m.add("buckle", solid, fitting(d), len(m.parts) - 1, "round", repeat=PAIR)
