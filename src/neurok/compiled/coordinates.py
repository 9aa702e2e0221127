"""Forces that follow from the coordinates of one object alone: its elasticity, its limits, its own damping."""

from __future__ import annotations

import numpy as np

from neurok.compiled.loops import compiled


@compiled
def energy(q, qdot, stiffness, lower, upper, steepness, buffer, viscosity, gradient):
    """Energy of springs ½ qᵀ K q and of wells beyond the limits; ``gradient`` gets their slopes and all damping.

    Args:
        q: Coordinates ``(D,)``.
        qdot: Their rates.
        stiffness: K.
        lower: Limits; the well of a coordinate at a depth d costs steepness · d³ / 3 ...
        upper: ...
        steepness: ...
        buffer: ... and resists motion by buffer · d^1.5 times its rate.
        viscosity: Resists motion everywhere.
        gradient: What is added to.
    """
    total = 0.0
    for d in range(q.shape[0]):
        pull = 0.0
        for e in range(q.shape[0]):
            pull += stiffness[d, e] * q[e]
        total += 0.5 * q[d] * pull
        pull += viscosity[d] * qdot[d]
        below, above = max(lower[d] - q[d], 0.0), max(q[d] - upper[d], 0.0)
        depth = below + above
        if depth > 0.0:
            total += steepness[d] * depth**3 / 3.0
            pull += steepness[d] * (above**2 - below**2) + buffer[d] * depth * np.sqrt(depth) * qdot[d]
        gradient[d] += pull
    return total


@compiled
def add_curvature(q, qdot, dt, stiffness, lower, upper, steepness, buffer, viscosity, matrix):
    """Add how these give way at the end of a step, for positive matrices."""
    for d in range(q.shape[0]):
        for e in range(q.shape[0]):
            matrix[d, e] += stiffness[d, e]
        matrix[d, d] += viscosity[d] / dt
        below, above = max(lower[d] - q[d], 0.0), max(q[d] - upper[d], 0.0)
        depth = below + above
        if depth > 0.0:
            inward = max(-qdot[d] if below > 0.0 else qdot[d], 0.0)
            root = np.sqrt(depth)
            matrix[d, d] += 2.0 * steepness[d] * depth + buffer[d] * (depth * root / dt + 1.5 * root * inward)
