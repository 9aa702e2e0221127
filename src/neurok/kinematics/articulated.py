"""Objects made of rigid parts: q = joint values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from neurok.core.articulation import Articulation
from neurok.core.mesh import Mesh
from neurok.kinematics.tree import turn_generator

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, eq=False)
class ArticulatedSpace:
    """The poses of an articulation."""

    articulation: Articulation

    @property
    def rest(self) -> Mesh:
        return self.articulation.mesh

    @property
    def dim(self) -> int:
        return self.articulation.dof

    @property
    def limits(self) -> Float[np.ndarray, "D 2"]:
        return self.articulation.limits

    def decode(self, q: Tensor) -> Tensor:
        """Vertex positions at the joint values ``q``."""
        import torch

        transforms = self._transforms(q)
        parts = torch.as_tensor(np.array(self.articulation.vertex_parts))
        vertices = torch.as_tensor(np.array(self.rest.vertices), dtype=q.dtype, device=q.device)
        moved = transforms[parts]
        return torch.einsum("vij,vj->vi", moved[:, :3, :3], vertices) + moved[:, :3, 3]

    def _transforms(self, q: Tensor) -> Tensor:
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
