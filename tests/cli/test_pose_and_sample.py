import json

import numpy as np
import pytest
from PIL import Image

from neurok.catalogue.samples import make_sample
from neurok.cli import main
from neurok.geometry.sampling import sample_surface
from neurok.io import load, save
from neurok.kinematics.space import FRAMES


def figures(capsys, *arguments: str) -> dict:
    main([*arguments, "--json"])
    return json.loads(capsys.readouterr().out)


def test_posing_to_a_target_writes_the_pose(tmp_path, capsys):
    laptop = load("sample:laptop").articulation
    save(laptop.pose(np.array([0.7])), tmp_path / "target.npz")
    found = figures(
        capsys, "pose", "sample:laptop", "--target", f"{tmp_path}/target.npz", "--out", f"{tmp_path}/posed.npz"
    )
    assert found["q"] == pytest.approx([0.7], abs=1e-6)
    np.testing.assert_allclose(load(tmp_path / "posed.npz").mesh.vertices, laptop.pose([0.7]).vertices, atol=1e-6)


def test_moving_a_place_poses_the_object(tmp_path, capsys):
    mesh = load("sample:cabinet").mesh
    middle = mesh.vertices[mesh.part_ids == mesh.part_names.index("drawer")].mean(axis=0) + [0, 0, 0.1]
    wish = "drawer:" + ",".join(f"{value:.6f}" for value in middle)
    out = [f"{tmp_path}/out.obj", f"{tmp_path}/out.png"]
    found = figures(capsys, "pose", "sample:cabinet", "--move", wish, "--out", *out)
    assert found["residual"] < 1e-4
    with Image.open(out[1]) as picture:
        assert np.asarray(picture.convert("L")).std() > 5


def test_sampling_writes_a_sheet_or_a_folder(tmp_path, capsys):
    assert figures(capsys, "sample", "sample:lamp", "-n", "2", "--out", f"{tmp_path}/sheet.png")["dof"] == 4
    assert (tmp_path / "sheet.png").stat().st_size > 2000
    figures(capsys, "sample", "sample:lamp", "-n", "2", "--out", f"{tmp_path}/states")
    assert sorted(path.name for path in (tmp_path / "states").iterdir()) == ["state_0000.glb", "state_0001.glb"]


def test_states_make_one_motion_that_stops_at_each_of_them(tmp_path, capsys):
    found = figures(capsys, "sample", "sample:lamp", "-n", "2", "--out", f"{tmp_path}/states.glb")
    (clip,) = load(tmp_path / "states.glb").clips
    lamp = load("sample:lamp").articulation
    for stop, q in zip((FRAMES, 2 * FRAMES), found["q"], strict=True):
        np.testing.assert_allclose(clip.positions[stop], lamp.pose(np.array(q)).vertices, atol=1e-3 * lamp.mesh.size)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["pose", "sample:laptop", "--out", "x.glb"], "--target"),
        (["pose", "sample:laptop", "--move", "screen:1,2", "--out", "x.glb"], "--move"),
        (["pose", "sample:laptop", "--move", "door:1,2,3", "--out", "x.glb"], "door"),
        (["pose", "sample:laptop", "--move", "top:1,2,3", "--move", "top:1,2,4", "--out", "x.glb"], "moved twice"),
        (["pose", "sample:laptop", "--move", "screen:1,2,3", "--deform", "--out", "x.glb"], "--deform"),
        (["pose", "sample:laptop", "--target", "sample:lamp", "--deform", "--out", "x.glb"], "Only poses on bones"),
        (["sample", "sample:laptop", "-n", "0", "--out", "x.png"], "must be 1 to 10,000"),
        (["sample", "sample:laptop", "--out", "x.mp4"], "sheet or a folder"),
    ],
)
def test_bad_wishes_get_a_sentence(arguments, word, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    assert word in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_file_of_points_is_a_target(tmp_path):
    laptop = make_sample("laptop")
    closed = laptop.articulation.pose(np.array([0.8])).vertices
    points = sample_surface(closed, laptop.mesh.faces, 2000, np.random.default_rng(0)).interpolate(closed)
    np.save(tmp_path / "scan.npy", points)
    header = "ply\nformat ascii 1.0\nelement vertex 2000\n" + "".join(f"property float {a}\n" for a in "xyz")
    rows = "\n".join(" ".join(map(str, row)) for row in points)
    (tmp_path / "scan.ply").write_text(f"{header}end_header\n{rows}\n")
    for name in ("scan.npy", "scan.ply"):
        out = tmp_path / f"{name}.glb"
        main(["pose", "sample:laptop", "--target", str(tmp_path / name), "--partial", "--out", str(out)])
        assert np.linalg.norm(load(out).mesh.vertices - closed, axis=1).max() < 0.01


@pytest.mark.parametrize(
    ("points", "sentence"), [(np.zeros((4, 2)), "rows of three numbers"), (np.zeros((4, 3)), "at least 10 finite")]
)
def test_a_bad_cloud_gets_a_sentence(tmp_path, capsys, points, sentence):
    np.save(tmp_path / "scan.npy", points)
    out = tmp_path / "out.glb"
    with pytest.raises(SystemExit, match="2"):
        main(["pose", "sample:laptop", "--target", str(tmp_path / "scan.npy"), "--out", str(out)])
    assert sentence in capsys.readouterr().err
    assert not out.exists()


def test_a_partial_target_is_not_refined(tmp_path, capsys):
    words = ["pose", "sample:laptop", "--target", "sample:laptop", "--partial", "--deform"]
    with pytest.raises(SystemExit, match="2"):
        main([*words, "--out", str(tmp_path / "out.glb")])
    assert "--partial" in capsys.readouterr().err
