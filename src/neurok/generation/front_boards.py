"""Dividers and shelves of a hollow part: at the lines between its fronts, or behind doors where there is room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from neurok.families.household.casework import SINK
from neurok.families.household.parts import Part, Repeat
from neurok.generation.face_frame import Frame, boxed
from neurok.generation.tiling import Cut, Rect, Tiling


def boards_at(parts: Sequence[Part], boards: Sequence[int], frame: Frame, tiling: Tiling) -> dict[int, int]:
    """Which boards stand at which cuts: each at the nearest that needs one, in the order of nearness."""
    pairs = []
    for board in boards:
        axis, rect = _thin_axis(parts[board], frame), frame.rect_of(parts[board])
        if axis is None or parts[board].repeat.total > 1:
            continue
        for k, cut in enumerate(tiling.cuts):
            if cut.axis == axis and (not cut.is_bare or parts[board].name == "divider"):
                pairs.append((abs(rect.middle(axis) - cut.at) + 10 * cut.is_bare, k, board))
    found: dict[int, int] = {}
    for _, k, board in sorted(pairs):
        if k not in found and board not in found.values():
            found[k] = board
    return found


def _thin_axis(board: Part, frame: Frame) -> int | None:
    """0 for one that stands, 1 for one that lies or is a rod, nothing for one that is neither."""
    rect, (first, second) = frame.rect_of(board), frame.out_of(board)
    thin = int(np.argmin((rect.long(0), rect.long(1))))
    return thin if rect.long(thin) < THIN * (second - first) else None


THIN = 1.5
"""How many times as thick as deep a board may be; rods are as thick as deep."""


def board_at(board: Part, cut: Cut, frame: Frame) -> Part:
    """A board at a cut, from wall to wall and from the back to just behind the face."""
    thick = frame.wall / 2
    rect = cut.across.cut(cut.axis, cut.at - thick, cut.at + thick)
    other = 1 - cut.axis
    rect = rect.cut(other, rect.low[other] - SINK, rect.high[other] + SINK)
    return boxed(board, *frame.box(_within(rect, frame), frame.back - SINK, frame.face - 0.002))


def _within(rect: Rect, frame: Frame) -> Rect:
    """No further than a hair into the walls of the hollow."""
    low = tuple(max(a, b - SINK) for a, b in zip(rect.low, frame.inner.low, strict=True))
    high = tuple(min(a, b + SINK) for a, b in zip(rect.high, frame.inner.high, strict=True))
    return Rect(low, high)  # type: ignore[arg-type]


def put_shelves(parts: list[Part], boards: Sequence[int], tiling: Tiling, frame: Frame) -> None:
    """Other boards go where there is room behind a door or in the open; where there is none, into the nearest wall."""
    for number in boards:
        axis = _thin_axis(parts[number], frame)
        if axis is not None and tiling.spaces:
            parts[number] = _shelf(parts[number], axis, tiling.spaces, frame)
        elif axis is not None:
            parts[number] = _in_wall(parts[number], axis, frame)


def _shelf(part: Part, axis: int, spaces: Sequence[Rect], frame: Frame) -> Part:
    """Boards of one part in the space that is nearest, as near to where they are as they have room."""
    rect, other, count = frame.rect_of(part), 1 - axis, part.repeat.count
    space = _within(min(spaces, key=lambda one: _apart(one, rect)), frame)
    thick, along = min(rect.long(axis), 0.02), (frame.across, frame.up)[axis]
    step = float(np.asarray(part.repeat.step)[along])
    middle = rect.middle(axis) + (count - 1) * step / 2
    step = min(abs(step), max(space.long(axis) - 2 * thick, 0.0) / count)
    half = (count - 1) * step / 2
    room = max(space.long(axis) / 2 - half - thick, 0.0)
    first = float(np.clip(middle, space.middle(axis) - room, space.middle(axis) + room)) - half
    own = space.cut(axis, first - thick / 2, first + thick / 2)
    own = _within(own.cut(other, own.low[other] - SINK, own.high[other] + SINK), frame)
    depth = frame.face - frame.back
    inner, outer = frame.out_of(part)
    reach = float(np.clip(outer, frame.back + 0.3 * depth, frame.face - 0.02))
    start = max(reach - (outer - inner), frame.back) if outer - inner < 0.3 * depth else frame.back - SINK
    steps = np.zeros(3)
    steps[along] = abs(step)
    repeat = Repeat(count=count, step=steps) if count > 1 else Repeat()
    return replace(boxed(part, *frame.box(own, start, reach)), repeat=repeat)


def _in_wall(part: Part, axis: int, frame: Frame) -> Part:
    """A board that has no room, as part of the wall that is nearest."""
    inner, is_low = frame.inner, frame.rect_of(part).middle(axis) < frame.inner.middle(axis)
    side, way = (inner.low[axis], -1.0) if is_low else (inner.high[axis], 1.0)
    own = inner.cut(axis, *sorted((side, side + way * 0.9 * frame.wall)))
    return replace(boxed(part, *frame.box(own, frame.back - SINK, frame.face - 0.002)), repeat=Repeat())


def _apart(space: Rect, rect: Rect) -> float:
    beside = [max(space.low[k] - rect.middle(k), rect.middle(k) - space.high[k], 0.0) for k in (0, 1)]
    return float(np.hypot(beside[0], beside[1]))
