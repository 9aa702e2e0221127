"""What yields of a body, how stiff it is as built, and the elastic space in which it moves."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.core.articulation import Articulation
from neurok.core.material import STANDARD_GRAVITY, YOUNG_RANGE, MaterialField
from neurok.core.material_library import families, library
from neurok.core.mesh import Mesh
from neurok.dynamics.body import Body
from neurok.dynamics.masses import face_thickness
from neurok.geometry.operators import closed_components
from neurok.geometry.topology import face_components
from neurok.kinematics.elastic import ELASTIC_SPACE, ElasticSpace, ElasticSpaceConfig, elastic_space, joined_parts
from neurok.kinematics.mixed import MixedSpace

TEXTILE = ("fabric", "leather")
"""Families of the library that are sheets: what is closed and made of them is layers that slide, or a sack."""

LIVING = ("plant",)
"""Families that carry themselves by ribs and turgor, whatever a flat sheet of them would do."""

SELF_WEIGHT = 0.05
"""Share by which its own weight compresses what is layered or hollow, or bends a plant, at most: files show things as
they lie and stand under it. Of the order of a pillow on a table."""


@dataclass(frozen=True)
class SoftConfig:
    """When a body is taken for soft."""

    seam: float = 0.02
    """A part that bends is held where it is closer to other parts than this share of the object's size."""

    space: ElasticSpaceConfig = ELASTIC_SPACE


SOFT = SoftConfig()


def as_built(body: Body) -> MaterialField:
    """The materials of a body with the stiffness that its pieces have as they are built.

    A solid has that of its material. A closed piece of cloth is a stack of sheets that slide, or a sack: N = h / t
    sheets bend with N E t³ / 12, as a block of E (t / h)² does. Walls around a hollow bend as the struts of an open
    foam do, E φ² with φ the share of the volume that they fill (Gibson and Ashby 1997).
    """
    field = body.stuff
    soft = field.is_soft
    if not soft.any():
        return field
    closed, behind = _pieces(body)
    height = np.maximum(2.0 * behind, 1e-12)
    layer = np.where(np.isin(families(field), TEXTILE), np.nan_to_num(field.thickness / height, nan=1.0), 1.0)
    share = np.minimum(layer, np.minimum(field.density / _solid_density(field), 1.0))
    least = STANDARD_GRAVITY * field.density * height / SELF_WEIGHT
    young = np.where(soft & closed, np.minimum(field.young, np.maximum(field.young * share**2, least)), field.young)
    if np.array_equal(young, field.young):
        return field
    return MaterialField(field.materials, field.ids, {**field.values, "young": np.clip(young, *YOUNG_RANGE)})


def membrane_stiffness(body: Body) -> Float[np.ndarray, " F"]:
    """E t of the cloth that a body is made of or covered with [N/m], for each face."""
    field, (closed, behind) = body.stuff, _pieces(body)
    cloth = np.where(np.isnan(field.thickness), behind, field.thickness)
    sheet = np.where(closed, np.minimum(cloth, behind), behind) * np.isin(families(field), TEXTILE)
    return np.asarray((field.young * sheet)[body.mesh.faces].mean(axis=1))


def most_sag(field: MaterialField) -> float:
    """Share of its size by which its own weight bends what is made of this at most."""
    soft = field.is_soft
    living = np.isin(families(field), LIVING)
    return SELF_WEIGHT if living.sum() > 0.5 * soft.sum() else np.inf


def _solid_density(field: MaterialField) -> Float[np.ndarray, " V"]:
    """Of the materials themselves [kg/m³], where the field counts hollows in."""
    known = [library().get(material.name) for material in field.materials]
    rows = zip(known, field.materials, strict=True)
    return np.array([own.density if entry is None else entry.material.density for entry, own in rows])[field.ids]


def _pieces(body: Body) -> tuple[Bool[np.ndarray, " V"], Float[np.ndarray, " V"]]:
    """For each vertex whether its piece is closed, and how much material lies behind its surface [m]."""
    mesh = body.mesh
    piece = face_components(mesh.vertices, mesh.faces, mesh.face_parts)
    closed, behind = np.zeros(mesh.vertex_count, dtype=bool), np.zeros(mesh.vertex_count)
    closed[mesh.faces] = closed_components(mesh.vertices, mesh.faces, piece)[piece][:, None]
    behind[mesh.faces] = mesh.unit * face_thickness(body)[:, None]
    return closed, behind


def soften(
    body: Body, fixed: Int[np.ndarray, " n"] | None = None, *, anyway: bool = False, config: SoftConfig = SOFT
) -> Body:
    """The body in its elastic space, if its own weight deforms it visibly; otherwise as it was, without own bends.

    Args:
        body: Its materials say what of it yields; the rest is rigid. Own bends join the elastic modes; joints are kept.
        fixed: Vertices that stay where they are; a soft body then is not free any more.
        anyway: Also if it is so stiff that nothing would be seen.
        config: When it is soft.
    """
    joints = body.poses.rigid_joints
    soft = np.ones(body.mesh.vertex_count, dtype=bool) if anyway else body.stuff.is_soft
    if joints is not None and joints.dof:
        return _soft_parts(body, joints, soft, anyway, config)
    space, bends = None, body.poses.own_bends
    if soft.any():
        space = elastic_space(
            body.mesh,
            as_built(body),
            face_thickness(body),
            fixed,
            bends,
            membrane=membrane_stiffness(body),
            hard=~soft,
            most_sag=most_sag(body.stuff),
            config=config.space,
        )
    if space is None or not (anyway or space.sag >= config.space.visible_sag):
        return body if bends is None else replace(body, space=None)
    return replace(body, space=space, free=body.free and (fixed is None or not len(fixed)))


def _soft_parts(
    body: Body, joints: Articulation, soft: Bool[np.ndarray, " V"], anyway: bool, config: SoftConfig
) -> Body:
    """Joints as they are, and the parts that yield in elastic spaces of their own, held at their seams."""
    mesh, owners = joints.mesh, joints.vertex_parts
    spaces = []
    for part in np.unique(owners[soft]):
        mine = owners == part
        space = _part_space(body, mesh, mine, soft, config)
        if space is not None and (anyway or space.sag >= config.space.visible_sag):
            spaces.append((space, mine))
    if not spaces:
        return body
    return replace(body, space=MixedSpace(joints, joined_parts(mesh, spaces)))


def _part_space(
    body: Body, mesh: Mesh, mine: Bool[np.ndarray, " V"], soft: Bool[np.ndarray, " V"], config: SoftConfig
) -> ElasticSpace | None:
    """The elastic space of one part, as if it were alone but for the places where it is held."""
    from scipy.spatial import cKDTree

    faces = mine[mesh.faces].all(axis=1)
    if not faces.any() or mine.all():
        return None
    vertices = np.flatnonzero(mine)
    index = np.full(mesh.vertex_count, -1)
    index[vertices] = np.arange(len(vertices))
    alone = Mesh(mesh.vertices[vertices], index[mesh.faces[faces]], unit=mesh.unit, up=mesh.up)
    gaps: Float[np.ndarray, " n"] = cKDTree(mesh.vertices[~mine]).query(alone.vertices)[0]
    held = np.flatnonzero(gaps <= max(config.seam * mesh.size, float(gaps.min()) * 1.01))
    materials, thickness, membrane = (
        as_built(body).take(vertices),
        face_thickness(body)[faces],
        membrane_stiffness(body),
    )
    return elastic_space(
        alone,
        materials,
        thickness,
        held,
        membrane=membrane[faces],
        hard=~soft[vertices],
        most_sag=most_sag(materials),
        config=config.space,
    )
