"""Rigidity: components that fit as well by one rigid motion as bent are moved rigidly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.spatial import cKDTree

from neurok.geometry.lie import apply, fit_rigid
from neurok.geometry.operators import vertex_areas
from neurok.posing.components import Components
from neurok.posing.validation import HoldOut


@dataclass(frozen=True)
class RigidityConfig:
    """When a component counts as rigid, and how its rigid motion is found."""

    tolerance: float = 1.02
    """A component is moved rigidly if the distance around it then is at most this share of what it was bent."""

    rounds: int = 8
    """Of rigid closest-point registration, after the mean motion of the component."""

    outlier_distance: float = 0.03
    """Pairs this far apart count half there, as a share of the longest side: where non-rigid registration ends."""

    least_samples: int = 8
    """Samples on either side without which a component is not compared; for the registration four times as many."""


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
    rigid = _register_rigid(components, vertices, allowed | required, held_out, config)
    (there, back, owner), (there_rigid, back_rigid, _) = (
        _distances(components, x, held_out) for x in (vertices, rigid)
    )
    # A target point belongs to the component that was closest before, so that both are compared by the same points.
    sampled, count = components.face_labels[held_out.validation.samples.face_ids], components.count
    mean = lambda labels, values: np.bincount(labels, values, count) / np.maximum(np.bincount(labels, None, count), 1)  # noqa: E731
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


def _register_rigid(
    components: Components,
    vertices: Float[np.ndarray, "V 3"],
    chosen: Bool[np.ndarray, " C"],
    held_out: HoldOut,
    config: RigidityConfig,
) -> Float[np.ndarray, "V 3"]:
    """Chosen components moved rigidly by their mean motion, then registered to the target by closest points."""
    rest, out = components.mesh.vertices, vertices.copy()
    areas = vertex_areas(rest, components.mesh.faces)
    members = {k: np.flatnonzero(components.vertex_labels == k) for k in np.flatnonzero(chosen).tolist()}
    for mine in members.values():
        if areas[mine].sum() > 0:
            out[mine] = apply(fit_rigid(rest[mine], vertices[mine], areas[mine]), rest[mine])
    split = held_out.fit
    sampled, points = components.face_labels[split.samples.face_ids], split.samples.interpolate(rest)
    for _ in range(config.rounds):
        x = split.samples.interpolate(out)
        (forward, near), (backward, owner) = split.tree.query(x), cKDTree(x).query(split.points)
        rows = np.concatenate([np.arange(len(x)), owner])
        places = np.concatenate([split.tree.data[near], split.points])
        outlier = config.outlier_distance * held_out.scale
        weight = 1.0 / (1.0 + (np.concatenate([forward, backward]) / outlier) ** 2)
        for component, mine in members.items():
            some = sampled[rows] == component
            if some.sum() >= 4 * config.least_samples:
                out[mine] = apply(fit_rigid(points[rows[some]], places[some], weight[some]), rest[mine])
    return out


def _distances(
    components: Components, vertices: Float[np.ndarray, "V 3"], held_out: HoldOut
) -> tuple[Float[np.ndarray, " N"], Float[np.ndarray, " M"], Int[np.ndarray, " M"]]:
    """From samples to validation points, from those to samples, and the component closest to each."""
    split = held_out.validation
    x = split.samples.interpolate(vertices)
    back, near = cKDTree(x).query(split.points)
    return split.tree.query(x)[0], back, components.face_labels[split.samples.face_ids[near]]
