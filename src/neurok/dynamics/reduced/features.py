"""Mechanics of any space of poses, written as x = C Y(q) with constant C.

Handle-driven and linear spaces have few features, and masses enter through CᵀMC once. A space without features has the
identity for C and its vertices for Y; automatic differentiation then does what closed forms do elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from neurok.compiled import blend
from neurok.compiled import features as loops
from neurok.dynamics.reduced.equations import ClosedForm, Pose
from neurok.geometry.joint_tree import BASE_DOF, JointTree
from neurok.geometry.lie import commutator, compose, screw_twists, tidy
from neurok.kinematics.space import KinematicSpace, contract


@dataclass(frozen=True, eq=False)
class FeatureMechanics:
    """An object whose vertices are linear in features of its coordinates."""

    space: KinematicSpace
    features: Float[np.ndarray, "V K"] | None
    """The matrix C; ``None`` stands for the identity."""

    gram: Float[np.ndarray, "K K"] | Float[np.ndarray, " K"]
    """CᵀMC, or its diagonal."""

    first: Float[np.ndarray, " K"]
    """CᵀM 1."""

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
    def dim(self) -> int:
        return self.space.dim + self.base.base_dim

    @property
    def free(self) -> bool:
        return self.base.free

    @property
    def center(self) -> Float[np.ndarray, "3"]:
        return np.zeros(3) if self.base.center is None else self.base.center

    @property
    def turning(self) -> Float[np.ndarray, "1 D"]:
        """1 where a coordinate turns the object as a whole."""
        out = np.zeros((1, self.dim))
        out[0, 3 : self.base.base_dim] = 1.0
        return out

    @cached_property
    def mass(self) -> float:
        return float(self.first @ self.unity)

    @property
    def carried(self) -> Float[np.ndarray, " D"]:
        return np.full(self.dim, self.mass)

    def weigh(self, y: Float[np.ndarray, "B K n"]) -> Float[np.ndarray, "B K n"]:
        """CᵀMC applied to features."""
        return self.gram[:, None] * y if self.gram.ndim == 1 else self.gram @ y

    def motion(self, pose: Pose, q: Float[np.ndarray, "B D"], qdot: Float[np.ndarray, "B D"]) -> FeatureMotion:
        return FeatureMotion(self, pose, q, qdot)

    @property
    def closed(self) -> ClosedForm | None:
        moving = self.space.exponentials
        if moving is None or self.gram.ndim != 2:
            return None
        twists, centers = moving
        count = len(centers)
        nothing = np.zeros(count, dtype=np.int64)
        curves, generators, moves = (np.zeros((count, *shape)) for shape in ((4, 4, 4), (4, 4), (self.dim,)))
        return ClosedForm(False, nothing, nothing, curves, generators, moves, centers, twists, self.gram, self.first)

    def found(
        self,
        pose: Pose,
        q: Float[np.ndarray, " D"],
        qdot: Float[np.ndarray, " D"],
        y: Float[np.ndarray, "K 3"],
        rate: Float[np.ndarray, "K 3"],
        screws: Float[np.ndarray, "D 4 4"],
    ) -> FeatureMotion:
        motion = FeatureMotion(self, pose, q[None], qdot[None])
        motion.__dict__.update(y=y[None], rate=rate[None])
        return motion

    @cached_property
    def _corners(self) -> Float[np.ndarray, "H 8 4"] | None:
        """Of a box at rest around what follows each handle, where vertices do so by weights that sum up to 1."""
        if self.weights is None or self.weights.min() < 0.0 or not np.allclose(self.weights.sum(axis=1), 1.0):
            return None
        signs = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
        boxes = []
        for weights in self.weights.T:
            mine = self.space.rest.vertices[weights > 0.0] if weights.any() else self.center[None]
            boxes.append(np.where(signs, mine.max(axis=0), mine.min(axis=0)))
        return np.concatenate([np.stack(boxes), np.ones((len(boxes), 8, 1))], axis=2)

    @property
    def is_bounded(self) -> bool:
        """Whether it is known how far vertices move when features change."""
        return self._corners is not None

    def farthest(self, change: Float[np.ndarray, "K 3"]) -> float:
        """No vertex moves farther than this when the features change so; infinite where nothing is known."""
        return self.most_turned(change, as_a_whole=True)

    def most_turned(self, change: Float[np.ndarray, "K 3"], as_a_whole: bool = False) -> float:
        """The same against the mean of all: what turns and bends, but for ``as_a_whole`` not what only shifts."""
        if self._corners is None:
            return np.inf
        return float(np.sqrt(blend.farthest(self._corners, np.ascontiguousarray(change), as_a_whole)))

    def points(self, vertices: Int[np.ndarray, " n"]) -> FeaturePoints:
        return FeaturePoints(self, np.asarray(vertices))

    @property
    def part_nodes(self) -> Int[np.ndarray, " P"]:
        """No part is known to be rigid."""
        return np.zeros(0, dtype=np.int64)

    def node_points(self, places: Float[np.ndarray, "n 3"], nodes: Int[np.ndarray, " n"]) -> FeaturePoints:
        """There are no nodes, so the only choice of points is the empty one."""
        assert len(nodes) == 0
        return self.points(np.zeros(0, dtype=np.int64))

    def mixed_points(self, corners: Int[np.ndarray, "n 3"], weights: Float[np.ndarray, "n 3"]) -> FeaturePoints:
        """Points of the surface between three vertices each; the nearest of these where there are no features."""
        nearest = corners[np.arange(len(corners)), weights.argmax(axis=1)]
        if self.features is None:
            return self.points(nearest)
        return FeaturePoints(self, nearest, (self.features[corners] * weights[..., None]).sum(axis=1))

    def rebase(
        self, pose: Pose, q: Float[np.ndarray, " D"], p: Float[np.ndarray, " D"]
    ) -> tuple[Pose, np.ndarray, np.ndarray]:
        if not self.free:
            return pose, q, p
        nodes, before = self.base.transforms(pose, q[None, :BASE_DOF])
        new_pose, start, out = tidy(nodes[0, 0]), q.copy(), p.copy()
        start[:BASE_DOF] = 0.0
        _, after = self.base.transforms(new_pose, start[None, :BASE_DOF])
        out[:BASE_DOF] = screw_twists(after[0]) @ np.linalg.solve(screw_twists(before[0]), p[:BASE_DOF])
        return new_pose, start, out

    def positions(self, pose: Pose, q: Float[np.ndarray, " D"]) -> Float[np.ndarray, "V 3"]:
        y = FeatureMotion(self, pose, q[None], np.zeros_like(q[None])).y[0]
        if self.shares is None:
            return y if self.features is None else self.features @ y
        out = np.empty(self.space.rest.vertices.shape)
        blend.everywhere(*self.shares, y.reshape(-1, 12), out)
        return out

    @cached_property
    def shares(self) -> tuple[Float[np.ndarray, "V H"], Float[np.ndarray, "V 3"]] | None:
        """Of what follows handles: weights of each vertex, and its place at rest."""
        if self.weights is None:
            return None
        return tuple(np.ascontiguousarray(a, dtype=np.float64) for a in (self.weights, self.space.rest.vertices))  # type: ignore[return-value]

    def handles(self, pose: Pose, q: Float[np.ndarray, " D"]) -> Float[np.ndarray, "H 4 4"] | None:
        if self.weights is None:
            return None
        y = FeatureMotion(self, pose, q[None], np.zeros_like(q[None])).y[0]
        rows = y.reshape(-1, 4, 3)
        return compose(rows[:, :3].swapaxes(1, 2), rows[:, 3])

    def handle_weights(self) -> Float[np.ndarray, "V H"] | None:
        return self.weights


class FeatureMotion:
    """A batch of moments of an object in features."""

    def __init__(
        self, mechanics: FeatureMechanics, pose: Pose, q: Float[np.ndarray, "B D"], qdot: Float[np.ndarray, "B D"]
    ) -> None:
        self.mechanics, self.pose, self.q, self.qdot = mechanics, pose, q, qdot
        self.split = mechanics.base.base_dim

    @cached_property
    def _base(self) -> tuple[Float[np.ndarray, "B 4 4"], Float[np.ndarray, "B k 4 4"]]:
        return self.mechanics.base.base_motion(self.pose, self.q[:, : self.split])

    @property
    def frame(self) -> Float[np.ndarray, "B 4 4"]:
        """Transform of the base."""
        return self._base[0]

    @property
    def screws(self) -> Float[np.ndarray, "B k 4 4"]:
        """Of the base."""
        return self._base[1]

    @cached_property
    def inner(self) -> Any:
        """The motion within the base."""
        q, rates = (np.ascontiguousarray(column[:, self.split :]) for column in (self.q, self.qdot))
        return self.mechanics.space.moving(q, rates)

    @cached_property
    def y(self) -> Float[np.ndarray, "B K 3"]:
        """Features in the world's frame."""
        out = np.empty(self.inner.values.shape)
        loops.placed(self.inner.values, self.mechanics.unity, self.frame, out)
        return out

    def _move(
        self, screws: Float[np.ndarray, "B k 4 4"], y: Float[np.ndarray, "B K 3"], moves: bool = True
    ) -> np.ndarray:
        """Features carried by screws: their turn, and their shift unless ``y`` holds velocities."""
        out = y[:, None] @ screws[..., :3, :3].swapaxes(-1, -2)
        if moves:
            out = out + self.mechanics.unity[:, None] * screws[..., None, :3, 3]
        return out

    @cached_property
    def slopes(self) -> Float[np.ndarray, "B K 3 D"]:
        """∂Y/∂q, coordinates last: masses and points then take one large product."""
        inner = np.ascontiguousarray(self.inner.slopes.transpose(0, 2, 3, 1))
        return loops.slopes(inner, self.frame, self.screws, self.y, self.mechanics.unity)

    @cached_property
    def rate(self) -> Float[np.ndarray, "B K 3"]:
        """dY/dt."""
        return loops.rates(self.inner.rate, self.frame, self.screws, self.qdot, self.y, self.mechanics.unity)

    @cached_property
    def _base_motion(self) -> tuple[Float[np.ndarray, "B k K 3"], Float[np.ndarray, "B 3 3"]]:
        """How the derivatives by the base change, and the matrix of its spin."""
        speeds = self.screws.reshape(len(self.q), self.split, 16) * self.qdot[:, : self.split, None]
        own = (self.mechanics.base.chains @ speeds).reshape(self.screws.shape)
        rates = self._move(commutator(own, self.screws), self.y) + self._move(self.screws, self.rate, moves=False)
        return rates, own[:, -1, :3, :3].swapaxes(1, 2)

    @cached_property
    def slope_rates(self) -> Float[np.ndarray, "B D K 3"]:
        """d/dt of ∂Y/∂q."""
        turn = self.frame[:, None, :3, :3].swapaxes(-1, -2)
        inner = self.inner.slope_rates @ turn
        if not self.split:
            return inner
        outer, spin = self._base_motion
        return np.concatenate([outer, inner + (self.inner.slopes @ turn) @ spin[:, None]], axis=1)

    @cached_property
    def _weighed(self) -> Float[np.ndarray, "B K 3"]:
        return self.mechanics.weigh(self.rate)

    def pull(self, forces: Float[np.ndarray, "B K 3"]) -> Float[np.ndarray, "B D"]:
        """Generalised force of forces on the features."""
        outer, within = np.empty((len(self.q), self.split)), np.empty(forces.shape)
        loops.pulls(self.frame, self.screws, self.y, self.mechanics.unity, forces, outer, within)
        inner = self.inner.pull(within)
        return np.concatenate([outer, inner], axis=1) if self.split else inner

    @property
    def momentum(self) -> Float[np.ndarray, "B D"]:
        return self.pull(self._weighed)

    @property
    def kinetic(self) -> Float[np.ndarray, " B"]:
        return 0.5 * (self.rate * self._weighed).sum(axis=(1, 2))

    @property
    def kinetic_force(self) -> Float[np.ndarray, "B D"]:
        inner = self.inner.rate_pull(self._weighed @ self.frame[:, :3, :3])
        if not self.split:
            return inner
        outer, spin = self._base_motion
        inner = inner + self.inner.pull(self._weighed @ spin.swapaxes(1, 2) @ self.frame[:, :3, :3])
        return np.concatenate([contract(outer, self._weighed), inner], axis=1)

    def mass_matrices(self) -> Float[np.ndarray, "B D D"]:
        batch, dim = self.q.shape
        weighed = self.mechanics.weigh(self.slopes.reshape(batch, -1, 3 * dim)).reshape(batch, -1, dim)
        return self.slopes.reshape(batch, -1, dim).swapaxes(1, 2) @ weighed

    def bias(self) -> Float[np.ndarray, "B D"]:
        return self.pull(self.mechanics.weigh(np.einsum("bd,bdki->bki", self.qdot, self.slope_rates)))

    def field_force(self, acceleration: Float[np.ndarray, "3"]) -> Float[np.ndarray, "B D"]:
        force = self.mechanics.first[:, None] * acceleration
        return self.pull(np.repeat(force[None], len(self.q), axis=0))

    def field_energy(self, acceleration: Float[np.ndarray, "3"]) -> Float[np.ndarray, " B"]:
        return -(np.einsum("k,bki->bi", self.mechanics.first, self.y) @ acceleration)

    def coast(self, dt: float) -> Float[np.ndarray, "K 3"]:
        return self.y[0] + dt * self.rate[0]

    def drawn(
        self, target: np.ndarray, dt: float, acceleration: Float[np.ndarray, "3"]
    ) -> tuple[float, Float[np.ndarray, " D"]]:
        gap = self.y - target
        forces = self.mechanics.weigh(gap)
        value = loops.drawn(self.y, gap, forces, self.mechanics.first, acceleration, dt)
        return value, self.pull(forces)[0]


@dataclass(frozen=True, eq=False)
class FeaturePoints:
    """Some vertices of an object in features."""

    mechanics: FeatureMechanics
    vertices: Int[np.ndarray, " n"]
    mixed: Float[np.ndarray, "n K"] | None = None
    """Rows of points that are no vertices."""

    @cached_property
    def _rows(self) -> Float[np.ndarray, "n K"] | None:
        if self.mixed is not None:
            return self.mixed
        features = self.mechanics.features
        return None if features is None else features[self.vertices]

    @property
    def rows(self) -> Float[np.ndarray, "n K"]:
        assert self._rows is not None
        return self._rows

    def take(self, chosen: Int[np.ndarray, " m"]) -> FeaturePoints:
        """Some of the points."""
        return FeaturePoints(self.mechanics, self.vertices[chosen], None if self.mixed is None else self.mixed[chosen])

    def join(self, others: Sequence[FeaturePoints]) -> FeaturePoints:
        """These points, then others of the same object."""
        everyone = [self, *others]
        rows = None if self._rows is None else np.concatenate([points._rows for points in everyone])  # type: ignore[misc]
        return FeaturePoints(self.mechanics, np.concatenate([points.vertices for points in everyone]), rows)

    def _select(self, y: Float[np.ndarray, "*B K 3"]) -> Float[np.ndarray, "*B n 3"]:
        if self._shares is not None and len(y) == 1:
            out = np.empty((1, len(self.vertices), 3))
            blend.some(*self._shares, self.vertices, y[0].reshape(-1, 12), out[0])
            return out
        return y[..., self.vertices, :] if self._rows is None else self._rows @ y

    @property
    def _shares(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Of vertices that follow handles, as the compiled loops take them."""
        return self.mechanics.shares if self.mixed is None else None

    def heights(self, motion: FeatureMotion, normal: Float[np.ndarray, "3"]) -> Float[np.ndarray, " n"]:
        """How far the points are along a direction; of the first moment."""
        if self._shares is None:
            return self.positions(motion)[0] @ normal
        out = np.empty(len(self.vertices))
        blend.heights(*self._shares, self.vertices, motion.y[0].reshape(-1, 12), normal, out)
        return out

    def positions(self, motion: FeatureMotion) -> Float[np.ndarray, "B n 3"]:
        return self._select(motion.y)

    def velocities(self, motion: FeatureMotion) -> Float[np.ndarray, "B n 3"]:
        return self._select(motion.rate)

    def pull(self, motion: FeatureMotion, forces: Float[np.ndarray, "B n 3"]) -> Float[np.ndarray, "B D"]:
        if self._rows is not None:
            return motion.pull(self._rows.T @ forces)
        return np.einsum("bnid,bni->bd", motion.slopes[:, self.vertices], forces)

    def jacobian(self, motion: FeatureMotion) -> Float[np.ndarray, "n 3 D"]:
        slopes = motion.slopes[0]
        if self._rows is None:
            return slopes[self.vertices]
        return (self._rows @ slopes.reshape(len(slopes), -1)).reshape(-1, *slopes.shape[1:])
