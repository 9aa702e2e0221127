"""Every way a part may move, ranked: the line of the fused posterior, and the lines that the search has tried."""

from __future__ import annotations

import numpy as np

from neurok.articulation.network import KINDS, SLIDE, TURN
from neurok.articulation.predict import Prediction
from neurok.bodyplan.hypothesis import Hypothesis
from neurok.core.articulation import JointKind

TURNING = np.array([kind in ("revolute", "continuous", "cylindrical") for kind in KINDS])
SLIDING = np.array([kind == "prismatic" for kind in KINDS])


def joint_hypotheses(prediction: Prediction, part: int) -> list[Hypothesis]:
    """Lines of one part with their probabilities by search and network, the best first.

    A line has the probability of its way to move (turn or slide), times that of its direction, times, for a turn, its
    share among the places the axis may pass through.
    """
    clouds, posterior, evidence = prediction.clouds, prediction.posterior, prediction.evidence
    assert clouds is not None
    assert posterior is not None
    assert evidence is not None
    rows = np.flatnonzero(clouds.parts == part)
    if not len(rows) or posterior.parents[rows[0]] < 0:
        return []
    row = int(rows[0])
    parent = int(clouds.parts[posterior.parents[row]])
    kinds = posterior.kinds[row]
    mass = {TURN: float(kinds @ TURNING), SLIDE: float(kinds @ SLIDING)}
    kind: dict[int, JointKind] = {TURN: KINDS[int((kinds * TURNING).argmax())], SLIDE: "prismatic"}
    found = []

    def add(move: int, direction: int, place: np.ndarray, limits: np.ndarray, share: float, source: str) -> None:
        low, high = np.nan_to_num(limits) * (1.0 if move == TURN else clouds.scale)
        axis = posterior.directions[row, direction] @ clouds.turn
        slide = posterior.limits[row, SLIDE] * clouds.scale if kind[move] == "cylindrical" else np.zeros(2)
        probability = mass[move] * float(posterior.axes[row, direction, move]) * share
        ends = (float(slide.min()), float(slide.max()))
        found.append(
            Hypothesis(
                part, parent, kind[move], axis, clouds.from_box(place), float(low), float(high), probability,
                slide=ends, source=source,
            )
        )  # fmt: skip

    for move in (TURN, SLIDE):
        place = posterior.pivots[row, 0] if move == TURN else clouds.points[row].mean(axis=0)
        share = float(posterior.pivot_probabilities[row, 0]) if move == TURN else 1.0
        add(move, int(posterior.choices[row, move]), place, posterior.limits[row, move], share, "network and search")
    lines = evidence.lines[row]
    for k in range(len(lines)):
        move, direction = int(lines.moves[k]), int(lines.directions[k])
        alike = (lines.moves == move) & (lines.directions == direction)
        share = float(lines.weights[k] / max(float(lines.weights[alike].sum()), 1e-12)) if move == TURN else 1.0
        limits = lines.limits[k] if np.isfinite(lines.limits[k]).all() else posterior.limits[row, move]
        add(move, direction, lines.places[k], limits, share, "search")
    return sorted(found, key=lambda line: -line.probability)


def fixed_probability(prediction: Prediction, part: int) -> float:
    """How likely a part does not move at all, by search and network."""
    assert prediction.clouds is not None
    assert prediction.posterior is not None
    rows = np.flatnonzero(prediction.clouds.parts == part)
    return float(prediction.posterior.kinds[int(rows[0]), KINDS.index("fixed")]) if len(rows) else 1.0
