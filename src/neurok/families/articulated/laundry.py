"""Washing machines: front and top loaders."""

from __future__ import annotations

import numpy as np

from neurok.families.articulated.kit import CHROME, STEEL, WHITE, X, Y, Z, pair, rod, turned
from neurok.families.articulated.kitchen import add_dials
from neurok.modelling import looks, profiles
from neurok.modelling.builder import Builder, Part
from neurok.modelling.dice import Dice
from neurok.modelling.hardware import add_buttons, pull
from neurok.modelling.shapes import box, cylinder, extrude, lathe, slab


def washing_machine(d: Dice) -> Builder:
    """A front loader with a porthole, or a top loader with a lid."""
    return _front_loader(d) if d.chance(0.65) else _top_loader(d)


def _front_loader(d: Dice) -> Builder:
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
    cup = [
        (0, back),
        (1.08 * radius, back),
        (1.08 * radius, mouth),
        (1.05 * radius, mouth),
        (1.05 * radius, back + 0.006),
        (0, back + 0.006),
    ]
    drum.add(lathe(cup, 32).along("z").move(0, cy, 0), STEEL)
    drum.add(
        [
            box((0.02, 0.04, mouth - back - 0.04), (0, 1.03 * radius - 0.018, (mouth + back) / 2), 0.006)
            .turn("z", 120 * k)
            .move(0, cy, 0)
            for k in range(3)
        ],
        CHROME,
    )
    drum.add(rod("z", 0.02, 0.06, (0, cy, back - 0.025), 12), STEEL)
    side = d.sign()
    rim = radius * 1.22
    limits = (-d.between(1.5, 2.6), 0.0) if side < 0 else (0.0, d.between(1.5, 2.6))
    door = frame.hinge("door", Y, (side * rim, cy, face + 0.012), *limits)
    ring = [(0.72 * radius, 0.002), (rim, 0.002), (rim, 0.02), (0.95 * rim, 0.03), (0.75 * radius, 0.03)]
    door.add(lathe(ring, 36, closed=True).along("z").move(0, cy, face), d.metal())
    bowl = [
        (0, -0.05),
        (0.4 * radius, -0.045),
        (0.68 * radius, -0.015),
        (0.76 * radius, 0.012),
        (0.74 * radius, 0.018),
        (0, 0.016),
    ]
    door.add(lathe(bowl, 32).along("z").move(0, cy, face), looks.glass("#9fb7c4", 0.5))
    door.add(box((0.02, 0.09, 0.02), (-side * (rim - 0.012), cy, face + 0.03), 0.004), d.plastic())
    frame.add(box((0.012, 0.1, 0.02), (side * (rim + 0.004), cy, face + 0.007), 0.003), STEEL)
    _add_panel_controls(builder, d, frame, width, height - panel, height, face)
    return builder


def _add_panel_controls(
    builder: Builder, d: Dice, frame: Part, width: float, low: float, high: float, z: float
) -> None:
    """A detergent drawer at the left, a big dial and a row of buttons."""
    w, rise = width / 2, high - low
    tray = frame.slide("detergent_drawer", Z, 0.0, 0.15)
    tray.add(
        slab((-w + 0.02, low + 0.02, z + 0.0005), (-w + 0.02 + 0.3 * width, high - 0.02, z + 0.014), 0.003), d.plastic()
    )
    tray.add(slab((-w + 0.03, low + 0.03, z - 0.02), (-w + 0.01 + 0.3 * width, low + 0.05, z + 0.002)), WHITE)
    add_dials(d, frame, [(d.between(-0.05, 0.05) * width, (low + high) / 2, z)], 0.3 * rise, d.plastic())
    count = d.count(2, 6)
    places = [(w * 0.3 + k * 0.6 * w / count, (low + high) / 2, z) for k in range(count)]
    add_buttons(builder, d, frame, places, min(0.022, 0.35 * w / count), d.plastic())


def _top_loader(d: Dice) -> Builder:
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
    lid.add(
        plate.move(0, height - 0.009, -face + thick + 0.006 + span / 2),
        shell if d.chance(0.5) else looks.glass("#9fb7c4", 0.5),
    )
    lid.add([s.turn("x", -90).move(0, height + 0.009, face - 0.05) for s in pull(d, 0.12, kind="strip")], d.metal())
    count = d.count(1, 4)
    add_dials(
        d,
        frame,
        [(x, height + 0.5 * rise, -face + thick) for x in np.linspace(-0.6, 0.6, count) * w],
        0.25 * rise,
        d.plastic(),
    )
    return frame.builder
