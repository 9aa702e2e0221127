"""FBX, COLLADA and zip archives, all made here."""

import io
import zipfile

import numpy as np
import pytest
from fbx_by_hand import bending_strip

from neurok.core import Mesh, Surface, Texture
from neurok.errors import FormatError, NeurokError
from neurok.io.formats import load, save
from neurok_lab.worlds.articulated import generate

TRIANGLE = Mesh(np.eye(3), np.array([[0, 1, 2]]), name="triangle")

COLLADA = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit meter="0.01"/><up_axis>Z_UP</up_axis></asset>
<library_effects><effect id="e"><profile_COMMON><technique sid="t"><lambert><diffuse><color>1 0 0 1</color></diffuse>
</lambert></technique></profile_COMMON></effect></library_effects>
<library_materials><material id="m" name="red"><instance_effect url="#e"/></material></library_materials>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="pa" count="9">0 0 0 100 0 0 0 0 200</float_array><technique_common>
<accessor source="#pa" count="3" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
<param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="1" material="s"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></triangles>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node id="n" name="wing"><instance_geometry url="#g"><bind_material>
<technique_common><instance_material symbol="s" target="#m"/></technique_common></bind_material></instance_geometry>
</node></visual_scene></library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>"""


def test_fbx_gives_bones_motion_and_colour(tmp_path):
    pytest.importorskip("ufbx")
    path = tmp_path / "strip.fbx"
    path.write_text(bending_strip())
    asset = load(path)
    assert asset.mesh.face_count == 4
    np.testing.assert_allclose(asset.mesh.bounds, [[0, 0, 0], [2, 1, 0]], atol=1e-6)
    assert asset.mesh.surfaces[0].base_color == (1.0, 0.0, 0.0, 1.0)
    (clip,) = asset.clips
    assert clip.name == "bend"
    assert clip.skin is not None
    assert clip.skin.weights.shape[1] == 2
    tip = int(np.argmax(asset.mesh.vertices @ [1, -1, 0]))
    np.testing.assert_allclose(asset.mesh.vertices[tip], [2, 0, 0], atol=1e-6)
    np.testing.assert_allclose(clip.positions[-1][tip], [1, 1, 0], atol=1e-3)
    save(asset, tmp_path / "strip.glb")
    assert load(tmp_path / "strip.glb").clips[0].skin is not None


def test_an_fbx_in_centimetres_becomes_metres(tmp_path):
    pytest.importorskip("ufbx")
    path = tmp_path / "strip.fbx"
    path.write_text(bending_strip(unit=1.0))
    np.testing.assert_allclose(load(path).mesh.bounds[1], [0.02, 0.01, 0], atol=1e-8)


@pytest.mark.parametrize("text", ["Kaydara FBX Binary  \0\x1a\0 nothing", "; FBX 7.4.0 project file\nObjects: {", "x"])
def test_a_damaged_fbx_is_one_sentence(tmp_path, text):
    pytest.importorskip("ufbx")
    path = tmp_path / "a.fbx"
    path.write_text(text)
    with pytest.raises(NeurokError):
        load(path)


def test_collada_keeps_unit_axis_and_colour(tmp_path):
    pytest.importorskip("collada")
    path = tmp_path / "wing.dae"
    path.write_text(COLLADA)
    mesh = load(path).mesh
    assert (mesh.up, mesh.unit, mesh.face_count) == ("z", 0.01, 1)
    np.testing.assert_allclose(mesh.bounds[1], [100, 0, 200])
    assert mesh.surfaces[0].base_color[:3] == (1.0, 0.0, 0.0)


def test_collada_with_entities_is_refused(tmp_path):
    pytest.importorskip("collada")
    path = tmp_path / "a.dae"
    path.write_text(COLLADA.replace("?>\n", '?>\n<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>\n', 1))
    with pytest.raises(FormatError, match="document type"):
        load(path)


def zipped(folder, files: dict[str, bytes]):
    path = folder / "thing.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def painted_gltf(folder) -> dict[str, bytes]:
    picture = Texture.from_pixels(np.arange(48, dtype=np.uint8).reshape(4, 4, 3))
    surface = Surface("paint", (1.0, 1.0, 1.0, 1.0), texture=picture)
    mesh = Mesh(np.eye(3), [[0, 1, 2]], uv=np.eye(3)[:, :2], surfaces=(surface,), name="painted")
    return {file.name: file.read_bytes() for file in save(mesh, folder / "painted.gltf")}


def test_a_zip_of_a_folder_is_read_with_its_pictures(tmp_path):
    files = {f"thing/{name}": data for name, data in painted_gltf(tmp_path).items()}
    asset = load(zipped(tmp_path, files | {"thing/readme.txt": b"hello", "__MACOSX/thing.glb": b"junk"}))
    assert asset.mesh.surfaces[0].texture is not None
    assert asset.provenance["source"] == "thing.zip"
    save(asset, tmp_path / "out.glb")
    assert load(tmp_path / "out.glb").mesh.surfaces[0].texture == asset.mesh.surfaces[0].texture


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"readme.txt": b"nothing"}, "holds no object"),
        ({"a.obj": b"v 0 0 0", "b.obj": b"v 0 0 0"}, "holds 2 objects"),
        ({"../a.obj": b"v 0 0 0"}, "outside"),
        ({"/etc/a.obj": b"v 0 0 0"}, "outside"),
        ({"a.obj": bytes(200_000_000)}, "times its size"),
    ],
)
def test_what_no_archive_should_hold_is_refused(tmp_path, files, words):
    with pytest.raises(FormatError, match=words):
        load(zipped(tmp_path, files))


def test_a_damaged_archive_is_refused(tmp_path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.obj", b"v 0 0 0\n" * 100)
    path = tmp_path / "a.zip"
    path.write_bytes(buffer.getvalue()[:-30])
    with pytest.raises(FormatError, match="zip archive"):
        load(path)


def skeleton_stage(path) -> None:
    """A strip on two joints: the second, at (1, 0, 0), turns a quarter about z in one second."""
    from pxr import Gf, Usd, UsdGeom, UsdSkel

    stage = Usd.Stage.CreateNew(str(path))
    stage.SetTimeCodesPerSecond(24)
    stage.SetStartTimeCode(0)
    stage.SetEndTimeCode(24)
    UsdGeom.SetStageUpAxis(stage, "Y")
    root = UsdSkel.Root.Define(stage, "/root")
    stage.SetDefaultPrim(root.GetPrim())
    still, moved = Gf.Matrix4d(1), Gf.Matrix4d(1).SetTranslate((1, 0, 0))
    skeleton = UsdSkel.Skeleton.Define(stage, "/root/skeleton")
    skeleton.CreateJointsAttr(["a", "a/b"])
    skeleton.CreateBindTransformsAttr([still, moved])
    skeleton.CreateRestTransformsAttr([still, moved])
    motion = UsdSkel.Animation.Define(stage, "/root/motion")
    motion.CreateJointsAttr(["a", "a/b"])
    motion.CreateTranslationsAttr([(0, 0, 0), (1, 0, 0)])
    motion.CreateScalesAttr([Gf.Vec3h(1), Gf.Vec3h(1)])
    turned = Gf.Quatf(0.70710678, Gf.Vec3f(0, 0, 0.70710678))
    rotations = motion.CreateRotationsAttr()
    rotations.Set([Gf.Quatf(1), Gf.Quatf(1)], 0)
    rotations.Set([Gf.Quatf(1), turned], 24)
    mesh = UsdGeom.Mesh.Define(stage, "/root/strip")
    mesh.CreatePointsAttr([(0, 0, 0), (1, 0, 0), (2, 0, 0), (2, 1, 0), (1, 1, 0), (0, 1, 0)])
    mesh.CreateFaceVertexCountsAttr([4, 4])
    mesh.CreateFaceVertexIndicesAttr([0, 1, 4, 5, 1, 2, 3, 4])
    binding = UsdSkel.BindingAPI.Apply(mesh.GetPrim())
    binding.CreateJointIndicesPrimvar(False, 1).Set([0, 1, 1, 1, 1, 0])
    binding.CreateJointWeightsPrimvar(False, 1).Set([1.0] * 6)
    binding.CreateSkeletonRel().SetTargets(["/root/skeleton"])
    UsdSkel.BindingAPI.Apply(skeleton.GetPrim()).CreateAnimationSourceRel().SetTargets(["/root/motion"])
    stage.Save()


def test_a_usd_skeleton_moves_its_mesh(tmp_path):
    pytest.importorskip("pxr")
    skeleton_stage(tmp_path / "strip.usda")
    (clip,) = load(tmp_path / "strip.usda").clips
    assert (clip.frame_count, clip.fps) == (25, 24.0)
    np.testing.assert_allclose(clip.positions[0][2], [2, 0, 0], atol=1e-6)
    np.testing.assert_allclose(clip.positions[-1][2], [1, 1, 0], atol=1e-5)


def test_a_robot_in_a_zip_is_taken_before_the_meshes_it_names(tmp_path):
    asset = generate("laptop", 0, 0)[0]
    (tmp_path / "laptop").mkdir()
    save(asset, tmp_path / "laptop" / "laptop.urdf")
    for name in ("base.glb", "lid.glb"):
        save(Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]), tmp_path / "laptop" / name)
    with zipfile.ZipFile(tmp_path / "laptop.zip", "w") as archive:
        for path in (tmp_path / "laptop").rglob("*"):
            archive.write(path, path.relative_to(tmp_path))
    found = load(tmp_path / "laptop.zip")
    assert found.articulation is not None
    assert len(found.articulation.joints) >= len(asset.articulation.joints)
