"""States of a space as a motion to look at: from rest through each of them and back, on bones where there are any."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from neurok.core.clip import Clip, Skin
from neurok.kinematics.space import KinematicSpace, decode

FRAMES = 18
"""From one state to the next: three quarters of a second."""


def through_states(states: Float[np.ndarray, "N D"], frames: int = FRAMES) -> Float[np.ndarray, "T D"]:
    """Coordinates from rest through the states and back to rest, slow at each of them.

    Row ``frames * (k + 1)`` is state ``k``, exactly.
    """
    rest = np.zeros((1, states.shape[1]))
    stops = np.concatenate([rest, states, rest])
    share = 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, frames, endpoint=False))
    between = stops[:-1, None] + share[:, None] * (stops[1:] - stops[:-1])[:, None]
    return np.concatenate([between.reshape(-1, states.shape[1]), rest])


def clip_of(space: KinematicSpace, q: Float[np.ndarray, "T D"], fps: float = 24.0, name: str = "motion") -> Clip:
    """The motion through coordinates, with the rigid handles behind it where the space has them."""
    if space.articulation is not None:
        return space.articulation.clip(q, fps, name)
    if space.weights is None or space.features is None:
        return Clip(space.rest, np.stack([decode(space, row) for row in q]), fps, name)
    values = space.values(q)
    rows = values.reshape(len(q), -1, 4, 3)
    transforms = np.tile(np.eye(4), (*rows.shape[:2], 1, 1))
    transforms[..., :3, :] = rows.swapaxes(-1, -2)
    skin = Skin(space.weights, transforms, tree=space.bone_tree)
    return Clip(space.rest, np.stack([space.features @ value for value in values]), fps, name, skin)
