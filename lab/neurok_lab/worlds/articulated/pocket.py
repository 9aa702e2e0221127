"""Small things: pens, lighters, memory sticks, spectacles, a mouse, padlocks and books."""

from __future__ import annotations

import numpy as np

from neurok.modelling import profiles, surfaces
from neurok.modelling.booleans import difference, intersection
from neurok.modelling.builder import Builder
from neurok.modelling.sampler import Sampler
from neurok.modelling.shapes import Shape, box, cylinder, extrude, lathe, loft, slab, torus
from neurok.modelling.sweeps import sweep, tube
from neurok_lab.worlds.articulated.hardware import facing
from neurok_lab.worlds.articulated.kit import (
    BLACK_STEEL,
    BRASS,
    CHARCOAL,
    CHROME,
    GRAPHITE,
    RUBBER,
    STEEL,
    X,
    Y,
    Z,
    level,
    pair,
    rod,
    turned,
)


def pen(d: Sampler) -> Builder:
    """A pen with a push button, a cap, or a barrel to twist; standing upright, point down."""
    length, radius = d.between(0.12, 0.15), d.between(0.0045, 0.0075)
    look, metal = d.plastic(), d.metal()
    kind = d.pick(["push", "cap", "twist"])
    body = Builder("pen").part("body")
    split = length * d.between(0.5, 0.6)
    body.add(turned(20, [0.0008, 0.0015, 0.0028, 0.004, radius, radius], [0.0, 0.004, 0.006, 0.02, 0.03, split]), look)
    body.add(torus(radius, 0.0008, 20, 6).move(0, 0.035, 0), metal)
    upper = body
    if kind == "twist":
        upper = body.spin("barrel", Y)
    top = length - (0.0 if kind != "push" else 0.008)
    disc = turned(20, [1, 1.05, 1, 0.8], [split + 0.0004, split + 0.004, top - 0.004, top], scale=radius)
    upper.add(disc, look if d.chance(0.5) else metal)
    clip = profiles.rounded_path(
        [(0, top - 0.004, 0.8 * radius), (0, top - 0.002, radius + 0.004), (0, top - 0.042, radius + 0.002)], 0.003, 3
    )
    upper.add(sweep(profiles.rectangle(0.004, 0.0014), clip, up=(1, 0, 0)), metal)
    if kind == "push":
        press = upper.slide("button", Y, -d.between(0.004, 0.007), 0.0, (0, top, 0))
        press.add(turned(14, [0.55, 0.55, 0.4], [top - 0.012, top + 0.008, top + 0.01], scale=radius), metal)
    elif kind == "cap":
        cap = body.slide("cap", (0, -1, 0), 0.0, d.between(0.03, 0.07))
        r = 1.18 * radius
        rows = [(0, -0.004), (0.6 * r, -0.004), (r, 0.004), (r, 0.055)]
        rows += [(1.02 * radius, 0.055), (1.02 * radius, 0.002), (0, -0.0005)]
        cap.add(lathe(rows, 20), metal if d.chance(0.4) else look)
        hook = profiles.rounded_path([(0, 0.0, r - 0.001), (0, 0.0, r + 0.004), (0, 0.045, r + 0.002)], 0.003, 3)
        cap.add(sweep(profiles.rectangle(0.004, 0.0014), hook, up=(1, 0, 0)), metal)
    return body.builder


def lighter(d: Sampler) -> Builder:
    """A case with a hinged top and a wheel, or a plain one with wheel and lever."""
    width, depth, height = d.between(0.022, 0.038), d.between(0.01, 0.016), d.between(0.045, 0.06)
    metal = d.metal()
    flip = d.chance(0.6)
    body = Builder("lighter").part("base_body")
    look = metal if flip else d.plastic()
    outline = profiles.rectangle(width, depth, 0.2 * depth if flip else 0.49 * depth, 4)
    body.add(extrude(outline, height * (0.64 if flip else 1.0), bevel=0.001), look)
    low = height * (0.64 if flip else 1.0)
    chimney = slab((-0.4 * width, low - 0.001, -0.35 * depth), (-0.08 * width, low + 0.013, 0.35 * depth), 0.0008)
    body.add(chimney, STEEL)
    body.add(pair(slab((0.0 * width, low - 0.001, 0.3 * depth), (0.26 * width, low + 0.008, 0.42 * depth)), "z"), STEEL)
    r = 0.0045
    place = (0.12 * width, low + 0.0085, 0)
    roller = body.spin("wheel", Z, place)
    roller.add(rod("z", r, 0.5 * depth, place, 18), BLACK_STEEL)
    roller.add([box((0.0006, 2.1 * r, 0.5 * depth)).turn("z", 20 * k).move(*place) for k in range(9)], BLACK_STEEL)
    if flip:
        pivot = (-width / 2, low, 0)
        lid = body.hinge("lid", Z, pivot, 0.0, d.between(1.7, 2.4))
        outer = profiles.rectangle(width, depth, 0.2 * depth, 4)
        rims = [(0.9, low + 0.016), (0.9, low + 0.0005), (1.0, low + 0.0005)]
        rims += [(1.0, height + 0.003), (0.92, height + 0.005)]
        lid.add(loft([level(s * outer, y) for s, y in rims]), metal)
        body.add(rod("z", 0.0016, 0.6 * depth, pivot, 10), STEEL)
    else:
        press = body.hinge("button", Z, (0.3 * width, low + 0.001, 0), -0.12, 0.0)
        plate = slab((0.3 * width, low + 0.0005, -0.28 * depth), (0.55 * width, low + 0.004, 0.28 * depth), 0.0006)
        press.add(plate, d.plastic())
    return body.builder


def usb_stick(d: Sampler) -> Builder:
    """A memory stick whose plug hides under a cap, a swivelling cover or a slider; lying flat."""
    length, width, height = d.between(0.035, 0.05), d.between(0.015, 0.02), d.between(0.007, 0.01)
    look, metal = d.plastic(), STEEL
    kind = d.pick(["cap", "swivel", "slide"])
    body = Builder("usb_stick").part("base_body")
    plug = 0.013
    y = height / 2
    case = extrude(profiles.rectangle(width, length, d.between(0.1, 0.45) * width, 4), height, bevel=0.15 * height)
    if kind == "slide":
        sleeve = body.slide("slider", Z, 0.0, 0.8 * plug)
        wall = 0.0014
        shell = extrude(
            profiles.rectangle(width, height, 0.25 * height, 3),
            length,
            [profiles.rectangle(width - 2 * wall, height - 2 * wall, 0.1 * height, 2)],
        )
        body.add(shell.along("z").move(0, y, -length / 2), look)
        sleeve.add(box((0.0122, 0.0045, plug + 0.012), (0, y, length / 2 - plug / 2 - 0.006), 0.0003), metal)
        sleeve.add(box((width - 2.4 * wall, height - 2.4 * wall, 0.6 * length), (0, y, -0.15 * length)), CHARCOAL)
        sleeve.add(box((0.4 * width, 0.004, 0.009), (0, height + 0.0006, -0.1 * length), 0.0008), d.plastic())
        return body.builder
    body.add(case, look)
    body.add(box((0.0122, 0.0045, plug), (0, y, length / 2 + plug / 2 - 0.001), 0.0003), metal)
    body.add(pair(box((0.0024, 0.0004, 0.0024), (0.003, y + 0.0023, length / 2 + 0.7 * plug))), CHARCOAL)
    if kind == "cap":
        cap = body.slide("cap", Z, 0.0, d.between(0.012, 0.03))
        bore = profiles.rectangle(0.0135, 0.0058)
        outer = profiles.rectangle(0.98 * width, 0.98 * height, 0.2 * height, 3)
        tube_ = extrude(outer, plug + 0.002, [bore]).along("z").move(0, y, length / 2 + 0.0006)
        end = extrude(outer, 0.0025).along("z").move(0, y, length / 2 + plug + 0.0024)
        cap.add([tube_, end], look if d.chance(0.5) else d.plastic())
    else:
        pivot = (0, 0, -length / 2 + 0.5 * width)
        cover = body.hinge("cover", Y, pivot, -np.pi, np.pi)
        span = length + plug + 0.003
        plates = [
            slab((-0.48 * width, a, pivot[2] - 0.45 * width), (0.48 * width, a + 0.0009, -length / 2 + span), 0.0001)
            for a in (-0.0012, height + 0.0003)
        ]
        end = slab(
            (-0.48 * width, -0.0012, -length / 2 + span), (0.48 * width, height + 0.0012, -length / 2 + span + 0.0009)
        )
        cover.add([*plates, end], metal)
        body.add(cylinder(0.18 * width, height + 0.0032, 16).move(0, y, pivot[2]), BRASS)
    return body.builder


def eyeglasses(d: Sampler) -> Builder:
    """Two rims, a bridge and temples that fold; lenses look towards +z."""
    lens_x, lens_y = d.between(0.022, 0.03), d.between(0.015, 0.026)
    bridge, thick = d.between(0.014, 0.022), d.between(0.0012, 0.003)
    look = d.plastic() if d.chance(0.6) else d.metal()
    frame = Builder("eyeglasses").part("frame")
    power = d.pick([2.0, 2.6, 4.0])
    y = lens_y + 0.004
    glass = surfaces.glass("#c7d7de", 0.3) if d.chance(0.6) else surfaces.glass("#30343a", 0.85)
    for x in (-1, 1):
        center = np.array([x * (bridge / 2 + lens_x), y])
        ring = profiles.superellipse(lens_x, lens_y, power, 36)
        keep = np.linalg.norm(np.diff(ring, axis=0, append=ring[:1]), axis=1) > 1e-5
        path = np.column_stack([ring[keep] + center, np.zeros(keep.sum())])
        rail = sweep(profiles.rectangle(1.3 * thick, 1.6 * thick, 0.4 * thick, 2), path, closed=True, up=(0, 0, 1))
        frame.add(rail, look)
        lens = extrude(profiles.superellipse(0.99 * lens_x, 0.99 * lens_y, power, 28), 0.0014)
        frame.add(Shape(lens.vertices[:, [0, 2, 1]], lens.faces[:, ::-1]).move(center[0], center[1], -0.0007), glass)
        end = bridge / 2 + 2 * lens_x
        brow = y + 0.25 * lens_y
        frame.add(slab((x * (end - 0.001), brow, -0.004), (x * (end + 0.0055), brow + 0.006, 0.0015), 0.0005), look)
        wire = tube([(x * 0.32 * bridge, y - 0.1 * lens_y, 0), (x * 0.3 * bridge, y - 0.3 * lens_y, -0.006)], 0.0016, 8)
        frame.add(wire, surfaces.plastic("cream"))
        length, drop = d.between(0.125, 0.145), 0.03
        pivot = np.array([x * (end + 0.004), y + 0.25 * lens_y + 0.003, -0.004])
        temple = frame.hinge("leg", Y, pivot, *((-0.05, 1.5) if x > 0 else (-1.5, 0.05)))
        arm = profiles.rounded_path([pivot, pivot + (0, 0, -0.7 * length), pivot + (0, -drop, -length)], 0.025, 6)
        temple.add(sweep(profiles.rectangle(1.1 * thick, 2.2 * thick, 0.4 * thick, 2), arm, up=(0, 1, 0)), look)
        temple.add(cylinder(0.0016, 0.006, 10).move(*pivot), STEEL)
    half, low = bridge / 2 + 0.001, y + 0.2 * lens_y
    curve = profiles.smooth_curve([(-half, low, 0), (0, y + 0.45 * lens_y, 0.001), (half, low, 0)], 9)
    frame.add(tube(curve, 0.8 * thick, 8), look)
    return frame.builder


def mouse(d: Sampler) -> Builder:
    """A computer mouse: two keys and a wheel, perhaps side buttons and a cable."""
    length, width, height = d.between(0.09, 0.12), d.between(0.055, 0.068), d.between(0.03, 0.042)
    look, key = d.plastic(), d.plastic()
    body = Builder("mouse").part("base_body")
    outline = profiles.superellipse(0.5, 0.5, 2.6, 36)

    def at(s: float, y: float, z: float) -> np.ndarray:
        return np.column_stack([s * width * outline[:, 0], np.full(36, y), s * length * outline[:, 1] + z])

    dome = [(1.0, 0.0, 0.0), (1.02, 0.25, 0.0), (0.96, 0.55, -0.01), (0.78, 0.85, -0.05)]
    dome += [(0.45, 0.98, -0.08), (0.15, 1.0, -0.09)]
    solid = loft([at(s, y * height, z * length) for s, y, z in dome])
    front = slab((-width, 0.42 * height, 0.06 * length), (width, 1.2 * height, length))
    place, radius = (0, 0.62 * height, 0.27 * length), 0.3 * height
    slot = box((0.0094, 2.2 * radius, 2.2 * radius), place)
    body.add(difference(solid, front, slot), look)
    # A little clearance, so that the keys can go down.
    gap = 0.0008
    shell = intersection(solid, slab((-width, 0.42 * height + gap, 0.06 * length + gap), (width, 1.2 * height, length)))
    groove = slab((-0.0045, 0, 0.06 * length), (0.0045, 1.2 * height, length))
    for x in (-1, 1):
        half = slab((0, 0, 0), (x * width, 1.2 * height, length))
        plate = difference(intersection(shell, half), groove)
        hinge = (0, 0.8 * height, 0.07 * length)
        part = body.hinge("key", X, hinge, 0.0, 0.018)
        part.add(plate, key)
    roller = body.spin("wheel", X, place)
    roller.add(rod("x", radius, 0.007, place, 24, chamfer=0.001), RUBBER)
    roller.add(rod("x", 0.0012, 0.012, place, 8), STEEL)
    roller.add([box((0.0072, 2.03 * radius, 0.001)).turn("x", 15 * k).move(*place) for k in range(12)], GRAPHITE)
    if d.chance(0.6):
        cable = profiles.smooth_curve(
            [(0, 0.3 * height, 0.49 * length), (0.005, 0.006, 0.7 * length), (-0.02, 0.003, 1.0 * length)], 14
        )
        body.add(tube(cable, 0.0018, 8), RUBBER)
    return body.builder


def book(d: Sampler) -> Builder:
    """A book lying on its back; the cover turns about the spine, the first pages may follow it."""
    width, height, thick = d.between(0.11, 0.22), d.between(0.16, 0.3), d.between(0.015, 0.05)
    cover, paper, board = d.paint(), surfaces.paint("cream", 0.9), d.between(0.0015, 0.003)
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


def padlock(d: Sampler) -> Builder:
    """A body, a shackle that slides up or swings open, and a key or dials."""
    width = d.between(0.03, 0.06)
    height, deep = width * d.between(0.8, 1.2), width * d.between(0.3, 0.45)
    look, steel = d.pick([BRASS, BLACK_STEEL, d.paint()]), CHROME
    body = Builder("padlock").part("base_body")
    plate = facing(profiles.rectangle(width, height, d.between(0.08, 0.3) * width, 5), deep, 0.08 * deep)
    body.add(plate.move(0, height / 2, -deep / 2), look)
    reach, thick = 0.3 * width, d.between(0.07, 0.1) * width
    rise = d.between(0.25, 0.5) * width
    depth = 0.35 * height
    bend = profiles.arc(reach, 180, 0, 12, (0.0, height + rise))
    arch = np.concatenate([[(-reach, height - depth)], bend, [(reach, 0.88 * height)]])
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
        post = cylinder(0.05 * width, 0.3 * height + 0.35 * width, 12).move(0, 0.15 * height - 0.175 * width, 0)
        key.add(post, steel)
        bow = extrude(profiles.circle(0.2 * width, 18), 0.05 * width, [profiles.circle(0.08 * width, 12)])
        key.add(bow.along("z").move(0, -0.5 * width, -0.025 * width), steel)
    return body.builder
