"""Decoders in torch, written apart from the closed forms of the package: oracles for derivatives of any order."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from neurok.geometry import lie_torch
from neurok.kinematics import ArticulatedSpace, KinematicSpace, LinearSpace
from neurok.kinematics.mixed import MixedSpace
from neurok.kinematics.screws import ScrewSpace


class Decoder(KinematicSpace):
    """A space of which only the decoder is known: the generic road, by automatic differentiation."""

    def __init__(self, space: KinematicSpace) -> None:
        self.rest, self.dim, self._space = space.rest, space.dim, space

    def decode(self, q: Tensor) -> Tensor:
        return _decode(self._space, q)


def _decode(space: KinematicSpace, q: Tensor) -> Tensor:
    rest = torch.tensor(space.rest.vertices)
    if isinstance(space, LinearSpace):
        return rest + torch.einsum("d,dvi->vi", q, torch.tensor(space.basis))
    if isinstance(space, ScrewSpace):
        turns, shifts = lie_torch.exponential(torch.as_tensor(space.screws) @ q)
        arms = rest[:, None] - torch.as_tensor(space.centers)
        moved = torch.einsum("hij,vhj->vhi", turns, arms) + torch.as_tensor(space.centers) + shifts
        return (torch.as_tensor(space.weights)[..., None] * moved).sum(dim=1)
    if isinstance(space, MixedSpace):
        split = space.joints.dof
        return _carried(ArticulatedSpace(space.joints), q[:split], _decode(space.screws, q[split:]))
    assert isinstance(space, ArticulatedSpace)
    return _carried(space, q, rest)


def _carried(space: ArticulatedSpace, q: Tensor, vertices: Tensor) -> Tensor:
    joints = space.articulation
    nodes = joints.part_nodes[joints.vertex_parts]
    moved = lie_torch.joint_nodes(joints.tree, q)[torch.as_tensor(np.asarray(nodes))]
    return torch.einsum("vij,vj->vi", moved[:, :3, :3], vertices) + moved[:, :3, 3]
