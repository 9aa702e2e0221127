"""``neurok articulate`` as a person calls it."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from trimesh.remesh import subdivide_to_size

from neurok import cli, io
from neurok.bodyplan.plan import BodyPlan, PlannedBody
from neurok.bodyplan.plan_file import write_plan
from neurok.catalogue.samples import make_sample
from neurok.core import Asset, Mesh
from neurok.core.mesh import frame_change
from solids import drawer_in_a_box


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


@pytest.mark.parametrize("name", ["out.urdf", "out.xml"])
def test_a_heavy_drawer_slides_to_its_end_in_mujoco(tmp_path, capsys, name):
    mujoco = pytest.importorskip("mujoco")
    small = drawer_in_a_box()
    io.save(small.with_vertices(4.0 * small.vertices), tmp_path / "large.glb")
    answer = told(capsys, str(tmp_path / "large.glb"), "--out", str(tmp_path / name))
    spec = mujoco.MjSpec.from_file(str(tmp_path / name))
    servo = spec.add_actuator(name="servo", target="drawer")
    servo.trntype = mujoco.mjtTrn.mjTRN_JOINT
    servo.set_to_position(kp=1e6, kv=1e5)
    model = spec.compile()
    data = mujoco.MjData(model)
    data.ctrl[0] = answer["joints"][0]["upper"]
    for _ in range(500):
        mujoco.mj_step(model, data)
    assert data.qpos[0] == pytest.approx(answer["joints"][0]["upper"], rel=0.02)
    assert not any(warning.number for warning in data.warning)


@pytest.mark.parametrize("name", ["out.urdf", "out.glb"])
def test_what_was_articulated_can_be_posed_and_simulated(drawer, tmp_path, capsys, name):
    made = str(tmp_path / name)
    upper = told(capsys, drawer, "--out", made)["joints"][0]["upper"]
    mesh = io.load(made).mesh
    forward = frame_change("y", mesh.up) @ (0.0, 0.0, 1.0)  # URDF is z-up
    words = lambda vector: ",".join(f"{x:.6f}" for x in vector)  # noqa: E731
    wish = mesh.vertices[mesh.part_ids == mesh.part_names.index("drawer")].mean(axis=0) + 0.5 * upper * forward
    cli.main(["pose", made, "--move", f"drawer:{words(wish)}", "--out", f"{tmp_path}/posed.npz", "--json"])
    assert json.loads(capsys.readouterr().out)["q"] == pytest.approx([0.5 * upper], rel=0.02)
    push = f"drawer:{words(40.0 * forward)}@0-1"
    cli.main(["simulate", made, "--push", push, "--seconds", "1", "--out", f"{tmp_path}/run.npz", "--json"])
    assert json.loads(capsys.readouterr().out)["status"] == "ok"
    travel = np.ptp(io.load(tmp_path / "run.npz").clips[0].positions, axis=0).max()
    assert 0.5 * upper < travel < 1.2 * upper


def test_labels_make_parts_of_a_mesh_that_has_none(tmp_path, capsys):
    whole = drawer_in_a_box()
    io.save(Mesh(whole.vertices, whole.faces), tmp_path / "bare.npz")
    np.save(tmp_path / "labels.npy", whole.face_parts)
    answer = told(capsys, str(tmp_path / "bare.npz"), "--labels", str(tmp_path / "labels.npy"))
    assert [joint["type"] for joint in answer["joints"]] == ["prismatic"]


def test_where_the_parts_come_from_is_told(drawer, tmp_path, capsys):
    assert told(capsys, drawer)["parts_from"] == "file"
    whole = drawer_in_a_box()
    io.save(Mesh(whole.vertices, whole.faces), tmp_path / "bare.stl")
    cli.main(["articulate", str(tmp_path / "bare.stl"), "--method", "search"])
    assert "names no parts" in capsys.readouterr().out


def test_one_piece_has_no_joints_and_is_told_so(tmp_path, capsys):
    tetrahedron = Mesh(np.eye(4)[:, :3], np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]))
    io.save(tetrahedron, tmp_path / "one.npz")
    cli.main(["articulate", str(tmp_path / "one.npz"), "--method", "search"])
    assert "Nothing of it is likely to move" in capsys.readouterr().out


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


def test_joints_behind_an_animation_are_told_and_written(tmp_path, capsys):
    laptop = make_sample("laptop")
    moved = Asset(laptop.mesh, clips=(laptop.articulation.clip(np.linspace(0.0, 0.5, 6)[:, None]),))
    io.save(moved, tmp_path / "moved.glb")
    cli.main(["articulate", str(tmp_path / "moved.glb"), "--out", str(tmp_path / "out.glb")])
    assert "Space joints: 1 joint behind its animation." in capsys.readouterr().out
    assert io.load(tmp_path / "out.glb").articulation.dof == 1


def test_what_bends_and_has_no_joint_is_written_on_bones(tmp_path, capsys):
    corners = np.array([[x, y, z] for x in (0.0, 3.0) for y in (0.0, 0.3) for z in (0.0, 0.3)])
    hull = ConvexHull(corners).simplices
    arm = Mesh(*subdivide_to_size(corners, hull, 0.2), part_ids=None)
    arm = replace(arm, part_ids=np.zeros(arm.vertex_count, int), part_names=("arm",))
    bending = BodyPlan(arm, np.zeros(arm.face_count, int), (PlannedBody("arm", (0,), -1, bends=True),), "edited")
    io.save(arm, tmp_path / "arm.npz")
    write_plan(bending, tmp_path / "plan.json")
    given = [str(tmp_path / "arm.npz"), "--plan", str(tmp_path / "plan.json")]
    cli.main(["articulate", *given, "--out", str(tmp_path / "arm.glb"), str(tmp_path / "arm.urdf"), "--json"])
    answer = json.loads(capsys.readouterr().out)
    assert answer["space"] == "skeleton"
    assert answer["bones"] >= 2
    assert answer["why"].startswith(f"skeleton: {answer['bones']} bones found from its surface")
    assert any(".urdf holds joints alone" in note for note in answer["notes"])
    (clip,) = io.load(tmp_path / "arm.glb").clips
    assert clip.skin.weights.shape[1] == answer["bones"]
    assert np.linalg.norm(clip.positions - arm.vertices, axis=2).max() > 0.02
