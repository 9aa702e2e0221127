"""Joint values that show an object: each joint in turn goes through its range while the others rest."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from neurok.core import Articulation


def tour(articulation: Articulation, frames_per_joint: int = 36) -> Float[np.ndarray, "T D"]:
    """Values of every frame; starts and ends at rest. A joint without limits makes one turn, or slides a little."""
    limits = articulation.limits
    frames = max(12, frames_per_joint)
    # Half a beat of rest: evenly spaced pictures of the whole would otherwise meet every joint at rest.
    rows = [np.zeros((frames // 2, articulation.dof))]
    column = 0
    for joint in articulation.joints:
        for k in range(joint.dof):
            is_slide = joint.kind == "prismatic" or k == 1
            low, high = (float(x) for x in limits[column])
            values = _there_and_back(low, high, is_slide, 0.3 * articulation.mesh.size, frames)
            block = np.zeros((frames, articulation.dof))
            block[:, column] = values
            rows.append(block)
            column += 1
    return np.concatenate([*rows, np.zeros((1, articulation.dof))])


def _there_and_back(low: float, high: float, is_slide: bool, far: float, frames: int) -> Float[np.ndarray, " T"]:
    if math.isinf(low) and math.isinf(high) and not is_slide:
        return np.linspace(0.0, 2.0 * np.pi, frames)
    reach = far if is_slide else np.pi / 2
    low, high = (min(low, 0.0) if math.isfinite(low) else 0.0), (max(high, 0.0) if math.isfinite(high) else reach)
    up = 0.5 - 0.5 * np.cos(np.linspace(0.0, 2.0 * np.pi, frames))
    if low == 0.0 or high == 0.0:
        return (high or low) * up
    first = int(np.clip(round(frames * high / (high - low)), 6, frames - 6))
    half = lambda count: 0.5 - 0.5 * np.cos(np.linspace(0.0, 2.0 * np.pi, count))  # noqa: E731
    return np.concatenate([high * half(first), low * half(frames - first)])
