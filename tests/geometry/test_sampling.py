import numpy as np
import pytest

from neurok.errors import NeurokError
from neurok.geometry.sampling import farthest_points, sample_evenly, sample_surface

SQUARE = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [4, 0, 0], [4, 1, 0]])
FACES = np.array([[0, 1, 2], [0, 2, 3], [1, 4, 5], [1, 5, 2]])


def test_samples_are_uniform_by_area():
    samples = sample_surface(SQUARE, FACES, 4000, np.random.default_rng(0))
    points = samples.interpolate(SQUARE)
    # A 4 x 1 rectangle: mean (2, 0.5), variance of a uniform law side^2 / 12.
    np.testing.assert_allclose(points.mean(axis=0), [2.0, 0.5, 0.0], atol=0.05)
    np.testing.assert_allclose(points.var(axis=0), [16 / 12, 1 / 12, 0.0], atol=0.05)
    np.testing.assert_allclose(np.bincount(samples.face_ids) / 4000, [0.125, 0.125, 0.375, 0.375], atol=2e-3)


def test_samples_lie_on_their_faces_and_follow_them():
    samples = sample_surface(SQUARE, FACES, 100, np.random.default_rng(1))
    assert samples.barycentric.min() >= 0
    np.testing.assert_allclose(samples.barycentric.sum(axis=1), 1.0)
    np.testing.assert_array_equal(samples.faces, FACES[samples.face_ids])
    frames = np.stack([SQUARE, 2.0 * SQUARE + 1.0])
    moved = samples.interpolate(frames)
    np.testing.assert_allclose(moved[1], 2.0 * moved[0] + 1.0)


def test_the_same_seed_gives_the_same_samples():
    first, second = (sample_evenly(SQUARE, FACES, 50, np.random.default_rng(7)) for _ in range(2))
    np.testing.assert_array_equal(first.barycentric, second.barycentric)


def test_even_samples_keep_their_distance():
    samples = sample_evenly(SQUARE, FACES, 64, np.random.default_rng(2))
    points = samples.interpolate(SQUARE)
    gaps = np.linalg.norm(points[:, None] - points[None], axis=2) + 9 * np.eye(64)
    assert gaps.min() > 0.5 * np.sqrt(4.0 / 64)


def test_farthest_points_of_a_line_are_its_ends_then_its_middle():
    line = np.linspace(0, 1, 101)[:, None] * np.ones(3)
    assert farthest_points(line, 3).tolist() == [0, 100, 50]


def test_each_point_is_chosen_once_even_among_coincident_ones():
    assert sorted(farthest_points(np.zeros((5, 3)), 5).tolist()) == [0, 1, 2, 3, 4]


def test_impossible_requests_are_refused():
    with pytest.raises(NeurokError, match="farthest"):
        farthest_points(np.zeros((2, 3)), 3)
    with pytest.raises(NeurokError, match="area"):
        sample_surface(np.zeros((3, 3)), np.array([[0, 1, 2]]), 5, np.random.default_rng(0))
