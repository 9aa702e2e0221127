"""Things that open with a lid: laptops, and boxes from the jewellery box to the trunk."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from neurok.families.household import stuffs
from neurok.families.household.assemble import FOUR, PAIR, ROOT, Maker
from neurok.families.household.casework import SINK, board_between
from neurok.families.household.framing import Frame, leg_solid
from neurok.families.household.looks import draw_look
from neurok.families.household.parts import Assembly, Hinge, Look, Repeat
from neurok.families.household.solids import Solid, block, lathe, plate, tube, turned
from neurok.modelling.dice import Dice
from neurok.modelling.forms import Hollow

UPWARDS = (-1.0, 0.0, 0.0)
"""Axis of a lid that is hung at the back: it opens by a positive angle."""


def laptop(d: Dice) -> Assembly:
    """A flat base with keyboard and trackpad; the lid with the screen stands open and closes."""
    m = Maker("laptop")
    wide, deep = d.between(0.28, 0.38), d.between(0.2, 0.26)
    thick, lid_thick = d.between(0.011, 0.022), d.between(0.005, 0.009)
    colours = (
        ["silver"] * 4 + ["black"] * 3 + ["charcoal", "grey", "white", "light grey", "navy", "pink", "red", "gold"]
    )
    look = draw_look(d, colours, "aluminium*2, abs, polycarbonate")
    soft = d.between(0.04, 0.12)
    base = m.add("base", block((wide, thick, deep), (0, thick / 2, 0), corner=soft, edge=0.4), look, ROOT, "thin")
    dark = draw_look(d, "black*4, charcoal, white, light grey", "abs")
    keys = block(
        (0.42 * deep, 0.004, 0.86 * wide), (0, thick + 0.0005, -0.17 * deep), turned(y=90), corner=0.05, edge=0.1
    )
    m.add("keyboard", keys, dark, base, relief="channelled")
    pad = look if d.chance(0.4) else draw_look(d, "grey, light grey, black, charcoal", "abs, glass", feels="stiff")
    solid = board_between((-0.17 * wide, thick - 0.001, 0.16 * deep), (0.17 * wide, thick + 0.0008, 0.42 * deep))
    m.add("trackpad", solid, pad, base)
    opened = np.radians(d.between(95, 122))
    frame = Frame((0.0, thick, -deep / 2), turned(x=-float(np.degrees(opened))))
    hinge = Hinge("revolute", UPWARDS, frame.origin, -float(opened) + 0.03, float(np.radians(140) - opened))
    solid = block(
        (wide, lid_thick, deep + 0.004),
        frame.at(0, lid_thick / 2 + 0.0015, deep / 2 - 0.002),
        frame.turn,
        corner=soft,
        edge=0.3,
    )
    barrel = lathe(
        [(0.7 * lid_thick, -0.4 * wide, 1), (0.7 * lid_thick, 0.4 * wide, 1)], frame.at(0, -0.001, 0.0), turned(z=90)
    )
    knuckle = m.add("hinge", barrel, dark, base, "round")
    lid = m.add("lid", solid, look, knuckle, "thin", "hinged", hinge=hinge)
    rim = d.between(0.006, 0.014)
    screen = block(
        (wide - 2 * rim, 0.0016, deep - 2 * rim - 0.008),
        frame.at(0, 0.0015, deep / 2 + 0.002),
        frame.turn,
        corner=0.02,
        edge=0.0,
    )
    glow = (
        stuffs.dark_glass(d) if d.chance(0.6) else draw_look(d, "blue, light blue, white, teal", "glass", feels="stiff")
    )
    m.add("screen", screen, glow, lid)
    return m.done()


def toy_box(d: Dice) -> Assembly:
    """Big, painted, with a flat lid."""
    look = d.pick([stuffs.wood, stuffs.plastic, _bright], [2, 1.5, 3])(d)
    return _box(d, "toy box", (d.between(0.55, 0.9), d.between(0.32, 0.48), d.between(0.34, 0.45)), look)


def blanket_box(d: Dice) -> Assembly:
    """Long, of wood, on short feet."""
    return _box(d, "blanket box", (d.between(0.8, 1.3), d.between(0.38, 0.5), d.between(0.38, 0.5)), stuffs.board(d))


def trunk(d: Dice) -> Assembly:
    """With a domed or flat lid, metal corners, a clasp and handles at its ends."""
    leather = draw_look(d, "brown, tan, black, burgundy, dark green", "wood", covers="leather")
    look = leather if d.chance(0.3) else stuffs.wood(d, painted=0.15)
    return _box(d, "trunk", (d.between(0.55, 0.95), d.between(0.3, 0.42), d.between(0.35, 0.5)), look)


def jewellery_box(d: Dice) -> Assembly:
    """Small and fine."""
    makers: list[Callable[[Dice], Look]] = [stuffs.wood, stuffs.ceramic, stuffs.metal, _hide]
    look = d.pick(makers, [5, 1, 1, 1.5])(d)
    return _box(d, "jewellery box", (d.between(0.16, 0.3), d.between(0.08, 0.15), d.between(0.12, 0.2)), look)


def _bright(d: Dice) -> Look:
    return draw_look(d, stuffs.BRIGHT, "wood, mdf, pine")


def _hide(d: Dice) -> Look:
    return draw_look(d, "brown, black, red, white, pink, navy", "wood", covers=stuffs.HIDES)


def _box(d: Dice, kind: str, size: tuple[float, float, float], look: Look) -> Assembly:
    """A body open above, and a lid hung at its back."""
    m = Maker("box")
    m.style.append(kind)
    wide, tall, deep = size
    wall = d.between(0.012, 0.02) if wide > 0.4 else d.between(0.005, 0.009)
    solid = block((wide, tall, deep), (0, tall / 2, 0), corner=0.03, edge=(0.03, 0.0))
    body = m.add("body", solid, look, hollow=Hollow(wall, "top"))
    upper = look if d.chance(0.75) else d.pick([stuffs.wood, _bright])(d)
    over = 0.0 if kind == "trunk" else d.pick([0.0, 0.5 * wall])
    hinge = Hinge("revolute", UPWARDS, (0, tall, -deep / 2), 0.0, float(np.radians(d.between(85, 115))))
    is_domed = (kind == "trunk" and d.chance(0.65)) or (kind == "jewellery box" and d.chance(0.3))
    lid_tall = (
        d.between(0.3, 0.5) * deep
        if is_domed
        else (d.between(0.06, 0.12) if kind == "trunk" else d.between(1.0, 1.8) * wall)
    )
    at = (0, tall + lid_tall / 2 - SINK, over / 2)
    if is_domed:
        solid = _vault(wide, lid_tall, deep, at)
    else:
        solid = block((wide + 2 * over, lid_tall, deep + over), at, corner=0.03, edge=(0.0, d.pick([0.08, 0.3])))
    hollow = Hollow(min(wall, 0.25 * lid_tall), "bottom") if lid_tall > 0.04 and not is_domed else None
    style = ["domed"] if is_domed else ["flat"]
    lid = m.add("lid", solid, upper, body, *style, "hinged", hinge=hinge, hollow=hollow)
    _box_metal(m, d, kind, (wide, tall, deep + (0 if is_domed else over), lid_tall), body, lid)
    if kind in ("blanket box", "jewellery box") and d.chance(0.6):
        high = d.between(0.05, 0.12) if wide > 0.4 else 0.015
        x, z = wide / 2 - 0.06 * wide - 0.004, deep / 2 - 0.08 * deep - 0.004
        leg, words = leg_solid(
            d,
            d.pick(["square", "round", "tapered"]),
            np.array([x, 0.004, z]),
            np.array([x, -high, z]),
            0.05 * wide + 0.004,
        )
        m.add("foot", leg, look if d.chance(0.6) else stuffs.fittings(d), body, *words, repeat=FOUR)
    return m.done()


def _vault(wide: float, tall: float, deep: float, at: Sequence[float]) -> Solid:
    """Half a barrel along x."""
    arch = [(deep / 2 * np.cos(a), tall * np.sin(a) ** 0.8 - tall / 2) for a in np.linspace(0.0, np.pi, 7)]
    return plate(arch, wide, at, turned(y=-90), rounding=0.0, bevel=0.02)


def _box_metal(m: Maker, d: Dice, kind: str, size: tuple[float, float, float, float], body: int, lid: int) -> None:
    """Clasps, corners, handles and knobs."""
    wide, tall, deep, lid_tall = size
    metal = draw_look(d, "gold*2, silver, black, charcoal", "brass, steel*2")
    z, s = deep / 2, 0.09 * wide if wide < 0.4 else d.between(0.04, 0.07)
    if kind in ("trunk", "jewellery box") or d.chance(0.3):
        drop = min(0.28 * tall, 0.8 * s)
        clasp = board_between(
            (-s / 2, tall - drop, z - 0.004), (s / 2, tall + min(0.6 * s, 0.5 * lid_tall), z + 0.1 * s)
        )
        m.add("clasp", clasp, metal, lid)
    elif d.chance(0.5):
        r = 0.35 * s
        solid = lathe(
            [(0.5 * r, -0.003, 1), (0.4 * r, 0.5 * r, 0.3), (r, 1.2 * r, 0.2), (0.7 * r, 1.8 * r, 0.6)],
            (0, tall + 0.45 * lid_tall, z),
            turned(x=90),
        )
        m.add("knob", solid, metal, lid, "round")
    if kind == "trunk" and d.chance(0.6):
        c = d.between(0.035, 0.06)
        x = wide / 2
        cap = board_between((x - c, -0.003, z - c), (x + 0.003, c, z + 0.003))
        m.add("corner", cap, metal, body, repeat=FOUR)
    if kind != "jewellery box" and d.chance(0.6):
        y, half, x = 0.62 * tall, min(0.07, 0.25 * deep), wide / 2
        points = [
            (x - 0.003, y, -half),
            (x + 0.025, y - 0.01, -half),
            (x + 0.025, y - 0.01, half),
            (x - 0.003, y, half),
        ]
        m.add("handle", tube(points, 0.007, bend=0.012), metal, body, repeat=PAIR)
    if d.chance(0.4):
        barrel = lathe(
            [(0.06 * s + 0.003, -0.5 * s, 1), (0.06 * s + 0.003, 0.5 * s, 1)],
            (0.3 * wide, tall, -size[2] / 2),
            turned(z=90),
        )
        m.add("hinge", barrel, metal, body, "round", repeat=Repeat("x"))
