import json
import sys
import tomllib
import types
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load, save

from neurok import hub
from neurok.errors import FormatError, MissingDependencyError, NeurokError
from neurok.hub import has_weights, load_card, load_model, save_model
from neurok.learned.deformation.points import PointConfig, PointModel
from neurok.learned.ensemble import Ensemble
from neurok.learned.joint_network import JointConfig, JointModel

SMALL = PointConfig(width=16, heads=2, prior_depth=1, pose_depth=1, decoder_depth=1, query_depth=1)
JOINTS = JointConfig(width=16, heads=2, depth=1, octaves=3)


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    torch.manual_seed(0)
    model = PointModel(SMALL)
    path = tmp_path_factory.mktemp("weights") / "deformation.safetensors"
    save_model(model, path, {"data": "none"})
    return path


@pytest.fixture
def joints(tmp_path):
    torch.manual_seed(0)
    path = tmp_path / "articulation.safetensors"
    save_model(Ensemble((JointModel(JOINTS), JointModel(JOINTS)), (0.5, 1.0), (2.0, -1.0)), path, {"data": "none"})
    return path


def rewritten(path: Path, tensors: dict[str, torch.Tensor], **changes) -> Path:
    """The same weights with other tensors and other lines in their card, under a name of their own."""
    data = save(tensors)
    copy = path.with_name(f"copy_of_{path.name}")
    copy.write_bytes(data)
    card = {**load_card(path), "sha256": hub.hashlib.sha256(data).hexdigest(), **changes}
    copy.with_suffix(".json").write_text(json.dumps(card))
    return copy


def test_every_shipped_name_is_loaded_by_one_verb():
    assert isinstance(load_model("deformation"), PointModel)
    for name in ("articulation", "articulation_held_out"):
        assert isinstance(load_model(name), Ensemble)
    assert load_model("articulation") is load_model(hub.SHIPPED / "articulation.safetensors")


def test_a_card_names_its_task_and_older_cards_are_known_by_what_they_describe(weights, joints):
    for path, task in ((weights, "deformation"), (joints, "articulation")):
        card = load_card(path)
        assert card.pop("task") == task
        old = path.with_name(f"old_{path.name}")
        old.write_bytes(path.read_bytes())
        old.with_suffix(".json").write_text(json.dumps(card))
        assert type(load_model(old)) is type(load_model(path))
    copy = rewritten(weights, load(weights.read_bytes()), task="cooking")
    with pytest.raises(FormatError, match="task 'cooking'; this version of neurok knows deformation, articulation"):
        load_model(copy)
    assert load_model(joints).calibration == (0.5, 1.0)
    assert load_model(joints).piece_calibration == (2.0, -1.0)


def test_weights_and_calibrations_must_be_finite(joints, tmp_path):
    tensors = load(joints.read_bytes())
    name = next(iter(tensors))
    spoiled = {**tensors, name: torch.full_like(tensors[name], torch.nan)}
    with pytest.raises(FormatError, match=f"{name} is not finite"):
        load_model(rewritten(joints, spoiled))
    with pytest.raises(FormatError, match="calibration has numbers that are not finite"):
        load_model(rewritten(joints, tensors, calibration={"parts": [1.0, float("nan")], "pieces": [1.0, 0.0]}))
    model = load_model(joints)
    with pytest.raises(NeurokError, match="not written: their card has numbers that are not finite"):
        save_model(replace(model, calibration=(float("inf"), 0.0)), tmp_path / "bad.safetensors", {})
    large = PointModel(SMALL)
    torch.nn.init.constant_(next(large.parameters()), 1e6)
    with pytest.raises(NeurokError, match="not finite in half precision"):
        save_model(large, tmp_path / "bad.safetensors", {})
    assert not (tmp_path / "bad.safetensors").exists()


def test_tensors_that_are_missing_or_unknown_are_named(joints):
    tensors = load(joints.read_bytes())
    name = next(iter(tensors))
    lacking = {key: value for key, value in tensors.items() if key != name}
    with pytest.raises(FormatError, match=f"{name} is missing; 0.surplus is unknown to the model"):
        load_model(rewritten(joints, {**lacking, "0.surplus": torch.zeros(1)}))
    card = load_card(joints)
    del card["calibration"]
    joints.with_suffix(".json").write_text(json.dumps(card))
    with pytest.raises(FormatError, match="it lacks 'calibration'"):
        load_model(joints)


def test_weights_written_anew_are_read_anew(weights, tmp_path):
    path = tmp_path / "mine.safetensors"
    for tokens in (8, 12):
        save_model(PointModel(replace(SMALL, tokens=tokens)), path, {})
        assert load_model(path).config.tokens == tokens


def test_the_advised_extra_exists():
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    assert any("huggingface_hub" in package for package in project["optional-dependencies"]["hub"])


def test_a_repository_may_hold_weights_of_any_task(monkeypatch, joints):
    def download(repository, name):
        if not (joints.parent / name).exists():
            raise FileNotFoundError(name)
        return str(joints.parent / name)

    monkeypatch.setitem(sys.modules, "huggingface_hub", types.SimpleNamespace(hf_hub_download=download))
    monkeypatch.setattr(hub, "require", lambda *names: None)
    assert isinstance(load_model("some/model"), Ensemble)


def test_a_card_that_lies_or_is_damaged_gets_a_sentence(weights, tmp_path):
    copy = tmp_path / "mine.safetensors"
    copy.write_bytes(weights.read_bytes())
    card = load_card(weights)
    for change, word in (
        ({"sha256": "0"}, "checksum"),
        ({"config": {**card["config"], "width": 32}}, "do not fit their card: .* of another shape"),
        ({"config": {"decoder": "handles"}}, "network with handles, which this version no longer has; train it anew"),
    ):
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


@pytest.mark.parametrize(("field", "word"), [("width", "of another shape"), ("depth", "layers")])
def test_a_card_that_asks_for_more_than_any_memory_holds_is_refused_at_once(tmp_path, field, word):
    for suffix in (".json", ".safetensors"):
        (tmp_path / f"w{suffix}").write_bytes((hub.SHIPPED / f"pieces{suffix}").read_bytes())
    card = json.loads((tmp_path / "w.json").read_text())
    card["piece_members"][0]["encoder"][field] = 2**22
    (tmp_path / "w.json").write_text(json.dumps(card))
    with pytest.raises(NeurokError, match=word):
        hub.load_model(tmp_path / "w.safetensors")
