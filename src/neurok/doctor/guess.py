"""Educated guesses about what files do not say: the unit and the up axis."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from neurok.core import Mesh
from neurok.core.mesh import AXIS_INDEX

UNITS = {"m": (1.0, 0.6), "cm": (0.01, 0.2), "mm": (0.001, 0.17), "in": (0.0254, 0.03)}
"""Metres per unit, and how often files use it."""

TYPICAL_SIZE = 0.8
"""Longest side of an everyday object [m]."""

SPREAD = 1.3
"""Standard deviation of the logarithm of that size."""


@dataclass(frozen=True)
class Guess:
    """One guess, how sure it is (0..1), and why."""

    value: str
    confidence: float
    reason: str


def guess_unit(longest: float, unit: float = 1.0) -> Guess:
    """The unit of a file whose longest side measures ``longest``; ``unit`` is what the format says (1 if nothing)."""
    if unit != 1.0:
        name = next((n for n, (metres, _) in UNITS.items() if math.isclose(metres, unit)), f"{unit:g} m")
        return Guess(name, 0.95, "the file says so")
    odds = {
        name: prior * math.exp(-0.5 * (math.log(max(longest * metres, 1e-300) / TYPICAL_SIZE) / SPREAD) ** 2)
        for name, (metres, prior) in UNITS.items()
    }
    total = sum(odds.values())
    if total < 1e-12:
        return Guess("m", 0.0, f"no unit makes a longest side of {longest:.3g} an everyday size")
    best = max(odds, key=lambda name: odds[name])
    metres = longest * UNITS[best][0]
    confidence = odds[best] / total
    if any(math.isclose(longest, size, rel_tol=1e-3) for size in (1.0, 2.0)):
        return Guess(best, min(confidence, 0.5), f"the longest side is {longest:.4g}: scaled to a unit box, it seems")
    return Guess(best, round(confidence, 2), f"the longest side would be {metres:.3g} m")


def guess_up(mesh: Mesh, faces: Int[np.ndarray, "F 3"]) -> Guess:
    """The axis that points up: what the format says, whether the object stands on something, and where zero is."""
    corners = mesh.vertices[faces]
    areas = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    points = corners.reshape(-1, 3)
    low, high = points.min(axis=0), points.max(axis=0)
    center = (areas[:, None] * corners.mean(axis=1)).sum(axis=0) / max(areas.sum(), 1e-300)
    odds, reasons = {}, {}
    for axis, index in AXIS_INDEX.items():
        score, why = 0.1 if axis == "x" else 0.3, []
        if axis == mesh.up:
            score, why = 3.0 * score, ["the format says so or is used so"]
        if abs(low[index]) < 0.01 * (high - low).max() and high[index] > 0:
            score, why = 3.0 * score, [*why, f"the lowest point lies at {axis} = 0"]
        support, stable = _support(points, center, index, low, high)
        if stable and support > 0.1:
            score, why = score * (1.0 + 2.0 * support), [*why, f"it stands stably on its low {axis} side"]
        odds[axis], reasons[axis] = score, why
    best = max(odds, key=lambda axis: odds[axis])
    return Guess(
        best, round(odds[best] / sum(odds.values()), 2), "; ".join(reasons[best]) or "nothing speaks against it"
    )


def _support(
    points: Float[np.ndarray, "N 3"],
    center: Float[np.ndarray, "3"],
    up: int,
    low: Float[np.ndarray, "3"],
    high: Float[np.ndarray, "3"],
) -> tuple[float, bool]:
    """Area of the footprint against that of the box, and whether the centre of mass lies above it."""
    from scipy.spatial import ConvexHull, QhullError

    flat = [i for i in range(3) if i != up]
    box = float(np.prod((high - low)[flat]))
    foot = points[points[:, up] <= low[up] + 0.02 * (high - low)[up]][:, flat]
    if len(foot) < 3 or box <= 0:
        return 0.0, False
    try:
        hull = ConvexHull(foot)
    except QhullError:
        return 0.0, False
    inside = (hull.equations[:, :2] @ center[flat] + hull.equations[:, 2] <= 1e-9 * math.sqrt(box)).all()
    return float(hull.volume) / box, bool(inside)
