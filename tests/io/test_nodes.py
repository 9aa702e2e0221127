"""Which nodes of a scene are the object: by name, by surface, by choice, in every format that has nodes."""

from dataclasses import replace

import numpy as np
import pytest
from fbx_by_hand import grouped_squares
from gltf_by_hand import Handmade

from neurok.core import Asset, Clip
from neurok.errors import NeurokError
from neurok.io import load, save
from neurok.io.nodes import chosen, sentence
from neurok.modelling.shapes import cylinder, slab
from solids import of_parts

BOX = slab((0, 0, 0), (1, 1, 1))
SMALL = slab((0.1, 0.1, 1.0), (0.3, 0.3, 1.4))


def scene_of(mesh):
    """An object whose parts are nodes of a scene."""
    return Asset(mesh, nodes=tuple((name,) for name in mesh.part_names))


def kept(**parts):
    """Names of the parts that are taken."""
    return chosen(scene_of(of_parts(**{name: [shape] for name, shape in parts.items()}))).mesh.part_names


def round_bar(segments, radius=0.3):
    return cylinder(radius, 1.0, segments)


@pytest.mark.parametrize(
    ("fine", "coarse"),
    [("a_LOD0", "a_LOD1"), ("a", "a_lod2"), ("LOD0_a", "LOD1_a"), ("a-LOD_0", "a-LOD_3"), ("aLOD0", "aLOD1")],
)
def test_the_finest_level_of_detail_is_taken(fine, coarse):
    assert kept(**{coarse: SMALL, fine: BOX}) == (fine,)
    assert kept(**{fine: BOX, coarse: SMALL, "lid": SMALL}) == (fine, "lid")


def test_a_level_of_detail_without_a_finer_one_is_the_object():
    assert kept(body_LOD1=BOX, knob_LOD2=SMALL) == ("body_LOD1", "knob_LOD2")
    assert kept(load=BOX, lodge=SMALL) == ("load", "lodge")


@pytest.mark.parametrize(
    "name", ["UCX_door_00", "UBX_a", "USP_a", "UCP_a", "door-colonly", "door-convcolonly.001", "WGT-rig_hand"]
)
def test_helpers_of_engines_are_left_out(name):
    assert kept(door=BOX, **{name: SMALL}) == ("door",)


@pytest.mark.parametrize("name", ["door_collider", "doorCollider", "Collision", "box_phys", "PROXY", "door_bbox"])
def test_a_helper_by_its_words_lies_within_the_object(name):
    around = slab((-0.05, -0.05, -0.05), (1.05, 1.05, 1.05))
    far = slab((3, 0, 0), (4, 1, 1))
    assert kept(door=BOX, **{name: around}) == ("door",)
    assert kept(door=BOX, **{name: far}) == ("door", name)


def test_what_godot_shows_and_collides_with_stays():
    assert kept(floor=BOX, **{"step-col": SMALL}) == ("floor", "step-col")


def test_never_is_everything_left_out():
    assert kept(UCX_a=BOX, UCX_b=SMALL) == ("UCX_a", "UCX_b")
    assert kept(collision=BOX, collider=SMALL) == ("collision", "collider")


def test_a_coarser_copy_is_known_by_its_surface():
    assert kept(low=round_bar(40), high=round_bar(64)) == ("high",)
    assert kept(low=round_bar(40, 0.25), high=round_bar(64)) == ("low", "high")
    assert kept(a=BOX, b=slab((0, 0, 0), (1, 1, 1))) == ("a",)


def test_the_back_of_a_sheet_is_no_copy_of_its_front():
    mesh = of_parts(front=[BOX], back=[BOX])
    turned = np.where((mesh.face_parts == 1)[:, None], mesh.faces[:, ::-1], mesh.faces)
    mesh = replace(mesh, faces=turned)
    assert chosen(scene_of(mesh)).mesh.part_names == ("front", "back")


def test_one_coarser_copy_of_several_parts_is_left_out():
    mesh = of_parts(
        left=[round_bar(64)],
        right=[round_bar(64).move(2, 0, 0)],
        merged=[round_bar(40), round_bar(40).move(2, 0, 0)],
    )
    assert chosen(scene_of(mesh)).mesh.part_names == ("left", "right")


def test_clips_and_materials_follow_the_parts(tmp_path):
    from neurok.core.material import MaterialField
    from neurok.core.material_library import material

    mesh = of_parts(a_LOD1=[SMALL], a_LOD0=[BOX])
    lifted = np.stack([mesh.vertices, mesh.vertices + [0, 0.5, 0]])
    field = MaterialField.of_parts(mesh, {"a_LOD0": material("steel"), "a_LOD1": material("wood")})
    left = chosen(replace(scene_of(mesh), clips=(Clip(mesh, lifted),), materials=field))
    assert left.mesh.vertex_count == len(BOX.vertices)
    assert np.array_equal(left.clip().positions[1], left.mesh.vertices + [0, 0.5, 0])
    assert (left.materials.density == material("steel").density).all()


def test_globs_choose_and_leave_out():
    asset = scene_of(of_parts(body=[BOX], knob=[SMALL], UCX_body=[BOX]))
    names = lambda *globs: chosen(asset, globs).mesh.part_names  # noqa: E731
    assert names("UCX*") == ("UCX_body",)
    assert names("*") == ("body", "knob", "UCX_body")
    assert names("!knob") == ("body",)
    assert names("*", "!UCX_*") == ("body", "knob")
    with pytest.raises(NeurokError, match=r"nose.*body, knob"):
        names("nose")
    with pytest.raises(NeurokError, match="nothing"):
        names("!*")


def test_what_is_left_out_is_told_in_one_sentence():
    left = chosen(scene_of(of_parts(a=[BOX], a_LOD1=[SMALL], UCX_a=[BOX])))
    assert "a_LOD1" in sentence(left)
    assert "UCX_a" in sentence(left)
    assert sentence(Asset(of_parts(a=[BOX]))) == ""


def scene(**extensions):
    """Two levels of detail as groups, one hidden node and one for collision, in one glTF scene."""
    made = Handmade()
    square = made.mesh()
    nodes = {
        "root": {"children": [1, 2, 5, 6]}, "LOD0": {"children": [3]}, "LOD1": {"children": [4]},
        "seat": {"mesh": square}, "seat ": {"mesh": square}, "cage": {"mesh": square, "extensions": extensions},
        "UCX_seat": {"mesh": square},
    }  # fmt: skip
    for name, record in nodes.items():
        made.add("nodes", name=name.strip(), **record)
    made.json |= {"scenes": [{"nodes": [0]}], "scene": 0}
    return made


def test_groups_of_a_gltf_scene_count_and_hidden_nodes_are_told(tmp_path):
    path = scene(KHR_node_visibility={"visible": False}).save(tmp_path)
    asset = load(path)
    assert asset.mesh.part_names == ("seat",)
    assert [name.split(" (")[0] for name in asset.left_out] == ["cage", "seat_2", "UCX_seat"]
    assert load(path, nodes=["LOD1"]).mesh.part_names == ("seat_2",)
    assert load(path, nodes=["root/LOD1/*"]).mesh.part_names == ("seat_2",)


def test_a_scene_that_is_not_changed_is_written_with_all_its_nodes(tmp_path):
    from gltf_by_hand import unpack_glb

    path = scene().save(tmp_path)
    save(load(path), tmp_path / "again.glb")
    save(load(path, nodes=["!cage"]), tmp_path / "less.glb")
    names = lambda name: [node["name"] for node in unpack_glb((tmp_path / name).read_bytes())[0]["nodes"]]  # noqa: E731
    assert "UCX_seat" in names("again.glb")
    assert names("less.glb") == ["seat"]


def test_levels_that_a_gltf_file_states_are_believed(tmp_path):
    made = Handmade()
    mesh = made.mesh()
    made.add("nodes", name="near", mesh=mesh, extensions={"MSFT_lod": {"ids": [1]}})
    made.add("nodes", name="far", mesh=mesh)
    made.json["scenes"] = [{"nodes": [0, 1]}]
    assert load(made.save(tmp_path)).mesh.part_names == ("near",)


def test_obj_groups_are_nodes(tmp_path):
    save(of_parts(chair_LOD0=[BOX], chair_LOD1=[SMALL]), tmp_path / "ours.obj")
    assert load(tmp_path / "ours.obj").mesh.part_names == ("chair_LOD0", "chair_LOD1")
    (tmp_path / "chair.obj").write_text("# from elsewhere\n" + (tmp_path / "ours.obj").read_text().partition("\n")[2])
    assert load(tmp_path / "chair.obj").mesh.part_names == ("chair_LOD0",)
    assert load(tmp_path / "chair.obj", nodes=["*1"]).mesh.part_names == ("chair_LOD1",)


def test_usd_prims_are_nodes_and_hidden_ones_are_told(tmp_path):
    pytest.importorskip("pxr")
    square = "int[] faceVertexCounts = [3]\nint[] faceVertexIndices = [0, 1, 2]\n"
    square += "point3f[] points = [(0,0,0), (1,0,0), (0,1,0)]"
    prims = "".join(
        f'def Mesh "{name}" {{\n{square}\n{more}}}\n'
        for name, more in {"a_LOD0": "", "a_LOD1": "", "cage": 'token visibility = "invisible"\n'}.items()
    )
    (tmp_path / "a.usda").write_text(f'#usda 1.0\n(defaultPrim = "top")\ndef Xform "top" {{\n{prims}}}\n')
    asset = load(tmp_path / "a.usda")
    assert asset.mesh.part_names == ("a_LOD0",)
    assert [name.split(" (")[0] for name in asset.left_out] == ["cage", "a_LOD1"]


def test_fbx_groups_of_levels_and_hidden_nodes_are_understood(tmp_path):
    pytest.importorskip("ufbx")
    path = tmp_path / "squares.fbx"
    path.write_text(grouped_squares({"near": True, "far": True}, {"cage": False, "lamp": True}))
    asset = load(path)
    assert asset.mesh.part_names == ("near", "lamp")
    assert sorted(asset.left_out) == ["cage (hidden)", "far (coarser)"]


def test_joints_keep_their_parts(tmp_path):
    from robots import every_joint

    robot = every_joint()
    renamed = tuple(f"{name}_LOD{number}" for number, name in enumerate(robot.mesh.part_names))
    named = replace(robot, mesh=replace(robot.mesh, part_names=renamed))
    save(named, tmp_path / "robot.glb")
    assert load(tmp_path / "robot.glb").mesh.part_names == renamed
    with pytest.raises(NeurokError, match="joints"):
        load(tmp_path / "robot.glb", nodes=["*"])
