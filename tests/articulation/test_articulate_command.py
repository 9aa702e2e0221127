"""``neurok articulate`` as a person calls it."""

import json

import numpy as np
import pytest
from solids import drawer_in_a_box

from neurok import cli, io
from neurok.core import Mesh


@pytest.fixture
def drawer(tmp_path):
    io.save(drawer_in_a_box(), tmp_path / "drawer.glb")
    return str(tmp_path / "drawer.glb")


def told(capsys, *args):
    cli.main(["articulate", *args, "--method", "search", "--json"])
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("suffix", [".glb", ".obj", ".usda"])
def test_joints_are_told_in_the_names_and_coordinates_of_the_input(tmp_path, capsys, suffix):
    io.save(drawer_in_a_box(), tmp_path / f"drawer{suffix}")
    answer = told(capsys, str(tmp_path / f"drawer{suffix}"))
    (joint,) = answer["joints"]
    assert (joint["part"], joint["parent"], joint["type"]) == ("drawer", "body", "prismatic")
    assert np.allclose(joint["axis"], (0, 0, 1), atol=1e-3)
    assert joint["lower"] == 0.0
    assert 0.2 < joint["upper"] < 0.5
    assert 0.0 < joint["confidence"] <= 1.0
    assert answer["bases"] == ["body"]
    assert answer["rejected"]
    assert all(one["reason"] for one in answer["rejected"])


def test_every_output_holds_the_joint(drawer, tmp_path, capsys):
    names = ["out.urdf", "out.xml", "out.usda", "out.glb", "out.json"]
    answer = told(capsys, drawer, "--out", *(str(tmp_path / name) for name in names))
    assert {str(tmp_path / name) for name in names} <= set(answer["files"])
    for name in names[:-1]:
        asset = io.load(tmp_path / name)
        kinds = [joint.kind for joint in asset.articulation.joints]
        assert kinds.count("prismatic") == 1
    (clip,) = io.load(tmp_path / "out.glb").clips
    travel = np.linalg.norm(clip.positions - clip.positions[0], axis=2).max()
    assert abs(travel - answer["joints"][0]["upper"]) < 0.01
    assert json.loads((tmp_path / "out.json").read_text())["joints"] == answer["joints"]


def test_mujoco_compiles_what_is_written(drawer, tmp_path, capsys):
    mujoco = pytest.importorskip("mujoco")
    told(capsys, drawer, "--out", str(tmp_path / "out.urdf"), str(tmp_path / "out.xml"))
    for name in ("out.urdf", "out.xml"):
        model = mujoco.MjModel.from_xml_path(str(tmp_path / name))
        assert model.njnt == 1
        assert (model.body_mass[1:] > 0).any()


def test_labels_make_parts_of_a_mesh_that_has_none(tmp_path, capsys):
    whole = drawer_in_a_box()
    io.save(Mesh(whole.vertices, whole.faces), tmp_path / "bare.npz")
    np.save(tmp_path / "labels.npy", whole.face_parts)
    answer = told(capsys, str(tmp_path / "bare.npz"), "--labels", str(tmp_path / "labels.npy"))
    assert [joint["type"] for joint in answer["joints"]] == ["prismatic"]


def test_one_piece_has_no_joints_and_is_told_so(tmp_path, capsys):
    tetrahedron = Mesh(np.eye(4)[:, :3], np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]))
    io.save(tetrahedron, tmp_path / "one.npz")
    cli.main(["articulate", str(tmp_path / "one.npz"), "--method", "search"])
    assert "one piece" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("args", "word"),
    [
        (["sample:lamp", "--out", "joints.stl"], "joints.stl"),
        (["nowhere.glb"], "nowhere.glb"),
        (["sample:lamp", "--labels", "nowhere.npy"], "nowhere.npy"),
        (["sample:lamp", "--method", "learned", "--weights", "nowhere.safetensors"], "nowhere.safetensors"),
    ],
)
def test_mistakes_are_told_in_one_sentence(args, word, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["articulate", *args])
    assert stop.value.code == 2
    said = capsys.readouterr().err
    assert word in said
    assert "Traceback" not in said
