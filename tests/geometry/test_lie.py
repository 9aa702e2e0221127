import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm

from neurok.geometry import lie

angles = st.floats(-7, 7)
vectors = st.tuples(*[st.floats(-5, 5)] * 3).map(np.array)
directions = vectors.filter(lambda v: np.linalg.norm(v) > 1e-2).map(lambda v: v / np.linalg.norm(v))


@settings(max_examples=50, deadline=None)
@given(directions, angles)
def test_rodrigues_is_the_exponential_of_the_cross_product(axis, angle):
    x, y, z = angle * axis
    expected = expm(np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]))
    np.testing.assert_allclose(lie.axis_angle_matrix(axis, angle), expected, atol=1e-10)


@settings(max_examples=30, deadline=None)
@given(directions, vectors, angles, st.floats(-3, 3))
def test_turning_about_a_line_leaves_the_line_where_it_is(axis, origin, angle, along):
    on_line = (origin + along * axis)[None]
    np.testing.assert_allclose(lie.apply(lie.rotation_about(axis, origin, angle), on_line), on_line, atol=1e-9)


def test_a_quarter_turn_about_z_takes_x_to_y():
    turn = lie.rotation_about(np.array([0.0, 0, 1]), np.array([1.0, 0, 0]), np.pi / 2)
    np.testing.assert_allclose(lie.apply(turn, np.array([[2.0, 0, 0]])), [[1.0, 1.0, 0.0]], atol=1e-15)


def test_many_angles_give_many_transforms():
    turns = lie.rotation_about(np.array([0.0, 0, 1]), np.zeros(3), np.linspace(0, 1, 5))
    assert turns.shape == (5, 4, 4)
    assert lie.apply(turns, np.zeros((7, 3))).shape == (5, 7, 3)
    assert lie.translation(np.ones((2, 3))).shape == (2, 4, 4)


@settings(max_examples=50, deadline=None)
@given(directions, angles)
def test_quaternions_and_matrices_say_the_same(axis, angle):
    quaternion = np.array([np.cos(angle / 2), *(np.sin(angle / 2) * axis)])
    matrix = lie.quaternion_to_matrix(3.0 * quaternion)
    np.testing.assert_allclose(matrix, lie.axis_angle_matrix(axis, angle), atol=1e-12)
    back = lie.matrix_to_quaternion(matrix)
    assert back[0] >= 0
    assert abs(abs(back @ quaternion) - 1.0) < 1e-9


@settings(max_examples=30, deadline=None)
@given(directions, vectors, angles, st.integers(0, 99))
def test_a_rigid_fit_recovers_the_motion_whatever_the_weights(axis, origin, angle, seed):
    rng = np.random.default_rng(seed)
    points, weights = rng.normal(size=(8, 3)), rng.uniform(0.1, 1, 8)
    motion = lie.rotation_about(axis, origin, angle)
    fitted = lie.fit_rigid(points, lie.apply(motion, points), weights)
    np.testing.assert_allclose(fitted, motion, atol=1e-8)


def test_a_rigid_fit_never_mirrors():
    points = np.random.default_rng(0).normal(size=(20, 3))
    fitted = lie.fit_rigid(points, points * [-1, 1, 1])
    assert np.linalg.det(fitted[:3, :3]) == pytest.approx(1.0)


def test_flat_points_are_fitted_by_a_rotation_too():
    points = np.random.default_rng(1).normal(size=(10, 3)) * [1, 1, 0]
    motion = lie.rotation_about(np.array([0.0, 1, 0]), np.ones(3), 2.0)
    np.testing.assert_allclose(lie.fit_rigid(points, lie.apply(motion, points)), motion, atol=1e-9)


def test_the_nearest_rotation_of_a_stretched_turn_is_the_turn_and_never_a_mirror():
    turn = lie.axis_angle_matrix(np.array([0.0, 0.6, 0.8]), 1.1)
    found = lie.nearest_rotation(np.stack([turn @ np.diag([3.0, 2.0, 1.0]), turn @ np.diag([3.0, 2.0, -1.0])]))
    np.testing.assert_allclose(found[0], turn, atol=1e-12)
    np.testing.assert_allclose(np.linalg.det(found), 1.0)
