"""A hand on the surface: inverse kinematics from where the object is now, quick enough for every picture."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from neurok.kinematics.fit import least_squares
from neurok.kinematics.space import KinematicSpace


def reach(
    space: KinematicSpace,
    q: Float[np.ndarray, " D"],
    vertex: int,
    target: Float[np.ndarray, "3"],
    iterations: int,
) -> Float[np.ndarray, " D"]:
    """Coordinates near ``q`` that bring a vertex closest to a place, within the limits.

    Coordinates that do not move the vertex stay as they are; those that reach their limits stay there while the others
    go on.
    """
    free = np.ones(space.dim, dtype=bool)
    low, high = space.limits.T
    now = np.array(q, dtype=np.float64)
    for _ in range(space.dim + 1):

        def evaluate(
            values: np.ndarray, now: np.ndarray = now, free: np.ndarray = free
        ) -> tuple[np.ndarray, np.ndarray]:
            full = now.copy()
            full[free] = values
            rows, slopes = space.shape(full[None])
            if space.features is None:
                return rows[0, vertex] - target, slopes[0][free, vertex].T
            weights = space.features[vertex]
            return weights @ rows[0] - target, np.einsum("k,dki->id", weights, slopes[0][free])

        if not free.any():
            break
        found = now.copy()
        found[free] = least_squares(evaluate, now[free], iterations)[0]
        beyond = free & ((found < low) | (found > high))
        now = np.clip(found, low, high) if space.has_hard_limits else found
        if not beyond.any() or not space.has_hard_limits:
            break
        free = free & ~beyond
    return now
