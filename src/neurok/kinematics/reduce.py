"""The Active Subspace Method: the few directions of a latent space along which an object moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

ReductionMode = Literal["gram", "paper", "none"]
MAX_DIMENSION = 16
ENERGY = 0.9999
"""Share of the spectrum that coordinates shall hold, if their number allows."""

ROUNDS = 200


@dataclass(frozen=True, eq=False)
class Reduction:
    """The latent directions that matter, of unit length; orthonormal unless they are those of joints."""

    basis: Float[np.ndarray, "Z D"]
    spectrum: Float[np.ndarray, " S"]
    """Eigenvalues, largest first: mean squared displacement per unit step along each direction."""

    captured: float
    """Share of the spectrum that the basis holds."""


def whole(size: int) -> Reduction:
    """No reduction at all."""
    return Reduction(np.eye(size), np.ones(size), 1.0)


def leading(matrix: Float[np.ndarray, "Z Z"], dim: int | None) -> Reduction:
    """Leading eigenvectors of the mean square of the derivatives; by default as many as hold 99.99 %, at most 16."""
    values, vectors = np.linalg.eigh(matrix)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    share = np.cumsum(values) / max(float(values.sum()), 1e-300)
    keep = dim if dim is not None else int(np.clip(np.searchsorted(share, ENERGY) + 1, 1, MAX_DIMENSION))
    keep = min(keep, len(values))
    signs = np.sign(vectors[np.abs(vectors[:, :keep]).argmax(axis=0), np.arange(keep)])
    return Reduction(np.ascontiguousarray(vectors[:, :keep] * signs), values, float(share[keep - 1]))


def parted(basis: Float[np.ndarray, "Z D"], forms: Float[np.ndarray, "H Z Z"]) -> Float[np.ndarray, "Z D"]:
    """The same span, turned so that each coordinate moves as few handles as can be: one door, not a mix of two.

    It maximises Σ (bᵀ A_h b)² over handles and coordinates, with A_h the motion of handle h as a quadratic form: a
    convex function of an orthonormal basis, which climbs when its gradient is replaced by the nearest such basis.
    """
    inner = np.einsum("zi,hzy,yj->hij", basis, forms, basis, optimize=True)
    turn, reached = np.eye(basis.shape[1]), 0.0
    for _ in range(ROUNDS):
        pulls = inner @ turn
        moved = (pulls * turn).sum(axis=1)
        score = float((moved**2).sum())
        if score <= reached * (1 + 1e-9):
            break
        reached = score
        u, _, vt = np.linalg.svd(np.einsum("hd,hid->id", moved, pulls))
        turn = u @ vt
    return basis @ turn
