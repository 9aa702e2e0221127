"""How likely each line is, from the evidence: one weight for each name of it, kind by kind.

The weights (``priors.json``, made by ``benchmarks/fit_ranking.py``) are fitted so that, among all lines of a part, the
right one scores best (a conditional logit), on the training objects of PartNet-Mobility and on generated families; no
held-out object is used. They hold general habits of made things: doors turn about an edge that touches the frame, knobs
about the line they are round about, drawers slide out of where they are confined.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
from jaxtyping import Float

from neurok.bodyplan.evidence import FIXED_FEATURES, SLIDE_FEATURES, TURN_FEATURES

PRIORS = Path(__file__).parent / "priors.json"
FEATURES = {
    "revolute": TURN_FEATURES,
    "continuous": TURN_FEATURES,
    "prismatic": SLIDE_FEATURES,
    "fixed": FIXED_FEATURES,
}


@cache
def weights(kind: str) -> Float[np.ndarray, " K"]:
    """The weight of each name of evidence for one kind of joint."""
    table = json.loads(PRIORS.read_text())
    return np.array([table[kind].get(name, 0.0) for name in FEATURES[kind]])


def logits(kind: str, evidence: Float[np.ndarray, "C K"]) -> Float[np.ndarray, " C"]:
    """How much speaks for each line, on a log scale."""
    return evidence @ weights(kind)


def softmax(logits: Float[np.ndarray, " C"]) -> Float[np.ndarray, " C"]:
    """Strengths of all hypotheses of one part as shares that add up to one."""
    powers = np.exp(logits - logits.max(initial=-np.inf))
    return powers / powers.sum()
