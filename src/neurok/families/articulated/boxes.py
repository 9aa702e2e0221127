"""Boxes with flaps and lids, chests, suitcases."""

from __future__ import annotations

import numpy as np

from neurok.core import Surface
from neurok.families.articulated.casework import rounded_box
from neurok.families.articulated.kit import CHARCOAL, RUBBER, STEEL, X, Y, Z, corners, pair, placed, rod
from neurok.modelling import looks, profiles
from neurok.modelling.builder import Builder, Part
from neurok.modelling.dice import Dice
from neurok.modelling.hardware import add_castor, pull, sideways, wheel
from neurok.modelling.shapes import box as solid_box
from neurok.modelling.shapes import cylinder, slab
from neurok.modelling.sweeps import tube


def box(d: Dice) -> Builder:
    """A carton with flaps, a chest with a lid, a flat case, or a box whose lid lifts or slides."""
    kind = d.pick(["carton", "chest", "case", "slide"], [4, 5, 3, 1])
    return {"carton": _carton, "chest": _chest, "case": _case, "slide": _sliding_box}[kind](d)


def _tray(
    part: Part, width: float, height: float, depth: float, wall: float, surface: Surface, low: float = 0.0
) -> None:
    """Four walls and a floor."""
    w, z = width / 2, depth / 2
    part.add(slab((-w, low, -z), (w, low + wall, z), 0.1 * wall), surface)
    part.add(pair(slab((w, low + wall, -z), (w - wall, low + height, z), 0.1 * wall)), surface)
    part.add(pair(slab((-w + wall, low + wall, z), (w - wall, low + height, z - wall), 0.1 * wall), "z"), surface)


def _carton(d: Dice) -> Builder:
    width, depth, height = d.between(0.2, 0.5), d.between(0.2, 0.5), d.between(0.12, 0.4)
    wall = d.between(0.003, 0.006)
    paper = looks.paint(d.pick(["#c49a6c", "#b98d5f", "#d6bf9a", "#e8e2d6"]), 0.9, name="cardboard")
    body = Builder("box").part("base_body")
    _tray(body, width, height, depth, wall, paper)
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


def _chest(d: Dice) -> Builder:
    """A trunk whose lid, flat or vaulted, is hinged at the back."""
    width, depth, height = d.between(0.3, 0.9), d.between(0.2, 0.5), d.between(0.15, 0.45)
    wall, w, z = d.between(0.008, 0.02), width / 2, depth / 2
    look, metal = d.timber(), d.metal()
    body = Builder("box").part("base_body")
    foot = d.pick([0.0, d.between(0.01, 0.05)])
    _tray(body, width, height, depth, wall, look, foot)
    if foot:
        body.add(corners(slab((w, 0, z), (w - 0.12 * width, foot + 0.001, z - 0.12 * width), 0.003)), look)
    top = foot + height
    lid = body.hinge("rotation_lid", X, (0, top + 0.0005, -z), -d.between(1.6, 2.7), 0.0)
    rise = d.between(0.02, 0.1) if d.chance(0.6) else d.between(0.1, 0.2)
    if d.chance(0.4):
        t = np.radians(np.linspace(180, 0, 15))
        arch = np.column_stack([z * np.cos(t), rise * np.sin(t) ** 0.8])
        lid.add(pair(sideways(arch, wall).move(w - wall / 2, top + 0.001, 0)), look)
        shell = np.concatenate([arch, (arch * (1 - wall / max(z, rise)))[::-1]])
        lid.add(sideways(shell, width - 2 * wall + 0.001).move(0, top + 0.001, 0), look)
    else:
        lid.add(slab((-w, top + rise, -z), (w, top + rise + wall, z + d.pick([0.0, 0.01])), 0.1 * wall), look)
        for x in (-1, 1):
            lid.add(slab((x * w, top + 0.001, -z), (x * (w - wall), top + rise, z), 0.1 * wall), look)
            lid.add(slab((-w + wall, top + 0.001, x * z), (w - wall, top + rise, x * (z - wall)), 0.1 * wall), look)
    body.add(pair(rod("x", 0.006, 0.06, (0.3 * width, top, -z - 0.002), 10)), metal)
    if d.chance(0.6):
        lid.add(slab((-0.03, top + 0.002, z), (0.03, top + 0.6 * rise, z + 0.008), 0.002), metal)
        body.add(slab((-0.025, top - 0.05, z - 0.001), (0.025, top - 0.004, z + 0.006), 0.002), metal)
    if d.chance(0.5):
        grip = pull(d, 0.1, kind=d.pick(["bow", "arch", "ring"]))
        body.add([s.turn("y", 90 * x).move(x * w, foot + 0.6 * height, 0) for x in (-1, 1) for s in grip], metal)
    if d.chance(0.4):
        for at in (-0.32 * width, 0.32 * width):
            body.add(slab((at - 0.02, foot, z - 0.002), (at + 0.02, top - 0.002, z + 0.003)), metal)
    return body.builder


def _case(d: Dice) -> Builder:
    """Two shallow shells hinged at the back, like a briefcase or a pizza box."""
    width, depth = d.between(0.25, 0.5), d.between(0.22, 0.4)
    lower, upper, wall = d.between(0.02, 0.07), d.between(0.015, 0.06), d.between(0.003, 0.006)
    look, metal = d.pick([d.paint(), d.wood(), looks.paint("#c9a97d", 0.9, name="cardboard")]), d.metal()
    body = Builder("box").part("base_body")
    _tray(body, width, lower, depth, wall, look)
    w, z = width / 2, depth / 2
    lid = body.hinge("rotation_lid", X, (0, lower + 0.0005, -z), -d.between(1.5, 2.6), 0.0)
    lid.add(slab((-w, lower + upper - wall, -z), (w, lower + upper, z), 0.1 * wall), look)
    for x in (-1, 1):
        lid.add(slab((x * w, lower + 0.001, -z), (x * (w - wall), lower + upper - wall, z), 0.1 * wall), look)
        lid.add(
            slab((-w + wall, lower + 0.001, x * z), (w - wall, lower + upper - wall, x * (z - wall)), 0.1 * wall), look
        )
    body.add(pair(rod("x", 0.003, 0.04, (0.3 * width, lower, -z), 8)), metal)
    if d.chance(0.6):
        grip = body.hinge("handle", X, (0, 0.6 * lower, z), 0.0, 1.3)
        grip.add([s.move(0, 0.6 * lower, z) for s in pull(d, 0.1, kind="bow")], metal)
        for at in (-0.3 * width, 0.3 * width):
            latch = body.hinge("lock", X, (at, lower - 0.012, z + 0.002), 0.0, 1.5)
            latch.add(
                slab((at - 0.012, lower - 0.012, z + 0.0005), (at + 0.012, lower + 0.4 * upper, z + 0.004), 0.001),
                metal,
            )
    return body.builder


def _sliding_box(d: Dice) -> Builder:
    width, depth, height, wall = d.between(0.12, 0.3), d.between(0.12, 0.3), d.between(0.06, 0.2), 0.006
    look = d.timber()
    body = Builder("box").part("base_body")
    _tray(body, width, height, depth, wall, look)
    if d.chance(0.5):
        lid = body.slide("slide_lid", Z, 0.0, 0.85 * depth)
        lid.add(
            slab(
                (-width / 2 + 0.004, height + 0.0005, -depth / 2), (width / 2 - 0.004, height + 0.008, depth / 2), 0.001
            ),
            d.timber(),
        )
        lid.add(solid_box((0.3 * width, 0.006, 0.008), (0, height + 0.01, 0.42 * depth), 0.001), look)
        body.add(
            pair(slab((width / 2, height - 0.002, -depth / 2), (width / 2 - 0.0035, height + 0.009, depth / 2))), look
        )
    else:
        lid = body.slide("lid", Y, 0.0, d.between(0.3, 0.9) * height)
        drop = d.between(0.15, 0.5) * height
        w, z = width / 2 + 0.005, depth / 2 + 0.005
        paper = d.paint()
        lid.add(slab((-w, height + 0.0005, -z), (w, height + 0.005, z), 0.0006), paper)
        for x in (-1, 1):
            lid.add(slab((x * w, height - drop, -z), (x * (w - 0.0042), height + 0.0005, z), 0.0004), paper)
            lid.add(
                slab((-w + 0.0042, height - drop, x * z), (w - 0.0042, height + 0.0005, x * (z - 0.0042)), 0.0004),
                paper,
            )
    return body.builder


def suitcase(d: Dice) -> Builder:
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
        shell.add(solid_box((0.03 * width, 0.86 * height, 0.012), (x, foot + height / 2, depth / 2), 0.004), look)
    seam = profiles.rectangle(width + 0.004, height + 0.004, 0.05, 5)
    path = np.column_stack([seam[:, 0], seam[:, 1] + foot + height / 2, np.zeros(len(seam))])
    shell.add(tube(path, 0.005, 8, closed=True), trim)
    back, reach = -depth / 2 - 0.008, d.between(0.15, 0.28)
    shell.add(
        slab(
            (-0.3 * width, foot + 0.1 * height, back - 0.008),
            (0.3 * width, foot + height - 0.01, -depth / 2 + 0.002),
            0.005,
        ),
        trim,
    )
    carrier = shell
    for stage in range(d.count(1, 2)):
        rods = carrier.slide("telescope", Y, 0.0, reach)
        r = 0.006 - 0.0015 * stage
        tall = height * 0.8
        rods.add(
            pair(
                cylinder(r, tall, 10).move(0.22 * width, foot + height - tall / 2 + 0.012 + 0.002 * stage, back + 0.004)
            ),
            STEEL,
        )
        carrier = rods
    carrier.add(solid_box((0.5 * width, 0.024, 0.026), (0, foot + height + 0.022, back + 0.004), 0.006), trim)
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
        shell.add(
            pair(solid_box((0.03, foot + 0.004, 0.03), (width / 2 - 0.05, foot / 2, depth / 2 - 0.04), 0.004)), trim
        )
        for x in (-1, 1):
            place = (x * (width / 2 - 0.045), radius, -depth / 2 + 0.01)
            shell.add(
                [
                    solid_box((0.008, foot + 0.02, 0.05), (place[0] + s * 0.018, foot / 2 + 0.018, place[2]), 0.002)
                    for s in (-1, 1)
                ],
                trim,
            )
            roll = shell.spin("wheel", X, place)
            tyre, hub = wheel(d, radius, 0.02)
            roll.add(placed(tyre, place), RUBBER)
            roll.add(placed([*hub, cylinder(0.004, 0.04, 8).along("x")], place), STEEL)
    return builder
