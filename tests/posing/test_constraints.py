import numpy as np
import pytest

from neurok.geometry.lie import axis_angle_matrix
from neurok.posing.components import HandleContact
from neurok.posing.constraints import (
    ConstraintConfig,
    HandleFrames,
    PointConstraints,
    anchor_constraints,
    contact_constraints,
    overlap_constraints,
)

CONFIG = ConstraintConfig()


def frames_of(*shifts) -> HandleFrames:
    """Handles that are shifted alone, each turned about its own place."""
    count = len(shifts)
    return HandleFrames(np.tile(np.eye(3), (count, 1, 1)), np.array(shifts, dtype=float), np.zeros((count, 3)))


def test_a_twist_turns_a_handle_about_its_centre():
    rotation = axis_angle_matrix(np.array([0.0, 0.0, 1.0]), 0.3)
    points, weights = np.array([[1.0, 0, 0], [3.0, 0, 0]]), np.ones((2, 1))
    start = HandleFrames.about_centroids(points, weights, rotation[None], np.array([[0.0, 1.0, 0.0]]))
    np.testing.assert_allclose(start.rest_centers, [[2.0, 0.0, 0.0]], atol=1e-12)
    turned = start.stepped(np.array([[0.0, 0.0, np.pi / 2, 0.0, 0.0, 0.0]]))
    np.testing.assert_allclose(turned.centers, start.centers, atol=1e-12)
    np.testing.assert_allclose(turned.moved(np.zeros(1, dtype=int), np.array([[2.0, 0, 0]])), start.centers)
    expected = axis_angle_matrix(np.array([0.0, 0.0, 1.0]), 0.3 + np.pi / 2)
    np.testing.assert_allclose(turned.rotations[0], expected, atol=1e-12)


def test_blending_one_handle_is_moving_by_it():
    rotation = axis_angle_matrix(np.array([0.0, 1.0, 0.0]), 0.7)
    frames = HandleFrames(np.stack([np.eye(3), rotation]), np.array([[0.0, 0, 0], [1.0, 2, 3]]), np.zeros((2, 3)))
    points = np.random.default_rng(0).random((5, 3))
    weights = np.eye(2)[[0, 1, 1, 0, 1]]
    np.testing.assert_allclose(
        frames.blended(points, weights), frames.moved(weights.argmax(axis=1), points), atol=1e-12
    )


def test_anchors_hold_each_handle_by_six_points_with_its_share_of_the_surface():
    points = np.concatenate([np.random.default_rng(0).normal(size=(75, 3)), np.full((25, 3), 9.0)])
    weights = np.repeat(np.eye(2), [75, 25], axis=0)
    start = HandleFrames.about_centroids(points, weights, np.tile(np.eye(3), (2, 1, 1)), np.zeros((2, 3)))
    found = anchor_constraints(points, weights, start, CONFIG)
    assert (found.second == -1).all()
    np.testing.assert_allclose(np.bincount(found.first, found.weight), [0.75, 0.25])
    np.testing.assert_allclose(found.points[6:].mean(axis=0), [9.0, 9.0, 9.0])
    np.testing.assert_array_equal(found.offsets(start), found.points)


def test_handles_that_blend_are_held_together_and_others_are_not():
    points = np.linspace(0.0, 1.0, 101)[:, None] * [1.0, 0.0, 0.0]
    share = np.clip(points[:, :1] * 4 - 1.5, 0.0, 1.0)
    weights = np.concatenate([1 - share, share, np.zeros_like(share)], axis=1)
    found = overlap_constraints(points, weights, CONFIG)
    assert set(zip(found.first.tolist(), found.second.tolist(), strict=True)) == {(0, 1)}
    np.testing.assert_allclose(found.points.mean(axis=0), [0.5, 0.0, 0.0], atol=1e-9)
    assert found.weight.sum() == pytest.approx(CONFIG.overlap * (weights[:, 0] @ weights[:, 1]) / 101)


def test_a_common_motion_leaves_offsets_between_handles_and_a_parting_does_not():
    pair = PointConstraints(np.array([[0.2, 0.3, 0.4]]), np.array([0]), np.array([1]), np.ones(1))
    np.testing.assert_allclose(pair.offsets(frames_of([1.0, 2, 3], [1.0, 2, 3])), 0.0, atol=1e-15)
    np.testing.assert_allclose(pair.offsets(frames_of([1.0, 2, 3], [1.0, 2, 0])), [[0.0, 0.0, 3.0]], atol=1e-15)


@pytest.mark.parametrize(("shift", "kept"), [(0.02, 1), (0.04, 0)])
def test_handles_that_touch_are_held_together_unless_the_pose_parts_them(shift, kept):
    contacts = (HandleContact(0, 1, np.zeros(3), 0.25),)
    apart = np.eye(2)[[0, 0, 1, 1]]
    found = contact_constraints(contacts, apart, frames_of([0.0, 0, 0], [shift, 0, 0]), 1.0, CONFIG)
    assert len(found.points) == kept
    np.testing.assert_allclose(found.weight, [0.25 * CONFIG.contact] * kept)
    again = contact_constraints(contacts, apart, frames_of([0.0, 0, 0], [7 * shift, 0, 0]), 7.0, CONFIG)
    assert len(again.points) == kept


def test_handles_that_blend_are_not_held_twice():
    contacts, blending = (HandleContact(0, 1, np.zeros(3), 0.25),), np.full((4, 2), 0.5)
    assert not len(contact_constraints(contacts, blending, frames_of([0.0, 0, 0], [0.0, 0, 0]), 1.0, CONFIG).points)


def test_joining_keeps_all_constraints_in_order():
    one = PointConstraints(np.zeros((1, 3)), np.array([0]), np.array([1]), np.array([0.5]))
    two = PointConstraints(np.ones((2, 3)), np.array([2, 3]), np.array([-1, -1]), np.array([0.1, 0.2]))
    both = PointConstraints.joined([one, two])
    np.testing.assert_array_equal(both.first, [0, 2, 3])
    np.testing.assert_array_equal(both.weight, [0.5, 0.1, 0.2])
