"""What each format can hold, in one place, and one line for each thing that an object has and its format cannot."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from neurok.core import Asset, Surface
from neurok.core.finish import TRANSFORM, Finish
from neurok.io.usd_shading import TOLD

Amount = Literal["all", "first", "none"]
Looks = Literal["whole", "preview", "base", "none"]
"""Whole materials of glTF; those of UsdPreviewSurface; base colour, picture and shine; or none."""


@dataclass(frozen=True)
class Holds:
    """What files of one format say."""

    clips: Amount = "none"
    joints: bool = False
    looks: Looks = "base"
    normals: bool = False
    uv_sets: Amount = "first"
    colors: bool = True


_GLTF = Holds("all", True, "whole", True, "all")
_USD = Holds("first", True, "preview", True, "all")
_ROBOT = Holds("none", True, "base", colors=False)
_MESH = Holds()
_BARE = Holds(looks="none", uv_sets="none", colors=False)
FORMATS: dict[str, Holds] = {
    ".glb": _GLTF, ".gltf": _GLTF, ".npz": _GLTF,
    ".usd": _USD, ".usda": _USD, ".usdc": _USD, ".usdz": _USD,
    ".urdf": _ROBOT, ".mjcf": _ROBOT, ".xml": _ROBOT,
    ".obj": _MESH, ".pc2": Holds("first"),
    ".ply": Holds(looks="base"),
    ".stl": _BARE, ".off": _BARE,
}  # fmt: skip


def looks_left_out(asset: Asset, path: Path) -> list[str]:
    """One line for what of an object's look and scene a file at ``path`` will not say."""
    holds = FORMATS.get(path.suffix.lower())
    if holds is None or _passes(asset, path):
        return []
    suffix, mesh = path.suffix.lower(), asset.mesh
    lost = [*_lost_materials(mesh.surfaces, holds.looks)]
    authored = mesh.authored
    if mesh.normals is not None and not holds.normals:
        lost.append("normals")
    if authored is not None and authored.tangents is not None and holds.looks != "whole":
        lost.append("tangents")
    if authored is not None and len(authored.uv_sets) > 1 and holds.uv_sets != "all":
        lost.append("further texture coordinates")
    if mesh.vertex_colors is not None and not holds.colors:
        lost.append("vertex colours")
    more = () if asset.origin is None else asset.origin.has_more
    lines = [f"'{suffix}' files do not hold {_listed(lost)}; left out."] if lost else []
    if more and suffix != ".npz" and holds.looks == "whole":
        lines.append(f"The object has changed, so it is written without {_listed(list(more))} of its file.")
    elif more:
        lines.append(
            f"{_listed(list(more)).capitalize()} of the file are left out: '{suffix}' files are written without."
        )
    return lines


def _passes(asset: Asset, path: Path) -> bool:
    """Whether the file is written as it was read."""
    is_gltf = path.suffix.lower() in (".glb", ".gltf")
    return is_gltf and asset.origin is not None and asset.origin.kept_clips(asset) is not None


def _lost_materials(surfaces: tuple[Surface, ...], looks: Looks) -> list[str]:
    """What of materials gets lost, in words and in a fixed order."""
    if looks == "whole":
        return []
    if looks == "none":
        return ["materials"] if surfaces else []
    lost: dict[str, None] = {}
    for surface in surfaces:
        if surface.finish is not None:
            lost |= dict.fromkeys(_lost_parts(surface.finish, looks))
    return list(lost)


def _lost_parts(finish: Finish, looks: Looks) -> list[str]:
    used = sorted(set(finish.record().get("extensions", {})) - ({*TOLD, TRANSFORM} if looks == "preview" else set()))
    words = [name.removeprefix("KHR_materials_").replace("_", " ") for name in used]
    if looks == "preview":
        return words
    roles = [role for role in finish.maps if role != "base_color"]
    return [*(f"{role.replace('_', '-')} maps" for role in roles), *words]


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
