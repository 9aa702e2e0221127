"""Stools and benches."""

from __future__ import annotations

import numpy as np

from neurok.families.household import stuffs
from neurok.families.household.assemble import FOUR, PAIR, ROOT, Maker
from neurok.families.household.framing import bar, leg_solid
from neurok.families.household.parts import Assembly, Look, Repeat
from neurok.families.household.solids import Solid, block, lathe, turned
from neurok.modelling.dice import Dice
from neurok.modelling.forms import Hollow


def stool(d: Dice) -> Assembly:
    """A seat without a back, low or as high as a bar."""
    m = Maker("chair")
    h = d.pick([d.between(0.4, 0.5), d.between(0.62, 0.8)])
    wide, is_round = d.between(0.3, 0.42), d.chance(0.7)
    padded = d.chance(0.4)
    frame = stuffs.frame(d)
    top = stuffs.padding(d) if padded else frame
    th = d.between(0.05, 0.09) if padded else d.between(0.022, 0.045)
    solid = block(
        (wide, th, wide),
        (0, h - th / 2, 0),
        corner=1.0 if is_round else 0.15,
        edge=(0.1, 0.7),
        crown=(0.0, 0.3 if padded else 0.0),
    )
    seat = m.add("seat", solid, top, ROOT, "round" if is_round else "square", "padded" if padded else "")
    m.style += ["stool", "bar" if h > 0.6 else "low"]
    count = d.pick([3, 4, 4])
    r, spread = 0.33 * wide, d.between(0.03, 0.1) * h / 0.5
    foot, head = np.array([0, 0.0, r + spread]), np.array([0, h - 0.6 * th, r])
    thick = d.between(0.016, 0.025) if frame.material in stuffs.METALS else d.between(0.028, 0.045)
    leg, words = leg_solid(d, d.pick(["round", "tapered", "square"]), head, foot, thick)
    turn = np.pi / 4 if count == 4 else np.pi / 3
    spin = turned(y=np.degrees(turn))
    leg = Solid(leg.kind, leg.code, leg.size, spin @ leg.centre, spin @ leg.turn)
    legs = m.add("leg", leg, frame, seat, *words, "splayed", repeat=Repeat(count=count, turn=2 * np.pi / count))
    if h > 0.55 or d.chance(0.2):
        y = d.between(0.25, 0.4) * h
        ring = r + spread * (1 - y / (h - 0.6 * th))
        size = ring + 0.5 * thick
        solid = lathe([(size, y - 0.01, 1), (size, y + 0.01, 1)])
        m.add("foot ring", solid, frame, legs, "round", hollow=Hollow(opening="through", wall=0.018))
    return m.done()


def bench(d: Dice) -> Assembly:
    """A long seat of boards, perhaps with a back."""
    m = Maker("chair", "bench")
    long, deep, h = d.between(0.9, 1.7), d.between(0.34, 0.48), d.between(0.4, 0.47)
    board, frame = stuffs.wood(d), d.pick([stuffs.wood, stuffs.metal])(d)
    x = 0.5 * long - d.between(0.08, 0.22)
    rail = m.add(
        "frame", bar((x, h - 0.05, -deep / 2), (x, h - 0.05, deep / 2), 0.05, 0.05), frame, role="support", repeat=PAIR
    )
    count = d.pick([1, 3, 4, 5])
    wide = deep / count
    slat = block((long, 0.03, 0.88 * wide), (0, h - 0.012, -deep / 2 + wide / 2), corner=0.06, edge=0.4)
    m.add(
        "seat" if count == 1 else "slat",
        slat,
        board,
        rail,
        "slatted" if count > 1 else "",
        role="seat",
        repeat=Repeat(count=count, step=(0, 0, wide)),
    )
    kind = d.pick(["square", "tapered", "round"])
    leg, words = leg_solid(
        d,
        kind,
        np.array([x, h - 0.04, 0.4 * deep]),
        np.array([x, 0, 0.4 * deep + d.pick([0.0, 0.05])]),
        d.between(0.045, 0.07),
    )
    legs = m.add("leg", leg, frame, rail, *words, repeat=FOUR)
    if d.chance(0.3):
        m.add("stretcher", bar((-x, 0.14, 0), (x, 0.14, 0), 0.04, 0.03), frame, _cross(m, frame, legs, (x, deep)))
    if d.chance(0.5):
        lean, tall = d.between(0.06, 0.14), d.between(0.32, 0.45)
        top = (x, h + tall, -deep / 2 - lean)
        posts = m.add("post", bar((x, h - 0.06, -deep / 2 + 0.03), top, 0.05, 0.04), frame, rail, repeat=PAIR)
        n = d.count(2, 4)
        turn = turned(x=-np.degrees(np.arctan2(lean + 0.03, tall)))
        step = (tall - 0.1) / n
        start = np.array([0, h + 0.1, -deep / 2 + 0.03 - (lean + 0.03) * 0.16 / (tall + 0.06) + 0.02])
        solid = block((long, 0.75 * step, 0.026), start + turn @ [0, 0.3 * step, 0], turn, corner=0.06, edge=0.4)
        m.add("slat", solid, board, posts, "slatted", repeat=Repeat(count=n, step=turn @ [0, step, 0]))
    return m.done()


def _cross(m: Maker, look: Look, legs: int, size: tuple[float, float]) -> int:
    x, deep = size
    return m.add("stretcher", bar((x, 0.14, -0.42 * deep), (x, 0.14, 0.42 * deep), 0.035), look, legs, repeat=PAIR)
