import copy

import numpy as np
import pytest
from scipy.spatial import cKDTree

from neurok.posing.registration import RegistrationConfig, closest_points, register_points


class Slides:
    """Two groups of points, each moved along x by its own coordinate: Y holds the two shifts and the fixed points."""

    steps_per_slopes = 1

    def __init__(self, points: np.ndarray, labels: np.ndarray) -> None:
        self.points, self.asked = points, 0
        self.features = np.concatenate([np.eye(len(points)), np.eye(2)[labels]], axis=1)

    def values(self, q):
        shifts = q[:, :, None] * [1.0, 0.0, 0.0]
        return np.concatenate([np.broadcast_to(self.points, (len(q), *self.points.shape)), shifts], axis=1)

    def shape(self, q):
        self.asked += 1
        slopes = np.zeros((len(q), 2, len(self.points) + 2, 3))
        slopes[:, [0, 1], [-2, -1], 0] = 1.0
        return self.values(q), slopes


@pytest.fixture(scope="module")
def slides() -> Slides:
    rng = np.random.default_rng(0)
    points = rng.random((300, 3)) * [1.0, 0.2, 0.2]
    labels = np.repeat([0, 1], 150)
    return Slides(points + labels[:, None] * [0.0, 0.6, 0.0], labels)


def shape_at(space: Slides, q) -> np.ndarray:
    return space.features @ space.values(np.array([q]))[0]


def test_shifts_are_recovered_from_shuffled_points(slides):
    target = np.random.default_rng(1).permutation(shape_at(slides, [0.07, -0.05]))
    q, distance, _ = register_points(slides, slides.features, target, np.zeros((1, 2)), 1.0)
    np.testing.assert_allclose(q, [0.07, -0.05], atol=1e-3)
    assert distance < 1e-3


def test_starts_that_are_right_for_one_part_each_are_recombined(slides):
    """No start is near in both coordinates, and one Gauss–Newton step is too short to get there."""
    wanted = np.array([5.0, -5.0])
    starts = np.array([[0.0, 0.0], *[[5.0, 20.0 + k] for k in range(6)], *[[20.0 + k, -5.0] for k in range(6)]])
    lazy = RegistrationConfig(iterations=1, prior=0.0, descents=4)
    q, *_ = register_points(slides, slides.features, shape_at(slides, wanted), starts, 1.0, lazy)
    np.testing.assert_allclose(q, wanted, atol=1e-9)
    without = RegistrationConfig(iterations=1, prior=0.0, descents=4, recombinations=0)
    q, *_ = register_points(slides, slides.features, shape_at(slides, wanted), starts, 1.0, without)
    assert np.abs(q - wanted).max() > 1.0


def test_the_truth_is_close_whatever_points_show_it_and_a_part_out_of_place_is_not():
    """Random points of two sheets of paper, one beside the other, and other points of the same two."""
    rng = np.random.default_rng(3)
    sheets = lambda count: (rng.random((count, 3)) * [0.0, 1.0, 1.0], rng.integers(2, size=count))  # noqa: E731
    (points, labels), (others, names) = sheets(900), sheets(4000)
    space = Slides(points + labels[:, None] * [0.0, 1.5, 0.0], labels)
    wanted = np.array([0.1, -0.05])
    target = others + names[:, None] * [0.0, 1.5, 0.0] + wanted[names][:, None] * [1.0, 0.0, 0.0]
    found = register_points(space, space.features, target, np.zeros((1, 2)), 1.0)
    assert found.is_close
    np.testing.assert_allclose(found.q, wanted, atol=0.02)
    held = np.array([[-0.02, 0.02], [-1.0, 1.0]])
    assert not register_points(space, space.features, target, np.zeros((1, 2)), 1.0, None, held).is_close
    scan = RegistrationConfig(forward=0.02)
    assert not register_points(space, space.features, target, np.zeros((1, 2)), 1.0, scan).is_close


def test_few_points_lead_to_the_same_place_as_all(slides):
    target = np.random.default_rng(1).permutation(shape_at(slides, [0.07, -0.05]))
    starts = np.random.default_rng(2).uniform(-0.2, 0.2, (20, 2))
    thorough, quick = (RegistrationConfig(coarse_points=count) for count in (300, 60))
    for config in (thorough, quick):
        q, distance, _ = register_points(slides, slides.features, target, starts, 1.0, config)
        np.testing.assert_allclose(q, [0.07, -0.05], atol=1e-3)
        assert distance < 1e-3


def test_limits_hold(slides):
    limits = np.array([[-0.02, 0.02], [-0.02, 0.02]])
    target = shape_at(slides, [0.07, -0.05])
    q, *_ = register_points(slides, slides.features, target, np.zeros((1, 2)), 1.0, None, limits)
    np.testing.assert_allclose(q, [0.02, -0.02])


def test_steps_that_share_derivatives_which_are_constant_find_the_same(slides):
    lazy = copy.copy(slides)
    slides.asked, lazy.asked, lazy.steps_per_slopes = 0, 0, 3
    target = shape_at(slides, [0.07, -0.05])
    found = [register_points(space, space.features, target, np.zeros((1, 2)), 1.0) for space in (slides, lazy)]
    np.testing.assert_array_equal(found[0].q, found[1].q)
    assert lazy.asked <= slides.asked / 2


def test_the_answer_does_not_depend_on_the_unit(slides):
    target = shape_at(slides, [0.07, -0.05])
    q, distance, _ = register_points(slides, slides.features, target, np.zeros((1, 2)), 1.0)
    large = Slides(8.0 * slides.points, slides.features[:, -2:].argmax(axis=1))
    large.features = np.concatenate([slides.features[:, :-2], 8.0 * slides.features[:, -2:]], axis=1)
    again, larger, _ = register_points(large, large.features, 8.0 * target, np.zeros((1, 2)), 8.0)
    np.testing.assert_allclose(again, q, atol=1e-9)
    assert larger == pytest.approx(8.0 * distance, rel=1e-6, abs=1e-9)


def test_the_chamfer_distance_is_the_mean_of_both_directions():
    x, target = np.array([[0.0, 0, 0], [1.0, 0, 0]]), np.array([[0.0, 0.5, 0]])
    both = closest_points(x, target, cKDTree(target), 1.0, RegistrationConfig())
    assert both.chamfer == pytest.approx(0.5 * ((0.5 + np.hypot(1.0, 0.5)) / 2 + 0.5))
    backward = closest_points(x, target, cKDTree(target), 1.0, RegistrationConfig(forward=0.0))
    assert backward.chamfer == pytest.approx(0.5)
    np.testing.assert_array_equal(backward.weight[1], 0.0)
    np.testing.assert_array_equal(backward.pull[0] > 0, [False, True, False])


def test_an_outlier_weighs_less_than_its_length_suggests():
    """Of many residuals one is a hundred times longer than the others."""
    x = np.arange(100.0)[:, None] * [1.0, 0, 0]
    target = x + [0.0, 0.01, 0.0]
    target[-1] += [0.0, 0.99, 0.0]
    found = closest_points(x, target, cKDTree(target), 1.0, RegistrationConfig())
    assert found.weight[-1] < 1e-3 * found.weight[0]
