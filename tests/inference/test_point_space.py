import json
import subprocess
import sys

import numpy as np
import pytest
import torch

from neurok.catalogue.samples import make_sample
from neurok.errors import NeurokError
from neurok.geometry.lie import apply, fit_rigid
from neurok.hub import load_model
from neurok.inference.points import PointSpace, infer_points
from neurok.kinematics.space import contract, decode
from neurok.learned.deformation.points import PointConfig, PointModel
from neurok.posing.registration import register_points

SMALL = PointConfig(width=32, heads=2, tokens=4, latent=4, prior_depth=1, pose_depth=1, decoder_depth=1, octaves=3)


def lively(config: PointConfig = SMALL) -> PointModel:
    """A model whose zero-initialised outputs have been woken up."""
    torch.manual_seed(0)
    model = PointModel(config)
    torch.nn.init.normal_(model.decoder_out.weight, std=0.02)
    torch.nn.init.normal_(model.prior_out.weight, std=0.1)
    return model


@pytest.fixture(scope="module")
def space() -> PointSpace:
    return infer_points(make_sample("lamp").mesh, lively(), dim=4)


def test_zero_is_the_rest_shape(space):
    assert np.abs(decode(space, np.zeros(space.dim)) - space.rest.vertices).max() < 1e-6 * space.box.size
    assert np.abs(decode(space, space.sample(1)[0]) - space.rest.vertices).max() > 1e-3 * space.box.size


def test_it_is_a_feature_space_within_its_limits(space):
    np.testing.assert_allclose(space.features @ space.unity, 1.0)
    assert np.all(space.limits[:, 0] <= 0)
    assert np.all(space.limits[:, 1] >= 0)
    assert space.features.shape == (space.rest.vertex_count, space.shape(np.zeros((1, space.dim)))[0].shape[1])


@pytest.mark.parametrize("dual_quaternions", [True, False])
def test_samples_that_all_move_alike_move_the_mesh_rigidly(dual_quaternions, monkeypatch):
    model = lively(PointConfig(**{**vars(SMALL), "dual_quaternions": dual_quaternions}))
    torch.nn.init.zeros_(model.query_in[2].weight)  # points no longer know where they are,
    monkeypatch.setattr(PointModel, "_nearness", lambda _, away: torch.zeros_like(away)[:, None])  # nor what is near
    mesh = make_sample("lamp").mesh
    space = infer_points(mesh, model, dim=3)
    q = space.sample(1)[0]
    moved = decode(space, q)
    motion = fit_rigid(mesh.vertices, moved)
    assert np.abs(moved - mesh.vertices).max() > 1e-3 * space.box.size
    np.testing.assert_allclose(apply(motion, mesh.vertices), moved, atol=1e-6 * space.box.size)
    assert dual_quaternions == (np.abs(motion[:3, :3] - np.eye(3)).max() > 1e-4)
    np.testing.assert_allclose(space.features @ space.shape(q[None])[0][0], moved, atol=1e-6 * space.box.size)


def test_patches_follow_the_samples_roughly(space):
    q = space.sample(1)[0]
    by_patch, by_sample = space.features @ space.shape(q[None])[0][0], decode(space, q)
    moved = np.linalg.norm(by_sample - space.rest.vertices, axis=1).mean()
    assert np.linalg.norm(by_patch - by_sample, axis=1).mean() < 0.25 * moved


def test_derivatives_agree_with_finite_differences(space):
    q, v = np.random.default_rng(0).normal(size=(2, 1, space.dim)) * 0.3
    step = 1e-2
    values = lambda at: space.shape(at)[0]  # noqa: E731
    slopes, rates = space.shape(q)[1], space.shape_rate(q, v)
    numeric = (values(q + step * v) - values(q - step * v)) / (2 * step)
    np.testing.assert_allclose(np.einsum("bd,bdkc->bkc", v, slopes), numeric, atol=1e-3 * np.abs(numeric).max())
    change = (space.shape(q + step * v)[1] - space.shape(q - step * v)[1]) / (2 * step)
    np.testing.assert_allclose(rates, change, atol=5e-3 * np.abs(change).max())


@pytest.mark.parametrize("mode", ["gram", "paper"])
def test_the_reduction_is_orthonormal_and_sorted(mode):
    space = infer_points(make_sample("lamp").mesh, lively(), mode, 5)
    basis, spectrum = space.reduction.basis, space.reduction.spectrum
    np.testing.assert_allclose(basis.T @ basis, np.eye(5), atol=1e-10)
    assert np.all(np.diff(spectrum) <= 1e-12)
    assert 0 < space.reduction.captured <= 1
    assert space.dim == 5


def test_moving_and_scaling_the_mesh_changes_nothing(space):
    q = space.sample(1)[0]
    mesh = space.rest
    far = infer_points(mesh.with_vertices(3.0 * mesh.vertices + np.array([5.0, -2.0, 1.0])), lively(), dim=4)
    np.testing.assert_allclose(decode(far, q), 3.0 * decode(space, q) + np.array([5.0, -2.0, 1.0]), atol=2e-3)


def test_forces_reach_the_coordinates_as_through_all_derivatives(space):
    rng = np.random.default_rng(1)
    q, v = rng.normal(size=(2, 2, space.dim)) * 0.3
    values, slopes = space.shape(q)
    forces, moving = rng.normal(size=values.shape), space.moving(q, v)
    np.testing.assert_allclose(moving.values, values, atol=1e-6)
    for found, wanted in (
        (moving.pull(forces), contract(slopes, forces)),
        (moving.rate_pull(forces), contract(space.shape_rate(q, v), forces)),
        (moving.rate, np.einsum("bd,bdkc->bkc", v, slopes)),
    ):
        np.testing.assert_allclose(found, wanted, atol=1e-4 * np.abs(wanted).max())


def test_a_pose_of_the_space_is_found_again_from_its_points(space):
    wanted = decode(space, 0.5 * space.sample(1, seed=3)[0])
    starts = np.zeros((1, space.dim))
    still = np.linalg.norm(wanted - space.rest.vertices, axis=1).mean()
    q, *_ = register_points(space, space.features[::4], wanted[::4], starts, space.box.size)
    assert np.linalg.norm(decode(space, q) - wanted, axis=1).mean() < 0.3 * still


def test_too_many_coordinates_get_a_sentence():
    with pytest.raises(NeurokError, match=r"1\.\.16"):
        infer_points(make_sample("lamp").mesh, lively(), dim=17)


@pytest.fixture(scope="module")
def shipped() -> PointSpace:
    return infer_points(make_sample("lamp").mesh, load_model("deformation"), dim=4)


def test_shipped_weights_rest_at_zero_and_move_in_samples(shipped):
    rest, size = shipped.rest.vertices, shipped.box.size
    assert np.abs(decode(shipped, np.zeros(4)) - rest).max() < 1e-6 * size
    moved = [np.linalg.norm(decode(shipped, q) - rest, axis=1).mean() / size for q in shipped.sample(4)]
    assert 0.005 < np.mean(moved) < 0.5


def test_shipped_weights_agree_with_finite_differences(shipped):
    q, v, step = shipped.sample(1), np.eye(4)[:1], 1e-2
    numeric = (shipped.shape(q + step * v)[0] - shipped.shape(q - step * v)[0]) / (2 * step)
    np.testing.assert_allclose(shipped.shape(q)[1][:, 0], numeric, atol=1e-2 * np.abs(numeric).max())


def test_shipped_samples_depend_on_their_seed_alone(shipped):
    again = infer_points(shipped.rest, load_model("deformation"), dim=4)
    np.testing.assert_array_equal(again.sample(3, seed=5), shipped.sample(3, seed=5))
    q = shipped.sample(1, seed=5)[0]
    np.testing.assert_array_equal(again.positions(q), shipped.positions(q))
    assert np.abs(shipped.sample(3, seed=6) - shipped.sample(3, seed=5)).max() > 0.1


@pytest.mark.slow
def test_the_command_samples_the_latent_space(tmp_path):
    from neurok.io import load

    out = tmp_path / "lamp.glb"
    run = [sys.executable, "-m", "neurok", "sample", "sample:lamp", "--space", "latent", "--json", "--out", str(out)]
    told = json.loads(subprocess.run(run, check=True, capture_output=True, text=True).stdout)
    assert "latent" in json.dumps(told)
    assert np.ptp(load(out).clips[0].positions, axis=0).max() > 1e-3
