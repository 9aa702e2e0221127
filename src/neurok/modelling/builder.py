"""Collects solids into named parts with surfaces and joints, and makes an articulated object of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from neurok.core import Articulation, Asset, Joint, Mesh, Surface
from neurok.core.articulation import JointKind
from neurok.core.mesh import Authored
from neurok.geometry import lie
from neurok.geometry.operators import find_corners
from neurok.modelling.shapes import AXES, Shape, Triple, join
from neurok.modelling.textures import unwrapped


class Link:
    """One rigid piece in the making; ``add`` returns the part, so that calls chain."""

    def __init__(self, name: str, index: int, joint: Joint, builder: Builder) -> None:
        self.name, self.index, self.joint, self.builder = name, index, joint, builder
        self.pieces: list[tuple[Shape, Surface]] = []

    def add(self, shape: Shape | Sequence[Shape], surface: Surface) -> Link:
        """Solids of one look; each stays a component of its own."""
        self.pieces += [(s, surface) for s in ([shape] if isinstance(shape, Shape) else shape)]
        return self

    def hinge(self, name: str, axis: Triple, origin: Triple, lower: float, upper: float) -> Link:
        """A new part that turns on this one, limits in [rad]."""
        return self.builder.part(name, self, "revolute", axis, origin, lower, upper)

    def slide(self, name: str, axis: Triple, lower: float, upper: float, origin: Triple = (0, 0, 0)) -> Link:
        """A new part that slides along this one, limits in [m]."""
        return self.builder.part(name, self, "prismatic", axis, origin, lower, upper)

    def spin(self, name: str, axis: Triple, origin: Triple = (0, 0, 0)) -> Link:
        """A new part that turns on this one without end."""
        return self.builder.part(name, self, "continuous", axis, origin)


class Builder:
    """An object in the making: y up, metres, its front towards +z."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.parts: list[Link] = []

    def part(
        self,
        name: str,
        parent: Link | None = None,
        kind: JointKind = "fixed",
        axis: Triple = (0, 1, 0),
        origin: Triple = (0, 0, 0),
        lower: float = 0.0,
        upper: float = 0.0,
    ) -> Link:
        """A new part on its joint; a name used before gets a number. Limits in [rad] or [m], rest at 0."""
        unique = name
        used = {part.name for part in self.parts}
        number = 2
        while unique in used:
            unique, number = f"{name}_{number}", number + 1
        if kind == "continuous":
            lower, upper = -np.pi, np.pi
        frame = (np.asarray(axis, dtype=np.float64), np.asarray(origin, dtype=np.float64))
        above = -1 if parent is None else parent.index
        joint = Joint(kind, above, *frame, float(lower), float(upper), name=f"{unique}_joint")
        part = Link(unique, len(self.parts), joint, self)
        self.parts.append(part)
        return part

    def turned(self, axis: str, degrees: float) -> Builder:
        """The same object rotated about an axis through the origin, joints included."""
        return self._carried(lie.rotation_about(AXES[axis], np.zeros(3), float(np.radians(degrees))))

    def moved(self, x: float, y: float, z: float) -> Builder:
        """The same object elsewhere, joints included."""
        return self._carried(lie.translation(np.array([x, y, z], dtype=np.float64)))

    def _carried(self, motion: Float[np.ndarray, "4 4"]) -> Builder:
        other = Builder(self.name)
        for part in self.parts:
            axis, origin = motion[:3, :3] @ part.joint.axis, motion[:3, :3] @ part.joint.origin + motion[:3, 3]
            new = Link(part.name, part.index, replace(part.joint, axis=axis, origin=origin), other)
            new.pieces = [(shape.transformed(motion), surface) for shape, surface in part.pieces]
            other.parts.append(new)
        return other

    def build(self, provenance: Mapping[str, str] | None = None) -> Asset:
        """The finished object; an articulation when any part moves."""
        mesh = self.mesh()
        about = {"source": "neurok", "license": "Apache-2.0", "category": self.name, **(provenance or {})}
        if not any(part.joint.dof for part in self.parts):
            return Asset(mesh, provenance=about)
        articulation = Articulation(mesh, tuple(part.joint for part in self.parts), name=self.name)
        return Asset(mesh, articulation=articulation, provenance=about)

    def mesh(self) -> Mesh:
        pieces = [
            (shape if shape.uv is not None else unwrapped(shape, surface), surface, part.index)
            for part in self.parts
            for shape, surface in part.pieces
        ]
        return mesh_of_pieces(pieces, [part.name for part in self.parts], self.name)


def mesh_of_pieces(pieces: Sequence[tuple[Shape, Surface, int]], part_names: Sequence[str], name: str) -> Mesh:
    """One mesh of shapes, each with its surface and the number of its part.

    With texture coordinates it has normals, too: vertices are split along creases, smooth places stay so across seams.
    """
    whole = join([shape for shape, _, _ in pieces])
    part_ids = np.concatenate([np.full(len(shape.vertices), index) for shape, _, index in pieces])
    vertices, faces, uv, authored = whole.vertices, whole.faces, whole.uv, None
    if uv is not None:
        corners = find_corners(vertices, faces, part_ids)
        normals = corners.normals(vertices, faces)
        vertices, uv, part_ids, faces = (
            vertices[corners.source],
            uv[corners.source],
            part_ids[corners.source],
            corners.faces,
        )
        authored = Authored(vertices, normals)
    surfaces = list(dict.fromkeys(surface for _, surface, _ in pieces))
    number = {surface: k for k, surface in enumerate(surfaces)}
    return Mesh(
        vertices,
        faces,
        uv=uv,
        part_ids=part_ids,
        part_names=tuple(part_names),
        surfaces=tuple(surfaces),
        face_surfaces=np.concatenate([np.full(len(shape.faces), number[surface]) for shape, surface, _ in pieces]),
        name=name,
        authored=authored,
    )
