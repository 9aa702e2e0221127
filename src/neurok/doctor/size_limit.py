"""Meshes too large for a network or a file: a smaller copy, and the way back."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Int

from neurok.core import Articulation, Asset, Authored, Bind, Clip, Mesh, Skin
from neurok.doctor.anatomy import face_surfaces, vertex_classes
from neurok.errors import NeurokError
from neurok.geometry.decimate import decimate as decimate_faces
from neurok.geometry.distance import closest_point
from neurok.geometry.topology import face_components, split_by_face_label, vertex_labels
from neurok.geometry.transfer import Transfer


def decimate(mesh: Mesh, max_faces: int) -> tuple[Mesh, Transfer]:
    """A copy with about ``max_faces`` faces, and the transfer of its motion back to the full mesh.

    Parts and components are simplified one by one, in proportion, so none vanishes and none is glued to another;
    with very many tiny components the copy can stay larger than asked. Texture coordinates, colours and surfaces
    are read off the full mesh.
    """
    full = _Grouped.of(mesh)
    coarse = _reduce(full, max_faces)
    return coarse.mesh, coarse.transfer_to(full)


@dataclass(frozen=True, eq=False)
class _Grouped:
    """A mesh and its groups: the components of each part, which are simplified and tied one by one."""

    mesh: Mesh
    groups: Int[np.ndarray, " F"]

    @staticmethod
    def of(mesh: Mesh) -> _Grouped:
        return _Grouped(mesh, face_components(mesh.vertices, mesh.faces, mesh.face_parts))

    def transfer_to(self, other: _Grouped) -> Transfer:
        mesh = self.mesh
        return Transfer.between(mesh.vertices, mesh.faces, other.mesh.vertices, self.groups, _vertex_groups(other))


def _reduce(full: _Grouped, max_faces: int) -> _Grouped:
    mesh = full.mesh
    if max_faces < 4:
        raise NeurokError(f"A mesh cannot be reduced to {max_faces} faces; ask for at least 4.")
    if mesh.face_count <= max_faces:
        return full
    vertices, faces, groups = decimate_faces(mesh.vertices, mesh.faces, max_faces, full.groups)
    return _Grouped(_dress(mesh, full.groups, vertices, faces, groups), groups)


def _vertex_groups(grouped: _Grouped) -> Int[np.ndarray, " V"]:
    """The group of each vertex; one without a face follows the group of the first face."""
    mesh, groups = grouped.mesh, grouped.groups
    return vertex_labels(mesh.faces, groups, mesh.vertex_count, unused=int(groups[0]))


def _dress(
    mesh: Mesh,
    groups: Int[np.ndarray, " F"],
    vertices: np.ndarray,
    faces: Int[np.ndarray, "G 3"],
    coarse_groups: Int[np.ndarray, " G"],
) -> Mesh:
    """Give the bare coarse triangles the parts and the look of the full mesh."""
    first_face = np.zeros(int(groups.max()) + 1, dtype=np.int64)
    first_face[groups[::-1]] = np.arange(len(groups))[::-1]
    part_ids = None
    if mesh.part_ids is not None:
        part_ids = np.empty(len(vertices), dtype=np.int64)
        part_ids[faces] = mesh.face_parts[first_face[coarse_groups]][:, None]
    bare = replace(
        mesh,
        vertices=vertices,
        faces=faces,
        uv=None,
        vertex_colors=None,
        part_ids=part_ids,
        face_surfaces=None,
        authored=None,
    )
    if mesh.uv is None and mesh.vertex_colors is None and len(mesh.surfaces) < 2:
        return bare
    # A coarse face takes its look from one island of the full mesh only: across a seam the texture would smear.
    surfaces = face_surfaces(mesh)
    islands = face_components(mesh.vertices, vertex_classes(mesh)[mesh.faces], surfaces, weld=False)
    centers = vertices[faces].mean(axis=1)
    face_island = islands[closest_point(centers, mesh.vertices, mesh.faces, coarse_groups, groups, 6).face_ids]
    index, faces, vertex_island = split_by_face_label(faces, face_island)
    near = closest_point(vertices[index], mesh.vertices, mesh.faces, vertex_island, islands, 6)
    corners = mesh.faces[near.face_ids]

    def blended(array: np.ndarray) -> np.ndarray:
        return np.einsum("nk,nkc->nc", near.barycentric, array[corners])

    island_surface = np.zeros(int(islands.max()) + 1, dtype=np.int64)
    island_surface[islands] = surfaces
    sets = () if mesh.authored is None else mesh.authored.uv_sets
    return replace(
        bare,
        vertices=vertices[index],
        authored=Authored(None, uv_sets=tuple(blended(uv) for uv in sets)) if sets else None,
        faces=faces,
        uv=None if mesh.uv is None else blended(mesh.uv),
        vertex_colors=None if mesh.vertex_colors is None else blended(mesh.vertex_colors),
        part_ids=None if part_ids is None else part_ids[index],
        face_surfaces=None if mesh.face_surfaces is None else island_surface[face_island],
    )


def decimate_asset(asset: Asset, max_faces: int) -> Asset:
    """A whole asset with a smaller mesh: clips, joints and materials follow."""
    if asset.mesh.face_count <= max_faces:
        return asset
    full = _Grouped.of(asset.mesh)
    reduced = _reduce(full, max_faces)
    coarse, forth = reduced.mesh, full.transfer_to(reduced)
    clips = tuple(_reduce_clip(clip, coarse, forth) for clip in asset.clips)
    joints = asset.articulation
    if joints is not None:
        joints = Articulation(coarse, joints.joints, joints.inertials, joints.name)
    materials = asset.materials
    if materials is not None:
        heaviest = np.take_along_axis(
            forth.faces[forth.face_ids], forth.barycentric.argmax(axis=1)[:, None], axis=1
        ).reshape(-1)
        materials = materials.take(heaviest)
    note = f"Reduced from {asset.mesh.face_count:,} to {coarse.face_count:,} faces."
    return replace(
        asset, mesh=coarse, clips=clips, articulation=joints, materials=materials, notes=(*asset.notes, note)
    )


def _reduce_clip(clip: Clip, coarse: Mesh, forth: Transfer) -> Clip:
    skin = clip.skin
    if skin is not None:
        bind = skin.bind and Bind(forth.interpolate(skin.bind.vertices), skin.bind.transforms)
        skin = Skin(forth.interpolate(np.asarray(skin.weights, dtype=np.float64)), skin.transforms, bind)
    positions = skin.positions(coarse.vertices) if skin is not None else forth(np.asarray(clip.positions, np.float64))
    return Clip(coarse, positions, clip.fps, clip.name, skin)
