"""Bags: totes, handbags, backpacks, duffels and briefcases."""

from __future__ import annotations

import numpy as np

from neurok.catalogue import materials
from neurok.catalogue.appearance import draw_appearance
from neurok.catalogue.assemble import PAIR, ROOT, Maker
from neurok.catalogue.parts import Appearance, Assembly, Repeat
from neurok.catalogue.solids import arch, block, lathe, plate, symmetric, tube, turned
from neurok.modelling.forms import Hollow
from neurok.modelling.sampler import Sampler


def _cloth(d: Sampler, leather: float = 0.45) -> Appearance:
    """Leather, or a strong cloth."""
    if d.chance(leather):
        colours = "brown, tan, black, dark brown, burgundy, red, cream, navy, pink, grey, green"
        return draw_appearance(d, colours, "leather*2, artificial leather, suede", feels="none, soft, stiff")
    return draw_appearance(
        d,
        materials.cloth_colours(d),
        "canvas*2, cotton, denim, nylon, polyester, burlap",
        feels="none, soft, light",
        patterns="plain*8, stripes, checks, plaid, dots, floral, weave",
        tile=d.between(0.08, 0.18),
    )


def _fitting(d: Sampler) -> Appearance:
    """The metal of clasps and zips."""
    return draw_appearance(d, "gold*2, silver*2, charcoal", "brass, steel, zinc")


def _half_depth(m: Maker, body: int, y: float, x: float) -> float:
    """How far a body reaches towards +z near a height and a place across [m]: where to sew something on."""
    v = m.parts[body].copies[0].vertices
    near = v[np.abs(v[:, 1] - y) < 0.25 * np.ptp(v[:, 1])]
    near = near[np.argsort(np.abs(np.abs(near[:, 0]) - abs(x)))[: max(12, len(near) // 12)]]
    return float(near[:, 2].max())


def _low_front(m: Maker, flap: int) -> np.ndarray:
    """Where a clasp sits on a flap: in the middle, a little above its lower edge."""
    v = m.parts[flap].copies[0].vertices
    low = v[v[:, 1] < v[:, 1].min() + 0.35 * np.ptp(v[:, 1])]
    return np.array([0.0, v[:, 1].min() + 0.022, low[:, 2].max() - 0.001])


def _pocket(
    m: Maker,
    finish: Appearance,
    body: int,
    size: tuple[float, ...],
    at: tuple[float, ...],
    *style: str,
    corner: float,
    edge: float,
    repeat: Repeat | None = None,
) -> int:
    return m.add("pocket", block(size, at, corner=corner, edge=edge), finish, body, *style, repeat=repeat or Repeat())


def _zip(m: Maker, d: Sampler, parent: int, long: float, thick: tuple[float, float], at: tuple[float, ...]) -> None:
    solid = block((long, *thick), at, corner=0.2, edge=0.5)
    m.add("zip", solid, _fitting(d), parent, "long")


def tote(d: Sampler) -> Assembly:
    """Open above, with two handles: shoppers, beach bags, baskets."""
    m = Maker("bag", "tote")
    woven = d.chance(0.2)
    straw = "beige, tan, light brown, cream"
    finish = draw_appearance(d, straw, "straw, rattan", patterns="weave", tile=0.06) if woven else _cloth(d, 0.35)
    w, h, t = d.between(0.26, 0.44), d.between(0.24, 0.38), d.between(0.08, 0.17)
    grow, corner = np.linspace(d.between(0.72, 1.0), 1.0, 5), d.between(0.15, 0.6)
    narrow = np.linspace(1.0, d.between(0.5, 1.0), 5)
    solid = block((w, h, t), (0, h / 2, 0), corner=corner, edge=(0.3, 0.0), widths=grow, depths=narrow)
    words = "woven" if woven else "", "wide" if w > 1.2 * h else "tall"
    body = m.add("body", solid, finish, ROOT, *words, hollow=Hollow(0.01 if woven else 0.006))
    trim = finish if d.chance(0.5) else _cloth(d, 0.7)
    a, drop = d.between(0.18, 0.3) * w, d.between(0.1, 0.24)
    z = _half_depth(m, body, h - 0.02, a) - 0.002
    points = arch([(a, h - 0.05, z), (0.95 * a, h + 0.5 * drop, z), (0.5 * a, h + drop, z)])
    points[0] = (-a, h - d.between(0.03, 0.08), z)
    radius, flat = (0.012, 0.45) if d.chance(0.5) else (d.between(0.005, 0.009), 1.0)
    solid = tube(points, radius, flat=flat, bend=1.0)
    m.add("handle", solid, trim, body, "long" if drop > 0.18 else "short", "curved", repeat=Repeat("z"))
    if d.chance(0.3):
        _pocket(m, trim, body, (0.5 * w, 0.4 * h, 0.02), (0, 0.42 * h, z + 0.001), "square", corner=0.12, edge=0.4)
    return m.done()


def handbag(d: Sampler) -> Assembly:
    """A closed body with a flap or a zip, a clasp and a handle or strap."""
    m = Maker("bag", "handbag")
    finish = _cloth(d, 0.8)
    w, h, t = d.between(0.2, 0.36), d.between(0.14, 0.25), d.between(0.06, 0.13)
    shape = d.pick(["trapezoid", "box", "round"], [3, 2, 1.2])
    is_tapered = shape == "trapezoid"
    if shape == "round":
        right = [(0.3, -0.45), (0.5, 0.1), (0.42, 0.5), (0.15, 0.56)]
        corners = np.roll(symmetric(right), 1, axis=0) * [w, h]
        solid = plate(corners, 0.7 * t, (0, 0.5 * h, 0), rounding=0.6, bevel=0.7, puff=0.25)
        body = m.add("body", solid, finish, ROOT, "round")
    else:
        grow = np.linspace(1.0, d.between(0.65, 0.9) if is_tapered else 1.0, 5)
        corner, narrow = d.between(0.12, 0.3), np.linspace(1.0, d.between(0.35, 0.9), 5)
        at, welt = (0, h / 2, 0), d.pick([0.0, 0.002])
        solid = block((w, h, t), at, corner=corner, edge=(0.3, 0.5), widths=grow, depths=narrow, welt=welt)
        body = m.add("body", solid, finish, ROOT, "tapered" if is_tapered else "boxy")
    top = float(m.parts[body].copies[0].bounds[1, 1])
    trim = finish if d.chance(0.6) else _cloth(d, 1.0)
    z = _half_depth(m, body, 0.9 * h, 0.0) - 0.003
    if d.chance(0.6):
        _add_flap(m, d, trim, body, (0.9 * w * (0.8 if is_tapered else 0.95), h, top, z))
    else:
        _zip(m, d, body, 0.6 * w, (0.01, 0.012), (0, top - 0.001, 0))
    finish = draw_appearance(d, "gold, silver", "brass, steel") if d.chance(0.25) else trim
    a = (0.28 if is_tapered else 0.36) * w
    drop = d.pick([d.between(0.05, 0.12), d.between(0.18, 0.3)])
    points = arch([(a, top - 0.012, 0), (a, top + 0.55 * drop, 0), (0.5 * a, top + drop, 0)])
    solid = tube(points, d.between(0.005, 0.009), flat=d.pick([1.0, 0.5]), bend=1.0)
    name, word = ("handle", "short") if drop < 0.13 else ("strap", "long")
    strap = m.add(name, solid, finish, body, word, "curved")
    solid = block((0.018, 0.018, 0.018), (a, top, 0), corner=1.0, edge=0.6)
    m.add("buckle", solid, _fitting(d), strap, "round", repeat=PAIR)
    return m.done()


def _add_flap(m: Maker, d: Sampler, finish: Appearance, body: int, size: tuple[float, float, float, float]) -> None:
    """A flap over the front, with a clasp."""
    w, h, top, z = size
    long, half, rounding = d.between(0.4, 0.65) * h, w / 2, d.between(0.15, 0.9)
    corners = arch([(half, 0), (half, -0.7 * long), (0.5 * half, -long)])
    at, turn = (0, top - 0.004, z + 0.001), turned(x=d.between(0, 5))
    solid = plate(corners, 0.01, at, turn, rounding=rounding, bevel=0.5)
    flap = m.add("flap", solid, finish, body, "rounded" if rounding > 0.5 else "square")
    solid = block((0.03, 0.022, 0.012), _low_front(m, flap), corner=d.pick([0.15, 1.0]), edge=0.4)
    m.add("clasp", solid, _fitting(d), flap, "square")


def backpack(d: Sampler) -> Assembly:
    m = Maker("bag", "backpack")
    finish = _cloth(d, 0.2)
    w, h, t = d.between(0.26, 0.34), d.between(0.36, 0.5), d.between(0.14, 0.2)
    grow = np.array([0.95, 1.0, 1.0, 0.95, d.between(0.7, 0.9)])
    corner, edge = d.between(0.3, 0.55), (0.35, d.between(0.6, 1.0))
    depths = (1.0, 1.0, 0.95, 0.85, 0.7)
    solid = block((w, h, t), (0, h / 2, 0), corner=corner, edge=edge, widths=grow, depths=depths)
    body = m.add("body", solid, finish, ROOT, "rounded")
    trim = finish if d.chance(0.4) else _cloth(d, 0.4)
    z = _half_depth(m, body, 0.3 * h, 0.0)
    if d.chance(0.85):
        size, at = (0.76 * w, 0.42 * h, 0.08), (0, 0.26 * h, z + 0.005)
        pocket = _pocket(m, trim, body, size, at, "rounded", corner=0.35, edge=0.7)
        _zip(m, d, pocket, 0.6 * w, (0.008, 0.01), (0, 0.4 * h, z + 0.043))
    if d.chance(0.5):
        corners = arch([(0.45 * w, 0), (0.46 * w, -0.28 * h), (0.3 * w, -0.36 * h)])
        at = (0, 0.97 * h, _half_depth(m, body, 0.9 * h, 0.0) - 0.002 - 0.004)
        solid = plate(corners, 0.014, at, turned(x=-8), rounding=0.6, bevel=0.6)
        flap = m.add("flap", solid, trim, body, "rounded")
        solid = block((0.03, 0.03, 0.014), _low_front(m, flap), corner=0.2, edge=0.4)
        m.add("buckle", solid, _fitting(d), flap, "square")
    rows = [(0.2, 0.93, 0.03), (0.27, 0.9, -0.05), (0.32, 0.55, -0.085), (0.34, 0.25, -0.04), (0.36, 0.1, 0.03)]
    points = [(x * w, y * h, -0.5 * t + out) for x, y, out in rows]
    m.add("strap", tube(points, 0.02, flat=0.35, bend=1.0), trim, body, "wide", "curved", repeat=PAIR)
    loop = arch([(0.05, h - 0.02, -0.2 * t), (0.04, h + 0.035, -0.2 * t)])
    m.add("handle", tube(loop, 0.007, bend=1.0), trim, body, "short", "curved")
    if d.chance(0.35):
        narrow, side = (0.05, 0.3 * h, 0.6 * t), (0.5 * w, 0.24 * h, 0)
        _pocket(m, trim, body, narrow, side, "narrow", corner=0.4, edge=0.6, repeat=PAIR)
    return m.done()


def duffel(d: Sampler) -> Assembly:
    """A roll lying on its side, with handles and a zip."""
    m = Maker("bag", "duffel")
    finish, trim = _cloth(d, 0.25), _cloth(d, 0.6)
    long, r = d.between(0.42, 0.6), d.between(0.12, 0.16)
    knots = [(0.85 * r, 0, 0.6), (r, 0.03, 0), (r, long / 2, 0), (r, long - 0.03, 0), (0.85 * r, long, 0.6)]
    body = m.add("body", lathe(knots, (-long / 2, r, 0), turned(z=-90)), finish, ROOT, "round", "long")
    _zip(m, d, body, 0.8 * long, (0.008, 0.012), (0, 2 * r - 0.001, 0))
    a, drop = 0.17 * long, d.between(0.1, 0.16)
    points = arch([(a, r, 0.99 * r), (a, 1.6 * r, 0.78 * r), (0.8 * a, 2 * r + drop, 0.25 * r)])
    m.add("handle", tube(points, 0.011, flat=0.6, bend=1.0), trim, body, "curved", repeat=Repeat("z"))
    band = lathe([(1.015 * r, -0.018, 1), (1.015 * r, 0.018, 1)], (0.28 * long, r, 0), turned(z=-90))
    m.add("strap", band, trim, body, "flat", role="trim", hollow=Hollow(0.012, "through"), repeat=PAIR)
    if d.chance(0.4):
        size, at = (0.3 * long, 0.9 * r, 0.05), (0, 0.8 * r, 0.93 * r)
        _pocket(m, trim, body, size, at, "square", corner=0.2, edge=0.6)
    return m.done()


def briefcase(d: Sampler) -> Assembly:
    """Briefcases, satchels and small suitcases."""
    m = Maker("bag", "briefcase")
    finish = _cloth(d, 0.85)
    w, h, t = d.between(0.36, 0.46), d.between(0.26, 0.34), d.between(0.07, 0.14)
    solid = block((w, h, t), (0, h / 2, 0), corner=0.1, edge=d.between(0.1, 0.4), welt=d.pick([0.0, 0.003]))
    body = m.add("body", solid, finish, ROOT, "boxy")
    trim = finish if d.chance(0.7) else _cloth(d, 1.0)
    if d.chance(0.6):
        _add_flap(m, d, trim, body, (0.98 * w, h, h, t / 2))
    else:
        solid = block((0.035, 0.03, 0.014), (0.3 * w, 0.85 * h, t / 2 + 0.002), corner=0.2, edge=0.4)
        m.add("clasp", solid, _fitting(d), body, "square", repeat=PAIR)
        solid = block((1.004 * w, 0.012, 1.02 * t), (0, 0.78 * h, 0), corner=0.1, edge=0.4)
        m.add("rim", solid, _fitting(d), body, "thin")
    a = d.between(0.07, 0.09)
    points = arch([(a, h - 0.01, 0), (a, h + 0.03, 0), (0.7 * a, h + 0.045, 0)])
    handle = m.add("handle", tube(points, 0.008, bend=0.015), trim, body, "short")
    solid = block((0.026, 0.012, 0.022), (a, h + 0.002, 0), corner=0.3, edge=0.5)
    m.add("buckle", solid, _fitting(d), handle, "square", repeat=PAIR)
    return m.done()
