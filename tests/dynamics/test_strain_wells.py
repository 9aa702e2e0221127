"""Limits of all coordinates together, as the engine sees them: a convex energy without a force inside."""

from types import SimpleNamespace

import numpy as np
import pytest

from neurok.dynamics.reduced.loads import StrainWell

DIM, DT = 5, 0.01


@pytest.fixture
def wells():
    rng = np.random.default_rng(0)
    return rng.normal(size=(4, 3, DIM)), np.stack([rng.uniform(1.0, 5.0, 4), np.zeros(4)], axis=1)


def moment(q, qdot=None):
    return SimpleNamespace(q=q[None], qdot=np.zeros((1, DIM)) if qdot is None else qdot[None])


def energy(q, vectors, wells, qdot=None):
    load, motion = StrainWell(vectors, wells), moment(q, qdot)
    return load.energy(motion, np.zeros(1))[0], -load.force(motion, np.zeros(1))[0]


def test_inside_nothing_is_felt(wells):
    q = np.random.default_rng(1).normal(size=DIM)
    q *= 0.99 / np.linalg.norm(wells[0] @ q, axis=1).max()
    value, gradient = energy(q, *wells, qdot=np.ones(DIM))
    assert value == 0.0
    assert not gradient.any()


def test_outside_it_costs_the_cube_of_the_excess(wells):
    vectors, pair = wells[0][:1], wells[1][:1]
    q = np.random.default_rng(2).normal(size=DIM)
    q *= 1.5 / np.linalg.norm(vectors[0] @ q)
    assert energy(q, vectors, pair)[0] == pytest.approx(pair[0, 0] * 0.5**3 / 3.0)


def test_slope_and_curvature_are_those_of_the_energy(wells):
    q, step = 2.0 * np.random.default_rng(3).normal(size=DIM), 1e-6
    slope = [(energy(q + d, *wells)[0] - energy(q - d, *wells)[0]) / (2 * step) for d in step * np.eye(DIM)]
    np.testing.assert_allclose(energy(q, *wells)[1], slope, rtol=1e-6)
    bend = [(energy(q + d, *wells)[1] - energy(q - d, *wells)[1]) / (2 * step) for d in step * np.eye(DIM)]
    matrix = StrainWell(*wells).curvature(moment(q), DT)
    np.testing.assert_allclose(matrix, bend, rtol=1e-5, atol=1e-6)
    assert np.linalg.eigvalsh(matrix)[0] > -1e-9


def test_buffers_only_ever_take_energy_and_their_curvature_is_positive(wells):
    vectors, pair = wells
    rng = np.random.default_rng(4)
    for _ in range(20):
        q, qdot = 2.0 * rng.normal(size=(2, DIM))
        still, buffered = energy(q, vectors, pair)[1], energy(q, vectors, pair + [0.0, 3.0], qdot)[1]
        assert (buffered - still) @ qdot >= -1e-12
        matrix = StrainWell(vectors, pair + [0.0, 3.0]).curvature(moment(q, qdot), DT)
        assert np.linalg.eigvalsh(matrix)[0] > -1e-9
