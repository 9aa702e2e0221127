"""Folders of real assets as sources of items, with their licence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from neurok.core import Asset
from neurok.errors import NeurokError
from neurok.io import load

SINGLE_FILES = (".npz", ".urdf", ".xml", ".mjcf", ".glb", ".gltf", ".usd", ".usda", ".usdc")
SEQUENCES = (".obj", ".ply")
UNKNOWN_LICENSE = "unknown: as given with the source"


@dataclass(frozen=True)
class Source:
    """One thing on disk that may hold motion."""

    path: str
    license: str = UNKNOWN_LICENSE

    def read(self) -> list[Asset]:
        """One asset per motion: its joints, or each of its clips. Nothing that moves gives an empty list."""
        asset = load(self.path)
        family = asset.provenance.get("category", "unknown")
        provenance = {"family": family, "license": self.license, "source": Path(self.path).name, **asset.provenance}
        if asset.articulation is not None and asset.articulation.dof:
            return [replace(asset, clips=(), provenance=provenance)]
        return [
            replace(
                asset, mesh=clip.rest, clips=(clip,), articulation=None, provenance={**provenance, "clip": clip.name}
            )
            for clip in asset.clips
            if clip.frame_count > 1
        ]


def find_sources(folder: str | Path) -> list[Source]:
    """Every readable asset below a folder, in the order of their names.

    A folder with ``mobility_v2.json`` is one PartNet-Mobility object; numbered ``name_0001.obj`` files are a sequence,
    unless they are the meshes of a robot file beside their folder.
    """
    root = Path(folder)
    if not root.is_dir():
        raise NeurokError(f"'{folder}' is not a folder; give one that holds assets.")
    found = [Source(path) for path in _paths(root)]
    if not found:
        raise NeurokError(
            f"'{folder}' holds no asset that can move: {', '.join(SINGLE_FILES)}, PartNet-Mobility folders or numbered "
            "mesh sequences."
        )
    return found


def _paths(folder: Path) -> Iterator[str]:
    if (folder / "mobility_v2.json").exists():
        yield str(folder)
        return
    patterns: dict[str, None] = {}
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            if not _is_of_a_robot(path):
                yield from _paths(path)
        elif path.suffix.lower() in SINGLE_FILES:
            yield str(path)
        elif path.suffix.lower() in SEQUENCES:
            digits = len(path.stem) - len(path.stem.rstrip("0123456789"))
            if digits:
                patterns[str(path.with_name(f"{path.stem[:-digits]}%0{digits}d{path.suffix}"))] = None
    yield from patterns


def _is_of_a_robot(folder: Path) -> bool:
    """Whether a folder holds the meshes of a URDF or MJCF file beside it, as ours do."""
    name = folder.name.removesuffix("_meshes")
    return name != folder.name and any(
        folder.with_name(name + suffix).exists() for suffix in (".urdf", ".xml", ".mjcf")
    )
