"""Small appliances of the worktop: toaster, coffee machine, blender."""

from __future__ import annotations

import numpy as np

from neurok.families.articulated.kit import BLACK_STEEL, CHARCOAL, CHROME, RUBBER, STEEL, X, Y, Z, corners, rod, turned
from neurok.families.articulated.kitchen import add_dials
from neurok.families.articulated.vessels import hollow, squared
from neurok.modelling import looks, profiles
from neurok.modelling.booleans import difference
from neurok.modelling.builder import Builder, Part
from neurok.modelling.dice import Dice
from neurok.modelling.hardware import add_buttons
from neurok.modelling.shapes import box, cylinder, extrude, lathe, slab
from neurok.modelling.sweeps import sweep, tube


def toaster(d: Dice) -> Builder:
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
            slices.add(
                box((0.016, 0.11, 0.11), (x, height - 0.012, 0), 0.006), looks.paint("#c98f4f", 0.9, name="toast")
            )
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


def coffee_machine(d: Dice) -> Builder:
    """A drip machine with a jug, or an espresso machine with a holder to twist in."""
    return _drip_machine(d) if d.chance(0.5) else _espresso_machine(d)


def _drip_machine(d: Dice) -> Builder:
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
    jug.add(lathe(hollow(profiles.smooth_curve(rows, 14), 0.003), 28).move(*base), looks.glass("#b9cdd6", 0.5))
    grip = profiles.rounded_path(
        [
            (0, 0.92 * tall, 0.6 * radius),
            (0, 0.9 * tall, 1.35 * radius),
            (0, 0.3 * tall, 1.4 * radius),
            (0, 0.2 * tall, 0.96 * radius),
        ],
        0.02,
        4,
    )
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


def _espresso_machine(d: Dice) -> Builder:
    builder = Builder("coffee_machine")
    width, height, depth = d.between(0.22, 0.32), d.between(0.28, 0.36), d.between(0.24, 0.3)
    look, accent, w, z = d.shell(), d.plastic(), width / 2, depth / 2
    body = builder.part("base_body")
    foot, head = 0.05, height * d.between(0.6, 0.68)
    body.add(slab((-w, 0.0, -z), (w, foot, z), 0.006), look)
    body.add(slab((-w, foot - 0.001, -z), (w, height, -z + 0.45 * depth), 0.008), look)
    body.add(slab((-w, head, -z + 0.44 * depth), (w, height, z - 0.03), 0.008), look)
    body.add(
        [box((0.004, 0.004, 0.42 * depth), (x, foot + 0.001, 0.22 * depth)) for x in np.linspace(-0.8, 0.8, 12) * w],
        CHROME,
    )
    group = np.array([0.0, head, 0.15 * depth])
    body.add(cylinder(0.036, 0.03, 24, chamfer=0.003).move(group[0], head - 0.013, group[2]), CHROME)
    holder = body.hinge("portafilter", Y, group, -0.9, 0.2)
    holder.add(turned(24, [0.02, 0.031, 0.033], [-0.056, -0.044, -0.029]).move(*group), CHROME)
    holder.add(
        tube(
            [group + (0, -0.042, 0.028), group + (0, -0.046, 0.06), group + (0, -0.052, 0.15)],
            0.011,
            12,
            scales=[0.6, 0.8, 1.0],
        ),
        accent,
    )
    holder.add(
        [tube([group + (s * 0.006, -0.054, 0.0), group + (s * 0.012, -0.072, 0.006)], 0.005, 8) for s in (-1, 1)],
        CHROME,
    )
    side = d.sign()
    body.add(rod("z", 0.01, 0.03, (side * 0.75 * w, head + 0.05, z - 0.02), 12), CHROME)
    add_dials(d, body, [(side * 0.75 * w, head + 0.05, z - 0.006)], 0.02, accent)
    wand = body.hinge("wand", Y, (side * 0.8 * w, head, 0.2 * depth), *sorted((0.0, side * 0.9)))
    path = np.array([(0, 0.002, 0), (0, -0.03, 0.005), (0, -0.11, 0.03)]) + (side * 0.8 * w, head, 0.2 * depth)
    wand.add(tube(profiles.smooth_curve(path, 8), 0.005, 10), CHROME)
    tank = body.slide("tank", Y, 0.0, d.between(0.03, 0.1))
    tank.add(
        slab((-0.6 * w, height + 0.0005, -z + 0.02), (0.6 * w, height + 0.016, -z + 0.4 * depth), 0.004),
        looks.glass("#9fb7c4", 0.7),
    )
    tank.add(
        slab((-0.2 * w, height + 0.015, -z + 0.16 * depth), (0.2 * w, height + 0.026, -z + 0.26 * depth), 0.003), accent
    )
    count = d.count(1, 3)
    add_buttons(
        builder, d, body, [(-side * (0.7 - 0.28 * k) * w, head + 0.05, z - 0.03) for k in range(count)], 0.018, accent
    )
    return builder


def blender(d: Dice) -> Builder:
    """A motor base with a dial, a jar that lifts off, its lid and the blades inside."""
    builder = Builder("blender")
    radius, base = d.between(0.07, 0.1), d.between(0.1, 0.18)
    look, accent = d.shell(), d.plastic()
    body = builder.part("base_body")
    waist = radius * d.between(0.6, 0.85)
    square = d.pick([0.0, d.between(0.5, 1.0)])
    body.add(
        squared(
            turned(32, [0.95 * radius, radius, 0.95 * radius, waist, waist], [0, 0.012, 0.3 * base, 0.85 * base, base]),
            square,
        ),
        look,
    )
    tall, top = d.between(0.18, 0.26), radius * d.between(0.85, 1.05)
    jar = body.slide("container", Y, 0.0, d.between(0.05, 0.15), (0, base, 0))
    low = base + 0.03
    jar.add(turned(28, [0.9 * waist, 0.8 * waist], [base + 0.0005, low]), accent)
    profile = hollow(np.array([(0.78 * waist, 0.0), (0.85 * waist, 0.2 * tall), (top, tall)]), 0.004)
    jar.add(lathe(profile, 32).move(0, low - 0.001, 0), looks.glass("#cfe0ea", 0.45))
    grip = profiles.rounded_path(
        [
            (0, 0.9 * tall, top - 0.012),
            (0, 0.9 * tall, top + 0.045),
            (0, 0.25 * tall, top + 0.04),
            (0, 0.25 * tall, 0.84 * waist),
        ],
        0.02,
        4,
    )
    jar.add(
        sweep(profiles.rectangle(0.018, 0.012, 0.004, 2), grip, up=(1, 0, 0))
        .move(0, low, 0)
        .turn("y", d.pick([90, 90, -90, 180])),
        accent,
    )
    _add_blades(jar, low, 0.6 * waist)
    end = low + tall
    lid = jar.slide("lid", Y, 0.0, d.between(0.02, 0.06), (0, end, 0))
    lid.add(turned(32, [1.02, 1.02, 0.5], [end - 0.001, end + 0.012, end + 0.02], scale=top), accent)
    plug = builder.part(
        "plug",
        lid,
        *(
            ("continuous", (0, 1, 0), (0, end, 0))
            if d.chance(0.4)
            else ("prismatic", (0, 1, 0), (0, end, 0), 0.0, 0.02)
        ),
    )
    plug.add(turned(20, [0.35, 0.3, 0], [end + 0.0195, end + 0.035, end + 0.037], scale=top), look)
    plug.add(box((0.5 * top, 0.008, 0.008), (0, end + 0.039, 0), 0.002), look)
    face = np.interp(0.5 * base, [0.3 * base, 0.85 * base], [0.95 * radius, waist])
    if d.chance(0.7):
        add_dials(d, body, [(0, 0.45 * base, face - 0.001)], 0.22 * base, accent)
    else:
        add_buttons(builder, d, body, [((k - 1) * 0.028, 0.3 * base, 0.95 * radius) for k in range(3)], 0.016, accent)
    return builder


def _add_blades(jar: Part, low: float, reach: float) -> None:
    blades = jar.spin("blades", Y, (0, low, 0))
    metal = STEEL
    blades.add(cylinder(0.007, 0.03, 10).move(0, low + 0.012, 0), metal)
    for k in range(4):
        blades.add(
            box((reach, 0.0025, 0.012), (0.5 * reach, 0, 0))
            .turn("z", 25 * (-1) ** k)
            .turn("y", 90 * k)
            .move(0, low + 0.02, 0),
            metal,
        )
