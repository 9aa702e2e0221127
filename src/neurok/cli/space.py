"""What commands say of the space of poses they work in."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from neurok.kinematics import KinematicSpace

SpaceName = Literal["auto", "joints", "clip", "learned"]


def warn_of(space: KinematicSpace) -> None:
    """Say on stderr what a user should doubt about a space."""
    if space.caution:
        print(f"neurok: {space.caution}", file=sys.stderr)


def facts_of(space: KinematicSpace, why: str = "") -> dict[str, Any]:
    """Figures of a space for ``--json``, and why it was taken."""
    return {
        "dof": space.dim,
        "space": space.kind,
        **({"why": why} if why else {}),
        **({"learned": dict(space.facts)} if space.facts else {}),
    }
