"""Joint values that show an object: each joint in turn goes through its range, behind what must be open for it."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from neurok.bodyplan.clearance import Clearance
from neurok.core import Articulation

SHOWN_SLIDE = 0.3
"""How far a slide without limits is shown [share of the object]. By eye."""

SHOWN_TURN = math.pi / 2
"""How far a turn with one limit is shown [rad]. By eye."""


def tour(articulation: Articulation, frames_per_joint: int = 36) -> Float[np.ndarray, "T D"]:
    """Values of every frame; starts and ends at rest. A joint without limits makes one turn, or slides a little.

    The others rest, but for doors that a part would go through: they are opened before it and closed after it.
    """
    frames = max(12, frames_per_joint)
    # Half a beat of rest: evenly spaced pictures of the whole would otherwise meet every joint at rest.
    rows = [np.zeros((frames // 2, articulation.dof))]
    shown = _shown_values(articulation, frames)
    far = np.array([values[np.abs(values).argmax()] for values in shown])
    opening = 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, frames // 2))
    for column, doors in enumerate(_doors(articulation, far)):
        block = np.zeros((frames, articulation.dof))
        block[:, doors] = far[doors]
        block[:, column] = shown[column]
        before = np.zeros((len(opening) if doors else 0, articulation.dof))
        before[:, doors] = np.outer(opening, far[doors]) if doors else 0.0
        rows += [before, block, before[::-1]]
    return np.concatenate([*rows, np.zeros((1, articulation.dof))])


def _shown_values(articulation: Articulation, frames: int) -> list[Float[np.ndarray, " T"]]:
    """What each value of the joints goes through."""
    found: list[np.ndarray] = []
    for joint in articulation.joints:
        for k in range(joint.dof):
            is_slide = joint.kind == "prismatic" or k == 1
            low, high = (float(x) for x in articulation.limits[len(found)])
            far = SHOWN_SLIDE * articulation.mesh.size if is_slide else SHOWN_TURN
            found.append(_there_and_back(low, high, is_slide, far, frames))
    return found


def _doors(articulation: Articulation, far: Float[np.ndarray, " D"]) -> list[list[int]]:
    """For each value of the joints those that must be at their far end lest its body goes through theirs."""
    clearance, moved = Clearance(articulation), articulation.tree.ancestors > 0
    found: list[list[int]] = [[] for _ in far]
    for pair in clearance.pairs:
        for body, other in (pair, pair[::-1]):
            for column in np.flatnonzero(moved[body] & ~moved[other]):
                path = (
                    np.linspace(0.0, 1.0, clearance.config.steps + 1)[:, None] * (np.arange(len(far)) == column) * far
                )
                if not clearance.cross(body, other, path):
                    continue
                for door in np.flatnonzero(moved[other] & ~moved[body]):
                    if not clearance.cross(body, other, path + (np.arange(len(far)) == door) * far):
                        found[column].append(int(door))
    return [list(dict.fromkeys(doors)) for doors in found]


def _there_and_back(low: float, high: float, is_slide: bool, far: float, frames: int) -> Float[np.ndarray, " T"]:
    if math.isinf(low) and math.isinf(high) and not is_slide:
        return np.linspace(0.0, 2.0 * np.pi, frames)
    low, high = (min(low, 0.0) if math.isfinite(low) else 0.0), (max(high, 0.0) if math.isfinite(high) else far)
    if low == 0.0 or high == 0.0:
        return (high or low) * _beat(frames)
    first = int(np.clip(round(frames * high / (high - low)), 6, frames - 6))
    return np.concatenate([high * _beat(first), low * _beat(frames - first)])


def _beat(frames: int) -> Float[np.ndarray, " T"]:
    """From zero to one and back."""
    return 0.5 - 0.5 * np.cos(np.linspace(0.0, 2.0 * np.pi, frames))
