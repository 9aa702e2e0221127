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


@runtime_checkable
class QuickDriver(Protocol):
    """A space that saves much by leaving derivatives out."""

    def values(self, q: Float[np.ndarray, "B D"]) -> Float[np.ndarray, "B K 3"]: ...


@dataclass(frozen=True)
class MatchConfig:
    rounds: int = 25
    prior: float = 1e-6
    """Weight of |q - prior|^2 against squared distances in the unit box."""

    forward: float = 1.0
    """Weight of distances from the shape to the target: little if the target shows only a part of the object."""

    backward: float = 1.0
    """Weight of distances from the target to the shape."""

    target_points: int = 1500
    descents: int = 8
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
    limits: Float[np.ndarray, "D 2"] | None = None,
) -> tuple[Float[np.ndarray, " D"], float]:
    """Best coordinates and their Chamfer distance (mean of both directions, in mesh units).

    The first start is always followed. Coordinates stay within limits, if there are any.
    """
    config = config or MatchConfig()
    tree = cKDTree(target)
    thin = target[:: max(1, len(target) // config.target_points)]
    rng = np.random.default_rng(0)
    best, best_score = starts[0], np.inf
    tried = starts
    for trade in range(config.trades + 1):
        chosen = _promising(space, features, thin, tree, tried, config)
        if trade == 0:
            chosen = [tried[0], *[q for q in chosen if q is not tried[0]][: config.descents - 1]]
        for q, score in _descend(space, features, thin, tree, np.stack(chosen), scale, config, limits):
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
    config: MatchConfig,
) -> list[Float[np.ndarray, " D"]]:
    """The starts with the smallest Chamfer distance, judged by few points."""
    if len(starts) <= config.descents:
        return list(starts)
    rows = features[:: max(1, len(features) // LOOKS)]
    few = thin[:: max(1, len(thin) // LOOKS)]
    scores = []
    values = space.values(starts) if isinstance(space, QuickDriver) else space.shape(starts)[0]
    for x in rows @ values:
        scores.append(float(config.forward * tree.query(x)[0].mean() + cKDTree(x).query(few)[0].mean()))
    return [starts[k] for k in np.argsort(scores, kind="stable")[: config.descents]]


def _descend(
    space: PointDriver,
    features: Float[np.ndarray, "N K"],
    thin: Float[np.ndarray, "M 3"],
    tree: cKDTree,
    starts: Float[np.ndarray, "S D"],
    scale: float,
    config: MatchConfig,
    limits: Float[np.ndarray, "D 2"] | None,
) -> list[tuple[Float[np.ndarray, " D"], float]]:
    """Damped Gauss–Newton from all starts side by side; the best point each has passed, and its Chamfer distance."""
    q = starts.copy()
    best = [(start, np.inf) for start in starts]
    previous, alive = np.full(len(q), np.inf), np.arange(len(q))
    for round_number in range(config.rounds):
        values, slopes = space.shape(q[alive])
        going = []
        for k, value, slope in zip(alive, values, slopes, strict=True):
            step, score = _newton_step(features, value, slope, thin, tree, q[k], scale, config)
            if score < best[k][1]:
                best[k] = (q[k].copy(), score)
            if round_number > 6 and previous[k] - score < 1e-4 * previous[k]:
                continue
            previous[k] = score
            q[k] += step * min(1.0, LONGEST_STEP / (np.linalg.norm(step) + 1e-12))
            if limits is not None:
                q[k] = np.clip(q[k], limits[:, 0], limits[:, 1])
            going.append(k)
        alive = np.array(going, dtype=int)
        if not len(alive):
            break
    return best


def _newton_step(
    features: Float[np.ndarray, "N K"],
    value: Float[np.ndarray, "K 3"],
    slope: Float[np.ndarray, "D K 3"],
    thin: Float[np.ndarray, "M 3"],
    tree: cKDTree,
    q: Float[np.ndarray, " D"],
    scale: float,
    config: MatchConfig,
) -> tuple[Float[np.ndarray, " D"], float]:
    """One step, and the Chamfer distance before it."""
    x = features @ value
    pull, force, score = gather_pulls(x, thin, tree, scale, config)
    jacobian = (features @ slope).transpose(1, 2, 0).reshape(-1, len(q)) / scale
    hessian = jacobian.T @ (jacobian * np.repeat(force, 3)[:, None])
    drive = jacobian.T @ pull.reshape(-1) - config.prior * q
    hessian += (config.prior + DAMPING * np.trace(hessian) / len(q)) * np.eye(len(q))
    return np.linalg.solve(hessian, drive), score


def gather_pulls(
    x: Float[np.ndarray, "N 3"], thin: Float[np.ndarray, "M 3"], tree: cKDTree, scale: float, config: MatchConfig
) -> tuple[Float[np.ndarray, "N 3"], Float[np.ndarray, " N"], float]:
    """What nearest neighbours in both directions ask of each point of the shape, how firmly, and the Chamfer distance.

    Each point gathers the pulls on it, so that its derivative is formed once.
    """
    forward, near = tree.query(x)
    backward, owner = cKDTree(x).query(thin)
    score = float(config.forward * forward.mean() + backward.mean()) / (1.0 + config.forward)
    rows = np.concatenate([np.arange(len(x)), owner])
    residual = np.concatenate([tree.data[near] - x, thin - x[owner]]) / scale
    weight = _trust(residual)
    weight[: len(x)] *= config.forward
    weight[: len(x)] /= len(x)
    weight[len(x) :] *= config.backward / len(thin)
    pull = np.zeros((len(x), 3))
    np.add.at(pull, rows, residual * weight[:, None])
    return pull, np.bincount(rows, weight, minlength=len(x)), score


def _trust(residual: Float[np.ndarray, "R 3"]) -> Float[np.ndarray, " R"]:
    """The farthest points are likely of another part and should not decide the direction.

    Most of an object often stands still, so the measure is what the moving tenth does, not the median.
    """
    length = np.linalg.norm(residual, axis=1)
    return 1.0 / (1.0 + (length / (2.0 * np.quantile(length, 0.95) + 3e-3)) ** 2)
