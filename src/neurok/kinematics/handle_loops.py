"""Handles that move by exponentials of twists, all of a batch of moments in one call.

A handle has four rows: the columns of its rotation, and where it takes the origin. Arms are these rows with the last
one seen from the centre of the handle. See ``geometry/twists.py`` for the same mathematics on long rows of twists.
"""

from __future__ import annotations

import numpy as np

from neurok.geometry.loops import compiled


@compiled
def _cross(a, b, out):
    """out += a × b."""
    out[0] += a[1] * b[2] - a[2] * b[1]
    out[1] += a[2] * b[0] - a[0] * b[2]
    out[2] += a[0] * b[1] - a[1] * b[0]


@compiled
def _twist(screws, h, q, b, omega, first):
    """The twist of one handle, as two rows of ``omega``."""
    for m in range(6):
        total = 0.0
        for d in range(q.shape[1]):
            total += screws[m, h, d] * q[b, d]
        omega[first + m // 3, m % 3] = total


@compiled
def _functions(series, square, out):
    """Power series in θ² (Horner)."""
    for k in range(series.shape[0]):
        total = 0.0
        for n in range(series.shape[1] - 1, -1, -1):
            total = total * square + series[k, n]
        out[k] = total


@compiled
def _jacobians(omega, f, jacobian, change, parts, lean_and_half):
    """From rates of a twist to spin and velocity, and how that changes.

    V(ω) = I + b W + c W² at ω + ε v + δ ω̇ + εδ v̇, with infinitesimals whose squares are zero; the rows of ``omega``
    are these four parts, and ``f`` holds b, c, b', c', b'', c''.
    """
    first = 2.0 * (omega[0, 0] * omega[1, 0] + omega[0, 1] * omega[1, 1] + omega[0, 2] * omega[1, 2])
    second = 2.0 * (omega[0, 0] * omega[2, 0] + omega[0, 1] * omega[2, 1] + omega[0, 2] * omega[2, 2])
    both = 2.0 * (omega[0, 0] * omega[3, 0] + omega[0, 1] * omega[3, 1] + omega[0, 2] * omega[3, 2])
    both += 2.0 * (omega[1, 0] * omega[2, 0] + omega[1, 1] * omega[2, 1] + omega[1, 2] * omega[2, 2])
    for k in range(2):
        g0, g1, g2 = f[k], f[2 + k] * first, f[2 + k] * second
        g3 = f[2 + k] * both + f[4 + k] * first * second
        for i in range(3):
            lean_and_half[k, 0, i] = g0 * omega[0, i]
            lean_and_half[k, 1, i] = g0 * omega[1, i] + g1 * omega[0, i]
            lean_and_half[k, 2, i] = g0 * omega[2, i] + g2 * omega[0, i]
            lean_and_half[k, 3, i] = g0 * omega[3, i] + g3 * omega[0, i] + g1 * omega[2, i] + g2 * omega[1, i]
    half = lean_and_half[1]
    for i in range(3):
        for j in range(3):
            parts[0, i, j] = omega[0, i] * half[0, j]
            parts[1, i, j] = omega[0, i] * half[1, j] + omega[1, i] * half[0, j]
            parts[2, i, j] = omega[0, i] * half[2, j] + omega[2, i] * half[0, j]
            parts[3, i, j] = (
                omega[0, i] * half[3, j]
                + omega[3, i] * half[0, j]
                + omega[1, i] * half[2, j]
                + omega[2, i] * half[1, j]
            )
    for part in range(4):
        # c W² = c ω ωᵀ less its trace, which is c θ².
        stretch = (1.0 if part == 0 else 0.0) - parts[part, 0, 0] - parts[part, 1, 1] - parts[part, 2, 2]
        for i in range(3):
            parts[part, i, i] += stretch
            j, k = (i + 1) % 3, (i + 2) % 3
            parts[part, k, j] += lean_and_half[0, part, i]
            parts[part, j, k] -= lean_and_half[0, part, i]
    for i in range(3):
        for j in range(3):
            jacobian[i, j] = jacobian[3 + i, 3 + j] = parts[0, i, j]
            jacobian[3 + i, j] = parts[1, i, j]
            change[i, j] = change[3 + i, 3 + j] = parts[2, i, j]
            change[3 + i, j] = parts[3, i, j]
            jacobian[i, 3 + j] = change[i, 3 + j] = 0.0


@compiled
def moments(series, screws, centers, q, qdot, arms, rows, rates, jacobians, changes):
    """Rows of all handles, and how they move.

    Args:
        series: Power series of the exponential, as ``geometry.twists.SERIES``.
        screws: ``(6, H, D)``.
        centers: ``(H, 3)``.
        q: ``(B, D)``.
        qdot: ``(B, D)``.
        arms: Found here, ``(B, H, 4, 3)``.
        rows: Found here, ``(B, 4 H, 3)``.
        rates: Of the rows, found here, ``(B, H, 4, 3)``.
        jacobians: From rates of twists to spins and velocities, found here, ``(B, H, 6, 6)``.
        changes: Of these, found here.
    """
    batch, count = q.shape[0], centers.shape[0]
    f, omega, moving = np.empty(7), np.empty((4, 3)), np.empty(6)
    parts, lean_and_half = np.empty((4, 3, 3)), np.empty((2, 4, 3))
    for b in range(batch):
        for h in range(count):
            _twist(screws, h, q, b, omega, 0)
            _twist(screws, h, qdot, b, omega, 2)
            square = omega[0, 0] ** 2 + omega[0, 1] ** 2 + omega[0, 2] ** 2
            _functions(series, square, f)
            jacobian = jacobians[b, h]
            _jacobians(omega, f, jacobian, changes[b, h], parts, lean_and_half)
            arm = arms[b, h]
            for i in range(3):
                for j in range(3):
                    arm[j, i] = f[0] * omega[0, i] * omega[0, j]
                arm[i, i] += 1.0 - f[0] * square
            for i in range(3):
                j, k = (i + 1) % 3, (i + 2) % 3
                arm[j, k] += f[6] * omega[0, i]
                arm[k, j] -= f[6] * omega[0, i]
            for i in range(3):
                shift = 0.0
                for j in range(3):
                    shift += jacobian[i, j] * omega[1, j] - arm[j, i] * centers[h, j]
                arm[3, i] = shift
            for m in range(6):
                total = 0.0
                for j in range(3):
                    total += jacobian[m, j] * omega[2, j] + jacobian[m, 3 + j] * omega[3, j]
                moving[m] = total
            for k in range(4):
                for i in range(3):
                    rates[b, h, k, i] = 0.0
                    rows[b, 4 * h + k, i] = arm[k, i]
                _cross(moving[:3], arm[k], rates[b, h, k])
            for i in range(3):
                rates[b, h, 3, i] += moving[3 + i]
                rows[b, 4 * h + 3, i] += centers[h, i]


@compiled
def pull(screws, arms, jacobians, forces, out):
    """Forces on rows ``(B, K, 3)`` as forces on coordinates, added to ``out``."""
    batch, count = arms.shape[0], arms.shape[1]
    wrench = np.empty(6)
    for b in range(batch):
        for h in range(count):
            for i in range(3):
                wrench[i] = 0.0
            for k in range(4):
                _cross(arms[b, h, k], forces[b, 4 * h + k], wrench)
            for i in range(3):
                wrench[3 + i] = forces[b, 4 * h + 3, i]
            _collect(screws, h, jacobians[b, h], wrench, out[b])


@compiled
def rate_pull(screws, arms, rates, jacobians, changes, forces):
    """What the change of the derivatives makes of forces on rows."""
    batch, count, dim = arms.shape[0], arms.shape[1], screws.shape[2]
    out = np.zeros((batch, dim))
    wrench, turning = np.empty(6), np.zeros(6)
    for b in range(batch):
        for h in range(count):
            for i in range(3):
                wrench[i] = turning[i] = 0.0
            for k in range(4):
                _cross(arms[b, h, k], forces[b, 4 * h + k], wrench)
                _cross(rates[b, h, k], forces[b, 4 * h + k], turning)
            for i in range(3):
                wrench[3 + i] = forces[b, 4 * h + 3, i]
            _collect(screws, h, changes[b, h], wrench, out[b])
            _collect(screws, h, jacobians[b, h], turning, out[b])
    return out


@compiled
def _collect(screws, h, jacobian, wrench, out):
    """A wrench on one handle as forces on coordinates, added."""
    for m in range(6):
        by_twist = 0.0
        for n in range(6):
            by_twist += jacobian[n, m] * wrench[n]
        if by_twist != 0.0:
            for d in range(out.shape[0]):
                out[d] += screws[m, h, d] * by_twist


@compiled
def slopes(screws, arms, jacobians, out):
    """Derivatives of the rows by the coordinates, added to ``out`` ``(B, K, 3, D)``."""
    batch, count, dim = arms.shape[0], arms.shape[1], screws.shape[2]
    spin, moved = np.empty(3), np.empty(3)
    for b in range(batch):
        for h in range(count):
            for m in range(6):
                for i in range(3):
                    spin[i] = jacobians[b, h, i, m]
                for k in range(4):
                    for i in range(3):
                        moved[i] = 0.0
                    _cross(spin, arms[b, h, k], moved)
                    for i in range(3):
                        value = moved[i] + (jacobians[b, h, 3 + i, m] if k == 3 else 0.0)
                        if value != 0.0:
                            row = out[b, 4 * h + k, i]
                            for d in range(dim):
                                row[d] += screws[m, h, d] * value
