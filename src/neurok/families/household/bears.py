"""Teddy bears, sitting or standing, with muzzles, pads, bows and scarves."""

from __future__ import annotations

import numpy as np

from neurok.families.household import stuffs
from neurok.families.household.assemble import PAIR, ROOT, Maker
from neurok.families.household.looks import draw_look
from neurok.families.household.parts import Assembly, Look, Repeat
from neurok.families.household.solids import Solid, block, lathe, plate, turned
from neurok.modelling.dice import Dice
from neurok.modelling.forms import Hollow

FURS = [
    "brown",
    "brown",
    "light brown",
    "light brown",
    "tan",
    "tan",
    "beige",
    "cream",
    "white",
    "dark brown",
    "grey",
    "black",
]


def teddy_bear(d: Dice) -> Assembly:
    m = Maker("teddy bear")
    fur = draw_look(
        d,
        FURS if d.chance(0.65) else stuffs.BRIGHT,
        "stuffing",
        covers="fur*2, velvet, cotton, knit, wool",
        feels="none*2, soft*2, firm",
    )
    pale = (
        draw_look(
            d, "cream, beige, tan, white, pink, light brown, peach", "stuffing", covers="cotton, velvet, suede, felt"
        )
        if d.chance(0.75)
        else fur
    )
    size = d.between(0.8, 1.3)
    sits = d.chance(0.65)
    m.style.append("sitting" if sits else "standing")
    w, h, t = size * d.between(0.085, 0.115), size * d.between(0.115, 0.14), size * d.between(0.075, 0.095)
    fat = d.between(0.75, 0.98)
    solid = block(
        (2 * w, 2 * h, 2 * t),
        (0, h, 0),
        corner=1.0,
        edge=1.0,
        widths=(1.0, 1.0, 0.98, 0.5 + 0.5 * fat, fat * 0.8),
        depths=(1.0, 1.0, 0.98, 0.5 + 0.5 * fat, fat * 0.8),
    )
    body = m.add("body", solid, fur, ROOT, "fat" if fat > 0.9 else "")
    r = size * d.between(0.085, 0.115)
    head = m.add("head", _ball((0, 2 * h + 0.72 * r, 0.012), (1.1 * r, 0.95 * r, r)), fur, body, "round")
    _face(m, d, fur, pale, head, (r, 2 * h + 0.72 * r))
    _limbs(m, d, fur, pale, body, (w, h, t, size), sits)
    _dress(m, d, pale, body, head, (w, h, t, r))
    return m.done()


def _ball(at: tuple[float, float, float], radii: tuple[float, float, float], turn: np.ndarray | None = None) -> Solid:
    return block(2.0 * np.array(radii), at, turn, corner=1.0, edge=1.0)


def _face(m: Maker, d: Dice, fur: Look, pale: Look, head: int, size: tuple[float, float]) -> None:
    r, y = size
    snout = r * d.between(0.38, 0.52)
    out = 0.012 + r * d.between(0.78, 0.92)
    low = y - 0.26 * r
    muzzle = m.add("muzzle", _ball((0, low, out), (snout, 0.78 * snout, 0.75 * snout)), pale, head, "round")
    dark = draw_look(d, "black*3, dark brown, brown", "abs, felt, cotton")
    solid = _ball((0, low + 0.38 * snout, out + 0.58 * snout), (0.36 * snout, 0.25 * snout, 0.26 * snout))
    m.add("nose", solid, dark, muzzle, "oval")
    glass = draw_look(d, "black*2, dark brown, blue", "abs, glass, polycarbonate", feels="stiff")
    eye, x, up = r * d.between(0.09, 0.14), r * d.between(0.32, 0.46), r * d.between(0.1, 0.24)
    depth = 0.012 + r * np.sqrt(max(1.0 - (x / (1.1 * r)) ** 2 - (up / (0.95 * r)) ** 2, 0.1))
    m.add("eye", _ball((x, y + up, depth - 0.15 * eye), (eye, eye, 0.7 * eye)), glass, head, "round", repeat=PAIR)
    ear = r * d.between(0.34, 0.48)
    turn = turned(z=-d.between(25, 45))
    at = np.array([0.78 * r, y + 0.72 * r, 0.0])
    ears = m.add("ear", _ball(tuple(at), (ear, ear, 0.45 * ear), turn), fur, head, "round", repeat=PAIR)  # type: ignore[arg-type]
    if pale is not fur and d.chance(0.7):
        solid = _ball((at[0], at[1], 0.3 * ear), (0.66 * ear, 0.66 * ear, 0.25 * ear), turn)
        m.add("inner ear", solid, pale, ears, "round", repeat=PAIR)


def _limbs(
    m: Maker, d: Dice, fur: Look, pale: Look, body: int, size: tuple[float, float, float, float], sits: bool
) -> None:
    w, h, t, scale = size
    long, thick = scale * d.between(0.085, 0.115), scale * d.between(0.032, 0.042)
    turn = turned(x=-d.between(5, 55), z=d.between(18, 75))
    shoulder = np.array([0.72 * w, 1.6 * h, 0.01])
    arm = block(
        (2 * thick, 2 * long, 2 * thick),
        shoulder - turn @ [0, 0.78 * long, 0],
        turn,
        corner=1.0,
        edge=1.0,
        widths=(1.15, 1.1, 0.95, 0.9, 0.9),
        depths=(1.15, 1.1, 0.95, 0.9, 0.9),
    )
    arms = m.add("arm", arm, fur, body, repeat=PAIR)
    if pale is not fur and d.chance(0.5):
        tip = shoulder - turn @ [0, 1.62 * long, 0] + turn @ [0, 0, 0.55 * thick]
        m.add(
            "paw", _ball(tuple(tip), (0.85 * thick, 0.95 * thick, 0.7 * thick), turn), pale, arms, "round", repeat=PAIR
        )  # type: ignore[arg-type]
    stout, leg_long = scale * d.between(0.04, 0.052), scale * d.between(0.085, 0.115)
    turn = turned(x=-88, y=d.between(12, 38)) if sits else turned(z=d.between(3, 12))
    hip = np.array([0.55 * w, 0.42 * h if sits else 0.3 * h, 0.35 * t if sits else 0.0])
    grow = (1.2, 1.1, 1.0, 1.0, 0.95)
    leg = block(
        (2 * stout, 2 * leg_long, 2 * stout),
        hip - turn @ [0, 0.8 * leg_long, 0],
        turn,
        corner=1.0,
        edge=1.0,
        widths=grow,
        depths=grow,
    )
    legs = m.add("leg", leg, fur, body, "sitting" if sits else "standing", role="limb", repeat=PAIR)
    if pale is not fur or d.chance(0.3):
        sole = hip - turn @ [0, 1.74 * leg_long, 0]
        lift = turn @ np.array([0, 0, 0.0 if sits else 0.5 * stout])
        solid = block((2.1 * stout, 0.7 * stout, 2.4 * stout), sole + lift, turn, corner=1.0, edge=0.9)
        m.add("foot", solid, pale, legs, "oval", role="limb", repeat=PAIR)
    if d.chance(0.5):
        m.add("tail", _ball((0, 0.4 * h, -t), (0.28 * w,) * 3), fur, body, "round")


def _dress(m: Maker, d: Dice, pale: Look, body: int, head: int, size: tuple[float, float, float, float]) -> None:
    """A belly patch, and a bow, a scarf or a ribbon round the neck."""
    w, h, t, r = size
    if d.chance(0.35):
        m.add("belly", _ball((0, 0.92 * h, 0.3 * t), (0.68 * w, 0.62 * h, 0.78 * t)), pale, body, "oval")
    kind = d.pick(["none", "bow", "scarf", "buttons"], [4, 3, 1.5, 1])
    if kind == "none":
        return
    cloth = draw_look(
        d,
        list(stuffs.BRIGHT) + ["white", "black"],
        "cotton, silk, velvet, wool",
        patterns="plain*3, dots, checks, stripes",
        tile=0.05,
    )
    neck, z = 2 * h - 0.02, 0.72 * t
    if kind == "bow":
        size_ = d.between(0.03, 0.045)
        knot = m.add("knot", _ball((0, neck, z + 0.012), (0.3 * size_, 0.3 * size_, 0.022)), cloth, body)
        corners = (
            np.array([[-0.1, -0.25], [0.6, -0.62], [1.0, -0.6], [1.05, 0.0], [1.0, 0.6], [0.6, 0.62], [-0.1, 0.25]])
            * size_
        )
        solid = plate(corners, 0.35 * size_, (0, neck, z + 0.02), rounding=0.6, bevel=0.8, puff=0.3)
        m.add("bow", solid, cloth, knot, "winged", repeat=PAIR)
    elif kind == "scarf":
        ring = lathe([(0.72 * r, neck - 0.018, 0.4), (0.8 * r, neck, 0), (0.72 * r, neck + 0.018, 0.4)])
        scarf = m.add("scarf", ring, cloth, body, "round", hollow=Hollow(0.2 * r, "through"))
        solid = block((0.035, 0.1, 0.014), (0.03, neck - 0.055, 0.72 * r), turned(x=-12, z=6), corner=0.15, edge=0.4)
        m.add("tie", solid, cloth, scarf)
    else:
        button = draw_look(d, list(stuffs.BRIGHT) + ["black", "white"], "abs, wood")
        solid = block((0.02, 0.012, 0.02), (0, 1.35 * h, 0.93 * t), turned(x=80), corner=1.0, edge=0.5)
        m.add("button", solid, button, body, "round", repeat=Repeat(count=2, step=(0, -0.32 * h, 0.03 * t)))
