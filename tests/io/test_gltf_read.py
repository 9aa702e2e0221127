"""What a glTF file says is what the mesh has: hand-made files with known answers."""

import numpy as np
import pytest
from gltf_by_hand import TRIANGLE, Handmade

from neurok.core import Texture
from neurok.io.gltf_read import read


def png(color=(200, 30, 60)) -> bytes:
    return Texture.from_pixels(np.full((2, 3, 3), color, dtype=np.uint8)).data


def one_node(hand: Handmade, **node) -> Handmade:
    hand.add("nodes", **node)
    hand.add("scenes", nodes=[0])
    return hand


def test_a_child_is_placed_by_all_its_ancestors(tmp_path):
    hand = Handmade()
    mesh = hand.mesh()
    half = float(np.sqrt(0.5))
    hand.add("nodes", name="root", translation=[10, 0, 0], rotation=[0, 0, half, half], children=[1])
    hand.add("nodes", name="child", translation=[1, 0, 0], scale=[2, 2, 2], mesh=mesh)
    hand.add("scenes", nodes=[0])
    got = read(hand.save(tmp_path)).mesh
    # the child's corner (1, 0, 0) becomes (3, 0, 0) in the root, turned to (0, 3, 0), shifted to (10, 3, 0)
    np.testing.assert_allclose(got.vertices, [[10, 1, 0], [10, 3, 0], [8, 1, 0]], atol=1e-6)
    assert got.part_names == ("child",)
    assert (got.up, got.unit, got.name) == ("y", 1.0, "hand")


def test_a_matrix_node_is_read_column_by_column(tmp_path):
    matrix = np.eye(4)
    matrix[:3, 3] = [1, 2, 3]
    hand = Handmade()
    got = read(one_node(hand, mesh=hand.mesh(), matrix=matrix.T.reshape(-1).tolist()).save(tmp_path)).mesh
    np.testing.assert_allclose(got.vertices, TRIANGLE + [1, 2, 3])


def test_a_mesh_shown_twice_is_two_parts_with_different_names(tmp_path):
    hand = Handmade()
    mesh = hand.mesh()
    hand.add("nodes", name="leg", mesh=mesh)
    hand.add("nodes", name="leg", mesh=mesh, translation=[5, 0, 0])
    got = read(hand.save(tmp_path)).mesh  # no scene: all roots are shown
    assert got.part_names == ("leg", "leg_2")
    assert got.part_ids.tolist() == [0, 0, 0, 1, 1, 1]
    assert got.faces.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_nodes_outside_the_scene_are_not_shown(tmp_path):
    hand = Handmade()
    mesh = hand.mesh()
    hand.add("nodes", name="in", mesh=mesh)
    hand.add("nodes", name="out", mesh=mesh)
    hand.add("scenes", nodes=[0])
    assert read(hand.save(tmp_path)).mesh.part_names == ("in",)


def test_a_mirrored_node_keeps_its_outside_outside(tmp_path):
    hand = Handmade()
    got = read(one_node(hand, mesh=hand.mesh(), scale=[-1, 1, 1]).save(tmp_path)).mesh
    a, b, c = got.vertices[got.faces[0]]
    assert np.cross(b - a, c - a)[2] > 0


@pytest.mark.parametrize(
    ("mode", "faces"),
    [(4, [[0, 1, 2]]), (5, [[0, 1, 2], [1, 3, 2], [2, 3, 4]]), (6, [[1, 2, 0], [2, 3, 0], [3, 4, 0]])],
)
def test_lists_strips_and_fans_wind_the_same_way(tmp_path, mode, faces):
    hand = Handmade()
    corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 2, 0]]
    asset = read(one_node(hand, mesh=hand.mesh(corners, None, mode)).save(tmp_path))
    assert asset.mesh.faces.tolist() == faces
    assert bool(asset.notes) == (mode == 4)  # five corners are not whole triangles


def test_points_and_lines_are_left_out_and_noted(tmp_path):
    hand = Handmade()
    mesh = hand.mesh()
    hand.json["meshes"][mesh]["primitives"].append({"attributes": {"POSITION": hand.array(TRIANGLE)}, "mode": 1})
    asset = read(one_node(hand, mesh=mesh).save(tmp_path))
    assert asset.mesh.face_count == 1
    assert "lines" in asset.notes[0]


def test_sparse_values_replace_those_of_the_base_array(tmp_path):
    hand = Handmade()
    mesh = hand.mesh()
    accessor = hand.json["accessors"][hand.json["meshes"][mesh]["primitives"][0]["attributes"]["POSITION"]]
    accessor["sparse"] = {
        "count": 1,
        "indices": {"bufferView": hand.view(np.array([2], np.uint16).tobytes()), "componentType": 5123},
        "values": {"bufferView": hand.view(np.array([[0, 7, 0]], np.float32).tobytes())},
    }
    got = read(one_node(hand, mesh=mesh).save(tmp_path)).mesh
    np.testing.assert_array_equal(got.vertices, [[0, 0, 0], [1, 0, 0], [0, 7, 0]])


def test_quantised_positions_are_scaled_as_the_file_says(tmp_path):
    hand = Handmade()
    mesh = hand.mesh()
    position = hand.array([[0, 0, 0], [32767, 0, 0], [0, -32768, 0]], np.int16, normalized=True)
    hand.json["meshes"][mesh]["primitives"][0]["attributes"]["POSITION"] = position
    got = read(one_node(hand, mesh=mesh).save(tmp_path)).mesh
    np.testing.assert_allclose(got.vertices, [[0, 0, 0], [1, 0, 0], [0, -1, 0]], atol=1e-7)


def test_interleaved_arrays_are_picked_apart(tmp_path):
    hand = Handmade()
    mesh = hand.mesh()
    mixed = np.concatenate([TRIANGLE, np.array([[0, 0], [1, 0], [0, 1]], np.float32)], axis=1)
    view = hand.view(mixed.tobytes(), byteStride=20)
    attributes = hand.json["meshes"][mesh]["primitives"][0]["attributes"]
    for name, offset, kind in (("POSITION", 0, "VEC3"), ("TEXCOORD_0", 12, "VEC2")):
        attributes[name] = hand.add(
            "accessors", bufferView=view, byteOffset=offset, componentType=5126, count=3, type=kind
        )
    got = read(one_node(hand, mesh=mesh).save(tmp_path)).mesh
    np.testing.assert_array_equal(got.vertices, TRIANGLE)
    np.testing.assert_array_equal(got.uv, [[0, 1], [1, 1], [0, 0]])


def test_vertex_colours_become_rgba_from_zero_to_one(tmp_path):
    hand = Handmade()
    colors = hand.array([[255, 0, 0, 255], [0, 51, 0, 255], [0, 0, 0, 0]], np.uint8, normalized=True)
    got = read(one_node(hand, mesh=hand.mesh(COLOR_0=colors)).save(tmp_path)).mesh
    np.testing.assert_allclose(got.vertex_colors, [[1, 0, 0, 1], [0, 0.2, 0, 1], [0, 0, 0, 0]], atol=1e-7)


@pytest.mark.parametrize("embedded", [True, False])
def test_buffers_come_from_data_uris_and_from_files_beside(tmp_path, embedded):
    hand = Handmade()
    got = read(one_node(hand, mesh=hand.mesh()).save_gltf(tmp_path, embedded)).mesh
    np.testing.assert_array_equal(got.vertices, TRIANGLE)


@pytest.mark.parametrize("home", ["buffer", "file"])
def test_pictures_pass_through_byte_for_byte(tmp_path, home):
    hand, picture = Handmade(), png()
    mesh = hand.mesh(TEXCOORD_0=hand.array([[0, 0], [1, 0], [0, 1]]))
    hand.json["meshes"][mesh]["primitives"][0]["material"] = 0
    if home == "buffer":
        hand.add("images", bufferView=hand.view(picture), mimeType="image/png", name="paint")
    else:
        (tmp_path / "paint.png").write_bytes(picture)
        hand.add("images", uri="paint.png")
    hand.add("textures", source=0)
    hand.add(
        "materials",
        name="red",
        pbrMetallicRoughness={"baseColorTexture": {"index": 0}, "baseColorFactor": [1, 0.5, 0.25, 1]},
        doubleSided=True,
        alphaMode="BLEND",
        emissiveFactor=[0, 0.5, 1],
    )
    (surface,) = read(one_node(hand, mesh=mesh).save(tmp_path)).mesh.surfaces
    assert surface.texture.data == picture
    assert surface.base_color == (1, 0.5, 0.25, 1)
    assert (surface.metallic, surface.roughness) == (1.0, 1.0)  # what glTF takes when a file is silent
    assert (surface.double_sided, surface.alpha_mode, surface.emissive) == (True, "BLEND", (0, 0.5, 1))


def test_a_texture_transform_moves_the_coordinates(tmp_path):
    hand = Handmade()
    mesh = hand.mesh(TEXCOORD_0=hand.array([[0, 0], [1, 0], [0, 1]]))
    hand.json["meshes"][mesh]["primitives"][0]["material"] = 0
    hand.add("images", bufferView=hand.view(png()), mimeType="image/png")
    hand.add("textures", source=0)
    settings = {"KHR_texture_transform": {"offset": [0.5, 0], "scale": [2, 3]}}
    hand.add("materials", pbrMetallicRoughness={"baseColorTexture": {"index": 0, "extensions": settings}})
    got = read(one_node(hand, mesh=mesh).save(tmp_path)).mesh
    np.testing.assert_allclose(got.uv, [[0.5, 1], [2.5, 1], [0.5, -2]])


def test_primitives_over_the_same_vertices_share_them(tmp_path):
    hand = Handmade()
    mesh = hand.mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], [0, 1, 2])
    first = hand.json["meshes"][mesh]["primitives"][0]
    hand.json["meshes"][mesh]["primitives"] = [
        {**first, "material": 1},
        {**first, "indices": hand.array([1, 3, 2], np.uint8), "material": 0},
    ]
    hand.add("materials", name="a")
    hand.add("materials", name="b")
    got = read(one_node(hand, mesh=mesh).save(tmp_path)).mesh
    assert got.vertex_count == 4
    assert [got.surfaces[i].name for i in got.face_surfaces] == ["b", "a"]


def test_specular_gloss_materials_keep_their_diffuse_colour(tmp_path):
    hand = Handmade()
    mesh = hand.mesh()
    hand.json["meshes"][mesh]["primitives"][0]["material"] = 0
    gloss = {"diffuseFactor": [0.1, 0.2, 0.3, 1.0], "glossinessFactor": 0.75}
    hand.add("materials", extensions={"KHR_materials_pbrSpecularGlossiness": gloss})
    (surface,) = read(one_node(hand, mesh=mesh).save(tmp_path)).mesh.surfaces
    assert surface.base_color == (0.1, 0.2, 0.3, 1.0)
    assert (surface.metallic, surface.roughness) == (0.0, 0.25)


@pytest.mark.parametrize("parts", [None, 3, [{}], [[0]], [0, 7], [-1, 0], ["0"]])
def test_a_senseless_list_of_parts_is_not_followed(tmp_path, parts):
    hand = Handmade()
    one_node(hand, name="only", mesh=hand.mesh())
    hand.json["scenes"][0]["extras"] = {"neurok": {"version": 1, "parts": parts}}
    assert read(hand.save(tmp_path)).mesh.part_names == ("only",)


def test_a_part_listed_without_a_mesh_is_an_empty_part(tmp_path):
    hand = Handmade()
    one_node(hand, name="body", mesh=hand.mesh())
    hand.add("nodes", name="frame")
    hand.json["scenes"][0]["extras"] = {"neurok": {"version": 1, "parts": [1, 0]}}
    got = read(hand.save(tmp_path)).mesh
    assert got.part_names == ("frame", "body")
    assert got.part_ids.tolist() == [1, 1, 1]
