"""A space of screws: every handle of a mesh moves by the exponential of a sum of twists, one for each coordinate.

It serves what bends. Its derivatives have a closed form and cost microseconds. Along a chain of joints twists would
have to be composed, not added; rigid bodies are therefore joints, not screws.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float

from neurok.core.mesh import Mesh
from neurok.geometry.twists import SERIES
from neurok.kinematics import handle_loops as handles
from neurok.kinematics.space import KinematicSpace, lifted_features

SHARED = 1e-6
"""A vertex that follows a handle to a smaller share does not follow it: round-off of the weights."""


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
class ScrewSpace(KinematicSpace):
    """Poses of one mesh: handles move by exp(Σ_d q_d screws_hd); ``q = 0`` is the mesh as it is."""

    rest: Mesh
    weights: Float[np.ndarray, "V H"] = field()
    """How much each vertex follows each handle."""

    centers: Float[np.ndarray, "H 3"]
    """Where the twists of each handle are taken, in mesh units."""

    screws: Float[np.ndarray, "H 6 D"]
    facts: dict[str, float] = field(default_factory=dict)
    """Figures about how it was found, for reports."""

    @property
    def dim(self) -> int:
        return self.screws.shape[2]

    @property
    def kind(self) -> str:
        return "screws"

    @cached_property
    def bends(self) -> Bool[np.ndarray, " V"]:
        """Vertices of handles that share a surface with others; a component that follows one handle is rigid."""
        main = self.weights.argmax(axis=1)
        shared = np.any((self.weights > SHARED) & (self.weights < 1.0 - SHARED), axis=0, keepdims=True)[0]
        ends = main[self.rest.faces]
        shared[np.unique(ends[(ends != ends[:, :1]).any(axis=1)])] = True
        return np.asarray(shared)[main]

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

    def slopes_at_rest(self) -> Float[np.ndarray, "D K 3"]:
        return self.shape(np.zeros((1, self.dim)))[1][0]

    @cached_property
    def _screws_first(self) -> Float[np.ndarray, "6 H D"]:
        return np.ascontiguousarray(self.screws.swapaxes(0, 1))
