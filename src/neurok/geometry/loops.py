"""How loops are compiled, and those of geometry."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit


def compiled(loop: Callable[..., Any]) -> Callable[..., Any]:
    """Machine code of a function of arrays and numbers, kept in a cache; sums stay in the order that is written."""
    loop = inspect.unwrap(loop)  # what checks types of arguments cannot be compiled
    made: Callable[..., Any] = njit(loop, cache=True, nogil=True, fastmath=False, error_model="numpy")
    return made


@compiled
def choose_farthest(points, start, chosen):
    """Fill ``chosen``: each next point of ``(N, D)`` is the one farthest from all before; none twice."""
    nearest = np.full(points.shape[0], np.inf)
    current = start
    for i in range(chosen.shape[0]):
        chosen[i] = current
        best, farthest = 0, -np.inf
        for n in range(points.shape[0]):
            square = 0.0
            for d in range(points.shape[1]):
                square += (points[n, d] - points[current, d]) ** 2
            if square < nearest[n]:
                nearest[n] = square
            if n == current:
                nearest[n] = -1.0
            if nearest[n] > farthest:
                farthest, best = nearest[n], n
        current = best


@compiled
def free_base(pose, center, xi, frames, screws):
    """Transform of a free base ``(B, 4, 4)`` and its screws ``(B, 6, 4, 4)``, written over zeros: shifts along the
    world's axes, then turns about x, y', z'' through its centre."""
    batch = xi.shape[0]
    turn, axes, place = np.empty((3, 3)), np.empty((3, 3)), np.empty(3)
    for b in range(batch):
        cx, cy, cz = np.cos(xi[b, 3]), np.cos(xi[b, 4]), np.cos(xi[b, 5])
        sx, sy, sz = np.sin(xi[b, 3]), np.sin(xi[b, 4]), np.sin(xi[b, 5])
        turn[0, 0], turn[0, 1], turn[0, 2] = cy * cz, -cy * sz, sy
        turn[1, 0], turn[1, 1], turn[1, 2] = cx * sz + sx * sy * cz, cx * cz - sx * sy * sz, -sx * cy
        turn[2, 0], turn[2, 1], turn[2, 2] = sx * sz - cx * sy * cz, sx * cz + cx * sy * sz, cx * cy
        axes[0, 0], axes[0, 1], axes[0, 2] = 1.0, 0.0, 0.0
        axes[1, 0], axes[1, 1], axes[1, 2] = 0.0, cx, sx
        axes[2, 0], axes[2, 1], axes[2, 2] = sy, -sx * cy, cx * cy
        frame = frames[b]
        for i in range(3):
            place[i] = pose[i, 3] + xi[b, i]
            for j in range(3):
                place[i] += pose[i, j] * center[j]
                for k in range(3):
                    frame[i, j] += turn[i, k] * pose[k, j]
        frame[3, 3] = 1.0
        for i in range(3):
            frame[i, 3] = place[i]
            for j in range(3):
                frame[i, 3] -= frame[i, j] * center[j]
            screws[b, i, i, 3] = 1.0
            x, y, z = axes[i, 0], axes[i, 1], axes[i, 2]
            screw = screws[b, 3 + i]
            screw[0, 1], screw[0, 2], screw[1, 2] = -z, y, -x
            screw[1, 0], screw[2, 0], screw[2, 1] = z, -y, x
            screw[0, 3] = z * place[1] - y * place[2]
            screw[1, 3] = x * place[2] - z * place[0]
            screw[2, 3] = y * place[0] - x * place[1]
