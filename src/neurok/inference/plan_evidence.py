"""One weighing of all evidence of a joint: search and joint network rank the lines of a body, and they or the grouping
network say whether it moves at all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from neurok.bodyplan.hypothesis import Hypothesis

if TYPE_CHECKING:
    from neurok.articulation.pieces_predict import Groups
    from neurok.articulation.predict import Prediction

CALIBRATION = (2.56, 3.11, 0.64)
"""Log-odds that the best line of a body is right: constant, then per unit of the log-probability of the line, and of
the grouping network's log-odds that the body moves. Fitted to 24 training objects that no network has learned from and
20 static ones, raw and with their parts, every object counting alike (``neurok train plan``)."""

UNASKED = (-2.09, 1.98, 1.28)
"""The same where the grouping network is not at hand: search and joint network themselves say whether a body moves."""

SHOWN = 5
"""Hypotheses of each body that are kept."""

SAME_DIRECTION = float(np.cos(np.radians(8.0)))
"""Cosine from which on two axes are one, as in the evidence of the search."""

SAME_PLACE = 0.02
"""Parallel axes nearer than this are one [share of the object]."""


@dataclass(frozen=True, eq=False)
class BodyEvidence:
    """The lines of one body, and what its calibration is asked about."""

    lines: tuple[Hypothesis, ...]
    """Best first, with their probabilities by search and joint network."""

    facts: tuple[float, float, float]
    """One, log-probability of the best line, and log-odds that the body moves."""

    def ranked(self, calibration: tuple[float, ...], size: float) -> tuple[Hypothesis, ...]:
        """The best lines, no two alike, with calibrated probabilities; ``size`` is that of the object."""
        right = 1.0 / (1.0 + np.exp(-float(np.dot(calibration, self.facts))))
        shares = right * np.array([line.probability for line in self.lines]) / self.lines[0].probability
        kept: list[Hypothesis] = []
        for line, share in zip(self.lines, shares, strict=True):
            if len(kept) < SHOWN and not any(_is_same_line(line, other, size) for other in kept):
                kept.append(replace(line, probability=float(share)))
        return tuple(kept)


def gather_evidence(prediction: Prediction, groups: Groups | None = None) -> dict[int, BodyEvidence]:
    """The evidence of every body that a parent carries and that has a surface."""
    from neurok.articulation.predict import fixed_probability, joint_hypotheses

    found = {}
    for part in range(prediction.mesh.part_count):
        lines = joint_hypotheses(prediction, part)
        if lines:
            fixed = fixed_probability(prediction, part)
            odds = float(np.log(max(1.0 - fixed, 1e-4) / max(fixed, 1e-4)))
            moves = odds if groups is None else float(groups.moves[part])
            best = float(np.log(max(lines[0].probability, 1e-12)))
            found[part] = BodyEvidence(tuple(lines), (1.0, best, moves))
    return found


def _is_same_line(first: Hypothesis, second: Hypothesis, size: float) -> bool:
    slides = first.kind == "prismatic", second.kind == "prismatic"
    if slides[0] != slides[1] or abs(float(first.axis @ second.axis)) < SAME_DIRECTION:
        return False
    offset: Float[np.ndarray, "3"] = first.origin - second.origin
    across = offset - (offset @ second.axis) * second.axis
    return slides[0] or float(np.linalg.norm(across)) < SAME_PLACE * size
