"""Moments of handles that move by exponentials of twists: how they move, and what forces on them do.

Nothing here is as large as all derivatives by all coordinates: forces are gathered on the six numbers of each handle's
twist first, and only those sums meet the coordinates.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from jaxtyping import Float

from neurok.geometry.twists import FRAME, Exponential, apply, apply_back, crosses


class HandleMotion:
    """A batch of moments of all handles of an object. A handle has four rows: the columns of its rotation, and where
    it takes the origin. Inside, components come first and handles and moments last."""

    def __init__(
        self,
        screws: Float[np.ndarray, "6 H D"],
        centers: Float[np.ndarray, "H 3"],
        q: Float[np.ndarray, "B D"],
        qdot: Float[np.ndarray, "B D"],
    ) -> None:
        self.screws, self.q, self.qdot = screws, q, qdot
        self.count, self.batch = screws.shape[1], len(q)
        self.centers = np.repeat(centers.T, self.batch, axis=1)
        self.motion = Exponential(self._twists(q))
        self._last: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def _twists(self, q: Float[np.ndarray, "B D"]) -> Float[np.ndarray, "6 N"]:
        return (self.screws.reshape(-1, self.screws.shape[2]) @ q.T).reshape(6, -1)

    @cached_property
    def _arms(self) -> Float[np.ndarray, "4 3 N"]:
        """The rows, the last one seen from the centre of the handle."""
        out = np.empty((4, 3, self.count * self.batch))
        out[:3] = self.motion.turns.swapaxes(0, 1)
        out[3] = self.motion.shifts - apply(self.motion.turns, self.centers)
        return out

    @cached_property
    def _twist_rates(self) -> Float[np.ndarray, "6 N"]:
        return self._twists(self.qdot)

    @cached_property
    def _jacobians(self) -> tuple[Float[np.ndarray, "6 6 N"], ...]:
        return self.motion.jacobians(self._twist_rates)

    @cached_property
    def _row_rates(self) -> Float[np.ndarray, "4 3 N"]:
        moving = apply(self._jacobians[0], self._twist_rates)
        out = np.einsum("ijn,kjn->kin", crosses(moving[:3]), self._arms)
        out[3] += moving[3:]
        return out

    @cached_property
    def values(self) -> Float[np.ndarray, "B K 3"]:
        rows = self._arms.copy()
        rows[3] += self.centers
        return self._outward(rows)

    @cached_property
    def rate(self) -> Float[np.ndarray, "B K 3"]:
        """How the rows move."""
        return self._outward(self._row_rates)

    def pull(self, forces: Float[np.ndarray, "B K 3"]) -> Float[np.ndarray, "B D"]:
        """Generalised force of forces on the rows."""
        _, wrenches = self._loaded(forces)
        return self._by_coordinates(apply_back(self._jacobians[0], wrenches))

    def rate_pull(self, forces: Float[np.ndarray, "B K 3"]) -> Float[np.ndarray, "B D"]:
        """What the change of the derivatives makes of forces on the rows."""
        inward, wrenches = self._loaded(forces)
        out = apply_back(self._jacobians[1], wrenches)
        out += apply_back(self._jacobians[0][:3], _torques(self._row_rates, inward))
        return self._by_coordinates(out)

    def _loaded(self, forces: Float[np.ndarray, "B K 3"]) -> tuple[np.ndarray, np.ndarray]:
        """Forces as they act on each handle. The last are kept: momenta and their rates ask for the same ones."""
        if self._last is None or self._last[0] is not forces:
            inward = self._inward(forces)
            wrenches = np.concatenate([_torques(self._arms, inward), inward[3]])
            self._last = (forces, inward, wrenches)
        return self._last[1:]

    @cached_property
    def slopes(self) -> Float[np.ndarray, "B D K 3"]:
        """Derivatives of the rows by each coordinate."""
        return self._chained(_carried(self._jacobians[0], self._arms))

    @cached_property
    def slope_rates(self) -> Float[np.ndarray, "B D K 3"]:
        """Change of these derivatives."""
        turning = _carried(self._jacobians[0] * _SPIN, self._row_rates)
        return self._chained(_carried(self._jacobians[1], self._arms) + turning)

    def _chained(self, by_twist: Float[np.ndarray, "6 4 3 N"]) -> Float[np.ndarray, "B D K 3"]:
        """Derivatives by coordinates, from those by twists."""
        ahead = by_twist.reshape(6, 12, self.count, self.batch).transpose(3, 2, 0, 1)
        out = np.ascontiguousarray(self.screws.transpose(1, 2, 0)) @ np.ascontiguousarray(ahead)
        return out.swapaxes(1, 2).reshape(self.batch, -1, 4 * self.count, 3)

    def _by_coordinates(self, by_twist: Float[np.ndarray, "6 N"]) -> Float[np.ndarray, "B D"]:
        return by_twist.reshape(-1, self.batch).T @ self.screws.reshape(-1, self.screws.shape[2])

    def _outward(self, rows: Float[np.ndarray, "4 3 N"]) -> Float[np.ndarray, "B K 3"]:
        return rows.reshape(4, 3, self.count, self.batch).transpose(3, 2, 0, 1).reshape(self.batch, -1, 3)

    def _inward(self, rows: Float[np.ndarray, "B K 3"]) -> Float[np.ndarray, "4 3 N"]:
        return rows.reshape(self.batch, self.count, 4, 3).transpose(2, 3, 1, 0).reshape(4, 3, -1)


_SPIN = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])[:, None, None]
"""Keeps the spin of screws and drops their velocity."""


def _torques(arms: Float[np.ndarray, "4 3 N"], forces: Float[np.ndarray, "4 3 N"]) -> Float[np.ndarray, "3 N"]:
    """Sum over rows of arm × force."""
    mixed = np.einsum("kin,kjn->ijn", forces, arms)
    return FRAME[:, :3].T @ mixed.reshape(9, -1)


def _carried(screws: Float[np.ndarray, "6 m N"], arms: Float[np.ndarray, "4 3 N"]) -> Float[np.ndarray, "m 4 3 N"]:
    """Rows as each screw moves them."""
    matrices = crosses(arms.swapaxes(0, 1).reshape(3, -1)).reshape(3, 3, 4, -1)
    out = np.einsum("imn,ijkn->mkjn", screws[:3], matrices)
    out[:, 3] += screws[3:].swapaxes(0, 1)
    return out
