"""What is screwed onto things: handles, knobs, buttons, levers, legs, wheels.

Handles, knobs and buttons stand on the plane z = 0 and point towards +z; x is their width and y their height.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from neurok.modelling import looks, profiles
from neurok.modelling.builder import Builder, Part
from neurok.modelling.dice import Dice
from neurok.modelling.shapes import Shape, box, cylinder, extrude, lathe, loft, sphere, torus
from neurok.modelling.sweeps import sweep, tube

SINK = 0.0008
"""How far what is screwed on reaches into what carries it [m]."""


def standing(shape: Shape) -> Shape:
    """What was turned about y, now pointing towards +z."""
    return shape.along("z")


def sideways(outline: np.ndarray, width: float, bevel: float = 0.0) -> Shape:
    """A plate whose outline lies in the (z, y) plane, centred in x."""
    plate = extrude(outline, width, bevel=bevel).move(0, -width / 2, 0)
    return Shape(plate.vertices[:, [1, 2, 0]], plate.faces)


def facing(outline: np.ndarray, thickness: float, bevel: float = 0.0, holes: Sequence[np.ndarray] = ()) -> Shape:
    """A plate whose outline lies in the (x, y) plane, from z = 0 to ``thickness``."""
    plate = extrude(outline, thickness, holes, bevel)
    return Shape(plate.vertices[:, [0, 2, 1]], plate.faces[:, ::-1])


def pull(d: Dice, length: float, upright: bool = False, kind: str | None = None) -> list[Shape]:
    """A handle to pull a door or drawer by: a bar, a bow, a strip, a cup, a knob or a ring."""
    kind = kind or d.pick(["bar", "bow", "strip", "arch", "cup", "knob", "ring", "plate"], [4, 4, 2, 2, 1, 4, 1, 1])
    reach = min(max(0.016, 0.2 * length), 0.045) * d.between(0.8, 1.2)
    thick = min(max(0.0045, 0.045 * length), 0.011) * d.between(0.8, 1.3)
    half = length / 2
    if kind == "bar":
        posts = [standing(cylinder(0.7 * thick, reach, 8)).move(x * 0.75 * half, 0, reach / 2 - SINK) for x in (-1, 1)]
        rod = (
            cylinder(thick, length, 12, chamfer=0.25 * thick)
            if d.chance(0.6)
            else box((1.8 * thick, length, 1.8 * thick), chamfer=0.2 * thick)
        )
        shapes = [*posts, rod.along("x").move(0, 0, reach)]
    elif kind == "bow":
        ends = [(-half, 0, -SINK), (-half, 0, reach), (half, 0, reach), (half, 0, -SINK)]
        path = profiles.rounded_path(ends, reach * d.between(0.3, 0.9), 5)
        section = (
            profiles.circle(thick, 8) if d.chance(0.5) else profiles.rectangle(2.2 * thick, 1.4 * thick, 0.4 * thick, 2)
        )
        shapes = [sweep(section, path, up=(0, 1, 0))]
    elif kind == "arch":
        turn = np.linspace(0, np.pi, 13)
        path = np.column_stack([-half * np.cos(turn), np.zeros(13), reach * np.sin(turn) ** 0.8 - SINK])
        shapes = [sweep(profiles.ellipse(1.6 * thick, 0.8 * thick, 10), path, up=(0, 1, 0))]
    elif kind == "strip":
        t = thick
        lip = np.array([[0, 0], [t, 0], [t, reach - t], [2.5 * t, reach - t], [2.5 * t, reach], [0, reach]])
        shapes = [extrude(lip, length).move(-1.2 * t, -half, -SINK).turn("z", 90)]
    elif kind == "cup":
        shell = lathe(
            [(0.0, 0.0), (0.5 * half, 0.0), (0.48 * half, 0.12 * half), (0.3 * half, 0.3 * half), (0.0, 0.36 * half)],
            20,
        )
        shapes = [standing(shell).scale(1.3, 0.8, 1.4).move(0, 0, -SINK)]
    elif kind == "ring":
        rose = standing(cylinder(0.22 * half, 0.3 * thick + 0.004, 16, chamfer=0.001)).move(0, 0, 0.001)
        hoop = (
            torus(0.32 * half + 0.006, 0.5 * thick, 24, 8).along("z").move(0, -0.32 * half - 0.004, 0.5 * thick + 0.004)
        )
        shapes = [rose, hoop]
    elif kind == "plate":
        shapes = [box((length, 3 * thick, 0.003), (0, 0, 0.001)), *pull(d, 0.7 * length, kind="bow")]
    else:
        shapes = [knob(d, max(0.012, 0.13 * length))]
    return [s.turn("z", 90) for s in shapes] if upright else shapes


def knob(d: Dice, radius: float, segments: int = 16) -> Shape:
    """A turned knob, one solid."""
    r = radius
    kind = d.pick(["mushroom", "ball", "disc", "cone"])
    if kind == "mushroom":
        rows = [
            (0, -SINK),
            (0.5 * r, -SINK),
            (0.4 * r, 0.5 * r),
            (0.95 * r, 0.9 * r),
            (r, 1.2 * r),
            (0.7 * r, 1.5 * r),
            (0, 1.6 * r),
        ]
    elif kind == "ball":
        neck, ball = [(0, -SINK), (0.55 * r, -SINK), (0.35 * r, 0.4 * r)], profiles.arc(r, -65, 90, 6, (0.0, 1.3 * r))
        rows = [*neck, *map(tuple, ball[:-1]), (0, 2.3 * r)]
    elif kind == "disc":
        rows = [
            (0, -SINK),
            (0.45 * r, -SINK),
            (0.45 * r, 0.6 * r),
            (0.93 * r, 0.6 * r),
            (r, 0.7 * r),
            (r, 0.95 * r),
            (0.93 * r, 1.05 * r),
            (0, 1.05 * r),
        ]
    else:
        rows = [(0, -SINK), (0.6 * r, -SINK), (r, 1.2 * r), (0.9 * r, 1.35 * r), (0, 1.35 * r)]
    return standing(lathe(rows, segments))


def dial(d: Dice, radius: float) -> list[Shape]:
    """A knob of an appliance: its pointer or grip shows how far it is turned."""
    height = radius * d.between(0.5, 1.6)
    skirt = standing(cylinder(radius, 0.35 * height, 20, chamfer=0.1 * height)).move(0, 0, 0.175 * height - SINK)
    kind = d.pick(["bar", "pointer", "lobes"])
    if kind == "bar":
        grip = box((0.42 * radius, 1.8 * radius, height), (0, 0, 0.5 * height), 0.1 * radius)
        return [skirt, grip]
    top = standing(cylinder(0.72 * radius, height, 16, 0.66 * radius, 0.06 * radius)).move(0, 0, 0.5 * height)
    if kind == "pointer":
        return [skirt, top, box((0.12 * radius, 0.7 * radius, 0.06 * radius), (0, 0.3 * radius, height))]
    angle = np.linspace(0, 2 * np.pi, 36, endpoint=False)
    wave = radius * (0.82 + 0.1 * np.cos(6 * angle))
    lobes = extrude(np.column_stack([wave * np.cos(angle), wave * np.sin(angle)]), height, bevel=0.05 * radius)
    return [skirt, standing(lobes), box((0.1 * radius, 0.5 * radius, 0.06 * radius), (0, 0.4 * radius, height))]


BUTTON_RISE = (0.05, 0.45)
"""How far buttons stand out [share of their size], drawn on a log scale; seen on appliances of PartNet-Mobility."""

BUTTON_TRAVEL = (0.3, 1.0)
"""How far they go in [share of what stands out]; seen there too."""


def button(d: Dice, size: float, kind: str | None = None, rise: float = 0.35) -> Shape:
    """A push button of about ``size`` that stands out by ``rise`` of it."""
    kind = kind or d.pick(["round", "square", "pill"])
    sunk = min(0.1, rise) * size
    height, edge = rise * size + sunk, min(0.1, 0.3 * rise) * size
    if kind == "round":
        return standing(cylinder(size / 2, height, 14, chamfer=edge)).move(0, 0, height / 2 - sunk)
    if kind == "square":
        return box((size, size, height), (0, 0, height / 2 - sunk), edge)
    outline = profiles.rectangle(1.5 * size, 0.7 * size, 0.34 * size, 4)
    return standing(extrude(outline, height, bevel=0.8 * edge)).move(0, 0, -sunk)


def add_buttons(
    builder: Builder,
    d: Dice,
    parent: Part,
    places: list[tuple[float, float, float]],
    size: float,
    surface: looks.Surface,
    name: str = "button",
) -> None:
    """Push buttons facing +z, many of them flat, each a part that goes in by a share of its height."""
    kind = d.pick(["round", "square", "pill"], [2, 3, 1])
    rise = BUTTON_RISE[0] * (BUTTON_RISE[1] / BUTTON_RISE[0]) ** d.between(0.0, 1.0)
    travel = d.between(*BUTTON_TRAVEL) * rise * size
    for place in places:
        part = builder.part(name, parent, "prismatic", (0, 0, 1), place, -travel, 0.0)
        part.add(button(d, size, kind, rise).move(*place), surface)


def lever(d: Dice, length: float, side: int = 1) -> list[Shape]:
    """A door lever: a rose, a neck and a grip towards side * x."""
    thick = 0.07 * length
    rose = standing(cylinder(0.2 * length, 0.05 * length, 20, chamfer=0.01 * length)).move(0, 0, 0.02 * length)
    path = profiles.rounded_path(
        [(0, 0, -SINK), (0, 0, 0.4 * length), (side * length, 0, 0.4 * length)], 0.16 * length, 5
    )
    if d.chance(0.4):
        path = np.concatenate([path, [path[-1] + np.array([side * 0.03, 0, -0.14]) * length]])
    section = (
        profiles.circle(thick, 10) if d.chance(0.5) else profiles.rectangle(1.7 * thick, 2.2 * thick, 0.5 * thick, 2)
    )
    return [rose, sweep(section, path, up=(0, 1, 0))]


def wheel(d: Dice, radius: float, width: float, spokes: bool = False) -> tuple[list[Shape], list[Shape]]:
    """Tyre and hub of a wheel about the x axis, centred at the origin."""
    inner = radius * (0.82 if spokes else 0.7)
    bulge = 0.12 * radius
    section = [
        (inner, -width / 2),
        (radius - bulge, -width / 2),
        (radius, -0.25 * width),
        (radius, 0.25 * width),
        (radius - bulge, width / 2),
        (inner, width / 2),
    ]
    tyre = lathe(section, 24, closed=True).along("x")
    axle = cylinder(0.2 * radius, 1.15 * width, 12).along("x")
    if not spokes:
        rows = [(0, -0.35 * width), (1.01 * inner, -0.42 * width), (1.01 * inner, 0.42 * width), (0, 0.35 * width)]
        bolts = [
            cylinder(0.08 * radius, 0.95 * width, 6).along("x").move(0, 0.45 * radius, 0).turn("x", k * 120)
            for k in range(3)
        ]
        return [tyre], [lathe(rows, 20).along("x"), axle, *bolts]
    count = d.count(5, 8)
    bars = [
        box((0.3 * width, inner * 0.92, 0.12 * radius), (0, 0.5 * inner, 0)).turn("x", 360 * k / count)
        for k in range(count)
    ]
    rim = lathe(
        [
            (0.9 * inner, -0.4 * width),
            (1.01 * inner, -0.4 * width),
            (1.01 * inner, 0.4 * width),
            (0.9 * inner, 0.4 * width),
        ],
        24,
        closed=True,
    )
    return [tyre], [rim.along("x"), axle, *bars]


def add_castor(
    builder: Builder,
    d: Dice,
    parent: Part,
    x: float,
    z: float,
    top: float,
    radius: float,
    steers: bool = True,
    yaw: float | None = None,
) -> None:
    """A castor under (x, top, z): a yoke that steers about y and a wheel that rolls in it."""
    yaw = d.between(-180, 180) if yaw is None else yaw
    trail = np.array([0.0, radius - top, -0.55 * radius])
    frame = lambda s: s.turn("y", yaw).move(x, top, z)  # noqa: E731
    yoke = builder.part("caster_yoke", parent, "continuous", (0, 1, 0), (x, top, z)) if steers else parent
    metal = looks.metal("steel")
    width = 0.55 * radius
    stem = cylinder(0.25 * radius, 0.5 * radius, 12).move(0, 0.05 * radius, 0)
    crown = box((width + 0.5 * radius, 0.12 * radius, 0.9 * radius), (0, -0.2 * radius, -0.25 * radius), 0.02 * radius)
    drop = top - radius
    cheeks = [
        box(
            (0.1 * radius, drop - 0.1 * radius, 0.4 * radius),
            (s * (width / 2 + 0.16 * radius), -0.5 * drop - 0.1 * radius, -0.5 * radius),
        )
        for s in (-1, 1)
    ]
    yoke.add([frame(s) for s in [stem, crown, *cheeks]], metal)
    axis = np.array([np.cos(np.radians(yaw)), 0.0, -np.sin(np.radians(yaw))])
    hub = frame(sphere(0.01).move(*trail)).vertices.mean(axis=0)
    tyre, rim = wheel(d, radius, width)
    axle = cylinder(0.12 * radius, width + 0.42 * radius, 8).along("x")
    roll = builder.part("wheel", yoke, "continuous", axis, hub)
    roll.add([frame(s.move(*trail)) for s in tyre], looks.rubber())
    roll.add([frame(s.move(*trail)) for s in [*rim, axle]], metal)


def leg(d: Dice, kind: str, height: float, width: float) -> list[Shape]:
    """A leg from the ground to ``height``, about the y axis."""
    w = width
    if kind == "square":
        return [box((w, height, w), (0, height / 2, 0), 0.08 * w)]
    if kind == "tapered":
        foot = profiles.rectangle(0.55 * w, 0.55 * w)
        head = profiles.rectangle(w, w)
        at = lambda o, y: np.column_stack([o[:, 0], np.full(len(o), y), o[:, 1]])  # noqa: E731
        return [loft([at(foot, 0.0), at(head, 0.8 * height), at(head, height)])]
    if kind == "round":
        return [cylinder(0.32 * w, height, 16, top=0.5 * w).move(0, height / 2, 0)]
    if kind == "turned":
        share = [
            (0.0, 0.0),
            (0.22, 0.0),
            (0.3, 0.04),
            (0.24, 0.1),
            (0.3, 0.3),
            (0.46, 0.55),
            (0.34, 0.64),
            (0.44, 0.7),
            (0.34, 0.76),
            (0.5, 0.82),
            (0.5, 1.0),
            (0.0, 1.0),
        ]
        return [lathe([(r * w, y * height) for r, y in share], 16)]
    if kind == "bun":
        rows = [
            (0.0, 0.0),
            (0.35 * w, 0.0),
            (0.6 * w, 0.35 * height),
            (0.6 * w, 0.6 * height),
            (0.4 * w, height),
            (0.0, height),
        ]
        return [lathe(rows, 16)]
    t = [(0.45 * w, height, 0), (0.06 * w, 0.02 * height, 0), (-0.06 * w, 0.02 * height, 0), (-0.45 * w, height, 0)]
    return [tube(profiles.rounded_path(t, 0.05 * height, 3), 0.14 * w, 8)]


LEGS = ["square", "tapered", "round", "turned", "bun", "hairpin"]
