"""How close a prediction comes to its target, in the unit box of the rest mesh."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from neurok.evaluation.cases import Case, seeded
from neurok.evaluation.solid import solid_faces
from neurok.geometry.distance import nearest_distances, volumetric_iou
from neurok.geometry.sampling import SurfaceSamples, sample_surface
from neurok.geometry.topology import unique_edges

POINTS = 10_000
RESOLUTION = 64


@dataclass(frozen=True)
class Score:
    """Chamfer distances in units of the box, and overlap of volumes."""

    chamfer_l1: float
    """Mean nearest-neighbour distance, averaged over both directions."""

    chamfer_l2: float
    """The same of squared distances."""

    iou: float
    """Shared over joint cells of a 64-cell grid; cells inside, and cells the surface passes through."""

    motion_error: float
    """Mean distance of surface points from where they truly are: a shape can be right with its points misplaced."""

    edge_error: float
    """Mean difference of the lengths of edges from the true ones, against the lengths at rest."""


@dataclass(frozen=True, eq=False)
class Judge:
    """Scores predictions of one case, always with the same samples."""

    case: Case
    points: int = POINTS

    @cached_property
    def given(self) -> Float[np.ndarray, "N 3"]:
        """The target as methods see it: a cloud without order, other points than those that score."""
        return self._sample(self.case.target, 1)

    @cached_property
    def _truth(self) -> Float[np.ndarray, "N 3"]:
        return self._sample(self.case.target, 2)

    @cached_property
    def _solid_faces(self) -> Int[np.ndarray, "F 3"]:
        return solid_faces(self.case.rest.vertices, self.case.rest.faces)

    def _sample(self, vertices: Float[np.ndarray, "V 3"], stream: int) -> Float[np.ndarray, "N 3"]:
        rng = seeded(self.case.name, stream)
        return sample_surface(vertices, self.case.rest.faces, self.points, rng).interpolate(vertices)

    def score(self, vertices: Float[np.ndarray, "V 3"]) -> Score:
        """Judge predicted positions of the rest mesh's vertices."""
        predicted = self._sample(vertices, 3)
        there, back = nearest_distances(predicted, self._truth), nearest_distances(self._truth, predicted)
        overlap = volumetric_iou(
            (vertices, self._solid_faces), (self.case.target, self._solid_faces), RESOLUTION, shell=True
        )
        return Score(
            0.5 * float(there.mean() + back.mean()),
            0.5 * float((there**2).mean() + (back**2).mean()),
            overlap,
            float(np.linalg.norm(self._tracked.interpolate(vertices - self.case.target), axis=1).mean()),
            float(np.abs(self._lengths(vertices) - self._lengths(self.case.target)).sum() / self._rest_length),
        )

    @cached_property
    def _tracked(self) -> SurfaceSamples:
        return sample_surface(self.case.rest.vertices, self.case.rest.faces, self.points, seeded(self.case.name, 5))

    @cached_property
    def _edges(self) -> Int[np.ndarray, "E 2"]:
        return unique_edges(self.case.rest.faces)

    @cached_property
    def _rest_length(self) -> float:
        return float(self._lengths(self.case.rest.vertices).sum())

    def _lengths(self, vertices: Float[np.ndarray, "V 3"]) -> Float[np.ndarray, " E"]:
        return np.linalg.norm(vertices[self._edges[:, 0]] - vertices[self._edges[:, 1]], axis=1)

    @cached_property
    def no_motion(self) -> Score:
        """The score of the rest shape."""
        return self.score(self.case.rest.vertices)

    @cached_property
    def floor(self) -> Score:
        """The score of the truth: what finite samples alone cost."""
        return self.score(self.case.target)
