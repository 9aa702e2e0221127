import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from neurok.geometry.twists import Exponential, exponential


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
