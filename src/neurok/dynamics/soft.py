"""Which bodies are soft, and the elastic space in which those move."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Int

from neurok.dynamics.body import Body
from neurok.dynamics.masses import face_thickness
from neurok.kinematics.elastic import ELASTIC_SPACE, ElasticSpace, ElasticSpaceConfig, elastic_space
from neurok.kinematics.screws import ScrewSpace


@dataclass(frozen=True)
class SoftConfig:
    """When a body is taken for soft."""

    stiff: float = 1e9
    """Objects with no material softer than this [Pa] are not even asked: wood, metal, glass."""

    space: ElasticSpaceConfig = ELASTIC_SPACE


SOFT = SoftConfig()


def soften(
    body: Body, fixed: Int[np.ndarray, " n"] | None = None, *, anyway: bool = False, config: SoftConfig = SOFT
) -> Body:
    """The body in its elastic space, if its own weight deforms it visibly; otherwise as it was.

    Args:
        body: Its materials say how soft it is; learned bends it has join the elastic modes. Joints are left alone.
        fixed: Vertices that stay where they are; the body then is not free any more.
        anyway: Also if it is so stiff that nothing would be seen.
        config: When it is soft.
    """
    if not anyway and (body.poses.articulation is not None and body.poses.dim):
        return body
    if not anyway and float(body.stuff.young.min()) > config.stiff:
        return body
    space = elastic_space(body.mesh, body.stuff, face_thickness(body), fixed, _bends(body), config.space)
    if not anyway and space.sag < config.space.visible_sag:
        return body
    free = body.free and (fixed is None or not len(fixed))
    return replace(body, space=space, free=free)


def _bends(body: Body) -> ScrewSpace | None:
    """Learned directions of what bends."""
    space = body.space
    return space if isinstance(space, ScrewSpace) and not isinstance(space, ElasticSpace) and space.dim else None
