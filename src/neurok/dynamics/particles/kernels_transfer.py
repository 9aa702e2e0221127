"""Particles to grid, grid to particles (moving least squares MPM with affine transfers), as C++ vector snippets for the CPU.

A launch does one partition: a list of runs, each of one law and one body. Nodes hold momentum and mass, later velocity and
mass. Importing this module imports Warp and takes long to compile the first time; see ``compiled.py``.
"""

# Warp reads annotations as they are: no ``from __future__ import annotations`` here
from typing import Any, no_type_check  # the tests' type checker must leave Warp's functions alone

import warp as wp

from neurok.dynamics.particles import kernels_laws, rows
from neurok.dynamics.particles.config import LAWS
from neurok.dynamics.particles.state import Law

DEFINES = (
    "".join(f"    const int ROW_{name} = {getattr(rows, name)};\n" for name in dir(rows) if name.isupper())
    + "".join(f"    const int LAW_{law.name} = {int(law)};\n" for law in Law)
    + f"    const int POLAR_ROUNDS = {LAWS.polar_rounds};\n    const int JACOBI_SWEEPS = {LAWS.jacobi_sweeps};\n"
    + f"    const float LOOSEST = {LAWS.loosest}f;\n"
)
"""Names that the snippets share with Python."""


def snippet(*parts: str) -> str:
    """A function body for the CPU; empty where CUDA compiles the module."""
    return "\n#if !defined(__CUDA_ARCH__)\n" + DEFINES + kernels_laws.VECTORS + "".join(parts) + "\n#endif\n"


WEIGHTS = r"""
    struct Spline {
        // weights of three nodes for offsets from the first one, in cells
        static inline void of(f8 f, f8* w) {
            f8 a = 1.5f - f, b = f - 1.0f, c = f - 0.5f;
            w[0] = 0.5f * a * a; w[1] = 0.75f - b * b; w[2] = 0.5f * c * c;
        }
    };
"""

SCATTER = r"""
    const long n = table.shape[1];
    float* const base = table.data;
    const float dx = numbers.data[0], dt = numbers.data[1], inv = 1.0f / dx;
    const bool forced = forces.shape[1] > 1;
    const long fn = forces.shape[1];
    const int r0 = parts.data[part * 4], r1 = parts.data[part * 4 + 1];
    int outside = 0;
    for (int t = parts.data[part * 4 + 2]; t < parts.data[part * 4 + 3]; t++) {
        const int* box = boxes.data + 8 * t;
        const long size = 4L * box[4] * box[5] * box[6];
        float* nodes = grid.data + 4L * box[0];
        for (long i = 0; i < size; i++) nodes[i] = 0.0f;
    }
    for (int run = r0; run < r1; run++) {
        const int* item = runs.data + 8 * run;
        const long p0 = item[0], p1 = item[1];
        const int law = item[2];
        const int* box = boxes.data + 8 * item[3];
        float* const nodes = grid.data + 4L * box[0];
        const int oi = box[1], oj = box[2], ok = box[3];
        const unsigned ni = box[4] - 2, nj2 = box[5] - 2, nk2 = box[6] - 2;
        const long nj = box[5], nk = box[6];
    for (long p = p0; p < p1; p += 8) {
        const int count = p1 - p < 8 ? (int)(p1 - p) : 8;
        #define LOAD(row) (*(const f8u*)(base + (row) * n + p))
        f8 c[9], h[9], tau[6];
        for (int q = 0; q < 9; q++) c[q] = LOAD(ROW_AFFINE + q);
        const f8 mass = LOAD(ROW_MASS);
        f8 amount = Lane::all(0.0f);
        for (int q = 0; q < 6; q++) tau[q] = Lane::all(0.0f);
        if (law < LAW_SHEET) {
            for (int q = 0; q < 9; q++) h[q] = LOAD(ROW_STATE + q);
            const f8 mu = LOAD(ROW_MU), lam = LOAD(ROW_LAMBDA), first = LOAD(ROW_FIRST), second = LOAD(ROW_SECOND), visc = LOAD(ROW_VISCOSITY);
            amount = LOAD(ROW_VOLUME) * (-4.0f * dt * inv * inv);
"""

SPREAD = r"""
            const int last = law == LAW_FLUID ? 1 : law == LAW_ELASTIC ? 9 : 8;
            if (count == 8) for (int q = 0; q < last; q++) *(f8u*)(base + (ROW_STATE + q) * n + p) = h[q];
            else for (int q = 0; q < last; q++) for (int l = 0; l < count; l++) base[(ROW_STATE + q) * n + p + l] = h[q][l];
        }
        const f8 kept = mass * Lane::most(1.0f - dt * LOAD(ROW_DAMPING), Lane::all(0.0f));
        const int full[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
        f8 a[9], f[3], low[3], w[9], m[3];
        for (int q = 0; q < 9; q++) a[q] = dx * (amount * tau[full[q]] + kept * c[q]);
        for (int q = 0; q < 3; q++) {
            f8 place = LOAD(ROW_POSITION + q) * inv;
            low[q] = __builtin_elementwise_floor(place - 0.5f);
            f[q] = place - low[q];
            Spline::of(f[q], w + 3 * q);
            m[q] = kept * LOAD(ROW_VELOCITY + q);
            if (forced) m[q] += dt * (*(const f8u*)(forces.data + q * fn + p));
        }
        for (int q = 0; q < 3; q++) m[q] -= a[3 * q] * f[0] + a[3 * q + 1] * f[1] + a[3 * q + 2] * f[2];
        float A[9][8], M[4][8], W[9][8];
        int at[3][8];
        for (int q = 0; q < 9; q++) { *(f8u*)A[q] = a[q]; *(f8u*)W[q] = w[q]; }
        for (int q = 0; q < 3; q++) {
            *(f8u*)M[q] = m[q];
            i8 whole = __builtin_convertvector(low[q], i8) - box[1 + q];
            for (int l = 0; l < 8; l++) at[q][l] = whole[l];
        }
        *(f8u*)M[3] = mass;
        for (int l = 0; l < count; l++) {
            const int i = at[0][l], j = at[1][l], k = at[2][l];
            if ((unsigned)i >= ni || (unsigned)j >= nj2 || (unsigned)k >= nk2) { outside++; continue; }
            const f4 b = {M[0][l], M[1][l], M[2][l], M[3][l]};
            const f4 ax = {A[0][l], A[3][l], A[6][l], 0.0f}, ay = {A[1][l], A[4][l], A[7][l], 0.0f}, az = {A[2][l], A[5][l], A[8][l], 0.0f};
            const float z0 = W[6][l], z1 = W[7][l], z2 = W[8][l];
            #define JOIN(x, y) __builtin_shufflevector(x, y, 0, 1, 2, 3, 4, 5, 6, 7)
            const f8 two = JOIN(z0 * b, z1 * (b + az)), two_x = JOIN(z0 * ax, z1 * ax), two_y = JOIN(z0 * ay, z1 * ay);
            const f4 top = z2 * (b + 2.0f * az), top_x = z2 * ax, top_y = z2 * ay;
            float* row = nodes + 4L * (((long)i * nj + j) * nk + k);
            for (int x = 0; x < 3; x++) {
                const f8 two_i = two + (float)x * two_x;
                const f4 top_i = top + (float)x * top_x;
                for (int y = 0; y < 3; y++) {
                    const float weight = W[x][l] * W[3 + y][l];
                    float* to = row + 4L * (x * nj + y) * nk;
                    *(f8u*)to += weight * (two_i + (float)y * two_y);
                    *(f4u*)(to + 8) += weight * (top_i + (float)y * top_y);
                }
            }
        }
    }}
    flags.data[part] += outside;
"""

GATHER = r"""
    const long n = table.shape[1];
    float* const base = table.data;
    const float dx = numbers.data[0], dt = numbers.data[1], inv = 1.0f / dx, slope = 4.0f * inv;
    const bool still = numbers.data[5] > 0.0f;
    for (int run = parts.data[part * 4]; run < parts.data[part * 4 + 1]; run++) {
        const int* item = runs.data + 8 * run;
        if (item[2] == LAW_RIGID) continue;
        const int* box = boxes.data + 8 * item[4];
        const float* const nodes = grid.data + 4L * box[0];
        const unsigned ni = box[4] - 2, nj2 = box[5] - 2, nk2 = box[6] - 2;
        const long nj = box[5], nk = box[6], p1 = item[1];
    for (long p = item[0]; p < p1; p += 8) {
        const int count = p1 - p < 8 ? (int)(p1 - p) : 8;
        float W[9][8], D[9][8];
        int at[3][8];
        for (int q = 0; q < 3; q++) {
            f8 w[3], place = LOAD(ROW_POSITION + q) * inv, low = __builtin_elementwise_floor(place - 0.5f), f = place - low;
            Spline::of(f, w);
            for (int s = 0; s < 3; s++) { *(f8u*)W[3 * q + s] = w[s]; *(f8u*)D[3 * q + s] = w[s] * ((float)s - f); }
            i8 whole = __builtin_convertvector(low, i8) - box[1 + q];
            for (int l = 0; l < 8; l++) at[q][l] = whole[l];
        }
        float out[12][8];
        for (int l = 0; l < count; l++) {
            const int i = at[0][l], j = at[1][l], k = at[2][l];
            if ((unsigned)i >= ni || (unsigned)j >= nj2 || (unsigned)k >= nk2) {
                for (int q = 0; q < 3; q++) out[q][l] = base[(ROW_VELOCITY + q) * n + p + l];
                for (int q = 0; q < 9; q++) out[3 + q][l] = 0.0f;
                continue;
            }
            const float* row = nodes + 4L * (((long)i * nj + j) * nk + k);
            f8 s = Lane::all(0.0f), sx = s, sy = s;
            f4 t = {0, 0, 0, 0}, tx = t, ty = t;
            for (int x = 0; x < 3; x++) {
                f8 u = Lane::all(0.0f), uy = u;
                f4 r = {0, 0, 0, 0}, ry = r;
                for (int y = 0; y < 3; y++) {
                    const float* from = row + 4L * (x * nj + y) * nk;
                    const f8 low = *(const f8u*)from;
                    const f4 top = *(const f4u*)(from + 8);
                    const float a = W[3 + y][l], b = D[3 + y][l];
                    u += a * low; uy += b * low; r += a * top; ry += b * top;
                }
                const float a = W[x][l], b = D[x][l];
                s += a * u; sx += b * u; sy += a * uy; t += a * r; tx += b * r; ty += a * ry;
            }
            #define FRONT(q) __builtin_shufflevector(q, q, 0, 1, 2, 3)
            #define BACK(q) __builtin_shufflevector(q, q, 4, 5, 6, 7)
            const float z0 = W[6][l], z1 = W[7][l], z2 = W[8][l];
            const f4 v = z0 * FRONT(s) + z1 * BACK(s) + z2 * t;
            const f4 cx = slope * (z0 * FRONT(sx) + z1 * BACK(sx) + z2 * tx);
            const f4 cy = slope * (z0 * FRONT(sy) + z1 * BACK(sy) + z2 * ty);
            const f4 cz = slope * (D[6][l] * FRONT(s) + D[7][l] * BACK(s) + D[8][l] * t);
            for (int q = 0; q < 3; q++) {
                out[q][l] = v[q]; out[3 + 3 * q][l] = cx[q]; out[4 + 3 * q][l] = cy[q]; out[5 + 3 * q][l] = cz[q];
            }
        }
        if (still) {  // only the velocity gradients are wanted
            for (int q = 0; q < 9; q++) for (int l = 0; l < count; l++) base[(ROW_AFFINE + q) * n + p + l] = out[3 + q][l];
            continue;
        }
        f8 place[3], rest[3];
        for (int q = 0; q < 3; q++) {
            const f8 old = LOAD(ROW_POSITION + q), step = LOAD(ROW_REMAINDER + q) + dt * *(const f8u*)out[q];
            place[q] = old + step;
            rest[q] = step - (place[q] - old);
        }
        if (count == 8) {
            for (int q = 0; q < 3; q++) {
                *(f8u*)(base + (ROW_POSITION + q) * n + p) = place[q];
                *(f8u*)(base + (ROW_REMAINDER + q) * n + p) = rest[q];
                *(f8u*)(base + (ROW_VELOCITY + q) * n + p) = *(const f8u*)out[q];
            }
            for (int q = 0; q < 9; q++) *(f8u*)(base + (ROW_AFFINE + q) * n + p) = *(const f8u*)out[3 + q];
        } else for (int l = 0; l < count; l++) {
            for (int q = 0; q < 3; q++) {
                base[(ROW_POSITION + q) * n + p + l] = place[q][l];
                base[(ROW_REMAINDER + q) * n + p + l] = rest[q][l];
                base[(ROW_VELOCITY + q) * n + p + l] = out[q][l];
            }
            for (int q = 0; q < 9; q++) base[(ROW_AFFINE + q) * n + p + l] = out[3 + q][l];
        }
    }}
"""

SUM = r"""
    // one unit of work: slices of a body's grid; sums its partitions in their order, then momentum to velocity
    const int* item = units.data + 8 * unit;
    const int* box = boxes.data + 8 * item[0];
    const long nj = box[5], nk = box[6];
    const float dt = numbers.data[1];
    const f4 pull = {dt * numbers.data[2], dt * numbers.data[3], dt * numbers.data[4], 0.0f};
    for (long i = item[1]; i < item[2]; i++) for (long j = 0; j < nj; j++) {
        float* row = grid.data + 4L * (box[0] + (i * nj + j) * nk);
        if (item[3] < item[4]) for (long k = 0; k < 4 * nk; k++) row[k] = 0.0f;
        for (int t = item[3]; t < item[4]; t++) {
            const int* tile = boxes.data + 8 * tiles.data[t];
            const long ti = i + box[1] - tile[1], tj = j + box[2] - tile[2];
            if (ti < 0 || ti >= tile[4] || tj < 0 || tj >= tile[5]) continue;
            const float* from = grid.data + 4L * (tile[0] + (ti * tile[5] + tj) * tile[6]);
            float* to = row + 4L * (tile[3] - box[3]);
            for (long k = 0; k < 4L * tile[6]; k++) to[k] += from[k];
        }
        for (long k = 0; k < nk; k++, row += 4) {
            f4 q = *(f4u*)row;
            const float mass = q[3];
            if (mass > 0.0f) { q = q * (1.0f / mass) + pull; q[3] = mass; *(f4u*)row = q; }
        }
    }
"""

Floats: Any = wp.array(dtype=wp.float32)
Table: Any = wp.array2d(dtype=wp.float32)
Ints: Any = wp.array(dtype=wp.int32)


@wp.func_native(snippet(WEIGHTS, SCATTER, kernels_laws.SWITCH, SPREAD))
@no_type_check
def scatter_native(
    table: Table,
    forces: Table,
    grid: Floats,
    numbers: Floats,
    boxes: Ints,
    runs: Ints,
    parts: Ints,
    flags: Ints,
    part: int,
): ...


@wp.func_native(snippet(WEIGHTS, "\n#define LOAD(row) (*(const f8u*)(base + (row) * n + p))\n", GATHER))
@no_type_check
def gather_native(table: Table, grid: Floats, numbers: Floats, boxes: Ints, runs: Ints, parts: Ints, part: int): ...


@wp.func_native(snippet(SUM))
@no_type_check
def sum_native(grid: Floats, numbers: Floats, boxes: Ints, units: Ints, tiles: Ints, unit: int): ...


@wp.kernel(module="neurok_particles_transfer", enable_backward=False)
@no_type_check
def scatter(
    table: Table,
    forces: Table,
    grid: Floats,
    numbers: Floats,
    boxes: Ints,
    runs: Ints,
    parts: Ints,
    flags: Ints,
    part: int,
):
    scatter_native(table, forces, grid, numbers, boxes, runs, parts, flags, part)


@wp.kernel(module="neurok_particles_transfer", enable_backward=False)
@no_type_check
def gather(table: Table, grid: Floats, numbers: Floats, boxes: Ints, runs: Ints, parts: Ints, part: int):
    gather_native(table, grid, numbers, boxes, runs, parts, part)


@wp.kernel(module="neurok_particles_transfer", enable_backward=False)
@no_type_check
def add_up(grid: Floats, numbers: Floats, boxes: Ints, units: Ints, tiles: Ints, unit: int):
    sum_native(grid, numbers, boxes, units, tiles, unit)
