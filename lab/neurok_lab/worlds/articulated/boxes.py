"""Boxes with flaps and lids, suitcases, tool boxes, bins."""

from __future__ import annotations

import numpy as np

from neurok.core import Surface
from neurok.modelling import profiles, surfaces
from neurok.modelling.builder import Builder, Link
from neurok.modelling.sampler import Sampler
from neurok.modelling.shapes import Shape, Triple, cylinder, extrude, join, loft, slab
from neurok.modelling.shapes import box as block
from neurok.modelling.sweeps import tube
from neurok_lab.worlds.articulated.catalogue import drawn
from neurok_lab.worlds.articulated.hardware import add_castor, pull
from neurok_lab.worlds.articulated.kit import (
    CHARCOAL,
    RUBBER,
    STEEL,
    FrontStyle,
    X,
    Y,
    Z,
    add_drawer,
    add_wheel,
    bow,
    carcass,
    level,
    pair,
    pipe,
    placed,
    rod,
    rounded_box,
)


def box(d: Sampler) -> Builder:
    """A carton with flaps, a chest with a lid, a flat case, or a box whose lid lifts or slides."""
    kind = d.pick(["carton", "chest", "case", "slide"], [4, 5, 3, 1])
    if kind == "chest":
        return drawn(d, "box")
    return {"carton": _carton, "case": _case, "slide": _sliding_box}[kind](d)


def _carton(d: Sampler) -> Builder:
    width, depth, height = d.between(0.2, 0.5), d.between(0.2, 0.5), d.between(0.12, 0.4)
    wall = d.between(0.003, 0.006)
    paper = surfaces.paint(d.pick(["#c49a6c", "#b98d5f", "#d6bf9a", "#e8e2d6"]), 0.9, name="cardboard")
    body = Builder("box").part("base_body")
    body.add(_pan((-width / 2, 0, -depth / 2), (width / 2, height, depth / 2), wall), paper)
    sides = [("x", -1), ("x", 1), ("z", -1), ("z", 1)]
    chosen = sides if d.chance(0.65) else sides[: d.count(1, 3)]
    inner = d.pick(["x", "z"])
    for axis, side in chosen:
        half, span = (width / 2, depth) if axis == "x" else (depth / 2, width)
        length = (width if axis == "x" else depth) * d.between(0.42, 0.5)
        top = height + (0.0 if axis == inner else 1.3 * wall) + 0.0006
        # Built standing upright; negative values fold it over the opening.
        if axis == "x":
            flap = slab(
                (side * (half - wall), top, -span / 2 + wall), (side * half, top + length, span / 2 - wall), 0.1 * wall
            )
            pivot, turn = (side * half, top, 0.0), (0, 0, -side)
        else:
            flap = slab(
                (-span / 2 + wall, top, side * (half - wall)), (span / 2 - wall, top + length, side * half), 0.1 * wall
            )
            pivot, turn = (0.0, top, side * half), (side, 0, 0)
        rest = d.between(0.35, 2.1) if len(chosen) > 1 else d.between(-1.4, 2.1)
        part = body.hinge("rotation_lid", turn, pivot, -1.5 - rest, d.between(2.3, 3.05) - rest)
        part.add(flap.turn(np.array(turn, dtype=float), np.degrees(rest), pivot), paper)
    return body.builder


def _case(d: Sampler) -> Builder:
    """Two shallow shells hinged at the back, like a briefcase or a pizza box."""
    width, depth = d.between(0.25, 0.5), d.between(0.22, 0.4)
    lower, upper, wall = d.between(0.02, 0.07), d.between(0.015, 0.06), d.between(0.003, 0.006)
    look, metal = d.pick([d.paint(), d.wood(), surfaces.paint("#c9a97d", 0.9, name="cardboard")]), d.metal()
    body = Builder("box").part("base_body")
    body.add(_pan((-width / 2, 0, -depth / 2), (width / 2, lower, depth / 2), wall), look)
    w, z = width / 2, depth / 2
    lid = body.hinge("rotation_lid", X, (0, lower + 0.0005, -z), -d.between(1.5, 2.6), 0.0)
    lid.add(slab((-w, lower + upper - wall, -z), (w, lower + upper, z), 0.1 * wall), look)
    for x in (-1, 1):
        lid.add(slab((x * w, lower + 0.001, -z), (x * (w - wall), lower + upper - wall, z), 0.1 * wall), look)
        plate = slab((-w + wall, lower + 0.001, x * z), (w - wall, lower + upper - wall, x * (z - wall)), 0.1 * wall)
        lid.add(plate, look)
    body.add(pair(rod("x", 0.003, 0.04, (0.3 * width, lower, -z), 8)), metal)
    if d.chance(0.6):
        grip = body.hinge("handle", X, (0, 0.6 * lower, z), 0.0, 1.3)
        grip.add([s.move(0, 0.6 * lower, z) for s in pull(d, 0.1, kind="bow")], metal)
        for at in (-0.3 * width, 0.3 * width):
            latch = body.hinge("lock", X, (at, lower - 0.012, z + 0.002), 0.0, 1.5)
            plate = slab((at - 0.012, lower - 0.012, z + 0.0005), (at + 0.012, lower + 0.4 * upper, z + 0.004), 0.001)
            latch.add(plate, metal)
    return body.builder


def _sliding_box(d: Sampler) -> Builder:
    width, depth, height, wall = d.between(0.12, 0.3), d.between(0.12, 0.3), d.between(0.06, 0.2), 0.006
    look = d.timber()
    body = Builder("box").part("base_body")
    body.add(_pan((-width / 2, 0, -depth / 2), (width / 2, height, depth / 2), wall), look)
    if d.chance(0.5):
        lid = body.slide("slide_lid", Z, 0.0, 0.85 * depth)
        x = width / 2 - 0.004
        lid.add(slab((-x, height + 0.0005, -depth / 2), (x, height + 0.008, depth / 2), 0.001), d.timber())
        lid.add(block((0.3 * width, 0.006, 0.008), (0, height + 0.01, 0.42 * depth), 0.001), look)
        both = pair(slab((width / 2, height - 0.002, -depth / 2), (width / 2 - 0.0035, height + 0.009, depth / 2)))
        body.add(both, look)
    else:
        lid = body.slide("lid", Y, 0.0, d.between(0.3, 0.9) * height)
        drop = d.between(0.15, 0.5) * height
        w, z = width / 2 + 0.005, depth / 2 + 0.005
        paper = d.paint()
        lid.add(slab((-w, height + 0.0005, -z), (w, height + 0.005, z), 0.0006), paper)
        for x in (-1, 1):
            lid.add(slab((x * w, height - drop, -z), (x * (w - 0.0042), height + 0.0005, z), 0.0004), paper)
            plate = slab((-w + 0.0042, height - drop, x * z), (w - 0.0042, height + 0.0005, x * (z - 0.0042)), 0.0004)
            lid.add(plate, paper)
    return body.builder


def suitcase(d: Sampler) -> Builder:
    """A trolley case: telescopic handle in two stages, carrying grips, wheels."""
    builder = Builder("suitcase")
    width, height, depth = d.between(0.32, 0.5), d.between(0.48, 0.75), d.between(0.18, 0.3)
    look, trim = d.paint(), CHARCOAL
    foot = d.between(0.03, 0.05)
    shell = builder.part("base_body")
    shell.add(rounded_box(width, height, depth, 0.25 * depth, 0.02).move(0, foot, 0), look)
    ribs = d.count(0, 6)
    for k in range(ribs):
        x = (k - (ribs - 1) / 2) * 0.12 * width
        shell.add(block((0.03 * width, 0.86 * height, 0.012), (x, foot + height / 2, depth / 2), 0.004), look)
    seam = profiles.rectangle(width + 0.004, height + 0.004, 0.05, 5)
    path = np.column_stack([seam[:, 0], seam[:, 1] + foot + height / 2, np.zeros(len(seam))])
    shell.add(tube(path, 0.005, 8, closed=True), trim)
    back, reach = -depth / 2 - 0.008, d.between(0.15, 0.28)
    low = (-0.3 * width, foot + 0.1 * height, back - 0.008)
    high = (0.3 * width, foot + height - 0.01, -depth / 2 + 0.002)
    shell.add(slab(low, high, 0.005), trim)
    carrier = shell
    for stage in range(d.count(1, 2)):
        rods = carrier.slide("telescope", Y, 0.0, reach)
        r = 0.006 - 0.0015 * stage
        tall = height * 0.8
        middle = foot + height - tall / 2 + 0.012 + 0.002 * stage
        rods.add(pair(cylinder(r, tall, 10).move(0.22 * width, middle, back + 0.004)), STEEL)
        carrier = rods
    carrier.add(block((0.5 * width, 0.024, 0.026), (0, foot + height + 0.022, back + 0.004), 0.006), trim)
    if d.chance(0.6):
        shell.add([s.turn("x", -90).move(0, foot + height, 0) for s in pull(d, 0.14, kind="bow")], trim)
    side = shell.hinge("handle", Y, (width / 2, foot + height / 2, 0), -0.9, 0.9)
    side.add([s.turn("y", 90).move(width / 2, foot + height / 2, 0) for s in pull(d, 0.14, True, "bow")], trim)
    if d.chance(0.55):
        for x in (-1, 1):
            for z in (-1, 1):
                add_castor(
                    builder, d, shell, x * (width / 2 - 0.05), z * (depth / 2 - 0.04), foot + 0.004, 0.36 * foot + 0.004
                )
    else:
        radius = foot * 0.9
        shell.add(pair(block((0.03, foot + 0.004, 0.03), (width / 2 - 0.05, foot / 2, depth / 2 - 0.04), 0.004)), trim)
        for x in (-1, 1):
            place = (x * (width / 2 - 0.045), radius, -depth / 2 + 0.01)
            cheek = block((0.008, foot + 0.02, 0.05), (0.018, foot / 2 + 0.018, place[2]), 0.002)
            shell.add(placed(pair(cheek), (place[0], 0, 0)), trim)
            add_wheel(d, shell, place, radius, 0.02, STEEL, axle=[cylinder(0.004, 0.04, 8).along("x")])
    return builder


def toolbox(d: Sampler) -> Builder:
    """A box with one lid, a cantilever box whose trays come out to both sides, or a chest of drawers with a lid."""
    kind = d.pick(["lid", "cantilever", "chest"], [3, 3, 3])
    return {"lid": _lid_box, "cantilever": _cantilever, "chest": _tool_chest}[kind](d)


def _pan(low: Triple, high: Triple, wall: float, opening: int = 1) -> list[Shape]:
    """Four walls and a floor, open upwards (+1) or downwards (-1)."""
    (x0, y0, z0), (x1, y1, z1) = low, high
    floor = (y0, y0 + wall) if opening > 0 else (y1 - wall, y1)
    a, b = (y0 + wall, y1) if opening > 0 else (y0, y1 - wall)
    return [
        slab((x0, floor[0], z0), (x1, floor[1], z1), 0.1 * wall),
        slab((x0, a, z0), (x0 + wall, b, z1), 0.1 * wall),
        slab((x1 - wall, a, z0), (x1, b, z1), 0.1 * wall),
        slab((x0 + wall, a, z0), (x1 - wall, b, z0 + wall), 0.1 * wall),
        slab((x0 + wall, a, z1 - wall), (x1 - wall, b, z1), 0.1 * wall),
    ]


def _add_lid(d: Sampler, body: Link, size: Triple, rise: float, wall: float, look: Surface) -> Link:
    """A lid over a box of (half width, height, half depth), hinged behind, and its latches."""
    w, y, z = size
    metal = d.metal()
    lid = body.hinge("rotation_lid", X, (0, y + 0.0005, -z), -d.between(1.66, 2.1), 0.0)
    lid.add(_pan((-w, y + 0.001, -z), (w, y + rise, z), wall, -1), look)
    body.add(pair(rod("x", 0.004, 0.05, (0.6 * w, y, -z - 0.001), 10)), metal)
    for x in d.pick([(-0.6, 0.6), (-0.55, 0.55), (0.0,)]):
        at, half = x * w, d.between(0.012, 0.018)
        body.add(block((2.4 * half, 0.016, 0.006), (at, y - 0.042, z + 0.002), 0.001), metal)
        latch = body.hinge("lock", X, (at, y - 0.036, z + 0.003), 0.0, d.between(1.4, 1.7))
        latch.add(slab((at - half, y - 0.036, z + 0.0005), (at + half, y + 0.6 * rise, z + 0.005), 0.001), metal)
        latch.add(slab((at - half, y - 0.012, z + 0.004), (at + half, y - 0.005, z + 0.011), 0.001), metal)
    return lid


def _add_grip(d: Sampler, lid: Link, top: float, side: int) -> None:
    """A bow that lies on a lid and turns up to carry the box."""
    half, reach, r = d.between(0.05, 0.08), d.between(0.045, 0.06), d.between(0.005, 0.007)
    y, z = top + r + 0.001, -side * reach / 2
    mount = block((0.014, 2 * r + 0.003, 0.02), (half + 0.007, top + r - 0.001, z), 0.002)
    lid.add([mount, mount.mirror("x")], d.metal())
    grip = lid.hinge("handle", X, (0, y, z), *sorted((0.0, -side * d.between(1.5, 1.75))))
    ends = [(-half, y, z), (-half, y, z + side * reach), (half, y, z + side * reach), (half, y, z)]
    grip.add(pipe(ends, r, 0.02, 10), CHARCOAL)
    grip.add(rod("x", 0.6 * r, 2 * half + 0.01, (0, y, z), 8), STEEL)


def _lid_box(d: Sampler) -> Builder:
    """A deep box with a lid; inside a short tray slides from end to end."""
    w, z, height = d.between(0.17, 0.28), d.between(0.09, 0.13), d.between(0.12, 0.2)
    wall, rise = d.between(0.003, 0.005), d.between(0.02, 0.06)
    look, other = d.paint(), d.pick([d.paint(), CHARCOAL])
    body = Builder("toolbox").part("base_body")
    body.add(_pan((-w, 0, -z), (w, height, z), wall), look)
    if d.chance(0.6):
        edge, ends = z - d.between(0.02, 0.035), height - 0.004
        band = slab((w - 0.002, 0, edge), (w + 0.003, ends, z + 0.003), 0.001)
        band = join([band, band.mirror("z")])
        body.add([band, band.mirror("x")], other)
    for k in range(d.count(0, 3)):
        rib = block((1.7 * w, 0.006, 0.006), (0, height * (0.2 + 0.15 * k), z), 0.002)
        body.add([rib, rib.mirror("z")], look)
    level, deep = height - d.between(0.045, 0.06), z - wall - 0.003
    ledge = slab((-w + wall, level - 0.006, z - wall - 0.008), (w - wall, level, z - wall))
    body.add([ledge, ledge.mirror("z")], look)
    long, free = 2 * (w - wall) * d.between(0.45, 0.62), 2 * (w - wall) - 0.004
    x = -w + wall + 0.002
    tray = body.slide("tray", X, 0.0, free - long)
    tray.add(_pan((x, level + 0.0005, -deep), (x + long, height - 0.004, deep), 0.003), other)
    for share in np.linspace(0, 1, d.count(3, 5))[1:-1]:
        at = x + share * long
        tray.add(slab((at, level + 0.003, -deep + 0.002), (at + 0.003, height - 0.009, deep - 0.002)), other)
    lid_look = look if d.chance(0.5) else other
    lid = _add_lid(d, body, (w, height, z), rise, wall, lid_look)
    _add_grip(d, lid, height + rise, d.sign())
    return body.builder


def _cantilever(d: Sampler) -> Builder:
    """Pairs of trays above a box that come out in front and behind, lids on the upper ones, a bow to carry it by."""
    w, z, height, wall = d.between(0.19, 0.28), d.between(0.1, 0.135), d.between(0.09, 0.14), d.between(0.002, 0.0035)
    look, metal = d.paint(), d.metal()
    trays = look if d.chance(0.6) else d.paint()
    body = Builder("toolbox").part("base_body")
    body.add(_pan((-w, 0, -z), (w, height, z), wall), look)
    levels, rise, cover = d.count(1, 2), d.between(0.04, 0.06), d.between(0.012, 0.03)
    share, swing = d.between(0.75, 0.9), d.between(1.66, 2.0)
    top = height + levels * (rise + 0.001)
    for side in (-1, 1):
        carrier = body
        inner, outer = sorted((side * 0.0006, side * z))
        for k in range(levels):
            y = height + k * (rise + 0.001) + 0.0007
            carrier = carrier.slide("tray", (0, 0, side), 0.0, share * z)
            carrier.add(_pan((-w, y, inner), (w, y + rise, outer), wall), trays)
            for x in np.linspace(-w, w, d.count(3, 5))[1:-1]:
                carrier.add(slab((x, y + wall, inner + wall), (x + 0.0015, y + 0.8 * rise, outer - wall)), metal)
            strip = join(pull(d, 0.07, kind="strip")).turn("y", 90 - 90 * side)
            carrier.add(strip.move(0, y + rise / 2, side * z), metal)
        lid = carrier.hinge("lid", (side, 0, 0), (0, top, side * z), 0.0, swing)
        lid.add(_pan((-w, top + 0.0005, inner), (w, top + cover, outer), wall, -1), look)
        hinge = rod("x", 0.003, 0.05, (0.6 * w, top, side * (z + 0.001)), 8)
        carrier.add([hinge, hinge.mirror("x")], metal)
    _add_bail(d, body, w, height * d.between(0.6, 0.8), (z, top + cover), metal)
    return body.builder


def _add_bail(d: Sampler, body: Link, w: float, y: float, corner: tuple[float, float], metal: Surface) -> None:
    """A bow over the whole box, on pins in its ends, long enough to pass its upper edges."""
    reach = float(np.hypot(corner[0], corner[1] - y)) + d.between(0.022, 0.04)
    x, r = w + 0.012, d.between(0.005, 0.007)
    bail = body.hinge("handle", X, (0, y, 0), -d.between(1.1, 1.35), d.between(1.1, 1.35))
    path = [(-x, y, 0), (-x, y + reach, 0), (x, y + reach, 0), (x, y, 0)]
    bail.add(pipe(path, r, 0.015, 10), metal)
    bail.add(rod("x", 1.7 * r, w, (0, y + reach, 0), 14, chamfer=0.002), RUBBER)
    body.add(pair(rod("x", 0.008, 0.016, (w + 0.006, y, 0), 12)), metal)


def _tool_chest(d: Sampler) -> Builder:
    """Drawers below a well with a lid; small ones are carried, large ones stand on castors."""
    builder = Builder("toolbox")
    large = d.chance(0.35)
    w, z = (d.between(0.28, 0.38), d.between(0.2, 0.25)) if large else (d.between(0.2, 0.29), d.between(0.12, 0.16))
    count, board, look = d.count(3, 5) if large else d.count(2, 3), 0.008, d.paint()
    radius = d.between(0.03, 0.045) if large else 0.0
    low = 2.5 * radius
    shares = d.rng.uniform(0.8, 1.7, count)
    unit = d.between(0.09, 0.12) if large else d.between(0.045, 0.06)
    well = d.between(0.06, 0.1)
    top = low + float(unit * shares.sum()) + board
    body, metal = builder.part("base_body"), d.metal()
    carcass(body, (-w, low, -z), (w, top, z), board, look)
    body.add(_pan((-w, top, -z), (w, top + well, z), 0.004), look)
    fronts = FrontStyle(
        look if d.chance(0.6) else d.pick([d.paint(), metal]),
        metal,
        thickness=d.between(0.008, 0.012),
        handle=d.pick(["strip", "strip", "bar", "bow", "arch"]),
        handle_length=d.between(0.5, 1.1) * w,
        inside=d.metal(),
        reach=d.between(0.75, 0.95),
    )
    y = top - 0.5 * board
    for share in shares * (y - low - 0.5 * board) / shares.sum():
        add_drawer(d, body, (-w + 0.004, y - share, w - 0.004, y), z, 2 * z - board - 0.015, fronts)
        y -= share
    rise = d.between(0.02, 0.045)
    lid = _add_lid(d, body, (w, top + well, z), rise, 0.004, look)
    if not large or d.chance(0.4):
        _add_grip(d, lid, top + well + rise, d.sign())
    if d.chance(0.6):
        grip, level = pull(d, 0.12, kind="bow"), top - (0.3 if large else 0.4) * (top - low)
        body.add([s.turn("y", 90 * t).move(t * w, level, 0) for t in (-1, 1) for s in grip], metal)
    corners = [(s * (w - 0.06), t * (z - 0.06)) for s in (-1, 1) for t in (-1, 1)]
    for x, at in corners if large else []:
        add_castor(builder, d, body, x, at, low + 0.004, radius, at > 0, None if at > 0 else 0.0)
    return builder


def trash_can(d: Sampler) -> Builder:
    """A bin with a pedal, a flap or a lid, or a tall one on two wheels."""
    return _wheeled_bin(d) if d.chance(0.4) else drawn(d, "trash_can")


def _wheeled_bin(d: Sampler) -> Builder:
    width = d.between(0.25, 0.5)
    height, depth = width * d.between(1.2, 2.0), width * d.between(0.7, 1.1)
    look, accent = (d.metal() if d.chance(0.4) else d.plastic()), d.plastic()
    body, taper, inner = Builder("trash_can").part("base_body"), d.between(0.75, 1.0), 1.0 - 0.02 / width
    outline = profiles.rectangle(width, depth, 0.12 * width, 4)
    rims = [(taper, 0.0), (1.0, height), (inner, height), (inner * taper, 0.015)]
    body.add(loft([level(s * outline, y) for s, y in rims]), look)
    y, back = height - 0.03, -depth / 2
    lid = body.hinge("lid", X, (0, height + 0.004, back), -d.between(1.6, 2.4), 0.0)
    cover = extrude(outline * (1.0 + 0.01 / width), d.between(0.02, 0.05), bevel=0.012).move(0, height + 0.001, 0)
    lid.add(cover, accent if d.chance(0.6) else look)
    lid.add(block((0.5 * width, 0.02, 0.04), (0, height + 0.02, depth / 2 + 0.015), 0.006), accent)
    body.add(rod("x", 0.008, 0.4 * width, (0, height + 0.004, back)), accent)
    body.add(bow([(0.4 * width, y, back + 0.01), (0.4 * width, y + 0.02, back - 0.06)], 0.011, 0.03), accent)
    radius = d.between(0.05, 0.09) * (height / 0.6)
    z = -0.5 * depth * taper - 0.2 * radius
    body.add(rod("x", 0.012, width * taper, (0, radius, z), 10), STEEL)
    body.add(pair(slab((0.3 * width, 0, z - 0.015), (0.36 * width, radius + 0.03, -0.3 * depth), 0.004)), look)
    for x in (-1, 1):
        add_wheel(d, body, (x * (0.5 * width * taper + 0.012), radius, z), radius, 0.035, look)
    return body.builder
