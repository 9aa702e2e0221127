"""Shares a rectangle among fronts: from where they were roughly put to cells that fill it without a gap."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

# From when on what was written roughly is taken for something simple; shares of the whole face.
OPEN = 0.2  # least height or width of a space that is meant to stay open
EVEN = 0.2  # sizes that differ by less than this share of their mean are equal ...
PAIR = 0.5  # ... and those of doors side by side below this
ODD = 0.3  # what a door that is wider than high, or a drawer that is higher than wide, costs beside overlap
BOARD = 0.15  # what a cut gains where a board was written that parts the whole group, and how near it has to be
LEAST = 0.3  # no cell is smaller than this share of an equal one


@dataclass(frozen=True)
class Rect:
    """Lower and upper ends along both axes of a face [m]."""

    low: tuple[float, float]
    high: tuple[float, float]

    def long(self, axis: int) -> float:
        return self.high[axis] - self.low[axis]

    def middle(self, axis: int) -> float:
        return (self.low[axis] + self.high[axis]) / 2

    def cut(self, axis: int, low: float, high: float) -> Rect:
        """The same between other ends along one axis."""
        other = 1 - axis
        if axis == 0:
            return Rect((low, self.low[other]), (high, self.high[other]))
        return Rect((self.low[other], low), (self.high[other], high))


@dataclass(frozen=True)
class Tile:
    """A front as it was written."""

    number: int
    kind: str
    rect: Rect


@dataclass(frozen=True)
class Cut:
    """A line between two cells."""

    axis: int
    """0 parts left and right, 1 parts below and above."""

    at: float
    across: Rect
    """What it cuts."""

    is_bare: bool
    """Whether nothing stands between: two doors of a pair, two drawers above each other."""


@dataclass
class Tiling:
    """A face that is shared out."""

    cells: dict[int, Rect] = field(default_factory=dict)
    spaces: list[Rect] = field(default_factory=list)
    """Behind doors, and what stays open: where shelves have room."""

    rows: list[list[int]] = field(default_factory=list)
    """Doors side by side, from left to right."""

    cuts: list[Cut] = field(default_factory=list)


@dataclass(frozen=True)
class _Node:
    axis: int
    children: tuple[_Node | Tile, ...]


def tiled(
    tiles: Sequence[Tile],
    face: Rect,
    boards: Sequence[Rect] = (),
    boarded: Mapping[int, float] | None = None,
    *,
    gap: float = 0.0,
    is_partly_open: bool = False,
) -> Tiling:
    """Cells for all fronts.

    Args:
        boards: What was written to stand between fronts, seen from before.
        boarded: Room that the boards at some cuts take, by the number of the cut in the order in which they are found.
        gap: Room that is left at other cuts between what lies above each other.
    """
    out = Tiling()
    share = OPEN if is_partly_open else np.inf
    _Filler(face, boarded or {}, gap, share, out).fill(_grouped(tiles, face, boards), face, face)
    return out


def _grouped(tiles: Sequence[Tile], face: Rect, boards: Sequence[Rect]) -> _Node | Tile:
    """Cut into groups where they overlap least."""
    if len(tiles) == 1:
        return tiles[0]
    _, axis, first, second = min(_ways(tiles, face, boards), key=lambda way: way[0])
    children: list[_Node | Tile] = []
    for group in (first, second):
        node = _grouped(group, face, boards)
        children += node.children if isinstance(node, _Node) and node.axis == axis else (node,)
    return _Node(axis, tuple(children))


def _ways(
    tiles: Sequence[Tile], face: Rect, boards: Sequence[Rect]
) -> Iterator[tuple[float, int, list[Tile], list[Tile]]]:
    for axis in (0, 1):
        order = sorted(tiles, key=lambda tile: tile.rect.middle(axis))
        for k in range(1, len(order)):
            groups = order[:k], order[k:]
            ends = [_around(group) for group in groups]
            overlap = (ends[0].high[axis] - ends[1].low[axis]) / face.long(axis)
            longs = np.array([max(end.long(axis), 1e-6) for end in ends])
            room = _around(tiles)
            odd = sum(
                _is_odd(group[0].kind, *_sides(room, axis, float(long / longs.sum())))
                for group, long in zip(groups, longs, strict=True)
                if len(group) == 1
            )
            line = (ends[0].high[axis] + ends[1].low[axis]) / 2
            parted = any(_parts(board, room, axis, line, BOARD * face.long(axis)) for board in boards)
            yield overlap + ODD * odd - BOARD * parted, axis, *groups


def _parts(board: Rect, room: Rect, axis: int, line: float, near: float) -> bool:
    """Whether a board stands at a line and goes through most of a group."""
    other = 1 - axis
    shared = min(board.high[other], room.high[other]) - max(board.low[other], room.low[other])
    return board.long(axis) < near and abs(board.middle(axis) - line) < near / 2 and shared > 0.8 * room.long(other)


def _sides(room: Rect, axis: int, share: float) -> tuple[float, float]:
    return (share * room.long(0), room.long(1)) if axis == 0 else (room.long(0), share * room.long(1))


def _is_odd(kind: str, wide: float, tall: float) -> bool:
    return wide > 1.2 * tall if kind == "door" else kind == "drawer" and tall > 1.1 * wide


def _around(tiles: Sequence[Tile]) -> Rect:
    low, high = (np.array([getattr(tile.rect, end) for tile in tiles]) for end in ("low", "high"))
    return Rect(tuple(low.min(axis=0)), tuple(high.max(axis=0)))


def _leaves(node: _Node | Tile) -> list[Tile]:
    return [node] if isinstance(node, Tile) else [tile for child in node.children for tile in _leaves(child)]


class _Filler:
    """Goes down the groups and gives each its cell."""

    def __init__(self, face: Rect, boarded: Mapping[int, float], gap: float, share: float, out: Tiling) -> None:
        self.face, self.boarded, self.gap, self.share, self.out = face, boarded, gap, share, out

    def fill(self, node: _Node | Tile, written: Rect, cell: Rect) -> None:
        for axis in (1, 0):
            written, cell = self._without_open_ends(node, written, cell, axis)
        if isinstance(node, Tile):
            self.out.cells[node.number] = cell
            if node.kind == "door":
                self.out.spaces.append(cell)
                self.out.rows.append([node.number])
            return
        self._share_out(node, written, cell)

    def _join_rows(self, known: tuple[int, int], parted: bool) -> None:
        """Two doors side by side with nothing between them share the space behind them."""
        spaces, rows = self.out.spaces, self.out.rows
        if parted or len(spaces) < known[0] + 1 or len(rows) < known[1] + 1 or known[0] < 1 or known[1] < 1:
            return
        left, right = spaces[known[0] - 1], spaces[known[0]]
        spaces[known[0] - 1 : known[0] + 1] = [Rect(left.low, right.high)]
        rows[known[1] - 1 : known[1] + 1] = [rows[known[1] - 1] + rows[known[1]]]

    def _without_open_ends(self, node: _Node | Tile, written: Rect, cell: Rect, axis: int) -> tuple[Rect, Rect]:
        """Cut off what stays open beyond the fronts."""
        own, whole = _around(_leaves(node)), max(written.long(axis), 1e-9)
        for is_upper in (False, True):
            free = written.high[axis] - own.high[axis] if is_upper else own.low[axis] - written.low[axis]
            if free < self.share * self.face.long(axis):
                continue
            at = (
                cell.high[axis] - free / whole * cell.long(axis)
                if is_upper
                else cell.low[axis] + free / whole * cell.long(axis)
            )
            lower, upper = self._cut(cell, axis, at, False)
            cell, space = (lower, upper) if is_upper else (upper, lower)
            self.out.spaces.append(space)
            low, high = written.low[axis], written.high[axis]
            written = written.cut(axis, *((low, own.high[axis]) if is_upper else (own.low[axis], high)))
            whole = max(written.long(axis), 1e-9)
        return written, cell

    def _cut(self, cell: Rect, axis: int, at: float, is_bare: bool) -> tuple[Rect, Rect]:
        """Two cells with the room of what stands between them."""
        half = self.boarded.get(len(self.out.cuts), self.gap * (axis == 1)) / 2
        self.out.cuts.append(Cut(axis, at, cell, is_bare))
        return cell.cut(axis, cell.low[axis], at - half), cell.cut(axis, at + half, cell.high[axis])

    def _share_out(self, node: _Node, written: Rect, cell: Rect) -> None:
        axis, count = node.axis, len(node.children)
        ends = [_around(_leaves(child)) for child in node.children]
        shares = self._shares(node, [end.long(axis) for end in ends])
        lines = [(a.high[axis] + b.low[axis]) / 2 for a, b in itertools.pairwise(ends)]
        bounds = [written.low[axis], *lines, written.high[axis]]
        rest, left, parted = cell, 1.0, True
        for k, child in enumerate(node.children):
            mine, known, was_parted = rest, (len(self.out.spaces), len(self.out.rows)), parted
            if k + 1 < count:
                at = rest.low[axis] + shares[k] / left * rest.long(axis)
                is_bare = _is_bare(axis, child, node.children[k + 1])
                parted = self.boarded.get(len(self.out.cuts), 0.0) > 0 or not is_bare or axis == 1
                mine, rest = self._cut(rest, axis, at, is_bare)
                left -= shares[k]
            low, high = sorted((bounds[k], bounds[k + 1]))
            self.fill(child, written.cut(axis, low, high), mine)
            if isinstance(child, Tile):
                self._join_rows(known, was_parted)

    def _shares(self, node: _Node, longs: Sequence[float]) -> np.ndarray:
        """Equal where they nearly are and fronts are of one kind."""
        sizes = np.maximum(np.asarray(longs, dtype=np.float64), 1e-6)
        kinds = {tile.kind for child in node.children for tile in _leaves(child)}
        near = PAIR if kinds == {"door"} and node.axis == 0 else EVEN
        if len(kinds) == 1 and np.abs(sizes / sizes.mean() - 1).max() < near:
            sizes = np.ones(len(sizes))
        sizes = np.maximum(sizes / sizes.sum(), LEAST / len(sizes))
        return np.asarray(sizes / sizes.sum())


def _is_bare(axis: int, first: _Node | Tile, second: _Node | Tile) -> bool:
    kinds = [{tile.kind for tile in _leaves(node)} for node in (first, second)]
    return kinds == [{"door"}, {"door"}] if axis == 0 else kinds == [{"drawer"}, {"drawer"}]
