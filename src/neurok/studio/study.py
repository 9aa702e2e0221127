"""What an object can do, found once after it was opened; it may take seconds."""

from __future__ import annotations

from dataclasses import dataclass

from neurok.bodyplan.plan import BodyPlan
from neurok.core import Asset
from neurok.errors import NeurokError
from neurok.inference.plan import plan as find_plan
from neurok.inference.spaces import SIMULATED, space_of
from neurok.kinematics.space import KinematicSpace


@dataclass(frozen=True, eq=False)
class Studied:
    """Bodies and joints of an object, and its poses."""

    plan: BodyPlan
    space: KinematicSpace | None
    """``None`` where nothing is known to move."""

    note: str


def study(asset: Asset) -> Studied:
    """Look for bodies and joints.

    Joints that would not move in a simulation are fixed; freeing their bodies brings them back.
    """
    found = find_plan(asset).likely(SIMULATED)
    try:
        return Studied(found, space_of(asset, "learned", plan=found), found.note)
    except NeurokError as error:
        return Studied(found, None, str(error))
