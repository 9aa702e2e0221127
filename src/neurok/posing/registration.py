"""Registration in a space of poses: coordinates whose shape fits target points of unknown correspondence.

Many starts are compared and the best few are followed by damped Gauss–Newton on closest points in both directions. An
object has several parts, and a start that is right for one part is wrong for another. So the best answer is then
recombined with other starts, coordinate by coordinate, and the most promising mixtures are followed in turn. All this
is done with few points; the best answers are then followed with all of them. Where one is as close to the target as
samples of the true shape would be, the search ends. Fits that leave the space are compared by points that none of them
has used (``HoldOut``).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float
from scipy.sparse import csr_array
from scipy.spatial import cKDTree

from neurok.core.mesh import Mesh
from neurok.geometry.sampling import SurfaceSamples, sample_surface


@runtime_checkable
class FeatureMap(Protocol):
    """What registration needs of a space: x = features @ Y(q), with and without derivatives of Y."""

    @property
    def steps_per_slopes(self) -> int: ...

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

    mixtures: int = 96
    """Mixtures that are compared in each recombination."""

    preview_points: int = 600
    """Points of shape and target by which starts are compared before any is followed ..."""

    coarse_points: int = 750
    """... and with which they are followed."""

    polished: int = 4
    """How many of the answers are then followed with all points."""

    polish_iterations: int = 3
    """Steps before a stall is believed there: correspondences hardly change any more."""

    close: float = 1.05
    """A shape is as close as can be told when its mean distances both ways are at most so many of those between samples
    of one surface, which random samples of this number estimate to about 0.02 ..."""

    farthest: float = 4.0
    """... and no point is farther than so many of them: of 1500 random samples the farthest is at about 3."""

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


class Registration(NamedTuple):
    """The answer of a search."""

    q: Float[np.ndarray, " D"]
    distance: float
    """Chamfer distance in mesh units."""

    is_close: bool
    """Whether the shape is as close to the target as samples of the true shape would be."""


def register_points(
    space: FeatureMap,
    features: Float[np.ndarray, "N K"],
    target: Float[np.ndarray, "M 3"],
    starts: Float[np.ndarray, "S D"],
    scale: float,
    config: RegistrationConfig | None = None,
    limits: Float[np.ndarray, "D 2"] | None = None,
) -> Registration:
    """The best coordinates.

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
    thin = target[:: max(1, len(target) // config.target_points)]
    task = _Task(space, csr_array(features), thin, cKDTree(target), scale, config, limits)
    coarse, spacing = task.thinned(config.coarse_points), task.spacing(starts[0])
    rng = np.random.default_rng(0)
    found: list[tuple[Float[np.ndarray, " D"], float]] = []
    tried = starts
    for recombination in range(config.recombinations + 1):
        chosen = _most_promising(task, tried)
        if recombination == 0:
            chosen = [tried[0], *[q for q in chosen if q is not tried[0]][: config.descents - 1]]
        found += _descend(coarse, np.stack(chosen))
        best = min(found, key=lambda answer: answer[1])[0]
        if len(best) < 2 or len(starts) < 2 or task.is_close(best, spacing):
            break
        swapped = rng.random(starts.shape) < rng.uniform(*config.recombined, size=(len(starts), 1))
        tried = np.where(swapped, starts[rng.permutation(len(starts))], best)[: config.mixtures]
    if coarse is not task:
        found.sort(key=lambda answer: answer[1])
        polish = replace(task, config=replace(config, least_iterations=config.polish_iterations))
        found = _descend(polish, np.stack([q for q, _ in found[: config.polished]]))
    q, distance = min(found, key=lambda answer: answer[1])
    return Registration(q, distance, task.is_close(q, spacing))


@dataclass(frozen=True, eq=False)
class _Task:
    """What is moved, and where to."""

    space: FeatureMap
    features: csr_array
    """Of points of the shape; sparse, since a point follows few handles."""

    thin: Float[np.ndarray, "M 3"]
    """Points of the target that look for closest points of the shape."""

    tree: cKDTree
    """Of all points of the target."""

    scale: float
    config: RegistrationConfig
    limits: Float[np.ndarray, "D 2"] | None

    def thinned(self, count: int) -> _Task:
        """The same with about so many points of each, evenly taken; itself where that would leave out few."""
        every, other = max(1, self.features.shape[0] // count), max(1, len(self.thin) // count)
        if every == 1 and other == 1:
            return self
        return replace(self, features=self.features[::every], thin=self.thin[::other])

    def points(self, values: Float[np.ndarray, "B K 3"]) -> Float[np.ndarray, "B N 3"]:
        """Of the shape, for a batch of transforms of the features."""
        stacked = self.features @ values.transpose(1, 0, 2).reshape(values.shape[1], -1)
        return stacked.reshape(-1, len(values), 3).swapaxes(0, 1)

    def spacing(self, q: Float[np.ndarray, " D"]) -> float:
        """Mean distance between neighbouring samples of the shape at ``q``."""
        x = self.points(self.space.values(q[None]))[0]
        return float(cKDTree(x).query(x, k=2)[0][:, 1].mean()) if len(x) > 1 else 0.0

    def is_close(self, q: Float[np.ndarray, " D"], spacing: float) -> bool:
        """Whether the shape at ``q`` is as close to the whole target as samples of the true shape would be."""
        if self.config.forward < 1.0:
            return False
        x = self.points(self.space.values(q[None]))[0]
        finer = spacing * float(np.sqrt(len(x) / self.tree.n))
        for away, usual in ((self.tree.query(x)[0], finer), (cKDTree(x).query(self.thin)[0], spacing)):
            if away.mean() > self.config.close * usual or away.max() > self.config.farthest * usual:
                return False
        return True


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
    residual = np.concatenate([tree.data[near] - x, thin - x[owner]]) / scale
    weight = _robust_weights(residual, config)
    weight[: len(x)] *= config.forward / len(x)
    weight[len(x) :] *= config.backward / len(thin)
    rows = np.concatenate([np.arange(len(x)), owner])
    sums = [np.bincount(rows, column, minlength=len(x)) for column in (*(residual * weight[:, None]).T, weight)]
    return Correspondences(np.stack(sums[:3], axis=1), sums[3], chamfer)


def _most_promising(task: _Task, starts: Float[np.ndarray, "S D"]) -> list[Float[np.ndarray, " D"]]:
    """The starts with the smallest Chamfer distance by few points."""
    config = task.config
    if len(starts) <= config.descents:
        return list(starts)
    few = task.thinned(config.preview_points)
    # Distances to the thinned target rank starts as well, and what is far off is found faster in a small tree.
    tree = cKDTree(task.thin)
    distances = []
    for x in few.points(task.space.values(starts)):
        distances.append(float(config.forward * tree.query(x)[0].mean() + cKDTree(x).query(few.thin)[0].mean()))
    return [starts[k] for k in np.argsort(distances, kind="stable")[: config.descents]]


def _descend(task: _Task, starts: Float[np.ndarray, "S D"]) -> list[tuple[Float[np.ndarray, " D"], float]]:
    """Damped Gauss–Newton from all starts side by side; the best point each has passed, and its Chamfer distance."""
    config, limits = task.config, task.limits
    q = starts.copy()
    best = [(start, np.inf) for start in starts]
    previous, active = np.full(len(q), np.inf), np.arange(len(q))
    slopes: dict[int, Float[np.ndarray, "D K 3"]] = {}
    for iteration in range(config.iterations):
        if iteration % task.space.steps_per_slopes:
            values = task.space.values(q[active])
        else:
            values, found = task.space.shape(q[active])
            slopes = dict(zip(active.tolist(), found, strict=True))
        remaining = []
        for k, value in zip(active.tolist(), values, strict=True):
            step, distance = _newton_step(task, value, slopes[k], q[k])
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
    task: _Task, value: Float[np.ndarray, "K 3"], slope: Float[np.ndarray, "D K 3"], q: Float[np.ndarray, " D"]
) -> tuple[Float[np.ndarray, " D"], float]:
    """One step, and the Chamfer distance before it."""
    config = task.config
    found = closest_points(task.features @ value, task.thin, task.tree, task.scale, config)
    moved = task.features @ slope.transpose(1, 2, 0).reshape(len(value), -1)
    jacobian = moved.reshape(-1, len(q)) / task.scale
    hessian = jacobian.T @ (jacobian * np.repeat(found.weight, 3)[:, None])
    gradient = jacobian.T @ found.pull.reshape(-1) - config.prior * q
    hessian += (config.prior + config.damping * np.trace(hessian) / len(q)) * np.eye(len(q))
    return np.linalg.solve(hessian, gradient), found.chamfer


def _robust_weights(residual: Float[np.ndarray, "R 3"], config: RegistrationConfig) -> Float[np.ndarray, " R"]:
    """Cauchy weights: the farthest closest points likely belong to another part and should not decide the direction."""
    length = np.linalg.norm(residual, axis=1)
    place = round(config.outlier_quantile * (len(length) - 1))
    scale = config.outlier_factor * np.partition(length, place)[place] + config.outlier_floor
    return 1.0 / (1.0 + (length / scale) ** 2)


@dataclass(frozen=True, eq=False)
class SampleSplit:
    """One half of the target, and samples of the shape that no other half uses."""

    samples: SurfaceSamples
    tree: cKDTree
    """All target points of this half."""

    count: int

    @property
    def points(self) -> Float[np.ndarray, "M 3"]:
        """At most ``count`` of the target points."""
        return self.tree.data[: self.count]


@dataclass(frozen=True, eq=False)
class HoldOut:
    """A target divided at random into points to fit and points to validate by."""

    rest: Mesh
    target: Float[np.ndarray, "M 3"]
    count: int
    """Samples of the shape in each half."""

    seed: int
    config: RegistrationConfig = field(default_factory=RegistrationConfig)

    @cached_property
    def scale(self) -> float:
        return longest_side(self.rest)

    @property
    def fit(self) -> SampleSplit:
        """What a fit may use."""
        return self._splits[0]

    @property
    def validation(self) -> SampleSplit:
        """What no fit may use."""
        return self._splits[1]

    @cached_property
    def _splits(self) -> tuple[SampleSplit, SampleSplit]:
        rng = np.random.default_rng(self.seed)
        samples = [sample_surface(self.rest.vertices, self.rest.faces, self.count, rng) for _ in range(2)]
        order = np.random.default_rng(self.seed).permutation(len(self.target))
        trees = [cKDTree(self.target[order[half::2]]) for half in range(2)]
        first, second = (SampleSplit(*pair, self.count) for pair in zip(samples, trees, strict=True))
        return first, second

    def error(self, vertices: Float[np.ndarray, "V 3"]) -> float:
        """Chamfer distance of the shape to the validation points, in mesh units."""
        held = self.validation
        x = held.samples.interpolate(vertices)
        return closest_points(x, held.points, held.tree, self.scale, self.config).chamfer

    def displacement(self, vertices: Float[np.ndarray, "V 3"]) -> float:
        """Mean distance of the surface from rest, in mesh units."""
        moved = self.validation.samples.interpolate(vertices - self.rest.vertices)
        return float(np.linalg.norm(moved, axis=1).mean())
