"""PLY: text and both byte orders, colours, texture coordinates, labels."""

import struct

import numpy as np
import pytest
import trimesh
from hypothesis import HealthCheck, given, settings
from plain_meshes import assert_same_geometry, assert_same_labels, meshes, picture, rich_mesh

from neurok.core import Surface
from neurok.errors import FormatError, MeshError, NeurokError
from neurok.io import load, load_mesh, save

POINTS = [(0.0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]


def ply(tmp_path, header, body=b""):
    path = tmp_path / "thing.ply"
    path.write_bytes(("ply\n" + "\n".join(header) + "\nend_header\n").encode() + body)
    return path


def vertex_header(count=4, extra=()):
    return [f"element vertex {count}", "property float x", "property float y", "property float z", *extra]


@pytest.mark.parametrize(("name", "order"), [("binary_little_endian", "<"), ("binary_big_endian", ">")])
def test_both_byte_orders_with_polygons_of_several_sizes(tmp_path, name, order):
    header = [f"format {name} 1.0", *vertex_header(), "element face 2", "property list uchar int vertex_indices"]
    body = b"".join(struct.pack(order + "3f", *p) for p in POINTS)
    body += struct.pack(order + "B4i", 4, 0, 1, 2, 3) + struct.pack(order + "B3i", 3, 0, 1, 3)
    mesh = load_mesh(ply(tmp_path, header, body))
    np.testing.assert_array_equal(mesh.vertices, POINTS)
    assert mesh.faces.tolist() == [[0, 1, 2], [0, 2, 3], [0, 1, 3]]


def test_text_with_extra_columns_elements_and_polygons_of_several_sizes(tmp_path):
    header = ["format ascii 1.0", "comment by hand", *vertex_header(3, ["property float quality"])]
    header += ["element face 2", "property uchar flag", "property list uchar int vertex_index"]
    header += ["element camera 1", "property float fov"]
    body = b"0 0 0 9\n1 0 0 9\n0 1 0 9\n7 3 0 1 2\n7 2 0 1\n45.0\n"
    asset = load(ply(tmp_path, header, body))
    assert asset.mesh.faces.tolist() == [[0, 1, 2]]
    assert "fewer than three" in asset.notes[0]


@pytest.mark.parametrize(("kind", "value"), [("uchar", "128"), ("float", "0.50196078431")])
def test_colours_of_bytes_and_floats_mean_the_same(tmp_path, kind, value):
    extra = [f"property {kind} {c}" for c in ("red", "green", "blue")]
    header = ["format ascii 1.0", *vertex_header(3, extra), "element face 1", "property list uchar int vertex_indices"]
    zero = "0" if kind == "uchar" else "0.0"
    body = "".join(f"{x} {y} 0 {value} {zero} {zero}\n" for x, y in ((0, 0), (1, 0), (0, 1))) + "3 0 1 2\n"
    colors = load_mesh(ply(tmp_path, header, body.encode())).vertex_colors
    np.testing.assert_allclose(colors[0], [((128 / 255 + 0.055) / 1.055) ** 2.4, 0, 0, 1], atol=1e-9)


def test_dark_byte_colours_in_text_are_not_taken_for_floats(tmp_path):
    extra = [f"property uchar {c}" for c in ("red", "green", "blue")]
    header = ["format ascii 1.0", *vertex_header(3, extra), "element face 1", "property list uchar int vertex_indices"]
    body = b"0 0 0 1 1 1\n1 0 0 1 1 1\n0 1 0 0 0 0\n3 0 1 2\n"
    assert load_mesh(ply(tmp_path, header, body)).vertex_colors[0, 0] == pytest.approx(1 / 255 / 12.92)


def test_texture_coordinates_per_corner_split_vertices(tmp_path):
    header = ["format ascii 1.0", *vertex_header(), "element face 2", "property list uchar int vertex_indices",
              "property list uchar float texcoord"]  # fmt: skip
    body = b"0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 1 2 6 0 0 1 0 1 1\n3 0 2 3 6 0.5 0.5 1 1 0 1\n"
    mesh = load_mesh(ply(tmp_path, header, body))
    assert mesh.vertex_count == 5
    np.testing.assert_allclose(mesh.uv[mesh.faces], [[[0, 0], [1, 0], [1, 1]], [[0.5, 0.5], [1, 1], [0, 1]]])


@pytest.mark.parametrize("where", ["vertex", "face"])
def test_labels_of_vertices_or_faces_become_parts(tmp_path, where):
    on_vertex = ["property int label"] if where == "vertex" else []
    header = [
        "format ascii 1.0",
        *vertex_header(6, on_vertex),
        "element face 2",
        "property list uchar int vertex_indices",
    ]
    header += ["property int label"] if where == "face" else []
    tail = (lambda i: f" {i}") if where == "vertex" else (lambda i: "")
    body = "".join(f"{i} {i * i} 0{tail(7 if i < 3 else 2)}\n" for i in range(6))
    body += "3 0 1 2\n3 3 4 5\n" if where == "vertex" else "3 0 1 2 7\n3 3 4 5 2\n"
    mesh = load_mesh(ply(tmp_path, header, body.encode()))
    assert mesh.part_names == ("part_2", "part_7")
    assert mesh.face_parts.tolist() == [1, 0]


@pytest.mark.parametrize(
    "header",
    [
        [],
        ["format ascii 1.0"],
        ["format ascii 1.0", *vertex_header(999999999999), "element face 1", "property list uchar int vertex_indices"],
        ["format binary_little_endian 1.0", *vertex_header(99999999999), "element face 0"],
        ["format binary_little_endian 1.0", *vertex_header(0), "element face 999999999999",
         "property list int int vertex_indices"],
        ["format ascii 1.0", "element vertex -3", "property float x"],
        ["format ascii 1.0", "property float x"],
        ["format ascii 1.0", *vertex_header(0, ["property float x"])],
        ["format morse 1.0"],
    ],
)  # fmt: skip
def test_impossible_headers_get_one_sentence_before_memory_is_taken(tmp_path, header):
    with pytest.raises(NeurokError) as caught:
        load(ply(tmp_path, header, b"1 2 3\n"))
    assert "\n" not in str(caught.value)


def test_a_list_that_promises_more_than_the_file_holds_is_refused(tmp_path):
    header = [
        "format binary_little_endian 1.0",
        *vertex_header(0),
        "element face 1",
        "property list uint int vertex_indices",
    ]
    with pytest.raises(FormatError, match="cut off"):
        load(ply(tmp_path, header, struct.pack("<Iiii", 2**32 - 1, 0, 0, 0)))


def test_a_point_cloud_is_an_empty_mesh(tmp_path):
    with pytest.raises(MeshError, match="0 faces"):
        load(ply(tmp_path, ["format ascii 1.0", *vertex_header(1)], b"1 2 3\n"))


def test_every_prefix_of_a_file_is_refused(tmp_path):
    save(rich_mesh(), tmp_path / "jar.ply")
    data = (tmp_path / "jar.ply").read_bytes()
    for cut in range(0, len(data), 7):
        (tmp_path / "cut.ply").write_bytes(data[:cut])
        with pytest.raises(NeurokError):
            load(tmp_path / "cut.ply")


def test_one_picture_travels_beside_the_file_byte_for_byte(tmp_path):
    from dataclasses import replace

    mesh = replace(rich_mesh(), surfaces=(Surface("s", texture=picture()),), face_surfaces=None)
    save(mesh, tmp_path / "jar.ply")
    assert load_mesh(tmp_path / "jar.ply").surfaces[0].texture.data == picture().data
    (tmp_path / "jar_texture.png").unlink()
    with pytest.raises(FormatError, match="missing"):
        load(tmp_path / "jar.ply")


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(meshes())
def test_any_mesh_survives_writing_and_reading(tmp_path, mesh):
    save(mesh, tmp_path / "m.ply")
    back = load_mesh(tmp_path / "m.ply")
    assert_same_geometry(mesh, back)
    assert_same_labels(mesh, back)
    if mesh.uv is not None:
        np.testing.assert_array_equal(mesh.uv, back.uv)
    if mesh.vertex_colors is not None:
        # Half a step of 8-bit sRGB is at most this much light.
        np.testing.assert_allclose(mesh.vertex_colors, back.vertex_colors, atol=0.0046)


@pytest.mark.parametrize("encoding", ["ascii", "binary"])
def test_trimesh_and_we_read_each_others_files(tmp_path, encoding):
    ball = trimesh.creation.icosphere(subdivisions=2)
    ball.visual.vertex_colors = np.random.default_rng(0).integers(0, 255, (len(ball.vertices), 4), dtype=np.uint8)
    (tmp_path / "theirs.ply").write_bytes(trimesh.exchange.ply.export_ply(ball, encoding=encoding))
    ours = load_mesh(tmp_path / "theirs.ply")
    np.testing.assert_allclose(ours.vertices, ball.vertices, atol=1e-6)
    np.testing.assert_array_equal(ours.faces, ball.faces)
    save(ours, tmp_path / "ours.ply")
    theirs = trimesh.load(tmp_path / "ours.ply", process=False)
    np.testing.assert_allclose(theirs.vertices, ours.vertices)
    np.testing.assert_array_equal(theirs.visual.vertex_colors, ball.visual.vertex_colors)
