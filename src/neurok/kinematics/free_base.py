"""A space that can also move and turn as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from neurok.core.mesh import Mesh
from neurok.geometry import lie
from neurok.kinematics.space import KinematicSpace

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, eq=False)
class FreeBase(KinematicSpace):
    """An object on a free base: three translations, a rotation vector about ``center``, then its own coordinates.

    The rotation vector serves to store and decode poses; dynamics turns the base step by step and meets no singularity.
    """

    space: KinematicSpace
    center: Float[np.ndarray, "3"]
    """Point of the rest shape about which the object turns."""

    @property
    def rest(self) -> Mesh:
        return self.space.rest

    @property
    def dim(self) -> int:
        return 6 + self.space.dim

    @property
    def limits(self) -> Float[np.ndarray, "D 2"]:
        return np.concatenate([np.tile([-np.inf, np.inf], (6, 1)), self.space.limits])

    def decode(self, q: Tensor) -> Tensor:
        import torch

        from neurok.geometry.lie_torch import rotation_matrix

        center = torch.as_tensor(np.array(self.center), dtype=q.dtype)
        return (self.space.decode(q[6:]) - center) @ rotation_matrix(q[3:6]).mT + center + q[:3]


def base_coordinates(pose: Float[np.ndarray, "4 4"], center: Float[np.ndarray, "3"]) -> Float[np.ndarray, "6"]:
    """Translation and rotation vector of a pose about a centre."""
    return np.concatenate([lie.apply(pose, center[None])[0] - center, lie.rotation_vector(pose[:3, :3])])
