"""Forward kinematics of trees of one-parameter joints: transforms, screws and their rates, for batches of coordinates.

The derivative of a part's transform T by the joint value q_k is S_k T, where the screw S_k is the joint's generator
carried along by the parts before it; its rate is the commutator [V_k, S_k].
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from neurok.geometry.lie import inverse, joint_basis, joint_curves

BASE_DOF = 6
"""Coordinates of a free base: three translations, then three turns about its centre (small, within one step)."""

AT_REST = np.eye(4)
"""The pose of an object that stands where it was made."""

AT_REST.setflags(write=False)


class Level(NamedTuple):
    """Joints that can be evaluated at once; indices are slices where they are consecutive or all the same."""

    joints: Any
    nodes: Any
    parents: Any


@dataclass(frozen=True, eq=False)
class JointTree:
    """Nodes 1..J hang on earlier nodes by one-parameter joints; node 0 is the base, free or fixed.

    Coordinates are the six of the base (if it is free), then one per node.
    """

    parents: Int[np.ndarray, " J"]
    """Node that carries each joint's node."""

    generators: Float[np.ndarray, "J 4 4"]
    """Derivative of each joint's transform at rest: that of a turn, of a slide, or zero."""

    free: bool = False
    center: Float[np.ndarray, "3"] | None = None
    """Point of the base about which it turns, in the object's frame."""

    levels: tuple[Level, ...] = ()
    """From the base outward; found from the parents."""

    _posed: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = field(default_factory=list, init=False, repr=False)
    """Of a fixed base: its pose, the curves of all joints with this pose before those that hang on it, their screws."""

    def __post_init__(self) -> None:
        if not self.levels:
            object.__setattr__(self, "levels", _levels(self.parents))

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
    def curves(self) -> Float[np.ndarray, "J 4 16"]:
        """Flattened matrices that multiply 1, sin q, cos q and q in each joint's transform."""
        return joint_curves(self.generators)

    @cached_property
    def _deep(self) -> tuple[Any, Int[np.ndarray, " k"], Float[np.ndarray, "k 4 4"]]:
        """Joints that do not hang on the base, what carries them, and their generators."""
        deep = np.flatnonzero(self.parents)
        return _run(deep), self.parents[deep], self.generators[deep]

    @cached_property
    def ancestors(self) -> Float[np.ndarray, "N D"]:
        """1 where a coordinate moves a node."""
        out = np.zeros((self.joint_count + 1, self.dim))
        out[0, : self.base_dim] = 1.0
        out[1:, self.base_dim :] = np.eye(self.joint_count)
        for level in self.levels:
            out[level.nodes] += out[level.parents]
        return out

    @cached_property
    def chains(self) -> Float[np.ndarray, "D D"]:
        """1 where the second coordinate comes before the first one on its way to the base, itself included."""
        out = np.zeros((self.dim, self.dim))
        out[: self.base_dim, : self.base_dim] = np.tril(np.ones((self.base_dim, self.base_dim)))
        out[self.base_dim :] = self.ancestors[1:]
        return out

    def nodes(self, pose: Float[np.ndarray, "4 4"], q: Float[np.ndarray, "B D"]) -> Float[np.ndarray, "B N 4 4"]:
        """World transform of every node from rest."""
        if self.free:
            return self._hung(self._base(pose, q[:, :BASE_DOF])[0], self.curves, self.levels, q[:, BASE_DOF:])
        return self._hung(pose, self._at(pose)[1], self.levels[1:], q)

    def transforms(
        self, pose: Float[np.ndarray, "4 4"], q: Float[np.ndarray, "B D"]
    ) -> tuple[Float[np.ndarray, "B N 4 4"], Float[np.ndarray, "B D 4 4"]]:
        """World transform of every node from rest, and the screw of every coordinate in the world's frame."""
        if self.free:
            screws = np.empty((len(q), self.dim, 4, 4))
            base, screws[:, :BASE_DOF] = self._base(pose, q[:, :BASE_DOF])
            nodes = self._hung(base, self.curves, self.levels, q[:, BASE_DOF:])
            if self.joint_count:
                carrier = nodes.take(self.parents, axis=1)
                screws[:, BASE_DOF:] = carrier @ self.generators @ inverse(carrier)
            return nodes, screws
        _, curves, constant = self._at(pose)
        nodes = self._hung(pose, curves, self.levels[1:], q)
        if len(self.levels) < 2:
            return nodes, np.broadcast_to(constant, (len(q), *constant.shape))
        deep, parents, generators = self._deep
        carrier, screws = nodes.take(parents, axis=1), np.empty((len(q), self.dim, 4, 4))
        screws[:] = constant
        screws[:, deep] = carrier @ generators @ inverse(carrier)
        return nodes, screws

    def base_motion(
        self, pose: Float[np.ndarray, "4 4"], xi: Float[np.ndarray, "B k"]
    ) -> tuple[Float[np.ndarray, "B 4 4"], Float[np.ndarray, "B k 4 4"]]:
        """Transform of the base alone and its screws; none where it is fixed."""
        if self.free:
            return self._base(pose, xi)
        return np.repeat(pose[None], len(xi), axis=0), np.zeros((len(xi), 0, 4, 4))

    def velocities(
        self, screws: Float[np.ndarray, "B D 4 4"], qdot: Float[np.ndarray, "B D"]
    ) -> Float[np.ndarray, "B N 4 4"]:
        """Screw of the motion of every node."""
        batch, dim = qdot.shape
        speeds = screws.reshape(batch, dim, 16) * qdot[..., None]
        return (self.ancestors @ speeds).reshape(batch, -1, 4, 4)

    def _hung(
        self, base: np.ndarray, curves: Float[np.ndarray, "J 4 16"], levels: tuple[Level, ...], q: np.ndarray
    ) -> Float[np.ndarray, "B N 4 4"]:
        """Transforms of the base and the joints by their own curves, then those of some levels after their parents."""
        batch, joints = q.shape
        out = np.empty((batch, joints + 1, 4, 4))
        out[:, 0] = base
        if joints:
            out[:, 1:] = (joint_basis(q) @ curves).reshape(joints, batch, 4, 4).swapaxes(0, 1)
            for level in levels:
                out[:, level.nodes] = out[:, level.parents] @ out[:, level.nodes]
        return out

    def _at(self, pose: Float[np.ndarray, "4 4"]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What never changes while a fixed base stands at a pose."""
        if not self._posed or self._posed[0][0] is not pose:
            curves = self.curves.reshape(-1, 4, 4, 4)
            if pose is not AT_REST:
                on_base = (self.parents == 0)[:, None, None, None]
                curves = np.where(on_base, pose @ curves, curves)
            screws = self.generators if pose is AT_REST else pose @ self.generators @ inverse(pose)
            self._posed[:] = [(pose, curves.reshape(-1, 4, 16), screws)]
        return self._posed[0]

    def _base(
        self, pose: Float[np.ndarray, "4 4"], xi: Float[np.ndarray, "B 6"]
    ) -> tuple[Float[np.ndarray, "B 4 4"], Float[np.ndarray, "B 6 4 4"]]:
        """Transform of the free base and its screws: shifts along the world's axes, then turns about x, y', z''."""
        from neurok.geometry.loops import free_base

        center = np.zeros(3) if self.center is None else self.center
        frames, screws = np.zeros((len(xi), 4, 4)), np.zeros((len(xi), 6, 4, 4))
        free_base(pose, center, np.ascontiguousarray(xi), frames, screws)
        return frames, screws


def _levels(parents: Int[np.ndarray, " J"]) -> tuple[Level, ...]:
    known, pending, out = np.array([0]), np.arange(len(parents)), []
    while len(pending):
        ready = np.isin(parents[pending], known)
        joints, pending = pending[ready], pending[~ready]
        assert len(joints), "the joints form a cycle"
        known = joints + 1
        out.append(Level(_run(joints), _run(joints + 1), _run(parents[joints])))
    return tuple(out)


def _run(indices: Int[np.ndarray, " k"]) -> Any:
    """Indices as a slice if they are consecutive, or all the same."""
    first, last = int(indices[0]), int(indices[-1])
    if (indices == first).all():
        return slice(first, first + 1)
    return slice(first, last + 1) if np.array_equal(indices, np.arange(first, last + 1)) else indices
