"""Files that ask for more than they hold, or for what lies elsewhere, end in one sentence."""

from __future__ import annotations

import json
import struct
import tracemalloc
import zipfile
import zlib

import numpy as np
import pytest

from neurok.core import Clip, Joint, Mesh, Texture
from neurok.errors import FormatError, MeshError, NeurokError
from neurok.io import files, load, mjcf, save
from neurok.io.npz_arrays import pack
from neurok.sandbox import Limits, Sandbox

TRIANGLE = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
FACE = np.array([[0, 1, 2]])


def write_glb(path, document):
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    path.write_bytes(struct.pack("<4sIIII", b"glTF", 2, 20 + len(text), len(text), 0x4E4F534A) + text)


def test_many_nodes_that_show_a_mesh_without_data_are_refused(tmp_path):
    path = tmp_path / "copies.glb"
    accessor = {"componentType": 5126, "count": 300_000, "type": "VEC3"}
    write_glb(
        path,
        {
            "asset": {"version": "2.0"},
            "scenes": [{"nodes": list(range(60))}],
            "nodes": [{"mesh": 0}] * 60,
            "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
            "accessors": [accessor],
        },
    )
    with pytest.raises(FormatError, match="corners"):
        load(path)


def test_an_archive_of_zeros_that_grows_a_thousandfold_is_refused(tmp_path):
    path = tmp_path / "zeros.npz"
    path.write_bytes(pack({"vertices": np.zeros((2_900_000, 3)), "faces": FACE}))
    with pytest.raises(FormatError, match="times its size"):
        load(path)


def test_an_included_compiler_does_not_open_other_folders(tmp_path):
    pytest.importorskip("mujoco")
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    save(Mesh(TRIANGLE, FACE), outside / "secret.obj")
    (inside / "compiler.xml").write_text('<mujocoinclude><compiler meshdir="../out"/></mujocoinclude>')
    body = '<asset><mesh name="s" file="secret.obj"/></asset><worldbody><geom type="mesh" mesh="s"/></worldbody>'
    include = '<include file="compiler.xml"/>'
    for name, text in {"before.xml": include + body, "after.xml": body + include}.items():
        (inside / name).write_text(f"<mujoco>{text}</mujoco>")
        with pytest.raises(FormatError, match="outside its folder"):
            load(inside / name)


def test_nested_copies_of_a_body_are_counted_before_they_are_made(tmp_path):
    path = tmp_path / "copies.xml"
    inner = '<replicate count="800" offset="0 1 0"><geom size="1"/></replicate>'
    path.write_text(
        f'<mujoco><worldbody><replicate count="800" offset="1 0 0">{inner}</replicate></worldbody></mujoco>'
    )
    with pytest.raises(FormatError, match=r"6\.4e\+05 times"):
        load(path)


def test_a_layer_is_not_looked_for_in_the_working_folder(tmp_path, monkeypatch):
    pytest.importorskip("pxr")
    inside, elsewhere = tmp_path / "in", tmp_path / "elsewhere"
    inside.mkdir()
    elsewhere.mkdir()
    save(Mesh(TRIANGLE, FACE), elsewhere / "secret.usda")
    (inside / "a.usda").write_text('#usda 1.0\ndef "A" (references=@secret.usda@){}\n')
    monkeypatch.chdir(elsewhere)
    with pytest.raises(FormatError, match="not in its folder"):
        load(inside / "a.usda")


def test_a_texture_with_an_endless_name_is_a_sentence(tmp_path):
    (tmp_path / "m.mtl").write_text("newmtl a\nmap_Kd " + "x" * 5000 + "\n")
    (tmp_path / "m.obj").write_text("mtllib m.mtl\nusemtl a\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    try:
        notes = load(tmp_path / "m.obj").notes
    except NeurokError as error:
        notes = (str(error),)
    assert notes
    assert all(len(note) < 400 for note in notes)


def test_coordinates_nobody_can_compute_with_are_refused_and_the_doctor_gets_them(tmp_path):
    for far in (1e13, 1e38, 1e300):
        with pytest.raises(MeshError, match="beyond 1e"):
            Mesh(TRIANGLE * far, FACE)
    (tmp_path / "far.obj").write_text("v 0 0 0\nv 1e300 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 3 4\n")
    with pytest.raises(MeshError) as caught:
        load(tmp_path / "far.obj")
    assert len(caught.value.draft.faces) == 2
    with pytest.raises(NeurokError, match="beyond 1e"):
        Clip(Mesh(TRIANGLE, FACE), np.full((2, 3, 3), 1e200))
    with pytest.raises(NeurokError, match="below 1e"):
        Joint("revolute", origin=np.array([1e300, 0, 0]))


def test_a_slow_clip_is_not_resampled_to_endless_frames():
    clip = Clip(Mesh(TRIANGLE, FACE), np.zeros((3, 3, 3)), fps=1e-9)
    with pytest.raises(NeurokError, match="lower rate"):
        clip.resampled(60.0)


def test_a_stage_is_tried_with_bounds_before_it_is_opened(tmp_path, capfd):
    pytest.importorskip("pxr")
    save(Mesh(TRIANGLE, FACE), tmp_path / "good.usdc")
    assert load(tmp_path / "good.usdc").mesh.face_count == 1
    (tmp_path / "lost.usda").write_text('#usda 1.0\ndef Xform "A" (references=@C:/x@) {}\n')
    with pytest.raises(FormatError):
        load(tmp_path / "lost.usda")
    said = capfd.readouterr()
    assert not said.err
    assert not said.out


@pytest.mark.parametrize(
    ("work", "word"),
    [("os.abort()", "broke off"), ("bytearray(6 << 30)", "memory"), ("exec('while True: pass')", "longer")],
)
def test_what_ends_a_decoder_ends_only_its_own_process(tmp_path, monkeypatch, work, word):
    path = tmp_path / "model.xml"
    path.write_text("<mujoco/>")
    (tmp_path / "breaking.py").write_text(f"import os\ndef decode(path):\n    {work}\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(files, "SANDBOX", Sandbox())
    assert word in files.rehearse(path, "breaking:decode", "json", seconds=1.0).damage
    monkeypatch.setattr(mjcf, "rehearse", lambda path, *_, **__: files.rehearse(path, "breaking:decode", "json", 1.0))
    with pytest.raises(FormatError, match=word):
        load(path)
    files.SANDBOX.close()


def test_what_is_wrong_with_an_object_in_an_archive_is_said_as_without_one(tmp_path):
    for name, text in {"far": "v 0 0 0\nv 1e300 0 0\nv 0 1 0\nf 1 2 3\n", "none": "v 0 0 0\n"}.items():
        with zipfile.ZipFile(tmp_path / f"{name}.zip", "w") as archive:
            archive.writestr("a.obj", text)
        with pytest.raises(MeshError, match="In '"):
            load(tmp_path / f"{name}.zip")
    with zipfile.ZipFile(tmp_path / "out.zip", "w") as archive:
        archive.writestr("../../a.obj", "v 0 0 0\n")
    with pytest.raises(FormatError, match="outside its folder"):
        load(tmp_path / "out.zip")


def lying(path, member, packed, grown, method):
    """An archive whose member says that it is small and unpacks to ``grown`` bytes."""
    with zipfile.ZipFile(path, "w", compression=method) as archive:
        archive.writestr(member, packed + b" " * grown)
    data = bytearray(path.read_bytes())
    size = (len(packed) + grown).to_bytes(4, "little")
    path.write_bytes(bytes(data).replace(size, (len(packed) + 16).to_bytes(4, "little")))


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
@pytest.mark.parametrize("name", ["a.npz", "a.zip"])
def test_members_that_lie_about_their_size_are_not_unpacked(tmp_path, name, method):
    path, grown = tmp_path / name, 40_000_000
    lying(path, "vertices.npy" if name == "a.npz" else "a.obj", b"v 0 0 0\n", grown, method)
    assert path.stat().st_size < grown / 100
    tracemalloc.start()
    with pytest.raises(FormatError):
        load(path)
    assert tracemalloc.get_traced_memory()[1] < 10_000_000
    tracemalloc.stop()


def png(width, height):
    """A picture of one colour that says its size."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\7" * 3 * width) * height, 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def packed_glb(path, binary, **more):
    """One triangle, and what else a test puts into the file."""
    positions = TRIANGLE.astype("<f4").tobytes()
    view = {"buffer": 0, "byteLength": 36}
    more["bufferViews"] = [view, *more.get("bufferViews", [])]
    document = {
        "asset": {"version": "2.0"},
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
        "buffers": [{"byteLength": 36 + len(binary)}],
        **more,
    }
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    chunk = positions + binary + b"\0" * (-len(binary) % 4)
    head = struct.pack("<4sIIII", b"glTF", 2, 28 + len(text) + len(chunk), len(text), 0x4E4F534A)
    path.write_bytes(head + text + struct.pack("<II", len(chunk), 0x4E4942) + chunk)


def test_pictures_that_share_bytes_are_counted(tmp_path):
    binary, count = png(4, 4) + bytes(2_000_000), 300
    views = [{"buffer": 0, "byteOffset": 36, "byteLength": len(binary) - k} for k in range(count)]
    packed_glb(
        tmp_path / "a.glb",
        binary,
        bufferViews=views,
        images=[{"bufferView": 1 + k} for k in range(count)],
        textures=[{"source": k} for k in range(count)],
        materials=[{"pbrMetallicRoughness": {"baseColorTexture": {"index": k}}} for k in range(count)],
    )
    tracemalloc.start()
    with pytest.raises(FormatError, match="times its size"):
        load(tmp_path / "a.glb")
    assert tracemalloc.get_traced_memory()[1] < 300_000_000
    tracemalloc.stop()


@pytest.mark.parametrize(("count", "stride", "views"), [(10**8, 16, 1), (10_000, 100, 2000)])
def test_packed_views_that_claim_too_much_take_no_memory(tmp_path, count, stride, views):
    packed = {"buffer": 0, "byteLength": 36, "byteStride": stride, "count": count, "mode": "ATTRIBUTES"}
    view = {"buffer": 0, "byteLength": count * stride, "extensions": {"EXT_meshopt_compression": packed}}
    packed_glb(tmp_path / "a.glb", b"", bufferViews=[view] * views, extensionsUsed=["EXT_meshopt_compression"])
    tracemalloc.start()
    with pytest.raises(FormatError):
        load(tmp_path / "a.glb")
    assert tracemalloc.get_traced_memory()[1] < 100_000_000
    tracemalloc.stop()


def test_a_file_with_many_names_is_read_once(tmp_path):
    (tmp_path / "b.bin").write_bytes(TRIANGLE.astype("<f4").tobytes() + bytes(5_000_000))
    count = 60
    document = {
        "asset": {"version": "2.0"},
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "buffers": [{"byteLength": 36, "uri": "./" * k + "b.bin"} for k in range(count)],
        "bufferViews": [{"buffer": k, "byteLength": 36} for k in range(count)],
        "accessors": [{"bufferView": k, "componentType": 5126, "count": 3, "type": "VEC3"} for k in range(count)],
        "meshes": [{"primitives": [{"attributes": {"POSITION": k}} for k in range(count)]}],
    }
    (tmp_path / "a.gltf").write_text(json.dumps(document))
    tracemalloc.start()
    assert load(tmp_path / "a.gltf").mesh.face_count == count
    assert tracemalloc.get_traced_memory()[1] < 30_000_000
    tracemalloc.stop()


def test_pictures_of_kinds_whose_readers_start_programs_are_refused(tmp_path):
    image = pytest.importorskip("PIL.Image")
    image.new("RGB", (8, 8)).save(tmp_path / "a.eps")
    (tmp_path / "a.obj").write_text("mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nusemtl m\nf 1/1 2/1 3/1\n")
    (tmp_path / "a.mtl").write_text("newmtl m\nmap_Kd a.eps\n")
    with pytest.raises(FormatError, match="not a picture"):
        load(tmp_path / "a.obj")


def test_grey_pictures_of_16_bits_keep_their_shades(tmp_path):
    image = pytest.importorskip("PIL.Image")
    shades = np.linspace(0, 65535, 64).astype(np.uint16).reshape(8, 8)
    image.fromarray(shades).save(tmp_path / "a.png")
    pixels = Texture((tmp_path / "a.png").read_bytes()).pixels()
    assert np.array_equal(pixels[..., 0], shades >> 8)


@pytest.mark.slow
def test_nodes_that_show_nodes_end_in_the_sandbox(tmp_path, capfd, monkeypatch):
    pytest.importorskip("collada")
    from neurok.io import interchange

    monkeypatch.setattr(interchange, "decoding_limits", lambda size, **_: Limits(cpu=5.0, memory=2e8))
    numbers = '<float_array id="pa" count="9">0 0 0 1 0 0 0 1 0</float_array>'
    reach = "".join(f'<param name="{name}" type="float"/>' for name in "XYZ")
    reach = f'<technique_common><accessor source="#pa" count="3" stride="3">{reach}</accessor></technique_common>'
    shape = f'<mesh><source id="p">{numbers}{reach}</source><vertices id="v"><input semantic="POSITION" source="#p"/>'
    shape += '</vertices><triangles count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></triangles>'
    nodes = '<node id="n0"><instance_geometry url="#g"/></node>' + "".join(
        f'<node id="n{k}"><instance_node url="#n{k - 1}"/><instance_node url="#n{k - 1}"/></node>' for k in range(1, 40)
    )
    path = tmp_path / "a.dae"
    path.write_text(
        '<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset><created>2020-01-01'
        f"</created><modified>2020-01-01</modified></asset><library_geometries><geometry id='g'>{shape}</mesh>"
        f"</geometry></library_geometries><library_nodes>{nodes}</library_nodes><library_visual_scenes>"
        '<visual_scene id="s"><node><instance_node url="#n39"/></node></visual_scene></library_visual_scenes>'
        '<scene><instance_visual_scene url="#s"/></scene></COLLADA>'
    )
    with pytest.raises(FormatError, match=r"than any file of its size should|broke off"):
        load(path)
    path.write_text(path.read_text().replace('url="#g"', 'url="#none"'))
    with pytest.raises(FormatError):
        load(path)
    assert capfd.readouterr().err == ""  # no second line of a library
