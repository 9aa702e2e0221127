"""The geoms of a compiled MuJoCo model as pieces of a mesh."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from neurok.core import Mesh, Surface, Texture
from neurok.geometry import lie
from neurok.io.polygons import split_corners
from neurok.io.urdf_pieces import Piece, box, capsule, colored

VISIBLE_GROUPS = 3
"""Geoms of groups 0, 1 and 2 are shown; higher ones usually hold collision shapes."""

PLAIN = (0.5, 0.5, 0.5, 1.0)
"""MuJoCo's own default colour: a geom that has it takes its material's."""


def body_pieces(model: Any, data: Any, body: int, part: int, notes: list[str]) -> list[Piece]:
    """What a body looks like: its visible geoms, or the hidden ones when it has no others."""
    first, count = int(model.body_geomadr[body]), int(model.body_geomnum[body])
    geoms = [g for g in range(first, first + count) if model.geom_rgba[g, 3] > 0]
    shown = [g for g in geoms if model.geom_group[g] < VISIBLE_GROUPS]
    pieces = []
    for geom in shown or geoms:
        mesh = _shape(model, geom, notes)
        if mesh is not None:
            placement = lie.compose(data.geom_xmat[geom].reshape(3, 3), data.geom_xpos[geom])
            pieces.append(Piece(part, mesh, placement, _surface(model, geom)))
    return pieces


def _shape(model: Any, geom: int, notes: list[str]) -> Mesh | None:
    import mujoco

    kinds = mujoco.mjtGeom
    kind, size = int(model.geom_type[geom]), model.geom_size[geom]
    if kind == kinds.mjGEOM_MESH:
        return _mesh(model, int(model.geom_dataid[geom]))
    if kind == kinds.mjGEOM_BOX:
        return box(size)
    if kind == kinds.mjGEOM_SPHERE:
        return capsule(float(size[0]), 0.0)
    if kind == kinds.mjGEOM_CAPSULE:
        return capsule(float(size[0]), float(size[1]))
    if kind == kinds.mjGEOM_CYLINDER:
        return capsule(float(size[0]), float(size[1]), rounded=False)
    if kind == kinds.mjGEOM_ELLIPSOID:
        ball = capsule(1.0, 0.0)
        return ball.with_vertices(ball.vertices * size)
    notes.append(f"A geom of the kind '{kinds(kind).name.removeprefix('mjGEOM_').lower()}' was left out.")
    return None


def _mesh(model: Any, index: int) -> Mesh:
    start, count = int(model.mesh_vertadr[index]), int(model.mesh_vertnum[index])
    face_start, face_count = int(model.mesh_faceadr[index]), int(model.mesh_facenum[index])
    vertices = model.mesh_vert[start : start + count].astype(np.float64)
    faces = model.mesh_face[face_start : face_start + face_count].astype(np.int64)
    uv = None
    if model.mesh_texcoordadr[index] >= 0:
        at = int(model.mesh_texcoordadr[index])
        table = model.mesh_texcoord[at : at + int(model.mesh_texcoordnum[index])].astype(np.float64)
        corners = model.mesh_facetexcoord[face_start : face_start + face_count].astype(np.int64)
        old, faces, code = split_corners(faces, corners, count)
        vertices, uv = vertices[old], table[code] * [1.0, -1.0] + [0.0, 1.0]
    return Mesh(vertices, faces, uv=uv, name=model.mesh(index).name or "mesh")


def _surface(model: Any, geom: int) -> Surface:
    import mujoco

    color, material = model.geom_rgba[geom], int(model.geom_matid[geom])
    if material < 0:
        return colored(color)
    if np.allclose(color, PLAIN):
        color = model.mat_rgba[material]
    surface = colored(color, model.mat(material).name or "surface")
    picture = int(model.mat_texid[material][mujoco.mjtTextureRole.mjTEXROLE_RGB])
    if picture < 0 or model.tex_type[picture] != mujoco.mjtTexture.mjTEXTURE_2D:
        return surface
    height, width, channels = (int(x[picture]) for x in (model.tex_height, model.tex_width, model.tex_nchannel))
    if channels not in (3, 4):
        return surface
    start = int(model.tex_adr[picture])
    pixels = model.tex_data[start : start + height * width * channels].reshape(height, width, channels)
    return replace(surface, texture=Texture.from_pixels(pixels, model.tex(picture).name or "texture"))
