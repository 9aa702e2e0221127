"""Hand tools, and a vise and a press for the bench."""

from __future__ import annotations

import numpy as np

from neurok.core import Surface
from neurok.modelling import profiles, surfaces
from neurok.modelling.booleans import difference
from neurok.modelling.builder import Builder, Link
from neurok.modelling.sampler import Sampler
from neurok.modelling.shapes import Shape, box, cylinder, slab, sphere, torus
from neurok.modelling.sweeps import sweep, tube
from neurok_lab.worlds.articulated.hardware import facing, sideways
from neurok_lab.worlds.articulated.kit import (
    BRASS,
    CHARCOAL,
    CHROME,
    RUBBER,
    STEEL,
    X,
    Y,
    Z,
    counterclockwise,
    pair,
    rod,
    turned,
)


def scissors(d: Sampler) -> Builder:
    """Two blades with finger loops, crossing at a screw; they lie flat, points towards -z."""
    builder = Builder("scissors")
    length, width, thick = d.between(0.08, 0.13), d.between(0.012, 0.018), d.between(0.0015, 0.0025)
    grip = d.between(0.06, 0.085)
    metal, handle = STEEL, d.plastic()
    spread, loop = d.between(0.12, 0.22), d.between(0.018, 0.026)
    point = d.between(0.1, 0.35)
    parts: list[Link] = []
    for side in (-1, 1):
        if not parts:
            part = builder.part("blade")
        else:
            part = parts[0].hinge("blade", Z, (0, 0, 0), 0.0, d.between(0.7, 1.2))
        parts.append(part)
        z = 0.5 * thick * side * 1.04
        x = side
        tip = [(0.5 * width, 0.3 * length), (point * width * 0.3, length), (-0.12 * width, length)]
        heel = [(-0.3 * width, -0.5 * width), (0.55 * width, -0.3 * width)]
        blade = np.array([*heel, *tip, (-0.42 * width, 0.3 * length)])
        out, low = spread * grip * 0.5, -0.6 * grip
        shank = np.array([(-0.45 * width, 0.4 * width), (-0.15 * width - out, low), (0.3 * width - out, low)])
        shank = np.concatenate([shank, [(0.5 * width, 0.2 * width)]])
        for outline in (blade, shank):
            flat = outline * (-x, 1)
            part.add(facing(counterclockwise(flat), thick).move(0, 0, z - thick / 2), metal)
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


def _half_plier(d: Sampler, side: int, z: float, thick: float, size: dict[str, float]) -> list[tuple[Shape, bool]]:
    """Jaw, head and grip of one half; the flag tells what is clad in plastic."""
    w, jaw, grip = size["w"], size["jaw"], size["grip"]
    jaw_outline = np.array(
        [[0.01 * w, 0.3 * w], [0.02 * w, jaw], [size["tip"] * w, jaw], [0.75 * w, 0.5 * w], [0.7 * w, 0.1 * w]]
    ) * (side, 1)
    neck = np.array([[0.7, 0.4], [-0.3, 0.5], [-0.75, -0.3], [-0.8, -0.9], [-0.35, -0.9], [0.4, -0.3]]) * w * (side, 1)
    pieces = [
        (facing(counterclockwise(jaw_outline), 2 * thick, 0.15 * thick).move(0, 0, -thick), False),
        (facing(counterclockwise(neck), thick).move(0, 0, z - thick / 2), False),
    ]
    x = -side
    bends = [(0.55 * w, -0.75 * w), ((0.8 + size["bow"]) * w, -0.45 * grip), ((0.7 + 0.6 * size["bow"]) * w, -grip)]
    path = profiles.smooth_curve([(x * a, b, z) for a, b in bends], 14)
    pieces.append(
        (sweep(profiles.ellipse(0.26 * w, 0.24 * w, 12), path, up=(0, 0, 1), scales=np.linspace(0.75, 1.0, 14)), True)
    )
    return pieces


def pliers(d: Sampler) -> Builder:
    """Two crossing halves with jaws and long grips."""
    builder = Builder("pliers")
    w = d.between(0.018, 0.026)
    size = {"w": w, "jaw": w * d.between(1.5, 3.2), "grip": w * d.between(5.0, 7.5)}
    size |= {"tip": d.between(0.12, 0.6), "bow": d.between(0.1, 0.6)}
    thick = 0.28 * w
    metal, clad = surfaces.metal(d.pick(["steel", "black_steel"])), d.plastic()
    first = builder.part("plier")
    opening = d.between(0.5, 0.9)
    second = first.hinge("plier", Z, (0, 0, 0), -opening, 0.0)
    for part, side in ((first, -1), (second, 1)):
        for shape, is_clad in _half_plier(d, side, 0.52 * thick * side, thick, size):
            part.add(shape, clad if is_clad else metal)
    first.add(cylinder(0.3 * w, 2.6 * thick, 18, chamfer=0.1 * thick).along("z"), metal)
    return _laid_flat(builder)


def tweezers(d: Sampler) -> Builder:
    """Two springy arms joined at one end (also tongs)."""
    builder = Builder("tweezers")
    length = d.between(0.09, 0.28)
    width = length * d.between(0.06, 0.12)
    gap, metal = d.between(0.1, 0.2), d.metal()
    first = builder.part("arm")
    second = first.hinge("arm", Z, (0, -length / 2, 0), 0.0, 2 * np.arctan(gap) * 0.55)
    for part, side in ((first, -1), (second, 1)):
        bends = [(0.012, -0.5), (gap * 0.5, 0.0), (gap * 0.8, 0.3), (gap, 0.5)]
        path = [(side * a * length, b * length, 0) for a, b in bends]
        curve = profiles.smooth_curve(path, 16)
        rail = sweep(profiles.rectangle(0.018 * length, width), curve, up=(0, 0, 1), scales=np.linspace(1.0, 0.55, 16))
        part.add(rail, metal)
    first.add(rod("z", 0.03 * length, 1.3 * width, (0, -length / 2, 0), 16), d.plastic())
    return _laid_flat(builder)


def stapler(d: Sampler) -> Builder:
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
    plate = slab((-0.32 * width, pivot_y - 0.008, z0 + 0.016), (0.32 * width, pivot_y + 0.004, z1 - 0.006), 0.001)
    magazine.add(plate, metal)
    arm = magazine.hinge("arm", X, pivot, -d.between(0.4, 0.7), 0.03)
    rise = d.between(0.012, 0.02)
    front = [(z1, pivot_y + 0.007), (z1 - 0.004, pivot_y + rise), (0.0, pivot_y + rise + 0.006)]
    profile = profiles.smooth_curve([*front, (z0 + 0.02, pivot_y + rise), (z0 + 0.002, pivot_y + 0.006)], 18)
    arm.add(sideways(counterclockwise(profile), 0.84 * width, 0.002), look)
    arm.add(pair(slab((0.42 * width, pivot_y - 0.004, z0 + 0.006), (0.34 * width, pivot_y + 0.009, z0 + 0.024))), look)
    return base.builder


def _scales(part: Link, length: float, height: float, gap: float, thick: float, surface: Surface) -> None:
    """The two cheeks of a folding handle, along z, with their pins."""
    outline = profiles.superellipse(length / 2, height / 2, 3.0, 32)
    for x in (-1, 1):
        part.add(sideways(outline, thick, 0.2 * thick).move(x * (gap + thick) / 2, 0, 0), surface)
    part.add(pair(rod("x", 0.12 * height, gap + 2.3 * thick, (0, 0, 0.4 * length), 12), "z"), BRASS)
    plate = slab((-gap / 2 - 0.0005, -0.45 * height, -0.2 * length), (gap / 2 + 0.0005, -0.36 * height, 0.2 * length))
    part.add(plate, STEEL)


FOLDING: dict[str, list[tuple[float, float]]] = {
    "blade": [(0, -0.35), (0.35, -0.45), (0.8, -0.3), (1, 0.4), (0.3, 0.5), (0, 0.45)],
    "file": [(0, -0.3), (1, -0.3), (1, 0.3), (0, 0.3)],
    "hook": [(0, -0.3), (0.6, -0.3), (0.75, 0), (0.6, 0.35), (0, 0.35)],
}
"""Outlines of what folds out of a knife, in lengths and heights."""


def folding_knife(d: Sampler) -> Builder:
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
        shape = [(reach * u, h * v) for u, v in FOLDING[kind]]
        # Folded: it lies inside the handle, pointing away from its pivot's end.
        outline = np.array([(-end * (z - 0.04 * length), y_) for z, y_ in shape])
        outline = counterclockwise(outline)
        limits = (0.0, np.pi) if end > 0 else (-np.pi, 0.0)
        part = handle.hinge(kind, X, pivot, *limits)
        part.add(sideways(outline, leaf).move(*pivot).move(0, 0.12 * height, 0), surfaces.metal("steel", 0.2))
    return builder


def utility_knife(d: Sampler) -> Builder:
    """A handle with a blade that slides out, pushed by a thumb slider."""
    length, width, height = d.between(0.13, 0.18), d.between(0.014, 0.024), d.between(0.022, 0.034)
    look, metal = d.plastic(), STEEL
    body = Builder("utility_knife").part("base_body")
    travel = d.between(0.03, 0.06)
    bow = d.between(0.0, 0.25)
    back = [(-0.5, 0.0), (-0.48, 0.45), (0.0, 0.5 + bow * 0.4), (0.45, 0.4), (0.5, 0.1)]
    outline = profiles.smooth_curve([*back, (0.48, -0.3), (0.0, -0.5), (-0.45, -0.45)], 32, closed=True)
    outline = outline * (length, height) + np.array([0.0, height / 2])
    outline = counterclockwise(outline)
    wall = 0.45 * width
    for x in (-1, 1):
        body.add(sideways(outline, wall, 0.15 * wall).move(x * (width / 2 - wall / 2), 0, 0), look)
    slide = body.slide("blade", Z, 0.0, travel)
    tip = 0.47 * length
    rear, low, high = -0.3 * length, 0.3 * height, 0.62 * height
    blade = np.array([(rear, low), (tip - 0.012, low), (tip, high), (rear, high)])
    slide.add(sideways(blade, 0.0012), metal)
    y = 0.5 * height + float(outline[:, 1].max()) / 2
    bar = box((0.2 * width, y - 0.55 * height + 0.004, 0.012), (0, 0.55 * height + (y - 0.55 * height) / 2, -0.02))
    slide.add(bar, metal)
    slide.add(box((0.7 * width, 0.006, 0.022), (0, float(outline[:, 1].max()) + 0.003, -0.02), 0.0015), d.plastic())
    rows = [box((width * 1.02, 0.3 * height, 0.002), (0, 0.45 * height, -0.25 * length + 0.012 * k)) for k in range(4)]
    body.add(rows, RUBBER)
    return body.builder


def razor(d: Sampler) -> Builder:
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
        solid = sideways(counterclockwise(outline), 0.0025).move(0, 0, 0.43 * length)
        blade.add(solid, steel)
        return builder
    handle = builder.part("handle")
    path = profiles.smooth_curve(
        [(0, 0.012, length / 2), (0, 0.02, 0.0), (0, 0.012, -0.3 * length), (0, 0.022, -length / 2)], 16
    )
    wire = tube(path, 0.0065, 12, scales=np.interp(np.linspace(0, 1, 16), [0, 0.2, 0.7, 1], [0.8, 1.1, 0.9, 0.55]))
    handle.add(wire, look)
    handle.add([torus(0.0066, 0.0008, 14, 6).along("z").move(0, 0.0195, 0.012 * k) for k in range(-1, 3)], RUBBER)
    neck = np.array([0.0, 0.022, -length / 2])
    head = handle.hinge("head", X, neck, -0.5, 0.5)
    head.add(box((0.042, 0.007, 0.016), tuple(neck + (0, 0.004, -0.006)), 0.0015), look)
    rows = [box((0.036, 0.0012, 0.0018), tuple(neck + (0, 0.0078, -0.002 - 0.0035 * k))) for k in range(d.count(2, 4))]
    head.add(rows, steel)
    head.add(rod("x", 0.0035, 0.02, neck, 10), look)
    return builder


def vise(d: Sampler) -> Builder:
    """A bench vise: a jaw that slides, a screw that turns and a bar through its end."""
    s = d.between(0.08, 0.16)
    look, steel = surfaces.paint(d.pick(["navy", "red", "graphite", "teal", "charcoal"]), 0.5, 0.2), STEEL
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


def anvil_press(d: Sampler) -> Builder:
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
