"""Leaps: single parts tried at hinges and rails that their own boxes suggest, where a pose leaves them far away.

Where the space has no motion that takes a part to where the target shows it, nearest points cannot find the way either:
a door that should be open has the frame nearest everywhere. So it is turned about the edges of its box, slid along its
sides, or moved as a neighbour has moved, and the guess that fits the whole target best is kept if it is better.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.spatial import cKDTree

from neurok.geometry.lie import axis_angle_matrix

ANGLES = np.deg2rad([-150.0, -120.0, -90.0, -60.0, -30.0, 30.0, 60.0, 90.0, 120.0, 150.0])
SLIDES = np.array([-0.4, -0.3, -0.2, -0.1, 0.1, 0.2, 0.3, 0.4])
"""Of the longest side."""

FAR = 0.015
"""Handles whose points lie farther than this from the target on average, as a share of the longest side, may leap."""

BETTER = 0.985
"""A leap must bring the Chamfer distance down to this share."""

ROUNDS = 12
LOOKS = 80
"""Points of a handle by which guesses are compared."""

FEWEST = 4
"""A handle with fewer points than this stays: they say nothing of its box."""

TRIED = 6
"""Guesses of a handle that are judged by the whole target."""

Frames = tuple[Float[np.ndarray, "H 3 3"], Float[np.ndarray, "H 3"]]


@dataclass(frozen=True, eq=False)
class Stage:
    """A shape of rigid handles in front of a target."""

    points: Float[np.ndarray, "N 3"]
    """Of the rest surface."""

    owners: Int[np.ndarray, " N"]
    """The handle each follows most."""

    rigid: Bool[np.ndarray, " H"]
    """Handles that share no surface with others; only these leap."""

    neighbours: dict[int, list[int]]
    """Handles that touch at rest."""

    tree: cKDTree
    side: float
    score: Callable[[Frames], float]
    """Chamfer distance of the whole."""


def leap(stage: Stage, frames: Frames) -> Frames:
    """Rigid motions of the handles after all leaps that help."""
    score = stage.score(frames)
    tired: set[int] = set()
    for _ in range(ROUNDS):
        gaps = _gaps(stage, frames)
        may = stage.rigid & (gaps > FAR * stage.side)
        may[list(tired)] = False
        if not may.any():
            break
        handle = int(np.where(may, gaps, -1.0).argmax())
        found, reached = _best_guess(stage, frames, handle)
        if reached > BETTER * score:
            tired.add(handle)
            continue
        frames, score = found, reached
        tired -= set(stage.neighbours.get(handle, ()))
    return frames


def _gaps(stage: Stage, frames: Frames) -> Float[np.ndarray, " H"]:
    turns, shifts = frames
    x = (turns[stage.owners] @ stage.points[:, :, None])[..., 0] + shifts[stage.owners]
    total = np.bincount(stage.owners, stage.tree.query(x)[0], len(turns))
    return total / np.maximum(np.bincount(stage.owners, minlength=len(turns)), 1)


def _best_guess(stage: Stage, frames: Frames, handle: int) -> tuple[Frames, float]:
    """The guess for one handle that fits the whole target best, and how well it does."""
    points = stage.points[stage.owners == handle]
    if len(points) < FEWEST:
        return frames, np.inf
    turns, shifts = _guesses(stage, frames, handle, points)
    few = points[:: max(1, len(points) // LOOKS)]
    x = np.einsum("gij,nj->gni", turns, few) + shifts[:, None]
    near = stage.tree.query(x.reshape(-1, 3))[0].reshape(len(x), -1).mean(axis=1)
    best, lowest = frames, np.inf
    for guess in np.argsort(near, kind="stable")[:TRIED]:
        trial = (frames[0].copy(), frames[1].copy())
        trial[0][handle], trial[1][handle] = turns[guess], shifts[guess]
        score = stage.score(trial)
        if score < lowest:
            best, lowest = trial, score
    return best, lowest


def _guesses(
    stage: Stage, frames: Frames, handle: int, points: Float[np.ndarray, "n 3"]
) -> tuple[Float[np.ndarray, "G 3 3"], Float[np.ndarray, "G 3"]]:
    """Where one handle might go: with a neighbour, about an edge of its box, along a side of it."""
    turn, shift = frames[0][handle], frames[1][handle]
    with_others = stage.neighbours.get(handle, [])
    turns, shifts = [frames[0][with_others]], [frames[1][with_others]]
    low, high = points.min(axis=0), points.max(axis=0)
    for axis in range(3):
        across = [k for k in range(3) if k != axis]
        spin = axis_angle_matrix(np.eye(3)[axis], ANGLES)
        for corner in ((0, 0), (0, 1), (1, 0), (1, 1)):
            pivot = 0.5 * (low + high)
            pivot[across] = np.where(corner, high[across], low[across])
            turns.append(turn @ spin)
            shifts.append((turn @ (pivot - spin @ pivot)[..., None])[..., 0] + shift)
        along = np.zeros((len(SLIDES), 3))
        along[:, axis] = SLIDES * stage.side
        turns.append(np.repeat(turn[None], len(SLIDES), axis=0))
        shifts.append(along @ turn.T + shift)
    return np.concatenate(turns), np.concatenate(shifts)
