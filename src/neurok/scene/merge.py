"""Several moving objects as one clip, so that one file or film can hold a scene."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from neurok.core import Clip, Mesh, Skin
from neurok.core.authored import joined_uv_sets
from neurok.core.surface import Surface
from neurok.errors import NeurokError


def merge_meshes(meshes: Sequence[Mesh], names: Sequence[str]) -> Mesh:
    """One mesh of all; parts are called ``object/part``, or like the object where it has none.

    Raises:
        NeurokError: If units or up axes differ.
    """
    first = meshes[0]
    if any((mesh.unit, mesh.up) != (first.unit, first.up) for mesh in meshes):
        raise NeurokError("Objects of one mesh need one unit and up axis; use Mesh.in_frame.")
    vertex_starts = np.cumsum([0, *(mesh.vertex_count for mesh in meshes)])
    part_starts = np.cumsum([0, *(mesh.part_count for mesh in meshes)])
    looks = [mesh.surfaces or (Surface(),) for mesh in meshes]
    look_starts = np.cumsum([0, *map(len, looks)])
    part_ids = [_or(mesh.part_ids, np.zeros(mesh.vertex_count, dtype=np.int64)) for mesh in meshes]
    face_surfaces = [_or(mesh.face_surfaces, np.zeros(mesh.face_count, dtype=np.int64)) for mesh in meshes]
    has_uv = any(mesh.uv is not None for mesh in meshes)
    has_colors = any(mesh.vertex_colors is not None for mesh in meshes)
    return Mesh(
        vertices=np.concatenate([mesh.vertices for mesh in meshes]),
        faces=np.concatenate([mesh.faces + start for mesh, start in zip(meshes, vertex_starts, strict=False)]),
        uv=np.concatenate([_or(m.uv, np.zeros((m.vertex_count, 2))) for m in meshes]) if has_uv else None,
        vertex_colors=np.concatenate([_or(m.vertex_colors, np.ones((m.vertex_count, 4))) for m in meshes])
        if has_colors
        else None,
        part_ids=np.concatenate([ids + start for ids, start in zip(part_ids, part_starts, strict=False)]),
        part_names=tuple(part for mesh, name in zip(meshes, names, strict=True) for part in _part_names(mesh, name)),
        surfaces=tuple(surface for row in looks for surface in row),
        face_surfaces=np.concatenate([ids + start for ids, start in zip(face_surfaces, look_starts, strict=False)]),
        unit=first.unit,
        up=first.up,
        name="scene",
        authored=joined_uv_sets([m.authored for m in meshes], [m.uv for m in meshes], [m.vertex_count for m in meshes]),
    )


def merge_clips(clips: Sequence[Clip], names: Sequence[str]) -> Clip:
    """One clip of all, as long as the shortest; handles are kept when every object has them."""
    count = min(clip.frame_count for clip in clips)
    mesh = merge_meshes([clip.rest for clip in clips], names)
    positions = np.concatenate([clip.positions[:count] for clip in clips], axis=1)
    skins = [clip.skin for clip in clips if clip.skin is not None]
    skin = _merge_skins(skins, count) if len(skins) == len(clips) else None
    return Clip(mesh, positions, clips[0].fps, clips[0].name, skin)


def still_clip(mesh: Mesh, frame_count: int, fps: float) -> Clip:
    """A mesh that does not move, as a clip with one handle."""
    skin = Skin(np.ones((mesh.vertex_count, 1)), np.tile(np.eye(4), (frame_count, 1, 1, 1)))
    return Clip(mesh, np.tile(mesh.vertices, (frame_count, 1, 1)), fps, "motion", skin)


def unique_names(names: Sequence[str]) -> tuple[str, ...]:
    """The same names, later doubles numbered from 2."""
    out: list[str] = []
    for name in names:
        number, free = 2, name
        while free in out:
            free, number = f"{name}_{number}", number + 1
        out.append(free)
    return tuple(out)


def _merge_skins(skins: Sequence[Skin], count: int) -> Skin:
    weights = np.zeros((sum(len(s.weights) for s in skins), sum(s.weights.shape[1] for s in skins)))
    row = column = 0
    for skin in skins:
        height, width = skin.weights.shape
        weights[row : row + height, column : column + width] = skin.weights
        row, column = row + height, column + width
    return Skin(weights, np.concatenate([skin.transforms[:count] for skin in skins], axis=1))


def _part_names(mesh: Mesh, name: str) -> tuple[str, ...]:
    return tuple(f"{name}/{part}" for part in mesh.part_names) or (name,)


def _or(array: np.ndarray | None, default: np.ndarray) -> np.ndarray:
    return default if array is None else array
