"""Forces of sheets on their vertices, as C++ text for the CPU: membrane by triangle, bending by edge."""

# Warp reads annotations as they are: no ``from __future__ import annotations`` here
from typing import no_type_check  # the tests' type checker must leave Warp's functions alone

import warp as wp

from neurok.dynamics.particles.kernels_transfer import Floats, Ints, Table, snippet

MODULE = "neurok_particles_sheets"

FORCES = r"""
    const long n = table.shape[1], fn = forces.shape[1];
    const float* const base = table.data;
    // where a vertex is, from its rounded place and the remainder, against a near one: thin sheets strain by little
    struct At {
        static inline void of(const float* base, long n, int p, double* x) {
            for (int q = 0; q < 3; q++) x[q] = (double)base[(ROW_POSITION + q) * n + p] + base[(ROW_REMAINDER + q) * n + p];
        }
        static inline void minus(const double* a, const double* b, float* d) { for (int q = 0; q < 3; q++) d[q] = (float)(a[q] - b[q]); }
        static inline float dot(const float* a, const float* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
        static inline void cross(const float* a, const float* b, float* c) {
            c[0] = a[1] * b[2] - a[2] * b[1]; c[1] = a[2] * b[0] - a[0] * b[2]; c[2] = a[0] * b[1] - a[1] * b[0];
        }
    };
    for (int e = 0; e < (int)vertices.shape[0]; e++)
        for (int q = 0; q < 3; q++) forces.data[q * fn + vertices.data[e]] = outer.data[3 * e + q];
    for (int t = 0; t < (int)(triangles.shape[0] / 3); t++) {
        const int a = triangles.data[3 * t], b = triangles.data[3 * t + 1], c = triangles.data[3 * t + 2];
        const float* s = shapes.data + 8 * t;  // inverse rest edges (2 x 2), volume, mu, lambda, damping
        double xa[3], xb[3], xc[3];
        At::of(base, n, a, xa); At::of(base, n, b, xb); At::of(base, n, c, xc);
        float u[3], v[3], f[3], g[3], p[3], q[3], rate[3] = {0, 0, 0};
        At::minus(xb, xa, u); At::minus(xc, xa, v);
        for (int k = 0; k < 3; k++) { f[k] = u[k] * s[0] + v[k] * s[2]; g[k] = u[k] * s[1] + v[k] * s[3]; }
        if (s[7] > 0.0f) {
            float df[3], dg[3];
            for (int k = 0; k < 3; k++) {
                const float* w = base + (ROW_VELOCITY + k) * n;
                const float du = w[b] - w[a], dv = w[c] - w[a];
                df[k] = du * s[0] + dv * s[2]; dg[k] = du * s[1] + dv * s[3];
            }
            rate[0] = s[7] * At::dot(f, df); rate[1] = s[7] * At::dot(g, dg); rate[2] = s[7] * 0.5f * (At::dot(f, dg) + At::dot(g, df));
        }
        const float xx = 0.5f * (At::dot(f, f) - 1.0f) + rate[0], yy = 0.5f * (At::dot(g, g) - 1.0f) + rate[1];
        const float xy = 0.5f * At::dot(f, g) + rate[2], sum = s[6] * (xx + yy);
        const float sx = 2.0f * s[5] * xx + sum, sy = 2.0f * s[5] * yy + sum, sxy = 2.0f * s[5] * xy;
        for (int k = 0; k < 3; k++) {
            p[k] = f[k] * sx + g[k] * sxy; q[k] = f[k] * sxy + g[k] * sy;
            const float hb = -s[4] * (p[k] * s[0] + q[k] * s[1]), hc = -s[4] * (p[k] * s[2] + q[k] * s[3]);
            forces.data[k * fn + b] += hb; forces.data[k * fn + c] += hc; forces.data[k * fn + a] -= hb + hc;
        }
    }
    for (int h = 0; h < (int)(hinges.shape[0] / 4); h++) {
        const int* i = hinges.data + 4 * h;
        double x[4][3];
        for (int k = 0; k < 4; k++) At::of(base, n, i[k], x[k]);
        float e[3], a[3], b[3], na[3], nb[3], turn[3], d[3];
        At::minus(x[1], x[0], e); At::minus(x[2], x[0], a); At::minus(x[3], x[0], b);
        At::cross(e, a, na); At::cross(b, e, nb);
        const float la = At::dot(na, na), lb = At::dot(nb, nb), length = sqrtf(At::dot(e, e));
        if (la <= 0.0f || lb <= 0.0f || length <= 0.0f) continue;
        At::cross(na, nb, turn);
        float angle = atan2f(At::dot(turn, e) / length, At::dot(na, nb)) - bends.data[2 * h + 1];
        if (angle > 3.14159265f) angle -= 6.2831853f;
        if (angle < -3.14159265f) angle += 6.2831853f;
        const float push = bends.data[2 * h] * angle;
        At::minus(x[1], x[2], d);
        const float a0 = At::dot(d, e) / length / la, a1 = At::dot(a, e) / length / la;
        At::minus(x[1], x[3], d);
        const float b0 = At::dot(d, e) / length / lb, b1 = At::dot(b, e) / length / lb;
        for (int k = 0; k < 3; k++) {
            forces.data[k * fn + i[0]] -= push * (a0 * na[k] + b0 * nb[k]);
            forces.data[k * fn + i[1]] -= push * (a1 * na[k] + b1 * nb[k]);
            forces.data[k * fn + i[2]] += push * length / la * na[k];
            forces.data[k * fn + i[3]] += push * length / lb * nb[k];
        }
    }
"""


@wp.func_native(snippet(FORCES))
@no_type_check
def pull_native(
    table: Table, forces: Table, vertices: Ints, outer: Floats, triangles: Ints, shapes: Floats, hinges: Ints, bends: Floats
): ...  # fmt: skip


@wp.kernel(module=MODULE, enable_backward=False)
@no_type_check
def pull(
    table: Table, forces: Table, vertices: Ints, outer: Floats, triangles: Ints, shapes: Floats, hinges: Ints, bends: Floats
):  # fmt: skip
    pull_native(table, forces, vertices, outer, triangles, shapes, hinges, bends)
