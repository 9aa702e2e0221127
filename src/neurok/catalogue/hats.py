"""What is worn on the head: hats, caps and beanies as hollow shells; headbands as arches and rings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from neurok.catalogue import materials
from neurok.catalogue.appearance import draw_appearance
from neurok.catalogue.assemble import PAIR, ROOT, Maker, around
from neurok.catalogue.parts import Appearance, Assembly, Repeat
from neurok.catalogue.solids import arch, block, ellipsoid, lathe, plate, profile, sheet, symmetric, tube, turned
from neurok.modelling.forms import Hollow, Relief
from neurok.modelling.sampler import Sampler

Knots = Sequence[Sequence[float]]
OVAL = 1.16
"""A head is longer than wide."""

BOW = np.array([[-0.05, -0.2], [0.7, -0.6], [1.0, -0.55], [1.05, 0.0], [1.0, 0.55], [0.7, 0.6], [-0.05, 0.2]])
"""Outline of the right loop of a bow of size 1."""


def _cloth(d: Sampler, straw: float = 0.3) -> Appearance:
    if d.chance(straw):
        colours = "beige, tan, cream, light brown, white, black"
        return draw_appearance(d, colours, "straw", patterns="weave*2, plain", tile=0.05)
    cloths, prints = "felt*2, cotton, wool, canvas, leather, denim", "plain*9, weave, plaid, stripes"
    return draw_appearance(d, materials.cloth_colours(d), cloths, feels="none, soft, stiff", patterns=prints, tile=0.08)


def _trim(d: Sampler) -> Appearance:
    """Ribbons and bands."""
    colours = [*materials.BRIGHT, "black", "black", "white", "dark brown", "brown", "cream"]
    return draw_appearance(d, colours, "silk, cotton, leather, velvet")


def _band(
    m: Maker, finish: Appearance, parent: int, knots: Knots, wall: float, *style: str, stretch: float = 1.0
) -> int:
    solid = lathe(knots, stretch=stretch)
    return m.add("band", solid, finish, parent, *style, hollow=Hollow(wall, "through"))


BRIMMED = {
    "fedora": ((0.1, 0.13), (0.045, 0.07), 0.72, 0.4, 0.012, 3),
    "sun": ((0.085, 0.12), (0.08, 0.16), 0.8, 0.3, 0.0, 2.5),
    "bowler": ((0.1, 0.12), (0.03, 0.045), 0.6, 0.1, 0.0, 1.5),
    "top": ((0.14, 0.2), (0.035, 0.055), 1.0, 1.0, 0.0, 1.2),
    "bucket": ((0.085, 0.11), (0.04, 0.06), 0.85, 0.8, 0.0, 1.5),
    "cowboy": ((0.11, 0.14), (0.07, 0.1), 0.7, 0.4, 0.012, 1.2),
}
"""Ranges of height and brim [m]; share of the radius left above, sharpness of its edge, dent [m]; how often."""


def brimmed_hat(d: Sampler) -> Assembly:
    """A crown and a brim in one shell: sun hats, fedoras, bowlers, top hats, bucket hats."""
    kind = d.pick(list(BRIMMED), [row[-1] for row in BRIMMED.values()])
    m = Maker("hat", kind)
    finish = _cloth(d, 0.6 if kind == "sun" else 0.2)
    r, wall = d.between(0.085, 0.1), d.between(0.003, 0.006)
    # Every kind draws its numbers, so that those that follow do not depend on the kind.
    talls = {name: d.between(*row[0]) for name, row in BRIMMED.items()}
    brims = {name: d.between(*row[1]) for name, row in BRIMMED.items()}
    droops = {"bucket": d.between(0.03, 0.05), "sun": d.between(-0.01, 0.04), "cowboy": -0.01}
    droop, straight = droops.get(kind, d.between(-0.012, 0.01)), d.between(0.95, 1.1)
    tall, brim, (_, _, top, dome, dent, _) = talls[kind], brims[kind], BRIMMED[kind]
    top = straight if kind == "top" else top
    edge = [(r + brim, -droop, 1), (r + 0.5 * brim, -0.3 * droop + 0.004, 0), (r + 0.006, 0.008, 0.6), (r, 0.022, 0.6)]
    end = [(0.4 * top * r, tall - dent + 0.003, 0), (0.003, tall - dent, 0)]
    solid = lathe([*edge, (0.97 * r, 0.6 * tall, 0), (top * r, tall, dome), *end], stretch=OVAL)
    words = "round", "wide" if brim > 0.07 else "narrow", "tall" if tall > 0.13 else ""
    hat = m.add("crown", solid, finish, ROOT, *words, hollow=Hollow(wall, "bottom"))
    if kind != "bucket" and d.chance(0.8):
        high = d.between(0.015, 0.04)
        knots = [(1.02 * r, 0.022, 1), (1.02 * r, 0.022 + high, 1)]
        ribbon = _band(m, _trim(d), hat, knots, 0.006, "wide" if high > 0.03 else "narrow", stretch=OVAL)
        if d.chance(0.3):
            s, (x, y, z) = 0.03, (1.0 * r, 0.022 + high / 2, 0.0)
            ribbon_look = m.parts[ribbon].appearance
            solid = block((0.45 * s, 0.6 * s, 0.6 * s), (x, y, z), corner=0.8, edge=0.9)
            knot = m.add("knot", solid, ribbon_look, ribbon)
            solid = plate(BOW * s, 0.3 * s, (x + 0.04 * s, y, z), turned(y=-90), rounding=0.6, bevel=0.8, puff=0.25)
            m.add("bow", solid, ribbon_look, knot, "winged", repeat=Repeat("z", pivot=(x, z)))
        elif d.chance(0.15):
            widths = 0.012 * np.sin(np.pi * np.clip(np.linspace(0, 1, 9), 0.1, 0.95))
            at = (0.99 * r, 0.02 + high / 2, 0.01)
            feather = sheet(widths, 0.11, 0.002, at, turned(x=-25, z=-8), bends=0.06)
            m.add("leaf", feather, draw_appearance(d, materials.BRIGHT, "horn"), ribbon, "long", "pointed", role="trim")
    return m.done()


def cap(d: Sampler) -> Assembly:
    """A dome with a peak in front."""
    m = Maker("hat", "cap")
    finish = _cloth(d, 0.03)
    r, tall = d.between(0.088, 0.098), d.between(0.095, 0.125)
    is_flat = d.chance(0.2)
    domed = [(0.97 * r, 0.5 * tall, 0), (0.78 * r, 0.8 * tall, 0), (0.45 * r, 0.95 * tall, 0)]
    knots = [(r, 0, 1), (1.01 * r, 0.03, 0), *domed, (0.003, tall, 0)]
    if is_flat:
        wide = [(1.3 * r, 0.05, 0), (1.15 * r, 0.075, 0), (0.5 * r, 0.085, 0)]
        tall, knots = 0.088, [(r, 0, 1), (r, 0.02, 0), *wide, (0.003, 0.088, 0)]
    solid = lathe(knots, stretch=OVAL)
    dome = m.add("crown", solid, finish, ROOT, "round", "flat" if is_flat else "", hollow=Hollow(0.004, "bottom"))
    peak = finish if d.chance(0.6) else _cloth(d, 0.0)
    long = d.between(0.05, 0.08)
    corners = symmetric([(0.85 * r, 0.0), (0.8 * r, 0.7 * long), (0.4 * r, long)]) - [0, 0.5 * long]
    at, turn = (0, 0.012, OVAL * 0.82 * r + 0.5 * long), turned(x=90 + d.between(4, 14))
    solid = plate(corners, 0.005, at, turn, rounding=0.7, bevel=0.4, bow=d.between(0.004, 0.016))
    m.add("peak", solid, peak, dome, "curved")
    if d.chance(0.8):
        solid = block((0.016, 0.01, 0.016), (0, tall, 0), corner=1.0, edge=0.8)
        m.add("button", solid, peak, dome, "round")
    if d.chance(0.3):
        _band(m, _trim(d), dome, [(1.015 * r, 0.002, 1), (1.02 * r, 0.022, 1)], 0.006, "narrow", stretch=OVAL)
    return m.done()


def beanie(d: Sampler) -> Assembly:
    """A knitted dome with a turned-up edge, perhaps a pompom; or a beret."""
    m = Maker("hat", "beanie")
    colours, prints = materials.BRIGHT + materials.NEUTRAL, "plain*3, bands, stripes"
    finish = draw_appearance(d, colours, "knit, wool, knit", feels="none, soft*2", patterns=prints, tile=0.1)
    r, tall = d.between(0.085, 0.095), d.between(0.14, 0.2)
    shares = [(1, 0, 1), (1.03, 0.3, 0), (0.95, 0.6, 0), (0.7, 0.85, 0), (0.35, 0.97, 0)]
    solid = lathe([*profile(r, tall, shares), (0.003, tall, 0)], stretch=1.08)
    relief: Relief = d.pick(["smooth", "fluted"])
    word = "tall" if tall > 0.17 else ""
    dome = m.add("crown", solid, finish, ROOT, "round", word, hollow=Hollow(0.006, "bottom"), relief=relief)
    if d.chance(0.7):
        edge = finish if d.chance(0.6) else draw_appearance(d, colours, "knit, wool")
        high = d.between(0.035, 0.06)
        knots = profile(r, high, [(1.05, 0, 0.5), (1.1, 0.5, 0), (1.05, 1, 0.5)])
        _band(m, edge, dome, knots, 0.011, "wide", "rolled", stretch=1.08)
    if d.chance(0.55):
        puff = draw_appearance(d, [*materials.BRIGHT, "white", "cream", "grey"], "wool, fur", feels="none, soft")
        p = d.between(0.022, 0.038)
        m.add("pompom", ellipsoid((2 * p, 2 * p, 2 * p), (0, tall + 0.6 * p, 0)), puff, dome, "round")
    if d.chance(0.25):
        at, depths = (0.98 * r, -0.02, 0), (0.5, 0.8, 1, 1, 1)
        solid = block((0.012, 0.09, 0.075), at, corner=0.7, edge=0.8, depths=depths)
        m.add("ear", solid, finish, dome, "flat", role="body", repeat=PAIR)
    return m.done()


def pointed_hat(d: Sampler) -> Assembly:
    """Party hats, witches' hats and nightcaps."""
    m = Maker("hat", "pointed")
    colours, prints = [*materials.BRIGHT, "black", "white"], "plain*2, dots, stripes, bands, checks"
    finish = draw_appearance(d, colours, "felt, cardboard, cotton", patterns=prints, tile=0.08)
    r, tall, brim = d.between(0.075, 0.095), d.between(0.16, 0.3), d.pick([0.0, d.between(0.05, 0.1)])
    low = [(r + brim, 0, 1), (r + 0.004, 0.008, 0.6)] if brim else [(r, 0, 1)]
    knots = [*low, (0.62 * r, 0.4 * tall, 0), (0.28 * r, 0.72 * tall, 0), (0.004, tall, 0)]
    cone = m.add("crown", lathe(knots), finish, ROOT, "pointed", "tall", hollow=Hollow(0.003, "bottom"))
    if d.chance(0.6):
        puff = draw_appearance(d, [*materials.BRIGHT, "white"], "wool, cotton")
        m.add("pompom", ellipsoid((0.045, 0.045, 0.045), (0, tall + 0.005, 0)), puff, cone, "round")
    if brim or d.chance(0.4):
        _band(m, _trim(d), cone, [(1.0 * r, 0.01, 1), (0.94 * r, 0.04, 1)], 0.007, "narrow")
    return m.done()


def headband(d: Sampler) -> Assembly:
    """An arch that is worn over the head, or a ring around it, with what sits on it."""
    m = Maker("headband")
    if d.chance(0.25):
        _ring(m, d)
        return m.done()
    w, tall = d.between(0.065, 0.078), d.between(0.1, 0.13)
    padded = d.chance(0.4)
    if padded:
        finish = materials.padding(d, "stuffing", hides=0.1, tile=0.05)
    else:
        finish = d.pick([materials.plastic, materials.metal, _trim], [3, 1.2, 1])(d)
    wide = d.between(0.012, 0.024) if padded else d.between(0.003, 0.02)
    flat = d.between(0.35, 0.6) if padded else min(1.0, 0.0035 / wide + 0.08)
    points = arch([(0.82 * w, 0, 0), (1.02 * w, 0.4 * tall, 0), (0.62 * w, 0.9 * tall, 0)])
    thin = d.between(0.45, 0.9) * wide
    d.between(0.45, 0.9)  # both ends are alike; drawn so that what follows stays as it was
    solid = tube(points, (thin, wide, thin), flat=flat, bend=1.0)
    words = "padded" if padded else "thin", "wide" if wide > 0.012 else "narrow"
    band = m.add("band", solid, finish, ROOT, *words, role="body")
    _decorate(m, d, finish, band, (w, 0.97 * tall, wide, wide * flat))
    return m.done()


def _ring(m: Maker, d: Sampler) -> None:
    """A stretch band around the head."""
    r, high = d.between(0.085, 0.095), d.between(0.02, 0.07)
    colours, prints = materials.BRIGHT + materials.NEUTRAL, "plain*2, stripes, bands, dots, floral"
    cloths = "knit, cotton, polyester, wool"
    finish = draw_appearance(d, colours, cloths, feels="none, soft, flexible", patterns=prints, tile=0.06)
    solid = lathe([(r, 0, 0.5), (1.02 * r, high / 2, 0), (r, high, 0.5)], stretch=OVAL)
    hollow = Hollow(d.between(0.003, 0.008), "through")
    relief: Relief = d.pick(["smooth", "smooth", "fluted"])
    word = "wide" if high > 0.04 else "narrow"
    band = m.add("band", solid, finish, ROOT, "round", word, role="body", hollow=hollow, relief=relief)
    if d.chance(0.5):
        knot = draw_appearance(d, [finish.colour], "knit, cotton")
        size, at = (0.03, high + 0.012, 0.02), (0, high / 2, OVAL * r)
        solid = block(size, at, corner=0.7, edge=0.8, crown=0.3)
        m.add("knot", solid, knot if d.chance(0.3) else finish, band)


DECORATIONS = {
    "none": ("", 2.5),
    "ears": ("eared", 2),
    "bow": ("bowed", 2.5),
    "flowers": ("flowered", 2),
    "beads": ("beaded", 1.5),
    "knot": ("knotted", 1.5),
    "antlers": ("antlered", 0.6),
}
"""What sits on a headband, the word for one with it, and how often."""


def _decorate(m: Maker, d: Sampler, finish: Appearance, band: int, size: tuple[float, float, float, float]) -> None:
    """Ears, a bow, flowers, beads or a knot."""
    w, top, wide, thick = size
    kind = d.pick(list(DECORATIONS), [weight for _, weight in DECORATIONS.values()])
    if kind == "none":
        return
    m.style.append(DECORATIONS[kind][0])
    other = _trim(d)
    if kind == "ears":
        tall, pointed = d.between(0.045, 0.09), d.chance(0.5)
        half = 0.45 * tall if pointed else 0.5 * tall
        right = [(1, 0), (0.6, 0.55), (0.08, 1)] if pointed else [(0.8, 0), (1, 0.5), (0.6, 1)]
        corners, turn, at = symmetric(right) * [half, tall], turned(z=-24), np.array([0.55 * w, 0.9 * top, 0])
        rounding = 0.3 if pointed else 0.9
        solid = plate(corners, 0.014, at, turn, rounding=rounding, bevel=0.8, puff=0.3)
        cover, word = finish if d.chance(0.5) else other, "pointed" if pointed else "round"
        ears = m.add("ear", solid, cover, band, word, role="trim", repeat=PAIR)
        inner = corners * 0.62 + [0, 0.12 * tall]
        solid = plate(inner, 0.014, at + [0, 0, 0.005], turn, rounding=0.4, bevel=0.6, puff=0.3)
        inside = draw_appearance(d, "pink, white, cream, hot pink", "felt, velvet")
        m.add("inner ear", solid, inside, ears, role="trim", repeat=PAIR)
    elif kind == "bow":
        s, x = d.between(0.03, 0.05), d.pick([0.0, 0.5 * w])
        at = np.array([x, top + (0.2 * s if x == 0 else -0.05 * top), 0])
        knot = m.add("knot", block((0.5 * s, 0.55 * s, 0.5 * s), at, corner=0.8, edge=0.9), other, band)
        solid = plate(BOW * s, 0.35 * s, at, rounding=0.6, bevel=0.8, puff=0.25)
        m.add("bow", solid, other, knot, "winged", repeat=Repeat("x", pivot=(x, 0)))
    elif kind == "flowers":
        _flowers(m, d, band, w, top, thick)
    elif kind == "beads":
        bead = draw_appearance(
            d, ["white", "cream", "gold", "silver", *materials.BRIGHT], "abs, glass, acrylic", feels="stiff"
        )
        r = d.between(0.005, 0.009)
        for x, y in ((0.0, 1.0), (0.26, 0.985), (0.5, 0.94)):
            solid = ellipsoid((2 * r, 2 * r, 2 * r), (x * w, y * top + thick + 0.3 * r, 0))
            m.add("bead", solid, bead, band, "round", repeat=PAIR if x else Repeat())
    elif kind == "knot":
        solid = block((0.035, 0.026, 2.1 * wide), (0, top + 0.002, 0), corner=0.7, edge=0.9, crown=0.3)
        m.add("knot", solid, finish, band, "thick")
    else:
        horn = draw_appearance(d, "brown, dark brown, tan, gold", "felt, abs")
        points = [(0.45 * w, 0.93 * top, 0), (0.7 * w, top + 0.05, 0), (0.6 * w, top + 0.1, 0.01)]
        horns = m.add("branch", tube(points, (0.006, 0.005, 0.003)), horn, band, "curved", repeat=PAIR)
        solid = tube([(0.66 * w, top + 0.045, 0), (0.95 * w, top + 0.075, 0)], (0.005, 0.004, 0.003))
        m.add("branch", solid, horn, horns, repeat=PAIR)


def _flowers(m: Maker, d: Sampler, band: int, w: float, top: float, thick: float) -> None:
    """One or three flowers on the top of the arch."""
    for x, y in ((0.0, 1.0), (0.42, 0.96), (-0.42, 0.96))[: d.pick([1, 3, 3])]:
        petals = draw_appearance(d, [*materials.BRIGHT, "white", "white"], "silk, cotton, felt")
        solid = ellipsoid((0.018, 0.016, 0.018), (x * w, y * top + thick + 0.002, 0))
        yellow = draw_appearance(d, "yellow, white, orange, brown", "felt, abs")
        middle = m.add("flower centre", solid, yellow, band, "round", role="trim")
        at = np.array([x * w, y * top + thick + 0.003, 0.004])
        solid = block((0.02, 0.006, 0.026), at + [0, 0.001, 0.013], turned(x=-15), corner=0.9, edge=0.8)
        repeat = around(d.count(5, 6), (x * w, 0))
        m.add("petal", solid, petals, middle, "rounded", role="trim", meets=at, repeat=repeat)
