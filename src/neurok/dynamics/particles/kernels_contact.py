"""Who touches whom, nodes that rigid parts own, impulses of contacts and the motion of rigid parts: C++ snippets for the CPU.

Contact is felt at nodes where two objects' grids, or a grid and a plane or obstacle, both have something, but only if the particles that reach the
node really touch: the gap between them is measured along the contact's normal. Without that, objects would rest a cell apart.
"""

# Warp reads annotations as they are: no ``from __future__ import annotations`` here
from typing import Any, no_type_check  # the tests' type checker must leave Warp's functions alone

import warp as wp

from neurok.dynamics.particles.kernels_transfer import Floats, Ints, Table, snippet

MODULE = "neurok_particles_contact"

SOLIDS = r"""
    struct Solid {
        // signed distance and normal of a plane (kind 0) or an obstacle's grid (kind 1); far away where the grid ends
        static inline float distance(int kind, const float* solid, const float* field, float x, float y, float z, float* normal) {
            if (kind == 0) {
                normal[0] = solid[3]; normal[1] = solid[4]; normal[2] = solid[5];
                return (x - solid[0]) * solid[3] + (y - solid[1]) * solid[4] + (z - solid[2]) * solid[5];
            }
            const float inv = 1.0f / solid[3];
            const float p[3] = {(x - solid[0]) * inv, (y - solid[1]) * inv, (z - solid[2]) * inv};
            const int n[3] = {(int)solid[8], (int)solid[9], (int)solid[10]};
            int at[3]; float f[3];
            for (int q = 0; q < 3; q++) {
                if (p[q] < 0.0f || p[q] >= (float)(n[q] - 1)) return 1e30f;
                at[q] = (int)p[q]; f[q] = p[q] - at[q];
            }
            const float* d = field + (long)solid[11] + ((long)at[0] * n[1] + at[1]) * n[2] + at[2];
            const long si = (long)n[1] * n[2], sj = n[2];
            const float a = d[0], b = d[1], c = d[sj], e = d[sj + 1], g = d[si], h = d[si + 1], k = d[si + sj], l = d[si + sj + 1];
            const float u = f[0], v = f[1], w = f[2];
            const float low = (a * (1 - w) + b * w) * (1 - v) + (c * (1 - w) + e * w) * v;
            const float high = (g * (1 - w) + h * w) * (1 - v) + (k * (1 - w) + l * w) * v;
            normal[0] = high - low;
            normal[1] = ((c * (1 - w) + e * w) - (a * (1 - w) + b * w)) * (1 - u) + ((k * (1 - w) + l * w) - (g * (1 - w) + h * w)) * u;
            normal[2] = ((b - a) * (1 - v) + (e - c) * v) * (1 - u) + ((h - g) * (1 - v) + (l - k) * v) * u;
            const float size = sqrtf(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]) + 1e-20f;
            for (int q = 0; q < 3; q++) normal[q] /= size;
            return low * (1 - u) + high * u;
        }
    };
"""

MARK = r"""
    double mean[3] = {0, 0, 0};
    // one meeting: gap at each node of its region, and a contact for each node where that is closed
    const long n = table.shape[1];
    const float* const base = table.data;
    const float dx = numbers.data[0], inv = 1.0f / dx;
    const int* m = meets.data + 16 * meet;
    const float close = m[0] == 2 ? limits.data[0] * dx : limits.data[9];  // solids are seen before they are met
    const int kind = m[0], hold = m[15];
    const int* boxes_of[2] = {boxes.data + 8 * m[1], boxes.data + 8 * (m[2] < 0 ? m[1] : m[2])};
    const float* solid = solids.data + 16 * (m[3] < 0 ? 0 : m[3]);
    float* const mark = marks.data + 20L * m[4];  // four normals, how far the first and the second reach along each
    const int li = m[5], lj = m[6], lk = m[7], ni = m[8], nj = m[9], nk = m[10];
    const bool pair = kind == 2;
    #define NODE(box, i, j, k) ((box)[0] + (((long)((i) - (box)[1])) * (box)[5] + ((j) - (box)[2])) * (box)[6] + ((k) - (box)[3]))
    for (int i = 0; i < ni; i++) for (int j = 0; j < nj; j++) for (int k = 0; k < nk; k++) {
        float* q = mark + 20L * (((long)i * nj + j) * nk + k);
        for (int c = 0; c < 12; c++) q[c] = 0.0f;
        for (int c = 12; c < 16; c++) { q[c] = -1e30f; q[c + 4] = 1e30f; }
        const int gi = i + li, gj = j + lj, gk = k + lk;
        const long a = NODE(boxes_of[0], gi, gj, gk);
        if (grid.data[4 * a + 3] <= 0.0f) continue;
        if (!pair) {
            float normal[3];
            const float d = Solid::distance(kind, solid, field.data, gi * dx, gj * dx, gk * dx, normal);
            if (d > 0.1f * dx) continue;  // rounding must not lose nodes that lie on it
            q[0] = normal[0]; q[1] = normal[1]; q[2] = normal[2]; q[12] = 0.0f;
            continue;
        }
        if (grid.data[4 * NODE(boxes_of[1], gi, gj, gk) + 3] <= 0.0f) continue;
        // candidates: how the first thins out, how the second does, and both; the one that parts them best will count
        float* slope[3] = {q + 3, q + 6, q};
        for (int s = 0; s < 2; s++) {
            const int* box = boxes_of[s];
            const float weight = (s ? 1.0f : -1.0f) / densities.data[box[7]];
            const int at[3] = {gi - box[1], gj - box[2], gk - box[3]};
            const long stride[3] = {(long)box[5] * box[6], box[6], 1};
            const float* mass = grid.data + 4 * NODE(box, gi, gj, gk) + 3;
            for (int x = 0; x < 3; x++) {
                const float up = at[x] + 1 < box[4 + x] ? mass[4 * stride[x]] : 0.0f;
                const float down = at[x] > 0 ? mass[-4 * stride[x]] : 0.0f;
                slope[s][x] = weight * (up - down);
                slope[2][x] += slope[s][x];
            }
        }
        for (int s = 2; s >= 0; s--) {
            const float size = sqrtf(slope[s][0] * slope[s][0] + slope[s][1] * slope[s][1] + slope[s][2] * slope[s][2]);
            const float along = slope[s][0] * q[0] + slope[s][1] * q[1] + slope[s][2] * q[2];
            const float scale = size > 1e-3f * dx * dx * dx && along > 0.0f ? 1.0f / size : 0.0f;
            for (int x = 0; x < 3; x++) slope[s][x] *= scale;
        }
        for (int x = 0; x < 3; x++) mean[x] += q[x];
    }
    // at the rim of a face normals tilt outwards; the mean of all is a fourth candidate
    const double size = sqrt(mean[0] * mean[0] + mean[1] * mean[1] + mean[2] * mean[2]);
    if (pair && size > 0.0) for (long e = 0; e < (long)ni * nj * nk; e++) {
        float* q = mark + 20L * e;
        if (q[0] * mean[0] + q[1] * mean[1] + q[2] * mean[2] > 0.0) for (int x = 0; x < 3; x++) q[9 + x] = (float)(mean[x] / size);
    }
    // how far particles reach along the normal of the nodes that they touch
    for (int s = 0; s < (pair ? 2 : 1); s++) for (int run = m[11 + 2 * s]; run < m[12 + 2 * s]; run++) {
        for (long p = runs.data[8 * run]; p < runs.data[8 * run + 1]; p++) {
            const float x = base[(ROW_POSITION) * n + p], y = base[(ROW_POSITION + 1) * n + p], z = base[(ROW_POSITION + 2) * n + p];
            const float radius = base[(kind == 0 ? ROW_REACH : ROW_RADIUS) * n + p];
            const int i = (int)floorf(x * inv - 0.5f) - li, j = (int)floorf(y * inv - 0.5f) - lj, k = (int)floorf(z * inv - 0.5f) - lk;
            if (i <= -3 || j <= -3 || k <= -3 || i >= ni || j >= nj || k >= nk) continue;
            float d = 0.0f, normal[3];
            if (!pair) { d = Solid::distance(kind, solid, field.data, x, y, z, normal) - radius; if (d > 3.0f * dx) continue; }
            for (int a = i < 0 ? -i : 0; a < 3 && i + a < ni; a++)
                for (int b = j < 0 ? -j : 0; b < 3 && j + b < nj; b++)
                    for (int c = k < 0 ? -k : 0; c < 3 && k + c < nk; c++) {
                        float* q = mark + 20L * (((long)(i + a) * nj + j + b) * nk + k + c);
                        if (q[0] == 0.0f && q[1] == 0.0f && q[2] == 0.0f) continue;
                        if (!pair) { if (d < q[16]) q[16] = d; continue; }
                        const float u = x - (i + a + li) * dx, v = y - (j + b + lj) * dx, w = z - (k + c + lk) * dx;
                        for (int t = 0; t < 4; t++) {
                            const float at = u * q[3 * t] + v * q[3 * t + 1] + w * q[3 * t + 2];
                            if (u * u + v * v + w * w - at * at > dx * dx) continue;  // beside the node, where other faces may be
                            if (s == 0) { if (at + radius > q[12 + t]) q[12 + t] = at + radius; }
                            else if (at - radius < q[16 + t]) q[16 + t] = at - radius;
                        }
                    }
        }
    }
    long count = counts.data[0];
    const long room = contacts.shape[0] / 8 < places.shape[0] / 16 ? contacts.shape[0] / 8 : places.shape[0] / 16;
    for (int i = 0; i < ni; i++) for (int j = 0; j < nj; j++) for (int k = 0; k < nk; k++) {
        const float* q = mark + 20L * (((long)i * nj + j) * nk + k);
        if (q[0] == 0.0f && q[1] == 0.0f && q[2] == 0.0f) continue;
        int best = 0;
        for (int t = 1; pair && t < 4; t++) {
            const bool there = q[3 * t] != 0.0f || q[3 * t + 1] != 0.0f || q[3 * t + 2] != 0.0f;
            if (there && q[16 + t] - q[12 + t] > q[16 + best] - q[12 + best]) best = t;
        }
        const float gap = q[16 + best] - q[12 + best];
        if (hold == 0 && !(gap <= close)) continue;
        const int gi = i + li, gj = j + lj, gk = k + lk;
        const long a = NODE(boxes_of[0], gi, gj, gk), b = pair ? NODE(boxes_of[1], gi, gj, gk) : -1;
        const int owner_a = owners.shape[0] > a ? owners.data[a] : -1, owner_b = b >= 0 && owners.shape[0] > b ? owners.data[b] : -1;
        if (!pair && owner_a >= 0) continue;  // rigid parts touch planes and obstacles with their own points
        if (count >= room) { counts.data[1] += 1; continue; }
        int* to = contacts.data + 8 * count;
        to[0] = (int)a; to[1] = (int)b; to[2] = owner_a; to[3] = owner_b; to[4] = hold;
        float* what = places.data + 16 * count;
        // the normal points out of the solid, or from the second object to the first
        const float sign = pair ? -1.0f : 1.0f;
        for (int x = 0; x < 3; x++) what[x] = sign * q[3 * best + x];
        what[3] = pair ? limits.data[1] : solid[6];
        what[4] = gap;
        what[12] = 0.0f;
        what[5] = gi * dx; what[6] = gj * dx; what[7] = gk * dx;
        count++;
    }
    counts.data[0] = (int)count;
"""


@wp.func_native(snippet(SOLIDS, MARK))
@no_type_check
def mark_native(
    table: Table, grid: Floats, numbers: Floats, boxes: Ints, runs: Ints, meets: Ints, solids: Floats, field: Floats, marks: Floats,
    densities: Floats, owners: Ints, contacts: Ints, places: Floats, counts: Ints, limits: Floats, meet: int
): ...  # fmt: skip


@wp.kernel(module=MODULE, enable_backward=False)
@no_type_check
def mark(
    table: Table, grid: Floats, numbers: Floats, boxes: Ints, runs: Ints, meets: Ints, solids: Floats, field: Floats, marks: Floats,
    densities: Floats, owners: Ints, contacts: Ints, places: Floats, counts: Ints, limits: Floats, first: int, last: int
):  # fmt: skip
    for meet in range(first, last):
        mark_native(
            table, grid, numbers, boxes, runs, meets, solids, field, marks, densities, owners, contacts, places, counts, limits, meet
        )  # fmt: skip


Doubles: Any = wp.array(dtype=wp.float64)

OWN = r"""
    // nodes that belong to a rigid or held part: its own mass there against all
    const long n = table.shape[1];
    const float* const base = table.data;
    const float dx = numbers.data[0], inv = 1.0f / dx;
    const int* item = holders.data + 8 * holder;  // part, its grid, the object's, first and last member, which limit, moves freely
    const int* box = boxes.data + 8 * item[1];
    const int* whole = boxes.data + 8 * item[2];
    float* const own = grid.data + 4L * box[0];
    const long size = 4L * box[4] * box[5] * box[6];
    for (long i = 0; i < size; i++) own[i] = 0.0f;
    for (int e = item[3]; e < item[4]; e++) {
        const long p = members.data[e];
        const float mass = base[ROW_MASS * n + p];
        const float v[3] = {aims.data[3 * e], aims.data[3 * e + 1], aims.data[3 * e + 2]};
        float w[3][3]; int at[3];
        for (int q = 0; q < 3; q++) {
            const float place = base[(ROW_POSITION + q) * n + p] * inv, low = floorf(place - 0.5f), f = place - low;
            w[q][0] = 0.5f * (1.5f - f) * (1.5f - f); w[q][1] = 0.75f - (f - 1.0f) * (f - 1.0f); w[q][2] = 0.5f * (f - 0.5f) * (f - 0.5f);
            at[q] = (int)low - box[1 + q];
        }
        if (at[0] < 0 || at[1] < 0 || at[2] < 0 || at[0] + 3 > box[4] || at[1] + 3 > box[5] || at[2] + 3 > box[6]) continue;
        for (int a = 0; a < 3; a++) for (int b = 0; b < 3; b++) for (int c = 0; c < 3; c++) {
            const float part = mass * w[0][a] * w[1][b] * w[2][c];
            float* to = own + 4L * (((long)(at[0] + a) * box[5] + at[1] + b) * box[6] + at[2] + c);
            to[0] += part * v[0]; to[1] += part * v[1]; to[2] += part * v[2]; to[3] += part;
        }
    }
    const long room = owned.shape[0] / 2 < speeds.shape[0] / 6 ? owned.shape[0] / 2 : speeds.shape[0] / 6;
    const long spare = shared.shape[0] / 2 < shares.shape[0] / 4 ? shared.shape[0] / 2 : shares.shape[0] / 4;
    const long first = counts.data[2];
    long count = first;
    // a part that is light or thin beside what it is stuck in owns what it can
    float least = limits.data[item[5]] - 1e-4f, total = 0.0f, held = 0.0f;
    for (long i = 3; i < size; i += 4) total += own[i];
    for (int tries = 0; tries < 3 && held < 0.3f * total; tries++, least *= 0.25f) {
        held = 0.0f;
        for (int i = 0; i < box[4]; i++) for (int j = 0; j < box[5]; j++) for (int k = 0; k < box[6]; k++) {
            const float* q = own + 4L * (((long)i * box[5] + j) * box[6] + k);
            if (q[3] <= 0.0f) continue;
            const long ai = i + box[1] - whole[1], aj = j + box[2] - whole[2], ak = k + box[3] - whole[3];
            if (ai < 0 || aj < 0 || ak < 0 || ai >= whole[4] || aj >= whole[5] || ak >= whole[6]) continue;
            const long node = whole[0] + (ai * whole[5] + aj) * whole[6] + ak;
            if (owners.data[node] == item[0]) held += q[3];
            if (q[3] < least * grid.data[4 * node + 3] || owners.data[node] >= 0) continue;
            if (count >= room) { counts.data[3] += 1; continue; }
            held += q[3];
            owners.data[node] = item[0];
            owned.data[2 * count] = (int)node;
            owned.data[2 * count + 1] = item[0];
            for (int x = 0; x < 3; x++) speeds.data[6 * count + x] = q[x] / q[3];
            speeds.data[6 * count + 3] = (i + box[1]) * dx; speeds.data[6 * count + 4] = (j + box[2]) * dx; speeds.data[6 * count + 5] = (k + box[3]) * dx;
            count++;
        }
    }
    counts.data[2] = (int)count;
    // where it has less, its mass is taken out of the node again: nobody else may carry its momentum
    if (item[6] == 0) return;
    long more = counts.data[4];
    for (int i = 0; i < box[4]; i++) for (int j = 0; j < box[5]; j++) for (int k = 0; k < box[6]; k++) {
        const float mass = own[4L * (((long)i * box[5] + j) * box[6] + k) + 3];
        const long ai = i + box[1] - whole[1], aj = j + box[2] - whole[2], ak = k + box[3] - whole[3];
        if (mass <= 0.0f || ai < 0 || aj < 0 || ak < 0 || ai >= whole[4] || aj >= whole[5] || ak >= whole[6]) continue;
        const long node = whole[0] + (ai * whole[5] + aj) * whole[6] + ak;
        if (owners.data[node] >= 0) continue;
        if (more >= spare) { counts.data[5] += 1; continue; }
        shared.data[2 * more] = (int)node; shared.data[2 * more + 1] = item[0];
        float* what = shares.data + 4 * more++;
        what[0] = mass; what[1] = (i + box[1]) * dx; what[2] = (j + box[2]) * dx; what[3] = (k + box[3]) * dx;
    }
    counts.data[4] = (int)more;
"""

RESOLVE = r"""
    // rigid parts: momentum of the nodes they own; then contacts, in rounds where rigid parts take part; then velocities of these nodes
    const float dx = numbers.data[0], dt = numbers.data[1];
    const int count = counts.data[0], owning = counts.data[2];
    const int parts = states.shape[0] / 64;
    double* const S = states.data;  // centre, rotation, velocity, spin, inverse mass matrix, moves freely
    struct Balance {  // mass matrix and momentum of a part, kept where its inverse and its velocity will be
        static inline void add(double* part, double m, double x, double y, double z, const double* v) {
            double* K = part + 18;
            const double px = m * v[0], py = m * v[1], pz = m * v[2];
            part[12] += px; part[13] += py; part[14] += pz;
            part[15] += y * pz - z * py; part[16] += z * px - x * pz; part[17] += x * py - y * px;
            K[0] += m; K[1] += m * x; K[2] += m * y; K[3] += m * z;
            K[4] += m * x * x; K[5] += m * y * y; K[6] += m * z * z; K[7] += m * x * y; K[8] += m * x * z; K[9] += m * y * z;
        }
    };
    for (int r = 0; r < parts; r++) {
        double* old = shifts.data + 6 * r;
        for (int q = 0; q < 6; q++) { old[q] = S[64 * r + 12 + q]; S[64 * r + 12 + q] = 0.0; }
        double* K = S + 64 * r + 18;
        for (int q = 0; q < 36; q++) K[q] = 0.0;
    }
    for (int e = 0; e < counts.data[4]; e++) {
        double* part = S + 64 * shared.data[2 * e + 1];
        const double* old = shifts.data + 6 * shared.data[2 * e + 1];
        const float* what = shares.data + 4 * e;
        float* g = grid.data + 4L * shared.data[2 * e];
        const double m = what[0] < 0.9f * g[3] ? what[0] : 0.9f * g[3];
        const double x = what[1] - part[0], y = what[2] - part[1], z = what[3] - part[2];
        const double v[3] = {old[0] + old[4] * z - old[5] * y + dt * numbers.data[2], old[1] + old[5] * x - old[3] * z + dt * numbers.data[3],
                             old[2] + old[3] * y - old[4] * x + dt * numbers.data[4]};
        Balance::add(part, m, x, y, z, v);
        for (int q = 0; q < 3; q++) g[q] = (float)((g[3] * g[q] - m * v[q]) / (g[3] - m));
        g[3] -= (float)m;
    }
    for (int r = 0; r < parts; r++) for (int q = 0; q < 6; q++) shifts.data[6 * r + q] = 0.0;
    for (int e = 0; e < owning; e++) {
        const long node = owned.data[2 * e];
        double* part = S + 64 * owned.data[2 * e + 1];
        float* g = grid.data + 4 * node;
        if (part[54] == 0.0) { for (int x = 0; x < 3; x++) g[x] = speeds.data[6 * e + x]; continue; }
        const double v[3] = {g[0], g[1], g[2]};
        Balance::add(part, g[3], speeds.data[6 * e + 3] - part[0], speeds.data[6 * e + 4] - part[1], speeds.data[6 * e + 5] - part[2], v);
    }
    for (int r = 0; r < parts; r++) {
        double* part = S + 64 * r;
        if (part[54] == 0.0) continue;
        double* K = part + 18;
        const double m = K[0], sx = K[1], sy = K[2], sz = K[3], xx = K[4], yy = K[5], zz = K[6], xy = K[7], xz = K[8], yz = K[9];
        double A[6][12] = {{m, 0, 0, 0, sz, -sy}, {0, m, 0, -sz, 0, sx}, {0, 0, m, sy, -sx, 0},
                           {0, -sz, sy, yy + zz, -xy, -xz}, {sz, 0, -sx, -xy, xx + zz, -yz}, {-sy, sx, 0, -xz, -yz, xx + yy}};
        const double floor_ = 1e-9 * (xx + yy + zz) + 1e-300;
        for (int q = 0; q < 6; q++) { A[q][q] += q < 3 ? 1e-300 : floor_; A[q][6 + q] = 1.0; }
        for (int c = 0; c < 6; c++) {
            int best = c;
            for (int q = c + 1; q < 6; q++) if (A[q][c] * A[q][c] > A[best][c] * A[best][c]) best = q;
            for (int q = 0; q < 12; q++) { const double t = A[c][q]; A[c][q] = A[best][q]; A[best][q] = t; }
            const double scale = A[c][c] != 0.0 ? 1.0 / A[c][c] : 0.0;
            for (int q = 0; q < 12; q++) A[c][q] *= scale;
            for (int s = 0; s < 6; s++) if (s != c) { const double t = A[s][c]; for (int q = 0; q < 12; q++) A[s][q] -= t * A[c][q]; }
        }
        double u[6] = {0, 0, 0, 0, 0, 0};
        for (int q = 0; q < 6; q++) for (int s = 0; s < 6; s++) { K[6 * q + s] = A[q][6 + s]; u[q] += A[q][6 + s] * part[12 + s]; }
        for (int q = 0; q < 6; q++) part[12 + q] = u[q];
    }
    struct Side {
        double* part; float* node; double r[3]; double inverse; bool fixed;
        inline void open(double* states, float* grid, long at, int owner, const float* place) {
            node = at >= 0 ? grid + 4 * at : 0;
            part = owner >= 0 ? states + 64 * owner : 0;
            fixed = (!part && !node) || (part && part[54] == 0.0);
            if (part && part[54] == 0.0 && node) part = 0; // held: the node's own velocity, infinite mass
            if (part) for (int x = 0; x < 3; x++) r[x] = place[x] - part[x];
            inverse = fixed || part || node[3] <= 0.0f ? 0.0 : 1.0 / node[3];
        }
        inline void speed(double* v) const {
            if (part) {
                const double* V = part + 12; const double* W = part + 15;
                v[0] = V[0] + W[1] * r[2] - W[2] * r[1]; v[1] = V[1] + W[2] * r[0] - W[0] * r[2]; v[2] = V[2] + W[0] * r[1] - W[1] * r[0];
            } else for (int x = 0; x < 3; x++) v[x] = node ? node[x] : 0.0;
        }
        inline double give(const double* d) const {  // change of speed along d for a unit impulse along d
            if (!part) return inverse;
            const double J[6] = {d[0], d[1], d[2], r[1] * d[2] - r[2] * d[1], r[2] * d[0] - r[0] * d[2], r[0] * d[1] - r[1] * d[0]};
            double sum = 0.0;
            for (int q = 0; q < 6; q++) for (int s = 0; s < 6; s++) sum += J[q] * part[18 + 6 * q + s] * J[s];
            return sum;
        }
        inline void push(const double* p) {
            if (!part) { for (int x = 0; x < 3; x++) if (inverse > 0.0) node[x] += (float)(inverse * p[x]); return; }
            const double J[6] = {p[0], p[1], p[2], r[1] * p[2] - r[2] * p[1], r[2] * p[0] - r[0] * p[2], r[0] * p[1] - r[1] * p[0]};
            for (int q = 0; q < 6; q++) { double sum = 0.0; for (int s = 0; s < 6; s++) sum += part[18 + 6 * q + s] * J[s]; part[12 + q] += sum; }
        }
    };
    for (int e = 0; e < count; e++) for (int q = 8; q < 12; q++) places.data[16 * e + q] = 0.0f;
    const int rounds = (int)limits.data[3];
    for (int round = 0; round < rounds; round++) {
        bool again = false;
        for (int e = 0; e < count; e++) {
            const int* c = contacts.data + 8 * e;
            float* f = places.data + 16 * e;
            Side a, b;
            a.open(S, grid.data, c[0], c[2], f + 5);
            b.open(S, grid.data, c[1], c[3], f + 5);
            const bool rigid = a.part || b.part;
            again |= rigid;
            if (round > 0 && !rigid) continue;
            const double n[3] = {f[0], f[1], f[2]};
            double va[3], vb[3], v[3];
            a.speed(va); b.speed(vb);
            for (int x = 0; x < 3; x++) v[x] = va[x] - vb[x];
            const double into = v[0] * n[0] + v[1] * n[1] + v[2] * n[2] - f[12];  // pins may have a speed to keep
            // a gap to a solid may close, and no more; what is soft and too deep is pushed out, what is rigid is put out below
            double bias = 0.0;
            if (c[1] < 0 && c[4] == 0 && f[4] > 0.0f) bias = -f[4] / dt;
            if (!rigid && c[1] < 0 && -f[4] > limits.data[7] * dx) bias = (-f[4] - limits.data[7] * dx) * limits.data[4] / dt;
            if (bias > limits.data[5] * dx) bias = limits.data[5] * dx;
            const double easy = a.give(n) + b.give(n);
            if (easy <= 0.0) continue;
            const double old = f[8];
            double total = old + (bias - into) / easy;
            if (c[4] == 0 && total < 0.0) total = 0.0;
            f[8] = (float)total;
            double impulse[3];
            for (int x = 0; x < 3; x++) impulse[x] = (total - old) * n[x];
            a.push(impulse);
            for (int x = 0; x < 3; x++) impulse[x] = -impulse[x];
            b.push(impulse);
            if (c[4] == 1) continue;  // slips
            a.speed(va); b.speed(vb);
            double along = 0.0, t[3], rub[3];
            for (int x = 0; x < 3; x++) v[x] = va[x] - vb[x];
            for (int x = 0; x < 3; x++) along += v[x] * n[x];
            double size = 0.0;
            for (int x = 0; x < 3; x++) { t[x] = v[x] - along * n[x]; size += t[x] * t[x]; }
            size = sqrt(size);
            if (size > 1e-12) {
                for (int x = 0; x < 3; x++) t[x] /= size;
                const double stop = size / (a.give(t) + b.give(t));
                for (int x = 0; x < 3; x++) rub[x] = f[9 + x] - stop * t[x];
                const double most = c[4] == 2 ? 1e30 : f[3] * total, sum = sqrt(rub[0] * rub[0] + rub[1] * rub[1] + rub[2] * rub[2]);
                if (sum > most) for (int x = 0; x < 3; x++) rub[x] *= most / sum;
                for (int x = 0; x < 3; x++) { impulse[x] = rub[x] - f[9 + x]; f[9 + x] = (float)rub[x]; }
                a.push(impulse);
                for (int x = 0; x < 3; x++) impulse[x] = -impulse[x];
                b.push(impulse);
            }
        }
        if (!again) break;
    }
    // gaps to solids go on with what touches them; overlaps of rigid parts are undone by shifts, which give no speed
    const double most = limits.data[5] * dx * dt;
    for (int e = 0; e < count; e++) {
        const int* c = contacts.data + 8 * e;
        float* f = places.data + 16 * e;
        if (c[4] != 0) continue;
        Side a, b;
        a.open(S, grid.data, c[0], c[2], f + 5);
        b.open(S, grid.data, c[1], c[3], f + 5);
        const double n[3] = {f[0], f[1], f[2]};
        if (c[1] < 0) {
            double v[3];
            a.speed(v);
            f[4] += (float)(dt * (v[0] * n[0] + v[1] * n[1] + v[2] * n[2]));
        }
        if (!a.part || (c[1] >= 0 && !b.part)) continue;
        // between objects the gap is only good enough where both are rigid
        double need = (-f[4] - limits.data[6] * dx) * limits.data[4];
        if (need > most) need = most;
        const double ga = a.give(n), gb = b.part ? b.give(n) : 0.0;
        double* sa = shifts.data + 6 * c[2];
        double* sb = shifts.data + 6 * (b.part ? c[3] : c[2]);
        for (int x = 0; x < 3; x++) need -= n[x] * (b.part ? sa[x] - sb[x] : sa[x]);
        if (need <= 0.0 || ga + gb <= 0.0) continue;
        for (int x = 0; x < 3; x++) {
            sa[x] += need * ga / (ga + gb) * n[x];
            if (b.part) sb[x] -= need * gb / (ga + gb) * n[x];
        }
    }
    for (int e = 0; e < owning; e++) {
        const double* part = S + 64 * owned.data[2 * e + 1];
        if (part[54] == 0.0) continue;
        float* g = grid.data + 4L * owned.data[2 * e];
        const double x = speeds.data[6 * e + 3] - part[0], y = speeds.data[6 * e + 4] - part[1], z = speeds.data[6 * e + 5] - part[2];
        g[0] = (float)(part[12] + part[16] * z - part[17] * y);
        g[1] = (float)(part[13] + part[17] * x - part[15] * z);
        g[2] = (float)(part[14] + part[15] * y - part[16] * x);
    }
    for (int r = 0; r < parts; r++) for (int x = 0; x < 3; x++) S[64 * r + x] += shifts.data[6 * r + x];
"""

TURN = r"""
    struct Turn {
        static inline void by(double* R, const double* W, double dt) {
            const double rate = sqrt(W[0] * W[0] + W[1] * W[1] + W[2] * W[2]), h = 0.5 * rate * dt;
            if (h < 1e-15) return;
            const double s = sin(h) / rate, q[4] = {cos(h), s * W[0], s * W[1], s * W[2]};
            const double T[9] = {1 - 2 * (q[2] * q[2] + q[3] * q[3]), 2 * (q[1] * q[2] - q[0] * q[3]), 2 * (q[1] * q[3] + q[0] * q[2]),
                                 2 * (q[1] * q[2] + q[0] * q[3]), 1 - 2 * (q[1] * q[1] + q[3] * q[3]), 2 * (q[2] * q[3] - q[0] * q[1]),
                                 2 * (q[1] * q[3] - q[0] * q[2]), 2 * (q[2] * q[3] + q[0] * q[1]), 1 - 2 * (q[1] * q[1] + q[2] * q[2])};
            double N[9];
            for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) N[3 * i + j] = T[3 * i] * R[j] + T[3 * i + 1] * R[3 + j] + T[3 * i + 2] * R[6 + j];
            for (int i = 0; i < 9; i++) R[i] = N[i];
        }
        // R J Rᵀ W, with the inertia J in the part's own axes
        static inline void momentum(const double* R, const double* J, const double* W, double* L) {
            double a[3], b[3];
            for (int i = 0; i < 3; i++) a[i] = R[i] * W[0] + R[3 + i] * W[1] + R[6 + i] * W[2];
            for (int i = 0; i < 3; i++) b[i] = J[3 * i] * a[0] + J[3 * i + 1] * a[1] + J[3 * i + 2] * a[2];
            for (int i = 0; i < 3; i++) L[i] = R[3 * i] * b[0] + R[3 * i + 1] * b[1] + R[3 * i + 2] * b[2];
        }
        static inline void spin(const double* R, const double* J, const double* L, double* W) {
            const double c0 = J[4] * J[8] - J[5] * J[7], c1 = J[5] * J[6] - J[3] * J[8], c2 = J[3] * J[7] - J[4] * J[6];
            const double det = J[0] * c0 + J[1] * c1 + J[2] * c2;
            const double I[9] = {c0, J[2] * J[7] - J[1] * J[8], J[1] * J[5] - J[2] * J[4], c1, J[0] * J[8] - J[2] * J[6], J[2] * J[3] - J[0] * J[5],
                                 c2, J[1] * J[6] - J[0] * J[7], J[0] * J[4] - J[1] * J[3]};
            double a[3], b[3];
            for (int i = 0; i < 3; i++) a[i] = R[i] * L[0] + R[3 + i] * L[1] + R[6 + i] * L[2];
            for (int i = 0; i < 3; i++) b[i] = (I[3 * i] * a[0] + I[3 * i + 1] * a[1] + I[3 * i + 2] * a[2]) / det;
            for (int i = 0; i < 3; i++) W[i] = R[3 * i] * b[0] + R[3 * i + 1] * b[1] + R[3 * i + 2] * b[2];
        }
    };
"""

MOVE = r"""
    // a rigid part goes on by one step, and its particles with it
    const long n = table.shape[1];
    float* const base = table.data;
    const double dt = numbers.data[1];
    for (int r = 0; r < spans.shape[0] / 2; r++) {
        double* part = states.data + 64 * r;
        double* R = part + 3;
        const double* V = part + 12;
        double* W = part + 15;
        for (int x = 0; x < 3; x++) part[x] += dt * V[x];
        // angular momentum is kept, so the spin changes as the part turns: it turns with the spin of the middle of the step
        const double* J = part + 55;
        double L[3];
        Turn::momentum(R, J, W, L);
        double half[9], w[3];
        for (int i = 0; i < 9; i++) half[i] = R[i];
        Turn::by(half, W, 0.5 * dt);
        Turn::spin(half, J, L, w);
        Turn::by(R, w, dt);
        Turn::spin(R, J, L, W);
        const float spin[9] = {0, (float)-W[2], (float)W[1], (float)W[2], 0, (float)-W[0], (float)-W[1], (float)W[0], 0};
        for (long p = spans.data[2 * r]; p < spans.data[2 * r + 1]; p++) {
            double o[3];
            for (int i = 0; i < 3; i++) o[i] = R[3 * i] * base[ROW_STATE * n + p] + R[3 * i + 1] * base[(ROW_STATE + 1) * n + p] + R[3 * i + 2] * base[(ROW_STATE + 2) * n + p];
            const double v[3] = {V[0] + W[1] * o[2] - W[2] * o[1], V[1] + W[2] * o[0] - W[0] * o[2], V[2] + W[0] * o[1] - W[1] * o[0]};
            for (int i = 0; i < 3; i++) {
                const double place = part[i] + o[i];
                const float near = (float)place;
                base[(ROW_POSITION + i) * n + p] = near;
                base[(ROW_REMAINDER + i) * n + p] = (float)(place - near);
                base[(ROW_VELOCITY + i) * n + p] = (float)v[i];
            }
            for (int q = 0; q < 9; q++) base[(ROW_AFFINE + q) * n + p] = spin[q];
        }
    }
"""


@wp.func_native(snippet(OWN))
@no_type_check
def own_native(
    table: Table, grid: Floats, numbers: Floats, boxes: Ints, holders: Ints, members: Ints, aims: Floats, owners: Ints, owned: Ints,
    speeds: Floats, shared: Ints, shares: Floats, counts: Ints, limits: Floats, holder: int
): ...  # fmt: skip


@wp.func_native(snippet(RESOLVE))
@no_type_check
def resolve_native(
    grid: Floats, numbers: Floats, contacts: Ints, places: Floats, counts: Ints, limits: Floats, owned: Ints, speeds: Floats,
    shared: Ints, shares: Floats, states: Doubles, shifts: Doubles
): ...  # fmt: skip


SPRING = r"""
    // springs to targets that move, taken implicitly so that no stiffness is too much
    const long n = table.shape[1];
    float* const base = table.data;
    const float dt = numbers.data[1];
    for (int e = 0; e < count; e++) {
        const long p = members.data[e];
        const float* s = springs.data + 8 * e;  // target, its velocity, stiffness, damping
        const float m = base[ROW_MASS * n + p], stiff = dt * s[6] / m, drag = dt * s[7] / m;
        for (int x = 0; x < 3; x++) {
            float* v = base + (ROW_VELOCITY + x) * n + p;
            const float away = s[x] - base[(ROW_POSITION + x) * n + p];
            *v = (*v + stiff * (away + dt * s[3 + x]) + drag * s[3 + x]) / (1.0f + drag + dt * stiff);
        }
        float* t = springs.data + 8 * e;
        for (int x = 0; x < 3; x++) t[x] += dt * t[3 + x];
    }
"""


@wp.func_native(snippet(SPRING))
@no_type_check
def spring_native(table: Table, numbers: Floats, members: Ints, springs: Floats, count: int): ...


@wp.kernel(module=MODULE, enable_backward=False)
@no_type_check
def spring(table: Table, numbers: Floats, members: Ints, springs: Floats, count: int):
    spring_native(table, numbers, members, springs, count)


@wp.func_native(snippet(TURN, MOVE))
@no_type_check
def move_native(table: Table, numbers: Floats, spans: Ints, states: Doubles): ...


@wp.kernel(module=MODULE, enable_backward=False)
@no_type_check
def own(
    table: Table, grid: Floats, numbers: Floats, boxes: Ints, holders: Ints, members: Ints, aims: Floats, owners: Ints, owned: Ints,
    speeds: Floats, shared: Ints, shares: Floats, counts: Ints, limits: Floats, last: int
):  # fmt: skip
    for holder in range(last):
        own_native(
            table, grid, numbers, boxes, holders, members, aims, owners, owned, speeds, shared, shares, counts, limits, holder
        )  # fmt: skip


@wp.kernel(module=MODULE, enable_backward=False)
@no_type_check
def resolve(
    grid: Floats, numbers: Floats, contacts: Ints, places: Floats, counts: Ints, limits: Floats, owned: Ints, speeds: Floats,
    shared: Ints, shares: Floats, states: Doubles, shifts: Doubles
):  # fmt: skip
    resolve_native(grid, numbers, contacts, places, counts, limits, owned, speeds, shared, shares, states, shifts)


@wp.kernel(module=MODULE, enable_backward=False)
@no_type_check
def move(table: Table, numbers: Floats, spans: Ints, states: Doubles):
    move_native(table, numbers, spans, states)
