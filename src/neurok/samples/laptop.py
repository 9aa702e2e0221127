"""A laptop, standing open: keyboard, touchpad, ports, hinges and a lit screen."""

from __future__ import annotations

import numpy as np

from neurok.core import Asset
from neurok.modelling import looks, profiles
from neurok.modelling.booleans import difference
from neurok.modelling.builder import Builder, Part
from neurok.modelling.shapes import Shape, box, cylinder, extrude, slab

WIDTH, DEPTH, BASE, LID = 0.318, 0.222, 0.0135, 0.0055
HINGE = np.array([0.0, BASE + 0.0018, -DEPTH / 2 + 0.005])
OPEN = 106.0
"""Angle between keyboard and screen as stored [degrees]."""


def make_laptop() -> Asset:
    builder = Builder("laptop")
    base = builder.part("base")
    lid = builder.part("screen", base, "revolute", (1, 0, 0), HINGE, np.radians(OPEN - 150), np.radians(OPEN - 0.5))
    shell = looks.metal("#b9bdc4", 0.38)
    _add_base(base, shell)
    _add_keys(base)
    _add_ports(base)
    _add_lid(lid, shell)
    return builder.build()


def _add_base(base: Part, shell: looks.Surface) -> None:
    body = extrude(profiles.rectangle(WIDTH, DEPTH, 0.012, 6), BASE, bevel=0.0022)
    well = box((0.277, 0.004, 0.098), (0, BASE, -0.036), 0.0006)
    pad = box((0.104, 0.0016, 0.066), (0, BASE, 0.062))
    base.add(difference(body, well, pad), shell)
    base.add(box((0.1032, 0.0008, 0.0652), (0, BASE - 0.0005, 0.062), 0.0002), looks.paint("#a6abb3", 0.3, 0.2))
    for x in (-1, 1):
        base.add([cylinder(0.0055, 0.002, 16).move(x * 0.135, -0.0009, z) for z in (-0.09, 0.09)], looks.rubber())
        grille = [
            cylinder(0.0007, 0.0006, 6).move(x * (0.1465 + 0.0022 * (k % 3)), BASE, -0.08 + 0.0024 * k)
            for k in range(36)
        ]
        base.add(grille, looks.plastic("#4a4d52"))
        knuckle = cylinder(0.0036, 0.012, 16, chamfer=0.0004).along("x").move(x * 0.093, *HINGE[1:])
        base.add(knuckle, looks.metal("black_steel"))
        base.add(box((0.012, 0.004, 0.006), (x * 0.093, BASE - 0.001, HINGE[2]), 0.0004), looks.metal("black_steel"))


def _add_keys(base: Part) -> None:
    """Six rows; ``widths`` in key units, each row filling the same length."""
    rows = [
        [1.0] * 14,
        [1.0] * 13 + [1.6],
        [1.5] + [1.0] * 12 + [1.1],
        [1.8] + [1.0] * 11 + [1.8],
        [2.3] + [1.0] * 10 + [2.3],
        [1.2, 1.0, 1.0, 1.2, 5.4, 1.2, 1.0, 1.0, 1.0, 1.0],
    ]
    left, right, gap = -0.1365, 0.1365, 0.0026
    depths = [0.010] + [0.0138] * 5
    z = -0.036 - 0.0465
    base.add(box((0.276, 0.0004, 0.097), (0, BASE - 0.0019, -0.036)), looks.plastic("#191a1d"))
    cap, accent = looks.plastic("#2b2d31"), looks.plastic("#e0794a")
    for r, widths in enumerate(rows):
        unit = (right - left - gap * (len(widths) - 1)) / sum(widths)
        x = left
        for k, width in enumerate(widths):
            size = unit * width
            base.add(
                _key(size, depths[r]).move(x + size / 2, BASE - 0.0021, z + depths[r] / 2),
                accent if (r, k) == (0, 0) else cap,
            )
            x += size + gap
        z += depths[r] + gap


def _key(width: float, depth: float) -> Shape:
    cap = box((width, 0.0028, depth), (0, 0.0014, 0), 0.0007)
    taper = np.where(cap.vertices[:, 1:2] > 0.0014, 0.93, 1.0)
    return Shape(cap.vertices * np.concatenate([taper, np.ones_like(taper), taper], axis=1), cap.faces)


def _add_ports(base: Part) -> None:
    dark = looks.plastic("#17181a")
    for side, places in ((-1, (-0.07, -0.052, -0.034)), (1, (-0.068, -0.046))):
        edge = side * WIDTH / 2
        base.add([box((0.0012, 0.0042, 0.0105), (edge, BASE / 2, z), 0.0004) for z in places], dark)
        base.add([box((0.0016, 0.0012, 0.008), (edge, BASE / 2, z)) for z in places], looks.metal("steel"))
    base.add(cylinder(0.0019, 0.0012, 12).along("x").move(WIDTH / 2, BASE / 2, -0.03), dark)
    base.add(box((0.004, 0.001, 0.0008), (0.12, BASE * 0.55, DEPTH / 2)), looks.glow("#bfe8ff"))


def _add_lid(lid: Part, shell: looks.Surface) -> None:
    """Modelled closed, then turned open."""
    low = BASE + 0.0012
    front, back = DEPTH / 2 - 0.001, HINGE[2] + 0.006
    middle, depth = (front + back) / 2, front - back
    pieces = [
        (extrude(profiles.rectangle(WIDTH - 0.002, depth, 0.011, 6), LID, bevel=0.0018).move(0, low, middle), shell)
    ]
    bezel = extrude(profiles.rectangle(WIDTH - 0.010, depth - 0.008, 0.008, 5), 0.0008, bevel=0.0002)
    pieces.append((bezel.move(0, low - 0.0005, middle), looks.paint("#141518", 0.25)))
    picture = box((0.290, 0.0003, 0.181), (0, low - 0.0006, middle + 0.0045)).pictured("x", "z")
    pieces.append((picture, looks.screen()))
    pieces.append((cylinder(0.0016, 0.0004, 12).move(0, low - 0.0006, front - 0.0075), looks.glass("#33455a", 1.0)))
    for x in (-1, 1):
        for dx in (-0.0125, 0.0125):
            barrel = cylinder(0.0036, 0.0115, 16, chamfer=0.0004).along("x").move(x * 0.093 + dx, *HINGE[1:])
            pieces.append((barrel, looks.metal("black_steel")))
        arm = slab(
            (x * 0.093 - 0.0182, low + 0.0008, HINGE[2]), (x * 0.093 + 0.0182, low + 0.0048, back + 0.004), 0.0006
        )
        pieces.append((_notched(arm, x * 0.093), looks.metal("black_steel")))
    badge = extrude(profiles.superellipse(0.017, 0.012, 3.0, 24), 0.0004).move(0, low + LID - 0.0001, middle)
    pieces.append((badge, looks.metal("chrome", 0.15)))
    for shape, surface in pieces:
        lid.add(shape.turn("x", -OPEN, HINGE), surface)


def _notched(arm: Shape, x: float) -> Shape:
    """The hinge arm without the place of the knuckle that belongs to the base."""
    return difference(arm, box((0.0136, 0.02, 0.0105), (x, BASE, HINGE[2])))
