"""Proposals: new places for single rigid parts that a pose leaves far from the target.

Closest points cannot open a door that the space does not know: everywhere along it the frame is closest. So a part far
from the target is turned about the edges of its own box, slid along its sides, or moved as a part that it touches. The
proposal that fits the whole target best is accepted if it is better than the pose.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.spatial import cKDTree


@dataclass(frozen=True)
class PlacementConfig:
    """Which parts get proposals, and which proposals. Lengths are shares of the longest side of the object."""

    angles: tuple[float, ...] = (-150.0, -120.0, -90.0, -60.0, -30.0, 30.0, 60.0, 90.0, 120.0, 150.0)
    """Turns about the edges of a part's box [degrees]; steps of 30 are near enough for closest points to finish."""

    slides: tuple[float, ...] = (-0.4, -0.3, -0.2, -0.1, 0.1, 0.2, 0.3, 0.4)
    """Ways along the sides of the box."""

    far: float = 0.015
    """Parts whose samples are on average farther than this from the target get proposals: a few times the spacing of
    a cloud of some thousand points."""

    improvement: float = 0.985
    """A proposal is accepted if it brings the Chamfer distance down to this share; less is the noise of the samples."""

    attempts: int = 12
    """Parts looked at, one after another, the farthest first."""

    preview_points: int = 80
    """Samples of a part by which its proposals are compared."""

    least_points: int = 4
    """A part with fewer samples is left alone: they do not determine its box."""

    finalists: int = 6
    """Proposals of a part that are compared by the whole target."""


Frames = tuple[Float[np.ndarray, "H 3 3"], Float[np.ndarray, "H 3"]]
"""Rotations and translations of all parts: x = R p + t."""


@dataclass(frozen=True, eq=False)
class PartsAndTarget:
    """Samples of a shape of rigid parts, and the target they shall fit."""

    points: Float[np.ndarray, "N 3"]
    """Samples of the rest surface."""

    labels: Int[np.ndarray, " N"]
    """The part of each."""

    movable: Bool[np.ndarray, " H"]
    """Parts that may be proposed elsewhere: those that share no surface with others."""

    neighbours: Mapping[int, Sequence[int]]
    """Parts in contact at rest."""

    tree: cKDTree
    """The target."""

    scale: float
    """Longest side of the object."""

    error: Callable[[Frames], float]
    """Chamfer distance of the whole shape."""


def improve_by_proposals(problem: PartsAndTarget, frames: Frames, config: PlacementConfig | None = None) -> Frames:
    """The motions of the parts after all proposals that were accepted."""
    config = config or PlacementConfig()
    error = problem.error(frames)
    rejected: set[int] = set()
    for _ in range(config.attempts):
        distances = _mean_distances(problem, frames)
        candidates = problem.movable & (distances > config.far * problem.scale)
        candidates[list(rejected)] = False
        if not candidates.any():
            break
        part = int(np.where(candidates, distances, -1.0).argmax())
        found, found_error = _best_proposal(problem, frames, part, config)
        if found_error > config.improvement * error:
            rejected.add(part)
            continue
        frames, error = found, found_error
        rejected -= set(problem.neighbours.get(part, ()))
    return frames


def _mean_distances(problem: PartsAndTarget, frames: Frames) -> Float[np.ndarray, " H"]:
    """From the samples of each part to the target."""
    rotations, translations = frames
    x = (rotations[problem.labels] @ problem.points[:, :, None])[..., 0] + translations[problem.labels]
    total = np.bincount(problem.labels, problem.tree.query(x)[0], len(rotations))
    return total / np.maximum(np.bincount(problem.labels, minlength=len(rotations)), 1)


def _best_proposal(problem: PartsAndTarget, frames: Frames, part: int, config: PlacementConfig) -> tuple[Frames, float]:
    """The proposal for one part that fits the whole target best, and its Chamfer distance."""
    points = problem.points[problem.labels == part]
    if len(points) < config.least_points:
        return frames, np.inf
    rotations, translations = part_proposals(problem, frames, part, points, config)
    few = points[:: max(1, len(points) // config.preview_points)]
    x = np.einsum("gij,nj->gni", rotations, few) + translations[:, None]
    distances = problem.tree.query(x.reshape(-1, 3))[0].reshape(len(x), -1).mean(axis=1)
    best, lowest = frames, np.inf
    for k in np.argsort(distances, kind="stable")[: config.finalists]:
        trial = (frames[0].copy(), frames[1].copy())
        trial[0][part], trial[1][part] = rotations[k], translations[k]
        error = problem.error(trial)
        if error < lowest:
            best, lowest = trial, error
    return best, lowest


def part_proposals(
    problem: PartsAndTarget, frames: Frames, part: int, points: Float[np.ndarray, "n 3"], config: PlacementConfig
) -> tuple[Float[np.ndarray, "n_motions 3 3"], Float[np.ndarray, "n_motions 3"]]:
    """Motions for one part: those of its neighbours, turns about edges of its box, slides along its sides."""
    rotation, translation = frames[0][part], frames[1][part]
    others = list(problem.neighbours.get(part, ()))
    rotations, translations = [frames[0][others]], [frames[1][others]]
    low, high = points.min(axis=0), points.max(axis=0)
    slides = np.array(config.slides) * problem.scale
    for axis in range(3):
        across = [k for k in range(3) if k != axis]
        turns = _axis_rotations(axis, np.deg2rad(config.angles))
        for corner in ((0, 0), (0, 1), (1, 0), (1, 1)):
            pivot = 0.5 * (low + high)
            pivot[across] = np.where(corner, high[across], low[across])
            rotations.append(rotation @ turns)
            translations.append((rotation @ (pivot - turns @ pivot)[..., None])[..., 0] + translation)
        rotations.append(np.repeat(rotation[None], len(slides), axis=0))
        translations.append(slides[:, None] * rotation[:, axis] + translation)
    return np.concatenate(rotations), np.concatenate(translations)


def _axis_rotations(axis: int, angles: Float[np.ndarray, " A"]) -> Float[np.ndarray, "A 3 3"]:
    """Rotations about a coordinate axis."""
    first, second = (axis + 1) % 3, (axis + 2) % 3
    out = np.tile(np.eye(3), (len(angles), 1, 1))
    out[:, first, first] = out[:, second, second] = np.cos(angles)
    out[:, second, first] = np.sin(angles)
    out[:, first, second] = -np.sin(angles)
    return out
