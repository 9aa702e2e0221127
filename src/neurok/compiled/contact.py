"""Contact and friction of points that move straight: energy, forces, curvature, and the descent of all coordinates.

The fields of ``dynamics.reduced.contact.Rows`` come in as one array each. A row feels its plane where it ``presses``,
and rubs with the normal force of the row that ``pressed`` names.
"""

from __future__ import annotations

import numpy as np

from neurok.compiled.loops import compiled

SLIDING = 0.1
"""Curvature that is kept along the path of what slides, as a share of what it would be if it stuck: there friction is
the same however far it goes, and without any steps would overshoot what comes to a stop."""

NOTHING = 1e-300
"""Added to lengths that are divided by."""


@compiled
def terms(moved, normals, gaps, stiffness, presses, friction, loads, pressed, slips, slid, hopeful, force, bend):
    """Energy, and whether something that did not slide before does so now; forces and what curvature needs go into
    ``force`` ``(C, 3)`` and ``bend`` ``(C, 6)``: depth, slope of friction, whether it sticks, direction of its path."""
    energy, torn = 0.0, False
    offset = np.empty(3)
    for c in range(gaps.shape[0]):
        k = stiffness[c]
        fall, along = 0.0, 0.0
        for i in range(3):
            fall += moved[c, i] * normals[c, i]
            offset[i] = moved[c, i] + slips[c, i]
            along += offset[i] * normals[c, i]
        depth = max(-gaps[c] - fall, 0.0) * presses[c]
        limit = friction[c] * loads[pressed[c]]
        square = 0.0
        for i in range(3):
            offset[i] -= along * normals[c, i]
            square += offset[i] ** 2
        length = np.sqrt(square)
        sticks = k * length <= limit
        if not sticks and not slid[c] and limit > 0.0:
            torn = True
        if hopeful and not slid[c]:
            sticks = True
        if sticks:
            slope = k if limit > 0.0 else 0.0
            energy += 0.5 * slope * square
        else:
            slope = limit / max(length, NOTHING)
            energy += limit * (length - limit / (2.0 * k))
        energy += 0.5 * k * depth**2
        bend[c, 0], bend[c, 1], bend[c, 2] = depth, slope, 1.0 if sticks else 0.0
        for i in range(3):
            force[c, i] = -k * depth * normals[c, i] + slope * offset[i]
            bend[c, 3 + i] = offset[i] / max(length, NOTHING)
    return energy, torn


@compiled
def add_curvature(matrix, jacobian, normals, stiffness, bend):
    """Add a positive approximation of the curvature of all rows, given how they follow the coordinates."""
    dim = matrix.shape[0]
    block, half = np.empty((3, 3)), np.empty((3, dim))
    for c in range(bend.shape[0]):
        depth, slope, sticks = bend[c, 0], bend[c, 1], bend[c, 2] > 0.0
        if depth <= 0.0 and slope <= 0.0:
            continue
        pressed = (stiffness[c] if depth > 0.0 else 0.0) - slope
        eased = 0.0 if sticks else -(1.0 - SLIDING) * slope
        for i in range(3):
            for j in range(3):
                block[i, j] = pressed * normals[c, i] * normals[c, j] + eased * bend[c, 3 + i] * bend[c, 3 + j]
            block[i, i] += slope
        for i in range(3):
            for d in range(dim):
                half[i, d] = (
                    block[i, 0] * jacobian[c, 0, d] + block[i, 1] * jacobian[c, 1, d] + block[i, 2] * jacobian[c, 2, d]
                )
        for d in range(dim):
            x, y, z = jacobian[c, 0, d], jacobian[c, 1, d], jacobian[c, 2, d]
            if x == 0.0 and y == 0.0 and z == 0.0:
                continue
            for e in range(dim):
                matrix[d, e] += x * half[0, e] + y * half[1, e] + z * half[2, e]


@compiled
def solve(matrix, right, out):
    """Solve with a positive matrix (Cholesky, in place); coordinates whose pivot round-off has spoilt stand still."""
    dim = matrix.shape[0]
    for j in range(dim):
        whole = matrix[j, j]
        pivot = whole
        for k in range(j):
            pivot -= matrix[j, k] ** 2
        if not pivot > 1e-14 * whole:
            pivot = np.inf
        root = np.sqrt(pivot)
        matrix[j, j] = root
        for i in range(j + 1, dim):
            total = matrix[i, j]
            for k in range(j):
                total -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = total / root
    for i in range(dim):
        total = right[i]
        for k in range(i):
            total -= matrix[i, k] * out[k]
        out[i] = total / matrix[i, i]
    for i in range(dim - 1, -1, -1):
        total = out[i]
        for k in range(i + 1, dim):
            total -= matrix[k, i] * out[k]
        out[i] = total / matrix[i, i]


@compiled
def _dot(a, b):
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@compiled
def _follow(jacobian, change, moved, out):
    """Where points are after a change of the coordinates."""
    for c in range(jacobian.shape[0]):
        for i in range(3):
            total = moved[c, i]
            for d in range(change.shape[0]):
                total += jacobian[c, i, d] * change[d]
            out[c, i] = total


@compiled
def _gather(jacobian, force, sign, out):
    """out += sign times the forces on points as forces on coordinates."""
    for c in range(jacobian.shape[0]):
        for i in range(3):
            value = sign * force[c, i]
            if value != 0.0:
                for d in range(out.shape[0]):
                    out[d] += jacobian[c, i, d] * value


@compiled
def _times(matrix, vector, out):
    for i in range(out.shape[0]):
        total = 0.0
        for j in range(out.shape[0]):
            total += matrix[i, j] * vector[j]
        out[i] = total


@compiled
def descent(
    matrix, gradient, jacobian, moved, normals, gaps, stiffness, presses, friction, loads, pressed, slips, slid,
    inner, max_newton, max_search,
):  # fmt: skip
    """The change of all coordinates that minimises the contact of points that move straight, and the rest squared.

    Args:
        matrix: Curvature of all but the contact, ``(D, D)``.
        gradient: Of everything, contact included.
        jacobian: How points follow the coordinates, ``(C, 3, D)``.
        moved: How far they have moved since the start of the step.
        normals: Of the planes; this and the next eight are the columns of ``terms``.
        gaps: Heights above the planes at the start.
        stiffness: Of each row.
        presses: 1 where the plane is felt.
        friction: Coefficients.
        loads: Normal forces of the last pass.
        pressed: Row whose normal force counts.
        slips: How far friction was stretched before.
        slid: Whether it slid before.
        inner: Share of the descent that one more iteration must promise.
        max_newton: Iterations.
        max_search: Trials of a line search.
    """
    dim, count = gradient.shape[0], gaps.shape[0]
    force, bend, places = np.empty((count, 3)), np.empty((count, 6)), np.empty((count, 3))
    smooth, slope, pull = gradient.copy(), np.empty(dim), np.empty(dim)
    change, step, trial, whole = np.zeros(dim), np.empty(dim), np.empty(dim), np.empty((dim, dim))
    energy, _ = terms(
        moved, normals, gaps, stiffness, presses, friction, loads, pressed, slips, slid, False, force, bend
    )
    _gather(jacobian, force, -1.0, smooth)
    for _ in range(max_newton):
        _times(matrix, change, pull)
        for d in range(dim):
            slope[d] = smooth[d] + pull[d]
            for e in range(dim):
                whole[d, e] = matrix[d, e]
        value = _dot(smooth, change) + 0.5 * _dot(change, pull) + energy
        _gather(jacobian, force, 1.0, slope)
        add_curvature(whole, jacobian, normals, stiffness, bend)
        solve(whole, slope, step)
        gain = -_dot(slope, step)
        if not -gain > inner * max(abs(_dot(gradient, change)), NOTHING):
            break
        scale, found = 1.0, False
        for _ in range(max_search):
            for d in range(dim):
                trial[d] = change[d] - scale * step[d]
            _follow(jacobian, trial, moved, places)
            energy, _ = terms(
                places, normals, gaps, stiffness, presses, friction, loads, pressed, slips, slid, False, force, bend
            )
            _times(matrix, trial, pull)
            if _dot(smooth, trial) + 0.5 * _dot(trial, pull) + energy <= value + 1e-4 * scale * gain:
                found = True
                break
            scale *= 0.5
        if not found:
            break
        for d in range(dim):
            change[d] = trial[d]
    return change
