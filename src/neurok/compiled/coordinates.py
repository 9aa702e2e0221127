"""Forces that follow from the coordinates of one object alone: its elasticity, its limits, its own damping."""

from __future__ import annotations

import numpy as np

from neurok.compiled.loops import compiled


@compiled
def _along(vector, q):
    x, y, z = 0.0, 0.0, 0.0
    for d in range(q.shape[0]):
        x += vector[0, d] * q[d]
        y += vector[1, d] * q[d]
        z += vector[2, d] * q[d]
    return x, y, z


@compiled
def strain_energy(q, qdot, vectors, wells, gradient):
    """Energy of wells beyond the limits of all coordinates together; ``gradient`` gets their slopes and buffers.

    Args:
        q: Coordinates ``(D,)``.
        qdot: Their rates.
        vectors: ``(R, 3, D)``; times q, none should be longer than 1.
        wells: ``(R, 2)``; one longer by d costs steepness · d³ / 3 and resists by buffer · d^1.5 times its rate.
        gradient: What is added to.
    """
    total = 0.0
    for r in range(vectors.shape[0]):
        x, y, z = _along(vectors[r], q)
        length = np.sqrt(x * x + y * y + z * z)
        if length > 1.0:
            depth = length - 1.0
            total += wells[r, 0] * depth**3 / 3.0
            x, y, z = x / length, y / length, z / length
            u, v, w = _along(vectors[r], qdot)
            pull = wells[r, 0] * depth**2 + wells[r, 1] * depth * np.sqrt(depth) * (x * u + y * v + z * w)
            for d in range(q.shape[0]):
                gradient[d] += pull * (x * vectors[r, 0, d] + y * vectors[r, 1, d] + z * vectors[r, 2, d])
    return total


@compiled
def add_strain_curvature(q, qdot, dt, vectors, wells, matrix):
    """Add how these give way at the end of a step, for positive matrices."""
    for r in range(vectors.shape[0]):
        x, y, z = _along(vectors[r], q)
        length = np.sqrt(x * x + y * y + z * z)
        if length > 1.0:
            depth, root = length - 1.0, np.sqrt(length - 1.0)
            x, y, z = x / length, y / length, z / length
            u, v, w = _along(vectors[r], qdot)
            rate = x * u + y * v + z * w
            pull = max(wells[r, 0] * depth**2 + wells[r, 1] * depth * root * rate, 0.0) / length
            ahead = 2.0 * wells[r, 0] * depth + wells[r, 1] * (depth * root / dt + 1.5 * root * max(rate, 0.0)) - pull
            for d in range(q.shape[0]):
                a, b, c = vectors[r, 0, d], vectors[r, 1, d], vectors[r, 2, d]
                along = ahead * (x * a + y * b + z * c)
                for e in range(q.shape[0]):
                    f, g, h = vectors[r, 0, e], vectors[r, 1, e], vectors[r, 2, e]
                    matrix[d, e] += along * (x * f + y * g + z * h) + pull * (a * f + b * g + c * h)


@compiled
def energy(q, qdot, stiffness, lower, upper, steepness, buffer, viscosity, vectors, wells, gradient):
    """Energy of springs ½ qᵀ K q and of wells beyond all limits; ``gradient`` gets their slopes and all damping.

    Args:
        q: Coordinates ``(D,)``.
        qdot: Their rates.
        stiffness: K.
        lower: Limits; the well of a coordinate at a depth d costs steepness · d³ / 3 ...
        upper: ...
        steepness: ...
        buffer: ... and resists motion by buffer · d^1.5 times its rate.
        viscosity: Resists motion everywhere.
        vectors: As ``strain_energy`` takes them ...
        wells: ... and this.
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
    return total + strain_energy(q, qdot, vectors, wells, gradient)


@compiled
def add_curvature(q, qdot, dt, stiffness, lower, upper, steepness, buffer, viscosity, vectors, wells, matrix):
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
    add_strain_curvature(q, qdot, dt, vectors, wells, matrix)
