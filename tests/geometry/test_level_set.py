"""Meshing of grids: closed, outwards, and where the values are zero."""

import numpy as np
import pytest

from neurok.geometry.level_set import level_set
from neurok.geometry.topology import is_watertight
from neurok.modelling.booleans import to_manifold
from neurok.modelling.shapes import Shape


def sphere(count: int, radius: float = 0.7) -> np.ndarray:
    axis = np.linspace(-1.0, 1.0, count)
    x, y, z = np.meshgrid(axis, axis, axis, indexing="ij")
    return np.sqrt(x**2 + y**2 + z**2) - radius


def test_a_ball_has_its_volume_and_looks_outwards():
    vertices, faces = level_set(sphere(33), -np.ones(3), np.ones(3))
    assert is_watertight(faces)
    assert Shape(vertices, faces).volume == pytest.approx(4 / 3 * np.pi * 0.7**3, rel=0.01)
    np.testing.assert_allclose(np.linalg.norm(vertices, axis=1), 0.7, atol=0.02)


def test_any_values_give_a_closed_solid():
    rng = np.random.default_rng(0)
    for _ in range(5):
        vertices, faces = level_set(rng.normal(size=(7, 8, 9)), -np.ones(3), np.ones(3))
        assert is_watertight(faces)
        assert to_manifold(Shape(vertices, faces)).volume() > 0


def test_a_solid_that_reaches_the_border_is_closed_there():
    vertices, faces = level_set(-np.ones((5, 5, 5)), np.zeros(3), np.ones(3))
    assert is_watertight(faces)
    assert 0.1 < Shape(vertices, faces).volume < 1.0


def test_the_mesh_follows_the_corners_of_the_grid():
    one, faces = level_set(sphere(17), -np.ones(3), np.ones(3))
    other, same = level_set(sphere(17), np.array([0.0, 1.0, 2.0]), np.array([2.0, 2.0, 8.0]))
    np.testing.assert_array_equal(faces, same)
    np.testing.assert_allclose(other, (one + 1.0) * [1.0, 0.5, 3.0] + [0.0, 1.0, 2.0], atol=1e-12)
