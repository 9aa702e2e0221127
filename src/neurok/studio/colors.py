"""Colours of what bends: viser shows a bending node in one colour, so faces are put into groups of like colour."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from jaxtyping import Float, Int

from neurok.core import Mesh, Surface
from neurok.io.surfaces import srgb_from_linear
from neurok.rendering.palette import CLAY, to_linear

Color = tuple[float, float, float]
"""sRGB, 0..1."""

CORNERS = np.array([[4, 1, 1], [1, 4, 1], [1, 1, 4], [2, 2, 2]]) / 6.0
"""Where a texture is looked at within a face, in shares of its corners."""


def by_color(mesh: Mesh, most: int) -> list[tuple[Mesh, Color]]:
    """The same vertices with the faces of one colour each, in so many colours at most."""
    colors = face_colors(mesh)
    labels = _groups(colors, most)
    out = []
    for label in np.unique(labels):
        mine = labels == label
        red, green, blue = colors[mine].mean(axis=0).tolist()
        out.append((replace(mesh, faces=mesh.faces[mine], surfaces=(), face_surfaces=None), (red, green, blue)))
    return out


def mean_color(mesh: Mesh) -> Color:
    """Of all faces, the larger the more."""
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1) + 1e-12 * mesh.size**2
    red, green, blue = np.average(face_colors(mesh), axis=0, weights=area).tolist()
    return red, green, blue


def face_colors(mesh: Mesh) -> Float[np.ndarray, "F 3"]:
    """What each face shows on average: colour of its surface, texture and colours of its vertices."""
    linear = np.ones((mesh.face_count, 3))
    if mesh.vertex_colors is not None:
        linear *= mesh.vertex_colors[mesh.faces, :3].mean(axis=1)
    which: Int[np.ndarray, " F"] = (
        np.zeros(mesh.face_count, dtype=np.int64) if mesh.face_surfaces is None else mesh.face_surfaces
    )
    surfaces = mesh.surfaces or ((CLAY,) if mesh.vertex_colors is None else (Surface(base_color=(1.0,) * 4),))
    for index in np.unique(which):
        mine = which == index
        linear[mine] *= surfaces[index].base_color[:3]
        texture = surfaces[index].texture
        if texture is None or mesh.uv is None or not texture.is_decodable:
            continue
        pixels = texture.pixels()
        height, width = pixels.shape[:2]
        u, v = np.moveaxis(np.einsum("sc,fcd->fsd", CORNERS, mesh.uv[mesh.faces[mine]]), -1, 0)
        column = np.floor(u % 1.0 * width).astype(np.int64).clip(0, width - 1)
        row = np.floor((1.0 - v) % 1.0 * height).astype(np.int64).clip(0, height - 1)
        linear[mine] *= to_linear(pixels[row, column, :3] / 255.0).mean(axis=1)
    opaque = np.concatenate([np.clip(linear, 0.0, 1.0), np.ones((len(linear), 1))], axis=1)
    return np.asarray(srgb_from_linear(opaque)[:, :3])


def _groups(colors: Float[np.ndarray, "F 3"], most: int) -> Int[np.ndarray, " F"]:
    """Like colours have one label."""
    from PIL import Image

    bytes_ = np.round(255 * colors).astype(np.uint8)
    different, labels = np.unique(bytes_, axis=0, return_inverse=True)
    if len(different) <= most:
        return np.asarray(labels).reshape(-1)
    picture = Image.fromarray(bytes_[None])
    return np.asarray(picture.quantize(most, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE))[0].astype(np.int64)
