"""Calibration of the grouping network: slopes and offsets of its log-odds, fitted on watched objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from neurok.articulation.pieces_network import STATIC, PieceModel
from neurok.articulation.pieces_predict import Grouper, PieceCalibration, piece_odds
from neurok.train.pieces_data import PieceExample
from neurok.train.plan_calibration import PlanFitConfig, logistic

FIT = PlanFitConfig(ridge=0.1)
"""Each fit has two numbers, so that little pull is enough."""


def calibrate(
    members: tuple[PieceModel, ...], examples: Sequence[PieceExample]
) -> tuple[PieceCalibration, dict[str, Any]]:
    """The calibration, and the mean surprise at the truth before and after [nats].

    Objects count alike. Pairs of one body and pairs of two count alike in each: there are many more of the latter, and
    clusters are joined by the odds.
    """
    rows: dict[str, list[tuple[float, bool, float]]] = {"moves": [], "affinity": [], "anything": []}
    for example in examples:
        odds, moving = piece_odds(Grouper(members), example.clouds), example.moves > STATIC
        rows["anything"].append((odds.anything, bool(moving.any()), 1.0))
        rows["moves"] += [(float(o), bool(m), 1.0 / len(moving)) for o, m in zip(odds.moves, moving, strict=True)]
        first, second = np.nonzero(np.triu(moving[:, None] | moving, 1))
        same = example.bodies[first] == example.bodies[second]
        count = np.where(same, same.sum(), (~same).sum())
        pairs = zip(odds.affinity[first, second], same, 0.5 / np.maximum(count, 1), strict=True)
        rows["affinity"] += [(float(o), bool(s), float(weight)) for o, s, weight in pairs]
    found, facts = {}, {}
    for name, some in rows.items():
        odds_, truth, weights = (np.array(column) for column in zip(*some, strict=True))
        found[name] = _platt(odds_, truth.astype(bool), weights)
        before, after = (_nats(slope * odds_ + offset, truth, weights) for slope, offset in ((1.0, 0.0), found[name]))
        facts[name] = {"before": round(before, 3), "after": round(after, 3)}
    return PieceCalibration(**found), {"objects": len(examples), "nats": facts}


def _platt(
    odds: Float[np.ndarray, " N"], truth: Bool[np.ndarray, " N"], weights: Float[np.ndarray, " N"]
) -> tuple[float, float]:
    """Slope and offset; as they are where only one answer was seen."""
    if truth.all() or not truth.any():
        return 1.0, 0.0
    rows = np.column_stack([np.ones(len(odds)), odds])
    offset, slope = logistic(rows, truth, FIT, weights)
    return float(slope), float(offset)


def _nats(odds: np.ndarray, truth: np.ndarray, weights: np.ndarray) -> float:
    """Mean surprise at the truth."""
    return float(np.average(np.logaddexp(0.0, np.where(truth, -odds, odds)), weights=weights))
