"""Restitution: after a step in which points struck something, they leave it with a share of their speed.

Implicit Euler swallows all of it. Newton's law of restitution is restored by impulses at the struck points, the
smallest ones with which none of them is slower than it should be (projected Gauss–Seidel).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from neurok.dynamics.reduced.config import ImplicitConfig
from neurok.dynamics.reduced.contact import Rows
from neurok.dynamics.reduced.system import System, solve_mass


def rebound(
    rows: Rows,
    system: System,
    before: tuple[Sequence[Any], Float[np.ndarray, " D"]],
    after: tuple[Sequence[Any], Float[np.ndarray, " D"]],
    step: tuple[float, Float[np.ndarray, "3"], float],
    config: ImplicitConfig,
) -> Float[np.ndarray, " D"]:
    """Momenta after the bounces of a step.

    Args:
        rows: The contacts of the step, with the normal forces at its end.
        system: All objects.
        before: Motions and rates at the start of the step.
        after: Motions and momenta at its end.
        step: Its length, gravity, and the speed below which nothing bounces.
        config: Iterations.
    """
    (begin, qdot), (end, p), (dt, gravity, slow) = before, after, step
    struck = np.flatnonzero((rows.bounce > 0) & (rows.loads > 0) & (rows.before <= 0))
    if not len(struck):
        return p
    normals = rows.normals[struck]
    speed = np.einsum("ni,nid,d->n", normals, rows.jacobian(begin, system, struck), qdot)
    fall = normals @ gravity * rows_on_still(rows, struck)
    # Rates belong to the middle of the step before; the impact is a share of this step later.
    share = np.clip(rows.gaps[struck] / np.maximum(-speed * dt, 1e-300), 0.0, 1.0)
    impact = speed + fall * dt * (share + 0.5)
    if not (impact < -slow).any():
        return p
    wanted = np.where(impact < -slow, -rows.bounce[struck] * impact - 0.5 * dt * fall, 0.0)
    arms = np.einsum("ni,nid->nd", normals, rows.jacobian(end, system, struck))
    ease = solve_mass(system.mass_matrix(end), np.column_stack([p, arms.T]))
    impulses = _impulses(arms @ ease[:, 1:], wanted - arms @ ease[:, 0], config.bounce_sweeps)
    return p + arms.T @ impulses


def rows_on_still(rows: Rows, chosen: Int[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    """1 for rows on something that does not fall, 0 for those on another object."""
    out = np.ones(len(rows))
    for side in rows.sides:
        if side.sign < 0:
            out[side.rows] = 0.0
    return out[chosen]


def _impulses(
    matrix: Float[np.ndarray, "n n"], missing: Float[np.ndarray, " n"], sweeps: int
) -> Float[np.ndarray, " n"]:
    """Impulses x ≥ 0 with matrix · x ≥ missing, and x = 0 where there is more than enough."""
    out = np.zeros(len(missing))
    diagonal = np.maximum(np.diagonal(matrix), 1e-300)
    for _ in range(sweeps):
        largest = 0.0
        for k in range(len(out)):
            change = max(-out[k], (missing[k] - matrix[k] @ out) / diagonal[k])
            out[k] += change
            largest = max(largest, abs(change) * diagonal[k])
        if largest <= 1e-6 * np.abs(missing).max():
            break
    return out
