"""Things that open with a lid: laptops, boxes from the jewellery box to the trunk, and bins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from neurok.catalogue import materials
from neurok.catalogue.appearance import draw_appearance
from neurok.catalogue.assemble import FOUR, PAIR, ROOT, Maker
from neurok.catalogue.casework import SINK, board_between
from neurok.catalogue.parts import Appearance, Assembly, Hinge, Repeat
from neurok.catalogue.solids import Frame, arch, block, lathe, leg_solid, plate, profile, tube, turned
from neurok.modelling.forms import Hollow
from neurok.modelling.sampler import Sampler

UPWARDS = (-1.0, 0.0, 0.0)
"""Axis of a lid that is hung at the back: it opens by a positive angle."""


def _hung(d: Sampler, tall: float, deep: float, degrees: tuple[float, float]) -> Hinge:
    """The hinge of a lid at the upper edge of the back, and how far it opens."""
    return Hinge("revolute", UPWARDS, (0, tall, -deep / 2), 0.0, float(np.radians(d.between(*degrees))))


def laptop(d: Sampler) -> Assembly:
    """A flat base with keyboard and trackpad; the lid with the screen stands open and closes."""
    m = Maker("laptop")
    wide, deep = d.between(0.28, 0.38), d.between(0.2, 0.26)
    thick, lid_thick = d.between(0.011, 0.022), d.between(0.005, 0.009)
    colours = "silver*4, black*3, charcoal, grey, white, light grey, navy, pink, red, gold"
    finish = draw_appearance(d, colours, "aluminium*2, abs, polycarbonate")
    soft = d.between(0.04, 0.12)
    solid = block((wide, thick, deep), (0, thick / 2, 0), corner=soft, edge=0.4)
    base = m.add("base", solid, finish, ROOT, "thin")
    dark = draw_appearance(d, "black*4, charcoal, white, light grey", "abs")
    size, at = (0.42 * deep, 0.004, 0.86 * wide), (0, thick + 0.0005, -0.17 * deep)
    m.add("keyboard", block(size, at, turned(y=90), corner=0.05, edge=0.1), dark, base, relief="channelled")
    pad = finish
    if not d.chance(0.4):
        pad = draw_appearance(d, "grey, light grey, black, charcoal", "abs, glass", feels="stiff")
    solid = board_between((-0.17 * wide, thick - 0.001, 0.16 * deep), (0.17 * wide, thick + 0.0008, 0.42 * deep))
    m.add("trackpad", solid, pad, base)
    opened = np.radians(d.between(95, 122))
    f = Frame((0.0, thick, -deep / 2), turned(x=-float(np.degrees(opened))))
    hinge = Hinge("revolute", UPWARDS, f.origin, -float(opened) + 0.03, float(np.radians(140) - opened))
    barrel = [(0.7 * lid_thick, -0.4 * wide, 1), (0.7 * lid_thick, 0.4 * wide, 1)]
    knuckle = m.add("hinge", lathe(barrel, f.at(0, -0.001, 0.0), turned(z=90)), dark, base, "round")
    middle = f.at(0, lid_thick / 2 + 0.0015, deep / 2 - 0.002)
    solid = block((wide, lid_thick, deep + 0.004), middle, f.turn, corner=soft, edge=0.3)
    lid = m.add("lid", solid, finish, knuckle, "thin", "hinged", hinge=hinge)
    rim = d.between(0.006, 0.014)
    size, middle = (wide - 2 * rim, 0.0016, deep - 2 * rim - 0.008), f.at(0, 0.0015, deep / 2 + 0.002)
    screen = block(size, middle, f.turn, corner=0.02, edge=0.0)
    is_off = d.chance(0.6)
    glow = (
        materials.dark_glass(d)
        if is_off
        else draw_appearance(d, "blue, light blue, white, teal", "glass", feels="stiff")
    )
    m.add("screen", screen, glow, lid)
    return m.done()


def toy_box(d: Sampler) -> Assembly:
    """Big, painted, with a flat lid."""
    finish = d.pick([materials.wood, materials.plastic, _bright], [2, 1.5, 3])(d)
    return _box(d, "toy box", (d.between(0.55, 0.9), d.between(0.32, 0.48), d.between(0.34, 0.45)), finish)


def blanket_box(d: Sampler) -> Assembly:
    """Long, of wood, on short feet."""
    return _box(d, "blanket box", (d.between(0.8, 1.3), d.between(0.38, 0.5), d.between(0.38, 0.5)), materials.board(d))


def trunk(d: Sampler) -> Assembly:
    """With a domed or flat lid, metal corners, a clasp and handles at its ends."""
    leather = draw_appearance(d, "brown, tan, black, burgundy, dark green", "wood", covers="leather")
    finish = leather if d.chance(0.3) else materials.wood(d, painted=0.15)
    return _box(d, "trunk", (d.between(0.55, 0.95), d.between(0.3, 0.42), d.between(0.35, 0.5)), finish)


def jewellery_box(d: Sampler) -> Assembly:
    """Small and fine."""
    makers: list[Callable[[Sampler], Appearance]] = [materials.wood, materials.ceramic, materials.metal, _hide]
    finish = d.pick(makers, [5, 1, 1, 1.5])(d)
    return _box(d, "jewellery box", (d.between(0.16, 0.3), d.between(0.08, 0.15), d.between(0.12, 0.2)), finish)


def _bright(d: Sampler) -> Appearance:
    return draw_appearance(d, materials.BRIGHT, "wood, mdf, pine")


def _hide(d: Sampler) -> Appearance:
    return draw_appearance(d, "brown, black, red, white, pink, navy", "wood", covers=materials.HIDES)


def _box(d: Sampler, kind: str, size: tuple[float, float, float], finish: Appearance) -> Assembly:
    """A body open above, and a lid hung at its back."""
    m = Maker("box", kind)
    wide, tall, deep = size
    wall = d.between(0.012, 0.02) if wide > 0.4 else d.between(0.005, 0.009)
    solid = block((wide, tall, deep), (0, tall / 2, 0), corner=0.03, edge=(0.03, 0.0))
    body = m.add("body", solid, finish, hollow=Hollow(wall, "top"))
    upper = finish if d.chance(0.75) else d.pick([materials.wood, _bright])(d)
    over = 0.0 if kind == "trunk" else d.pick([0.0, 0.5 * wall])
    hinge = _hung(d, tall, deep, (85, 115))
    is_domed = (kind == "trunk" and d.chance(0.65)) or (kind == "jewellery box" and d.chance(0.3))
    if is_domed:
        high = d.between(0.3, 0.5) * deep
        half_barrel = [(deep / 2 * np.cos(a), high * np.sin(a) ** 0.8 - high / 2) for a in np.linspace(0.0, np.pi, 7)]
        at = (0, tall + high / 2 - SINK, over / 2)
        solid = plate(half_barrel, wide, at, turned(y=-90), rounding=0.0, bevel=0.02)
    else:
        high = d.between(0.06, 0.12) if kind == "trunk" else d.between(1.0, 1.8) * wall
        at, edge = (0, tall + high / 2 - SINK, over / 2), (0.0, d.pick([0.08, 0.3]))
        solid = block((wide + 2 * over, high, deep + over), at, corner=0.03, edge=edge)
    hollow = Hollow(min(wall, 0.25 * high), "bottom") if high > 0.04 and not is_domed else None
    lid = m.add("lid", solid, upper, body, "domed" if is_domed else "flat", "hinged", hinge=hinge, hollow=hollow)
    _box_metal(m, d, kind, (wide, tall, deep + (0 if is_domed else over), high), body, lid)
    if kind in ("blanket box", "jewellery box") and d.chance(0.6):
        high = d.between(0.05, 0.12) if wide > 0.4 else 0.015
        x, z = wide / 2 - 0.06 * wide - 0.004, deep / 2 - 0.08 * deep - 0.004
        shape = d.pick(["square", "round", "tapered"])
        leg, word = leg_solid(d, shape, (x, 0.004, z), (x, -high, z), 0.05 * wide + 0.004)
        m.add("foot", leg, finish if d.chance(0.6) else materials.fittings(d), body, word, repeat=FOUR)
    return m.done()


def _box_metal(m: Maker, d: Sampler, kind: str, size: tuple[float, float, float, float], body: int, lid: int) -> None:
    """Clasps, corners, handles and knobs."""
    wide, tall, deep, lid_tall = size
    metal = draw_appearance(d, "gold*2, silver, black, charcoal", "brass, steel*2")
    x, z, s = wide / 2, deep / 2, 0.09 * wide if wide < 0.4 else d.between(0.04, 0.07)
    if kind in ("trunk", "jewellery box") or d.chance(0.3):
        low, high = tall - min(0.28 * tall, 0.8 * s), tall + min(0.6 * s, 0.5 * lid_tall)
        m.add("clasp", board_between((-s / 2, low, z - 0.004), (s / 2, high, z + 0.1 * s)), metal, lid)
    elif d.chance(0.5):
        r = 0.35 * s
        knots = [(0.5 * r, -0.003, 1), (0.4 * r, 0.5 * r, 0.3), (r, 1.2 * r, 0.2), (0.7 * r, 1.8 * r, 0.6)]
        m.add("knob", lathe(knots, (0, tall + 0.45 * lid_tall, z), turned(x=90)), metal, lid, "round")
    if kind == "trunk" and d.chance(0.6):
        c = d.between(0.035, 0.06)
        m.add("corner", board_between((x - c, -0.003, z - c), (x + 0.003, c, z + 0.003)), metal, body, repeat=FOUR)
    if kind != "jewellery box" and d.chance(0.6):
        y, half = 0.62 * tall, min(0.07, 0.25 * deep)
        ends = ((x - 0.003, y, -half), (x - 0.003, y, half))
        points = [ends[0], (x + 0.025, y - 0.01, -half), (x + 0.025, y - 0.01, half), ends[1]]
        m.add("handle", tube(points, 0.007, bend=0.012), metal, body, repeat=PAIR)
    if d.chance(0.4):
        r = 0.06 * s + 0.003
        barrel = lathe([(r, -0.5 * s, 1), (r, 0.5 * s, 1)], (0.3 * wide, tall, -deep / 2), turned(z=90))
        m.add("hinge", barrel, metal, body, "round", repeat=Repeat("x"))


def _bin_appearance(d: Sampler) -> Appearance:
    if d.chance(0.45):
        return draw_appearance(d, "silver*2, grey, black, white, gold", "steel")
    colours = ["white", "grey", "black", "charcoal", "cream", *materials.BRIGHT]
    return draw_appearance(d, colours, "polypropylene, abs, steel, polypropylene")


def _vessel(m: Maker, d: Sampler, tall: float, wide: float) -> tuple[int, bool, float, float]:
    """A body open above; its number, whether it is round, its depth, and its width below beside that above."""
    is_round = d.chance(0.6)
    deep = wide if is_round else d.between(0.75, 1.0) * wide
    taper = d.between(0.78, 1.0)
    if is_round:
        solid = lathe(profile(wide / 2, tall, [(taper, 0, 1), (taper, 0.02, 0.6), (1, 1, 1)]))
    else:
        grow, corner = np.linspace(taper, 1.0, 5), d.between(0.05, 0.25)
        at = (0, tall / 2, 0)
        solid = block((wide, tall, deep), at, corner=corner, edge=(0.05, 0.0), widths=grow, depths=grow)
    words = "round" if is_round else "boxy", "tapered" if taper < 0.9 else ""
    body = m.add("body", solid, _bin_appearance(d), ROOT, *words, hollow=Hollow(0.005, "top"))
    return body, is_round, deep, taper


def _bin_lid(
    m: Maker,
    d: Sampler,
    finish: Appearance,
    body: int,
    is_round: bool,
    size: tuple[float, float, float],
    at: float,
    hinge: Hinge,
) -> int:
    wide, deep, thick = size
    dome = d.between(0.2, 1.0)
    if is_round:
        shares = [(1, 0, 1), (1, 0.35, 0.6), (0.8, 0.5 + 0.4 * dome, 0), (0.05, 1, 0)]
        solid = lathe(profile(wide / 2, thick, shares), (0, at, 0))
    else:
        solid = block((wide, thick, deep), corner=0.08, edge=(0.0, 0.5), crown=(0.0, 0.6 * dome))
        solid = replace(solid, centre=np.array([0.0, at + solid.size[1] / 2, 0.0]))
    return m.add("lid", solid, finish, body, "round" if is_round else "flat", "hinged", hinge=hinge)


def pedal_bin(d: Sampler) -> Assembly:
    """A lid hung at the back and a pedal at the foot of the front."""
    m = Maker("bin", "pedal bin")
    wide, tall = d.between(0.2, 0.36), d.between(0.26, 0.68)
    body, is_round, deep, taper = _vessel(m, d, tall, wide)
    upper = m.parts[body].appearance if d.chance(0.55) else _bin_appearance(d)
    thick = d.between(0.025, 0.05)
    hinge = _hung(d, tall, deep, (70, 92))
    _bin_lid(m, d, upper, body, is_round, (wide * 1.01, deep * 1.01, thick), tall - SINK, hinge)
    dark = draw_appearance(d, "black*2, charcoal, silver", "abs, steel")
    w, z = 1.02 * taper * wide, 1.02 * taper * deep
    if is_round:
        solid = lathe([(w / 2, -0.012, 1), (w / 2, 0.012, 1)])
    else:
        solid = block((w, 0.024, z), (0, 0, 0), corner=0.12, edge=0.1)
    foot = m.add("base", solid, dark, body, "round" if is_round else "boxy", role="support")
    front = taper * deep / 2
    press = Hinge("revolute", (1, 0, 0), (0.0, 0.004, 0.6 * front), 0.0, 0.12)
    pedal = board_between((-0.04, -0.001, 0.6 * front), (0.04, 0.013, front + d.between(0.035, 0.05)))
    m.add("pedal", pedal, dark if d.chance(0.7) else draw_appearance(d, "silver", "steel"), foot, hinge=press)
    solid = board_between((-0.035, tall - 0.035, -deep / 2 - 0.014), (0.035, tall - 0.003, -deep / 2 + 0.006))
    m.add("hinge", solid, dark, body)
    if d.chance(0.3):
        x, y, z = wide / 2 * 0.93, 0.8 * tall, 0.5 * deep
        points = arch([(x, y, 0), (x + 0.012, y - 0.02, z), (0, y - 0.05, z + 0.02)])
        m.add("handle", tube(points, 0.003), draw_appearance(d, "silver, black", "steel"), body, "curved")
    return m.done()


def swing_bin(d: Sampler) -> Assembly:
    """A hood with an opening that a flap closes; the flap swings about its middle."""
    m = Maker("bin", "swing bin")
    wide, tall = d.between(0.24, 0.36), d.between(0.35, 0.6)
    deep = d.between(0.8, 1.0) * wide
    grow = np.linspace(d.between(0.8, 0.95), 1.0, 5)
    finish = _bin_appearance(d)
    solid = block((wide, tall, deep), (0, tall / 2, 0), corner=0.12, edge=(0.05, 0.0), widths=grow, depths=grow)
    body = m.add("body", solid, finish, ROOT, "boxy", hollow=Hollow(0.005, "top"))
    high = d.between(0.1, 0.16)
    hood_look = finish if d.chance(0.5) else _bin_appearance(d)
    taper = np.linspace(1.0, d.between(0.82, 0.92), 5)
    size, at = (1.02 * wide, high, 1.02 * deep), (0, tall + high / 2 - 0.006, 0)
    hood = block(size, at, corner=0.12, edge=0.0, widths=taper, depths=taper)
    cover = m.add("hood", hood, hood_look, body, hollow=Hollow(0.012, "through"))
    at = (0, tall + high - 0.006 - 0.012, 0)
    flap_look = hood_look if d.chance(0.4) else _bin_appearance(d)
    flap = block((taper[-1] * size[0], 0.012, taper[-1] * size[2] - 0.03), at, corner=0.12, edge=0.1)
    swing = Hinge("revolute", (1, 0, 0), at, -1.1, 1.1)
    m.add("flap", flap, flap_look, cover, "swinging", role="moving", hinge=swing)
    return m.done()


def flip_bin(d: Sampler) -> Assembly:
    """A plain vessel with a lid to lift, a knob or handle on it."""
    m = Maker("bin", "flip bin")
    wide, tall = d.between(0.24, 0.5), d.between(0.35, 0.75)
    body, is_round, deep, _ = _vessel(m, d, tall, wide)
    upper = m.parts[body].appearance if d.chance(0.6) else _bin_appearance(d)
    thick = d.between(0.025, 0.06)
    hinge = _hung(d, tall, deep, (80, 110))
    lid = _bin_lid(m, d, upper, body, is_round, (1.03 * wide, 1.03 * deep, thick), tall - SINK, hinge)
    grip = upper if d.chance(0.5) else draw_appearance(d, "black, silver", "abs, steel")
    y = tall + thick - 0.008
    m.add("handle", tube(arch([(0.05, y, 0), (0.05, y + 0.035, 0)]), 0.006, bend=0.012), grip, lid)
    if d.chance(0.35) and is_round:
        r = wide / 2
        knots = [(r, -0.03, 1), (r + 0.006, -0.028, 0.5), (r + 0.006, -0.01, 0.5), (r, -0.008, 1)]
        rim = lathe([(x, tall + y, sharp) for x, y, sharp in knots])
        m.add("rim", rim, grip, body, "round", hollow=Hollow(0.006, "through"))
    return m.done()
