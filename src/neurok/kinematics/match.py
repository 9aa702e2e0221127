"""Inverse kinematics: the coordinates whose pose fits a target without knowing which point is which.

Gauss–Newton on nearest neighbours in both directions, damped and pulled towards the prior, from several starts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float
from scipy.spatial import cKDTree

DAMPING = 1e-3
LONGEST_STEP = 2.0
"""In standard deviations of the prior."""


@runtime_checkable
class PointDriver(Protocol):
    """What matching needs of a space: features of any surface points, and how they move."""

    def shape(self, q: Float[np.ndarray, "B D"]) -> tuple[Float[np.ndarray, "B K 3"], Float[np.ndarray, "B D K 3"]]: ...


@dataclass(frozen=True)
class MatchConfig:
    rounds: int = 25
    prior: float = 1e-5
    """Weight of |q - prior|^2 against squared distances in the unit box."""

    backward: float = 1.0
    """Weight of distances from the target to the shape."""

    target_points: int = 1500


def match_points(
    space: PointDriver,
    features: Float[np.ndarray, "N K"],
    target: Float[np.ndarray, "M 3"],
    starts: Float[np.ndarray, "S D"],
    scale: float,
    config: MatchConfig | None = None,
) -> tuple[Float[np.ndarray, " D"], float]:
    """Best coordinates and their Chamfer distance (mean of both directions, in mesh units)."""
    config = config or MatchConfig()
    tree = cKDTree(target)
    thin = target[:: max(1, len(target) // config.target_points)]
    best, best_score = starts[0], np.inf
    for start in starts:
        q, score = _descend(space, features, thin, tree, start, scale, config)
        if score < best_score:
            best, best_score = q, score
    return best, best_score


def _descend(
    space: PointDriver,
    features: Float[np.ndarray, "N K"],
    thin: Float[np.ndarray, "M 3"],
    tree: cKDTree,
    q: Float[np.ndarray, " D"],
    scale: float,
    config: MatchConfig,
) -> tuple[Float[np.ndarray, " D"], float]:
    """Damped Gauss–Newton from one start; returns the best point it has passed."""
    previous, best, best_score = np.inf, q, np.inf
    for round_number in range(config.rounds):
        values, slopes = space.shape(q[None])
        x = features @ values[0]
        forward, near = tree.query(x)
        backward, owner = cKDTree(x).query(thin)
        score = 0.5 * float(forward.mean() + backward.mean())
        if score < best_score:
            best, best_score = q, score
        if round_number > 6 and previous - score < 1e-4 * previous:
            break
        previous = score
        rows = np.concatenate([np.arange(len(x)), owner])
        residual = np.concatenate([tree.data[near] - x, thin - x[owner]]) / scale
        weight = _trust(residual)
        weight[: len(x)] /= len(x)
        weight[len(x) :] *= config.backward / len(thin)
        jacobian = np.einsum("nk,dkc->ncd", features, slopes[0], optimize=True)[rows].reshape(-1, len(q)) / scale
        weights = np.repeat(weight, 3)
        hessian = jacobian.T @ (jacobian * weights[:, None])
        slope = jacobian.T @ (residual.reshape(-1) * weights) - config.prior * q
        hessian += (config.prior + DAMPING * np.trace(hessian) / len(q)) * np.eye(len(q))
        step = np.linalg.solve(hessian, slope)
        q = q + step * min(1.0, LONGEST_STEP / (np.linalg.norm(step) + 1e-12))
    return best, best_score


def _trust(residual: Float[np.ndarray, "R 3"]) -> Float[np.ndarray, " R"]:
    """The farthest points are likely of another part and should not decide the direction.

    Most of an object often stands still, so the measure is what the moving tenth does, not the median.
    """
    length = np.linalg.norm(residual, axis=1)
    return 1.0 / (1.0 + (length / (2.0 * np.quantile(length, 0.95) + 3e-3)) ** 2)
