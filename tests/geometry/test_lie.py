import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from neurok.geometry import lie
from neurok.learned.deformation import dual

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


@settings(max_examples=50, deadline=None)
@given(directions, vectors, angles)
def test_turns_and_quaternions_are_those_of_scipy(axis, vector, angle):
    theirs = Rotation.from_rotvec(angle * axis)
    np.testing.assert_allclose(lie.axis_angle_matrix(axis, angle), theirs.as_matrix(), atol=1e-12)
    np.testing.assert_allclose(lie.rotated(vector, axis, np.array(angle)), theirs.apply(vector), atol=1e-12)
    quaternion = lie.matrix_to_quaternion(theirs.as_matrix())
    np.testing.assert_allclose(np.abs(quaternion), np.abs(theirs.as_quat(scalar_first=True)), atol=1e-12)
    np.testing.assert_allclose(lie.quaternion_to_matrix(quaternion), theirs.as_matrix(), atol=1e-12)
    np.testing.assert_allclose(lie.rotation_vector(theirs.as_matrix()), theirs.as_rotvec(), atol=1e-7)


@settings(max_examples=50, deadline=None)
@given(vectors, vectors)
def test_a_skew_matrix_crosses(a, b):
    np.testing.assert_allclose(lie.skew(np.stack([a, b])) @ b, [np.cross(a, b), np.zeros(3)], atol=1e-14)


@settings(max_examples=50, deadline=None)
@given(directions, vectors, angles, vectors)
def test_an_inverse_undoes_a_motion(axis, origin, angle, place):
    motion = lie.translation(place) @ lie.rotation_about(axis, origin, angle)
    np.testing.assert_allclose(lie.inverse(motion), np.linalg.inv(motion), atol=1e-12)
    moved = lie.apply(motion, place[None])
    np.testing.assert_allclose(lie.apply_each(motion, place), moved[0], atol=1e-12)
    np.testing.assert_allclose(lie.seen_from(motion, moved), place[None], atol=1e-11)
    bent = motion + 1e-6 * np.pad(np.ones((3, 3)), (0, 1))
    turn = lie.tidy(bent)[:3, :3]
    np.testing.assert_allclose(turn @ turn.T, np.eye(3), atol=1e-10)


@settings(max_examples=50, deadline=None)
@given(directions)
def test_two_directions_across_an_axis_make_a_right_handed_frame(axis):
    frame = np.stack([axis, *lie.across(axis)], axis=1)
    np.testing.assert_allclose(frame.T @ frame, np.eye(3), atol=1e-12)
    assert np.linalg.det(frame) == pytest.approx(1.0)
    batch = lie.across(np.stack([axis, -axis]))
    np.testing.assert_allclose(batch[0][0], frame[:, 1])


@settings(max_examples=50, deadline=None)
@given(directions, vectors, angles)
def test_curves_are_the_exponentials_of_their_generators_and_nothing_at_zero(axis, origin, q):
    generators = np.stack([lie.turn_generator(axis, origin), lie.slide_generator(axis), np.zeros((4, 4))])
    curves = lie.joint_curves(generators).reshape(3, 4, 4, 4)
    at = lambda q: np.einsum("k,jkab->jab", [1.0, np.sin(q), np.cos(q), q], curves)  # noqa: E731
    np.testing.assert_allclose(at(q), [expm(q * generator) for generator in generators], atol=1e-9)
    np.testing.assert_allclose(at(q)[0], lie.rotation_about(axis, origin, q), atol=1e-12)
    np.testing.assert_array_equal(at(0.0), np.broadcast_to(np.eye(4), (3, 4, 4)))


@settings(max_examples=30, deadline=None)
@given(directions, vectors, vectors, st.floats(-2, 2))
def test_a_commutator_is_the_rate_of_a_screw_that_is_carried_along(axis, origin, direction, q):
    velocity, screw, step = lie.turn_generator(axis, origin), lie.slide_generator(direction), 1e-5
    carried = [lie.rotation_about(axis, origin, q + s * step) for s in (-1, 0, 1)]
    before, now, after = (motion @ screw @ lie.inverse(motion) for motion in carried)
    np.testing.assert_allclose(lie.commutator(velocity, now), (after - before) / (2 * step), atol=1e-7)
    np.testing.assert_allclose(lie.screw_twists(velocity), [*axis, *np.cross(origin, axis)], atol=1e-12)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-2, 2), min_size=4, max_size=4).map(np.array).filter(lambda q: np.linalg.norm(q) > 1e-2))
def test_quaternions_in_torch_are_those_of_arrays(q):
    own = torch.from_numpy(q)
    np.testing.assert_allclose(dual.quaternion_to_matrix(own), lie.quaternion_to_matrix(q), atol=1e-12)
    twice = dual.quaternion_product(own, own)
    turn = lie.quaternion_to_matrix(q)
    np.testing.assert_allclose(dual.quaternion_to_matrix(twice), turn @ turn, atol=1e-12)


def test_half_of_the_way_between_two_rotations_is_half_of_the_turn():
    axis, ends = np.array([0.6, 0.0, 0.8]), lie.matrix_to_quaternion
    start, end = (ends(lie.axis_angle_matrix(axis, angle))[None] for angle in (0.4, 1.6))
    middle = lie.slerp(start, -end, np.array([[0.5]]))
    np.testing.assert_allclose(lie.quaternion_to_matrix(middle[0]), lie.axis_angle_matrix(axis, 1.0), atol=1e-12)
