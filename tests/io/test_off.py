"""OFF and COFF."""

import numpy as np
import pytest
import trimesh
from hypothesis import HealthCheck, given, settings
from plain_meshes import assert_same_geometry, meshes, rich_mesh

from neurok.errors import MeshError, NeurokError
from neurok.io import load, load_mesh, save

SQUARE = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n"


def off(tmp_path, text):
    (tmp_path / "t.off").write_text(text)
    return tmp_path / "t.off"


@pytest.mark.parametrize(
    "head", ["OFF\n4 1 0\n", "OFF 4 1 0\n", "# by hand\n\nOFF # kind\n4 1 4 # counts\n\n", "OFF\n4 1\n"]
)
@pytest.mark.parametrize("face", ["4 0 1 2 3", "4 0 1 2 3 255 0 0", "4 0 1 2 3 0.5 0.5 0.5 1.0"])
def test_headers_comments_and_face_colours_do_not_disturb_the_square(tmp_path, head, face):
    mesh = load_mesh(off(tmp_path, head + SQUARE + face + "\n"))
    assert mesh.faces.tolist() == [[0, 1, 2], [0, 2, 3]]
    assert mesh.vertices[2].tolist() == [1, 1, 0]


def test_colours_of_vertices_are_read_in_bytes_and_in_floats(tmp_path):
    for colors in ("255 0 0 255", "1.0 0.0 0.0 1.0"):
        rows = "".join(f"{x} {y} 0 {colors}\n" for x, y in ((0, 0), (1, 0), (0, 1)))
        mesh = load_mesh(off(tmp_path, "COFF\n3 1 0\n" + rows + "3 0 1 2\n"))
        np.testing.assert_array_equal(mesh.vertex_colors, np.tile([1.0, 0, 0, 1], (3, 1)))


def test_normals_are_not_taken_for_colours(tmp_path):
    rows = "0 0 0 0 0 1\n1 0 0 0 0 1\n0 1 0 0 0 1\n"
    assert load_mesh(off(tmp_path, "NOFF\n3 1 0\n" + rows + "3 0 1 2\n")).vertex_colors is None


@pytest.mark.parametrize(
    "text",
    ["OFF", "OFF\n4 1 0\n", "OFF\n999999999 1 0\n" + SQUARE, "OFF\n4 1 0\n" + SQUARE + "4 0 1 2\n",
     "OFF\n4 1 0\n0 0\n" + SQUARE, "OFF\n4 1 0\n" + SQUARE + "-1 0 1 2\n", "OFF BINARY\n4 1 0\n", "OFFER\n4 1 0\n",
     "OFF\n4 1 0\n" + SQUARE + "nan 0 1 2\n"],
)  # fmt: skip
def test_damaged_files_get_one_sentence(tmp_path, text):
    with pytest.raises(NeurokError) as caught:
        load(off(tmp_path, text))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("face", ["3 0 1 7", "3 0 1 -2", "3 0 1 nan", "3 0 1 1e300"])
def test_an_index_out_of_range_hands_a_draft_to_the_doctor(tmp_path, face):
    with pytest.raises(MeshError):
        load(off(tmp_path, "OFF\n4 1 0\n" + SQUARE + face + "\n"))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(meshes(with_labels=False))
def test_any_mesh_survives_writing_and_reading(tmp_path, mesh):
    save(mesh, tmp_path / "m.off")
    assert_same_geometry(mesh, load_mesh(tmp_path / "m.off"))


def test_colours_survive_to_eight_bits(tmp_path):
    save(rich_mesh(), tmp_path / "m.off")
    np.testing.assert_allclose(load_mesh(tmp_path / "m.off").vertex_colors, rich_mesh().vertex_colors, atol=0.0046)


def test_trimesh_and_we_read_each_others_files(tmp_path):
    ball = trimesh.creation.icosphere(subdivisions=2)
    ball.export(tmp_path / "theirs.off")
    ours = load_mesh(tmp_path / "theirs.off")
    np.testing.assert_allclose(ours.vertices, ball.vertices, atol=1e-7)
    np.testing.assert_array_equal(ours.faces, ball.faces)
    save(ours, tmp_path / "ours.off")
    theirs = trimesh.load(tmp_path / "ours.off", process=False)
    np.testing.assert_allclose(theirs.vertices, ours.vertices)
    np.testing.assert_array_equal(theirs.faces, ours.faces)
