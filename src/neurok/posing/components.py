"""Components of a mesh and which of them touch: found once, used wherever parts are neighbours or hold together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.spatial import cKDTree

from neurok.bodyplan.contacts import ContactGraph, contact_graph
from neurok.core.mesh import Mesh
from neurok.geometry.topology import face_components, split_by_face_label, vertex_labels

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
