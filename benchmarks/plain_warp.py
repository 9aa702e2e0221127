"""The particle solver's transfers and laws in Warp's own language: what its vector snippets are compared with.

They would compile for CUDA as they are; the solver keeps its arrays on the CPU, where contact is solved.
"""

# Warp reads annotations as they are: no ``from __future__ import annotations`` here
from typing import Any, no_type_check  # the tests' type checker must leave Warp's functions alone

import warp as wp

from neurok.dynamics.particles import Solver
from neurok.dynamics.particles.kernels_transfer import LOOSEST, Floats, Ints, Table
from neurok.dynamics.particles.state import Law, Row

MODULE = "neurok_particles_plain"
POSITION, REMAINDER, VELOCITY, AFFINE = Row.POSITION, Row.REMAINDER, Row.VELOCITY, Row.AFFINE
STATE, MASS, VOLUME, MU, LAMBDA = Row.STATE, Row.MASS, Row.VOLUME, Row.MU, Row.LAMBDA
FIRST, SECOND, VISCOSITY, DAMPING = Row.FIRST, Row.SECOND, Row.VISCOSITY, Row.DAMPING
ELASTIC, GRANULAR, FOAM, FLUID, SHEET, RIGID = (
    int(law) for law in (Law.ELASTIC, Law.GRANULAR, Law.FOAM, Law.FLUID, Law.SHEET, Law.RIGID)
)
FLOW = 0.81649658


@wp.func
@no_type_check
def triple(table: Table, row: int, p: int) -> wp.vec3:
    return wp.vec3(table[row, p], table[row + 1, p], table[row + 2, p])


@wp.func
@no_type_check
def square(table: Table, row: int, p: int) -> wp.mat33:
    return wp.mat33(
        table[row, p], table[row + 1, p], table[row + 2, p],
        table[row + 3, p], table[row + 4, p], table[row + 5, p],
        table[row + 6, p], table[row + 7, p], table[row + 8, p],
    )  # fmt: skip


@wp.func
@no_type_check
def spline(f: wp.vec3, node: int) -> wp.vec3:
    """Weights of one of three nodes along each axis."""
    w = wp.vec3(0.5 * (1.5 - f[0]) * (1.5 - f[0]), 0.5 * (1.5 - f[1]) * (1.5 - f[1]), 0.5 * (1.5 - f[2]) * (1.5 - f[2]))
    if node == 1:
        w = wp.vec3(
            0.75 - (f[0] - 1.0) * (f[0] - 1.0), 0.75 - (f[1] - 1.0) * (f[1] - 1.0), 0.75 - (f[2] - 1.0) * (f[2] - 1.0)
        )
    if node == 2:
        w = wp.vec3(
            0.5 * (f[0] - 0.5) * (f[0] - 0.5), 0.5 * (f[1] - 0.5) * (f[1] - 0.5), 0.5 * (f[2] - 0.5) * (f[2] - 0.5)
        )
    return w


@wp.func
@no_type_check
def elastic_stress(table: Table, p: int, c: wp.mat33, dt: float) -> wp.mat33:
    eye = wp.identity(3, dtype=float)
    h = square(table, STATE, p)
    h = h + dt * (c + c * h)
    for r in range(3):
        for s in range(3):
            table[STATE + 3 * r + s, p] = h[r, s]
    f = eye + h
    u = wp.mat33()
    v = wp.mat33()
    s3 = wp.vec3()
    wp.svd3(f, u, s3, v)
    j = wp.determinant(f)
    stress = (
        2.0 * table[MU, p] * ((f - u * wp.transpose(v)) * wp.transpose(f)) + (table[LAMBDA, p] * j * (j - 1.0)) * eye
    )
    return stress + (table[VISCOSITY, p] * j) * (c + wp.transpose(c))


@wp.func
@no_type_check
def fluid_stress(table: Table, p: int, c: wp.mat33, dt: float) -> wp.mat33:
    h = table[STATE, p]
    h = wp.clamp(h + dt * (c[0, 0] + c[1, 1] + c[2, 2]) * (1.0 + h), -0.5, LOOSEST)
    table[STATE, p] = h
    j = 1.0 + h
    push = wp.max(table[LAMBDA, p] * (wp.pow(j, -7.0) - 1.0) / 7.0, 0.0)
    return (-j * push) * wp.identity(3, dtype=float) + (table[VISCOSITY, p] * j) * (c + wp.transpose(c))


@wp.func
@no_type_check
def hencky_stress(table: Table, p: int, c: wp.mat33, dt: float, law: int) -> wp.mat33:
    eye = wp.identity(3, dtype=float)
    b = wp.mat33(
        table[STATE, p], table[STATE + 1, p], table[STATE + 2, p],
        table[STATE + 1, p], table[STATE + 3, p], table[STATE + 4, p],
        table[STATE + 2, p], table[STATE + 4, p], table[STATE + 5, p],
    )  # fmt: skip
    g = eye + dt * c
    b = g * (eye + b) * wp.transpose(g)
    q = wp.mat33()
    d = wp.vec3()
    wp.eig3(b, q, d)
    mu = table[MU, p]
    lam = table[LAMBDA, p]
    first = table[FIRST, p]
    second = table[SECOND, p]
    e = wp.vec3(0.5 * wp.log(d[0]), 0.5 * wp.log(d[1]), 0.5 * wp.log(d[2]))
    total = e[0] + e[1] + e[2]
    e = e - wp.vec3(total / 3.0, total / 3.0, total / 3.0)
    size = wp.length(e) + 1.0e-30
    keep = float(1.0)  # noqa: UP018
    if law == GRANULAR:
        total = total + table[STATE + 7, p]
        table[STATE + 7, p] = wp.clamp(total - second, 0.0, LOOSEST)
        total = wp.min(total, second)
        keep = wp.min(first * (second - total) / size, 1.0)
        table[STATE + 6, p] = table[STATE + 6, p] + FLOW * (1.0 - keep) * size
    else:
        over = wp.max(2.0 * mu * size - first - FLOW * second * table[STATE + 6, p], 0.0)
        slow = float(0.0)  # noqa: UP018
        if law == FOAM:
            slow = 2.0 * table[VISCOSITY, p] / dt
        slip = over / (2.0 * mu + second * 2.0 / 3.0 + slow)
        keep = 1.0 - slip / size
        table[STATE + 6, p] = table[STATE + 6, p] + FLOW * slip
    e = keep * e + wp.vec3(total / 3.0, total / 3.0, total / 3.0)
    grown = wp.vec3(wp.exp(2.0 * e[0]) - 1.0, wp.exp(2.0 * e[1]) - 1.0, wp.exp(2.0 * e[2]) - 1.0)
    b = q * wp.diag(grown) * wp.transpose(q)
    table[STATE, p] = b[0, 0]
    table[STATE + 1, p] = b[0, 1]
    table[STATE + 2, p] = b[0, 2]
    table[STATE + 3, p] = b[1, 1]
    table[STATE + 4, p] = b[1, 2]
    table[STATE + 5, p] = b[2, 2]
    return q * wp.diag(2.0 * mu * e + wp.vec3(lam * total, lam * total, lam * total)) * wp.transpose(q)


@wp.kernel(module=MODULE, enable_backward=False)
@no_type_check
def scatter(
    table: Table, forces: Table, grid: Floats, numbers: Floats, boxes: Ints, runs: Ints, flags: Ints,
    run: int, part: int
):  # fmt: skip
    p = wp.tid() + runs[8 * run]
    law = runs[8 * run + 2]
    box = 8 * runs[8 * run + 3]
    dx = numbers[0]
    dt = numbers[1]
    c = square(table, AFFINE, p)
    stress = wp.mat33()
    if law == ELASTIC:
        stress = elastic_stress(table, p, c, dt)
    elif law == FLUID:
        stress = fluid_stress(table, p, c, dt)
    elif law < SHEET:
        stress = hencky_stress(table, p, c, dt, law)
    mass = table[MASS, p]
    kept = mass * wp.max(1.0 - dt * table[DAMPING, p], 0.0)
    affine = (-4.0 * dt * table[VOLUME, p] / (dx * dx)) * stress + kept * c
    x = triple(table, POSITION, p) / dx
    i = int(wp.floor(x[0] - 0.5))
    j = int(wp.floor(x[1] - 0.5))
    k = int(wp.floor(x[2] - 0.5))
    f = x - wp.vec3(float(i), float(j), float(k))
    push = kept * triple(table, VELOCITY, p)
    if forces.shape[1] > 1:
        push = push + dt * triple(forces, 0, p)
    i = i - boxes[box + 1]
    j = j - boxes[box + 2]
    k = k - boxes[box + 3]
    if i < 0 or j < 0 or k < 0 or i + 3 > boxes[box + 4] or j + 3 > boxes[box + 5] or k + 3 > boxes[box + 6]:
        wp.atomic_add(flags, part, 1)
        return
    for a in range(3):
        wa = spline(f, a)[0]
        for b in range(3):
            wb = wa * spline(f, b)[1]
            for g in range(3):
                w = wb * spline(f, g)[2]
                m = w * (push + affine * (dx * (wp.vec3(float(a), float(b), float(g)) - f)))
                node = 4 * (boxes[box] + ((i + a) * boxes[box + 5] + j + b) * boxes[box + 6] + k + g)
                wp.atomic_add(grid, node, m[0])
                wp.atomic_add(grid, node + 1, m[1])
                wp.atomic_add(grid, node + 2, m[2])
                wp.atomic_add(grid, node + 3, w * mass)


@wp.kernel(module=MODULE, enable_backward=False)
@no_type_check
def add_up(grid: Floats, numbers: Floats, boxes: Ints, units: Ints, tiles: Ints, unit: int):
    i, j, k = wp.tid()
    i = i + units[8 * unit + 1]
    box = 8 * units[8 * unit]
    node = 4 * (boxes[box] + (i * boxes[box + 5] + j) * boxes[box + 6] + k)
    q = wp.vec4(grid[node], grid[node + 1], grid[node + 2], grid[node + 3])
    for t in range(units[8 * unit + 3], units[8 * unit + 4]):
        tile = 8 * tiles[t]
        ti = i + boxes[box + 1] - boxes[tile + 1]
        tj = j + boxes[box + 2] - boxes[tile + 2]
        tk = k + boxes[box + 3] - boxes[tile + 3]
        if ti >= 0 and tj >= 0 and tk >= 0 and ti < boxes[tile + 4] and tj < boxes[tile + 5] and tk < boxes[tile + 6]:
            at = 4 * (boxes[tile] + (ti * boxes[tile + 5] + tj) * boxes[tile + 6] + tk)
            q = q + wp.vec4(grid[at], grid[at + 1], grid[at + 2], grid[at + 3])
    if q[3] > 0.0:
        dt = numbers[1]
        grid[node] = q[0] / q[3] + dt * numbers[2]
        grid[node + 1] = q[1] / q[3] + dt * numbers[3]
        grid[node + 2] = q[2] / q[3] + dt * numbers[4]
        grid[node + 3] = q[3]


@wp.kernel(module=MODULE, enable_backward=False)
@no_type_check
def gather(table: Table, grid: Floats, numbers: Floats, boxes: Ints, runs: Ints, run: int):
    p = wp.tid() + runs[8 * run]
    if runs[8 * run + 2] == RIGID:
        return
    box = 8 * runs[8 * run + 4]
    dx = numbers[0]
    x = triple(table, POSITION, p) / dx
    i = int(wp.floor(x[0] - 0.5))
    j = int(wp.floor(x[1] - 0.5))
    k = int(wp.floor(x[2] - 0.5))
    f = x - wp.vec3(float(i), float(j), float(k))
    i = i - boxes[box + 1]
    j = j - boxes[box + 2]
    k = k - boxes[box + 3]
    if i < 0 or j < 0 or k < 0 or i + 3 > boxes[box + 4] or j + 3 > boxes[box + 5] or k + 3 > boxes[box + 6]:
        return
    v = wp.vec3()
    c = wp.mat33()
    for a in range(3):
        wa = spline(f, a)[0]
        for b in range(3):
            wb = wa * spline(f, b)[1]
            for g in range(3):
                w = wb * spline(f, g)[2]
                node = 4 * (boxes[box] + ((i + a) * boxes[box + 5] + j + b) * boxes[box + 6] + k + g)
                u = w * wp.vec3(grid[node], grid[node + 1], grid[node + 2])
                v = v + u
                c = c + wp.outer(u, wp.vec3(float(a), float(b), float(g)) - f)
    c = (4.0 / dx) * c
    for r in range(3):
        for s in range(3):
            table[AFFINE + 3 * r + s, p] = c[r, s]
    if numbers[5] > 0.0:
        return
    for q in range(3):
        table[VELOCITY + q, p] = v[q]
        old = table[POSITION + q, p]
        step = table[REMAINDER + q, p] + numbers[1] * v[q]
        table[POSITION + q, p] = old + step
        table[REMAINDER + q, p] = step - (table[POSITION + q, p] - old)


def use_plain_kernels(solver: Solver) -> None:
    """Let a solver transfer by these kernels; each list is one job, since nothing is promised about its speed."""
    machine = solver._machine

    def launch(kernel: Any, dim: Any, inputs: list[Any]) -> None:
        wp.launch(kernel, dim=dim, inputs=inputs, device="cpu")

    def transfers() -> tuple[list[Any], list[Any], list[Any]]:
        boxes, runs, _, units, tiles = (machine.array(name) for name in ("boxes", "runs", "parts", "units", "tiles"))
        grid, numbers, table, forces = (
            machine.grid.array,
            machine.numbers_array,
            machine.table_array,
            machine.forces_array,
        )
        ranges = runs.numpy()[: 8 * machine.run_count].reshape(-1, 8)
        slices = units.numpy()[: 8 * machine.unit_count].reshape(-1, 8)
        shapes = boxes.numpy()

        def spread() -> None:
            grid.zero_()
            for r, (first, last, *_) in enumerate(ranges):
                launch(scatter, int(last - first), [table, forces, grid, numbers, boxes, runs, machine.flags, r, 0])

        def add() -> None:
            for u, (box, first, last, *_) in enumerate(slices):
                dim = (int(last - first), int(shapes[8 * box + 5]), int(shapes[8 * box + 6]))
                launch(add_up, dim, [grid, numbers, boxes, units, tiles, u])

        def collect() -> None:
            for r, (first, last, *_) in enumerate(ranges):
                launch(gather, int(last - first), [table, grid, numbers, boxes, runs, r])

        return [spread], [add], [collect]

    machine.transfers = transfers  # type: ignore[method-assign]
