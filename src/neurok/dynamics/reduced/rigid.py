"""Mechanics of rigid parts on a tree of joints.

With T the transform of a part, P its second moments, S_k the screw of a coordinate and V = Σ S_k q̇_k: the part's
momentum matrix is H = V T P Tᵀ, and summed over the parts a coordinate moves, p_k = ⟨S_k, H⟩ and
∂T/∂q_k = ⟨[V_k, S_k], H⟩. A force f at a point x is the matrix f (x, 1)ᵀ and acts as its product with S_k. Every
quantity is a small matrix product over parts; vertices never enter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from neurok.compiled import carried
from neurok.dynamics.reduced.equations import ClosedForm, Pose
from neurok.geometry.joint_tree import BASE_DOF, JointTree
from neurok.geometry.lie import apply, commutator, screw_twists, tidy


@dataclass(frozen=True, eq=False)
class TreeMechanics:
    """Rigid parts with mass on a tree."""

    tree: JointTree
    moments: Float[np.ndarray, "N 4 4"]
    """Second moments of what each node carries, at rest."""

    vertices: Float[np.ndarray, "V 3"]
    vertex_nodes: Int[np.ndarray, " V"]
    vertex_parts: Int[np.ndarray, " V"]
    part_nodes: Int[np.ndarray, " P"]

    @property
    def dim(self) -> int:
        return self.tree.dim

    @property
    def free(self) -> bool:
        return self.tree.free

    @property
    def mass(self) -> float:
        return float(self.moments[:, 3, 3].sum())

    @property
    def carried(self) -> Float[np.ndarray, " D"]:
        return self.tree.ancestors.T @ self.moments[:, 3, 3]

    @property
    def center(self) -> Float[np.ndarray, "3"]:
        return np.zeros(3) if self.tree.center is None else self.tree.center

    @cached_property
    def turning(self) -> Float[np.ndarray, "N D"]:
        """1 where a coordinate turns a node."""
        turns = np.abs(self.tree.generators[:, :3, :3]).sum(axis=(1, 2)) > 0
        base = np.repeat([False, True], 3)[: self.tree.base_dim] if self.free else np.zeros(0, dtype=bool)
        return self.tree.ancestors * np.concatenate([base, turns])

    _recent: list[tuple[Pose, np.ndarray, tuple[np.ndarray, np.ndarray]]] = field(default_factory=list)
    """The last transforms: the end of one step is the start of the next, with other rates."""

    def _transforms(
        self, pose: Pose, q: Float[np.ndarray, "B D"]
    ) -> tuple[Float[np.ndarray, "B N 4 4"], Float[np.ndarray, "B D 4 4"]]:
        """Transforms of the nodes and screws of the coordinates, from memory where they have just been asked for."""
        if not self.free:
            return self.tree.transforms(pose, q)
        for old_pose, old_q, found in self._recent:
            if old_pose is pose and np.array_equal(old_q, q):
                return found
        found = self.tree.transforms(pose, q)
        self._recent[:] = [(pose, q.copy(), found), *self._recent[:1]]
        return found

    def motion(self, pose: Pose, q: Float[np.ndarray, "B D"], qdot: Float[np.ndarray, "B D"]) -> TreeMotion:
        return TreeMotion(self, q, qdot, *self._transforms(pose, q))

    @property
    def closed(self) -> ClosedForm:
        tree, count = self.tree, self.tree.joint_count + 1
        parents, generators, curves = np.zeros(count, dtype=np.int64), np.zeros((count, 4, 4)), np.zeros((count, 64))
        if tree.joint_count:
            parents[1:], generators[1:], curves[1:] = tree.parents, tree.generators, tree.curves.reshape(-1, 64)
        order = np.argsort(tree.ancestors.sum(axis=1), kind="stable")
        return ClosedForm(
            True,
            parents,
            np.concatenate([[0], order[order != 0]]),
            curves.reshape(-1, 4, 4, 4),
            generators,
            tree.ancestors,
            np.zeros((count, 3)),
            np.zeros((6, count, 0)),
            self.moments,
            np.ascontiguousarray(self.moments[:, 3]).reshape(-1),
        )

    def found(
        self,
        pose: Pose,
        q: Float[np.ndarray, " D"],
        qdot: Float[np.ndarray, " D"],
        y: Float[np.ndarray, "K 3"],
        rate: Float[np.ndarray, "K 3"],
        screws: Float[np.ndarray, "D 4 4"],
    ) -> TreeMotion:
        nodes = np.zeros((1, len(y) // 4, 4, 4))
        nodes[0, :, :3] = y.reshape(-1, 4, 3).swapaxes(1, 2)
        nodes[0, :, 3, 3] = 1.0
        return TreeMotion(self, q[None], qdot[None], nodes, screws[None])

    def points(self, vertices: Int[np.ndarray, " n"]) -> TreePoints:
        return TreePoints(self, self.vertices[vertices], self.vertex_nodes[vertices])

    def node_points(self, places: Float[np.ndarray, "n 3"], nodes: Int[np.ndarray, " n"]) -> TreePoints:
        return TreePoints(self, places, nodes)

    def rebase(
        self, pose: Pose, q: Float[np.ndarray, " D"], p: Float[np.ndarray, " D"]
    ) -> tuple[Pose, np.ndarray, np.ndarray]:
        if not self.free:
            return pose, q, p
        start = np.zeros_like(q)
        start[BASE_DOF:] = q[BASE_DOF:]
        nodes, before = self._transforms(pose, q[None])
        new_pose = tidy(nodes[0, 0])
        _, after = self._transforms(new_pose, start[None])
        wrench = np.linalg.solve(screw_twists(before[0, :BASE_DOF]), p[:BASE_DOF])
        out = p.copy()
        out[:BASE_DOF] = screw_twists(after[0, :BASE_DOF]) @ wrench
        return new_pose, start, out

    def positions(self, pose: Pose, q: Float[np.ndarray, " D"]) -> Float[np.ndarray, "V 3"]:
        nodes = self.tree.transforms(pose, q[None])[0][0]
        out = np.empty_like(self.vertices)
        for node in np.unique(self.vertex_nodes):
            mine = self.vertex_nodes == node
            out[mine] = apply(nodes[node], self.vertices[mine])
        return out

    def handles(self, pose: Pose, q: Float[np.ndarray, " D"]) -> Float[np.ndarray, "P 4 4"]:
        return self.tree.transforms(pose, q[None])[0][0][self.part_nodes]

    def handle_weights(self) -> Float[np.ndarray, "V P"]:
        return np.eye(len(self.part_nodes), dtype=np.float32)[self.vertex_parts]


class TreeMotion:
    """A batch of moments of a tree."""

    def __init__(
        self,
        mechanics: TreeMechanics,
        q: Float[np.ndarray, "B D"],
        qdot: Float[np.ndarray, "B D"],
        nodes: Float[np.ndarray, "B N 4 4"],
        screws: Float[np.ndarray, "B D 4 4"],
    ) -> None:
        self.mechanics, self.tree = mechanics, mechanics.tree
        self.q, self.qdot, self.nodes, self.screws = q, qdot, nodes, screws

    @cached_property
    def _speeds(self) -> Float[np.ndarray, "B D 16"]:
        return self.screws.reshape(*self.qdot.shape, 16) * self.qdot[..., None]

    @cached_property
    def velocity(self) -> Float[np.ndarray, "B N 4 4"]:
        """Twist of every node."""
        return (self.tree.ancestors @ self._speeds).reshape(self.nodes.shape)

    def node_frame(self, node: int) -> Float[np.ndarray, "4 4"]:
        return self.nodes[0, node]

    def node_twist(self, node: int) -> Float[np.ndarray, "4 4"]:
        return self.velocity[0, node]

    def node_jacobian(self, node: int, x: Float[np.ndarray, "n 3"]) -> Float[np.ndarray, "n 3 D"]:
        lifted = np.concatenate([x, np.ones((len(x), 1))], axis=1)
        moved = np.einsum("kij,nj->nik", self.screws[0, :, :3], lifted)
        return moved * self.tree.ancestors[node]

    @cached_property
    def moments(self) -> Float[np.ndarray, "B N 4 4"]:
        """Second moments where the parts are now."""
        return self.nodes @ self.mechanics.moments @ self.nodes.swapaxes(-1, -2)

    @cached_property
    def _flow(self) -> Float[np.ndarray, "B N 4 4"]:
        return self.velocity @ self.moments

    @cached_property
    def _carried(self) -> Float[np.ndarray, "B D 16"]:
        """Momentum matrix of all that each coordinate moves."""
        return self.tree.ancestors.T @ self._flow.reshape(*self.nodes.shape[:2], 16)

    @cached_property
    def _screw_rates(self) -> Float[np.ndarray, "B D 4 4"]:
        base = self.tree.base_dim
        if base:
            own = (self.tree.chains @ self._speeds).reshape(self.screws.shape)
        else:
            own = self.velocity[:, 1:]
        return commutator(own, self.screws)

    @property
    def momentum(self) -> Float[np.ndarray, "B D"]:
        return (self.screws.reshape(self._carried.shape) * self._carried).sum(axis=-1)

    @property
    def kinetic(self) -> Float[np.ndarray, " B"]:
        return 0.5 * (self.velocity * self._flow).sum(axis=(1, 2, 3))

    @property
    def kinetic_force(self) -> Float[np.ndarray, "B D"]:
        return (self._screw_rates.reshape(self._carried.shape) * self._carried).sum(axis=-1)

    def mass_matrices(self) -> Float[np.ndarray, "B D D"]:
        batch, dim = self.q.shape
        carried = self.tree.ancestors.T @ self.moments.reshape(batch, -1, 16)
        flat = (self.screws @ carried.reshape(batch, dim, 4, 4)).reshape(batch, dim, 16)
        upper = (flat @ self.screws.reshape(batch, dim, 16).swapaxes(1, 2)) * self.tree.chains
        diagonal = np.einsum("bii->bi", upper)
        out = upper + upper.swapaxes(1, 2)
        np.einsum("bii->bi", out)[...] = diagonal
        return out

    def bias(self) -> Float[np.ndarray, "B D"]:
        batch, dim = self.q.shape
        rates = self._screw_rates.reshape(batch, dim, 16) * self.qdot[..., None]
        acceleration = (self.tree.ancestors @ rates).reshape(self.nodes.shape) + self.velocity @ self.velocity
        return self.pull_nodes(acceleration @ self.moments)

    def pull_nodes(self, wrenches: Float[np.ndarray, "B N 4 4"]) -> Float[np.ndarray, "B D"]:
        """Generalised force of force matrices on the nodes."""
        batch, dim = self.q.shape
        carried = self.tree.ancestors.T @ wrenches.reshape(batch, -1, 16)
        return (self.screws.reshape(batch, dim, 16) * carried).sum(axis=-1)

    def field_force(self, acceleration: Float[np.ndarray, "3"]) -> Float[np.ndarray, "B D"]:
        wrenches = np.zeros(self.nodes.shape)
        wrenches[..., :3, :] = acceleration[:, None] * self.moments[..., None, 3, :]
        return self.pull_nodes(wrenches)

    def field_energy(self, acceleration: Float[np.ndarray, "3"]) -> Float[np.ndarray, " B"]:
        return -(self.moments[..., :3, 3].sum(axis=1) @ acceleration)

    def coast(self, dt: float) -> Float[np.ndarray, "N 4 4"]:
        return self.nodes[0] + dt * (self.velocity[0] @ self.nodes[0])

    def drawn(
        self, target: np.ndarray, dt: float, acceleration: Float[np.ndarray, "3"]
    ) -> tuple[float, Float[np.ndarray, " D"]]:
        gap = self.nodes - target
        pulled = gap @ self.mechanics.moments / dt**2
        wrenches = pulled @ self.nodes.swapaxes(-1, -2)
        wrenches[..., :3, :] -= acceleration[:, None] * self.moments[..., None, 3, :]
        value = 0.5 * float((gap * pulled).sum()) - float(self.moments[0, :, :3, 3].sum(axis=0) @ acceleration)
        return value, self.pull_nodes(wrenches)[0]


@dataclass(frozen=True, eq=False)
class TreePoints:
    """Points fixed to nodes of a tree."""

    mechanics: TreeMechanics
    rest: Float[np.ndarray, "n 3"]
    nodes: Int[np.ndarray, " n"]

    @cached_property
    def _lifted(self) -> Float[np.ndarray, "n 4 1"]:
        return np.concatenate([self.rest, np.ones((len(self.rest), 1))], axis=1)[..., None]

    @property
    def rows(self) -> Float[np.ndarray, "n K"]:
        out = np.zeros((len(self.nodes), self.mechanics.tree.joint_count + 1, 4))
        out[np.arange(len(self.nodes)), self.nodes] = self._lifted[..., 0]
        return out.reshape(len(self.nodes), -1)

    @cached_property
    def _collect(self) -> Float[np.ndarray, "N n"]:
        return (self.nodes == np.arange(self.mechanics.tree.joint_count + 1)[:, None]).astype(np.float64)

    def take(self, chosen: Int[np.ndarray, " m"]) -> TreePoints:
        """Some of the points."""
        return TreePoints(self.mechanics, self.rest[chosen], self.nodes[chosen])

    def join(self, others: Sequence[TreePoints]) -> TreePoints:
        """These points, then others of the same object."""
        everyone = [self, *others]
        rest, nodes = (
            np.concatenate(list(column)) for column in zip(*((p.rest, p.nodes) for p in everyone), strict=True)
        )
        return TreePoints(self.mechanics, rest, nodes)

    def _places(self, motion: TreeMotion) -> Float[np.ndarray, "B n 4 1"]:
        return motion.nodes[:, self.nodes] @ self._lifted

    def positions(self, motion: TreeMotion) -> Float[np.ndarray, "B n 3"]:
        if len(motion.nodes) > 1:
            return self._places(motion)[..., :3, 0]
        out = np.empty((1, len(self.nodes), 3))
        carried.places(np.ascontiguousarray(motion.nodes[0]), self.nodes, self.rest, out[0])
        return out

    def velocities(self, motion: TreeMotion) -> Float[np.ndarray, "B n 3"]:
        if len(motion.nodes) > 1:
            return (motion.velocity[:, self.nodes] @ self._places(motion))[..., :3, 0]
        out = np.empty((1, len(self.nodes), 3))
        frames, twists = (np.ascontiguousarray(column[0]) for column in (motion.nodes, motion.velocity))
        carried.velocities(frames, twists, self.nodes, self.rest, out[0])
        return out

    def pull(self, motion: TreeMotion, forces: Float[np.ndarray, "B n 3"]) -> Float[np.ndarray, "B D"]:
        batch, count = forces.shape[:2]
        wrenches = np.zeros((batch, count, 4, 4))
        wrenches[..., :3, :] = forces[..., None] * self._places(motion).swapaxes(-1, -2)
        collected = self._collect @ wrenches.reshape(batch, count, 16)
        return motion.pull_nodes(collected.reshape(motion.nodes.shape))

    def jacobian(self, motion: TreeMotion) -> Float[np.ndarray, "n 3 D"]:
        places = self._places(motion)[0, :, :, 0]
        moved = np.einsum("kij,nj->nik", motion.screws[0, :, :3], places)
        return moved * self.mechanics.tree.ancestors[self.nodes][:, None, :]
