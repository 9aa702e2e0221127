"""A sideboard with two doors, three drawers and shelves behind the doors."""

from __future__ import annotations

import numpy as np

from neurok.core import Asset
from neurok.modelling import looks, profiles
from neurok.modelling.builder import Builder, Part
from neurok.modelling.shapes import Shape, cylinder, slab
from neurok.modelling.sweeps import tube

WIDTH, HEIGHT, DEPTH, BOARD, LEGS = 1.3, 0.62, 0.42, 0.02, 0.17
FRONT = 0.019
"""Thickness of doors and drawer fronts."""


def make_cabinet() -> Asset:
    builder = Builder("cabinet")
    body = builder.part("body")
    _add_body(body)
    inner = WIDTH / 2 - BOARD
    third = 2 * inner / 3
    for side, edge in ((-1, -inner), (1, inner)):
        hinge = (edge, LEGS + HEIGHT / 2, DEPTH / 2)
        limits = (-2.0, 0.0) if side < 0 else (0.0, 2.0)
        door = builder.part("door", body, "revolute", (0, 1, 0), hinge, *limits)
        _add_door(door, edge, edge - side * third, side)
    low, high = LEGS + BOARD, LEGS + HEIGHT - BOARD
    for k in range(3):
        drawer = builder.part("drawer", body, "prismatic", (0, 0, 1), (0, 0, 0), 0.0, 0.3)
        rise = (high - low) / 3
        _add_drawer(drawer, third / 2, low + k * rise, low + (k + 1) * rise)
    return builder.build()


def _board(low: tuple[float, float, float], high: tuple[float, float, float], grain: str = "x") -> Shape:
    """A panel with softened edges and grain along one axis."""
    shape = slab(low, high, 0.0015).mapped(1.4, (low[0], low[1]))
    assert shape.uv is not None
    return shape if grain == "y" else Shape(shape.vertices, shape.faces, shape.uv[:, ::-1])


def _add_body(body: Part) -> None:
    wood = looks.grained_wood("walnut")
    w, d, low, high = WIDTH / 2, DEPTH / 2, LEGS, LEGS + HEIGHT
    back = -d + 0.008
    body.add(_board((-w - 0.008, high - BOARD, -d - 0.004), (w + 0.008, high, d + FRONT + 0.006)), wood)
    body.add(_board((-w, low, -d), (w, low + BOARD, d)), wood)
    for x in (-1, 1):
        body.add(_board(*sorted_corners((x * w, low + BOARD, -d), (x * (w - BOARD), high - BOARD, d)), "y"), wood)
        post = x * (w - BOARD) / 3
        body.add(_board((post - 0.009, low + BOARD, back), (post + 0.009, high - BOARD, d - 0.002), "y"), wood)
        inside = sorted((x * (w - BOARD), post + x * 0.009))
        middle = low + 0.52 * HEIGHT
        body.add(_board((inside[0], middle, back), (inside[1], middle + 0.016, d - 0.03)), wood)
    body.add(_board((-w + BOARD, low + BOARD, -d), (w - BOARD, high - BOARD, back)), looks.wood("#8a6547"))
    leg, tip = looks.wood("#5a3a27"), looks.metal("brass")
    for x in (-1, 1):
        for z in (-1, 1):
            place = (x * (w - 0.1), LEGS / 2, z * (d - 0.06))
            tilt = lambda s, x=x, z=z: s.turn("z", x * 9).turn("x", -z * 9)  # noqa: E731
            body.add(tilt(cylinder(0.013, LEGS * 0.83, 20, top=0.022).move(0, 0.0155, 0)).move(*place), leg)
            body.add(tilt(cylinder(0.0125, LEGS * 0.18, 20, top=0.0138).move(0, -0.0705, 0)).move(*place), tip)


def sorted_corners(
    a: tuple[float, ...], b: tuple[float, ...]
) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    low, high = np.minimum(a, b), np.maximum(a, b)
    return (low[0], low[1], low[2]), (high[0], high[1], high[2])


def _add_door(door: Part, hinge: float, end: float, side: int) -> None:
    """A framed door: two stiles, two rails, a panel set back."""
    wood, gap, stile = looks.grained_wood("oak"), 0.002, 0.05
    left, right = sorted((hinge - side * gap, end + side * gap))
    low, high = LEGS + BOARD + gap, LEGS + HEIGHT - BOARD - gap
    z0, z1 = DEPTH / 2 + 0.001, DEPTH / 2 + FRONT
    door.add(_board((left, low, z0), (left + stile, high, z1), "y"), wood)
    door.add(_board((right - stile, low, z0), (right, high, z1), "y"), wood)
    for y in (low, high - stile):
        door.add(_board((left + stile, y, z0), (right - stile, y + stile, z1)), wood)
    door.add(_board((left + stile, low + stile, z0 + 0.004), (right - stile, high - stile, z1 - 0.007), "y"), wood)
    grip = right - stile / 2 if side < 0 else left + stile / 2
    door.add(_pull((grip, (low + high) / 2, z1), 0.13, upright=True), looks.metal("brass", 0.22))
    for y in (low + 0.07, high - 0.07):
        door.add(
            slab((hinge - side * 0.004, y - 0.02, z0 - 0.0005), (hinge - side * 0.036, y + 0.02, z0 + 0.001)),
            looks.metal("steel"),
        )


def _add_drawer(drawer: Part, half: float, low: float, high: float) -> None:
    """A front and an open box behind it."""
    wood, plain, gap = looks.grained_wood("oak"), looks.wood("beech"), 0.002
    z0, z1 = DEPTH / 2 + 0.001, DEPTH / 2 + FRONT
    drawer.add(_board((-half + gap, low + gap, z0), (half - gap, high - gap, z1)), wood)
    w, back, floor, top = half - 0.016, -DEPTH / 2 + 0.03, low + 0.014, high - 0.04
    drawer.add(slab((-w, floor, back), (w, floor + 0.008, z0)), plain)
    for x in (-1, 1):
        drawer.add(slab((x * w, floor, back), (x * (w - 0.012), top, z0), 0.001), plain)
    drawer.add(slab((-w + 0.012, floor, back), (w - 0.012, top, back + 0.012), 0.001), plain)
    drawer.add(_pull((0, (low + high) / 2, z1), 0.15, upright=False), looks.metal("brass", 0.22))


def _pull(place: tuple[float, float, float], length: float, upright: bool) -> Shape:
    """A bent bar handle standing out towards +z."""
    h = length / 2
    path = profiles.rounded_path([(-h, 0, -0.001), (-h, 0, 0.026), (h, 0, 0.026), (h, 0, -0.001)], 0.012, 5)
    bar = tube(path, 0.0048, 12)
    return (bar.turn("z", 90) if upright else bar).move(*place)
