"""Shapes that are a rest shape plus a sum of displacement fields."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float

from neurok.core.clip import Clip
from neurok.core.mesh import Mesh, frozen_array
from neurok.errors import NeurokError
from neurok.kinematics.space import KinematicSpace

CLIP_SWING = 2.0
"""How fast what moves in the span of its own frames swings back to rest [Hz]: about as branches and fins do."""


@dataclass(frozen=True, eq=False)
class LinearSpace(KinematicSpace):
    """x = rest + Σ_k q_k basis_k."""

    rest: Mesh
    basis: Float[np.ndarray, "D V 3"]
    """Displacement of every vertex for one unit of each coordinate, in mesh units."""

    inertia: tuple[Float[np.ndarray, "K K"], Float[np.ndarray, " K"]] | None = None
    """Exact CᵀMC and CᵀM1 of a solid whose mass is not on its surface; taken from the vertices when absent."""

    swing: float | None = None
    """How fast poses swing back to rest where no material says so [Hz]."""

    def __post_init__(self) -> None:
        basis = frozen_array(self.basis, np.float64, (None, self.rest.vertex_count, 3), "basis")
        object.__setattr__(self, "basis", basis)
        if not np.isfinite(basis).all():
            raise NeurokError("The basis of a linear space must be finite.")

    @property
    def own_bends(self) -> LinearSpace | None:
        """What moves in the span of its own frames, as long as nothing says how stiff it is."""
        return self if self.swing is not None and self.dim else None

    @staticmethod
    def from_clip(clip: Clip, count: int, swing: float | None = CLIP_SWING) -> LinearSpace:
        """The ``count`` displacement fields that explain most of a clip (principal components, rest at zero).

        Fields are scaled so that one unit of each coordinate is the largest it has in the clip.
        """
        moves = (clip.positions - clip.rest.vertices).reshape(clip.frame_count, -1)
        _, sizes, fields = np.linalg.svd(moves, full_matrices=False)
        kept = int(min(count, (sizes > 1e-12 * max(sizes[0], 1e-300)).sum()))
        if kept == 0:
            raise NeurokError("The clip does not move, so it spans no space.")
        reach = np.abs(moves @ fields[:kept].T).max(axis=0)
        return LinearSpace(clip.rest, (fields[:kept] * reach[:, None]).reshape(kept, -1, 3), swing=swing)

    @property
    def kind(self) -> str:
        return "clip"

    @property
    def dim(self) -> int:
        return len(self.basis)

    @cached_property
    def features(self) -> Float[np.ndarray, "V K"]:
        """Rest positions, ones, and the components of the basis."""
        vertices = self.rest.vertices
        fields = self.basis.transpose(1, 0, 2).reshape(len(vertices), -1)
        return np.concatenate([vertices, np.ones((len(vertices), 1)), fields], axis=1)

    @cached_property
    def unity(self) -> Float[np.ndarray, " K"]:
        out = np.zeros(4 + 3 * self.dim)
        out[3] = 1.0
        return out

    @cached_property
    def _slopes(self) -> Float[np.ndarray, "D K 3"]:
        out = np.zeros((self.dim, 4 + 3 * self.dim, 3))
        for k in range(self.dim):
            out[k, 4 + 3 * k : 7 + 3 * k] = np.eye(3)
        return out

    def shape(self, q: Float[np.ndarray, "B D"]) -> tuple[Float[np.ndarray, "B K 3"], Float[np.ndarray, "B D K 3"]]:
        values = np.zeros((len(q), 4 + 3 * self.dim, 3))
        values[:, :3] = np.eye(3)
        values[:, 4:] = (q[:, :, None, None] * np.eye(3)).reshape(len(q), -1, 3)
        return values, np.broadcast_to(self._slopes, (len(q), *self._slopes.shape))

    def shape_rate(self, q: Float[np.ndarray, "B D"], qdot: Float[np.ndarray, "B D"]) -> Float[np.ndarray, "B D K 3"]:
        return np.zeros((len(q), *self._slopes.shape))
