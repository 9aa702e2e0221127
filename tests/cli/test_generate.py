"""``neurok generate`` as its user runs it."""

import json

import numpy as np
import pytest
import torch
from PIL import Image

import neurok
from neurok.cli import main
from neurok.generation.context import ContextConfig
from neurok.generation.flow import FlowConfig
from neurok.generation.part_list import PartListConfig
from neurok.generation.writing import Generator
from neurok.hub import save_model


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    """Small networks that have learned nothing: what they write is nonsense, but it is an object."""
    torch.manual_seed(0)
    context = ContextConfig(width=32, heads=2, depth=1)
    model = Generator.build(PartListConfig(context, 32, 2, 1), FlowConfig(context, 32, 2, 1, steps=2))
    for choice in (model.part_list.build,):
        choice.mixes[0][-1].bias.data[0] = 6.0  # lists end early
    path = tmp_path_factory.mktemp("weights") / "small.safetensors"
    save_model(model, path, {"license": "Apache-2.0"})
    return str(path)


def refused(capsys, *line: str) -> str:
    with pytest.raises(SystemExit) as error:
        main(["generate", *line])
    assert error.value.code == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    return told


def test_an_object_comes_out_in_several_formats(tmp_path, weights, capsys):
    files = [str(tmp_path / name) for name in ("vase.glb", "vase.obj", "vase.png")]
    main(["generate", "--text", "a blue vase", "--out", *files, "--weights", weights, "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["objects"][0]["category"] == "vase"
    assert told["objects"][0]["understood"] == ["blue", "vase"]
    asset = neurok.load(files[0])
    assert asset.mesh.part_names
    assert asset.materials is not None
    assert json.loads(asset.provenance["assembly"])["category"] == "vase"


def test_the_same_seed_writes_the_same_bytes(tmp_path, weights):
    for name in ("a.glb", "b.glb"):
        line = ["generate", "-t", "a pillow", "--seed", "4", "--out", str(tmp_path / name), "--weights", weights]
        main([*line, "--json"])
    assert (tmp_path / "a.glb").read_bytes() == (tmp_path / "b.glb").read_bytes()


def test_several_objects_get_numbers(tmp_path, weights):
    main(["generate", "-t", "a hat", "-n", "2", "--out", str(tmp_path / "hat.obj"), "--weights", weights, "--json"])
    assert (tmp_path / "hat_0.obj").exists()
    assert (tmp_path / "hat_1.obj").exists()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["--text", "", "--out", "x.glb"], "Nothing was asked for"),
        (["--text", "qwertz zxcvb", "--out", "x.glb"], "names anything that can be made"),
        (["--text", "ein rotes Fahrrad", "--out", "x.glb"], "Ask in English"),
        (["--text", "chair " * 2000, "--out", "x.glb"], "characters; at most"),
        (["--text", "a chair", "--out", "x.foo"], "no format of an object"),
        (["--text", "a chair", "-n", "0", "--out", "x.glb"], "ask for 1 to"),
        (["--text", "a chair", "--edit", "wider", "--out", "x.glb"], "--like FILE"),
        (["--image", "nowhere.png", "--out", "x.glb"], "nowhere.png"),
        (["--text", "a chair", "--out", "x.glb", "--weights", "nowhere"], "There are no weights"),
    ],
)
def test_bad_prompts_get_one_sentence(line, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert said in refused(capsys, *line)
    assert not list(tmp_path.iterdir())


def test_a_blank_picture_gets_one_sentence(tmp_path, capsys):
    path = tmp_path / "blank.png"
    Image.fromarray(np.full((64, 64, 3), 200, dtype=np.uint8)).save(path)
    assert "blank.png" in refused(capsys, "--image", str(path), "--out", str(tmp_path / "x.glb"))


@pytest.mark.slow
def test_a_picture_alone_says_what_to_make(tmp_path, weights, capsys):
    path, out = tmp_path / "seen.png", tmp_path / "made.glb"
    pixels = np.full((64, 64, 3), 230, dtype=np.uint8)
    pixels[10:54, 20:44] = (180, 30, 30)
    Image.fromarray(pixels).save(path)
    main(["generate", "--image", str(path), "--out", str(out), "--weights", weights, "--best", "--json"])
    (made,) = json.loads(capsys.readouterr().out)["objects"]
    assert made["parts"]
    assert "cut out" in made["notes"][0]
    main(["generate", "--image", str(path), "-t", "a hat", "--out", str(out), "--weights", weights, "--json"])
    assert json.loads(capsys.readouterr().out)["objects"][0]["category"] == "hat"
