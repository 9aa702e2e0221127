"""Everything one file says about one object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from neurok.core.articulation import Articulation
from neurok.core.clip import Clip
from neurok.core.material import MaterialField
from neurok.core.mesh import Mesh


@dataclass(frozen=True, eq=False)
class Asset:
    """A mesh with whatever came along: motion, joints, materials, where it is from."""

    mesh: Mesh
    clips: tuple[Clip, ...] = ()
    articulation: Articulation | None = None
    materials: MaterialField | None = None
    provenance: Mapping[str, str] = field(default_factory=dict)
    """``source``, ``license``, ``category`` ... as far as known."""

    notes: tuple[str, ...] = ()
    """What the reader had to leave out or repair, one sentence each."""
