"""Which bodies are soft, and the elastic space in which those move."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.core.articulation import Articulation
from neurok.core.mesh import Mesh
from neurok.dynamics.body import Body
from neurok.dynamics.masses import face_thickness
from neurok.kinematics.articulated import ArticulatedSpace
from neurok.kinematics.elastic import ELASTIC_SPACE, ElasticSpace, ElasticSpaceConfig, elastic_space, still_beside
from neurok.kinematics.mixed import MixedSpace


@dataclass(frozen=True)
class SoftConfig:
    """When a body is taken for soft."""

    seam: float = 0.02
    """A part that bends is held where it is closer to other parts than this share of the object's size."""

    space: ElasticSpaceConfig = ELASTIC_SPACE


SOFT = SoftConfig()


def soften(
    body: Body, fixed: Int[np.ndarray, " n"] | None = None, *, anyway: bool = False, config: SoftConfig = SOFT
) -> Body:
    """The body in its elastic space, if its own weight deforms it visibly; otherwise as it was, without learned bends.

    Args:
        body: Its materials say how soft it is. Learned bends that it has join the elastic modes; joints are kept.
        fixed: Vertices that stay where they are; a soft body then is not free any more.
        anyway: Also if it is so stiff that nothing would be seen.
        config: When it is soft.
    """
    joints = body.poses.rigid_joints
    if joints is not None and joints.dof:
        return _soft_parts(body, joints, anyway, config)
    space = None
    if anyway or body.stuff.is_soft.any():
        bends = body.poses.learned_bends
        space = elastic_space(body.mesh, body.stuff, face_thickness(body), fixed, bends, config.space)
    if space is None or not (anyway or space.sag >= config.space.visible_sag):
        return body if body.poses.learned_bends is None else replace(body, space=None)
    return replace(body, space=space, free=body.free and (fixed is None or not len(fixed)))


def _soft_parts(body: Body, joints: Articulation, anyway: bool, config: SoftConfig) -> Body:
    """Joints as they are, and the parts that learned poses bend in elastic spaces of their own, held at their seams."""
    bends = body.poses.learned_bends
    if bends is None:
        return body
    mesh, spaces = joints.mesh, []
    owners = joints.vertex_parts
    for part in np.unique(owners[bends.bends]):
        mine = owners == part
        if not anyway and not body.stuff.is_soft[mine].any():
            continue
        space = _part_space(body, mesh, mine, config)
        if space is not None and (anyway or space.sag >= config.space.visible_sag):
            spaces.append((space, mine))
    if not spaces:
        return replace(body, space=ArticulatedSpace(joints))
    return replace(body, space=MixedSpace(joints, still_beside(mesh, spaces)))


def _part_space(body: Body, mesh: Mesh, mine: Bool[np.ndarray, " V"], config: SoftConfig) -> ElasticSpace | None:
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
    thickness = face_thickness(body)[faces]
    return elastic_space(alone, body.stuff.take(vertices), thickness, held, None, config.space)
