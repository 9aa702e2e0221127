"""What the networks say and what the search says, as one; the search counts more where views of an object differ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.articulation.network import SLIDE, TURN
from neurok.articulation.search_evidence import NEAR, SearchEvidence

AGREED = 0.95
"""Views agree on a part if no smaller share of them makes the same choice: networks that know a thing do."""

STEADY = 0.1
"""Lengths of a turn whose views differ by more than this share of it are guesses; those of known things do not."""


@dataclass(frozen=True)
class FusionConfig:
    """How much the search counts beside the networks, from 0 to 1; chosen on training objects that both left out."""

    kinds: float = 0.5
    axes: float = 0.5
    places: float = 0.5
    doubtful_axes: float = 0.7
    """The same where views disagree on the direction."""

    steady: float = STEADY


FUSION = FusionConfig()


def log_pool(
    network: Float[np.ndarray, "P *shape"], search: Float[np.ndarray, "P *shape"], weight: float | np.ndarray
) -> Float[np.ndarray, "P *shape"]:
    """Shares over the second axis that follow both: a weighted product."""
    both = np.maximum(network, 1e-6) ** (1.0 - weight) * np.maximum(search, 1e-6) ** weight
    return both / both.sum(axis=1, keepdims=True)


def search_weight(
    votes: Float[np.ndarray, "P *shape"], shares: Float[np.ndarray, "P *shape"], agreed: float, doubtful: float
) -> Float[np.ndarray, "P *shape"]:
    """How much the search counts for each part: ``votes`` are the shares of views that choose each of the options."""
    same = np.take_along_axis(votes, shares.argmax(axis=1, keepdims=True), axis=1)
    return np.where(same >= AGREED, agreed, doubtful)


def fuse_limits(
    limits: Float[np.ndarray, "P 2 2"],
    spread: Float[np.ndarray, " P"],
    sided: Bool[np.ndarray, " P"],
    pivots: Float[np.ndarray, "P 3"],
    directions: Float[np.ndarray, "P K 3"],
    choices: Int[np.ndarray, "P 2"],
    evidence: SearchEvidence,
    steady: float = STEADY,
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
            known = np.isfinite(lines.likely).all(axis=1)
            if move == TURN:
                known &= np.linalg.norm(np.cross(lines.places - pivots[row], axis), axis=1) < NEAR
            if not known.any():
                continue
            best = int(np.where(known, lines.weights, -1.0).argmax())
            low, high = lines.likely[best].tolist()
            is_guess = move == TURN and spread[row] > steady and high > low
            found = np.array([low, high]) if is_guess else open_side(limits[row, move], (low, high))
            is_behind = move == SLIDE and sided[row] and float(found.sum() * limits[row, move].sum()) < 0
            out[row, move] = -found[::-1] if is_behind else found
    return out


def open_side(
    limits: Float[np.ndarray, "2"], likely: tuple[float, float], thin: float = 0.05
) -> Float[np.ndarray, "2"]:
    """Limits of the same length on the one side that the search found open.

    Where both sides are open, or neither, the search knows no better than the network. How far it found the way free is
    no bound: drawers that scrape along their frames are annotated with all of their length.
    """
    low, high = likely
    if min(abs(low), abs(high)) > thin * max(abs(low), abs(high)) or low == high:
        return limits
    length = float(limits[1] - limits[0])
    return np.array([0.0, length]) if high > -low else np.array([-length, 0.0])
