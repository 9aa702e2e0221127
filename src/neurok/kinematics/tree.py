"""A tree of one-parameter joints on plain arrays: transforms, screws and their rates, for batches of coordinates.

Rigid motions are 4x4 matrices throughout. The derivative of a part's transform T by the joint value q_k is S_k T, where
the screw S_k is the joint's generator carried along by the parts before it; its rate is the commutator [V_k, S_k].
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from neurok.core.articulation import Articulation

BASE_DOF = 6
"""Coordinates of a free base: three translations, then three turns about its centre (small, within one step)."""


@dataclass(frozen=True, eq=False)
class JointTree:
    """Nodes 1..J hang on earlier nodes by one-parameter joints; node 0 is the base, free or fixed.

    Coordinates are the six of the base (if it is free), then one per node.
    """

    parents: Int[np.ndarray, " J"]
    """Node that carries each joint's node."""

    generators: Float[np.ndarray, "J 4 4"]
    """Derivative of each joint's transform at rest."""

    curves: Float[np.ndarray, "J 4 16"]
    """Flattened matrices that multiply 1, sin q, cos q and q in the joint's transform."""

    free: bool = False
    center: Float[np.ndarray, "3"] | None = None
    """Point of the base about which it turns, in the object's frame."""

    _posed: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = field(default_factory=list, repr=False)
    """For joints that all hang on a fixed base: its pose, their screws there, and their curves there."""

    @staticmethod
    def of(
        articulation: Articulation, free: bool = False, center: Float[np.ndarray, "3"] | None = None
    ) -> tuple[JointTree, Int[np.ndarray, " P"]]:
        """The tree of an articulation, and the node that moves each part."""
        part_nodes = np.zeros(len(articulation.joints), dtype=np.int64)
        parents = np.zeros(articulation.dof, dtype=np.int64)
        generators, curves = np.zeros((articulation.dof, 4, 4)), np.zeros((articulation.dof, 4, 16))
        for part in articulation.order:
            joint, slot = articulation.joints[part], articulation.slots[part]
            node = 0 if joint.parent < 0 else int(part_nodes[joint.parent])
            turns = {"revolute": [True], "continuous": [True], "prismatic": [False], "cylindrical": [True, False]}
            kinds = turns.get(joint.kind, [])
            # The slide of a cylindrical joint acts outside its turn; both share the axis, so the order is free.
            for k, is_turn in zip(range(slot.start, slot.stop), kinds, strict=True):
                parents[k], node = node, k + 1
                generators[k], curves[k] = _joint_curve(joint.axis, joint.origin, is_turn)
            part_nodes[part] = node
        return JointTree(parents, generators, curves, free, center), part_nodes

    @property
    def joint_count(self) -> int:
        return len(self.parents)

    @property
    def dim(self) -> int:
        return self.joint_count + self.base_dim

    @property
    def base_dim(self) -> int:
        return BASE_DOF if self.free else 0

    @cached_property
    def levels(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Joints and their parent nodes, in batches that can be evaluated at once."""
        depth = np.zeros(self.joint_count + 1, dtype=np.int64)
        pending = set(range(self.joint_count))
        while pending:
            for k in sorted(pending):
                if self.parents[k] == 0 or depth[self.parents[k]]:
                    depth[k + 1] = depth[self.parents[k]] + 1
                    pending.discard(k)
        groups = [np.flatnonzero(depth[1:] == level) for level in range(1, int(depth.max()) + 1)]
        return [(joints, self.parents[joints]) for joints in groups]

    @cached_property
    def _runs(self) -> list[tuple[Any, Any, Any]]:
        """Joints, their nodes and their parents' nodes, level by level; slices where they do, since they are faster."""
        return [
            (slice(w[0], w[0] + 1), slice(w[0] + 1, w[0] + 2), slice(p[0], p[0] + 1)) if len(w) == 1 else (w, w + 1, p)
            for w, p in self.levels
        ]

    @cached_property
    def ancestors(self) -> Float[np.ndarray, "N D"]:
        """1 where a coordinate moves a node."""
        out = np.zeros((self.joint_count + 1, self.dim))
        out[0, : self.base_dim] = 1.0
        for joints, parents in self.levels:
            out[joints + 1] = out[parents]
            out[joints + 1, joints + self.base_dim] = 1.0
        return out

    @cached_property
    def chains(self) -> Float[np.ndarray, "D D"]:
        """1 where the second coordinate comes before the first one on its way to the base, itself included."""
        out = np.zeros((self.dim, self.dim))
        out[: self.base_dim, : self.base_dim] = np.tril(np.ones((self.base_dim, self.base_dim)))
        out[self.base_dim :] = self.ancestors[1:]
        return out

    def transforms(
        self, pose: Float[np.ndarray, "4 4"], q: Float[np.ndarray, "B D"]
    ) -> tuple[Float[np.ndarray, "B N 4 4"], Float[np.ndarray, "B D 4 4"]]:
        """World transform of every node from rest, and the screw of every coordinate in the world's frame."""
        batch, joints = len(q), self.joint_count
        if not self.free and len(self.levels) == 1:
            return self._flat_transforms(pose, q)
        out = np.empty((batch, joints + 1, 4, 4))
        screws = np.empty((batch, self.dim, 4, 4))
        if self.free:
            out[:, 0], screws[:, :BASE_DOF] = self._base(pose, q[:, :BASE_DOF])
        else:
            out[:, 0] = pose
        if joints == 0:
            return out, screws
        local = (_basis(q[:, self.base_dim :]) @ self.curves).reshape(joints, batch, 4, 4)
        for which, nodes, parents in self._runs:
            out[:, nodes] = out[:, parents] @ local[which].swapaxes(0, 1)
        carrier = out[:, self.parents]
        screws[:, self.base_dim :] = carrier @ self.generators @ inverse(carrier)
        return out, screws

    def _flat_transforms(
        self, pose: Float[np.ndarray, "4 4"], q: Float[np.ndarray, "B D"]
    ) -> tuple[Float[np.ndarray, "B N 4 4"], Float[np.ndarray, "B D 4 4"]]:
        """The common case of joints that all hang on a fixed base: screws never change."""
        if not self._posed or self._posed[0][0] is not pose:
            curves = pose @ self.curves.reshape(-1, 4, 4, 4)
            self._posed[:] = [(pose, pose @ self.generators @ inverse(pose), curves.reshape(-1, 4, 16))]
        _, screws, curves = self._posed[0]
        batch, joints = q.shape
        out = np.empty((batch, joints + 1, 4, 4))
        out[:, 0] = pose
        out[:, 1:] = (_basis(q) @ curves).reshape(joints, batch, 4, 4).swapaxes(0, 1)
        return out, np.broadcast_to(screws, (batch, joints, 4, 4))

    def _base(
        self, pose: Float[np.ndarray, "4 4"], xi: Float[np.ndarray, "B 6"]
    ) -> tuple[Float[np.ndarray, "B 4 4"], Float[np.ndarray, "B 6 4 4"]]:
        """Transform of the free base and its screws: shifts along the world's axes, then turns about x, y', z''."""
        batch = len(xi)
        center = np.zeros(3) if self.center is None else self.center
        pivot = pose[:3, :3] @ center + pose[:3, 3]
        x, y, z = (_basis(xi[:, 3:]) @ _AXIS_CURVES).reshape(3, batch, 4, 4)[..., :3, :3]
        xy = x @ y
        turn = xy @ z
        axes = np.empty((batch, 3, 3))
        axes[:, 0], axes[:, 1], axes[:, 2] = _FIRST_AXIS, x[:, :, 1], xy[:, :, 2]
        place = pivot + xi[:, :3]
        out = np.zeros((batch, 4, 4))
        out[:, :3, :3] = turn @ pose[:3, :3]
        out[:, :3, 3] = place - turn @ (pose[:3, :3] @ center)
        out[:, 3, 3] = 1.0
        screws = np.zeros((batch, 6, 4, 4))
        screws[:, :3, :3, 3] = _SHIFTS
        spins = (axes @ _SKEW).reshape(batch, 3, 3, 3)
        screws[:, 3:, :3, :3] = spins
        screws[:, 3:, :3, 3] = -(spins @ place[:, None, :, None])[..., 0]
        return out, screws


def _basis(values: Float[np.ndarray, "B J"]) -> Float[np.ndarray, "J B 4"]:
    """1, sin q, cos q and q of every joint value."""
    out = np.empty((values.shape[1], values.shape[0], 4))
    turned = values.T
    out[..., 0] = 1.0
    np.sin(turned, out=out[..., 1])
    np.cos(turned, out=out[..., 2])
    out[..., 3] = turned
    return out


def _joint_curve(
    axis: Float[np.ndarray, "3"], origin: Float[np.ndarray, "3"], is_turn: bool
) -> tuple[Float[np.ndarray, "4 4"], Float[np.ndarray, "4 16"]]:
    """Generator of a joint, and its transform as coefficients of 1, sin q, cos q, q."""
    if is_turn:
        generator = turn_generator(axis, origin)
        square = generator @ generator
        rows = [np.eye(4) + square, generator, -square, np.zeros((4, 4))]
    else:
        generator = np.zeros((4, 4))
        generator[:3, 3] = axis
        rows = [np.eye(4), np.zeros((4, 4)), np.zeros((4, 4)), generator]
    return generator, np.stack(rows).reshape(4, 16)


def turn_generator(axis: Float[np.ndarray, "3"], origin: Float[np.ndarray, "3"]) -> Float[np.ndarray, "4 4"]:
    """Derivative at zero of a turn about the line through ``origin`` along ``axis``."""
    out = np.zeros((4, 4))
    out[:3, :3] = skew(axis)
    out[:3, 3] = -out[:3, :3] @ origin
    return out


def skew(vector: Float[np.ndarray, "*B 3"]) -> Float[np.ndarray, "*B 3 3"]:
    """The matrix of the cross product with a vector."""
    out = np.zeros((*vector.shape[:-1], 3, 3))
    x, y, z = np.moveaxis(vector, -1, 0)
    out[..., 0, 1], out[..., 0, 2], out[..., 1, 2] = -z, y, -x
    out[..., 1, 0], out[..., 2, 0], out[..., 2, 1] = z, -y, x
    return out


def inverse(transform: Float[np.ndarray, "*B 4 4"]) -> Float[np.ndarray, "*B 4 4"]:
    """Inverse of rigid transforms."""
    out = np.zeros_like(transform)
    turn = transform[..., :3, :3].swapaxes(-1, -2)
    out[..., :3, :3] = turn
    out[..., :3, 3] = -(turn @ transform[..., :3, 3:])[..., 0]
    out[..., 3, 3] = 1.0
    return out


_SKEW = skew(np.eye(3)).reshape(3, 9)
"""Vectors times this are the matrices of their cross products, flattened."""

_SHIFTS = np.eye(3)
_FIRST_AXIS = np.array([1.0, 0.0, 0.0])
_AXIS_CURVES = np.stack([_joint_curve(axis, np.zeros(3), True)[1] for axis in np.eye(3)])
"""Curves of turns about x, y and z."""
