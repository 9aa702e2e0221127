"""Stiffness of one elastic brick: eight nodes and incompatible modes, so that a single layer bends as it should."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

CORNERS = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
"""Corners of a brick, in the order of its nodes."""

_SIGNS = 2.0 * CORNERS - 1.0


def brick_stiffness(sides: Float[np.ndarray, "3"], poisson: float) -> Float[np.ndarray, "24 24"]:
    """Stiffness of a brick of these sides [m] per unit of Young's modulus [m]; multiply by [Pa] for [N/m].

    Linear shape functions alone are far too stiff in bending; nine inner parabolas, condensed out, let each brick
    bend freely (Wilson's element, exact for bending and passing the patch test for bricks).
    """
    lam = poisson / ((1 + poisson) * (1 - 2 * poisson))
    mu = 1.0 / (2 * (1 + poisson))
    law = np.zeros((6, 6))
    law[:3, :3] = lam
    law[np.arange(3), np.arange(3)] += 2 * mu
    law[np.arange(3, 6), np.arange(3, 6)] = mu
    full = np.zeros((33, 33))
    root = 1.0 / np.sqrt(3.0)
    for point in root * _SIGNS:
        strain = _strain_matrix(point, np.asarray(sides, dtype=np.float64))
        full += strain.T @ law @ strain
    full *= float(np.prod(sides)) / 8.0
    outer, cross, inner = full[:24, :24], full[:24, 24:], full[24:, 24:]
    return outer - cross @ np.linalg.solve(inner, cross.T)


def _strain_matrix(point: Float[np.ndarray, "3"], sides: Float[np.ndarray, "3"]) -> Float[np.ndarray, "6 33"]:
    """Engineering strains xx yy zz xy yz zx at a point of [-1, 1]³, from corner displacements and inner parabolas."""
    terms = 1.0 + _SIGNS * point
    slopes = np.stack([_SIGNS[:, a] * terms[:, (a + 1) % 3] * terms[:, (a + 2) % 3] / 8.0 for a in range(3)], axis=1)
    gradients = np.concatenate([slopes, np.diag(-2.0 * point)]) * (2.0 / sides)
    out = np.zeros((6, 33))
    for node, (x, y, z) in enumerate(gradients):
        out[:, 3 * node : 3 * node + 3] = [[x, 0, 0], [0, y, 0], [0, 0, z], [y, x, 0], [0, z, y], [z, 0, x]]
    return out
