"""Everything one file says about one object, and the file that it came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from neurok.core.articulation import Articulation
from neurok.core.clip import Clip
from neurok.core.material import MaterialField
from neurok.core.mesh import Mesh, UpAxis
from neurok.errors import NeurokError


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

    origin: Origin | None = None
    """The file it came from, for writers that can write it again as it was."""

    nodes: tuple[tuple[str, ...], ...] = ()
    """Where the file has a tree of nodes: the names on the way to each part, as the reader found them."""

    left_out: tuple[str, ...] = ()
    """Nodes of the file that are no part of the object, each with the reason."""

    def __repr__(self) -> str:
        clips = f", {len(self.clips)} clips" if self.clips else ""
        joints = f", {self.articulation!r}" if self.articulation is not None else ""
        materials = f", {self.materials!r}" if self.materials is not None else ""
        return f"<Asset of {self.mesh!r}{clips}{joints}{materials}>"

    def __getstate__(self) -> dict[str, Any]:
        """What is sent to other processes: the object, not the file it came from."""
        return {**self.__dict__, "origin": None}

    def clip(self, which: str | int = 0) -> Clip:
        """One animation, by name or number."""
        for number, clip in enumerate(self.clips):
            if which in (clip.name, number, str(number)):
                return clip
        known = ", ".join(f"{number} ({clip.name})" for number, clip in enumerate(self.clips)) or "none"
        raise NeurokError(f"'{self.mesh.name}' has no animation {which!r}; it has {known}.")

    def in_frame(self, up: UpAxis = "y", unit: float = 1.0) -> Asset:
        """The same object with another up axis and unit: mesh, motion, handles, joints and masses."""
        if up == self.mesh.up and unit == self.mesh.unit:
            return self
        clips = tuple(clip.in_frame(up, unit) for clip in self.clips)
        articulation = self.articulation and self.articulation.in_frame(up, unit)
        return replace(self, mesh=self.mesh.in_frame(up, unit), clips=clips, articulation=articulation)._sharing(self)

    def relabelled(self, up: UpAxis, unit: float) -> Asset:
        """The same numbers, read as of another up axis and unit."""
        told = lambda mesh: replace(mesh, up=up, unit=unit)  # noqa: E731
        clips = tuple(replace(clip, rest=told(clip.rest)) for clip in self.clips)
        articulation = self.articulation and replace(self.articulation, mesh=told(self.articulation.mesh))
        return replace(self, mesh=told(self.mesh), clips=clips, articulation=articulation)._sharing(self)

    def _sharing(self, before: Asset) -> Asset:
        """The same with one mesh where ``before``, which this one was made from, had one."""
        clips = tuple(
            replace(clip, rest=self.mesh) if old.rest is before.mesh else clip
            for clip, old in zip(self.clips, before.clips, strict=True)
        )
        articulation, old_articulation = self.articulation, before.articulation
        if articulation is not None and old_articulation is not None and old_articulation.mesh is before.mesh:
            articulation = replace(articulation, mesh=self.mesh)
        return replace(self, clips=clips, articulation=articulation)


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
