"""Vertices that follow several frames each, by weights: where they are, and how high above a plane.

Frames are blended first, for a few vertices at a time, so that one product of small matrices does most of the work.
"""

from __future__ import annotations

import numpy as np

from neurok.compiled.loops import compiled

AT_A_TIME = 256
"""Vertices whose blended frames stay near the processor."""


@compiled
def everywhere(weights, rest, rows, out):
    """Where all vertices are ``(V, 3)``, given weights ``(V, H)`` and the four rows of each frame ``(H, 12)``."""
    count = rest.shape[0]
    own = np.empty((AT_A_TIME, 12))
    for start in range(0, count, AT_A_TIME):
        end = min(count, start + AT_A_TIME)
        np.dot(weights[start:end], rows, own[: end - start])
        for v in range(start, end):
            x, y, z, row = rest[v, 0], rest[v, 1], rest[v, 2], own[v - start]
            for i in range(3):
                out[v, i] = row[i] * x + row[3 + i] * y + row[6 + i] * z + row[9 + i]


@compiled
def some(weights, rest, vertices, rows, out):
    """The same of some vertices, or how they move, given how the rows do."""
    count, handles = vertices.shape[0], weights.shape[1]
    own, mine = np.empty((AT_A_TIME, 12)), np.empty((AT_A_TIME, handles))
    for start in range(0, count, AT_A_TIME):
        end = min(count, start + AT_A_TIME)
        for n in range(start, end):
            for h in range(handles):
                mine[n - start, h] = weights[vertices[n], h]
        np.dot(mine[: end - start], rows, own[: end - start])
        for n in range(start, end):
            v, row = vertices[n], own[n - start]
            x, y, z = rest[v, 0], rest[v, 1], rest[v, 2]
            for i in range(3):
                out[n, i] = row[i] * x + row[3 + i] * y + row[6 + i] * z + row[9 + i]


@compiled
def heights(weights, rest, vertices, rows, normal, out):
    """How far some vertices are along a direction."""
    count, handles = vertices.shape[0], weights.shape[1]
    along = np.empty((handles, 4))
    for h in range(handles):
        for k in range(4):
            along[h, k] = rows[h, 3 * k] * normal[0] + rows[h, 3 * k + 1] * normal[1] + rows[h, 3 * k + 2] * normal[2]
    own, mine = np.empty((AT_A_TIME, 4)), np.empty((AT_A_TIME, handles))
    for start in range(0, count, AT_A_TIME):
        end = min(count, start + AT_A_TIME)
        for n in range(start, end):
            for h in range(handles):
                mine[n - start, h] = weights[vertices[n], h]
        np.dot(mine[: end - start], along, own[: end - start])
        for n in range(start, end):
            v, row = vertices[n], own[n - start]
            out[n] = row[0] * rest[v, 0] + row[1] * rest[v, 1] + row[2] * rest[v, 2] + row[3]


@compiled
def farthest(corners, change, as_a_whole):
    """Largest square of how far corners ``(H, 8, 4)`` move when the rows of their frames change by ``(4 H, 3)``;
    against the mean of all unless ``as_a_whole``."""
    count = corners.shape[0]
    moved, mean, most = np.empty((count, 8, 3)), np.zeros(3), 0.0
    for h in range(count):
        for c in range(8):
            for i in range(3):
                total = 0.0
                for k in range(4):
                    total += corners[h, c, k] * change[4 * h + k, i]
                moved[h, c, i] = total
                mean[i] += total
    for i in range(3):
        mean[i] = 0.0 if as_a_whole else mean[i] / (8 * count)
    for h in range(count):
        for c in range(8):
            square = 0.0
            for i in range(3):
                square += (moved[h, c, i] - mean[i]) ** 2
            most = max(most, square)
    return most
