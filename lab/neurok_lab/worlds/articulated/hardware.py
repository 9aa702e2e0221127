"""What is screwed onto things: handles, knobs, buttons, levers, legs, wheels.

Handles, knobs and buttons stand on the plane z = 0 and point towards +z; x is their width and y their height.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from neurok.modelling import profiles, surfaces
from neurok.modelling.builder import Builder, Link
from neurok.modelling.sampler import Sampler
from neurok.modelling.shapes import Shape, box, cylinder, extrude, lathe, sphere, torus
from neurok.modelling.sweeps import sweep

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


def pull(d: Sampler, length: float, upright: bool = False, kind: str | None = None) -> list[Shape]:
    """A handle to pull a door or drawer by: a bar, a bow, a strip, a cup, a knob or a ring."""
    kind = kind or d.pick(["bar", "bow", "strip", "arch", "cup", "knob", "ring", "plate"], [4, 4, 2, 2, 1, 4, 1, 1])
    reach = min(max(0.016, 0.2 * length), 0.045) * d.between(0.8, 1.2)
    t = min(max(0.0045, 0.045 * length), 0.011) * d.between(0.8, 1.3)
    half = length / 2
    if kind == "bar":
        posts = [standing(cylinder(0.7 * t, reach, 8)).move(x * 0.75 * half, 0, reach / 2 - SINK) for x in (-1, 1)]
        is_round = d.chance(0.6)
        square = (1.8 * t, length, 1.8 * t)
        rod = cylinder(t, length, 12, chamfer=0.25 * t) if is_round else box(square, chamfer=0.2 * t)
        shapes = [*posts, rod.along("x").move(0, 0, reach)]
    elif kind == "bow":
        ends = [(-half, 0, -SINK), (-half, 0, reach), (half, 0, reach), (half, 0, -SINK)]
        path = profiles.rounded_path(ends, reach * d.between(0.3, 0.9), 5)
        is_round = d.chance(0.5)
        section = profiles.circle(t, 8) if is_round else profiles.rectangle(2.2 * t, 1.4 * t, 0.4 * t, 2)
        shapes = [sweep(section, path, up=(0, 1, 0))]
    elif kind == "arch":
        turn = np.linspace(0, np.pi, 13)
        path = np.column_stack([-half * np.cos(turn), np.zeros(13), reach * np.sin(turn) ** 0.8 - SINK])
        shapes = [sweep(profiles.ellipse(1.6 * t, 0.8 * t, 10), path, up=(0, 1, 0))]
    elif kind == "strip":
        lip = np.array([[0, 0], [t, 0], [t, reach - t], [2.5 * t, reach - t], [2.5 * t, reach], [0, reach]])
        shapes = [extrude(lip, length).move(-1.2 * t, -half, -SINK).turn("z", 90)]
    elif kind == "cup":
        shell = lathe(_scaled(half, [(0.0, 0.0), (0.5, 0.0), (0.48, 0.12), (0.3, 0.3), (0.0, 0.36)]), 20)
        shapes = [standing(shell).scale(1.3, 0.8, 1.4).move(0, 0, -SINK)]
    elif kind == "ring":
        rose = standing(cylinder(0.22 * half, 0.3 * t + 0.004, 16, chamfer=0.001)).move(0, 0, 0.001)
        hoop = torus(0.32 * half + 0.006, 0.5 * t, 24, 8).along("z")
        shapes = [rose, hoop.move(0, -0.32 * half - 0.004, 0.5 * t + 0.004)]
    elif kind == "plate":
        shapes = [box((length, 3 * t, 0.003), (0, 0, 0.001)), *pull(d, 0.7 * length, kind="bow")]
    else:
        shapes = [knob(d, max(0.012, 0.13 * length))]
    return [s.turn("z", 90) for s in shapes] if upright else shapes


def _scaled(width: float, shares: Sequence[Sequence[float]], height: float | None = None) -> list[tuple[float, float]]:
    """A profile in shares of a width and a height (the width again if there is none)."""
    return [(r * width, y * (width if height is None else height)) for r, y in shares]


KNOBS = {
    "mushroom": (0.5, [(0.4, 0.5), (0.95, 0.9), (1, 1.2), (0.7, 1.5), (0, 1.6)]),
    "ball": (0.55, [(0.35, 0.4)]),
    "disc": (0.45, [(0.45, 0.6), (0.93, 0.6), (1, 0.7), (1, 0.95), (0.93, 1.05), (0, 1.05)]),
    "cone": (0.6, [(1, 1.2), (0.9, 1.35), (0, 1.35)]),
}
"""Foot and profile of knobs of radius 1; the ball of one is added to it."""


def knob(d: Sampler, radius: float, segments: int = 16) -> Shape:
    """A turned knob, one solid."""
    kind = d.pick(list(KNOBS))
    foot, shares = KNOBS[kind]
    rows = [(0.0, -SINK), (foot * radius, -SINK), *_scaled(radius, shares)]
    if kind == "ball":
        ball = profiles.arc(radius, -65, 90, 6, (0.0, 1.3 * radius))
        rows += [*map(tuple, ball[:-1]), (0, 2.3 * radius)]
    return standing(lathe(rows, segments))


def dial(d: Sampler, radius: float) -> list[Shape]:
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


def button(d: Sampler, size: float, kind: str | None = None, rise: float = 0.35) -> Shape:
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
    d: Sampler,
    parent: Link,
    places: list[tuple[float, float, float]],
    size: float,
    surface: surfaces.Surface,
    name: str = "button",
) -> None:
    """Push buttons facing +z, many of them flat, each a part that goes in by a share of its height."""
    kind = d.pick(["round", "square", "pill"], [2, 3, 1])
    rise = BUTTON_RISE[0] * (BUTTON_RISE[1] / BUTTON_RISE[0]) ** d.between(0.0, 1.0)
    travel = d.between(*BUTTON_TRAVEL) * rise * size
    for place in places:
        part = builder.part(name, parent, "prismatic", (0, 0, 1), place, -travel, 0.0)
        part.add(button(d, size, kind, rise).move(*place), surface)


def lever(d: Sampler, length: float, side: int = 1) -> list[Shape]:
    """A door lever: a rose, a neck and a grip towards side * x."""
    thick = 0.07 * length
    rose = standing(cylinder(0.2 * length, 0.05 * length, 20, chamfer=0.01 * length)).move(0, 0, 0.02 * length)
    ends = [(0, 0, -SINK), (0, 0, 0.4 * length), (side * length, 0, 0.4 * length)]
    path = profiles.rounded_path(ends, 0.16 * length, 5)
    if d.chance(0.4):
        path = np.concatenate([path, [path[-1] + np.array([side * 0.03, 0, -0.14]) * length]])
    is_round = d.chance(0.5)
    section = profiles.circle(thick, 10) if is_round else profiles.rectangle(1.7 * thick, 2.2 * thick, 0.5 * thick, 2)
    return [rose, sweep(section, path, up=(0, 1, 0))]


def wheel(d: Sampler, radius: float, width: float, spokes: bool = False) -> tuple[list[Shape], list[Shape]]:
    """Tyre and hub of a wheel about the x axis, centred at the origin."""
    inner, bulge, w = radius * (0.82 if spokes else 0.7), 0.12 * radius, width
    side = [(inner, w / 2), (radius - bulge, w / 2), (radius, 0.25 * w)]
    tyre = lathe([*((r, -x) for r, x in side), *side[::-1]], 24, closed=True).along("x")
    axle = cylinder(0.2 * radius, 1.15 * w, 12).along("x")
    if not spokes:
        rows = [(0, -0.35 * w), (1.01 * inner, -0.42 * w), (1.01 * inner, 0.42 * w), (0, 0.35 * w)]
        bolt = cylinder(0.08 * radius, 0.95 * w, 6).along("x").move(0, 0.45 * radius, 0)
        return [tyre], [lathe(rows, 20).along("x"), axle, *(bolt.turn("x", k * 120) for k in range(3))]
    count = d.count(5, 8)
    bar = box((0.3 * w, inner * 0.92, 0.12 * radius), (0, 0.5 * inner, 0))
    edge = [(0.9 * inner, -0.4 * w), (1.01 * inner, -0.4 * w), (1.01 * inner, 0.4 * w), (0.9 * inner, 0.4 * w)]
    rim = lathe(edge, 24, closed=True).along("x")
    return [tyre], [rim, axle, *(bar.turn("x", 360 * k / count) for k in range(count))]


def add_castor(
    builder: Builder,
    d: Sampler,
    parent: Link,
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

    def frame(shape: Shape) -> Shape:
        return shape.turn("y", yaw).move(x, top, z)

    yoke = builder.part("caster_yoke", parent, "continuous", (0, 1, 0), (x, top, z)) if steers else parent
    metal = surfaces.metal("steel")
    width = 0.55 * radius
    stem = cylinder(0.25 * radius, 0.5 * radius, 12).move(0, 0.05 * radius, 0)
    crown = box((width + 0.5 * radius, 0.12 * radius, 0.9 * radius), (0, -0.2 * radius, -0.25 * radius), 0.02 * radius)
    drop = top - radius
    cheek, at = (0.1 * radius, drop - 0.1 * radius, 0.4 * radius), width / 2 + 0.16 * radius
    cheeks = [box(cheek, (s * at, -0.5 * drop - 0.1 * radius, -0.5 * radius)) for s in (-1, 1)]
    yoke.add([frame(s) for s in [stem, crown, *cheeks]], metal)
    axis = np.array([np.cos(np.radians(yaw)), 0.0, -np.sin(np.radians(yaw))])
    hub = frame(sphere(0.01).move(*trail)).vertices.mean(axis=0)
    tyre, rim = wheel(d, radius, width)
    axle = cylinder(0.12 * radius, width + 0.42 * radius, 8).along("x")
    roll = builder.part("wheel", yoke, "continuous", axis, hub)
    roll.add([frame(s.move(*trail)) for s in tyre], surfaces.rubber())
    roll.add([frame(s.move(*trail)) for s in [*rim, axle]], metal)


def leg(kind: str, height: float, width: float) -> list[Shape]:
    """A square or a round leg from the ground to ``height``, about the y axis."""
    if kind == "square":
        return [box((width, height, width), (0, height / 2, 0), 0.08 * width)]
    return [cylinder(0.32 * width, height, 16, top=0.5 * width).move(0, height / 2, 0)]
