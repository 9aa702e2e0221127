"""What sets soft things in motion: wind, pushes, shakes."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from jaxtyping import Float, Int

from neurok.geometry import lie
from neurok_lab.worlds.soft.scene import GRAVITY, BodyMotion, Flex, FlexCollider, Force, node_masses

Wind = Callable[[float, np.ndarray], np.ndarray]
"""Time [s] and places [m] to air velocity [m/s]."""

AIR_DENSITY = 1.2


def smooth_step(t: float, start: float, end: float) -> float:
    """0 before ``start``, 1 after ``end``, without a jump in speed between."""
    u = min(max((t - start) / max(end - start, 1e-9), 0.0), 1.0)
    return u * u * (3.0 - 2.0 * u)


def pulse(t: float, start: float, duration: float) -> float:
    """A bump of height 1, zero outside its time."""
    u = (t - start) / duration
    return math.sin(math.pi * u) ** 2 if 0.0 < u < 1.0 else 0.0


def gusty_wind(
    rng: np.random.Generator, direction: Float[np.ndarray, "3"], speed: float, turbulence: float = 0.5
) -> Wind:
    """A wind that rises in the first quarter second, with eddies that travel along it."""
    direction = direction / np.linalg.norm(direction)
    waves = 5
    lengths = rng.uniform(0.25, 1.5, waves)
    ways = direction + rng.normal(0.0, 0.5, (waves, 3))
    numbers = 2 * np.pi * ways / np.linalg.norm(ways, axis=1, keepdims=True) / lengths[:, None]
    rates = 2 * np.pi * np.clip(speed / lengths, 0.4, 2.8) * rng.uniform(0.5, 1.0, waves)
    phases = rng.uniform(0.0, 2 * np.pi, waves)
    kicks = rng.normal(0.0, turbulence * speed / math.sqrt(waves), (waves, 3))

    def wind(t: float, x: np.ndarray) -> np.ndarray:
        eddies = np.sin(x @ numbers.T - rates * t + phases) @ kicks
        return smooth_step(t, 0.0, 0.25) * (speed * direction + eddies)

    return wind


def wind_on_sheet(triangles: Int[np.ndarray, "F 3"], wind: Wind) -> Force:
    """Air pushing on a sheet: quadratic in the relative speed across each triangle, with a little along it."""
    flat = triangles.reshape(-1)

    def force(t: float, x: np.ndarray, v: np.ndarray) -> np.ndarray:
        a, b, c = x[triangles[:, 0]], x[triangles[:, 1]], x[triangles[:, 2]]
        normal = np.cross(b - a, c - a)
        double_area = np.linalg.norm(normal, axis=1, keepdims=True) + 1e-12
        normal = normal / double_area
        relative = wind(t, (a + b + c) / 3.0) - v[triangles].mean(axis=1)
        speed = np.linalg.norm(relative, axis=1, keepdims=True)
        across = np.sum(relative * normal, axis=1, keepdims=True) * normal
        load = 0.25 * AIR_DENSITY * double_area * speed * (across + 0.05 * relative) / 3.0
        shares = np.repeat(load, 3, axis=0)
        return np.stack([np.bincount(flat, shares[:, k], minlength=len(x)) for k in range(3)], axis=1)

    return force


def wind_on_points(areas: Float[np.ndarray, " B"], wind: Wind, drag: float = 1.0) -> Force:
    """Air pushing on rod links or nodes of given area."""

    def force(t: float, x: np.ndarray, v: np.ndarray) -> np.ndarray:
        relative = wind(t, x) - v
        return 0.5 * AIR_DENSITY * drag * areas[:, None] * np.linalg.norm(relative, axis=1, keepdims=True) * relative

    return force


def push(
    place: Float[np.ndarray, "3"],
    reach: float,
    strength: Float[np.ndarray, "3"],
    start: float,
    duration: float,
    rest: Float[np.ndarray, "N 3"],
    masses: Float[np.ndarray, " N"] | None = None,
) -> Force:
    """A hand that presses on the nodes around a place and lets go: ``strength`` [N] in total at its peak."""
    weights = np.exp(-np.sum((rest - place) ** 2, axis=1) / (2 * reach**2))
    weights = weights if masses is None else weights * masses
    weights = weights / weights.sum()

    def force(t: float, x: np.ndarray, v: np.ndarray) -> np.ndarray:
        return weights[:, None] * strength * pulse(t, start, duration)

    return force


def shake(
    rng: np.random.Generator, amplitude: Float[np.ndarray, "3"], rate: tuple[float, float] = (0.8, 1.8)
) -> Callable[[float], np.ndarray]:
    """A back-and-forth offset [m] that starts gently; ``rate`` in swings per second."""
    rates = 2 * np.pi * rng.uniform(*rate, 3)

    def offset(t: float) -> np.ndarray:
        return np.asarray(smooth_step(t, 0.0, 0.4) * amplitude * np.sin(rates * t))

    return offset


def carried(offset: Callable[[float], np.ndarray]) -> BodyMotion:
    """A body that moves by an offset [m] and does not turn."""
    return lambda t: lie.translation(offset(t))


def unit(vector: Float[np.ndarray, "3"]) -> Float[np.ndarray, "3"]:
    return np.asarray(vector / np.linalg.norm(vector))


def heading(rng: np.random.Generator) -> Float[np.ndarray, "3"]:
    """A random level direction."""
    angle = rng.uniform(0.0, 2 * np.pi)
    return np.array([math.cos(angle), 0.0, math.sin(angle)])


def presser(rng: np.random.Generator, place: np.ndarray, radius: float, depth: float) -> FlexCollider:
    """An unseen round weight that sinks ``depth`` below a place from above, stays a moment and lifts again."""
    start, down, hold = rng.uniform(0.02, 0.1), rng.uniform(0.2, 0.4), rng.uniform(0.05, 0.25)
    up = rng.uniform(0.25, 0.45)
    slide = rng.normal(0.0, 0.15 * radius, 2)

    def motion(t: float) -> np.ndarray:
        in_ = smooth_step(t, start, start + down)
        out = smooth_step(t, start + down + hold, start + down + hold + up)
        clear = 0.02 + 0.5 * depth
        height = radius + clear - (clear + depth) * in_ + (2 * clear + depth) * out
        return lie.translation(place + np.array([slide[0] * in_, height, slide[1] * in_]))

    return FlexCollider("sphere", (radius,), motion=motion, friction=0.3)


def punch(rng: np.random.Generator, flex: Flex, strength: float) -> Force:
    """A blow on one side: up to ``strength`` times the weight of the thing."""
    way = unit(heading(rng) + np.array([0.0, rng.uniform(-0.6, 0.1), 0.0]))
    place = flex.nodes[int(np.argmin(flex.nodes @ way))]
    reach = 0.35 * float(np.ptp(flex.nodes, axis=0).max())
    peak = strength * rng.uniform(0.5, 1.0) * flex.mass * GRAVITY * way
    masses = node_masses(flex)
    masses[flex.driven] = 0.0
    return push(place, reach, peak, 0.05, rng.uniform(0.2, 0.3), flex.nodes, masses)
