"""Procedural surfaces: seamless, of one scale, within what real materials reflect, and the same for the same name."""

import numpy as np
import pytest
from tests.io.khronos import faults

from neurok.core import Asset
from neurok.geometry.operators import face_normals
from neurok.io import load, save
from neurok.modelling import textures
from neurok.modelling.builder import mesh_of_pieces
from neurok.modelling.shapes import box, cylinder, sphere
from neurok.modelling.surfaces import linear
from neurok.modelling.textures import maps_of, normals_of, pbr, pictures, recipes, tile_of, unwrap, unwrapped

MAPPED = [name for name, recipe in recipes().items() if recipe.maps]


@pytest.mark.parametrize("name", MAPPED)
def test_maps_tile_and_stay_within_what_materials_reflect(name):
    maps, tile = maps_of(name), recipes()[name].tile
    assert maps.reflectance.min() >= 0.0
    assert 0.95 <= maps.reflectance.max() <= 1.0 + 1e-6
    assert maps.roughness.min() >= 0.0
    assert maps.roughness.max() <= 1.0
    normals = normals_of(maps.height, tile)
    assert np.allclose(np.linalg.norm(normals, axis=-1), 1.0, atol=1e-6)
    assert normals[..., 2].min() > 0.0
    for plane in (maps.reflectance.mean(axis=-1), maps.height, maps.roughness):
        for axis in (0, 1):
            steps = np.abs(plane - np.roll(plane, 1, axis=axis)).mean(axis=1 - axis)
            assert steps[0] <= 1.05 * steps[1:].max() + 1e-12


def test_normals_of_a_wave_are_those_of_calculus():
    n, tile, amplitude = textures.SIZE, (0.2, 0.4), 1e-3
    x = (np.arange(n) + 0.5) / n * tile[0]
    height = np.tile(amplitude * np.sin(2 * np.pi * x / tile[0]), (n, 1))
    slope = amplitude * 2 * np.pi / tile[0] * np.cos(2 * np.pi * x / tile[0])
    truth = np.stack([-slope, np.zeros(n), np.ones(n)], axis=-1) / np.sqrt(1 + slope**2)[:, None]
    assert np.abs(normals_of(height, tile) - truth).max() < 1e-4
    upwards = normals_of(np.tile(-height[:1].T, (1, n)), tile)  # rows count from the top, y points up
    assert np.allclose(upwards[:, 0, 1], 0.5 * truth[:, 0], atol=1e-3)  # twice as long a wave


@pytest.mark.parametrize("name", ["oak", "linen", "velvet", "@leather", "@metal", "@ceramic"])
def test_a_surface_has_the_colour_that_was_asked_for(name):
    rgb = (0.4, 0.2, 0.15)
    surface = pbr(name, rgb)
    light = textures_linear(surface.texture.pixels()[..., :3] / 255.0)
    assert np.allclose(light.mean(axis=(0, 1)) * surface.base_color[:3], rgb, rtol=0.03)
    black, white = pbr(name, (0.0, 0.0, 0.0)), pbr(name, (1.0, 1.0, 1.0))
    assert min(black.base_color[:3]) > 0.0
    assert max(white.base_color[:3]) <= 1.0


def textures_linear(srgb):
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def test_the_same_name_gives_the_same_bytes_and_colours_share_pictures():
    first = pictures("oak")[0]
    maps_of.cache_clear()
    pictures.cache_clear()
    assert [one.data for one in pictures("oak")[0]] == [one.data for one in first]
    red, blue = pbr("velvet", (0.5, 0.0, 0.0)), pbr("velvet", (0.0, 0.0, 0.5))
    assert red.finish.lookups == blue.finish.lookups
    assert red.base_color != blue.base_color


def scales(vertices, faces, uv, tile):
    """Singular values of the map from metres on each face to metres in the texture."""
    edges = (vertices[faces[:, 1:]] - vertices[faces[:, :1]]).transpose(0, 2, 1)
    turned = (uv[faces[:, 1:]] - uv[faces[:, :1]]).transpose(0, 2, 1) * np.array(tile)[:, None]
    return np.linalg.svd(turned @ np.linalg.pinv(edges), compute_uv=False)


@pytest.mark.parametrize("size", [0.3, 3.0])
def test_texels_have_one_size_on_every_box(size):
    shape = box((size, 0.5 * size, 0.8 * size))
    for tile in ((0.2, 0.2), (0.3, 1.2)):  # both are projected along the axes: thicker than a board
        old, faces, uv = unwrap(shape.vertices, shape.faces, tile)
        assert np.allclose(scales(shape.vertices[old], faces, uv, tile), 1.0)
    ball = sphere(size)
    old, faces, uv = unwrap(ball.vertices, ball.faces, (0.2, 0.2))
    stretch = scales(ball.vertices[old], faces, uv, (0.2, 0.2))
    assert stretch.max() <= 1.0 + 1e-9
    assert stretch.min() > 0.5  # 1 / sqrt 3 at the corners of the cube, less half a facet


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_grain_runs_along_the_longest_side_and_around_edges(axis):
    size = np.roll([0.02, 0.1, 0.9], axis + 1)
    shape = box(size)
    tile = recipes()["oak"].tile
    old, faces, uv = unwrap(shape.vertices, shape.faces, tile)
    places = shape.vertices[old]
    long = int(np.argmax(size))
    assert np.allclose(uv[:, 1] * tile[1], places[:, long])
    for corner in range(len(shape.vertices)):  # a solid texture: the faces that meet agree
        assert np.ptp(uv[old == corner], axis=0).max() < 1e-12
    broad = np.abs(face_normals(places, faces)[:, int(np.argmin(size))]) > 0.5
    assert np.allclose(scales(places, faces[broad], uv, tile), 1.0)
    light = maps_of("oak").reflectance.mean(axis=-1)
    across, along = (np.abs(np.diff(light, axis=k)).mean() / tile[1 - k] for k in (1, 0))
    assert across > 4.0 * along


def test_vertices_split_at_creases_alone_have_normals():
    oak = pbr("oak", (0.4, 0.3, 0.2))
    plain, round_ = unwrapped(box((1.0, 0.05, 0.3)), oak), unwrapped(cylinder(0.04, 0.5, 48), oak)
    mesh = mesh_of_pieces([(plain, oak, 0), (round_, oak, 1)], ["board", "leg"], "table")
    assert np.allclose(np.linalg.norm(mesh.normals, axis=1), 1.0, atol=1e-6)
    board = mesh.part_ids == 0
    assert board.sum() == 24
    assert np.allclose(np.abs(mesh.normals[board]).max(axis=1), 1.0)
    leg = mesh.vertices[~board]
    side = np.abs(mesh.normals[~board][:, 1]) < 0.5
    outward = leg[side] * (1, 0, 1) / np.linalg.norm(leg[side] * (1, 0, 1), axis=1, keepdims=True)
    assert np.einsum("ij,ij->i", outward, mesh.normals[~board][side]).min() > 0.999


def test_all_extensions_reach_a_file_that_the_khronos_validator_accepts(tmp_path):
    names = ["velvet", "@ceramic", "glass", "oak", "@metal"]
    finishes = [pbr(name, linear((0.6, 0.4, 0.3)), name) for name in names]
    printed = pbr("linen", (0.5, 0.1, 0.1), "print", second=(0.8, 0.8, 0.8), figure="plaid", repeats=2)
    pieces = [(unwrapped(box((0.3, 0.1, 0.2), (k, 0, 0)), one), one, k) for k, one in enumerate([*finishes, printed])]
    mesh = mesh_of_pieces(pieces, [f"part_{k}" for k in range(len(pieces))], "swatches")
    save(Asset(mesh), tmp_path / "x.glb")
    assert faults([tmp_path / "x.glb"]) == {}
    back = {surface.name: surface for surface in load(tmp_path / "x.glb").mesh.surfaces}
    assert back["velvet"].finish.extension("KHR_materials_sheen")["sheenColorFactor"]
    assert back["@ceramic"].finish.extension("KHR_materials_clearcoat")["clearcoatFactor"] == 1.0
    assert back["glass"].finish.transmission == recipes()["glass"].transmission
    assert tile_of(back["oak"]) == recipes()["oak"].tile
    assert set(back["oak"].finish.maps) == {"base_color", "normal", "metallic_roughness", "occlusion"}
