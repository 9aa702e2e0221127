"""The closed form in place of the network, on an untrained network that is awake."""

import numpy as np
import pytest
import torch

import neurok
from neurok.deformation.handles import HandleConfig, HandleModel
from neurok.dynamics import Condition, Start
from neurok.kinematics import FeatureSpace
from neurok.kinematics.compiled import CompiledSpace
from neurok.kinematics.neural import infer_space
from neurok.samples import make_sample

SMALL = HandleConfig(width=32, heads=2, context_depth=1, pose_depth=1, decoder_depth=1)
DIM = 4


@pytest.fixture(scope="module")
def space() -> CompiledSpace:
    torch.manual_seed(0)
    model = HandleModel(SMALL)
    torch.nn.init.normal_(model.decoder_out.weight, std=0.03)
    return infer_space(make_sample("lamp").mesh, model, dim=DIM).compiled()


def decoded(space, q: np.ndarray) -> np.ndarray:
    return space.decode(torch.as_tensor(q)).detach().numpy()


def test_zero_is_the_rest_shape(space):
    np.testing.assert_allclose(decoded(space, np.zeros(DIM)), space.rest.vertices, atol=1e-12)


def test_it_agrees_with_the_network_as_closely_as_it_says(space):
    q = space.sample(12, seed=5)
    truth = np.stack([decoded(space.exact, row) for row in q]) - space.rest.vertices
    found = np.stack([decoded(space, row) for row in q]) - space.rest.vertices
    error = np.linalg.norm(found - truth, axis=-1).mean() / np.linalg.norm(truth, axis=-1).mean()
    assert space.is_close
    assert error < 3.0 * space.facts["point_error"] + 0.01


def test_it_has_the_fast_path_of_the_simulator_and_all_its_derivatives_agree(space):
    assert isinstance(space, FeatureSpace)
    q, v = np.random.default_rng(0).normal(size=(2, DIM)) * 0.8
    values, slopes = space.shape(q[None])
    np.testing.assert_allclose(space.features @ values[0], decoded(space, q), atol=1e-10)
    np.testing.assert_allclose(space.features @ space.unity, 1.0, atol=1e-12)
    numeric = (decoded(space, q + 1e-5 * v) - decoded(space, q - 1e-5 * v)) / 2e-5
    np.testing.assert_allclose(np.einsum("vk,dkc,d->vc", space.features, slopes[0], v), numeric, atol=1e-7)
    rate = space.shape_rate(q[None], v[None])[0]
    numeric_rate = (space.shape((q + 1e-5 * v)[None])[1] - space.shape((q - 1e-5 * v)[None])[1])[0] / 2e-5
    np.testing.assert_allclose(rate, numeric_rate, atol=1e-6)


def test_handles_stay_rigid(space):
    values = space.shape(space.sample(3))[0].reshape(3, -1, 4, 3)[:, :, :3]
    np.testing.assert_allclose(values @ values.swapaxes(-1, -2), np.broadcast_to(np.eye(3), values.shape), atol=1e-12)


def test_samples_are_those_of_the_network(space):
    np.testing.assert_array_equal(space.sample(3, seed=2), space.exact.sample(3, seed=2))


def test_motion_without_friction_keeps_its_energy(space):
    start = Condition(Start(qdot=0.3 * np.ones(DIM)))
    rollout = neurok.simulate(neurok.Body(space, start), neurok.World(gravity=np.zeros(3)), seconds=0.5)
    assert rollout.status == "ok"
    assert rollout.report["energy_drift"] < 1e-6
