"""Moments of handles that move by exponentials of twists: how they move, and what forces on them do.

Forces are gathered on the six numbers of each handle's twist first, and only those sums meet the coordinates; all
derivatives by all coordinates are written out only where somebody asks for them.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from jaxtyping import Float

from neurok.geometry.twists import SERIES
from neurok.kinematics import handle_loops as handles


class HandleMotion:
    """A batch of moments of all handles of an object. A handle has four rows: the columns of its rotation, and where
    it takes the origin."""

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
