"""Bins with pedals, flaps and wheels."""

from __future__ import annotations

import numpy as np

from neurok.core import Surface
from neurok.families.articulated.kit import BLACK_STEEL, CHARCOAL, RUBBER, STEEL, X, pair, pipe, placed, rod
from neurok.modelling import profiles
from neurok.modelling.builder import Builder, Part
from neurok.modelling.dice import Dice
from neurok.modelling.hardware import sideways, wheel
from neurok.modelling.shapes import box, extrude, loft, slab


def trash_can(d: Dice) -> Builder:
    """A pedal bin, a bin with a swinging flap, or one on wheels."""
    kind = d.pick(["pedal", "swing", "wheels"])
    round_one = kind != "wheels" and d.chance(0.45)
    width = d.between(0.25, 0.5)
    height, depth = width * d.between(1.2, 2.0), width if round_one else width * d.between(0.7, 1.1)
    look, accent = (d.metal() if d.chance(0.4) else d.plastic()), d.plastic()
    body = Builder("trash_can").part("base_body")
    taper = d.between(0.75, 1.0)
    outline = profiles.circle(width / 2, 28) if round_one else profiles.rectangle(width, depth, 0.12 * width, 4)
    at = lambda s, y: np.column_stack([s * outline[:, 0], np.full(len(outline), y), s * outline[:, 1]])  # noqa: E731
    inner = 1.0 - 0.02 / width
    body.add(loft([at(taper, 0.0), at(1.0, height), at(inner, height), at(inner * taper, 0.015)]), look)
    if kind == "swing":
        _add_swing_top(d, body, outline, width, depth, height, accent)
        return body.builder
    hinge = (0, height + 0.004, -depth / 2)
    lid = body.hinge("lid", X, hinge, -d.between(1.3, 2.0) if kind == "pedal" else -d.between(1.6, 2.4), 0.0)
    lid.add(
        extrude(outline * (1.0 + 0.01 / width), d.between(0.02, 0.05), bevel=0.012).move(0, height + 0.001, 0),
        accent if d.chance(0.6) else look,
    )
    body.add(rod("x", 0.008, 0.4 * width, hinge, 12), accent)
    if kind == "pedal":
        front = 0.5 * depth * taper
        pedal = body.hinge("foot_pad", X, (0, 0.03, front - 0.02), 0.0, d.between(0.12, 0.3))
        pedal.add(box((0.3 * width, 0.012, 0.1), (0, 0.03, front + 0.03), 0.004), BLACK_STEEL)
        return body.builder
    radius = d.between(0.05, 0.09) * (height / 0.6)
    lid.add(box((0.5 * width, 0.02, 0.04), (0, height + 0.02, depth / 2 + 0.015), 0.006), accent)
    body.add(
        pipe(
            [
                (-0.4 * width, height - 0.03, -depth / 2 + 0.01),
                (-0.4 * width, height - 0.01, -depth / 2 - 0.06),
                (0.4 * width, height - 0.01, -depth / 2 - 0.06),
                (0.4 * width, height - 0.03, -depth / 2 + 0.01),
            ],
            0.011,
            0.03,
            10,
        ),
        accent,
    )
    z = -0.5 * depth * taper - 0.2 * radius
    body.add(rod("x", 0.012, width * taper, (0, radius, z), 10), STEEL)
    body.add(pair(slab((0.3 * width, 0.0, z - 0.015), (0.36 * width, radius + 0.03, -0.3 * depth), 0.004)), look)
    for x in (-1, 1):
        place = (x * (0.5 * width * taper + 0.012), radius, z)
        roll = body.spin("wheel", X, place)
        tyre, hub = wheel(d, radius, 0.035)
        roll.add(placed(tyre, place), RUBBER).add(placed(hub, place), look)
    return body.builder


def _add_swing_top(
    d: Dice, body: Part, outline: np.ndarray, width: float, depth: float, height: float, surface: Surface
) -> None:
    """A tall cap, open in front, with a flap that swings about its upper part."""
    rise, wall = d.between(0.5, 0.7) * width, 0.012
    w, z = 0.5 * width + 0.004, 0.5 * depth + 0.004
    side = np.array([[-z, 0.0], [z, 0.0], [z, 0.1 * rise], [0.35 * z, rise], [-0.35 * z, rise], [-z, 0.1 * rise]])
    for x in (-1, 1):
        body.add(sideways(side, wall).move(x * (w - wall / 2), height, 0), surface)
    body.add(slab((-w, height + rise - wall, -0.36 * z), (w, height + rise, 0.36 * z), 0.003), surface)
    length = float(np.hypot(0.65 * z, 0.9 * rise))
    slope = np.degrees(np.arctan2(0.65 * z, 0.9 * rise))
    back = box((2 * w - 2 * wall + 0.002, length, wall)).turn("x", slope).move(0, height + 0.55 * rise, -0.675 * z)
    body.add(back, surface)
    body.add(pair(slab((-w, height - 0.004, z), (w, height + 0.1 * rise, z - wall), 0.002), "z"), surface)
    pivot = (0, height + 0.8 * rise, 0.36 * z + 0.02 * depth)
    flap = body.hinge("flap", X, pivot, 0.0, d.between(0.6, 1.1))
    plate = box((2 * w - 2 * wall - 0.006, 0.86 * length, 0.7 * wall), chamfer=0.002).turn("x", -slope)
    flap.add(plate.move(0, height + 0.57 * rise, 0.655 * z), CHARCOAL)
    flap.add(rod("x", 0.007, 2 * w - wall, pivot, 10), STEEL)
