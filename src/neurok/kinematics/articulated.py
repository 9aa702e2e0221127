"""Objects made of rigid parts: q = joint values."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.core.articulation import Articulation
from neurok.core.mesh import Mesh
from neurok.geometry.joint_tree import AT_REST
from neurok.geometry.lie import commutator
from neurok.kinematics.space import KinematicSpace

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, eq=False)
class ArticulatedSpace(KinematicSpace):
    """The poses of an articulation: x = features @ Y(q), where Y stacks the transforms of the nodes of its tree."""

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

    @property
    def ranges(self) -> Float[np.ndarray, "D 2"]:
        """The limits; a turn without limits goes any way, a slide without them 30 % of the size."""
        return self.articulation.ranges

    @property
    def starts_along_axes(self) -> bool:
        """One joint is often all that has moved."""
        return True

    @property
    def limits(self) -> Float[np.ndarray, "D 2"]:
        return self.articulation.limits

    @cached_property
    def _vertex_nodes(self) -> Int[np.ndarray, " V"]:
        return self.articulation.part_nodes[self.articulation.vertex_parts]

    def decode(self, q: Tensor) -> Tensor:
        """Vertex positions at the joint values ``q``."""
        import torch

        vertices = torch.as_tensor(np.array(self.rest.vertices), dtype=q.dtype, device=q.device)
        moved = self.vertex_transforms(q)
        return torch.einsum("vij,vj->vi", moved[:, :3, :3], vertices) + moved[:, :3, 3]

    def vertex_transforms(self, q: Tensor) -> Tensor:
        """Rigid motion of each vertex from rest ``(V, 4, 4)``, differentiable."""
        import torch

        from neurok.geometry.lie_torch import joint_nodes

        return joint_nodes(self.articulation.tree, q)[torch.as_tensor(self._vertex_nodes)]

    @cached_property
    def features(self) -> Float[np.ndarray, "V K"]:
        """Homogeneous rest positions in the columns of each vertex's node."""
        vertices = self.rest.vertices
        out = np.zeros((len(vertices), self.dim + 1, 4))
        out[np.arange(len(vertices)), self._vertex_nodes, :3] = vertices
        out[np.arange(len(vertices)), self._vertex_nodes, 3] = 1.0
        return out.reshape(len(vertices), -1)

    @cached_property
    def unity(self) -> Float[np.ndarray, " K"]:
        return np.tile([0.0, 0.0, 0.0, 1.0], self.dim + 1)

    def shape(self, q: Float[np.ndarray, "B D"]) -> tuple[Float[np.ndarray, "B K 3"], Float[np.ndarray, "B D K 3"]]:
        """Transforms of the nodes, stacked, and their derivatives S_d T_n by the coordinates that move them."""
        nodes, screws = self.articulation.tree.transforms(AT_REST, q)
        n, d = self._moved
        slopes = screws[:, :, :3].take(d, axis=1) @ nodes.take(n, axis=1)
        return nodes[..., :3, :].swapaxes(-1, -2).reshape(len(q), 4 * (self.dim + 1), 3), self._stacked(slopes)

    def shape_rate(self, q: Float[np.ndarray, "B D"], qdot: Float[np.ndarray, "B D"]) -> Float[np.ndarray, "B D K 3"]:
        """Change of the derivatives: ([V_d, S_d] + S_d V_n) T_n, with V the velocities of the nodes."""
        tree = self.articulation.tree
        nodes, screws = tree.transforms(AT_REST, q)
        velocities = tree.velocities(screws, qdot)
        n, d = self._moved
        rates = commutator(velocities[:, 1:], screws)[:, d] + screws[:, d] @ velocities[:, n]
        return self._stacked(rates[:, :, :3] @ nodes[:, n])

    @cached_property
    def _moved(self) -> tuple[Int[np.ndarray, " M"], Int[np.ndarray, " M"]]:
        """Nodes, and coordinates that move them."""
        n, d = np.nonzero(self.articulation.tree.ancestors)
        return n, d

    def _stacked(self, slopes: Float[np.ndarray, "B M 3 4"]) -> Float[np.ndarray, "B D K 3"]:
        """Derivatives of nodes by coordinates that move them, among zeros for all others."""
        n, d = self._moved
        out = np.zeros((len(slopes), self.dim, self.dim + 1, 4, 3))
        out[:, d, n] = slopes.swapaxes(-1, -2)
        return out.reshape(len(slopes), self.dim, 4 * (self.dim + 1), 3)
