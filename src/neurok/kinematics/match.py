"""Inverse kinematics: the coordinates whose pose fits a target without knowing which point is which.

Gauss–Newton on nearest neighbours in both directions, damped and pulled towards the prior, from several starts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from jaxtyping import Float
from scipy.spatial import cKDTree


class PointDriver(Protocol):
    """What matching needs of a space: features of any surface points, and how they move."""

    def shape(self, q: Float[np.ndarray, "B D"]) -> tuple[Float[np.ndarray, "B K 3"], Float[np.ndarray, "B D K 3"]]: ...


@dataclass(frozen=True)
class MatchConfig:
    rounds: int = 25
    prior: float = 1e-4
    """Weight of |q - prior|^2 against squared distances in the unit box."""

    backward: float = 1.0
    """Weight of target-to-shape distances; 0 for a partial target seen from outside would ignore them."""

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


def _descend(space, features, thin, tree, q, scale, config):  # type: ignore[no-untyped-def]
    damping, center = 1e-3, np.zeros_like(q)
    previous, best, best_score = np.inf, q, np.inf
    for _ in range(config.rounds):
        values, slopes = space.shape(q[None])
        x = features @ values[0]
        forward, near = tree.query(x)
        backward, owner = cKDTree(x).query(thin)
        score = 0.5 * (forward.mean() + backward.mean())
        if score < best_score:
            best, best_score = q, score
        if previous - score < 1e-4 * previous and _ > 6:
            break
        previous = score
        rows = np.concatenate([np.arange(len(x)), owner])
        residual = np.concatenate([tree.data[near] - x, thin - x[owner]]) / scale
        # A robust weight: far points are likely of another part, and should not decide the direction.
        length = np.linalg.norm(residual, axis=1)
        soft = np.median(length) + 1e-3
        weight = 1.0 / (1.0 + (length / (3 * soft)) ** 2)
        weight[: len(x)] /= len(x)
        weight[len(x) :] *= config.backward / len(thin)
        jacobian = np.einsum("nk,dkc->ncd", features, slopes[0], optimize=True)[rows] / scale
        flat = jacobian.reshape(-1, len(q))
        weights = np.repeat(weight, 3)
        hessian = flat.T @ (flat * weights[:, None])
        slope = flat.T @ (residual.reshape(-1) * weights) - config.prior * (q - center)
        hessian += (config.prior + damping * np.trace(hessian) / len(q)) * np.eye(len(q))
        step = np.linalg.solve(hessian, slope)
        q = q + step * min(1.0, 2.0 / (np.linalg.norm(step) + 1e-12))
    return best, best_score
