"""Whole steps of the incremental potential for objects in closed form: its value, slopes and minimum, start and end.

The same as ``dynamics.reduced.incremental`` does with one call for each quantity of each object.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy import ndarray

from neurok.compiled import bodies as frames
from neurok.compiled import contact, coordinates
from neurok.compiled.features import free_base
from neurok.compiled.loops import compiled

FINE, NOT_FINITE, NOT_CONVERGED = 0, 1, 2
"""How a minimisation ended."""

EASED = 0.1
"""Curvature that friction of joints and of rolling keeps where it slides, as in ``contact.SLIDING``."""


class Own(NamedTuple):
    """What acts on the coordinates themselves: springs, limits, damping, dry friction of joints and of rolling."""

    stiffness: ndarray
    lower: ndarray
    upper: ndarray
    steepness: ndarray
    buffer: ndarray
    viscosity: ndarray
    vectors: ndarray
    """Of the limits of all coordinates together ``(R, 3, D)`` ..."""

    wells: ndarray
    """... and their steepness and buffer ``(R, 2)``."""

    rub_limits: ndarray
    rub_stiffness: ndarray
    rub_slips: ndarray
    roll_limits: ndarray
    """Torque of each object at which it rolls ``(M,)``; 0 where nothing resists."""

    roll_stiffness: float
    roll_slips: ndarray


class Touching(NamedTuple):
    """Contacts of a step, as the columns of ``Rows``."""

    touched: ndarray
    """1 for objects with points among them ``(M,)``."""

    rows: ndarray
    """Features of the points: of each such object ``(C, K)``, one after the other."""

    start: ndarray
    normals: ndarray
    gaps: ndarray
    stiffness: ndarray
    presses: ndarray
    friction: ndarray
    loads: ndarray
    pressed: ndarray
    slips: ndarray
    slid: ndarray


class Limits(NamedTuple):
    """When a minimum is good enough; see ``ImplicitConfig``."""

    tolerance: float
    last_change: float
    last_share: float
    inner: float
    lost: float
    same_mass: int
    max_newton: int
    max_search: int


class Found(NamedTuple):
    """Where a minimisation is; written over."""

    place: frames.Place
    moved: ndarray
    """How far points have moved against what they touch ``(C, 3)``."""

    force: ndarray
    bend: ndarray
    gradient: ndarray


@compiled
def begin(bodies, own, poses, q, p, place, rate, qdot, mass):
    """Frames, masses and rates at the start of a step; kinetic energy and that of all loads."""
    frames.locate(bodies, poses, q, place)
    frames.mass_matrix(bodies, place, mass)
    contact.solve(mass.copy(), p, qdot)
    frames.rates(bodies, place, qdot, rate)
    return 0.5 * contact._dot(p, qdot), stored(bodies, own, place, q)


@compiled
def stored(bodies, own, place, q):
    """Energy of gravity and of all that acts on the coordinates."""
    total = coordinates.energy(
        q, np.zeros_like(q), own.stiffness, own.lower, own.upper, own.steepness, own.buffer, own.viscosity,
        own.vectors, own.wells, np.zeros_like(q),
    )  # fmt: skip
    for m in range(bodies.trees.shape[0]):
        for k in range(4 * bodies.frames[m], 4 * bodies.frames[m + 1]):
            for i in range(3):
                total -= bodies.weights[k] * bodies.gravity[m, i] * place.y[k, i]
    return total


@compiled
def field_force(bodies, place, out):
    """Generalised force of gravity."""
    force = np.empty(place.y.shape)
    for m in range(bodies.trees.shape[0]):
        for k in range(4 * bodies.frames[m], 4 * bodies.frames[m + 1]):
            for i in range(3):
                force[k, i] = bodies.weights[k] * bodies.gravity[m, i]
    out[:] = 0.0
    frames.pull(bodies, place, force, out)


@compiled
def _friction(own, bodies, moved, gradient):
    """Energy of dry friction of joints and of rolling; ``gradient`` gets its slopes."""
    total = 0.0
    for d in range(moved.shape[0]):
        k, limit = own.rub_stiffness[d], own.rub_limits[d]
        if k > 0.0:
            offset = moved[d] + own.rub_slips[d]
            length = abs(offset)
            if k * length <= limit:
                total += 0.5 * k * length**2
                gradient[d] += k * offset
            else:
                total += limit * (length - limit / (2.0 * k))
                gradient[d] += limit / length * offset
    for m in range(bodies.trees.shape[0]):
        limit = own.roll_limits[m]
        if limit > 0.0:
            at, k = bodies.first[m] + 3, own.roll_stiffness * limit
            offset = moved[at : at + 3] + own.roll_slips[m]
            length = np.sqrt(contact._dot(offset, offset))
            sticks = k * length <= limit
            total += 0.5 * k * length**2 if sticks else limit * (length - limit / (2.0 * k))
            for i in range(3):
                gradient[at + i] += (k if sticks else limit / length) * offset[i]
    return total


@compiled
def _add_friction_curvature(own, bodies, moved, matrix):
    for d in range(moved.shape[0]):
        k, limit = own.rub_stiffness[d], own.rub_limits[d]
        if k > 0.0:
            length = abs(moved[d] + own.rub_slips[d])
            matrix[d, d] += k if k * length <= limit else EASED * limit / length
    for m in range(bodies.trees.shape[0]):
        limit = own.roll_limits[m]
        if limit > 0.0:
            at, k = bodies.first[m] + 3, own.roll_stiffness * limit
            offset = moved[at : at + 3] + own.roll_slips[m]
            length = np.sqrt(contact._dot(offset, offset))
            sticks = k * length <= limit
            for i in range(3):
                matrix[at + i, at + i] += k if sticks else limit / length
                if not sticks:
                    for j in range(3):
                        matrix[at + i, at + j] -= (1.0 - EASED) * limit / length * offset[i] * offset[j] / length**2


@compiled
def _evaluate(bodies, own, touch, poses, q0, q, dt, targets, found, forces, hopeful):
    """Value of the incremental potential, and whether something tore; slopes go into ``found``."""
    place, gradient = found.place, found.gradient
    frames.locate(bodies, poses, q, place)
    gap = place.y - targets
    frames.weigh(bodies, gap, forces)
    value = 0.0
    for m in range(bodies.trees.shape[0]):
        for k in range(4 * bodies.frames[m], 4 * bodies.frames[m + 1]):
            for i in range(3):
                pulled = forces[k, i] / dt**2
                weight = bodies.weights[k] * bodies.gravity[m, i]
                value += 0.5 * gap[k, i] * pulled - weight * place.y[k, i]
                forces[k, i] = pulled - weight
    torn = False
    if touch.gaps.shape[0]:
        _follow(bodies, touch, found)
        energy, torn = contact.terms(
            found.moved, touch.normals, touch.gaps, touch.stiffness, touch.presses, touch.friction, touch.loads,
            touch.pressed, touch.slips, touch.slid, hopeful, found.force, found.bend,
        )  # fmt: skip
        value += energy
        if energy > 0.0:
            frames.collect(bodies, touch.touched, touch.rows, found.force, forces)
    gradient[:] = 0.0
    frames.pull(bodies, place, forces, gradient)
    moved = q - q0
    value += coordinates.energy(
        q, moved / dt, own.stiffness, own.lower, own.upper, own.steepness, own.buffer, own.viscosity,
        own.vectors, own.wells, gradient,
    )  # fmt: skip
    value += _friction(own, bodies, moved, gradient)
    return value, torn


@compiled
def _follow(bodies, touch, found):
    """How far points have moved."""
    frames.places(bodies, touch.touched, touch.rows, found.place.y, found.moved)
    found.moved[:] -= touch.start


@compiled
def _smooth_curvature(bodies, own, mass, q0, q, dt):
    """Of all but the contact."""
    matrix, moved = mass / dt**2, q - q0
    coordinates.add_curvature(
        q, moved / dt, dt, own.stiffness, own.lower, own.upper, own.steepness, own.buffer, own.viscosity,
        own.vectors, own.wells, matrix,
    )  # fmt: skip
    _add_friction_curvature(own, bodies, moved, matrix)
    return matrix


@compiled
def _is_finite(values):
    total = 0.0
    for value in values:
        total += 0.0 * value
    return total == 0.0


@compiled
def minimise(bodies, own, touch, limits, poses, q0, q, dt, targets, mass, slopes, is_known, found):
    """The minimum of the incremental potential from a guess ``q``, which is written over; how it ended.

    ``mass`` and ``slopes`` (of the points, ``(C, 3, D)``) are kept from an earlier pass where ``is_known``.
    """
    forces, place = np.empty(found.place.y.shape), found.place
    count, dim = touch.gaps.shape[0], q.shape[0]
    change, trial, gradient = np.empty(dim), np.empty(dim), found.gradient
    value, torn = _evaluate(bodies, own, touch, poses, q0, q, dt, targets, found, forces, False)
    if torn:
        _held(bodies, own, touch, poses, q0, q, dt, targets, found, forces, mass, is_known, change)
        value, torn = _evaluate(bodies, own, touch, poses, q0, q, dt, targets, found, forces, False)
    reach = 0.0
    for iteration in range(limits.max_newton):
        if not is_known or iteration >= limits.same_mass:
            frames.mass_matrix(bodies, place, mass)
            if count:
                frames.jacobian(bodies, place, touch.touched, touch.rows, slopes)
            is_known = True
        matrix = _smooth_curvature(bodies, own, mass, q0, q, dt)
        if count:
            change[:] = contact.descent(
                matrix, gradient, slopes, found.moved, touch.normals, touch.gaps, touch.stiffness, touch.presses,
                touch.friction, touch.loads, touch.pressed, touch.slips, touch.slid,
                limits.inner, limits.max_newton, limits.max_search,
            )  # fmt: skip
        else:
            contact.solve(matrix, gradient, change)
            change *= -1.0
        if not _is_finite(change):
            return NOT_FINITE
        reach = np.abs(change).max()
        if reach <= limits.tolerance:
            return FINE
        if reach <= max(limits.last_change, limits.last_share * np.abs(q - q0).max()):
            q += change
            frames.locate(bodies, poses, q, place)
            if count:
                _follow(bodies, touch, found)
            return FINE
        slope, scale, is_lower = contact._dot(gradient, change), 1.0, False
        before = gradient.copy()
        for _ in range(limits.max_search):
            trial[:] = q + scale * change
            ahead_value, torn = _evaluate(bodies, own, touch, poses, q0, trial, dt, targets, found, forces, False)
            ahead = contact._dot(gradient, change)
            level = ahead <= -0.5 * slope and (scale < 1.0 or ahead >= 0.5 * slope)
            if level or ahead_value <= value + 1e-4 * scale * slope:
                is_lower = True
                break
            scale *= min(0.5, max(0.1, slope / (slope - ahead))) if ahead > 0 else 0.5
        if not is_lower:
            gradient[:] = before
            frames.locate(bodies, poses, q, place)
            if count:
                _follow(bodies, touch, found)
            return FINE
        q[:] = trial
        value = ahead_value
    return NOT_CONVERGED if reach > limits.lost else FINE


@compiled
def _held(bodies, own, touch, poses, q0, q, dt, targets, found, forces, mass, is_known, change):
    """Move a guess to where everything sticks that did not slide before."""
    _evaluate(bodies, own, touch, poses, q0, q, dt, targets, found, forces, True)
    here = mass
    if not is_known:
        here = np.empty(mass.shape)
        frames.mass_matrix(bodies, found.place, here)
    matrix = _smooth_curvature(bodies, own, here, q0, q, dt)
    slopes = np.empty((touch.gaps.shape[0], 3, q.shape[0]))
    frames.jacobian(bodies, found.place, touch.touched, touch.rows, slopes)
    contact.add_curvature(matrix, slopes, touch.normals, touch.stiffness, found.bend)
    contact.solve(matrix, found.gradient, change)
    if _is_finite(change):
        q -= change


@compiled
def end(bodies, own, place, q0, q, dt, rate, p):
    """Rates and momenta at the end of a step; kinetic energy and that of all loads."""
    frames.rates(bodies, place, (q - q0) / dt, rate)
    weighed = np.empty(rate.shape)
    frames.weigh(bodies, rate, weighed)
    p[:] = 0.0
    frames.pull(bodies, place, weighed, p)
    return 0.5 * (rate * weighed).sum(), stored(bodies, own, place, q)


@compiled
def rebase(bodies, poses, q, p, new):
    """Free bases back at the origin of their charts: ``new`` poses; coordinates and momenta are written over."""
    frame, screws = np.empty((1, 4, 4)), np.empty((1, 6, 4, 4))
    before, after, zero, twice = np.empty((6, 6)), np.empty((6, 6)), np.zeros((1, 6)), np.empty((3, 3))
    for m in range(bodies.trees.shape[0]):
        new[m] = poses[m]
        if not bodies.free[m]:
            continue
        at = bodies.first[m]
        frame[:], screws[:] = 0.0, 0.0
        free_base(poses[m], bodies.centers[m], q[at : at + 6].reshape(1, 6), frame, screws)
        _twists(screws[0], before)
        turn = frame[0, :3, :3]
        for i in range(3):
            for j in range(3):
                total = 0.0
                for k in range(3):
                    total += turn[k, i] * turn[k, j]
                twice[i, j] = (1.5 if i == j else 0.0) - 0.5 * total
        new[m] = frame[0]
        for i in range(3):
            for j in range(3):
                total = 0.0
                for k in range(3):
                    total += turn[i, k] * twice[k, j]
                new[m, i, j] = total
        q[at : at + 6] = 0.0
        frame[:], screws[:] = 0.0, 0.0
        free_base(new[m], bodies.centers[m], zero, frame, screws)
        _twists(screws[0], after)
        wrench = np.linalg.solve(before, p[at : at + 6].copy())
        for d in range(6):
            total = 0.0
            for i in range(6):
                total += after[d, i] * wrench[i]
            p[at + d] = total


@compiled
def _twists(screws, out):
    for d in range(6):
        screw = screws[d]
        out[d, 0], out[d, 1], out[d, 2] = screw[2, 1], screw[0, 2], screw[1, 0]
        for i in range(3):
            out[d, 3 + i] = screw[i, 3]
