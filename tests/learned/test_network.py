import numpy as np
import pytest
import torch

from neurok.catalogue.samples import make_sample
from neurok.core.articulation import wrap_limits
from neurok.learned.joint_network import SLIDE, TURN, JointConfig, JointModel, across, pivot_options
from neurok.learned.joints import QUARTERS
from neurok.learned.part_features import describe_parts
from neurok.learned.part_views import canonical_signs, labels_of, stack_clouds, stack_labels, turned
from neurok_lab.train.losses import JointTask, smoothed

SMALL = JointConfig(width=16, heads=2, depth=2, octaves=3)


@pytest.fixture(scope="module")
def examples():
    found = []
    for name in ("cabinet", "laptop", "lamp"):
        joints = make_sample(name).articulation
        clouds = describe_parts(joints.mesh)
        found.append((clouds, labels_of(clouds, joints.joints)))
    return found


def batch(examples, count=48):
    rng = np.random.default_rng(0)
    parts = stack_clouds([clouds for clouds, _ in examples], count, rng)
    targets = stack_labels([c for c, _ in examples], [k for _, k in examples], parts.points.shape[1], rng)
    return parts, targets


def test_padding_changes_nothing(examples):
    torch.manual_seed(0)
    model = JointModel(SMALL)
    alone = stack_clouds([examples[1][0]], 256, np.random.default_rng(0))
    padded = stack_clouds([clouds for clouds, _ in examples], 256, np.random.default_rng(0))
    count = alone.points.shape[1]
    first = model.motions(alone, model.encode(alone))
    second = model.motions(padded, model.encode(padded))
    assert torch.allclose(first.kinds[0], second.kinds[1, :count], atol=1e-5)
    assert torch.allclose(first.parents[0], second.parents[1, :count, :count], atol=1e-5)


def test_true_hinges_are_among_the_options(examples):
    parts, targets = batch(examples, 256)
    direction = parts.directions.gather(2, targets.chosen[..., None, None].expand(-1, -1, 1, 3))[:, :, 0]
    options = pivot_options(parts, direction, parts.points).options
    offset = options - targets.origins[:, :, :1]
    away = (offset - direction[:, :, None] * (offset * direction[:, :, None]).sum(-1, keepdim=True)).norm(dim=-1)
    turning = targets.origin_weights.sum(dim=-1) > 0
    assert turning.sum() >= 4
    assert away.amin(dim=-1)[turning].max() < 0.04


def test_the_plane_of_options_is_across_the_axis(examples):
    parts, targets = batch(examples)
    direction = parts.directions.gather(2, targets.chosen[..., None, None].expand(-1, -1, 1, 3))[:, :, 0]
    first, second = across(parts, direction)
    present = parts.present
    for one, two in ((first, second), (first, direction), (second, direction)):
        assert (one * two).sum(dim=-1)[present].abs().max() < 1e-5


def test_smoothing_keeps_totals_and_spreads_over_what_is_allowed():
    shares = torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.5, 0.5, 0.0]])
    allowed = torch.tensor([[1.0, 1.0, 0.0]]).expand(3, 3)
    assert torch.equal(smoothed(shares, allowed, 0.0), shares)
    expected = torch.tensor([[0.9, 0.1, 0.0], [0.0, 0.0, 0.0], [0.5, 0.5, 0.0]])
    assert torch.allclose(smoothed(shares, allowed, 0.2), expected)


def test_all_losses_fall_on_a_few_objects(examples):
    torch.manual_seed(0)
    task = JointTask(SMALL)
    parts, targets = batch(examples)
    optimizer = torch.optim.AdamW(task.parameters(), 3e-3)
    first = task(parts, targets).parts
    for _ in range(80):
        optimizer.zero_grad()
        terms = task(parts, targets)
        terms.loss.backward()
        optimizer.step()
    for name in ("kinds", "axes", "parents", "votes", "limits"):
        assert terms.parts[name] < 0.5 * first[name], name
    assert terms.parts["pivots"] < first["pivots"]


@pytest.mark.parametrize("matrix", [QUARTERS[1], np.diag([-1.0, 1.0, 1.0]), np.diag([1.0, 0.8, 1.2])])
def test_labels_move_with_the_object(examples, matrix):
    """A point of a part carried along its joint and then seen in the view is where the view's joint carries it."""
    for clouds, labels in examples:
        view, seen = turned(clouds, labels, matrix)
        raw = clouds.points @ matrix.T
        low, high = raw.min(axis=(0, 1)), raw.max(axis=(0, 1))
        into = lambda x, low=low, high=high: (x @ matrix.T - (low + high) / 2) / (high - low).max()  # noqa: E731
        assert np.allclose(view.points, into(clouds.points))
        for c, owner in enumerate(labels.owners):
            is_rigid = np.allclose(abs(np.linalg.det(matrix)), 1.0) and np.allclose(matrix @ matrix.T, np.eye(3))
            if labels.moves[c] == TURN and not is_rigid:
                continue
            end = np.nan_to_num(labels.limits[c, 1], nan=0.7)
            there = np.nan_to_num(seen.limits[c], nan=0.7)
            moved = carried(clouds.points[owner], labels, c, end)
            options = [carried(view.points[owner], seen, c, value) for value in (there[1], -there[1], there[0])]
            assert min(np.abs(into(moved) - option).max() for option in options) < 1e-6


def carried(points, labels, c, value):
    from neurok.geometry import lie

    if labels.moves[c] == SLIDE:
        return points + value * labels.axes[c]
    return lie.apply(lie.rotation_about(labels.axes[c], labels.origins[c], value), points)


def test_limits_are_counted_from_the_nearest_turn():
    assert wrap_limits(-8.64, -3.93) == pytest.approx((-8.64 + 2 * np.pi, -3.93 + 2 * np.pi))
    assert wrap_limits(0.0, 3.0) == (0.0, 3.0)
    assert wrap_limits(-np.inf, np.inf) == (-np.inf, np.inf)


def test_opposite_directions_have_opposite_signs():
    directions = np.random.default_rng(0).normal(size=(100, 3))
    assert (canonical_signs(directions) == -canonical_signs(-directions)).all()
