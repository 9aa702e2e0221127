import numpy as np
import pytest
import torch

from neurok.catalogue.samples import make_sample
from neurok.core import Asset, Clip, Mesh
from neurok.geometry.lie_torch import exponential
from neurok.learned.deformation.handles import SLIGHT, TAIL, HandleConfig, HandleModel, Motion, blend, stiffness
from neurok.learned.subject import subject_of
from neurok.learned.view import ViewConfig, draw, stack
from neurok_lab.train.losses import DeformationTask, LossWeights, PairTensors

SMALL = HandleConfig(width=32, heads=2, context_depth=2, slot_depth=1, slots=8)


@pytest.fixture(scope="module")
def batch() -> PairTensors:
    subjects = [subject_of(make_sample(name)) for name in ("laptop", "cabinet")]
    rows = [draw(s, ViewConfig(targets=2), np.random.default_rng(i)) for i, s in enumerate(subjects)]
    return PairTensors.of(stack(rows))


@pytest.fixture
def lively() -> HandleModel:
    """A fresh model; it moves at once, but its zero-initialised doubts have to be woken up."""
    torch.manual_seed(0)
    model = HandleModel(SMALL)
    torch.nn.init.normal_(model.doubt_out.weight, std=0.1)
    return model


def still(batch: PairTensors) -> Motion:
    count, handles = batch.rest.centers.shape[:2]
    return Motion(torch.eye(3).expand(count, handles, 3, 3), torch.zeros(count, handles, 3))


def test_a_latent_of_zero_is_the_rest_state(batch, lively):
    context = lively.encode_rest(batch.rest)
    torch.testing.assert_close(lively.decode(context, -context.mean), still(batch))
    assert float(lively.decode(context, torch.ones_like(context.mean)).shifts.detach().abs().max()) > 1e-3


def test_a_slot_carries_its_followers_as_one_rigid_body(batch):
    torch.manual_seed(0)
    model = HandleModel(HandleConfig(width=32, heads=2, context_depth=1, slot_depth=1, slots=3, bend=0))
    torch.nn.init.zeros_(model.gate_handle.weight)
    torch.nn.init.zeros_(model.gate_handle.bias)  # all handles follow all slots alike
    context = model.encode_rest(batch.rest)
    motion = model.decode(context, torch.randn(2, 3))
    present = batch.rest.present[0]
    turns, shifts, centers = motion.rotations[0][present], motion.shifts[0][present], batch.rest.centers[0][present]
    torch.testing.assert_close(turns, turns[:1].expand_as(turns))
    moved = centers + shifts
    torch.testing.assert_close(moved - moved[0], (centers - centers[0]) @ turns[0].T, atol=1e-5, rtol=1e-4)


def test_the_pose_encoder_reads_the_latent_that_made_a_pose(batch, lively):
    torch.nn.init.zeros_(lively.doubt_out.weight)
    torch.nn.init.constant_(lively.doubt_out.bias, -30.0)  # clamped to the surest there is
    context = lively.encode_rest(batch.rest)
    wanted = 0.3 * torch.randn(2, SMALL.slots) - context.mean
    pose = lively.decode(context, wanted)
    again = lively.decode(context, lively.posterior(context, pose).mean.float())
    assert float((again.shifts - pose.shifts).detach().norm()) < 0.05 * float(pose.shifts.detach().norm())


def shifted(batch: PairTensors, way: torch.Tensor) -> PairTensors:
    """The same objects, all of whose handles shift by ``way`` in every displaced state."""
    shape = batch.shifts.shape
    return batch._replace(shifts=way.expand(shape), rotations=torch.eye(3).expand(*shape, 3))


def test_surprise_is_the_likelihood_of_a_motion_under_the_prior(batch, lively):
    context = lively.encode_rest(batch.rest)
    ways = torch.zeros_like(context.ways)
    ways[..., 3, 0], way = 0.04, 0.03
    told = lively.surprise(
        context._replace(ways=ways, mean=torch.zeros_like(context.mean)), shifted(batch, torch.tensor([way, 0.0, 0.0]))
    )
    spread = 1.0 + (0.04 / SLIGHT) ** 2
    expected = 0.5 * np.log(spread) + 0.5 * (TAIL + 6.0) * np.log1p((way / SLIGHT) ** 2 / spread / TAIL)
    assert float(told) == pytest.approx(expected, rel=1e-4)


def test_the_right_way_surprises_less_than_a_wrong_one_or_all_at_once(batch, lively):
    context = lively.encode_rest(batch.rest)
    context = context._replace(mean=torch.zeros_like(context.mean))
    along = shifted(batch, torch.tensor([0.1, 0.0, 0.0]))

    def told(*axes: int, far: float = 0.1) -> float:
        ways = torch.zeros_like(context.ways)
        for slot, axis in enumerate(axes):
            ways[..., 3 + axis, slot] = far
        return float(lively.surprise(context._replace(ways=ways), along))

    assert told(0) < told(0, 1, 2) < told(1)
    assert told(0) < min(told(0, far=0.02), told(0, far=0.6))


def test_the_order_of_handles_does_not_matter(batch, lively):
    order = torch.randperm(32)
    shuffled = type(batch.rest)(*(field[:, order] for field in batch.rest))
    e = torch.randn(2, SMALL.slots)
    here, there = lively.encode_rest(batch.rest), lively.encode_rest(shuffled)
    one, two = lively.decode(here, e), lively.decode(there, e)
    torch.testing.assert_close(one.shifts[:, order], two.shifts, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(one.rotations[:, order], two.rotations, atol=1e-5, rtol=1e-4)
    said = lively.posterior(there, Motion(one.rotations[:, order], one.shifts[:, order]))
    torch.testing.assert_close(lively.posterior(here, one).mean, said.mean, atol=1e-4, rtol=1e-3)


def test_the_order_of_points_does_not_matter(batch, lively):
    flipped = batch.rest._replace(points=batch.rest.points.flip(2))
    one, two = lively.encode_rest(batch.rest), lively.encode_rest(flipped)
    torch.testing.assert_close(one.ways, two.ways, atol=1e-5, rtol=1e-4)


def test_absent_handles_have_no_say(batch, lively):
    present = batch.rest.present.clone()
    present[:, -4:] = False
    masked = batch.rest._replace(present=present)
    moved = masked._replace(points=masked.points.clone(), centers=masked.centers.clone())
    moved.points[:, -4:] += 3.0
    moved.centers[:, -4:] += 3.0
    one, two = lively.encode_rest(masked), lively.encode_rest(moved)
    torch.testing.assert_close(one.ways, two.ways, atol=1e-5, rtol=1e-4)
    wild = still(batch)._replace(shifts=torch.nn.functional.pad(torch.ones(2, 4, 3), (0, 0, 28, 0)))
    calm, shaken = lively.posterior(one, still(batch)), lively.posterior(two, wild)
    torch.testing.assert_close(calm.mean, shaken.mean, atol=1e-5, rtol=1e-4)


def test_one_motion_for_all_handles_is_a_rigid_motion_of_the_object(batch):
    count, handles = batch.rest.centers.shape[:2]
    turn = exponential(torch.tensor([0.2, 0.6, -0.4, 0.0, 0.0, 0.0]))[0]
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
    z, v = torch.randn(2, 2, SMALL.slots, dtype=torch.float64).unbind(0)
    shifts = lambda at: model.decode(context, at).shifts  # noqa: E731
    slope = lambda at: torch.func.jvp(shifts, (at,), (v,))[1]  # noqa: E731
    curve = torch.func.jvp(slope, (z,), (v,))[1]
    step = 1e-4
    numeric = (shifts(z + step * v) - 2 * shifts(z) + shifts(z - step * v)) / step**2
    torch.testing.assert_close(curve, numeric, atol=1e-4, rtol=1e-3)


@pytest.mark.slow
def test_one_batch_can_be_learned(batch):
    from neurok_lab.train.deformation import DeformationRecipe
    from neurok_lab.train.loop import make_optimizers, set_rates

    torch.manual_seed(0)
    task, config = DeformationTask(SMALL), DeformationRecipe(model=SMALL, steps=10_000, warmup=10)
    optimizers = make_optimizers(task, config)
    first = float(task(batch).relative)
    for step in range(400):
        set_rates(optimizers, config, step)
        terms = task(batch, LossWeights(), 0.05 * torch.randn(4, SMALL.slots))
        for optimizer in optimizers:
            optimizer.zero_grad()
        terms.loss.backward()
        for optimizer in optimizers:
            optimizer.step()
    assert float(task(batch).relative) < 0.05 < first
