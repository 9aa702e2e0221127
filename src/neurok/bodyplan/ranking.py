"""How likely each line is, from the evidence: one weight for each feature, kind by kind.

``priors.json`` holds the weights. ``neurok train ranking`` makes it: ``train/articulation_ranking.py`` tries all
lines of every part of an annotated object as the search does, and fits the weights so that the lines along which the
part truly moves are likeliest among them (a conditional logit with a ridge). Learned from are the training objects of
PartNet-Mobility and generated families; no held-out object is read. The evidence must be that of ``EvidenceConfig`` as
it is: another one needs another fit. The weights hold general habits of made things: doors turn about an edge that
touches the frame, knobs about the line they are round about, drawers slide out of where they are confined.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
from jaxtyping import Float

from neurok.bodyplan.config import RANKING
from neurok.bodyplan.evidence import FIXED_FEATURES, SLIDE_FEATURES, TURN_FEATURES

FEATURES = {
    "revolute": TURN_FEATURES,
    "continuous": TURN_FEATURES,
    "prismatic": SLIDE_FEATURES,
    "fixed": FIXED_FEATURES,
}


@cache
def weights(kind: str, path: Path = RANKING) -> Float[np.ndarray, " K"]:
    """The weight of each feature for one kind of joint."""
    table = json.loads(path.read_text())
    return np.array([table[kind].get(name, 0.0) for name in FEATURES[kind]])


def logits(kind: str, evidence: Float[np.ndarray, "C K"], path: Path = RANKING) -> Float[np.ndarray, " C"]:
    """How much speaks for each line, on a log scale; ``path`` is the file of the weights."""
    return evidence @ weights(kind, path)


def softmax(values: Float[np.ndarray, " C"]) -> Float[np.ndarray, " C"]:
    """Probabilities of all hypotheses of one part, which add up to one."""
    powers = np.exp(values - values.max(initial=-np.inf))
    return powers / powers.sum()
