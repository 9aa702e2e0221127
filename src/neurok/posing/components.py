"""Components of a mesh: which of them touch, and which of them a target leaves rigid."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.spatial import cKDTree

from neurok.bodyplan.contacts import ContactGraph, contact_graph
from neurok.core.mesh import Mesh
from neurok.geometry.lie import apply, fit_rigid
from neurok.geometry.operators import vertex_areas
from neurok.geometry.topology import face_components, split_by_face_label, vertex_labels
from neurok.posing.registration import HoldOut, closest_points

SAME_PLACE = 1e-6
"""Vertices nearer than this lie on each other, as a share of the object's size: files round."""


@dataclass(frozen=True, eq=False)
class Components:
    """The connected components of a mesh, whatever parts its file names, and their contacts at rest."""

    mesh: Mesh

    @cached_property
    def face_labels(self) -> Int[np.ndarray, " F"]:
        """The component of each face."""
        return face_components(self.mesh.vertices, self.mesh.faces, self.mesh.face_surfaces)

    @cached_property
    def vertex_labels(self) -> Int[np.ndarray, " V"]:
        """The component of each vertex."""
        return vertex_labels(self.mesh.faces, self.face_labels, self.mesh.vertex_count)

    @property
    def count(self) -> int:
        return int(self.face_labels.max(initial=0)) + 1

    @cached_property
    def places(self) -> Int[np.ndarray, " V"]:
        """A number for each place: vertices of several components that lie on each other share it."""
        grid = np.round(self.mesh.vertices / max(self.mesh.size, 1e-300) / SAME_PLACE)
        return np.unique(grid, axis=0, return_inverse=True)[1].reshape(-1)

    def closed(
        self,
        vertices: Float[np.ndarray, "V 3"],
        pose: Float[np.ndarray, "V 3"],
        rigid: Bool[np.ndarray, " C"],
        apart: float,
    ) -> Float[np.ndarray, "V 3"]:
        """The same with seams closed: what lies on each other at rest, and within ``apart`` in a pose, meets again.

        Where one side is rigid the other goes there; else both meet in the middle.
        """
        held = rigid[self.vertex_labels]
        count = int(self.places.max(initial=-1)) + 1

        def means(x: Float[np.ndarray, "V 3"], some: Bool[np.ndarray, " V"]) -> Float[np.ndarray, "P 3"]:
            sums = [np.bincount(self.places[some], x[some, i], count) for i in range(3)]
            return np.stack(sums, axis=1) / np.maximum(np.bincount(self.places[some], None, count), 1)[:, None]

        has_rigid = np.bincount(self.places[held], None, count) > 0
        goals = np.where(has_rigid[:, None], means(vertices, held), means(vertices, np.ones_like(held)))
        away = np.linalg.norm(pose - means(pose, np.ones_like(held))[self.places], axis=1)
        farthest = np.zeros(count)
        np.maximum.at(farthest, self.places, away)
        meets = (farthest <= apart)[self.places] & ~held
        return np.where(meets[:, None], goals[self.places], vertices)

    @cached_property
    def contacts(self) -> ContactGraph:
        """Which components touch; one that touches nothing touches its nearest neighbour."""
        kept, faces, labels = split_by_face_label(self.mesh.faces, self.face_labels)
        return contact_graph(Mesh(self.mesh.vertices[kept], faces, part_ids=labels, name=self.mesh.name))


def contact_ties(
    contacts: ContactGraph,
    vertices: Float[np.ndarray, "W 3"],
    labels: Int[np.ndarray, " W"],
    share: float = 0.25,
    least: int = 4,
) -> Int[np.ndarray, "T 2"]:
    """Pairs of vertices, in both directions, that tie each component to those it touches.

    Each vertex goes with the nearest of the other side; of a component the closest ``share`` of its vertices is kept,
    but ``least`` at least, so that a coarse one is held against turning too.
    """
    found = [np.zeros((0, 2), dtype=np.int64)]
    for component in np.unique(labels).tolist():
        mine = np.flatnonzero(labels == component)
        others = np.flatnonzero(np.isin(labels, contacts.neighbours(component)))
        if len(others):
            away, near = cKDTree(vertices[others]).query(vertices[mine])
            kept = np.argsort(away, kind="stable")[: max(least, round(share * len(mine)))]
            found.append(np.stack([mine[kept], others[near[kept]]], axis=1))
    pairs = np.unique(np.sort(np.concatenate(found), axis=1), axis=0)
    return np.concatenate([pairs, pairs[:, ::-1]])


TOLERANCE = 1.02
"""A component is moved rigidly if the distance around it then is at most this share of what it was bent."""

ANCHOR = (1.0, 0.002)
"""Weight of leaving the pose, against squared distances to the target, in the first and in the last round. Strong at
first, while most closest points are wrong; in the end the target decides."""

ROUNDS = 14  # Of closest points, from a pose with anchors, and from a fit without
LEAST_SAMPLES = 8  # Samples without which a component is neither registered nor compared


def prefer_rigid(
    components: Components,
    vertices: Float[np.ndarray, "V 3"],
    held_out: HoldOut,
    allowed: Bool[np.ndarray, " C"],
    required: Bool[np.ndarray, " C"] | None = None,
) -> Float[np.ndarray, "V 3"]:
    """The same vertices with components moved rigidly: allowed ones that fit as well, and all required ones."""
    required = np.zeros_like(allowed) if required is None else required
    chosen = allowed | required
    alone, rigid = np.where(chosen, np.arange(len(chosen)), -1), mean_motions(components, vertices, chosen)
    rigid = register_rigid(components, rigid, alone, held_out, np.zeros(ROUNDS))
    (there, back, owner), (there_rigid, back_rigid, _) = (
        _distances(components, x, held_out) for x in (vertices, rigid)
    )
    # A target point belongs to the component that was closest before, so that both are compared by the same points.
    sampled, count = components.face_labels[held_out.validation.samples.face_ids], components.count

    def mean(labels: Int[np.ndarray, " N"], values: Float[np.ndarray, " N"]) -> Float[np.ndarray, " C"]:
        return np.bincount(labels, values, count) / np.maximum(np.bincount(labels, None, count), 1)

    before = mean(sampled, there) + mean(owner, back)
    after = mean(sampled, there_rigid) + mean(owner, back_rigid)
    seen = np.minimum(np.bincount(sampled, None, count), np.bincount(owner, None, count)) >= LEAST_SAMPLES
    chosen = required | (allowed & seen & (after <= TOLERANCE * before))
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
) -> Float[np.ndarray, "V 3"]:
    """Bodies moved rigidly from where they are to their closest points, in one round for each anchor weight.

    ``bodies`` says which components move as one; those of -1 stay as they are. An anchor pulls every sample to where it
    was at first; its weight counts against that of closest points.
    """
    split, scale = held_out.fit, held_out.scale
    owners, sampled = (bodies[labels] for labels in (components.vertex_labels, components.face_labels))
    sampled = sampled[split.samples.face_ids]
    seen = [body for body in np.unique(bodies[bodies >= 0]) if (sampled == body).sum() >= LEAST_SAMPLES]
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
