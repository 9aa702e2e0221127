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
    matrix = np.ascontiguousarray(displacements, dtype=np.float64).reshape(frames, -1)
    left, energies = _left_vectors(matrix)
    count = _enough(matrix, left, energies, tolerance)
    while True:
        weights, shapes = _balanced(left[:, :count], left[:, :count].T @ matrix)
        if count == left.shape[1] or _largest(matrix - weights @ shapes) <= tolerance:
            return weights, shapes.reshape(count, vertices, 3)
        count += 1


def _left_vectors(matrix: Float[np.ndarray, "T N"]) -> tuple[Float[np.ndarray, "T R"], Float[np.ndarray, " R"]]:
    """Orthonormal directions in time, the strongest first, and their energies; those without motion are left out."""
    values, vectors = np.linalg.eigh(matrix @ matrix.T)
    values, vectors = values[::-1], vectors[:, ::-1]
    vectors = vectors * np.where(vectors[np.abs(vectors).argmax(axis=0), np.arange(len(values))] < 0, -1.0, 1.0)
    rank = min(int((values > max(float(values[0]), 0.0) * 1e-15).sum()), matrix.shape[1])
    return vectors[:, :rank], values[:rank]


def _enough(
    matrix: Float[np.ndarray, "T N"],
    left: Float[np.ndarray, "T R"],
    energies: Float[np.ndarray, " R"],
    tolerance: float,
) -> int:
    """How many shapes are needed: subtract them a block at a time, then give back those that were too many."""
    missing = np.cumsum(energies[::-1])[::-1]
    count = int((missing > tolerance**2 * matrix.size / 3 * (1.0 + 1e-6)).sum())  # the mean error asks for these
    matrix, left = matrix.astype(np.float32), left.astype(np.float32)
    residual = matrix - left[:, :count] @ (left[:, :count].T @ matrix)
    while count < left.shape[1] and _largest(residual) > tolerance:
        block = left[:, count : count + BLOCK]
        loads = block.T @ matrix
        residual -= block @ loads
        count += block.shape[1]
        for spare in reversed(range(block.shape[1])):
            if _largest(residual) > tolerance:
                break
            residual += np.outer(block[:, spare], loads[spare])
            if _largest(residual) > tolerance:
                return count
            count -= 1
    return count


def _balanced(
    left: Float[np.ndarray, "T K"], loads: Float[np.ndarray, "K N"]
) -> tuple[Float[np.ndarray, "T K"], Float[np.ndarray, "K N"]]:
    scale = np.abs(left).max(axis=0)
    return (left / scale).astype(np.float32), (loads * scale[:, None]).astype(np.float32)


def _largest(residual: Float[np.ndarray, "T N"]) -> float:
    """Largest distance between a vertex and its copy."""
    offsets = residual.reshape(len(residual), -1, 3)
    return float(np.sqrt(np.einsum("tvc,tvc->tv", offsets, offsets).max(initial=0.0)))
