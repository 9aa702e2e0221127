import json
import sys
import types
from dataclasses import replace

import numpy as np
import pytest
import torch

import neurok
from neurok import hub
from neurok.deformation.handles import HandleConfig, HandleModel
from neurok.deformation.points import PointConfig, PointModel
from neurok.errors import FormatError, MissingDependencyError, NeurokError
from neurok.hub import has_weights, infer, load_card, load_model, save_model
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


def test_a_card_that_lies_or_is_damaged_gets_a_sentence(weights, tmp_path):
    copy = tmp_path / "mine.safetensors"
    copy.write_bytes(weights.read_bytes())
    card = load_card(weights)
    for change, word in (({"sha256": "0"}, "checksum"), ({"config": {"width": 32, "heads": 2}}, "do not fit")):
        copy.with_suffix(".json").write_text(json.dumps({**card, **change}))
        with pytest.raises(FormatError, match=word):
            load_model(copy)
    for text in ("{", "[]"):
        copy.with_suffix(".json").write_text(text)
        with pytest.raises(FormatError, match="damaged"):
            load_card(copy)


def test_unknown_weights_get_a_sentence():
    assert not has_weights("nothing")
    with pytest.raises(NeurokError, match="no weights 'nothing'"):
        load_model("nothing")
    with pytest.raises(NeurokError, match="no weights"):
        load_model("some/where/else.safetensors")


def test_a_hub_id_without_the_package_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"neurok\[hub\]"):
        load_model("some/model")


def test_a_hub_id_is_fetched_checked_and_loaded(monkeypatch, weights):
    asked = []

    def download(repository, name):
        asked.append((repository, name))
        return str(weights.parent / name)

    monkeypatch.setitem(sys.modules, "huggingface_hub", types.SimpleNamespace(hf_hub_download=download, __spec__=1))
    monkeypatch.setattr(hub, "require", lambda *names: None)
    assert load_model("some/model").config == SMALL
    assert asked == [("some/model", "deformation.json"), ("some/model", "deformation.safetensors")]


def test_a_hub_that_does_not_answer_gets_one_sentence(monkeypatch):
    def download(repository, name):
        raise OSError("no route to host\nmore")

    monkeypatch.setitem(sys.modules, "huggingface_hub", types.SimpleNamespace(hf_hub_download=download))
    monkeypatch.setattr(hub, "require", lambda *names: None)
    with pytest.raises(NeurokError, match=r"fetched from the hub: no route to host\.$"):
        load_model("some/model")


def test_nothing_is_learned_of_an_object_in_which_nothing_moves(weights, monkeypatch):
    lamp = infer("sample:lamp", weights)
    assert hub.learner(weights)(lamp.rest).dim == lamp.dim
    monkeypatch.setattr(hub, "infer", lambda mesh, weights, touch: replace(lamp, screws=np.zeros_like(lamp.screws)))
    assert hub.learner(weights)(lamp.rest) is None
