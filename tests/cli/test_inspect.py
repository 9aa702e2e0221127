"""``neurok inspect`` as a person calls it."""

import json
from pathlib import Path

import numpy as np
import pytest

from neurok.cli import main
from neurok.core import Articulation, Asset, Clip, Joint, Mesh
from neurok.io import load, save

CUBE_VERTICES = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
CUBE_FACES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1]]
    + [[2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
)


def as_obj(vertices, faces):
    rows = [f"v {x} {y} {z}" for x, y, z in vertices] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces]
    return "\n".join(rows) + "\n"


@pytest.fixture
def broken(tmp_path) -> Path:
    """A cube with a NaN vertex, a face to nowhere and a face without area."""
    path = tmp_path / "broken.obj"
    vertices = np.concatenate([CUBE_VERTICES, [[np.nan, 0, 0]]])
    path.write_text(as_obj(vertices, np.concatenate([CUBE_FACES, [[0, 1, 8], [0, 1, 99], [2, 2, 3]]])))
    return path


def figures(capsys, *args):
    main(["inspect", *map(str, args), "--json"])
    return json.loads(capsys.readouterr().out)


def test_json_tells_what_a_cube_is(tmp_path, capsys):
    (tmp_path / "cube.obj").write_text(as_obj(0.5 * CUBE_VERTICES, CUBE_FACES))
    found = figures(capsys, tmp_path / "cube.obj")
    assert (found["vertices"], found["faces"], found["components"]) == (8, 12, 1)
    assert found["is_watertight"] is True
    assert found["volume"] == pytest.approx(0.125)
    assert found["is_usable"] is True
    assert found["problems"] == []
    assert found["up"]["value"] == "y"
    assert found["unit"]["value"] == "m"


def test_a_broken_file_is_looked_at_without_complaint(broken, capsys):
    found = figures(capsys, broken)
    assert found["is_usable"] is False
    assert found["is_repairable"] is True
    kinds = {problem["kind"]: problem["count"] for problem in found["problems"]}
    assert kinds["non_finite_vertices"] == 1
    assert kinds["index_out_of_range"] == 1
    assert all(problem["remedy"] for problem in found["problems"])


def test_fix_writes_a_mesh_that_needs_no_doctor(broken, tmp_path, capsys):
    found = figures(capsys, broken, "--out", tmp_path / "mended.obj")
    assert found["files"] == [str(tmp_path / "mended.obj")]
    assert found["repairs"]
    mended = load(tmp_path / "mended.obj").mesh
    np.testing.assert_allclose(mended.vertices, CUBE_VERTICES)
    assert figures(capsys, tmp_path / "mended.obj")["problems"] == []


def test_nothing_to_save_is_one_sentence_and_no_file(tmp_path, capsys):
    (tmp_path / "flat.obj").write_text(as_obj(np.zeros((3, 3)), [[0, 1, 2]]))
    with pytest.raises(SystemExit) as end:
        main(["inspect", str(tmp_path / "flat.obj"), "--out", str(tmp_path / "out.obj"), "--json"])
    told = capsys.readouterr()
    assert end.value.code == 2
    assert told.out == ""
    assert "Nothing of 'flat'" in told.err
    assert not (tmp_path / "out.obj").exists()


def test_people_get_the_same_in_words(broken, tmp_path, capsys):
    main(["inspect", str(broken), "--out", str(tmp_path / "out.ply")])
    text = " ".join(capsys.readouterr().out.split())
    for words in ("9 vertices, 15 faces", "watertight", "It cannot be used as it is", "Dropped", "out.ply"):
        assert words in text
    main(["inspect", "sample:laptop"])
    text = " ".join(capsys.readouterr().out.split())
    assert "1 revolute" in text
    assert "It cannot be used as it is" not in text


def test_brackets_in_names_are_not_taken_for_markup(tmp_path, capsys):
    path = tmp_path / "odd [red] name.obj"
    path.write_text(as_obj(CUBE_VERTICES, CUBE_FACES))
    main(["inspect", str(path)])
    assert "[red]" in capsys.readouterr().out.replace("\n", "")


def test_motion_and_joints_follow_the_repair(tmp_path, capsys):
    vertices = np.concatenate([CUBE_VERTICES, CUBE_VERTICES + [2, 0, 0], [[9, 9, 9]]]) * 2000.0
    parts = np.repeat([0, 1], [8, 9])
    mesh = Mesh(vertices, np.concatenate([CUBE_FACES, CUBE_FACES + 8]), part_ids=parts)
    slide = np.where(parts == 1, 500.0, 0.0)[:, None] * [0.0, 1.0, 0.0]
    clip = Clip(mesh, np.stack([vertices, vertices + slide]))
    joints = (Joint(), Joint("prismatic", 0, (0, 1, 0), (4000.0, 0, 0), 0.0, 500.0))
    save(Asset(mesh, (clip,), Articulation(mesh, joints)), tmp_path / "huge.npz")
    found = figures(capsys, tmp_path / "huge.npz", "--out", tmp_path / "small.npz")
    assert {problem["kind"] for problem in found["problems"]} == {"absurd_scale", "unreferenced_vertices"}
    small = load(tmp_path / "small.npz")
    scale = small.mesh.bounds[1][0] / 6000.0
    assert small.mesh.vertex_count == 16
    assert small.mesh.bounds[1][0] <= 10.0
    np.testing.assert_allclose(small.clips[0].positions, clip.positions[:, :16] * scale, rtol=1e-6)
    assert small.articulation is not None
    joint = small.articulation.joints[1]
    np.testing.assert_allclose(joint.origin, [4000.0 * scale, 0, 0])
    assert joint.upper == pytest.approx(500.0 * scale)


@pytest.mark.data
def test_real_files_are_all_usable(real_data, capsys):
    paths = sorted(real_data.glob("furniture_glb/**/*.glb"))[::20]
    assert paths
    for path in paths:
        assert figures(capsys, path)["is_usable"], path
