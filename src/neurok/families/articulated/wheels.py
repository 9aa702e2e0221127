"""Things on wheels and folding seats: office chair, folding chair, carts, wheelbarrow."""

from __future__ import annotations

import numpy as np

from neurok.core import Surface
from neurok.families.articulated.kit import CHROME, RUBBER, X, Y, corners, pair, placed, rod, turned
from neurok.modelling import looks, profiles
from neurok.modelling.builder import Builder, Part
from neurok.modelling.dice import Dice
from neurok.modelling.hardware import add_castor, wheel
from neurok.modelling.shapes import Shape, box, cylinder, extrude, loft, slab
from neurok.modelling.sweeps import tube


def cushion(width: float, depth: float, thick: float, dish: float = 0.0) -> Shape:
    """A soft slab about the origin in the (x, z) plane, perhaps dished."""
    pad = extrude(profiles.rectangle(width, depth, 0.25 * min(width, depth), 5), thick, bevel=0.35 * thick)
    v = pad.vertices.copy()
    v[:, 1] += dish * ((v[:, 0] / width) ** 2 + (v[:, 2] / depth) ** 2)
    return Shape(v, pad.faces)


def office_chair(d: Dice) -> Builder:
    """A star base on castors, a seat that turns and rises, a back that leans."""
    builder = Builder("office_chair")
    fabric = looks.paint(d.pick(["charcoal", "navy", "red", "teal", "graphite", "terracotta"]), 0.9)
    metal = looks.metal(d.pick(["chrome", "black_steel", "steel"]))
    arms, reach = d.pick([4, 5, 5, 5]), d.between(0.26, 0.32)
    radius = d.between(0.024, 0.032)
    low = 2.5 * radius
    base = builder.part("base_body")
    base.add(turned(24, [0.04, 0.045, 0.028], [low, low + 0.04, low + 0.06]), metal)
    for k in range(arms):
        bar = loft(
            [
                [
                    (0.02, low + 0.01, -0.022),
                    (0.02, low + 0.045, -0.018),
                    (0.02, low + 0.045, 0.018),
                    (0.02, low + 0.01, 0.022),
                ],
                [(reach, low, -0.014), (reach, low + 0.02, -0.012), (reach, low + 0.02, 0.012), (reach, low, 0.014)],
            ]
        )
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
            path = profiles.rounded_path(
                [
                    (x * 0.1, seat_y, 0.0),
                    (x * (size / 2 + 0.03), seat_y, 0.0),
                    (x * (size / 2 + 0.03), seat_y + 0.2, 0.02),
                ],
                0.04,
                4,
            )
            seat.add(tube(path, 0.012, 10), metal)
            seat.add(box((0.06, 0.025, 0.24), (x * (size / 2 + 0.03), seat_y + 0.21, 0.03), 0.008), RUBBER)
    return builder


def folding_chair(d: Dice) -> Builder:
    """A frame with the back, a second pair of legs and a seat that fold onto it."""
    width, seat_y, tall, depth = (
        d.between(0.4, 0.48),
        d.between(0.42, 0.47),
        d.between(0.78, 0.9),
        d.between(0.38, 0.44),
    )
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
        seat.add(
            cushion(2 * inner - 0.02, depth - 0.02, 0.025).move(0, seat_y + 0.009, pivot[2] + depth / 2 - 0.01),
            d.paint(),
        )
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


def cart(d: Dice) -> Builder:
    """A platform trolley, a serving cart or a shopping trolley on castors."""
    builder = Builder("cart")
    kind = d.pick(["platform", "tiers", "basket"])
    width, length = d.between(0.4, 0.6), d.between(0.6, 0.95)
    radius = d.between(0.04, 0.07)
    deck = 2.6 * radius
    metal = d.metal()
    body = builder.part("base_body")
    w, z = width / 2, length / 2
    if kind == "basket":
        _add_basket(body, d, width, length, deck, metal)
    else:
        body.add(slab((-w, deck, -z), (w, deck + 0.03, z), 0.006), d.wood() if d.chance(0.4) else d.paint())
    if kind == "platform":
        rise = d.between(0.6, 0.85)
        path = profiles.rounded_path(
            [
                (-w + 0.03, deck + 0.01, -z + 0.02),
                (-w + 0.03, deck + rise, -z - 0.04),
                (w - 0.03, deck + rise, -z - 0.04),
                (w - 0.03, deck + 0.01, -z + 0.02),
            ],
            0.08,
            6,
        )
        carrier = body.hinge("handle", X, (0, deck + 0.02, -z + 0.02), 0.0, 1.4) if d.chance(0.4) else body
        carrier.add(tube(path, 0.014, 12), metal)
        carrier.add(rod("x", 0.01, width - 0.06, (0, deck + 0.45 * rise, -z - 0.007), 10), metal)
    elif kind == "tiers":
        tiers, rise = d.count(2, 3), d.between(0.24, 0.32)
        shelf = d.paint()
        top = deck + (tiers - 1) * rise + 0.08
        for k in range(1, tiers):
            body.add(slab((-w, deck + k * rise, -z), (w, deck + k * rise + 0.02, z), 0.005), shelf)
        body.add(corners(cylinder(0.012, top - deck, 12).move(w - 0.02, (top + deck) / 2, z - 0.02)), metal)
        for k in range(tiers):
            y = deck + k * rise + 0.06
            body.add(pair(rod("z", 0.006, length - 0.04, (w - 0.02, y, 0), 8)), metal)
        path = profiles.rounded_path(
            [
                (-w + 0.02, top, -z + 0.02),
                (-w + 0.02, top + 0.06, -z - 0.06),
                (w - 0.02, top + 0.06, -z - 0.06),
                (w - 0.02, top, -z + 0.02),
            ],
            0.05,
            5,
        )
        body.add(tube(path, 0.012, 10), metal)
    fixed_front, inset = d.chance(0.5), w if kind == "basket" else w - 0.06
    for x in (-1, 1):
        for s in (-1, 1):
            steers = not (fixed_front and s < 0)
            add_castor(
                builder, d, body, x * inset, s * (z - 0.08), deck + 0.004, radius, steers, 0.0 if not steers else None
            )
    return builder


def _add_basket(body: Part, d: Dice, width: float, length: float, deck: float, metal: Surface) -> None:
    """A wire basket, wider at the top, above a frame."""
    low, rise = deck + d.between(0.2, 0.3), d.between(0.3, 0.4)
    frame = profiles.rounded_path(
        [
            (-width / 2, deck + 0.01, length / 2),
            (-width / 2, deck + 0.01, -length / 2),
            (-width / 2, low + rise, -length / 2 - 0.05),
            (width / 2, low + rise, -length / 2 - 0.05),
            (width / 2, deck + 0.01, -length / 2),
            (width / 2, deck + 0.01, length / 2),
        ],
        0.06,
        5,
    )
    body.add(tube(frame, 0.012, 10), metal)
    body.add([rod("x", 0.01, width, (0, deck + 0.01, z * length), 10) for z in (-0.45, 0.0, 0.45)], metal)
    wire = 0.0035
    rows = 5
    loops = []
    for k in range(rows):
        s = k / (rows - 1)
        outline = profiles.rectangle(width * (0.8 + 0.16 * s), length * (0.8 + 0.2 * s), 0.05, 3)
        loop = np.column_stack([outline[:, 0], np.full(len(outline), low + s * rise), outline[:, 1] + 0.03 * s])
        loops.append(loop)
        body.add(tube(loop, wire if k < rows - 1 else 2 * wire, 6, closed=True), metal)
    corner = len(loops[0]) // 4
    for k in range(0, 4 * corner, 1):
        body.add(tube([loops[0][k], loops[-1][k]], wire, 5), metal)
    for t in np.linspace(0.1, 0.9, 5):
        for a, b in (
            (corner - 1, corner),
            (3 * corner - 1, 3 * corner),
            (2 * corner - 1, 2 * corner),
            (4 * corner - 1, 0),
        ):
            body.add(
                tube([loops[0][a] * (1 - t) + loops[0][b] * t, loops[-1][a] * (1 - t) + loops[-1][b] * t], wire, 5),
                metal,
            )
    body.add(
        slab((-0.41 * width, low - 0.006, -0.41 * length), (0.41 * width, low + 0.004, 0.41 * length), 0.002), metal
    )
    body.add(rod("x", 0.018, width, (0, low + rise, -length / 2 - 0.05), 14), d.plastic())
    body.add(
        pair(tube([(width / 2, deck + 0.3 * (low - deck), -length / 2), (0.38 * width, low, -0.3 * length)], 0.009, 8)),
        metal,
    )
    body.add(pair(tube([(width / 2, deck + 0.01, 0.3 * length), (0.38 * width, low, 0.25 * length)], 0.009, 8)), metal)


def wheelbarrow(d: Dice) -> Builder:
    """A tray on one wheel in front and two legs behind."""
    radius = d.between(0.14, 0.19)
    width, length = d.between(0.5, 0.65), d.between(0.6, 0.8)
    metal, tray = d.metal(), d.paint()
    body = Builder("wheelbarrow").part("base_body")
    low, rise = radius * d.between(1.5, 1.9), d.between(0.18, 0.26)
    at = lambda sx, sz, y, z, inset=0.0: np.column_stack(  # noqa: E731
        [
            profiles.rectangle(sx - 2 * inset, sz - 2 * inset, 0.06, 3)[:, 0],
            np.full(16, y),
            profiles.rectangle(sx - 2 * inset, sz - 2 * inset, 0.06, 3)[:, 1] + z,
        ]
    )
    wall = 0.01
    body.add(
        loft(
            [
                at(0.6 * width, 0.6 * length, low, 0.0),
                at(width, length, low + rise, 0.03),
                at(width, length, low + rise, 0.03, wall),
                at(0.6 * width, 0.6 * length, low + wall, 0.0, wall),
            ]
        ),
        tray,
    )
    hub = np.array([0.0, radius, 0.6 * length])
    for x in (-1, 1):
        path = profiles.smooth_curve(
            [
                (x * 0.055, radius, 0.6 * length),
                (x * 0.16, low - 0.014, 0.2 * length),
                (x * 0.22, low - 0.016, -0.3 * length),
                (x * 0.3, low + 0.12, -1.0 * length),
            ],
            14,
        )
        body.add(tube(path, 0.015, 10), metal)
        body.add(
            cylinder(0.019, 0.12, 12).along("z").turn("x", -16).move(x * 0.292, low + 0.112, -0.95 * length), RUBBER
        )
        leg = profiles.rounded_path(
            [
                (x * 0.21, low - 0.01, -0.1 * length),
                (x * 0.24, 0.012, -0.35 * length),
                (x * 0.22, low - 0.01, -0.42 * length),
            ],
            0.03,
            4,
        )
        body.add(tube(leg, 0.012, 10), metal)
    body.add(rod("x", 0.012, 0.48, (0, 0.3 * low, -0.3 * length), 10), metal)
    roll = body.spin("wheel", X, hub)
    tyre, rim = wheel(d, radius, 0.075, spokes=d.chance(0.4))
    roll.add(placed(tyre, hub), RUBBER)
    roll.add(placed([*rim, cylinder(0.012, 0.13, 10).along("x")], hub), metal)
    return body.builder
