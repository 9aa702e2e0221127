"""Rigid parts on a fixed base that nothing touches: whole steps of Gauss collocation as machine code.

Twists (ω, v) and wrenches (torque, force) are taken about the world's origin, so those of a chain add up. The inertia
of a body is its second-moment matrix Σ m p̃ p̃ᵀ in the world; that of a composite body is the sum (Featherstone, Rigid
Body Dynamics Algorithms, chapters 2 and 6).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from neurok.dynamics.reduced.contact import solve_upper
from neurok.dynamics.reduced.equations import TreeMechanics
from neurok.dynamics.reduced.loads import Damping, LimitWell, UniformField
from neurok.geometry.lie import screw_twists
from neurok.geometry.loops import compiled

TICKS = 4096
"""Pieces of a step are powers of two of these; none is shorter than one."""

MAX_ITERATIONS = 25
"""Of the fixed point of one piece; it contracts by five or more where the piece is short enough to be accurate."""

TOLERANCE = 1e-10
"""Relative change of the rates at which it has converged."""

ENERGY_ERROR = 1e-5
"""Energy that may be lost or won by mistake in one piece, as a share of the largest kinetic energy so far: a hundred
pieces stray by less than a thousandth even if all err the same way, and a longer piece is taken again as two."""

DOUBLED = 2.0**-8
"""A piece may be twice as long where its error is below this share of the largest: it grows with the seventh power."""

ROUND_OFF = 1e-13
"""Of energies, as a share of ``Tree.scale``."""


class Tree(NamedTuple):
    """One articulated body and what acts on it; the last five are room to work in, and the
    first frame is that of the base."""

    order: Any
    """Joints, each after the one that carries it."""

    parents: Any
    """Node that carries each joint."""

    curves: Any
    """Matrices that multiply 1, sin q, cos q and q in the transform of each joint ``(J, 4, 4, 4)``."""

    screws: Any
    """Twist of each joint at rest ``(J, 6)``."""

    moments: Any
    """Second moments of each node at rest ``(N, 4, 4)``."""

    field: Any
    """Acceleration of gravity."""

    scale: float
    """Energy of its weight at a height of its size."""

    wells: Any
    """Lower and upper limits, steepness, damping inside the wells, and damping everywhere ``(5, J)``."""

    frames: Any
    twists: Any
    speeds: Any
    bodies: Any
    wrenches: Any


def tree_of(mechanics: TreeMechanics, loads: tuple[Any, ...], pose: np.ndarray) -> Tree | None:
    """A body in arrays; ``None`` where its base is free or where something acts that has no place in them."""
    tree = mechanics.tree
    if tree.free or not tree.joint_count:
        return None
    wells, field = np.zeros((5, tree.dim)), np.zeros(3)
    wells[0], wells[1] = -np.inf, np.inf
    for load in loads:
        if isinstance(load, UniformField):
            field = field + load.acceleration
        elif isinstance(load, LimitWell):
            wells[:4] = load.lower, load.upper, load.steepness, load.damping
        elif isinstance(load, Damping) and not load.mass_rate:
            wells[4] += load.coefficients
        else:
            return None
    joints, nodes = np.arange(tree.joint_count), tree.joint_count + 1
    order = np.concatenate([joints[level.joints] for level in tree.levels])
    curves = tree.curves.reshape(-1, 4, 4, 4)
    room = (np.tile(pose, (nodes, 1, 1)), np.zeros((nodes, 6)), np.zeros((nodes, 6)), np.zeros((nodes, 4, 4)))
    arrays = (order, tree.parents, curves, screw_twists(tree.generators), mechanics.moments, field)
    scale = mechanics.mass * float(np.linalg.norm(field) * np.linalg.norm(np.ptp(mechanics.vertices, axis=0)))
    return Tree._make([*(np.array(each, order="C") for each in arrays), scale, wells, *room, np.zeros((nodes, 6))])


@compiled
def _locate(tree, q, v):
    """Frames and twists of all joints, velocities of all nodes, and their second moments in the world."""
    half = np.empty((4, 4))
    for j in tree.order:
        up, frame, carrier, twist = tree.parents[j], tree.frames[j + 1], tree.frames[tree.parents[j]], tree.twists[j]
        s, c = np.sin(q[j]), np.cos(q[j])
        for i in range(4):
            for k in range(4):
                half[i, k] = (
                    tree.curves[j, 0, i, k]
                    + s * tree.curves[j, 1, i, k]
                    + c * tree.curves[j, 2, i, k]
                    + q[j] * tree.curves[j, 3, i, k]
                )
        for i in range(4):
            for k in range(4):
                frame[i, k] = 0.0
                for m in range(4):
                    frame[i, k] += carrier[i, m] * half[m, k]
        for i in range(6):
            twist[i] = 0.0
        for i in range(3):
            for k in range(3):
                twist[i] += carrier[i, k] * tree.screws[j, k]
                twist[3 + i] += carrier[i, k] * tree.screws[j, 3 + k]
        for i in range(3):
            k, m = (i + 1) % 3, (i + 2) % 3
            twist[3 + i] += carrier[k, 3] * twist[m] - carrier[m, 3] * twist[k]
        for i in range(6):
            tree.speeds[j + 1, i] = tree.speeds[up, i] + twist[i] * v[j]
    for n in range(tree.frames.shape[0]):
        for i in range(4):
            for k in range(4):
                half[i, k] = 0.0
                for m in range(4):
                    half[i, k] += tree.frames[n, i, m] * tree.moments[n, m, k]
        for i in range(4):
            for k in range(4):
                tree.bodies[n, i, k] = 0.0
                for m in range(4):
                    tree.bodies[n, i, k] += half[i, m] * tree.frames[n, k, m]


@compiled
def _momentum(body, speed, out):
    """Momentum of a body at a twist, added to a wrench: (c × v + (tr Σ − Σ) ω, m v + ω × c), c the first moment."""
    spread = body[0, 0] + body[1, 1] + body[2, 2]
    for i in range(3):
        k, m = (i + 1) % 3, (i + 2) % 3
        out[i] += body[k, 3] * speed[3 + m] - body[m, 3] * speed[3 + k] + spread * speed[i]
        out[3 + i] += body[3, 3] * speed[3 + i] + speed[k] * body[m, 3] - speed[m] * body[k, 3]
        for n in range(3):
            out[i] -= body[i, n] * speed[n]


@compiled
def tree_rates(tree, q, v, p, f, mass):
    """Momenta ``p``, their rates ``f`` and the masses; kinetic and potential energy, and the power of damping."""
    _locate(tree, q, v)
    wrench = np.empty(6)
    for n in range(tree.frames.shape[0]):
        for i in range(6):
            tree.wrenches[n, i] = 0.0
        _momentum(tree.bodies[n], tree.speeds[n], tree.wrenches[n])
    kinetic, potential, lost = 0.0, 0.0, 0.0
    for k in range(q.shape[0] ** 2):
        mass[k // q.shape[0], k % q.shape[0]] = 0.0
    for back in range(q.shape[0] - 1, -1, -1):
        j = tree.order[back]
        up, twist, body, sub = tree.parents[j], tree.twists[j], tree.bodies[j + 1], tree.wrenches[j + 1]
        speed, g = tree.speeds[up], tree.field
        for i in range(6):
            wrench[i] = 0.0
        _momentum(body, twist, wrench)
        p[j] = f[j] = own = 0.0
        for i in range(3):
            k, m = (i + 1) % 3, (i + 2) % 3
            p[j] += twist[i] * sub[i] + twist[3 + i] * sub[3 + i]
            own += twist[i] * wrench[i] + twist[3 + i] * wrench[3 + i]
            # How the screw is carried along: (ω × ω_j, ω × v_j + v × ω_j).
            f[j] += (speed[k] * twist[m] - speed[m] * twist[k]) * sub[i]
            f[j] += (speed[k] * twist[3 + m] - speed[m] * twist[3 + k]) * sub[3 + i]
            f[j] += (speed[3 + k] * twist[m] - speed[3 + m] * twist[k]) * sub[3 + i]
            f[j] += twist[i] * (body[k, 3] * g[m] - body[m, 3] * g[k]) + twist[3 + i] * body[3, 3] * g[i]
        mass[j, j] = own
        node = up
        while node > 0:
            total = 0.0
            for i in range(6):
                total += tree.twists[node - 1, i] * wrench[i]
            mass[node - 1, j] = mass[j, node - 1] = total
            node = tree.parents[node - 1]
        kinetic += 0.5 * p[j] * v[j]
        excess = q[j] - min(max(q[j], tree.wells[0, j]), tree.wells[1, j])
        depth = abs(excess)
        rub = tree.wells[3, j] * depth**1.5 + tree.wells[4, j]
        f[j] -= tree.wells[2, j] * depth * excess + rub * v[j]
        potential += tree.wells[2, j] * depth**3 / 3.0
        lost += rub * v[j] ** 2
        for i in range(4):
            for k in range(4):
                tree.bodies[up, i, k] += body[i, k]
        for i in range(6):
            tree.wrenches[up, i] += sub[i]
    for i in range(3):
        potential -= tree.bodies[0, i, 3] * tree.field[i]
    return kinetic, potential, lost


@compiled
def gauss_step(tree, method, q, p, dt, last, memory):
    """Advance ``q`` and ``p`` by ``dt`` in pieces; whether that was possible.

    ``method`` holds a, b, c and the inverse of the powers of c. Kept from step to step: the rates ``last`` of the last
    stages; and in ``memory`` the ticks and seconds of the last piece, and the largest kinetic energy so far.
    """
    a, b, c, fit = method
    stages, dim = a.shape[0], q.shape[0]
    rates, forces, momenta = np.empty((stages, dim)), np.empty((stages, dim)), np.empty((stages, dim))
    masses, losses = np.empty((stages, dim, dim)), np.empty(stages)
    still, start, q_end, p_end, v_end = np.zeros(dim), np.empty(dim), np.empty(dim), np.empty(dim), np.empty(dim)
    energy = tree_rates(tree, q, still, q_end, p_end, masses[0])[1]
    for i in range(dim):
        start[i] = p[i]
    solve_upper(masses[0], start)
    for i in range(dim):
        energy += 0.5 * p[i] * start[i]
    done, ticks = 0, int(memory[0])
    while done < TICKS:
        while done + ticks > TICKS or done % ticks:
            ticks //= 2
        h = dt * ticks / TICKS
        _predict(c, fit, last, start, h / memory[1] if memory[1] > 0.0 else np.inf, rates)
        is_found = _fixed_point(tree, a, q, p, h, rates, forces, momenta, masses, losses)
        error = np.inf
        if is_found:
            spent, kinetic = 0.0, 0.0
            for i in range(dim):
                q_end[i], p_end[i] = q[i], p[i]
                for s in range(stages):
                    q_end[i] += h * b[s] * rates[s, i]
                    p_end[i] += h * b[s] * forces[s, i]
                v_end[i] = p_end[i]
            for s in range(stages):
                spent += h * b[s] * losses[s]
            potential = tree_rates(tree, q_end, still, momenta[0], forces[0], masses[0])[1]
            solve_upper(masses[0], v_end)
            for i in range(dim):
                kinetic += 0.5 * p_end[i] * v_end[i]
            allowed = ENERGY_ERROR * max(kinetic, memory[2]) + ROUND_OFF * tree.scale
            error = abs(kinetic + potential + spent - energy) / (allowed + 1e-300)
        if error <= 1.0:
            for i in range(dim):
                q[i], p[i], start[i] = q_end[i], p_end[i], v_end[i]
                for s in range(stages):
                    last[s, i] = rates[s, i]
            done, energy = done + ticks, kinetic + potential
            memory[0], memory[1], memory[2] = ticks, h, max(kinetic, memory[2])
            if error < DOUBLED and done % (2 * ticks) == 0:
                ticks *= 2
        elif ticks == 1:
            return False
        else:
            ticks //= 2
    return True


@compiled
def _predict(c, fit, last, start, ratio, rates):
    """Stage rates on the polynomial through those of the piece before; those at the start where it was far shorter."""
    stages = c.shape[0]
    for s in range(stages):
        for i in range(start.shape[0]):
            rates[s, i] = 0.0 if ratio < 2.1 else start[i]
        for r in range(stages if ratio < 2.1 else 0):
            share, power = 0.0, 1.0
            for k in range(stages):
                share += power * fit[k, r]
                power *= 1.0 + c[s] * ratio
            for i in range(start.shape[0]):
                rates[s, i] += share * last[r, i]


@compiled
def _fixed_point(tree, a, q, p, h, rates, forces, momenta, masses, losses):
    """Stage rates V with M(Q_s) V_s = p + h Σ a_sr f_r, Q_s = q + h Σ a_sr V_r, from a guess; whether it found them."""
    stages, dim, before = a.shape[0], q.shape[0], np.inf
    gap = np.empty(dim)
    for _ in range(MAX_ITERATIONS):
        change, size = 0.0, 1e-6 / h
        for s in range(stages):
            for i in range(dim):
                gap[i] = q[i]
                for r in range(stages):
                    gap[i] += h * a[s, r] * rates[r, i]
            losses[s] = tree_rates(tree, gap, rates[s], momenta[s], forces[s], masses[s])[2]
        for s in range(stages):
            for i in range(dim):
                gap[i] = p[i] - momenta[s, i]
                for r in range(stages):
                    gap[i] += h * a[s, r] * forces[r, i]
            solve_upper(masses[s], gap)
            for i in range(dim):
                rates[s, i] += gap[i]
                change, size = max(change, abs(gap[i])), max(size, abs(rates[s, i]))
        if change <= TOLERANCE * size:
            return True
        if not change <= 2.0 * before:
            return False
        before = change
    return False
