"""Constitutive laws for eight particles at once, as C++ text for the vector kernels.

Each reads ``c`` (velocity gradient), ``h`` (the state rows), ``mu``, ``lam``, ``first``, ``second``, ``visc`` and ``dt``, updates ``h`` and
leaves the Kirchhoff stress in ``tau`` (xx xy xz yy yz zz). ``laws.py`` says the same in NumPy; tests compare them.
"""

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
