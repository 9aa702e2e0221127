"""What is plumbed in: faucets and toilets."""

from __future__ import annotations

import numpy as np

from neurok.core import Surface
from neurok.families.articulated.kit import X, Y, Z, pair, rod, turned
from neurok.modelling import looks, profiles
from neurok.modelling.builder import Builder, Part
from neurok.modelling.dice import Dice
from neurok.modelling.hardware import button
from neurok.modelling.shapes import Shape, box, capsule, cylinder, extrude, loft, slab, sphere
from neurok.modelling.sweeps import sweep, tube


def faucet(d: Dice) -> Builder:
    """A mixer with one lever, or a spout between two handles."""
    return _mixer(d) if d.chance(0.5) else _pair_of_taps(d)


def _gooseneck(d: Dice, rise: float, reach: float) -> np.ndarray:
    """The path of a spout from the origin up and over towards +z."""
    kind = d.pick(["arch", "bend", "straight"])
    if kind == "arch":
        t = np.linspace(np.pi, 0.0, 14)
        bow = np.column_stack(
            [np.zeros(14), rise - reach / 2 + reach / 2 * np.sin(t), reach / 2 + reach / 2 * np.cos(t)]
        )
        drop = bow[-1] - (0.0, d.between(0.1, 0.4) * rise, 0.0)
        return np.concatenate([[(0, 0, 0)], bow, [drop]])
    if kind == "bend":
        return profiles.rounded_path(
            [(0, 0, 0), (0, rise, 0), (0, rise * 1.02, reach), (0, 0.75 * rise, reach * 1.02)], 0.3 * reach, 7
        )
    return profiles.rounded_path(
        [(0, 0.4 * rise, 0), (0, 0.55 * rise, 0.1 * reach), (0, 0.7 * rise, reach), (0, 0.62 * rise, reach * 1.03)],
        0.15 * reach,
        5,
    )


def _mixer(d: Dice) -> Builder:
    builder = Builder("faucet")
    look = d.metal()
    radius, height = d.between(0.02, 0.03), d.between(0.09, 0.2)
    frame = builder.part("frame")
    frame.add(turned(24, [1.5, 1.45, 1, 1], [0, 0.006, 0.012, height], scale=radius), look)
    reach = d.between(0.1, 0.18)
    path = _gooseneck(d, d.between(0.1, 0.22), reach) + (0, 0.45 * height, 0)
    thick = radius * d.between(0.45, 0.7)
    section = (
        profiles.circle(thick, 14) if d.chance(0.7) else profiles.rectangle(2.0 * thick, 1.4 * thick, 0.4 * thick, 3)
    )
    on_top = path[:, 1].max() < height + 0.02 or path[1, 2] > 0.005
    if on_top or d.chance(0.5):
        spout = frame
    else:
        spout = frame.hinge("spout", Y, (0, 0, 0), -1.4, 1.4)
    spout.add(sweep(section, path, up=(1, 0, 0)), look)
    spout.add(cylinder(1.15 * thick, 0.012, 14).move(path[-1, 0], path[-1, 1] + 0.004, path[-1, 2]), look)
    if on_top:
        pivot = np.array([0.0, height, 0.0])
        limits = (-d.between(0.8, 1.57), d.between(0.8, 1.57))
        turn = ("continuous", (0, 1, 0), pivot) if d.chance(0.3) else ("revolute", (0, 1, 0), pivot, *limits)
        part = builder.part("switch", frame, *turn)
        part.add(turned(24, [1, 1, 0.7, 0], [0.001, 0.02, 0.032, 0.035], scale=radius).move(*pivot), look)
        tip = pivot + (0, d.between(0.04, 0.09), d.pick([-1, 1, 1]) * d.between(0.07, 0.12))
        part.add(sweep(profiles.rectangle(0.02, 0.008, 0.003, 2), [pivot + (0, 0.025, 0), tip], up=(1, 0, 0)), look)
        return builder
    side = d.sign()
    pivot = np.array([side * (radius + 0.012), 0.5 * height, 0.0])
    frame.add(rod("x", 0.7 * radius, 0.03, (side * (radius + 0.002), 0.5 * height, 0), 16), look)
    swing = d.pick([(-0.9, 0.6), (-np.pi / 2, 0.0), (-np.pi / 2, np.pi / 2)])
    part = frame.hinge("switch", X, pivot, *swing)
    part.add(rod("x", 0.75 * radius, 0.02, pivot + (side * 0.015, 0, 0), 16, chamfer=0.003), look)
    tip = pivot + (side * 0.04, 0.09, 0.0)
    part.add(tube([pivot + (side * 0.015, 0, 0), tip], 0.006, 10), look)
    return builder


def _tap_handle(d: Dice, kind: str, size: float) -> list[Shape]:
    """A handle about the y axis, standing on y = 0."""
    stem = turned(16, [0.3, 0.22, 0.3, 0], [-0.004, 0.5 * size, 0.75 * size, 0.8 * size], scale=size)
    if kind == "cross":
        arms = [
            capsule(0.1 * size, 1.5 * size, 10, 3).along("x").turn("y", 90 * k).move(0, 0.62 * size, 0)
            for k in range(2)
        ]
        return [stem, *arms, sphere(0.2 * size, 12, 8).move(0, 0.8 * size, 0)]
    if kind == "lever":
        return [stem, box((0.24 * size, 0.14 * size, 1.7 * size), (0, 0.7 * size, 0.6 * size), 0.05 * size)]
    angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    wave = size * (0.62 + 0.08 * np.cos(5 * angle))
    rings = [
        np.column_stack([s * wave * np.cos(angle), np.full(40, y * size), s * wave * np.sin(angle)])
        for s, y in ((0.6, 0.45), (1, 0.55), (1, 0.8), (0.7, 0.9))
    ]
    return [stem, loft(rings)]


def _pair_of_taps(d: Dice) -> Builder:
    builder = Builder("faucet")
    look = d.metal()
    frame = builder.part("frame")
    span, bridge = d.between(0.07, 0.13), d.chance(0.5)
    if bridge:
        plate = profiles.rectangle(2 * span + 0.06, 0.06, 0.028, 6)

        frame.add(extrude(plate, 0.014, bevel=0.004), look)
        low = 0.012
    else:
        low = 0.0
        frame.add(box((2 * span, 0.012, 0.014), (0, 0.006, 0)), look)
    radius = d.between(0.014, 0.02)
    frame.add(turned(20, [1.5, 1.1, 1], [low, low + 0.012, low + 0.04], scale=radius), look)
    spout = builder.part(
        "spout",
        frame,
        *(("continuous", (0, 1, 0), (0, 0, 0)) if d.chance(0.5) else ("revolute", (0, 1, 0), (0, 0, 0), -1.57, 1.57)),
    )
    path = _gooseneck(d, d.between(0.12, 0.24), d.between(0.1, 0.17)) + (0, low + 0.034, 0)
    path = np.concatenate([[(0, low + 0.03, 0)], path]) if path[0, 1] > low + 0.04 else path
    spout.add(tube(path, 0.6 * radius, 14), look)
    kind, size = d.pick(["cross", "lever", "star"]), d.between(0.03, 0.06)
    limits, endless = d.pick([1.57, 3.0]), d.chance(0.35)
    for x in (-1, 1):
        post = turned(18, [0.55, 0.4, 0.4], [low, low + 0.03, low + 0.05], scale=size)
        frame.add(post.move(x * span, 0, 0), look)
        origin = (x * span, low + 0.05, 0)
        side = (0.0, limits) if x < 0 else (-limits, 0.0)
        turn = ("continuous", (0, 1, 0), origin) if endless else ("revolute", (0, 1, 0), origin, *side)
        tap = builder.part("switch", frame, *turn)
        tap.add([s.turn("y", 90 * x if kind == "lever" else 0).move(*origin) for s in _tap_handle(d, kind, size)], look)
    return builder


def toilet(d: Dice) -> Builder:
    """A bowl with seat and lid, a cistern with a lever or a button."""
    look, trim = looks.paint(d.pick(["white", "white", "cream", "blush", "sky"]), 0.2), d.metal()
    height, half, length = d.between(0.38, 0.43), d.between(0.18, 0.21), d.between(0.4, 0.5)
    body = Builder("toilet").part("base_body")
    oval = profiles.superellipse(1.0, 1.0, 2.4, 36)
    ring = lambda y, sx, sz, z: np.column_stack([sx * oval[:, 0], np.full(36, y), sz * oval[:, 1] + z])  # noqa: E731
    foot = d.between(0.55, 0.8)
    z = length / 2 - 0.18
    rows = [
        ring(0.0, 0.6 * half, foot * length / 2, z - 0.06),
        ring(0.12, 0.5 * half, 0.9 * foot * length / 2, z - 0.05),
        ring(0.7 * height, 0.9 * half, 0.44 * length, z - 0.01),
        ring(height, half, length / 2, z),
        ring(height, 0.75 * half, 0.38 * length, z),
        ring(0.75 * height, 0.6 * half, 0.3 * length, z),
        ring(0.45 * height, 0.25 * half, 0.12 * length, z - 0.03),
    ]
    body.add(loft(rows), look)
    back = z - length / 2 + 0.03
    tank_low, tank_high, tank_depth = height + d.pick([-0.02, 0.05]), height + d.between(0.3, 0.4), d.between(0.16, 0.2)
    body.add(slab((-half, 0.5 * height, back - tank_depth), (half, height, back + 0.02), 0.02), look)
    body.add(
        slab((-1.05 * half, tank_low - 0.055, back - tank_depth), (1.05 * half, tank_high, back - 0.01), 0.02), look
    )
    lid_top = body.slide("pump_lid", Y, 0.0, d.between(0.02, 0.08)) if d.chance(0.5) else body
    lid_top.add(
        slab((-1.1 * half, tank_high, back - tank_depth - 0.008), (1.1 * half, tank_high + 0.03, back), 0.01), look
    )
    hinge = (0, height + 0.018, z + 0.016 - 0.47 * length)
    outline = profiles.superellipse(1.02 * half, 0.47 * length, 2.3, 36) + np.array([0.0, z + 0.012])
    inner = profiles.superellipse(0.66 * half, 0.32 * length, 2.3, 36) + np.array([0.0, z + 0.02])
    seat = body.hinge("seat", X, hinge, -1.35, 0.0)

    seat.add(extrude(outline, 0.018, [inner], 0.004).move(0, height + 0.001, 0), look if d.chance(0.6) else d.wood())
    lid = body.hinge("lid", X, hinge, -d.between(1.35, 1.5), 0.0)
    lid.add(extrude(outline, 0.014, bevel=0.005).move(0, height + 0.0195, 0), look)
    body.add(pair(rod("x", 0.01, 0.05, (0.07, hinge[1], hinge[2] - 0.004), 12)), trim)
    _add_flush(d, body, half, tank_high, back, tank_depth, trim, lid_top)
    return body.builder


def _add_flush(
    d: Dice, body: Part, half: float, top: float, back: float, depth: float, trim: Surface, lid: Part
) -> None:
    if d.chance(0.5):
        place = (-0.75 * half, top - 0.06, back - 0.01)
        flush = body.hinge("lever", Z, place, -0.7, 0.0)
        flush.add(rod("z", 0.012, 0.024, place, 14), trim)
        flush.add(box((0.075, 0.014, 0.01), (place[0] + 0.03, place[1], place[2] + 0.014), 0.003), trim)
        return
    count = d.count(1, 2)
    for k in range(count):
        x = (k - (count - 1) / 2) * 0.035
        flush = lid.slide("button", Y, -0.006, 0.0, (x, top + 0.03, 0))
        flush.add(button(d, 0.028, "round").turn("x", -90).move(x, top + 0.028, back - depth / 2), trim)
