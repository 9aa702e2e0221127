"""The verb ``articulate``: the joints of a still object, from its body plan."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from neurok.bodyplan.plan import BodyPlan
from neurok.core import Asset
from neurok.inference.plan import Thing, plan


def articulate(thing: Thing, *, plan_of: BodyPlan | None = None, **options: Any) -> Asset:
    """The object with the joints of its body plan, ready to be written or simulated.

    Args:
        thing: A mesh, an asset, or what ``neurok.load`` reads.
        plan_of: Its body plan, if it is at hand or was edited.
        options: Those of ``neurok.plan``.
    """
    if isinstance(thing, Asset):
        asset = thing
    else:
        from neurok.inference.plan import mesh_of

        asset = Asset(mesh_of(thing))
    found = plan(asset, **options) if plan_of is None else plan_of
    return replace(asset, mesh=found.mesh, clips=(), articulation=found.articulation)
