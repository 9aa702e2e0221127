"""PC2 point cache: positions over time, next to a mesh file of the same name.

The cache knows neither faces nor seconds: ``walk.pc2`` needs ``walk.obj`` or ``walk.ply`` beside it, and is read at
24 frames per second times its own sampling rate.
"""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from neurok.core import Asset, Clip
from neurok.errors import FormatError, NeurokError
from neurok.io import obj, ply
from neurok.io.files import Files, read_bytes
from neurok.io.sequence import frame_positions, pick_clip

_HEADER = struct.Struct("<12siiffi")
_MAGIC = b"POINTCACHE2\0"
FPS = 24.0


def read(path: Path) -> Asset:
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
    fps = FPS / rate if np.isfinite(rate) and 1e-3 <= rate <= 1e3 else FPS
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


def write(asset: Asset, path: Path) -> Files:
    """The first clip as a cache, and the rest mesh as OBJ beside it."""
    clip = pick_clip(asset, path)
    positions = frame_positions(clip).astype("<f4")
    header = _HEADER.pack(_MAGIC, 1, clip.rest.vertex_count, 0.0, 1.0, clip.frame_count)
    return {path.name: header + positions.tobytes(), **obj.write(Asset(clip.rest), path.with_suffix(".obj"))}
