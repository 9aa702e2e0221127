"""Which poses an object can take, judged by what its file says."""

from __future__ import annotations

from neurok.core import Articulation, Asset, Joint
from neurok.kinematics import ArticulatedSpace, KinematicSpace, LinearSpace

CLIP_MODES = 8
"""Coordinates of an object whose own animation spans its poses."""


def space_for(asset: Asset) -> KinematicSpace:
    """The poses an object can take.

    Its joints, where it has some; the span of its own frames, where it comes with an animation; else only the one it
    has, and it can move only as a whole.
    """
    if asset.articulation is not None and asset.articulation.dof:
        return ArticulatedSpace(asset.articulation)
    if asset.articulation is None and any(clip.frame_count > 1 for clip in asset.clips):
        clip = next(clip for clip in asset.clips if clip.frame_count > 1)
        return LinearSpace.from_clip(clip, CLIP_MODES)
    if asset.articulation is not None:
        return ArticulatedSpace(asset.articulation)
    return ArticulatedSpace(Articulation(asset.mesh, (Joint(),) * asset.mesh.part_count, name=asset.mesh.name))
