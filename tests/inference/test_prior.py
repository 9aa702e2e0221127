"""What the deformation model says of a mesh: one pass, and spaces in closed form."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import t

from neurok.catalogue.samples import make_sample
from neurok.core import Mesh
from neurok.core.mesh import UnitBox
from neurok.errors import NeurokError
from neurok.geometry.lie import apply, fit_rigid
from neurok.inference.prior import LearnedPrior, PriorConfig
from neurok.kinematics import ArticulatedSpace
from neurok.kinematics.screws import MAX_DIMENSION, PRIOR_REACH, TAIL_FREEDOM, ScrewSpace
from neurok.kinematics.space import decode
from neurok.learned.deformation import handles
from neurok.learned.deformation.batch import Rest
from neurok.learned.deformation.handles import HandleConfig, HandleModel
from neurok.learned.subject import patches_of
from neurok.modelling.shapes import Shape, box, join, sphere
from neurok.posing.registration import register_points

SMALL = HandleConfig(width=32, heads=2, context_depth=1, slot_depth=1, slots=8)


@pytest.fixture(scope="module")
def model() -> HandleModel:
    torch.manual_seed(0)
    return HandleModel(SMALL)


@pytest.fixture(scope="module")
def prior(model) -> LearnedPrior:
    return LearnedPrior.of(make_sample("lamp").mesh, model)


@pytest.fixture(scope="module")
def space(prior) -> ScrewSpace:
    return prior.wide(dim=5)


def make_mesh(shape: Shape) -> Mesh:
    return Mesh(shape.vertices, shape.faces)


def stiff_model(model: HandleModel, log_odds: float = 5.0) -> HandleModel:
    """The same model, sure that nothing bends, or that everything does."""
    sure = copy.deepcopy(model)
    torch.nn.init.constant_(sure.rigid_out.bias, log_odds)
    return sure


def certain(model: HandleModel, log_odds: float) -> HandleModel:
    """The same model, which holds everything to be rigid by these log-odds."""
    out = stiff_model(model, log_odds)
    torch.nn.init.zeros_(out.rigid_out.weight)
    return out


def test_zero_is_the_rest_shape(space):
    np.testing.assert_allclose(decode(space, np.zeros(5)), space.rest.vertices, atol=1e-12)


def test_it_has_the_fast_path_of_the_simulator_and_it_agrees_with_decoding(space):
    rng = np.random.default_rng(0)
    q, v = rng.normal(size=(2, 5)) * 0.5
    values, slopes = space.shape(q[None])
    np.testing.assert_allclose(space.features @ values[0], decode(space, q), atol=1e-10)
    numeric = (decode(space, q + 1e-5 * v) - decode(space, q - 1e-5 * v)) / 2e-5
    assert np.abs(numeric).max() > 1e-3
    np.testing.assert_allclose(np.einsum("vk,dkc,d->vc", space.features, slopes[0], v), numeric, atol=1e-6)
    rate = space.shape_rate(q[None], v[None])[0]
    numeric_rate = (space.shape((q + 1e-5 * v)[None])[1] - space.shape((q - 1e-5 * v)[None])[1])[0] / 2e-5
    np.testing.assert_allclose(rate, numeric_rate, atol=1e-6)


def test_the_basis_is_orthonormal_and_the_spectrum_falls(space):
    basis, spectrum = space.reduction.basis, space.reduction.spectrum
    np.testing.assert_allclose(basis.T @ basis, np.eye(5), atol=1e-10)
    assert (np.diff(spectrum) <= 1e-12).all()
    assert 0 < space.reduction.captured <= 1


@pytest.mark.parametrize("mode", ["paper", "gram"])
def test_the_number_of_coordinates_is_capped(model, mode):
    assert 1 <= LearnedPrior.of(make_sample("pillow").mesh, model).wide(mode).dim <= MAX_DIMENSION


def test_more_coordinates_hold_more_of_the_motion(prior):
    shares = [prior.wide(dim=dim).reduction.captured for dim in (1, 3, 8)]
    assert shares == sorted(shares)
    assert shares[0] < shares[-1] <= 1.0 + 1e-12


def test_an_object_elsewhere_larger_and_lying_has_the_same_space(model, prior):
    other = make_sample("lamp").mesh.in_frame("z", 0.01)
    moved = other.with_vertices(other.vertices + [3.0, 1.0, 2.0])
    one, two = prior.wide(dim=3), LearnedPrior.of(moved, model).wide(dim=3)
    q = np.array([0.4, -0.3, 0.2])
    back = two.rest.with_vertices(decode(two, q) - [3.0, 1.0, 2.0]).in_frame("y", 1.0)
    np.testing.assert_allclose(back.vertices, decode(one, q), atol=1e-6)


def test_samples_follow_from_the_seed(space):
    np.testing.assert_array_equal(space.sample(4, seed=1), space.sample(4, seed=1))
    assert not np.allclose(space.sample(4, seed=1), space.sample(4, seed=2))


@pytest.mark.parametrize("dim", [0, -1, 1000])
def test_a_wrong_dimension_gets_a_sentence(prior, dim):
    with pytest.raises(NeurokError, match=rf"dim must lie in 1\.\.{prior.space.dim}, got {dim}"):
        prior.wide(dim=dim)


def test_matching_without_correspondence_finds_the_angle_of_a_hinge():
    laptop = make_sample("laptop").articulation
    (lid,) = [part for part, joint in enumerate(laptop.joints) if joint.dof]
    joint = laptop.joints[lid]
    space = ArticulatedSpace(laptop)
    goal = 0.6 * min(joint.limits[0], key=lambda value: -abs(value))
    target = laptop.pose(np.array([goal])).vertices
    rows = np.random.default_rng(0).permutation(len(target))[:1500]
    starts = np.array([[0.0], [goal / 2]])
    found, score, _ = register_points(space, space.features[rows], target, starts, space.rest.size)
    assert found[0] == pytest.approx(goal, abs=0.02)
    assert score < 0.01 * space.rest.size


def test_without_reduction_it_is_the_model_itself(model):
    """Nothing is rigid, and nothing is too slow to count."""
    mesh = make_sample("lamp").mesh
    bending = stiff_model(model, -5.0)
    prior = LearnedPrior.of(mesh, bending, PriorConfig(still=0.0, lively=0.0))
    space, patches = prior.wide("none"), prior.patches
    box = UnitBox.around(patches.points[: patches.handles.count], mesh.up)
    points = torch.from_numpy(box.to_box(patches.points)).float()[None]
    areas = torch.from_numpy(patches.areas).float()[None]
    rest = Rest(points, points.mean(dim=2), torch.from_numpy(patches.groups)[None], areas, areas > 0)
    with torch.no_grad():
        context = bending.encode_rest(rest)
        motion = bending.decode(context, torch.ones(1, bending.latent_size))
    values = space.values(space.middle[None] + 1.0).reshape(-1, 4, 3)
    # Single patches are rigid and handles that agree are one: compare those that are still there by their centres.
    centers = patches.points[: patches.handles.count].mean(axis=1)
    rows = np.array([np.flatnonzero((centers == center).all(axis=1))[0] for center in space.centers])
    assert len(rows) == patches.handles.count
    np.testing.assert_allclose(values[:, :3].swapaxes(1, 2), motion.rotations[0, rows].numpy(), atol=1e-5)
    lifted = np.concatenate([space.centers, np.ones((len(rows), 1))], axis=1)
    moved = np.einsum("hkc,hk->hc", values, lifted)
    np.testing.assert_allclose((moved - space.centers) / box.size, motion.shifts[0, rows].numpy(), atol=1e-5)


def test_averages_are_over_the_whole_prior(space):
    draws = space.spread(4000)
    np.testing.assert_allclose(draws.mean(axis=0), space.middle, atol=0.1)
    np.testing.assert_allclose(np.cov(draws.T), np.eye(space.dim), atol=0.1)


def test_samples_move_some_coordinates_as_far_as_heavy_tails_say_and_leave_others_at_rest(space):
    tail = TAIL_FREEDOM
    assert tail == handles.TAIL
    draws = space.sample(8000)
    moved = draws != 0
    assert moved.any(axis=1).all()
    assert 0.5 < moved.mean() < 0.5 + 0.6 / space.dim
    for column, on, middle in zip(draws.T, moved.T, space.middle, strict=True):
        share = (np.abs(column[on] - middle) < t(tail).ppf(0.95)).mean()
        assert share == pytest.approx(0.9, abs=0.02)
    assert (draws >= space.limits[:, 0]).all()
    assert (draws <= space.limits[:, 1]).all()


def test_rest_is_within_the_limits(space):
    assert (space.limits[:, 0] <= 0).all()
    assert (space.limits[:, 1] >= 0).all()
    away = replace(space, middle=np.full(space.dim, 20.0))
    np.testing.assert_allclose(away.limits, np.tile([0.0, 20.0 + PRIOR_REACH], (space.dim, 1)))


def test_what_is_rigid_rides_on_what_bends_where_nothing_has_a_joint(model):
    """The eye of a fish has no joint of its own."""
    body, eye = sphere(0.5, segments=48, rings=24), sphere(0.06).move(z=0.55)
    mesh = make_mesh(join([body, eye]))
    prior = LearnedPrior.of(mesh, stiff_model(model, -5.0))
    prior = replace(prior, rigid=np.arange(2) == _group_of_smallest(prior))
    whole = np.eye(prior.space.dim)
    pace = lambda space: np.linalg.norm(decode(space, space.spread(1)[0]) - mesh.vertices, axis=1)  # noqa: E731
    swims, stands = pace(prior.bend_space(whole, alone=True)), pace(prior.bend_space(whole, alone=False))
    count = len(body.vertices)
    assert swims[count:].mean() > 0.1 * swims[:count].mean() > 0
    assert stands[count:].max() < 1e-12 < stands[:count].mean()


def _group_of_smallest(prior: LearnedPrior) -> int:
    areas = np.bincount(prior.patches.groups, prior.patches.areas)
    return int(areas[: len(prior.rigid)].argmin())


def test_a_space_that_contacts_do_not_hold_bends_as_the_wide_one(model):
    mesh = make_mesh(sphere(0.5, segments=24, rings=12))
    prior = LearnedPrior.of(mesh, stiff_model(model, -5.0))
    free = prior.bend_space(np.eye(prior.space.dim), alone=True)
    held = prior.bend_space(1e-4 * np.eye(prior.space.dim), alone=True)
    moved = [np.abs(space.slopes_at_rest()).max() for space in (free, held)]
    assert free.dim > 0
    assert moved[1] == pytest.approx(0.01 * moved[0], rel=0.2)


def test_a_component_that_never_bends_moves_as_one(model):
    mesh = make_sample("lamp").mesh
    groups = patches_of(mesh).handles.face_groups
    stiff = LearnedPrior.of(mesh, stiff_model(model)).wide(dim=3)
    assert len(stiff.centers) <= len(np.unique(groups))
    moved = decode(stiff, stiff.sample(1)[0])
    assert np.abs(moved - mesh.vertices).max() > 1e-3 * mesh.size
    for group in np.unique(groups):
        rows = np.unique(mesh.faces[groups == group])
        motion = fit_rigid(mesh.vertices[rows], moved[rows])
        np.testing.assert_allclose(apply(motion, mesh.vertices[rows]), moved[rows], atol=1e-6)


def test_a_box_bends_only_if_the_network_is_sure_and_what_is_round_if_it_doubts(model):
    board, ball = make_mesh(box((1.0, 0.6, 0.05))), make_mesh(sphere(0.5))
    count = lambda mesh, odds: len(LearnedPrior.of(mesh, certain(model, odds)).wide(dim=3).centers)  # noqa: E731
    assert count(board, -0.5) == 1 < count(board, -1.5)
    assert count(ball, 0.5) == 1 < count(ball, -0.5)


def test_merging_handles_of_one_body_changes_no_pose(model):
    mesh = make_sample("lamp").mesh
    space = LearnedPrior.of(mesh, stiff_model(model, -5.0)).wide(dim=3)
    twin = replace(
        space,
        weights=np.concatenate([0.3 * space.weights, 0.7 * space.weights], axis=1),
        centers=np.tile(space.centers, (2, 1)),
        screws=np.tile(space.screws, (2, 1, 1)),
    )
    merged = twin.merged(np.tile(np.arange(len(space.centers)), 2))
    assert len(merged.centers) <= len(space.centers)
    q = space.sample(1)[0]
    np.testing.assert_allclose(decode(merged, q), decode(space, q), atol=1e-12)
