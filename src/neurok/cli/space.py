"""Which space of poses a command works in, and what it says of it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from neurok.core import Asset
    from neurok.kinematics import KinematicSpace

SpaceName = Literal["auto", "joints", "clip", "learned"]


def find_space(asset: Asset, path: str, name: SpaceName, weights: str | None, *, touch: bool = True) -> KinematicSpace:
    """The poses of an object, refused where there is only one; doubts about learned ones are told on stderr."""
    from neurok.errors import NeurokError
    from neurok.hub import has_weights
    from neurok.inference.infer import learner
    from neurok.scene.spaces import space_for

    space = space_for(asset, name, learner(weights, touch))
    if space.dim == 0:
        why = "" if has_weights("deformation") else " No weights are shipped with this copy; name some with --weights."
        raise NeurokError(f"'{path}' has no joints and no animation, so it has only the pose it is in.{why}")
    warn_of(space)
    return space


def find_spaces(asset: Asset, path: str, name: SpaceName, weights: str | None) -> list[KinematicSpace]:
    """Spaces for posing, the simplest first: for learned poses those along joints, then all that the prior holds."""
    from neurok.errors import NeurokError
    from neurok.kinematics.screws import NeuralSpace

    try:
        space = find_space(asset, path, name, weights)
    except NeurokError:  # nothing has a joint: what bends may still fit
        return [find_space(asset, path, name, weights, touch=False)]
    if not isinstance(space, NeuralSpace) or space.room is None:
        return [space]
    return [space, find_space(asset, path, name, weights, touch=False)]


def warn_of(space: KinematicSpace) -> None:
    """Say on stderr what a user should doubt about a space."""
    if space.caution:
        print(f"neurok: {space.caution}", file=sys.stderr)


def facts_of(space: KinematicSpace) -> dict[str, Any]:
    """Figures of a space for ``--json``."""
    return {"dof": space.dim, "space": space.kind, **({"learned": dict(space.facts)} if space.facts else {})}
