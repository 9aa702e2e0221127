import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from neurok.geometry.lie import apply, axis_angle_matrix, compose, matrix_to_quaternion
from neurok.learned.deformation import dual
from neurok.learned.deformation.dual import quaternion_product

seeds = st.integers(0, 2**31)


def random_motion(seed: int) -> tuple[np.ndarray, torch.Tensor]:
    """A rigid transform as a matrix and as the dual quaternion (r, t r / 2)."""
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    rotation = axis_angle_matrix(axis / np.linalg.norm(axis), np.asarray(rng.uniform(-3, 3)))
    offset = rng.normal(size=3)
    real = torch.from_numpy(matrix_to_quaternion(rotation))
    shift = torch.tensor([0.0, *offset], dtype=torch.float64)
    return compose(rotation, offset), torch.cat([real, 0.5 * quaternion_product(shift, real)])


@given(seeds)
@settings(deadline=None, max_examples=25)
def test_dual_quaternions_move_points_like_matrices(seed):
    matrix, motion = random_motion(seed)
    points = np.random.default_rng(seed + 1).normal(size=(7, 3))
    moved = dual.move(motion.expand(7, 8), torch.from_numpy(points))
    np.testing.assert_allclose(moved, apply(matrix, points), atol=1e-9)
    np.testing.assert_allclose(dual.rotation(motion), matrix[:3, :3], atol=1e-9)
    np.testing.assert_allclose(dual.shift(motion), matrix[:3, 3], atol=1e-9)


@given(seeds)
@settings(deadline=None, max_examples=25)
def test_composition_and_inverse_are_those_of_matrices(seed):
    (first_matrix, first), (second_matrix, second) = random_motion(seed), random_motion(seed + 1)
    both, product = dual.compose(second, first), second_matrix @ first_matrix
    np.testing.assert_allclose(dual.rotation(both), product[:3, :3], atol=1e-9)
    np.testing.assert_allclose(dual.shift(both), product[:3, 3], atol=1e-9)
    none = dual.compose(dual.inverse(first), first)
    np.testing.assert_allclose(none, np.eye(1, 8)[0], atol=1e-9)


@given(seeds)
@settings(deadline=None, max_examples=25)
def test_any_residual_gives_a_rigid_motion(seed):
    generator = torch.Generator().manual_seed(seed)
    motion = dual.from_residual(torch.randn(5, 8, generator=generator, dtype=torch.float64))
    torch.testing.assert_close(motion[:, :4].norm(dim=1), torch.ones(5, dtype=torch.float64))
    torch.testing.assert_close((motion[:, :4] * motion[:, 4:]).sum(dim=1), torch.zeros(5, dtype=torch.float64))
    turn = dual.rotation(motion)
    torch.testing.assert_close(turn @ turn.mT, torch.eye(3, dtype=torch.float64).expand(5, 3, 3))


def test_a_zero_residual_is_no_motion():
    points = torch.randn(4, 3)
    torch.testing.assert_close(dual.move(dual.from_residual(torch.zeros(4, 8)), points), points)


@given(seeds)
@settings(deadline=None, max_examples=25)
def test_blending_equal_motions_gives_that_motion_whatever_their_signs(seed):
    _, motion = random_motion(seed)
    signs = torch.from_numpy(np.random.default_rng(seed).choice([-1.0, 1.0], size=(1, 6, 1)))
    index = torch.tensor([[[0, 1, 2], [3, 4, 5]]])
    weight = torch.tensor([[[0.2, 0.5, 0.3], [0.6, 0.4, 0.0]]], dtype=torch.float64)
    mixed = dual.blend(signs * motion, index, weight)
    points = torch.randn(1, 2, 3, dtype=torch.float64)
    torch.testing.assert_close(dual.move(mixed, points), dual.move(motion.expand(1, 2, 8), points))


def test_blending_shifts_is_their_mean():
    shifts = torch.randn(1, 3, 3, dtype=torch.float64)
    weight = torch.tensor([[[0.5, 0.2, 0.3]]], dtype=torch.float64)
    mixed = dual.blend(dual.from_shift(shifts), torch.tensor([[[0, 1, 2]]]), weight)
    torch.testing.assert_close(dual.shift(mixed)[0], weight[0] @ shifts[0])


def test_half_way_between_two_turns_about_one_axis_is_half_the_angle():
    quarter = torch.tensor([np.cos(np.pi / 4), 0, 0, np.sin(np.pi / 4), 0, 0, 0, 0])
    none = torch.eye(1, 8, dtype=torch.float64)[0]
    mixed = dual.blend(
        torch.stack([none, quarter])[None], torch.tensor([[[0, 1]]]), torch.full((1, 1, 2), 0.5).double()
    )
    expected = torch.tensor([[[np.sqrt(0.5), np.sqrt(0.5), 0.0]]])
    torch.testing.assert_close(dual.move(mixed, torch.tensor([[[1.0, 0, 0]]]).double()), expected)
