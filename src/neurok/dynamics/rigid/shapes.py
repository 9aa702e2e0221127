"""The convex shapes that stand in for objects and obstacles, and what they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from neurok.dynamics.body import Body
from neurok.dynamics.colliders import obstacle_pieces, part_pieces
from neurok.dynamics.condition import Obstacle
from neurok.dynamics.masses import sheet_thickness
from neurok.dynamics.reduced.build import Bound
from neurok.dynamics.rigid.config import MujocoConfig
from neurok.geometry.decimate import decimate


@dataclass(frozen=True, eq=False)
class Shape:
    """One convex piece, in mesh units and the object's frame at rest."""

    vertices: Float[np.ndarray, "n 3"]
    friction: float | None = None
    """Coulomb's coefficient of its material; ``None`` where no material is named."""

    restitution: float = 0.0
    """Speed that its material keeps in a bounce."""


def body_shapes(bound: Bound, hollow: bool, config: MujocoConfig) -> dict[int, list[Shape]]:
    """Convex pieces of the parts on each node of a body, with their hollows where something may come into them."""
    body, mesh = bound.body, bound.body.mesh
    sheets = sheet_thickness(body)
    out: dict[int, list[Shape]] = {}
    for part, node in enumerate(bound.mechanics.part_nodes.tolist()):  # type: ignore[attr-defined]
        mine = mesh.face_parts == part
        faces = mesh.faces[mine]
        made = _made_of(body, np.unique(faces))
        thickness = float(sheets[mine].mean()) if len(faces) else None
        pieces = part_pieces(mesh.vertices, faces, hollow, thickness, config.corners)
        out.setdefault(node, []).extend(replace(made, vertices=vertices) for vertices, _ in pieces)
    return out


def _made_of(body: Body, vertices: Int[np.ndarray, " n"]) -> Shape:
    """Friction and restitution of a part: the means over its vertices."""
    nothing = Shape(np.zeros((0, 3)))
    if body.materials is None or not len(vertices):
        return nothing
    stuff = body.materials.take(vertices)
    ratio = stuff.damping_ratio
    kept = np.exp(-np.pi * ratio / np.sqrt(1.0 - ratio**2))
    return replace(nothing, friction=float(stuff.friction.mean()), restitution=float(kept.mean()))


def obstacle_shapes(obstacle: Obstacle, config: MujocoConfig) -> list[Shape]:
    """Hulls of the pieces that are convex, and a plate for each face of the others."""
    mesh = obstacle.mesh
    hulls, rough = obstacle_pieces(mesh, config.colliders)
    out = [Shape(vertices) for vertices, _ in hulls]
    if rough is None:
        return out
    vertices, faces = mesh.vertices, mesh.faces[rough]
    if len(faces) > config.obstacle_faces:
        vertices, faces, _ = decimate(vertices, faces, config.obstacle_faces)
    corners = vertices[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1)
    good = lengths > 1e-12 * mesh.size**2
    inward = -config.plate * mesh.size * normals[good] / lengths[good, None]
    plates = np.concatenate([corners[good], corners[good] + inward[:, None]], axis=1)
    return out + [Shape(plate) for plate in plates]


def ground_height(bounds: Sequence[Bound], normal: Float[np.ndarray, "3"]) -> float:
    """The lowest point of all bodies at the start."""
    lows = [
        (bound.mechanics.positions(bound.pose, bound.q)[np.unique(bound.body.mesh.faces)] @ normal).min()
        for bound in bounds
    ]
    return float(min(lows))
