"""Non-rigid registration: vertices pulled to target points, with as-rigid-as-possible cells that keep edge lengths.

Closest points pull in both directions, harder from round to round, while far pairs count less and less. Target points
are not spread as the samples of the surface are: a pull along the surface that is shorter than their spacing means
nothing and would crumple it, so that much of each tangential pull is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.spatial import cKDTree

from neurok.geometry.cells import Cells, Pulls, cells_of, cotangent_links, sample_rows
from neurok.geometry.decimate import decimate
from neurok.geometry.sampling import SurfaceSamples, sample_surface
from neurok.geometry.topology import vertex_labels
from neurok.geometry.transfer import Transfer
from neurok.posing.components import Components, contact_ties
from neurok.posing.registration import longest_side


@dataclass(frozen=True)
class NonRigidConfig:
    """A schedule from the first to the last round. Lengths are shares of the longest side of the object."""

    rounds: int
    """Closest points are found anew in each."""

    data_weight: tuple[float, float]
    """Strength of all pulls together against that of all cells together, from first to last."""

    outlier_distance: tuple[float, float]
    """Pairs this far apart count half (Cauchy weights), from first to last."""

    separation: float = np.inf
    """Components hold together where they touch, unless the vertices there are farther apart than this."""

    samples: int = 2500
    """Points of the surface and of the target in each round."""

    tangential_slack: float = 1.0
    """Pulls along the surface count as far as they are longer than this, in spacings of the target points."""


@dataclass(frozen=True, eq=False)
class OrientedPoints:
    """Target points with estimated normals, whose sign is unknown."""

    points: Float[np.ndarray, "N 3"]
    neighbours: int = 12
    """Points from which a normal is estimated: two rings around a point of an even cloud."""

    @cached_property
    def tree(self) -> cKDTree:
        return cKDTree(self.points)

    @cached_property
    def normals(self) -> Float[np.ndarray, "N 3"]:
        near = self.points[self.tree.query(self.points, k=min(self.neighbours, len(self.points)))[1]]
        centered = near - near.mean(axis=1, keepdims=True)
        return np.linalg.eigh(centered.swapaxes(1, 2) @ centered)[1][:, :, 0]


@dataclass(frozen=True, eq=False)
class DeformationProxy:
    """A coarser copy of a mesh, made of as-rigid-as-possible cells, and the transfers to it and back."""

    components: Components
    max_faces: int = 5000
    """Of the copy: a round then takes about a tenth of a second."""

    @cached_property
    def coarse(self) -> tuple[Float[np.ndarray, "W 3"], Int[np.ndarray, "G 3"], Int[np.ndarray, " G"]]:
        """Vertices, faces and the component of each face."""
        mesh = self.components.mesh
        return decimate(mesh.vertices, mesh.faces, self.max_faces, self.components.face_labels)

    @cached_property
    def coarse_labels(self) -> Int[np.ndarray, " W"]:
        """The component of each coarse vertex."""
        vertices, faces, labels = self.coarse
        return vertex_labels(faces, labels, len(vertices))

    @cached_property
    def cells(self) -> Cells:
        vertices, faces, labels = self.coarse
        ties = contact_ties(self.components.contacts, vertices, self.coarse_labels)
        return cells_of(cotangent_links(vertices, faces), vertices, faces, labels, ties)

    @cached_property
    def to_coarse(self) -> Transfer:
        mesh, labels = self.components.mesh, self.components.face_labels
        return Transfer.between(mesh.vertices, mesh.faces, self.coarse[0], labels, self.coarse_labels)

    @cached_property
    def to_mesh(self) -> Transfer:
        vertices, faces, labels = self.coarse
        return Transfer.between(vertices, faces, self.components.mesh.vertices, labels, self.components.vertex_labels)


def register_nonrigid(
    proxy: DeformationProxy,
    start: Float[np.ndarray, "V 3"],
    fixed: Bool[np.ndarray, " C"],
    target: OrientedPoints,
    config: NonRigidConfig,
    seed: int = 0,
) -> Float[np.ndarray, "V 3"]:
    """Vertices pulled from a start to a target; fixed components stay exactly where they are."""
    if fixed.all():
        return start
    rng = np.random.default_rng(seed)
    samples = sample_surface(*proxy.coarse[:2], config.samples, rng)
    thin = rng.permutation(len(target.points))[: config.samples]
    spacing = float(np.median(cKDTree(target.points[thin]).query(target.points[thin], k=2)[0][:, 1]))
    scale, x = longest_side(proxy.components.mesh), proxy.to_coarse(start)
    cells, held = proxy.cells.loosened(x, config.separation * scale), fixed[proxy.coarse_labels]
    schedule = (np.geomspace(*ends, config.rounds) for ends in (config.data_weight, config.outlier_distance))
    for weight, outlier in zip(*schedule, strict=True):
        pulls = _pulls(x, samples, target, thin, weight, outlier * scale, config.tangential_slack * spacing)
        x = cells.relaxed(x, pulls, held)
    return np.where(fixed[proxy.components.vertex_labels][:, None], start, proxy.to_mesh(x))


def _pulls(
    x: Float[np.ndarray, "W 3"],
    samples: SurfaceSamples,
    target: OrientedPoints,
    thin: Int[np.ndarray, " M"],
    strength: float,
    outlier: float,
    slack: float,
) -> Pulls:
    """Samples to their closest target points, and target points from their closest samples."""
    points = samples.interpolate(x)
    forward, near = target.tree.query(points)
    backward, owner = cKDTree(points).query(target.points[thin])
    rows, ends = np.concatenate([np.arange(len(points)), owner]), np.concatenate([near, thin])
    gap, normal = target.points[ends] - points[rows], target.normals[ends]
    across = normal * (gap * normal).sum(axis=1, keepdims=True)
    along = gap - across
    length = np.linalg.norm(along, axis=1, keepdims=True)
    along *= np.maximum(0.0, 1.0 - slack / np.maximum(length, 1e-300))
    weight = strength / (1.0 + (np.concatenate([forward, backward]) / outlier) ** 2) / len(points)
    return Pulls(sample_rows(samples, rows, len(x)), points[rows] + across + along, weight)
