"""What stands or hangs in rooms: lamps, fans, globes, clocks."""

from __future__ import annotations

import numpy as np

from neurok.core import Surface
from neurok.families.articulated.kit import CHROME, GLOW, X, Y, Z, pair, rod, turned
from neurok.modelling import looks, profiles
from neurok.modelling.builder import Builder, Part
from neurok.modelling.dice import Dice
from neurok.modelling.hardware import facing
from neurok.modelling.shapes import Shape, box, cylinder, extrude, lathe, loft, slab, sphere, torus
from neurok.modelling.sweeps import sweep, tube


def desk_lamp(d: Dice) -> Builder:
    """A lamp on two or three jointed arms, standing on a desk, clamped or on the floor."""
    body, metal = d.paint(), d.metal()
    floor = d.chance(0.25)
    scale = d.between(1.8, 2.6) if floor else d.between(0.8, 1.2)
    base = Builder("desk_lamp").part("base")
    radius = d.between(0.07, 0.1) * (1.5 if floor else 1.0)
    if d.chance(0.7):
        base.add(turned(32, [1, 1.03, 0.9, 0.3, 0], [0, 0.006, 0.018, 0.026, 0.028], scale=radius), body)
    else:
        base.add(box((1.7 * radius, 0.025, 1.7 * radius), (0, 0.0125, 0), 0.006), body)
    stem = d.between(0.6, 0.9) if floor else d.between(0.03, 0.08)
    base.add(cylinder(0.011, stem + 0.01, 14).move(0, 0.02 + stem / 2, 0), metal)
    part = base
    place = np.array([0.0, 0.03 + stem, 0.0])
    if d.chance(0.5):
        part = base.hinge("swivel", Y, place, -2.6, 2.6)
        part.add(cylinder(0.014, 0.02, 16).move(0, place[1] - 0.008, 0), metal)
    arms = d.count(1, 3)
    angle = d.between(-35, 5)
    thick = d.between(0.005, 0.009)
    double = d.chance(0.4)
    for _ in range(arms):
        length = d.between(0.18, 0.3) * scale / (1.0 + 0.25 * (arms - 1))
        low, high = np.radians(-d.between(15, 35)), np.radians(d.between(12, 35))
        arm = part.hinge("arm", X, place, low, high)
        part.add(rod("x", 0.011, 0.02 if not double else 0.016, place, 16), metal)
        ahead = np.array([0.0, np.cos(np.radians(angle)), np.sin(np.radians(angle))])
        end = place + length * ahead
        offsets = (-0.014, 0.014) if double else (0.0,)
        arm.add(
            [tube([place + (x, 0, 0), end + (x, 0, 0)], thick * (0.7 if double else 1.0), 10) for x in offsets], metal
        )
        if double:
            arm.add(rod("x", 0.005, 0.034, place + 0.55 * length * ahead, 10), metal)
            arm.add([rod("x", 0.009, 0.007, p + (x, 0, 0), 12) for p in (place, end) for x in (-0.016, 0.016)], metal)
        part, place = arm, end
        angle += d.between(45, 80)
    part.add(rod("x", 0.01, 0.03, place, 14), metal)
    head = part.hinge("head", X, place, -d.between(0.25, 0.6), d.between(0.25, 0.6))
    _add_shade(d, head, place, body, metal)
    return base.builder


def _add_shade(d: Dice, head: Part, place: np.ndarray, body: Surface, metal: Surface) -> None:
    """A bell, a cone, a cylinder or a flat bar of light, opening downwards."""
    size = d.between(0.05, 0.08)
    kind = d.pick(["cone", "bell", "drum", "bar"])
    nod = d.between(-5, 40)
    turned = lambda s: s.turn("x", -nod).move(*place)  # noqa: E731
    if kind == "bar":
        head.add(turned(box((2.2 * size, 0.018, 1.2 * size), (0, -0.012, 0.6 * size), 0.005)), body)
        head.add(turned(box((2.0 * size, 0.004, 1.0 * size), (0, -0.0215, 0.6 * size))), GLOW)
        return
    rows = {
        "cone": [(0.25, 0.0), (0.3, -0.1), (1.0, -1.2)],
        "bell": [(0.25, 0.0), (0.5, -0.25), (0.6, -0.6), (1.0, -1.2)],
        "drum": [(0.7, 0.0), (0.8, -0.6), (0.85, -1.2)],
    }[kind]
    outer = [(0.0, 0.0), *((r * size, y * size) for r, y in rows)]
    inner = [((r - 0.06) * size, y * size - (0.05 * size if k == 0 else 0)) for k, (r, y) in enumerate(rows)][::-1]
    head.add(turned(lathe([*outer, *inner, (0.0, -0.06 * size)], 28)), body)
    head.add(turned(sphere(0.3 * size, 14, 8).move(0, -0.55 * size, 0)), GLOW)
    head.add(turned(cylinder(0.12 * size, 0.3 * size, 12).move(0, -0.2 * size, 0)), metal)
    head.add(turned(cylinder(0.16 * size, 0.25 * size, 12).move(0, 0.05 * size, 0)), metal)


def _blades(d: Dice, count: int, radius: float, hub: float, pitch: float, flat: bool) -> list[Shape]:
    """Blades about the y axis."""
    width = radius * (d.between(0.35, 0.5) if not flat else d.between(0.18, 0.26))
    outline = np.array(
        [
            [hub * 0.7, -0.25 * width],
            [0.5 * radius, -0.5 * width],
            [0.92 * radius, -0.45 * width],
            [radius, 0.0],
            [0.9 * radius, 0.5 * width],
            [0.5 * radius, 0.45 * width],
            [hub * 0.7, 0.25 * width],
        ]
    )
    outline = profiles.smooth_curve(outline, 24, closed=True)

    blade = extrude(outline, 0.012 * radius + 0.001).turn("x", pitch)
    return [blade.turn("y", 360 * k / count) for k in range(count)]


def fan(d: Dice) -> Builder:
    """A fan on a stand with a cage, or one under the ceiling."""
    return _ceiling_fan(d) if d.chance(0.35) else _standing_fan(d)


def _ceiling_fan(d: Dice) -> Builder:
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
    rotor.add(
        [box((1.4 * hub, 0.006, 0.03), (1.5 * hub, 0.04, 0)).turn("y", 360 * k / count) for k in range(count)], look
    )
    if d.chance(0.5):
        mount.add(cylinder(0.01, 0.1, 12).move(0, 0.0, 0), look)
        mount.add(turned(24, [0, 0.06, 0.08, 0.05], [-0.1, -0.08, -0.03, -0.012]), GLOW)
    return mount.builder


def _standing_fan(d: Dice) -> Builder:
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
    head.add(
        turned(24, [0, 0.03, 0.045, 0.045, 0.02, 0], [-0.09, -0.085, -0.05, 0.05, 0.082, 0.083])
        .along("z")
        .move(0, y, -0.02),
        look,
    )
    rotor = head.spin("rotor", Z, (0, y, 0.09))
    rotor.add(turned(20, [0.03, 0.028, 0], [0, 0.03, 0.04]).along("z").move(0, y, 0.06), accent)
    rotor.add(
        [
            s.along("z").move(0, y, 0.078)
            for s in _blades(d, d.count(3, 5), 0.86 * radius, 0.03, d.between(18, 30), False)
        ],
        accent,
    )
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


def globe(d: Dice) -> Builder:
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
    frame.add(
        cylinder(0.012, center[1] - reach - foot_height + 0.02, 14).move(0, (center[1] - reach + foot_height) / 2, 0),
        metal,
    )
    t = np.radians(np.linspace(-90, 90, 33) if d.chance(0.7) else np.linspace(-90, 270, 64, endpoint=False))
    arc = np.column_stack([reach * np.cos(t), reach * np.sin(t), np.zeros_like(t)])
    section = profiles.rectangle(0.012, 0.005, 0.001, 1)
    ring = sweep(section, arc, closed=len(t) > 40, up=(0, 0, 1)).turn("z", -tilt).move(*center)
    frame.add(ring, metal)
    axis = np.array([np.sin(np.radians(tilt)), np.cos(np.radians(tilt)), 0.0])
    ball = frame.spin("sphere", axis, center)
    ball.add(sphere(radius, 36, 18).turn("z", -tilt).move(*center), looks.paint("#4a87b8", 0.35, name="sea"))
    ball.add(cylinder(0.004, 2 * reach + 0.01, 8).turn("z", -tilt).move(*center), metal)
    land = looks.paint("#7fa35a", 0.6, name="land")
    for _ in range(d.count(4, 6)):
        ball.add(_continent(d, radius).turn("z", -tilt).move(*center), land)
    return foot.builder


def _continent(d: Dice, radius: float) -> Shape:
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


def clock(d: Dice) -> Builder:
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
        case.add(
            [slab((-w - 0.02, a, -deep), (w + 0.02, a + 0.03, 0.04), 0.006) for a in (0.0, tall - 0.01)], body_look
        )
        case.add(facing(profiles.rectangle(2 * w - 0.03, 2.3 * radius), 0.012).move(0, y, -0.012), body_look)
        length = (y - 1.15 * radius) * d.between(0.6, 0.85) + 0.02
        pivot = (0, y - 1.05 * radius, -0.5 * deep)
        case.add(slab((-w, pivot[1] - 0.004, -deep), (w, pivot[1] + 0.012, 0.0)), body_look)
        swing = case.hinge("pendulum", Z, pivot, -0.15, 0.15)
        swing.add(cylinder(0.004, length, 8).move(0, pivot[1] - length / 2, pivot[2]), metal)
        swing.add(rod("z", 0.2 * radius, 0.012, (0, pivot[1] - length, pivot[2]), 24, chamfer=0.003), metal)
    else:
        rim = [
            (0, -deep),
            (0.95 * radius, -deep),
            (radius, -0.8 * deep),
            (radius, 0.02),
            (0.92 * radius, 0.025),
            (0.9 * radius, 0.0),
            (0, 0.0),
        ]
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


def _add_dial(d: Dice, case: Part, radius: float, y: float, metal: Surface) -> None:
    """Face, hour marks and hands."""
    face = 0.88 * radius
    case.add(rod("z", face, 0.004, (0, y, 0.0015), 36), looks.paint(d.pick(["white", "cream"]), 0.5))
    dark = looks.paint("#24262b", 0.5)
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
