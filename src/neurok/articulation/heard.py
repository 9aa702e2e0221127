"""What the search says of an object, in the words of the network: shares of kinds, directions and places."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from neurok.articulation.candidates import Candidate
from neurok.articulation.features import PartClouds
from neurok.articulation.network import KINDS, SLIDE, TURN
from neurok.articulation.search import Search

BLOCKED = 0.2
"""Weight of a line along which the part collides or comes loose at once."""

SAME_DIRECTION = np.cos(np.radians(8.0))
NEAR = 0.03
"""Lines nearer than this, in the unit box, are the same."""


@dataclass(frozen=True, eq=False)
class Line:
    """A candidate of the search in the unit box, along a direction of the clouds."""

    move: int
    direction: int
    place: Float[np.ndarray, "3"]
    likely: tuple[float, float] | None
    """Likely limits about that direction with its canonical sign: [rad], or units of the box; none without an end."""

    weight: float


@dataclass(frozen=True, eq=False)
class Heard:
    """Shares that add up to one over kinds, and over directions for each way to move; and all lines of each part."""

    kinds: Float[np.ndarray, "P T"]
    axes: Float[np.ndarray, "P K 2"]
    lines: tuple[tuple[Line, ...], ...]

    def along(self, row: int, move: int, direction: int) -> list[Line]:
        return [line for line in self.lines[row] if (line.move, line.direction) == (move, direction)]


def listen(clouds: PartClouds, directions: Float[np.ndarray, "P K 3"], search: Search, floor: float = 0.02) -> Heard:
    """Sum up the candidates of a search; ``directions`` are those of the clouds with their canonical signs."""
    count, options = clouds.sources.shape
    kinds, axes = np.zeros((count, len(KINDS))), np.zeros((count, options, 2))
    lines: list[tuple[Line, ...]] = []
    for row, part in enumerate(clouds.parts):
        found: list[Line] = []
        for candidate in (*search.candidates[int(part)], *search.rejected[int(part)]):
            weight = candidate.score * (1.0 if candidate.is_valid else BLOCKED)
            kinds[row, KINDS.index(candidate.kind)] += weight
            line = _line(clouds, directions, row, candidate, weight)
            if line is not None:
                axes[row, line.direction, line.move] += weight
                found.append(line)
        lines.append(tuple(found))
    return Heard(_shares(kinds, 1, floor), _shares(axes, 1, floor), tuple(lines))


def _line(clouds: PartClouds, directions: np.ndarray, row: int, candidate: Candidate, weight: float) -> Line | None:
    if candidate.kind == "fixed":
        return None
    dots = directions[row] @ (clouds.turn @ candidate.axis) * (clouds.sources[row] >= 0)
    nearest = int(np.abs(dots).argmax())
    if abs(dots[nearest]) < SAME_DIRECTION:
        return None
    move = SLIDE if candidate.kind == "prismatic" else TURN
    scale = 1.0 if move == TURN else clouds.scale
    low, high = candidate.lower / scale, candidate.upper / scale
    likely = (low, high) if dots[nearest] > 0 else (-high, -low)
    is_limited = candidate.kind in ("revolute", "prismatic")
    return Line(move, nearest, clouds.to_box(candidate.origin), likely if is_limited else None, weight)


def _shares(weights: np.ndarray, axis: int, floor: float) -> np.ndarray:
    total = weights.sum(axis=axis, keepdims=True)
    even = np.full_like(weights, 1.0 / weights.shape[axis])
    return np.where(total > 0, (1.0 - floor) * weights / np.maximum(total, 1e-12) + floor * even, even)
