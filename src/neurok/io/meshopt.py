"""Decoders of the byte streams of EXT_meshopt_compression; each tells how far it came, or -1 for a damaged stream."""

from __future__ import annotations

import numpy as np
from numpy import ndarray

from neurok.geometry.loops import compiled

BLOCK_BYTES, BLOCK_VERTICES, GROUP = 8192, 256, 16
NEAR, LAST = 13, 15
"""Codes of a third corner: from ``NEAR`` on it lies beside the last free one, ``LAST`` spells it out."""


@compiled
def vertices(data: ndarray, count: int, size: int, out: ndarray) -> int:
    """Vertices of ``size`` bytes each, stored as differences byte by byte: ``out`` is ``(count, size)`` bytes."""
    tail = max(size, 32)
    if len(data) < 1 + tail or data[0] != 0xA0:
        return -1
    end = len(data) - tail
    previous = data[len(data) - size :].copy()
    limit = min((BLOCK_BYTES // size) & ~(GROUP - 1), BLOCK_VERTICES)
    values = np.zeros(BLOCK_VERTICES, np.uint8)
    at, first = 1, 0
    while first < count:
        rows = min(limit, count - first)
        groups = (rows + GROUP - 1) // GROUP
        for k in range(size):
            head = at
            at += (groups + 3) // 4
            if at > end:
                return -1
            for g in range(groups):
                mode = (data[head + g // 4] >> (2 * (g % 4))) & 3
                at = _group(data, at, end, mode, values, g * GROUP)
                if at < 0:
                    return -1
            last = previous[k]
            for i in range(rows):
                code = values[i]
                step = (code >> 1) ^ (255 if code & 1 else 0)
                last = (last + step) & 255
                out[first + i, k] = last
            previous[k] = last
        first += rows
    return at


@compiled
def _group(data: ndarray, at: int, end: int, mode: int, values: ndarray, start: int) -> int:
    """Sixteen bytes: zeros, small numbers of two or four bits with exceptions behind them, or as they are."""
    if mode == 0:
        values[start : start + GROUP] = 0
        return at
    if mode == 3:
        if at + GROUP > end:
            return -1
        values[start : start + GROUP] = data[at : at + GROUP]
        return at + GROUP
    bits = 2 * mode
    escape = (1 << bits) - 1
    packed = GROUP * bits // 8
    rest = at + packed
    if rest > end:
        return -1
    for i in range(GROUP):
        place = i * bits
        value = (data[at + place // 8] >> (8 - bits - place % 8)) & escape
        if value == escape:
            if rest >= end:
                return -1
            value = data[rest]
            rest += 1
        values[start + i] = value
    return rest


@compiled
def _varint(data: ndarray, at: int, end: int) -> tuple[int, int]:
    """A number of seven bits a byte, and where the next begins (-1 beyond the end)."""
    value, shift = 0, 0
    for _ in range(5):
        if at >= end:
            return 0, -1
        byte = int(data[at])
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value & 0xFFFFFFFF, at
    return value & 0xFFFFFFFF, at


@compiled
def _stepped(value: int, last: int) -> int:
    """The index that a coded difference leads to."""
    step = (value >> 1) ^ (-(value & 1))
    return (last + step) & 0xFFFFFFFF


@compiled
def triangles(data: ndarray, count: int, out: ndarray) -> int:
    """Indices of ``count // 3`` triangles, each coded by an edge or corners seen lately: ``out`` is ``(count,)``."""
    if len(data) < 1 + count // 3 + 16 or (data[0] & 0xF0) != 0xE0 or (data[0] & 15) > 1:
        return -1
    near = NEAR if (data[0] & 15) == 1 else LAST
    edges, seen = np.zeros((16, 2), np.int64), np.zeros(16, np.int64)
    edge, corner, fresh, last = 0, 0, 0, 0
    at, end = 1 + count // 3, len(data) - 16
    for t in range(count // 3):
        code = int(data[1 + t])
        third = code & 15
        if code < 0xF0:
            known = (edge - 1 - (code >> 4)) & 15
            a, b = edges[known, 0], edges[known, 1]
            is_new = third == 0 or third >= near
            if third == 0:
                c = fresh
                fresh += 1
            elif third < near:
                c = seen[(corner - 1 - third) & 15]
            elif third != LAST:
                last = (last + (third - (third ^ 3))) & 0xFFFFFFFF
                c = last
            else:
                value, at = _varint(data, at, end)
                if at < 0:
                    return -1
                last = _stepped(value, last)
                c = last
            if is_new:
                seen[corner & 15] = c
                corner += 1
            edges[edge & 15, 0], edges[edge & 15, 1] = c, b
            edges[(edge + 1) & 15, 0], edges[(edge + 1) & 15, 1] = a, c
            edge += 2
        else:
            if code < 0xFE:
                first, aux = 0, int(data[end + (code & 15)])
            else:
                if at >= end:
                    return -1
                first, aux = (0 if code == 0xFE else LAST), int(data[at])
                at += 1
                if aux == 0:
                    fresh = 0
            second, third = aux >> 4, aux & 15
            a = fresh
            fresh += 1 if first == 0 else 0
            b = fresh if second == 0 else seen[(corner - second) & 15]
            fresh += 1 if second == 0 else 0
            c = fresh if third == 0 else seen[(corner - third) & 15]
            fresh += 1 if third == 0 else 0
            is_spelled = code >= 0xFE
            if is_spelled and first == LAST:
                value, at = _varint(data, at, end)
                if at < 0:
                    return -1
                last = _stepped(value, last)
                a = last
            if is_spelled and second == LAST:
                value, at = _varint(data, at, end)
                if at < 0:
                    return -1
                last = _stepped(value, last)
                b = last
            if is_spelled and third == LAST:
                value, at = _varint(data, at, end)
                if at < 0:
                    return -1
                last = _stepped(value, last)
                c = last
            seen[corner & 15] = a
            corner += 1
            if second == 0 or (is_spelled and second == LAST):
                seen[corner & 15] = b
                corner += 1
            if third == 0 or (is_spelled and third == LAST):
                seen[corner & 15] = c
                corner += 1
            edges[edge & 15, 0], edges[edge & 15, 1] = b, a
            edges[(edge + 1) & 15, 0], edges[(edge + 1) & 15, 1] = c, b
            edges[(edge + 2) & 15, 0], edges[(edge + 2) & 15, 1] = a, c
            edge += 3
        out[3 * t], out[3 * t + 1], out[3 * t + 2] = a, b, c
    return at


@compiled
def sequence(data: ndarray, count: int, out: ndarray) -> int:
    """Indices that follow one of two earlier ones: ``out`` is ``(count,)``."""
    if len(data) < 1 + count + 4 or (data[0] & 0xF0) != 0xD0 or (data[0] & 15) > 1:
        return -1
    lasts = np.zeros(2, np.int64)
    at, end = 1, len(data) - 4
    for i in range(count):
        value, at = _varint(data, at, end)
        if at < 0:
            return -1
        which = value & 1
        lasts[which] = _stepped(value >> 1, lasts[which])
        out[i] = lasts[which]
    return at
