"""What holds liquids, and what is plumbed in."""

from __future__ import annotations

import numpy as np

from neurok.core import Surface
from neurok.modelling import profiles, surfaces
from neurok.modelling.builder import Builder, Link
from neurok.modelling.sampler import Sampler
from neurok.modelling.shapes import Shape, box, capsule, cylinder, extrude, lathe, loft, slab, sphere, torus
from neurok.modelling.sweeps import sweep, tube
from neurok_lab.worlds.articulated.hardware import button, knob, pull
from neurok_lab.worlds.articulated.kit import X, Y, Z, add_cap, hollow, pair, rod, squared, turned


def bottle(d: Sampler) -> Builder:
    """A bottle or jar with a neck and a cap."""
    height, jar = d.between(0.12, 0.35), d.chance(0.3)
    radius = height * (d.between(0.25, 0.4) if jar else d.between(0.11, 0.24))
    neck = radius * (d.between(0.75, 0.95) if jar else d.between(0.25, 0.55))
    shoulder = d.between(0.8, 0.88) if jar else d.between(0.5, 0.75)
    waist = 1.0 - (d.between(0.0, 0.2) if d.chance(0.4) else 0.0)
    rows = [(0.9, 0.0), (1.0, 0.03), (1.0, 0.12), (waist, 0.5 * shoulder), (1.0, shoulder)]
    curve = profiles.smooth_curve([(r * radius, y * height) for r, y in rows], 18)
    top = [(neck * 1.02, height * min(0.93, shoulder + d.between(0.08, 0.25))), (neck, height)]
    outline = np.concatenate([[(0.0, 0.0)], curve, top, [(0.0, height)]])
    body = Builder("bottle").part("body")
    green, brown, clear = surfaces.glass("#7fae8c", 0.6), surfaces.glass("#b98a4a", 0.7), surfaces.glass("#cfe0ea", 0.5)
    look = d.pick([green, brown, d.plastic(), d.plastic(), clear])
    square = d.pick([0.0, 0.0, 0.0, d.between(0.3, 0.8)])
    solid = squared(lathe(outline, 28, ellipse=d.pick([1.0, 1.0, d.between(0.5, 0.8)])), square)
    upper = np.clip((solid.vertices[:, 1] / height - shoulder) / 0.1, 0, 1)[:, None]
    flat = lathe(outline, 28)
    body.add(Shape(solid.vertices * (1 - upper) + flat.vertices * upper, solid.faces), look)
    if d.chance(0.5):
        band = squared(
            lathe([(1.004, 0.3), (1.012, 0.31), (1.012, 0.45), (1.004, 0.46), (0.98, 0.38)], 28, closed=True), 0.0
        )
        if not square and waist == 1.0 and np.isclose(solid.vertices[:, 2].max(), radius, rtol=0.02):
            body.add(band.scale(radius, height, radius), d.plastic())
    cap_height = d.between(0.06, 0.14) * height
    edge = neck * d.between(1.14, 1.3)
    body.add(torus(neck * 1.05, 0.08 * neck, 24, 6).move(0, height - 0.6 * cap_height, 0), look)
    low, high, bore = height - 0.5 * cap_height, height + 0.5 * cap_height, 1.04 * neck
    cap = [(0, height + 0.0004), (bore, height + 0.0004), (bore, low), (edge, low), (edge, high - 0.1 * cap_height)]
    cap += [(0.9 * edge, high), (0, high)]
    ribs = (
        [box((0.06 * edge, 0.7 * cap_height, 0.06 * edge), (edge, height, 0)).turn("y", 20 * k) for k in range(18)]
        if d.chance(0.4)
        else []
    )
    color = d.plastic() if d.chance(0.7) else d.metal()
    add_cap(d, body, [(lathe(cap, 24), color), *((r, color) for r in ribs)], height, cap_height * d.between(0.5, 1.3))
    return body.builder


def dispenser(d: Sampler) -> Builder:
    """A bottle with a pump that is pressed down and a spout that turns with it."""
    height, radius = d.between(0.1, 0.2), d.between(0.03, 0.05)
    body = Builder("dispenser").part("base_body")
    rows = [(0, 0), (0.92, 0), (1, 0.04), (1, d.between(0.6, 0.8)), (0.5, 0.96), (0.5, 1.0), (0, 1.0)]
    look = d.pick([d.plastic(), d.plastic(), surfaces.glass("#cfe0ea", 0.5)])
    square = d.pick([0.0, 0.0, d.between(0.4, 0.9)])
    body.add(squared(lathe([(r * radius, y * height) for r, y in rows], 28), square), look)
    color = d.plastic() if d.chance(0.5) else d.metal()
    collar = turned(20, [0.6, 0.6, 0.3], [height - 0.004, height + 0.012, height + 0.02], scale=radius)
    body.add(collar, color)
    travel = d.between(0.012, 0.022)
    top = height + 0.02 + travel + 0.006
    head = body.slide("pump", Y, -travel, 0.0, (0, height, 0))
    head.add(cylinder(0.005, top - height + 0.035, 10).move(0, (top + height - 0.035) / 2 + 0.002, 0), color)
    length = radius * d.between(1.0, 1.6)
    spout = profiles.rounded_path(
        [(0, top + 0.005, -0.012), (0, top + 0.005, length), (0, top - 0.008, length + 0.004)], 0.006, 4
    )
    head.add(tube(spout, 0.005, 10), color)
    head.add(turned(18, [0.012, 0.015, 0.011, 0], [top - 0.002, top + 0.008, top + 0.012, top + 0.013]), color)
    if not square and d.chance(0.5):
        cap = body.spin("collar", Y, (0, height, 0))
        inner, outer, low, high = 0.52 * radius, 0.66 * radius, height - 0.016, height - 0.005
        cap.add(lathe([(inner, low), (outer, low), (outer, high), (inner, high)], 20, closed=True), color)
        row = [box((0.003, 0.009, 0.003), (0.66 * radius, height - 0.0105, 0)).turn("y", 30 * k) for k in range(12)]
        cap.add(row, color)
    return body.builder


def _bail(d: Sampler, reach: float, height: float, thick: float) -> Shape:
    """A swinging handle as an arch over x, its ends at (+-reach, 0, 0)."""
    t = np.linspace(0, np.pi, 25)
    power = d.between(0.6, 1.0)
    path = np.column_stack([-reach * np.cos(t), height * np.sin(t) ** power, np.zeros_like(t)])
    return tube(path, thick, 8)


def bucket(d: Sampler) -> Builder:
    """An open pail with a handle that swings over it."""
    top, height = d.between(0.11, 0.17), d.between(0.18, 0.34)
    bottom = top * d.between(0.65, 1.0)
    wall = d.between(0.003, 0.006)
    look = d.metal() if d.chance(0.5) else d.plastic()
    body = Builder("bucket").part("base_body")
    rings = d.count(0, 2)
    side = [(bottom + (top - bottom) * s, s * height) for s in np.linspace(0, 1, 8)]
    body.add(lathe(hollow(np.array(side), wall), 36), look)
    body.add(torus(top, 1.3 * wall, 36, 8).move(0, height, 0), look)
    for k in range(rings):
        s = 0.3 + 0.3 * k
        body.add(torus(bottom + (top - bottom) * s, wall, 36, 6).move(0, s * height, 0), look)
    drop = d.between(0.02, 0.05)
    reach = bottom + (top - bottom) * (1 - drop / height) + 0.008
    metal = d.metal()
    body.add(pair(box((0.008, 0.035, 0.03), (reach - 0.006, height - drop, 0), 0.002)), look)
    body.add(pair(rod("x", 0.006, 0.02, (reach, height - drop, 0), 10)), metal)
    # Only a handle that reaches beyond the rim can hang down beside the pail.
    is_wide = d.chance(0.85)
    limit = d.between(2.0, 2.45) if is_wide else d.between(1.0, 1.5)
    handle = body.hinge("handle", X, (0, height - drop, 0), -limit, limit)
    arch = reach * d.between(1.14, 1.3) if is_wide else drop + reach * d.between(0.7, 1.1)
    bail = _bail(d, reach + 0.008, arch, d.between(0.0025, 0.0065))
    handle.add(bail.move(0, height - drop, 0), metal)
    if d.chance(0.6):
        axle = rod("x", 0.011, 0.09, (0, height - drop + arch, 0), 14, chamfer=0.002)
        handle.add(axle, d.plastic() if d.chance(0.5) else d.wood())
    if d.chance(0.15):
        handle.add(torus(0.01, 0.002, 14, 6).along("z").move(reach + 0.008, height - drop, 0), metal)
    return body.builder


def kettle(d: Sampler) -> Builder:
    """A stove kettle with a lid and a bow handle, or an electric jug with a hinged lid on a base."""
    kettle_ = _stove_kettle(d) if d.chance(0.5) else _electric_kettle(d)
    return kettle_.turned("y", d.pick([0, 90, 90, -90]))


def _spout(start: tuple[float, float, float], end: tuple[float, float, float], thick: float) -> Shape:
    a, b = np.array(start), np.array(end)
    middle = [a, a + 0.45 * (b - a) + (0, -0.1 * abs(b[2] - a[2]), 0), b]
    path = profiles.smooth_curve(middle, 9)
    return tube(path, thick, 14, scales=np.linspace(1.0, 0.5, 9))


def _stove_kettle(d: Sampler) -> Builder:
    radius, height = d.between(0.08, 0.12), d.between(0.1, 0.18)
    look, accent = (d.metal() if d.chance(0.6) else d.paint()), d.plastic()
    mouth = radius * d.between(0.35, 0.55)
    belly = d.between(0.85, 1.0)
    rows = np.array([(0.85, 0), (1, 0.06), (belly, 0.5), (0.75, 0.85), (mouth / radius, 1)]) * (radius, height)
    body = Builder("kettle").part("base_body")
    body.add(lathe([(0.0, 0.0), *map(tuple, profiles.smooth_curve(rows, 20)), (0.0, height)], 36), look)
    body.add(_spout((0, 0.45 * height, 0.8 * radius), (0, 0.95 * height, 1.55 * radius), 0.24 * radius), look)
    lid = turned(28, [1.06, 1.06, 0.7, 0], [-0.002, 0.004, 0.014, 0.018], scale=mouth).move(0, height)
    reach, pivot = 0.72 * radius, 0.88 * height
    rise = height - pivot + d.between(0.08, 0.12)
    button = knob(d, 0.012).turn("x", -90).move(0, height + 0.017, 0)
    room = pivot + rise - 0.011 - float(button.bounds[1, 1])
    add_cap(d, body, [(lid, look), (button, accent)], height, max(0.008, 0.85 * room))
    if d.chance(0.5):
        handle = body.hinge("handle", Z, (0, pivot, 0), -1.0, 1.0)
    else:
        handle = body
    body.add(pair(rod("z", 0.008, 0.012, (0, pivot, reach + 0.004), 12), "z"), look)
    arch = _bail(d, reach + 0.01, rise, 0.005).turn("y", 90).move(0, pivot, 0)
    handle.add(arch, look if d.chance(0.5) else accent)
    handle.add(rod("z", 0.011, 1.0 * radius, (0, pivot + rise, 0), 14, chamfer=0.003), accent)
    return body.builder


def _electric_kettle(d: Sampler) -> Builder:
    radius, height = d.between(0.07, 0.09), d.between(0.18, 0.24)
    look, accent = d.shell(), d.plastic()
    foot = Builder("kettle").part("base")
    foot.add(turned(32, [1.05, 1.08, 0.95], [0, 0.008, 0.02], scale=radius), accent)
    jug = foot.slide("container", Y, 0.0, d.between(0.05, 0.12))
    top = 0.02 + height
    taper = radius * d.between(0.75, 0.9)
    rows = [(0, 0.021), (radius, 0.021), (radius, 0.05), (taper, top), (0, top)]
    jug.add(lathe(rows, 32), look)
    beak = np.array([[-0.03, 0, 0], [0.03, 0, 0], [0, 0, 0]])
    low, high = beak + (0, top - 0.06, 0.9 * taper), beak + (0, top - 0.002, 0.86 * taper)
    low[2, 2], high[2, 2] = low[2, 2] + 0.012, high[2, 2] + 0.045
    jug.add(loft([low, high]), look)
    upper = [(0, top - 0.015, -taper + 0.006), (0, top - 0.01, -taper - 0.055)]
    grip = profiles.rounded_path([*upper, (0, 0.07, -radius - 0.06), (0, 0.055, -radius + 0.006)], 0.03, 5)
    jug.add(sweep(profiles.rectangle(0.024, 0.014, 0.005, 3), grip, up=(1, 0, 0)), accent)
    lid = jug.hinge("lid", X, (0, top, -0.96 * taper), -d.between(1.0, 1.5), 0.0)
    lid.add(turned(32, [0.96, 0.93, 0.5, 0], [top, top + 0.008, top + 0.014, top + 0.015], scale=taper), accent)
    lid.add(box((0.02, 0.01, 0.018), (0, top + 0.012, 0.5 * taper), 0.003), accent)
    press = jug.slide("switch", Y, -0.004, 0.0)
    press.add(box((0.014, 0.012, 0.018), (0, top - 0.002, -taper - 0.03), 0.002), surfaces.plastic("red"))
    return foot.builder


def pot(d: Sampler) -> Builder:
    """A cooking pot or pan with its lid."""
    radius, height = d.between(0.08, 0.15), d.between(0.06, 0.18)
    wall = 0.0045
    look, accent = (d.metal() if d.chance(0.6) else d.paint()), d.pick([d.metal(), d.plastic(), d.wood()])
    body = Builder("pot").part("base_body")
    belly = d.between(0.0, 0.25) if d.chance(0.4) else 0.0
    base = radius * d.between(0.75, 1.0)
    middle = radius * (1 + belly) * 0.5 + base * 0.5
    rows = [(base * 0.94, 0.0), (base, 0.05 * height), (middle, 0.4 * height), (radius, height)]
    body.add(lathe(hollow(profiles.smooth_curve(rows, 14), wall), 36), look)
    body.add(torus(radius, wall, 36, 8).move(0, height, 0), look)
    if d.chance(0.25):
        length = d.between(0.12, 0.2)
        path = [(radius - 0.004, 0.85 * height, 0), (radius + 0.03, 0.9 * height, 0), (radius + length, height, 0)]
        body.add(sweep(profiles.ellipse(0.008, 0.013, 12), profiles.smooth_curve(path, 10), up=(0, 1, 0)), accent)
    else:
        y = d.between(0.7, 0.88) * height
        for x in (-1, 1):
            place = np.interp(y, [r[1] for r in rows], [r[0] for r in rows])
            grip = pull(d, 0.08, kind=d.pick(["bow", "arch", "bar"]))
            body.add([s.turn("y", 90 * x).move(x * (place - 0.001), y, 0) for s in grip], accent)
    dome = d.between(0.1, 0.4) * radius
    edge = 1.01 * radius
    curve = profiles.smooth_curve(
        [(edge, height + 0.004), (0.7 * radius, height + 0.6 * dome), (0.3 * radius, height + 0.95 * dome)], 8
    )
    edge_rows = [(0, height + 0.003), (0.95 * radius, height + 0.0015), (edge, height + 0.0015)]
    lid = [*edge_rows, *map(tuple, curve), (0, height + dome)]
    look2 = look if d.chance(0.6) else surfaces.glass("#cfe0ea", 0.5)
    top = (
        [knob(d, d.between(0.014, 0.022)).turn("x", -90)]
        if d.chance(0.7)
        else [s.turn("x", -90) for s in pull(d, 0.08, kind="bow")]
    )
    grips = [(s.move(0, height + dome - 0.002, 0), accent) for s in top]
    add_cap(d, body, [(lathe(lid, 36), look2), *grips], height, d.between(0.015, 0.08))
    return body.builder


def faucet(d: Sampler) -> Builder:
    """A mixer with one lever, or a spout between two handles."""
    return _mixer(d) if d.chance(0.5) else _pair_of_taps(d)


def _gooseneck(d: Sampler, rise: float, reach: float) -> np.ndarray:
    """The path of a spout from the origin up and over towards +z."""
    kind = d.pick(["arch", "bend", "straight"])
    if kind == "arch":
        t = np.linspace(np.pi, 0.0, 14)
        bow = np.column_stack(
            [np.zeros(14), rise - reach / 2 + reach / 2 * np.sin(t), reach / 2 + reach / 2 * np.cos(t)]
        )
        drop = bow[-1] - (0.0, d.between(0.1, 0.4) * rise, 0.0)
        return np.concatenate([[(0, 0, 0)], bow, [drop]])
    if kind == "bend":
        return profiles.rounded_path(
            [(0, 0, 0), (0, rise, 0), (0, rise * 1.02, reach), (0, 0.75 * rise, reach * 1.02)], 0.3 * reach, 7
        )
    line = np.array([(0, 0.4, 0), (0, 0.55, 0.1), (0, 0.7, 1), (0, 0.62, 1.03)]) * (1, rise, reach)
    return profiles.rounded_path(line, 0.15 * reach, 5)


def _mixer(d: Sampler) -> Builder:
    builder = Builder("faucet")
    look = d.metal()
    radius, height = d.between(0.02, 0.03), d.between(0.09, 0.2)
    frame = builder.part("frame")
    frame.add(turned(24, [1.5, 1.45, 1, 1], [0, 0.006, 0.012, height], scale=radius), look)
    reach = d.between(0.1, 0.18)
    path = _gooseneck(d, d.between(0.1, 0.22), reach) + (0, 0.45 * height, 0)
    thick = radius * d.between(0.45, 0.7)
    section = (
        profiles.circle(thick, 14) if d.chance(0.7) else profiles.rectangle(2.0 * thick, 1.4 * thick, 0.4 * thick, 3)
    )
    on_top = path[:, 1].max() < height + 0.02 or path[1, 2] > 0.005
    if on_top or d.chance(0.5):
        spout = frame
    else:
        spout = frame.hinge("spout", Y, (0, 0, 0), -1.4, 1.4)
    spout.add(sweep(section, path, up=(1, 0, 0)), look)
    spout.add(cylinder(1.15 * thick, 0.012, 14).move(path[-1, 0], path[-1, 1] + 0.004, path[-1, 2]), look)
    if on_top:
        pivot = np.array([0.0, height, 0.0])
        limits = (-d.between(0.8, 1.57), d.between(0.8, 1.57))
        turn = ("continuous", (0, 1, 0), pivot) if d.chance(0.3) else ("revolute", (0, 1, 0), pivot, *limits)
        part = builder.part("switch", frame, *turn)
        part.add(turned(24, [1, 1, 0.7, 0], [0.001, 0.02, 0.032, 0.035], scale=radius).move(*pivot), look)
        tip = pivot + (0, d.between(0.04, 0.09), d.pick([-1, 1, 1]) * d.between(0.07, 0.12))
        part.add(sweep(profiles.rectangle(0.02, 0.008, 0.003, 2), [pivot + (0, 0.025, 0), tip], up=(1, 0, 0)), look)
        return builder
    side = d.sign()
    pivot = np.array([side * (radius + 0.012), 0.5 * height, 0.0])
    frame.add(rod("x", 0.7 * radius, 0.03, (side * (radius + 0.002), 0.5 * height, 0), 16), look)
    swing = d.pick([(-0.9, 0.6), (-np.pi / 2, 0.0), (-np.pi / 2, np.pi / 2)])
    part = frame.hinge("switch", X, pivot, *swing)
    part.add(rod("x", 0.75 * radius, 0.02, pivot + (side * 0.015, 0, 0), 16, chamfer=0.003), look)
    tip = pivot + (side * 0.04, 0.09, 0.0)
    part.add(tube([pivot + (side * 0.015, 0, 0), tip], 0.006, 10), look)
    return builder


def _tap_handle(d: Sampler, kind: str, size: float) -> list[Shape]:
    """A handle about the y axis, standing on y = 0."""
    stem = turned(16, [0.3, 0.22, 0.3, 0], [-0.004, 0.5 * size, 0.75 * size, 0.8 * size], scale=size)
    if kind == "cross":
        arms = [
            capsule(0.1 * size, 1.5 * size, 10, 3).along("x").turn("y", 90 * k).move(0, 0.62 * size, 0)
            for k in range(2)
        ]
        return [stem, *arms, sphere(0.2 * size, 12, 8).move(0, 0.8 * size, 0)]
    if kind == "lever":
        return [stem, box((0.24 * size, 0.14 * size, 1.7 * size), (0, 0.7 * size, 0.6 * size), 0.05 * size)]
    angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    wave = size * (0.62 + 0.08 * np.cos(5 * angle))
    rings = [
        np.column_stack([s * wave * np.cos(angle), np.full(40, y * size), s * wave * np.sin(angle)])
        for s, y in ((0.6, 0.45), (1, 0.55), (1, 0.8), (0.7, 0.9))
    ]
    return [stem, loft(rings)]


def _pair_of_taps(d: Sampler) -> Builder:
    builder = Builder("faucet")
    look = d.metal()
    frame = builder.part("frame")
    span, bridge = d.between(0.07, 0.13), d.chance(0.5)
    if bridge:
        plate = profiles.rectangle(2 * span + 0.06, 0.06, 0.028, 6)

        frame.add(extrude(plate, 0.014, bevel=0.004), look)
        low = 0.012
    else:
        low = 0.0
        frame.add(box((2 * span, 0.012, 0.014), (0, 0.006, 0)), look)
    radius = d.between(0.014, 0.02)
    frame.add(turned(20, [1.5, 1.1, 1], [low, low + 0.012, low + 0.04], scale=radius), look)
    spout = frame.spin("spout", Y) if d.chance(0.5) else frame.hinge("spout", Y, (0, 0, 0), -1.57, 1.57)
    path = _gooseneck(d, d.between(0.12, 0.24), d.between(0.1, 0.17)) + (0, low + 0.034, 0)
    path = np.concatenate([[(0, low + 0.03, 0)], path]) if path[0, 1] > low + 0.04 else path
    spout.add(tube(path, 0.6 * radius, 14), look)
    kind, size = d.pick(["cross", "lever", "star"]), d.between(0.03, 0.06)
    limits, endless = d.pick([1.57, 3.0]), d.chance(0.35)
    for x in (-1, 1):
        post = turned(18, [0.55, 0.4, 0.4], [low, low + 0.03, low + 0.05], scale=size)
        frame.add(post.move(x * span, 0, 0), look)
        origin = (x * span, low + 0.05, 0)
        side = (0.0, limits) if x < 0 else (-limits, 0.0)
        turn = ("continuous", (0, 1, 0), origin) if endless else ("revolute", (0, 1, 0), origin, *side)
        tap = builder.part("switch", frame, *turn)
        tap.add([s.turn("y", 90 * x if kind == "lever" else 0).move(*origin) for s in _tap_handle(d, kind, size)], look)
    return builder


def toilet(d: Sampler) -> Builder:
    """A bowl with seat and lid, a cistern with a lever or a button."""
    look, trim = surfaces.paint(d.pick(["white", "white", "cream", "blush", "sky"]), 0.2), d.metal()
    height, half, length = d.between(0.38, 0.43), d.between(0.18, 0.21), d.between(0.4, 0.5)
    body = Builder("toilet").part("base_body")
    oval = profiles.superellipse(1.0, 1.0, 2.4, 36)

    def ring(y: float, sx: float, sz: float, z: float) -> np.ndarray:
        return np.column_stack([sx * oval[:, 0], np.full(36, y), sz * oval[:, 1] + z])

    foot = d.between(0.55, 0.8)
    z = length / 2 - 0.18
    rows = [
        ring(0.0, 0.6 * half, foot * length / 2, z - 0.06),
        ring(0.12, 0.5 * half, 0.9 * foot * length / 2, z - 0.05),
        ring(0.7 * height, 0.9 * half, 0.44 * length, z - 0.01),
        ring(height, half, length / 2, z),
        ring(height, 0.75 * half, 0.38 * length, z),
        ring(0.75 * height, 0.6 * half, 0.3 * length, z),
        ring(0.45 * height, 0.25 * half, 0.12 * length, z - 0.03),
    ]
    body.add(loft(rows), look)
    back = z - length / 2 + 0.03
    tank_low, tank_high, tank_depth = height + d.pick([-0.02, 0.05]), height + d.between(0.3, 0.4), d.between(0.16, 0.2)
    body.add(slab((-half, 0.5 * height, back - tank_depth), (half, height, back + 0.02), 0.02), look)
    plate = slab((-1.05 * half, tank_low - 0.055, back - tank_depth), (1.05 * half, tank_high, back - 0.01), 0.02)
    body.add(plate, look)
    lid_top = body.slide("pump_lid", Y, 0.0, d.between(0.02, 0.08)) if d.chance(0.5) else body
    plate = slab((-1.1 * half, tank_high, back - tank_depth - 0.008), (1.1 * half, tank_high + 0.03, back), 0.01)
    lid_top.add(plate, look)
    hinge = (0, height + 0.018, z + 0.016 - 0.47 * length)
    outline = profiles.superellipse(1.02 * half, 0.47 * length, 2.3, 36) + np.array([0.0, z + 0.012])
    inner = profiles.superellipse(0.66 * half, 0.32 * length, 2.3, 36) + np.array([0.0, z + 0.02])
    seat = body.hinge("seat", X, hinge, -1.35, 0.0)

    seat.add(extrude(outline, 0.018, [inner], 0.004).move(0, height + 0.001, 0), look if d.chance(0.6) else d.wood())
    lid = body.hinge("lid", X, hinge, -d.between(1.35, 1.5), 0.0)
    lid.add(extrude(outline, 0.014, bevel=0.005).move(0, height + 0.0195, 0), look)
    body.add(pair(rod("x", 0.01, 0.05, (0.07, hinge[1], hinge[2] - 0.004), 12)), trim)
    _add_flush(d, body, half, tank_high, back, tank_depth, trim, lid_top)
    return body.builder


def _add_flush(
    d: Sampler, body: Link, half: float, top: float, back: float, depth: float, trim: Surface, lid: Link
) -> None:
    if d.chance(0.5):
        place = (-0.75 * half, top - 0.06, back - 0.01)
        flush = body.hinge("lever", Z, place, -0.7, 0.0)
        flush.add(rod("z", 0.012, 0.024, place, 14), trim)
        flush.add(box((0.075, 0.014, 0.01), (place[0] + 0.03, place[1], place[2] + 0.014), 0.003), trim)
        return
    count = d.count(1, 2)
    for k in range(count):
        x = (k - (count - 1) / 2) * 0.035
        flush = lid.slide("button", Y, -0.006, 0.0, (x, top + 0.03, 0))
        flush.add(button(d, 0.028, "round").turn("x", -90).move(x, top + 0.028, back - depth / 2), trim)
