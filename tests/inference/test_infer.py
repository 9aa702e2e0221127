from dataclasses import replace

import numpy as np
import pytest
import torch

import neurok
from neurok.deformation.handles import HandleConfig, HandleModel
from neurok.deformation.points import PointConfig, PointModel
from neurok.errors import NeurokError
from neurok.hub import save_model
from neurok.inference import infer as infer_file
from neurok.inference.infer import infer
from neurok.samples import make_sample

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
    spaces = [infer(thing, weights, dim=2, exact=True) for thing in (asset, asset.mesh, tmp_path / "laptop.ply")]
    np.testing.assert_array_equal(spaces[0].sample(2), spaces[1].sample(2))
    assert spaces[2].rest.vertex_count == asset.mesh.vertex_count


def test_the_point_model_is_loaded_and_inferred_by_the_same_verbs(tmp_path):
    model = PointModel(PointConfig(width=16, heads=2))
    save_model(model, tmp_path / "points.safetensors", {})
    space = infer(make_sample("lamp").mesh, tmp_path / "points.safetensors", dim=2, exact=True)
    assert space.dim == 2


def test_nothing_is_learned_of_an_object_in_which_nothing_moves(weights, monkeypatch):
    lamp = infer("sample:lamp", weights)
    assert infer_file.learner(weights)(lamp.rest).dim == lamp.dim
    monkeypatch.setattr(
        infer_file, "infer", lambda mesh, weights, touch: replace(lamp, screws=np.zeros_like(lamp.screws))
    )
    assert infer_file.learner(weights)(lamp.rest) is None


def test_weights_of_another_task_get_a_sentence():
    with pytest.raises(NeurokError, match="are for articulation, but weights for deformation are needed"):
        infer("sample:lamp", "articulation")
