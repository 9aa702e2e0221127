"""One way a part might move, and its limits: from its free range, of which things rarely use all, and no farther than
contact lasts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from scipy.spatial import cKDTree

from neurok.bodyplan.contacts import ContactGraph, subtree
from neurok.bodyplan.sweep import trajectories
from neurok.core import Joint
from neurok.core.articulation import JointKind

# From a free range to limits: things rarely use all the room they have, and small clashes rarely stop them.
LEAST_TURN = math.radians(10.0)  # What a hinge must at least allow [rad]. By eye.
LEAST_SLIDE = 0.08  # What a slide must at least allow [lengths of the part]. By eye.
WIDEST_TURN = math.radians(90.0)  # Most hinges that meet nothing stop here [rad]. By eye.
TURN_PLAY = 0.3  # A way back smaller than this is play, not range [rad]. By eye.
USUAL_SLIDE = 0.8  # How far a part slides out [lengths of the part]. By eye.
SLIDE_BACK = 0.5  # It slides backward as well if more than this is free there [lengths of the part]. By eye.
# If more than this is free it slides all the way: drawers scrape along [lengths of the part]. By eye.
SLIDE_SCRAPE = 0.1
BUTTON_TRAVEL = 0.6  # How far a button sinks in [heights of the button]. By eye.
# A small part that slides nearer than this to the normal of its contact is a button [cosine]. By eye.
BUTTON_DIRECTION = 0.9
SLACK = 0.02  # How much wider than at rest the gap to the carrier may get [share of the object]: a lid is lifted by it.
# A slide that a network knows and that loses its carrier within this share of its way keeps its limits: lids are
# lifted off, and drawers that are a mere front have nothing to run in. By eye, on training objects kept aside.
LOOSE_SHARE = 0.25
CONTACT_STEPS = 24  # Values tried between rest and a limit. By eye.
CONTACT_POINTS = 600  # Points of the part that are followed, about. By eye.
# A way back shorter than this is noise [share of the way forth]. By eye, on training objects kept aside.
CONTACT_PLAY = 0.2

LEARNED = "network"
"""Word of the source of hypotheses that a network has a say in."""


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """A joint that was tried, in the coordinates of the mesh."""

    part: int
    parent: int
    kind: JointKind
    axis: Float[np.ndarray, "3"]
    origin: Float[np.ndarray, "3"]
    """A point of the axis."""

    lower: float
    """Likely limits: [rad] for turns, mesh units for slides."""

    upper: float
    probability: float
    """How likely, by geometry alone, the true joint is this one or nearly so: from 0 to 1."""

    reason: str = ""
    """Why it was rejected, in a few words; empty for a valid one."""

    free: tuple[float, float] = (0.0, 0.0)
    """How far it got both ways before it collided or came loose; half a turn or its own length at most."""

    slide: tuple[float, float] = (0.0, 0.0)
    """Limits of the slide of a cylindrical joint."""

    source: str = "search"
    """Where it comes from: the search, network and search together, or a person."""

    @property
    def is_valid(self) -> bool:
        return not self.reason

    def joint(self, name: str = "joint") -> Joint:
        """As a joint of an articulation."""
        if self.kind == "fixed":
            return Joint("fixed", self.parent, name=name)
        low, high = (-math.inf, math.inf) if self.kind == "continuous" else (self.lower, self.upper)
        slide_low, slide_high = self.slide if self.kind == "cylindrical" else (-math.inf, math.inf)
        return Joint(self.kind, self.parent, self.axis, self.origin, low, high, slide_low, slide_high, name=name)


def turn_limits(low: float, high: float) -> tuple[float, float]:
    """Limits [rad] from the free angles backward and forward, the larger one forward."""
    back = min(low, WIDEST_TURN)
    return (0.0 - back if back > TURN_PLAY else 0.0), min(high, WIDEST_TURN)


def slide_limits(low: float, high: float, length: float, is_button: bool) -> tuple[float, float]:
    """Limits from the free ways backward and forward of a part that is ``length`` long along the slide."""
    if is_button:
        return 0.0, BUTTON_TRAVEL * length
    usual = USUAL_SLIDE * length
    lower = -min(low, usual) if low > SLIDE_BACK * length else 0.0
    return lower, usual if high > SLIDE_SCRAPE * length else high


def clip_limits(hypothesis: Hypothesis, contacts: ContactGraph, parents: Sequence[int] | None = None) -> Hypothesis:
    """The same joint with its limits drawn in to where the part stays as close to its carrier as it was.

    Rest is always within the limits, and is one of them where the other way is hardly open. A joint that turns all
    the way has none, and is left alone. With the ``parents`` of all parts known, whatever the part does not carry may
    hold it: a drawer that is said to hang on its neighbour still runs in the frame. A slide that a network knows
    is left alone where the part would come loose at once.
    """
    if hypothesis.kind == "fixed" or hypothesis.parent < 0:
        return hypothesis
    if hypothesis.kind == "cylindrical":
        return replace(hypothesis, slide=_clipped(hypothesis, contacts, hypothesis.slide, False, parents))
    if hypothesis.kind == "continuous":
        return hypothesis
    ends = (hypothesis.lower, hypothesis.upper)
    lower, upper = _clipped(hypothesis, contacts, ends, hypothesis.kind == "revolute", parents)
    if hypothesis.kind == "prismatic" and LEARNED in hypothesis.source:
        low, high = min(ends[0], 0.0), max(ends[1], 0.0)
        if upper - lower < LOOSE_SHARE * (high - low):
            lower, upper = low, high
    return replace(hypothesis, lower=lower, upper=upper)


def _clipped(
    hypothesis: Hypothesis,
    contacts: ContactGraph,
    limits: tuple[float, float],
    turning: bool,
    parents: Sequence[int] | None,
) -> tuple[float, float]:
    own, carrier = contacts.samples[hypothesis.part], contacts.samples[hypothesis.parent]
    low, high = min(limits[0], 0.0), max(limits[1], 0.0)
    if own is None or carrier is None:
        return low, high
    tree = carrier.tree
    if parents is not None:
        carried = subtree(tuple(parents), hypothesis.part)
        others = [one.points for part, one in enumerate(contacts.samples) if one is not None and part not in carried]
        tree = cKDTree(np.concatenate(others))
    points = own.points[:: max(1, len(own.points) // CONTACT_POINTS)]
    axis, origin = hypothesis.axis[None], hypothesis.origin[None]

    def gaps(values: Float[np.ndarray, " T"], far: float) -> Float[np.ndarray, " T"]:
        """Distance of the part from its carrier for each value, up to the spacing of the samples; infinite beyond."""
        moved = trajectories(points, axis, origin, values[None], turning)[0].reshape(-1, 3)
        away = tree.query(moved, distance_upper_bound=np.nextafter(far, np.inf))[0]
        return np.asarray(away).reshape(len(values), -1).min(axis=1)

    allowed = float(gaps(np.zeros(1), np.inf)[0]) + SLACK * contacts.size
    ends = []
    for end in (low, high):
        values = np.linspace(0.0, end, CONTACT_STEPS + 1)
        loose = np.flatnonzero(gaps(values, allowed) > allowed) if end else np.zeros(0, dtype=np.int64)
        ends.append(float(values[loose[0] - 1]) if len(loose) else float(end))
    back, forth = (end if abs(end) >= CONTACT_PLAY * max(-ends[0], ends[1]) else 0.0 for end in ends)
    return back, forth
