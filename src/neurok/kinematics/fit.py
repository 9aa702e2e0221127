"""From wanted vertex positions back to coordinates: damped Gauss–Newton."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

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
    """The coordinates that bring some vertices closest to targets, starting at ``q`` (rest by default)."""
    import torch

    chosen = torch.as_tensor(np.asarray(vertices))
    if len(chosen) == 0 or int(chosen.max()) >= space.rest.vertex_count or int(chosen.min()) < 0:
        raise NeurokError(f"Vertices to fit must be indices from 0 to {space.rest.vertex_count - 1}.")

    def evaluate(values: Float[np.ndarray, " D"]) -> tuple[np.ndarray, np.ndarray]:
        at = torch.as_tensor(values)
        slopes = torch.func.jacfwd(lambda c: space.decode(c)[chosen])(at)
        with torch.no_grad():
            gaps = space.decode(at)[chosen].numpy() - targets
        return gaps.reshape(-1), slopes.detach().numpy().reshape(-1, space.dim)

    start = np.zeros(space.dim) if q is None else np.array(q, dtype=np.float64)
    found, gaps, converged = least_squares(evaluate, start, iterations)
    return Fit(found, float(np.sqrt((gaps**2).sum() / len(chosen))), "ok" if converged else "stalled")


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


def reach(
    space: KinematicSpace,
    vertices: Int[np.ndarray, " n"],
    targets: Float[np.ndarray, "n 3"],
    q: Float[np.ndarray, " D"] | None = None,
    iterations: int = 60,
) -> Fit:
    """The coordinates near ``q`` (rest by default) that bring some vertices closest to targets, within hard limits.

    Coordinates that do not move the vertices stay as they are; those that reach their limits stay there while the
    others go on.
    """
    vertices = np.asarray(vertices)
    if len(vertices) == 0 or int(vertices.max()) >= space.rest.vertex_count or int(vertices.min()) < 0:
        raise NeurokError(f"Vertices to move must be indices from 0 to {space.rest.vertex_count - 1}.")
    low, high = space.limits.T
    now = np.zeros(space.dim) if q is None else np.array(q, dtype=np.float64)
    free, converged = np.ones(space.dim, dtype=bool), True
    while free.any():
        found, start, moving = now.copy(), now, free

        def evaluate(values: np.ndarray, start: np.ndarray = start, moving: np.ndarray = moving) -> Any:
            full = start.copy()
            full[moving] = values
            rows, slopes = (array[0] for array in space.shape(full[None]))
            if space.features is None:
                places, slopes = rows[vertices], slopes[moving][:, vertices]
            else:
                weights = space.features[vertices]
                places, slopes = weights @ rows, np.einsum("nk,dki->dni", weights, slopes[moving])
            return (places - targets).reshape(-1), slopes.reshape(len(slopes), -1).T

        found[free], _, converged = least_squares(evaluate, now[free], iterations)
        beyond = free & ((found < low) | (found > high)) & space.has_hard_limits
        now = np.clip(found, low, high) if space.has_hard_limits else found
        if not beyond.any():
            break
        free = free & ~beyond
    gaps = _places(space, now, vertices) - targets
    return Fit(now, float(np.sqrt((gaps**2).sum() / len(vertices))), "ok" if converged else "stalled")


def _places(
    space: KinematicSpace, q: Float[np.ndarray, " D"], vertices: Int[np.ndarray, " n"]
) -> Float[np.ndarray, "n 3"]:
    rows = space.shape(q[None])[0][0]
    return np.asarray(rows[vertices] if space.features is None else space.features[vertices] @ rows)
