"""Poses of all objects of a scene as features: x = C Y(q), with the four rows of every rigid frame for Y.

A frame is a node of a tree of joints, or a handle that moves by the exponential of a twist on a base. Its rows are the
columns of its rotation, and where it takes the origin. All objects lie side by side in the arrays of ``Bodies``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy import ndarray

from neurok.compiled.features import free_base
from neurok.compiled.handles import _cross, _functions, _twist
from neurok.compiled.loops import compiled


class Bodies(NamedTuple):
    """What never changes of M objects with F frames and D coordinates."""

    trees: ndarray
    """1 for a tree of joints, 0 for handles ``(M,)``."""

    first: ndarray
    """Where the coordinates of each begin ``(M + 1,)``."""

    frames: ndarray
    """Where its frames begin ``(M + 1,)``."""

    free: ndarray
    """Coordinates of its base, 6 or 0 ``(M,)``."""

    centers: ndarray
    """About which a free base turns ``(M, 3)``."""

    parents: ndarray
    """Of a tree: the frame that carries each frame ``(F,)``."""

    order: ndarray
    """Of a tree: its frames, parents first ``(F,)``."""

    curves: ndarray
    """Of a tree: what multiplies 1, sin q, cos q and q in the transform of each joint ``(F, 4, 4, 4)``."""

    generators: ndarray
    """Of a tree: derivative of each joint's transform at rest ``(F, 4, 4)``."""

    moves: ndarray
    """1 where a coordinate moves a frame of a tree ``(F, D)``."""

    handles: ndarray
    """Where the twists of handles are taken ``(F, 3)``."""

    twists: ndarray
    """Screws ``(6, H, D)`` of the handles of each object, one after the other."""

    twist_at: ndarray
    """Where they begin ``(M,)``."""

    masses: ndarray
    """CᵀMC of each object, one after the other: ``(K, K)`` of handles, ``(4, 4)`` of each frame of a tree."""

    mass_at: ndarray
    weights: ndarray
    """CᵀM1 ``(K,)``."""

    gravity: ndarray
    """``(M, 3)``."""

    series: ndarray
    """Power series of the exponential."""


class Place(NamedTuple):
    """Where all frames are at some coordinates; written over."""

    y: ndarray
    """``(K, 3)``."""

    slopes: ndarray
    """∂Y/∂q of each object, ``(K, 3, D)``, one after the other."""

    slope_at: ndarray
    screws: ndarray
    """Of the coordinates of bases and joints ``(D, 4, 4)``."""


@compiled
def _jacobian(omega, f, out):
    """From rates of a twist to spin and velocity: V(ω) = I + b W + c W² and its change along v; ``omega`` has both."""
    square = 2.0 * (omega[0, 0] * omega[1, 0] + omega[0, 1] * omega[1, 1] + omega[0, 2] * omega[1, 2])
    lean, half = np.empty((2, 3)), np.empty((2, 3))
    for i in range(3):
        lean[0, i], half[0, i] = f[0] * omega[0, i], f[1] * omega[0, i]
        lean[1, i] = f[0] * omega[1, i] + f[2] * square * omega[0, i]
        half[1, i] = f[1] * omega[1, i] + f[3] * square * omega[0, i]
    for i in range(3):
        for j in range(3):
            here = omega[0, i] * half[0, j]
            out[i, j] = here
            out[3 + i, j] = omega[0, i] * half[1, j] + omega[1, i] * half[0, j]
            out[i, 3 + j] = 0.0
    for part in range(2):
        row = 3 * part
        stretch = 1.0 - part - out[row, 0] - out[row + 1, 1] - out[row + 2, 2]
        for i in range(3):
            out[row + i, i] += stretch
            j, k = (i + 1) % 3, (i + 2) % 3
            out[row + k, j] += lean[part, i]
            out[row + j, k] -= lean[part, i]
    for i in range(3):
        for j in range(3):
            out[3 + i, 3 + j] = out[i, j]


@compiled
def _handles(bodies, m, frame, screws, q, place):
    """Rows of the handles of one object and their derivatives, given the frame and screws of its base."""
    first, last, free = bodies.frames[m], bodies.frames[m + 1], bodies.free[m]
    count, dim = last - first, bodies.first[m + 1] - bodies.first[m]
    inner = dim - free
    at = bodies.twist_at[m]
    twists = bodies.twists[at : at + 6 * count * inner].reshape(6, count, inner)
    own = q[bodies.first[m] + free : bodies.first[m + 1]]
    start = place.slope_at[m]
    slopes = place.slopes[start : start + 12 * count * dim].reshape(4 * count, 3, dim)
    f, omega, jacobian = np.empty(7), np.empty((2, 3)), np.empty((6, 6))
    arm, moved, column, turned = np.empty((4, 3)), np.empty(3), np.empty(3), np.empty((4, 3, 6))
    for h in range(count):
        _twist(twists, h, own, omega.reshape(6))
        square = omega[0, 0] ** 2 + omega[0, 1] ** 2 + omega[0, 2] ** 2
        _functions(bodies.series, square, f)
        _jacobian(omega, f, jacobian)
        center = bodies.handles[first + h]
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
                shift += jacobian[i, j] * omega[1, j] - arm[j, i] * center[j]
            arm[3, i] = shift
        for k in range(4):
            row = 4 * (first + h) + k
            for i in range(3):
                total = frame[i, 3] if k == 3 else 0.0
                for j in range(3):
                    total += frame[i, j] * (arm[k, j] + (center[j] if k == 3 else 0.0))
                place.y[row, i] = total
        for n in range(6):
            for i in range(3):
                column[i] = jacobian[i, n]
            for k in range(4):
                moved[:] = 0.0
                _cross(column, arm[k], moved)
                if k == 3:
                    for i in range(3):
                        moved[i] += jacobian[3 + i, n]
                for i in range(3):
                    turned[k, i, n] = frame[i, 0] * moved[0] + frame[i, 1] * moved[1] + frame[i, 2] * moved[2]
        for k in range(4):
            spot = place.y[4 * (first + h) + k]
            for i in range(3):
                out = slopes[4 * h + k, i]
                for d in range(free):
                    total = screws[d, i, 3] if k == 3 else 0.0
                    for j in range(3):
                        total += screws[d, i, j] * spot[j]
                    out[d] = total
                rest = out[free:]
                rest[:] = 0.0
                for n in range(6):
                    value = turned[k, i, n]
                    for d in range(inner):
                        rest[d] += value * twists[n, h, d]


@compiled
def _tree(bodies, m, frame, screws, q, place):
    """Rows of the nodes of one tree and their derivatives."""
    first, last, free = bodies.frames[m], bodies.frames[m + 1], bodies.free[m]
    begin, dim = bodies.first[m], bodies.first[m + 1] - bodies.first[m]
    count = last - first
    nodes, joint, carried = np.empty((count, 4, 4)), np.empty((4, 4)), np.empty((4, 4))
    nodes[0] = frame
    for d in range(free):
        place.screws[begin + d] = screws[d]
    for index in range(1, count):
        n = bodies.order[first + index] - first
        parent = nodes[bodies.parents[first + n] - first]
        d = free + n - 1
        value, curve = q[begin + d], bodies.curves[first + n]
        sine, cosine = np.sin(value), np.cos(value)
        for i in range(4):
            for j in range(4):
                joint[i, j] = curve[0, i, j] + sine * curve[1, i, j] + cosine * curve[2, i, j] + value * curve[3, i, j]
        generator, screw = bodies.generators[first + n], place.screws[begin + d]
        for i in range(4):
            for j in range(4):
                total, turned = 0.0, 0.0
                for k in range(4):
                    total += parent[i, k] * joint[k, j]
                    turned += parent[i, k] * generator[k, j]
                nodes[n, i, j] = total
                carried[i, j] = turned
        # After the inverse of the parent: its rotation is orthogonal.
        for i in range(4):
            screw[i, 3] = carried[i, 3]
            for j in range(3):
                total = 0.0
                for k in range(3):
                    total += carried[i, k] * parent[j, k]
                screw[i, j] = total
            for j in range(3):
                screw[i, 3] -= screw[i, j] * parent[j, 3]
    start = place.slope_at[m]
    slopes = place.slopes[start : start + 12 * count * dim].reshape(4 * count, 3, dim)
    for n in range(count):
        moves = bodies.moves[first + n]
        for k in range(4):
            spot = place.y[4 * (first + n) + k]
            for i in range(3):
                spot[i] = nodes[n, i, k]
            for i in range(3):
                out = slopes[4 * n + k, i]
                for d in range(dim):
                    if moves[begin + d] > 0.0:
                        screw = place.screws[begin + d]
                        total = screw[i, 3] if k == 3 else 0.0
                        for j in range(3):
                            total += screw[i, j] * spot[j]
                        out[d] = total
                    else:
                        out[d] = 0.0


@compiled
def locate(bodies, poses, q, place):
    """Where all frames are, and how they follow the coordinates."""
    base, screws = np.empty((1, 4, 4)), np.empty((1, 6, 4, 4))
    for m in range(bodies.trees.shape[0]):
        free = bodies.free[m]
        if free:
            base[:] = 0.0
            screws[:] = 0.0
            begin = bodies.first[m]
            free_base(poses[m], bodies.centers[m], q[begin : begin + 6].reshape(1, 6), base, screws)
        else:
            base[0] = poses[m]
        if bodies.trees[m]:
            _tree(bodies, m, base[0], screws[0], q, place)
        else:
            _handles(bodies, m, base[0], screws[0], q, place)


@compiled
def weigh(bodies, values, out):
    """CᵀMC applied to features ``(K, 3)``."""
    for m in range(bodies.trees.shape[0]):
        first, last, at = bodies.frames[m], bodies.frames[m + 1], bodies.mass_at[m]
        if bodies.trees[m]:
            for n in range(first, last):
                matrix = bodies.masses[at + 16 * (n - first) : at + 16 * (n - first + 1)].reshape(4, 4)
                for k in range(4):
                    for i in range(3):
                        total = 0.0
                        for j in range(4):
                            total += matrix[k, j] * values[4 * n + j, i]
                        out[4 * n + k, i] = total
        else:
            count = 4 * (last - first)
            matrix = bodies.masses[at : at + count * count].reshape(count, count)
            out[4 * first : 4 * last] = np.dot(matrix, values[4 * first : 4 * last])


@compiled
def mass_matrix(bodies, place, out):
    """JᵀMJ of everything."""
    out[:] = 0.0
    for m in range(bodies.trees.shape[0]):
        first, last, at = bodies.frames[m], bodies.frames[m + 1], bodies.mass_at[m]
        begin, end = bodies.first[m], bodies.first[m + 1]
        count, dim, start = 4 * (last - first), end - begin, place.slope_at[m]
        if dim == 0:
            continue
        slopes = place.slopes[start : start + 3 * count * dim]
        wide, tall = slopes.reshape(count, 3 * dim), slopes.reshape(3 * count, dim)
        if bodies.trees[m]:
            weighed = np.empty((count, 3 * dim))
            for n in range(last - first):
                matrix = bodies.masses[at + 16 * n : at + 16 * (n + 1)].reshape(4, 4)
                for k in range(4):
                    row = weighed[4 * n + k]
                    row[:] = 0.0
                    for j in range(4):
                        value = matrix[k, j]
                        for d in range(3 * dim):
                            row[d] += value * wide[4 * n + j, d]
        else:
            matrix = bodies.masses[at : at + count * count].reshape(count, count)
            weighed = np.dot(matrix, wide)
        out[begin:end, begin:end] = np.dot(tall.T, weighed.reshape(3 * count, dim))


@compiled
def pull(bodies, place, forces, out):
    """Forces on features ``(K, 3)`` as forces on coordinates, added to ``out``."""
    for m in range(bodies.trees.shape[0]):
        first, last = bodies.frames[m], bodies.frames[m + 1]
        begin, dim = bodies.first[m], bodies.first[m + 1] - bodies.first[m]
        start = place.slope_at[m]
        slopes = place.slopes[start : start + 12 * (last - first) * dim].reshape(4 * (last - first), 3, dim)
        mine = out[begin : begin + dim]
        for k in range(4 * (last - first)):
            for i in range(3):
                value = forces[4 * first + k, i]
                if value != 0.0:
                    for d in range(dim):
                        mine[d] += value * slopes[k, i, d]


@compiled
def rates(bodies, place, qdot, out):
    """How features move ``(K, 3)``."""
    for m in range(bodies.trees.shape[0]):
        first, last = bodies.frames[m], bodies.frames[m + 1]
        begin, dim = bodies.first[m], bodies.first[m + 1] - bodies.first[m]
        start = place.slope_at[m]
        slopes = place.slopes[start : start + 12 * (last - first) * dim].reshape(4 * (last - first), 3, dim)
        for k in range(4 * (last - first)):
            for i in range(3):
                total = 0.0
                for d in range(dim):
                    total += slopes[k, i, d] * qdot[begin + d]
                out[4 * first + k, i] = total


@compiled
def places(bodies, touched, rows, y, out):
    """Where points are, given their features: of each object that is touched a matrix ``(C, K)``, one after another."""
    out[:] = 0.0
    at = 0
    for m in range(bodies.trees.shape[0]):
        if touched[m]:
            first, last = 4 * bodies.frames[m], 4 * bodies.frames[m + 1]
            size = out.shape[0] * (last - first)
            out += np.dot(rows[at : at + size].reshape(out.shape[0], last - first), y[first:last])
            at += size


@compiled
def collect(bodies, touched, rows, force, out):
    """Forces on points as forces on features, added to ``out``."""
    count, at = force.shape[0], 0
    for m in range(bodies.trees.shape[0]):
        if touched[m]:
            first, last = 4 * bodies.frames[m], 4 * bodies.frames[m + 1]
            size = count * (last - first)
            out[first:last] += np.dot(rows[at : at + size].reshape(count, last - first).T, force)
            at += size


@compiled
def jacobian(bodies, place, touched, rows, out):
    """How points follow the coordinates ``(C, 3, D)``."""
    count, at = out.shape[0], 0
    out[:] = 0.0
    for m in range(bodies.trees.shape[0]):
        if touched[m]:
            first, last = bodies.frames[m], bodies.frames[m + 1]
            begin, end, width = bodies.first[m], bodies.first[m + 1], 4 * (last - first)
            dim, start = end - begin, place.slope_at[m]
            size = count * width
            slopes = place.slopes[start : start + 3 * width * dim].reshape(width, 3 * dim)
            found = np.dot(rows[at : at + size].reshape(count, width), slopes).reshape(count, 3, dim)
            out[:, :, begin:end] = found
            at += size
