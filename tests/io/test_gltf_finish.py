"""What a glTF file says of looks and scenes passes through: as it was where nothing changed, whole where it did."""

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest
from gltf_by_hand import Handmade, bending_strip, unpack_glb
from khronos import faults

from neurok.core import Finish, Lookup, Surface, Texture
from neurok.io.formats import load, save

SQUARE = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]
TWO = [0, 1, 2, 2, 1, 3]


def picture(value: int) -> bytes:
    return Texture.from_pixels(np.full((2, 2, 3), value, np.uint8)).data


def glazed() -> Handmade:
    """A square with every map of the core model, an extension with a picture, two sets of coordinates, a camera."""
    hand = Handmade()
    uv = np.array([[0, 0], [1, 0], [0, 1], [1, 1]], np.float32)
    normals, tangents = np.tile([0, 0, 1], (4, 1)), np.tile([1, 0, 0, -1], (4, 1))
    tilted = normals + [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0], [-0.1, 0, 0]]
    tilted = tilted / np.linalg.norm(tilted, axis=1, keepdims=True)
    mesh = hand.mesh(
        SQUARE,
        TWO,
        NORMAL=hand.array(tilted),
        TANGENT=hand.array(tangents),
        TEXCOORD_0=hand.array(uv),
        TEXCOORD_1=hand.array(uv * 0.5),
    )
    accessor = hand.json["accessors"][hand.json["meshes"][mesh]["primitives"][0]["attributes"]["POSITION"]]
    accessor |= {"min": [0, 0, 0], "max": [1, 1, 0]}
    for value in range(6):
        hand.add("images", bufferView=hand.view(picture(40 * value)), mimeType="image/png", name=f"p{value}")
        hand.add("textures", source=value, sampler=value % 2)
    hand.add("samplers", wrapS=33071, wrapT=33648, magFilter=9728, minFilter=9987)
    hand.add("samplers")
    moved = {"KHR_texture_transform": {"offset": [0.25, 0.5], "rotation": 0.5, "scale": [2.0, 3.0]}}
    hand.add(
        "materials",
        name="glaze",
        pbrMetallicRoughness={
            "baseColorFactor": [0.5, 0.25, 1.0, 0.75],
            "baseColorTexture": {"index": 0, "extensions": moved},
            "metallicRoughnessTexture": {"index": 1, "texCoord": 1},
            "roughnessFactor": 0.4,
        },
        normalTexture={"index": 2, "scale": 0.7},
        occlusionTexture={"index": 3, "strength": 0.3, "texCoord": 1},
        emissiveTexture={"index": 4},
        emissiveFactor=[1.0, 0.5, 0.25],
        alphaMode="MASK",
        alphaCutoff=0.2,
        extensions={
            "KHR_materials_clearcoat": {"clearcoatFactor": 0.9, "clearcoatTexture": {"index": 5}},
            "KHR_materials_ior": {"ior": 1.7},
        },
        extras={"made_by": "hand"},
    )
    hand.json["meshes"][mesh]["primitives"][0]["material"] = 0
    hand.add("cameras", type="perspective", perspective={"yfov": 0.5, "znear": 0.1})
    hand.add("nodes", name="top", children=[1, 2], extras={"weight": 3})
    hand.add("nodes", name="pane", mesh=mesh, translation=[0, 1, 0])
    hand.add("nodes", name="eye", camera=0)
    hand.add("scenes", nodes=[0])
    hand.json["extensionsUsed"] = ["KHR_materials_clearcoat", "KHR_materials_ior", "KHR_texture_transform"]
    return hand


def resolved(content: dict, binary: bytes, record: object) -> object:
    """A material with its pictures and samplers in the place of their numbers."""
    if isinstance(record, list):
        return [resolved(content, binary, value) for value in record]
    if not isinstance(record, dict):
        return record
    out = {}
    for key, value in record.items():
        out[key] = resolved(content, binary, value)
        if key.endswith("Texture") and "index" in value:
            texture = content["textures"][value["index"]]
            image = content["images"][texture["source"]]
            view = content["bufferViews"][image["bufferView"]]
            start = view.get("byteOffset", 0)
            sampler = {"wrapS": 10497, "wrapT": 10497} | content["samplers"][texture["sampler"]]
            out[key] |= {"index": [binary[start : start + view["byteLength"]], sampler]}
    return out


def materials(path) -> object:
    content, binary = unpack_glb(path.read_bytes())
    return resolved(content, binary, content["materials"])


def test_an_unchanged_file_is_written_as_it_was(tmp_path):
    source = glazed().save(tmp_path)
    save(load(source), tmp_path / "out.glb")
    before, after = (unpack_glb(path.read_bytes())[0] for path in (source, tmp_path / "out.glb"))
    for kind in ("nodes", "meshes", "materials", "cameras", "scenes", "samplers", "textures", "accessors"):
        assert after[kind] == before[kind]
    assert materials(tmp_path / "out.glb") == materials(source)
    assert faults([tmp_path / "out.glb"]) == {}


@pytest.mark.parametrize("suffix", [".glb", ".npz"])
def test_a_changed_object_keeps_its_materials_normals_and_coordinates(tmp_path, suffix):
    source = glazed().save(tmp_path)
    asset = replace(load(source), origin=None)
    if suffix == ".npz":
        save(asset, tmp_path / "between.npz")
        asset = load(tmp_path / "between.npz")
    save(asset, tmp_path / "out.glb")
    assert materials(tmp_path / "out.glb") == materials(source)
    assert faults([tmp_path / "out.glb"]) == {}
    got, want = load(tmp_path / "out.glb").mesh, load(source).mesh
    np.testing.assert_array_equal(got.authored.normals, want.authored.normals)
    np.testing.assert_array_equal(got.authored.tangents, want.authored.tangents)
    assert len(got.authored.uv_sets) == 2
    for mine, theirs in zip(got.authored.uv_sets, want.authored.uv_sets, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_fields_of_a_surface_win_over_its_finish(tmp_path):
    source = glazed().save(tmp_path)
    asset = load(source)
    surface = replace(asset.mesh.surfaces[0], base_color=(0.1, 0.2, 0.3, 1.0), alpha_mode="OPAQUE")
    mesh = replace(asset.mesh, surfaces=(surface,))
    save(replace(asset, mesh=mesh), tmp_path / "out.glb")
    (got,), (was,) = materials(tmp_path / "out.glb"), materials(source)
    assert got["pbrMetallicRoughness"]["baseColorFactor"] == [0.1, 0.2, 0.3, 1.0]
    assert "alphaMode" not in got
    kept = {key for key in was if key not in ("pbrMetallicRoughness", "alphaMode")}
    assert {key: got[key] for key in kept} == {key: was[key] for key in kept}


def test_normals_of_a_mesh_that_moved_are_not_kept(tmp_path):
    mesh = load(glazed().save(tmp_path)).mesh
    assert mesh.normals is not None
    assert mesh.with_vertices(mesh.vertices * [1, 2, 1]).normals is None
    turned = mesh.in_frame("z", 0.01)
    np.testing.assert_allclose(turned.normals @ turned.up_vector, mesh.normals @ mesh.up_vector, atol=1e-7)


def test_a_mesh_without_the_second_coordinates_drops_what_lies_on_them():
    lookups = tuple(Lookup(Texture(picture(value))) for value in range(2))
    record = {"normalTexture": {"index": 0}, "occlusionTexture": {"index": 1, "texCoord": 1}}
    from neurok.core.surface import placed_finish

    finish = Finish.of(record, lookups)
    assert set(placed_finish(finish, finish.base_placing).maps) == {"normal"}
    assert not placed_finish(finish, None).maps


def test_a_plain_material_needs_no_finish():
    plain = Surface("paint", (0.5, 0.5, 0.5, 1.0), 0.0, 0.25, Texture(picture(3)), True)
    assert Surface.of("paint", plain.whole_finish()) == plain


def test_a_deferred_clip_is_not_baked_by_an_unchanged_file(tmp_path):
    asset = load(bending_strip().save(tmp_path))
    save(asset, tmp_path / "out.glb")
    assert not asset.clips[0].is_baked
    again = load(tmp_path / "out.glb").clips[0]
    assert again.frame_count == asset.clips[0].frame_count
    np.testing.assert_array_equal(again.positions, asset.clips[0].positions)
    assert asset.clips[0].is_baked


def test_an_asset_travels_to_other_processes(tmp_path):
    asset = load(bending_strip().save(tmp_path))
    got = pickle.loads(pickle.dumps(asset))
    assert got.origin is None
    np.testing.assert_array_equal(got.clips[0].positions, asset.clips[0].positions)
    save(got, tmp_path / "out.glb")
    assert asset.origin is not None


def test_one_of_several_animations_is_kept(tmp_path):
    hand = bending_strip()
    second = json.loads(json.dumps(hand.json["animations"][0])) | {"name": "again"}
    hand.json["animations"].append(second)
    asset = load(hand.save(tmp_path))
    save(replace(asset, clips=asset.clips[1:]), tmp_path / "out.glb")
    assert [clip.name for clip in load(tmp_path / "out.glb").clips] == ["again"]


def test_a_wrong_skeleton_root_and_missing_coordinates_are_mended(tmp_path):
    hand = bending_strip()
    hand.json["skins"][0]["skeleton"] = 2
    hand.add("images", bufferView=hand.view(picture(9)), mimeType="image/png")
    hand.add("textures", source=0)
    hand.add("materials", pbrMetallicRoughness={"baseColorTexture": {"index": 0}})
    hand.json["meshes"][0]["primitives"][0]["material"] = 0
    for index, accessor in enumerate(hand.json["accessors"]):
        if accessor["type"] == "VEC3" or index == hand.json["animations"][0]["samplers"][0]["input"]:
            width = 3 if accessor["type"] == "VEC3" else 1
            view = hand.json["bufferViews"][accessor["bufferView"]]
            raw = np.frombuffer(hand.data, np.float32, accessor["count"] * width, view["byteOffset"]).reshape(-1, width)
            accessor |= {"min": raw.min(axis=0).tolist(), "max": raw.max(axis=0).tolist()}
    save(load(hand.save(tmp_path)), tmp_path / "out.glb")
    assert faults([tmp_path / "out.glb"]) == {}


def test_instances_are_all_shown(tmp_path):
    hand = Handmade()
    places = hand.array([[0, 0, 0], [5, 0, 0], [0, 7, 0]])
    extension = {"EXT_mesh_gpu_instancing": {"attributes": {"TRANSLATION": places}}}
    hand.add("nodes", mesh=hand.mesh(), extensions=extension)
    hand.json["extensionsUsed"] = ["EXT_mesh_gpu_instancing"]
    mesh = load(hand.save(tmp_path)).mesh
    assert mesh.face_count == 3
    np.testing.assert_allclose(mesh.bounds[1], [6, 8, 0])


def test_hidden_nodes_are_not_shown(tmp_path):
    hand = Handmade()
    hand.add("nodes", mesh=hand.mesh(), children=[1], extensions={"KHR_node_visibility": {"visible": False}})
    hand.add("nodes", mesh=hand.mesh())
    hand.add("nodes", mesh=hand.mesh(), name="seen")
    hand.json["extensionsUsed"] = ["KHR_node_visibility"]
    assert load(hand.save(tmp_path)).mesh.part_names == ("seen",)


def test_usd_keeps_what_a_preview_surface_can_say(tmp_path):
    pytest.importorskip("pxr")
    asset = load(glazed().save(tmp_path))
    save(asset, tmp_path / "out.usdc")
    got, want = load(tmp_path / "out.usdc").mesh, asset.mesh
    mine, theirs = got.surfaces[0], want.surfaces[0]
    assert set(mine.finish.maps) == set(theirs.finish.maps)
    for role, placed in theirs.finish.maps.items():
        other = mine.finish.maps[role]
        assert other.lookup.texture.data == placed.lookup.texture.data
        assert other.lookup.wrap == placed.lookup.wrap
        assert (other.uv_set, round(other.strength, 5)) == (placed.uv_set, placed.strength)
        if placed.transform is not None:
            np.testing.assert_allclose(other.transform, placed.transform, atol=1e-6)
    np.testing.assert_allclose(mine.base_color, theirs.base_color, atol=1e-6)
    np.testing.assert_allclose(mine.emissive, theirs.emissive, atol=1e-6)
    assert (mine.alpha_mode, mine.double_sided) == (theirs.alpha_mode, theirs.double_sided)
    assert abs(mine.finish.alpha_cutoff - 0.2) < 1e-6
    coat = mine.finish.extension("KHR_materials_clearcoat")
    assert abs(coat["clearcoatFactor"] - 0.9) < 1e-6
    assert "clearcoatTexture" in coat
    assert abs(mine.finish.extension("KHR_materials_ior")["ior"] - 1.7) < 1e-6
    np.testing.assert_allclose(got.uv, want.uv, atol=1e-5)
    np.testing.assert_allclose(got.normals, want.normals, atol=1e-6)
