"""Another state of the joints as the stored one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from jaxtyping import Float

from neurok.core import Articulation, Asset
from neurok.geometry import lie


def reopened(asset: Asset, q: Float[np.ndarray, " D"]) -> Asset:
    """The same object stored with its joints at ``q``: axes travel along, limits are counted from there."""
    old = asset.articulation
    assert old is not None
    transforms = old.transforms(q)
    mesh = old.pose(q)
    joints = []
    for joint, slot in zip(old.joints, old.slots, strict=True):
        world = np.eye(4) if joint.parent < 0 else transforms[joint.parent]
        axis, origin = world[:3, :3] @ joint.axis, lie.apply(world, joint.origin[None])[0]
        shift = float(q[slot][0]) if joint.dof and joint.kind != "continuous" else 0.0
        joints.append(replace(joint, axis=axis, origin=origin, lower=joint.lower - shift, upper=joint.upper - shift))
    return replace(asset, mesh=mesh, articulation=Articulation(mesh, tuple(joints), name=old.name))


def flipped(asset: Asset, flips: np.ndarray) -> Asset:
    """The same motions described with some axes pointing the other way."""
    old = asset.articulation
    assert old is not None
    joints = [
        replace(j, axis=-j.axis, lower=-j.upper, upper=-j.lower) if flip and j.dof else j
        for j, flip in zip(old.joints, flips, strict=True)
    ]
    return replace(asset, articulation=Articulation(old.mesh, tuple(joints), name=old.name))


def random_state(
    articulation: Articulation, rng: np.random.Generator, low: float = 0.0, high: float = 1.0, share: float = 0.6
) -> Float[np.ndarray, " D"]:
    """A ``share`` of the joints between ``low`` and ``high`` of the way to one of their limits, the others at rest."""
    limits = np.clip(articulation.limits, -np.pi, np.pi)
    ends = np.where(rng.random(len(limits)) < np.abs(limits[:, 0]) / np.ptp(limits, axis=1), limits[:, 0], limits[:, 1])
    return np.where(rng.random(len(limits)) < share, ends * rng.uniform(low, high, len(limits)), 0.0)
