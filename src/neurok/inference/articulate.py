"""The verb ``articulate``: the joints of a still object, from its body plan."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from neurok.bodyplan.plan import BodyPlan
from neurok.core import Asset
from neurok.inference import plan as planning
from neurok.inference.plan import Thing, asset_of


def articulate(thing: Thing, *, plan: BodyPlan | None = None, **options: Any) -> Asset:
    """The object with the joints of its body plan, ready to be written or simulated.

    Args:
        thing: A mesh, an asset, or what ``neurok.load`` reads.
        plan: Its body plan, if it is at hand or was edited.
        options: Those of ``neurok.plan``.
    """
    asset = asset_of(thing)
    found = planning.plan(asset, **options) if plan is None else plan
    return replace(asset, mesh=found.mesh, clips=(), articulation=found.articulation)
