"""Doors, drawers and lids that close the opening of what carries them: shut, side by side, hung at the right edge.

A network writes each front with some error, so that they overlap, stand ajar or beside the body. Which parts are fronts
of which hollow is declared (``catalogue/casework.py``); here they share its face, boards stand at the lines
between them, and what hangs on them goes along.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from neurok.catalogue.casework import FACES, GAP, PULLED_SHARE, SINK, THICKNESS, Face, boards_of, fronts_of
from neurok.catalogue.parts import Assembly, Hinge, Part, Repeat
from neurok.catalogue.solids import block
from neurok.generation.contacts import Vec, ends_of, shifted
from neurok.generation.fields import LEVEL, quarters
from neurok.generation.numbers import code_units
from neurok.generation.tiling import Cut, Rect, Tile, Tiling, tiled

# Measures of fronts, as the generators draw them.
STRAIGHT = 0.9  # least cosine between where a hollow opens and an axis of the object; others have no face
DRAWER_GAP = 0.004  # between drawers above each other [m], besides the gap of each
THICK = np.array([0.6, 3.5])  # between how many times a usual board a front before a face is thick
OPENED = (1.45, 2.0)  # between which angles doors open [rad] ...
LID_OPENED = (1.2, 2.0)  # ... and lids
BEHIND = 0.02  # room behind a drawer [m]
DEEP = 0.45  # depth of a drawer for which there is room [m]; only wider than this is left to what was written
NEAR = 0.04  # how far a hollow part comes towards its fronts [shares of its face]; those farther off are misplaced
OVER = 1.04  # how many times wider than its box a lid may be
THIN = 1.5  # how many times as thick as deep a board may be; rods are as thick as deep
FLAT = 0.4  # share of both sides of a front from which something on it is a panel and grows with it, not a handle
EDGE = 0.2  # largest share of a door's width between its free edge and the handle
COVERED = 0.92  # largest share of a side of a front that anything on it covers


@dataclass(frozen=True)
class FaceFrame:
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

    @property
    def axes(self) -> list[int]:
        return [self.across, self.up]

    def rect_of(self, part: Part) -> Rect:
        low, high = ends_of(part)[:, self.axes]
        return Rect(tuple(low), tuple(high))

    def out_of(self, part: Part) -> tuple[float, float]:
        """From where to where a part reaches along the way out."""
        first, second = sorted(self.sign * ends_of(part)[:, self.out])
        return float(first), float(second)

    def box(self, rect: Rect, first: float, second: float) -> tuple[Vec, Vec]:
        """Lower and upper corner of what fills a rectangle from one depth to another."""
        low, high = np.zeros(3), np.zeros(3)
        low[self.axes], high[self.axes] = rect.low, rect.high
        low[self.out], high[self.out] = sorted((self.sign * first, self.sign * second))
        return low, high

    def within(self, rect: Rect) -> Rect:
        """No further than a hair into the walls of the hollow."""
        low = tuple(max(a, b - SINK) for a, b in zip(rect.low, self.inner.low, strict=True))
        high = tuple(min(a, b + SINK) for a, b in zip(rect.high, self.inner.high, strict=True))
        return Rect(low, high)  # type: ignore[arg-type]


def frame_of(hollow: Part, face: Face) -> FaceFrame | None:
    """The face of a part that is open at one side, straight along an axis of the object; nothing for others."""
    way = hollow.turn[:, 1]
    out = int(np.abs(way).argmax())
    if hollow.hollow is None or hollow.hollow.opening != "top" or abs(way[out]) < STRAIGHT:
        return None
    sign = float(np.sign(way[out]))
    low, high = ends_of(hollow)
    across, up = {0: (2, 1), 1: (0, 2), 2: (0, 1)}[out]
    wall = min(hollow.hollow.wall, 0.2 * float(hollow.size.min()))
    outer = Rect((low[across], low[up]), (high[across], high[up]))
    inner = Rect((low[across] + wall, low[up] + wall), (high[across] - wall, high[up] - wall))
    back, front = sorted((sign * low[out], sign * high[out]))
    rect = inner if face.lies == "in" else outer
    return FaceFrame(across, up, out, sign, rect, inner, float(front), float(back) + wall, wall)


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


def closed(assembly: Assembly) -> Assembly:
    """The object with all fronts in the faces that they close; what hangs on them goes along."""
    category, parts = assembly.category, list(assembly.parts)
    for hollow, fronts in fronts_of(category, parts).items():
        face = FACES[category]
        frame = frame_of(parts[hollow], face)
        if frame is None:
            continue
        frame = replace(frame, is_partly_open=bool(set(assembly.style) & set(face.open_kinds)))
        if frame.out != 1:
            parts[hollow] = straight(parts[hollow])
            if not frame.is_partly_open:
                parts[hollow] = _towards(parts[hollow], [parts[number] for number in fronts], frame)
                shut = frame_of(parts[hollow], face)
                assert shut is not None
                frame = shut
        _close(parts, boards_of(category, parts, hollow), hollow, fronts, frame, face)
    return replace(assembly, parts=tuple(parts))


def _towards(hollow: Part, fronts: Sequence[Part], frame: FaceFrame) -> Part:
    """A hollow part half of the way towards what its fronts would fill, so that they have to change by half only."""
    rects = [frame.rect_of(part) for part in fronts]
    low, high = ends_of(hollow)
    for k, axis in enumerate(frame.axes):
        before = np.array([frame.rect.low[k], frame.rect.high[k]])
        after = np.array([min(rect.low[k] for rect in rects), max(rect.high[k] for rect in rects)])
        by = (after - before) / 2
        if axis != 1 and abs(hollow.centre[axis]) < LEVEL:
            by = (by - by[::-1]) / 2  # what stands in the middle stays there
        if np.abs(by).max() < NEAR * (before[1] - before[0]):
            low[axis], high[axis] = low[axis] + by[0], high[axis] + by[1]
    return boxed(hollow, low, high)


def _close(parts: list[Part], boards: list[int], hollow: int, fronts: list[int], frame: FaceFrame, face: Face) -> None:
    tiles = [Tile(number, parts[number].name, frame.rect_of(parts[number])) for number in fronts]
    seen = [frame.rect_of(parts[number]) for number in boards]
    rough = tiled(tiles, frame.rect, seen, is_partly_open=frame.is_partly_open)
    placed = _boards_at_cuts(parts, boards, frame, rough)
    room, gap = (frame.wall, DRAWER_GAP) if face.lies == "in" else (0.0, 0.0)
    tiling = tiled(tiles, frame.rect, seen, dict.fromkeys(placed, room), gap=gap, is_partly_open=frame.is_partly_open)
    for k, board in placed.items():
        parts[board] = _board(parts[board], tiling.cuts[k], frame)
    _put_shelves(parts, [board for board in boards if board not in placed.values()], tiling, frame)
    plane = _plane(parts, fronts, frame, face)
    sides = _sides(parts, tiling, frame)
    lines = [cut.at for k, cut in enumerate(tiling.cuts) if k in placed and cut.axis == 0]
    for number in fronts:
        old, cell, side = parts[number], tiling.cells[number], sides.get(number, 0)
        walls = tuple(
            any(abs(end[0] - line) < frame.wall for line in (edge[0], *lines))
            for end, edge in ((cell.low, frame.rect.low), (cell.high, frame.rect.high))
        )
        parts[number] = replace(_front(old, cell, frame, face, plane, side, walls), parent=hollow)
        _follow(parts, number, old, frame, side)


def _plane(parts: Sequence[Part], fronts: Sequence[int], frame: FaceFrame, face: Face) -> float:
    """Where the outer sides of all fronts lie along the way out."""
    ends = np.array([frame.out_of(parts[number]) for number in fronts])
    if face.lies == "in":
        return float(np.clip(np.median(ends[:, 1]), frame.face - 0.003, frame.face + THICKNESS - 0.004))
    thick = float(np.min(ends[:, 1] - ends[:, 0]))
    return frame.face - SINK + float(np.clip(thick, *(THICK * THICKNESS)))


def _sides(parts: Sequence[Part], tiling: Tiling, frame: FaceFrame) -> dict[int, int]:
    """Where doors hang: -1 at their lower end, 1 at their upper one along the face.

    Pairs open from the middle; doors above each other hang at the same side.
    """
    found: dict[int, int] = {}
    alone: dict[float, list[int]] = {}
    for row in tiling.rows:
        for k, number in enumerate(row):
            found[number] = -1 if k % 2 == 0 else 1
        found[row[-1]] = 1
        if len(row) == 1:
            alone.setdefault(round(float(tiling.cells[row[0]].low[0]), 3), []).append(row[0])
    for column in alone.values():
        hinges = [(parts[number].hinge, parts[number].centre) for number in column]
        votes = [1 if hinge.origin[frame.across] > centre[frame.across] else -1 for hinge, centre in hinges if hinge]
        found.update(dict.fromkeys(column, 1 if sum(votes) > 0 else -1))
    return found


def _front(
    part: Part, cell: Rect, frame: FaceFrame, face: Face, plane: float, side: int, walls: tuple[bool, ...]
) -> Part:
    """A front in its cell, closed, with its hinge; ``walls`` says whether one stands at its lower and upper end."""
    if frame.out == 1:
        return _lid(part, cell, frame)
    inner = frame.face - SINK
    if face.lies == "before" and part.hinge is None:  # one that does not move may fill what is behind it
        own = Rect(tuple(x + GAP / 2 for x in cell.low), tuple(x - GAP / 2 for x in cell.high))  # type: ignore[arg-type]
        return boxed(part, *frame.box(own, min(max(frame.out_of(part)[0], frame.back - SINK), inner), plane))
    if face.lies == "before":  # it covers the edges of the walls
        own = cell.cut(0, cell.low[0] + (SINK if side < 0 else GAP), cell.high[0] - (SINK if side > 0 else GAP))
        return _hung(part, own, frame, (inner, plane), side)
    if part.name == "drawer" or (part.hinge is not None and part.hinge.kind == "prismatic"):
        return _drawer(part, cell, frame, plane, walls)
    low = cell.low[0] + (-SINK if side < 0 else GAP)
    high = cell.high[0] - (-SINK if side > 0 else GAP)
    rim = GAP if walls[side > 0] else -SINK
    own = Rect((low, cell.low[1] + rim), (high, cell.high[1] - rim))
    return _hung(part, own, frame, (plane - THICKNESS, plane), side)


def _hung(part: Part, own: Rect, frame: FaceFrame, depth: tuple[float, float], side: int) -> Part:
    """A door that turns about the outer corner of its hung edge."""
    origin, axis = np.zeros(3), np.zeros(3)
    origin[frame.across] = own.low[0] if side < 0 else own.high[0]
    origin[frame.up], origin[frame.out] = own.middle(1), frame.sign * depth[1]
    turn = frame.sign if frame.out == 2 else -frame.sign
    axis[frame.up] = side * turn
    upper = float(np.clip(part.hinge.upper if part.hinge else 0.0, *OPENED))
    hinge = Hinge("revolute", axis, origin, 0.0, upper)
    return replace(boxed(part, *frame.box(own, *depth)), hinge=hinge, repeat=Repeat())


def _drawer(part: Part, cell: Rect, frame: FaceFrame, plane: float, walls: tuple[bool, ...]) -> Part:
    """A tray from the face towards the back; its sides reach into the walls, or its back does where there are none."""
    reach = [SINK if wall else -GAP for wall in walls]
    own = Rect((cell.low[0] - reach[0], cell.low[1] + GAP), (cell.high[0] + reach[1], cell.high[1] - GAP))
    first, second = frame.out_of(part)
    room = plane - frame.back
    most = room - min(BEHIND, 0.1 * room)
    deep = float(np.clip(second - first, min(DEEP, most), most)) if any(walls) else room + SINK
    axis = np.zeros(3)
    axis[frame.out] = frame.sign
    low, high = frame.box(own, plane - deep, plane)
    slide = Hinge("prismatic", axis, (low + high) / 2, 0.0, PULLED_SHARE * deep)
    return replace(boxed(part, low, high), hinge=slide, repeat=Repeat())


def _lid(part: Part, cell: Rect, frame: FaceFrame) -> Part:
    """Lies on the edge of its box and turns about the edge at the back."""
    rect, (first, second) = frame.rect_of(part), frame.out_of(part)
    own = cell
    for axis in (0, 1):
        half = float(np.clip(rect.long(axis) / max(cell.long(axis), 1e-9), 1.0, OVER)) * cell.long(axis) / 2
        own = own.cut(axis, cell.middle(axis) - half, cell.middle(axis) + half)
    origin = np.zeros(3)
    origin[frame.across], origin[frame.up], origin[frame.out] = cell.middle(0), cell.low[1], frame.face
    upper = float(np.clip(part.hinge.upper if part.hinge else 0.0, *LID_OPENED))
    hinge = Hinge("revolute", (-1.0, 0.0, 0.0), origin, 0.0, upper)
    bottom = frame.face - SINK
    filled = boxed(part, *frame.box(own, bottom, bottom + second - first))
    return replace(filled, code=recoded(part, filled.size), hinge=hinge, repeat=Repeat())


def _boards_at_cuts(parts: Sequence[Part], boards: Sequence[int], frame: FaceFrame, tiling: Tiling) -> dict[int, int]:
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


def _thin_axis(board: Part, frame: FaceFrame) -> int | None:
    """0 for one that stands, 1 for one that lies or is a rod, nothing for one that is neither."""
    rect, (first, second) = frame.rect_of(board), frame.out_of(board)
    thin = int(np.argmin((rect.long(0), rect.long(1))))
    return thin if rect.long(thin) < THIN * (second - first) else None


def _board(board: Part, cut: Cut, frame: FaceFrame) -> Part:
    """A board at a cut, from wall to wall and from the back to just behind the face."""
    thick = frame.wall / 2
    rect = cut.across.cut(cut.axis, cut.at - thick, cut.at + thick)
    other = 1 - cut.axis
    rect = rect.cut(other, rect.low[other] - SINK, rect.high[other] + SINK)
    return boxed(board, *frame.box(frame.within(rect), frame.back - SINK, frame.face - 0.002))


def _put_shelves(parts: list[Part], boards: Sequence[int], tiling: Tiling, frame: FaceFrame) -> None:
    """Other boards go where there is room behind a door or in the open; where there is none, into the nearest wall."""
    for number in boards:
        axis = _thin_axis(parts[number], frame)
        if axis is not None and tiling.spaces:
            parts[number] = _shelf(parts[number], axis, tiling.spaces, frame)
        elif axis is not None:
            parts[number] = _in_wall(parts[number], axis, frame)


def _shelf(part: Part, axis: int, spaces: Sequence[Rect], frame: FaceFrame) -> Part:
    """Boards of one part in the space that is nearest, as near to where they are as they have room."""
    rect, other, count = frame.rect_of(part), 1 - axis, part.repeat.count
    space = frame.within(min(spaces, key=lambda one: _apart(one, rect)))
    thick, along = min(rect.long(axis), 0.02), frame.axes[axis]
    step = float(np.asarray(part.repeat.step)[along])
    middle = rect.middle(axis) + (count - 1) * step / 2
    step = min(abs(step), max(space.long(axis) - 2 * thick, 0.0) / count)
    half = (count - 1) * step / 2
    room = max(space.long(axis) / 2 - half - thick, 0.0)
    first = float(np.clip(middle, space.middle(axis) - room, space.middle(axis) + room)) - half
    own = space.cut(axis, first - thick / 2, first + thick / 2)
    own = frame.within(own.cut(other, own.low[other] - SINK, own.high[other] + SINK))
    depth = frame.face - frame.back
    inner, outer = frame.out_of(part)
    reach = float(np.clip(outer, frame.back + 0.3 * depth, frame.face - 0.02))
    start = max(reach - (outer - inner), frame.back) if outer - inner < 0.3 * depth else frame.back - SINK
    steps = np.zeros(3)
    steps[along] = abs(step)
    repeat = Repeat(count=count, step=steps) if count > 1 else Repeat()
    return replace(boxed(part, *frame.box(own, start, reach)), repeat=repeat)


def _in_wall(part: Part, axis: int, frame: FaceFrame) -> Part:
    """A board that has no room, as part of the wall that is nearest."""
    inner, is_low = frame.inner, frame.rect_of(part).middle(axis) < frame.inner.middle(axis)
    side, way = (inner.low[axis], -1.0) if is_low else (inner.high[axis], 1.0)
    own = inner.cut(axis, *sorted((side, side + way * 0.9 * frame.wall)))
    return replace(boxed(part, *frame.box(own, frame.back - SINK, frame.face - 0.002)), repeat=Repeat())


def _apart(space: Rect, rect: Rect) -> float:
    beside = [max(space.low[k] - rect.middle(k), rect.middle(k) - space.high[k], 0.0) for k in (0, 1)]
    return float(np.hypot(beside[0], beside[1]))


def _follow(parts: list[Part], number: int, old: Part, frame: FaceFrame, side: int) -> None:
    """What hangs on a front goes along: panels grow with it, handles keep their size and come to the free edge."""
    new = parts[number]
    before, after = frame.rect_of(old), frame.rect_of(new)
    outer = frame.out_of(new)[1] - frame.out_of(old)[1]
    for child in range(number + 1, len(parts)):
        if parts[child].parent != number:
            continue
        part, rect = parts[child], frame.rect_of(parts[child])
        is_flat = all(rect.long(k) > FLAT * before.long(k) for k in (0, 1)) and part.repeat.total == 1
        by, scale = np.zeros(3), np.ones(3)
        for k, axis in enumerate(frame.axes):
            grow = after.long(k) / max(before.long(k), 1e-9)
            length = min(rect.long(k) * (grow if is_flat else 1.0), COVERED * after.long(k))
            at = after.middle(k) + (rect.middle(k) - before.middle(k)) * grow
            if not is_flat and part.role == "handle" and part.hinge is None and frame.out != 1:
                at = _grip_at(part, k, length, rect, before, after, side)
            if part.repeat.count == 1 and frame.out != 1:
                inside = max((after.long(k) - length) / 2, 0.0)
                at = float(np.clip(at, after.middle(k) - inside, after.middle(k) + inside))
            by[axis], scale[axis] = at - rect.middle(k), length / max(rect.long(k), 1e-9)
        by[frame.out] = frame.sign * outer
        parts[child] = _stretched(shifted(part, by, with_pivot=True), scale)
        move_below(parts, child, by, with_pivot=True)


def _grip_at(part: Part, axis: int, length: float, rect: Rect, before: Rect, after: Rect, side: int) -> float:
    """Where a handle sits: of a door near its free edge, of anything else in the middle."""
    if axis == 0 and side:
        edge = min(before.high[0] - rect.middle(0), rect.middle(0) - before.low[0])
        room = float(np.clip(edge, length / 2 + 0.01, max(EDGE * after.long(0), length / 2 + 0.01)))
        return after.high[0] - room if side < 0 else after.low[0] + room
    share = (rect.middle(axis) - before.middle(axis)) / max(before.long(axis), 1e-9)
    if side:
        return after.middle(1) + float(np.clip(share, -0.3, 0.3)) * after.long(1)
    if axis == 0 and "x" in part.repeat.mirror:
        return after.middle(0) + float(np.clip(abs(share), 0.2, 0.35)) * after.long(0)
    return after.middle(axis)


def _stretched(part: Part, scale: Vec) -> Part:
    """A part stretched along the axes of the object as far as its own lie along them."""
    if np.allclose(scale, 1.0):
        return part
    size = part.size * np.exp(np.abs(part.turn).T @ np.log(scale))
    return replace(part, size=size, code=recoded(part, size))


def move_below(parts: list[Part], number: int, by: Vec, with_pivot: bool) -> None:
    """Move all that hangs on a part."""
    moving = {number}
    for child in range(number + 1, len(parts)):
        if parts[child].parent in moving:
            moving.add(child)
            parts[child] = shifted(parts[child], by, with_pivot=with_pivot)
