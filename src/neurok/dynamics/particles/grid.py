"""Where grids are: every object has one of its own over the tight box of its particles, all on one lattice.

Particles are sorted by object, law and place and cut into partitions. A partition adds up into tiles, one for each
object in it, whose sum is the object's grid; tiles and grids lie in one buffer of nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

Corners = tuple[Int[np.ndarray, " 3"], Int[np.ndarray, " 3"]]
"""Lowest node, and one past the highest."""

SUPPORT = 3
"""Nodes that a particle reaches along each axis."""


@dataclass(frozen=True)
class Layout:
    """The tables that the kernels read; rows of eight numbers."""

    boxes: Int[np.ndarray, "B 8"]
    """First node in the buffer, lowest cell (i, j, k), nodes along i, j, k, object (-1 for what is none's)."""

    runs: Int[np.ndarray, "R 8"]
    """First and last particle, law, tile, the object's grid."""

    parts: Int[np.ndarray, "Q 4"]
    """Runs and tiles of each partition."""

    units: Int[np.ndarray, "U 8"]
    """Slices of a grid, and which entries of ``tiles`` it sums."""

    tiles: Int[np.ndarray, " T"]
    grids: dict[int, int]
    """Box of each object's grid."""

    nodes: int
    """Length of the buffer [nodes]."""


def base_cells(positions: Float[np.ndarray, "3 P"], cell: float) -> Int[np.ndarray, "3 P"]:
    """The first of the nodes that each particle reaches."""
    return np.floor(positions * np.float32(1 / cell) - np.float32(0.5)).astype(np.int32)


def sort_order(
    body: Int[np.ndarray, " P"], law: Int[np.ndarray, " P"], part: Int[np.ndarray, " P"], cells: Int[np.ndarray, "3 P"]
) -> Int[np.ndarray, " P"]:
    """By object, law, rigid part and cell, the last along k as the grid's memory runs."""
    i, j, k = cells - cells.min(axis=1, initial=0)[:, None]
    return np.lexsort((k, j, i, part, law, body))


def cut_runs(body: Int[np.ndarray, " P"], law: Int[np.ndarray, " P"], partitions: int) -> Int[np.ndarray, "R 5"]:
    """First and last of sorted particles, law, object and partition of each run, which is cut where these change;
    partitions are of equal counts, in multiples of eight."""
    count = len(body)
    size = -(-count // (8 * partitions)) * 8 if count else 8
    changes = np.flatnonzero((np.diff(body) != 0) | (np.diff(law) != 0)) + 1
    cuts = np.unique(np.concatenate([[0], changes, np.arange(size, count, size)]))
    cuts = cuts[cuts < count]
    ends = np.append(cuts[1:], count)
    return np.column_stack([cuts, ends, law[cuts], body[cuts], cuts // size])


def tight_box(cells: Int[np.ndarray, "3 n"], padding: int) -> Corners:
    """Lowest node and one past the highest that these particles reach, with cells to move in."""
    return cells.min(axis=1) - padding, cells.max(axis=1) + SUPPORT + padding


def lay_out(
    runs: Int[np.ndarray, "R 5"],
    cells: Int[np.ndarray, "3 P"],
    partitions: int,
    padding: int,
    others: Sequence[Corners] = (),
) -> Layout:
    """Boxes for all tiles and grids, then for ``others``, which are no object's."""
    rows = runs.tolist()
    around: dict[tuple[int, int], list[Corners]] = {}
    for first, last, _, body, partition in rows:
        around.setdefault((partition, body), []).append(tight_box(cells[:, first:last], padding))
    bounds = {key: _union(corners) for key, corners in around.items()}
    boxes: list[list[int]] = []
    total = 0

    def place(low: np.ndarray, high: np.ndarray, body: int) -> int:
        nonlocal total
        shape = high - low
        boxes.append([total, *low.tolist(), *shape.tolist(), body])
        total += int(shape.astype(np.int64).prod()) + 1  # a spare node, since vectors of two are read
        return len(boxes) - 1

    tile = {key: place(*box, key[1]) for key, box in bounds.items()}
    grids: dict[int, int] = {}
    units: list[list[int]] = []
    tiles: list[int] = []
    for body in dict.fromkeys(row[3] for row in rows):
        own = [tile[key] for key in tile if key[1] == body]
        alone = len(own) == 1
        grids[body] = own[0] if alone else place(*_union([bounds[key] for key in tile if key[1] == body]), body)
        first, last = len(tiles), len(tiles) + (0 if alone else len(own))
        tiles += [] if alone else own
        slices = boxes[grids[body]][4]
        edges = np.unique(np.linspace(0, slices, partitions + 1).astype(int))
        units += [[grids[body], a, b, first, last, 0, 0, 0] for a, b in zip(edges[:-1].tolist(), edges[1:].tolist())]
    table = [[a, b, law, tile[(part, body)], grids[body], body, 0, 0] for a, b, law, body, part in rows]
    parts = []
    for q in range(partitions):
        mine = np.flatnonzero(runs[:, 4] == q)
        held = [tile[key] for key in tile if key[0] == q]
        parts.append([mine[0], mine[-1] + 1, held[0], held[-1] + 1] if len(mine) else [0, 0, 0, 0])
    for low, high in others:
        place(low, high, -1)
    return Layout(
        _rows(boxes, 8), _rows(table, 8), _rows(parts, 4), _rows(units, 8), _rows(tiles, 1)[:, 0], grids, total
    )


def _rows(numbers: list[Any], width: int) -> Int[np.ndarray, "n w"]:
    return np.asarray(numbers, dtype=np.int32).reshape(-1, width)


def _union(corners: Sequence[Corners]) -> Corners:
    return np.min([low for low, _ in corners], axis=0), np.max([high for _, high in corners], axis=0)
