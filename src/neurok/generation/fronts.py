"""Doors, drawers and lids that close the opening of what carries them: shut, side by side, hung at the right edge.

A network writes each front with some error, so that they overlap, stand ajar or beside the body. Which parts are fronts
of which hollow is declared (``families/household/faces.py``); here they share its face.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from neurok.families.household.casework import CASEWORK, GAP, SINK
from neurok.families.household.faces import FACES, Face, boards_of, fronts_of
from neurok.families.household.parts import Assembly, Hinge, Part, Repeat
from neurok.generation.face_frame import Frame, boxed, ends_of, frame_of, recoded, straight
from neurok.generation.fields import LEVEL
from neurok.generation.front_boards import board_at, boards_at, put_shelves
from neurok.generation.front_trim import follow
from neurok.generation.tiling import Rect, Tile, Tiling, tiled


@dataclass(frozen=True)
class FrontsConfig:
    """Measures of fronts, as the generators draw them."""

    drawer_gap: float = 0.004
    """Between drawers above each other [m], besides the gap of each."""

    thick: tuple[float, float] = (0.6, 3.5)
    """Between how many times a usual board a front before a face is thick."""

    opened: tuple[float, float] = (1.45, 2.0)
    """Between which angles doors and lids open [rad]."""

    behind: float = 0.02
    """Room behind a drawer [m]."""

    deep: float = 0.45
    """Depth of a drawer for which there is room [m]; only wider than this is left to what was written."""

    near: float = 0.04
    """How far a hollow part comes towards its fronts at most [shares of its face]; those farther off are misplaced."""

    over: float = 1.04
    """How many times wider than its box a lid may be."""


FRONTS = FrontsConfig()


def closed(assembly: Assembly, config: FrontsConfig = FRONTS) -> Assembly:
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
                parts[hollow] = _towards(parts[hollow], [parts[number] for number in fronts], frame, config)
                shut = frame_of(parts[hollow], face)
                assert shut is not None
                frame = shut
        _close(parts, boards_of(category, parts, hollow), hollow, fronts, frame, face, config)
    return replace(assembly, parts=tuple(parts))


def _towards(hollow: Part, fronts: Sequence[Part], frame: Frame, config: FrontsConfig) -> Part:
    """A hollow part half of the way towards what its fronts would fill, so that they have to change by half only."""
    rects = [frame.rect_of(part) for part in fronts]
    low, high = (np.asarray(end, dtype=np.float64) for end in ends_of(hollow))
    for k, axis in enumerate((frame.across, frame.up)):
        before = np.array([frame.rect.low[k], frame.rect.high[k]])
        after = np.array([min(rect.low[k] for rect in rects), max(rect.high[k] for rect in rects)])
        by = (after - before) / 2
        if axis != 1 and abs(hollow.centre[axis]) < LEVEL:
            by = (by - by[::-1]) / 2  # what stands in the middle stays there
        if np.abs(by).max() < config.near * (before[1] - before[0]):
            low[axis], high[axis] = low[axis] + by[0], high[axis] + by[1]
    return boxed(hollow, low, high)


def _close(
    parts: list[Part],
    boards: list[int],
    hollow: int,
    fronts: list[int],
    frame: Frame,
    face: Face,
    config: FrontsConfig,
) -> None:
    tiles = [Tile(number, parts[number].name, frame.rect_of(parts[number])) for number in fronts]
    seen = [frame.rect_of(parts[number]) for number in boards]
    rough = tiled(tiles, frame.rect, seen, is_partly_open=frame.is_partly_open)
    placed = boards_at(parts, boards, frame, rough)
    room = frame.wall if face.lies == "in" else 0.0
    gap = config.drawer_gap if face.lies == "in" else 0.0
    tiling = tiled(tiles, frame.rect, seen, dict.fromkeys(placed, room), gap=gap, is_partly_open=frame.is_partly_open)
    for k, board in placed.items():
        parts[board] = board_at(parts[board], tiling.cuts[k], frame)
    put_shelves(parts, [board for board in boards if board not in placed.values()], tiling, frame)
    plane = _plane(parts, fronts, frame, face, config)
    sides = _sides(parts, tiling, frame)
    for number in fronts:
        old, cell = parts[number], tiling.cells[number]
        walls = _walls(cell, tiling, set(placed), frame)
        new = _front(old, cell, frame, face, plane, sides.get(number, 0), walls, config)
        parts[number] = replace(new, parent=hollow)
        follow(parts, number, old, frame, sides.get(number, 0))


def _plane(parts: Sequence[Part], fronts: Sequence[int], frame: Frame, face: Face, config: FrontsConfig) -> float:
    """Where the outer sides of all fronts lie along the way out."""
    ends = np.array([frame.out_of(parts[number]) for number in fronts])
    if face.lies == "in":
        return float(np.clip(np.median(ends[:, 1]), frame.face - 0.003, frame.face + CASEWORK.thick - 0.004))
    thick = float(np.min(ends[:, 1] - ends[:, 0]))
    return frame.face - SINK + float(np.clip(thick, *(np.array(config.thick) * CASEWORK.thick)))


def _sides(parts: Sequence[Part], tiling: Tiling, frame: Frame) -> dict[int, int]:
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


def _walls(cell: Rect, tiling: Tiling, boarded: set[int], frame: Frame) -> tuple[bool, bool]:
    """Whether a wall or board stands at the lower and the upper end of a cell along the face."""
    lines = [cut.at for k, cut in enumerate(tiling.cuts) if k in boarded and cut.axis == 0]
    near = lambda x, edge: any(abs(x - line) < frame.wall for line in (edge, *lines))  # noqa: E731
    return near(cell.low[0], frame.rect.low[0]), near(cell.high[0], frame.rect.high[0])


def _front(
    part: Part,
    cell: Rect,
    frame: Frame,
    face: Face,
    plane: float,
    side: int,
    walls: tuple[bool, bool],
    config: FrontsConfig,
) -> Part:
    """A front in its cell, closed, with its hinge."""
    if frame.out == 1:
        return _lid(part, cell, frame, config)
    if face.lies == "before":
        return _before(part, cell, frame, plane, side, config)
    if part.name == "drawer" or (part.hinge is not None and part.hinge.kind == "prismatic"):
        return _drawer(part, cell, frame, plane, walls, config)
    low = cell.low[0] + (-SINK if side < 0 else GAP)
    high = cell.high[0] - (-SINK if side > 0 else GAP)
    has_wall = walls[0] if side < 0 else walls[1]
    rim = GAP if has_wall else -SINK
    own = Rect((low, cell.low[1] + rim), (high, cell.high[1] - rim))
    return _hung(part, own, frame, (plane - CASEWORK.thick, plane), side, config)


def _before(part: Part, cell: Rect, frame: Frame, plane: float, side: int, config: FrontsConfig) -> Part:
    """A front that covers the edges of the walls; one that does not move may fill what is behind it."""
    inner = frame.face - SINK
    if part.hinge is None:
        own = Rect(tuple(x + GAP / 2 for x in cell.low), tuple(x - GAP / 2 for x in cell.high))  # type: ignore[arg-type]
        return boxed(part, *frame.box(own, min(max(frame.out_of(part)[0], frame.back - SINK), inner), plane))
    own = cell.cut(0, cell.low[0] + (SINK if side < 0 else GAP), cell.high[0] - (SINK if side > 0 else GAP))
    return _hung(part, own, frame, (inner, plane), side, config)


def _hung(part: Part, own: Rect, frame: Frame, depth: tuple[float, float], side: int, config: FrontsConfig) -> Part:
    """A door that turns about the outer corner of its hung edge."""
    origin, axis = np.zeros(3), np.zeros(3)
    origin[frame.across] = own.low[0] if side < 0 else own.high[0]
    origin[frame.up], origin[frame.out] = own.middle(1), frame.sign * depth[1]
    turn = frame.sign if frame.out == 2 else -frame.sign
    axis[frame.up] = side * turn
    upper = float(np.clip(part.hinge.upper if part.hinge else 0.0, *config.opened))
    hinge = Hinge("revolute", axis, origin, 0.0, upper)
    return replace(boxed(part, *frame.box(own, *depth)), hinge=hinge, repeat=Repeat())


def _drawer(part: Part, cell: Rect, frame: Frame, plane: float, walls: tuple[bool, bool], config: FrontsConfig) -> Part:
    """A tray from the face towards the back; its sides reach into the walls, or its back does where there are none."""
    reach = [SINK if wall else -GAP for wall in walls]
    own = Rect((cell.low[0] - reach[0], cell.low[1] + GAP), (cell.high[0] + reach[1], cell.high[1] - GAP))
    first, second = frame.out_of(part)
    room = plane - frame.back
    most = room - min(config.behind, 0.1 * room)
    deep = float(np.clip(second - first, min(config.deep, most), most)) if any(walls) else room + SINK
    axis = np.zeros(3)
    axis[frame.out] = frame.sign
    low, high = frame.box(own, plane - deep, plane)
    slide = Hinge("prismatic", axis, (low + high) / 2, 0.0, CASEWORK.pulled * deep)
    return replace(boxed(part, low, high), hinge=slide, repeat=Repeat())


def _lid(part: Part, cell: Rect, frame: Frame, config: FrontsConfig) -> Part:
    """Lies on the edge of its box and turns about the edge at the back."""
    rect, (first, second) = frame.rect_of(part), frame.out_of(part)
    own = cell
    for axis in (0, 1):
        half = float(np.clip(rect.long(axis) / max(cell.long(axis), 1e-9), 1.0, config.over)) * cell.long(axis) / 2
        own = own.cut(axis, cell.middle(axis) - half, cell.middle(axis) + half)
    origin = np.zeros(3)
    origin[frame.across], origin[frame.up], origin[frame.out] = cell.middle(0), cell.low[1], frame.face
    upper = float(np.clip(part.hinge.upper if part.hinge else 0.0, config.opened[0] - 0.25, config.opened[1]))
    hinge = Hinge("revolute", (-1.0, 0.0, 0.0), origin, 0.0, upper)
    bottom = frame.face - SINK
    filled = boxed(part, *frame.box(own, bottom, bottom + second - first))
    return replace(filled, code=recoded(part, filled.size), hinge=hinge, repeat=Repeat())
