"""Damaged and hostile glTF files: one sentence each, never a traceback."""

import json
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from gltf_by_hand import Handmade, bending_strip, pack_glb, unpack_glb
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neurok.core import Texture
from neurok.errors import FormatError, MeshError, NeurokError
from neurok.io.formats import load
from neurok.io.gltf_read import read


def triangle(**node) -> Handmade:
    hand = Handmade()
    hand.add("nodes", mesh=hand.mesh(), **node)
    hand.add("scenes", nodes=[0])
    return hand


def textured(**image) -> Handmade:
    hand = triangle()
    hand.json["meshes"][0]["primitives"][0]["material"] = 0
    hand.add("images", **image)
    hand.add("textures", source=0)
    hand.add("materials", pbrMetallicRoughness={"baseColorTexture": {"index": 0}})
    return hand


def refused(path: Path, match: str, kind: type[NeurokError] = FormatError) -> NeurokError:
    with pytest.raises(kind, match=match) as caught:
        read(path)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert sentence.endswith(".")
    return caught.value


@pytest.mark.parametrize("length", [0, 3, 11, 19, 25, 100, 300])
def test_a_truncated_file_is_refused(tmp_path, length):
    path = tmp_path / "a.glb"
    path.write_bytes(triangle().glb()[:length])
    refused(path, "empty|truncated|not a GLB|begin")


def test_other_files_under_our_suffix_are_refused(tmp_path):
    (tmp_path / "a.glb").write_bytes(b"solid not a mesh at all, but long enough to have a header")
    refused(tmp_path / "a.glb", "not a GLB")
    (tmp_path / "a.gltf").write_bytes(triangle().glb())
    refused(tmp_path / "a.gltf", "rename")
    (tmp_path / "b.gltf").write_text("[1, 2, 3]")
    refused(tmp_path / "b.gltf", "no 'asset'")
    (tmp_path / "c.gltf").write_bytes(b"\xff\xfe\x00 not text")
    refused(tmp_path / "c.gltf", "JSON")


def test_an_older_version_is_named(tmp_path):
    hand = triangle()
    hand.json["asset"]["version"] = "1.0"
    refused(hand.save(tmp_path), "version 2")


def test_nodes_that_contain_themselves_are_refused(tmp_path):
    hand = triangle(children=[1])
    hand.add("nodes", children=[0])
    refused(hand.save(tmp_path), "cycle")
    lonely = triangle(children=[0])
    refused(lonely.save(tmp_path), "cycle")
    shared = triangle(children=[2])
    shared.add("nodes", children=[2])
    shared.add("nodes")
    refused(shared.save(tmp_path), "two parents")


def test_a_very_deep_tree_is_no_problem(tmp_path):
    hand = triangle()
    hand.json["nodes"] = [{"children": [i + 1], "translation": [1, 0, 0]} for i in range(5000)] + hand.json["nodes"]
    assert read(hand.save(tmp_path)).mesh.vertices[0, 0] == 5000.0


def test_deeply_nested_json_is_refused(tmp_path):
    (tmp_path / "a.gltf").write_bytes(b'{"asset":' + b"[" * 200_000)
    refused(tmp_path / "a.gltf", "nested")


def test_a_missing_picture_is_named(tmp_path):
    refused(textured(uri="gone.png").save(tmp_path), "'gone.png'.*missing")


@pytest.mark.parametrize(
    "uri", ["../../etc/passwd", "/etc/passwd", "a/../../x.png", "%2e%2e/x.png", "file:///etc/passwd"]
)
def test_files_outside_the_folder_are_refused(tmp_path, uri):
    folder = tmp_path / "inner"
    folder.mkdir()
    (tmp_path / "x.png").write_bytes(Texture.from_pixels(np.zeros((1, 1, 3), np.uint8)).data)
    refused(textured(uri=uri).save(folder), "outside its folder")
    hand = triangle()
    hand.json["buffers"] = [{"byteLength": 4, "uri": uri}]
    (folder / "a.gltf").write_text(json.dumps(hand.json))
    refused(folder / "a.gltf", "outside its folder")


def test_a_decompression_bomb_is_refused_before_it_is_decoded(tmp_path):
    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    chunk = lambda kind, body: struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))  # noqa: E731
    picture = (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")
    )
    (tmp_path / "bomb.png").write_bytes(picture)
    refused(textured(uri="bomb.png").save(tmp_path), "pixels|exceeds limit")


def test_a_broken_picture_is_refused(tmp_path):
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n but nothing behind it")
    refused(textured(uri="a.png").save(tmp_path), "not a picture")


def test_an_unknown_kind_of_picture_is_noted(tmp_path):
    (tmp_path / "a.bmp").write_bytes(b"BM........")
    asset = read(textured(uri="a.bmp").save(tmp_path))
    assert asset.mesh.surfaces[0].texture is None
    assert "is no PNG, JPEG, WebP or KTX2 picture" in asset.notes[0]


def test_indices_out_of_range_leave_a_draft_for_the_doctor(tmp_path):
    hand = Handmade()
    hand.add("nodes", mesh=hand.mesh())
    hand.add("nodes", mesh=hand.mesh(indices=[0, 1, 2, 0, 1, 3]))
    hand.add("nodes", mesh=hand.mesh())
    error = refused(hand.save(tmp_path), "1 of 4 faces", MeshError)
    assert error.draft.face_count == 4
    assert error.draft.faces[2].min() < 0  # in the joined mesh, vertex 3 of the second would have been real


def test_nan_positions_leave_a_draft_for_the_doctor(tmp_path):
    hand = Handmade()
    hand.add("nodes", mesh=hand.mesh([[0, 0, 0], [1, np.nan, 0], [0, 1, 0]]))
    assert refused(hand.save(tmp_path), "NaN", MeshError).draft.vertex_count == 3


def test_a_file_without_triangles_is_refused(tmp_path):
    hand = Handmade()
    hand.add("nodes", name="camera")
    refused(hand.save(tmp_path), "empty", MeshError)


def test_nan_in_an_animation_is_refused(tmp_path):
    hand = triangle()
    hand.animate(0, "translation", [0, 1], [[0, 0, 0], [np.nan, 0, 0]])
    refused(hand.save(tmp_path), "NaN")


def test_key_times_that_go_back_are_refused(tmp_path):
    hand = triangle()
    hand.animate(0, "translation", [1, 0], [[0, 0, 0], [1, 0, 0]])
    refused(hand.save(tmp_path), "go back")


@pytest.mark.parametrize("count", [4, 10**6, 10**15, 2**70, -1, 1.5, "3", None])
def test_a_count_beyond_the_buffer_is_refused_before_anything_is_allocated(tmp_path, count):
    hand = triangle()
    hand.json["accessors"][0]["count"] = count
    refused(hand.save(tmp_path), "not valid glTF")
    hand.json["accessors"][0].pop("bufferView")
    if count != 4 and count != 10**6:
        refused(hand.save(tmp_path), "not valid glTF")


def test_instances_without_end_are_refused(tmp_path):
    hand = Handmade()
    mesh = hand.mesh(indices=np.zeros(30_000))
    for _ in range(3000):
        hand.add("nodes", mesh=mesh)
    refused(hand.save(tmp_path), "corners")


def test_joints_out_of_range_are_refused(tmp_path):
    hand = bending_strip()
    hand.json["skins"][0]["joints"] = [1]
    refused(hand.save(tmp_path), "joints")


def seeds() -> list[bytes]:
    """Small valid files that use most of what the reader knows."""
    moving = bending_strip()
    shape = moving.array(np.ones((6, 3)))
    moving.json["meshes"][0]["primitives"][0]["targets"] = [{"POSITION": shape}]
    moving.animate(0, "weights", [0, 0.5, 1], [[[0], [0], [0]], [[0], [1], [0]], [[0], [0], [0]]], "CUBICSPLINE")
    picture = Texture.from_pixels(np.zeros((2, 2, 3), np.uint8)).data
    painted = textured()
    painted.json["images"][0] |= {"bufferView": painted.view(picture), "mimeType": "image/png"}
    attributes = painted.json["meshes"][0]["primitives"][0]["attributes"]
    attributes["TEXCOORD_0"] = painted.array([[0, 0], [1, 0], [0, 1]])
    attributes["COLOR_0"] = painted.array(np.full((3, 4), 200), np.uint8, normalized=True)
    painted.json["scenes"][0]["extras"] = {"neurok": {"version": 1, "parts": [0], "articulation": {"joints": []}}}
    return [moving.glb(), painted.glb()]


SEEDS = seeds()
ODD = [None, True, -1, 0, 1, 7, 10**9, 2**63, 1e308, -0.5, "", "x", [], {}, [0], [[]], {"a": 1}, float("nan")]


def survives(data: bytes, folder: Path) -> bool:
    """Reading gives an object or a NeurokError; anything else is a bug and propagates."""
    path = folder / "fuzz.glb"
    path.write_bytes(data)
    try:
        load(path)
    except NeurokError:
        return False
    return True


def places(value, path=()):
    """Every place in a JSON value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in inside:
        yield (*path, key)
        yield from places(entry, (*path, key))


def changed(content, path, value):
    content = json.loads(json.dumps(content))
    spot = content
    for key in path[:-1]:
        spot = spot[key]
    if value is places:
        del spot[path[-1]]
    else:
        spot[path[-1]] = value
    return content


@pytest.mark.parametrize("seed", range(len(SEEDS)))
def test_seeds_of_the_mutations_are_valid(seed, tmp_path):
    assert survives(SEEDS[seed], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(len(SEEDS)))
def test_random_bytes_never_cause_a_traceback(seed, tmp_path):
    generator = np.random.default_rng(seed)
    read_well = 0
    for _ in range(1200):
        data = np.frombuffer(SEEDS[seed], np.uint8).copy()
        where = generator.integers(12, len(data), generator.integers(1, 6))
        data[where] = generator.choice([0, 1, 34, 44, 48, 57, 91, 123, 127, 128, 255], len(where))
        read_well += survives(
            data[: generator.choice([len(data), len(data), generator.integers(len(data))])].tobytes(), tmp_path
        )
    assert 0 < read_well < 1200


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(len(SEEDS)))
def test_every_json_value_may_be_anything(seed, tmp_path):
    content, binary = unpack_glb(SEEDS[seed])
    generator = np.random.default_rng(seed)
    for path in places(content):
        for value in (places, *(ODD[i] for i in generator.choice(len(ODD), 5, replace=False))):
            survives(pack_glb(changed(content, path, value), binary), tmp_path)


@pytest.mark.slow
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_mutations_drawn_by_hypothesis_never_cause_a_traceback(tmp_path_factory, data):
    content, binary = unpack_glb(SEEDS[data.draw(st.integers(0, len(SEEDS) - 1))])
    spots = list(places(content))
    json_value = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5), lambda c: st.lists(c, max_size=3)
    )
    for _ in range(data.draw(st.integers(1, 3))):
        try:
            content = changed(content, data.draw(st.sampled_from(spots)), data.draw(json_value))
        except (KeyError, IndexError, TypeError):
            break  # an earlier change removed this place
    binary = data.draw(st.sampled_from([binary, binary[:-8], b"", bytes(len(binary)), b"\xff" * len(binary)]))
    survives(pack_glb(content, binary), tmp_path_factory.getbasetemp())
