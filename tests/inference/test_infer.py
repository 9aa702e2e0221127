import numpy as np
import pytest
import torch

import neurok
from neurok.catalogue.samples import make_sample
from neurok.errors import NeurokError
from neurok.hub import save_model
from neurok.inference.points import PointSpace
from neurok.kinematics import ArticulatedSpace
from neurok.learned.deformation.points import PointConfig, PointModel
from neurok.model import understand
from neurok.modelling.shapes import slab
from neurok.verbs import infer, plan
from solids import of_parts

SMALL = PointConfig(width=16, heads=2, prior_depth=1, pose_depth=1, decoder_depth=1, query_depth=1)


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    torch.manual_seed(0)
    model = PointModel(SMALL)
    torch.nn.init.normal_(model.decoder_out.weight, std=0.1)
    path = tmp_path_factory.mktemp("weights") / "deformation.safetensors"
    save_model(model, path, {"data": "none"})
    return path


def test_three_lines_take_a_mesh_to_motion(weights):
    for space in (neurok.infer("sample:lamp"), neurok.infer("sample:lamp", weights, latent=True, dim=3)):
        assert space.sample(8).shape == (8, space.dim)
        rollout = neurok.simulate(space, neurok.World(gravity=np.zeros(3)), seconds=0.2)
        assert rollout.status == "ok"


def test_a_mesh_an_asset_and_a_file_have_the_same_space(weights, tmp_path):
    asset = make_sample("laptop")
    neurok.save(asset.mesh, tmp_path / "laptop.ply")
    spaces = [infer(thing, weights, dim=2, latent=True) for thing in (asset, asset.mesh, tmp_path / "laptop.ply")]
    np.testing.assert_array_equal(spaces[0].sample(2), spaces[1].sample(2))
    assert spaces[2].rest.vertex_count == asset.mesh.vertex_count


def test_nothing_moves_in_one_hard_box():
    solid = of_parts(only=[slab((0, 0, 0), (1, 1, 1))])
    assert infer(solid).dim == 0
    assert understand(solid).space().dim == 0


def test_a_given_plan_says_what_moves():
    """No search is made: bodies, joint and limits are those of the plan."""
    found = plan("sample:laptop", method="search")
    space = infer("sample:laptop", plan=found)
    assert isinstance(space, ArticulatedSpace)
    assert space.articulation is found.articulation
    (body,) = [k for k, one in enumerate(found.bodies) if one.joint is not None]
    assert infer("sample:laptop", plan=found.with_joint(body, None)).dim == 0


def test_the_latent_is_asked_for_by_name_and_may_be_reduced(weights):
    space = infer("sample:lamp", weights, latent=True, dim=2)
    assert isinstance(space, PointSpace)
    assert space.dim == 2
    assert infer("sample:lamp", weights, latent=True, mode="none").dim == SMALL.tokens * SMALL.latent
    with pytest.raises(NeurokError, match="dim must lie in"):
        infer("sample:lamp", weights, latent=True, dim=0)
    for options in ({"model": weights}, {"dim": 2}, {"mode": "none"}):
        with pytest.raises(NeurokError, match="latent=True"):
            infer("sample:lamp", **options)


def test_weights_of_another_task_get_a_sentence():
    with pytest.raises(NeurokError, match="are for articulation, but weights for deformation are needed"):
        infer("sample:lamp", "articulation", latent=True)
