"""Words that the families share: axes, plain surfaces, and solids in pairs, rows and rings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from neurok.modelling import looks, profiles
from neurok.modelling.shapes import Shape, Triple, cylinder, lathe
from neurok.modelling.sweeps import tube

X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)

STEEL, CHROME, BLACK_STEEL, BRASS = (looks.metal(name) for name in ("steel", "chrome", "black_steel", "brass"))
CHARCOAL, GRAPHITE = looks.plastic("charcoal"), looks.plastic("graphite")
RUBBER, WHITE, GLASS, GLOW = looks.rubber(), looks.paint("white"), looks.glass(), looks.glow()


def pair(shape: Shape, axis: str = "x") -> list[Shape]:
    """A solid and its mirror image across the plane through the origin."""
    return [shape, shape.mirror(axis)]


def corners(shape: Shape) -> list[Shape]:
    """A solid at all four corners: mirrored in x, in z and in both."""
    return [s for one in pair(shape) for s in pair(one, "z")]


def around(shape: Shape, count: int, axis: str = "y", start: float = 0.0) -> list[Shape]:
    """``count`` copies evenly about an axis through the origin, the first at ``start`` [degrees]."""
    return [shape.turn(axis, start + 360 * k / count) for k in range(count)]


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


def pipe(points: Sequence[Triple], radius: float, bend: float, segments: int = 10, steps: int = 5) -> Shape:
    """A tube along a path whose corners are rounded by ``bend``."""
    return tube(profiles.rounded_path(points, bend, steps), radius, segments)
