"""What an object is made of, shown: a colour for each material and a legend, or maps that look like the materials."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from neurok.catalogue.appearance import natural_rgb, recipe_of
from neurok.core import Asset, MaterialField, Mesh, Surface
from neurok.core.material_library import library
from neurok.core.mesh import Authored
from neurok.core.select import Region
from neurok.core.surface import to_srgb
from neurok.geometry.operators import find_corners
from neurok.geometry.topology import face_components
from neurok.inference.materials import Proposal, Proposals
from neurok.modelling.surfaces import linear
from neurok.modelling.textures import pbr, tile_of, unwrap

LEGEND = 360
"""Width of the legend [pixels]."""

ROW = 20
"""Height of one of its lines [pixels]."""


def draw_materials(proposals: Proposals, width: int = 960, height: int = 720) -> np.ndarray:
    """The picture as an array of pixels."""
    from PIL import Image, ImageDraw

    from neurok import rendering
    from neurok.rendering.palette import part_color

    field = proposals.field
    picture = rendering.render_mesh(in_colours(proposals.mesh, field), width, height)
    sheet = Image.new("RGB", (width + LEGEND, height), (255, 255, 255))
    sheet.paste(Image.fromarray(np.asarray(picture)[..., :3]), (0, 0))
    pen = ImageDraw.Draw(sheet)
    top = ROW // 2
    for number, material in enumerate(field.materials):
        red, green, blue = (int(255 * value) for value in part_color(number))
        pen.rectangle([width + 8, top + 3, width + 20, top + 15], fill=(red, green, blue))
        figures = f"{material.young:.2g} Pa, {material.density:g} kg/m3"
        pen.text((width + 28, top), f"{material.name}: {figures}", fill=(20, 20, 20))
        top += ROW
        for item in proposals.items:
            if item.material == material and top < height - ROW:
                pen.text((width + 40, top), f"{item.region.name[:36]}  {item.confidence:.2f}", fill=(90, 90, 90))
                top += ROW - 5
    return np.asarray(sheet)


def in_colours(mesh: Mesh, field: MaterialField) -> Mesh:
    """The mesh in colours, one for each material of a field."""
    from neurok.rendering.palette import PLAIN, part_colors

    return replace(mesh, surfaces=(PLAIN,), face_surfaces=None, uv=None, vertex_colors=part_colors(field.ids))


def save_materials_picture(proposals: Proposals, path: Path) -> None:
    """Write the picture."""
    from neurok import rendering

    rendering.save_image(draw_materials(proposals), path)


def paint(asset: Asset, proposals: Proposals) -> Asset:
    """The asset with physically based surfaces of its materials where it has no pictures; faces keep their order.

    Texture coordinates are made for each connected piece at the scale of its material. Colours are kept, unless all
    regions have the same one, which says nothing; then materials have their own.
    """
    mesh = asset.mesh
    given = {item.region.surface and item.region.surface.base_color for item in proposals.items}
    is_coloured = len(given) > 1
    surfaces: list[Surface] = []
    sources, coordinates = [], []
    faces, face_surfaces, start = np.empty_like(mesh.faces), np.empty(mesh.face_count, dtype=np.int64), 0
    for item in proposals.items:
        region, surface = item.region, _surface(item, is_coloured)
        surfaces += [surface] if surface not in surfaces else []
        face_surfaces[region.faces] = surfaces.index(surface)
        tile = tile_of(surface)
        for old, own, uv, chosen in _pieces(mesh, region, None if surface is region.surface else tile):
            faces[chosen] = own + start
            sources.append(old)
            coordinates.append(uv)
            start += len(old)
    source, uv = np.concatenate(sources), np.concatenate(coordinates)
    part_ids = None if mesh.part_ids is None else mesh.part_ids[source]
    corners = find_corners(mesh.vertices[source], faces, part_ids)
    normals = corners.normals(mesh.vertices[source], faces)
    source, uv = source[corners.source], uv[corners.source]
    authored = Authored(mesh.vertices[source], normals)
    looks: dict[str, Any] = {"uv": uv, "surfaces": tuple(surfaces), "face_surfaces": face_surfaces}
    painted = mesh.reindexed(source, corners.faces, authored=authored, **looks)
    field = proposals.field
    values = {name: numbers[source] for name, numbers in field.values.items()}
    clips = tuple(
        replace(
            clip, rest=painted, positions=clip.positions[:, source], skin=clip.skin and clip.skin.at_vertices(source)
        )
        for clip in asset.clips
    )
    return replace(
        asset,
        mesh=painted,
        clips=clips,
        articulation=asset.articulation and replace(asset.articulation, mesh=painted),
        materials=MaterialField(field.materials, field.ids[source], values),
        origin=None,
    )


def _surface(item: Proposal, is_coloured: bool) -> Surface:
    """What a region looks like; one with a picture, or that glows, looks as it does."""
    words = re.findall(r"[a-z]+", item.region.name.lower())
    own, name = item.region.surface, _cover(item.material.name, words)
    if own is not None and (own.texture is not None or any(own.emissive)):
        return own
    natural = own is None or not is_coloured
    rgb = natural_rgb(name) if natural else tuple(to_srgb(np.array(own.base_color[:3])).tolist())  # type: ignore[union-attr]
    opaque = own is not None and own.alpha_mode == "OPAQUE" and is_coloured
    recipe = recipe_of(name, rgb, *words, grain=natural, opaque=opaque)
    return pbr(recipe, linear(rgb), f"{own.name} {name}" if own is not None and own.name else name)


def _cover(name: str, words: list[str]) -> str:
    """The material that is seen: of what is padded, the cloth or leather that the surface is called by."""
    known = library()
    covers = [word for word in words if word in known and known[word].family in ("fabric", "leather")]
    return covers[0] if covers and name in known and known[name].family == "foam" else name


Piece = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def _pieces(mesh: Mesh, region: Region, tile: tuple[float, float] | None) -> list[Piece]:
    """Old vertices, new faces, texture coordinates and numbers of the faces of each connected piece of a region."""
    own = mesh.faces[region.faces]
    if tile is None:
        old, faces = np.unique(own, return_inverse=True)
        uv = np.zeros((len(old), 2)) if mesh.uv is None else mesh.uv[old]
        return [(old, faces.reshape(-1, 3), uv, region.faces)]
    found = []
    number = face_components(mesh.vertices, own)
    for piece in np.split(np.argsort(number, kind="stable"), np.cumsum(np.bincount(number))[:-1]):
        used, local = np.unique(own[piece], return_inverse=True)
        old, faces, uv = unwrap(mesh.vertices[used] * mesh.unit, local.reshape(-1, 3), tile)
        found.append((used[old], faces, uv, region.faces[piece]))
    return found
