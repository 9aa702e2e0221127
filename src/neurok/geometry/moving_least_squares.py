"""Values at points from values at scattered nodes, exact for everything affine."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

NARROW = 0.6
"""Width of the kernel, as a share of the distance of the farthest node that counts."""


def affine_weights(
    nodes: Float[np.ndarray, "N 3"], points: Float[np.ndarray, "P 3"], count: int = 14, ridge: float = 1e-6
) -> tuple[Int[np.ndarray, "P k"], Float[np.ndarray, "P k"]]:
    """The nearest nodes of each point and their weights: smooth, and exact for every affine motion of the nodes.

    Weights sum to one. Where the nodes lie in a plane or on a line, ``ridge`` decides: nothing is told of what is
    beside it.
    """
    from scipy.spatial import cKDTree

    count = min(count, len(nodes))
    distance, near = cKDTree(nodes).query(points, k=count)
    return near.reshape(len(points), -1), local_weights(
        nodes[near].reshape(len(points), -1, 3), points, distance.reshape(len(points), -1), ridge
    )


def local_weights(
    nodes: Float[np.ndarray, "P k 3"],
    points: Float[np.ndarray, "P 3"],
    distance: Float[np.ndarray, "P k"],
    ridge: float = 1e-6,
) -> Float[np.ndarray, "P k"]:
    """Weights of chosen nodes; those at the largest ``distance`` count least."""
    width = NARROW * distance[:, -1:] + 1e-9
    kernel = np.exp(-((distance / width) ** 2))
    basis = np.concatenate([np.ones((*distance.shape, 1)), (nodes - points[:, None]) / width[..., None]], axis=-1)
    moment = np.einsum("pi,pia,pib->pab", kernel, basis, basis) + ridge * np.eye(4)
    # The value of the local affine fit at the point itself is its constant term.
    first = np.linalg.solve(moment, np.broadcast_to(np.eye(4)[:, :1], (len(points), 4, 1)))[..., 0]
    local = kernel * np.einsum("pia,pa->pi", basis, first)
    return local / local.sum(axis=1, keepdims=True)
