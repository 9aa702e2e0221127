"""Moments of handles against automatic differentiation and against sums over all derivatives."""

import numpy as np
import pytest
import torch

from decoders import exponential
from neurok.kinematics.screws import HandleMotion

BATCH, HANDLES, DIM = 3, 5, 4


@pytest.fixture(scope="module")
def motion() -> HandleMotion:
    rng = np.random.default_rng(0)
    q, qdot = rng.normal(size=(2, BATCH, DIM))
    return HandleMotion(0.7 * rng.normal(size=(6, HANDLES, DIM)), rng.normal(size=(HANDLES, 3)), q, qdot)


@pytest.fixture(scope="module")
def forces() -> np.ndarray:
    return np.random.default_rng(1).normal(size=(BATCH, 4 * HANDLES, 3))


@pytest.fixture(scope="module")
def rows(motion):
    """The same rows by matrix exponentials, differentiable."""
    screws = torch.from_numpy(motion.screws.copy())
    centers = torch.from_numpy(motion.centers.copy())

    def of(q: torch.Tensor) -> torch.Tensor:
        turns, shifts = exponential(torch.einsum("jhd,d->hj", screws, q))
        offsets = centers + shifts - (turns @ centers[..., None])[..., 0]
        return torch.cat([turns.mT, offsets[:, None]], dim=1).flatten(0, 1)

    return of


def test_rows_and_their_derivatives_are_those_of_the_decoder(motion, rows):
    q, qdot = torch.from_numpy(motion.q), torch.from_numpy(motion.qdot)
    slopes = lambda at: torch.func.jacfwd(rows)(at).movedim(-1, 0)  # noqa: E731
    for b in range(BATCH):
        np.testing.assert_allclose(motion.values[b], rows(q[b]), atol=1e-9)
        np.testing.assert_allclose(motion.slopes[b], slopes(q[b]), atol=1e-7)
        changes = torch.func.jvp(slopes, (q[b],), (qdot[b],))[1]
        np.testing.assert_allclose(motion.slope_rates[b], changes, atol=1e-6)


def test_the_short_way_from_forces_to_coordinates_is_the_long_one(motion, forces):
    np.testing.assert_allclose(motion.rate, np.einsum("bd,bdki->bki", motion.qdot, motion.slopes), atol=1e-12)
    np.testing.assert_allclose(motion.pull(forces), np.einsum("bdki,bki->bd", motion.slopes, forces), atol=1e-12)
    expected = np.einsum("bdki,bki->bd", motion.slope_rates, forces)
    np.testing.assert_allclose(motion.rate_pull(forces), expected, atol=1e-12)


def test_a_moment_does_not_depend_on_the_others_of_its_batch(motion, forces):
    centers = motion.centers
    for b in range(BATCH):
        alone = HandleMotion(motion.screws, centers, motion.q[b : b + 1], motion.qdot[b : b + 1])
        np.testing.assert_allclose(alone.values[0], motion.values[b], atol=1e-13)
        one = forces[b : b + 1]
        np.testing.assert_allclose(alone.rate_pull(one)[0], motion.rate_pull(forces)[b], atol=1e-13)
