"""A smooth stand-in for a slow map: it is asked a few hundred times, and a sum of wide bumps answers from then on.

Values, slopes and their rates of change cost microseconds and fit together to the last digit, which is what keeps
energy in a simulation. How far the stand-in is from the map is known from leaving out each sample in turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

if TYPE_CHECKING:
    from torch import Tensor

WIDTHS = (0.4, 0.7, 1.2, 2.2)
"""Widths of the bumps that are tried, times the root of the number of coordinates: wide ones follow slow maps best."""

LINEAR = 0.05
"""Weight of the linear part beside the bumps; far from all samples it alone is left."""

MOST_BUMPS = 256
RIDGES = 10.0 ** np.arange(-6.0, 2.0)
"""What is tried for the noise of the samples; the one with the least error on left-out samples wins."""

TAIL = 1e-2
"""Share of the targets' spread that may be lost by keeping few directions of it."""


@dataclass(frozen=True, eq=False)
class BumpMap:
    """y(q) = f(q s) - f(0) with f(u) = (u · linear + Σ heights_i exp(-|u - centers_i|² / 2 width²)) · directions."""

    stretch: Float[np.ndarray, " D"]
    """The factors s: coordinates that matter more are seen in finer detail."""

    centers: Float[np.ndarray, "N D"]
    width: float
    linear: Float[np.ndarray, "D R"]
    heights: Float[np.ndarray, "N R"]
    directions: Float[np.ndarray, "R Y"]

    def evaluate(self, q: Float[np.ndarray, "B D"]) -> tuple[Float[np.ndarray, "B Y"], Float[np.ndarray, "B D Y"]]:
        """The value, and its derivative by each coordinate."""
        q = q * self.stretch
        bumps = _bumps(q, self.centers, self.width)
        sums, moments = bumps @ self.heights, self._moments(bumps)
        values = q @ self.linear + sums - self._at_zero
        slopes = self.linear + (moments - q[:, :, None] * sums[:, None]) / self.width**2
        return values @ self.directions, (slopes * self.stretch[:, None]) @ self.directions

    def slope_rate(self, q: Float[np.ndarray, "B D"], qdot: Float[np.ndarray, "B D"]) -> Float[np.ndarray, "B D Y"]:
        """How the slope changes while ``q`` moves with ``qdot``."""
        q, qdot = q * self.stretch, qdot * self.stretch
        bumps = _bumps(q, self.centers, self.width)
        falls = bumps * (qdot @ self.centers.T - (q * qdot).sum(axis=1, keepdims=True)) / self.width**2
        second = self._moments(falls) - q[:, :, None] * (falls @ self.heights)[:, None]
        second -= qdot[:, :, None] * (bumps @ self.heights)[:, None]
        return (second * self.stretch[:, None] / self.width**2) @ self.directions

    def value_of_tensor(self, q: Float[Tensor, " D"]) -> Float[Tensor, " Y"]:
        """The value for one point, differentiable."""
        import torch

        take = lambda array: torch.as_tensor(array, dtype=q.dtype)  # noqa: E731
        q = q * take(self.stretch)
        bumps = torch.exp(((q - take(self.centers)) ** 2).sum(dim=-1) / (-2.0 * self.width**2))
        return (q @ take(self.linear) + bumps @ take(self.heights) - take(self._at_zero)) @ take(self.directions)

    @cached_property
    def _at_zero(self) -> Float[np.ndarray, " R"]:
        return (_bumps(np.zeros((1, self.centers.shape[1])), self.centers, self.width) @ self.heights)[0]

    @cached_property
    def _lever(self) -> Float[np.ndarray, "N DR"]:
        return (self.centers[:, :, None] * self.heights[:, None]).reshape(len(self.centers), -1)

    def _moments(self, weights: Float[np.ndarray, "B N"]) -> Float[np.ndarray, "B D R"]:
        """Σ weights_i centers_i heights_i."""
        return (weights @ self._lever).reshape(len(weights), self.centers.shape[1], -1)


def fit_bumps(
    q: Float[np.ndarray, "N D"],
    targets: Float[np.ndarray, "N Y"],
    scale: Float[np.ndarray, " Y"],
    weight: Float[np.ndarray, " D"] | None = None,
) -> tuple[BumpMap, Float[np.ndarray, "N Y"]]:
    """The map through samples of a function that is zero at zero, and what it says of each sample when left out.

    Args:
        q: Where the function was asked, in no particular order.
        targets: What it said.
        scale: How much each target matters: errors are counted after multiplying by it.
        weight: How much each coordinate matters, at most 1; all the same by default.
    """
    directions, kept = _directions(targets * scale)
    stretch = np.ones(q.shape[1]) if weight is None else np.maximum(weight, 0.1)
    seen, root = q * stretch, float(np.sqrt(q.shape[1]))
    tries = [_fit(seen, kept, width * root) for width in WIDTHS]
    width, linear, heights, left_out = min(tries, key=lambda found: float(((found[3] - kept) ** 2).sum()))
    directions = directions / np.maximum(scale, 1e-12)
    return BumpMap(stretch, seen[:MOST_BUMPS], width, linear, heights, directions), left_out @ directions


def _fit(
    q: Float[np.ndarray, "N D"], targets: Float[np.ndarray, "N R"], width: float
) -> tuple[float, Float[np.ndarray, "D R"], Float[np.ndarray, "M R"], Float[np.ndarray, "N R"]]:
    """Width, linear part, heights and left-out guesses, with the ridge that makes these best."""
    centers = q[:MOST_BUMPS]
    # Bumps that all but coincide must not cancel each other with great heights, so their own metric weighs the ridge.
    spread, axes = np.linalg.eigh(_bumps(centers, centers, width))
    whiten = axes / np.sqrt(np.maximum(spread, 1e-8 * spread.max()))
    at_zero = _bumps(np.zeros((1, q.shape[1])), centers, width)
    columns = np.concatenate([(_bumps(q, centers, width) - at_zero) @ whiten, np.sqrt(LINEAR) * q], axis=1)
    values, vectors = np.linalg.eigh(columns.T @ columns)
    turned = columns @ vectors
    best, least, left_out = np.zeros((len(vectors), targets.shape[1])), np.inf, targets
    for ridge in RIDGES:
        inverse = 1.0 / (np.maximum(values, 0.0) + ridge)
        weights = inverse[:, None] * (turned.T @ targets)
        leverage = np.minimum((turned**2) @ inverse, 1.0 - 1e-9)
        misses = (targets - turned @ weights) / (1.0 - leverage)[:, None]
        error = float((misses**2).sum())
        if error < least:
            best, least, left_out = vectors @ weights, error, targets - misses
    return width, np.sqrt(LINEAR) * best[len(centers) :], whiten @ best[: len(centers)], left_out


def _directions(targets: Float[np.ndarray, "N Y"]) -> tuple[Float[np.ndarray, "R Y"], Float[np.ndarray, "N R"]]:
    """The few orthonormal directions in which targets differ, and the targets in them."""
    values, vectors = np.linalg.eigh(targets.T @ targets)
    lost = np.cumsum(np.maximum(values, 0.0)) / max(values.sum(), 1e-300)
    rows = vectors.T[lost > TAIL**2] if values.max() > 0 else vectors.T[-1:]
    return rows, targets @ rows.T


def _bumps(q: Float[np.ndarray, "B D"], centers: Float[np.ndarray, "N D"], width: float) -> Float[np.ndarray, "B N"]:
    squares = (q**2).sum(axis=1)[:, None] + (centers**2).sum(axis=1) - 2.0 * q @ centers.T
    return np.exp(np.maximum(squares, 0.0) / (-2.0 * width**2))
