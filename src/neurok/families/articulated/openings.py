"""Things in walls and vaults: doors, windows, safes, switches."""

from __future__ import annotations

import numpy as np

from neurok.core import Surface
from neurok.families.articulated.casework import carcass, panel
from neurok.families.articulated.kit import BLACK_STEEL, CHARCOAL, CHROME, GLASS, STEEL, X, Y, Z, corners, pair, rod
from neurok.families.articulated.kitchen import add_dials
from neurok.modelling import looks, profiles
from neurok.modelling.builder import Builder, Part
from neurok.modelling.dice import Dice
from neurok.modelling.hardware import add_buttons, knob, lever, pull, standing
from neurok.modelling.shapes import Shape, box, cylinder, extrude, lathe, slab, sphere


def _wall_frame(width: float, height: float, rail: float, depth: float, sill: bool = True) -> list[Shape]:
    """A rectangular frame standing on y = 0 around an opening."""
    w = width / 2
    posts = pair(slab((w, 0, -depth / 2), (w + rail, height + rail, depth / 2), 0.003))
    rows = [slab((-w, height, -depth / 2), (w, height + rail, depth / 2), 0.003)]
    if sill:
        rows.append(slab((-w, 0, -depth / 2), (w, rail, depth / 2), 0.003))
    return posts + rows


def door(d: Dice) -> Builder:
    """A leaf or two in a frame, with lever handles that turn."""
    width, height, thick = d.between(0.7, 1.0), d.between(1.9, 2.2), d.between(0.03, 0.05)
    rail, deep = d.between(0.05, 0.1), d.between(0.08, 0.16)
    double = d.chance(0.3)
    total = width * (1.7 if double else 1.0)
    outer = Builder("door").part("outside_frame")
    has_sill = d.chance(0.3)
    outer.add(_wall_frame(total, height, rail, deep, has_sill), d.timber())
    surface, metal = d.timber(), d.metal()
    style = d.pick(["slab", "shaker", "raised", "glass", "panels"])
    for side in [-1, 1] if double else [d.sign()]:
        a, b = (side * total / 2, 0.0) if double else (side * total / 2, -side * total / 2)
        _add_leaf(d, outer, (a, b), rail if has_sill else 0.012, height, thick, deep, (surface, metal), style)
    return outer.builder


def _add_leaf(
    d: Dice,
    outer: Part,
    ends: tuple[float, float],
    low: float,
    height: float,
    thick: float,
    deep: float,
    looks_: tuple[Surface, Surface],
    style: str,
) -> None:
    """One leaf hung at ``ends[0]``, opening towards +z."""
    hinge, free = ends
    side = 1 if hinge > free else -1
    gap = 0.004
    x0, x1 = sorted((hinge - side * gap, free + side * gap))
    z1 = deep / 2 - 0.004
    z0 = z1 - thick
    limits = (0.0, d.between(1.4, 2.0)) if side > 0 else (-d.between(1.4, 2.0), 0.0)
    leaf = outer.hinge("surface_board", Y, (hinge - side * gap, height / 2, z1), *limits)
    y0, y1 = low + gap, height - gap
    if style == "panels":
        rows = d.count(2, 4)
        step = (y1 - y0) / rows
        for k in range(rows):
            leaf.add(panel((x0, y0 + k * step, x1, y0 + (k + 1) * step), z0, z1, "shaker"), looks_[0])
    else:
        solids = panel((x0, y0, x1, y1), z0, z1, style)
        leaf.add(solids[:4], looks_[0]).add(solids[4:], GLASS)
    outer.add(
        [
            cylinder(0.008, 0.09, 10).move(hinge - side * 0.003, share * height, z1 + 0.006)
            for share in (0.12, 0.5, 0.88)
        ],
        looks_[1],
    )
    grip = (free + side * 0.065, d.between(0.44, 0.5) * height)
    kind = d.pick(["lever", "lever", "knob", "pull"])
    turning = {"lever": ("revolute", -0.8, 0.0), "knob": ("revolute", -0.8, 0.8)}.get(kind)
    part = leaf
    if turning:
        low_, high_ = (turning[1], turning[2]) if side > 0 else (-turning[2], -turning[1])
        part = leaf.hinge("handle", Z, (*grip, z1), low_, high_)
    front = {
        "lever": lambda: lever(d, 0.12, side),
        "knob": lambda: [knob(d, 0.03)],
        "pull": lambda: pull(d, 0.3, True, d.pick(["bar", "bow"])),
    }[kind]()
    part.add([s.move(*grip, z1) for s in front], looks_[1])
    part.add([s.mirror("z").move(*grip, z0) for s in front], looks_[1])
    part.add(rod("z", 0.008, thick + 0.002, (*grip, (z0 + z1) / 2), 8), looks_[1])
    leaf.add([box((0.04, 0.07, 0.003), (grip[0], grip[1] - 0.12, z)) for z in (z0, z1)], looks_[1])


def window(d: Dice) -> Builder:
    """Sliding sashes, casements at the sides, or one that tilts out from the top."""
    builder = Builder("window")
    width, height, rail, deep = d.between(0.8, 1.6), d.between(0.7, 1.5), d.between(0.04, 0.08), d.between(0.08, 0.14)
    base, surface = builder.part("base_body"), d.timber()
    base.add(_wall_frame(width, height, rail, deep), d.timber() if d.chance(0.4) else surface)
    if d.chance(0.4):
        base.add(
            slab(
                (-width / 2 - rail - 0.03, -0.03, -deep / 2), (width / 2 + rail + 0.03, 0.001, deep / 2 + 0.08), 0.005
            ),
            surface,
        )
    kind = d.pick(["slide", "hung", "casement", "tilt"])
    low, high, w = rail + 0.003, height - 0.003, width / 2 - 0.003
    thick = d.between(0.025, 0.032)
    z = (-0.017, 0.017)
    stile = d.between(0.035, 0.06)
    if kind == "slide":
        for k, (a, b) in enumerate(((-w, 0.03), (-0.03, w))):
            travel = 0.82 * (b - a)
            limits = (0.0, travel) if k == 0 else (-travel, 0.0)
            sash = base.slide("sash", X, *limits)
            _add_sash(d, sash, (a, low, b, high), z[k], thick, stile, surface)
    elif kind == "hung":
        middle = (low + high) / 2
        for k, (a, b) in enumerate(((low, middle + 0.03), (middle - 0.03, high))):
            limits = (0.0, 0.8 * (b - a)) if k == 0 else (-0.8 * (b - a), 0.0)
            if k == 0 or d.chance(0.5):
                sash = base.slide("sash", Y, *limits)
            else:
                sash = base
            _add_sash(d, sash, (-w, a, w, b), z[k], thick, stile, surface)
    elif kind == "casement":
        split = [(-w, -0.002), (0.002, w)] if d.chance(0.7) else [(-w, w)]
        for a, b in split:
            side = -1 if a == -w else 1
            front = deep / 2 - 0.002
            limits = (-d.between(1.2, 1.9), 0.0) if side < 0 else (0.0, d.between(1.2, 1.9))
            sash = base.hinge("sash", Y, (side * w, height / 2, front), *limits)
            _add_sash(d, sash, (a, low, b, high), front - thick / 2, thick, stile, surface, grip=-side)
    else:
        front, top = deep / 2 - 0.002, d.chance(0.6)
        edge = high if top else low
        limits = (-d.between(0.5, 1.2), 0.0) if top else (0.0, d.between(0.5, 1.2))
        sash = base.hinge("sash", X, (0, edge, front), *limits)
        _add_sash(d, sash, (-w, low, w, high), front - thick / 2, thick, stile, surface)
    return builder


def _add_sash(
    d: Dice,
    sash: Part,
    rect: tuple[float, float, float, float],
    z: float,
    thick: float,
    stile: float,
    surface: Surface,
    grip: int = 0,
) -> None:
    x0, y0, x1, y1 = rect
    t = thick / 2
    sash.add([slab((a, y0, z - t), (a + stile, y1, z + t), 0.003) for a in (x0, x1 - stile)], surface)
    sash.add([slab((x0 + stile, a, z - t), (x1 - stile, a + stile, z + t), 0.003) for a in (y0, y1 - stile)], surface)
    sash.add(slab((x0 + stile, y0 + stile, z - 0.003), (x1 - stile, y1 - stile, z + 0.003)), GLASS)
    bars = d.count(0, 2)
    for k in range(bars):
        x = x0 + (k + 1) * (x1 - x0) / (bars + 1)
        sash.add(slab((x - 0.01, y0 + stile, z - 0.3 * thick), (x + 0.01, y1 - stile, z + 0.3 * thick)), surface)
    x = (x0 + x1) / 2 if not grip else (x1 - stile / 2 if grip > 0 else x0 + stile / 2)
    y = (y0 + y1) / 2 if grip else y0 + stile / 2
    sash.add([s.move(x, y, z + t) for s in pull(d, 0.08, bool(grip), "bow")], STEEL)


def safe(d: Dice) -> Builder:
    """Thick walls, a heavy door, a dial or keypad and a handle to turn."""
    width, height, depth = d.between(0.3, 0.6), d.between(0.3, 0.9), d.between(0.3, 0.55)
    wall, w, face = d.between(0.03, 0.06), width / 2, depth / 2
    shell = looks.paint(d.pick(["charcoal", "navy", "graphite", "sage", "terracotta"]), 0.4, 0.3)
    body = Builder("safe").part("base_body")
    foot = d.pick([0.0, d.between(0.02, 0.06)])
    carcass(body, (-w, foot, -face), (w, foot + height, face), wall, shell)
    if foot:
        body.add(corners(cylinder(0.022, foot + 0.002, 12).move(w - 0.05, foot / 2, face - 0.05)), BLACK_STEEL)
    if height > 0.45:
        body.add(
            slab((-w + wall, foot + 0.5 * height, -face + 0.02), (w - wall, foot + 0.5 * height + 0.012, face - 0.06)),
            shell,
        )
    inset = d.chance(0.5)
    frame = wall + 0.004 if inset else d.between(0.001, 0.004)
    thick = d.between(0.03, 0.06)
    z1 = face - 0.002 if inset else face + thick
    side = d.sign()
    swing = d.between(2.4, 3.12) if d.chance(0.8) else d.between(1.6, 2.4)
    limits = (-swing, 0.0) if side < 0 else (0.0, swing)
    x0, x1, y0, y1 = -w + frame, w - frame, foot + frame, foot + height - frame
    # Behind the front edge the open door would lie in the frame, before it in nothing.
    pivot = z1 if inset else face
    leaf = body.hinge("door", Y, (side * (w - frame), foot + height / 2, pivot), *limits)
    front = shell if d.chance(0.6) else STEEL
    leaf.add(slab((x0, y0, z1 - thick + 0.001), (x1, y1, z1), 0.004), front)
    if d.chance(0.5):
        leaf.add(slab((x0 + 0.03, y0 + 0.03, z1 - 0.002), (x1 - 0.03, y1 - 0.03, z1 + 0.006), 0.004), front)
        z1 += 0.006
    for y in (y0 + 0.06, y1 - 0.06):
        body.add(cylinder(0.009, 0.06, 12).move(side * (w - frame + 0.002), y, pivot), STEEL)
    _add_lock(d, leaf, -side * 0.25 * width, foot + height / 2, z1, min(width, height))
    return body.builder


def _add_lock(d: Dice, leaf: Part, x: float, y: float, z: float, size: float) -> None:
    """A combination dial or a keypad, and a lever or a star to open."""
    metal = CHROME
    if d.chance(0.75):
        radius = d.between(0.03, 0.11) * size
        add_dials(d, leaf, [(x * d.pick([1.0, 0.0]), y + 0.16 * size, z)], radius, metal)
    else:
        leaf.add(box((0.3 * size, 0.36 * size, 0.008), (0, y + 0.2 * size, z + 0.003), 0.003), CHARCOAL)
        places = [
            ((c - 1) * 0.085 * size, y + 0.08 * size + r * 0.08 * size, z + 0.007)
            for r in range(d.count(1, 4))
            for c in range(3)
        ]
        add_buttons(leaf.builder, d, leaf, places, 0.05 * size, looks.plastic("white"))
    place = (x, y - 0.16 * size, z)
    kind = d.pick(["star", "lever", "wheel"])
    handle = leaf.builder.part(
        "handle",
        leaf,
        *(("continuous", (0, 0, 1), place) if kind == "wheel" else ("revolute", (0, 0, 1), place, -1.57, 0.0)),
    )
    hub = standing(cylinder(0.05 * size, 0.1 * size, 16, chamfer=0.01 * size)).move(*place[:2], z + 0.045 * size)
    handle.add(hub, metal)
    if kind == "lever":
        handle.add(
            box(
                (0.26 * size, 0.04 * size, 0.03 * size),
                (place[0] + 0.1 * size * (-1 if x > 0 else 1), place[1], z + 0.08 * size),
                0.01 * size,
            ),
            metal,
        )
        return
    count = d.pick([3, 4, 5])
    for k in range(count):
        angle = 2 * np.pi * k / count + 0.3
        tip = np.array([np.cos(angle), np.sin(angle), 0.0]) * 0.15 * size
        handle.add(
            cylinder(0.014 * size, 0.15 * size, 8)
            .move(0, 0.075 * size, 0)
            .turn("z", np.degrees(angle) - 90)
            .move(*place[:2], z + 0.075 * size),
            metal,
        )
        handle.add(sphere(0.028 * size, 10, 6).move(place[0] + tip[0], place[1] + tip[1], z + 0.075 * size), metal)
    if kind == "wheel":
        ring = lathe(profiles.circle(0.016 * size, 8) + np.array([0.15 * size, 0.0]), 24, closed=True)
        handle.add(ring.along("z").move(*place[:2], z + 0.075 * size), metal)


def switch(d: Dice) -> Builder:
    """A wall plate with one to four rockers, toggles, sliders or push buttons."""
    count = d.pick([1, 2, 3, 4], [3, 1, 1, 1])
    unit, height, thick = d.between(0.032, 0.05), d.between(0.07, 0.12), d.between(0.008, 0.014)
    kind = d.pick(["rocker", "toggle", "slider"], [2, 1, 1])
    unit *= d.between(0.9, 1.4) if count == 1 else 1.0
    width = unit * count + 0.03
    base = Builder("switch").part("base_body")
    plastic, key = (
        looks.plastic(d.pick(["white", "cream", "charcoal"])),
        looks.plastic(d.pick(["white", "cream", "mustard", "graphite"])),
    )
    wells = []
    for k in range(count):
        x = (k - (count - 1) / 2) * unit
        size = {
            "rocker": (0.78 * unit, d.between(0.55, 0.8) * height),
            "toggle": (0.4 * unit, 0.34 * height),
            "slider": (0.22 * unit, 0.6 * height),
        }[kind]
        wells.append((x, size))
    radius = d.between(0.002, 0.02)
    plate = extrude(
        profiles.rectangle(width, height, radius),
        thick,
        [profiles.rectangle(*size) + np.array([x, 0.0]) for x, size in wells],
        0.2 * thick,
    )
    base.add(plate.along("z").move(0, height / 2, 0), plastic)
    # The box in the wall stays behind the rounded corners of the plate.
    inset = 0.01 + 0.6 * radius
    base.add(box((width - inset, height - inset, 0.012), (0, height / 2, -0.005)), plastic)
    for x, (sx, sy) in wells:
        y = height / 2
        if kind == "rocker":
            tilt = d.between(0.05, 0.15)
            part = base.hinge("toggle_button", X, (x, y, 0.6 * thick), -tilt, tilt)
            outline = np.array(
                [
                    [-sy / 2 * 0.96, 0.0],
                    [sy / 2 * 0.96, 0.0],
                    [sy / 2 * 0.96, 0.9 * thick],
                    [0.0, 1.25 * thick],
                    [-sy / 2 * 0.96, 0.9 * thick],
                ]
            )
            rocker = extrude(outline, 0.94 * sx).move(0, -0.47 * sx, 0).turn("z", 90)
            part.add(rocker.move(x, y, 0.25 * thick), key)
        elif kind == "toggle":
            part = base.hinge("toggle_button", X, (x, y, 0.5 * thick), -0.5, 0.5)
            part.add(standing(cylinder(0.14 * unit, 0.03, 12, 0.1 * unit, 0.001)).move(x, y, 0.5 * thick + 0.013), key)
            part.add(rod("x", 0.15 * unit, 0.7 * sx, (x, y, 0.5 * thick), 12), key)
        else:
            part = base.slide("slider", Y, -0.3 * sy, 0.3 * sy, (x, y, 0))
            part.add(box((0.8 * sx, 0.3 * sy, thick), (x, y, 0.55 * thick)), key)
            part.add(box((2.2 * sx, 0.26 * sy, 0.6 * thick), (x, y, 1.28 * thick), 0.001), key)
    return base.builder
