"""How far a part may go before it loses what carries it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float

from neurok.bodyplan.contacts import Contacts
from neurok.bodyplan.hypothesis import Candidate
from neurok.bodyplan.sweep import path

SLACK = 0.01
"""How much wider than at rest the gap to the carrier may get, as a share of the object's size."""

STEPS = 24
"""Places tried between rest and a limit."""

POINTS = 600

PLAY = 0.05
"""A way back shorter than this share of the way forth is no range but noise."""


def hold_limits(candidate: Candidate, contacts: Contacts, slack: float = SLACK) -> Candidate:
    """The same joint with its limits drawn in to where the part stays as close to its carrier as it was.

    Rest is always within the limits, and is one of them where the other way is hardly open. A joint that turns all
    the way has none, and is left alone.
    """
    if candidate.kind == "fixed" or candidate.parent < 0:
        return candidate
    if candidate.kind == "cylindrical":
        return replace(candidate, slide=_held(candidate, contacts, candidate.slide, False, slack))
    if candidate.kind == "continuous":
        return candidate
    ends = (candidate.lower, candidate.upper)
    lower, upper = _held(candidate, contacts, ends, candidate.kind == "revolute", slack)
    return replace(candidate, lower=lower, upper=upper)


def _held(
    candidate: Candidate, contacts: Contacts, limits: tuple[float, float], turning: bool, slack: float
) -> tuple[float, float]:
    own, carrier = contacts.clouds[candidate.part], contacts.clouds[candidate.parent]
    low, high = min(limits[0], 0.0), max(limits[1], 0.0)
    if own is None or carrier is None:
        return low, high
    every = max(1, len(own.points) // POINTS)
    points = own.points[::every]
    gap = lambda values, far: _gaps(points, carrier.tree(), candidate, values, turning, far)  # noqa: E731
    allowed = float(gap(np.zeros(1), np.inf)[0]) + slack * contacts.size
    ends = []
    for end in (low, high):
        values = np.linspace(0.0, end, STEPS + 1)
        loose = np.flatnonzero(gap(values, allowed) > allowed) if end else np.zeros(0, dtype=np.int64)
        ends.append(float(values[loose[0] - 1]) if len(loose) else float(end))
    back, forth = (end if abs(end) >= PLAY * max(-ends[0], ends[1]) else 0.0 for end in ends)
    return back, forth


def _gaps(
    points: Float[np.ndarray, "N 3"],
    tree: Any,
    candidate: Candidate,
    values: Float[np.ndarray, " T"],
    turning: bool,
    far: float,
) -> Float[np.ndarray, " T"]:
    """Distance between the part and its carrier for each value of the joint, up to the spacing of the samples;
    infinite beyond ``far``."""
    moved = path(points, candidate.axis[None], candidate.origin[None], values[None], turning)[0].reshape(-1, 3)
    away = tree.query(moved, distance_upper_bound=np.nextafter(far, np.inf))[0]
    return np.asarray(away).reshape(len(values), -1).min(axis=1)
