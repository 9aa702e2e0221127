"""Hand tools: two halves on a pin, blades that fold or slide, a stapler."""

from __future__ import annotations

import numpy as np

from neurok.core import Surface
from neurok.families.articulated.kit import BRASS, RUBBER, STEEL, X, Z, pair, rod
from neurok.modelling import looks, profiles
from neurok.modelling.builder import Builder, Part
from neurok.modelling.dice import Dice
from neurok.modelling.hardware import facing, sideways
from neurok.modelling.shapes import Shape, box, cylinder, slab
from neurok.modelling.sweeps import sweep, tube


def scissors(d: Dice) -> Builder:
    """Two blades with finger loops, crossing at a screw; they lie flat, points towards -z."""
    builder = Builder("scissors")
    length, width, thick = d.between(0.08, 0.13), d.between(0.012, 0.018), d.between(0.0015, 0.0025)
    grip = d.between(0.06, 0.085)
    metal, handle = STEEL, d.plastic()
    spread, loop = d.between(0.12, 0.22), d.between(0.018, 0.026)
    point = d.between(0.1, 0.35)
    parts: list[Part] = []
    for side in (-1, 1):
        if not parts:
            part = builder.part("blade")
        else:
            part = parts[0].hinge("blade", Z, (0, 0, 0), 0.0, d.between(0.7, 1.2))
        parts.append(part)
        z = 0.5 * thick * side * 1.04
        x = side
        blade = np.array(
            [
                [-0.3 * width, -0.5 * width],
                [0.55 * width, -0.3 * width],
                [0.5 * width, 0.3 * length],
                [point * width * 0.3, length],
                [-0.12 * width, length],
                [-0.42 * width, 0.3 * length],
            ]
        )
        shank = np.array(
            [
                [-0.45 * width, 0.4 * width],
                [-0.15 * width - spread * grip * 0.5, -0.6 * grip],
                [0.3 * width - spread * grip * 0.5, -0.6 * grip],
                [0.5 * width, 0.2 * width],
            ]
        )
        for outline in (blade, shank):
            flat = outline * (-x, 1)
            part.add(facing(flat if profiles.is_ccw(flat) else flat[::-1], thick).move(0, 0, z - thick / 2), metal)
        center = np.array([x * (spread * grip * 0.5 + 1.05 * loop + 0.004), -0.6 * grip - 0.8 * loop])
        ring = profiles.ellipse(loop, loop * d.between(1.1, 1.5), 28) + center
        part.add(
            sweep(
                profiles.ellipse(0.0045, 0.0055, 10), np.column_stack([ring, np.full(28, z)]), closed=True, up=(0, 0, 1)
            ),
            handle,
        )
        joint_end = (x * (0.5 * spread * grip + 0.35 * loop + 0.004), -0.6 * grip + 0.1 * loop, z)
        part.add(tube([(x * 0.4 * spread * grip, -0.45 * grip, z), joint_end], 0.005, 10), handle)
    parts[0].add(cylinder(0.22 * width, 3.4 * thick, 16, chamfer=0.2 * thick).along("z"), metal)
    return _laid_flat(builder)


def _laid_flat(builder: Builder) -> Builder:
    """What was drawn upright in the (x, y) plane, laid onto the ground with its points away from the viewer."""
    flat = builder.turned("x", -90)
    low = min(float(shape.vertices[:, 1].min()) for part in flat.parts for shape, _ in part.pieces)
    return flat.moved(0.0, -low, 0.0)


def _half_plier(d: Dice, side: int, z: float, thick: float, size: dict[str, float]) -> list[tuple[Shape, bool]]:
    """Jaw, head and grip of one half; the flag tells what is clad in plastic."""
    w, jaw, grip = size["w"], size["jaw"], size["grip"]
    jaw_outline = np.array(
        [[0.01 * w, 0.3 * w], [0.02 * w, jaw], [size["tip"] * w, jaw], [0.75 * w, 0.5 * w], [0.7 * w, 0.1 * w]]
    ) * (side, 1)
    neck = np.array(
        [
            [0.7 * w, 0.4 * w],
            [-0.3 * w, 0.5 * w],
            [-0.75 * w, -0.3 * w],
            [-0.8 * w, -0.9 * w],
            [-0.35 * w, -0.9 * w],
            [0.4 * w, -0.3 * w],
        ]
    ) * (side, 1)
    ccw = lambda o: o if profiles.is_ccw(o) else o[::-1]  # noqa: E731
    pieces = [
        (facing(ccw(jaw_outline), 2 * thick, 0.15 * thick).move(0, 0, -thick), False),
        (facing(ccw(neck), thick).move(0, 0, z - thick / 2), False),
    ]
    x = -side
    path = profiles.smooth_curve(
        [
            (x * 0.55 * w, -0.75 * w, z),
            (x * (0.8 + size["bow"]) * w, -0.45 * grip, z),
            (x * (0.7 + 0.6 * size["bow"]) * w, -grip, z),
        ],
        14,
    )
    pieces.append(
        (sweep(profiles.ellipse(0.26 * w, 0.24 * w, 12), path, up=(0, 0, 1), scales=np.linspace(0.75, 1.0, 14)), True)
    )
    return pieces


def pliers(d: Dice) -> Builder:
    """Two crossing halves with jaws and long grips."""
    builder = Builder("pliers")
    w = d.between(0.018, 0.026)
    size = {
        "w": w,
        "jaw": w * d.between(1.5, 3.2),
        "grip": w * d.between(5.0, 7.5),
        "tip": d.between(0.12, 0.6),
        "bow": d.between(0.1, 0.6),
    }
    thick = 0.28 * w
    metal, clad = looks.metal(d.pick(["steel", "black_steel"])), d.plastic()
    first = builder.part("plier")
    opening = d.between(0.5, 0.9)
    second = first.hinge("plier", Z, (0, 0, 0), -opening, 0.0)
    for part, side in ((first, -1), (second, 1)):
        for shape, is_clad in _half_plier(d, side, 0.52 * thick * side, thick, size):
            part.add(shape, clad if is_clad else metal)
    first.add(cylinder(0.3 * w, 2.6 * thick, 18, chamfer=0.1 * thick).along("z"), metal)
    return _laid_flat(builder)


def tweezers(d: Dice) -> Builder:
    """Two springy arms joined at one end (also tongs)."""
    builder = Builder("tweezers")
    length = d.between(0.09, 0.28)
    width = length * d.between(0.06, 0.12)
    gap, metal = d.between(0.1, 0.2), d.metal()
    first = builder.part("arm")
    second = first.hinge("arm", Z, (0, -length / 2, 0), 0.0, 2 * np.arctan(gap) * 0.55)
    for part, side in ((first, -1), (second, 1)):
        path = [
            (side * 0.012 * length, -length / 2, 0),
            (side * gap * 0.5 * length, 0, 0),
            (side * gap * 0.8 * length, 0.3 * length, 0),
            (side * gap * length, length / 2, 0),
        ]
        curve = profiles.smooth_curve(path, 16)
        part.add(
            sweep(profiles.rectangle(0.018 * length, width), curve, up=(0, 0, 1), scales=np.linspace(1.0, 0.55, 16)),
            metal,
        )
    first.add(rod("z", 0.03 * length, 1.3 * width, (0, -length / 2, 0), 16), d.plastic())
    return _laid_flat(builder)


def stapler(d: Dice) -> Builder:
    """A base, a magazine and an arm above it, all on one pin at the back."""
    length, width = d.between(0.1, 0.16), d.between(0.026, 0.036)
    look, metal = d.plastic(), STEEL
    z0, z1 = -length / 2, length / 2
    base = Builder("stapler").part("base")
    base.add(slab((-width / 2, 0, z0), (width / 2, 0.008, z1), 0.003), look)
    base.add(slab((-0.4 * width, 0.007, z1 - 0.03), (0.4 * width, 0.0095, z1 - 0.01), 0.0005), metal)
    pivot_y = d.between(0.026, 0.034)
    pivot = (0, pivot_y, z0 + 0.014)
    for x in (-1, 1):
        side = np.array(
            [[z0 + 0.002, 0.004], [z0 + 0.034, 0.004], [z0 + 0.024, pivot_y + 0.007], [z0 + 0.004, pivot_y + 0.007]]
        )
        base.add(sideways(side, 0.002).move(x * (0.42 * width + 0.003), 0, 0), metal)
    base.add(rod("x", 0.0035, width + 0.006, pivot, 12), metal)
    magazine = base.hinge("magazine", X, pivot, -d.between(0.2, 0.6), 0.06)
    magazine.add(
        slab((-0.32 * width, pivot_y - 0.008, z0 + 0.016), (0.32 * width, pivot_y + 0.004, z1 - 0.006), 0.001), metal
    )
    arm = magazine.hinge("arm", X, pivot, -d.between(0.4, 0.7), 0.03)
    rise = d.between(0.012, 0.02)
    profile = profiles.smooth_curve(
        [
            (z1, pivot_y + 0.007),
            (z1 - 0.004, pivot_y + rise),
            (0.0, pivot_y + rise + 0.006),
            (z0 + 0.02, pivot_y + rise),
            (z0 + 0.002, pivot_y + 0.006),
        ],
        18,
    )
    arm.add(sideways(profile if profiles.is_ccw(profile) else profile[::-1], 0.84 * width, 0.002), look)
    arm.add(pair(slab((0.42 * width, pivot_y - 0.004, z0 + 0.006), (0.34 * width, pivot_y + 0.009, z0 + 0.024))), look)
    return base.builder


def _scales(part: Part, length: float, height: float, gap: float, thick: float, surface: Surface) -> None:
    """The two cheeks of a folding handle, along z, with their pins."""
    outline = profiles.superellipse(length / 2, height / 2, 3.0, 32)
    for x in (-1, 1):
        part.add(sideways(outline, thick, 0.2 * thick).move(x * (gap + thick) / 2, 0, 0), surface)
    part.add(pair(rod("x", 0.12 * height, gap + 2.3 * thick, (0, 0, 0.4 * length), 12), "z"), BRASS)
    part.add(
        slab((-gap / 2 - 0.0005, -0.45 * height, -0.2 * length), (gap / 2 + 0.0005, -0.36 * height, 0.2 * length)),
        STEEL,
    )


def folding_knife(d: Dice) -> Builder:
    """One to four tools that fold into a handle; the blade at the front end."""
    builder = Builder("folding_knife")
    length, height = d.between(0.08, 0.12), d.between(0.018, 0.026)
    tools = d.pick([1, 1, 2, 3])
    leaf = d.between(0.0018, 0.0028)
    gap, thick = (leaf + 0.0008) * tools, d.between(0.003, 0.006)
    handle = builder.part("handle")
    y = height / 2
    outline_look = d.pick([d.wood(), d.plastic(), d.metal()])
    temporary = Builder("temporary").part("handle")
    _scales(temporary, length, height, gap, thick, outline_look)
    handle.pieces = [(s.move(0, y, 0), surface) for s, surface in temporary.pieces]
    for k in range(tools):
        end = 1 if k % 2 == 0 else -1
        x = (k - (tools - 1) / 2) * (leaf + 0.0006)
        pivot = np.array([x, y, end * 0.4 * length])
        reach = length * d.between(0.7, 0.78)
        kind = "blade" if k == 0 else d.pick(["blade", "file", "hook"])
        h = 0.55 * height
        shape = {
            "blade": [
                (0, -0.35 * h),
                (0.35 * reach, -0.45 * h),
                (0.8 * reach, -0.3 * h),
                (reach, 0.4 * h),
                (0.3 * reach, 0.5 * h),
                (0, 0.45 * h),
            ],
            "file": [(0, -0.3 * h), (reach, -0.3 * h), (reach, 0.3 * h), (0, 0.3 * h)],
            "hook": [
                (0, -0.3 * h),
                (0.6 * reach, -0.3 * h),
                (0.75 * reach, 0.0),
                (0.6 * reach, 0.35 * h),
                (0, 0.35 * h),
            ],
        }[kind]
        # Folded: it lies inside the handle, pointing away from its pivot's end.
        outline = np.array([(-end * (z - 0.04 * length), y_) for z, y_ in shape])
        outline = outline if profiles.is_ccw(outline) else outline[::-1]
        limits = (0.0, np.pi) if end > 0 else (-np.pi, 0.0)
        part = handle.hinge(kind, X, pivot, *limits)
        part.add(sideways(outline, leaf).move(*pivot).move(0, 0.12 * height, 0), looks.metal("steel", 0.2))
    return builder


def utility_knife(d: Dice) -> Builder:
    """A handle with a blade that slides out, pushed by a thumb slider."""
    length, width, height = d.between(0.13, 0.18), d.between(0.014, 0.024), d.between(0.022, 0.034)
    look, metal = d.plastic(), STEEL
    body = Builder("utility_knife").part("base_body")
    travel = d.between(0.03, 0.06)
    bow = d.between(0.0, 0.25)
    outline = profiles.smooth_curve(
        [
            (-0.5, 0.0),
            (-0.48, 0.45),
            (0.0, 0.5 + bow * 0.4),
            (0.45, 0.4),
            (0.5, 0.1),
            (0.48, -0.3),
            (0.0, -0.5),
            (-0.45, -0.45),
        ],
        32,
        closed=True,
    )
    outline = outline * (length, height) + np.array([0.0, height / 2])
    outline = outline if profiles.is_ccw(outline) else outline[::-1]
    wall = 0.45 * width
    for x in (-1, 1):
        body.add(sideways(outline, wall, 0.15 * wall).move(x * (width / 2 - wall / 2), 0, 0), look)
    slide = body.slide("blade", Z, 0.0, travel)
    tip = 0.47 * length
    blade = np.array(
        [
            [-0.3 * length, 0.3 * height],
            [tip - 0.012, 0.3 * height],
            [tip, 0.62 * height],
            [-0.3 * length, 0.62 * height],
        ]
    )
    slide.add(sideways(blade, 0.0012), metal)
    y = 0.5 * height + float(outline[:, 1].max()) / 2
    slide.add(
        box((0.2 * width, y - 0.55 * height + 0.004, 0.012), (0, 0.55 * height + (y - 0.55 * height) / 2, -0.02)), metal
    )
    slide.add(box((0.7 * width, 0.006, 0.022), (0, float(outline[:, 1].max()) + 0.003, -0.02), 0.0015), d.plastic())
    body.add(
        [box((width * 1.02, 0.3 * height, 0.002), (0, 0.45 * height, -0.25 * length + 0.012 * k)) for k in range(4)],
        RUBBER,
    )
    return body.builder
