"""Points that are far from each other."""

from __future__ import annotations

import numpy as np

from neurok.geometry.loops import compiled


@compiled
def choose(points, start, chosen):
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
