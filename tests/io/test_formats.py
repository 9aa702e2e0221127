"""``load`` and ``save`` pick the format and never show a traceback for a wrong file."""

import importlib

import numpy as np
import pytest
from plain_meshes import picture, rich_mesh, tetrahedron

from neurok.core import Articulation, Asset, Clip, Joint, Rollout
from neurok.errors import FormatError, NeurokError
from neurok.io import formats, load, load_articulation, load_clip, save


def test_every_entry_of_the_tables_is_a_function_that_exists():
    for home in (*formats.READERS.values(), *formats.WRITERS.values()):
        module, name = home.split(":")
        assert callable(getattr(importlib.import_module(module), name))


@pytest.mark.parametrize("name", ["a.xyz", "a", "a.obj.zip"])
def test_unknown_suffixes_are_answered_with_the_known_ones(tmp_path, name):
    (tmp_path / name).write_bytes(b"data")
    with pytest.raises(NeurokError, match=r"\.obj"):
        load(tmp_path / name)
    with pytest.raises(NeurokError, match=r"\.obj"):
        save(tetrahedron(), tmp_path / "out.xyz")
    assert not (tmp_path / "out.xyz").exists()


@pytest.mark.parametrize(
    ("suffix", "claimed"),
    [(".ply", claimed) for claimed in (".obj", ".stl", ".off", ".npz", ".pc2")]
    + [(".npz", claimed) for claimed in (".obj", ".stl", ".off", ".ply", ".pc2")],
)
def test_a_file_under_a_wrong_suffix_is_named_for_what_it_is(tmp_path, suffix, claimed):
    save(tetrahedron(), tmp_path / f"a{suffix}")
    (tmp_path / f"b{claimed}").write_bytes((tmp_path / f"a{suffix}").read_bytes())
    with pytest.raises(FormatError, match=rf"rename it to 'b\{suffix}'"):
        load(tmp_path / f"b{claimed}")


@pytest.mark.parametrize(
    "content", [b"", b"\0" * 500, b"hello world\n" * 20, picture().data, b"\xff\xfe" * 300, b"{}", b"<a/>"]
)
@pytest.mark.parametrize("suffix", [".obj", ".ply", ".stl", ".off", ".npz", ".pc2"])
def test_what_is_no_mesh_gets_one_sentence_under_every_suffix(tmp_path, suffix, content):
    (tmp_path / f"a{suffix}").write_bytes(content)
    with pytest.raises(NeurokError) as caught:
        load(tmp_path / f"a{suffix}")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_names_no_system_accepts_get_one_sentence(tmp_path):
    for name in ("x" * 5000 + ".obj", "a\0b.obj"):
        with pytest.raises(NeurokError):
            load(tmp_path / name)


def test_suffixes_may_be_capital(tmp_path):
    save(tetrahedron(), tmp_path / "A.OBJ")
    assert load(tmp_path / "A.OBJ").mesh.face_count == 4


def test_every_noun_can_be_saved(tmp_path):
    mesh = rich_mesh()
    positions = np.stack([mesh.vertices, mesh.vertices + 1])
    articulation = Articulation(mesh, (Joint(), Joint("revolute", 0)))
    for thing in (mesh, Asset(mesh), Clip(mesh, positions), articulation, Rollout(mesh, 0.5, positions)):
        save(thing, tmp_path / "thing.npz")
        assert load(tmp_path / "thing.npz").mesh.face_count == 8
    assert load_clip(tmp_path / "thing.npz").fps == 2.0
    save(articulation, tmp_path / "thing.npz")
    assert load_articulation(tmp_path / "thing.npz").dof == 1


def test_a_clip_is_found_by_name_or_number(tmp_path):
    mesh = tetrahedron()
    clips = tuple(Clip(mesh, mesh.vertices[None], 24, name) for name in ("walk", "run"))
    save(Asset(mesh, clips), tmp_path / "a.npz")
    assert load_clip(tmp_path / "a.npz", "run").name == "run"
    assert load_clip(tmp_path / "a.npz", "1").name == "run"
    for which in ("fly", 2):
        with pytest.raises(NeurokError, match=r"0 \(walk\), 1 \(run\)"):
            load_clip(tmp_path / "a.npz", which)


def test_a_file_without_motion_or_joints_says_so(tmp_path):
    save(tetrahedron(), tmp_path / "a.obj")
    with pytest.raises(NeurokError, match="no animation"):
        load_clip(tmp_path / "a.obj")
    with pytest.raises(NeurokError, match="no joints"):
        load_articulation(tmp_path / "a.obj")


def test_a_file_that_needs_more_memory_than_there_is_gets_one_sentence(tmp_path, monkeypatch):
    from neurok.io import obj

    def exhausted(path):
        raise MemoryError

    save(tetrahedron(), tmp_path / "a.obj")
    monkeypatch.setattr(obj, "read", exhausted)
    with pytest.raises(NeurokError, match="too large"):
        load(tmp_path / "a.obj")
