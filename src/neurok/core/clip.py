"""An object in motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from neurok.core.arrays import frozen_array
from neurok.core.mesh import Mesh
from neurok.errors import NeurokError, ShapeError


@dataclass(frozen=True, eq=False)
class Skin:
    """Motion driven by few rigid handles: x = sum_h w_h (R_h x_rest + t_h)."""

    weights: Float[np.ndarray, "V H"]
    """Non-negative, each row sums to one."""

    transforms: Float[np.ndarray, "T H 4 4"]
    """Rigid transform of each handle in each frame, relative to rest."""

    def __post_init__(self) -> None:
        weights = frozen_array(self.weights, np.floating, (None, None), "weights")
        transforms = frozen_array(self.transforms, np.float64, (None, weights.shape[1], 4, 4), "transforms")
        if not np.allclose(weights.sum(axis=1), 1.0, atol=1e-3) or weights.min() < -1e-6:
            raise ShapeError("Skin weights must be non-negative and sum to one for every vertex.")
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "transforms", transforms)

    def positions(self, rest: Float[np.ndarray, "V 3"]) -> Float[np.ndarray, "T V 3"]:
        """Vertex positions of every frame."""
        lifted = np.concatenate([rest, np.ones((len(rest), 1))], axis=1)
        return np.stack(
            [np.einsum("vh,hij,vj->vi", self.weights, t[:, :3], lifted, optimize=True) for t in self.transforms]
        )


@dataclass(frozen=True, eq=False)
class Clip:
    """Vertex positions of one object over time; the faces never change."""

    rest: Mesh
    """The undeformed object."""

    positions: Float[np.ndarray, "T V 3"]
    """Vertex positions of each frame, in the unit and axes of ``rest``."""

    fps: float = 24.0
    """Frames per second [1/s]."""

    name: str = "motion"
    skin: Skin | None = None
    """The handles behind the motion, when it has any; writers then store bones instead of positions."""

    def __post_init__(self) -> None:
        positions = frozen_array(self.positions, np.floating, (None, self.rest.vertex_count, 3), "positions")
        object.__setattr__(self, "positions", positions)
        if len(positions) == 0:
            raise ShapeError("A clip needs at least one frame.")
        if not np.isfinite(positions).all():
            frame = int(np.flatnonzero(~np.isfinite(positions).all(axis=(1, 2)))[0])
            raise NeurokError(f"Frame {frame} of clip '{self.name}' has NaN or infinite positions.")
        if not (np.isfinite(self.fps) and self.fps > 0):
            raise NeurokError(f"fps must be positive, got {self.fps}.")
        if self.skin is not None and (
            self.skin.transforms.shape[0] != len(positions) or len(self.skin.weights) != self.rest.vertex_count
        ):
            raise ShapeError("The skin must have one row per vertex and one set of transforms per frame.")

    @property
    def frame_count(self) -> int:
        return len(self.positions)

    @property
    def duration(self) -> float:
        """Seconds from the first frame to the last."""
        return (self.frame_count - 1) / self.fps

    def mesh(self, frame: int) -> Mesh:
        """The object as it is in one frame."""
        return self.rest.with_vertices(self.positions[frame])
