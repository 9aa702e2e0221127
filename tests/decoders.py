"""Decoders in torch, written apart from the closed forms of the package: oracles for derivatives of any order."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from neurok.geometry.joint_tree import JointTree
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
        turns, shifts = exponential(torch.as_tensor(space.screws) @ q)
        arms = rest[:, None] - torch.as_tensor(space.centers)
        moved = torch.einsum("hij,vhj->vhi", turns, arms) + torch.as_tensor(space.centers) + shifts
        return (torch.as_tensor(space.weights)[..., None] * moved).sum(dim=1)
    if isinstance(space, MixedSpace):
        split = space.joints.dof
        return _carried(ArticulatedSpace(space.joints), q[:split], _decode(space.screws, q[split:]))
    assert isinstance(space, ArticulatedSpace)
    return _carried(space, q, rest)


def exponential(twists: Tensor) -> tuple[Tensor, Tensor]:
    """Rotations and shifts of twists, as matrix exponentials."""
    x, y, z, *velocity = twists.unbind(-1)
    zero = torch.zeros_like(x)
    rows = [zero, -z, y, velocity[0], z, zero, -x, velocity[1], -y, x, zero, velocity[2], *[zero] * 4]
    whole = torch.linalg.matrix_exp(torch.stack(rows, dim=-1).unflatten(-1, (4, 4)))
    return whole[..., :3, :3], whole[..., :3, 3]


def _carried(space: ArticulatedSpace, q: Tensor, vertices: Tensor) -> Tensor:
    joints = space.articulation
    nodes = joints.part_nodes[joints.vertex_parts]
    moved = joint_nodes(joints.tree, q)[torch.as_tensor(np.asarray(nodes))]
    return torch.einsum("vij,vj->vi", moved[:, :3, :3], vertices) + moved[:, :3, 3]


def joint_nodes(tree: JointTree, q: Tensor) -> Tensor:
    """Rigid motion of every node of a tree on a fixed base from rest, in the object's frame."""
    basis = torch.stack([torch.ones_like(q), q.sin(), q.cos(), q], dim=-1)
    local = (basis[..., None, :] @ torch.as_tensor(tree.curves).to(q)).unflatten(-1, (4, 4))[..., 0, :, :]
    out = torch.eye(4).to(q).expand(*q.shape[:-1], 1, 4, 4)
    row = torch.zeros(tree.joint_count + 1, dtype=torch.int64, device=q.device)
    for level in tree.levels:
        moved = out[..., row[level.parents], :, :] @ local[..., level.joints, :, :]
        row[level.nodes] = torch.arange(moved.shape[-3], device=q.device) + out.shape[-3]
        out = torch.cat([out, moved], dim=-3)
    return out[..., row, :, :]
