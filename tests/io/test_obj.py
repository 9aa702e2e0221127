"""OBJ: every way to write a face, groups as parts, materials as surfaces."""

import numpy as np
import pytest
import trimesh
from hypothesis import HealthCheck, given, settings
from plain_meshes import assert_same_geometry, assert_same_labels, assert_same_look, meshes, picture, rich_mesh

from neurok.errors import FormatError, MeshError, NeurokError
from neurok.io import load, load_mesh, save
from neurok.io.obj import read

SQUARE = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"


def obj(tmp_path, text, name="thing.obj"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    "face", ["f 1 2 3 4", "f -4 -3 -2 -1", "f 1/ 2/ 3/ 4/", "f 1//1 2//1 3//1 4//1", "f 1 2 \\\n3 4"]
)
def test_all_ways_to_name_corners_give_the_same_square(tmp_path, face):
    mesh = load_mesh(obj(tmp_path, SQUARE + "vn 0 0 1\n" + face + "\n"))
    assert mesh.faces.tolist() == [[0, 1, 2], [0, 2, 3]]
    assert mesh.uv is None


def test_negative_indices_count_back_from_their_own_line(tmp_path):
    text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -2 -1\nv 5 0 0\nv 6 0 0\nv 5 1 0\nf -3 -2 -1\n"
    assert load_mesh(obj(tmp_path, text)).faces.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_corners_that_disagree_on_uv_are_split_and_others_are_not(tmp_path):
    text = SQUARE + "vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nvt 0.5 0.5\nf 1/1 2/2 3/3\nf 1/5 3/3 4/4\n"
    mesh = load_mesh(obj(tmp_path, text))
    assert mesh.vertex_count == 5
    assert mesh.faces.tolist() == [[0, 1, 2], [4, 2, 3]]
    np.testing.assert_array_equal(mesh.uv, [[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0.5]])


def test_faces_with_and_without_uv_may_mix(tmp_path):
    mesh = load_mesh(obj(tmp_path, SQUARE + "vt 0.25 0.75\nf 1/1 2/1 3/1\nf 1 3 4\n"))
    np.testing.assert_array_equal(mesh.uv[mesh.faces[0]], np.tile([0.25, 0.75], (3, 1)))
    np.testing.assert_array_equal(mesh.uv[mesh.faces[1]], np.zeros((3, 2)))


def test_a_concave_polygon_is_cut_without_leaving_it(tmp_path):
    arrow = "v 0 0 0\nv 4 0 0\nv 4 4 0\nv 2 1 0\nv 0 4 0\nf 1 2 3 4 5\n"
    mesh = load_mesh(obj(tmp_path, arrow))
    a, b, c = (mesh.vertices[mesh.faces[:, i]] for i in range(3))
    areas = np.cross(b - a, c - a)[:, 2] / 2
    assert (areas > 0).all()
    np.testing.assert_allclose(areas.sum(), 10.0)  # shoelace


def test_groups_become_parts_in_order_of_appearance_and_return(tmp_path):
    text = SQUARE + "g lid\nf 1 2 3\ng body\nf 1 3 4\ng lid\nf 2 3 4\n"
    mesh = load_mesh(obj(tmp_path, text))
    assert mesh.part_names == ("lid", "body")
    assert mesh.face_parts.tolist() == [0, 1, 0]


def test_objects_and_groups_together_name_parts_by_both(tmp_path):
    text = SQUARE + "o cup\ng rim\nf 1 2 3\no plate\ng rim\nf 1 3 4\no spoon\nf 2 3 4\n"
    assert load_mesh(obj(tmp_path, text)).part_names == ("cup/rim", "plate/rim", "spoon")


def test_one_object_is_a_name_and_no_part(tmp_path):
    mesh = load_mesh(obj(tmp_path, "o Suzanne\n" + SQUARE + "f 1 2 3\n"))
    assert mesh.name == "Suzanne"
    assert mesh.part_names == ()


def test_comments_windows_newlines_leading_blanks_and_latin_1_names(tmp_path):
    text = b"# made by hand\r\n  v 0 0 0 # first\r\nv 1 0 0\r\n\r\n\tv 0 1 0\r\ng caf\xe9#1\r\nf 1 2 3\r\n"
    mesh = load_mesh(obj(tmp_path, text))
    assert mesh.part_names == ("café#1",)
    assert mesh.face_count == 1


def test_vertex_colours_are_srgb_in_the_file_and_linear_in_memory(tmp_path):
    mesh = load_mesh(obj(tmp_path, "v 0 0 0 1 0 0.5\nv 1 0 0 1 0 0.5\nv 0 1 0 1 0 0.5\nf 1 2 3\n"))
    np.testing.assert_allclose(mesh.vertex_colors[0], [1, 0, ((0.5 + 0.055) / 1.055) ** 2.4, 1])


def test_materials_keep_colour_opacity_shine_glow_and_the_pictures_bytes(tmp_path):
    (tmp_path / "my pics").mkdir()
    (tmp_path / "my pics" / "wood 1.png").write_bytes(picture().data)
    (tmp_path / "thing.mtl").write_text(
        "newmtl wood\nKd 0.5 0.25 0.125\nTr 0.25\nNs 250\nKe 0 1 2\n"
        "map_Kd -s 1 1 1 -clamp on my pics\\wood 1.png\nnewmtl metal\nPm 1\nPr 0.2\nNs 900\n"
    )
    text = "mtllib thing.mtl\n" + SQUARE + "usemtl wood\nf 1 2 3\nusemtl metal\nf 1 3 4\nusemtl wood\nf 2 3 4\n"
    mesh = load_mesh(obj(tmp_path, text))
    wood, metal = mesh.surfaces
    assert wood.base_color == (0.5, 0.25, 0.125, 0.75)
    assert wood.alpha_mode == "BLEND"
    assert wood.roughness == pytest.approx(0.5)
    assert wood.emissive == (0, 1, 2)
    assert wood.texture.data == picture().data
    assert (metal.metallic, metal.roughness) == (1.0, 0.2)
    assert mesh.face_surfaces.tolist() == [0, 1, 0]


def test_a_missing_library_is_a_note_and_a_missing_picture_an_error(tmp_path):
    path = obj(tmp_path, "mtllib gone.mtl\n" + SQUARE + "usemtl red\nf 1 2 3\n")
    asset = load(path)
    assert "gone.mtl" in asset.notes[0]
    assert asset.mesh.surfaces[0].name == "red"
    (tmp_path / "gone.mtl").write_text("newmtl red\nmap_Kd gone.png\n")
    with pytest.raises(FormatError, match=r"gone\.png"):
        load(path)


@pytest.mark.parametrize(
    "reference", ["../secret.png", "/etc/passwd", "..\\secret.png", "a/../../secret.png", "C:\\x.png"]
)
def test_references_out_of_the_folder_are_refused(tmp_path, reference):
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "secret.png").write_bytes(picture().data)
    (home / "a.mtl").write_text(f"newmtl red\nmap_Kd {reference}\n")
    with pytest.raises(FormatError, match="outside its folder"):
        load(obj(home, "mtllib a.mtl\n" + SQUARE + "f 1 2 3\n"))
    with pytest.raises(FormatError, match="outside its folder"):
        load(obj(home, f"mtllib {reference}\n" + SQUARE + "f 1 2 3\n"))


def test_a_wider_root_lets_a_library_reach_a_neighbouring_folder(tmp_path):
    (tmp_path / "objs").mkdir()
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "a.png").write_bytes(picture().data)
    (tmp_path / "objs" / "a.mtl").write_text("newmtl red\nmap_Kd ../images/a.png\n")
    path = obj(tmp_path / "objs", "mtllib a.mtl\n" + SQUARE + "usemtl red\nf 1 2 3\n")
    assert read(path, root=tmp_path).mesh.surfaces[0].texture.data == picture().data
    (tmp_path / "objs" / "a.mtl").write_text("newmtl red\nmap_Kd ../../a.png\n")
    with pytest.raises(FormatError, match="outside"):
        read(path, root=tmp_path)


def test_index_out_of_range_and_nan_hand_a_draft_to_the_doctor(tmp_path):
    with pytest.raises(MeshError, match="1 of 1 faces") as caught:
        load(obj(tmp_path, SQUARE + "f 1 2 9\n"))
    assert caught.value.draft.vertex_count == 4
    with pytest.raises(MeshError, match="NaN"):
        load(obj(tmp_path, "v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"))
    with pytest.raises(MeshError, match="empty"):
        load(obj(tmp_path, SQUARE))


@pytest.mark.parametrize(
    "text",
    ["", "hello world\n", "v 1 2\nf 1 1 1\n", "v a b c\nf 1 1 1\n", SQUARE + "f 1 2 x\n",
     SQUARE + "vt 0 0\nf 1/9 2/1 3/1\n", b"v 0 0 0\n\0\0\0"],
)  # fmt: skip
def test_what_is_no_obj_gets_one_sentence(tmp_path, text):
    with pytest.raises(NeurokError) as caught:
        load(obj(tmp_path, text))
    assert "\n" not in str(caught.value)


def test_everything_survives_writing_and_reading(tmp_path):
    mesh = rich_mesh()
    save(mesh, tmp_path / "jar.obj")
    back = load_mesh(tmp_path / "jar.obj")
    assert_same_geometry(mesh, back)
    assert_same_labels(mesh, back)
    assert_same_look(mesh, back)
    np.testing.assert_array_equal(mesh.uv, back.uv)
    np.testing.assert_allclose(mesh.vertex_colors[:, :3], back.vertex_colors[:, :3], atol=1e-12)
    assert back.name == "jar"


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(meshes())
def test_any_mesh_survives_writing_and_reading(tmp_path, mesh):
    save(mesh, tmp_path / "m.obj")
    back = load_mesh(tmp_path / "m.obj")
    assert_same_geometry(mesh, back)
    assert_same_labels(mesh, back)
    if mesh.uv is not None:
        used = np.unique(mesh.faces)
        np.testing.assert_array_equal(mesh.uv[used], back.uv[used])


def test_a_z_up_mesh_in_millimetres_is_written_in_metres_with_y_up(tmp_path):
    from plain_meshes import tetrahedron

    save(tetrahedron(up="z", unit=0.001), tmp_path / "m.obj")
    back = load_mesh(tmp_path / "m.obj")
    np.testing.assert_allclose(back.vertices[3], [0, 0.001, 0])


def test_trimesh_and_we_read_each_others_files(tmp_path):
    ball = trimesh.creation.icosphere(subdivisions=2)
    ball.export(tmp_path / "theirs.obj")
    ours = load_mesh(tmp_path / "theirs.obj")
    np.testing.assert_allclose(ours.vertices, ball.vertices, atol=1e-7)
    np.testing.assert_array_equal(ours.faces, ball.faces)
    save(ours, tmp_path / "ours.obj")
    theirs = trimesh.load(tmp_path / "ours.obj", process=False, force="mesh")
    np.testing.assert_allclose(theirs.vertices, ours.vertices)
    np.testing.assert_array_equal(theirs.faces, ours.faces)


def test_trimesh_finds_our_pictures(tmp_path):
    mesh = rich_mesh().submesh(rich_mesh().face_surfaces == 0)
    save(mesh, tmp_path / "jar.obj")
    theirs = trimesh.load(tmp_path / "jar.obj", process=False, force="mesh")
    np.testing.assert_array_equal(np.asarray(theirs.visual.material.image.convert("RGBA")), picture(1).pixels())


def test_a_continuation_at_the_very_end_does_no_harm(tmp_path):
    assert load_mesh(obj(tmp_path, SQUARE + "f 1 2 3 \\\n")).face_count == 1


def test_control_characters_count_as_blanks(tmp_path):
    mesh = load_mesh(obj(tmp_path, SQUARE + "g\x0elid\x14 1\nusemtl\x01red\nf 1\x022 3\n"))
    assert mesh.part_names == ("lid  1",)
    assert mesh.surfaces[0].name == "red"
