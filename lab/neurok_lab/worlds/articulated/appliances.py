"""Appliances of kitchen and laundry."""

from __future__ import annotations

import numpy as np

from neurok.core import Surface
from neurok.modelling import profiles, surfaces
from neurok.modelling.booleans import difference
from neurok.modelling.builder import Builder, Link
from neurok.modelling.sampler import Sampler
from neurok.modelling.shapes import box, cylinder, extrude, lathe, slab, torus
from neurok.modelling.sweeps import sweep, tube
from neurok_lab.worlds.articulated.hardware import add_buttons, pull
from neurok_lab.worlds.articulated.kit import (
    BLACK_STEEL,
    CHARCOAL,
    CHROME,
    RUBBER,
    STEEL,
    WHITE,
    FrontStyle,
    X,
    Y,
    Z,
    add_dials,
    add_door,
    add_drawer,
    around,
    carcass,
    corners,
    hollow,
    pair,
    placed,
    rod,
    squared,
    turned,
)


def _rack(x0: float, x1: float, y: float, z0: float, z1: float) -> list:  # type: ignore[type-arg]
    """A wire shelf."""
    bars = [box((0.004, 0.004, z1 - z0), (x, y, (z0 + z1) / 2)) for x in np.linspace(x0 + 0.01, x1 - 0.01, 8)]
    return [*bars, *(box((x1 - x0, 0.005, 0.005), ((x0 + x1) / 2, y, z)) for z in (z0 + 0.01, z1 - 0.01))]


def _fronts(d: Sampler, surface: Surface, width: float, thickness: float, style: str = "slab") -> FrontStyle:
    metal, handle = d.metal(), d.pick(["bar", "bow", "arch", "strip"])
    return FrontStyle(surface, metal, thickness, 0.0025, style, handle, width, STEEL, swing=np.pi / 2)


def oven(d: Sampler) -> Builder:
    """One or two doors that fold down, knobs above, a cooker on top."""
    width, height, depth = d.between(0.5, 1.15), d.between(0.7, 0.95), d.between(0.45, 0.62)
    shell = d.shell()
    frame = Builder("oven").part("frame")
    foot = d.between(0.02, 0.08)
    board, w, face = 0.03, width / 2, depth / 2
    panel = d.between(0.08, 0.14)
    carcass(frame, (-w, foot, -face), (w, height - 0.02, face), board, shell, BLACK_STEEL)
    frame.add(corners(cylinder(0.018, foot + 0.002, 12).move(w - 0.05, foot / 2, face - 0.05)), RUBBER)
    plate = slab((-w, height - 0.02, -face), (w, height, face + 0.01), 0.004)
    frame.add(plate, BLACK_STEEL if d.chance(0.5) else shell)
    frame.add(slab((-w, height - 0.02 - panel, face - 0.001), (w, height - 0.02, face + 0.012), 0.003), shell)
    plate = slab((-w + board, height - 0.02 - panel - 0.02, -face + 0.02), (w - board, height - 0.02 - panel, face))
    frame.add(plate, shell)
    low, top = foot + 0.004, height - 0.02 - panel
    fronts = _fronts(d, shell, 0.75 * width, d.between(0.025, 0.045), d.pick(["glass", "glass", "raised", "slab"]))
    if d.chance(0.45):
        drawer = d.between(0.12, 0.18)
        below = FrontStyle(shell, fronts.metal, fronts.thickness, 0.0025, "slab", fronts.handle, 0.5 * width)
        add_drawer(d, frame, (-w, low, w, low + drawer), face, depth - 0.1, below)
        plate = slab((-w + board, low + drawer - 0.006, -face + 0.02), (w - board, low + drawer + 0.006, face))
        frame.add(plate, shell)
        low += drawer
    split = [(0.0, 0.62), (0.62, 1.0)] if d.chance(0.33) else [(0.0, 1.0)]
    for a, b in split:
        y0, y1 = low + a * (top - low), low + b * (top - low)
        add_door(d, frame, (-w, y0, w, y1), face, fronts, "bottom", "door", False)
        for share in (0.35, 0.65):
            solid = _rack(-w + board - 0.002, w - board + 0.002, y0 + share * (y1 - y0), -face + 0.03, face - 0.03)
            frame.add(solid, CHROME)
        if b < 1:
            frame.add(slab((-w + board, y1 - 0.012, -face + 0.02), (w - board, y1 + 0.012, face)), shell)
    _add_cooker(d, frame, width, depth, height)
    count = d.count(2, 7)
    radius = min(d.between(0.016, 0.035), 0.36 * panel, 0.33 * width / count)
    xs = np.linspace(-w + 0.08, w - 0.08, count)
    if d.chance(0.25):
        splash = d.between(0.12, 0.2)
        frame.add(slab((-w, height - 0.002, -face), (w, height + splash, -face + 0.05), 0.006), shell)
        add_dials(d, frame, [(x, height + splash / 2, -face + 0.05) for x in xs], radius, d.plastic())
    else:
        add_dials(d, frame, [(x, height - 0.02 - panel / 2, face + 0.012) for x in xs], radius, d.plastic())
    return frame.builder


def _add_cooker(d: Sampler, frame: Link, width: float, depth: float, height: float) -> None:
    dark = surfaces.metal("black_steel", 0.6)
    grates = d.chance(0.5)
    for x in (-0.25, 0.25):
        for z in (-0.22, 0.2):
            r = min(width, depth) * d.between(0.1, 0.15)
            place = (x * width, height, z * depth)
            frame.add(cylinder(0.6 * r, 0.016, 20, chamfer=0.003).move(place[0], height + 0.007, place[2]), dark)
            if grates:
                frame.add(torus(1.1 * r, 0.005, 20, 6).move(place[0], height + 0.02, place[2]), dark)
                bars = [
                    box((2.4 * r, 0.01, 0.008), (0, height + 0.021, 0)).turn("y", 90 * k).move(place[0], 0, place[2])
                    for k in range(2)
                ]
                frame.add(bars, dark)
                frame.add(pair(box((0.008, 0.024, 0.008), (place[0] + 1.15 * r, height + 0.01, place[2]))), dark)
            else:
                frame.add(torus(r, 0.004, 24, 6).move(place[0], height + 0.001, place[2]), dark)


def dishwasher(d: Sampler) -> Builder:
    """A door that folds down in front of racks, or a whole tub that slides out."""
    builder = Builder("dishwasher")
    width, height, depth = d.between(0.45, 0.65), d.between(0.7, 0.9), d.between(0.5, 0.62)
    shell, w, face, board = d.shell(), width / 2, depth / 2, 0.02
    foot, panel = d.between(0.04, 0.1), d.between(0.06, 0.12)
    frame = builder.part("frame")
    carcass(frame, (-w, foot, -face), (w, height, face), board, shell, STEEL)
    frame.add(slab((-w + 0.01, 0, -face + 0.02), (w - 0.01, foot + 0.002, face - 0.04)), CHARCOAL)
    if d.chance(0.5):
        frame.add(slab((-w - 0.01, height - 0.001, -face), (w + 0.01, height + 0.03, face + 0.03), 0.004), d.timber())
    fronts = _fronts(d, shell, 0.8 * width, d.between(0.02, 0.04), d.pick(["slab", "slab", "raised"]))
    on_door = d.chance(0.5)
    top = height if on_door else height - panel
    if not on_door:
        frame.add(slab((-w, top, face - 0.02), (w, height, face + fronts.thickness), 0.003), shell)
    if d.chance(0.15):
        carrier = add_drawer(d, frame, (-w, foot, w, top), face, depth - 0.05, fronts, "tub")
    else:
        carrier = add_door(d, frame, (-w, foot, w, top), face, fronts, "bottom", "door", False)
        for y in (0.35, 0.7):
            level = foot + y * (top - foot)
            frame.add(_rack(-w + board - 0.002, w - board + 0.002, level, -face + 0.03, face - 0.02), CHROME)
            frame.add(
                [
                    torus(0.09, 0.006, 20, 6).along("z").move(0, level + 0.08, z)
                    for z in np.linspace(-0.12, 0.12, 4) * depth
                ],
                WHITE,
            )
    y, z = height - panel / 2, face + fronts.thickness
    count = d.count(1, 5)
    if on_door:
        y = top - 0.022
    places = [(-w + 0.06 + 0.03 * k, y, z) for k in range(count)]
    add_buttons(builder, d, carrier if on_door else frame, places, 0.014, d.plastic())
    return builder


def washing_machine(d: Sampler) -> Builder:
    """A front loader with a porthole, or a top loader with a lid."""
    return _front_loader(d) if d.chance(0.65) else _top_loader(d)


def _front_loader(d: Sampler) -> Builder:
    builder = Builder("washing_machine")
    width, height, depth = d.between(0.55, 0.68), d.between(0.78, 0.95), d.between(0.5, 0.62)
    shell, w, face = d.shell(), width / 2, depth / 2
    frame = builder.part("frame")
    panel = d.between(0.1, 0.14)
    radius = min(0.33 * width, 0.3 * (height - panel)) * d.between(0.85, 1.0)
    cy = 0.5 * (height - panel) + 0.02
    hole = profiles.circle(radius, 32) + np.array([0.0, -cy])
    plate = extrude(
        profiles.rectangle(width, height - panel, 0.015) + np.array([0.0, -(height - panel) / 2]), 0.02, [hole]
    )
    frame.add(plate.turn("x", 90).move(0, 0, face - 0.02), shell)
    frame.add(pair(slab((w, 0, -face), (w - 0.015, height, face - 0.019))), shell)
    frame.add(slab((-w, height - 0.015, -face), (w, height, face - 0.019)), shell)
    frame.add(slab((-w, 0, -face), (w, 0.015, face - 0.019)), shell)
    frame.add(slab((-w, 0, -face), (w, height, -face + 0.012)), shell)
    frame.add(slab((-w, height - panel, face - 0.03), (w, height, face), 0.004), shell)
    drum = frame.spin("drum", Z, (0, cy, 0))
    back, mouth = -face + 0.06, face - 0.03
    cup = turned(32, [1.08, 1.08, 1.05, 1.05], [back, mouth, mouth, back + 0.006], scale=radius)
    drum.add(cup.along("z").move(0, cy, 0), STEEL)
    rib = box((0.02, 0.04, mouth - back - 0.04), (0, 1.03 * radius - 0.018, (mouth + back) / 2), 0.006)
    drum.add(placed(around(rib, 3, "z"), (0, cy, 0)), CHROME)
    drum.add(rod("z", 0.02, 0.06, (0, cy, back - 0.025), 12), STEEL)
    side = d.sign()
    rim = radius * 1.22
    limits = (-d.between(1.5, 2.6), 0.0) if side < 0 else (0.0, d.between(1.5, 2.6))
    door = frame.hinge("door", Y, (side * rim, cy, face + 0.012), *limits)
    ring = [(0.72 * radius, 0.002), (rim, 0.002), (rim, 0.02), (0.95 * rim, 0.03), (0.75 * radius, 0.03)]
    door.add(lathe(ring, 36, closed=True).along("z").move(0, cy, face), d.metal())
    bowl = turned(32, [0, 0.4, 0.68, 0.76, 0.74, 0], [-0.05, -0.045, -0.015, 0.012, 0.018, 0.016], scale=radius)
    door.add(bowl.along("z").move(0, cy, face), surfaces.glass("#9fb7c4", 0.5))
    door.add(box((0.02, 0.09, 0.02), (-side * (rim - 0.012), cy, face + 0.03), 0.004), d.plastic())
    frame.add(box((0.012, 0.1, 0.02), (side * (rim + 0.004), cy, face + 0.007), 0.003), STEEL)
    _add_panel_controls(builder, d, frame, width, height - panel, height, face)
    return builder


def _add_panel_controls(
    builder: Builder, d: Sampler, frame: Link, width: float, low: float, high: float, z: float
) -> None:
    """A detergent drawer at the left, a big dial and a row of buttons."""
    w, rise = width / 2, high - low
    tray = frame.slide("detergent_drawer", Z, 0.0, 0.15)
    plate = slab((-w + 0.02, low + 0.02, z + 0.0005), (-w + 0.02 + 0.3 * width, high - 0.02, z + 0.014), 0.003)
    tray.add(plate, d.plastic())
    tray.add(slab((-w + 0.03, low + 0.03, z - 0.02), (-w + 0.01 + 0.3 * width, low + 0.05, z + 0.002)), WHITE)
    add_dials(d, frame, [(d.between(-0.05, 0.05) * width, (low + high) / 2, z)], 0.3 * rise, d.plastic())
    count = d.count(2, 6)
    places = [(w * 0.3 + k * 0.6 * w / count, (low + high) / 2, z) for k in range(count)]
    add_buttons(builder, d, frame, places, min(0.022, 0.35 * w / count), d.plastic())


def _top_loader(d: Sampler) -> Builder:
    width, height, depth = d.between(0.5, 0.7), d.between(0.75, 0.95), d.between(0.5, 0.65)
    shell, w, face = d.shell(), width / 2, depth / 2
    frame = Builder("washing_machine").part("frame")
    r = 0.36 * min(width, depth)
    body = extrude(profiles.rectangle(width, depth, 0.02), height - 0.03, [profiles.circle(1.1 * r, 32)])
    frame.add(body.move(0, 0.02, 0), shell).add(slab((-w, 0, -face), (w, 0.022, face), 0.004), shell)
    drum = frame.spin("drum", Y)
    drum.add(turned(32, [1, 1, 0.96, 0.96], [0.04, height - 0.08, height - 0.08, 0.046], scale=r), STEEL)
    drum.add(turned(16, [0.06, 0.03, 0.025, 0], [0.04, 0.2, 0.4 * height, 0.42 * height]), WHITE)
    drum.add(cylinder(0.03, 0.04, 12).move(0, 0.03, 0), STEEL)
    rise, thick = d.between(0.1, 0.2), d.between(0.06, 0.1)
    frame.add(slab((-w, height - 0.012, -face), (w, height + rise, -face + thick), 0.01), shell)
    hinge = (0, height - 0.004, -face + thick + 0.012)
    lid = frame.hinge("lid", X, hinge, -d.between(1.3, 1.65), 0.0)
    span = face - (-face + thick + 0.006)
    plate = extrude(profiles.rectangle(width - 0.04, span - 0.01, 0.02), 0.018, bevel=0.004)
    solid = plate.move(0, height - 0.009, -face + thick + 0.006 + span / 2)
    lid.add(solid, shell if d.chance(0.5) else surfaces.glass("#9fb7c4", 0.5))
    lid.add([s.turn("x", -90).move(0, height + 0.009, face - 0.05) for s in pull(d, 0.12, kind="strip")], d.metal())
    count = d.count(1, 4)
    places = [(x, height + 0.5 * rise, -face + thick) for x in np.linspace(-0.6, 0.6, count) * w]
    add_dials(d, frame, places, 0.25 * rise, d.plastic())
    return frame.builder


def toaster(d: Sampler) -> Builder:
    """Slots on top, a lever to press down, a browning dial, a crumb tray, slices that come up."""
    builder = Builder("toaster")
    slots = d.count(1, 2)
    length, depth, height = d.between(0.24, 0.34), 0.085 + 0.07 * slots, d.between(0.17, 0.21)
    look, accent = d.shell(), d.plastic()
    body = builder.part("base_body")
    block = extrude(
        profiles.rectangle(depth, length, d.between(0.02, 0.045), 5), height - 0.012, bevel=d.between(0.008, 0.02)
    ).move(0, 0.012, 0)
    cuts = [((k - (slots - 1) / 2) * 0.075) for k in range(slots)]
    block = difference(block, *(box((0.032, 0.3, 0.62 * length), (x, height, 0)) for x in cuts))
    body.add(block, look)
    body.add(corners(box((0.02, 0.016, 0.03), (depth * 0.36, 0.006, length * 0.4))), RUBBER)
    z = length / 2
    travel = d.between(0.06, 0.09)
    lever = body.slide("lever", Y, -travel, 0.0)
    top = height - 0.045
    lever.add(box((0.012, 0.01, 0.03), (0, top, z + 0.008), 0.002), STEEL)
    lever.add(box((0.055, 0.022, 0.02), (0, top, z + 0.028), 0.005), accent)
    body.add(box((0.014, travel + 0.03, 0.003), (0, top - travel / 2, z + 0.0005)), CHARCOAL)
    slices = body.slide("slider", Y, -travel, d.between(0.01, 0.03)) if d.chance(0.4) else None
    for x in cuts:
        if slices is not None:
            bar = box((0.016, 0.11, 0.11), (x, height - 0.012, 0), 0.006)
            slices.add(bar, surfaces.paint("#c98f4f", 0.9, name="toast"))
            slices.add(box((0.034, 0.004, 0.11), (x, height - 0.069, 0)), STEEL)
    add_dials(d, body, [(-0.32 * depth, 0.055, z)], 0.018, accent)
    if d.chance(0.5):
        count = d.count(1, 3)
        add_buttons(builder, d, body, [(0.3 * depth, 0.045 + 0.022 * k, z) for k in range(count)], 0.013, accent)
    if d.chance(0.5):
        tray = body.slide("tray", (0, 0, -1), 0.0, 0.15)
        tray.add(box((0.7 * depth, 0.006, 0.8 * length), (0, 0.0085, -0.06 * length)), STEEL)
        tray.add(box((0.3 * depth, 0.012, 0.008), (0, 0.0095, -z - 0.012 + 0.005)), accent)
    return builder


def coffee_machine(d: Sampler) -> Builder:
    """A drip machine with a jug, or an espresso machine with a holder to twist in."""
    return _drip_machine(d) if d.chance(0.5) else _espresso_machine(d)


def _drip_machine(d: Sampler) -> Builder:
    builder = Builder("coffee_machine")
    width, height, depth = d.between(0.16, 0.22), d.between(0.28, 0.36), d.between(0.22, 0.28)
    look, accent, w, z = d.shell(), d.plastic(), width / 2, depth / 2
    body = builder.part("base_body")
    foot, head, back = 0.035, height - d.between(0.09, 0.12), -z + d.between(0.07, 0.09)
    body.add(extrude(profiles.rectangle(width, depth, 0.03), foot, bevel=0.004), look)
    body.add(slab((-w, foot - 0.001, -z), (w, height, back), 0.008), look)
    body.add(slab((-w, head, back - 0.002), (w, height, z - 0.01), 0.008), look)
    body.add(turned(20, [0.02, 0.035], [head - 0.012, head + 0.001]).move(0, 0, 0.03), accent)
    body.add(cylinder(0.3 * width, 0.004, 28).move(0, foot + 0.001, 0.03), BLACK_STEEL)
    radius, tall = min(0.42 * width, 0.35 * (z - back) + 0.03), head - foot - 0.045
    jug = body.slide("container", Z, 0.0, d.between(0.1, 0.2))
    rows = [(0.85 * radius, 0.0), (radius, 0.25 * tall), (0.95 * radius, 0.55 * tall), (0.62 * radius, tall)]
    base = np.array([0.0, foot + 0.003, 0.03])
    jug.add(lathe(hollow(profiles.smooth_curve(rows, 14), 0.003), 28).move(*base), surfaces.glass("#b9cdd6", 0.5))
    corners_ = np.array([(0, 0.92, 0.6), (0, 0.9, 1.35), (0, 0.3, 1.4), (0, 0.2, 0.96)]) * (1, tall, radius)
    grip = profiles.rounded_path(corners_, 0.02, 4)
    jug.add(sweep(profiles.rectangle(0.016, 0.01, 0.003, 2), grip, up=(1, 0, 0)).move(*base), accent)
    cover = jug.hinge("lid", X, base + (0, tall, -0.6 * radius), -1.1, 0.0) if tall < head - foot - 0.1 else jug
    cover.add(turned(24, [0.64, 0.6, 0], [tall, tall + 0.008, tall + 0.01], scale=radius).move(*base), accent)
    lid = body.hinge("lid", X, (0, height + 0.001, -z + 0.012), -d.between(1.0, 1.6), 0.0)
    lid.add(slab((-w + 0.008, height + 0.0005, -z + 0.008), (w - 0.008, height + 0.014, z - 0.016), 0.005), accent)
    count = d.count(1, 4)
    add_buttons(
        builder, d, body, [((k - (count - 1) / 2) * 0.03, head + 0.04, z - 0.01) for k in range(count)], 0.014, accent
    )
    return builder


def _espresso_machine(d: Sampler) -> Builder:
    builder = Builder("coffee_machine")
    width, height, depth = d.between(0.22, 0.32), d.between(0.28, 0.36), d.between(0.24, 0.3)
    look, accent, w, z = d.shell(), d.plastic(), width / 2, depth / 2
    body = builder.part("base_body")
    foot, head = 0.05, height * d.between(0.6, 0.68)
    body.add(slab((-w, 0.0, -z), (w, foot, z), 0.006), look)
    body.add(slab((-w, foot - 0.001, -z), (w, height, -z + 0.45 * depth), 0.008), look)
    body.add(slab((-w, head, -z + 0.44 * depth), (w, height, z - 0.03), 0.008), look)
    rows = [box((0.004, 0.004, 0.42 * depth), (x, foot + 0.001, 0.22 * depth)) for x in np.linspace(-0.8, 0.8, 12) * w]
    body.add(rows, CHROME)
    group = np.array([0.0, head, 0.15 * depth])
    body.add(cylinder(0.036, 0.03, 24, chamfer=0.003).move(group[0], head - 0.013, group[2]), CHROME)
    holder = body.hinge("portafilter", Y, group, -0.9, 0.2)
    holder.add(turned(24, [0.02, 0.031, 0.033], [-0.056, -0.044, -0.029]).move(*group), CHROME)
    arm = group + np.array([(0, -0.042, 0.028), (0, -0.046, 0.06), (0, -0.052, 0.15)])
    holder.add(tube(arm, 0.011, 12, scales=[0.6, 0.8, 1.0]), accent)
    rows = [tube([group + (s * 0.006, -0.054, 0.0), group + (s * 0.012, -0.072, 0.006)], 0.005, 8) for s in (-1, 1)]
    holder.add(rows, CHROME)
    side = d.sign()
    body.add(rod("z", 0.01, 0.03, (side * 0.75 * w, head + 0.05, z - 0.02), 12), CHROME)
    add_dials(d, body, [(side * 0.75 * w, head + 0.05, z - 0.006)], 0.02, accent)
    wand = body.hinge("wand", Y, (side * 0.8 * w, head, 0.2 * depth), *sorted((0.0, side * 0.9)))
    path = np.array([(0, 0.002, 0), (0, -0.03, 0.005), (0, -0.11, 0.03)]) + (side * 0.8 * w, head, 0.2 * depth)
    wand.add(tube(profiles.smooth_curve(path, 8), 0.005, 10), CHROME)
    tank = body.slide("tank", Y, 0.0, d.between(0.03, 0.1))
    plate = slab((-0.6 * w, height + 0.0005, -z + 0.02), (0.6 * w, height + 0.016, -z + 0.4 * depth), 0.004)
    tank.add(plate, surfaces.glass("#9fb7c4", 0.7))
    plate = slab((-0.2 * w, height + 0.015, -z + 0.16 * depth), (0.2 * w, height + 0.026, -z + 0.26 * depth), 0.003)
    tank.add(plate, accent)
    count = d.count(1, 3)
    add_buttons(
        builder, d, body, [(-side * (0.7 - 0.28 * k) * w, head + 0.05, z - 0.03) for k in range(count)], 0.018, accent
    )
    return builder


def blender(d: Sampler) -> Builder:
    """A motor base with a dial, a jar that lifts off, its lid and the blades inside."""
    builder = Builder("blender")
    radius, base = d.between(0.07, 0.1), d.between(0.1, 0.18)
    look, accent = d.shell(), d.plastic()
    body = builder.part("base_body")
    waist = radius * d.between(0.6, 0.85)
    square = d.pick([0.0, d.between(0.5, 1.0)])
    foot = turned(32, [0.95 * radius, radius, 0.95 * radius, waist, waist], [0, 0.012, 0.3 * base, 0.85 * base, base])
    body.add(squared(foot, square), look)
    tall, top = d.between(0.18, 0.26), radius * d.between(0.85, 1.05)
    jar = body.slide("container", Y, 0.0, d.between(0.05, 0.15), (0, base, 0))
    low = base + 0.03
    jar.add(turned(28, [0.9 * waist, 0.8 * waist], [base + 0.0005, low]), accent)
    profile = hollow(np.array([(0.78 * waist, 0.0), (0.85 * waist, 0.2 * tall), (top, tall)]), 0.004)
    jar.add(lathe(profile, 32).move(0, low - 0.001, 0), surfaces.glass("#cfe0ea", 0.45))
    high, deep = 0.9 * tall, 0.25 * tall
    bends = [(0, high, top - 0.012), (0, high, top + 0.045), (0, deep, top + 0.04), (0, deep, 0.84 * waist)]
    grip = profiles.rounded_path(bends, 0.02, 4)
    handle = sweep(profiles.rectangle(0.018, 0.012, 0.004, 2), grip, up=X).move(0, low, 0)
    jar.add(handle.turn("y", d.pick([90, 90, -90, 180])), accent)
    _add_blades(jar, low, 0.6 * waist)
    end = low + tall
    lid = jar.slide("lid", Y, 0.0, d.between(0.02, 0.06), (0, end, 0))
    lid.add(turned(32, [1.02, 1.02, 0.5], [end - 0.001, end + 0.012, end + 0.02], scale=top), accent)
    plug = lid.spin("plug", Y, (0, end, 0)) if d.chance(0.4) else lid.slide("plug", Y, 0.0, 0.02, (0, end, 0))
    plug.add(turned(20, [0.35, 0.3, 0], [end + 0.0195, end + 0.035, end + 0.037], scale=top), look)
    plug.add(box((0.5 * top, 0.008, 0.008), (0, end + 0.039, 0), 0.002), look)
    face = np.interp(0.5 * base, [0.3 * base, 0.85 * base], [0.95 * radius, waist])
    if d.chance(0.7):
        add_dials(d, body, [(0, 0.45 * base, face - 0.001)], 0.22 * base, accent)
    else:
        add_buttons(builder, d, body, [((k - 1) * 0.028, 0.3 * base, 0.95 * radius) for k in range(3)], 0.016, accent)
    return builder


def _add_blades(jar: Link, low: float, reach: float) -> None:
    blades = jar.spin("blades", Y, (0, low, 0))
    metal = STEEL
    blades.add(cylinder(0.007, 0.03, 10).move(0, low + 0.012, 0), metal)
    for k in range(4):
        blade = box((reach, 0.0025, 0.012), (0.5 * reach, 0, 0)).turn("z", 25 * (-1) ** k).turn("y", 90 * k)
        blades.add(blade.move(0, low + 0.02, 0), metal)
