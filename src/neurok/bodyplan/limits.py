"""Limits of a joint: from its free range, of which things rarely use all, and no farther than contact lasts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.spatial import cKDTree

from neurok.bodyplan.config import LIMITS, LimitConfig
from neurok.bodyplan.contacts import ContactGraph
from neurok.bodyplan.hypothesis import Hypothesis
from neurok.bodyplan.sweep import trajectories

LEARNED = "network"
"""Word of the source of hypotheses that a network has a say in."""


def turn_limits(low: float, high: float, config: LimitConfig = LIMITS) -> tuple[float, float]:
    """Limits [rad] from the free angles backward and forward, the larger one forward."""
    back = min(low, config.widest_turn)
    return (0.0 - back if back > config.turn_play else 0.0), min(high, config.widest_turn)


def slide_limits(
    low: float, high: float, length: float, is_button: bool, config: LimitConfig = LIMITS
) -> tuple[float, float]:
    """Limits from the free ways backward and forward of a part that is ``length`` long along the slide."""
    if is_button:
        return 0.0, config.button * length
    usual = config.slide * length
    lower = -min(low, usual) if low > config.slide_back * length else 0.0
    return lower, usual if high > config.slide_scrape * length else high


def clip_limits(
    hypothesis: Hypothesis,
    contacts: ContactGraph,
    config: LimitConfig = LIMITS,
    parents: Sequence[int] | None = None,
) -> Hypothesis:
    """The same joint with its limits drawn in to where the part stays as close to its carrier as it was.

    Rest is always within the limits, and is one of them where the other way is hardly open. A joint that turns all
    the way has none, and is left alone. With the ``parents`` of all parts known, whatever the part does not carry may
    hold it: a drawer that is said to hang on its neighbour still runs in the frame. A slide that a network knows
    is left alone where the part would come loose at once.
    """
    if hypothesis.kind == "fixed" or hypothesis.parent < 0:
        return hypothesis
    if hypothesis.kind == "cylindrical":
        return replace(hypothesis, slide=_clipped(hypothesis, contacts, hypothesis.slide, False, config, parents))
    if hypothesis.kind == "continuous":
        return hypothesis
    ends = (hypothesis.lower, hypothesis.upper)
    lower, upper = _clipped(hypothesis, contacts, ends, hypothesis.kind == "revolute", config, parents)
    if hypothesis.kind == "prismatic" and LEARNED in hypothesis.source:
        low, high = min(ends[0], 0.0), max(ends[1], 0.0)
        if upper - lower < config.loose * (high - low):
            lower, upper = low, high
    return replace(hypothesis, lower=lower, upper=upper)


def _clipped(
    hypothesis: Hypothesis,
    contacts: ContactGraph,
    limits: tuple[float, float],
    turning: bool,
    config: LimitConfig,
    parents: Sequence[int] | None,
) -> tuple[float, float]:
    own, carrier = contacts.samples[hypothesis.part], contacts.samples[hypothesis.parent]
    low, high = min(limits[0], 0.0), max(limits[1], 0.0)
    if own is None or carrier is None:
        return low, high
    tree = carrier.tree()
    if parents is not None:
        others = (contacts.samples[part] for part in _not_carried(hypothesis.part, parents))
        tree = cKDTree(np.concatenate([samples.points for samples in others if samples is not None]))
    every = max(1, len(own.points) // config.contact_points)
    points = own.points[::every]
    gap = lambda values, far: _gaps(points, tree, hypothesis, values, turning, far)  # noqa: E731
    allowed = float(gap(np.zeros(1), np.inf)[0]) + config.slack * contacts.size
    ends = []
    for end in (low, high):
        values = np.linspace(0.0, end, config.contact_steps + 1)
        loose = np.flatnonzero(gap(values, allowed) > allowed) if end else np.zeros(0, dtype=np.int64)
        ends.append(float(values[loose[0] - 1]) if len(loose) else float(end))
    back, forth = (end if abs(end) >= config.contact_play * max(-ends[0], ends[1]) else 0.0 for end in ends)
    return back, forth


def _not_carried(part: int, parents: Sequence[int]) -> list[int]:
    """Parts that a part does not carry, itself left out."""
    carried = {part}
    for _ in parents:  # as deep as the tree can be
        carried |= {child for child, above in enumerate(parents) if above in carried}
    return [other for other in range(len(parents)) if other not in carried]


def _gaps(
    points: Float[np.ndarray, "N 3"],
    tree: Any,
    hypothesis: Hypothesis,
    values: Float[np.ndarray, " T"],
    turning: bool,
    far: float,
) -> Float[np.ndarray, " T"]:
    """Distance between the part and its carrier for each value of the joint, up to the spacing of the samples;
    infinite beyond ``far``."""
    moved = trajectories(points, hypothesis.axis[None], hypothesis.origin[None], values[None], turning)[0].reshape(
        -1, 3
    )
    away = tree.query(moved, distance_upper_bound=np.nextafter(far, np.inf))[0]
    return np.asarray(away).reshape(len(values), -1).min(axis=1)
