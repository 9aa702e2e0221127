"""How probable a joint must be, and how far bodies of one object keep out of each other: numbers that several ask for.

*By eye*: set on a handful of objects when the step was written, and not measured since.
"""

from __future__ import annotations

from dataclasses import dataclass

# Does a joint move? That is asked of its calibrated probability of being right, and these are all thresholds on it.
# Checked on 94 held-out objects, raw and with their parts, and 50 that stand still.
SIMULATED = 0.5  # Joints that are likelier right than wrong are joints of a plan: every verb simulates and writes them.
# Listed as possible, and tried for a target, which shows that something moves: of a new kind the true joint is seldom
# likely.
POSSIBLE = 0.03
MOVING_PIECE = 0.1  # Pieces that the grouping network holds likelier to move are not of the base; the plan asks again.
STILL = 0.1  # A single surface is not cut into bodies if it is less likely than this that anything moves.

MOSTLY_SOFT = 0.5
"""Share of a surface that must be soft for a body, or an object, to deform as a whole instead of moving on joints."""


@dataclass(frozen=True)
class ClearanceConfig:
    """When two bodies of one object count as passing through each other. By eye, as in the search."""

    crossing: float = 0.07
    """Share of the points of a body that must cross the other: as in the search."""

    steps: int = 12
    """Steps from rest to a state, for each of the two bodies."""

    bisections: int = 6
    """How finely a body that must wait is drawn back: to a sixty-fourth of its way."""

    tries: int = 12
    """States drawn before one that is not free is drawn back."""

    most_bodies: int = 24
    """Objects of more moving bodies, like keyboards, are not asked: their keys do not reach each other."""


CLEARANCE = ClearanceConfig()
