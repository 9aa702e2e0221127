import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import t

from neurok.core import Mesh
from neurok.data.subject import patches_of
from neurok.deformation import handles
from neurok.deformation.batch import Rest
from neurok.deformation.handles import HandleConfig, HandleModel
from neurok.errors import NeurokError
from neurok.geometry.lie import apply, fit_rigid
from neurok.hub import load_model
from neurok.inference.prior import infer_space, to_box
from neurok.kinematics import HandleSpace
from neurok.kinematics.screws import PRIOR_REACH, TAIL, NeuralSpace
from neurok.modelling.shapes import Shape, box, join, sphere
from neurok.posing.registration import register_points
from neurok.samples import make_sample

SMALL = HandleConfig(width=32, heads=2, context_depth=1, slot_depth=1, slots=8)


@pytest.fixture(scope="module")
def model() -> HandleModel:
    torch.manual_seed(0)
    return HandleModel(SMALL)


@pytest.fixture(scope="module")
def space(model) -> NeuralSpace:
    return infer_space(make_sample("lamp").mesh, model, dim=5)


def test_zero_is_the_rest_shape(space):
    positions = space.decode(torch.zeros(5, dtype=torch.float64))
    np.testing.assert_allclose(positions, space.rest.vertices, atol=1e-12)


def test_it_has_the_fast_path_of_the_simulator_and_it_agrees_with_decoding(space):
    rng = np.random.default_rng(0)
    q, v = rng.normal(size=(2, 5)) * 0.5
    values, slopes = space.shape(q[None])
    decode = lambda at: space.decode(torch.as_tensor(at)).detach().numpy()  # noqa: E731
    np.testing.assert_allclose(space.features @ values[0], decode(q), atol=1e-10)
    numeric = (decode(q + 1e-5 * v) - decode(q - 1e-5 * v)) / 2e-5
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
    assert infer_space(make_sample("pillow").mesh, model, mode).dim <= 16


def test_an_object_elsewhere_larger_and_lying_has_the_same_space(model):
    mesh = make_sample("lamp").mesh
    other = mesh.in_frame("z", 0.01)
    moved = other.with_vertices(other.vertices + [3.0, 1.0, 2.0])
    one, two = (infer_space(m, model, dim=3) for m in (mesh, moved))
    q = torch.tensor([0.4, -0.3, 0.2], dtype=torch.float64)
    back = two.rest.with_vertices(two.decode(q).detach().numpy() - [3.0, 1.0, 2.0]).in_frame("y", 1.0)
    np.testing.assert_allclose(back.vertices, one.decode(q).detach().numpy(), atol=1e-6)


def test_samples_follow_from_the_seed(space):
    np.testing.assert_array_equal(space.sample(4, seed=1), space.sample(4, seed=1))
    assert not np.allclose(space.sample(4, seed=1), space.sample(4, seed=2))


def test_a_wrong_dimension_gets_a_sentence(model):
    with pytest.raises(NeurokError, match="dim must lie"):
        infer_space(make_sample("lamp").mesh, model, dim=0)


def test_matching_without_correspondence_finds_the_angle_of_a_hinge():
    laptop = make_sample("laptop").articulation
    (lid,) = [part for part, joint in enumerate(laptop.joints) if joint.dof]
    joint = laptop.joints[lid]
    turn = torch.as_tensor(np.cross(np.eye(3), joint.axis).T)
    origin = torch.as_tensor(np.array(joint.origin))

    def motion(q):
        rotation = torch.linalg.matrix_exp(q[0] * turn.T)
        moved = torch.cat([rotation, (origin - rotation @ origin)[:, None]], dim=1)
        still = torch.eye(3, 4, dtype=torch.float64)
        return torch.stack([moved if part == lid else still for part in range(len(laptop.joints))])

    space = HandleSpace(laptop.mesh, np.eye(len(laptop.joints))[laptop.vertex_parts], 1, motion)
    goal = 0.6 * min(joint.limits[0], key=lambda value: -abs(value))
    sign = 1.0 if np.allclose(space.decode(torch.tensor([0.3]).double()), laptop.pose([0.3]).vertices) else -1.0
    target = laptop.pose(np.array([goal])).vertices
    rows = np.random.default_rng(0).permutation(len(target))[:1500]
    starts = np.array([[0.0], [sign * goal / 2]])
    found, score = register_points(space, space.features[rows], target, starts, space.rest.size)
    assert found[0] == pytest.approx(sign * goal, abs=0.02)
    assert score < 0.01 * space.rest.size


def test_without_reduction_it_is_the_model_itself(model, monkeypatch):
    monkeypatch.setattr("neurok.inference.prior.TOGETHER", 0.0)  # all components stay bodies of their own
    mesh = make_sample("lamp").mesh
    space = infer_space(mesh, stiff_model(model, -5.0), "none", touch=False)
    patches = patches_of(mesh)
    low, high = mesh.bounds
    scale = float((high - low).max())
    points = torch.from_numpy(to_box(patches.points, mesh, (low + high) / 2, scale)).float()[None]
    areas = torch.from_numpy(patches.areas).float()[None]
    rest = Rest(points, points.mean(dim=2), torch.from_numpy(patches.groups)[None], areas, areas > 0)
    with torch.no_grad():
        context = model.encode_rest(rest)
        motion = model.decode(context, torch.ones(1, model.latent_size))
    values = space.values(space.middle[None] + 1.0).reshape(-1, 4, 3)
    count = len(values)
    np.testing.assert_allclose(values[:, :3].swapaxes(1, 2), motion.rotations[0, :count].numpy(), atol=1e-5)
    moved = np.einsum("hkc,hk->hc", values, np.concatenate([space.centers, np.ones((count, 1))], axis=1))
    np.testing.assert_allclose((moved - space.centers) / scale, motion.shifts[0, :count].numpy(), atol=1e-5)


def test_averages_are_over_the_whole_prior(space):
    draws = space.spread(4000)
    np.testing.assert_allclose(draws.mean(axis=0), space.middle, atol=0.1)
    np.testing.assert_allclose(np.cov(draws.T), np.eye(space.dim), atol=0.1)


def test_samples_move_some_coordinates_as_far_as_heavy_tails_say_and_leave_others_at_rest(space):
    assert TAIL == handles.TAIL
    draws = space.sample(8000)
    moved = draws != 0
    assert moved.any(axis=1).all()
    assert 0.5 < moved.mean() < 0.5 + 0.6 / space.dim
    for column, on, middle in zip(draws.T, moved.T, space.middle, strict=True):
        share = (np.abs(column[on] - middle) < t(TAIL).ppf(0.95)).mean()
        assert share == pytest.approx(0.9, abs=0.02)
    assert (draws >= space.limits[:, 0]).all()
    assert (draws <= space.limits[:, 1]).all()


def test_rest_is_within_the_limits(space):
    assert (space.limits[:, 0] <= 0).all()
    assert (space.limits[:, 1] >= 0).all()


@pytest.fixture(scope="module")
def jointed() -> NeuralSpace:
    """A space of rigid bodies, each with a joint."""
    return infer_space(make_sample("cabinet").mesh, load_model())


def test_rigid_bodies_get_joints_within_whose_room_samples_stay(jointed):
    assert jointed.room is not None
    assert jointed.facts["captured"] == pytest.approx(1.0), "no bends are left out, and all joints are there"
    known = np.isfinite(jointed.room).all(axis=1)
    assert known.any()
    draws = jointed.sample(2000)
    assert (draws >= np.minimum(jointed.limits[:, 0], 0.0)).all()
    assert (draws <= np.maximum(jointed.limits[:, 1], 0.0)).all()
    reach = jointed.middle[:, None] + [-PRIOR_REACH, PRIOR_REACH]
    for k in np.flatnonzero(known):
        low, high = max(jointed.room[k, 0], reach[k, 0]), min(jointed.room[k, 1], reach[k, 1])
        moved = draws[draws[:, k] != 0, k]
        assert moved.mean() == pytest.approx((min(low, 0) + max(high, 0)) / 2, abs=0.05 * (high - low) + 1e-9)


def test_each_joint_turns_about_a_fixed_line_or_slides(jointed):
    for screws in np.moveaxis(jointed.screws, 2, 0):
        omega, velocity = screws[:, :3], screws[:, 3:]
        np.testing.assert_allclose((omega * velocity).sum(axis=1), 0.0, atol=1e-9)


def test_joints_are_where_the_object_lies():
    mesh = make_sample("lamp").mesh
    lying = mesh.in_frame("z", 0.01)
    moved = lying.with_vertices(lying.vertices + [3.0, 1.0, 2.0])
    one, two = infer_space(mesh, load_model()), infer_space(moved, load_model())
    np.testing.assert_allclose(two.limits, one.limits, rtol=1e-4)
    q = torch.from_numpy(one.sample(1)[0])
    back = moved.with_vertices(two.decode(q).numpy() - [3.0, 1.0, 2.0]).in_frame("y", 1.0)
    np.testing.assert_allclose(back.vertices, one.decode(q).numpy(), atol=1e-5)


def test_what_is_rigid_rides_on_what_bends(model):
    """The eye of a fish has no joint of its own."""
    body, eye = sphere(0.5, segments=48, rings=24), sphere(0.06).move(z=0.55)
    mesh = make_mesh(join([body, eye]))
    space = infer_space(mesh, stiff_model(model, -5.0))
    assert space.room is not None
    assert np.isinf(space.room).all()
    moved = space.decode(torch.from_numpy(space.spread(1)[0])).numpy() - mesh.vertices
    pace = np.linalg.norm(moved, axis=1)
    assert pace[len(body.vertices) :].mean() > 0.1 * pace[: len(body.vertices)].mean()


def test_samples_move_a_joint_that_the_prior_would_move_the_other_way(jointed):
    room = np.tile([0.0, 2.0], (jointed.dim, 1))
    turned = replace(jointed, middle=np.full(jointed.dim, -20.0), room=room)
    draws = turned.sample(200)
    assert draws.min() >= 0
    assert draws.max() > 1.5


def test_a_component_that_never_bends_moves_as_one(model):
    mesh = make_sample("lamp").mesh
    groups = patches_of(mesh).handles.face_groups
    stiff = infer_space(mesh, stiff_model(model), dim=3)
    assert len(stiff.centers) <= len(np.unique(groups))
    moved = stiff.decode(torch.from_numpy(stiff.sample(1)[0])).numpy()
    for group in np.unique(groups):
        rows = np.unique(mesh.faces[groups == group])
        motion = fit_rigid(mesh.vertices[rows], moved[rows])
        np.testing.assert_allclose(apply(motion, mesh.vertices[rows]), moved[rows], atol=1e-6)


def test_a_box_bends_only_if_the_network_is_sure_and_what_is_round_if_it_doubts(model):
    board, ball = make_mesh(box((1.0, 0.6, 0.05))), make_mesh(sphere(0.5))
    count = lambda mesh, odds: len(infer_space(mesh, certain(model, odds), dim=3, touch=False).centers)  # noqa: E731
    assert count(board, -0.5) == 1 < count(board, -1.5)
    assert count(ball, 0.5) == 1 < count(ball, -0.5)


def test_merging_handles_of_one_body_changes_no_pose(model):
    mesh = make_sample("lamp").mesh
    space = infer_space(mesh, stiff_model(model, -5.0), dim=3)
    twin = replace(
        space,
        weights=np.concatenate([0.3 * space.weights, 0.7 * space.weights], axis=1),
        centers=np.tile(space.centers, (2, 1)),
        screws=np.tile(space.screws, (2, 1, 1)),
    )
    merged = twin.merged(np.tile(np.arange(len(space.centers)), 2))
    assert len(merged.centers) <= len(space.centers)
    q = torch.from_numpy(space.sample(1)[0])
    np.testing.assert_allclose(merged.decode(q), space.decode(q), atol=1e-12)


def certain(model: HandleModel, log_odds: float) -> HandleModel:
    """The same model, which holds everything to be rigid by these log-odds."""
    out = stiff_model(model, log_odds)
    torch.nn.init.zeros_(out.rigid_out.weight)
    return out


def make_mesh(shape: Shape) -> Mesh:
    return Mesh(shape.vertices, shape.faces)


def stiff_model(model: HandleModel, log_odds: float = 5.0) -> HandleModel:
    """The same model, sure that nothing bends, or that everything does."""
    sure = copy.deepcopy(model)
    torch.nn.init.constant_(sure.rigid_out.bias, log_odds)
    return sure
