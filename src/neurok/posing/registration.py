"""Registration in a space of poses: coordinates whose shape fits target points of unknown correspondence.

Many starts are compared and the best few are followed by damped Gauss–Newton on closest points in both directions. An
object has several parts, and a start that is right for one part is wrong for another. So the best answer is then
recombined with other starts, coordinate by coordinate, and the most promising mixtures are followed in turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float
from scipy.spatial import cKDTree

if TYPE_CHECKING:
    from neurok.core.mesh import Mesh


@runtime_checkable
class FeatureMap(Protocol):
    """What registration needs of a space: x = features @ Y(q), with and without derivatives of Y."""

    def shape(self, q: Float[np.ndarray, "B D"]) -> tuple[Float[np.ndarray, "B K 3"], Float[np.ndarray, "B D K 3"]]: ...

    def values(self, q: Float[np.ndarray, "B D"]) -> Float[np.ndarray, "B K 3"]: ...


@dataclass(frozen=True)
class RegistrationConfig:
    """How closest points are weighted and how the search runs. Lengths are shares of the longest side of the object."""

    iterations: int = 25
    """Gauss–Newton steps from each start; most have converged after ten."""

    prior: float = 1e-6
    """Weight of |q|² against squared distances. Small, because the tails of a learned prior are heavy."""

    forward: float = 1.0
    """Weight of distances from the shape to the target; small if the target shows only a part of the object."""

    backward: float = 1.0
    """Weight of distances from the target to the shape."""

    target_points: int = 1500
    """Points of the target that look for closest points of the shape; more cost time and change little."""

    descents: int = 8
    """How many starts are followed, at first and after each recombination."""

    recombinations: int = 2
    """How often the best answer is mixed with other starts."""

    recombined: tuple[float, float] = (0.1, 0.6)
    """Least and largest share of the coordinates that a mixture takes from another start."""

    preview_points: int = 300
    """Points of shape and target by which starts are compared before any is followed."""

    damping: float = 1e-3
    """Levenberg–Marquardt damping, as a share of the mean diagonal of the Hessian."""

    longest_step: float = 2.0
    """Longest step in coordinates. The unit is a standard deviation of a learned prior, a radian or a mesh unit."""

    least_iterations: int = 7
    """Steps before a stall is believed: correspondences change much in the first few."""

    stall: float = 1e-4
    """A start is given up when a step lowers the Chamfer distance by less than this share."""

    outlier_quantile: float = 0.95
    """Quantile of the residuals that sets the scale of the robust weights. High, because most of an object stands still
    and the median says nothing of what moves."""

    outlier_factor: float = 2.0
    """Residuals of this many such quantiles count half (Cauchy weights)."""

    outlier_floor: float = 3e-3
    """Added to that scale, so that an almost perfect fit keeps all its points: about the spacing of the samples."""


class Correspondences(NamedTuple):
    """Closest points in both directions, gathered at the points of the shape, so that each is differentiated once."""

    pull: Float[np.ndarray, "N 3"]
    """Weighted sum of the residuals at each point, in units of the scale."""

    weight: Float[np.ndarray, " N"]
    """Sum of their weights."""

    chamfer: float
    """Chamfer distance, the mean of both directions, in mesh units."""


def longest_side(mesh: Mesh) -> float:
    """Of the box along the axes of the mesh: the length that distances are shares of."""
    low, high = mesh.bounds
    return float((high - low).max())


def register_points(
    space: FeatureMap,
    features: Float[np.ndarray, "N K"],
    target: Float[np.ndarray, "M 3"],
    starts: Float[np.ndarray, "S D"],
    scale: float,
    config: RegistrationConfig | None = None,
    limits: Float[np.ndarray, "D 2"] | None = None,
) -> tuple[Float[np.ndarray, " D"], float]:
    """Best coordinates and their Chamfer distance in mesh units.

    Args:
        space: How features move with the coordinates.
        features: Of sampled points of the surface.
        target: Points to fit.
        starts: Coordinates to search from; the first is always followed.
        scale: Length that makes residuals plain numbers, usually the longest side of the object.
        config: Weights and effort.
        limits: Coordinates are clipped to these after each step.
    """
    config = config or RegistrationConfig()
    tree = cKDTree(target)
    thin = target[:: max(1, len(target) // config.target_points)]
    rng = np.random.default_rng(0)
    best, best_distance = starts[0], np.inf
    tried = starts
    for recombination in range(config.recombinations + 1):
        chosen = _most_promising(space, features, thin, tree, tried, config)
        if recombination == 0:
            chosen = [tried[0], *[q for q in chosen if q is not tried[0]][: config.descents - 1]]
        for q, distance in _descend(space, features, thin, tree, np.stack(chosen), scale, config, limits):
            if distance < best_distance:
                best, best_distance = q, distance
        if len(best) < 2 or len(starts) < 2:
            break
        swapped = rng.random(starts.shape) < rng.uniform(*config.recombined, size=(len(starts), 1))
        tried = np.where(swapped, starts[rng.permutation(len(starts))], best)
    return best, best_distance


def closest_points(
    x: Float[np.ndarray, "N 3"],
    thin: Float[np.ndarray, "M 3"],
    tree: cKDTree,
    scale: float,
    config: RegistrationConfig,
) -> Correspondences:
    """Correspondences of points ``x`` with the target in ``tree``, and of its points ``thin`` with ``x``."""
    forward, near = tree.query(x)
    backward, owner = cKDTree(x).query(thin)
    chamfer = float(config.forward * forward.mean() + backward.mean()) / (1.0 + config.forward)
    rows = np.concatenate([np.arange(len(x)), owner])
    residual = np.concatenate([tree.data[near] - x, thin - x[owner]]) / scale
    weight = _robust_weights(residual, config)
    weight[: len(x)] *= config.forward
    weight[: len(x)] /= len(x)
    weight[len(x) :] *= config.backward / len(thin)
    pull = np.zeros((len(x), 3))
    np.add.at(pull, rows, residual * weight[:, None])
    return Correspondences(pull, np.bincount(rows, weight, minlength=len(x)), chamfer)


def _most_promising(
    space: FeatureMap,
    features: Float[np.ndarray, "N K"],
    thin: Float[np.ndarray, "M 3"],
    tree: cKDTree,
    starts: Float[np.ndarray, "S D"],
    config: RegistrationConfig,
) -> list[Float[np.ndarray, " D"]]:
    """The starts with the smallest Chamfer distance by few points."""
    if len(starts) <= config.descents:
        return list(starts)
    rows = features[:: max(1, len(features) // config.preview_points)]
    few = thin[:: max(1, len(thin) // config.preview_points)]
    distances = []
    for x in rows @ space.values(starts):
        distances.append(float(config.forward * tree.query(x)[0].mean() + cKDTree(x).query(few)[0].mean()))
    return [starts[k] for k in np.argsort(distances, kind="stable")[: config.descents]]


def _descend(
    space: FeatureMap,
    features: Float[np.ndarray, "N K"],
    thin: Float[np.ndarray, "M 3"],
    tree: cKDTree,
    starts: Float[np.ndarray, "S D"],
    scale: float,
    config: RegistrationConfig,
    limits: Float[np.ndarray, "D 2"] | None,
) -> list[tuple[Float[np.ndarray, " D"], float]]:
    """Damped Gauss–Newton from all starts side by side; the best point each has passed, and its Chamfer distance."""
    q = starts.copy()
    best = [(start, np.inf) for start in starts]
    previous, active = np.full(len(q), np.inf), np.arange(len(q))
    for iteration in range(config.iterations):
        values, slopes = space.shape(q[active])
        remaining = []
        for k, value, slope in zip(active, values, slopes, strict=True):
            step, distance = _newton_step(features, value, slope, thin, tree, q[k], scale, config)
            if distance < best[k][1]:
                best[k] = (q[k].copy(), distance)
            if iteration >= config.least_iterations and previous[k] - distance < config.stall * previous[k]:
                continue
            previous[k] = distance
            q[k] += step * min(1.0, config.longest_step / (np.linalg.norm(step) + 1e-12))
            if limits is not None:
                q[k] = np.clip(q[k], limits[:, 0], limits[:, 1])
            remaining.append(k)
        active = np.array(remaining, dtype=int)
        if not len(active):
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
    config: RegistrationConfig,
) -> tuple[Float[np.ndarray, " D"], float]:
    """One step, and the Chamfer distance before it."""
    found = closest_points(features @ value, thin, tree, scale, config)
    jacobian = (features @ slope).transpose(1, 2, 0).reshape(-1, len(q)) / scale
    hessian = jacobian.T @ (jacobian * np.repeat(found.weight, 3)[:, None])
    gradient = jacobian.T @ found.pull.reshape(-1) - config.prior * q
    hessian += (config.prior + config.damping * np.trace(hessian) / len(q)) * np.eye(len(q))
    return np.linalg.solve(hessian, gradient), found.chamfer


def _robust_weights(residual: Float[np.ndarray, "R 3"], config: RegistrationConfig) -> Float[np.ndarray, " R"]:
    """Cauchy weights: the farthest closest points likely belong to another part and should not decide the direction."""
    length = np.linalg.norm(residual, axis=1)
    scale = config.outlier_factor * np.quantile(length, config.outlier_quantile) + config.outlier_floor
    return 1.0 / (1.0 + (length / scale) ** 2)
