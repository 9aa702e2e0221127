"""What the search says of an object in the words of the networks (shares of kinds, directions and places), and both as
one: the search counts more where views of an object differ."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.bodyplan.hypothesis import Hypothesis
from neurok.bodyplan.search import Search
from neurok.learned.joint_network import KINDS, SLIDE, TURN
from neurok.learned.part_features import PartClouds

BLOCKED_WEIGHT = 0.2  # Weight of a line along which the part collides or comes loose at once. By eye.
SAME_DIRECTION = math.cos(math.radians(8.0))  # Lines nearer than this to a direction are along it [cosine]. By eye.
AGREED = 0.95  # Views agree if no smaller share of them makes the same choice: networks that know a thing do. Folds.
STEADY = 0.1  # Lengths of a turn that differ by more between views are guesses [share of the length]. Folds.
SAME_LINE = 0.03  # The search speaks of the limits of a hinge if its line is nearer than this [unit box]. By eye.
ONE_SIDED = 0.05  # A range is open on one side if the other is less than this [share of the larger side]. By eye.
EVEN_SHARE = 0.02  # Share that is spread evenly over all options: the search may miss the true one. By eye.


@dataclass(frozen=True)
class FusionConfig:
    """How much the search counts beside the networks, from 0 to 1."""

    kinds: float = 0.5
    """Weight of the search in the kind of a joint. Folds."""

    axes: float = 0.5
    """Weight of the search in the direction of an axis on which views agree. Folds."""

    pivots: float = 0.5
    """Weight of the search in the place of a hinge. Folds."""

    doubtful_axes: float = 0.7
    """Weight of the search in the direction of an axis on which views disagree. Folds."""


FUSION = FusionConfig()


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


def search_evidence(clouds: PartClouds, directions: Float[np.ndarray, "P K 3"], search: Search) -> SearchEvidence:
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
        weights = np.array([c.probability * (1.0 if c.is_valid else BLOCKED_WEIGHT) for c in hypotheses])
        which = np.array([KINDS.index(c.kind) for c in hypotheses], dtype=np.int64)
        np.add.at(kinds[row], which, weights)
        np.maximum.at(best[row], which, weights)
        moving = np.flatnonzero([c.kind != "fixed" for c in hypotheses])
        found = _lines(clouds, directions, row, [hypotheses[k] for k in moving], weights[moving])
        np.add.at(axes[row], (found.directions, found.moves), found.weights)
        lines.append(found)
    both = np.sqrt(_shares(kinds, 1, EVEN_SHARE) * _shares(best, 1, EVEN_SHARE))
    return SearchEvidence(_shares(both, 1, 0.0), _shares(axes, 1, EVEN_SHARE), tuple(lines))


def _lines(
    clouds: PartClouds, directions: np.ndarray, row: int, hypotheses: list[Hypothesis], weights: np.ndarray
) -> EvidenceLines:
    """Hypotheses that move along a direction of the clouds; others say nothing of where the axis lies."""

    def column(rows: list[Any], width: int) -> np.ndarray:
        return np.array(rows, dtype=np.float64).reshape(-1, width)

    moves = np.array([SLIDE if c.kind == "prismatic" else TURN for c in hypotheses], dtype=np.int64)
    dots = column([c.axis for c in hypotheses], 3) @ clouds.turn.T @ directions[row].T * (clouds.sources[row] >= 0)
    nearest = np.abs(dots).argmax(axis=1)
    signed = np.take_along_axis(dots, nearest[:, None], axis=1)[:, 0]
    limits = column([(c.lower, c.upper) for c in hypotheses], 2) / np.where(moves == TURN, 1.0, clouds.scale)[:, None]
    likely = np.where(signed[:, None] > 0, limits, -limits[:, ::-1])
    likely[[c.kind not in ("revolute", "prismatic") for c in hypotheses]] = np.nan
    places = clouds.to_box(column([c.origin for c in hypotheses], 3))
    found = EvidenceLines(moves, nearest, places, likely, weights)
    return found.pick(np.abs(signed) >= SAME_DIRECTION)


def _shares(weights: np.ndarray, axis: int, floor: float) -> np.ndarray:
    total = weights.sum(axis=axis, keepdims=True)
    even = np.full_like(weights, 1.0 / weights.shape[axis])
    return np.where(total > 0, (1.0 - floor) * weights / np.maximum(total, 1e-12) + floor * even, even)


def log_pool(
    network: Float[np.ndarray, "P *shape"], search: Float[np.ndarray, "P *shape"], weight: float | np.ndarray
) -> Float[np.ndarray, "P *shape"]:
    """Shares over the second axis that follow both: a weighted product."""
    both = np.maximum(network, 1e-6) ** (1.0 - weight) * np.maximum(search, 1e-6) ** weight
    return both / both.sum(axis=1, keepdims=True)


def axis_weight(
    votes: Float[np.ndarray, "P *shape"], shares: Float[np.ndarray, "P *shape"], config: FusionConfig = FUSION
) -> Float[np.ndarray, "P ..."]:
    """How much the search counts in the axis of each part: ``votes`` are shares of views that choose each option."""
    same = np.take_along_axis(votes, shares.argmax(axis=1, keepdims=True), axis=1)
    return np.where(same >= AGREED, config.axes, config.doubtful_axes)


def fuse_limits(
    limits: Float[np.ndarray, "P 2 2"],
    spread: Float[np.ndarray, " P"],
    sided: Bool[np.ndarray, " P"],
    pivots: Float[np.ndarray, "P 3"],
    directions: Float[np.ndarray, "P K 3"],
    choices: Int[np.ndarray, "P 2"],
    evidence: SearchEvidence,
) -> Float[np.ndarray, "P 2 2"]:
    """Limits of the networks after the search has told which side of the line through the pivot is open.

    Where views differ on the length of a turn (``spread``, as a share of it) the search's is taken. Where all views see
    a slide on the same side (``sided``) that side is kept: what stands behind a closed door finds no open one.
    """
    out = limits.copy()
    for row in range(len(limits)):
        for move in (TURN, SLIDE):
            axis = directions[row, choices[row, move]]
            lines = evidence.along(row, move, int(choices[row, move]))
            known = np.isfinite(lines.limits).all(axis=1)
            if move == TURN:
                known &= np.linalg.norm(np.cross(lines.places - pivots[row], axis), axis=1) < SAME_LINE
            if not known.any():
                continue
            best = int(np.where(known, lines.weights, -1.0).argmax())
            low, high = lines.limits[best].tolist()
            is_guess = move == TURN and spread[row] > STEADY and high > low
            found = np.array([low, high]) if is_guess else open_side(limits[row, move], (low, high))
            is_behind = move == SLIDE and sided[row] and float(found.sum() * limits[row, move].sum()) < 0
            out[row, move] = -found[::-1] if is_behind else found
    return out


def open_side(limits: Float[np.ndarray, "2"], likely: tuple[float, float]) -> Float[np.ndarray, "2"]:
    """Limits of the same length on the one side that the search found open.

    Where both sides are open, or neither, the search knows no better than the network. How far it found the way free is
    no bound: drawers that scrape along their frames are annotated with all of their length.
    """
    low, high = likely
    if min(abs(low), abs(high)) > ONE_SIDED * max(abs(low), abs(high)) or low == high:
        return limits
    length = float(limits[1] - limits[0])
    return np.array([0.0, length]) if high > -low else np.array([-length, 0.0])


def shared_by_copies(
    shares: Float[np.ndarray, "P T"], copies: Int[np.ndarray, " P"], parents: Int[np.ndarray, " P"]
) -> Float[np.ndarray, "P T"]:
    """Shares that copies on one carrier agree on: their geometric mean, which adds up to one again."""
    groups = np.unique(np.stack([copies, parents], axis=1), axis=0, return_inverse=True)[1].reshape(-1)
    total = np.zeros((int(groups.max(initial=0)) + 1, shares.shape[1]))
    np.add.at(total, groups, np.log(np.maximum(shares, 1e-12)))
    mean = np.exp(total / np.maximum(np.bincount(groups), 1)[:, None])[groups]
    return mean / mean.sum(axis=1, keepdims=True)
