"""Shared builders of the families: axes, plain surfaces, solids in pairs and rings, fronts with doors and drawers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from neurok.core import Surface
from neurok.modelling import profiles, surfaces
from neurok.modelling.builder import Link
from neurok.modelling.sampler import Sampler
from neurok.modelling.shapes import Shape, Triple, box, cylinder, extrude, lathe, slab
from neurok.modelling.sweeps import tube
from neurok_lab.worlds.articulated.hardware import dial, pull, wheel

X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)
STEEL, CHROME, BLACK_STEEL, BRASS = (surfaces.metal(name) for name in ("steel", "chrome", "black_steel", "brass"))
CHARCOAL, GRAPHITE = surfaces.plastic("charcoal"), surfaces.plastic("graphite")
RUBBER, WHITE, GLASS, GLOW = surfaces.rubber(), surfaces.paint("white"), surfaces.glass(), surfaces.glow()
Rect = tuple[float, float, float, float]


def pair(shape: Shape, axis: str = "x") -> list[Shape]:
    """A solid and its mirror image across the plane through the origin."""
    return [shape, shape.mirror(axis)]


def corners(shape: Shape) -> list[Shape]:
    """A solid at all four corners: mirrored in x, in z and in both."""
    return [s for one in pair(shape) for s in pair(one, "z")]


def around(shape: Shape, count: int, axis: str = "y") -> list[Shape]:
    """``count`` copies evenly about an axis through the origin."""
    return [shape.turn(axis, 360 * k / count) for k in range(count)]


def placed(shapes: Iterable[Shape], place: Triple) -> list[Shape]:
    return [shape.move(*place) for shape in shapes]


def rod(axis: str, radius: float, length: float, place: Triple, segments: int = 12, chamfer: float = 0.0) -> Shape:
    """A round bar along an axis, its middle at ``place``."""
    return cylinder(radius, length, segments, chamfer=chamfer).along(axis).move(*place)


def counterclockwise(outline: np.ndarray) -> np.ndarray:
    return outline if profiles.is_ccw(outline) else outline[::-1]


def turned(
    segments: int,
    radii: Sequence[float],
    heights: Sequence[float],
    scale: float = 1.0,
    rise: float = 1.0,
    ellipse: float = 1.0,
) -> Shape:
    """A solid of revolution about y through (radius, height), closed to the axis at both ends."""
    rows = [(scale * r, rise * y) for r, y in zip(radii, heights, strict=True)]
    rows = ([(0.0, rows[0][1])] if rows[0][0] > 0 else []) + rows + ([(0.0, rows[-1][1])] if rows[-1][0] > 0 else [])
    return lathe(rows, segments, ellipse=ellipse)


def pipe(points: npt.ArrayLike, radius: float, bend: float, segments: int = 10, steps: int = 5) -> Shape:
    """A tube along a path whose corners are rounded by ``bend``."""
    return tube(profiles.rounded_path(points, bend, steps), radius, segments)


def bow(corners: Sequence[Triple], radius: float, bend: float, segments: int = 10, steps: int = 5) -> Shape:
    """A pipe through points on the right side (x > 0), across, and back along the left."""
    right = np.asarray(corners, dtype=np.float64)
    return pipe([*right, *(right[::-1] * (-1, 1, 1))], radius, bend, segments, steps)


def level(outline: np.ndarray, y: float) -> np.ndarray:
    """An outline drawn in the (x, z) plane as a ring at a height, for lofts."""
    return np.column_stack([outline[:, 0], np.full(len(outline), y), outline[:, 1]])


def add_wheel(
    d: Sampler,
    parent: Link,
    place: Triple,
    radius: float,
    width: float,
    hub: Surface,
    spokes: bool = False,
    axle: Sequence[Shape] = (),
) -> Link:
    """A wheel that rolls about x at a place; ``axle`` turns with it."""
    tyre, rim = wheel(d, radius, width, spokes)
    roll = parent.spin("wheel", X, place)
    return roll.add(placed(tyre, place), RUBBER).add(placed([*rim, *axle], place), hub)


@dataclass(frozen=True)
class FrontStyle:
    """What all doors and drawers of one object have in common."""

    surface: Surface
    metal: Surface
    thickness: float = 0.02
    gap: float = 0.0025
    style: str = "slab"
    """``slab``, ``shaker``, ``raised``, ``glass`` or ``louvre``."""

    handle: str | None = None
    handle_length: float = 0.12
    inside: Surface = field(default_factory=lambda: surfaces.wood("beech"))
    reach: float = 0.8
    """Share of the drawer's depth that comes out."""

    swing: float = np.pi / 2

    play: float = 0.014
    """Room beside the tray of a drawer, for its rails [m]."""


def carcass(part: Link, low: Triple, high: Triple, board: float, surface: Surface, back: Surface | None = None) -> None:
    """A box of boards, open towards +z."""
    (x0, y0, z0), (x1, y1, z1) = low, high
    part.add(slab((x0, y0, z0), (x1, y0 + board, z1), 0.001), surface)
    part.add(slab((x0, y1 - board, z0), (x1, y1, z1), 0.001), surface)
    for a, b in ((x0, x0 + board), (x1 - board, x1)):
        part.add(slab((a, y0 + board, z0), (b, y1 - board, z1), 0.001), surface)
    part.add(slab((x0 + board, y0 + board, z0), (x1 - board, y1 - board, z0 + 0.5 * board)), back or surface)


def panel(rect: Rect, z0: float, z1: float, style: str) -> list[Shape]:
    """The solids of a door or drawer front between two depths."""
    x0, y0, x1, y1 = rect
    width, height, t = x1 - x0, y1 - y0, z1 - z0
    stile = min(0.07, 0.2 * min(width, height))
    if style == "slab" or stile < 0.012:
        return [slab((x0, y0, z0), (x1, y1, z1), 0.12 * t)]
    if style == "raised":
        inner = slab((x0 + stile, y0 + stile, z1 - 0.5 * t), (x1 - stile, y1 - stile, z1 + 0.3 * t), 0.3 * t)
        return [slab((x0, y0, z0), (x1, y1, z1), 0.12 * t), inner]
    frame = [
        slab((x0, y0, z0), (x0 + stile, y1, z1), 0.08 * t),
        slab((x1 - stile, y0, z0), (x1, y1, z1), 0.08 * t),
        slab((x0 + stile, y0, z0), (x1 - stile, y0 + stile, z1), 0.08 * t),
        slab((x0 + stile, y1 - stile, z0), (x1 - stile, y1, z1), 0.08 * t),
    ]
    if style == "louvre":
        count = max(3, int((height - 2 * stile) / 0.035))
        step = (height - 2 * stile) / count
        slat = box((width - 2 * stile + 0.004, 1.15 * step, 0.3 * t)).turn("x", -25)
        middle = (x0 + x1) / 2, (z0 + z1) / 2
        return frame + [slat.move(middle[0], y0 + stile + (k + 0.5) * step, middle[1]) for k in range(count)]
    return [*frame, slab((x0 + stile, y0 + stile, z0 + 0.25 * t), (x1 - stile, y1 - stile, z0 + 0.6 * t))]


def _add_panel(part: Link, rect: Rect, z0: float, fronts: FrontStyle, style: str) -> None:
    solids = panel(rect, z0, z0 + fronts.thickness, style)
    if style == "glass" and len(solids) == 5:
        part.add(solids[:4], fronts.surface).add(solids[4], GLASS)
    else:
        part.add(solids, fronts.surface)


def shrunk(rect: Rect, gap: float) -> Rect:
    x0, y0, x1, y1 = rect
    return x0 + gap, y0 + gap, x1 - gap, y1 - gap


def add_door(
    d: Sampler,
    parent: Link,
    rect: Rect,
    face: float,
    fronts: FrontStyle,
    hinge: str = "left",
    name: str = "door",
    outer: bool = True,
) -> Link:
    """A door hung at one of its four edges. ``outer``: nothing stands beyond the hinge, so the pivot may lie behind."""
    x0, y0, x1, y1 = shrunk(rect, fronts.gap)
    t = fronts.thickness
    z = face + 0.0006
    pivot_z = z + t * (d.pick([0.0, 0.5, 1.0]) if outer else 1.0)
    swing = fronts.swing if hinge in ("left", "right") else min(fronts.swing, np.pi / 2)
    pivot, axis, limits = {
        "left": ((x0, (y0 + y1) / 2, pivot_z), (0, 1, 0), (-swing, 0.0)),
        "right": ((x1, (y0 + y1) / 2, pivot_z), (0, 1, 0), (0.0, swing)),
        "bottom": (((x0 + x1) / 2, y0, pivot_z), (1, 0, 0), (0.0, swing)),
        "top": (((x0 + x1) / 2, y1, pivot_z), (1, 0, 0), (-swing, 0.0)),
    }[hinge]
    door = parent.hinge(name, axis, pivot, *limits)
    _add_panel(door, (x0, y0, x1, y1), z, fronts, fronts.style)
    _add_hinges(parent, rect, face, pivot_z, hinge)
    _add_door_pull(d, door, (x0, y0, x1, y1), z + t, fronts, hinge)
    return door


def _add_hinges(parent: Link, rect: Rect, face: float, pivot_z: float, hinge: str) -> None:
    """Thin straps in the gap beside the door that carry its pivot, so that it hangs on something when open."""
    x0, y0, x1, y1 = rect
    reach = max(pivot_z - face, 0.004) + 0.002
    for share in (0.15, 0.85):
        x, y = x0 + share * (x1 - x0), y0 + share * (y1 - y0)
        place = {"left": (x0, y), "right": (x1, y), "bottom": (x, y0), "top": (x, y1)}[hinge]
        size = (0.0022, 0.05, reach) if hinge in ("left", "right") else (0.05, 0.0022, reach)
        parent.add(box(size, (*place, face + reach / 2 - 0.002)), STEEL)


def _add_door_pull(d: Sampler, door: Link, rect: Rect, z: float, fronts: FrontStyle, hinge: str) -> None:
    if fronts.handle == "none":
        return
    x0, y0, x1, y1 = rect
    upright = hinge in ("left", "right")
    span = y1 - y0 if upright else x1 - x0
    inset = min(0.045, 0.12 * min(x1 - x0, y1 - y0))
    along = d.between(0.35, 0.65)
    if upright:
        place = (x1 - inset if hinge == "left" else x0 + inset, y0 + along * (y1 - y0))
    else:
        place = ((x0 + x1) / 2, y1 - inset if hinge == "bottom" else y0 + inset)
    length = min(fronts.handle_length, 0.85 * span)
    door.add([s.move(*place, z) for s in pull(d, length, upright, fronts.handle)], fronts.metal)


def add_drawer(
    d: Sampler, parent: Link, rect: Rect, face: float, depth: float, fronts: FrontStyle, name: str = "drawer"
) -> Link:
    """A front with an open tray behind it that runs ``depth`` into the body."""
    x0, y0, x1, y1 = shrunk(rect, fronts.gap)
    drawer = parent.slide(name, Z, 0.0, fronts.reach * depth)
    z = face + 0.0006
    style = fronts.style if fronts.style in ("slab", "shaker", "raised") and y1 - y0 > 0.14 else "slab"
    _add_panel(drawer, (x0, y0, x1, y1), z, fronts, style)
    side, wall = min(fronts.play, 0.06 * (x1 - x0)), 0.01
    a, b, low, high, back = x0 + side, x1 - side, y0 + 0.1 * (y1 - y0), y1 - 0.18 * (y1 - y0), face - depth
    drawer.add(slab((a, low, back), (b, low + 0.6 * wall, z)), fronts.inside)
    for p, q in ((a, a + wall), (b - wall, b)):
        drawer.add(slab((p, low + 0.6 * wall, back), (q, high, z)), fronts.inside)
    drawer.add(slab((a + wall, low + 0.6 * wall, back), (b - wall, high, back + wall)), fronts.inside)
    if fronts.handle != "none":
        count = 2 if x1 - x0 > 0.7 else 1
        length = min(fronts.handle_length, 0.6 * (x1 - x0) / count)
        kind = "knob" if y1 - y0 < 0.06 and fronts.handle in ("ring", "plate", "cup") else fronts.handle
        for k in range(count):
            x = x0 + (x1 - x0) * (0.5 if count == 1 else (0.25, 0.75)[k])
            drawer.add(
                [s.move(x, (y0 + y1) / 2, z + fronts.thickness) for s in pull(d, length, False, kind)], fronts.metal
            )
    return drawer


def rounded_box(width: float, height: float, depth: float, radius: float, bevel: float = 0.0) -> Shape:
    """A box standing on y = 0 whose upright edges are round."""
    return extrude(profiles.rectangle(width, depth, radius, 4), height, bevel=bevel)


def add_dials(d: Sampler, parent: Link, places: Sequence[Triple], radius: float, surface: Surface) -> None:
    """Appliance knobs facing +z, some that turn without end, some with a stop."""
    endless = d.chance(0.65)
    mark = CHROME
    state = d.rng.bit_generator.state
    for place in places:
        d.rng.bit_generator.state = state  # all knobs of one panel look alike
        shapes = placed(dial(d, radius), place)
        if endless:
            part = parent.spin("knob", Z, place)
        else:
            part = parent.hinge("knob", Z, place, -5.2, 0.0)
        part.add(shapes[:1], mark if len(shapes) > 2 else surface).add(shapes[1:], surface)


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


def add_cap(d: Sampler, parent: Link, shapes: list[tuple[Shape, Surface]], y: float, rise: float) -> Link:
    """A lid that lifts off upwards or screws round."""
    if d.chance(0.85):
        part = parent.slide("lid", Y, 0.0, rise, (0, y, 0))
    else:
        part = parent.spin("lid", Y, (0, y, 0))
    for shape, surface in shapes:
        part.add(shape, surface)
    return part


def cushion(width: float, depth: float, thick: float, dish: float = 0.0) -> Shape:
    """A soft slab about the origin in the (x, z) plane, perhaps dished."""
    pad = extrude(profiles.rectangle(width, depth, 0.25 * min(width, depth), 5), thick, bevel=0.35 * thick)
    v = pad.vertices.copy()
    v[:, 1] += dish * ((v[:, 0] / width) ** 2 + (v[:, 2] / depth) ** 2)
    return Shape(v, pad.faces)
