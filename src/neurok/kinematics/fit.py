"""Inverse kinematics: from wanted vertex positions back to coordinates, by damped Gauss–Newton within limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from neurok.errors import NeurokError
from neurok.kinematics.space import KinematicSpace


@dataclass(frozen=True, eq=False)
class Fit:
    """The coordinates found and how well they meet the wish."""

    q: Float[np.ndarray, " D"]
    residual: float
    """Root mean square distance to the targets, in mesh units."""

    status: str
    """``ok`` when it converged, ``stalled`` when the iterations ran out."""


def fit_vertices(
    space: KinematicSpace,
    vertices: Int[np.ndarray, " n"],
    targets: Float[np.ndarray, "n 3"],
    q: Float[np.ndarray, " D"] | None = None,
    iterations: int = 60,
) -> Fit:
    """The coordinates that bring some vertices closest to targets, starting at ``q`` (rest by default).

    Coordinates that do not move the vertices stay as they are; those that pass hard limits stay there while the others
    go on.
    """
    chosen = np.asarray(vertices)
    if len(chosen) == 0 or int(chosen.max()) >= space.rest.vertex_count or int(chosen.min()) < 0:
        raise NeurokError(f"Vertices to fit must be indices from 0 to {space.rest.vertex_count - 1}.")
    rows = None if space.features is None else space.features[chosen]
    now = np.zeros(space.dim) if q is None else np.array(q, dtype=np.float64)
    free = np.ones(space.dim, dtype=bool)
    low, high = space.limits.T

    def evaluate(values: Float[np.ndarray, " d"]) -> tuple[np.ndarray, np.ndarray]:
        full = now.copy()
        full[free] = values
        y, slopes = (part[0] for part in space.shape(full[None]))
        x, moved = (y[chosen], slopes[free][:, chosen]) if rows is None else (rows @ y, rows @ slopes[free])
        return (x - targets).reshape(-1), moved.reshape(len(values), x.size).T

    while True:
        found, gaps, converged = least_squares(evaluate, now[free], iterations)
        now[free] = found
        beyond = free & ((now < low) | (now > high)) if space.has_hard_limits else np.zeros_like(free)
        if not beyond.any():
            return Fit(now, float(np.sqrt((gaps**2).sum() / len(chosen))), "ok" if converged else "stalled")
        now, free = np.clip(now, low, high), free & ~beyond


def least_squares(
    evaluate: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    start: Float[np.ndarray, " D"],
    iterations: int = 60,
) -> tuple[Float[np.ndarray, " D"], Float[np.ndarray, " R"], bool]:
    """Levenberg–Marquardt on residuals and their Jacobian: coordinates, residuals, and whether it converged."""
    q, damping = start.copy(), 1e-6
    gaps, slopes = evaluate(q)
    for _ in range(iterations):
        normal = slopes.T @ slopes
        gradient = slopes.T @ gaps
        scale = max(float(np.trace(normal)) / max(len(q), 1), 1e-300)
        if np.abs(gradient).max(initial=0.0) <= 1e-12 * scale * (1.0 + np.abs(q).max(initial=0.0)):
            return q, gaps, True
        step = -np.linalg.solve(normal + damping * scale * np.eye(len(q)), gradient)
        trial_gaps, trial_slopes = evaluate(q + step)
        if (trial_gaps**2).sum() <= (gaps**2).sum():
            q, gaps, slopes, damping = q + step, trial_gaps, trial_slopes, max(damping / 10.0, 1e-12)
            if np.abs(step).max() <= 1e-12 * (1.0 + np.abs(q).max()):
                return q, gaps, True
        else:
            damping *= 10.0
            if damping > 1e12:
                return q, gaps, True
    return q, gaps, False
