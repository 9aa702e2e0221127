"""A clip as numbered OBJ or PLY files (``frames/walk_%04d.obj``), or as a PC2 point cache beside a mesh.

A cache knows neither faces nor seconds: ``walk.pc2`` needs ``walk.obj`` or ``walk.ply`` beside it, and is read at 24
frames per second times its own sampling rate.
"""

from __future__ import annotations

import re
import struct
from itertools import pairwise
from pathlib import Path

import numpy as np
from jaxtyping import Float

from neurok.core import Asset, Clip
from neurok.errors import FormatError, NeurokError
from neurok.io import obj, ply
from neurok.io.files import NUMBER_PLACE, Files, read_bytes

FPS = 24.0
"""Rate of a sequence on reading; the files do not say."""

_READERS = {".obj": obj.read, ".ply": ply.read}


def read(path: Path) -> Asset:
    """Consecutive numbered files with the same faces, as one clip; the first is the rest mesh."""
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise NeurokError(f"'{path}' is no sequence that neurok reads; known are {', '.join(_READERS)}.")
    numbers, paths = _frames(path)
    first = reader(paths[0])
    rest = first.mesh
    positions = [rest.vertices]
    for frame in paths[1:]:
        mesh = reader(frame).mesh
        if not np.array_equal(mesh.faces, rest.faces) or mesh.vertex_count != rest.vertex_count:
            raise FormatError(f"'{frame}' has other faces than '{paths[0]}'; every frame of a clip needs the same.")
        positions.append(mesh.vertices)
    clip = Clip(rest, np.stack(positions), FPS, _clip_name(path))
    note = f"{len(paths)} frames, numbers {numbers[0]} to {numbers[-1]}, taken as {FPS:g} per second."
    return Asset(rest, clips=(clip,), notes=(note, *first.notes))


def _frames(path: Path) -> tuple[list[int], list[Path]]:
    """The files that the pattern names, in order and without a gap."""
    place = NUMBER_PLACE.search(path.name)
    assert place is not None
    wanted = re.compile(re.escape(path.name[: place.start()]) + r"(\d{1,9})" + re.escape(path.name[place.end() :]))
    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError as error:
        raise NeurokError(f"The folder '{path.parent}' cannot be read: {error.strerror or error}.") from error
    found = {
        int(m[1]): m[0] for name in names if (m := wanted.fullmatch(name)) and _numbered(path.name, int(m[1])) == name
    }
    numbers = sorted(found)
    if not numbers:
        raise NeurokError(f"No file in '{path.parent}' fits '{path.name}'.")
    for before, after in pairwise(numbers):
        if after != before + 1:
            raise NeurokError(f"The sequence '{path}' has a gap: frame {before + 1} is missing.")
    return numbers, [path.parent / found[number] for number in numbers]


def _numbered(name: str, number: int) -> str:
    return NUMBER_PLACE.sub(lambda place: place[0] % number, name, count=1)


def _clip_name(path: Path) -> str:
    return NUMBER_PLACE.sub("", path.stem).strip("_-. ") or "motion"


def write(asset: Asset, path: Path) -> Files:
    """Every frame of the first clip; OBJ frames share one material library."""
    suffix = path.suffix.lower()
    if suffix not in _READERS:
        raise NeurokError(f"'{path}' is no sequence that neurok writes; known are {', '.join(_READERS)}.")
    if len(NUMBER_PLACE.findall(path.name)) != 1:
        raise NeurokError(f"'{path.name}' must have exactly one place for a number, like 'walk_%04d.obj'.")
    clip = pick_clip(asset, path)
    files: Files = {}
    look, library = obj.write_look(clip.rest, _clip_name(path)) if suffix == ".obj" else ({}, None)
    for number in range(clip.frame_count):
        name = _numbered(path.name, number)
        if suffix == ".obj":
            files[name] = obj.write_geometry(clip.mesh(number), library)
        else:
            # One picture serves all frames: the texture is written under the name of the clip.
            files |= ply.write(Asset(clip.mesh(number)), path.with_name(name), picture_stem=_clip_name(path))
    return {**files, **look}


def pick_clip(asset: Asset, path: Path) -> Clip:
    """The first clip, or one sentence."""
    if not asset.clips:
        raise NeurokError(
            f"'{path}' stores motion, but this object has no clip; save a clip, or choose a static format."
        )
    return asset.clips[0]


def frame_positions(clip: Clip) -> Float[np.ndarray, "T V 3"]:
    """Positions in metres with y up, as the plain formats store them."""
    if clip.rest.up == "y" and clip.rest.unit == 1.0:
        return clip.positions
    return np.stack([clip.mesh(i).in_frame("y", 1.0).vertices for i in range(clip.frame_count)])


_HEADER = struct.Struct("<12siiffi")
_MAGIC = b"POINTCACHE2\0"
PC2_FPS = 24.0


def read_pc2(path: Path) -> Asset:
    """The motion of the mesh that lies beside the cache."""
    data = read_bytes(path)
    if len(data) < _HEADER.size or not data.startswith(_MAGIC):
        raise FormatError(f"'{path}' is not a PC2 point cache: it does not begin with 'POINTCACHE2'.")
    _, version, point_count, _, rate, frame_count = _HEADER.unpack_from(data)
    size = 12 * point_count * frame_count
    if version != 1 or point_count <= 0 or frame_count <= 0 or len(data) - _HEADER.size < size:
        raise FormatError(f"'{path}' is cut off or damaged: it promises {frame_count} frames of {point_count} points.")
    positions = np.frombuffer(data, "<f4", count=size // 4, offset=_HEADER.size).reshape(frame_count, point_count, 3)
    asset, source = _mesh_beside(path)
    if source.max() + 1 > point_count or len(np.unique(source)) != point_count:
        raise FormatError(
            f"'{path}' moves {point_count} points, but the mesh beside it has {len(np.unique(source))} vertices."
        )
    fps = PC2_FPS / rate if np.isfinite(rate) and 1e-3 <= rate <= 1e3 else PC2_FPS
    clip = Clip(asset.mesh, positions[:, source].astype(np.float32), fps, path.stem)
    return Asset(asset.mesh, clips=(clip,), notes=asset.notes)


def _mesh_beside(path: Path) -> tuple[Asset, np.ndarray]:
    """The mesh with the same stem, and the point of the cache that each of its vertices follows."""
    if (beside := path.with_suffix(".obj")).is_file():
        return obj.read_with_sources(beside)
    if (beside := path.with_suffix(".ply")).is_file():
        asset = ply.read(beside)
        return asset, np.arange(asset.mesh.vertex_count)
    raise NeurokError(
        f"'{path}' holds positions but no faces; put the mesh it moves beside it, "
        f"named '{path.stem}.obj' or '{path.stem}.ply'."
    )


def write_pc2(asset: Asset, path: Path) -> Files:
    """The first clip as a cache, and the rest mesh as OBJ beside it."""
    clip = pick_clip(asset, path)
    positions = frame_positions(clip).astype("<f4")
    header = _HEADER.pack(_MAGIC, 1, clip.rest.vertex_count, 0.0, 1.0, clip.frame_count)
    return {path.name: header + positions.tobytes(), **obj.write(Asset(clip.rest), path.with_suffix(".obj"))}
