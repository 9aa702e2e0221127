"""Chairs with legs and a back: dining, Windsor, ladder, stools and benches."""

from __future__ import annotations

import numpy as np

from neurok.families.household import stuffs
from neurok.families.household.assemble import FOUR, PAIR, ROOT, Maker
from neurok.families.household.framing import Frame, bar, leg_solid, row
from neurok.families.household.parts import Assembly, Look, Repeat
from neurok.families.household.solids import Solid, block, plate, tube, turned
from neurok.modelling.dice import Dice


def dining_chair(d: Dice) -> Assembly:
    """Four legs, a seat, a back of many kinds, perhaps stretchers, armrests and a cushion."""
    m = Maker("chair")
    w, depth, h, th = d.between(0.37, 0.52), d.between(0.37, 0.5), d.between(0.41, 0.49), d.between(0.02, 0.05)
    frame = stuffs.frame(d)
    padded = d.chance(0.45)
    top = stuffs.padding(d) if padded else (frame if d.chance(0.75) else stuffs.frame(d))
    is_round = d.chance(0.2)
    th = d.between(0.045, 0.09) if padded else th
    words = ["round" if is_round else "square", "padded" if padded else ""]
    seat = m.add("seat", _seat(d, w, depth, th, h, is_round, padded), top, ROOT, *words)
    add_legs(m, d, frame, seat, (w, depth, h - 0.5 * th), is_round)
    kind = d.pick(
        ["panel", "slats", "ladder", "spindles", "cross", "padded", "hoop"],
        [2, 3, 3, 2, 1.5, 3 if padded else 0.6, 1.5],
    )
    add_back(m, d, kind, frame, top if padded else frame, seat, (w, depth, h), is_round)
    if d.chance(0.25):
        add_armrests(m, d, frame, seat, ((0.8 if is_round else 1.0) * w, depth, h))
    if not padded and d.chance(0.3):
        cushion = stuffs.padding(d, "polyurethane foam", hides=0.1)
        size = np.array([0.9 * w, d.between(0.035, 0.06), 0.85 * depth])
        solid = block(
            size,
            (0, h + 0.45 * th + 0.35 * size[1], 0.01),
            corner=1.0 if is_round else 0.3,
            edge=0.9,
            crown=0.25,
            welt=0.004,
        )
        m.add(
            "cushion",
            solid,
            cushion,
            seat,
            "round" if is_round else "square",
            relief="tufted" if d.chance(0.15) else "smooth",
        )
    return m.done()


def _seat(d: Dice, w: float, depth: float, th: float, h: float, is_round: bool, padded: bool) -> Solid:
    if padded:
        return block(
            (w, th, depth),
            (0, h, 0),
            corner=d.between(0.75, 1.0) if is_round else d.between(0.12, 0.35),
            edge=(0.3, 0.8),
            crown=(0.0, d.between(0.1, 0.4)),
            welt=d.pick([0.0, 0.003]),
        )
    if is_round:
        return block((w, th, depth), (0, h, 0), corner=1.0, edge=d.between(0.1, 0.7), crown=(0.0, -d.between(0.0, 0.3)))
    taper = d.between(0.78, 1.0)
    corners = np.array(
        [[-w / 2, -depth / 2], [w / 2, -depth / 2], [taper * w / 2, depth / 2], [-taper * w / 2, depth / 2]]
    )
    # The plate lies in xy; turned about x its y runs to the back.
    return plate(corners, th, (0, h, 0), turned(x=-90), rounding=d.between(0.1, 0.5), bevel=d.between(0.2, 0.9))


def add_legs(
    m: Maker, d: Dice, look: Look, seat: int, size: tuple[float, float, float], is_round: bool = False
) -> None:
    """Four legs under a seat whose underside is at ``size[2]``; perhaps with stretchers between them."""
    w, depth, h = size
    inset = d.between(0.02, 0.05)
    share = 0.64 if is_round else 1.0
    ix, iz = share * (w / 2 - inset), share * (depth / 2 - inset)
    splay = d.between(0.02, 0.09) if d.chance(0.45) else 0.0
    is_metal = look.material in ("steel", "aluminium", "cast iron", "brass", "copper")
    kind = d.pick(
        ["square", "round", "tapered", "turned", "sabre"], [3, 2, 3, 0 if is_metal else 1.5, 0 if is_metal else 0.7]
    )
    thick = d.between(0.018, 0.03) if is_metal else d.between(0.028, 0.05)
    top, foot = np.array([ix, h + 0.012, iz]), np.array([ix + splay, 0.0, iz + splay])
    solid, words = leg_solid(d, kind, top, foot, thick)
    m.add("leg", solid, look, seat, *words, "splayed" if splay > 0.04 else "", repeat=FOUR)
    leg = len(m.parts) - 1
    if d.chance(0.4) and kind != "sabre":
        y = d.between(0.12, 0.26)
        at = top + (foot - top) * (h + 0.012 - y) / (h + 0.012)
        solid = bar((at[0], y, -at[2]), (at[0], y, at[2]), 0.5 * thick, corner=d.pick([0.1, 1.0]))
        m.add("stretcher", solid, look, leg, repeat=PAIR)
        side = len(m.parts) - 1
        if d.chance(0.6):
            z = d.pick([0.0, 0.0, at[2]])
            solid = bar((-at[0], y, z), (at[0], y, z), 0.5 * thick, corner=d.pick([0.1, 1.0]))
            m.add("stretcher", solid, look, side if z == 0.0 else leg)
    elif d.chance(0.4) and not is_round:
        apron = bar((-ix, h - 0.025, iz), (ix, h - 0.025, iz), 0.018, 0.06)
        m.add("apron", apron, look, leg, repeat=Repeat("z"))


def add_back(
    m: Maker, d: Dice, kind: str, frame: Look, panel: Look, seat: int, size: tuple[float, float, float], is_round: bool
) -> None:
    """A back of one kind, leaning a little."""
    w, depth, h = size
    tilt, tall = d.between(3, 14), d.between(0.36, 0.55)
    zb = -depth / 2 + (0.075 if is_round else 0.018)
    f = Frame((0, h - 0.02, zb), turned(x=-tilt))
    half = (0.31 if is_round else 0.46) * w
    thick = d.between(0.022, 0.036)
    if kind in ("panel", "padded"):
        _panel_back(m, d, kind, panel, frame, seat, f, (half, tall))
        return
    if kind == "hoop":
        _hoop_back(m, d, frame, seat, f, (half, tall, thick))
        return
    is_turned = kind == "spindles" and frame.material in stuffs.WOODS and d.chance(0.5)
    post = f.bar((half, 0, 0), (half * d.between(0.95, 1.1), tall, 0), thick, corner=d.pick([0.12, 1.0]))
    posts = m.add("post", post, frame, seat, repeat=PAIR)
    rail_h, curve = d.between(0.05, 0.13), d.between(0.0, 0.03) if kind == "ladder" else d.between(0.0, 0.3) * thick
    solid = _rail(d, f, half * 1.02 + 0.5 * thick, tall - 0.3 * rail_h, rail_h, 0.75 * thick, curve)
    rail = m.add("top rail", solid, frame, posts)
    if kind in ("slats", "spindles"):
        count = d.count(3, 7) if kind == "slats" else d.count(4, 9)
        width = 0.9 * half / count if kind == "slats" else d.between(0.010, 0.016)
        x, step = row(count, half * 0.98)
        name = "slat" if kind == "slats" else "spindle"
        if is_turned:
            solid = f.spindle((x, 0, 0), (x, tall - 0.3 * rail_h, 0), d.between(0.009, 0.014))
        else:
            solid = f.bar(
                (x, 0, 0),
                (x, tall - 0.3 * rail_h, 0),
                width,
                0.4 * thick if kind == "slats" else width,
                corner=0.12 if kind == "slats" else 1.0,
            )
        m.add(
            name,
            solid,
            frame,
            rail,
            "slatted" if kind == "slats" else "",
            "turned" if is_turned else "",
            role="back",
            repeat=Repeat(count=count, step=f.turn @ [step, 0, 0]),
        )
    elif kind == "ladder":
        count = d.count(2, 4)
        y, step = tall * d.between(0.25, 0.4), 0.0
        step = (tall - rail_h - y) / count
        solid = _rail(d, f, half, y, d.between(0.03, 0.06), 0.55 * thick, curve)
        m.add("slat", solid, frame, posts, "slatted", repeat=Repeat(count=count, step=f.turn @ [0, step, 0]))
    elif kind == "cross":
        low = m.add("lower rail", _rail(d, f, half, 0.3 * tall, 0.035, 0.7 * thick, 0.0), frame, posts)
        solid = f.bar((-half, 0.3 * tall, 0), (half, tall - 0.4 * rail_h, 0), 0.028, 0.5 * thick, corner=0.12)
        m.add("cross bar", solid, frame, low, "crossed", repeat=PAIR)


def _rail(d: Dice, f: Frame, half: float, y: float, tall: float, thick: float, curve: float) -> Solid:
    """A board across, bowed to the back."""
    arch = tall * d.pick([0.0, 0.0, 0.35])
    corners = [
        [-half, -tall / 2],
        [0, -tall / 2],
        [half, -tall / 2],
        [half, tall / 2],
        [0.5 * half, tall / 2 + 0.8 * arch],
        [0, tall / 2 + arch],
        [-0.5 * half, tall / 2 + 0.8 * arch],
        [-half, tall / 2],
    ]
    return plate(corners, thick, f.at(0, y, -curve), f.turn, rounding=0.25, bevel=0.5, bow=curve)


def _panel_back(
    m: Maker, d: Dice, kind: str, panel: Look, frame: Look, seat: int, f: Frame, size: tuple[float, float]
) -> None:
    half, tall = size
    raised = d.chance(0.45)
    foot = tall * d.between(0.3, 0.5) if raised else 0.0
    parent = seat
    if raised:
        post = f.bar((0.75 * half, 0, 0), (0.75 * half, 0.9 * tall, 0), 0.024, corner=d.pick([0.12, 1.0]))
        parent = m.add("post", post, frame, seat, repeat=PAIR)
    top, rounding = d.between(0.75, 1.05), d.between(0.1, 0.9)
    low, high = foot - (0.0 if raised else 0.01), tall
    corners = [
        [-half, low],
        [half, low],
        [half * d.between(0.95, 1.05), (low + high) / 2],
        [top * half, high],
        [0, high + d.pick([0.0, 0.03])],
        [-top * half, high],
        [-half, (low + high) / 2],
    ]
    thick = d.between(0.035, 0.07) if kind == "padded" else d.between(0.014, 0.028)
    solid = plate(
        np.array(corners) - [0, (low + high) / 2],
        thick,
        f.at(0, (low + high) / 2, 0.004),
        f.turn,
        rounding=rounding,
        bevel=0.9 if kind == "padded" else 0.5,
        puff=d.between(0.15, 0.4) if kind == "padded" else 0.0,
        bow=d.between(0.0, 0.05),
        curl=d.between(-0.03, 0.02),
    )
    m.add(
        "back",
        solid,
        panel,
        parent,
        "padded" if kind == "padded" else "panel",
        "rounded" if rounding > 0.6 else "square",
    )


def _hoop_back(m: Maker, d: Dice, look: Look, seat: int, f: Frame, size: tuple[float, float, float]) -> None:
    """A bent bow with spindles or a splat inside it."""
    half, tall, thick = size
    points = [
        f.at(-half, -0.005, 0),
        f.at(-1.03 * half, 0.55 * tall, 0),
        f.at(-0.62 * half, 0.95 * tall, -0.01),
        f.at(0.62 * half, 0.95 * tall, -0.01),
        f.at(1.03 * half, 0.55 * tall, 0),
        f.at(half, -0.005, 0),
    ]
    hoop = m.add("bow", tube(points, 0.5 * thick, bend=1.0), look, seat, "bent", role="back")
    if d.chance(0.6):
        count = d.count(4, 7)
        x, step = row(count, 0.6 * half)
        solid = f.bar((x, -0.005, 0), (x, 0.985 * tall, 0), 0.012, corner=1.0)
        m.add("spindle", solid, look, hoop, repeat=Repeat(count=count, step=f.turn @ [step, 0, 0]))
        return
    corners = [
        [-0.28 * half, 0],
        [0.28 * half, 0],
        [0.2 * half, 0.4 * tall],
        [0.42 * half, 0.75 * tall],
        [0.3 * half, 1.0 * tall],
        [-0.3 * half, 1.0 * tall],
        [-0.42 * half, 0.75 * tall],
        [-0.2 * half, 0.4 * tall],
    ]
    solid = plate(np.array(corners) - [0, tall / 2], 0.012, f.at(0, tall / 2, -0.004), f.turn, rounding=0.8, bevel=0.4)
    m.add("splat", solid, look, hoop, "carved")


def add_armrests(m: Maker, d: Dice, look: Look, seat: int, size: tuple[float, float, float]) -> None:
    """A pair of armrests on posts."""
    w, depth, h = size
    up, x, z = d.between(0.18, 0.25), w / 2 - 0.012, 0.28 * depth
    post = bar((x, h - 0.01, z), (x + 0.01, h + up, z), 0.022, corner=d.pick([0.12, 1.0]))
    posts = m.add("arm support", post, look, seat, repeat=PAIR)
    if d.chance(0.5):
        points = [(x + 0.01, h + up, z + 0.05), (x + 0.015, h + up + 0.005, 0), (x, h + up, -0.5 * depth - 0.03)]
        solid = tube(points, 0.014, flat=1.0, bend=1.0)
    else:
        solid = block((0.045, 0.022, 0.98 * depth), (x + 0.008, h + up, -0.02), corner=0.25, edge=0.7)
    m.add("armrest", solid, look, posts, repeat=PAIR)
