"""Objects that stand still, and whoever finds joints for them: motion for collections that come without any.

Finding joints is not the business of this room: it is told by whom (``JointFinder``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, runtime_checkable

from neurok.core import Asset
from neurok.data.sources import UNKNOWN_LICENSE
from neurok.errors import NeurokError
from neurok.io import load

SUFFIXES = (".glb", ".gltf", ".npz", ".obj", ".off", ".ply", ".stl", ".usd", ".usda", ".usdc", ".usdz")


@runtime_checkable
class JointFinder(Protocol):
    """Finds joints for an object that has none; a pure function that can be pickled."""

    @property
    def name(self) -> str:
        """What it is, so that a build is not finished by another one than began it."""
        ...

    def __call__(self, asset: Asset) -> tuple[Asset | None, list[str]]:
        """The object with joints, or None; and why joints, or all of it, were turned away."""
        ...


@dataclass(frozen=True)
class StillSource:
    """One file on disk that holds an object without motion."""

    path: str
    finder: JointFinder
    license: str = UNKNOWN_LICENSE

    def make(self) -> tuple[list[Asset], list[str]]:
        """The object with joints of its own making, if any hold; and what was turned away."""
        try:
            asset = load(self.path)
        except NeurokError:
            return [], ["source that cannot be read"]
        if (asset.articulation is not None and asset.articulation.dof) or asset.clips:
            return [], ["source that moves already: it belongs to --add"]
        found, reasons = self.finder(asset)
        if found is None:
            return [], reasons
        provenance = {
            "family": found.provenance.get("category", "self_made"),
            "license": self.license,
            "source": Path(self.path).name,
            "joints": f"found by neurok, {self.finder.name}",
            **found.provenance,
        }
        return [replace(found, clips=(), provenance=provenance)], reasons


def find_still_sources(folders: Sequence[str | Path], finder: JointFinder) -> list[StillSource]:
    """Every mesh below the folders, in the order of their names."""
    found = []
    for folder in folders:
        root = Path(folder)
        if not root.is_dir():
            raise NeurokError(f"'{folder}' is not a folder; give one that holds meshes.")
        paths = sorted(path for path in root.rglob("*") if path.suffix.lower() in SUFFIXES)
        if not paths:
            raise NeurokError(f"'{folder}' holds no mesh: {', '.join(SUFFIXES)}.")
        found += [StillSource(str(path), finder) for path in paths]
    return found
