"""Mass of an object from its geometry: per vertex, and exactly per rigid part.

Closed pieces of surface are filled with material; open ones are shells of a given thickness. A rigid part is described
by its second-moment matrix Σ m p̃ p̃ᵀ with p̃ = (p, 1), which holds mass, centre and inertia at once.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.core.articulation import Articulation, Inertial
from neurok.core.mesh import Mesh
from neurok.dynamics.body import Body
from neurok.errors import NeurokError
from neurok.geometry.operators import closed_components, mass_properties, second_moment
from neurok.geometry.operators import face_areas
from neurok.geometry.topology import face_components


def vertex_masses(body: Body) -> Float[np.ndarray, " V"]:
    """Mass of each vertex [kg]; each piece's mass is spread over its vertices by area."""
    if body.masses is not None:
        return body.masses
    mesh = body.mesh
    masses = face_masses(body)
    shares = np.repeat(masses / 3.0, 3)
    return _checked(np.bincount(mesh.faces.reshape(-1), weights=shares, minlength=mesh.vertex_count), body)


def face_masses(body: Body) -> Float[np.ndarray, " F"]:
    """Mass that each face stands for [kg]."""
    mesh = body.mesh
    areas = face_areas(mesh.vertices, mesh.faces)
    return areas * face_thickness(body) * _face_density(body) * mesh.unit**3


def face_thickness(body: Body) -> Float[np.ndarray, " F"]:
    """How much material lies behind each face, in mesh units: volume by area of a closed piece, a shell's thickness."""
    mesh = body.mesh
    areas = face_areas(mesh.vertices, mesh.faces)
    piece, closed, volumes = _pieces(mesh)
    piece_area = np.bincount(piece, weights=areas)
    return np.where(closed[piece], (volumes / np.maximum(piece_area, 1e-300))[piece], sheet_thickness(body))


def sheet_thickness(body: Body) -> Float[np.ndarray, " F"]:
    """Of each face if its piece is open, in mesh units: the body's, that of its material's sheets, or a share."""
    mesh = body.mesh
    if body.thickness is not None or body.materials is None:
        return np.full(mesh.face_count, body.shell_thickness)
    usual = body.materials.thickness[mesh.faces].mean(axis=1) / mesh.unit
    return np.where(np.isnan(usual), body.shell_thickness, usual)


def part_moments(body: Body, articulation: Articulation) -> Float[np.ndarray, "P 4 4"]:
    """Second-moment matrix of each part [kg, mesh units], in the object's frame at rest."""
    mesh, parts = articulation.mesh, articulation.vertex_parts
    part_count = len(articulation.joints)
    if body.masses is not None:
        lifted = np.concatenate([mesh.vertices, np.ones((mesh.vertex_count, 1))], axis=1)
        return _sum_by(np.einsum("v,vi,vj->vij", body.masses, lifted, lifted), parts, part_count)
    density, given = _face_density(body), articulation.inertials or (None,) * part_count
    thickness = mesh.unit * sheet_thickness(body)
    moments = np.zeros((part_count, 4, 4))
    for part, inertial in enumerate(given):
        if inertial is None:
            mine = mesh.face_parts == part
            metres = mesh.unit * mesh.vertices
            mass, center, inertia = mass_properties(metres, mesh.faces[mine], density[mine], thickness[mine])
            inertial = Inertial(mass, center / mesh.unit, _possible(inertia))
        moments[part] = moment_of(inertial, mesh.unit)
    if moments[:, 3, 3].sum() <= 0:
        raise NeurokError(f"'{body.name}' has no mass; check its geometry, density and thickness.")
    return moments


def moment_of(inertial: Inertial, unit: float = 1.0) -> Float[np.ndarray, "4 4"]:
    """Second-moment matrix of a part with given mass, centre and inertia."""
    return second_moment(inertial.mass, inertial.center, inertial.inertia / unit**2)


def inertial_of(moment: Float[np.ndarray, "4 4"], unit: float = 1.0) -> Inertial:
    """Mass, centre and inertia of a second-moment matrix."""
    mass = float(moment[3, 3])
    center = moment[:3, 3] / mass if mass > 0 else np.zeros(3)
    spread = moment[:3, :3] - mass * np.outer(center, center)
    return Inertial(mass, center, (np.trace(spread) * np.eye(3) - spread) * unit**2)


def _possible(inertia: Float[np.ndarray, "3 3"]) -> Float[np.ndarray, "3 3"]:
    """The nearest inertia that a real mass can have: badly closed surfaces give negative spreads."""
    spread = 0.5 * np.trace(inertia) * np.eye(3) - inertia
    values, axes = np.linalg.eigh(spread)
    if values.min() >= 0:
        return inertia
    spread = (axes * np.maximum(values, 1e-3 * max(values.max(), 0.0))) @ axes.T
    return np.trace(spread) * np.eye(3) - spread


def _pieces(mesh: Mesh) -> tuple[Int[np.ndarray, " F"], Bool[np.ndarray, " C"], Float[np.ndarray, " C"]]:
    """Connected piece of each face; which pieces are closed; what volume they enclose."""
    piece = face_components(mesh.vertices, mesh.faces, mesh.face_parts)
    corners = mesh.vertices[mesh.faces] - mesh.vertices.mean(axis=0)
    volumes = np.abs(np.bincount(piece, weights=np.linalg.det(corners) / 6.0))
    closed = closed_components(mesh.vertices, mesh.faces, piece)
    return piece, closed & (volumes > 1e-9 * mesh.size**3), volumes


def _face_density(body: Body) -> Float[np.ndarray, " F"]:
    mesh = body.mesh
    if body.materials is None:
        return np.full(mesh.face_count, body.density)
    return body.materials.density[mesh.faces].mean(axis=1)


def _sum_by(values: Float[np.ndarray, "N 4 4"], labels: Int[np.ndarray, " N"], count: int) -> np.ndarray:
    out = np.zeros((count, 4, 4))
    np.add.at(out, labels, values)
    return out


def _checked(masses: Float[np.ndarray, " V"], body: Body) -> Float[np.ndarray, " V"]:
    if not masses.sum() > 0:
        raise NeurokError(f"'{body.name}' has no mass; check its geometry, density and thickness.")
    return masses
