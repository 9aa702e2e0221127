"""What a fit is judged by: points of the target, and of the shape, that it was not fitted to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float
from scipy.spatial import cKDTree

from neurok.core.mesh import Mesh
from neurok.geometry.sampling import SurfaceSamples, sample_surface
from neurok.posing.registration import MatchConfig, gather_pulls


@dataclass(frozen=True, eq=False)
class Judge:
    """Points to fit, and others to tell by whether that helped: half of the target, and other samples of the shape."""

    rest: Mesh
    target: Float[np.ndarray, "M 3"]
    count: int
    seed: int

    @cached_property
    def side(self) -> float:
        low, high = self.rest.bounds
        return float((high - low).max())

    @cached_property
    def samples(self) -> tuple[SurfaceSamples, SurfaceSamples]:
        rng = np.random.default_rng(self.seed)
        first, second = (sample_surface(self.rest.vertices, self.rest.faces, self.count, rng) for _ in range(2))
        return first, second

    @cached_property
    def trees(self) -> tuple[cKDTree, cKDTree]:
        order = np.random.default_rng(self.seed).permutation(len(self.target))
        return cKDTree(self.target[order[::2]]), cKDTree(self.target[order[1::2]])

    def thin(self, which: int) -> Float[np.ndarray, "N 3"]:
        return self.trees[which].data[: self.count]

    def score(self, vertices: Float[np.ndarray, "V 3"]) -> float:
        """Chamfer distance of vertices to what they were not fitted to."""
        x = self.samples[1].interpolate(vertices)
        return gather_pulls(x, self.thin(1), self.trees[1], self.side, MatchConfig())[2]
