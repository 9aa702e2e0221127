"""Screens, keys and lenses."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from neurok.core import Surface
from neurok.modelling import profiles, surfaces
from neurok.modelling.builder import Builder, Link
from neurok.modelling.sampler import Sampler
from neurok.modelling.shapes import Shape, box, cylinder, extrude, lathe, slab, torus
from neurok_lab.worlds.articulated.hardware import BUTTON_TRAVEL, add_buttons, button, dial, facing, standing
from neurok_lab.worlds.articulated.kit import (
    BLACK_STEEL,
    BRASS,
    CHROME,
    GLOW,
    GRAPHITE,
    RUBBER,
    STEEL,
    WHITE,
    X,
    Y,
    Z,
    around,
    pair,
    placed,
    rod,
    rounded_box,
    turned,
)

DARK = surfaces.paint("#14161a", 0.25, name="screen")


def _key_rows(d: Sampler, width: float, depth: float, rows: int, gap: float) -> list[tuple[float, float, float, float]]:
    """Centres and sizes (x, z, width, depth) of keys in staggered rows, with a long one in the last."""
    keys = []
    pitch = depth / rows
    for r in range(rows):
        count = max(4, round(width / pitch))
        sizes = np.ones(count)
        if r == rows - 1:
            sizes[count // 2] = 4.0
        elif r:
            sizes[[0, -1]] = d.between(1.2, 2.0)
        edges = np.concatenate([[0.0], np.cumsum(sizes / sizes.sum())]) * width - width / 2
        for a, b in pairwise(edges):
            keys.append(((a + b) / 2, -depth / 2 + (r + 0.5) * pitch, b - a - gap, pitch - gap))
    return keys


def display(d: Sampler) -> Builder:
    """A monitor or television that tilts, and often turns and rises on its stand."""
    builder = Builder("display")
    width = d.between(0.4, 1.1)
    height, deep = width * d.between(0.54, 0.66), d.between(0.015, 0.05)
    look, metal = d.plastic(), d.metal()
    base = builder.part("base")
    foot = 0.32 * width
    if d.chance(0.5):
        base.add(rounded_box(foot, 0.012, 0.6 * foot, 0.05 * foot, 0.003), look)
    else:
        base.add(turned(36, [0.5, 0.48, 0], [0, 0.01, 0.014], ellipse=0.7, scale=foot), look)
    lift = d.between(0.1, 0.25)
    center = lift + height / 2
    carrier: Link = base
    post_z = -deep / 2 - 0.055
    base.add(cylinder(0.024, 0.55 * center, 20, chamfer=0.002).move(0, 0.275 * center + 0.008, post_z), metal)
    if d.chance(0.5):
        carrier = base.hinge("neck", Y, (0, 0, post_z), -0.7, 0.7)
    elif d.chance(0.6):
        carrier = base.slide("neck", Y, -0.25 * lift, 0.35 * lift)
    carrier.add(cylinder(0.018, 0.7 * center, 18).move(0, 0.65 * center, post_z), metal)
    pivot = np.array([0.0, center, post_z + 0.016])
    carrier.add(rod("x", 0.012, 0.07, pivot, 14), metal)
    screen = carrier.hinge("screen", X, pivot, -d.between(0.15, 0.3), d.between(0.08, 0.15))
    screen.add(box((0.05, 0.02, 0.04), (0, center, post_z + 0.03), 0.003), metal)
    plate = slab((-width / 2, center - height / 2, -deep / 2), (width / 2, center + height / 2, deep / 2), 0.2 * deep)
    screen.add(plate, look)
    rim = d.between(0.012, 0.03)
    x, low, high = width / 2 - rim, center - height / 2 + 1.4 * rim, center + height / 2 - rim
    screen.add(slab((-x, low, deep / 2 - 0.001), (x, high, deep / 2 + 0.001)), DARK)
    screen.add(box((0.16 * width, 0.3 * height, 0.022), (0, center, -deep / 2 - 0.008), 0.004), look)
    if d.chance(0.5):
        size = 0.6 * rim
        places = [
            (width / 2 - rim - 0.03 * k, center - height / 2 + 0.7 * rim, deep / 2) for k in range(1, d.count(3, 6))
        ]
        add_buttons(builder, d, screen, places, size, GRAPHITE)
    return builder


def keyboard(d: Sampler) -> Builder:
    """Each key goes down by itself; perhaps a knob and folding feet."""
    rows, depth = d.count(3, 5), d.between(0.09, 0.14)
    width = depth * d.between(1.8, 2.9)
    height, slope = d.between(0.012, 0.022), d.between(0.0, 6.0)
    body = Builder("keyboard").part("base_body")
    look, cap = d.plastic(), d.plastic()

    def tilt(s: Shape) -> Shape:
        return s.turn("x", slope).move(0, depth / 2 * np.sin(np.radians(slope)), 0)

    rim = 0.008
    outline = profiles.rectangle(width + 2 * rim, depth + 2 * rim, d.between(0.002, 0.012), 3)
    body.add(tilt(extrude(outline, height, bevel=0.002)), look)
    normal = np.array([0.0, np.cos(np.radians(slope)), np.sin(np.radians(slope))])
    rise = d.between(0.004, 0.009)
    for x, z, w, deep in _key_rows(d, width, depth, rows, 0.0025):
        key = body.slide("key", normal, -0.5 * rise, 0.0)
        shape = box((w, rise + 0.002, deep), (x, height + rise / 2, z), 0.0012)
        high = shape.vertices[:, 1] > height + rise / 2
        taper = np.where(high, 0.86, 1.0)[:, None]
        middle = np.array([x, 0.0, z])
        vertices = np.where([True, False, True], middle + (shape.vertices - middle) * taper, shape.vertices)
        key.add(tilt(Shape(vertices, shape.faces)), cap)
    if d.chance(0.4):
        for x in (-1, 1):
            hinge = (0, 0.004 + depth * np.sin(np.radians(slope)), -depth / 2 + 0.004)
            foot = body.hinge("foot", X, hinge, 0.0, 1.3)
            foot.add(box((0.03, 0.004, 0.022), (x * 0.42 * width, hinge[1] - 0.0045, hinge[2] + 0.009), 0.0008), RUBBER)
            foot.add(rod("x", 0.003, 0.034, (x * 0.42 * width, hinge[1], hinge[2]), 8), RUBBER)
    return body.builder


def flip_phone(d: Sampler) -> Builder:
    """A phone that unfolds, slides open, or turns; lying on its back, keys up."""
    width, length, thick = d.between(0.042, 0.055), d.between(0.08, 0.1), d.between(0.008, 0.012)
    look, cap = d.plastic(), d.plastic()
    kind = d.pick(["flip", "flip", "slide", "swivel"])
    base = Builder("flip_phone").part("base_body")
    plate = extrude(profiles.rectangle(width, length, 0.2 * width, 5), thick, bevel=0.15 * thick)
    base.add(plate, look)
    for r in range(4):
        for c in range(3):
            place = ((c - 1) * 0.28 * width, thick, 0.02 * length + r * 0.11 * length)
            key = base.slide("button", Y, -0.0007, 0.0, place)
            key.add(box((0.22 * width, 0.0016, 0.08 * length), place, 0.0004), cap)
    base.add(cylinder(0.13 * width, 0.001, 16).move(0, thick, -0.12 * length), cap)
    lift = thick + 0.0014
    if kind == "flip":
        hinge = (0, lift, -length / 2)
        lid = base.hinge("lid", X, hinge, -d.between(2.4, 2.9), 0.0)
        base.add(rod("x", 0.4 * thick, 0.5 * width, (0, lift - 0.001, -length / 2 - 0.0005), 14), look)
    elif kind == "slide":
        lid = base.slide("slider", (0, 0, -1), 0.0, 0.45 * length)
    else:
        lid = base.hinge("lid", Y, (0, 0, -length / 2 + 0.5 * width), 0.0, np.pi)
    lid.add(plate.scale(1.0, 0.75, 1.0).move(0, lift, 0), look if d.chance(0.7) else d.plastic())
    face = -1 if kind == "flip" else 1
    y = lift if face < 0 else lift + 0.75 * thick
    lid.add(box((0.8 * width, 0.0008, 0.5 * length), (0, y, 0.1 * length if kind == "flip" else -0.05 * length)), DARK)
    if kind == "flip":
        lid.add(box((0.5 * width, 0.0008, 0.2 * length), (0, lift + 0.75 * thick, 0.1 * length)), DARK)
    return base.builder


def remote(d: Sampler) -> Builder:
    """A remote control with rows of buttons, a pad, perhaps a battery cover."""
    width, length, thick = d.between(0.035, 0.06), d.between(0.12, 0.22), d.between(0.014, 0.024)
    look = surfaces.plastic(d.pick(["charcoal", "graphite", "white", "navy"]))
    body = Builder("remote").part("base_body")
    slice = extrude(profiles.rectangle(width, length, d.between(0.1, 0.45) * width, 5), thick, bevel=0.2 * thick)
    body.add(slice, look)
    rows, columns = d.count(4, 9), d.count(2, 4)
    size = min(0.62 * width / columns, 0.6 * length / rows * 0.8)
    kind = d.pick(["round", "square", "pill"])
    colors = [d.plastic() for _ in range(3)]
    first = d.between(-0.44, -0.36) * length
    for r in range(rows):
        color = d.pick(colors)
        for c in range(columns):
            place = ((c - (columns - 1) / 2) * 0.84 * width / columns, thick, first + (r + 0.5) * 0.78 * length / rows)
            key = body.slide("button", Y, -0.1 * size, 0.0, place)
            key.add(button(d, size, kind).turn("x", -90).move(*place), color)
    if d.chance(0.5):
        cover = body.slide("cover", Z, 0.0, 0.3 * length)
        cover.add(slab((-0.4 * width, -0.0016, 0.05 * length), (0.4 * width, 0.0004, 0.47 * length), 0.0004), look)
    body.add(standing(cylinder(0.004, 0.004, 12)).turn("y", 180).move(0, thick / 2, -length / 2), DARK)
    return body.builder


def camera(d: Sampler) -> Builder:
    """A body with a lens that turns or extends, a shutter, dials, a flash that flips up."""
    width, height, deep = d.between(0.1, 0.15), d.between(0.06, 0.1), d.between(0.025, 0.06)
    look, grip = surfaces.plastic(d.pick(["charcoal", "graphite", "white", "teal", "red"])), RUBBER
    body = Builder("camera").part("base_body")
    slr = d.chance(0.6)
    cx, cy = d.between(0.0, 0.12) * width, 0.46 * height
    r, front = height * d.between(0.32, 0.42), deep / 2
    outline = profiles.rectangle(width, height, 0.12 * height, 4)
    # The tubes of a compact camera slide into the body.
    bore = [] if slr else [profiles.circle(0.9 * r, 28) + np.array([cx, cy - height / 2])]
    body.add(facing(outline, deep, 0.06 * deep, bore).move(0, height / 2, -deep / 2), look)
    if not slr:
        body.add(facing(0.96 * outline, 0.004).move(0, height / 2, -deep / 2 - 0.002), look)
    if d.chance(0.7):
        body.add(box((0.18 * width, 0.9 * height, deep + 0.016), (-0.41 * width, 0.46 * height, 0.006), 0.006), grip)
    _add_lens(d, body, (cx, cy, front), r, slr)
    top = height
    if slr:
        hump = np.array([[-0.18, 0], [0.18, 0], [0.12, 0.22], [-0.12, 0.22]]) * (width, height)
        body.add(facing(hump, 0.9 * deep, 0.05 * deep).move(cx, top - 0.002, -0.45 * deep), look)
        if d.chance(0.5):
            hinge = (cx, top + 0.2 * height, -0.3 * deep)
            flash = body.hinge("flash", X, hinge, -1.1, 0.0)
            bar = box((0.2 * width, 0.1 * height, 0.75 * deep), (cx, top + 0.27 * height, 0.05 * deep), 0.002)
            flash.add(bar, look)
            flash.add(box((0.15 * width, 0.06 * height, 0.002), (cx, top + 0.27 * height, 0.43 * deep)), GLOW)
    side = -0.36 * width
    rise = d.between(0.06, 0.3)
    travel = d.between(*BUTTON_TRAVEL) * rise
    press = body.slide("button", Y, -0.012 * travel, 0.0, (side, top, 0))
    press.add(button(d, 0.012, "round", rise).turn("x", -90).move(side, top, 0.2 * deep), CHROME)
    kind = d.pick(["round", "square", "pill"])
    for k in range(d.count(0, 4)):
        place = ((0.14 + 0.045 * k) * width, top, -0.28 * deep)
        key = body.slide("button", Y, -0.004 * travel, 0.0, place)
        key.add(button(d, 0.004, kind, rise).turn("x", -90).move(*place), STEEL)
    for x in [0.34 * width] if d.chance(0.6) else [0.34 * width, -0.22 * width]:
        knob = body.spin("knob", Y, (x, top, 0))
        knob.add([s.turn("x", -90).move(x, top, 0) for s in dial(d, min(0.011, 0.35 * deep))], BLACK_STEEL)
    back = -deep / 2
    body.add(box((0.5 * width, 0.62 * height, 0.002), (-0.08 * width, 0.48 * height, back)), DARK)
    size = d.between(0.004, 0.008)
    for k in range(d.count(2, 8)):
        place = ((0.27 + 0.1 * (k % 2)) * width, (0.2 + 0.17 * (k // 2)) * height, back)
        key = body.slide("button", (0, 0, -1), -size * travel, 0.0, place)
        key.add(button(d, size, kind, rise).turn("y", 180).move(*place), STEEL)
    return body.builder


def _add_lens(d: Sampler, body: Link, place: tuple[float, float, float], r: float, slr: bool) -> None:
    """A mount, a ring that turns, and for compact cameras tubes that come out."""
    x, y, z = place
    black = surfaces.plastic("#202226")
    hole = 0.0 if slr else 0.89 * r
    mount = [(hole, -0.002), (1.05 * r, -0.002), (r, 0.008), (hole, 0.008)]
    body.add(lathe(mount, 32, closed=not slr).along("z").move(x, y, z), STEEL)
    start = z + 0.008
    if slr:
        length = r * d.between(0.9, 2.4)
        ring = body.spin("lens", Z, (x, y, start))
        radii, heights = [0.95, 0.95, 0.88, 0.92, 0.8, 0.7, 0], [0, 0.3, 0.36, 1, 1, 0.85, 0.82]
        ring.add(turned(32, radii, heights, r, length).along("z").move(x, y, start), black)
        rib = box((0.05 * r, 0.05 * r, 0.25 * length), (0.95 * r, 0, 0.16 * length))
        ring.add(placed(around(rib, 24, "z"), (x, y, start)), black)
        disc = turned(28, [0.68, 0.5, 0], [0, 0.08, 0.1], scale=r, rise=r).along("z").move(x, y, start + 0.82 * length)
        ring.add(disc, surfaces.glass("#5a6f8f", 0.8))
        ring.add(torus(0.9 * r, 0.02 * r, 32, 6).along("z").move(x, y, start + 0.6 * length), BRASS)
        return
    carrier, stages, depth = body, d.count(1, 2), min(0.9 * r, 1.8 * z)
    for k in range(stages):
        size, end = r * (0.88 - 0.16 * k), start + 0.1 * r * (k + 1)
        stage = carrier.slide("lens", Z, 0.0, depth * d.between(0.5, 0.75), (x, y, start))
        inner = 0.0 if k == stages - 1 else size - 0.15 * r
        wall = [(inner, -depth), (size, -depth), (size, -0.03 * r), (size - 0.03 * r, 0.0), (inner, 0.0)]
        barrel = lathe(wall, 28, closed=inner > 0).along("z").move(x, y, end)
        stage.add(barrel, black if k else STEEL)
        carrier = stage
    disc = turned(24, [0.5, 0.35, 0], [0, 0.05, 0.06], scale=r, rise=r).along("z").move(x, y, end)
    carrier.add(disc, surfaces.glass("#5a6f8f", 0.8))


def printer(d: Sampler) -> Builder:
    """A scanner lid on top, a paper drawer below, an output flap, buttons."""
    builder = Builder("printer")
    width, height, depth = d.between(0.38, 0.5), d.between(0.14, 0.28), d.between(0.3, 0.42)
    look: Surface = surfaces.plastic(d.pick(["white", "charcoal", "graphite", "cream"]))
    trim = surfaces.plastic(d.pick(["charcoal", "navy", "graphite"]))
    w, z = width / 2, depth / 2
    body = builder.part("base_body")
    drawer = d.between(0.04, 0.06)
    mouth_low, mouth_high = drawer + 0.03, 0.62 * height
    body.add(slab((-w, 0, -z), (w, 0.006, z)), look)
    body.add(pair(slab((w, 0.006, -z), (w - 0.03, height, z), 0.003)), look)
    body.add(slab((-w + 0.03, drawer + 0.008, -z), (w - 0.03, mouth_low, z - 0.002)), look)
    body.add(slab((-w + 0.03, mouth_high, -z), (w - 0.03, height, z), 0.003), look)
    body.add(slab((-w + 0.03, 0.006, -z), (w - 0.03, mouth_high, -z + 0.05)), look)
    tray = body.slide("tray", Z, 0.0, d.between(0.4, 0.7) * depth)
    tray.add(slab((-w + 0.032, 0.0085, -z + 0.06), (w - 0.032, 0.012, z)), trim)
    tray.add(slab((-w + 0.032, 0.0085, z - 0.008), (w - 0.032, drawer + 0.004, z + 0.006), 0.002), look)
    tray.add(slab((-0.3 * width, 0.0118, -z + 0.08), (0.3 * width, 0.025, z - 0.03)), WHITE)
    tray.add(box((0.12 * width, 0.012, 0.008), (0, 0.7 * drawer, z + 0.009), 0.002), trim)
    hinge = (0, height + 0.002, -z + 0.01)
    lid = body.hinge("lid", X, hinge, -d.between(1.0, 1.5), 0.0)
    lid.add(
        slab((-w + 0.002, height + 0.0015, -z + 0.006), (w - 0.002, height + d.between(0.02, 0.05), z - 0.002), 0.008),
        look if d.chance(0.5) else trim,
    )
    plate = slab((-w + 0.05, height - 0.001, -z + 0.05), (w - 0.05, height + 0.0008, z - 0.05))
    body.add(plate, surfaces.glass("#6f8796", 1.0))
    if d.chance(0.6):
        low = (0, mouth_low, z - 0.004)
        flap = body.hinge("flap", X, low, 0.0, d.between(1.2, 1.6))
        plate = slab((-w + 0.034, mouth_low + 0.001, z - 0.01), (w - 0.034, mouth_high - 0.002, z - 0.003), 0.001)
        flap.add(plate, trim)
    else:
        body.add(slab((-0.3 * width, mouth_low, -0.2 * depth), (0.3 * width, mouth_low + 0.004, z + 0.05)), WHITE)
    body.add(box((0.14 * width, 0.035, 0.003), (0, (mouth_high + height) / 2, z)), DARK)
    places = [(0.14 * width + 0.03 * k, (mouth_high + height) / 2, z) for k in range(d.count(1, 4))]
    add_buttons(builder, d, body, places, 0.014, trim)
    if d.chance(0.4):
        support = body.hinge("support", X, (0, height, -z - 0.002), -0.1, d.between(0.2, 0.4))
        plate = slab((-0.3 * width, height - 0.01, -z - 0.006), (0.3 * width, height + 0.5 * height, -z - 0.001), 0.001)
        support.add(plate, trim)
    return builder
