import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

from neurok.errors import ShapeError
from neurok.geometry import lie
from neurok.geometry.transfer import Transfer


def ball(detail):
    sphere = trimesh.creation.icosphere(detail, 1.0)
    return np.array(sphere.vertices), np.array(sphere.faces)


def patch(count):
    """A flat square of ``count`` x ``count`` cells."""
    x, y = np.meshgrid(np.linspace(0, 1, count + 1), np.linspace(0, 1, count + 1), indexing="ij")
    vertices = np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], axis=1)
    corner = (np.arange(count)[:, None] * (count + 1) + np.arange(count)).ravel()
    a, b, c, d = corner, corner + count + 1, corner + count + 2, corner + 1
    return vertices, np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])


COARSE, COARSE_FACES = ball(2)
FINE = np.concatenate([ball(3)[0] * 1.05, [[3.0, 0, 0], [0.1, 0, 0]]])
TRANSFER = Transfer.between(COARSE, COARSE_FACES, FINE)


def test_rest_maps_to_rest():
    np.testing.assert_allclose(TRANSFER(COARSE), FINE, atol=1e-14)


@settings(max_examples=30, deadline=None)
@given(st.tuples(*[st.floats(-1, 1)] * 3), st.floats(-6, 6), st.tuples(*[st.floats(-50, 50)] * 3))
def test_every_rigid_motion_passes_through_exactly(axis, angle, offset):
    length = np.linalg.norm(axis)
    unit = np.array(axis) / length if length > 1e-3 else np.array([0.0, 0.0, 1.0])
    motion = lie.translation(np.array(offset)) @ lie.rotation_about(unit, np.zeros(3), angle)
    np.testing.assert_allclose(TRANSFER(lie.apply(motion, COARSE)), lie.apply(motion, FINE), atol=1e-10)


def test_points_of_a_flat_sheet_follow_stretching_and_shearing_in_its_plane():
    vertices, faces = patch(4)
    points = np.random.default_rng(0).uniform(0, 1, (50, 3)) * [1, 1, 0]
    affine = np.array([[1.5, 0.3, 0], [0, 0.8, 0], [0, 0, 1.0]])
    moved = Transfer.between(vertices, faces, points)(vertices @ affine.T)
    np.testing.assert_allclose(moved, points @ affine.T, atol=0.02)


def test_bending_is_of_higher_order_than_linear_interpolation():
    bend = lambda p: np.stack([np.sin(p[:, 0]), p[:, 1], 1 - np.cos(p[:, 0])], axis=1)  # noqa: E731
    points = np.random.default_rng(1).uniform(0.25, 0.75, (400, 3)) * [1, 1, 0]
    errors = []
    for count in (8, 16):
        vertices, faces = patch(count)
        transfer = Transfer.between(vertices, faces, points)
        moved, straight = transfer(bend(vertices)), transfer.interpolate(bend(vertices))
        errors.append([np.linalg.norm(x - bend(points), axis=1).max() for x in (moved, straight)])
    assert errors[0][0] < 0.2 * errors[0][1]
    assert errors[1][0] < 0.3 * errors[0][0]


def test_groups_keep_touching_pieces_apart():
    vertices, faces = patch(1)
    both, all_faces = np.concatenate([vertices, vertices]), np.concatenate([faces, faces + 4])
    transfer = Transfer.between(both, all_faces, both, np.repeat([0, 1], 2), np.repeat([0, 1], 4))
    lifted = both + np.repeat([0.0, 1.0], 4)[:, None] * [0, 0, 1]
    np.testing.assert_allclose(transfer(lifted), lifted, atol=1e-14)


def test_frames_pass_through_and_wrong_shapes_are_refused():
    frames = np.stack([COARSE, COARSE + 1.0])
    assert TRANSFER(frames).shape == (2, len(FINE), 3)
    assert TRANSFER(frames[:0]).shape == (0, len(FINE), 3)
    with pytest.raises(ShapeError, match="source has"):
        TRANSFER(COARSE[:5])


def test_a_collapsed_surface_gives_finite_positions():
    assert np.isfinite(TRANSFER(np.zeros_like(COARSE))).all()
