"""Copies of one shape in an object: what one of them does, all do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from neurok.articulation.features import PartClouds


@dataclass(frozen=True)
class LikeConfig:
    """When two pieces or parts are copies. By eye; sides are those of sampled points, and less exact than areas."""

    areas: float = 0.01
    """Their areas differ by less than this share ..."""

    sides: float = 0.08
    """... and each of their sides by less than this."""


LIKE = LikeConfig()


def find_copies(clouds: PartClouds, config: LikeConfig = LIKE) -> Int[np.ndarray, " P"]:
    """A number for each piece; those with the same are copies of each other, however they are turned."""
    sides = np.sort(np.ptp(clouds.points, axis=1), axis=1) + 1e-6
    first = np.arange(len(sides))
    for piece in range(len(sides)):
        near = np.abs(np.log(clouds.areas[:piece] / clouds.areas[piece])) < config.areas
        near &= (np.abs(np.log(sides[:piece] / sides[piece])) < config.sides).all(axis=1)
        if near.any():
            first[piece] = first[int(np.flatnonzero(near)[0])]
    return first


def shared_by_copies(
    shares: Float[np.ndarray, "P T"], copies: Int[np.ndarray, " P"], parents: Int[np.ndarray, " P"]
) -> Float[np.ndarray, "P T"]:
    """Shares that copies on one carrier agree on: their geometric mean, which adds up to one again."""
    groups = np.unique(np.stack([copies, parents], axis=1), axis=0, return_inverse=True)[1].reshape(-1)
    total = np.zeros((int(groups.max(initial=0)) + 1, shares.shape[1]))
    np.add.at(total, groups, np.log(np.maximum(shares, 1e-12)))
    mean = np.exp(total / np.maximum(np.bincount(groups), 1)[:, None])[groups]
    return mean / mean.sum(axis=1, keepdims=True)
