"""A few telling states of an item, for pictures and statistics."""

from __future__ import annotations

import numpy as np

from neurok.core import Asset, Mesh


def telling_states(asset: Asset, count: int) -> list[Mesh]:
    """The rest state, then states that show the motion: joints at their far ends, or frames spread over the clip."""
    if asset.articulation is not None and asset.articulation.dof:
        joints = asset.articulation
        far = joints.sweep(3)[1]
        return [joints.pose(far * share) for share in np.linspace(0.0, 1.0, count)]
    if asset.clips:
        clip = asset.clips[0]
        chosen = np.linspace(0, clip.frame_count - 1, count).round().astype(int)[1:]
        return [asset.mesh, *(clip.mesh(int(frame)) for frame in chosen)]
    return [asset.mesh]
