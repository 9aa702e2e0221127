"""Motion as a few shapes and their weights over time."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

BLOCK = 8
"""Shapes that are subtracted at once while looking for how many are enough."""


def factorise_motion(
    displacements: Float[np.ndarray, "T V 3"], tolerance: float
) -> tuple[Float[np.ndarray, "T K"], Float[np.ndarray, "K V 3"]]:
    """Fewest singular shapes whose weighted sum is within ``tolerance`` of every vertex in every frame.

    Returns:
        Weights, scaled so that the largest of each shape is 1, and the shapes, both in single precision; their
        product in that precision keeps the promise, as far as single precision can.
    """
    frames, vertices = displacements.shape[:2]
    matrix = np.asarray(displacements, dtype=np.float64).reshape(frames, -1)
    left = _left_vectors(matrix)
    loads = left.T @ matrix
    count = _enough(matrix, left, loads, tolerance)
    while True:
        weights, shapes = _balanced(left[:, :count], loads[:count])
        if count == left.shape[1] or _largest(matrix - weights @ shapes) <= tolerance:
            return weights, shapes.reshape(count, vertices, 3)
        count += 1


def _enough(
    matrix: Float[np.ndarray, "T N"], left: Float[np.ndarray, "T R"], loads: Float[np.ndarray, "R N"], tolerance: float
) -> int:
    """How many shapes are needed: subtract them a block at a time, then give back those that were too many."""
    missing = (matrix**2).sum() - np.concatenate([[0.0], np.cumsum((loads**2).sum(axis=1))])
    allowed = tolerance**2 * matrix.size / 3
    count = int((missing[:-1] > allowed * (1.0 + 1e-9)).sum())  # the mean error alone asks for these
    left, loads = left.astype(np.float32), loads.astype(np.float32)
    residual = matrix.astype(np.float32) - left[:, :count] @ loads[:count]
    while count < left.shape[1] and _largest(residual) > tolerance:
        stop = min(count + BLOCK, left.shape[1])
        residual -= left[:, count:stop] @ loads[count:stop]
        count = stop
        while stop - count < BLOCK and count > 0 and _largest(residual) <= tolerance:
            residual += np.outer(left[:, count - 1], loads[count - 1])
            if _largest(residual) > tolerance:
                return count
            count -= 1
    return count


def _left_vectors(matrix: Float[np.ndarray, "T N"]) -> Float[np.ndarray, "T R"]:
    """Orthonormal directions in time, the strongest first; those without any motion are left out."""
    values, vectors = np.linalg.eigh(matrix @ matrix.T)
    values, vectors = values[::-1], vectors[:, ::-1]
    vectors = vectors * np.where(vectors[np.abs(vectors).argmax(axis=0), np.arange(len(values))] < 0, -1.0, 1.0)
    rank = int((values > max(float(values[0]), 0.0) * 1e-15).sum())
    return vectors[:, : min(rank, matrix.shape[1])]


def _balanced(
    left: Float[np.ndarray, "T K"], loads: Float[np.ndarray, "K N"]
) -> tuple[Float[np.ndarray, "T K"], Float[np.ndarray, "K N"]]:
    scale = np.abs(left).max(axis=0)
    return (left / scale).astype(np.float32), (loads * scale[:, None]).astype(np.float32)


def _largest(residual: Float[np.ndarray, "T N"]) -> float:
    """Largest distance between a vertex and its copy."""
    offsets = residual.reshape(len(residual), -1, 3)
    return float(np.sqrt(np.einsum("tvc,tvc->tv", offsets, offsets).max(initial=0.0)))
