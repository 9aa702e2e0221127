"""Colours of what bends, from surfaces, textures and vertices."""

from dataclasses import replace

import numpy as np
import pytest

from neurok.core import Mesh, Surface, Texture
from neurok.studio.motion import by_color, face_colors, mean_color

SQUARES = 8


@pytest.fixture
def strip():
    """Squares in a row, whose texture is a step from black to white through as many greys."""
    x = np.repeat(np.arange(SQUARES + 1.0), 2)
    vertices = np.stack([x, np.tile([0.0, 1.0], SQUARES + 1), np.zeros_like(x)], axis=1)
    first = 2 * np.arange(SQUARES)[:, None]
    faces = np.concatenate([first + [0, 2, 1], first + [1, 2, 3]])
    greys = np.linspace(0, 255, SQUARES).round().astype(np.uint8)
    pixels = np.repeat(np.repeat(greys[None, :, None], 3, axis=2), 4, axis=0)
    uv = np.stack([x / SQUARES, vertices[:, 1]], axis=1)
    look = Surface("greys", base_color=(1.0, 1.0, 1.0, 1.0), texture=Texture.from_pixels(pixels))
    return Mesh(vertices, faces, uv=uv, surfaces=(look,)), np.tile(greys / 255.0, 2)


def test_each_face_has_the_colour_of_the_texture_under_it(strip):
    mesh, greys = strip
    np.testing.assert_allclose(face_colors(mesh), np.repeat(greys[:, None], 3, axis=1), atol=1e-6)


def test_the_top_row_of_a_picture_is_at_the_top(strip):
    mesh, _ = strip
    pixels = np.zeros((2, 2, 3), dtype=np.uint8)
    pixels[0] = (255, 0, 0)
    upper = replace(mesh.surfaces[0], texture=Texture.from_pixels(pixels))
    high = replace(mesh, surfaces=(upper,), uv=mesh.uv * [1.0, 0.2] + [0.0, 0.7])
    np.testing.assert_allclose(face_colors(high), np.tile([1.0, 0.0, 0.0], (mesh.face_count, 1)), atol=1e-6)


def test_surface_texture_and_vertices_multiply_in_linear_light(strip):
    mesh, _ = strip
    white = Texture.from_pixels(np.full((2, 2, 3), 255, dtype=np.uint8))
    half = replace(mesh.surfaces[0], base_color=(0.5, 0.5, 0.5, 1.0), texture=white)
    shaded = replace(mesh, surfaces=(half,), vertex_colors=np.tile([0.5, 0.5, 0.5, 1.0], (mesh.vertex_count, 1)))
    expected = 1.055 * 0.25 ** (1 / 2.4) - 0.055
    np.testing.assert_allclose(face_colors(shaded), expected, atol=1e-6)


@pytest.mark.parametrize("most", [3, SQUARES])
def test_every_face_is_in_one_group_whose_colour_is_near_its_own(strip, most):
    mesh, greys = strip
    groups = by_color(mesh, most)
    assert len(groups) <= most
    found = np.concatenate([group.faces for group, _ in groups])
    assert sorted(map(tuple, found)) == sorted(map(tuple, mesh.faces))
    own = {tuple(face): grey for face, grey in zip(mesh.faces.tolist(), greys, strict=True)}
    off = [abs(own[tuple(face)] - color[0]) for group, color in groups for face in group.faces.tolist()]
    assert max(off) <= (1e-6 if most == SQUARES else 0.5 / 2)


def test_the_mean_counts_faces_by_their_size(strip):
    mesh, greys = strip
    np.testing.assert_allclose(mean_color(mesh), greys.mean(), atol=1e-6)
    wide = mesh.vertices.copy()
    wide[-2:, 0] += SQUARES  # the white square is as large as nine
    areas = np.tile([*np.ones(SQUARES - 1), SQUARES + 1.0], 2)
    np.testing.assert_allclose(mean_color(mesh.with_vertices(wide)), np.average(greys, weights=areas), atol=1e-6)
