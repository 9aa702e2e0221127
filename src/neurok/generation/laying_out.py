"""Puts the copies of a part in order: rows along their parent, rings about its axis, spirals along a stem.

A network writes how copies follow each other with some error in every number, and over a dozen copies a row with a
slight turn bends away from what carries it. The numbers of real ones are simple: no turn in a row, a whole turn in a
ring, the golden angle up a stem.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from neurok.families.household.assemble import placed_anew
from neurok.families.household.checks import LEAST_VOLUME
from neurok.families.household.parts import Part
from neurok.generation.ray_overlap import surely_overlap
from neurok.geometry import lie
from neurok.modelling.shapes import Shape

GOLDEN = 2.39983
"""Angle between one leaf and the next [rad]."""


@dataclass(frozen=True)
class LayingOutConfig:
    """From when on numbers are taken for simple ones; the first three after the errors that the flow makes."""

    slight: float = 0.2
    """Turns per copy below this are none [rad]."""

    slope: float = 0.3
    """A row that leaves an axis by less than this share of its step is along it, unless its parent is not."""

    still: float = 0.02
    """Leans [rad] and logarithms of scales below this are none."""

    ring: float = 0.2
    """Turns that add up to a whole one within this share make a ring."""

    golden: float = 0.4
    """Turns as near to the golden angle are that [rad]."""

    tall: float = 2.0
    """How many times higher than wide a parent is whose copies climb along it."""

    end: float = 0.04
    """Share of a stem's height at its ends that carries nothing."""

    bins: int = 12
    """Places along a stem where its middle is looked for."""


LAYING_OUT = LayingOutConfig()


def laid_out(part: Part, parent: Part, config: LayingOutConfig = LAYING_OUT) -> Part:
    """The part with copies in order; as it is where they are and meet the parent."""
    repeat = part.repeat
    if repeat.count == 1:
        return part
    lean = 0.0 if abs(repeat.lean) < config.still else repeat.lean
    scale = 1.0 if abs(np.log(repeat.scale)) < config.still else repeat.scale
    part = placed_anew(part, repeat=replace(repeat, lean=lean, scale=scale))
    if parent.repeat.count == repeat.count and parent.repeat.mirror == repeat.mirror:
        return placed_anew(part, repeat=replace(parent.repeat, lean=lean, scale=scale))
    if abs(repeat.turn) < config.slight:
        return _row(part, parent, config.slope)
    turn = _simple_turn(repeat.turn, repeat.count, config)
    size = np.ptp(boxes_of(parent)[0], axis=0)
    if float(np.asarray(repeat.step)[1]) > 0 and size[1] > config.tall * min(size[0], size[2]):
        other = placed_anew(part, repeat=replace(part.repeat, turn=turn))
        return _climbing(other, parent, config) if missing(part, parent) else part
    part = _turning(part, turn)
    return _around(part, parent, abs(turn) * repeat.count) if missing(part, parent) else part


def missing(part: Part, parent: Part) -> list[int]:
    """Numbers of the copies that do not share some volume with the parent."""
    return [number for number, is_met in enumerate(met_copies(part, parent)) if not is_met]


def met_copies(part: Part, parent: Part) -> list[bool]:
    """Of each copy of a part whether it shares some volume with a copy of the parent; kept with the part."""
    known = part.__dict__.get("_met")
    if known is not None and known[0] is parent:
        return list(known[1])
    boxes, others = boxes_of(part), boxes_of(parent)
    below = (boxes[:, None, 0] <= others[None, :, 1]).all(axis=-1)
    near = np.asarray(below & (boxes[:, None, 1] >= others[None, :, 0]).all(axis=-1))
    found = [
        any(_meet(part, copy, parent, int(other)) for other in np.flatnonzero(row)) for copy, row in enumerate(near)
    ]
    part.__dict__["_met"] = (parent, tuple(found))
    return found


def _meet(part: Part, copy: int, parent: Part, other: int) -> bool:
    """Whether two copies overlap; their intersection is computed only where rays do not tell."""
    ends = np.stack([boxes_of(part)[copy], boxes_of(parent)[other]])
    pair = [(_places(one)[k], _faces(one, k)) for one, k in ((part, copy), (parent, other))]
    if surely_overlap(pair[0], pair[1], ends[:, 0].max(axis=0), ends[:, 1].min(axis=0)):
        return True
    return bool((part.solids[copy] ^ parent.solids[other]).volume() > LEAST_VOLUME)


def boxes_of(part: Part) -> Float[np.ndarray, "C 2 3"]:
    """Lower and upper ends of each copy; kept with the part."""
    known = part.__dict__.get("_boxes")
    if known is None:
        places = _places(part)
        known = part.__dict__["_boxes"] = np.stack([places.min(axis=1), places.max(axis=1)], axis=1)
    return known


def _places(part: Part) -> Float[np.ndarray, "C V 3"]:
    """Vertices of each copy, bit for bit those of ``Part.solids``; kept with the part."""
    known = part.__dict__.get("_places")
    if known is None:
        (x, y, z), poses = part.solid.vertices.T[:, None, :, None], part.poses[:, None, :3]
        known = poses[..., 0] * x + poses[..., 1] * y + poses[..., 2] * z + poses[..., 3]
        part.__dict__["_places"] = known
    return known


def _faces(part: Part, copy: int) -> Int[np.ndarray, "F 3"]:
    """Of a copy, counter-clockwise seen from outside."""
    is_mirrored = np.linalg.det(part.poses[copy, :3, :3]) < 0
    return part.solid.faces[:, ::-1] if is_mirrored else part.solid.faces


def _simple_turn(turn: float, count: int, config: LayingOutConfig) -> float:
    whole = 2.0 * np.pi
    if abs(abs(turn) * count - whole) < config.ring * whole:
        return float(np.sign(turn) * whole / count)
    for golden in (GOLDEN, whole - GOLDEN):
        if abs(abs(turn) - golden) < config.golden:
            return float(np.sign(turn) * golden)
    return turn


def _row(part: Part, parent: Part, slope: float) -> Part:
    """The straight row nearest to the copies, along one axis; no longer than the parent where copies would miss it."""
    count = part.repeat.count
    middles = part.poses[:: 2 ** len(part.repeat.mirror), :3, 3]
    order = np.arange(count) - (count - 1) / 2
    step = order @ middles / float(order @ order)
    part = _stepping(part, middles.mean(axis=0), step)
    axis = int(np.abs(step).argmax())
    only = np.where(np.arange(3) == axis, step, 0.0)
    if np.linalg.norm(step - only) < slope * abs(step[axis]):
        straight = _stepping(part, middles.mean(axis=0), only)
        part = straight if len(missing(straight, parent)) <= len(missing(part, parent)) else part
    if not missing(part, parent) or abs(step[axis]) < 1e-9:
        return part
    wide = float(np.ptp(boxes_of(part)[0, :, axis]))
    ends = boxes_of(parent)[:, :, axis]
    low, high = float(ends[:, 0].min()), float(ends[:, 1].max())
    longest = max(high - low - wide, 0.0) / max(count - 1, 1)
    along = np.zeros(3)
    along[axis] = np.sign(step[axis]) * min(abs(step[axis]), longest)
    middle = middles.mean(axis=0)
    half = (abs(along[axis]) * (count - 1) + wide) / 2
    middle[axis] = np.clip(middle[axis], min(low + half, (low + high) / 2), max(high - half, (low + high) / 2))
    return _stepping(part, middle, along)


def _stepping(part: Part, middle: Float[np.ndarray, "3"], step: Float[np.ndarray, "3"]) -> Part:
    """Copies in a row of which the middle is given."""
    by = middle - (part.repeat.count - 1) / 2 * step - part.centre
    repeat = replace(part.repeat, step=step, turn=0.0)
    return placed_anew(part, centre=part.centre + by, meets=part.meets + by, repeat=repeat)


def _turning(part: Part, turn: float) -> Part:
    """Copies turned by another angle each about their pivot, the middle one staying where it is."""
    lag = (part.repeat.count - 1) / 2 * (part.repeat.turn - turn)
    pivot = np.array([part.repeat.pivot[0], 0.0, part.repeat.pivot[1]])
    move = lie.rotation_about(np.array([0.0, 1.0, 0.0]), pivot, lag)
    go = lambda point: move[:3, :3] @ point + move[:3, 3]  # noqa: E731
    repeat = replace(part.repeat, turn=turn)
    return placed_anew(part, centre=go(part.centre), meets=go(part.meets), turn=move[:3, :3] @ part.turn, repeat=repeat)


def _around(part: Part, parent: Part, reach: float) -> Part:
    """About the axis of the copy of the parent that is nearest; a ring that closes after ``reach`` does not climb."""
    middles = boxes_of(parent).mean(axis=1)
    nearest = middles[np.linalg.norm((middles - part.centre)[:, [0, 2]], axis=1).argmin()]
    step = np.asarray(part.repeat.step) * [0.0, 0.0 if np.isclose(reach, 2.0 * np.pi) else 1.0, 0.0]
    return placed_anew(part, repeat=replace(part.repeat, pivot=nearest[[0, 2]], step=step))


def _climbing(part: Part, parent: Part, config: LayingOutConfig) -> Part:
    """Up the middle of the parent, each copy rooted in it."""
    distance = np.linalg.norm(boxes_of(parent).mean(axis=1) - part.meets, axis=1)
    stem = parent.copies[int(np.argmin(distance))]
    low, high = stem.bounds[:, 1]
    margin = config.end * (high - low)
    heights, middles = _middle_line(stem, config.bins)
    middle = lambda y: np.array([np.interp(y, heights, middles[:, k]) for k in (0, 1)])  # noqa: E731
    points = part.copies[0].vertices
    line = np.stack([np.interp(points[:, 1], heights, middles[:, k]) for k in (0, 1)], axis=1)
    aside = np.linalg.norm(points[:, [0, 2]] - line, axis=1)
    root = points[aside.argmin()]
    start = float(np.clip(root[1], low + margin, high - margin))
    count = part.repeat.count
    rise = min(float(np.asarray(part.repeat.step)[1]), (high - margin - start) / max(count - 1, 1))
    foot, head = middle(start), middle(start + (count - 1) * rise)
    slope = (head - foot) / max(count - 1, 1)
    anchor = np.array([foot[0], start, foot[1]])
    repeat = replace(part.repeat, step=np.array([slope[0], rise, slope[1]]), pivot=foot)
    return placed_anew(part, centre=part.centre + anchor - root, meets=anchor, repeat=repeat)


def _middle_line(shape: Shape, bins: int) -> tuple[Float[np.ndarray, " N"], Float[np.ndarray, "N 2"]]:
    """The middle of a solid at some heights."""
    points = shape.vertices
    low, high = shape.bounds[:, 1]
    number = np.clip(((points[:, 1] - low) / max(high - low, 1e-9) * bins).astype(int), 0, bins - 1)
    found = [points[number == k] for k in range(bins)]
    found = [some for some in found if len(some)]
    boxes = np.array([(some.min(axis=0) + some.max(axis=0)) / 2 for some in found])
    return boxes[:, 1], boxes[:, [0, 2]]
