"""What the networks say and what the search says, as one; the search counts more where views of an object differ."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.articulation.config import FUSION, FusionConfig
from neurok.articulation.network import SLIDE, TURN
from neurok.articulation.search_evidence import SearchEvidence


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
    return np.where(same >= config.agreed, config.axes, config.doubtful_axes)


def fuse_limits(
    limits: Float[np.ndarray, "P 2 2"],
    spread: Float[np.ndarray, " P"],
    sided: Bool[np.ndarray, " P"],
    pivots: Float[np.ndarray, "P 3"],
    directions: Float[np.ndarray, "P K 3"],
    choices: Int[np.ndarray, "P 2"],
    evidence: SearchEvidence,
    config: FusionConfig = FUSION,
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
                known &= np.linalg.norm(np.cross(lines.places - pivots[row], axis), axis=1) < config.same_line
            if not known.any():
                continue
            best = int(np.where(known, lines.weights, -1.0).argmax())
            low, high = lines.limits[best].tolist()
            is_guess = move == TURN and spread[row] > config.steady and high > low
            found = np.array([low, high]) if is_guess else open_side(limits[row, move], (low, high), config.one_sided)
            is_behind = move == SLIDE and sided[row] and float(found.sum() * limits[row, move].sum()) < 0
            out[row, move] = -found[::-1] if is_behind else found
    return out


def open_side(
    limits: Float[np.ndarray, "2"], likely: tuple[float, float], one_sided: float = FUSION.one_sided
) -> Float[np.ndarray, "2"]:
    """Limits of the same length on the one side that the search found open.

    Where both sides are open, or neither, the search knows no better than the network. How far it found the way free is
    no bound: drawers that scrape along their frames are annotated with all of their length.
    """
    low, high = likely
    if min(abs(low), abs(high)) > one_sided * max(abs(low), abs(high)) or low == high:
        return limits
    length = float(limits[1] - limits[0])
    return np.array([0.0, length]) if high > -low else np.array([-length, 0.0])
