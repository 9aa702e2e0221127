"""Particles to grid, grid to particles (moving least squares MPM with affine transfers), as C++ vector snippets for the CPU.

A launch does one partition: a list of runs, each of one law and one body. Nodes hold momentum and mass, later velocity and
mass. Importing this module imports Warp and takes long to compile the first time; see ``machine.load_kernels``.
"""

# Warp reads annotations as they are: no ``from __future__ import annotations`` here
from typing import Any, no_type_check  # the tests' type checker must leave Warp's functions alone

import warp as wp

from neurok.dynamics.particles.state import Law, Row

MODULE = "neurok_particles_transfer"

POLAR_ROUNDS = 5
"""Newton steps for the rotation of F: right to 1e-7 for stretches of 0.3 to 2.5."""

JACOBI_SWEEPS = 3
"""For the principal strains; two are not enough, a fourth changes nothing in float32."""

LOOSEST = 0.1
"""Growth in volume that loose sand and spray remember: what is apart measures no volume, only drift."""

# Constitutive laws for eight particles at once. Each reads ``c`` (velocity gradient), ``h`` (the state rows), ``mu``,
# ``lam``, ``first``, ``second``, ``visc`` and ``dt``, updates ``h`` and leaves the Kirchhoff stress in ``tau`` (xx xy xz
# yy yz zz). The tests say the same in NumPy and compare.

VECTORS = r"""
    typedef float f8 __attribute__((vector_size(32)));
    typedef float f8u __attribute__((vector_size(32), aligned(4)));
    typedef int i8 __attribute__((vector_size(32)));
    typedef float f4 __attribute__((vector_size(16)));
    typedef float f4u __attribute__((vector_size(16), aligned(4)));
    struct Lane {
        static inline f8 all(float a) { return f8{a, a, a, a, a, a, a, a}; }
        static inline f8 pick(i8 mask, f8 yes, f8 no) { return (f8)((mask & (i8)yes) | (~mask & (i8)no)); }
        static inline f8 root(f8 a) { return __builtin_elementwise_sqrt(a); }
        static inline f8 least(f8 a, f8 b) { return pick(a < b, a, b); }
        static inline f8 most(f8 a, f8 b) { return pick(a > b, a, b); }
        // log(1 + e) to float precision, also for tiny e: polynomial on [sqrt(1/2), sqrt(2)] after taking the exponent off
        static inline f8 log1p(f8 e) {
            f8 u = most(e + 1.0f, all(1e-30f));
            i8 bits = (i8)u;
            i8 power = ((bits >> 23) & 255) - 126;
            f8 m = (f8)((bits & 0x007fffff) | 0x3f000000);
            i8 low = m < 0.70710678f;
            power += low;
            m = m + pick(low, m, all(0.0f)) - 1.0f;
            m = pick(power == 0, e, m);
            f8 k = __builtin_convertvector(power, f8), z = m * m;
            f8 y = 7.0376836292e-2f * m - 1.1514610310e-1f;
            y = y * m + 1.1676998740e-1f;
            y = y * m - 1.2420140846e-1f;
            y = y * m + 1.4249322787e-1f;
            y = y * m - 1.6668057665e-1f;
            y = y * m + 2.0000714765e-1f;
            y = y * m - 2.4999993993e-1f;
            y = y * m + 3.3333331174e-1f;
            y = y * m * z - 2.12194440e-4f * k - 0.5f * z;
            return m + y + 0.693359375f * k;
        }
        // exp(a) - 1, also for tiny a
        static inline f8 expm1(f8 a) {
            a = least(most(a, all(-60.0f)), all(60.0f));
            f8 k = __builtin_elementwise_floor(a * 1.44269504f + 0.5f);
            f8 r = a - k * 0.693359375f + k * 2.12194440e-4f;
            f8 y = 1.9875691500e-4f * r + 1.3981999507e-3f;
            y = y * r + 8.3334519073e-3f;
            y = y * r + 4.1665795894e-2f;
            y = y * r + 1.6666665459e-1f;
            y = y * r + 5.0000001201e-1f;
            y = y * r * r + r;
            f8 scale = (f8)((__builtin_convertvector(k, i8) + 127) << 23);
            return y * scale + (scale - 1.0f);
        }
        // one Jacobi rotation in the plane (p, q); r is the third axis
        static inline void turn(f8& pp, f8& qq, f8& pq, f8& rp, f8& rq, f8* vp, f8* vq) {
            f8 d = qq - pp, twice = 2.0f * pq;
            f8 size = pick(d < 0.0f, -d, d) + root(d * d + twice * twice) + 1e-37f;
            f8 t = pick(d < 0.0f, -twice, twice) / size;
            f8 c = 1.0f / root(t * t + 1.0f), s = t * c;
            pp -= t * pq;
            qq += t * pq;
            pq = all(0.0f);
            f8 u = rp;
            rp = c * u - s * rq;
            rq = s * u + c * rq;
            for (int k = 0; k < 3; k++) {
                f8 w = vp[k];
                vp[k] = c * w - s * vq[k];
                vq[k] = s * w + c * vq[k];
            }
        }
    };
"""

ELASTIC = r"""
            f8 g[9];
            for (int r = 0; r < 3; r++)
                for (int s = 0; s < 3; s++)
                    g[3 * r + s] = h[3 * r + s] + dt * (c[3 * r + s] + c[3 * r] * h[s] + c[3 * r + 1] * h[3 + s] + c[3 * r + 2] * h[6 + s]);
            for (int q = 0; q < 9; q++) h[q] = g[q];
            g[0] += 1.0f; g[4] += 1.0f; g[8] += 1.0f;
            f8 a[9];
            for (int q = 0; q < 9; q++) a[q] = g[q];
            f8 J = g[0] * (g[4] * g[8] - g[5] * g[7]) - g[1] * (g[3] * g[8] - g[5] * g[6]) + g[2] * (g[3] * g[7] - g[4] * g[6]);
            // Newton's iteration for the rotation of F: A <- (A + A^-T) / 2
            for (int round = 0; round < POLAR_ROUNDS; round++) {
                f8 k0 = a[4] * a[8] - a[5] * a[7], k1 = a[5] * a[6] - a[3] * a[8], k2 = a[3] * a[7] - a[4] * a[6];
                f8 k3 = a[2] * a[7] - a[1] * a[8], k4 = a[0] * a[8] - a[2] * a[6], k5 = a[1] * a[6] - a[0] * a[7];
                f8 k6 = a[1] * a[5] - a[2] * a[4], k7 = a[2] * a[3] - a[0] * a[5], k8 = a[0] * a[4] - a[1] * a[3];
                f8 half = 0.5f / (a[0] * k0 + a[1] * k1 + a[2] * k2);
                a[0] = 0.5f * a[0] + half * k0; a[1] = 0.5f * a[1] + half * k1; a[2] = 0.5f * a[2] + half * k2;
                a[3] = 0.5f * a[3] + half * k3; a[4] = 0.5f * a[4] + half * k4; a[5] = 0.5f * a[5] + half * k5;
                a[6] = 0.5f * a[6] + half * k6; a[7] = 0.5f * a[7] + half * k7; a[8] = 0.5f * a[8] + half * k8;
            }
            for (int q = 0; q < 9; q++) a[q] = g[q] - a[q];
            f8 bulk = lam * J * (J - 1.0f), shear = 2.0f * mu, drag = visc * J;
            int q = 0;
            for (int r = 0; r < 3; r++)
                for (int s = r; s < 3; s++, q++)
                    tau[q] = shear * (a[3 * r] * g[3 * s] + a[3 * r + 1] * g[3 * s + 1] + a[3 * r + 2] * g[3 * s + 2])
                           + drag * (c[3 * r + s] + c[3 * s + r]);
            tau[0] += bulk; tau[3] += bulk; tau[5] += bulk;
"""

FLUID = r"""
            h[0] += dt * (c[0] + c[4] + c[8]) * (1.0f + h[0]);
            h[0] = Lane::least(Lane::most(h[0], Lane::all(-0.5f)), Lane::all(LOOSEST));
            f8 J = 1.0f + h[0], i2 = 1.0f / (J * J), push = lam * (i2 * i2 * i2 / J - 1.0f) * (1.0f / 7.0f);
            f8 bulk = -J * Lane::most(push, Lane::all(0.0f)), drag = visc * J;
            tau[0] = bulk + drag * 2.0f * c[0]; tau[1] = drag * (c[1] + c[3]); tau[2] = drag * (c[2] + c[6]);
            tau[3] = bulk + drag * 2.0f * c[4]; tau[4] = drag * (c[5] + c[7]); tau[5] = bulk + drag * 2.0f * c[8];
"""

HENCKY = r"""
            // b <- (I + dt C) b (I + dt C)^T, written for b - I
            f8 e[3][3], w[3][3], z = Lane::all(0.0f), one = Lane::all(1.0f);
            f8 b[3][3] = {{h[0], h[1], h[2]}, {h[1], h[3], h[4]}, {h[2], h[4], h[5]}};
            for (int r = 0; r < 3; r++)
                for (int s = 0; s < 3; s++) {
                    e[r][s] = dt * c[3 * r + s];
                    w[r][s] = b[r][s] + dt * (c[3 * r] * b[0][s] + c[3 * r + 1] * b[1][s] + c[3 * r + 2] * b[2][s]);
                }
            f8 m[3][3];
            for (int r = 0; r < 3; r++)
                for (int s = r; s < 3; s++)
                    m[r][s] = w[r][s] + w[r][0] * e[s][0] + w[r][1] * e[s][1] + w[r][2] * e[s][2] + e[r][s] + e[s][r]
                            + e[r][0] * e[s][0] + e[r][1] * e[s][1] + e[r][2] * e[s][2];
            f8 v0[3] = {one, z, z}, v1[3] = {z, one, z}, v2[3] = {z, z, one};
            for (int sweep = 0; sweep < JACOBI_SWEEPS; sweep++) {
                Lane::turn(m[0][0], m[1][1], m[0][1], m[0][2], m[1][2], v0, v1);
                Lane::turn(m[0][0], m[2][2], m[0][2], m[0][1], m[1][2], v0, v2);
                Lane::turn(m[1][1], m[2][2], m[1][2], m[0][1], m[0][2], v1, v2);
            }
            f8 d0 = 0.5f * Lane::log1p(m[0][0]), d1 = 0.5f * Lane::log1p(m[1][1]), d2 = 0.5f * Lane::log1p(m[2][2]);
            f8 sum = d0 + d1 + d2;
            f8 mean = sum * (1.0f / 3.0f);
            d0 -= mean; d1 -= mean; d2 -= mean;
            f8 size = Lane::root(d0 * d0 + d1 * d1 + d2 * d2) + 1e-30f, keep;
            if (law == LAW_GRANULAR) {
                sum += h[7];  // dilation that has to close before there is pressure again
                i8 loose = sum > second;
                h[7] = Lane::least(Lane::pick(loose, sum - second, z), Lane::all(LOOSEST));
                sum = Lane::pick(loose, second, sum);
                mean = sum * (1.0f / 3.0f);
                f8 cap = first * (second - sum);
                keep = Lane::pick(size > cap, cap / size, one);
                h[6] += 0.81649658f * (1.0f - keep) * size;
            } else {
                f8 over = Lane::most(2.0f * mu * size - first - second * h[6] * 0.81649658f, z);
                f8 slow = law == LAW_FOAM ? 2.0f * visc / dt : z;
                f8 slip = over / (2.0f * mu + second * (2.0f / 3.0f) + slow);
                keep = 1.0f - slip / size;
                h[6] += 0.81649658f * slip;
            }
            d0 *= keep; d1 *= keep; d2 *= keep;
            f8 t0 = 2.0f * mu * (d0 + mean) + lam * sum, t1 = 2.0f * mu * (d1 + mean) + lam * sum, t2 = 2.0f * mu * (d2 + mean) + lam * sum;
            f8 l0 = Lane::expm1(2.0f * (d0 + mean)), l1 = Lane::expm1(2.0f * (d1 + mean)), l2 = Lane::expm1(2.0f * (d2 + mean));
            int q = 0;
            for (int r = 0; r < 3; r++)
                for (int s = r; s < 3; s++, q++) {
                    h[q] = l0 * v0[r] * v0[s] + l1 * v1[r] * v1[s] + l2 * v2[r] * v2[s];
                    tau[q] = t0 * v0[r] * v0[s] + t1 * v1[r] * v1[s] + t2 * v2[r] * v2[s];
                }
"""

SWITCH = (
    r"""
        if (law == LAW_ELASTIC) {"""
    + ELASTIC
    + r"""
        } else if (law == LAW_FLUID) {"""
    + FLUID
    + r"""
        } else if (law == LAW_METAL || law == LAW_GRANULAR || law == LAW_FOAM) {"""
    + HENCKY
    + r"""
        }"""
)


DEFINES = (
    "".join(f"    const int ROW_{name} = {getattr(Row, name)};\n" for name in dir(Row) if name.isupper())
    + "".join(f"    const int LAW_{law.name} = {int(law)};\n" for law in Law)
    + f"    const int POLAR_ROUNDS = {POLAR_ROUNDS};\n    const int JACOBI_SWEEPS = {JACOBI_SWEEPS};\n"
    + f"    const float LOOSEST = {LOOSEST}f;\n"
)
"""Names that the snippets share with Python."""


def snippet(*parts: str) -> str:
    """A function body for the CPU; empty where CUDA compiles the module."""
    return "\n#if !defined(__CUDA_ARCH__)\n" + DEFINES + VECTORS + "".join(parts) + "\n#endif\n"


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


@wp.func_native(snippet(WEIGHTS, SCATTER, SWITCH, SPREAD))
@no_type_check
def scatter_native(
    table: Table, forces: Table, grid: Floats, numbers: Floats, boxes: Ints, runs: Ints, parts: Ints, flags: Ints, part: int
): ...  # fmt: skip


@wp.func_native(snippet(WEIGHTS, "\n#define LOAD(row) (*(const f8u*)(base + (row) * n + p))\n", GATHER))
@no_type_check
def gather_native(table: Table, grid: Floats, numbers: Floats, boxes: Ints, runs: Ints, parts: Ints, part: int): ...


@wp.func_native(snippet(SUM))
@no_type_check
def sum_native(grid: Floats, numbers: Floats, boxes: Ints, units: Ints, tiles: Ints, unit: int): ...


@wp.kernel(module=MODULE, enable_backward=False)
@no_type_check
def scatter(
    table: Table, forces: Table, grid: Floats, numbers: Floats, boxes: Ints, runs: Ints, parts: Ints, flags: Ints, part: int
):  # fmt: skip
    scatter_native(table, forces, grid, numbers, boxes, runs, parts, flags, part)


@wp.kernel(module=MODULE, enable_backward=False)
@no_type_check
def gather(table: Table, grid: Floats, numbers: Floats, boxes: Ints, runs: Ints, parts: Ints, part: int):
    gather_native(table, grid, numbers, boxes, runs, parts, part)


@wp.kernel(module=MODULE, enable_backward=False)
@no_type_check
def add_up(grid: Floats, numbers: Floats, boxes: Ints, units: Ints, tiles: Ints, unit: int):
    sum_native(grid, numbers, boxes, units, tiles, unit)


# Forces of sheets on their vertices: membrane by triangle, bending by edge.

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
