"""States in which bodies of one object do not pass through each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from jaxtyping import Float

from neurok.bodyplan.clearance import Clearance
from neurok.bodyplan.config import CLEARANCE, ClearanceConfig
from neurok.kinematics.space import KinematicSpace, decode
from neurok.posing.pose import Pose

OTHER_SEEDS = 7919
"""Distance between the seeds of redrawn states: far from those that a user counts through."""


def free_states(
    space: KinematicSpace, count: int, seed: int = 0, config: ClearanceConfig = CLEARANCE
) -> Float[np.ndarray, "N D"]:
    """States drawn from a space; those that are not free are drawn again, and drawn back if that does not help."""
    states, joints = space.sample(count, seed), space.rigid_joints
    if joints is None or not joints.dof:
        return states
    clearance = Clearance(joints, config)
    blocked = [k for k in range(count) if not clearance.is_free(states[k, : joints.dof])]
    for attempt in range(1, config.tries):
        if not blocked:
            break
        again = space.sample(count, seed + OTHER_SEEDS * attempt)
        states[blocked] = again[blocked]
        blocked = [k for k in blocked if not clearance.is_free(states[k, : joints.dof])]
    for k in blocked:
        states[k, : joints.dof] = clearance.freed(states[k, : joints.dof])[0]
    return states


def free_pose(pose: Pose) -> tuple[Pose, tuple[tuple[str, str], ...]]:
    """A pose near the given one that is free, and who had to wait for whom."""
    joints = pose.space.rigid_joints
    if joints is None or not joints.dof:
        return pose, ()
    found, waits = Clearance(joints).freed(pose.q[: joints.dof])
    if not waits:
        return pose, ()
    q = np.concatenate([found, pose.q[joints.dof :]])
    return replace(pose, q=q, vertices=decode(pose.space, q)), waits
