"""Puts the copies of a part in order: rows along their parent, rings about its axis, spirals along a stem.

A network writes how copies follow each other with some error in every number, and over a dozen copies a row with a
slight turn bends away from what carries it. The numbers of real ones are simple: no turn in a row, a whole turn in a
ring, the golden angle up a stem.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from jaxtyping import Float

from neurok.catalogue.assemble import placed_anew
from neurok.catalogue.parts import Part
from neurok.generation.contacts import Vec, boxes_of, missing, shifted
from neurok.geometry import lie
from neurok.modelling.shapes import Shape

GOLDEN = 2.39983  # angle between one leaf and the next [rad]

# From when on numbers are taken for simple ones; the first three after the errors that the flow makes.
SLIGHT = 0.2  # turns per copy below this are none [rad]
SLOPE = 0.3  # a row that leaves an axis by less than this share of its step is along it, unless its parent is not
STILL = 0.02  # leans [rad] and logarithms of scales below this are none
RING = 0.2  # turns that add up to a whole one within this share make a ring
NEAR_GOLDEN = 0.4  # turns as near to the golden angle are that [rad]
TALL = 2.0  # how many times higher than wide a parent is whose copies climb along it
END = 0.04  # share of a stem's height at its ends that carries nothing
BINS = 12  # places along a stem where its middle is looked for


def laid_out(part: Part, parent: Part) -> Part:
    """The part with copies in order; as it is where they are and meet the parent."""
    repeat = part.repeat
    if repeat.count == 1:
        return part
    lean = 0.0 if abs(repeat.lean) < STILL else repeat.lean
    scale = 1.0 if abs(np.log(repeat.scale)) < STILL else repeat.scale
    part = placed_anew(part, repeat=replace(repeat, lean=lean, scale=scale))
    if parent.repeat.count == repeat.count and parent.repeat.mirror == repeat.mirror:
        return placed_anew(part, repeat=replace(parent.repeat, lean=lean, scale=scale))
    if abs(repeat.turn) < SLIGHT:
        return _row(part, parent)
    turn = _simple_turn(repeat.turn, repeat.count)
    size = np.ptp(boxes_of(parent)[0], axis=0)
    if float(np.asarray(repeat.step)[1]) > 0 and size[1] > TALL * min(size[0], size[2]):
        other = placed_anew(part, repeat=replace(part.repeat, turn=turn))
        return _climbing(other, parent) if missing(part, parent) else part
    part = _turning(part, turn)
    return _around(part, parent, abs(turn) * repeat.count) if missing(part, parent) else part


def _simple_turn(turn: float, count: int) -> float:
    whole = 2.0 * np.pi
    if abs(abs(turn) * count - whole) < RING * whole:
        return float(np.sign(turn) * whole / count)
    for golden in (GOLDEN, whole - GOLDEN):
        if abs(abs(turn) - golden) < NEAR_GOLDEN:
            return float(np.sign(turn) * golden)
    return turn


def _row(part: Part, parent: Part) -> Part:
    """The straight row nearest to the copies, along one axis; no longer than the parent where copies would miss it."""
    count = part.repeat.count
    middles = part.poses[:: 2 ** len(part.repeat.mirror), :3, 3]
    middle, order = middles.mean(axis=0), np.arange(count) - (count - 1) / 2
    step = order @ middles / float(order @ order)
    part = _stepping(part, middle, step)
    axis = int(np.abs(step).argmax())
    only = np.where(np.arange(3) == axis, step, 0.0)
    if np.linalg.norm(step - only) < SLOPE * abs(step[axis]):
        straight = _stepping(part, middle, only)
        part = straight if len(missing(straight, parent)) <= len(missing(part, parent)) else part
    if not missing(part, parent) or abs(step[axis]) < 1e-9:
        return part
    wide = float(np.ptp(boxes_of(part)[0, :, axis]))
    ends = boxes_of(parent)[:, :, axis]
    low, high = float(ends[:, 0].min()), float(ends[:, 1].max())
    longest = max(high - low - wide, 0.0) / max(count - 1, 1)
    along = np.zeros(3)
    along[axis] = np.sign(step[axis]) * min(abs(step[axis]), longest)
    half = (abs(along[axis]) * (count - 1) + wide) / 2
    middle[axis] = np.clip(middle[axis], min(low + half, (low + high) / 2), max(high - half, (low + high) / 2))
    return _stepping(part, middle, along)


def _stepping(part: Part, middle: Vec, step: Vec) -> Part:
    """Copies in a row of which the middle is given."""
    by = middle - (part.repeat.count - 1) / 2 * step - part.centre
    return shifted(part, by, replace(part.repeat, step=step, turn=0.0))


def _turning(part: Part, turn: float) -> Part:
    """Copies turned by another angle each about their pivot, the middle one staying where it is."""
    lag = (part.repeat.count - 1) / 2 * (part.repeat.turn - turn)
    pivot = np.array([part.repeat.pivot[0], 0.0, part.repeat.pivot[1]])
    move = lie.rotation_about(np.array([0.0, 1.0, 0.0]), pivot, lag)
    centre, meets = (move[:3, :3] @ point + move[:3, 3] for point in (part.centre, part.meets))
    repeat = replace(part.repeat, turn=turn)
    return placed_anew(part, centre=centre, meets=meets, turn=move[:3, :3] @ part.turn, repeat=repeat)


def _around(part: Part, parent: Part, reach: float) -> Part:
    """About the axis of the copy of the parent that is nearest; a ring that closes after ``reach`` does not climb."""
    middles = boxes_of(parent).mean(axis=1)
    nearest = middles[np.linalg.norm((middles - part.centre)[:, [0, 2]], axis=1).argmin()]
    step = np.asarray(part.repeat.step) * [0.0, 0.0 if np.isclose(reach, 2.0 * np.pi) else 1.0, 0.0]
    return placed_anew(part, repeat=replace(part.repeat, pivot=nearest[[0, 2]], step=step))


def _climbing(part: Part, parent: Part) -> Part:
    """Up the middle of the parent, each copy rooted in it."""
    distance = np.linalg.norm(boxes_of(parent).mean(axis=1) - part.meets, axis=1)
    stem = parent.copies[int(np.argmin(distance))]
    low, high = stem.bounds[:, 1]
    margin = END * (high - low)
    heights, middles = _middle_line(stem)

    def middle(y: Float[np.ndarray, " N"]) -> Float[np.ndarray, "N 2"]:
        return np.stack([np.interp(y, heights, middles[:, k]) for k in (0, 1)], axis=1)

    points = part.copies[0].vertices
    aside = np.linalg.norm(points[:, [0, 2]] - middle(points[:, 1]), axis=1)
    root = points[aside.argmin()]
    start = float(np.clip(root[1], low + margin, high - margin))
    count = part.repeat.count
    rise = min(float(np.asarray(part.repeat.step)[1]), (high - margin - start) / max(count - 1, 1))
    foot, head = middle(np.array([start, start + (count - 1) * rise]))
    slope = (head - foot) / max(count - 1, 1)
    anchor = np.array([foot[0], start, foot[1]])
    repeat = replace(part.repeat, step=np.array([slope[0], rise, slope[1]]), pivot=foot)
    return placed_anew(part, centre=part.centre + anchor - root, meets=anchor, repeat=repeat)


def _middle_line(shape: Shape) -> tuple[Float[np.ndarray, " N"], Float[np.ndarray, "N 2"]]:
    """The middle of a solid at some heights."""
    points = shape.vertices
    low, high = shape.bounds[:, 1]
    number = np.clip(((points[:, 1] - low) / max(high - low, 1e-9) * BINS).astype(int), 0, BINS - 1)
    found = [points[number == k] for k in np.unique(number)]
    boxes = np.array([(some.min(axis=0) + some.max(axis=0)) / 2 for some in found])
    return boxes[:, 1], boxes[:, [0, 2]]
