"""Files in and out of the studio: what is damaged is refused in a sentence, what is saved comes back."""

import zipfile
from dataclasses import replace

import numpy as np
import pytest

from neurok.bodyplan import editing
from neurok.errors import NeurokError
from neurok.io import load
from neurok.studio import files
from neurok.studio.config import CONFIG
from neurok.studio.files import FORMATS, export, read_scene_file, restore, save_scene
from neurok.studio.scene import StudioScene
from neurok.studio.state import Recording

TETRAHEDRON = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"


@pytest.fixture
def scene(tmp_path):
    (tmp_path / "mine").mkdir()
    studio = StudioScene(tmp_path / "mine")
    studio.open(load("sample:laptop"))
    return studio


def test_a_saved_scene_comes_back_as_it_stood(scene, tmp_path):
    screen = scene.mesh.part_names.index("screen")
    scene.edit("limits", lambda plan: editing.with_limits(plan, screen, -0.4, 0.7))
    scene.set_material("screen", "glass")
    scene.set_coordinate(0, 0.3)
    scene.set_forces(gravity=0.4, wind=2.0, act="tilt")
    joints = scene.plan.articulation
    clip = joints.clip(np.linspace(0, 0.5, 4)[:, None], fps=12.0)
    scene.keep(Recording(clip, np.arange(4.0), np.array([0.0, 0.0, 0.1, 0.1])))
    path = save_scene(scene, tmp_path / "all.neurok")
    (tmp_path / "other").mkdir()
    (tmp_path / "unpacked").mkdir()
    other = StudioScene(tmp_path / "other")
    restore(other, read_scene_file(path, tmp_path / "unpacked"))
    np.testing.assert_allclose(other.positions, scene.positions, atol=1e-6)
    np.testing.assert_allclose(other.space.limits, [[-0.4, 0.7]])
    assert other.materials == {"screen": "glass"}
    assert other.forces == scene.forces
    np.testing.assert_allclose(other.playback.recording.clip.positions, clip.positions, atol=1e-5)
    np.testing.assert_allclose(other.playback.recording.energies, np.arange(4.0))
    with pytest.raises(NeurokError, match="nothing to undo"):
        other.undo()


@pytest.mark.parametrize("damage", ["no zip", "no object", "no sense", "wrong version"])
def test_a_damaged_scene_is_refused(scene, tmp_path, damage):
    path = save_scene(scene, tmp_path / "all.neurok")
    if damage == "no zip":
        path.write_bytes(path.read_bytes()[:200])
    else:
        with zipfile.ZipFile(path) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        if damage == "no object":
            del members["object.npz"]
        else:
            members["studio.json"] = (
                b'{"neurok_studio": 1, "q": 3}' if damage == "no sense" else b'{"neurok_studio": 9}'
            )
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in members.items():
                archive.writestr(name, data)
    (tmp_path / "unpacked").mkdir()
    with pytest.raises(NeurokError, match=r"damaged|no object|version"):
        read_scene_file(path, tmp_path / "unpacked")


@pytest.mark.slow
@pytest.mark.parametrize("format", ["GLB", "URDF", "MJCF", "OBJ", "Scene"])
def test_every_download_is_a_file_that_opens_again(scene, tmp_path, format):
    screen = scene.mesh.part_names.index("screen")
    scene.edit("limits", lambda plan: editing.with_limits(plan, screen, -0.4, 0.7))
    name, data = export(scene, format)
    path = tmp_path / name
    path.write_bytes(data)
    if format == "Scene":
        (tmp_path / "unpacked").mkdir()
        assert read_scene_file(path, tmp_path / "unpacked").plan is not None
        return
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            archive.extractall(tmp_path / "unpacked")
        (path,) = (tmp_path / "unpacked").glob(f"*{FORMATS[format]}")
    back = load(path)
    assert back.mesh.face_count == scene.mesh.face_count
    if format != "OBJ":
        np.testing.assert_allclose(back.articulation.limits, [[-0.4, 0.7]], atol=1e-5)
    assert not list(scene.folder.glob("export*"))


def test_an_unknown_format_is_refused(scene):
    with pytest.raises(NeurokError, match="no format"):
        export(scene, "DWG")


def test_what_the_doctor_reads_is_mended_and_named(tmp_path):
    path = tmp_path / "file.obj"
    path.write_bytes(TETRAHEDRON + b"f 1 1 2\n")
    notes = files._read(path, "my thing.obj")
    assert load(tmp_path / "checked.npz").mesh.name == "my thing"
    assert any("area" in note or "Mended" in note for note in notes)


def test_a_file_that_is_too_large_or_empty_never_reaches_a_reader(tmp_path):
    small = replace(CONFIG, upload_bytes=10)
    with pytest.raises(NeurokError, match="takes up to"):
        files.check_upload("big.obj", TETRAHEDRON, tmp_path, small)
    with pytest.raises(NeurokError, match="is empty"):
        files.check_upload("no.obj", b"", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "content", "limits", "says"),
    [
        ("broken.glb", b"glTF" + bytes(40), {}, "broken.glb"),
        ("what.xyz", b"hello", {}, "cannot read"),
        ("a.neurok", b"PK\x03\x04nothing", {}, "damaged"),
        ("slow.obj", TETRAHEDRON, {"check_seconds": 0.001}, "was not read within"),
        ("huge.ply", None, {"check_bytes": 60_000_000}, "memory"),
    ],
)
def test_a_process_of_its_own_refuses_in_one_sentence(tmp_path, name, content, limits, says):
    if content is None:  # few bytes that ask for a lot of memory
        rows = b"ply\nformat binary_little_endian 1.0\nelement vertex 6000000\nproperty float x\nproperty float y\n"
        content = rows + b"property float z\nelement face 0\nproperty list uchar int vertex_indices\nend_header\n"
        content += bytes(12 * 6_000_000)
    with pytest.raises(NeurokError, match=says) as error:
        files.check_upload(name, content, tmp_path, replace(CONFIG, **limits))
    assert str(tmp_path) not in str(error.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_good_file_is_let_in(tmp_path):
    taken = files.check_upload("tetra.obj", TETRAHEDRON, tmp_path)
    assert taken.asset.mesh.face_count == 4
    assert not list(tmp_path.iterdir())
