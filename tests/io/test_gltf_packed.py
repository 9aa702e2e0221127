"""Packed glTF: Draco by its own encoder, meshopt by a small encoder written here from the format's description."""

import contextlib

import numpy as np
import pytest
from gltf_by_hand import Handmade, unpack_glb

from neurok.errors import FormatError, MissingDependencyError, NeurokError
from neurok.io.formats import load, save

EXTENSION = "EXT_meshopt_compression"


def varint(value: int) -> bytes:
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def zigzag(step: int) -> int:
    return 2 * step if step >= 0 else -2 * step - 1


def packed_vertices(rows: np.ndarray) -> bytes:
    """Vertices of at most one block, each group of bytes as zeros, nibbles with exceptions, or plain."""
    count, size = rows.shape
    groups = -(-count // 16)
    body = b""
    for k in range(size):
        steps = np.diff(rows[:, k].astype(np.int64), prepend=int(rows[0, k]))
        steps = (steps + 128) % 256 - 128
        codes = [zigzag(int(step)) for step in steps] + [0] * (16 * groups - count)
        modes, parts = [], b""
        for g in range(groups):
            group = codes[16 * g : 16 * g + 16]
            exceptions = [code for code in group if code >= 15]
            if not any(group):
                modes.append(0)
            elif len(exceptions) < 8:
                modes.append(2)
                nibbles = [min(code, 15) for code in group]
                parts += bytes(a << 4 | b for a, b in zip(nibbles[::2], nibbles[1::2], strict=True)) + bytes(exceptions)
            else:
                modes.append(3)
                parts += bytes(group)
        head = [sum(m << (2 * i) for i, m in enumerate(modes[j : j + 4])) for j in range(0, groups, 4)]
        body += bytes(head) + parts
    tail = rows[0].tobytes()
    return b"\xa0" + body + b"\0" * max(0, 32 - len(tail)) + tail


def packed_triangles(indices: np.ndarray) -> bytes:
    """Every triangle spelled out."""
    last, spelled = 0, b""
    for triangle in indices.reshape(-1, 3).tolist():
        spelled += b"\xff"
        for index in triangle:
            spelled += varint(zigzag(index - last))
            last = index
    return b"\xe1" + b"\xff" * (len(indices) // 3) + spelled + bytes(16)


def packed_sequence(indices: np.ndarray) -> bytes:
    last, body = 0, b""
    for index in indices.tolist():
        body += varint(zigzag(index - last) << 1)
        last = index
    return b"\xd1" + body + bytes(4)


def sheet() -> tuple[np.ndarray, np.ndarray]:
    x, y = np.meshgrid(np.linspace(0, 1, 7), np.linspace(0, 2, 5), indexing="ij")
    here = np.arange(35).reshape(7, 5)
    a, b, c, d = here[:-1, :-1], here[1:, :-1], here[1:, 1:], here[:-1, 1:]
    faces = np.concatenate([np.stack([a, b, c], -1).reshape(-1, 3), np.stack([a, c, d], -1).reshape(-1, 3)])
    return np.stack([x, y, np.sin(3 * x) * y], -1).reshape(-1, 3).astype(np.float32), faces


def packed_sheet(mode: str = "TRIANGLES") -> Handmade:
    vertices, faces = sheet()
    hand = Handmade()
    positions = hand.array(vertices)
    indices = hand.array(faces.reshape(-1), np.uint16)
    hand.add("meshes", primitives=[{"attributes": {"POSITION": positions}, "indices": indices}])
    hand.add("nodes", mesh=0, name="sheet")
    streams = [
        (packed_vertices(vertices.view(np.uint8)), "ATTRIBUTES", len(vertices), 12),
        ((packed_triangles if mode == "TRIANGLES" else packed_sequence)(faces.reshape(-1)), mode, faces.size, 2),
    ]
    hand.data = b""
    for view, (data, kind, count, stride) in zip(hand.json["bufferViews"], streams, strict=True):
        place = {"buffer": 0, "byteOffset": len(hand.data), "byteLength": len(data)}
        view["extensions"] = {EXTENSION: place | {"byteStride": stride, "count": count, "mode": kind}}
        view |= {"buffer": 1, "byteOffset": 0}
        hand.data += data + b"\0" * (-len(data) % 4)
    hand.json["extensionsUsed"] = hand.json["extensionsRequired"] = [EXTENSION]
    return hand


@pytest.mark.parametrize("mode", ["TRIANGLES", "INDICES"])
def test_meshopt_is_unpacked(tmp_path, mode):
    vertices, faces = sheet()
    asset = load(packed_sheet(mode).save(tmp_path))
    np.testing.assert_array_equal(asset.mesh.vertices, vertices)
    np.testing.assert_array_equal(asset.mesh.faces, faces)
    save(asset, tmp_path / "plain.glb")
    assert EXTENSION not in str(unpack_glb((tmp_path / "plain.glb").read_bytes())[0])
    np.testing.assert_array_equal(load(tmp_path / "plain.glb").mesh.vertices, vertices)


def test_filters_of_meshopt():
    from neurok.io.gltf_document import _octahedral, _quaternions

    signs = np.array([[127, 0, 127, 0], [0, 0, 127, 0], [-127, 0, 127, 0], [64, 63, 127, 0]], dtype=np.int8)
    got = _octahedral(signs)[:, :3] / 127
    np.testing.assert_allclose(got, [[1, 0, 0], [0, 0, 1], [-1, 0, 0], [0.712, 0.701, 0]], atol=0.01)
    turned = _quaternions(np.array([[0, 0, 0, 32764 | 3]], dtype=np.int16))
    np.testing.assert_array_equal(turned, [[0, 0, 0, 32767]])


def test_damaged_meshopt_is_refused_or_read(tmp_path):
    hand = packed_sheet()
    generator = np.random.default_rng(5)
    for _ in range(60):
        data = bytearray(hand.data)
        for place in generator.integers(0, len(data), 4):
            data[place] = generator.integers(256)
        other = packed_sheet()
        other.data = bytes(data)
        with contextlib.suppress(NeurokError):
            load(other.save(tmp_path))


def test_a_view_that_unpacks_to_far_more_is_refused(tmp_path):
    hand = packed_sheet()
    hand.json["bufferViews"][0]["extensions"][EXTENSION]["count"] = 10**9
    with pytest.raises(FormatError, match="would unpack"):
        load(hand.save(tmp_path))


def draco_sheet(encoded: bytes) -> Handmade:
    vertices, faces = sheet()
    hand = Handmade()
    view = hand.view(encoded)
    hand.add("accessors", componentType=5126, count=len(vertices), type="VEC3")
    hand.add("accessors", componentType=5125, count=faces.size, type="SCALAR")
    extension = {"KHR_draco_mesh_compression": {"bufferView": view, "attributes": {"POSITION": 0}}}
    hand.add("meshes", primitives=[{"attributes": {"POSITION": 0}, "indices": 1, "extensions": extension}])
    hand.add("nodes", mesh=0)
    hand.json["extensionsUsed"] = hand.json["extensionsRequired"] = ["KHR_draco_mesh_compression"]
    return hand


def test_draco_is_unpacked(tmp_path):
    draco = pytest.importorskip("DracoPy")
    vertices, faces = sheet()
    asset = load(draco_sheet(draco.encode(vertices, faces.astype(np.uint32), quantization_bits=16)).save(tmp_path))
    assert asset.mesh.face_count == len(faces)
    rounded = {tuple(row) for row in np.round(asset.mesh.vertices, 3)}
    assert rounded == {tuple(row) for row in np.round(vertices.astype(np.float64), 3)}
    save(asset, tmp_path / "plain.glb")
    np.testing.assert_array_equal(load(tmp_path / "plain.glb").mesh.vertices, asset.mesh.vertices)


def test_damaged_draco_is_refused(tmp_path):
    pytest.importorskip("DracoPy")
    with pytest.raises(FormatError, match="Draco"):
        load(draco_sheet(b"DRACO but nothing behind it").save(tmp_path))


def test_draco_without_its_decoder_is_one_sentence(tmp_path, monkeypatch):
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match="DracoPy"):
        load(draco_sheet(b"any").save(tmp_path))
