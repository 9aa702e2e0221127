"""Handles, panels and what else hangs on a front goes along when the front is put in its place."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from neurok.families.household.assemble import placed_anew
from neurok.families.household.parts import Part
from neurok.generation.face_frame import Frame, Vec, recoded
from neurok.generation.tiling import Rect


@dataclass(frozen=True)
class TrimConfig:
    """Where things sit on a front."""

    flat: float = 0.4
    """Share of both sides of a front from which something on it is a panel and grows with it; else it is a handle."""

    edge: float = 0.2
    """Largest share of a door's width between its free edge and the handle."""

    most: float = 0.92
    """Largest share of a side of a front that anything on it covers."""


TRIM = TrimConfig()


def follow(parts: list[Part], number: int, old: Part, frame: Frame, side: int, config: TrimConfig = TRIM) -> None:
    """What hangs on a front goes along: panels grow with it, handles keep their size and come to the free edge."""
    new = parts[number]
    before, after = frame.rect_of(old), frame.rect_of(new)
    outer = frame.out_of(new)[1] - frame.out_of(old)[1]
    for child in range(number + 1, len(parts)):
        if parts[child].parent != number:
            continue
        part, rect = parts[child], frame.rect_of(parts[child])
        is_flat = all(rect.long(k) > config.flat * before.long(k) for k in (0, 1)) and part.repeat.total == 1
        by, scale = np.zeros(3), np.ones(3)
        for k, axis in enumerate((frame.across, frame.up)):
            grow = after.long(k) / max(before.long(k), 1e-9)
            length = min(rect.long(k) * (grow if is_flat else 1.0), config.most * after.long(k))
            at = after.middle(k) + (rect.middle(k) - before.middle(k)) * grow
            if not is_flat and part.role == "handle" and part.hinge is None and frame.out != 1:
                at = _grip_at(part, k, length, rect, before, after, side, config)
            inside = max((after.long(k) - length) / 2, 0.0)
            at = (
                float(np.clip(at, after.middle(k) - inside, after.middle(k) + inside))
                if part.repeat.count == 1 and frame.out != 1
                else at
            )
            by[axis], scale[axis] = at - rect.middle(k), length / max(rect.long(k), 1e-9)
        by[frame.out] = frame.sign * outer
        parts[child] = _carried(part, by, scale)
        _carry_below(parts, child, by)


def _grip_at(
    part: Part, axis: int, length: float, rect: Rect, before: Rect, after: Rect, side: int, config: FrontsConfig
) -> float:
    """Where a handle sits: of a door near its free edge, of anything else in the middle."""
    if axis == 0 and side:
        edge = min(before.high[0] - rect.middle(0), rect.middle(0) - before.low[0])
        room = float(np.clip(edge, length / 2 + 0.01, max(config.edge * after.long(0), length / 2 + 0.01)))
        return after.high[0] - room if side < 0 else after.low[0] + room
    if side:
        share = (rect.middle(1) - before.middle(1)) / max(before.long(1), 1e-9)
        return after.middle(1) + float(np.clip(share, -0.3, 0.3)) * after.long(1)
    if axis == 0 and "x" in part.repeat.mirror:
        share = abs(rect.middle(0) - before.middle(0)) / max(before.long(0), 1e-9)
        return after.middle(0) + float(np.clip(share, 0.2, 0.35)) * after.long(0)
    return after.middle(axis)


def _carried(part: Part, by: Vec, scale: Vec) -> Part:
    """A part moved, and stretched along the axes of the object as far as its own lie along them."""
    own = np.abs(part.turn).T @ np.log(scale) if not np.allclose(scale, 1.0) else np.zeros(3)
    repeat = replace(part.repeat, pivot=np.asarray(part.repeat.pivot) + by[[0, 2]])
    hinge = part.hinge and replace(part.hinge, origin=np.asarray(part.hinge.origin) + by)
    size = part.size * np.exp(own)
    code = recoded(part, size) if np.any(own) else part.code
    moved = {"centre": part.centre + by, "meets": part.meets + by, "repeat": repeat, "hinge": hinge}
    return replace(part, size=size, code=code, **moved) if np.any(own) else placed_anew(part, **moved)


def _carry_below(parts: list[Part], number: int, by: Vec) -> None:
    for child in range(number + 1, len(parts)):
        if parts[child].parent == number:
            parts[child] = _carried(parts[child], by, np.ones(3))
            _carry_below(parts, child, by)
