"""Who touches whom, as C++ snippets for the CPU.

Contact is felt at nodes where two objects' grids, or a grid and a plane or obstacle, both have something, but only if the particles that reach the
node really touch: the gap between them is measured along the contact's normal. Without that, objects would rest a cell apart.
"""

# Warp reads annotations as they are: no ``from __future__ import annotations`` here
from typing import no_type_check  # the tests' type checker must leave Warp's functions alone

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
