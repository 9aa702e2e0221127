"""The file that an object came from, for writers that can write it again with all it holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neurok.core.asset import Asset


@dataclass(frozen=True, eq=False)
class Origin:
    """What a reader read from, and what it made of it."""

    format: str
    """Which reader and writer know ``content``."""

    content: Any
    """The file taken apart: also what the nouns have no words for (hierarchy, cameras, lights, extras)."""

    read: Asset
    """The object as it was read."""

    clip_numbers: tuple[int, ...] = ()
    """Where the file keeps each clip of ``read``."""

    has_more: tuple[str, ...] = ()
    """What the file holds beyond the nouns, in words."""

    def kept_clips(self, asset: Asset) -> tuple[int, ...] | None:
        """Where the file keeps the clips of an object that is still as it was read; none if it has changed."""
        read = self.read
        same = asset.mesh is read.mesh and asset.articulation is read.articulation and asset.materials is read.materials
        if not same or dict(asset.provenance) != dict(read.provenance):
            return None
        numbers = {id(clip): number for clip, number in zip(read.clips, self.clip_numbers, strict=True)}
        if not all(id(clip) in numbers for clip in asset.clips):
            return None
        return tuple(numbers[id(clip)] for clip in asset.clips)
