"""One way a part might move, and the lines it might move along."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from neurok.core import Joint
from neurok.core.articulation import JointKind


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
