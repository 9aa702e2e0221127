"""Maps of a material change the picture where, and only where, they say something."""

import numpy as np
import pytest

from neurok.core import Authored, Finish, Lookup, Mesh, Surface, Texture
from neurok.rendering.camera import Camera
from neurok.rendering.files import render_mesh

FRONT = Camera(0.0, 0.0)
SQUARE = np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
FACES = np.array([[0, 1, 2], [0, 2, 3]])
UV = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])


def halves(left: tuple[int, ...], right: tuple[int, ...]) -> Lookup:
    pixels = np.zeros((16, 16, len(left)), np.uint8)
    pixels[:, :8], pixels[:, 8:] = left, right
    return Lookup(Texture.from_pixels(pixels), (33071, 33071))


def sides(record: dict, *lookups: Lookup, authored: Authored | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Mean colours of the left and right half of a square with that material."""
    base = {"pbrMetallicRoughness": {"metallicFactor": 0.0, "roughnessFactor": 0.8}} | record
    surface = Surface.of("square", Finish.of(base, lookups))
    mesh = Mesh(SQUARE, FACES, uv=UV, surfaces=(surface,), authored=authored)
    picture = render_mesh(mesh, 96, 96, camera=FRONT, ground=False, background=(0.0, 0.0, 0.0)).astype(float)
    return picture[30:66, 24:42].mean(axis=(0, 1)), picture[30:66, 54:72].mean(axis=(0, 1))


def test_a_picture_says_where_it_glows():
    dark = {"pbrMetallicRoughness": {"baseColorFactor": [0.0, 0.0, 0.0, 1.0]}}
    record = dark | {"emissiveFactor": [1.0, 0.0, 0.0], "emissiveTexture": {"index": 0}}
    left, right = sides(record, halves((0, 0, 0), (255, 255, 255)))
    assert right[0] > left[0] + 80
    assert right[0] > right[1] + 80


def test_a_normal_map_tilts_the_light():
    grey = {"pbrMetallicRoughness": {"baseColorFactor": [0.3, 0.3, 0.3, 1.0], "metallicFactor": 0.0}}
    left, right = sides(grey | {"normalTexture": {"index": 0}}, halves((128, 128, 255), (230, 128, 170)))
    flat_left, flat_right = sides(grey)
    assert np.abs(left - flat_left).max() < 4
    assert np.abs(right - flat_right).max() > 12


def test_a_picture_gives_metal_and_roughness():
    record = {"pbrMetallicRoughness": {"metallicRoughnessTexture": {"index": 0}}}
    left, right = sides(record, halves((0, 255, 0), (0, 40, 255)))
    assert np.abs(left - right).max() > 12


def test_occlusion_darkens():
    left, right = sides({"occlusionTexture": {"index": 0}}, halves((255, 255, 255), (0, 0, 0)))
    assert left.mean() > right.mean() + 10


@pytest.mark.parametrize(("cutoff", "is_seen"), [(0.2, True), (0.8, False)])
def test_the_cutoff_of_a_mask_is_the_materials_own(cutoff, is_seen):
    record = {
        "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}, "metallicFactor": 0.0},
        "alphaMode": "MASK",
        "alphaCutoff": cutoff,
    }
    left, right = sides(record, halves((255, 255, 255, 255), (255, 255, 255, 128)))
    assert left.mean() > 60
    assert (right.mean() > 60) == is_seen


def test_an_unlit_surface_has_its_own_colour():
    record = {
        "pbrMetallicRoughness": {"baseColorFactor": [1.0, 0.0, 0.0, 1.0]},
        "extensions": {"KHR_materials_unlit": {}},
    }
    left, _ = sides(record)
    np.testing.assert_allclose(left, [255, 0, 0], atol=3)


def test_a_picture_on_the_second_coordinates_is_looked_up_there():
    top_left = np.column_stack([UV[:, 0], 1.0 - UV[:, 1]])
    swapped = np.column_stack([1.0 - top_left[:, 0], top_left[:, 1]])
    dark = {"pbrMetallicRoughness": {"baseColorFactor": [0.0, 0.0, 0.0, 1.0]}, "emissiveFactor": [1.0, 1.0, 1.0]}
    picture = halves((0, 0, 0), (255, 255, 255))
    authored = Authored(None, uv_sets=(top_left, swapped))
    left, right = sides(dark | {"emissiveTexture": {"index": 0}}, picture, authored=authored)
    assert right[0] > left[0] + 80
    left, right = sides(dark | {"emissiveTexture": {"index": 0, "texCoord": 1}}, picture, authored=authored)
    assert left[0] > right[0] + 80


def test_normals_of_the_file_are_drawn_and_turn_with_the_faces():
    tilted = np.tile([0.6, 0.0, 0.8], (4, 1))
    plain, _ = sides({})
    given, _ = sides({}, authored=Authored(SQUARE, tilted))
    assert np.abs(plain - given).max() > 5


def test_dark_glass_lets_less_light_through():
    glass = {"KHR_materials_transmission": {"transmissionFactor": 1.0}}
    shades = []
    for grey in (0.01, 0.3, 1.0):
        record = {"pbrMetallicRoughness": {"baseColorFactor": [grey] * 3 + [1.0], "metallicFactor": 0.0}}
        surface = Surface.of("pane", Finish.of(record | {"extensions": glass}, ()))
        mesh = Mesh(SQUARE, FACES, uv=UV, surfaces=(surface,))
        picture = render_mesh(mesh, 96, 96, camera=FRONT, ground=False, background=(1.0, 1.0, 1.0))
        shades.append(picture[30:66, 24:72].astype(float).mean())
    assert shades[0] < 100 < shades[1] + 40 < shades[2]


def test_a_clear_coat_lies_smoothly_over_a_bumpy_ground():
    black = {"pbrMetallicRoughness": {"baseColorFactor": [0.0, 0.0, 0.0, 1.0], "metallicFactor": 0.0}}
    coat = {"KHR_materials_clearcoat": {"clearcoatFactor": 1.0}, "KHR_materials_specular": {"specularFactor": 0.0}}
    left, right = sides(
        black | {"normalTexture": {"index": 0}, "extensions": coat}, halves((128, 128, 255), (230, 128, 170))
    )
    bare, _ = sides(black | {"extensions": {"KHR_materials_specular": {"specularFactor": 0.0}}})
    assert left.mean() > bare.mean() + 10
    assert np.abs(left - right).max() < 6


def test_velvet_shines_by_its_sheen_and_more_so_where_it_is_rough():
    black = {"pbrMetallicRoughness": {"baseColorFactor": [0.0, 0.0, 0.0, 1.0], "metallicFactor": 0.0}}
    shades = []
    for rough in (0.2, 0.6, 1.0):
        sheen = {"sheenColorFactor": [0.0, 0.0, 1.0], "sheenRoughnessFactor": rough}
        shades.append(sides(black | {"extensions": {"KHR_materials_sheen": sheen}})[0])
    assert shades[0][2] + 10 < shades[1][2] < shades[2][2] - 10
    assert shades[2][2] > shades[2][0] + 30
