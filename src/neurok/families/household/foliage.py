"""Leaves, stalks and flowers: what grows in pots and stands in vases."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from neurok.families.household.assemble import Maker
from neurok.families.household.looks import draw_look
from neurok.families.household.parts import Look, Repeat
from neurok.families.household.solids import Solid, block, sheet, tube
from neurok.modelling.dice import Dice

GOLDEN = float(np.radians(137.5))
"""From one leaf to the next [rad]."""


GREENS = ["green", "green", "dark green", "dark green", "lime green", "olive", "green", "mint", "burgundy"]


PETALS = [
    "red",
    "pink",
    "hot pink",
    "white",
    "yellow",
    "orange",
    "purple",
    "lavender",
    "coral",
    "blue",
    "peach",
    "plum",
]


def leaf_look(d: Dice) -> Look:
    """How leaves look."""
    return draw_look(d, GREENS, "leaf", feels="none*2, stiff, flexible")


def stem_look(d: Dice, wood: bool = False) -> Look:
    """How stems or trunks look."""
    if wood:
        return draw_look(d, "brown, light brown, dark brown, grey", "green wood, bark")
    return draw_look(d, "green, dark green, olive, lime green", "stem")


def leaf(
    d: Dice, kind: str, long: float, wide: float, at: Sequence[float] | np.ndarray, turn: np.ndarray, droop: float
) -> Solid:
    """A leaf from its base: ``blade`` long and narrow, ``oval``, ``heart`` or ``spear``."""
    u = np.linspace(0, 1, 9)
    outline = {
        "blade": np.minimum(1.0, 6 * u + 0.35) * (1 - u**2.5),
        "oval": np.sin(np.pi * np.clip(u, 0.06, 0.985) ** 0.85) ** 0.75,
        "heart": np.clip(np.sin(np.pi * np.clip(u * 0.86 + 0.14, 0, 1)), 0, 1) ** 0.7 * np.where(u < 0.05, 0.3, 1),
        "spear": np.sin(np.pi * np.clip(u, 0.04, 0.99) ** 0.6) ** 1.1,
    }[kind]
    widths = 0.5 * wide * np.maximum(outline, 0.06)
    bends = np.full(9, -droop / 8.0)
    return sheet(
        widths,
        long,
        max(0.0022, 0.012 * long),
        at,
        turn,
        bends=bends,
        cup=d.between(0.05, 0.35),
        wave=d.pick([0.0, 0.0, 0.03 * wide]),
        waves=d.between(1.5, 3.0),
    )


def outward(azimuth: float, elevation: float) -> np.ndarray:
    """Axes of a leaf that leaves at an elevation [degrees] and bends down as it goes."""
    a, e = np.radians(azimuth), np.radians(elevation)
    y = np.array([np.sin(a) * np.cos(e), np.sin(e), np.cos(a) * np.cos(e)])
    x = np.array([np.cos(a), 0.0, -np.sin(a)])
    return np.column_stack([x, y, np.cross(x, y)])


def add_spiral(
    m: Maker, d: Dice, stem: int, look: Look, kind: str, foot: np.ndarray, tip: np.ndarray, long: float, count: int
) -> None:
    """Leaves around a stem, smaller towards its tip: one token each half, so that they follow its lean."""
    start = foot + 0.3 * (tip - foot)
    step = 0.68 * (tip - foot) / max(count - 1, 1)
    turn = outward(d.between(0, 360), d.between(15, 45))
    wide = long * {"oval": 0.45, "heart": 0.7, "spear": 0.28, "blade": 0.1}[kind] * d.between(0.85, 1.15)
    at = start - 0.004 * turn[:, 1]
    solid = leaf(d, kind, long, wide, at, turn, -d.between(0.3, 1.1))
    pivot = (float(start[0]), float(start[2]))
    m.add(
        "leaf",
        solid,
        look,
        stem,
        "pointed" if kind == "spear" else "rounded",
        meets=at,
        repeat=Repeat(count=count, step=step, turn=GOLDEN, scale=0.94, pivot=pivot),
    )


def add_stalks(m: Maker, d: Dice, soil: int, top: float, tall: float, count: int, spread: float) -> None:
    """Stalks, each with a flower or a spray of them."""
    green, petals = stem_look(d), draw_look(d, PETALS, "petal")
    for k in range(count):
        a = GOLDEN * k + d.between(0, 1)
        foot = np.array([spread * np.sin(a), top - 0.01, spread * np.cos(a)])
        bend = d.between(0.05, 0.35) * tall
        tip = foot + [bend * np.sin(a), tall * d.between(0.8, 1.0), bend * np.cos(a)]
        mid = (foot + tip) / 2 + [0, 0.1 * tall, 0]
        stem = m.add("stem", tube([foot, mid, tip], max(0.0022, 0.012 * tall)), green, soil, "thin", "long")
        add_bloom(m, d, stem, petals, tip, d.between(0.06, 0.1) * tall + 0.006)


def add_bloom(m: Maker, d: Dice, stem: int, petals: Look, tip: np.ndarray, r: float) -> None:
    """A flower: petals around a middle."""
    middle_look = draw_look(d, "yellow*2, mustard, orange, brown, white", "petal")
    middle = m.add(
        "flower centre", block((0.6 * r, 0.5 * r, 0.6 * r), tip, corner=1.0, edge=1.0), middle_look, stem, "round"
    )
    count = d.count(5, 7)
    rise = d.between(5, 65)
    turn = outward(d.between(0, 360), rise)
    at = tip + 0.12 * r * turn[:, 1]
    u = np.linspace(0, 1, 9)
    widths = 0.42 * r * np.maximum(np.sin(np.pi * np.clip(u, 0.1, 0.96)) ** 0.6, 0.15)
    solid = sheet(widths, 1.15 * r, 0.1 * r, at, turn, bends=-d.between(0.0, 0.12), cup=0.25)
    m.add(
        "petal",
        solid,
        petals,
        middle,
        "rounded",
        meets=at,
        repeat=Repeat(count=count, turn=2 * np.pi / count, pivot=(float(tip[0]), float(tip[2]))),
    )


def add_bouquet(m: Maker, d: Dice, body: int, tall: float, radius: float) -> None:
    """Flowers or dry twigs that stand on the bottom of a vase."""
    green = stem_look(d, wood=d.chance(0.3))
    petals = draw_look(d, PETALS, "petal")
    up = tall * d.between(1.5, 2.1)
    for k in range(d.count(2, 5)):
        a = GOLDEN * k
        foot = np.array([0.015 * np.sin(a), 0.002, 0.015 * np.cos(a)])
        lean = 0.35 * radius
        neck = foot + [0.2 * lean * np.sin(a), tall, 0.2 * lean * np.cos(a)]
        tip = np.array([1.8 * lean * np.sin(a), up * d.between(0.85, 1.0), 1.8 * lean * np.cos(a)])
        stem = m.add("stem", tube([foot, neck, tip], 0.003), green, body, "thin", "long")
        add_bloom(m, d, stem, petals, tip, 0.05 * up)
