"""What a pose is worth: how much of the way to the wish it goes, and whether the surface had to tear for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from neurok.core.mesh import Mesh
from neurok.errors import counted
from neurok.geometry.operators import face_areas
from neurok.geometry.sampling import sample_surface
from neurok.posing.components import Components

Measure = Callable[[Float[np.ndarray, "V 3"]], float]
"""Distance of vertices from the wish."""


# From where on a pose counts as good, as poor, and as torn. Our estimates; no pose was measured for them.
GOOD_FIT = 0.9  # Share of the way to the wish of a good fit
POOR_FIT = 0.6  # ... and what is less than this is a poor one
TEARING_STRETCH = 1.5  # A face is torn if an edge of it is longer than so many times its length at rest
VISIBLE_STRETCH = 0.01  # ... and by more than this share of the object's size: less is not seen
TORN_SHARE = 0.01  # Share of the surface that may be so before the pose counts as torn
CONTACT_GAP = 0.05  # Components within this share of the size of each other hang together
SAMPLES = 3000  # Points of the surface by which distances and gaps are told


@dataclass(frozen=True)
class PoseVerdict:
    """How good a pose is."""

    reached: float
    """Share of the way from rest to the wish, up to what samples can tell; 1 if there was no way to go."""

    torn: float = 0.0
    """Share of the surface that is stretched until it tears."""

    apart: int = 0
    """Components that came off what they touched at rest."""

    obstructions: tuple[tuple[str, str], ...] = ()
    """Bodies that were held back, each with the one that is in its way."""

    @property
    def is_torn(self) -> bool:
        return self.torn > TORN_SHARE or self.apart > 0

    @property
    def grade(self) -> str:
        """``good``, ``fair`` or ``poor``."""
        return "good" if self.reached >= GOOD_FIT else "poor" if self.reached < POOR_FIT else "fair"

    @property
    def sentence(self) -> str:
        """All of it for a person."""
        parts = [f"{self.grade} fit: {self.reached:.0%} of the way"]
        if self.torn > TORN_SHARE:
            parts.append(f"it had to tear: {self.torn:.0%} of the surface is stretched by half its length or more")
        if self.apart:
            parts.append(f"{counted(self.apart, 'component')} came off")
        parts += [f"{small} waits for {large}" for small, large in self.obstructions]
        return "; ".join(parts)


@dataclass(frozen=True, eq=False)
class PoseJudge:
    """What tells whether a surface is whole, found once for a mesh."""

    rest: Mesh

    @cached_property
    def _edges(self) -> Float[np.ndarray, "F 3"]:
        return _edge_lengths(self.rest.vertices, self.rest.faces)

    @cached_property
    def _components(self) -> Components:
        return Components(self.rest)

    @cached_property
    def _samples(self):  # type: ignore[no-untyped-def]
        rng = np.random.default_rng(0)
        return sample_surface(self.rest.vertices, self.rest.faces, SAMPLES, rng)

    def torn(self, vertices: Float[np.ndarray, "V 3"]) -> float:
        """Share of the surface that is stretched until it tears."""
        now, least = _edge_lengths(vertices, self.rest.faces), VISIBLE_STRETCH * self.rest.size
        limit = np.maximum(TEARING_STRETCH * self._edges, self._edges + least)
        torn = np.any(now > limit, axis=1)
        areas = face_areas(self.rest.vertices, self.rest.faces)
        return float(areas[torn].sum() / max(float(areas.sum()), 1e-300))

    def apart(self, vertices: Float[np.ndarray, "V 3"]) -> int:
        """Components that hung together with the largest one at rest, directly or over others, and do not any more."""
        if self._components.count == 1:
            return 0
        owners = self._components.vertex_labels[self._samples.faces[:, 0]]
        main, near = int(np.bincount(owners).argmax()), CONTACT_GAP * self.rest.size
        before, after = (_groups(self._samples.interpolate(x), owners, near) for x in (self.rest.vertices, vertices))
        seen = np.isin(np.arange(len(before)), owners)
        return int((seen & (before == before[main]) & (after != after[main])).sum())

    def verdict(
        self, vertices: Float[np.ndarray, "V 3"], measure: Measure, obstructions: tuple[tuple[str, str], ...] = ()
    ) -> PoseVerdict:
        """Of vertices in the order of the rest mesh."""
        start, now = measure(self.rest.vertices), measure(vertices)
        reached = 1.0 if start <= 1e-9 * self.rest.size else float(np.clip(1.0 - now / start, 0.0, 1.0))
        return PoseVerdict(reached, self.torn(vertices), self.apart(vertices), obstructions)

    def to_points(self, points: Float[np.ndarray, "N 3"], partial: bool) -> Measure:
        """Distance from a cloud, beyond what two samplings of one surface differ by; both ways unless it is partial."""
        thin, tree = points[:: max(1, len(points) // SAMPLES)], cKDTree(points)
        other = sample_surface(self.rest.vertices, self.rest.faces, SAMPLES, np.random.default_rng(1))

        def measure(vertices: Float[np.ndarray, "V 3"]) -> float:
            x = self._samples.interpolate(vertices)
            mine = cKDTree(x)
            noise = mine.query(other.interpolate(vertices))[0].mean()
            there = max(0.0, float(mine.query(thin)[0].mean() - noise))
            if partial:
                return there
            finer = noise * np.sqrt(len(x) / len(points))
            return 0.5 * (there + max(0.0, float(tree.query(x)[0].mean() - finer)))

        return measure


def to_vertices(chosen: Int[np.ndarray, " n"], targets: Float[np.ndarray, "n 3"]) -> Measure:
    """Mean distance of some vertices from where they shall go."""
    return lambda vertices: float(np.linalg.norm(vertices[chosen] - targets, axis=1).mean())


def _edge_lengths(vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]) -> Float[np.ndarray, "F 3"]:
    corners = vertices[faces]
    return np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2)


def _groups(points: Float[np.ndarray, "N 3"], owners: Int[np.ndarray, " N"], near: float) -> Int[np.ndarray, " C"]:
    """Components that lie near each other, directly or over others, have one number."""
    count = int(owners.max()) + 1
    pairs = owners[cKDTree(points).query_pairs(near, output_type="ndarray")]
    links = coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(count, count))
    return connected_components(links, directed=False)[1]
