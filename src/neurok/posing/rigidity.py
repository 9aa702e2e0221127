"""Rigid components: registered to a target by closest points, and kept rigid where bending them does not help."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.spatial import cKDTree

from neurok.geometry.lie import apply, fit_rigid
from neurok.geometry.operators import vertex_areas
from neurok.posing.components import Components
from neurok.posing.registration import HoldOut, closest_points


@dataclass(frozen=True)
class RigidityConfig:
    """When a component counts as rigid, and how its rigid motion is found."""

    tolerance: float = 1.02
    """A component is moved rigidly if the distance around it then is at most this share of what it was bent."""

    anchor: tuple[float, float] = (1.0, 0.002)
    """Of leaving the pose, against squared distances to the target, in the first and in the last round. Strong at
    first, while most closest points are wrong; in the end the target decides."""

    rounds: int = 14
    """Of closest points, from a pose with anchors, and from a fit without."""

    least_samples: int = 8
    """Samples without which a component is neither registered nor compared."""


def prefer_rigid(
    components: Components,
    vertices: Float[np.ndarray, "V 3"],
    held_out: HoldOut,
    allowed: Bool[np.ndarray, " C"],
    required: Bool[np.ndarray, " C"] | None = None,
    config: RigidityConfig | None = None,
) -> Float[np.ndarray, "V 3"]:
    """The same vertices with components moved rigidly: allowed ones that fit as well, and all required ones."""
    config = config or RigidityConfig()
    required = np.zeros_like(allowed) if required is None else required
    chosen = allowed | required
    alone, rigid = np.where(chosen, np.arange(len(chosen)), -1), mean_motions(components, vertices, chosen)
    rigid = register_rigid(components, rigid, alone, held_out, np.zeros(config.rounds), config)
    (there, back, owner), (there_rigid, back_rigid, _) = (
        _distances(components, x, held_out) for x in (vertices, rigid)
    )
    # A target point belongs to the component that was closest before, so that both are compared by the same points.
    sampled, count = components.face_labels[held_out.validation.samples.face_ids], components.count

    def mean(labels: Int[np.ndarray, " N"], values: Float[np.ndarray, " N"]) -> Float[np.ndarray, " C"]:
        return np.bincount(labels, values, count) / np.maximum(np.bincount(labels, None, count), 1)

    before = mean(sampled, there) + mean(owner, back)
    after = mean(sampled, there_rigid) + mean(owner, back_rigid)
    seen = np.minimum(np.bincount(sampled, None, count), np.bincount(owner, None, count)) >= config.least_samples
    chosen = required | (allowed & seen & (after <= config.tolerance * before))
    return np.where(chosen[components.vertex_labels][:, None], rigid, vertices)


def rigid_components(
    components: Components, vertices: Float[np.ndarray, "V 3"], precision: float = 1e-9
) -> Bool[np.ndarray, " C"]:
    """Components whose vertices all follow one rigid motion, up to rounding: a share of the object's size."""
    rest, out = components.mesh.vertices, np.ones(components.count, dtype=bool)
    for component in range(len(out)):
        mine = np.flatnonzero(components.vertex_labels == component)
        if len(mine):
            again = apply(fit_rigid(rest[mine], vertices[mine]), rest[mine])
            out[component] = np.abs(again - vertices[mine]).max() < precision * components.mesh.size
    return out


def mean_motions(
    components: Components, vertices: Float[np.ndarray, "V 3"], chosen: Bool[np.ndarray, " C"]
) -> Float[np.ndarray, "V 3"]:
    """The same vertices with each chosen component moved from rest by one rigid motion, the nearest to that of all."""
    rest, out = components.mesh.vertices, vertices.copy()
    areas = vertex_areas(rest, components.mesh.faces)
    for component in np.flatnonzero(chosen):
        mine = components.vertex_labels == component
        if areas[mine].sum() > 0:
            out[mine] = apply(fit_rigid(rest[mine], vertices[mine], areas[mine]), rest[mine])
    return out


def register_rigid(
    components: Components,
    vertices: Float[np.ndarray, "V 3"],
    bodies: Int[np.ndarray, " C"],
    held_out: HoldOut,
    anchors: Float[np.ndarray, " R"],
    config: RigidityConfig | None = None,
) -> Float[np.ndarray, "V 3"]:
    """Bodies moved rigidly from where they are to their closest points, in one round for each anchor weight.

    ``bodies`` says which components move as one; those of -1 stay as they are. An anchor pulls every sample to where it
    was at first; its weight counts against that of closest points.
    """
    least, split, scale = (config or RigidityConfig()).least_samples, held_out.fit, held_out.scale
    owners, sampled = (bodies[labels] for labels in (components.vertex_labels, components.face_labels))
    sampled = sampled[split.samples.face_ids]
    seen = [body for body in np.unique(bodies[bodies >= 0]) if (sampled == body).sum() >= least]
    start, out = split.samples.interpolate(vertices), vertices.copy()
    for anchor in anchors / len(start):
        x = split.samples.interpolate(out)
        found = closest_points(x, split.points, split.tree, scale, held_out.config)
        weight = found.weight + anchor
        goals = x + (scale * found.pull + anchor * (start - x)) / weight[:, None]
        for body in seen:
            mine, some = owners == body, sampled == body
            out[mine] = apply(fit_rigid(start[some], goals[some], weight[some]), vertices[mine])
    return out


def _distances(
    components: Components, vertices: Float[np.ndarray, "V 3"], held_out: HoldOut
) -> tuple[Float[np.ndarray, " N"], Float[np.ndarray, " M"], Int[np.ndarray, " M"]]:
    """From samples to validation points, from those to samples, and the component closest to each."""
    split = held_out.validation
    x = split.samples.interpolate(vertices)
    back, near = cKDTree(x).query(split.points)
    return split.tree.query(x)[0], back, components.face_labels[split.samples.face_ids[near]]
