"""Spaces of joints: rigid parts on joints (q = joint values), and a skin that follows bones in a tree."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.core.articulation import Articulation
from neurok.core.clip import BoneTree
from neurok.core.mesh import Mesh
from neurok.geometry.joint_tree import AT_REST, JointTree
from neurok.geometry.lie import commutator
from neurok.kinematics.space import KinematicSpace, lifted_features

BONE_SWING = 2.0
"""How fast limbs swing back to rest where nothing says how stiff they are [Hz]: about as branches and fins do."""


class TreeSpace(KinematicSpace):
    """x = features @ Y(q), where Y stacks the transforms of bodies that hang on each other by turns and slides."""

    if TYPE_CHECKING:

        @property
        def tree(self) -> JointTree:
            """The joints."""

        @property
        def bones(self) -> Int[np.ndarray, " H"]:
            """The node of the tree that moves each body."""

    @cached_property
    def unity(self) -> Float[np.ndarray, " K"]:
        return np.tile([0.0, 0.0, 0.0, 1.0], len(self.bones))

    def values(self, q: Float[np.ndarray, "B D"]) -> Float[np.ndarray, "B K 3"]:
        nodes = self.tree.nodes(AT_REST, np.asarray(q, dtype=np.float64))[:, self.bones]
        return nodes[..., :3, :].swapaxes(-1, -2).reshape(len(q), 4 * len(self.bones), 3)

    def shape(self, q: Float[np.ndarray, "B D"]) -> tuple[Float[np.ndarray, "B K 3"], Float[np.ndarray, "B D K 3"]]:
        """Transforms of the bodies, stacked, and their derivatives S_d T_h by the coordinates that move them."""
        nodes, screws = self.tree.transforms(AT_REST, np.asarray(q, dtype=np.float64))
        carried, (h, d) = nodes[:, self.bones], self._moved
        slopes = screws[:, :, :3].take(d, axis=1) @ carried.take(h, axis=1)
        rows = carried[..., :3, :].swapaxes(-1, -2).reshape(len(q), 4 * len(self.bones), 3)
        return rows, self._stacked(slopes)

    def shape_rate(self, q: Float[np.ndarray, "B D"], qdot: Float[np.ndarray, "B D"]) -> Float[np.ndarray, "B D K 3"]:
        """Change of the derivatives: ([V_d, S_d] + S_d V_h) T_h, with V the velocities of the nodes."""
        nodes, screws = self.tree.transforms(AT_REST, np.asarray(q, dtype=np.float64))
        velocities = self.tree.velocities(screws, qdot)
        h, d = self._moved
        rates = commutator(velocities[:, 1:], screws)[:, d] + screws[:, d] @ velocities[:, self.bones[h]]
        return self._stacked(rates[:, :, :3] @ nodes[:, self.bones[h]])

    @cached_property
    def _moved(self) -> tuple[Int[np.ndarray, " M"], Int[np.ndarray, " M"]]:
        """Bodies, and coordinates that move them."""
        h, d = np.nonzero(self.tree.ancestors[self.bones])
        return h, d

    def _stacked(self, slopes: Float[np.ndarray, "B M 3 4"]) -> Float[np.ndarray, "B D K 3"]:
        """Derivatives of bodies by coordinates that move them, among zeros for all others."""
        h, d = self._moved
        out = np.zeros((len(slopes), self.dim, len(self.bones), 4, 3))
        out[:, d, h] = slopes.swapaxes(-1, -2)
        return out.reshape(len(slopes), self.dim, 4 * len(self.bones), 3)


@dataclass(frozen=True, eq=False)
class ArticulatedSpace(TreeSpace):
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

    @property
    def tree(self) -> JointTree:
        return self.articulation.tree

    @cached_property
    def bones(self) -> Int[np.ndarray, " N"]:
        """All nodes: a joint of two coordinates has one between them that carries no part."""
        return np.arange(self.dim + 1)

    def positions(self, q: Float[np.ndarray, " D"]) -> Float[np.ndarray, "V 3"]:
        """Each vertex by its own part: large objects need no matrix of features."""
        return self.articulation.pose(q).vertices

    @cached_property
    def features(self) -> Float[np.ndarray, "V K"]:
        """Homogeneous rest positions in the columns of each vertex's node."""
        nodes = self.articulation.part_nodes[self.articulation.vertex_parts]
        return lifted_features(self.rest.vertices, np.eye(self.dim + 1)[nodes])


@dataclass(frozen=True, eq=False)
class SkinnedSpace(TreeSpace):
    """x = features @ Y(q), where Y stacks the transforms of the bones; bones hang on each other by turns and slides.

    Turns add up along a chain exactly, and a limb that turns keeps its length and girth away from the joint.
    """

    rest: Mesh
    tree: JointTree
    bones: Int[np.ndarray, " H"]
    """The node of the tree that moves each bone."""

    features: Float[np.ndarray, "V K"] = field()
    """How much each vertex follows each bone times where that bone holds it at rest (x, y, z, 1)."""

    bounds: Float[np.ndarray, "D 2"]
    """Limits of the coordinates."""

    labels: tuple[str, ...]
    source: str
    """In one word where the bones are from; see ``kind``."""

    weights: Float[np.ndarray, "V H"] | None = field(default=None)
    """How much each vertex follows each bone, where bones hold vertices at their rest positions."""

    moments: Float[np.ndarray, "T D"] | None = None
    """Coordinates of states that were seen, which samples lie between."""

    mixes: bool = True
    """Whether states between any two that were seen are plausible too."""

    spread: float = 0.15
    """Standard deviation of samples where no states were seen, as a share of the way to a limit."""

    loose: bool = False
    """See ``is_loose``."""

    bone_tree: BoneTree | None = field(default=None)
    """Which bone hangs on which, where bones hold vertices at their rest positions."""

    prior_pull: float = 1e-6
    """See ``prior_weight``."""

    @staticmethod
    def of_weights(
        rest: Mesh,
        tree: JointTree,
        bones: Int[np.ndarray, " H"],
        weights: Float[np.ndarray, "V H"],
        bounds: Float[np.ndarray, "D 2"],
        labels: tuple[str, ...],
        source: str,
    ) -> SkinnedSpace:
        """Bones that hold vertices where they rest."""
        features = lifted_features(rest.vertices, weights)
        return SkinnedSpace(rest, tree, bones, features, bounds, labels, source, weights)

    @property
    def dim(self) -> int:
        return self.tree.joint_count

    @property
    def kind(self) -> str:
        return self.source

    @property
    def names(self) -> tuple[str, ...]:
        return self.labels

    @property
    def limits(self) -> Float[np.ndarray, "D 2"]:
        return self.bounds

    @property
    def has_hard_limits(self) -> bool:
        return True

    @property
    def is_length(self) -> Bool[np.ndarray, " D"]:
        return np.logical_not(self.tree.generators[:, :3, :3].any(axis=(1, 2)))

    @property
    def is_loose(self) -> bool:
        return self.loose

    @property
    def prior_weight(self) -> float:
        return self.prior_pull

    @property
    def swing(self) -> float:
        return BONE_SWING

    @property
    def own_bends(self) -> SkinnedSpace | None:
        """What moves on bones, as long as nothing says how stiff it is."""
        return self if self.dim else None

    def sample(self, count: int, seed: int = 0) -> Float[np.ndarray, "N D"]:
        """States between two that were seen; without any, turns about rest, most of them small."""
        rng = np.random.default_rng(seed)
        low, high = self.ranges.T
        if self.moments is None:
            drawn = self.spread * rng.standard_normal((count, self.dim))
            return np.clip(np.where(drawn > 0, drawn * high, -drawn * low), low, high)
        start, end = rng.integers(len(self.moments), size=(2, count))
        mixed = self.moments[start] + rng.random((count, 1)) * (self.moments[end] - self.moments[start])
        return mixed if self.mixes else self.moments[start]
