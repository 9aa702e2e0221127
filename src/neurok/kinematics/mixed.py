"""Objects that have both: rigid bodies on joints, and bodies that bend and ride on them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.core.articulation import Articulation
from neurok.core.mesh import Mesh
from neurok.geometry.joint_tree import JointTree
from neurok.kinematics.articulated import ArticulatedSpace
from neurok.kinematics.screws import HandleMotion, ScrewSpace
from neurok.kinematics.space import KinematicSpace, lifted_features
from neurok.kinematics.strain_limits import StrainLimits


@dataclass(frozen=True, eq=False)
class MixedSpace(KinematicSpace):
    """Coordinates are the joint values, then those of the bends: x = Σ_h w_h T_part(h)(q) exp(screws_h q) p.

    Handles of the screws belong to one part each; the part carries them along exactly, down any chain of joints.
    """

    joints: Articulation
    screws: ScrewSpace
    """Of what bends, on the same vertices; handles of rigid parts stand still in it."""

    @property
    def rest(self) -> Mesh:
        return self.joints.mesh

    @property
    def dim(self) -> int:
        return self.joints.dof + self.screws.dim

    @property
    def kind(self) -> str:
        return "joints and bends"

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.joints.dof_names, *(f"bend {k}" for k in range(self.screws.dim)))

    @property
    def facts(self) -> dict[str, float]:
        return {**self.screws.facts, "joints": float(self.joints.dof), "coordinates": float(self.dim)}

    @property
    def limits(self) -> Float[np.ndarray, "D 2"]:
        return np.concatenate([self.joints.limits, self.screws.limits])

    @property
    def ranges(self) -> Float[np.ndarray, "D 2"]:
        return np.concatenate([self.joints.ranges, self.screws.ranges])

    @property
    def is_length(self) -> Bool[np.ndarray, " D"]:
        return np.concatenate([self.joints.is_length, self.screws.is_length])

    @property
    def starts_along_axes(self) -> bool:
        return True

    @property
    def rigid_joints(self) -> Articulation:
        return self.joints

    @property
    def damping(self) -> Float[np.ndarray, " D"]:
        return np.concatenate([ArticulatedSpace(self.joints).damping, self.screws.damping])

    @property
    def stiffness(self) -> Float[np.ndarray, "D D"] | None:
        """Of what bends, if it is elastic; joints cost nothing."""
        if self.screws.stiffness is None:
            return None
        out = np.zeros((self.dim, self.dim))
        out[self.joints.dof :, self.joints.dof :] = self.screws.stiffness
        return out

    @property
    def strain_limits(self) -> StrainLimits | None:
        limits = self.screws.strain_limits
        return None if limits is None else limits.beside(self.joints.dof, 0)

    @property
    def bends(self) -> Bool[np.ndarray, " V"]:
        return self.screws.bends

    def sample(self, count: int, seed: int = 0) -> Float[np.ndarray, "N D"]:
        """Joint values and bends, each drawn as by themselves."""
        return np.concatenate(
            [ArticulatedSpace(self.joints).sample(count, seed), self.screws.sample(count, seed)], axis=1
        )

    @cached_property
    def _owners(self) -> Int[np.ndarray, "W 2"]:
        """Pairs of a part and a handle that vertices follow, as handles of their own: a handle that reaches across
        parts is one for each of them."""
        pairs = [
            (part, handle)
            for part in range(len(self.joints.joints))
            for handle in np.flatnonzero(self.screws.weights[self.joints.vertex_parts == part].any(axis=0))
        ]
        return np.array(pairs, dtype=np.int64).reshape(-1, 2)

    @cached_property
    def weights(self) -> Float[np.ndarray, "V W"]:
        parts, handles = self._owners.T
        return self.screws.weights[:, handles] * (self.joints.vertex_parts[:, None] == parts)

    @cached_property
    def features(self) -> Float[np.ndarray, "V K"]:
        return lifted_features(self.rest.vertices, self.weights)

    @cached_property
    def unity(self) -> Float[np.ndarray, " K"]:
        return np.tile([0.0, 0.0, 0.0, 1.0], len(self._owners))

    @cached_property
    def _tree(self) -> tuple[JointTree, Int[np.ndarray, " W"]]:
        """The joints, and the node that carries each pair of part and handle."""
        return self.joints.tree, self.joints.part_nodes[self._owners[:, 0]]

    def _parts(self, q: Float[np.ndarray, "B D"], qdot: Float[np.ndarray, "B D"]):  # type: ignore[no-untyped-def]
        """Transforms and screws of the joints, and the moments of the handles."""
        split = self.joints.dof
        tree, nodes = self._tree
        frames, screws = tree.transforms(np.eye(4), q[:, :split])
        motion = HandleMotion(self.screws._screws_first, self.screws.centers, q[:, split:], qdot[:, split:])
        return tree, nodes, frames[:, nodes], screws, motion

    def shape(self, q: Float[np.ndarray, "B D"]) -> tuple[Float[np.ndarray, "B K 3"], Float[np.ndarray, "B D K 3"]]:
        """Rows of the handles' transforms, stacked, and their derivatives."""
        tree, nodes, frames, screws, motion = self._parts(q, np.zeros_like(q))
        values = self._carried(frames, self._rows_of(motion.values))
        by_joint = self._moved(screws, values) * tree.ancestors[nodes].T[None, :, :, None, None]
        by_bend = self._turned(frames, self._rows_of(motion.slopes))
        return self._flat(values), self._flat(np.concatenate([by_joint, by_bend], axis=1))

    def shape_rate(self, q: Float[np.ndarray, "B D"], qdot: Float[np.ndarray, "B D"]) -> Float[np.ndarray, "B D K 3"]:
        """How the derivatives change: screws by commutators, bends with the frames that carry them."""
        tree, nodes, frames, screws, motion = self._parts(q, qdot)
        split, reaches = self.joints.dof, tree.ancestors[nodes]
        speeds = screws * qdot[:, :split, None, None]
        carrier = np.einsum("wd,bdij->bwij", reaches, speeds)
        values = self._carried(frames, self._rows_of(motion.values))
        rates = self._turned(frames, self._rows_of(motion.rate)) + self._carry_rate(carrier, values)
        own = np.einsum("de,beij->bdij", tree.chains, speeds)
        commutators = own @ screws - screws @ own
        by_joint = self._moved(commutators, values) + self._moved(screws, rates, shifts=False)
        by_joint = by_joint * reaches.T[None, :, :, None, None]
        slopes = self._turned(frames, self._rows_of(motion.slopes))
        by_bend = self._turned(frames, self._rows_of(motion.slope_rates))
        by_bend = by_bend + slopes @ carrier[:, None, :, :3, :3].swapaxes(-1, -2)
        return self._flat(np.concatenate([by_joint, by_bend], axis=1))

    def _rows_of(self, stacked: Float[np.ndarray, "*B K 3"]) -> Float[np.ndarray, "*B W 4 3"]:
        """Stacked rows of the handles of the screws, for each pair of part and handle."""
        return stacked.reshape(*stacked.shape[:-2], -1, 4, 3)[..., self._owners[:, 1], :, :]

    @staticmethod
    def _turned(frames: Float[np.ndarray, "B W 4 4"], rows: Float[np.ndarray, "B *d W 4 3"]) -> np.ndarray:
        """Rows that are velocities, in the frames that carry them."""
        turn = frames[..., :3, :3].swapaxes(-1, -2)
        return rows @ (turn if rows.ndim == turn.ndim else turn[:, None])

    def _carried(self, frames: Float[np.ndarray, "B W 4 4"], rows: Float[np.ndarray, "B W 4 3"]) -> np.ndarray:
        out = self._turned(frames, rows)
        out[..., 3, :] += frames[..., :3, 3]
        return out

    @staticmethod
    def _moved(
        screws: Float[np.ndarray, "B J 4 4"], rows: Float[np.ndarray, "B W 4 3"], shifts: bool = True
    ) -> Float[np.ndarray, "B J W 4 3"]:
        """Rows as each joint moves them; without shifts where rows are velocities."""
        out = rows[:, None] @ screws[:, :, None, :3, :3].swapaxes(-1, -2)
        if shifts:
            out[..., 3, :] += screws[:, :, None, :3, 3]
        return out

    @staticmethod
    def _carry_rate(carrier: Float[np.ndarray, "B W 4 4"], rows: Float[np.ndarray, "B W 4 3"]) -> np.ndarray:
        """How fast rows move with what carries them."""
        out = rows @ carrier[..., :3, :3].swapaxes(-1, -2)
        out[..., 3, :] += carrier[..., :3, 3]
        return out

    @staticmethod
    def _flat(rows: Float[np.ndarray, "*B W 4 3"]) -> Float[np.ndarray, "*B K 3"]:
        return rows.reshape(*rows.shape[:-3], -1, 3)
