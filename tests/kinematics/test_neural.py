import copy

import numpy as np
import pytest
import torch

from neurok.data.subject import patches_of
from neurok.deformation.handles import HandleConfig, HandleModel
from neurok.errors import NeurokError
from neurok.kinematics import FeatureSpace, HandleSpace
from neurok.kinematics.match import match_points
from neurok.kinematics.neural import NeuralSpace, infer_space
from neurok.samples import make_sample

SMALL = HandleConfig(width=32, heads=2, context_depth=1, pose_depth=1, decoder_depth=1)


@pytest.fixture(scope="module")
def model() -> HandleModel:
    """Untrained, but awake: its outputs are not zero."""
    torch.manual_seed(0)
    model = HandleModel(SMALL)
    torch.nn.init.normal_(model.decoder_out.weight, std=0.03)
    return model


@pytest.fixture(scope="module")
def space(model) -> NeuralSpace:
    return infer_space(make_sample("lamp").mesh, model, dim=5)


def test_zero_is_the_rest_shape(space):
    positions = space.decode(torch.zeros(5, dtype=torch.float64))
    np.testing.assert_allclose(positions, space.rest.vertices, atol=1e-12)


def test_it_has_the_fast_path_of_the_simulator_and_it_agrees_with_decoding(space):
    assert isinstance(space, FeatureSpace)
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
    found, score = match_points(space, space.features[rows], target, starts, space.rest.size)
    assert found[0] == pytest.approx(sign * goal, abs=0.02)
    assert score < 0.01 * space.rest.size


def test_coordinates_and_latents_go_back_and_forth(space):
    q = torch.randn(3, 5, dtype=torch.float64)
    torch.testing.assert_close(space.coordinates(space.latent(q)), q)
    np.testing.assert_allclose(space.coordinates(space.start).numpy(), 0.0, atol=1e-12)


def test_a_component_that_never_bends_moves_as_one(model):
    mesh = make_sample("lamp").mesh
    patches = patches_of(mesh)
    stiff = infer_space(mesh, stiff_model(model), dim=3)
    moved = stiff.quick_transforms(stiff.sample(4))
    for group in np.unique(patches.groups[patches.areas > 0]):
        members = np.flatnonzero((patches.groups == group) & (patches.areas > 0))
        np.testing.assert_allclose(moved[:, members] - moved[:, members[:1]], 0.0, atol=1e-5)
    turns = moved[..., :3]
    np.testing.assert_allclose(turns @ turns.swapaxes(-1, -2), np.broadcast_to(np.eye(3), turns.shape), atol=1e-5)


def stiff_model(model: HandleModel) -> HandleModel:
    """The same model, sure that nothing bends."""
    sure = copy.deepcopy(model)
    torch.nn.init.constant_(sure.rigid_out.bias, 5.0)
    return sure
