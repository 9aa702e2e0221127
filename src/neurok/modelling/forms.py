"""Forms: solids written as a kind and at most 24 numbers, so that a network can write them too.

A form fills a box about the origin. Lengths in a code are in halves of the box's longest side, so that a code says the
same at every size; whatever the numbers, the solid is closed and is stretched to fill its box.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from neurok.errors import NeurokError, ShapeError
from neurok.modelling.blocks import block_shape
from neurok.modelling.booleans import difference
from neurok.modelling.plates import plate_shape
from neurok.modelling.shapes import Shape
from neurok.modelling.strips import bar_shape, sheet_shape
from neurok.modelling.turned import turned_shape

Kind = Literal["implicit", "block", "plate", "lathe", "tube", "sheet"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""``implicit`` has no code of its own: a mesh, or whatever a decoder makes of 24 numbers."""

CODE = 24
"""Numbers of a code; those that a kind does not use are zero."""

LAYOUT: Mapping[str, tuple[tuple[str, int], ...]] = {
    "block": (
        ("widths", 5),
        ("depths", 5),
        ("lean", 2),
        ("bow", 2),
        ("corner", 1),
        ("edges", 2),
        ("crowns", 2),
        ("pinch", 1),
        ("welt", 1),
    ),
    "plate": (("knots", 18), ("thickness", 1), ("round", 1), ("bevel", 1), ("puff", 1), ("bow", 1), ("curl", 1)),
    "lathe": (("knots", 24),),
    "tube": (("points", 18), ("radii", 3), ("flat", 1), ("square", 1), ("bend", 1)),
    "sheet": (
        ("widths", 9),
        ("bends", 9),
        ("thickness", 1),
        ("length", 1),
        ("cup", 1),
        ("twist", 1),
        ("wave", 1),
        ("waves", 1),
    ),
}
"""What the numbers of each kind are, in order.

``block``: half widths (x) and half depths (z) at five heights; lean and bow of its axis towards x and z; corner of the
plan (1 an ellipse, towards 0 a rectangle); rounding of the bottom and top edge (1 as round as it can be); crown of the
bottom and top face (share of half its height; negative is a dent); how far its sides are drawn in; ridge of a seam.
``plate``: nine corners (x, y) of its outline, counter-clockwise; thickness; rounding of corners; bevel; puff of its
faces; bow along x; curl along y. ``lathe``: eight knots of (radius, height, sharpness) from bottom to top. ``tube``:
six points of its centre line, radius at its start, middle and end, flatness (1 is round) across local z, squareness,
and bend: radius of corners, or a smooth curve from 0.75. ``sheet``: half widths and bends [rad] at nine stations,
thickness, length, cup, twist [rad], height and number of waves."""

LEAST_RADIUS = 1e-3
"""A turned solid whose radii are all below this [halves of its longest side] is turned inside out, or a thread."""

Opening = Literal["", "top", "bottom", "through"]
OPENINGS: tuple[Opening, ...] = get_args(Opening)

Relief = Literal["smooth", "tufted", "quilted", "channelled", "faceted", "ribbed", "fluted"]
RELIEFS: tuple[Relief, ...] = get_args(Relief)
"""Of a surface: the first four on blocks (the face towards +y), the others on turned solids."""


@dataclass(frozen=True)
class Hollow:
    """A wall instead of a full solid."""

    wall: float
    """Thickness [m]."""

    opening: Opening = "top"


def code_of(kind: str, **fields: npt.ArrayLike) -> Float[np.ndarray, "24"]:
    """The numbers of a kind in their order; fields that are not given are zero."""
    known = dict(LAYOUT[kind])
    unknown = set(fields) - set(known)
    if unknown:
        raise NeurokError(f"A {kind} has no {sorted(unknown)[0]!r}; it has {', '.join(known)}.")
    rows = []
    for name, count in LAYOUT[kind]:
        values = np.asarray(fields.get(name, np.zeros(count)), dtype=np.float64).reshape(-1)
        if len(values) != count:
            raise ShapeError(f"'{name}' of a {kind} has {count} numbers, got {len(values)}.")
        rows.append(values)
    code = np.concatenate(rows)
    return np.concatenate([code, np.zeros(CODE - len(code))])


def fields_of(kind: str, code: npt.ArrayLike) -> dict[str, np.ndarray]:
    """The named numbers of a code."""
    values = np.asarray(code, dtype=np.float64)
    if values.shape != (CODE,):
        raise ShapeError(f"A code has {CODE} numbers, got shape {values.shape}.")
    ends = np.cumsum([0, *(count for _, count in LAYOUT[kind])])
    return {name: values[a:b] for (name, _), a, b in zip(LAYOUT[kind], ends[:-1], ends[1:], strict=True)}


def mesh_of(
    kind: str,
    code: npt.ArrayLike,
    size: npt.ArrayLike,
    hollow: Hollow | None = None,
    relief: str = "smooth",
) -> Shape:
    """The closed solid of a code, filling a box of ``size`` [m] about the origin.

    Raises:
        NeurokError: If the kind has no explicit code (``implicit``) or does not exist.
    """
    if kind not in LAYOUT:
        raise NeurokError(f"A form of kind {kind!r} has no code that says its shape; those of {', '.join(LAYOUT)} do.")
    half = np.maximum(np.asarray(size, dtype=np.float64), 1e-5) / 2.0
    fields = fields_of(kind, code)
    wall = hollow.wall if hollow is not None else 0.0
    if wall > 0 and hollow is not None and kind == "lathe":
        return fitted(_lathe(fields, half, wall, hollow.opening, relief), 2 * half)
    outer = fitted(_SOLIDS[kind](fields, half, relief), 2 * half)
    if wall <= 0 or hollow is None or not hollow.opening or kind not in ("block", "plate"):
        return outer
    return hollowed(outer, wall, hollow.opening)


def raw_shape(kind: str, code: npt.ArrayLike, half: Float[np.ndarray, "3"], relief: str = "smooth") -> Shape:
    """The solid before it is stretched to its box, in the frame in which its code was written."""
    return _SOLIDS[kind](fields_of(kind, code), half, relief)


def fitted(shape: Shape, size: Float[np.ndarray, "3"]) -> Shape:
    """Stretched and moved to fill a box about the origin."""
    low, high = shape.bounds
    factor = np.divide(size, high - low, out=np.ones(3), where=high - low > 1e-12)
    return Shape((shape.vertices - (low + high) / 2.0) * factor, shape.faces, shape.uv)


def hollowed(outer: Shape, wall: float, opening: str) -> Shape:
    """A solid without its inside, which reaches out through the opening; edges there should not be rounded."""
    size = np.ptp(outer.bounds, axis=0)
    wall = min(wall, 0.3 * float(size.min()))
    inner = fitted(outer, size + wall * np.array([-2.0, 4.0 if opening == "through" else 1.0, -2.0]))
    return difference(outer, inner.move(y={"top": 1.5, "bottom": -1.5, "through": 0.0}[opening] * wall))


def _lathe(fields: Mapping[str, np.ndarray], half: np.ndarray, wall: float, opening: str, relief: str) -> Shape:
    unit = float(half.max())
    knots = fields["knots"].reshape(-1, 3) * np.array([unit, unit, 1.0])
    if knots[:, 0].max() < LEAST_RADIUS * unit:  # nothing would be left of it
        knots[:, 0] = np.maximum(np.abs(knots[:, 0]), LEAST_RADIUS * unit)
    return turned_shape(knots, wall, opening, relief)


_SOLIDS: Mapping[str, Callable[[Mapping[str, np.ndarray], np.ndarray, str], Shape]] = {
    "block": block_shape,
    "plate": lambda fields, half, relief: plate_shape(fields, float(half.max())),
    "lathe": lambda fields, half, relief: _lathe(fields, half, 0.0, "", relief),
    "tube": lambda fields, half, relief: bar_shape(fields, float(half.max())),
    "sheet": lambda fields, half, relief: sheet_shape(fields, float(half.max())),
}
