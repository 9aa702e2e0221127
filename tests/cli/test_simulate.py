"""``neurok simulate`` as a person calls it."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from neurok import cli
from neurok.cli import simulate as command
from neurok.core import Articulation, Joint, Mesh
from neurok.errors import NeurokError
from neurok.io import load, save
from neurok.modelling.shapes import box
from neurok.scene.description import SceneDrag, ScenePush, parse_drag, parse_gravity, parse_push
from neurok.scene.files import read_scene

REPORT = {
    "status",
    "dof",
    "dt",
    "steps",
    "steps_per_second",
    "real_time_factor",
    "energy_start",
    "energy_end",
    "energy_drift",
    "max_penetration",
    "out",
    "frames",
    "message",
    "mass",
}


@pytest.fixture
def gate(tmp_path):
    """A post with a door on a hinge."""
    post, door = box((0.1, 1.0, 0.1), (0, 0.5, 0)), box((1.0, 1.0, 0.04), (0.55, 0.5, 0))
    count = len(post.vertices)
    mesh = Mesh(
        np.concatenate([post.vertices, door.vertices]),
        np.concatenate([post.faces, door.faces + count]),
        part_ids=np.repeat([0, 1], [count, len(door.vertices)]),
        part_names=("post", "door"),
        name="gate",
    )
    save(Articulation(mesh, (Joint(), Joint("continuous", 0, (0, 1, 0), name="hinge"))), tmp_path / "gate.npz")
    return str(tmp_path / "gate.npz")


@pytest.fixture
def block(tmp_path):
    shape = box((0.2, 0.2, 0.2), (0, 0, 0))
    save(Mesh(shape.vertices, shape.faces, name="block"), tmp_path / "block.npz")
    return str(tmp_path / "block.npz")


def run(capsys, *args):
    cli.main(["simulate", *map(str, args), "--json"])
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    return json.loads(out)


def test_a_pushed_door_opens_and_the_report_says_how(gate, tmp_path, capsys):
    figures = run(
        capsys, gate, "--push", "door/right:0,0,-9", "--gravity", "0", "--seconds", "0.5", "--out", tmp_path / "a.npz",
        "--density", "600",
    )  # fmt: skip
    assert set(figures) >= REPORT
    assert (figures["status"], figures["frames"], figures["dof"]) == ("ok", 13, 1)
    assert figures["mass"] == pytest.approx(30.0)
    asset = load(tmp_path / "a.npz")
    door = asset.mesh.part_ids == 1
    assert asset.clips[0].positions[-1, door, 2].min() < -0.1
    assert asset.articulation.dof == 1


@pytest.mark.parametrize("name", ["a.glb", "a.usda", "a.pc2", "frame_%04d.ply"])
def test_the_motion_can_be_read_back_from_every_format(gate, tmp_path, capsys, name):
    run(capsys, gate, "--velocity", "door/right:0,0,-1", "--seconds", "0.25", "--out", tmp_path / "a.npz")
    run(capsys, gate, "--velocity", "door/right:0,0,-1", "--seconds", "0.25", "--out", tmp_path / name)
    truth = load(tmp_path / "a.npz").clips[0].positions
    again = load(tmp_path / name).clips[0]
    extent = np.ptp(again.positions[-1], axis=0) - np.ptp(again.positions[0], axis=0)
    wanted = np.ptp(truth[-1], axis=0) - np.ptp(truth[0], axis=0)
    assert again.frame_count == 7
    np.testing.assert_allclose(np.sort(extent), np.sort(wanted), atol=1e-4)


@pytest.mark.parametrize(("place", "note"), [("post/top", "has no joint; push door"), ("door/right", "")])
def test_a_push_on_what_stands_fixed_is_told(gate, tmp_path, capsys, place, note):
    cli.main(["simulate", gate, "--push", f"{place}:0,0,-9", "--seconds", "0.1", "--out", str(tmp_path / "a.npz")])
    said = capsys.readouterr().err
    assert note in said
    assert bool(said) == bool(note)


def test_a_still_format_gets_the_last_frame(gate, tmp_path, capsys):
    words = [gate, "--velocity", "door/right:0,0,-1", "--seconds", "0.25", "--out"]
    run(capsys, *words, tmp_path / "a.npz")
    run(capsys, *words, tmp_path / "a.ply")
    last = load(tmp_path / "a.npz").clips[0].mesh(-1)
    np.testing.assert_allclose(load(tmp_path / "a.ply").mesh.bounds, last.bounds, atol=1e-5)


def test_flags_and_the_scene_they_save_give_the_same_scene_and_the_same_bits(gate, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    flags = ["gate.npz", "--push", "door/right:0,0,-5@0.1-0.3", "--push", "0.5,0.5,0:0,0,1", "--pin", "post/bottom"]
    flags += ["--velocity", "door:0,0,0.1", "--wind", "1,0,-3", "--seconds", "0.5", "--fps", "30", "--jolt", "0.3"]
    flags += ["--seed", "7", "--density", "300", "--damping", "0.1", "--rotate", "0,30,0", "--gravity", "0,-3,1"]
    (tmp_path / "elsewhere").mkdir()
    run(capsys, *flags, "--out", "a.npz", "elsewhere/a.yaml")
    run(capsys, "--scene", "elsewhere/a.yaml", "--out", "b.npz", "elsewhere/deeper/b.json")
    assert read_scene(tmp_path / "elsewhere/a.yaml") == read_scene(tmp_path / "elsewhere/deeper/b.json")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_flags_count_over_what_the_scene_says(gate, tmp_path, capsys):
    scene = tmp_path / "a.yaml"
    run(capsys, gate, "--seconds", "0.5", "--pin", "door/top", "--out", scene)
    run(
        capsys,
        "--scene",
        scene,
        "--seconds",
        "0.25",
        "--drop",
        "--push",
        "door:1,0,0",
        "--out",
        tmp_path / "b.yaml",
    )
    changed = read_scene(tmp_path / "b.yaml")
    assert changed.seconds == 0.25
    assert (changed.objects[0].drop, changed.world.ground.friction) == ("auto", 0.5)
    assert [pin.at for pin in changed.objects[0].pins] == ["door/top"]
    assert [push.at for push in changed.objects[0].pushes] == ["door"]


@pytest.mark.slow
def test_two_processes_write_the_same_bits(block, tmp_path):
    for name in ("a", "b"):
        line = [sys.executable, "-m", "neurok", "simulate", block, "--drop", "0.1", "--jolt", "1", "--seed", "3"]
        subprocess.run([*line, "--seconds", "0.5", "--out", str(tmp_path / f"{name}.npz")], check=True)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_a_dropped_block_lies_on_the_ground(block, tmp_path, capsys):
    figures = run(capsys, block, "--drop", "0.1", "--seconds", "0.5", "--out", tmp_path / "a.npz")
    lowest = load(tmp_path / "a.npz").clips[0].positions[:, :, 1].min(axis=1)
    assert lowest[0] == pytest.approx(0.0)
    assert lowest[-1] == pytest.approx(-0.1, abs=0.002)
    assert 0 <= figures["max_penetration"] < 0.01 * 0.2


def test_a_free_object_without_ground_falls(block, tmp_path, capsys):
    run(capsys, block, "--free", "--seconds", "0.5", "--out", tmp_path / "a.npz")
    clip = load(tmp_path / "a.npz").clips[0]
    assert clip.positions[-1].mean(axis=0)[1] == pytest.approx(-0.5 * 9.81 * 0.25, rel=1e-6)


def interrupted(fraction):
    """A progress that asks to stop half-way, as Ctrl-C does."""
    if fraction > 0.5:
        signal.raise_signal(signal.SIGINT)


def test_ctrl_c_keeps_the_frames_so_far(gate, tmp_path, capsys, monkeypatch):
    inner, before = command.run_ready, signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(
        command,
        "run_ready",
        lambda ready, progress, say: inner(ready, progress=lambda f: (interrupted(f), progress(f)), say=say),
    )
    figures = run(capsys, gate, "--seconds", "1", "--out", tmp_path / "a.npz")
    assert figures["status"] == "stopped"
    assert load(tmp_path / "a.npz").clips[0].frame_count == figures["frames"] == 14
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.slow
def test_a_motion_that_is_lost_keeps_the_good_frames_and_ends_with_code_3(block, tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["simulate", block, "--free", "--velocity", "all:9e3,0,0", "--out", str(tmp_path / "a.npz"), "--json"])
    assert stop.value.code == 3
    captured = capsys.readouterr()
    figures = json.loads(captured.out)
    assert figures["status"] == "diverged"
    assert "dt=" in figures["message"]
    assert figures["message"] in captured.err
    clip = load(tmp_path / "a.npz").clips[0]
    assert 1 < clip.frame_count == figures["frames"] < 49
    assert np.isfinite(clip.positions).all()


BAD = [
    ([], "--out"),
    (["--out", "a.avi"], "must end in"),
    (["--out", "a.urdf"], "must end in"),
    (["--out", "noted/deep/a.glb"], "cannot be written"),
    (["--out", "."], "must end in"),
    (["--out", "a.npz", "--seconds", "0"], "seconds must be positive"),
    (["--out", "a.npz", "--seconds", "nan"], "seconds must be finite"),
    (["--out", "a.npz", "--seconds", "1e9"], "at most 1,000,000 frames"),
    (["--out", "a.npz", "--dt", "1e-300"], "dt must be at least"),
    (["--out", "a.npz", "--dt", "-1"], "dt must be positive"),
    (["--out", "a.npz", "--seed", "-1"], "seed must not be negative"),
    (["--out", "a.npz", "--fps", "-3"], "fps must be positive"),
    (["--out", "a.npz", "--density", "-5"], "density must be positive"),
    (["--out", "a.npz", "--density", "0"], "density must be positive"),
    (["--out", "a.npz", "--density", "1e-30"], "density must lie between 0.1 and 30000"),
    (["--out", "a.npz", "--material", "door=stel"], "no material 'stel'; the nearest are steel"),
    (["--out", "a.npz", "--material", "dor=steel"], "Did you mean 'door'"),
    (["--out", "a.npz", "--material", "steel"], "write it like seat=foam"),
    (["--out", "a.npz", "--materials", "none.json"], "There is no file"),
    (["--out", "a.npz", "--push", "door:1,2"], "three numbers"),
    (["--out", "a.npz", "--push", "door"], "AT:x,y,z"),
    (["--out", "a.npz", "--push", "door:nan,0,0"], "finite"),
    (["--out", "a.npz", "--push", "door:inf,0,0"], "finite"),
    (["--out", "a.npz", "--push", "door:1,0,0@3"], "@0-0.5"),
    (["--out", "a.npz", "--push", "door:1,0,0@3-1"], "end after it starts"),
    (["--out", "a.npz", "--push", "lid:1,0,0"], "post, door"),
    (["--out", "a.npz", "--push", "99999:1,0,0"], "0 to"),
    (["--out", "a.npz", "--velocity", "door:x,y,z"], "three numbers"),
    (["--out", "a.npz", "--drag", "door:0,0,1@1;0,0,2"], "all or none"),
    (["--out", "a.npz", "--drag", "door:0,0,1@soon"], "not a time"),
    (["--out", "a.npz", "--pin", "all", "--drag", "door:0,0,1"], "pinned"),
    (["--out", "a.npz", "--pin", "all"], "nothing can move"),
    (["--out", "a.npz", "--wind", "strong"], "three numbers"),
    (["--out", "a.npz", "--gravity", "down"], "three numbers"),
    (["--out", "a.npz", "--rotate", "1"], "three numbers"),
    (["--out", "a.npz", "--jolt", "-1"], "must not be negative"),
    (["--out", "a.npz", "--drop", "-1"], "must not be negative"),
    (["--out", "a.npz", "--ground", "0.5", "1"], "one number at most"),
    (["--out", "a.npz", "a.yaml", "--ground", "--integrator", "gauss"], "implicit"),
    (["--out", "a.npz", "--scene", "none.yaml"], "There is no file"),
    (["--out", "a.npz", "--scene", "unknown.yaml"], "Did you mean 'seconds'"),
    (["--out", "a.npz", "a.toml"], "must end in"),
    (["--out", "a.npz", "--save-scene", "a.yaml"], "use --out"),
]


@pytest.mark.parametrize(("args", "words"), BAD)
def test_mistakes_end_in_one_sentence_and_no_file(gate, tmp_path, capsys, monkeypatch, args, words):
    monkeypatch.chdir(tmp_path)
    Path("noted").write_text("a file, not a folder")
    Path("unknown.yaml").write_text("objects: [{path: gate.npz}]\nsecnds: 3\n")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(SystemExit) as stop:
        cli.main(["simulate", gate, *args])
    error = capsys.readouterr().err
    assert stop.value.code == 2
    assert words in error
    assert error.startswith("neurok: ")
    assert error.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_several_mistakes_are_told_together(gate, capsys):
    with pytest.raises(SystemExit):
        cli.main(["simulate", gate, "--out", "a.npz", "--seconds", "-1", "--push", "x", "--wind", "1,2"])
    error = capsys.readouterr().err
    assert all(words in error for words in ("seconds must be positive", "push 'x'", "the wind"))


@pytest.mark.parametrize(
    ("name", "words"),
    [("none.glb", "There is no file"), ("sample:sofa", "samples are"), ("block.npz", "Nothing can move")],
)
def test_an_object_that_cannot_be_used_says_why(block, tmp_path, capsys, monkeypatch, name, words):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stop:
        cli.main(["simulate", name, "--out", "a.glb"])
    assert stop.value.code == 2
    assert words in capsys.readouterr().err
    assert not Path("a.glb").exists()


def test_neither_object_nor_scene_asks_for_one(capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["simulate", "--out", "a.glb"])
    assert stop.value.code == 2
    assert "sample:laptop" in capsys.readouterr().err


def test_the_small_languages_of_the_flags():
    assert parse_push("a:b:1,2,-3") == ScenePush("a:b", (1.0, 2.0, -3.0))
    assert parse_push("1,2,3:1e-3,0,0@1e-1-2") == ScenePush("1,2,3", (0.001, 0.0, 0.0), 0.1, 2.0)
    assert parse_drag("lid:0,1,0@0.5;0,2,0@1") == SceneDrag("lid", ((0.0, 1.0, 0.0), (0.0, 2.0, 0.0)), (0.5, 1.0))
    assert parse_gravity("0") == (0.0, 0.0, 0.0)
    with pytest.raises(NeurokError):
        parse_push(":1,2,3")
