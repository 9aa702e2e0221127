from dataclasses import replace

import numpy as np
import pytest
import torch

import neurok
from neurok.catalogue.samples import make_sample
from neurok.errors import NeurokError
from neurok.hub import load_model, save_model
from neurok.kinematics import ArticulatedSpace
from neurok.kinematics.mixed import MixedSpace
from neurok.kinematics.screws import ScrewSpace
from neurok.kinematics.space import decode
from neurok.learned.deformation.handles import HandleConfig, HandleModel
from neurok.learned.deformation.points import PointConfig, PointModel
from neurok.model import Weights, understand
from neurok.modelling.shapes import slab
from neurok.verbs import infer, plan
from solids import of_parts

SMALL = HandleConfig(width=16, heads=2, context_depth=1, slot_depth=1, slots=8)


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    torch.manual_seed(0)
    model = HandleModel(SMALL)
    path = tmp_path_factory.mktemp("weights") / "deformation.safetensors"
    save_model(model, path, {"data": "none"})
    return path


def test_three_lines_take_a_mesh_to_motion(weights):
    space = neurok.infer("sample:lamp", weights, dim=3)
    assert space.sample(8).shape == (8, 3)
    rollout = neurok.simulate(space, neurok.World(gravity=np.zeros(3)), seconds=0.2)
    assert rollout.status == "ok"


def test_a_mesh_an_asset_and_a_file_have_the_same_space(weights, tmp_path):
    asset = make_sample("laptop")
    neurok.save(asset.mesh, tmp_path / "laptop.ply")
    spaces = [infer(thing, weights, dim=2, wide=True) for thing in (asset, asset.mesh, tmp_path / "laptop.ply")]
    np.testing.assert_array_equal(spaces[0].sample(2), spaces[1].sample(2))
    assert spaces[2].rest.vertex_count == asset.mesh.vertex_count


def test_the_point_model_is_loaded_and_inferred_by_the_same_verbs(tmp_path):
    model = PointModel(PointConfig(width=16, heads=2))
    save_model(model, tmp_path / "points.safetensors", {})
    space = infer(make_sample("lamp").mesh, tmp_path / "points.safetensors", dim=2)
    assert space.dim == 2


def test_nothing_is_learned_of_an_object_in_which_nothing_moves(weights):
    """One solid box: the network holds it to be rigid, and it has nothing to hang on."""
    solid = of_parts(only=[slab((0, 0, 0), (1, 1, 1))])
    sure = load_model(weights, "deformation")
    torch.nn.init.constant_(sure.rigid_out.bias, 50.0)
    assert infer(solid, sure).dim == 0
    assert understand(solid, weights=Weights(sure)).space().dim == 0


def test_a_given_plan_says_what_moves(weights):
    """No search is made: bodies, joint and limits are those of the plan."""
    found = plan("sample:laptop", method="search")
    space = infer("sample:laptop", weights, plan=found)
    assert isinstance(space, ArticulatedSpace)
    assert space.articulation is found.articulation
    (body,) = [k for k, one in enumerate(found.bodies) if one.joint is not None]
    assert infer("sample:laptop", weights, plan=found.with_joint(body, None)).dim == 0


@pytest.mark.slow
def test_an_object_of_which_one_body_bends_has_both_kinds_of_coordinates(weights):
    """A plan that says so by hand; the network bends everything."""
    found = plan("sample:laptop", method="search", parts="pieces")
    bending = load_model(weights, "deformation")
    torch.nn.init.constant_(bending.rigid_out.bias, -50.0)
    still = next(k for k, body in enumerate(found.bodies) if body.joint is None)
    bodies = tuple(replace(body, bends=k == still) for k, body in enumerate(found.bodies))
    space = infer("sample:laptop", bending, plan=replace(found, bodies=bodies))
    assert isinstance(space, MixedSpace)
    assert space.dim == found.articulation.dof + space.screws.dim
    np.testing.assert_array_equal(space.limits[: found.articulation.dof], found.articulation.limits)
    np.testing.assert_allclose(decode(space, np.zeros(space.dim)), space.rest.vertices, atol=1e-12)


def test_the_wide_space_is_asked_for_by_name_or_by_a_reduction(weights):
    model = understand("sample:lamp", weights=Weights(weights))
    for space in (model.wide_space(), infer("sample:lamp", weights, wide=True)):
        assert isinstance(space, ScrewSpace)
    np.testing.assert_array_equal(infer("sample:lamp", weights, wide=True).screws, model.wide_space().screws)
    assert infer("sample:lamp", weights, dim=2).dim == 2
    assert infer("sample:lamp", weights, mode="none").dim == model.network.latent_size
    with pytest.raises(NeurokError, match="dim must lie in"):
        infer("sample:lamp", weights, dim=0)


def test_weights_of_another_task_get_a_sentence():
    with pytest.raises(NeurokError, match="are for articulation, but weights for deformation are needed"):
        infer("sample:lamp", "articulation")
