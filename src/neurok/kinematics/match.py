"""Inverse kinematics: the coordinates whose pose fits a target without knowing which point is which.

Many starts are looked at, the best few followed by Gauss–Newton on nearest neighbours in both directions, damped and
pulled towards the prior. Objects have several parts, and a start that is right for one is wrong for another: so the
best answer then trades some of its coordinates with other starts, and the better ones are followed again.
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
    descents: int = 5
    """How many starts are followed, at first and after each trade."""

    trades: int = 2


LOOKS = 300
"""Points of shape and target by which starts are compared."""


def match_points(
    space: PointDriver,
    features: Float[np.ndarray, "N K"],
    target: Float[np.ndarray, "M 3"],
    starts: Float[np.ndarray, "S D"],
    scale: float,
    config: MatchConfig | None = None,
) -> tuple[Float[np.ndarray, " D"], float]:
    """Best coordinates and their Chamfer distance (mean of both directions, in mesh units).

    The first start is always followed.
    """
    config = config or MatchConfig()
    tree = cKDTree(target)
    thin = target[:: max(1, len(target) // config.target_points)]
    rng = np.random.default_rng(0)
    best, best_score = starts[0], np.inf
    tried = starts
    for trade in range(config.trades + 1):
        chosen = _promising(space, features, thin, tree, tried, config.descents)
        if trade == 0:
            chosen = [tried[0], *[q for q in chosen if q is not tried[0]][: config.descents - 1]]
        for start in chosen:
            q, score = _descend(space, features, thin, tree, start, scale, config)
            if score < best_score:
                best, best_score = q, score
        if len(best) < 2 or len(starts) < 2:
            break
        swapped = rng.random(starts.shape) < rng.uniform(0.1, 0.6, size=(len(starts), 1))
        tried = np.where(swapped, starts[rng.permutation(len(starts))], best)
    return best, best_score


def _promising(
    space: PointDriver,
    features: Float[np.ndarray, "N K"],
    thin: Float[np.ndarray, "M 3"],
    tree: cKDTree,
    starts: Float[np.ndarray, "S D"],
    count: int,
) -> list[Float[np.ndarray, " D"]]:
    """The starts with the smallest Chamfer distance, judged by few points."""
    if len(starts) <= count:
        return list(starts)
    rows = features[:: max(1, len(features) // LOOKS)]
    few = thin[:: max(1, len(thin) // LOOKS)]
    scores = []
    for x in rows @ space.shape(starts)[0]:
        scores.append(float(tree.query(x)[0].mean() + cKDTree(x).query(few)[0].mean()))
    return [starts[k] for k in np.argsort(scores, kind="stable")[:count]]


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
