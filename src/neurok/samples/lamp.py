"""A desk lamp on a jointed arm: swivel, shoulder, elbow and head turn."""

from __future__ import annotations

import numpy as np

from neurok.core import Asset, Surface
from neurok.modelling import looks, profiles
from neurok.modelling.builder import Builder, Part
from neurok.modelling.shapes import Shape, cylinder, lathe, slab
from neurok.modelling.sweeps import tube

SHOULDER = np.array([0.0, 0.085, 0.0])
LOWER, UPPER = 0.32, 0.28
LEAN, REACH, NOD = -22.0, 62.0, 44.0
"""Angles of lower arm, upper arm and shade against the vertical, as stored [degrees]; forward is positive."""


def make_lamp() -> Asset:
    builder = Builder("lamp")
    body, brass = looks.paint("#2f6f73", 0.35), looks.metal("brass", 0.25)
    base = builder.part("base")
    swivel = builder.part("swivel", base, "revolute", (0, 1, 0), (0, 0, 0), -2.8, 2.8)
    elbow = SHOULDER + LOWER * _direction(LEAN)
    wrist = elbow + UPPER * _direction(REACH)
    lower = builder.part("lower_arm", swivel, "revolute", (1, 0, 0), SHOULDER, np.radians(-25), np.radians(45))
    upper = builder.part("upper_arm", lower, "revolute", (1, 0, 0), elbow, np.radians(-50), np.radians(40))
    head = builder.part("head", upper, "revolute", (1, 0, 0), wrist, np.radians(-35), np.radians(55))
    _add_base(base, swivel, body, brass)
    _add_arm(lower, SHOULDER, elbow, 0.013, brass, body)
    _add_arm(upper, elbow, wrist, 0.007, brass, body)
    _add_head(head, wrist, body, brass)
    return builder.build()


def _direction(degrees: float) -> np.ndarray:
    """Up, leaning forward (+z) by an angle."""
    return np.array([0.0, np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])


def _add_base(base: Part, swivel: Part, body: Surface, brass: Surface) -> None:
    foot = [
        (0.0, 0.0),
        (0.082, 0.0),
        (0.085, 0.004),
        (0.083, 0.012),
        (0.070, 0.018),
        (0.024, 0.024),
        (0.018, 0.030),
        (0.0, 0.030),
    ]
    base.add(lathe(foot, 48), body)
    base.add(lathe([(0.083, 0.0), (0.087, 0.001), (0.087, 0.004), (0.083, 0.005)], 48, closed=True), brass)
    base.add(cylinder(0.008, 0.004, 16, chamfer=0.001).move(0.045, 0.023, 0.045), looks.plastic("#efe9dc"))
    cable = profiles.smooth_curve(
        [(0, 0.006, -0.08), (0.01, 0.004, -0.13), (0.06, 0.004, -0.17), (0.13, 0.004, -0.16), (0.2, 0.004, -0.2)], 28
    )
    base.add(tube(cable, 0.003, 8), looks.rubber())
    swivel.add(
        lathe([(0.0, 0.030), (0.014, 0.030), (0.014, 0.036), (0.009, 0.040), (0.009, 0.066), (0.0, 0.066)], 24), brass
    )
    for x in (-1, 1):
        swivel.add(slab((x * 0.0205, 0.062, -0.011), (x * 0.0245, 0.098, 0.011), 0.001), body)
    swivel.add(slab((-0.0245, 0.058, -0.011), (0.0245, 0.066, 0.011), 0.001), body)
    swivel.add(_bolt(SHOULDER, 0.029, 0.0085), brass)


def _bolt(place: np.ndarray, reach: float, radius: float) -> list[Shape]:
    """A pin across x with a round head on each side."""
    heads = [cylinder(radius, 0.006, 20, chamfer=0.0012).along("x").move(x * reach, 0, 0) for x in (-1, 1)]
    return [s.move(*place) for s in [cylinder(0.0035, 2 * reach, 12).along("x"), *heads]]


def _add_arm(arm: Part, start: np.ndarray, end: np.ndarray, spread: float, metal: Surface, paint: Surface) -> None:
    """Two parallel rods, a spring along them, a cross bar and the pin at the far end."""
    along = end - start
    length = float(np.linalg.norm(along))
    along = along / length
    for x in (-1, 1):
        rod = tube([start + (x * spread, 0, 0) - 0.012 * along, end + (x * spread, 0, 0) + 0.012 * along], 0.0042, 12)
        arm.add(rod, metal)
    middle = start + 0.55 * length * along
    arm.add(cylinder(0.0035, 2 * spread, 12).along("x").move(*middle), metal)
    t = np.linspace(0.0, 1.0, 15 * 8)
    side = np.cross(along, (1.0, 0.0, 0.0))
    coil = start + (0.02 + 0.45 * length * t)[:, None] * along
    turn = 2 * np.pi * 15 * t
    coil = coil + 0.0042 * (np.cos(turn)[:, None] * np.array([1.0, 0.0, 0.0]) + np.sin(turn)[:, None] * side)
    arm.add(tube(coil, 0.0009, 5), looks.metal("steel"))
    arm.add(tube([start, start + 0.021 * along], 0.0022, 8), looks.metal("steel"))
    arm.add(tube([start + (0.019 + 0.45 * length) * along, middle], 0.0022, 8), looks.metal("steel"))
    arm.add(_bolt(end, spread + 0.008, 0.0075), paint)


def _add_head(head: Part, wrist: np.ndarray, body: Surface, brass: Surface) -> None:
    """A bell-shaped shade, modelled opening downwards from the wrist, then nodded forward."""
    outer = [
        (0.0, 0.016),
        (0.012, 0.016),
        (0.024, 0.010),
        (0.028, -0.02),
        (0.036, -0.045),
        (0.056, -0.075),
        (0.072, -0.112),
    ]
    inner = [(0.0695, -0.112), (0.053, -0.075), (0.033, -0.045), (0.024, -0.02), (0.0, -0.012)]
    curve = np.concatenate([profiles.smooth_curve(outer, 26), profiles.smooth_curve(inner, 16)])
    curve[[0, -1], 0] = 0.0
    pieces = [(lathe(np.maximum(curve, (0.0, -1.0)), 40), body)]
    pieces.append(
        (lathe([(0.0715, -0.114), (0.074, -0.112), (0.0715, -0.110), (0.069, -0.112)], 40, closed=True), brass)
    )
    pieces.append((cylinder(0.014, 0.024, 20, chamfer=0.001).move(0, -0.022, 0), looks.plastic("#efe9dc")))
    bulb = [
        (0.0, -0.033),
        (0.012, -0.034),
        (0.015, -0.045),
        (0.024, -0.066),
        (0.0265, -0.080),
        (0.022, -0.094),
        (0.012, -0.103),
        (0.0, -0.106),
    ]
    pieces.append((lathe(bulb, 24), looks.glow("#ffe9b0", 0.9)))
    pieces.append((lathe([(0.0, 0.014), (0.008, 0.014), (0.008, 0.030), (0.0, 0.034)], 16), brass))
    lug = slab((-0.004, 0.012, -0.007), (0.004, 0.046, 0.007), 0.001)
    drop = np.array([0.0, 0.039, 0.0])
    for shape, surface in [*pieces, (lug, brass)]:
        turned = shape.move(*-drop).turn("x", -NOD)
        head.add(turned.move(*wrist), surface)
