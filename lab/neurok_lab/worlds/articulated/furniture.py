"""Chairs that turn, rise, lean and fold; other furniture is drawn from the catalogue."""

from __future__ import annotations

import numpy as np

from neurok.modelling import profiles, surfaces
from neurok.modelling.builder import Builder
from neurok.modelling.sampler import Sampler
from neurok.modelling.shapes import box, cylinder, loft, slab
from neurok.modelling.sweeps import tube
from neurok_lab.worlds.articulated.hardware import add_castor
from neurok_lab.worlds.articulated.kit import (
    CHROME,
    RUBBER,
    X,
    Y,
    cushion,
    rod,
    turned,
)


def office_chair(d: Sampler) -> Builder:
    """A star base on castors, a seat that turns and rises, a back that leans."""
    builder = Builder("office_chair")
    fabric = surfaces.paint(d.pick(["charcoal", "navy", "red", "teal", "graphite", "terracotta"]), 0.9)
    metal = surfaces.metal(d.pick(["chrome", "black_steel", "steel"]))
    arms, reach = d.pick([4, 5, 5, 5]), d.between(0.26, 0.32)
    radius = d.between(0.024, 0.032)
    low = 2.5 * radius
    base = builder.part("base_body")
    base.add(turned(24, [0.04, 0.045, 0.028], [low, low + 0.04, low + 0.06]), metal)
    for k in range(arms):
        ends = [(0.02, low + 0.01, low + 0.045, 0.022, 0.018), (reach, low, low + 0.02, 0.014, 0.012)]
        bar = loft([[(x, a, -p), (x, b, -q), (x, b, q), (x, a, p)] for x, a, b, p, q in ends])
        angle = 360 * k / arms + 18
        base.add(bar.turn("y", angle), metal)
        a = np.radians(angle)
        add_castor(builder, d, base, (reach - 0.012) * np.cos(a), -(reach - 0.012) * np.sin(a), low + 0.004, radius)
    seat_y, size = d.between(0.42, 0.5), d.between(0.42, 0.5)
    base.add(cylinder(0.024, 0.2, 16).move(0, low + 0.13, 0), metal)
    column = base.slide("column", Y, -0.05, d.between(0.05, 0.1))
    column.add(cylinder(0.016, seat_y - low - 0.12, 16).move(0, (seat_y + low + 0.08) / 2, 0), CHROME)
    seat = column.spin("seat", Y)
    seat.add(box((0.16, 0.03, 0.2), (0, seat_y, 0), 0.008), metal)
    seat.add(cushion(size, size, 0.07, 0.02).move(0, seat_y + 0.012, 0.02), fabric)
    lean = d.between(5, 12)
    pivot = np.array([0.0, seat_y + 0.03, -size / 2 - 0.01])
    seat.add(box((0.07, 0.012, 0.16), (0, seat_y + 0.002, -size / 2 + 0.05)), metal)
    back = seat.hinge("back", X, pivot, -d.between(0.2, 0.4), 0.08) if d.chance(0.6) else seat
    tall = d.between(0.4, 0.65)
    rest = cushion(size * d.between(0.8, 0.95), tall, 0.05, 0.02).turn("x", 90).mirror("z")
    back.add(rest.move(0, tall / 2 + 0.1, 0.0).turn("x", -lean).move(*pivot), fabric)
    # Behind the cushion, which is 0.055 thick at most.
    spine = tube([(0, -0.02, 0), (0, 0.05, -0.058), (0, 0.32, -0.058)], 0.014, 10)
    back.add(spine.turn("x", -lean).move(*pivot), metal)
    if d.chance(0.7):
        for x in (-1, 1):
            out = x * (size / 2 + 0.03)
            path = profiles.rounded_path(
                [(x * 0.1, seat_y, 0.0), (out, seat_y, 0.0), (out, seat_y + 0.2, 0.02)], 0.04, 4
            )
            seat.add(tube(path, 0.012, 10), metal)
            seat.add(box((0.06, 0.025, 0.24), (x * (size / 2 + 0.03), seat_y + 0.21, 0.03), 0.008), RUBBER)
    return builder


def folding_chair(d: Sampler) -> Builder:
    """A frame with the back, a second pair of legs and a seat that fold onto it."""
    width, seat_y, tall = d.between(0.4, 0.48), d.between(0.42, 0.47), d.between(0.78, 0.9)
    depth = d.between(0.38, 0.44)
    metal = d.metal() if d.chance(0.6) else d.timber()
    look = d.timber() if d.chance(0.5) else d.paint()
    r = d.between(0.009, 0.013)
    w = width / 2
    front, back = np.array([0.0, r, 0.22]), np.array([0.0, tall, -0.26])
    frame = Builder("folding_chair").part("frame")
    along = (back - front) / np.linalg.norm(back - front)
    for x in (-1, 1):
        frame.add(tube([front + (x * w, 0, 0), back + (x * w, 0, 0)], r, 12), metal)
    for share in (0.12, 0.985):
        p = front + share * (back - front)
        frame.add(rod("x", r, width, p, 12), metal)
    slope = np.degrees(np.arctan2(-along[2], along[1]))
    for k in range(d.count(1, 3)):
        p = front + (0.93 - 0.09 * k) * (back - front)
        frame.add(box((width, 0.065, 0.012), chamfer=0.003).turn("x", -slope).move(*p), look)
    at_seat = front + (back - front) * (seat_y - front[1]) / (back[1] - front[1])
    pivot = at_seat + (0, 0.0, 0.0)
    seat = frame.hinge("seat", X, pivot, -d.between(0.9, 1.2), 0.0)
    inner = w - 2.4 * r
    seat.add(slab((-inner, seat_y - 0.012, pivot[2] - 0.03), (inner, seat_y + 0.01, pivot[2] + depth), 0.005), look)
    seat.add(rod("x", 0.6 * r, width, pivot, 10), metal)
    if d.chance(0.5):
        solid = cushion(2 * inner - 0.02, depth - 0.02, 0.025).move(0, seat_y + 0.009, pivot[2] + depth / 2 - 0.01)
        seat.add(solid, d.paint())
    # The second pair of legs hangs on the frame where both cross, and runs from the ground behind to below the seat.
    foot, head = np.array([0.0, r, -0.28]), np.array([0.0, seat_y - 0.02, 0.12])
    u = w - 2.2 * r
    t = np.linalg.solve(np.array([[along[1], -(head - foot)[1]], [along[2], -(head - foot)[2]]]), (foot - front)[1:])
    cross = front + t[0] * along
    legs = frame.hinge("leg", X, cross, 0.0, d.between(0.4, 0.7))
    for x in (-1, 1):
        legs.add(tube([foot + (x * u, 0, 0), head + (x * u, 0, 0)], 0.9 * r, 12), metal)
        legs.add(rod("x", 0.7 * r, 4 * r, (x * (w - r), cross[1], cross[2]), 10), metal)
    legs.add([rod("x", 0.8 * r, 2 * u, foot + s * (head - foot), 12) for s in (0.15, 0.99)], metal)
    return frame.builder
