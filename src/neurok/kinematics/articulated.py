"""Objects made of rigid parts: q = joint values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float

from neurok.core.articulation import Articulation
from neurok.core.mesh import Mesh
from neurok.kinematics.space import KinematicSpace
from neurok.kinematics.tree import turn_generator

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, eq=False)
class ArticulatedSpace(KinematicSpace):
    """The poses of an articulation."""

    articulation: Articulation = field()

    @property
    def rest(self) -> Mesh:
        return self.articulation.mesh

    @property
    def dim(self) -> int:
        return self.articulation.dof

    @property
    def kind(self) -> str:
        return "joints"

    @property
    def names(self) -> tuple[str, ...]:
        return self.articulation.dof_names

    @property
    def is_length(self) -> Bool[np.ndarray, " D"]:
        return self.articulation.is_length

    @property
    def has_hard_limits(self) -> bool:
        return True

    @property
    def prior_weight(self) -> float:
        return 1e-8

    @property
    def damping(self) -> Float[np.ndarray, " D"]:
        return np.array([joint.damping for joint in self.articulation.joints for _ in range(joint.dof)])

    @property
    def weights(self) -> Float[np.ndarray, "V P"]:
        return np.eye(len(self.articulation.joints))[self.articulation.vertex_parts]

    def sample(self, count: int, seed: int = 0) -> Float[np.ndarray, "N D"]:
        """Even within the limits; a turn without limits goes any way, a slide without them 30 % of the size."""
        low, high = self.articulation.ranges.T
        return low + np.random.default_rng(seed).random((count, self.dim)) * (high - low)

    @property
    def limits(self) -> Float[np.ndarray, "D 2"]:
        return self.articulation.limits

    def decode(self, q: Tensor) -> Tensor:
        """Vertex positions at the joint values ``q``."""
        import torch

        transforms = self.transforms(q)
        parts = torch.as_tensor(np.array(self.articulation.vertex_parts))
        vertices = torch.as_tensor(np.array(self.rest.vertices), dtype=q.dtype, device=q.device)
        moved = transforms[parts]
        return torch.einsum("vij,vj->vi", moved[:, :3, :3], vertices) + moved[:, :3, 3]

    def transforms(self, q: Tensor) -> Tensor:
        """Rigid motion of each part from rest ``(P, 4, 4)``, differentiable."""
        import torch

        eye = torch.eye(4, dtype=q.dtype, device=q.device)
        out: list[Tensor] = [eye] * len(self.articulation.joints)
        for part in self.articulation.order:
            joint, slot = self.articulation.joints[part], self.articulation.slots[part]
            local = eye
            values = q[slot]
            if joint.kind in ("revolute", "continuous", "cylindrical"):
                generator = torch.as_tensor(turn_generator(joint.axis, joint.origin), dtype=q.dtype, device=q.device)
                angle = values[0]
                local = eye + torch.sin(angle) * generator + (1 - torch.cos(angle)) * (generator @ generator)
            if joint.kind in ("prismatic", "cylindrical"):
                slide = np.zeros((4, 4))
                slide[:3, 3] = joint.axis
                local = (eye + values[-1] * torch.as_tensor(slide, dtype=q.dtype, device=q.device)) @ local
            out[part] = local if joint.parent < 0 else out[joint.parent] @ local
        return torch.stack(out)
