"""Free rigid handles, and soft constraints that hold them: to a pose, and to each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from neurok.geometry.twists import exponential
from neurok.posing.components import HandleContact


@dataclass(frozen=True)
class ConstraintConfig:
    """Strength of the constraints against squared distances to the target, in units of the longest side.

    Strengths are per share of the surface, so that they do not depend on how many handles there are.
    """

    anchor: tuple[float, float] = (1.0, 0.002)
    """Of leaving the pose, in the first and in the last round. Strong at first, while most closest points are wrong;
    in the end the target decides."""

    overlap: float = 0.8
    """Of handles that blend into each other moving apart."""

    contact: float = 0.1
    """Of handles that only touch moving apart: weak, since what touches may also slide."""

    least_overlap: float = 1e-4
    """Handles that share less of the surface than this do not blend."""

    least_share: float = 1e-3
    """Share of the surface that the smallest handle counts for, so that its equations stay solvable."""

    separation: float = 0.03
    """Handles that touch at rest and are farther apart than this in the pose are free of each other, as a share of the
    longest side: beyond the errors of a pose along true joints."""


@dataclass(frozen=True, eq=False)
class HandleFrames:
    """Rigid motions of handles, x = rotations p + translations, and the points they are turned about."""

    rotations: Float[np.ndarray, "H 3 3"]
    translations: Float[np.ndarray, "H 3"]
    centers: Float[np.ndarray, "H 3"]
    """In the present pose."""

    @staticmethod
    def about_centroids(
        vertices: Float[np.ndarray, "V 3"],
        weights: Float[np.ndarray, "V H"],
        rotations: Float[np.ndarray, "H 3 3"],
        translations: Float[np.ndarray, "H 3"],
    ) -> HandleFrames:
        """Handles that turn about the centroid of the vertices that follow them."""
        rest = weights.T @ vertices / np.maximum(weights.sum(axis=0), 1e-9)[:, None]
        return HandleFrames(rotations, translations, (rotations @ rest[:, :, None])[..., 0] + translations)

    @property
    def rest_centers(self) -> Float[np.ndarray, "H 3"]:
        return (self.rotations.swapaxes(1, 2) @ (self.centers - self.translations)[:, :, None])[..., 0]

    def moved(self, handles: Int[np.ndarray, " N"], points: Float[np.ndarray, "N 3"]) -> Float[np.ndarray, "N 3"]:
        """Rest points, each moved by one handle."""
        return (self.rotations[handles] @ points[:, :, None])[..., 0] + self.translations[handles]

    def blended(self, points: Float[np.ndarray, "N 3"], weights: Float[np.ndarray, "N H"]) -> Float[np.ndarray, "N 3"]:
        """Rest points moved by all handles (linear blend skinning)."""
        rotations = np.einsum("nh,hij->nij", weights, self.rotations)
        return (rotations @ points[:, :, None])[..., 0] + weights @ self.translations

    def stepped(self, twists: Float[np.ndarray, "H 6"]) -> HandleFrames:
        """After one twist of each handle about its centre."""
        turns, shifts = exponential(twists)
        about = self.centers + shifts - (turns @ self.centers[:, :, None])[..., 0]
        translations = (turns @ self.translations[:, :, None])[..., 0] + about
        return HandleFrames(turns @ self.rotations, translations, self.centers + shifts)


@dataclass(frozen=True, eq=False)
class PointConstraints:
    """Rest points at which a handle is held to where it was, or to another handle."""

    points: Float[np.ndarray, "N 3"]
    first: Int[np.ndarray, " N"]
    second: Int[np.ndarray, " N"]
    """-1 where the first handle is held to the pose itself."""

    weight: Float[np.ndarray, " N"]

    @staticmethod
    def joined(parts: Sequence[PointConstraints]) -> PointConstraints:
        """All constraints of several sets."""
        columns = ([getattr(part, name) for part in parts] for name in ("points", "first", "second", "weight"))
        return PointConstraints(*(np.concatenate(column) for column in columns))

    def offsets(self, frames: HandleFrames) -> Float[np.ndarray, "N 3"]:
        """Where the first handle takes each point, relative to where the second does."""
        x = frames.moved(self.first, self.points)
        return np.where(self.second[:, None] < 0, x, x - frames.moved(self.second, self.points))


def anchor_constraints(
    points: Float[np.ndarray, "N 3"], weights: Float[np.ndarray, "N H"], start: HandleFrames, config: ConstraintConfig
) -> PointConstraints:
    """Hold each handle to its place at the start, by six points as far out as its surface reaches."""
    centers, share = start.rest_centers, weights.mean(axis=0)
    squares = ((points[:, None] - centers) ** 2).sum(axis=2)
    radii = np.sqrt((weights * squares).sum(axis=0) / np.maximum(weights.sum(axis=0), 1e-9)) + 1e-6
    count = len(centers)
    return _octahedra(centers, radii, np.arange(count), np.full(count, -1), np.maximum(share, config.least_share))


def overlap_constraints(
    points: Float[np.ndarray, "N 3"], weights: Float[np.ndarray, "N H"], config: ConstraintConfig
) -> PointConstraints:
    """Hold handles together that blend into each other, the stronger the more surface they share."""
    shared = weights.T @ weights / len(points)
    first, second = np.nonzero(np.triu(shared > config.least_overlap, 1))
    both = weights[:, first] * weights[:, second]
    middles = (both.T @ points) / both.sum(axis=0)[:, None]
    radii = np.sqrt((both * ((points[:, None] - middles) ** 2).sum(axis=2)).sum(axis=0) / both.sum(axis=0))
    return _octahedra(middles, radii, first, second, config.overlap * shared[first, second])


def contact_constraints(
    contacts: Sequence[HandleContact],
    weights: Float[np.ndarray, "N H"],
    start: HandleFrames,
    scale: float,
    config: ConstraintConfig,
) -> PointConstraints:
    """Hold handles together that touch, at rest and at the start, and do not blend into each other."""
    blend = weights.T @ weights / len(weights) > config.least_overlap
    apart = [c for c in contacts if not blend[c.first, c.second]]
    points = np.array([c.point for c in apart]).reshape(-1, 3)
    first = np.array([c.first for c in apart], dtype=np.int64)
    second = np.array([c.second for c in apart], dtype=np.int64)
    weight = np.array([config.contact * c.share for c in apart], dtype=np.float64)
    found = PointConstraints(points, first, second, weight)
    kept = np.linalg.norm(found.offsets(start), axis=1) < config.separation * scale
    return PointConstraints(points[kept], first[kept], second[kept], weight[kept])


def _octahedra(
    middles: Float[np.ndarray, "N 3"],
    radii: Float[np.ndarray, " N"],
    first: Int[np.ndarray, " N"],
    second: Int[np.ndarray, " N"],
    weight: Float[np.ndarray, " N"],
) -> PointConstraints:
    """Constraints at six points about each place, which hold rotations as well."""
    directions = np.concatenate([np.eye(3), -np.eye(3)])
    points = middles[:, None] + radii[:, None, None] * directions
    return PointConstraints(points.reshape(-1, 3), np.repeat(first, 6), np.repeat(second, 6), np.repeat(weight / 6, 6))
