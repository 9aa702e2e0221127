"""What a user would pick instead: registration methods that know nothing of how objects move.

Each takes a rest mesh in its unit box, a cloud of target points and a source of randomness, and returns vertices.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.spatial import cKDTree

from neurok.core import Mesh
from neurok.errors import require
from neurok.geometry import lie
from neurok.geometry.sampling import sample_evenly, sample_surface


def no_motion(rest: Mesh, target: Float[np.ndarray, "N 3"], rng: np.random.Generator) -> Float[np.ndarray, "V 3"]:
    """The rest shape."""
    return rest.vertices


def rigid_icp(
    rest: Mesh, target: Float[np.ndarray, "N 3"], rng: np.random.Generator, rounds: int = 40
) -> Float[np.ndarray, "V 3"]:
    """The whole object moved rigidly: iterated closest points in both directions."""
    points = sample_surface(rest.vertices, rest.faces, 2000, rng).interpolate(rest.vertices)
    thin, tree = target[rng.permutation(len(target))[:2000]], cKDTree(target)
    transform = np.eye(4)
    for _ in range(rounds):
        moved = lie.apply(transform, points)
        near, owner = tree.query(moved)[1], cKDTree(moved).query(thin)[1]
        new = lie.fit_rigid(np.concatenate([points, points[owner]]), np.concatenate([target[near], thin]))
        if np.abs(new - transform).max() < 1e-6:
            break
        transform = new
    return lie.apply(transform, rest.vertices)


def coherent_drift(
    rest: Mesh,
    target: Float[np.ndarray, "N 3"],
    rng: np.random.Generator,
    count: int = 500,
    stiffness: float = 2.0,
    width: float = 2.0,
    rounds: int = 100,
) -> Float[np.ndarray, "V 3"]:
    """Non-rigid coherent point drift of evenly spread points (pycpd), carried to the vertices by its kernel.

    Points are brought to zero mean and unit variance first, which is the scale that ``stiffness`` and ``width`` are
    meant for.
    """
    require("pycpd", "peers")
    from pycpd import DeformableRegistration

    samples = sample_evenly(rest.vertices, rest.faces, count, rng, oversample=4)
    source = samples.interpolate(rest.vertices)
    thin = target[rng.permutation(len(target))[: 2 * count]]
    center, spread = source.mean(axis=0), float(source.std())
    scaled = lambda x: (x - center) / spread  # noqa: E731
    drift: Any = DeformableRegistration(
        X=scaled(thin), Y=scaled(source), alpha=stiffness, beta=width, max_iterations=rounds, tolerance=1e-5
    )
    drift.register()
    vertices = scaled(rest.vertices)
    out = np.empty_like(vertices)
    for start in range(0, len(vertices), 4096):
        block = vertices[start : start + 4096]
        apart = ((block[:, None] - drift.Y[None]) ** 2).sum(axis=2)
        out[start : start + 4096] = block + np.exp(-apart / (2 * width**2)) @ drift.W
    return out * spread + center
