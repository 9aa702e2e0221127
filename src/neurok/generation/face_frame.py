"""The face of a hollow part as a frame: two axes along it and the one on which it looks out; boxes in it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from neurok.families.household.faces import Face
from neurok.families.household.parts import Part
from neurok.families.household.solids import block
from neurok.generation.fields import quarters
from neurok.generation.numbers import code_units
from neurok.generation.tiling import Rect

Vec = Float[np.ndarray, "3"]

STRAIGHT = 0.9
"""Least cosine between where a hollow opens and an axis of the object; the face of others is none."""


@dataclass(frozen=True)
class Frame:
    """The face of a hollow part: two axes along it and the one on which it looks out."""

    across: int
    up: int
    out: int
    sign: float
    rect: Rect
    """What the fronts share."""

    inner: Rect
    """Between the walls."""

    face: float
    """Where it lies along the way out, which is ``sign`` times the axis."""

    back: float
    """The inner side of the wall behind."""

    wall: float
    is_partly_open: bool = False

    def rect_of(self, part: Part) -> Rect:
        low, high = ends_of(part)
        axes = (self.across, self.up)
        return Rect(tuple(low[k] for k in axes), tuple(high[k] for k in axes))  # type: ignore[arg-type]

    def out_of(self, part: Part) -> tuple[float, float]:
        """From where to where a part reaches along the way out."""
        low, high = ends_of(part)
        first, second = sorted((self.sign * low[self.out], self.sign * high[self.out]))
        return float(first), float(second)

    def box(self, rect: Rect, first: float, second: float) -> tuple[Vec, Vec]:
        """Lower and upper corner of what fills a rectangle from one depth to another."""
        low, high = np.zeros(3), np.zeros(3)
        low[[self.across, self.up]], high[[self.across, self.up]] = rect.low, rect.high
        low[self.out], high[self.out] = sorted((self.sign * first, self.sign * second))
        return low, high


def ends_of(part: Part) -> tuple[Vec, Vec]:
    """Corners of the box around the box of a part's first copy."""
    half = np.abs(part.turn) @ part.size / 2
    return part.centre - half, part.centre + half


def frame_of(hollow: Part, face: Face) -> Frame | None:
    """The face of a part that is open at one side, straight along an axis of the object; nothing for others."""
    way = hollow.turn[:, 1]
    out = int(np.abs(way).argmax())
    if hollow.hollow is None or hollow.hollow.opening != "top" or abs(way[out]) < STRAIGHT:
        return None
    sign = float(np.sign(way[out]))
    low, high = ends_of(hollow)
    across, up = {0: (2, 1), 1: (0, 2), 2: (0, 1)}[out]
    wall = min(hollow.hollow.wall, 0.2 * float(hollow.size.min()))
    within = lambda d: Rect((low[across] + d, low[up] + d), (high[across] - d, high[up] - d))  # noqa: E731
    back, front = sorted((sign * low[out], sign * high[out]))
    rect = within(wall if face.lies == "in" else 0.0)
    return Frame(across, up, out, sign, rect, within(wall), float(front), float(back) + wall, wall)


def boxed(part: Part, low: Vec, high: Vec) -> Part:
    """A straight board, or what else the part is, that fills a box along the axes of the object."""
    turn = max(quarters(), key=lambda quarter: float(np.sum(quarter * part.turn)))
    size = np.maximum(np.abs(turn.T) @ (high - low), 1e-4)
    centre = (low + high) / 2
    meets = np.clip(part.meets - part.centre + centre, low, high)
    return straight(replace(part, size=size, centre=centre, turn=turn, meets=meets, code=recoded(part, size)))


def straight(part: Part, edge: float = 0.05) -> Part:
    """A block without bends, as joiners make them; other kinds as they are."""
    if part.kind != "block":
        return part
    return replace(part, code=block(part.size, corner=0.02, edge=0.0 if part.hollow else edge).code)


def recoded(part: Part, size: Vec) -> Float[np.ndarray, "24"]:
    """The numbers of the same shape in a box of another size."""
    return np.asarray(part.code / code_units(part.kind, part.size) * code_units(part.kind, size))
