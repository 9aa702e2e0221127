"""Chairs, stools and benches: on four legs, a sled, a star, a pedestal or a bent tube."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from neurok.catalogue import assemble, materials
from neurok.catalogue.appearance import draw_appearance
from neurok.catalogue.assemble import PAIR, ROOT, Maker, around
from neurok.catalogue.parts import Appearance, Assembly, Hinge, Repeat
from neurok.catalogue.solids import (
    Frame,
    Solid,
    bar,
    block,
    lathe,
    leg_solid,
    plate,
    row,
    sheet,
    symmetric,
    tube,
    turned,
)
from neurok.modelling.forms import Hollow
from neurok.modelling.sampler import Sampler

Size = tuple[float, float, float]
"""Width, depth and height of a seat [m]."""


def dining_chair(d: Sampler) -> Assembly:
    """Four legs, a seat, a back of many kinds, perhaps stretchers, armrests and a cushion."""
    m = Maker("chair")
    w, depth, h, th = d.between(0.37, 0.52), d.between(0.37, 0.5), d.between(0.41, 0.49), d.between(0.02, 0.05)
    frame = materials.frame(d)
    padded = d.chance(0.45)
    top = materials.padding(d) if padded else (frame if d.chance(0.75) else materials.frame(d))
    is_round = d.chance(0.2)
    th = d.between(0.045, 0.09) if padded else th
    shape = "round" if is_round else "square"
    seat = m.add("seat", _seat(d, w, depth, th, h, is_round, padded), top, ROOT, shape, "padded" if padded else "")
    _add_legs(m, d, frame, seat, (w, depth, h - 0.5 * th), is_round)
    kinds = ["panel", "slats", "ladder", "spindles", "cross", "padded", "hoop"]
    kind = d.pick(kinds, [2, 3, 3, 2, 1.5, 3 if padded else 0.6, 1.5])
    _add_back(m, d, kind, frame, top if padded else frame, seat, (w, depth, h), is_round)
    if d.chance(0.25):
        _add_armrests(m, d, frame, seat, ((0.8 if is_round else 1.0) * w, depth, h))
    if not padded and d.chance(0.3):
        finish = materials.padding(d, "polyurethane foam", hides=0.1)
        size = np.array([0.9 * w, d.between(0.035, 0.06), 0.85 * depth])
        at = (0, h + 0.45 * th + 0.35 * size[1], 0.01)
        solid = block(size, at, corner=1.0 if is_round else 0.3, edge=0.9, crown=0.25, welt=0.004)
        m.add("cushion", solid, finish, seat, shape, relief="tufted" if d.chance(0.15) else "smooth")
    return m.done()


def _seat(d: Sampler, w: float, depth: float, th: float, h: float, is_round: bool, padded: bool) -> Solid:
    size, at = (w, th, depth), (0, h, 0)
    if padded:
        corner = d.between(0.75, 1.0) if is_round else d.between(0.12, 0.35)
        crown = (0.0, d.between(0.1, 0.4))
        return block(size, at, corner=corner, edge=(0.3, 0.8), crown=crown, welt=d.pick([0.0, 0.003]))
    if is_round:
        return block(size, at, corner=1.0, edge=d.between(0.1, 0.7), crown=(0.0, -d.between(0.0, 0.3)))
    corners = symmetric([(w / 2, -depth / 2), (d.between(0.78, 1.0) * w / 2, depth / 2)])
    # The plate lies in xy; turned about x its y runs to the back.
    return plate(corners, th, at, turned(x=-90), rounding=d.between(0.1, 0.5), bevel=d.between(0.2, 0.9))


def _add_legs(m: Maker, d: Sampler, finish: Appearance, seat: int, size: Size, is_round: bool = False) -> None:
    """Four legs under a seat whose underside is at ``size[2]``; perhaps with stretchers between them."""
    w, depth, h = size
    inset = d.between(0.02, 0.05)
    share = 0.64 if is_round else 1.0
    ix, iz = share * (w / 2 - inset), share * (depth / 2 - inset)
    splay = d.between(0.02, 0.09) if d.chance(0.45) else 0.0
    is_metal = finish.material in materials.METALS
    carved = [0, 0] if is_metal else [1.5, 0.7]
    kind = d.pick(["square", "round", "tapered", "turned", "sabre"], [3, 2, 3, *carved])
    thick = d.between(0.018, 0.03) if is_metal else d.between(0.028, 0.05)
    top, foot = np.array([ix, h + 0.012, iz]), np.array([ix + splay, 0.0, iz + splay])
    leg = assemble.add_legs(m, d, kind, finish, seat, top, foot, thick, "splayed" if splay > 0.04 else "")
    if d.chance(0.4) and kind != "sabre":
        y = d.between(0.12, 0.26)
        at = top + (foot - top) * (h + 0.012 - y) / (h + 0.012)
        solid = bar((at[0], y, -at[2]), (at[0], y, at[2]), 0.5 * thick, corner=d.pick([0.1, 1.0]))
        side = m.add("stretcher", solid, finish, leg, repeat=PAIR)
        if d.chance(0.6):
            z = d.pick([0.0, 0.0, at[2]])
            solid = bar((-at[0], y, z), (at[0], y, z), 0.5 * thick, corner=d.pick([0.1, 1.0]))
            m.add("stretcher", solid, finish, side if z == 0.0 else leg)
    elif d.chance(0.4) and not is_round:
        apron = bar((-ix, h - 0.025, iz), (ix, h - 0.025, iz), 0.018, 0.06)
        m.add("apron", apron, finish, leg, repeat=Repeat("z"))


def _add_back(
    m: Maker, d: Sampler, kind: str, frame: Appearance, panel: Appearance, seat: int, size: Size, is_round: bool
) -> None:
    """A back of one kind, leaning a little."""
    w, depth, h = size
    tilt, tall = d.between(3, 14), d.between(0.36, 0.55)
    f = Frame((0, h - 0.02, -depth / 2 + (0.075 if is_round else 0.018)), turned(x=-tilt))
    half = (0.31 if is_round else 0.46) * w
    thick = d.between(0.022, 0.036)
    if kind in ("panel", "padded"):
        _panel_back(m, d, kind, panel, frame, seat, f, (half, tall))
        return
    if kind == "hoop":
        _hoop_back(m, d, frame, seat, f, (half, tall, thick))
        return
    is_turned = kind == "spindles" and frame.material in materials.WOODS and d.chance(0.5)
    post = f.bar((half, 0, 0), (half * d.between(0.95, 1.1), tall, 0), thick, corner=d.pick([0.12, 1.0]))
    posts = m.add("post", post, frame, seat, repeat=PAIR)
    rail_h, curve = d.between(0.05, 0.13), d.between(0.0, 0.03) if kind == "ladder" else d.between(0.0, 0.3) * thick
    solid = _rail(d, f, half * 1.02 + 0.5 * thick, tall - 0.3 * rail_h, rail_h, 0.75 * thick, curve)
    rail = m.add("top rail", solid, frame, posts)
    if kind in ("slats", "spindles"):
        is_slat = kind == "slats"
        count = d.count(3, 7) if is_slat else d.count(4, 9)
        width = 0.9 * half / count if is_slat else d.between(0.010, 0.016)
        x, step = row(count, half * 0.98)
        low, high = (x, 0, 0), (x, tall - 0.3 * rail_h, 0)
        if is_turned:
            solid = f.spindle(low, high, d.between(0.009, 0.014))
        else:
            solid = f.bar(low, high, width, 0.4 * thick if is_slat else width, corner=0.12 if is_slat else 1.0)
        words = ("slatted" if is_slat else "", "turned" if is_turned else "")
        repeat = Repeat(count=count, step=f.turn @ [step, 0, 0])
        m.add("slat" if is_slat else "spindle", solid, frame, rail, *words, repeat=repeat)
    elif kind == "ladder":
        count = d.count(2, 4)
        y = tall * d.between(0.25, 0.4)
        step = (tall - rail_h - y) / count
        solid = _rail(d, f, half, y, d.between(0.03, 0.06), 0.55 * thick, curve)
        m.add("slat", solid, frame, posts, "slatted", repeat=Repeat(count=count, step=f.turn @ [0, step, 0]))
    elif kind == "cross":
        low_rail = m.add("lower rail", _rail(d, f, half, 0.3 * tall, 0.035, 0.7 * thick, 0.0), frame, posts)
        solid = f.bar((-half, 0.3 * tall, 0), (half, tall - 0.4 * rail_h, 0), 0.028, 0.5 * thick, corner=0.12)
        m.add("cross bar", solid, frame, low_rail, "crossed", repeat=PAIR)


def _rail(d: Sampler, f: Frame, half: float, y: float, tall: float, thick: float, curve: float) -> Solid:
    """A board across, bowed to the back."""
    arch, top = tall * d.pick([0.0, 0.0, 0.35]), tall / 2
    right = [(half, -top), (half, top), (0.5 * half, top + 0.8 * arch), (0, top + arch)]
    corners = np.insert(symmetric(right), 1, (0, -top), axis=0)
    return plate(corners, thick, f.at(0, y, -curve), f.turn, rounding=0.25, bevel=0.5, bow=curve)


def _panel_back(
    m: Maker,
    d: Sampler,
    kind: str,
    panel: Appearance,
    frame: Appearance,
    seat: int,
    f: Frame,
    size: tuple[float, float],
) -> None:
    half, tall = size
    raised, padded = d.chance(0.45), kind == "padded"
    low = tall * d.between(0.3, 0.5) if raised else -0.01
    parent = seat
    if raised:
        post = f.bar((0.75 * half, 0, 0), (0.75 * half, 0.9 * tall, 0), 0.024, corner=d.pick([0.12, 1.0]))
        parent = m.add("post", post, frame, seat, repeat=PAIR)
    top, rounding, middle = d.between(0.75, 1.05), d.between(0.1, 0.9), (low + tall) / 2
    right = [(half, low), (half * d.between(0.95, 1.05), middle), (top * half, tall), (0, tall + d.pick([0.0, 0.03]))]
    corners = symmetric(right)
    corners[-1, 0] = -half
    thick = d.between(0.035, 0.07) if padded else d.between(0.014, 0.028)
    puff = d.between(0.15, 0.4) if padded else 0.0
    bends = {"bow": d.between(0.0, 0.05), "curl": d.between(-0.03, 0.02)}
    shape = {"rounding": rounding, "bevel": 0.9 if padded else 0.5, "puff": puff, **bends}
    solid = plate(corners - [0, middle], thick, f.at(0, middle, 0.004), f.turn, **shape)
    m.add("back", solid, panel, parent, kind, "rounded" if rounding > 0.6 else "square")


def _hoop_back(m: Maker, d: Sampler, finish: Appearance, seat: int, f: Frame, size: Size) -> None:
    """A bent bow with spindles or a splat inside it."""
    half, tall, thick = size
    right = [(1.0, -0.005, 0), (1.03, 0.55 * tall, 0), (0.62, 0.95 * tall, -0.01)]
    points = [f.at(sign * x * half, y, z) for sign, side in ((-1, right), (1, right[::-1])) for x, y, z in side]
    hoop = m.add("bow", tube(points, 0.5 * thick, bend=1.0), finish, seat, "bent", role="back")
    if d.chance(0.6):
        count = d.count(4, 7)
        x, step = row(count, 0.6 * half)
        solid = f.bar((x, -0.005, 0), (x, 0.985 * tall, 0), 0.012, corner=1.0)
        m.add("spindle", solid, finish, hoop, repeat=Repeat(count=count, step=f.turn @ [step, 0, 0]))
        return
    corners = symmetric([(0.28, 0), (0.2, 0.4), (0.42, 0.75), (0.3, 1.0)]) * [half, tall] - [0, tall / 2]
    solid = plate(corners, 0.012, f.at(0, tall / 2, -0.004), f.turn, rounding=0.8, bevel=0.4)
    m.add("splat", solid, finish, hoop, "carved")


def _add_armrests(m: Maker, d: Sampler, finish: Appearance, seat: int, size: Size) -> None:
    """A pair of armrests on posts."""
    w, depth, h = size
    up, x, z = d.between(0.18, 0.25), w / 2 - 0.012, 0.28 * depth
    post = bar((x, h - 0.01, z), (x + 0.01, h + up, z), 0.022, corner=d.pick([0.12, 1.0]))
    posts = m.add("arm support", post, finish, seat, repeat=PAIR)
    if d.chance(0.5):
        points = [(x + 0.01, h + up, z + 0.05), (x + 0.015, h + up + 0.005, 0), (x, h + up, -0.5 * depth - 0.03)]
        solid = tube(points, 0.014, flat=1.0, bend=1.0)
    else:
        solid = block((0.045, 0.022, 0.98 * depth), (x + 0.008, h + up, -0.02), corner=0.25, edge=0.7)
    m.add("armrest", solid, finish, posts, repeat=PAIR)


def stool(d: Sampler) -> Assembly:
    """A seat without a back, low or as high as a bar."""
    m = Maker("chair")
    h = d.pick([d.between(0.4, 0.5), d.between(0.62, 0.8)])
    wide, is_round = d.between(0.3, 0.42), d.chance(0.7)
    padded = d.chance(0.4)
    frame = materials.frame(d)
    top = materials.padding(d) if padded else frame
    th = d.between(0.05, 0.09) if padded else d.between(0.022, 0.045)
    corner, crown = 1.0 if is_round else 0.15, (0.0, 0.3 if padded else 0.0)
    solid = block((wide, th, wide), (0, h - th / 2, 0), corner=corner, edge=(0.1, 0.7), crown=crown)
    seat = m.add("seat", solid, top, ROOT, "round" if is_round else "square", "padded" if padded else "")
    m.style += ["stool", "bar" if h > 0.6 else "low"]
    count = d.pick([3, 4, 4])
    r, spread = 0.33 * wide, d.between(0.03, 0.1) * h / 0.5
    thick = d.between(0.016, 0.025) if frame.material in materials.METALS else d.between(0.028, 0.045)
    kind = d.pick(["round", "tapered", "square"])
    leg, word = leg_solid(d, kind, (0, h - 0.6 * th, r), (0, 0.0, r + spread), thick)
    spin = turned(y=np.degrees(np.pi / 4 if count == 4 else np.pi / 3))
    leg = replace(leg, centre=spin @ leg.centre, turn=spin @ leg.turn)
    legs = m.add("leg", leg, frame, seat, word, "splayed", repeat=around(count))
    if h > 0.55 or d.chance(0.2):
        y = d.between(0.25, 0.4) * h
        size = r + spread * (1 - y / (h - 0.6 * th)) + 0.5 * thick
        ring = lathe([(size, y - 0.01, 1), (size, y + 0.01, 1)])
        m.add("foot ring", ring, frame, legs, "round", hollow=Hollow(0.018, "through"))
    return m.done()


def bench(d: Sampler) -> Assembly:
    """A long seat of boards, perhaps with a back."""
    m = Maker("chair", "bench")
    long, deep, h = d.between(0.9, 1.7), d.between(0.34, 0.48), d.between(0.4, 0.47)
    board, frame = materials.wood(d), d.pick([materials.wood, materials.metal])(d)
    x = 0.5 * long - d.between(0.08, 0.22)
    solid = bar((x, h - 0.05, -deep / 2), (x, h - 0.05, deep / 2), 0.05, 0.05)
    rail = m.add("frame", solid, frame, role="support", repeat=PAIR)
    count = d.pick([1, 3, 4, 5])
    wide = deep / count
    slat = block((long, 0.03, 0.88 * wide), (0, h - 0.012, -deep / 2 + wide / 2), corner=0.06, edge=0.4)
    name, word = ("seat", "") if count == 1 else ("slat", "slatted")
    m.add(name, slat, board, rail, word, role="seat", repeat=Repeat(count=count, step=(0, 0, wide)))
    kind = d.pick(["square", "tapered", "round"])
    top, foot = (x, h - 0.04, 0.4 * deep), (x, 0, 0.4 * deep + d.pick([0.0, 0.05]))
    legs = assemble.add_legs(m, d, kind, frame, rail, top, foot, d.between(0.045, 0.07))
    if d.chance(0.3):
        side = bar((x, 0.14, -0.42 * deep), (x, 0.14, 0.42 * deep), 0.035)
        sides = m.add("stretcher", side, frame, legs, repeat=PAIR)
        m.add("stretcher", bar((-x, 0.14, 0), (x, 0.14, 0), 0.04, 0.03), frame, sides)
    if d.chance(0.5):
        lean, tall = d.between(0.06, 0.14), d.between(0.32, 0.45)
        post = bar((x, h - 0.06, -deep / 2 + 0.03), (x, h + tall, -deep / 2 - lean), 0.05, 0.04)
        posts = m.add("post", post, frame, rail, repeat=PAIR)
        n = d.count(2, 4)
        turn = turned(x=-np.degrees(np.arctan2(lean + 0.03, tall)))
        step = (tall - 0.1) / n
        start = np.array([0, h + 0.1, -deep / 2 + 0.03 - (lean + 0.03) * 0.16 / (tall + 0.06) + 0.02])
        solid = block((long, 0.75 * step, 0.026), start + turn @ [0, 0.3 * step, 0], turn, corner=0.06, edge=0.4)
        m.add("slat", solid, board, posts, "slatted", repeat=Repeat(count=n, step=turn @ [0, step, 0]))
    return m.done()


def shell_chair(d: Sampler) -> Assembly:
    """Seat and back in one bent sheet on thin legs or a sled."""
    m = Maker("chair")
    finish = d.pick([materials.plastic, materials.wood, materials.padding], [3, 1.5, 1])(d)
    wide, deep, h, tall = d.between(0.4, 0.5), d.between(0.38, 0.45), d.between(0.42, 0.47), d.between(0.34, 0.46)
    seat = m.add("shell", _shell(d, wide, deep, tall, h, 0.035 if finish.cover else 0.014), finish, ROOT, "curved")
    frame = d.pick([materials.metal, materials.wood], [3, 2])(d)
    if d.chance(0.3):
        x, front, back = 0.42 * wide, 0.42 * deep, -0.3 * deep
        ends = (x - 0.06, h - 0.005, 0.3 * deep), (x - 0.06, h - 0.005, -0.22 * deep)
        ground = [(x + 0.03, 0.012, 0.5 * deep), (x + 0.03, 0.012, -0.5 * deep)]
        points = [ends[0], (x, h - 0.03, front), *ground, (x, h - 0.03, back), ends[1]]
        runner = m.add("leg", tube(points, d.between(0.007, 0.011), bend=0.05), frame, seat, "bent", repeat=PAIR)
        m.add("stretcher", bar((-x, h - 0.03, front), (x, h - 0.03, front), 0.014, corner=1.0), frame, runner)
    else:
        _add_legs(m, d, frame, seat, (0.72 * wide, 0.7 * deep, h - 0.006))
    if finish.cover == "" and d.chance(0.3):
        pad = materials.padding(d, "polyurethane foam")
        solid = block((0.82 * wide, 0.04, 0.8 * deep), (0, h + 0.022, 0.01), corner=0.4, edge=0.8, crown=0.2)
        m.add("cushion", solid, pad, seat)
    return m.done()


def _shell(d: Sampler, wide: float, deep: float, tall: float, h: float, thick: float) -> Solid:
    """A sheet from the front edge back and up: flat, then a tight bend, then nearly straight."""
    bends = np.zeros(9)
    bends[3:6] = np.radians(d.between(70, 84)) * np.array([0.3, 0.42, 0.28])
    widths = 0.5 * wide * np.array([0.9, 1.0, 1.0, 0.98, 0.92, 0.97, 1.0, 0.95, d.between(0.55, 0.95)])
    # The sheet runs along its y and bends towards its z: turned so that it starts at the front and rises at the back.
    turn = np.column_stack([[1.0, 0, 0], [0, 0, -1.0], [0, 1.0, 0]])
    return sheet(widths, deep + tall, thick, (0, h, deep / 2), turn, bends=bends, cup=d.between(0.0, 0.1))


def swivel_chair(d: Sampler) -> Assembly:
    """A star base with castors; everything above the column turns."""
    m = Maker("chair")
    colours, materials_ = "black*2, silver, charcoal, white, light grey", "nylon, steel, aluminium, abs"
    frame = draw_appearance(d, colours, materials_, feels="none, stiff")
    h, arms, reach = d.between(0.43, 0.55), d.pick([4, 5, 5, 5]), d.between(0.27, 0.33)
    wheels = d.chance(0.75)
    low, neck = 0.07 if wheels else 0.02, 0.6 * h
    foot = [(0.03, low, 1), (0.045, low + 0.03, 0.3), (0.03, low + 0.08, 0.5)]
    solid = lathe([*foot, (0.026, neck, 1), (0.018, neck, 1), (0.018, h - 0.012, 1)])
    column = m.add("column", solid, frame, ROOT, "round")
    arm = bar((0, low + 0.035, 0.015), (0, low, reach), 0.045, 0.03, corner=0.3, taper=1.2)
    star = m.add("star base", arm, frame, column, repeat=around(arms))
    if wheels:
        tyre = draw_appearance(d, "black, charcoal", "nylon, rubber")
        assemble.add_castors(m, tyre, star, (0, 0.033, reach - 0.015), (0.066, 0.032), 0.3, around(arms))
    w, deep = d.between(0.44, 0.54), d.between(0.42, 0.5)
    cloth = materials.padding(d, hides=0.35)
    size, corner = (w, d.between(0.06, 0.1), deep), d.between(0.2, 0.5)
    solid = block(size, (0, h, 0), corner=corner, edge=(0.3, 0.9), crown=(0.0, 0.2))
    spin = Hinge("continuous", (0, 1, 0), (0, h, 0))
    seat = m.add("seat", solid, cloth, column, "padded", "swivelling", hinge=spin)
    _office_back(m, d, frame, cloth, seat, (w, deep, h))
    if d.chance(0.65):
        x, up = w / 2 + 0.02, d.between(0.17, 0.24)
        points = [(x - 0.12, h - 0.02, 0.0), (x, h - 0.015, 0.0), (x + 0.01, h + 0.5 * up, 0.0), (x, h + up, 0.02)]
        posts = m.add("arm support", tube(points, 0.014, flat=0.7, bend=0.03), frame, seat, repeat=PAIR)
        solid = block((0.07, 0.028, 0.26), (x, h + up + 0.005, 0.0), corner=0.5, edge=0.7)
        m.add("armrest", solid, frame, posts, repeat=PAIR)
    m.style.append("office")
    return m.done()


def _office_back(m: Maker, d: Sampler, frame: Appearance, cloth: Appearance, seat: int, size: Size) -> None:
    w, deep, h = size
    tall, gap = d.between(0.4, 0.7), d.between(0.05, 0.16)
    tilt = d.between(4, 12)
    back, low, lean = -deep / 2, h + gap, np.sin(np.radians(tilt))
    top = (0, low + 0.5 * tall, back - 0.05 - 0.3 * tall * lean)
    points = [(0, h - 0.03, -0.3 * deep), (0, h - 0.03, back - 0.03), (0, low, back - 0.06), top]
    spine = m.add("post", tube(points, 0.024, flat=0.5, bend=0.06), frame, seat, "bent")
    half = 0.5 * w * d.between(0.85, 1.0)
    right = [(0.85 * half, -tall / 2), (half, 0), (d.between(0.7, 1.0) * half, tall / 2), (0, tall / 2 + 0.02)]
    at = (0, low + tall / 2, back - 0.02 - 0.5 * tall * lean)
    shape = {"rounding": 0.7, "bevel": 0.9, "puff": 0.3, "bow": d.between(0.02, 0.06), "curl": -d.between(0.0, 0.03)}
    solid = plate(symmetric(right), 0.05, at, turned(x=-tilt), **shape)
    rest = m.add("back", solid, cloth, spine, "padded", "high" if tall > 0.58 else "low")
    if d.chance(0.2):
        at = (0, low + tall + 0.03, back - 0.02 - tall * lean)
        solid = block((0.26, 0.06, 0.12), at, turned(x=90 - tilt), corner=0.5, edge=0.9)
        m.add("headrest", solid, cloth, rest, "padded")


def pedestal_chair(d: Sampler) -> Assembly:
    """A tub or bucket on one turned foot."""
    m = Maker("chair")
    h, r = d.between(0.42, 0.5), d.between(0.2, 0.28)
    finish = d.pick([materials.metal, materials.plastic], [2, 1])(d)
    disc = [(r, 0, 1), (r, 0.012, 1), (0.3 * r, 0.035, 0)]
    knots = [*disc, (0.03, 0.12, 0), (0.028, 0.6 * h, 0), (0.06, h - 0.02, 0), (0.07, h, 1)]
    foot = m.add("pedestal", lathe(knots), finish, ROOT, "round", "trumpet")
    shell = d.pick([materials.plastic, materials.padding], [1, 1])(d)
    wide, tall = d.between(0.48, 0.62), d.between(0.3, 0.45)
    if d.chance(0.2):
        grow, turn = np.array([0.62, 0.85, 0.95, 1.0, 1.0]), turned(x=-d.between(6, 14))
        size, at = (wide, tall, 0.92 * wide), (0, h + tall / 2 - 0.03, -0.02)
        solid = block(size, at, turn, corner=0.9, edge=(0.6, 0.0), widths=grow, depths=grow)
        tub = m.add("shell", solid, shell, foot, "round", hollow=Hollow(0.03 if shell.cover else 0.014))
    else:
        solid = _shell(d, wide, 0.45, tall + 0.05, h + 0.01, 0.04 if shell.cover else 0.016)
        tub = m.add("shell", solid, shell, foot, "curved")
    pad = materials.padding(d, "polyurethane foam")
    solid = block((0.66 * wide, 0.07, 0.6 * wide), (0, h + 0.03, 0.0), corner=0.9, edge=0.9, crown=0.2)
    m.add("cushion", solid, pad, tub, "round")
    return m.done()


def tubular_chair(d: Sampler) -> Assembly:
    """A cantilever of bent tube with two pads, or a folding frame."""
    m = Maker("chair")
    w, deep, h = d.between(0.44, 0.52), d.between(0.42, 0.5), d.between(0.42, 0.47)
    frame = draw_appearance(d, "silver*2, black, white, charcoal, gold", "steel*2, aluminium")
    pads: list[Callable[[Sampler], Appearance]] = [materials.padding, materials.wood, materials.plastic]
    pad = d.pick(pads, [4, 1, 1])(d)
    thick, crown = (0.05, 0.15) if pad.cover else (0.02, 0.0)
    solid = block((w, thick, deep), (0, h, 0), corner=0.12, edge=0.6, crown=(0.0, crown))
    seat = m.add("seat", solid, pad, ROOT, "square")
    x, r, lean = w / 2 - 0.005, d.between(0.009, 0.014), d.between(0.06, 0.12)
    front, back = deep / 2, -deep / 2
    points = [(x, h, back + 0.03), (x, h, front - 0.02), (x, 0.015, front - 0.01), (x, 0.015, back - 0.02)]
    loop = m.add("leg", tube(points, r, bend=0.07), frame, seat, "bent", repeat=PAIR)
    m.add("stretcher", bar((-x, 0.015, back), (x, 0.015, back), 2 * r, corner=1.0), frame, loop)
    post = bar((x, h - 0.01, back + 0.03), (x, h + 0.42, back - lean), 2 * r, corner=1.0)
    posts = m.add("post", post, frame, loop, repeat=PAIR)
    tall = d.between(0.16, 0.34)
    tilt = np.degrees(np.arctan2(lean + 0.03, 0.42))
    middle = (0, h + 0.42 - tall / 2, back - lean + np.tan(np.radians(tilt)) * tall / 2)
    solid = block((w + 0.01, thick, tall), middle, turned(x=90 - tilt), corner=0.15, edge=0.6)
    m.add("back", solid, pad, posts, "square")
    if d.chance(0.5):
        y = h + d.between(0.18, 0.22)
        arm = [
            (x + 0.02, h, front - 0.06),
            (x + 0.025, y, front - 0.05),
            (x + 0.02, y, -0.3 * deep),
            (x, y, back - 0.02),
        ]
        m.add("armrest", tube(arm, r, bend=0.05), frame, seat, "bent", repeat=PAIR)
    return m.done()
