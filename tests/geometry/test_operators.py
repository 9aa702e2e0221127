import numpy as np
import pytest
import trimesh

from neurok.geometry import lie
from neurok.geometry.operators import face_areas, face_normals, vertex_areas, vertex_normals

VERTICES = np.array([[0.0, 0, 0], [3, 0, 0], [0, 4, 0], [9, 9, 9]])
FACES = np.array([[0, 1, 2]])


def test_a_right_triangle_has_half_the_area_of_its_rectangle_and_looks_up():
    assert face_areas(VERTICES, FACES) == pytest.approx([6.0])
    np.testing.assert_allclose(face_normals(VERTICES, FACES), [[0, 0, 1]])
    np.testing.assert_allclose(vertex_areas(VERTICES, FACES), [2, 2, 2, 0])


def test_a_face_without_area_has_no_normal_and_a_vertex_without_face_a_fixed_one():
    np.testing.assert_array_equal(face_normals(VERTICES, np.array([[0, 1, 1]])), [[0, 0, 0]])
    np.testing.assert_array_equal(vertex_normals(VERTICES, np.array([[0, 1, 1]])), [[0, 0, 1]] * 4)


def test_a_ball_has_the_area_of_a_sphere_and_radial_normals():
    ball = trimesh.creation.icosphere(4, 2.0)
    vertices, faces = np.array(ball.vertices), np.array(ball.faces)
    assert face_areas(vertices, faces).sum() == pytest.approx(16 * np.pi, rel=0.01)
    assert vertex_areas(vertices, faces).sum() == pytest.approx(face_areas(vertices, faces).sum())
    np.testing.assert_allclose(vertex_normals(vertices, faces), vertices / 2.0, atol=0.01)


def test_normals_turn_with_the_object_and_areas_do_not_change():
    ball = trimesh.creation.icosphere(1)
    vertices, faces = np.array(ball.vertices), np.array(ball.faces)
    turn = lie.rotation_about(np.array([0.6, 0.0, 0.8]), np.ones(3), 1.0)
    moved = lie.apply(turn, vertices)
    np.testing.assert_allclose(face_areas(moved, faces), face_areas(vertices, faces))
    np.testing.assert_allclose(
        vertex_normals(moved, faces), vertex_normals(vertices, faces) @ turn[:3, :3].T, atol=1e-12
    )
