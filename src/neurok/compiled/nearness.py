"""Which points meet convex pieces on their way, and which of the parts of one object may do so."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy import ndarray

from neurok.compiled.loops import compiled


class Pairs(NamedTuple):
    """Points of parts against convex pieces, T pairs: what never changes."""

    places: ndarray
    """Points of all parts at rest ``(P, 3)``."""

    nodes: ndarray
    """The node that carries each ``(P,)``."""

    radii: ndarray
    first: ndarray
    """Points of each pair: from ``first`` ..."""

    last: ndarray
    """... to before ``last`` ``(T,)``."""

    carriers: ndarray
    """The node that carries the piece of each pair ``(T,)``."""

    normals: ndarray
    """Planes of all pieces ``(F, 3)``."""

    heights: ndarray
    begin: ndarray
    """Planes of the piece of each pair: from ``begin`` ..."""

    end: ndarray
    """... to before ``end`` ``(T,)``."""

    middles: ndarray
    """Centre of a ball around the points of each pair, fixed to their node ``(T, 3)`` ..."""

    reaches: ndarray
    """... and its radius."""

    low: ndarray
    """Corners of the box around the piece of each pair ``(T, 3)``."""

    high: ndarray


@compiled
def _height(normals, heights, begin, end, x, y, z, enough):
    """How far a point is above a convex piece; something above ``enough`` where it is that far above a plane."""
    most = -np.inf
    for f in range(begin, end):
        height = normals[f, 0] * x + normals[f, 1] * y + normals[f, 2] * z - heights[f]
        if height > most:
            most = height
            if most > enough:
                break
    return most


@compiled
def _seen(frame, place, out):
    """A point in the frame that a transform has moved."""
    for i in range(3):
        total = 0.0
        for j in range(3):
            total += (place[j] - frame[j, 3]) * frame[j, i]
        out[i] = total


@compiled
def near_pairs(pairs, nodes, twists, dt, near, stride, clear, met, marked):
    """Bring up to date how far pairs are surely apart (``clear``), for a step in which nothing moves farther against
    anything than ``stride``; mark in ``met`` pairs that may meet, and in ``marked`` ``(T, points)`` their points."""
    start, there, after, end = np.empty(3), np.empty(3), np.empty((3, 4)), np.empty(3)
    for t in range(clear.shape[0]):
        clear[t] -= stride
        if not clear[t] < near:
            continue
        first, last, carrier = pairs.first[t], pairs.last[t], nodes[pairs.carriers[t]]
        begin, stop, lowest = pairs.begin[t], pairs.end[t], np.inf
        node, place = nodes[pairs.nodes[first]], pairs.middles[t]
        for i in range(3):
            start[i] = node[i, 0] * place[0] + node[i, 1] * place[1] + node[i, 2] * place[2] + node[i, 3]
        _seen(carrier, start, there)
        apart = _height(pairs.normals, pairs.heights, begin, stop, there[0], there[1], there[2], np.inf)
        clear[t] = apart - pairs.reaches[t] - stride
        if not clear[t] < near:
            continue
        for p in range(first, last):
            node, place = nodes[pairs.nodes[p]], pairs.places[p]
            for i in range(3):
                start[i] = node[i, 0] * place[0] + node[i, 1] * place[1] + node[i, 2] * place[2] + node[i, 3]
            _seen(carrier, start, there)
            height = _height(
                pairs.normals, pairs.heights, begin, stop, there[0], there[1], there[2], lowest + pairs.radii[p]
            )
            lowest = min(lowest, height - pairs.radii[p])
        clear[t] = lowest - stride
        if not clear[t] < near:
            continue
        twist = twists[pairs.carriers[t]]
        for i in range(3):
            for j in range(4):
                total = carrier[i, j]
                for k in range(4):
                    total += dt * twist[i, k] * carrier[k, j]
                after[i, j] = total
        for p in range(first, last):
            node, place, speed = nodes[pairs.nodes[p]], pairs.places[p], twists[pairs.nodes[p]]
            for i in range(3):
                start[i] = node[i, 0] * place[0] + node[i, 1] * place[1] + node[i, 2] * place[2] + node[i, 3]
            for i in range(3):
                end[i] = start[i] + dt * (
                    speed[i, 0] * start[0] + speed[i, 1] * start[1] + speed[i, 2] * start[2] + speed[i, 3]
                )
            _seen(carrier, start, there)
            _seen(after, end, start)
            way, passes = 0.0, True
            for i in range(3):
                way = max(way, abs(start[i] - there[i]))
                low, high = pairs.low[t, i] - near, pairs.high[t, i] + near
                passes = passes and min(start[i], there[i]) < high and max(start[i], there[i]) > low
            if not passes:
                continue
            enough = near + way + pairs.radii[p]
            here = _height(pairs.normals, pairs.heights, begin, stop, there[0], there[1], there[2], enough)
            later = _height(pairs.normals, pairs.heights, begin, stop, start[0], start[1], start[2], enough)
            if min(here, later) < enough:
                marked[t, p - first] = True
                met[t] = True


@compiled
def meet_hull(start, end, marks, reach, normals, heights, low, high, slack, which, faces, gaps):
    """Points that are inside a convex piece, come inside on a straight way, or are above one face by less than
    ``reach``: how many; their indices, faces and heights above these go into the last three arrays.

    What is inside keeps the face of its mark; above one face means beside no other by more than ``slack``.
    """
    count, planes = 0, heights.shape[0]
    for p in range(start.shape[0]):
        passes = True
        for i in range(3):
            a, b = start[p, i], end[p, i]
            if not (min(a, b) <= high[i] + reach and max(a, b) >= low[i] - reach):
                passes = False
        if not passes:
            continue
        most, top, beside, into, gate, out = -np.inf, 0, 0, -np.inf, 0, np.inf
        for f in range(planes):
            before, after = -heights[f], -heights[f]
            for i in range(3):
                before += normals[f, i] * start[p, i]
                after += normals[f, i] * end[p, i]
            if before > most:
                most, top = before, f
            if before > slack:
                beside += 1
            drop = before - after
            if before > 0.0:
                when = before / drop if drop > 0.0 else np.inf
                if when > into:
                    into, gate = when, f
            elif after > 0.0:
                out = min(out, before / drop)
        inside = most <= 0.0
        enters = not inside and into <= min(1.0, out)
        if not (inside or enters or (most < reach and beside <= 1)):
            continue
        face = gate if enters else top
        if inside and marks[p] >= 0:
            face = marks[p]
        height = -heights[face]
        for i in range(3):
            height += normals[face, i] * start[p, i]
        which[count], faces[count], gaps[count] = p, face, height
        count += 1
    return count
