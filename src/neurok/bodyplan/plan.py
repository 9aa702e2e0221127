"""The body plan of a mesh: decided once, read by everyone, and open to a person's corrections.

A plan says what the pieces of a mesh are, which of them are one rigid body, what touches, and for each body how it may
move: ranked joint hypotheses with probabilities and where they come from. It can be written, edited and handed back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from jaxtyping import Int

from neurok.bodyplan.bodies import label_faces
from neurok.bodyplan.config import MOSTLY_SOFT, POSSIBLE
from neurok.bodyplan.contacts import ContactGraph, contact_graph, once_per_mesh
from neurok.bodyplan.hypothesis import Hypothesis
from neurok.core import Articulation, Joint, Mesh
from neurok.errors import counted, shown
from neurok.geometry.operators import face_areas
from neurok.geometry.topology import face_components, vertex_labels

Origin = Literal["file", "labels", "pieces", "edited"]
"""Who says what the bodies are: parts of the file, labels that were given, connected pieces, or a person."""


@dataclass(frozen=True, eq=False)
class PlannedBody:
    """One rigid body, or one that bends."""

    name: str
    pieces: tuple[int, ...]
    """Connected pieces of the mesh that it is made of."""

    parent: int
    """Body that carries it; -1 for a base."""

    hypotheses: tuple[Hypothesis, ...] = ()
    """Ways it may move against its parent, likeliest first."""

    joint: Hypothesis | None = None
    """The one that holds; ``None`` for a body that is fixed to its parent, or a base."""

    bends: bool = False
    """Whether it is soft: it then has coordinates of its own besides any joint."""

    probability: float = 1.0
    """How likely what is said of it is right: that it has this joint, or that it is fixed."""


@dataclass(frozen=True, eq=False)
class BodyPlan:
    """Bodies of a mesh and how they move."""

    mesh: Mesh
    """The mesh with one part for each body; faces are in the order of the file."""

    face_pieces: Int[np.ndarray, " F"]
    """The connected piece of each face."""

    bodies: tuple[PlannedBody, ...]
    origin: Origin = "pieces"
    note: str = ""
    """What the search for joints left out, in one sentence; empty if nothing."""

    def __repr__(self) -> str:
        counts = f"{counted(len(self.bodies), 'body')}, {counted(len(self.moving), 'joint')}"
        return f"<BodyPlan {shown(self.mesh.name)}: {counts}, from {self.origin}>"

    @property
    def contacts(self) -> ContactGraph:
        """The contact graph of the bodies."""
        return contact_graph(self.mesh)

    @cached_property
    def articulation(self) -> Articulation:
        """The object with the joints that hold."""
        joints = tuple(
            body.joint.joint(body.name) if body.joint is not None else Joint("fixed", body.parent, name=body.name)
            for body in self.bodies
        )
        return Articulation(self.mesh, joints, name=self.mesh.name)

    @property
    def moving(self) -> tuple[PlannedBody, ...]:
        """Bodies whose joint holds, the surest first."""
        found = [body for body in self.bodies if body.joint is not None]
        return tuple(sorted(found, key=lambda body: -body.joint.probability if body.joint is not None else 0.0))

    @property
    def possible(self) -> tuple[Hypothesis, ...]:
        """Joints that do not hold but may: the likeliest of each fixed body, the surest first."""
        lines = (body.hypotheses[0] for body in self.bodies if body.joint is None and body.hypotheses)
        found = [line for line in lines if line.kind != "fixed" and line.probability >= POSSIBLE]
        return tuple(sorted(found, key=lambda line: -line.probability))

    @property
    def bends(self) -> bool:
        """Whether most of its surface is of bodies that bend."""
        areas = face_areas(self.mesh.vertices, self.mesh.faces)
        soft = np.array([body.bends for body in self.bodies])[self.mesh.face_parts]
        return bool(areas[soft].sum() > MOSTLY_SOFT * areas.sum())

    def above(self, least: float) -> BodyPlan:
        """The same bodies, each on its likeliest joint if that is at least so probable, and fixed otherwise.

        What a person has fixed stays fixed.
        """
        bodies = []
        for body in self.bodies:
            line = body.joint
            if line is None and body.hypotheses and self.origin != "edited" and body.hypotheses[0].kind != "fixed":
                line = body.hypotheses[0]
            bodies.append(self._moved(body, line if line is not None and line.probability >= least else None))
        return replace(self, bodies=tuple(bodies))

    def _moved(self, body: PlannedBody, line: Hypothesis | None) -> PlannedBody:
        """A body on another joint, or fixed; and how likely that is."""
        if line is body.joint and line is not None:
            return body
        if line is None:
            moving = (one.probability if one.kind != "fixed" else 1.0 - one.probability for one in body.hypotheses[:1])
            return replace(body, joint=None, probability=1.0 - next(moving, 0.0))
        return replace(body, joint=line, bends=False, probability=line.probability)

    def with_joint(self, body: int, joint: Hypothesis | None) -> BodyPlan:
        """The same plan with another joint of one body; ``None`` fixes it."""
        changed = list(self.bodies)
        changed[body] = replace(changed[body], joint=joint)
        return replace(self, bodies=tuple(changed), origin="edited")


@once_per_mesh
def connected_pieces(mesh: Mesh) -> Int[np.ndarray, " F"]:
    """The piece of each face: connected components, never across surfaces of the file."""
    return face_components(mesh.vertices, mesh.faces, mesh.face_surfaces)


def with_bodies(mesh: Mesh, face_bodies: Int[np.ndarray, " F"], names: tuple[str, ...]) -> Mesh:
    """The mesh with one part for each body; vertices stay as they are unless bodies share some."""
    owners = vertex_labels(mesh.faces, face_bodies, mesh.vertex_count)
    if (owners[mesh.faces] == face_bodies[:, None]).all():
        return replace(mesh, part_ids=owners, part_names=names)
    return label_faces(mesh, face_bodies, names)
