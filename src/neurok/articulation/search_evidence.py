"""What the search says of an object, in the words of the network: shares of kinds, directions and places."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from neurok.articulation.config import SEARCH_EVIDENCE, SearchEvidenceConfig
from neurok.articulation.features import PartClouds
from neurok.articulation.network import KINDS, SLIDE, TURN
from neurok.bodyplan.hypothesis import Hypothesis
from neurok.bodyplan.search import Search


@dataclass(frozen=True, eq=False)
class EvidenceLines:
    """Hypotheses of the search for one part, in the unit box, along directions of the clouds."""

    moves: Int[np.ndarray, " C"]
    directions: Int[np.ndarray, " C"]
    places: Float[np.ndarray, "C 3"]
    limits: Float[np.ndarray, "C 2"]
    """Likely limits about that direction with its canonical sign: [rad], or units of the box; not a number without."""

    weights: Float[np.ndarray, " C"]

    def __len__(self) -> int:
        return len(self.moves)

    def pick(self, some: np.ndarray) -> EvidenceLines:
        return EvidenceLines(
            self.moves[some], self.directions[some], self.places[some], self.limits[some], self.weights[some]
        )


@dataclass(frozen=True, eq=False)
class SearchEvidence:
    """Shares that add up to one over kinds, and over directions for each way to move; and all lines of each part."""

    kinds: Float[np.ndarray, "P T"]
    axes: Float[np.ndarray, "P K 2"]
    lines: tuple[EvidenceLines, ...]

    def along(self, row: int, move: int, direction: int) -> EvidenceLines:
        mine = self.lines[row]
        return mine.pick((mine.moves == move) & (mine.directions == direction))


def search_evidence(
    clouds: PartClouds,
    directions: Float[np.ndarray, "P K 3"],
    search: Search,
    config: SearchEvidenceConfig = SEARCH_EVIDENCE,
) -> SearchEvidence:
    """Sum up the hypotheses of a search; ``directions`` are those of the clouds with their canonical signs.

    A kind has the geometric mean of the share of its best hypothesis and that of all of them: there are many more lines
    to turn about than to slide along.
    """
    count, options = clouds.sources.shape
    kinds, axes = np.zeros((count, len(KINDS))), np.zeros((count, options, 2))
    best = np.zeros((count, len(KINDS)))
    lines: list[EvidenceLines] = []
    for row, part in enumerate(clouds.parts):
        hypotheses = (*search.hypotheses[int(part)], *search.rejected[int(part)])
        weights = np.array([c.probability * (1.0 if c.is_valid else config.blocked) for c in hypotheses])
        which = np.array([KINDS.index(c.kind) for c in hypotheses], dtype=np.int64)
        np.add.at(kinds[row], which, weights)
        np.maximum.at(best[row], which, weights)
        moving = np.flatnonzero([c.kind != "fixed" for c in hypotheses])
        found = _lines(clouds, directions, row, [hypotheses[k] for k in moving], weights[moving], config.same_direction)
        np.add.at(axes[row], (found.directions, found.moves), found.weights)
        lines.append(found)
    floor = config.floor
    both = np.sqrt(_shares(kinds, 1, floor) * _shares(best, 1, floor))
    return SearchEvidence(_shares(both, 1, 0.0), _shares(axes, 1, floor), tuple(lines))


def _lines(
    clouds: PartClouds,
    directions: np.ndarray,
    row: int,
    hypotheses: list[Hypothesis],
    weights: np.ndarray,
    cosine: float,
) -> EvidenceLines:
    """Hypotheses that move along a direction of the clouds; others say nothing of where the axis lies."""
    column = lambda rows, width: np.array(rows, dtype=np.float64).reshape(-1, width)  # noqa: E731
    moves = np.array([SLIDE if c.kind == "prismatic" else TURN for c in hypotheses], dtype=np.int64)
    dots = column([c.axis for c in hypotheses], 3) @ clouds.turn.T @ directions[row].T * (clouds.sources[row] >= 0)
    nearest = np.abs(dots).argmax(axis=1)
    signed = np.take_along_axis(dots, nearest[:, None], axis=1)[:, 0]
    limits = column([(c.lower, c.upper) for c in hypotheses], 2) / np.where(moves == TURN, 1.0, clouds.scale)[:, None]
    likely = np.where(signed[:, None] > 0, limits, -limits[:, ::-1])
    likely[[c.kind not in ("revolute", "prismatic") for c in hypotheses]] = np.nan
    places = clouds.to_box(column([c.origin for c in hypotheses], 3))
    found = EvidenceLines(moves, nearest, places, likely, weights)
    return found.pick(np.abs(signed) >= cosine)


def _shares(weights: np.ndarray, axis: int, floor: float) -> np.ndarray:
    total = weights.sum(axis=axis, keepdims=True)
    even = np.full_like(weights, 1.0 / weights.shape[axis])
    return np.where(total > 0, (1.0 - floor) * weights / np.maximum(total, 1e-12) + floor * even, even)
