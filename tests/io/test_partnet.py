import json

import numpy as np
import pytest

from neurok.core import Texture
from neurok.errors import FormatError, NeurokError
from neurok.io import formats

TRIANGLE = "mtllib {0}.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 {0}\nvt 0 0\nvt 1 0\nvt 0 1\nusemtl m\nf 1/1 2/2 3/3\n"


def link(number, parent, kind, name, parts, direction=None, **limit):
    data = {"axis": {"origin": [1, 0, 0], "direction": direction}, "limit": limit} if direction else {}
    return {"id": number, "parent": parent, "joint": kind, "name": name, "jointData": data,
            "parts": [{"id": i, "name": name, "children": []} for i in parts]}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    """A door, a drawer, a knob and some junk; one mesh is missing, the picture lies in a sibling folder."""
    top = tmp_path / "Cabinet_1"
    (top / "textured_objs").mkdir(parents=True)
    (top / "images").mkdir()
    picture = Texture.from_pixels(np.full((2, 2, 3), 200, dtype=np.uint8))
    (top / "images" / "t.png").write_bytes(picture.data)
    for i in range(5):
        (top / "textured_objs" / f"{i}.obj").write_text(TRIANGLE.format(i))
        (top / "textured_objs" / f"{i}.mtl").write_text("newmtl m\nKd 1 1 1\nmap_Kd ../images/t.png\n")
    leaves = [{"id": 10 + i, "name": "x", "objs": [str(i)]} for i in range(5)]
    leaves[1]["objs"].append("gone")
    tree = [{"id": 0, "name": "Cabinet", "children": [*leaves[:4], {"id": 20, "name": "y", "children": leaves[4:]}]}]
    links = [
        link(0, 7, "hinge", "door", [10], [0, 2, 0], a=90, b=-45, noLimit=False),
        link(3, 9, "junk", "dust", [11]),
        link(7, -1, "heavy", "body", [11]),
        link(8, 0, "hinge", "knob", [12], [0, 0, 1], a=0, b=0, noLimit=True),
        link(9, 3, "slider+", "screw", [13], [0, 0, 1], a=0.5, b=0.1, noLimit=False, noRotationLimit=True),
        link(11, 7, "slider", "drawer", [20], [0, 0, 1], a=0, b=-0.6, noLimit=False),
    ]
    (top / "mobility_v2.json").write_text(json.dumps(links))
    (top / "result.json").write_text(json.dumps(tree))
    (top / "meta.json").write_text('{"model_cat": "Cabinet"}')
    return top


def test_joints_are_read_with_their_traps(folder):
    asset = formats.load(folder)
    joints = asset.articulation.joints
    assert asset.mesh.part_names == ("door", "body", "knob", "screw", "drawer")
    assert [j.kind for j in joints] == ["revolute", "fixed", "continuous", "cylindrical", "prismatic"]
    assert [j.parent for j in joints] == [1, -1, 0, -1, 1]
    np.testing.assert_allclose(joints[0].axis, [0, 1, 0])
    np.testing.assert_allclose(joints[0].limits, [[-np.pi / 4, np.pi / 2]])
    np.testing.assert_allclose(joints[3].limits, [[-np.inf, np.inf], [0.1, 0.5]])
    np.testing.assert_allclose(joints[4].limits, [[-0.6, 0]])
    assert asset.provenance["category"] == "Cabinet"


def test_meshes_pictures_and_what_is_missing(folder):
    asset = formats.load(folder)
    np.testing.assert_array_equal(np.bincount(asset.mesh.part_ids), [3] * 5)
    assert asset.mesh.vertices[asset.mesh.part_ids == 4].max() == 4  # found below the named node
    assert all(surface.texture is not None for surface in asset.mesh.surfaces)
    assert [note for note in asset.notes if "gone.obj" in note]


def test_an_empty_mesh_is_noted_and_a_file_that_is_none_refused(folder):
    (folder / "textured_objs" / "0.obj").write_text("v 0 0 0\n")
    asset = formats.load(folder)
    assert any("0.obj" in note for note in asset.notes)
    assert asset.mesh.part_names[0] == "door"
    (folder / "textured_objs" / "0.obj").write_bytes(b"\x00\x01\x02")
    with pytest.raises(NeurokError):
        formats.load(folder)


def test_sheets_with_a_back_of_their_own_are_seen_from_one_side(folder):
    assert all(surface.double_sided for surface in formats.load(folder).mesh.surfaces)
    for i in range(5):
        (folder / "textured_objs" / f"{i}.obj").write_text(TRIANGLE.format(i) + "f 1/1 3/3 2/2\n")
    assert not any(surface.double_sided for surface in formats.load(folder).mesh.surfaces)


def test_wrong_folders_are_refused_with_a_sentence(folder, tmp_path):
    with pytest.raises(NeurokError, match=r"without mobility_v2\.json"):
        formats.load(tmp_path)
    for text in ("{", "[1]", "{}", "null", '[{"joint": "hinge"}]', '[{"joint": "free", "id": 0, "parent": -1}]'):
        (folder / "mobility_v2.json").write_text(text)
        with pytest.raises(NeurokError):
            formats.load(folder)


def test_meshes_outside_the_folder_are_refused(folder):
    tree = [{"id": 10, "objs": ["../../../etc/x"]}]
    (folder / "result.json").write_text(json.dumps(tree))
    with pytest.raises(FormatError, match="outside its folder"):
        formats.load(folder)


@pytest.mark.data
def test_real_folders_have_the_joints_and_bounds_of_their_twins(real_data):
    folders = sorted((real_data / "partnet_mobility" / "raw").iterdir())
    assert len(folders) == 6
    for folder in folders:
        asset = formats.load(folder)
        path = real_data / "partnet_mobility" / "train" / f"{folder.name}.npz"
        twin = np.load(path)
        mesh, joints = asset.mesh, asset.articulation.joints
        assert mesh.part_names == formats.load(path).mesh.part_names
        assert [j.name for j in joints] == twin["part_name"].tolist()
        assert [j.parent for j in joints] == twin["parent"].tolist()
        assert [j.kind for j in joints] == twin["joint_type"].tolist()
        assert any(s.texture for s in mesh.surfaces) == (folder / "images").is_dir()
        for i, joint in enumerate(joints):
            if joint.kind != "fixed":
                np.testing.assert_allclose(joint.axis, twin["axis"][i], atol=1e-6)
                np.testing.assert_allclose(joint.origin, twin["origin"][i], atol=1e-6)
            if joint.kind in ("revolute", "prismatic"):
                np.testing.assert_allclose(joint.limits[0], [twin["lower"][i], twin["upper"][i]], atol=1e-5)
            mine = mesh.vertices[mesh.part_ids == i]
            theirs = twin["vertices"][twin["faces"][twin["face_part"] == i]].reshape(-1, 3)
            np.testing.assert_allclose([mine.min(0), mine.max(0)], [theirs.min(0), theirs.max(0)], atol=1e-4)
