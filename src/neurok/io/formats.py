"""``load`` and ``save``: the suffix of a path picks the format."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from neurok.core import Articulation, Asset, Clip, Mesh, Rollout
from neurok.errors import NeurokError
from neurok.io.files import Files, check_content, is_pattern, path_kind, write_files
from neurok.io.holds import FORMATS

READERS: dict[str, str] = {
    ".dae": "neurok.io.collada:read",
    ".fbx": "neurok.io.fbx:read",
    ".glb": "neurok.io.gltf_read:read",
    ".gltf": "neurok.io.gltf_read:read",
    ".mjcf": "neurok.io.mjcf:read",
    ".npz": "neurok.io.archive:read",
    ".obj": "neurok.io.obj:read",
    ".off": "neurok.io.off:read",
    ".pc2": "neurok.io.pc2:read",
    ".ply": "neurok.io.ply:read",
    ".stl": "neurok.io.stl:read",
    ".urdf": "neurok.io.urdf:read",
    ".usd": "neurok.io.usd:read",
    ".usda": "neurok.io.usd:read",
    ".usdc": "neurok.io.usd:read",
    ".usdz": "neurok.io.usd:read",
    ".xml": "neurok.io.mjcf:read",
    ".zip": "neurok.io.zipped:read",
}
"""Suffix to ``module:function``, a function from a path to an ``Asset``; imported when used."""

WRITERS: dict[str, str] = {
    ".glb": "neurok.io.gltf_write:write",
    ".gltf": "neurok.io.gltf_write:write",
    ".mjcf": "neurok.io.mjcf_write:write",
    ".npz": "neurok.io.archive:write",
    ".obj": "neurok.io.obj:write",
    ".off": "neurok.io.off:write",
    ".pc2": "neurok.io.pc2:write",
    ".ply": "neurok.io.ply:write",
    ".stl": "neurok.io.stl:write",
    ".urdf": "neurok.io.urdf_write:write",
    ".usd": "neurok.io.usd_write:write",
    ".usda": "neurok.io.usd_write:write",
    ".usdc": "neurok.io.usd_write:write",
    ".usdz": "neurok.io.usd_write:write",
    ".xml": "neurok.io.mjcf_write:write",
}
"""Suffix to ``module:function``, a function from an ``Asset`` and the target path to ``Files``."""

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


def load(path: str | Path) -> Asset:
    """Everything the file says: mesh, clips, joints. ``sample:NAME`` gives a built-in object.

    A name like ``walk_%04d.obj`` (or ``.ply``) stands for numbered files, one per frame, and gives a clip.

    Raises:
        NeurokError: If the file is missing, damaged or of no known kind; the sentence says what to do.
    """
    if str(path).startswith(SAMPLE_PREFIX):
        from neurok.samples import make_sample

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
            return _function(reader)(path)
    except MemoryError:
        raise NeurokError(f"'{path}' is too large for the memory of this machine; decimate it first.") from None


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


def save(thing: Asset | Mesh | Clip | Articulation | Rollout, path: str | Path, **options: Any) -> list[Path]:
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


def as_asset(thing: Asset | Mesh | Clip | Articulation | Rollout) -> Asset:
    """Any noun, wrapped."""
    if isinstance(thing, Asset):
        return thing
    if isinstance(thing, Mesh):
        return Asset(thing)
    if isinstance(thing, Articulation):
        return Asset(thing.mesh, articulation=thing)
    clip = thing.clip() if isinstance(thing, Rollout) else thing
    return Asset(clip.rest, clips=(clip,))


def _pick(table: dict[str, str], path: Path, verb: str) -> str:
    try:
        return table[path.suffix.lower()]
    except KeyError:
        given = f"'{path.suffix}' files" if path.suffix else f"'{path}', which has no suffix"
        raise NeurokError(f"neurok cannot {verb} {given}; known are {', '.join(sorted(table))}.") from None


def _function(home: str) -> Callable[..., Any]:
    module, name = home.split(":")
    return getattr(importlib.import_module(module), name)
