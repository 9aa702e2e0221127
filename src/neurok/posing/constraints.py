"""Handles that leave the space they came from, and the ties that hold them: to the space, and to each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.spatial import cKDTree

from neurok.geometry.twists import exponential

NEAR = 0.03
"""Handles this close touch, as a share of the longest side; if the pose parts them by more, they are free."""

SHARED = 1e-4
"""Handles that share less of the surface than this are not bonded."""

SMALLEST = 1e-3
"""Share of the surface that the smallest handle counts for."""


@dataclass(frozen=True, eq=False)
class FreeHandles:
    """Rigid motions of the handles: x = turns p + shifts; they turn about their centres."""

    turns: Float[np.ndarray, "H 3 3"]
    shifts: Float[np.ndarray, "H 3"]
    centers: Float[np.ndarray, "H 3"]

    def at_rest(self) -> Float[np.ndarray, "H 3"]:
        """Where the centres are in the rest shape."""
        return (self.turns.swapaxes(1, 2) @ (self.centers - self.shifts)[:, :, None])[..., 0]

    def moved(self, which: Int[np.ndarray, " N"], points: Float[np.ndarray, "N 3"]) -> Float[np.ndarray, "N 3"]:
        return (self.turns[which] @ points[:, :, None])[..., 0] + self.shifts[which]

    def stepped(self, twists: Float[np.ndarray, "H 6"]) -> FreeHandles:
        turns, shifts = exponential(twists)
        about = self.centers + shifts - (turns @ self.centers[:, :, None])[..., 0]
        return FreeHandles(turns @ self.turns, (turns @ self.shifts[:, :, None])[..., 0] + about, self.centers + shifts)


@dataclass(frozen=True, eq=False)
class Ties:
    """Points of the rest shape at which a handle is tied to its place in the space, or to that of another handle."""

    points: Float[np.ndarray, "N 3"]
    first: Int[np.ndarray, " N"]
    second: Int[np.ndarray, " N"]
    """-1 for a tie to the space."""

    weight: Float[np.ndarray, " N"]

    def with_more(self, other: Ties) -> Ties:
        both = ((getattr(self, name), getattr(other, name)) for name in ("points", "first", "second", "weight"))
        return Ties(*(np.concatenate(pair) for pair in both))

    def parting(self, handles: FreeHandles) -> Float[np.ndarray, "N 3"]:
        """Where the first handle takes each point, seen from where the second does."""
        at = handles.moved(self.first, self.points)
        return np.where(self.second[:, None] < 0, at, at - handles.moved(self.second, self.points))


def leash(points: Float[np.ndarray, "N 3"], weights: Float[np.ndarray, "N H"], start: FreeHandles) -> Ties:
    """Six points around each handle, as far out as its surface reaches."""
    centers, share = start.at_rest(), weights.mean(axis=0)
    far = ((points[:, None] - centers) ** 2).sum(axis=2)
    radii = np.sqrt((weights * far).sum(axis=0) / np.maximum(weights.sum(axis=0), 1e-9)) + 1e-6
    return _around(centers, radii, np.arange(len(centers)), np.full(len(centers), -1), np.maximum(share, SMALLEST))


def bonds(points: Float[np.ndarray, "N 3"], weights: Float[np.ndarray, "N H"], strength: float) -> Ties:
    """Ties between handles that share a surface, the stronger the more they share."""
    shared = weights.T @ weights / len(points)
    first, second = np.nonzero(np.triu(shared > SHARED, 1))
    both = weights[:, first] * weights[:, second]
    middles = (both.T @ points) / both.sum(axis=0)[:, None]
    reach = np.sqrt((both * ((points[:, None] - middles) ** 2).sum(axis=2)).sum(axis=0) / both.sum(axis=0))
    return _around(middles, reach, first, second, 4.0 * strength * shared[first, second])


def seams(
    points: Float[np.ndarray, "N 3"],
    weights: Float[np.ndarray, "N H"],
    start: FreeHandles,
    side: float,
    strength: float,
) -> Ties:
    """Ties between handles that share no surface but touch, at rest and in the pose."""
    count, owner = weights.shape[1], weights.argmax(axis=1)
    shares = weights.T @ weights / len(points) > SHARED
    pairs = cKDTree(points).query_pairs(NEAR * side, output_type="ndarray")
    pairs = pairs[owner[pairs[:, 0]] != owner[pairs[:, 1]]]
    code = np.sort(owner[pairs], axis=1) @ [count, 1]
    found = []
    for value in np.unique(code):
        i, j = divmod(int(value), count)
        if shares[i, j]:
            continue
        touching = np.unique(pairs[code == value])
        spot = points[touching].mean(axis=0)
        parted = start.moved(np.array([i, j]), np.stack([spot, spot]))
        if np.linalg.norm(parted[0] - parted[1]) < NEAR * side:
            found.append((spot, i, j, strength * len(touching) / len(points)))
    spots, first, second, weight = zip(*found, strict=True) if found else ((), (), (), ())
    whole = lambda values: np.array(values, dtype=np.int64)  # noqa: E731
    return Ties(np.array(spots).reshape(-1, 3), whole(first), whole(second), np.array(weight, dtype=np.float64))


def _around(
    middles: Float[np.ndarray, "N 3"],
    radii: Float[np.ndarray, " N"],
    first: Int[np.ndarray, " N"],
    second: Int[np.ndarray, " N"],
    weight: Float[np.ndarray, " N"],
) -> Ties:
    """Ties at six points about each place."""
    out = np.concatenate([np.eye(3), -np.eye(3)])
    points = middles[:, None] + radii[:, None, None] * out
    return Ties(points.reshape(-1, 3), np.repeat(first, 6), np.repeat(second, 6), np.repeat(weight / 6.0, 6))
