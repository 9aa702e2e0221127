"""What holds liquids: bottles, dispensers, buckets, kettles, pots."""

from __future__ import annotations

import numpy as np

from neurok.core import Surface
from neurok.families.articulated.kit import X, Y, Z, pair, rod, turned
from neurok.modelling import looks, profiles
from neurok.modelling.builder import Builder, Part
from neurok.modelling.dice import Dice
from neurok.modelling.hardware import knob, pull
from neurok.modelling.shapes import Shape, box, cylinder, lathe, loft, torus
from neurok.modelling.sweeps import sweep, tube


def squared(shape: Shape, amount: float) -> Shape:
    """A turned solid pushed towards a square cross-section; 0 leaves it round."""
    x, z = shape.vertices[:, 0], shape.vertices[:, 2]
    radius = np.hypot(x, z)
    largest = np.maximum(np.abs(x), np.abs(z))
    stretch = 1.0 + amount * (np.divide(radius, largest, out=np.ones_like(radius), where=largest > 1e-9) - 1.0)
    return Shape(shape.vertices * np.column_stack([stretch, np.ones_like(stretch), stretch]), shape.faces)


def hollow(outer: np.ndarray, wall: float) -> list[tuple[float, float]]:
    """The profile of an open vessel: up the outside (from the axis), over the rim, down the inside."""
    inner = outer[::-1] - np.array([wall, 0.0])
    inner[:, 1] = np.maximum(inner[:, 1], outer[0, 1] + wall)
    keep = np.concatenate([[True], np.linalg.norm(np.diff(inner, axis=0), axis=1) > 0.2 * wall])
    rows = [
        (0.0, outer[0, 1]),
        *map(tuple, outer),
        *map(tuple, inner[keep & (inner[:, 0] > wall)]),
        (0.0, outer[0, 1] + wall),
    ]
    return [(float(r), float(y)) for r, y in rows]


def add_cap(
    d: Dice, parent: Part, shapes: list[tuple[Shape, Surface]], y: float, rise: float, name: str = "lid"
) -> Part:
    """A lid that lifts off upwards or screws round."""
    if d.chance(0.85):
        part = parent.slide(name, Y, 0.0, rise, (0, y, 0))
    else:
        part = parent.spin(name, Y, (0, y, 0))
    for shape, surface in shapes:
        part.add(shape, surface)
    return part


def bottle(d: Dice) -> Builder:
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
    look = d.pick(
        [
            looks.glass("#7fae8c", 0.6),
            looks.glass("#b98a4a", 0.7),
            d.plastic(),
            d.plastic(),
            looks.glass("#cfe0ea", 0.5),
        ]
    )
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


def dispenser(d: Dice) -> Builder:
    """A bottle with a pump that is pressed down and a spout that turns with it."""
    height, radius = d.between(0.1, 0.2), d.between(0.03, 0.05)
    body = Builder("dispenser").part("base_body")
    rows = [(0, 0), (0.92, 0), (1, 0.04), (1, d.between(0.6, 0.8)), (0.5, 0.96), (0.5, 1.0), (0, 1.0)]
    look = d.pick([d.plastic(), d.plastic(), looks.glass("#cfe0ea", 0.5)])
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
        cap.add(
            lathe(
                [
                    (0.52 * radius, height - 0.016),
                    (0.66 * radius, height - 0.016),
                    (0.66 * radius, height - 0.005),
                    (0.52 * radius, height - 0.005),
                ],
                20,
                closed=True,
            ),
            color,
        )
        cap.add(
            [box((0.003, 0.009, 0.003), (0.66 * radius, height - 0.0105, 0)).turn("y", 30 * k) for k in range(12)],
            color,
        )
    return body.builder


def _bail(d: Dice, reach: float, height: float, thick: float) -> Shape:
    """A swinging handle as an arch over x, its ends at (+-reach, 0, 0)."""
    t = np.linspace(0, np.pi, 25)
    power = d.between(0.6, 1.0)
    path = np.column_stack([-reach * np.cos(t), height * np.sin(t) ** power, np.zeros_like(t)])
    return tube(path, thick, 8)


def bucket(d: Dice) -> Builder:
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
        handle.add(
            rod("x", 0.011, 0.09, (0, height - drop + arch, 0), 14, chamfer=0.002),
            d.plastic() if d.chance(0.5) else d.wood(),
        )
    if d.chance(0.15):
        handle.add(torus(0.01, 0.002, 14, 6).along("z").move(reach + 0.008, height - drop, 0), metal)
    return body.builder


def kettle(d: Dice) -> Builder:
    """A stove kettle with a lid and a bow handle, or an electric jug with a hinged lid on a base."""
    kettle_ = _stove_kettle(d) if d.chance(0.5) else _electric_kettle(d)
    return kettle_.turned("y", d.pick([0, 90, 90, -90]))


def _spout(start: tuple[float, float, float], end: tuple[float, float, float], thick: float) -> Shape:
    a, b = np.array(start), np.array(end)
    middle = [a, a + 0.45 * (b - a) + (0, -0.1 * abs(b[2] - a[2]), 0), b]
    path = profiles.smooth_curve(middle, 9)
    return tube(path, thick, 14, scales=np.linspace(1.0, 0.5, 9))


def _stove_kettle(d: Dice) -> Builder:
    radius, height = d.between(0.08, 0.12), d.between(0.1, 0.18)
    look, accent = (d.metal() if d.chance(0.6) else d.paint()), d.plastic()
    mouth = radius * d.between(0.35, 0.55)
    rows = [
        (0.85 * radius, 0.0),
        (radius, 0.06 * height),
        (radius * d.between(0.85, 1.0), 0.5 * height),
        (0.75 * radius, 0.85 * height),
        (mouth, height),
    ]
    body = Builder("kettle").part("base_body")
    body.add(lathe([(0.0, 0.0), *map(tuple, profiles.smooth_curve(rows, 20)), (0.0, height)], 36), look)
    body.add(_spout((0, 0.45 * height, 0.8 * radius), (0, 0.95 * height, 1.55 * radius), 0.24 * radius), look)
    lid = [
        (0, height - 0.002),
        (1.06 * mouth, height - 0.002),
        (1.06 * mouth, height + 0.004),
        (0.7 * mouth, height + 0.014),
        (0, height + 0.018),
    ]
    reach, pivot = 0.72 * radius, 0.88 * height
    rise = height - pivot + d.between(0.08, 0.12)
    button = knob(d, 0.012).turn("x", -90).move(0, height + 0.017, 0)
    room = pivot + rise - 0.011 - float(button.bounds[1, 1])
    add_cap(d, body, [(lathe(lid, 28), look), (button, accent)], height, max(0.008, 0.85 * room))
    if d.chance(0.5):
        handle = body.hinge("handle", Z, (0, pivot, 0), -1.0, 1.0)
    else:
        handle = body
    body.add(pair(rod("z", 0.008, 0.012, (0, pivot, reach + 0.004), 12), "z"), look)
    arch = _bail(d, reach + 0.01, rise, 0.005).turn("y", 90).move(0, pivot, 0)
    handle.add(arch, look if d.chance(0.5) else accent)
    handle.add(rod("z", 0.011, 1.0 * radius, (0, pivot + rise, 0), 14, chamfer=0.003), accent)
    return body.builder


def _electric_kettle(d: Dice) -> Builder:
    radius, height = d.between(0.07, 0.09), d.between(0.18, 0.24)
    look, accent = d.shell(), d.plastic()
    foot = Builder("kettle").part("base")
    foot.add(turned(32, [1.05, 1.08, 0.95], [0, 0.008, 0.02], scale=radius), accent)
    jug = foot.slide("container", Y, 0.0, d.between(0.05, 0.12))
    top = 0.02 + height
    taper = radius * d.between(0.75, 0.9)
    rows = [(0, 0.021), (radius, 0.021), (radius, 0.05), (taper, top), (0, top)]
    jug.add(lathe(rows, 32), look)
    jug.add(
        loft(
            [
                np.array([[-0.03, 0, 0], [0.03, 0, 0], [0, 0, 0.012]]) + (0, top - 0.06, taper * 0.9),
                np.array([[-0.03, 0, 0], [0.03, 0, 0], [0, 0, 0.045]]) + (0, top - 0.002, taper * 0.86),
            ]
        ),
        look,
    )
    grip = profiles.rounded_path(
        [
            (0, top - 0.015, -taper + 0.006),
            (0, top - 0.01, -taper - 0.055),
            (0, 0.07, -radius - 0.06),
            (0, 0.055, -radius + 0.006),
        ],
        0.03,
        5,
    )
    jug.add(sweep(profiles.rectangle(0.024, 0.014, 0.005, 3), grip, up=(1, 0, 0)), accent)
    lid = jug.hinge("lid", X, (0, top, -0.96 * taper), -d.between(1.0, 1.5), 0.0)
    lid.add(turned(32, [0.96, 0.93, 0.5, 0], [top, top + 0.008, top + 0.014, top + 0.015], scale=taper), accent)
    lid.add(box((0.02, 0.01, 0.018), (0, top + 0.012, 0.5 * taper), 0.003), accent)
    press = jug.slide("switch", Y, -0.004, 0.0)
    press.add(box((0.014, 0.012, 0.018), (0, top - 0.002, -taper - 0.03), 0.002), looks.plastic("red"))
    return foot.builder


def pot(d: Dice) -> Builder:
    """A cooking pot or pan with its lid."""
    radius, height = d.between(0.08, 0.15), d.between(0.06, 0.18)
    wall = 0.0045
    look, accent = (d.metal() if d.chance(0.6) else d.paint()), d.pick([d.metal(), d.plastic(), d.wood()])
    body = Builder("pot").part("base_body")
    belly = d.between(0.0, 0.25) if d.chance(0.4) else 0.0
    base = radius * d.between(0.75, 1.0)
    rows = [
        (base * 0.94, 0.0),
        (base, 0.05 * height),
        (radius * (1 + belly) * 0.5 + base * 0.5, 0.4 * height),
        (radius, height),
    ]
    body.add(lathe(hollow(profiles.smooth_curve(rows, 14), wall), 36), look)
    body.add(torus(radius, wall, 36, 8).move(0, height, 0), look)
    if d.chance(0.25):
        length = d.between(0.12, 0.2)
        path = [
            (radius - 0.004, 0.85 * height, 0),
            (radius + 0.03, 0.9 * height, 0),
            (radius + length, 1.0 * height, 0),
        ]
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
    lid = [
        (0, height + 0.003),
        (0.95 * radius, height + 0.0015),
        (edge, height + 0.0015),
        *map(tuple, curve),
        (0, height + dome),
    ]
    look2 = look if d.chance(0.6) else looks.glass("#cfe0ea", 0.5)
    top = (
        [knob(d, d.between(0.014, 0.022)).turn("x", -90)]
        if d.chance(0.7)
        else [s.turn("x", -90) for s in pull(d, 0.08, kind="bow")]
    )
    add_cap(
        d,
        body,
        [(lathe(lid, 36), look2), *((s.move(0, height + dome - 0.002, 0), accent) for s in top)],
        height,
        d.between(0.015, 0.08),
    )
    return body.builder
