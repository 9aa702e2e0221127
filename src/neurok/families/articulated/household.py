"""Odds and ends: book, padlock, mailbox, razor, vise, swing, gate."""

from __future__ import annotations

import numpy as np

from neurok.families.articulated.kit import (
    BLACK_STEEL,
    BRASS,
    CHARCOAL,
    CHROME,
    RUBBER,
    STEEL,
    X,
    Y,
    Z,
    pair,
    placed,
    rod,
    turned,
)
from neurok.modelling import looks, profiles
from neurok.modelling.booleans import difference
from neurok.modelling.builder import Builder
from neurok.modelling.dice import Dice
from neurok.modelling.hardware import facing, leg, pull, sideways
from neurok.modelling.shapes import box, cylinder, extrude, slab, sphere, torus
from neurok.modelling.sweeps import tube


def book(d: Dice) -> Builder:
    """A book lying on its back; the cover turns about the spine, the first pages may follow it."""
    width, height, thick = d.between(0.11, 0.22), d.between(0.16, 0.3), d.between(0.015, 0.05)
    cover, paper, board = d.paint(), looks.paint("cream", 0.9), d.between(0.0015, 0.003)
    z, inset = height / 2, 0.004
    back = Builder("book").part("back_cover")
    back.add(slab((0, 0, -z), (width, board, z), 0.2 * board), cover)
    back.add(slab((-board, 0, -z), (0, thick - 0.5 * board, z), 0.2 * board), cover)
    split = thick - board - (d.between(0.1, 0.4) * thick if d.chance(0.5) else 0.0005)
    back.add(slab((0.0004, board + 0.0002, -z + inset), (width - inset, split, z - inset), 0.0003), paper)
    front = back.hinge("front_cover", Z, (-board, thick, 0), 0.0, d.between(2.2, 3.0))
    front.add(slab((-board, thick - board + 0.0003, -z), (width, thick, z), 0.2 * board), cover)
    front.add(slab((0.2 * width, thick - 0.0002, -0.6 * z), (0.8 * width, thick + 0.0008, -0.2 * z), 0.0002), d.paint())
    if split < thick - board - 0.001:
        front.add(slab((0.0004, split + 0.0004, -z + inset), (width - inset, thick - board, z - inset), 0.0003), paper)
    return back.builder


def padlock(d: Dice) -> Builder:
    """A body, a shackle that slides up or swings open, and a key or dials."""
    width = d.between(0.03, 0.06)
    height, deep = width * d.between(0.8, 1.2), width * d.between(0.3, 0.45)
    look, steel = d.pick([BRASS, BLACK_STEEL, d.paint()]), CHROME
    body = Builder("padlock").part("base_body")
    body.add(
        facing(profiles.rectangle(width, height, d.between(0.08, 0.3) * width, 5), deep, 0.08 * deep).move(
            0, height / 2, -deep / 2
        ),
        look,
    )
    reach, thick = 0.3 * width, d.between(0.07, 0.1) * width
    rise = d.between(0.25, 0.5) * width
    depth = 0.35 * height
    arch = np.concatenate(
        [
            [(-reach, height - depth)],
            profiles.arc(reach, 180, 0, 12, (0.0, height + rise)),
            [(reach, height - 0.12 * height)],
        ]
    )
    path = np.column_stack([arch, np.zeros(len(arch))])
    if d.chance(0.5):
        shackle = body.slide("shackle", Y, 0.0, 0.1 * height)
    else:
        shackle = body.hinge("shackle", Y, (-reach, height, 0), -d.between(1.6, 3.0), 0.0)
        path[-1, 1] = height + 0.001
    shackle.add(tube(path, thick, 10), steel)
    if d.chance(0.5):
        count = d.count(3, 4)
        for k in range(count):
            y = height * (0.2 + 0.6 * (k + 0.5) / count)
            dial = body.spin("dial", Y, (0, y, 0.2 * deep))
            dial.add(cylinder(0.42 * deep, 0.5 * height / count, 10, chamfer=0.001).move(0, y, 0.2 * deep), steel)
    else:
        key = body.hinge("key", Y, (0, 0, 0), -1.57, 1.57)
        key.add(
            cylinder(0.05 * width, 0.3 * height + 0.35 * width, 12).move(0, 0.15 * height - 0.175 * width, 0), steel
        )
        bow = extrude(profiles.circle(0.2 * width, 18), 0.05 * width, [profiles.circle(0.08 * width, 12)])
        key.add(bow.along("z").move(0, -0.5 * width, -0.025 * width), steel)
    return body.builder


def mailbox(d: Dice) -> Builder:
    """A box with a rounded roof on a post: a door in front and a flag at the side."""
    width, length, wall = d.between(0.15, 0.22), d.between(0.35, 0.5), 0.006
    low, rise = d.between(0.7, 1.0), d.between(0.08, 0.14)
    look, flag_look = d.paint(), looks.plastic("red")
    body = Builder("mailbox").part("base_body")
    body.add([s.move(0, 0, -0.1 * length) for s in leg(d, d.pick(["square", "round"]), low, 0.08)], d.wood())
    w = width / 2
    arch = lambda r: np.concatenate([[(-r, 0.0), (r, 0.0)], profiles.arc(r, 0, 180, 12, (0.0, rise))])  # noqa: E731
    shell = extrude(arch(w), length, [arch(w - wall)[::-1] * (1, 0.97) + np.array([0.0, 0.5 * wall])])
    body.add(type(shell)(shell.vertices[:, [0, 2, 1]], shell.faces[:, ::-1]).move(0, low, -length / 2), look)
    body.add(facing(arch(w), wall).move(0, low, -length / 2 - wall), look)
    z = length / 2 + 0.001
    door = body.hinge("door", X, (0, low + 0.004, z), 0.0, d.between(1.2, 1.8))
    door.add(facing(arch(w), wall).move(0, low, z), look)
    door.add(
        [s.move(0, low + rise + 0.6 * w, z + wall) for s in pull(d, 0.05, kind=d.pick(["knob", "bow"]))], d.metal()
    )
    body.add(rod("x", 0.005, 0.7 * width, (0, low + 0.001, z + 0.002), 10), STEEL)
    side = d.sign()
    pivot = (side * (w + 0.004), low + 0.7 * rise, 0.1 * length)
    flag = body.hinge("flag", X, pivot, -1.57, 0.0)
    flag.add(rod("x", 0.008, 0.012, pivot, 12), flag_look)
    flag.add(box((0.004, 0.014, 0.16), (pivot[0] + side * 0.004, pivot[1], pivot[2] + 0.075)), flag_look)
    flag.add(box((0.004, 0.05, 0.05), (pivot[0] + side * 0.004, pivot[1] - 0.018, pivot[2] + 0.135)), flag_look)
    return body.builder


def razor(d: Dice) -> Builder:
    """A wet razor with a head that tilts, or a straight one that unfolds."""
    builder = Builder("razor")
    look, steel = d.plastic(), CHROME
    length = d.between(0.11, 0.15)
    if d.chance(0.4):
        handle = builder.part("handle")
        height = 0.02
        cheek = profiles.superellipse(length / 2, height / 2, 2.6, 28) + np.array([0.0, height / 2])
        for x in (-1, 1):
            handle.add(sideways(cheek, 0.003).move(x * 0.0036, 0, 0), look)
        handle.add(pair(rod("x", 0.0016, 0.012, (0, height / 2, 0.43 * length), 10), "z"), steel)
        pivot = (0.0, height / 2, 0.43 * length)
        blade = handle.hinge("blade", X, pivot, 0.0, np.pi)
        outline = np.array([[0.03, 0.4], [0.03, 0.62], [-0.84, 0.8], [-0.84, 0.1], [-0.2, 0.1]]) * (length, height)
        blade.add(
            sideways(outline if profiles.is_ccw(outline) else outline[::-1], 0.0025).move(0, 0, 0.43 * length), steel
        )
        return builder
    handle = builder.part("handle")
    path = profiles.smooth_curve(
        [(0, 0.012, length / 2), (0, 0.02, 0.0), (0, 0.012, -0.3 * length), (0, 0.022, -length / 2)], 16
    )
    handle.add(
        tube(path, 0.0065, 12, scales=np.interp(np.linspace(0, 1, 16), [0, 0.2, 0.7, 1], [0.8, 1.1, 0.9, 0.55])), look
    )
    handle.add([torus(0.0066, 0.0008, 14, 6).along("z").move(0, 0.0195, 0.012 * k) for k in range(-1, 3)], RUBBER)
    neck = np.array([0.0, 0.022, -length / 2])
    head = handle.hinge("head", X, neck, -0.5, 0.5)
    head.add(box((0.042, 0.007, 0.016), tuple(neck + (0, 0.004, -0.006)), 0.0015), look)
    head.add(
        [box((0.036, 0.0012, 0.0018), tuple(neck + (0, 0.0078, -0.002 - 0.0035 * k))) for k in range(d.count(2, 4))],
        steel,
    )
    head.add(rod("x", 0.0035, 0.02, neck, 10), look)
    return builder


def vise(d: Dice) -> Builder:
    """A bench vise: a jaw that slides, a screw that turns and a bar through its end."""
    s = d.between(0.08, 0.16)
    look, steel = looks.paint(d.pick(["navy", "red", "graphite", "teal", "charcoal"]), 0.5, 0.2), STEEL
    body = Builder("vise").part("base_body")
    body.add(turned(24, [0.7, 0.7, 0.4, 0.35], [0, 0.12, 0.25, 0.35], scale=s, rise=s), look)
    body.add(slab((-0.3 * s, 0.34 * s, -0.7 * s), (0.3 * s, 0.62 * s, 0.3 * s), 0.05 * s), look)
    body.add(slab((-0.6 * s, 0.6 * s, -0.3 * s), (0.6 * s, 1.15 * s, 0.0), 0.04 * s), look)
    body.add(slab((-0.6 * s, 1.0 * s, -0.001), (0.6 * s, 1.15 * s, 0.03 * s)), steel)
    gap = d.between(0.0, 0.25) * s
    jaw = body.slide("jaw", Z, -0.95 * gap, d.between(0.3, 0.6) * s)
    front = 0.035 * s + gap
    jaw.add(slab((-0.6 * s, 0.66 * s, front + 0.03 * s), (0.6 * s, 1.15 * s, front + 0.3 * s), 0.04 * s), look)
    jaw.add(slab((-0.6 * s, 1.0 * s, front), (0.6 * s, 1.15 * s, front + 0.035 * s)), steel)
    jaw.add(slab((-0.18 * s, 0.63 * s, -0.6 * s), (0.18 * s, 0.85 * s, front + 0.31 * s)), steel)
    place = np.array([0.0, 0.78 * s, front + 0.3 * s])
    screw = jaw.spin("screw", Z, place)
    screw.add(rod("z", 0.1 * s, 0.25 * s, place + (0, 0, 0.12 * s), 16, chamfer=0.02 * s), steel)
    bar = screw.slide("bar", X, -0.3 * s, 0.3 * s)
    bar.add(rod("x", 0.035 * s, 0.9 * s, place + (0, 0, 0.18 * s), 10), steel)
    bar.add([sphere(0.06 * s, 10, 8).move(*(place + (x * 0.45 * s, 0, 0.18 * s))) for x in (-1, 1)], steel)
    return body.builder


def swing(d: Dice) -> Builder:
    """A playground frame with one to three seats on ropes."""
    tall, count = d.between(1.4, 2.0), d.count(1, 3)
    width = 0.5 + 0.6 * count
    frame_look, seat_look = d.pick([d.wood(), d.metal(), d.paint()]), d.pick([d.wood(), d.plastic()])
    r = d.between(0.025, 0.04)
    frame = Builder("swing").part("frame")
    frame.add(rod("x", r, width + 0.2, (0, tall, 0), 14), frame_look)
    for x in (-1, 1):
        frame.add(
            pair(tube([(x * width / 2, tall, 0), (x * (width / 2 + 0.12), 0, 0.35 * tall)], r, 12), "z"), frame_look
        )
        if d.chance(0.6):
            frame.add(rod("z", 0.7 * r, 0.36 * tall, (x * (width / 2 + 0.057), 0.52 * tall, 0), 10), frame_look)
    limit = d.between(0.6, 1.1)
    for k in range(count):
        middle = (k - (count - 1) / 2) * 0.6
        seat = frame.hinge("seat", X, (0, tall, 0), -limit, limit)
        low = d.between(0.35, 0.45)
        seat.add(placed(pair(cylinder(0.008, tall - low, 8).move(0.2, (tall + low) / 2)), (middle, 0, 0)), STEEL)
        seat.add(placed(pair(torus(1.25 * r, 0.009, 16, 6).along("x").move(0.2, tall)), (middle, 0, 0)), STEEL)
        seat.add(box((0.46, 0.03, 0.18), (middle, low, 0), 0.008), seat_look)
    return frame.builder


def gate(d: Dice) -> Builder:
    """Garden gate: one or two leaves of bars or boards between posts, with a latch."""
    span, tall = d.between(0.8, 1.2), d.between(0.8, 1.5)
    look = d.pick([d.wood(), d.metal(), d.paint()])
    leaves = d.count(1, 2)
    total = span * leaves
    posts = Builder("gate").part("posts")
    side = d.between(0.08, 0.14)
    posts.add(pair(box((side, 1.12 * tall, side), (total / 2 + side / 2, 0.56 * tall, 0), 0.01)), look)
    posts.add(pair(sphere(0.5 * side, 14, 10).move(total / 2 + side / 2, 1.12 * tall + 0.3 * side, 0)), look)
    posts.add(slab((-total / 2 - side, -0.03, -side), (total / 2 + side, 0.001, side)), looks.paint("graphite", 0.9))
    bars = d.count(4, 8)
    boards, arched = d.chance(0.4), d.between(0.0, 0.25)
    for x in [-1, 1] if leaves == 2 else [d.sign()]:
        hinge = x * total / 2
        limits = (-1.6, 0.0) if x < 0 else (0.0, 1.6)
        leaf = posts.hinge("leaf", Y, (hinge - x * 0.006, 0, 0), *limits)
        a, b = sorted((hinge - x * 0.012, hinge - x * (span - 0.012)))
        leaf.add(
            [slab((a, share * tall, -0.015), (b, share * tall + 0.05, 0.015), 0.004) for share in (0.12, 0.8)], look
        )
        for k in range(bars):
            at = a + (b - a) * (k + 0.5) / bars
            high = tall * (0.92 + arched * np.sin(np.pi * (k + 0.5) / bars))
            half = 0.36 * (b - a) / bars if boards else 0.011
            leaf.add(
                slab((at - half, 0.06 * tall, -0.011), (at + half, high, 0.011 if not boards else 0.03), 0.003), look
            )
        leaf.add(
            [slab((e - 0.02, 0.06 * tall, -0.02), (e + 0.02, 0.9 * tall, 0.02), 0.004) for e in (a + 0.02, b - 0.02)],
            look,
        )
        posts.add(
            [cylinder(0.012, 0.06, 10).move(hinge - x * 0.003, share * tall, 0.0) for share in (0.15, 0.82)],
            BLACK_STEEL,
        )
        if x == 1 or leaves == 1:
            place = np.array([hinge - x * (span - 0.1), 0.62 * tall, 0.034])
            latch = leaf.hinge("latch", Z, place, *sorted((0.0, x * 0.7)))
            latch.add(
                [
                    box((0.14, 0.02, 0.012), tuple(place - (x * 0.04, 0, 0)), 0.003),
                    rod("z", 0.02, 0.04, place - (0, 0, 0.015), 12),
                ],
                BLACK_STEEL,
            )
    return posts.builder


def anvil_press(d: Dice) -> Builder:
    """A hand press: a lever above a column drives a ram up and down."""
    s = d.between(0.2, 0.4)
    look, steel = d.paint(), STEEL
    body = Builder("anvil_press").part("base_body")
    body.add(slab((-0.35 * s, 0, -0.5 * s), (0.35 * s, 0.1 * s, 0.5 * s), 0.02 * s), look)
    column = slab((-0.16 * s, 0.09 * s, -0.45 * s), (0.16 * s, 1.3 * s, -0.15 * s), 0.02 * s)
    body.add(column, look)
    head = slab((-0.2 * s, 1.0 * s, -0.46 * s), (0.2 * s, 1.4 * s, 0.25 * s), 0.03 * s)
    body.add(difference(head, slab((-0.081 * s, 0.5 * s, -0.001 * s), (0.081 * s, 2 * s, 0.161 * s))), look)
    body.add(cylinder(0.16 * s, 0.06 * s, 24).move(0, 0.125 * s, 0.08 * s), steel)
    ram = body.slide("ram", Y, -d.between(0.3, 0.5) * s, 0.0)
    ram.add(slab((-0.078 * s, 0.75 * s, 0.003 * s), (0.078 * s, 1.6 * s, 0.158 * s), 0.01 * s), steel)
    ram.add(cylinder(0.05 * s, 0.08 * s, 14).move(0, 0.72 * s, 0.08 * s), steel)
    side = d.sign()
    hub = np.array([side * 0.24 * s, 1.2 * s, -0.05 * s])
    wheel = body.hinge("handle", X, hub, -1.5, 1.5)
    wheel.add(rod("x", 0.07 * s, 0.1 * s, hub, 16, chamfer=0.01 * s), steel)
    count, reach = d.pick([1, 2, 4]), d.between(0.5, 0.8) * s
    for k in range(count):
        tip = np.array([0.02 * s * side, reach, 0.0])
        bar = (
            tube(np.array([(0.0, 0.0, 0.0), tip]), 0.025 * s, 8)
            .turn("x", 360 * k / count + 25)
            .move(*(hub + (side * 0.03 * s, 0, 0)))
        )
        knob = sphere(0.06 * s, 12, 8).move(*tip).turn("x", 360 * k / count + 25).move(*(hub + (side * 0.03 * s, 0, 0)))
        wheel.add(bar, steel).add(knob, CHARCOAL)
    return body.builder
