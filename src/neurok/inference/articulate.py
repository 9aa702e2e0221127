"""The verb ``articulate``: the joints of a still object, from its body plan."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from neurok.bodyplan.editing import plan_of_joints
from neurok.bodyplan.plan import BodyPlan
from neurok.core import Asset
from neurok.errors import NeurokError
from neurok.inference import plan as planning
from neurok.inference.plan import Thing, asset_of
from neurok.kinematics.playing import clip_of, through_states
from neurok.kinematics.skeleton import skeleton_space
from neurok.kinematics.tracks import tracked_space

SHOWN_STATES = 4
"""States that the motion of bones goes through."""


def articulate(thing: Thing, *, plan: BodyPlan | None = None, **options: Any) -> Asset:
    """The object with the joints of its body plan, ready to be written or simulated.

    Where nodes of its own animation turn and slide as wheels and lids do, these are its joints. What bends and has no
    joint gets bones instead: a clip with a skin. A plan that is handed over is taken as it is.

    Args:
        thing: A mesh, an asset, or what ``neurok.load`` reads.
        plan: Its body plan, if it is at hand or was edited.
        options: Those of ``neurok.plan``.
    """
    asset = asset_of(thing)
    found = plan or (None if options else animated_plan(asset)) or planning.plan(asset, **options)
    if plan is None and (boned := with_bones(asset, found)) is not None:
        return boned
    return replace(asset, mesh=found.mesh, clips=(), articulation=found.articulation)


def animated_plan(asset: Asset) -> BodyPlan | None:
    """The plan behind the animation of a file, if its nodes are rigid and have one joint each."""
    found = tracked_space(asset.mesh, asset.clips)
    joints = None if found is None else found.articulation
    if joints is None or not joints.dof:
        return None
    try:
        return plan_of_joints(joints)
    except NeurokError:  # a node without a surface
        return None


def with_bones(asset: Asset, plan: BodyPlan) -> Asset | None:
    """What bends and has no joint, on bones found from its surface, with a clip that shows them; else ``None``."""
    if not plan.bends or plan.articulation.dof:
        return None
    space = skeleton_space(asset.mesh)
    if space is None:
        return None
    shown = clip_of(space, through_states(space.sample(SHOWN_STATES)), name="bones")
    return replace(asset, clips=(shown,), articulation=None)
