"""Shapes carried by a few rigid handles whose transforms are any differentiable function of q."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from neurok.core.mesh import frozen_array
from neurok.core.mesh import Mesh
from neurok.errors import ShapeError
from neurok.kinematics.space import KinematicSpace

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, eq=False)
class HandleSpace(KinematicSpace):
    """x = Σ_h w_h(p) T_h(q) p: weights are constant, transforms come from ``motion``.

    Derivatives are taken of the few transforms only, so that a step costs the same for any number of vertices.
    """

    rest: Mesh
    weights: Float[np.ndarray, "V H"] = field()
    """Non-negative, each row sums to one."""

    dim: int
    motion: Callable[[Tensor], Tensor]
    """From ``q`` (D,) in float64 to the upper three rows of the transforms ``(H, 3, 4)``; identity at zero."""

    bounds: Float[np.ndarray, "D 2"] | None = None
    """Limits of the coordinates; none by default."""

    def __post_init__(self) -> None:
        weights = frozen_array(self.weights, np.float64, (self.rest.vertex_count, None), "weights")
        if not np.allclose(weights.sum(axis=1), 1.0, atol=1e-6):
            raise ShapeError("The weights of the handles must sum to one for every vertex.")
        object.__setattr__(self, "weights", weights)

    @property
    def limits(self) -> Float[np.ndarray, "D 2"]:
        return KinematicSpace.limits.fget(self) if self.bounds is None else self.bounds  # type: ignore[attr-defined]

    @cached_property
    def features(self) -> Float[np.ndarray, "V K"]:
        """Weights times rest positions (x, y, z, 1), handle after handle."""
        lifted = np.concatenate([self.rest.vertices, np.ones((self.rest.vertex_count, 1))], axis=1)
        return (self.weights[:, :, None] * lifted[:, None, :]).reshape(len(lifted), -1)

    @cached_property
    def unity(self) -> Float[np.ndarray, " K"]:
        return np.tile([0.0, 0.0, 0.0, 1.0], self.weights.shape[1])

    def decode(self, q: Tensor) -> Tensor:
        import torch

        features = torch.as_tensor(self.features, dtype=q.dtype, device=q.device)
        return features @ self._rows(q)

    def _rows(self, q: Tensor) -> Tensor:
        """The transforms as rows of features, ``(4 H, 3)``."""
        return self.motion(q).mT.reshape(-1, 3)
