"""What stands or hangs in rooms and what is set into walls."""

from __future__ import annotations

import numpy as np

from neurok.core import Surface
from neurok.modelling import profiles, surfaces
from neurok.modelling.builder import Builder, Link
from neurok.modelling.sampler import Sampler
from neurok.modelling.shapes import Shape, box, cylinder, extrude, lathe, loft, slab, sphere, torus
from neurok.modelling.sweeps import sweep, tube
from neurok_lab.worlds.articulated.hardware import add_buttons, facing, pull, standing
from neurok_lab.worlds.articulated.kit import (
    BLACK_STEEL,
    CHARCOAL,
    CHROME,
    GLASS,
    GLOW,
    STEEL,
    X,
    Y,
    Z,
    add_dials,
    carcass,
    corners,
    pair,
    rod,
    turned,
)


def _blades(d: Sampler, count: int, radius: float, hub: float, pitch: float, flat: bool) -> list[Shape]:
    """Blades about the y axis."""
    width = radius * (d.between(0.35, 0.5) if not flat else d.between(0.18, 0.26))
    tip = [(0.5 * radius, -0.5 * width), (0.92 * radius, -0.45 * width), (radius, 0), (0.9 * radius, 0.5 * width)]
    outline = np.array([(hub * 0.7, -0.25 * width), *tip, (0.5 * radius, 0.45 * width), (hub * 0.7, 0.25 * width)])
    outline = profiles.smooth_curve(outline, 24, closed=True)

    blade = extrude(outline, 0.012 * radius + 0.001).turn("x", pitch)
    return [blade.turn("y", 360 * k / count) for k in range(count)]


def fan(d: Sampler) -> Builder:
    """A fan on a stand with a cage, or one under the ceiling."""
    return _ceiling_fan(d) if d.chance(0.35) else _standing_fan(d)


def _ceiling_fan(d: Sampler) -> Builder:
    look, radius, rod = d.metal(), d.between(0.45, 0.65), d.between(0.15, 0.35)
    mount = Builder("fan").part("base_body")
    hub = 0.16 * radius
    mount.add(turned(24, [0.07, 0.05], [rod + 0.13, rod + 0.08]), look)
    mount.add(cylinder(0.012, rod + 0.05, 14).move(0, 0.07 + rod / 2, 0), look)
    rotor = mount.spin("rotor", Y)
    rotor.add(turned(28, [0.6, 1, 1, 0.4], [0.0, 0.02, 0.06, 0.085], scale=hub), look)
    count = d.count(3, 6)
    surface = d.timber()
    rotor.add([s.move(0, 0.035, 0) for s in _blades(d, count, radius, 2.2 * hub, d.between(8, 18), True)], surface)
    rows = [box((1.4 * hub, 0.006, 0.03), (1.5 * hub, 0.04, 0)).turn("y", 360 * k / count) for k in range(count)]
    rotor.add(rows, look)
    if d.chance(0.5):
        mount.add(cylinder(0.01, 0.1, 12).move(0, 0.0, 0), look)
        mount.add(turned(24, [0, 0.06, 0.08, 0.05], [-0.1, -0.08, -0.03, -0.012]), GLOW)
    return mount.builder


def _standing_fan(d: Sampler) -> Builder:
    look, accent = d.plastic(), d.plastic()
    radius = d.between(0.13, 0.2)
    floor = d.chance(0.5)
    stem = d.between(0.6, 1.0) if floor else d.between(0.08, 0.2)
    base = Builder("fan").part("base_body")
    foot = radius * d.between(0.7, 1.0)
    base.add(turned(32, [1, 1, 0.4, 0], [0, 0.012, 0.03, 0.035], scale=foot), look)
    base.add(cylinder(0.016, stem + 0.02, 16).move(0, 0.03 + stem / 2, 0), look)
    y = stem + (0.12 if floor else 0.04 + 0.9 * radius)
    pole = base.hinge("neck", Y, (0, stem, 0), -1.0, 1.0)
    pole.add(cylinder(0.02, y - stem - 0.03, 16).move(0, (y + stem) / 2 - 0.015, -0.03), look)
    pole.add(slab((-0.02, stem + 0.005, -0.05), (0.02, stem + 0.045, 0.02), 0.006), look)
    pivot = (0, y, -0.03)
    head = pole.hinge("head", X, pivot, -0.15, 0.15)
    motor = turned(24, [0, 0.03, 0.045, 0.045, 0.02, 0], [-0.09, -0.085, -0.05, 0.05, 0.082, 0.083]).along("z")
    head.add(motor.move(0, y, -0.02), look)
    rotor = head.spin("rotor", Z, (0, y, 0.09))
    rotor.add(turned(20, [0.03, 0.028, 0], [0, 0.03, 0.04]).along("z").move(0, y, 0.06), accent)
    blades = _blades(d, d.count(3, 5), 0.86 * radius, 0.03, d.between(18, 30), False)
    rotor.add([s.along("z").move(0, y, 0.078) for s in blades], accent)
    if d.chance(0.85):
        metal = CHROME
        front, back, middle = 0.125, 0.035, 0.08
        head.add([torus(radius, 0.004, 36, 6).along("z").move(0, y, middle)], metal)
        spokes = 16
        for k in range(spokes):
            for z in (front, back):
                path = [(0.03, 0, z), (0.75 * radius, 0, z), (radius, 0, middle)]
                head.add(tube(path, 0.0018, 5).turn("z", 360 * k / spokes).move(0, y, 0), metal)
        head.add([rod("z", 0.035, 0.006, (0, y, front), 20), rod("z", 0.05, 0.006, (0, y, back), 20)], metal)
    return base.builder


def globe(d: Sampler) -> Builder:
    """A sphere that spins in a tilted half-ring on a foot."""
    radius = d.between(0.1, 0.18)
    wood, metal = d.timber(), d.metal()
    tilt, foot_height = d.between(15, 28), d.between(0.03, 0.08)
    center = np.array([0.0, foot_height + radius * d.between(1.15, 1.3), 0.0])
    foot = Builder("globe").part("base_body")
    foot.add(turned(28, [0.6, 0.62, 0.35, 0.1], [0, 0.01, 0.02, foot_height], scale=radius), wood)
    reach = radius * d.between(1.08, 1.14)
    frame = foot
    if d.chance(0.3):
        frame = foot.spin("stand", Y)
    post = cylinder(0.012, center[1] - reach - foot_height + 0.02, 14).move(0, (center[1] - reach + foot_height) / 2, 0)
    frame.add(post, metal)
    t = np.radians(np.linspace(-90, 90, 33) if d.chance(0.7) else np.linspace(-90, 270, 64, endpoint=False))
    arc = np.column_stack([reach * np.cos(t), reach * np.sin(t), np.zeros_like(t)])
    section = profiles.rectangle(0.012, 0.005, 0.001, 1)
    ring = sweep(section, arc, closed=len(t) > 40, up=(0, 0, 1)).turn("z", -tilt).move(*center)
    frame.add(ring, metal)
    axis = np.array([np.sin(np.radians(tilt)), np.cos(np.radians(tilt)), 0.0])
    ball = frame.spin("sphere", axis, center)
    ball.add(sphere(radius, 36, 18).turn("z", -tilt).move(*center), surfaces.paint("#4a87b8", 0.35, name="sea"))
    ball.add(cylinder(0.004, 2 * reach + 0.01, 8).turn("z", -tilt).move(*center), metal)
    land = surfaces.paint("#7fa35a", 0.6, name="land")
    for _ in range(d.count(4, 6)):
        ball.add(_continent(d, radius).turn("z", -tilt).move(*center), land)
    return foot.builder


def _continent(d: Sampler, radius: float) -> Shape:
    """A raised patch of the sphere with a ragged coast."""
    direction = d.rng.normal(size=3) * (1.0, 0.6, 1.0)
    direction /= np.linalg.norm(direction)
    side = np.cross(direction, (0.0, 1.0, 0.0))
    side /= np.linalg.norm(side)
    angle = np.linspace(0, 2 * np.pi, 20, endpoint=False)
    reach = d.between(0.2, 0.45) * (
        1 + 0.3 * np.sin(2 * angle + d.between(0, 6)) + 0.2 * np.sin(3 * angle + d.between(0, 6))
    )
    rows = []
    for share, lift in ((1.0, 0.97), (1.0, 1.012), (0.6, 1.014), (0.25, 1.014)):
        a = share * reach
        around = np.cos(angle)[:, None] * side + np.sin(angle)[:, None] * np.cross(side, direction)
        rows.append(radius * lift * (np.cos(a)[:, None] * direction + np.sin(a)[:, None] * around))
    return loft(rows)


def clock(d: Sampler) -> Builder:
    """A clock with turning hands: on the wall, on feet, or with a pendulum in a case."""
    radius = d.between(0.08, 0.18)
    body_look, metal = d.timber(), d.metal()
    kind = d.pick(["wall", "alarm", "case"])
    case = Builder("clock").part("base_body")
    y = radius
    deep = radius * d.between(0.2, 0.4)
    if kind == "case":
        tall = radius * d.between(3.2, 6.0)
        y = tall - 1.3 * radius
        w = 1.25 * radius
        case.add(slab((-w, 0, -deep), (w, tall, -deep + 0.02), 0.004), body_look)
        case.add(pair(slab((w, 0, -deep), (w - 0.02, tall, 0.02), 0.004)), body_look)
        rows = [slab((-w - 0.02, a, -deep), (w + 0.02, a + 0.03, 0.04), 0.006) for a in (0.0, tall - 0.01)]
        case.add(rows, body_look)
        case.add(facing(profiles.rectangle(2 * w - 0.03, 2.3 * radius), 0.012).move(0, y, -0.012), body_look)
        length = (y - 1.15 * radius) * d.between(0.6, 0.85) + 0.02
        pivot = (0, y - 1.05 * radius, -0.5 * deep)
        case.add(slab((-w, pivot[1] - 0.004, -deep), (w, pivot[1] + 0.012, 0.0)), body_look)
        swing = case.hinge("pendulum", Z, pivot, -0.15, 0.15)
        swing.add(cylinder(0.004, length, 8).move(0, pivot[1] - length / 2, pivot[2]), metal)
        swing.add(rod("z", 0.2 * radius, 0.012, (0, pivot[1] - length, pivot[2]), 24, chamfer=0.003), metal)
    else:
        rim = [(0, -deep), (0.95 * radius, -deep), (radius, -0.8 * deep), (radius, 0.02)]
        rim += [(0.92 * radius, 0.025), (0.9 * radius, 0.0), (0, 0.0)]
        y = radius if kind == "wall" else radius * 1.25
        case.add(lathe(rim, 36).along("z").move(0, y, 0), body_look)
        if kind == "alarm":
            for x in (-1, 1):
                case.add(
                    tube(
                        [(x * 0.3 * radius, 0.5 * radius, -0.3 * deep), (x * 0.6 * radius, 0.0, -0.3 * deep)],
                        0.05 * radius,
                        10,
                    ),
                    metal,
                )
                bell = turned(20, [0, 0.2, 0.32], [0.28, 0.2, 0], scale=radius, rise=radius)
                case.add(bell.turn("z", -30 * x).move(x * 0.5 * radius, y + 0.88 * radius, -0.3 * deep), metal)
    _add_dial(d, case, radius, y, metal)
    return case.builder


def _add_dial(d: Sampler, case: Link, radius: float, y: float, metal: Surface) -> None:
    """Face, hour marks and hands."""
    face = 0.88 * radius
    case.add(rod("z", face, 0.004, (0, y, 0.0015), 36), surfaces.paint(d.pick(["white", "cream"]), 0.5))
    dark = surfaces.paint("#24262b", 0.5)
    for k in range(12):
        mark = box((0.05 * radius if k % 3 == 0 else 0.025 * radius, 0.13 * radius, 0.003), (0, 0.75 * radius, 0.004))
        case.add(mark.turn("z", 30 * k).move(0, y, 0), dark)
    case.add(rod("z", 0.025 * radius, 0.018, (0, y, 0.009), 12), metal)
    hands = [("hour_hand", 0.48, 0.07, 0.007), ("minute_hand", 0.72, 0.045, 0.0105)]
    if d.chance(0.5):
        hands.append(("second_hand", 0.76, 0.018, 0.014))
    shape = d.pick(["bar", "spear"])
    for name, length, width, z in hands:
        hand = case.spin(name, Z, (0, y, z))
        if shape == "bar":
            blade = box((width * radius, length * radius, 0.0022), (0, 0.42 * length * radius, 0))
        else:
            outline = np.array(
                [
                    [-0.5 * width, -0.08],
                    [0.5 * width, -0.08],
                    [0.8 * width, 0.6 * length],
                    [0.0, length],
                    [-0.8 * width, 0.6 * length],
                ]
            )
            blade = facing(outline * radius, 0.0022).move(0, 0, -0.0011)
        turned = d.between(-180, 180)
        hand.add([blade.turn("z", turned).move(0, y, z), rod("z", 0.05 * radius, 0.0024, (0, y, z), 14)], dark)


def _wall_frame(width: float, height: float, rail: float, depth: float) -> list[Shape]:
    """A rectangular frame standing on y = 0 around an opening."""
    w = width / 2
    posts = pair(slab((w, 0, -depth / 2), (w + rail, height + rail, depth / 2), 0.003))
    return posts + [slab((-w, y, -depth / 2), (w, y + rail, depth / 2), 0.003) for y in (height, 0)]


def window(d: Sampler) -> Builder:
    """Sliding sashes, casements at the sides, or one that tilts out from the top."""
    builder = Builder("window")
    width, height, rail, deep = d.between(0.8, 1.6), d.between(0.7, 1.5), d.between(0.04, 0.08), d.between(0.08, 0.14)
    base, surface = builder.part("base_body"), d.timber()
    base.add(_wall_frame(width, height, rail, deep), d.timber() if d.chance(0.4) else surface)
    if d.chance(0.4):
        w = width / 2 + rail + 0.03
        base.add(slab((-w, -0.03, -deep / 2), (w, 0.001, deep / 2 + 0.08), 0.005), surface)
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
    d: Sampler,
    sash: Link,
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


def safe(d: Sampler) -> Builder:
    """Thick walls, a heavy door, a dial or keypad and a handle to turn."""
    width, height, depth = d.between(0.3, 0.6), d.between(0.3, 0.9), d.between(0.3, 0.55)
    wall, w, face = d.between(0.03, 0.06), width / 2, depth / 2
    shell = surfaces.paint(d.pick(["charcoal", "navy", "graphite", "sage", "terracotta"]), 0.4, 0.3)
    body = Builder("safe").part("base_body")
    foot = d.pick([0.0, d.between(0.02, 0.06)])
    carcass(body, (-w, foot, -face), (w, foot + height, face), wall, shell)
    if foot:
        body.add(corners(cylinder(0.022, foot + 0.002, 12).move(w - 0.05, foot / 2, face - 0.05)), BLACK_STEEL)
    if height > 0.45:
        low, high = (-w + wall, foot + 0.5 * height, -face + 0.02), (w - wall, foot + 0.5 * height + 0.012, face - 0.06)
        body.add(slab(low, high), shell)
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


def _add_lock(d: Sampler, leaf: Link, x: float, y: float, z: float, size: float) -> None:
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
        add_buttons(leaf.builder, d, leaf, places, 0.05 * size, surfaces.plastic("white"))
    place = (x, y - 0.16 * size, z)
    kind = d.pick(["star", "lever", "wheel"])
    handle = leaf.spin("handle", Z, place) if kind == "wheel" else leaf.hinge("handle", Z, place, -1.57, 0.0)
    hub = standing(cylinder(0.05 * size, 0.1 * size, 16, chamfer=0.01 * size)).move(*place[:2], z + 0.045 * size)
    handle.add(hub, metal)
    if kind == "lever":
        grip = (place[0] + 0.1 * size * (-1 if x > 0 else 1), place[1], z + 0.08 * size)
        handle.add(box((0.26 * size, 0.04 * size, 0.03 * size), grip, 0.01 * size), metal)
        return
    count = d.pick([3, 4, 5])
    for k in range(count):
        angle = 2 * np.pi * k / count + 0.3
        tip = np.array([np.cos(angle), np.sin(angle), 0.0]) * 0.15 * size
        spoke = cylinder(0.014 * size, 0.15 * size, 8).move(0, 0.075 * size, 0).turn("z", np.degrees(angle) - 90)
        handle.add(spoke.move(*place[:2], z + 0.075 * size), metal)
        handle.add(sphere(0.028 * size, 10, 6).move(place[0] + tip[0], place[1] + tip[1], z + 0.075 * size), metal)
    if kind == "wheel":
        ring = lathe(profiles.circle(0.016 * size, 8) + np.array([0.15 * size, 0.0]), 24, closed=True)
        handle.add(ring.along("z").move(*place[:2], z + 0.075 * size), metal)


def switch(d: Sampler) -> Builder:
    """A wall plate with one to four rockers, toggles, sliders or push buttons."""
    count = d.pick([1, 2, 3, 4], [3, 1, 1, 1])
    unit, height, thick = d.between(0.032, 0.05), d.between(0.07, 0.12), d.between(0.008, 0.014)
    kind = d.pick(["rocker", "toggle", "slider"], [2, 1, 1])
    unit *= d.between(0.9, 1.4) if count == 1 else 1.0
    width = unit * count + 0.03
    base = Builder("switch").part("base_body")
    plastic, key = (
        surfaces.plastic(d.pick(["white", "cream", "charcoal"])),
        surfaces.plastic(d.pick(["white", "cream", "mustard", "graphite"])),
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
    holes = [profiles.rectangle(*size) + np.array([x, 0.0]) for x, size in wells]
    plate = extrude(profiles.rectangle(width, height, radius), thick, holes, 0.2 * thick)
    base.add(plate.along("z").move(0, height / 2, 0), plastic)
    # The box in the wall stays behind the rounded corners of the plate.
    inset = 0.01 + 0.6 * radius
    base.add(box((width - inset, height - inset, 0.012), (0, height / 2, -0.005)), plastic)
    for x, (sx, sy) in wells:
        y = height / 2
        if kind == "rocker":
            tilt = d.between(0.05, 0.15)
            part = base.hinge("toggle_button", X, (x, y, 0.6 * thick), -tilt, tilt)
            half, edge = 0.48 * sy, 0.9 * thick
            outline = np.array([(-half, 0), (half, 0), (half, edge), (0, 1.25 * thick), (-half, edge)])
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
