"""Hold-out validation: a fit uses half of the target's points, the other half says how good it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from jaxtyping import Float
from scipy.spatial import cKDTree

from neurok.core.mesh import Mesh
from neurok.geometry.sampling import SurfaceSamples, sample_surface
from neurok.posing.registration import RegistrationConfig, closest_points, longest_side


@dataclass(frozen=True, eq=False)
class Split:
    """One half of the target, and samples of the shape that no other half uses."""

    samples: SurfaceSamples
    tree: cKDTree
    """All target points of this half."""

    count: int

    @property
    def points(self) -> Float[np.ndarray, "M 3"]:
        """At most ``count`` of the target points."""
        return self.tree.data[: self.count]


@dataclass(frozen=True, eq=False)
class HoldOut:
    """A target divided at random into points to fit and points to validate by."""

    rest: Mesh
    target: Float[np.ndarray, "M 3"]
    count: int
    """Samples of the shape in each half."""

    seed: int
    config: RegistrationConfig = field(default_factory=RegistrationConfig)

    @cached_property
    def scale(self) -> float:
        return longest_side(self.rest)

    @property
    def fit(self) -> Split:
        """What a fit may use."""
        return self._splits[0]

    @property
    def validation(self) -> Split:
        """What no fit may use."""
        return self._splits[1]

    @cached_property
    def _splits(self) -> tuple[Split, Split]:
        rng = np.random.default_rng(self.seed)
        samples = [sample_surface(self.rest.vertices, self.rest.faces, self.count, rng) for _ in range(2)]
        order = np.random.default_rng(self.seed).permutation(len(self.target))
        trees = [cKDTree(self.target[order[half::2]]) for half in range(2)]
        first, second = (Split(*pair, self.count) for pair in zip(samples, trees, strict=True))
        return first, second

    def error(self, vertices: Float[np.ndarray, "V 3"]) -> float:
        """Chamfer distance of the shape to the validation points, in mesh units."""
        held = self.validation
        x = held.samples.interpolate(vertices)
        return closest_points(x, held.points, held.tree, self.scale, self.config).chamfer

    def displacement(self, vertices: Float[np.ndarray, "V 3"]) -> float:
        """Mean distance of the surface from rest, in mesh units."""
        moved = self.validation.samples.interpolate(vertices - self.rest.vertices)
        return float(np.linalg.norm(moved, axis=1).mean())
