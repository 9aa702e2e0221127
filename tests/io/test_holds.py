"""What a format cannot hold is said in one line, and only then."""

from dataclasses import replace
from pathlib import Path

import pytest
from test_gltf_finish import glazed

from neurok.io.formats import FORMATS, READERS, WRITERS, load, looks_left_out


@pytest.fixture(scope="module")
def asset(tmp_path_factory):
    return load(glazed().save(tmp_path_factory.mktemp("glazed")))


def test_every_written_format_is_in_the_table():
    assert set(FORMATS) == set(WRITERS)
    assert set(WRITERS) <= set(READERS)


def test_an_unchanged_gltf_loses_nothing(asset):
    assert looks_left_out(asset, Path("a.glb")) == []


@pytest.mark.parametrize(
    ("name", "words", "not_words"),
    [
        ("a.obj", ["normal maps", "clearcoat", "tangents", "further texture coordinates"], ["base-color"]),
        ("a.usdc", ["tangents"], ["clearcoat", "ior", "maps", "normals"]),
        ("a.stl", ["materials", "normals"], ["maps"]),
        ("a.npz", [], ["materials"]),
    ],
)
def test_what_is_lost_is_said(asset, name, words, not_words):
    said = " ".join(looks_left_out(asset, Path(name)))
    assert all(word in said for word in words), said
    assert not any(word in said for word in not_words), said


def test_a_changed_object_is_said_to_lose_its_scene(asset):
    mesh = asset.mesh.with_vertices(asset.mesh.vertices * 2.0)
    said = looks_left_out(replace(asset, mesh=mesh), Path("a.glb"))
    assert len(said) == 1
    assert "cameras" in said[0]
