import numpy as np
import pytest
import torch

from neurok.core import Asset, Clip, Mesh
from neurok.data.subject import subject_of
from neurok.data.view import ViewConfig, draw, stack
from neurok.deformation.handles import HandleConfig, HandleModel, Motion, blend, stiffness, turn_matrix
from neurok.deformation.loss import DeformationTask, PairTensors
from neurok.samples import make_sample

SMALL = HandleConfig(width=32, heads=2, context_depth=2, pose_depth=1, decoder_depth=2)


@pytest.fixture(scope="module")
def batch() -> PairTensors:
    subjects = [subject_of(make_sample(name)) for name in ("laptop", "cabinet")]
    rows = [draw(s, ViewConfig(targets=2), np.random.default_rng(i)) for i, s in enumerate(subjects)]
    return PairTensors.of(stack(rows))


@pytest.fixture
def lively() -> HandleModel:
    """A model whose zero-initialised outputs have been woken up."""
    torch.manual_seed(0)
    model = HandleModel(SMALL)
    for layer in (model.decoder_out, model.prior_out):
        torch.nn.init.normal_(layer.weight, std=0.1)
    return model


def still(batch: PairTensors) -> Motion:
    count, handles = batch.rest.centers.shape[:2]
    return Motion(torch.eye(3).expand(count, handles, 3, 3), torch.zeros(count, handles, 3))


def test_a_fresh_model_moves_nothing(batch):
    model = HandleModel(SMALL)
    context = model.encode_rest(batch.rest)
    motion = model.decode(context, torch.randn(2, SMALL.spread))
    torch.testing.assert_close(motion, still(batch))


def test_the_order_of_handles_does_not_matter(batch, lively):
    order = torch.randperm(32)
    shuffled = type(batch.rest)(*(field[:, order] for field in batch.rest))
    e = torch.randn(2, SMALL.spread)
    here, there = lively.encode_rest(batch.rest), lively.encode_rest(shuffled)
    one, two = lively.decode(here, e), lively.decode(there, e)
    torch.testing.assert_close(one.shifts[:, order], two.shifts, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(one.rotations[:, order], two.rotations, atol=1e-5, rtol=1e-4)
    said = lively.posterior(there, Motion(one.rotations[:, order], one.shifts[:, order]))
    torch.testing.assert_close(lively.posterior(here, one).mean, said.mean, atol=1e-4, rtol=1e-3)


def test_the_order_of_points_does_not_matter(batch, lively):
    flipped = batch.rest._replace(points=batch.rest.points.flip(2))
    one, two = lively.encode_rest(batch.rest), lively.encode_rest(flipped)
    torch.testing.assert_close(one.tokens, two.tokens, atol=1e-5, rtol=1e-4)


def test_absent_handles_have_no_say(batch, lively):
    present = batch.rest.present.clone()
    present[:, -4:] = False
    masked = batch.rest._replace(present=present)
    moved = masked._replace(points=masked.points.clone(), centers=masked.centers.clone())
    moved.points[:, -4:] += 3.0
    moved.centers[:, -4:] += 3.0
    one, two = lively.encode_rest(masked), lively.encode_rest(moved)
    torch.testing.assert_close(one.tokens[:, :-4], two.tokens[:, :-4], atol=1e-5, rtol=1e-4)
    wild = still(batch)._replace(shifts=torch.nn.functional.pad(torch.ones(2, 4, 3), (0, 0, 28, 0)))
    calm, shaken = lively.posterior(one, still(batch)), lively.posterior(two, wild)
    torch.testing.assert_close(calm.mean, shaken.mean, atol=1e-5, rtol=1e-4)


def test_turn_matrices_are_rotations_and_match_a_quaternion():
    half = torch.randn(64, 3, dtype=torch.float64)
    turn = turn_matrix(half)
    torch.testing.assert_close(turn @ turn.mT, torch.eye(3, dtype=torch.float64).expand(64, 3, 3))
    torch.testing.assert_close(torch.linalg.det(turn), torch.ones(64, dtype=torch.float64))
    quarter = turn_matrix(torch.tensor([0.0, 0.0, 1.0], dtype=torch.float64))
    torch.testing.assert_close(quarter @ torch.tensor([1.0, 0, 0]).double(), torch.tensor([0, 1.0, 0]).double())


def test_one_motion_for_all_handles_is_a_rigid_motion_of_the_object(batch):
    count, handles = batch.rest.centers.shape[:2]
    turn = turn_matrix(torch.tensor([0.1, 0.3, -0.2]))
    shift = (batch.rest.centers @ turn.T - batch.rest.centers) + torch.tensor([0.2, 0.0, 0.1])
    motion = Motion(turn.expand(count, handles, 3, 3), shift)
    points = batch.rest.points.flatten(1, 2)
    index, weight = batch.blend_index.flatten(1, 2), batch.blend_weight.flatten(1, 2)
    moved = blend(motion, batch.rest.centers, points, index, weight)
    torch.testing.assert_close(moved, points @ turn.T + torch.tensor([0.2, 0.0, 0.1]), atol=1e-5, rtol=1e-5)


def test_parts_on_joints_are_stiff_and_a_bending_sheet_is_not(batch):
    stiff, told = stiffness(batch)
    assert told.any()
    laptop = told[0]
    assert laptop.any()
    assert stiff[0][laptop].all()
    x, z = (a.ravel() for a in np.meshgrid(np.linspace(-0.5, 0.5, 25), np.linspace(-0.2, 0.2, 9), indexing="ij"))
    place = np.arange(25 * 9).reshape(25, 9)
    a, b, c, d = place[:-1, :-1].ravel(), place[1:, :-1].ravel(), place[1:, 1:].ravel(), place[:-1, 1:].ravel()
    faces = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    bends = (1e-6, 1.0, 2.0, 3.0)
    frames = [np.stack([np.sin(k * x) / k, (1 - np.cos(k * x)) / k, z], axis=1) for k in bends]
    mesh = Mesh(frames[0], faces)
    bent = subject_of(Asset(mesh, (Clip(mesh, np.stack(frames)),)))
    rows = [draw(bent, ViewConfig(targets=8, augment=False), np.random.default_rng(k)) for k in range(2)]
    stiff, told = stiffness(PairTensors.of(stack(rows)))
    assert told.any()
    assert not stiff[told].any()


def test_forward_mode_of_forward_mode_agrees_with_finite_differences(batch, lively):
    model = lively.double()
    rest = type(batch.rest)(*(f.double() if f.is_floating_point() else f for f in batch.rest))
    context = model.encode_rest(rest)
    z, v = torch.randn(2, 2, SMALL.spread, dtype=torch.float64).unbind(0)
    shifts = lambda at: model.decode(context, at).shifts  # noqa: E731
    slope = lambda at: torch.func.jvp(shifts, (at,), (v,))[1]  # noqa: E731
    curve = torch.func.jvp(slope, (z,), (v,))[1]
    step = 1e-4
    numeric = (shifts(z + step * v) - 2 * shifts(z) + shifts(z - step * v)) / step**2
    torch.testing.assert_close(curve, numeric, atol=1e-4, rtol=1e-3)


@pytest.mark.slow
def test_one_batch_can_be_learned(batch):
    from neurok.train.config import TrainConfig
    from neurok.train.loop import _optimizers, _set_rates

    torch.manual_seed(0)
    task, config = DeformationTask(SMALL), TrainConfig(model=SMALL, steps=10_000, warmup=10)
    optimizers = _optimizers(task, config)
    first = float(task(batch).relative)
    for step in range(300):
        _set_rates(optimizers, config, step)
        terms = task(batch, 0.0, torch.randn(4, SMALL.spread))
        for optimizer in optimizers:
            optimizer.zero_grad()
        terms.loss.backward()
        for optimizer in optimizers:
            optimizer.step()
    assert float(task(batch).relative) < 0.05 < first
