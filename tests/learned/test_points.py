import numpy as np
import pytest
import torch

from neurok.catalogue.samples import make_sample
from neurok.errors import NeurokError
from neurok.learned.deformation import dual
from neurok.learned.deformation.batch import PairTensors, Rest
from neurok.learned.deformation.points import Cloud, PointConfig, PointModel, follow, spread
from neurok.learned.subject import subject_of
from neurok.learned.view import ViewConfig, draw, stack
from neurok_lab.train.losses import DeformationTask

SMALL = PointConfig(width=32, heads=2, tokens=6, latent=4, prior_depth=1, pose_depth=1, decoder_depth=1, octaves=4)


@pytest.fixture(scope="module")
def batch() -> PairTensors:
    subjects = [subject_of(make_sample(name)) for name in ("laptop", "cabinet")]
    rows = [draw(s, ViewConfig(targets=2), np.random.default_rng(i)) for i, s in enumerate(subjects)]
    return PairTensors.of(stack(rows))


@pytest.fixture
def lively() -> PointModel:
    """A model whose zero-initialised outputs have been woken up."""
    torch.manual_seed(0)
    model = PointModel(SMALL)
    for layer in (model.decoder_out, model.prior_out):
        torch.nn.init.normal_(layer.weight, std=0.1)
    return model.double()


def wide(rest: Rest) -> Rest:
    return Rest(*(field.double() if field.is_floating_point() else field for field in rest))


def answer(model: PointModel, rest: Rest, shifts: torch.Tensor, z: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Latent of samples that go to ``points + shifts``, and where a latent brings the samples."""
    context = model.encode_rest(rest)
    mean, _ = model.encode_pose(context, context.cloud.points + shifts.flatten(1, 2))
    motion = dual.blend(model.decode(context, z), context.near, context.weight)
    return torch.cat([mean, model.prior(context)], dim=-1), dual.move(motion, context.cloud.points)


@pytest.mark.parametrize("dual_quaternions", [True, False])
def test_a_fresh_model_moves_nothing(batch, dual_quaternions):
    model = PointModel(PointConfig(dual_quaternions=dual_quaternions))
    context = model.encode_rest(batch.rest)
    motion = model.decode(context, torch.randn(2, 16, 8))
    points = context.cloud.points
    torch.testing.assert_close(dual.move(motion, points), points)


def test_the_order_of_points_does_not_matter(batch, lively):
    rest = wide(batch.rest)
    shifts, z = torch.randn_like(rest.points), torch.randn(2, 6, 4).double()
    latent, moved = answer(lively, rest, shifts, z)
    other, flipped = answer(lively, rest._replace(points=rest.points.flip(2)), shifts.flip(2), z)
    torch.testing.assert_close(latent, other)
    samples = rest.points.shape[2]
    torch.testing.assert_close(flipped.unflatten(1, (-1, samples)).flip(2).flatten(1, 2), moved)


def test_seeing_every_point_twice_changes_no_latent(batch, lively):
    rest = wide(batch.rest)
    shifts, z = torch.randn_like(rest.points), torch.randn(2, 6, 4).double()
    twice = rest._replace(points=rest.points.repeat(1, 1, 2, 1))
    torch.testing.assert_close(
        answer(lively, rest, shifts, z)[0], answer(lively, twice, shifts.repeat(1, 1, 2, 1), z)[0]
    )


def test_absent_handles_have_no_say(batch, lively):
    rest = wide(batch.rest)
    present = rest.present.clone()
    present[:, -4:] = False
    masked = rest._replace(present=present)
    far = masked._replace(points=masked.points.clone())
    far.points[:, -4:] += 3.0
    shifts, z = torch.randn_like(rest.points), torch.randn(2, 6, 4).double()
    (latent, moved), (other, away) = answer(lively, masked, shifts, z), answer(lively, far, shifts, z)
    seen = 28 * rest.points.shape[2]
    torch.testing.assert_close(latent, other)
    torch.testing.assert_close(moved[:, :seen], away[:, :seen])


def test_points_follow_samples_of_their_own_component():
    samples = torch.tensor([[[0.0, 0, 0], [0.1, 0, 0], [0.05, 0.01, 0], [0.2, 0.01, 0]]])
    cloud = Cloud(samples, torch.tensor([[0, 0, 1, 1]]), torch.ones(1, 4, dtype=torch.bool))
    query = torch.tensor([[[0.05, 0.0, 0.0], [0.05, 0.0, 0.0], [0.05, 0.0, 0.0]]])
    near, weight = follow(cloud, query, torch.tensor([[0, 1, 7]]), 3)
    share = torch.zeros(3, 4).scatter_add_(1, near[0], weight[0])
    torch.testing.assert_close(share.sum(dim=1), torch.ones(3))
    torch.testing.assert_close(share[0], torch.tensor([0.5, 0.5, 0.0, 0.0]))
    assert float(share[1, :2].sum()) == 0.0
    assert float(share[2, 2]) == float(share[2].max()), "a component without samples follows the nearest of any"


def test_tokens_sit_far_from_each_other_and_on_every_component():
    row = torch.linspace(0.0, 1.0, 11)
    line = torch.stack([row, torch.zeros(11), torch.zeros(11)], dim=1)
    samples = torch.cat([line, line[5:6] + 0.01, torch.full((1, 3), 9.0)])[None]
    groups, present = torch.zeros(1, 13, dtype=torch.long), torch.ones(1, 13, dtype=torch.bool)
    groups[0, 11], present[0, 12] = 1, False
    places, away = spread(Cloud(samples, groups, present), 4)
    assert set(places[0, :3].tolist()) == {0, 10, 11}, "both ends of the line and the other component come first"
    assert int(places[0, 3]) == 5, "then the middle, and nothing that is absent"
    own = places[0].tolist().index(11)
    torch.testing.assert_close(away[0, 11, own], torch.tensor(0.0))
    torch.testing.assert_close(away[0, 0, places[0].tolist().index(10)], torch.tensor(1.0))
    assert float(away[0, 5, own]) > 0.5


def test_a_pose_is_heard_through_a_fresh_network(batch):
    torch.manual_seed(0)
    model, heard = PointModel(PointConfig()), {}
    model.decoder_norm.register_forward_hook(lambda module, given, said: heard.setdefault("said", said))
    context = model.repeat(model.encode_rest(batch.rest), batch.targets)
    mean, _ = model.encode_pose(context, batch.displaced.flatten(0, 1).flatten(1, 2))
    model.decode(context, mean)
    of_object = heard["said"].unflatten(0, (2, batch.targets))
    of_pose = of_object - of_object.mean(dim=1, keepdim=True)
    assert float(of_pose.detach().square().mean().sqrt()) > 0.03, "a whisper of the pose is never learned from"


def test_one_motion_for_all_samples_is_a_rigid_motion_of_the_object(batch):
    model = PointModel(SMALL)
    torch.nn.init.normal_(model.decoder_out.bias, std=0.3)
    context = model.encode_rest(batch.rest)
    motion = model.decode(context, torch.zeros(2, 6, 4))
    moved = model.move_pairs(context, torch.zeros(2, 24))
    turn, shift = dual.rotation(motion[0, 0]), dual.shift(motion[0, 0])
    torch.testing.assert_close(moved, context.cloud.points @ turn.T + shift, atol=1e-5, rtol=1e-5)
    assert float((turn - torch.eye(3)).detach().abs().max()) > 0.05


def test_a_configuration_that_is_none_of_the_network_gets_a_sentence():
    assert PointConfig.from_dict({"decoder": "points", "width": 32}) == PointConfig(width=32)
    with pytest.raises(NeurokError, match="network with handles, which this version no longer has"):
        PointConfig.from_dict({"decoder": "handles", "slots": 8})
    with pytest.raises(NeurokError, match="no configuration of the deformation network"):
        PointConfig.from_dict({"depth": 3})


@pytest.mark.slow
def test_one_batch_can_be_learned(batch):
    from neurok_lab.train.deformation import DeformationRecipe
    from neurok_lab.train.loop import make_optimizers, set_rates

    torch.manual_seed(0)
    rest = batch.rest._replace(points=batch.rest.points[:, :, :4])
    few = batch._replace(rest=rest, displaced=batch.displaced[:, :, :, :4])
    task, config = DeformationTask(SMALL), DeformationRecipe(model=SMALL, steps=10_000, warmup=10)
    optimizers = make_optimizers(task, config)
    first = float(task(few).relative.detach())
    for step in range(200):
        set_rates(optimizers, config, step)
        terms = task(few, 0.0, torch.randn(4, 24))
        for optimizer in optimizers:
            optimizer.zero_grad()
        terms.loss.backward()
        torch.nn.utils.clip_grad_norm_(task.parameters(), 1.0)
        for optimizer in optimizers:
            optimizer.step()
    assert float(task(few).relative.detach()) < 0.1 < first
