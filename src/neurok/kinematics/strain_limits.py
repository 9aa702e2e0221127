"""Limits of all coordinates together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True, eq=False)
class StrainLimits:
    """Vectors that are linear in the coordinates, none of which should be longer than 1."""

    rows: Float[np.ndarray, "R 3 D"]
    steepness: Float[np.ndarray, " R"]
    """A vector that is longer than 1 by d costs steepness · d³ / 3 [J]."""

    fall: Float[np.ndarray, " R"]
    """How the weight of the object speeds up the length of each vector [1/s²]."""

    def lengths(self, q: Float[np.ndarray, "B D"]) -> Float[np.ndarray, "B R"]:
        """Of the vectors."""
        return lengths_of(self.rows, q)

    def reach(self) -> Float[np.ndarray, " D"]:
        """How far each coordinate goes alone."""
        longest = self.lengths(np.eye(self.rows.shape[2])).max(axis=1, initial=0.0)
        return 1.0 / np.maximum(longest, 1e-12)

    def beside(self, before: int, after: int) -> StrainLimits:
        """The same with more coordinates before and after."""
        return StrainLimits(np.pad(self.rows, ((0, 0), (0, 0), (before, after))), self.steepness, self.fall)


def lengths_of(rows: Float[np.ndarray, "R 3 D"], q: Float[np.ndarray, "B D"]) -> Float[np.ndarray, "B R"]:
    """Of vectors that are linear in the coordinates."""
    return np.linalg.norm((q @ rows.reshape(-1, rows.shape[2]).T).reshape(len(q), -1, 3), axis=2)
