"""``neurok plan`` as a person calls it: look, correct, hand back."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from neurok import cli


def told(capsys, *args: str) -> dict:
    cli.main([*args, "--json"])
    return json.loads(capsys.readouterr().out)


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("plan")
    line = ["plan", "sample:laptop", "--raw", "--method", "search"]
    cli.main([*line, "--out", str(folder / "x.json"), str(folder / "x.png")])
    return str(folder / "x.json")


def test_a_plan_and_its_picture_are_written(written):
    said = json.loads(Path(written).read_text())
    assert said["neurok_plan"] == 1
    assert said["bodies_from"] == "pieces"
    assert sum(body["joint"] is not None for body in said["bodies"]) == 1
    picture = np.asarray(Image.open(written.replace(".json", ".png")).convert("RGB"))
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 50


def test_what_is_told_is_what_is_written(written, tmp_path, capsys):
    out = tmp_path / "again.json"
    answer = told(capsys, "plan", "sample:laptop", "--raw", "--method", "search", "--out", str(out))
    assert answer.pop("files") == [str(out)]
    assert answer == json.loads(out.read_text()) == json.loads(Path(written).read_text())


def test_the_sentences_name_the_joint(written, capsys):
    cli.main(["plan", "sample:laptop", "--plan", written])
    said = capsys.readouterr().out
    assert "1 joint." in said
    assert "revolute" in said


def test_a_joint_that_somebody_removes_is_gone_everywhere(written, tmp_path, capsys):
    before = told(capsys, "articulate", "sample:laptop", "--plan", written)
    assert [joint["type"] for joint in before["joints"]].count("revolute") == 1
    said = json.loads(Path(written).read_text())
    for body in said["bodies"]:
        body["joint"] = None
    edited = tmp_path / "edited.json"
    edited.write_text(json.dumps(said))
    after = told(capsys, "articulate", "sample:laptop", "--plan", str(edited))
    assert after["parts_from"] == "edited"
    assert {joint["type"] for joint in after["joints"]} == {"fixed"}
    assert told(capsys, "plan", "sample:laptop", "--plan", str(edited))["bodies_from"] == "edited"


def test_edited_numbers_reach_the_files_of_simulators(written, tmp_path, capsys):
    said = json.loads(Path(written).read_text())
    (body,) = [body for body in said["bodies"] if body["joint"] is not None]
    body["joint"] |= {"lower": -0.25, "upper": 0.5}
    edited = tmp_path / "edited.json"
    edited.write_text(json.dumps(said))
    told(capsys, "articulate", "sample:laptop", "--plan", str(edited), "--out", str(tmp_path / "out.urdf"))
    assert 'lower="-0.25"' in (tmp_path / "out.urdf").read_text()
    assert 'upper="0.5"' in (tmp_path / "out.urdf").read_text()


@pytest.mark.parametrize("command", ["plan", "articulate", "sample", "pose", "simulate"])
@pytest.mark.parametrize("broken", ["{", '{"neurok_plan": 1}', None])
def test_a_bad_plan_gets_one_sentence_and_nothing_is_written(command, broken, tmp_path, capsys):
    path = tmp_path / "bad.json"
    if broken is not None:
        path.write_text(broken)
    name = {"plan": "o.json", "articulate": "o.urdf", "sample": "o.png"}.get(command, "o.glb")
    more = ["--move", "lid:0,1,0"] if command == "pose" else []
    with pytest.raises(SystemExit) as stop:
        cli.main([command, "sample:laptop", "--plan", str(path), *more, "--out", str(tmp_path / "out" / name)])
    assert stop.value.code == 2
    out, err = capsys.readouterr()
    assert err.startswith("neurok: ")
    assert "bad.json" in err
    assert err.count("\n") == 1
    assert out == ""
    assert not (tmp_path / "out").exists()


def test_a_plan_is_not_written_into_a_mesh(tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["plan", "sample:laptop", "--out", str(tmp_path / "x.glb")])
    assert stop.value.code == 2
    assert ".json, .png, .jpg" in capsys.readouterr().err
