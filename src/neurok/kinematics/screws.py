"""A space of screws: every handle of a mesh moves by the exponential of a sum of twists, one for each coordinate.

It serves what bends. A network says once, for a mesh, how each coordinate twists each handle; after that the space is a
closed form: its derivatives cost microseconds, and no step of a simulation asks a network. Along a chain of joints
twists would have to be composed, not added; rigid bodies are therefore joints, not screws.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.special import stdtr, stdtrit

from neurok.core.mesh import Mesh
from neurok.geometry.twists import SERIES, common_twist
from neurok.kinematics import handle_loops as handles
from neurok.kinematics.space import KinematicSpace, lifted_features
from neurok.learned.subject import Patches

SHARED = 1e-6
"""A vertex that follows a handle to a smaller share does not follow it: round-off of the weights."""


ReductionMode = Literal["gram", "paper", "none"]
MAX_DIMENSION = 16
"""Most coordinates of a learned space: a step of a simulation costs as much."""

ENERGY = 0.9999
"""Share of the spectrum that coordinates shall hold, if their number allows."""


# How a space of screws is drawn from and cut down.
PRIOR_REACH = 6.0
"""How far from the mean of the prior coordinates are plausible [standard deviations]. The tails are heavy: most drawers
are shut, and an open one is far away. Seen on training objects."""

TAIL_FREEDOM = 4.0  # Degrees of freedom of the tails, those that the handle model is taught with
MOVED_SHARE = 0.5
"""Share of the coordinates that a sample moves: half of the states that training shows move only some joints."""

LIMIT_SOFTNESS = 0.5  # How far a coordinate may pass its limit under the object's weight [standard deviations]; by eye
MINOR_ENERGY = 0.2
"""Coordinates whose energy is below this share of the main one of every handle they move are left out; chosen on
training objects."""

FAINT_ENERGY = 0.01
"""Handles with less than this share of the energy of the liveliest one have no say in that; the same."""

GOOD_FIT = 0.3  # A closed form that misses more than this share of the motion of its network is told to be approximate


class HandleMotion:
    """A batch of moments of handles that move by exponentials of twists: how they move, and what forces on them do.

    A handle has four rows: the columns of its rotation, and where it takes the origin. Forces are gathered on the six
    numbers of each handle's twist first, and only those sums meet the coordinates; derivatives by all coordinates are
    written out only where somebody asks for them.
    """

    def __init__(
        self,
        screws: Float[np.ndarray, "6 H D"],
        centers: Float[np.ndarray, "H 3"],
        q: Float[np.ndarray, "B D"],
        qdot: Float[np.ndarray, "B D"],
    ) -> None:
        self.screws, self.centers, self.q, self.qdot = screws, centers, q, qdot
        batch, count = len(q), len(centers)
        self._arms, self._rates = np.empty((2, batch, count, 4, 3))
        self._jacobians, self._changes = np.empty((2, batch, count, 6, 6))
        self.values = np.empty((batch, 4 * count, 3))
        found = self._arms, self.values, self._rates, self._jacobians, self._changes
        handles.moments(SERIES, screws, centers, q, qdot, *found)

    @property
    def rate(self) -> Float[np.ndarray, "B K 3"]:
        """How the rows move."""
        return self._rates.reshape(self.values.shape)

    def pull(self, forces: Float[np.ndarray, "B K 3"]) -> Float[np.ndarray, "B D"]:
        """Generalised force of forces on the rows."""
        out = np.zeros(self.q.shape)
        handles.pull(self.screws, self._arms, self._jacobians, forces, out)
        return out

    def rate_pull(self, forces: Float[np.ndarray, "B K 3"]) -> Float[np.ndarray, "B D"]:
        """What the change of the derivatives makes of forces on the rows."""
        return handles.rate_pull(self.screws, self._arms, self._rates, self._jacobians, self._changes, forces)

    @cached_property
    def slopes(self) -> Float[np.ndarray, "B D K 3"]:
        """Derivatives of the rows by each coordinate; coordinates are last in memory."""
        return self._slopes([(self._arms, self._jacobians)])

    @cached_property
    def slope_rates(self) -> Float[np.ndarray, "B D K 3"]:
        """Change of these derivatives."""
        spins = self._jacobians.copy()
        spins[:, :, 3:] = 0.0
        return self._slopes([(self._arms, self._changes), (self._rates, spins)])

    def _slopes(self, pairs: list[tuple[np.ndarray, np.ndarray]]) -> Float[np.ndarray, "B D K 3"]:
        out = np.zeros((*self.values.shape, self.q.shape[1]))
        for arms, jacobians in pairs:
            handles.slopes(self.screws, arms, jacobians, out)
        return out.transpose(0, 3, 1, 2)


@dataclass(frozen=True, eq=False)
class Reduction:
    """The few directions of a latent space along which an object moves (active subspace method).

    They have unit length, and are orthonormal unless they are those of joints.
    """

    basis: Float[np.ndarray, "Z D"]
    spectrum: Float[np.ndarray, " S"]
    """Eigenvalues, largest first: mean squared displacement per unit step along each direction."""

    captured: float
    """Share of the spectrum that the basis holds."""


@dataclass(frozen=True, eq=False)
class ScrewSpace(KinematicSpace):
    """The plausible poses of one mesh: handles move by exp(Σ_d q_d screws_hd); ``q = 0`` is the mesh as it is."""

    rest: Mesh
    weights: Float[np.ndarray, "V H"] = field()
    """How much each vertex follows each handle."""

    centers: Float[np.ndarray, "H 3"]
    """Where the twists of each handle are taken, in mesh units."""

    screws: Float[np.ndarray, "H 6 D"]
    middle: Float[np.ndarray, " D"]
    """Mean of the prior; around it coordinates have the spread of N(0, I)."""

    reduction: Reduction
    facts: dict[str, float] = field(default_factory=dict)
    """``coordinates``; ``captured`` share of the motion; ``point_error`` if it stands in for another network: how far
    points of left-out states lie from where they belong, as a share of their displacement."""

    @property
    def dim(self) -> int:
        return self.screws.shape[2]

    @cached_property
    def limits(self) -> Float[np.ndarray, "D 2"]:
        """The high-density region of the prior; always with the rest state."""
        wide = self.middle[:, None] + [-PRIOR_REACH, PRIOR_REACH]
        return np.stack([np.minimum(wide[:, 0], 0.0), np.maximum(wide[:, 1], 0.0)], axis=1)

    @property
    def kind(self) -> str:
        return "learned"

    @property
    def limit_softness(self) -> float:
        return LIMIT_SOFTNESS

    @property
    def starts_along_axes(self) -> bool:
        """One number often opens one door."""
        return True

    @property
    def learned_bends(self) -> ScrewSpace | None:
        return self if self.dim else None

    @property
    def caution(self) -> str:
        """Where it stands in for a network: whether it holds nearly all of what that finds plausible."""
        error = self.facts.get("point_error", 0.0)
        doubt = f"The learned poses of this object are approximate: off by {error:.0%} of the motion."
        return doubt if error > GOOD_FIT else ""

    @cached_property
    def bends(self) -> Bool[np.ndarray, " V"]:
        """Vertices of handles that share a surface with others; a component that follows one handle is rigid."""
        main = self.weights.argmax(axis=1)
        shared = np.any((self.weights > SHARED) & (self.weights < 1.0 - SHARED), axis=0, keepdims=True)[0]
        ends = main[self.rest.faces]
        shared[np.unique(ends[(ends != ends[:, :1]).any(axis=1)])] = True
        return np.asarray(shared)[main]

    def sample(self, count: int, seed: int = 0) -> Float[np.ndarray, "N D"]:
        """Coordinates of plausible states: some of them, at least one, moved, the others at rest."""
        rng = np.random.default_rng(seed)
        moved = rng.random((count, self.dim)) < MOVED_SHARE
        if self.dim:
            moved[np.arange(count), rng.integers(self.dim, size=count)] = True
        low, high = stdtr(TAIL_FREEDOM, [-PRIOR_REACH, PRIOR_REACH])
        share = rng.random((count, self.dim))
        return np.where(moved, self.middle + stdtrit(TAIL_FREEDOM, low + (high - low) * share), 0.0)

    def spread(self, count: int, seed: int = 0) -> Float[np.ndarray, "N D"]:
        """Coordinates all over the prior, for averages over it."""
        return self.middle + np.random.default_rng(seed).normal(size=(count, self.dim))

    @cached_property
    def features(self) -> Float[np.ndarray, "V K"]:
        """Weights times homogeneous rest positions: x = features @ Y(q)."""
        return lifted_features(self.rest.vertices, self.weights)

    @cached_property
    def unity(self) -> Float[np.ndarray, " K"]:
        return np.tile([0.0, 0.0, 0.0, 1.0], len(self.centers))

    def moving(self, q: Float[np.ndarray, "B D"], qdot: Float[np.ndarray, "B D"]) -> HandleMotion:
        """Moments of the handles: what a simulation asks for, without ever writing out all derivatives."""
        return HandleMotion(self._screws_first, self.centers, q, qdot)

    def values(self, q: Float[np.ndarray, "B D"]) -> Float[np.ndarray, "B K 3"]:
        """Transforms of the handles, stacked, without their derivatives."""
        return self.moving(q, np.zeros_like(q)).values

    def shape(self, q: Float[np.ndarray, "B D"]) -> tuple[Float[np.ndarray, "B K 3"], Float[np.ndarray, "B D K 3"]]:
        """Transforms of the handles, stacked, and their derivatives."""
        motion = self.moving(q, np.zeros_like(q))
        return motion.values, motion.slopes

    def shape_rate(self, q: Float[np.ndarray, "B D"], qdot: Float[np.ndarray, "B D"]) -> Float[np.ndarray, "B D K 3"]:
        """Change of the derivatives while ``q`` moves with ``qdot``."""
        return self.moving(q, qdot).slope_rates

    def twists(self, q: Float[np.ndarray, "B D"]) -> Float[np.ndarray, "B H 6"]:
        """Twist of every handle about its centre."""
        return (q @ self.screws.reshape(-1, self.dim).T).reshape(len(q), -1, 6)

    def reduced(self, reduction: Reduction) -> ScrewSpace:
        """The same space along fewer directions."""
        basis = reduction.basis
        facts = {**self.facts, "coordinates": float(basis.shape[1]), "captured": reduction.captured}
        return replace(self, screws=self.screws @ basis, middle=self.middle @ basis, reduction=reduction, facts=facts)

    def stiffened(self, patches: Patches, bodies: Int[np.ndarray, " H"]) -> ScrewSpace:
        """The same space with one motion for all handles of a body, the nearest to all of theirs.

        Small disagreements between the handles of a door would show as dents.
        """
        out, radii = self.screws.copy(), patch_radii(patches, self.centers)
        for body in np.unique(bodies):
            rows = np.flatnonzero(bodies == body)
            if len(rows) > 1:
                out[rows] = common_twist(self.screws[rows], self.centers[rows], patches.areas[rows], radii[rows])
        return replace(self, screws=out)

    def slopes_at_rest(self) -> Float[np.ndarray, "D K 3"]:
        return self.shape(np.zeros((1, self.dim)))[1][0]

    def conditioned(self, covariance: Float[np.ndarray, "D D"]) -> ScrewSpace:
        """The same space with the prior N(covariance @ middle, covariance), in coordinates of unit variance again."""
        values, vectors = np.linalg.eigh(covariance)
        root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        return replace(self, screws=self.screws @ root, middle=root @ self.middle)

    def principal(self, patches: Patches) -> ScrewSpace:
        """The same space without coordinates that are minor for every handle they move, beside its main motion."""
        energy = self.energies(patches)
        main = energy.max(axis=1, keepdims=True)
        kept = (energy >= MINOR_ENERGY * main) & (main >= FAINT_ENERGY * main.max())
        rows = np.flatnonzero(kept.any(axis=0) | (np.arange(self.dim) == energy.sum(axis=0).argmax()))
        return self.along(rows, float(energy[:, rows].sum() / max(float(energy.sum()), 1e-300)))

    def only(self, chosen: Bool[np.ndarray, " H"]) -> ScrewSpace:
        """The same space in which all other handles stand still."""
        return replace(self, screws=self.screws * chosen[:, None, None])

    def liveliest(self, patches: Patches) -> ScrewSpace:
        """The same space without coordinates that hardly move anything, and with no more than a space may have."""
        each = self.energies(patches)
        energy = (patches.areas[: len(each)] @ each) * (each.max(axis=0) > FAINT_ENERGY * each.max())
        lost = float(energy.sum()) * (1.0 / max(self.reduction.captured, 1e-12) - 1.0)
        order = np.argsort(-energy, kind="stable")[:MAX_DIMENSION]
        order = order[energy[order] > 0]
        return self.along(order, float(energy[order].sum() / max(energy.sum() + lost, 1e-300)))

    def along(self, columns: Int[np.ndarray, " K"], share: float) -> ScrewSpace:
        """The same space along some of its coordinates, which hold a share of the motion."""
        basis, captured = self.reduction.basis[:, columns], min(1.0, share) * self.reduction.captured
        facts = {**self.facts, "coordinates": float(len(columns)), "captured": captured}
        return replace(
            self,
            screws=self.screws[:, :, columns],
            middle=self.middle[columns],
            reduction=replace(self.reduction, basis=basis, captured=captured),
            facts=facts,
        )

    def energies(self, patches: Patches) -> Float[np.ndarray, "H D"]:
        """Mean square of how far each coordinate moves each handle."""
        radii = patch_radii(patches, self.centers)[:, None]
        return (radii**2 * (self.screws[:, :3] ** 2).sum(axis=1)) + (self.screws[:, 3:] ** 2).sum(axis=1)

    def merged(self, bodies: Int[np.ndarray, " H"]) -> ScrewSpace:
        """The same poses with one handle for each body, of handles that move as one; all that stand still are one body.

        A step of a simulation costs as much as there are handles.
        """
        still = ~self.screws.any(axis=(1, 2))
        labels = np.unique(np.where(still, -1, bodies), return_inverse=True)[1]
        first = np.array([np.flatnonzero(labels == body)[0] for body in range(labels.max() + 1)])
        shares = (labels[:, None] == np.arange(len(first))).astype(np.float64)
        return replace(self, weights=self.weights @ shares, centers=self.centers[first], screws=self.screws[first])

    @cached_property
    def _screws_first(self) -> Float[np.ndarray, "6 H D"]:
        return np.ascontiguousarray(self.screws.swapaxes(0, 1))


def patch_radii(patches: Patches, centers: Float[np.ndarray, "H 3"]) -> Float[np.ndarray, " H"]:
    """How far the points of each patch lie from its centre."""
    return np.sqrt(((patches.points[: len(centers)] - centers[:, None]) ** 2).sum(axis=-1).mean(axis=1))


def whole(size: int) -> Reduction:
    """No reduction at all."""
    return Reduction(np.eye(size), np.ones(size), 1.0)


def leading(matrix: Float[np.ndarray, "Z Z"], dim: int | None) -> Reduction:
    """Leading eigenvectors of the mean square of the derivatives; by default as many as hold 99.99 %, at most 16."""
    values, vectors = np.linalg.eigh(matrix)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    share = np.cumsum(values) / max(float(values.sum()), 1e-300)
    keep = dim if dim is not None else int(np.clip(np.searchsorted(share, ENERGY) + 1, 1, MAX_DIMENSION))
    keep = min(keep, len(values))
    signs = np.sign(vectors[np.abs(vectors[:, :keep]).argmax(axis=0), np.arange(keep)])
    return Reduction(np.ascontiguousarray(vectors[:, :keep] * signs), values, float(share[keep - 1]))


def parted(basis: Float[np.ndarray, "Z D"], forms: Float[np.ndarray, "H Z Z"]) -> Float[np.ndarray, "Z D"]:
    """The same span, turned so that each coordinate moves as few handles as can be: one door, not a mix of two.

    It maximises Σ (bᵀ A_h b)² over handles and coordinates, with A_h the motion of handle h as a quadratic form: a
    convex function of an orthonormal basis, which climbs when its gradient is replaced by the nearest such basis.
    """
    inner = np.einsum("zi,hzy,yj->hij", basis, forms, basis, optimize=True)
    turn, reached = np.eye(basis.shape[1]), 0.0
    for _ in range(200):
        pulls = inner @ turn
        moved = (pulls * turn).sum(axis=1)
        score = float((moved**2).sum())
        if score <= reached * (1 + 1e-9):
            break
        reached = score
        u, _, vt = np.linalg.svd(np.einsum("hd,hid->id", moved, pulls))
        turn = u @ vt
    return basis @ turn
