"""The mechanics of one object: its points as x = C Y(q) with constant C, and what Lagrange's equations need of that.

With J = ∂x/∂q and point masses M the kinetic energy is ½ q̇ᵀ JᵀMJ q̇. The integrators work with the momentum
p = JᵀMJ q̇ and its rate ∂T/∂q + forces, where ∂T/∂q = (dJ/dt)ᵀ M J q̇ holds the whole second-order term. Masses enter
through the small matrix CᵀMC alone.

The features Y of rigid parts on a tree of joints, and of handles, are the four rows of each frame: the columns of its
rotation, and where it takes the origin. Linear spaces have few features; a space without any has the identity for C and
its vertices for Y, and automatic differentiation does what closed forms do elsewhere.

For a free object the first six coordinates move its base away from a ``pose`` that is brought up to date after each
step, so that they stay small and rotations never meet a singularity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from neurok.geometry.joint_tree import BASE_DOF, JointTree
from neurok.geometry.lie import apply, commutator, compose, tidy
from neurok.geometry.loops import compiled
from neurok.kinematics.space import KinematicSpace, contract

Pose = Float[np.ndarray, "4 4"]

FEW_POINTS = 1000
"""So many points are found quicker by their rows of C than by blending frames, which reads less memory."""

OF_RATES = frozenset(("inner", "velocity", "rate", "_speeds", "_weighed"))
"""What a motion knows that changes with its rates."""


class Mechanics:
    """One object, its masses included."""

    gram: Float[np.ndarray, "K K"] | Float[np.ndarray, "N 4 4"] | Float[np.ndarray, " K"]
    """CᵀMC: whole, of each frame, or its diagonal."""

    first: Float[np.ndarray, " K"]
    """CᵀM 1."""

    unity: Float[np.ndarray, " K"]
    """Coefficients with C unity = 1: how a shift of the whole object looks in the features."""

    base: JointTree
    """A tree with the base of the object, free or fixed."""

    part_nodes: Int[np.ndarray, " P"]
    """The rigid node that carries each part; none where parts may bend, so that they are no solids to others."""

    @property
    def dim(self) -> int:
        """Number of coordinates, those of the base included."""
        raise NotImplementedError

    @property
    def free(self) -> bool:
        return self.base.free

    @property
    def center(self) -> Float[np.ndarray, "3"]:
        """Centre of mass at rest, about which a free object turns."""
        return np.zeros(3) if self.base.center is None else self.base.center

    @cached_property
    def mass(self) -> float:
        """[kg]."""
        return float(self.first @ self.unity)

    @property
    def carried(self) -> Float[np.ndarray, " D"]:
        """Mass that each coordinate moves [kg]."""
        return np.full(self.dim, self.mass)

    @property
    def turning(self) -> Float[np.ndarray, "N D"]:
        """1 where a coordinate turns a piece of the object: how fast things spin limits the step."""
        out = np.zeros((1, self.dim))
        out[0, 3 : self.base.base_dim] = 1.0
        return out

    def weigh(self, y: Float[np.ndarray, "*B K n"]) -> Float[np.ndarray, "*B K n"]:
        """CᵀMC applied to features."""
        if self.gram.ndim == 3:
            return (self.gram @ y.reshape(*y.shape[:-2], len(self.gram), 4, y.shape[-1])).reshape(y.shape)
        return self.gram[:, None] * y if self.gram.ndim == 1 else self.gram @ y

    def motion(self, pose: Pose, q: Float[np.ndarray, "B D"], qdot: Float[np.ndarray, "B D"]) -> Any:
        """A batch of moments."""
        raise NotImplementedError

    def points(self, vertices: Int[np.ndarray, " n"]) -> Any:
        """Some vertices, followed through the motion."""
        raise NotImplementedError

    def rebase(
        self, pose: Pose, q: Float[np.ndarray, " D"], p: Float[np.ndarray, " D"]
    ) -> tuple[Pose, np.ndarray, np.ndarray]:
        """The same moment with the base's coordinates back at zero: new pose, coordinates and momenta."""
        if not self.free:
            return pose, q, p
        frames, _ = self.base.base_motion(pose, q[None, :BASE_DOF])
        new, out = q.copy(), p.copy()
        new[:BASE_DOF] = 0.0
        # Turns are about x, y', z'' through a centre that stays: what turns about x, y, z is these three solved for.
        (cx, cy), (sx, sy), (first, second, third) = np.cos(q[3:5]), np.sin(q[3:5]), p[3:BASE_DOF]
        lean = (third - sy * first) / cy
        out[4], out[5] = cx * second - sx * lean, sx * second + cx * lean
        return tidy(frames[0]), new, out

    def positions(self, pose: Pose, q: Float[np.ndarray, " D"]) -> Float[np.ndarray, "V 3"]:
        """All vertices."""
        raise NotImplementedError

    def handles(self, pose: Pose, q: Float[np.ndarray, " D"]) -> Float[np.ndarray, "H 4 4"] | None:
        """Transforms of the handles that carry the vertices, when there are such."""
        raise NotImplementedError

    def handle_weights(self) -> Float[np.ndarray, "V H"] | None:
        """How much each vertex follows each of these."""
        raise NotImplementedError


class Motion:
    """A batch of moments: coordinates, rates, and everything that follows from them.

    Kinds of objects give features ``y``, their ``rate``, their ``slopes``, and the forces ``pull`` and
    ``kinetic_force``.
    """

    mechanics: Mechanics
    q: Float[np.ndarray, "B D"]
    qdot: Float[np.ndarray, "B D"]

    y: Any
    """Features in the world's frame ``(B, K, 3)``."""

    rate: Any
    """dY/dt."""

    slopes: Any
    """∂Y/∂q ``(B, K, 3, D)``, coordinates last: masses and points then take one large product."""

    def with_rates(self, qdot: Float[np.ndarray, "B D"]) -> Any:
        """The same moments with other rates; what is known of the poses is kept."""
        out = object.__new__(type(self))
        out.__dict__.update({name: value for name, value in self.__dict__.items() if name not in OF_RATES})
        out.qdot = qdot
        if "slopes" in out.__dict__:
            batch, count, _, dim = self.slopes.shape
            out.rate = (self.slopes.reshape(batch, 3 * count, dim) @ qdot[..., None]).reshape(batch, count, 3)
        return out

    def pull(self, forces: Float[np.ndarray, "B K 3"]) -> Float[np.ndarray, "B D"]:
        """Generalised force of forces on the features."""
        raise NotImplementedError

    @property
    def kinetic_force(self) -> Float[np.ndarray, "B D"]:
        """∂T/∂q at fixed q̇."""
        raise NotImplementedError

    @cached_property
    def _weighed(self) -> Float[np.ndarray, "B K 3"]:
        return self.mechanics.weigh(self.rate)

    @property
    def momentum(self) -> Float[np.ndarray, "B D"]:
        """p = JᵀMJ q̇."""
        return self.pull(self._weighed)

    @property
    def kinetic(self) -> Float[np.ndarray, " B"]:
        """½ q̇ᵀ JᵀMJ q̇."""
        return 0.5 * (self.rate * self._weighed).sum(axis=(1, 2))

    def mass_matrices(self) -> Float[np.ndarray, "B D D"]:
        """JᵀMJ."""
        batch, count, _, dim = self.slopes.shape
        weighed = self.mechanics.weigh(self.slopes.reshape(batch, count, 3 * dim)).reshape(batch, 3 * count, dim)
        return self.slopes.reshape(batch, 3 * count, dim).swapaxes(1, 2) @ weighed

    def field_force(self, acceleration: Float[np.ndarray, "3"]) -> Float[np.ndarray, "B D"]:
        """Generalised force of a uniform field such as gravity."""
        force = self.mechanics.first[:, None] * acceleration
        return self.pull(np.repeat(force[None], len(self.q), axis=0))

    def field_energy(self, acceleration: Float[np.ndarray, "3"]) -> Float[np.ndarray, " B"]:
        """Potential of a uniform field."""
        return -((self.mechanics.first @ self.y) @ acceleration)

    def coast(self, dt: float) -> Float[np.ndarray, "K 3"]:
        """Where the features would be after ``dt`` if nothing acted, for one moment; to be passed to ``drawn``."""
        return self.y[0] + dt * self.rate[0]

    def drawn(
        self, target: Float[np.ndarray, "K 3"], dt: float, acceleration: Float[np.ndarray, "3"]
    ) -> tuple[float, Float[np.ndarray, " D"]]:
        """½ ‖F(q) − target‖² / dt² weighted by mass plus the potential of a uniform field, and the gradient of both;
        for one moment."""
        gap, weight = self.y[0] - target, self.mechanics.first[:, None] * acceleration
        forces = self.mechanics.weigh(gap) / dt**2
        value = 0.5 * np.vdot(gap, forces) - np.vdot(weight, self.y[0])
        return float(value), self.pull((forces - weight)[None])[0]


class Points:
    """Some points of an object, given by their rows of C, followed through its motion."""

    def __init__(self, mechanics: Mechanics, rows: Float[np.ndarray, "n K"]) -> None:
        self.mechanics, self._rows = mechanics, rows

    @property
    def rows(self) -> Float[np.ndarray, "n K"]:
        """Rows of C."""
        return self._rows

    def take(self, chosen: Int[np.ndarray, " m"]) -> Any:
        """Some of the points."""
        return Points(self.mechanics, self.rows[chosen])

    def join(self, others: Sequence[Any]) -> Any:
        """These points, then others of the same object."""
        return Points(self.mechanics, np.concatenate([points.rows for points in (self, *others)]))

    def _select(self, y: Float[np.ndarray, "B K m"]) -> Float[np.ndarray, "B n m"]:
        return self.rows @ y

    def positions(self, motion: Motion) -> Float[np.ndarray, "B n 3"]:
        return self._select(motion.y)

    def velocities(self, motion: Motion) -> Float[np.ndarray, "B n 3"]:
        return self._select(motion.rate)

    def lowest(self, motion: Motion, normal: Float[np.ndarray, "3"], ahead: float) -> Float[np.ndarray, " n"]:
        """How far the points are at least along a direction, at the first moment and, as they move then, so many
        seconds later."""
        now = self._select((motion.y @ normal)[..., None])[0, :, 0]
        if not ahead:
            return now
        return np.minimum(now, now + ahead * self._select((motion.rate @ normal)[..., None])[0, :, 0])

    def pull(self, motion: Motion, forces: Float[np.ndarray, "B n 3"]) -> Float[np.ndarray, "B D"]:
        """Generalised force Jᵀ f."""
        return motion.pull(self.rows.T @ forces)

    def jacobian(self, motion: Motion) -> Float[np.ndarray, "n 3 D"]:
        """Derivatives of the positions, of the first moment of the batch."""
        count, _, dim = motion.slopes[0].shape
        return (self.rows @ motion.slopes[0].reshape(count, 3 * dim)).reshape(-1, 3, dim)


@dataclass(frozen=True, eq=False)
class TreeMechanics(Mechanics):
    """Rigid parts with mass on a tree of joints. Every quantity is a small product over parts; vertices never enter."""

    tree: JointTree
    moments: Float[np.ndarray, "N 4 4"]
    """Second moments of what each node carries, at rest."""

    vertices: Float[np.ndarray, "V 3"]
    vertex_nodes: Int[np.ndarray, " V"]
    vertex_parts: Int[np.ndarray, " V"]
    part_nodes: Int[np.ndarray, " P"]
    _recent: list[tuple[Pose, np.ndarray, tuple[np.ndarray, np.ndarray]]] = field(default_factory=list)
    """The last transforms: the end of one step is the start of the next, with other rates."""

    @property
    def base(self) -> JointTree:  # type: ignore[override]
        return self.tree

    @property
    def gram(self) -> Float[np.ndarray, "N 4 4"]:  # type: ignore[override]
        return self.moments

    @cached_property
    def first(self) -> Float[np.ndarray, " K"]:  # type: ignore[override]
        return np.ascontiguousarray(self.moments[:, 3]).reshape(-1)

    @cached_property
    def unity(self) -> Float[np.ndarray, " K"]:  # type: ignore[override]
        return np.tile([0.0, 0.0, 0.0, 1.0], len(self.moments))

    @property
    def dim(self) -> int:
        return self.tree.dim

    @property
    def carried(self) -> Float[np.ndarray, " D"]:
        return self.tree.ancestors.T @ self.moments[:, 3, 3]

    @cached_property
    def turning(self) -> Float[np.ndarray, "N D"]:  # type: ignore[override]
        turns = np.abs(self.tree.generators[:, :3, :3]).sum(axis=(1, 2)) > 0
        base = np.repeat([False, True], 3)[: self.tree.base_dim] if self.free else np.zeros(0, dtype=bool)
        return self.tree.ancestors * np.concatenate([base, turns])

    def motion(self, pose: Pose, q: Float[np.ndarray, "B D"], qdot: Float[np.ndarray, "B D"]) -> TreeMotion:
        if not self.free:
            return TreeMotion(self, q, qdot, *self.tree.transforms(pose, q))
        known = [found for at, value, found in self._recent if at is pose and np.array_equal(value, q)]
        if not known:
            known = [self.tree.transforms(pose, q)]
            self._recent[:] = [(pose, q.copy(), known[0]), *self._recent[:1]]
        return TreeMotion(self, q, qdot, *known[0])

    def points(self, vertices: Int[np.ndarray, " n"]) -> NodePoints:
        return NodePoints(self, self.vertices[vertices], self.vertex_nodes[vertices])

    def node_points(self, places: Float[np.ndarray, "n 3"], nodes: Int[np.ndarray, " n"]) -> NodePoints:
        """Points fixed to nodes, at places of the rest shape."""
        return NodePoints(self, places, nodes)

    def positions(self, pose: Pose, q: Float[np.ndarray, " D"]) -> Float[np.ndarray, "V 3"]:
        nodes, out = self.tree.nodes(pose, q[None])[0], np.empty_like(self.vertices)
        for node, mine, rest in self._carried:
            out[mine] = apply(nodes[node], rest)
        return out

    @cached_property
    def _carried(self) -> list[tuple[int, Int[np.ndarray, " n"], Float[np.ndarray, "n 3"]]]:
        """Nodes that carry vertices, which ones, and where these are at rest."""
        groups = [(int(node), np.flatnonzero(self.vertex_nodes == node)) for node in np.unique(self.vertex_nodes)]
        return [(node, mine, self.vertices[mine]) for node, mine in groups]

    def handles(self, pose: Pose, q: Float[np.ndarray, " D"]) -> Float[np.ndarray, "P 4 4"]:
        return self.tree.nodes(pose, q[None])[0][self.part_nodes]

    def handle_weights(self) -> Float[np.ndarray, "V P"]:
        return np.eye(len(self.part_nodes), dtype=np.float32)[self.vertex_parts]


class TreeMotion(Motion):
    """A batch of moments of a tree, from the transforms T of its nodes and the screws S of its coordinates.

    With V = Σ S_k q̇_k and the forces on the rows of a node gathered in the matrix H = fᵀTᵀ, a coordinate feels ⟨S_k, H⟩
    summed over the nodes that it moves; of the momenta, ⟨[V_k, S_k], H⟩ is ∂T/∂q_k.
    """

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
        """Twist of every node: velocities of its points (x, 1) in the world."""
        return (self.tree.ancestors @ self._speeds).reshape(self.nodes.shape)

    def node_frame(self, node: int) -> Float[np.ndarray, "4 4"]:
        """Where a node is, from rest; of the first moment."""
        return self.nodes[0, node]

    def node_twist(self, node: int) -> Float[np.ndarray, "4 4"]:
        """How it moves."""
        return self.velocity[0, node]

    @cached_property
    def y(self) -> Float[np.ndarray, "B K 3"]:
        return self.nodes[:, :, :3].swapaxes(-1, -2).reshape(len(self.q), -1, 3)

    @cached_property
    def rate(self) -> Float[np.ndarray, "B K 3"]:
        return (self.velocity @ self.nodes)[:, :, :3].swapaxes(-1, -2).reshape(len(self.q), -1, 3)

    @cached_property
    def slopes(self) -> Float[np.ndarray, "B K 3 D"]:
        (batch, dim), count = self.q.shape, self.nodes.shape[1]
        moved = self.screws[:, None, :, :3].reshape(batch, 1, 3 * dim, 4) @ self.nodes
        moved = moved.reshape(batch, count, dim, 3, 4).transpose(0, 1, 4, 3, 2) * self.tree.ancestors[:, None, None]
        return moved.reshape(batch, 4 * count, 3, dim)

    def _gathered(self, forces: Float[np.ndarray, "B K 3"]) -> Float[np.ndarray, "B D 12"]:
        """Force matrices on all that each coordinate moves."""
        batch, count = self.nodes.shape[:2]
        wrenches = forces.reshape(batch, count, 4, 3).swapaxes(-1, -2) @ self.nodes.swapaxes(-1, -2)
        return self.tree.ancestors.T @ wrenches.reshape(batch, count, 12)

    def pull(self, forces: Float[np.ndarray, "B K 3"]) -> Float[np.ndarray, "B D"]:
        gathered = self._gathered(forces)
        return (self.screws[:, :, :3].reshape(gathered.shape) * gathered).sum(axis=-1)

    @property
    def kinetic_force(self) -> Float[np.ndarray, "B D"]:
        speeds = self.velocity[:, 1:]
        if self.tree.base_dim:
            speeds = (self.tree.chains @ self._speeds).reshape(self.screws.shape)
        gathered = self._gathered(self._weighed)
        return (commutator(speeds, self.screws)[:, :, :3].reshape(gathered.shape) * gathered).sum(axis=-1)


class NodePoints(Points):
    """Points fixed to nodes of a tree, at places of the rest shape."""

    def __init__(self, mechanics: TreeMechanics, rest: Float[np.ndarray, "n 3"], nodes: Int[np.ndarray, " n"]) -> None:
        self.mechanics, self.rest, self.nodes = mechanics, rest, nodes
        self._node_count = len(mechanics.moments)

    @cached_property
    def rows(self) -> Float[np.ndarray, "n K"]:  # type: ignore[override]
        count = len(self.nodes)
        out = np.zeros((count, self._node_count, 4))
        out[np.arange(count), self.nodes, :3], out[np.arange(count), self.nodes, 3] = self.rest, 1.0
        return out.reshape(count, -1)


@dataclass(frozen=True, eq=False)
class FeatureMechanics(Mechanics):
    """An object whose vertices are linear in features of the coordinates of its space, on a base."""

    space: KinematicSpace
    features: Float[np.ndarray, "V K"] | None
    """The matrix C; ``None`` stands for the identity."""

    gram: Float[np.ndarray, "K K"] | Float[np.ndarray, " K"]
    first: Float[np.ndarray, " K"]
    unity: Float[np.ndarray, " K"]
    base: JointTree
    """No joints: only the base, free or fixed."""

    weights: Float[np.ndarray, "V H"] | None = None

    @staticmethod
    def of(space: KinematicSpace, masses: Float[np.ndarray, " V"], free: bool) -> FeatureMechanics:
        """Mechanics of a space."""
        center = masses @ space.rest.vertices / masses.sum()
        base = JointTree(np.zeros(0, dtype=np.int64), np.zeros((0, 4, 4)), free, center)
        c = space.features
        if c is None:
            return FeatureMechanics(space, None, masses, masses, space.unity, base)
        gram, first = (c.T @ (masses[:, None] * c), c.T @ masses) if space.inertia is None else space.inertia
        return FeatureMechanics(space, np.asarray(c, dtype=np.float64), gram, first, space.unity, base, space.weights)

    @property
    def part_nodes(self) -> Int[np.ndarray, " P"]:  # type: ignore[override]
        """No part is known to be rigid."""
        return np.zeros(0, dtype=np.int64)

    @property
    def dim(self) -> int:
        return self.space.dim + self.base.base_dim

    def motion(self, pose: Pose, q: Float[np.ndarray, "B D"], qdot: Float[np.ndarray, "B D"]) -> FeatureMotion:
        return FeatureMotion(self, pose, q, qdot)

    def points(self, vertices: Int[np.ndarray, " n"]) -> VertexPoints:
        return VertexPoints(self, np.asarray(vertices))

    def mixed_points(self, corners: Int[np.ndarray, "n 3"], weights: Float[np.ndarray, "n 3"]) -> Points:
        """Points of the surface between three vertices each; the nearest of these where there are no features."""
        if self.features is None:
            return self.points(corners[np.arange(len(corners)), weights.argmax(axis=1)])
        return Points(self, (self.features[corners] * weights[..., None]).sum(axis=1))

    def positions(self, pose: Pose, q: Float[np.ndarray, " D"]) -> Float[np.ndarray, "V 3"]:
        y = FeatureMotion(self, pose, q[None], np.zeros_like(q[None])).y[0]
        if self.shares is None:
            return y if self.features is None else self.features @ y
        return blended(*self.shares, y)

    @cached_property
    def shares(self) -> tuple[Float[np.ndarray, "V H"], Float[np.ndarray, "V 4"]] | None:
        """Of what follows handles: weights of each vertex, and its place (x, 1) at rest."""
        if self.weights is None:
            return None
        rest = self.space.rest.vertices
        return self.weights.astype(np.float64), np.concatenate([rest, np.ones((len(rest), 1))], axis=1)

    def handles(self, pose: Pose, q: Float[np.ndarray, " D"]) -> Float[np.ndarray, "H 4 4"] | None:
        if self.weights is None:
            return None
        rows = FeatureMotion(self, pose, q[None], np.zeros_like(q[None])).y[0].reshape(-1, 4, 3)
        return compose(rows[:, :3].swapaxes(1, 2), rows[:, 3])

    def handle_weights(self) -> Float[np.ndarray, "V H"] | None:
        return self.weights


class FeatureMotion(Motion):
    """A batch of moments of an object in features: what its space says, carried by the base."""

    mechanics: FeatureMechanics

    def __init__(
        self, mechanics: FeatureMechanics, pose: Pose, q: Float[np.ndarray, "B D"], qdot: Float[np.ndarray, "B D"]
    ) -> None:
        self.mechanics, self.q, self.qdot = mechanics, q, qdot
        self.split, self.unity = mechanics.base.base_dim, mechanics.unity[:, None]
        self.frame, self.screws = mechanics.base.base_motion(pose, q[:, : self.split])
        """Transform and screws of the base."""
        self._turn = self.frame[:, :3, :3]

    @cached_property
    def inner(self) -> Any:
        """The motion within the base."""
        q, rates = (np.ascontiguousarray(column[:, self.split :]) for column in (self.q, self.qdot))
        return self.mechanics.space.moving(q, rates)

    @cached_property
    def y(self) -> Float[np.ndarray, "B K 3"]:
        out = np.empty(self.inner.values.shape)
        carry(self.frame, self.mechanics.unity, self.inner.values, out)
        return out

    def _carried(
        self, screws: Float[np.ndarray, "... 4 4"], y: Float[np.ndarray, "... K 3"], shifts: bool = True
    ) -> Float[np.ndarray, "... K 3"]:
        """Features carried by screws: their turn, and their shift unless ``y`` holds velocities."""
        out = y @ screws[..., :3, :3].swapaxes(-1, -2)
        return out + self.unity * screws[..., None, :3, 3] if shifts else out

    @cached_property
    def slopes(self) -> Float[np.ndarray, "B K 3 D"]:
        inner = np.ascontiguousarray(self.inner.slopes.transpose(0, 2, 3, 1))
        out = np.empty((*self.y.shape, self.q.shape[1]))
        carry_slopes(self.frame, self.screws, self.mechanics.unity, self.y, inner, out)
        return out

    @cached_property
    def rate(self) -> Float[np.ndarray, "B K 3"]:
        inner = self.inner.rate @ self._turn.swapaxes(1, 2)
        if not self.split:
            return inner
        spin = (self.qdot[:, None, : self.split] @ self.screws.reshape(len(self.q), self.split, 16)).reshape(-1, 4, 4)
        return inner + self._carried(spin, self.y)

    def drawn(
        self, target: Float[np.ndarray, "K 3"], dt: float, acceleration: Float[np.ndarray, "3"]
    ) -> tuple[float, Float[np.ndarray, " D"]]:
        gap, forces = self.y - target, np.empty(self.y.shape)
        value = drawn_forces(gap, self.mechanics.weigh(gap), self.y, self.mechanics.first, acceleration, dt, forces)
        return value, self.pull(forces)[0]

    def pull(self, forces: Float[np.ndarray, "B K 3"]) -> Float[np.ndarray, "B D"]:
        outer, turned = np.empty((len(self.q), self.split)), np.empty(forces.shape)
        base_pull(self.frame, self.screws, self.mechanics.unity, self.y, forces, outer, turned)
        inner = self.inner.pull(turned)
        return np.concatenate([outer, inner], axis=1) if self.split else inner

    @property
    def kinetic_force(self) -> Float[np.ndarray, "B D"]:
        inner = self.inner.rate_pull(self._weighed @ self._turn)
        if not self.split:
            return inner
        speeds = self.screws.reshape(len(self.q), self.split, 16) * self.qdot[:, : self.split, None]
        chain = (self.mechanics.base.chains @ speeds).reshape(self.screws.shape)
        outer = self._carried(commutator(chain, self.screws), self.y[:, None])
        outer = outer + self._carried(self.screws, self.rate[:, None], shifts=False)
        inner = inner + self.inner.pull(self._weighed @ chain[:, -1, :3, :3] @ self._turn)
        return np.concatenate([contract(outer, self._weighed), inner], axis=1)


class VertexPoints(Points):
    """Some vertices of an object in features."""

    mechanics: FeatureMechanics

    def __init__(self, mechanics: FeatureMechanics, vertices: Int[np.ndarray, " n"]) -> None:
        self.mechanics, self.vertices = mechanics, vertices

    @cached_property
    def rows(self) -> Float[np.ndarray, "n K"]:  # type: ignore[override]
        assert self.mechanics.features is not None
        return self.mechanics.features[self.vertices]

    @property
    def _is_plain(self) -> bool:
        """Whether the features are the vertices themselves."""
        return self.mechanics.features is None

    @cached_property
    def shares(self) -> tuple[Float[np.ndarray, "n H"], Float[np.ndarray, "n 4"]] | None:
        """Weights and places at rest of points that follow handles."""
        shares = self.mechanics.shares
        return None if shares is None else (shares[0][self.vertices], shares[1][self.vertices])

    def take(self, chosen: Int[np.ndarray, " m"]) -> VertexPoints:
        return VertexPoints(self.mechanics, self.vertices[chosen])

    def join(self, others: Sequence[Any]) -> Any:
        if not self._is_plain:
            return super().join(others)
        return VertexPoints(self.mechanics, np.concatenate([points.vertices for points in (self, *others)]))

    def _select(self, y: Float[np.ndarray, "B K m"]) -> Float[np.ndarray, "B n m"]:
        if self._is_plain:
            return y[:, self.vertices]
        if len(self.vertices) <= FEW_POINTS or self.shares is None:
            return super()._select(y)
        return blended(*self.shares, y)

    def pull(self, motion: Motion, forces: Float[np.ndarray, "B n 3"]) -> Float[np.ndarray, "B D"]:
        if self._is_plain:
            return np.einsum("bnid,bni->bd", motion.slopes[:, self.vertices], forces)
        return super().pull(motion, forces)

    def jacobian(self, motion: Motion) -> Float[np.ndarray, "n 3 D"]:
        return motion.slopes[0, self.vertices] if self._is_plain else super().jacobian(motion)


def blended(
    weights: Float[np.ndarray, "n H"], rest: Float[np.ndarray, "n 4"], y: Float[np.ndarray, "*B K m"]
) -> Float[np.ndarray, "*B n m"]:
    """Points that follow several frames each: their rows are blended first, so that the product stays small."""
    *batch, _, width = y.shape
    own = weights @ y.reshape(*batch, weights.shape[1], 4 * width)
    return np.einsum("nk,...nki->...ni", rest, own.reshape(*batch, len(weights), 4, width))


@compiled
def drawn_forces(gap, weighed, y, first, acceleration, dt, forces):
    """The value of ``Motion.drawn`` for one moment, and its slopes by the features."""
    value = 0.0
    for k in range(y.shape[1]):
        for i in range(3):
            pulled, weight = weighed[0, k, i] / dt**2, first[k] * acceleration[i]
            value += 0.5 * gap[0, k, i] * pulled - weight * y[0, k, i]
            forces[0, k, i] = pulled - weight
    return value


@compiled
def carry(frames, unity, values, out):
    """Features ``(B, K, 3)`` carried by frames ``(B, 4, 4)``."""
    for b in range(values.shape[0]):
        for k in range(values.shape[1]):
            for i in range(3):
                out[b, k, i] = unity[k] * frames[b, i, 3]
                for j in range(3):
                    out[b, k, i] += frames[b, i, j] * values[b, k, j]


@compiled
def carry_slopes(frames, screws, unity, y, inner, out):
    """Derivatives of features that a base carries, by its own coordinates and by those within."""
    base = screws.shape[1]
    for b in range(y.shape[0]):
        for k in range(y.shape[1]):
            for i in range(3):
                for d in range(base):
                    out[b, k, i, d] = unity[k] * screws[b, d, i, 3]
                    for j in range(3):
                        out[b, k, i, d] += screws[b, d, i, j] * y[b, k, j]
                for d in range(inner.shape[3]):
                    out[b, k, i, base + d] = 0.0
                    for j in range(3):
                        out[b, k, i, base + d] += frames[b, i, j] * inner[b, k, j, d]


@compiled
def base_pull(frames, screws, unity, y, forces, outer, turned):
    """Forces on features ``(B, K, 3)`` as those on the coordinates of the base, and in its frame."""
    for b in range(y.shape[0]):
        for d in range(outer.shape[1]):
            outer[b, d] = 0.0
        for k in range(y.shape[1]):
            for i in range(3):
                turned[b, k, i] = 0.0
                for j in range(3):
                    turned[b, k, i] += forces[b, k, j] * frames[b, j, i]
            for d in range(outer.shape[1]):
                for i in range(3):
                    moved = unity[k] * screws[b, d, i, 3]
                    for j in range(3):
                        moved += screws[b, d, i, j] * y[b, k, j]
                    outer[b, d] += moved * forces[b, k, i]
