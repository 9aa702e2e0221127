"""The unit box: the one frame in which networks see objects and in which lengths of different objects compare."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from neurok.core.mesh import UpAxis, frame_change


@dataclass(frozen=True, eq=False)
class UnitBox:
    """Longest side 1, middle at the origin, +y up.

    Training and use build it from the same thing: the sampled points of the surface, not the vertices of the file.
    """

    center: Float[np.ndarray, "3"]
    """Middle of the box, in the axes and the unit of the mesh."""

    size: float
    """Longest side, in the unit of the mesh."""

    turn: Float[np.ndarray, "3 3"]
    """From the axes of the mesh to those of the box."""

    @staticmethod
    def around(points: Float[np.ndarray, "*N 3"], up: UpAxis = "y") -> UnitBox:
        """The box of some points whose up axis is named."""
        flat = points.reshape(-1, 3)
        low, high = flat.min(axis=0), flat.max(axis=0)
        return UnitBox((low + high) / 2, max(float((high - low).max()), 1e-300), frame_change(up, "y"))

    def to_box(self, points: Float[np.ndarray, "*N 3"]) -> Float[np.ndarray, "*N 3"]:
        """Points of the mesh in the box."""
        return ((points - self.center) / self.size) @ self.turn.T

    def from_box(self, points: Float[np.ndarray, "*N 3"]) -> Float[np.ndarray, "*N 3"]:
        """Points of the box on the mesh."""
        return points @ self.turn * self.size + self.center

    def twists_from_box(self, twists: Float[np.ndarray, "*N 6 Z"]) -> Float[np.ndarray, "*N 6 Z"]:
        """Twists of the box, each about some point, as twists of the mesh about the same point."""
        return np.concatenate([self.turn.T @ twists[..., :3, :], self.turn.T @ twists[..., 3:, :] * self.size], axis=-2)
