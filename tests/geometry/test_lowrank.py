"""Motion in few shapes keeps its promise: the largest error, not the mean."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurok.io.gltf_motion import factorise_motion


def largest(displacements: np.ndarray, weights: np.ndarray, shapes: np.ndarray) -> float:
    copy = np.tensordot(weights.astype(np.float64), shapes.astype(np.float64), axes=1)
    return float(np.linalg.norm(displacements - copy, axis=-1).max())


@pytest.mark.parametrize("rank", [1, 2, 5])
def test_a_motion_made_of_few_shapes_needs_just_as_many(rank):
    generator = np.random.default_rng(rank)
    motion = np.tensordot(generator.normal(size=(30, rank)), generator.normal(size=(rank, 50, 3)), axes=1)
    weights, shapes = factorise_motion(motion, 1e-4)
    assert weights.shape == (30, rank)
    assert largest(motion, weights, shapes) <= 1e-4
    np.testing.assert_allclose(np.abs(weights).max(axis=0), 1.0, rtol=1e-6)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 25), st.integers(1, 12), st.floats(1e-3, 1.0))
def test_no_vertex_is_ever_farther_off_than_allowed_and_one_shape_fewer_is_too_few(seed, frames, vertices, tolerance):
    motion = np.random.default_rng(seed).normal(size=(frames, vertices, 3))
    weights, shapes = factorise_motion(motion, tolerance)
    assert largest(motion, weights, shapes) <= tolerance
    if len(shapes):
        assert largest(motion, weights[:, :-1], shapes[:-1]) > tolerance * (1 - 1e-5)


def test_stillness_needs_no_shape():
    weights, shapes = factorise_motion(np.zeros((4, 5, 3)), 1e-6)
    assert weights.shape == (4, 0)
    assert shapes.shape == (0, 5, 3)


def test_more_frames_than_coordinates_are_no_problem():
    motion = np.random.default_rng(0).normal(size=(200, 2, 3))
    weights, shapes = factorise_motion(motion, 1e-5)
    assert len(shapes) <= 6
    assert largest(motion, weights, shapes) <= 1e-5
