"""``load`` and ``save``: the suffix of a path picks the format. What each format can hold, and what it leaves out."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np

from neurok.core import Articulation, Asset, Clip, Mesh, Rollout, Surface
from neurok.core.surface import TRANSFORM, Finish
from neurok.errors import NeurokError, did_you_mean, require
from neurok.io.files import Files, check_content, is_pattern, path_kind, write_files
from neurok.io.surfaces import PREVIEWED

Amount = Literal["all", "first", "none"]
AppearanceLevel = Literal["whole", "preview", "base", "none"]
"""Whole materials of glTF; those of UsdPreviewSurface; base colour, picture and shine; or none."""

MESHES = (".glb", ".gltf", ".npz", ".obj", ".off", ".ply", ".stl", ".usd", ".usda", ".usdc", ".usdz")
"""Endings of files that hold a mesh and whatever comes along with it."""


@dataclass(frozen=True)
class Capabilities:
    """What files of one format say."""

    clips: Amount = "none"
    joints: bool = False
    appearance: AppearanceLevel = "base"
    normals: bool = False
    uv_sets: Amount = "first"
    colors: bool = True


_ALL = Capabilities("all", True, "whole", True, "all")
_ROBOT = Capabilities("none", True, "base", colors=False)
_BARE = Capabilities(appearance="none", uv_sets="none", colors=False)
_TABLE: tuple[tuple[tuple[str, ...], str, str, Capabilities | None], ...] = (
    ((".glb", ".gltf"), "gltf_read:read", "gltf_write:write", _ALL),
    ((".npz",), "archive:read", "archive:write", _ALL),
    (
        (".usd", ".usda", ".usdc", ".usdz"),
        "usd:read",
        "usd_write:write",
        Capabilities("first", True, "preview", True, "all"),
    ),
    ((".urdf",), "urdf:read", "urdf_write:write", _ROBOT),
    ((".mjcf", ".xml"), "mjcf:read", "mjcf_write:write", _ROBOT),
    ((".obj",), "obj:read", "obj:write", Capabilities()),
    ((".pc2",), "sequence:read_pc2", "sequence:write_pc2", Capabilities("first")),
    ((".ply",), "ply:read", "ply:write", Capabilities()),
    ((".stl",), "plain_meshes:read_stl", "plain_meshes:write_stl", _BARE),
    ((".off",), "plain_meshes:read_off", "plain_meshes:write_off", _BARE),
    ((".dae",), "interchange:read_collada", "", None),
    ((".fbx",), "interchange:read_fbx", "", None),
    ((".zip",), "npz_arrays:read_zip", "", None),
)
"""Suffixes, reader (a path to an ``Asset``), writer (an ``Asset`` and a path to ``Files``), and what files say."""

READERS = dict(sorted((suffix, f"neurok.io.{reader}") for suffixes, reader, _, _ in _TABLE for suffix in suffixes))
"""Suffix to ``module:function``; imported when used."""

WRITERS = dict(sorted((s, f"neurok.io.{writer}") for suffixes, _, writer, _ in _TABLE if writer for s in suffixes))
FORMATS = {suffix: holds for suffixes, _, _, holds in _TABLE if holds is not None for suffix in suffixes}


def looks_left_out(asset: Asset, path: Path) -> list[str]:
    """One line for what of an object's appearance and scene a file at ``path`` will not say."""
    holds = FORMATS.get(path.suffix.lower())
    if holds is None or _passes(asset, path):
        return []
    suffix, mesh = path.suffix.lower(), asset.mesh
    lost = [*_lost_materials(mesh.surfaces, holds.appearance)]
    authored = mesh.authored
    if mesh.normals is not None and not holds.normals:
        lost.append("normals")
    if authored is not None and authored.tangents is not None and holds.appearance != "whole":
        lost.append("tangents")
    if authored is not None and len(authored.uv_sets) > 1 and holds.uv_sets != "all":
        lost.append("further texture coordinates")
    if mesh.vertex_colors is not None and not holds.colors:
        lost.append("vertex colours")
    more = () if asset.origin is None else asset.origin.has_more
    lines = [f"'{suffix}' files do not hold {_listed(lost)}; left out."] if lost else []
    if more and suffix != ".npz" and holds.appearance == "whole":
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


def _lost_materials(surfaces: tuple[Surface, ...], appearance: AppearanceLevel) -> list[str]:
    """What of materials gets lost, in words and in a fixed order."""
    if appearance == "whole":
        return []
    if appearance == "none":
        return ["materials"] if surfaces else []
    lost: dict[str, None] = {}
    for surface in surfaces:
        if surface.finish is not None:
            lost |= dict.fromkeys(_lost_parts(surface.finish, appearance))
    return list(lost)


def _lost_parts(finish: Finish, appearance: AppearanceLevel) -> list[str]:
    used = sorted(
        set(finish.record().get("extensions", {})) - ({*PREVIEWED, TRANSFORM} if appearance == "preview" else set())
    )
    words = [name.removeprefix("KHR_materials_").replace("_", " ") for name in used]
    if appearance == "preview":
        return words
    roles = [role for role in finish.maps if role != "base_color"]
    return [*(f"{role.replace('_', '-')} maps" for role in roles), *words]


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


ALL_CLIPS = tuple(suffix for suffix, holds in FORMATS.items() if holds.clips == "all")
"""Formats that hold every clip of an object."""

ONE_CLIP = tuple(suffix for suffix, holds in FORMATS.items() if holds.clips == "first")
"""Formats that hold the first clip, as numbered files do."""

WITH_JOINTS = tuple(sorted(suffix for suffix, holds in FORMATS.items() if holds.joints))
"""Formats that hold joints."""

WITHOUT_FRAME = (".obj", ".off", ".pc2", ".ply", ".stl")
"""Formats that know neither unit nor up axis; y up and metres are assumed."""

SAMPLE_PREFIX = "sample:"

LARGEST_NUMBER = 1e37
"""Largest coordinate that is written; single precision ends at 3.4e38, and squares of sums must still be told."""


def load(path: str | Path, *, nodes: Sequence[str] = ()) -> Asset:
    """Everything the file says: mesh, clips, joints. ``sample:NAME`` gives a built-in object.

    A name like ``walk_%04d.obj`` (or ``.ply``) stands for numbered files, one per frame, and gives a clip. Coarser
    levels of detail, collision shapes and other helpers of a scene are left out, and ``Asset.left_out`` names them.

    Args:
        path: What to read.
        nodes: Globs of the nodes to take instead, such as ``body*``; ``!wheel*`` leaves nodes out.

    Raises:
        NeurokError: If the file is missing, damaged or of no known kind; the sentence says what to do.
    """
    from neurok.io.nodes import chosen

    asset = _read(path)
    return chosen(asset, (nodes,) if isinstance(nodes, str) else nodes)


def _read(path: str | Path) -> Asset:
    """All that a file says."""
    if str(path).startswith(SAMPLE_PREFIX):
        from neurok.catalogue.samples import make_sample

        return make_sample(str(path)[len(SAMPLE_PREFIX) :])
    path = Path(path)
    kind = path_kind(path)
    if kind == "folder":
        return _function("neurok.io.partnet:read")(path)
    if kind == "nothing":
        if is_pattern(path):
            return _function("neurok.io.sequence:read")(path)
        raise NeurokError(f"There is no file '{path}'. Built-in objects are named like 'sample:laptop'.")
    reader = _pick(READERS, path, "read")
    check_content(path)
    # NaN and infinite numbers in a file are judged by the nouns; numpy's own warnings would only be noise.
    try:
        with np.errstate(invalid="ignore", over="ignore"):
            return _named_by_folder(_function(reader)(path), path)
    except MemoryError:
        raise NeurokError(f"'{path}' is too large for the memory of this machine; decimate it first.") from None


GENERIC = ("model", "mesh", "object", "scene", "textured", "textured_mesh", "untitled", "visual", "asset")
"""File names that say nothing: collections of scans call every file so, and the folder as the thing."""


def _named_by_folder(asset: Asset, path: Path) -> Asset:
    """A still object called by its folder where its file has a name that says nothing."""
    folder = path.absolute().parent.name
    is_still = asset.articulation is None and not asset.clips
    if asset.mesh.name.lower() not in GENERIC or path.stem.lower() not in GENERIC or not (folder and is_still):
        return asset
    return replace(asset, mesh=replace(asset.mesh, name=folder))


def states_frame(path: str | Path) -> bool:
    """Whether the format of a path says in which unit and with which axis up it is written."""
    return str(path).startswith(SAMPLE_PREFIX) or Path(path).suffix.lower() not in WITHOUT_FRAME


def load_mesh(path: str | Path) -> Mesh:
    """The static mesh in a file."""
    return load(path).mesh


def load_clip(path: str | Path, which: str | int = 0) -> Clip:
    """One animation of a file, by name or number."""
    return load(path).clip(which)


def load_articulation(path: str | Path) -> Articulation:
    """The joints in a file."""
    articulation = load(path).articulation
    if articulation is None:
        raise NeurokError(f"'{path}' has no joints; URDF, MJCF, PartNet-Mobility folders and neurok's GLB have.")
    return articulation


class Exportable(Protocol):
    """What knows how it is written, such as a ``Model``."""

    def exported(self) -> Asset:
        """What is written."""


Noun = Asset | Mesh | Clip | Articulation | Rollout | Exportable


def save(thing: Noun, path: str | Path, **options: Any) -> list[Path]:
    """Write an object in the format of the path's suffix and tell which files that made; none is left half-written.

    A format that holds a still mesh (OBJ, PLY, STL, OFF) takes the rest mesh of a clip; a name like
    ``walk_%04d.obj`` (or ``.ply``) writes every frame of the first clip.
    """
    path = Path(path)
    home = "neurok.io.sequence:write" if is_pattern(path) else _pick(WRITERS, path, "write")
    writer = _function(home)
    asset = as_asset(thing)
    if path.suffix.lower() != ".npz":
        _check_reach(asset, path)
    files: Files = writer(asset, path, **options)
    write_files(path, files)
    return [path.parent / name for name in files]


def _check_reach(asset: Asset, path: Path) -> None:
    """Refuse numbers that formats of single precision cannot hold, in metres or in the object's own unit."""
    told = [clip.positions for clip in asset.clips if clip.is_baked]
    reach = max([float(np.abs(a).max(initial=0.0)) for a in (asset.mesh.vertices, *told)])
    if not reach * max(1.0, asset.mesh.unit) < LARGEST_NUMBER:
        raise NeurokError(
            f"'{path}' cannot be written: the object reaches to {reach:.3g}, and files hold numbers up to "
            f"{LARGEST_NUMBER:.0e}; repair it first: neurok inspect OBJECT --out mended.npz."
        )


def as_asset(thing: Noun) -> Asset:
    """Any noun, wrapped."""
    if isinstance(thing, Asset):
        return thing
    if isinstance(thing, Mesh):
        return Asset(thing)
    if isinstance(thing, Articulation):
        return Asset(thing.mesh, articulation=thing)
    if isinstance(thing, Clip | Rollout):
        clip = thing.clip() if isinstance(thing, Rollout) else thing
        return Asset(clip.rest, clips=(clip,))
    return thing.exported()


def _pick(table: dict[str, str], path: Path, verb: str) -> str:
    try:
        return table[path.suffix.lower()]
    except KeyError:
        given = f"'{path.suffix}' files" if path.suffix else f"'{path}', which has no suffix"
        meant = did_you_mean(path.suffix.lower(), table)
        raise NeurokError(f"neurok cannot {verb} {given}; known are {', '.join(sorted(table))}.{meant}") from None


def _function(home: str) -> Callable[..., Any]:
    module, name = home.split(":")
    if module.startswith("neurok.io.usd"):
        require("pxr", "usd")
    return getattr(importlib.import_module(module), name)
