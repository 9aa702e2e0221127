"""STL: triangles without connectivity get it back."""

import numpy as np
import pytest
import trimesh
from hypothesis import HealthCheck, given, settings
from plain_meshes import meshes, tetrahedron

from neurok.errors import MeshError, NeurokError
from neurok.geometry.topology import is_watertight
from neurok.io import load, load_mesh, save

FACET = "facet normal 0 0 1\n outer loop\n  vertex {} 0 0\n  vertex 1 0 0\n  vertex 0 1e0 0\n endloop\nendfacet\n"


def test_a_tetrahedron_comes_back_closed_with_four_vertices(tmp_path):
    save(tetrahedron(), tmp_path / "t.stl")
    back = load_mesh(tmp_path / "t.stl")
    assert back.vertex_count == 4
    assert is_watertight(back.faces)
    np.testing.assert_array_equal(back.vertices[back.faces], tetrahedron().vertices[tetrahedron().faces])


def test_solids_of_a_text_file_become_parts(tmp_path):
    text = (
        "solid lid\n"
        + FACET.format("-0.0")
        + FACET.format(0.0)
        + "endsolid lid\nsolid\n"
        + FACET.format(5)
        + "endsolid\n"
    )
    (tmp_path / "t.stl").write_text(text)
    mesh = load_mesh(tmp_path / "t.stl")
    assert mesh.part_names == ("lid", "solid_1")
    assert mesh.face_parts.tolist() == [0, 0, 1]
    assert mesh.vertex_count == 6  # -0 and 0 are one place, and solids share nothing


def test_a_binary_file_that_begins_with_solid_is_still_binary(tmp_path):
    save(tetrahedron(), tmp_path / "t.stl")
    data = bytearray((tmp_path / "t.stl").read_bytes())
    data[:5] = b"solid"
    (tmp_path / "t.stl").write_bytes(data)
    assert load_mesh(tmp_path / "t.stl").face_count == 4


@pytest.mark.parametrize("cut", [3, 60, 84, 90, 200])
def test_a_cut_off_file_is_refused(tmp_path, cut):
    save(tetrahedron(), tmp_path / "t.stl")
    (tmp_path / "t.stl").write_bytes((tmp_path / "t.stl").read_bytes()[:cut])
    with pytest.raises(NeurokError):
        load(tmp_path / "t.stl")


@pytest.mark.parametrize(
    "text",
    ["solid", "solid x\nendsolid x\n", "solid x\n" + FACET.format(0), "solid\n" + FACET.format("x") + "endsolid"],
)
def test_text_without_whole_triangles_is_refused(tmp_path, text):
    (tmp_path / "t.stl").write_text(text)
    with pytest.raises(NeurokError):
        load(tmp_path / "t.stl")


def test_nan_corners_hand_a_draft_to_the_doctor(tmp_path):
    (tmp_path / "t.stl").write_text("solid\n" + FACET.format("nan") + FACET.format(0) + "endsolid\n")
    with pytest.raises(MeshError) as caught:
        load(tmp_path / "t.stl")
    assert caught.value.draft.face_count == 2


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(meshes(with_labels=False))
def test_the_triangles_of_any_mesh_survive_to_32_bits(tmp_path, mesh):
    save(mesh, tmp_path / "m.stl")
    back = load_mesh(tmp_path / "m.stl")
    np.testing.assert_array_equal(back.vertices[back.faces], mesh.vertices[mesh.faces].astype(np.float32))
    assert back.vertex_count == len(np.unique(back.vertices, axis=0))


@pytest.mark.parametrize("kind", ["stl", "stl_ascii"])
def test_trimesh_and_we_read_each_others_files(tmp_path, kind):
    ball = trimesh.creation.icosphere(subdivisions=2)
    ball.export(tmp_path / "theirs.stl", file_type=kind)
    ours = load_mesh(tmp_path / "theirs.stl")
    assert ours.vertex_count == len(ball.vertices)
    np.testing.assert_allclose(ours.vertices[ours.faces], ball.triangles, atol=1e-6)
    save(ours, tmp_path / "ours.stl")
    np.testing.assert_allclose(trimesh.load(tmp_path / "ours.stl").volume, ball.volume, rtol=1e-5)
