"""Thin and long solids: bars along a few points, and sheets given by their widths and bends."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float

from neurok.modelling import profiles
from neurok.modelling.shapes import Shape, loft
from neurok.modelling.sweeps import sweep

Fields = Mapping[str, Float[np.ndarray, " _"]]

SMOOTH_BEND = 0.75
"""From here on a bar follows a smooth curve through its points; below, straight runs with rounded corners."""


def bar_path(points: Float[np.ndarray, "6 3"], bend: float) -> tuple[Float[np.ndarray, "N 3"], bool]:
    """The centre line, and whether it is closed: its last point then lies on its first."""
    closed = bool(np.linalg.norm(points[0] - points[-1]) < 0.02 * max(float(np.ptp(points, axis=0).max()), 1e-9))
    points = points[:-1] if closed else points
    gap = np.linalg.norm(np.diff(points, axis=0), axis=1)
    points = points[np.concatenate([[True], gap > 1e-3 * max(float(gap.max()), 1e-9)])]
    if len(points) < 2:
        points = np.array([[0.0, -1.0, 0.0], [0.0, 1.0, 0.0]])
    if closed:
        return profiles.smooth_curve(points, 40, closed=True), True
    if bend >= SMOOTH_BEND:
        return profiles.smooth_curve(points, 32), False
    return profiles.rounded_path(points, max(bend, 0.01), 6), False


def bar_shape(fields: Fields, unit: float, thinner: float = 0.0) -> Shape:
    """A bar of changing radius; its section is flattened across local z and squared. Lengths in units of ``unit``."""
    path, closed = bar_path(fields["points"].reshape(-1, 3), float(fields["bend"][0]))
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    radii = np.interp(length / length[-1], [0.0, 0.5, 1.0], np.maximum(fields["radii"], 2e-3)) - thinner / unit
    radii = np.maximum(radii, 1e-3)
    flat, square = float(np.clip(fields["flat"][0], 0.02, 1.0)), float(np.clip(fields["square"][0], 0.0, 1.0))
    power = 2.0 / max(1.0 - 0.94 * square, 0.06)
    section = profiles.superellipse(flat, 1.0, power, 16)
    start = path[1] - path[0]
    hint = (0.0, 0.0, 1.0) if np.abs(start[2]) < 0.95 * np.linalg.norm(start) else (1.0, 0.0, 0.0)
    shape = sweep(section, path, closed, scales=radii, up=hint)
    return shape.scale(unit).outward()


def sheet_shape(fields: Fields, unit: float) -> Shape:
    """A sheet that starts at the origin along y, across x; lengths in units of ``unit``."""
    from scipy.interpolate import PchipInterpolator

    stations, v = np.linspace(0.0, 1.0, 9), np.linspace(0.0, 1.0, 26)
    width = np.maximum(PchipInterpolator(stations, fields["widths"])(v), 0.004)
    angle = np.cumsum(PchipInterpolator(stations, fields["bends"])(v)) * 8.0 / 25.0
    step = max(float(fields["length"][0]), 1e-3) / 25.0
    run = np.column_stack([np.zeros(26), np.cos(angle), np.sin(angle)])
    centre = np.concatenate([np.zeros((1, 3)), np.cumsum(0.5 * step * (run[1:] + run[:-1]), axis=0)])
    normal = np.column_stack([np.zeros(26), -np.sin(angle), np.cos(angle)])
    twist = float(fields["twist"][0]) * v
    side = np.cos(twist)[:, None] * np.array([1.0, 0.0, 0.0]) + np.sin(twist)[:, None] * normal
    out = np.cross(side, run)
    u = np.linspace(-1.0, 1.0, 9)
    lift = float(fields["cup"][0]) * width[:, None] * np.abs(u) ** 1.5
    lift = lift + float(fields["wave"][0]) * u**2 * np.sin(2.0 * np.pi * float(fields["waves"][0]) * v)[:, None]
    middle = centre[:, None] + width[:, None, None] * u[None, :, None] * side[:, None] + lift[..., None] * out[:, None]
    half = 0.5 * max(float(fields["thickness"][0]), 1e-3) * (1.0 - 0.5 * u**2)[None, :, None] * out[:, None]
    rings = np.concatenate([middle + half, (middle - half)[:, ::-1]], axis=1)
    return loft(rings * unit)
