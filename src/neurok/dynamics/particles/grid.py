"""Where grids are: every object has one of its own over the tight box of its particles, all on one lattice.

Particles are sorted by object, law and place and cut into partitions. A partition adds up into tiles, one for each
object in it, whose sum is the object's grid; tiles and grids lie in one buffer of nodes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

SUPPORT = 3
"""Nodes that a particle reaches along each axis."""


@dataclass(frozen=True)
class Runs:
    """Particles in order, cut where the object, the law or the partition changes."""

    starts: Int[np.ndarray, " R"]
    ends: Int[np.ndarray, " R"]
    law: Int[np.ndarray, " R"]
    body: Int[np.ndarray, " R"]
    partition: Int[np.ndarray, " R"]


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


def cut_runs(body: Int[np.ndarray, " P"], law: Int[np.ndarray, " P"], partitions: int) -> Runs:
    """Runs of sorted particles; partitions are of equal counts, in multiples of eight."""
    count = len(body)
    size = -(-count // (8 * partitions)) * 8 if count else 8
    changes = np.flatnonzero((np.diff(body) != 0) | (np.diff(law) != 0)) + 1
    cuts = np.unique(np.concatenate([[0], changes, np.arange(size, count, size)]))
    cuts = cuts[cuts < count]
    ends = np.append(cuts[1:], count)
    return Runs(cuts, ends, law[cuts], body[cuts], cuts // size)


def tight_box(cells: Int[np.ndarray, "3 n"], padding: int) -> tuple[Int[np.ndarray, " 3"], Int[np.ndarray, " 3"]]:
    """Lowest node and one past the highest that these particles reach, with cells to move in."""
    return cells.min(axis=1) - padding, cells.max(axis=1) + SUPPORT + padding


def lay_out(runs: Runs, cells: Int[np.ndarray, "3 P"], partitions: int, padding: int) -> Layout:
    """Boxes for all tiles and grids."""
    corners = [tight_box(cells[:, a:b], padding) for a, b in zip(runs.starts, runs.ends)]
    keys = list(dict.fromkeys(zip(runs.partition.tolist(), runs.body.tolist())))
    bounds = {key: _union([c for c, p, b in zip(corners, runs.partition, runs.body) if (p, b) == key]) for key in keys}
    boxes: list[list[int]] = []
    total = 0

    def place(low: np.ndarray, high: np.ndarray, body: int) -> int:
        nonlocal total
        shape = high - low
        boxes.append([total, *low.tolist(), *shape.tolist(), body])
        total += int(shape.astype(np.int64).prod()) + 1  # a spare node, since vectors of two are read
        return len(boxes) - 1

    tile = {key: place(*bounds[key], key[1]) for key in keys}
    grids: dict[int, int] = {}
    units: list[list[int]] = []
    tiles: list[int] = []
    for body in dict.fromkeys(runs.body.tolist()):
        own = [tile[key] for key in keys if key[1] == body]
        alone = len(own) == 1
        grids[body] = own[0] if alone else place(*_union([bounds[key] for key in keys if key[1] == body]), body)
        first, last = len(tiles), len(tiles) + (0 if alone else len(own))
        tiles += [] if alone else own
        slices = boxes[grids[body]][4]
        edges = np.unique(np.linspace(0, slices, partitions + 1).astype(int))
        units += [[grids[body], a, b, first, last, 0, 0, 0] for a, b in zip(edges[:-1].tolist(), edges[1:].tolist())]
    table = [
        [a, b, law, tile[(p, body)], grids[body], body, 0, 0]
        for a, b, law, p, body in zip(
            *(getattr(runs, n).tolist() for n in ("starts", "ends", "law", "partition", "body"))
        )
    ]
    parts = []
    for q in range(partitions):
        mine = np.flatnonzero(runs.partition == q)
        held = [tile[key] for key in keys if key[0] == q]
        parts.append([mine[0], mine[-1] + 1, held[0], held[-1] + 1] if len(mine) else [0, 0, 0, 0])
    as_int = lambda rows, width: np.asarray(rows, dtype=np.int32).reshape(-1, width)  # noqa: E731
    flat = np.asarray(tiles, dtype=np.int32)
    return Layout(as_int(boxes, 8), as_int(table, 8), as_int(parts, 4), as_int(units, 8), flat, grids, total)


def add_boxes(layout: Layout, corners: list[tuple[Int[np.ndarray, " 3"], Int[np.ndarray, " 3"]]]) -> Layout:
    """Room for further grids that are no object's, after the others."""
    extra, total = [], layout.nodes
    for low, high in corners:
        shape = high - low
        extra.append([total, *low.tolist(), *shape.tolist(), -1])
        total += int(shape.astype(np.int64).prod()) + 1
    boxes = np.concatenate([layout.boxes, np.asarray(extra, dtype=np.int32).reshape(-1, 8)])
    return replace(layout, boxes=boxes, nodes=total)


def _union(
    corners: list[tuple[Int[np.ndarray, " 3"], Int[np.ndarray, " 3"]]],
) -> tuple[Int[np.ndarray, " 3"], Int[np.ndarray, " 3"]]:
    return np.min([low for low, _ in corners], axis=0), np.max([high for _, high in corners], axis=0)
