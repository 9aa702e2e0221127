"""Points spread over a surface. Randomness always comes from the generator that is passed in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from neurok.errors import NeurokError
from neurok.geometry.operators import face_areas


@dataclass(frozen=True, eq=False)
class SurfaceSamples:
    """Points tied to faces, so that they follow the surface when it moves."""

    faces: Int[np.ndarray, "N 3"]
    """Vertices of the face each point lies on."""

    face_ids: Int[np.ndarray, " N"]
    barycentric: Float[np.ndarray, "N 3"]
    """Weights of the face's corners; non-negative, each row sums to one."""

    def interpolate(self, values: Float[np.ndarray, "*T V C"]) -> Float[np.ndarray, "*T N C"]:
        """Any per-vertex quantity (positions, colours, displacements) at the points."""
        return np.einsum("nk,...nkc->...nc", self.barycentric, values[..., self.faces, :])


def sample_surface(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"], count: int, rng: np.random.Generator
) -> SurfaceSamples:
    """Independent points, uniform by area."""
    cumulative = np.cumsum(face_areas(vertices, faces))
    if len(cumulative) == 0 or not cumulative[-1] > 0:
        raise NeurokError("Points can only be sampled on a surface with area; every face is degenerate.")
    # One offset per equal slice of the area: still uniform, but with less clumping than plain draws.
    slices = (rng.permutation(count) + rng.random(count)) / max(count, 1)
    ids = np.minimum(np.searchsorted(cumulative, slices * cumulative[-1], side="right"), len(faces) - 1)
    root, along = np.sqrt(rng.random(count)), rng.random(count)
    weights = np.stack([1.0 - root, root * (1.0 - along), root * along], axis=1)
    return SurfaceSamples(faces[ids], ids, weights)


def sample_evenly(
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    count: int,
    rng: np.random.Generator,
    oversample: int = 6,
) -> SurfaceSamples:
    """Points that keep their distance: farthest-point selection from ``oversample`` times as many uniform ones."""
    dense = sample_surface(vertices, faces, max(1, oversample) * count, rng)
    chosen = farthest_points(dense.interpolate(vertices), count)
    return SurfaceSamples(dense.faces[chosen], dense.face_ids[chosen], dense.barycentric[chosen])


LARGE = 1_000_000
"""Distances above which a compiled loop is worth the time to load it; it chooses the same points."""


def farthest_points(points: Float[np.ndarray, "N D"], count: int, start: int = 0) -> Int[np.ndarray, " K"]:
    """Indices such that each next point is the one farthest from all before; O(N) work per point chosen."""
    if not 0 <= count <= len(points):
        raise NeurokError(f"{count} farthest points were asked of {len(points)} points.")
    chosen = np.empty(count, dtype=np.int64)
    if points.dtype == np.float64 and count * len(points) > LARGE:
        from neurok.geometry.loops import choose_farthest

        choose_farthest(np.ascontiguousarray(points), start, chosen)
        return chosen
    nearest = np.full(len(points), np.inf)
    current = start
    for i in range(count):
        chosen[i] = current
        nearest = np.minimum(nearest, ((points - points[current]) ** 2).sum(axis=1))
        nearest[current] = -1.0  # never again, even among coincident points
        current = int(nearest.argmax())
    return chosen
