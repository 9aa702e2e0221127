import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from neurok.geometry import lie_torch
from neurok.geometry.twists import Exponential, common_twist, exponential, logarithm
from neurok.kinematics.screws import leading, parted


def generator(twist: np.ndarray) -> np.ndarray:
    out = np.zeros((4, 4))
    out[:3, :3] = np.cross(twist[:3], np.eye(3)).T
    out[:3, 3] = twist[3:]
    return out


twist_of = st.lists(st.floats(-3.0, 3.0, allow_subnormal=False), min_size=6, max_size=6).map(np.array)


@settings(max_examples=60, deadline=None)
@given(twist_of)
def test_it_is_the_matrix_exponential(twist):
    turns, shifts = exponential(twist)[:2]
    whole = torch.linalg.matrix_exp(torch.from_numpy(generator(twist))).numpy()
    np.testing.assert_allclose(turns, whole[:3, :3], atol=1e-9)
    np.testing.assert_allclose(shifts, whole[:3, 3], atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(twist_of)
def test_networks_and_arrays_agree(twist):
    turns, shifts = lie_torch.exponential(torch.from_numpy(twist))
    np.testing.assert_allclose(turns, exponential(twist)[0], atol=1e-7)
    np.testing.assert_allclose(shifts, exponential(twist)[1], atol=1e-7)


@settings(max_examples=60, deadline=None)
@given(twist_of.filter(lambda t: np.linalg.norm(t[:3]) < 3.1))
def test_the_logarithm_goes_back(twist):
    turns, shifts = exponential(twist)[:2]
    np.testing.assert_allclose(logarithm(turns, shifts), twist, atol=1e-6)
    back = lie_torch.logarithm(torch.from_numpy(turns), torch.from_numpy(shifts))
    np.testing.assert_allclose(back, twist, atol=1e-5)


def test_a_half_turn_has_a_logarithm():
    for axis in np.eye(3):
        turn = 2 * np.outer(axis, axis) - np.eye(3)
        found = lie_torch.rotation_vector(torch.from_numpy(turn)).numpy()
        np.testing.assert_allclose(np.abs(found), np.pi * axis, atol=1e-6)


@settings(max_examples=20, deadline=None)
@given(twist_of, twist_of)
def test_jacobians_and_their_rates_agree_with_finite_differences(twist, rate):
    step = 1e-5
    here, ahead, behind = (Exponential((twist + s * step * rate)[:, None]) for s in (0, 1, -1))
    jacobian, jacobian_rate = (matrix[..., 0] for matrix in here.jacobians(rate[:, None]))
    whole = lambda motion: np.block([[motion.turns[..., 0], motion.shifts], [np.zeros(3), 1.0]])  # noqa: E731
    moving = generator(jacobian @ rate) @ whole(here)
    np.testing.assert_allclose(moving, (whole(ahead) - whole(behind)) / (2 * step), atol=1e-6)
    np.testing.assert_allclose(jacobian, here.jacobian[..., 0], atol=1e-12)
    change = (ahead.jacobian - behind.jacobian)[..., 0] / (2 * step)
    np.testing.assert_allclose(jacobian_rate, change, atol=1e-6)


@settings(max_examples=40, deadline=None)
@given(twist_of)
def test_the_jacobian_is_the_sum_of_its_commutators(twist):
    turning, sliding = (np.cross(part, np.eye(3)).T for part in (twist[:3], twist[3:]))
    bracket = np.block([[turning, np.zeros((3, 3))], [sliding, turning]])
    total = term = np.eye(6)
    for n in range(1, 60):
        term = term @ bracket / (n + 1)
        total = total + term
    np.testing.assert_allclose(Exponential(twist[:, None]).jacobian[..., 0], total, atol=1e-8)


def test_several_full_turns_come_back_to_where_they_began():
    turns, shifts = exponential(np.array([[0.0, 0.0, 4 * np.pi, 0.0, 0.0, 2.0]]))
    np.testing.assert_allclose(turns[0], np.eye(3), atol=1e-9)
    np.testing.assert_allclose(shifts[0], [0.0, 0.0, 2.0], atol=1e-9)


def test_pieces_of_a_rigid_body_keep_its_motion_and_others_get_the_nearest():
    rng = np.random.default_rng(0)
    centers, areas, radii = rng.normal(size=(5, 3)), rng.random(5) + 0.1, rng.random(5)
    omega, velocity = rng.normal(size=(2, 3))
    body = np.concatenate([np.tile(omega, (5, 1)), velocity + np.cross(omega, centers)], axis=1)[:, :, None]
    np.testing.assert_allclose(common_twist(body, centers, areas, radii), body, atol=1e-12)
    noisy = body + 0.1 * rng.normal(size=body.shape)
    found = common_twist(noisy, centers, areas, radii)
    np.testing.assert_allclose(found[:, :3] - found[:1, :3], 0.0, atol=1e-12)
    arms = centers - centers[0]
    np.testing.assert_allclose(found[:, 3:, 0], found[0, 3:, 0] + np.cross(found[0, :3, 0], arms), atol=1e-12)
    weight = areas[:, None] * np.concatenate([np.tile(radii[:, None] ** 2, 3), np.ones((5, 3))], axis=1)
    cost = lambda twists: float((weight[:, :, None] * (twists - noisy) ** 2).sum())  # noqa: E731
    for _ in range(20):
        nudge = 1e-3 * rng.normal(size=6)
        moved = np.concatenate([np.tile(nudge[:3], (5, 1)), nudge[3:] + np.cross(nudge[:3], centers)], axis=1)
        assert cost(found) <= cost(found + moved[:, :, None]) + 1e-15


def test_coordinates_are_turned_until_each_moves_its_own_part():
    rng = np.random.default_rng(1)
    mixed = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    forms = np.stack([np.outer(way, way) for way in mixed[:3]])
    reduction = leading(forms.sum(axis=0), None)
    assert reduction.basis.shape[1] == 3
    turned = parted(reduction.basis, forms)
    np.testing.assert_allclose(turned.T @ turned, np.eye(3), atol=1e-10)
    share = np.einsum("zd,hzy,yd->hd", turned, forms, turned)
    np.testing.assert_allclose(np.sort(share, axis=0)[-1], 1.0, atol=1e-6)
    np.testing.assert_allclose(share.sum(axis=1), 1.0, atol=1e-6)
