"""What views say of a mesh as it lies in its file: bodies of a single surface, and odds and lines of given bodies."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from neurok.core import Mesh
from neurok.core.mesh import UnitBox
from neurok.geometry.operators import face_areas
from neurok.learned.grouping import FaceGroups, Groups
from neurok.learned.views.bodies import group_votes, label_faces
from neurok.learned.views.lines import BodyVotes, SeenLine
from neurok.learned.views.network import ViewModel
from neurok.learned.views.sight import Votes, see

SUREST = 9.0
"""Log-odds are cut off here, as those of the grouping network."""

FAINT = -2.0
"""Bodies that move with lower log-odds than this are left to the base: each of them would be swept for nothing."""

LEAST_VOTES = 8
"""Votes on a body from which on it counts as seen."""


@dataclass(frozen=True, eq=False)
class SeenObject:
    """Votes on the surface of a mesh, and where its unit box lies."""

    mesh: Mesh
    """In the unit box; faces as in the file."""

    box: UnitBox
    votes: Votes

    @staticmethod
    def of(mesh: Mesh, model: ViewModel) -> SeenObject:
        box = UnitBox.around(mesh.vertices[np.unique(mesh.faces)], mesh.up)
        inside = replace(mesh.with_vertices(box.to_box(mesh.vertices)), up="y")
        return SeenObject(inside, box, see(inside, model))

    def find_groups(self) -> FaceGroups:
        """Bodies that are seen in a single surface; the base is 0."""
        seen = group_votes(self.votes)
        labels = label_faces(self.mesh, self.votes, seen)
        labels = np.where(seen.moves[labels] > FAINT, labels, 0)
        areas = np.bincount(labels, face_areas(self.mesh.vertices, self.mesh.faces), len(seen.signs))
        if not (labels == 0).any():  # nothing is left of the base: the largest body is it
            labels = np.where(labels == areas.argmax(), 0, labels)
        kept = np.unique(labels)
        number = np.zeros(len(seen.signs), dtype=np.int64)
        number[kept] = np.arange(len(kept))
        bodies = number[labels]
        moves = seen.moves[kept]
        anything = float(moves[1:].max(initial=-SUREST))
        return FaceGroups(bodies, Groups(np.arange(len(kept)), moves, anything), bodies)

    def bodies(self, face_bodies: Int[np.ndarray, " F"], count: int) -> list[BodyVotes | None]:
        """What the votes on each body say together; nothing where too few see it."""
        owners = face_bodies[self.votes.faces]
        some = (np.flatnonzero(owners == body) for body in range(count))
        return [BodyVotes.of(self.votes, mine) if len(mine) >= LEAST_VOTES else None for mine in some]

    def likelihood(
        self, body: BodyVotes, turns: bool, axis: Float[np.ndarray, " 3"], origin: Float[np.ndarray, " 3"]
    ) -> float:
        """How likely a line of the mesh is by the votes on a body."""
        return body.likelihood(turns, self.box.turn @ axis, self.box.to_box(origin))

    def lines(self, body: BodyVotes) -> list[SeenLine]:
        """Likely lines of a body, in the coordinates of the mesh."""
        return [
            line._replace(axis=self.box.turn.T @ line.axis, origin=self.box.from_box(line.origin))
            for line in body.lines()
        ]
