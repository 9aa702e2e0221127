import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from neurok.kinematics.stand_in import BumpMap, fit_bumps
from neurok.kinematics.turns import quaternions_of, turn_slope_rates, turn_slopes, turns_of

STEP = 1e-4


def smooth(q: np.ndarray) -> np.ndarray:
    """A map of three coordinates with zero at zero."""
    a, b, c = q.T
    return np.stack([np.sin(a), a * b, 0.1 * c + 0.2 * (np.cos(b) - 1.0), np.tanh(0.3 * (a - c))], axis=1)


@pytest.fixture(scope="module")
def fitted() -> tuple[BumpMap, np.ndarray, np.ndarray]:
    q = np.random.default_rng(0).normal(size=(300, 3))
    bumps, left_out = fit_bumps(q, smooth(q), np.ones(4))
    return bumps, q, left_out


def test_it_follows_a_smooth_map_where_it_was_not_asked(fitted):
    bumps, q, left_out = fitted
    fresh = np.random.default_rng(1).normal(size=(200, 3))
    error = np.linalg.norm(bumps.evaluate(fresh)[0] - smooth(fresh)) / np.linalg.norm(smooth(fresh))
    told = np.linalg.norm(left_out - smooth(q)) / np.linalg.norm(smooth(q))
    assert error < 0.03
    assert told == pytest.approx(error, rel=1.0)


def test_the_error_it_tells_is_that_of_leaving_samples_out():
    q = np.random.default_rng(2).normal(size=(60, 2))
    noise = np.random.default_rng(3).normal(size=(60, 1))
    _, left_out = fit_bumps(q, noise, np.ones(1))
    assert np.linalg.norm(left_out - noise) > 0.8 * np.linalg.norm(noise)


def test_zero_stays_zero_and_far_away_it_grows_no_faster_than_a_line(fitted):
    bumps = fitted[0]
    assert np.abs(bumps.evaluate(np.zeros((1, 3)))[0]).max() < 1e-14
    near, far = (np.abs(bumps.evaluate(np.array([[r, -r, r]]))[0]).max() for r in (40.0, 400.0))
    assert far < 11.0 * near


def test_slopes_and_their_rates_match_differences(fitted):
    bumps, rng = fitted[0], np.random.default_rng(4)
    q, v = rng.normal(size=(2, 5, 3))
    ahead, behind = bumps.evaluate(q + STEP * v), bumps.evaluate(q - STEP * v)
    along = np.einsum("bd,bdy->by", v, bumps.evaluate(q)[1])
    np.testing.assert_allclose(along, (ahead[0] - behind[0]) / (2 * STEP), atol=1e-5)
    np.testing.assert_allclose(bumps.slope_rate(q, v), (ahead[1] - behind[1]) / (2 * STEP), atol=1e-5)


def test_the_differentiable_value_is_the_same(fitted):
    bumps = fitted[0]
    q = np.array([0.3, -0.7, 0.2])
    np.testing.assert_allclose(bumps.value_of_tensor(torch.as_tensor(q)), bumps.evaluate(q[None])[0][0], atol=1e-12)


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_turns_of_quaternions_of_any_length_agree_with_scipy_and_their_derivatives_with_differences(seed):
    p, v = np.random.default_rng(seed).normal(size=(2, 3, 4))
    p = p / np.linalg.norm(p, axis=-1, keepdims=True) * np.array([[0.7], [1.0], [1.6]])
    np.testing.assert_allclose(turns_of(p), Rotation.from_quat(np.roll(p, -1, axis=-1)).as_matrix(), atol=1e-12)
    step = 0.1 * STEP
    ahead, behind = turn_slopes(p + step * v), turn_slopes(p - step * v)
    along = np.einsum("nk,nkij->nij", v, turn_slopes(p)[1])
    np.testing.assert_allclose(along, (ahead[0] - behind[0]) / (2 * step), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(turn_slope_rates(p, v), (ahead[1] - behind[1]) / (2 * step), rtol=1e-5, atol=1e-5)


def test_quaternions_come_back_from_turns():
    turns = Rotation.random(20, rng=0).as_matrix()
    np.testing.assert_allclose(turns_of(quaternions_of(turns)), turns, atol=1e-12)
    assert (quaternions_of(turns)[:, 0] >= 0).all()
