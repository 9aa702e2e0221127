"""The shell of glTF: container, JSON, packed buffers and typed arrays; every number is checked before it is used."""

from __future__ import annotations

import base64
import json
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from neurok.errors import FormatError, require
from neurok.io.files import check_growth, decoding_limits, read_bytes, resolve_inside
from neurok.sandbox import SANDBOX, Ended

Record = dict[str, Any]

COMPONENTS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
MAX_NODES = 200_000
ZERO_ELEMENTS = 1_000_000
"""An array that stands in no buffer may always be this long, and longer only in files that are as large."""


@dataclass(frozen=True, eq=False)
class Document:
    """A glTF file, taken apart but not yet understood."""

    path: Path
    json: Record
    binary: memoryview | None = None
    """The binary chunk of a GLB."""

    size: int = 0
    """Of the file itself [bytes]."""

    _buffers: dict[int, bytes | memoryview] = field(default_factory=dict)
    _files: dict[Path, bytes] = field(default_factory=dict)
    """What was read beside the file, by its place; the file may be gone when it is written again."""

    _copies: dict[tuple[int, int, int], bytes] = field(default_factory=dict)
    """By buffer, start and length."""

    _sizes: dict[str, int] = field(default_factory=lambda: {"taken": 0, "beside": 0})
    """Bytes that were copied or unpacked so far (many views may show the same ones), and of the files beside this."""

    def items(self, kind: str) -> list[Record]:
        """All nodes, meshes, skins ... of the file."""
        found = self.json.get(kind, [])
        if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
            raise self.error(f"its '{kind}' is not a list of objects")
        return found

    def item(self, kind: str, index: Any) -> Record:
        """One of them; an index out of range is the file's fault."""
        found = self.json.get(kind, [])
        if not isinstance(index, int) or not isinstance(found, list) or not 0 <= index < len(found):
            raise self.error(f"it refers to entry {index!r} of its {kind}, which does not exist")
        if not isinstance(found[index], dict):
            raise self.error(f"entry {index} of its {kind} is not an object")
        return found[index]

    @property
    def byte_count(self) -> int:
        """How much data the file brings along, as far as it has been read."""
        return max(sum(map(len, self._buffers.values())), len(self.binary or b""))

    def error(self, what: str) -> FormatError:
        return FormatError(f"'{self.path}' is not valid glTF: {what}. Export it again.")

    def buffer(self, index: int) -> bytes | memoryview:
        """The bytes of one buffer, from the GLB, a data URI or a file beside this one."""
        if index not in self._buffers:
            record = self.item("buffers", index)
            uri = record.get("uri")
            if uri is None:
                if index != 0 or self.binary is None:
                    raise self.error(f"buffer {index} has no data")
                data: bytes | memoryview = self.binary
            else:
                data = self.uri_bytes(uri)
            if len(data) < natural(record, "byteLength"):
                raise self.error(f"buffer {index} is truncated ({len(data)} of {record['byteLength']} bytes)")
            self._buffers[index] = data
        return self._buffers[index]

    def take(self, size: int) -> None:
        """Count what is about to be copied or unpacked.

        Raises:
            FormatError: If all of it is more than the file warrants.
        """
        self._sizes["taken"] += size
        check_growth(self.path, self._sizes["taken"], self.size + self._sizes["beside"])

    def add_buffer(self, data: bytes) -> int:
        """Put bytes that were made from others beside the buffers of the file."""
        self.json.setdefault("buffers", []).append({"byteLength": len(data)})
        index = len(self.json["buffers"]) - 1
        self._buffers[index] = data
        return index

    def uri_bytes(self, uri: str) -> bytes:
        """What a data URI holds, or the file it names in or below the folder of this one."""
        if uri.startswith("data:"):
            head, comma, body = uri.partition(",")
            if not comma or not head.endswith(";base64"):
                raise self.error("it has a data URI that is not base64")
            return base64.b64decode(body, validate=True)
        target = resolve_inside(self.path.parent, uri)
        if target not in self._files:
            if not target.is_file():
                raise FormatError(f"'{self.path}' needs the file '{uri}', which is missing; put it beside the model.")
            self._files[target] = read_bytes(target)
            self._sizes["beside"] += len(self._files[target])
        return self._files[target]

    def view(self, index: int) -> tuple[bytes | memoryview, int, int, int]:
        """Buffer, start, length and stride (0 when packed) of a buffer view, all inside the buffer."""
        record = self.item("bufferViews", index)
        data = self.buffer(natural(record, "buffer"))
        start, length = natural(record, "byteOffset", 0), natural(record, "byteLength")
        if start + length > len(data):
            raise self.error(f"buffer view {index} ends at byte {start + length} of {len(data)}")
        return data, start, length, natural(record, "byteStride", 0)

    def view_bytes(self, index: int) -> bytes:
        data, start, length, _ = self.view(index)
        place = (self.item("bufferViews", index)["buffer"], start, length)
        if place not in self._copies:
            self.take(length)
            self._copies[place] = bytes(data[start : start + length])
        return self._copies[place]

    def array(self, index: int) -> np.ndarray:
        """An accessor as ``(count, width)``: normalised integers become floats, the rest keeps its kind."""
        record = self.item("accessors", index)
        count = natural(record, "count")
        kind, width = COMPONENTS.get(record["componentType"]), WIDTHS.get(record["type"])
        if kind is None or width is None:
            raise self.error(f"accessor {index} has an unknown type")
        dtype = np.dtype(kind)
        if "bufferView" in record:
            array = self._strided(record["bufferView"], natural(record, "byteOffset", 0), count, width, dtype)
        else:
            if count * width > max(ZERO_ELEMENTS, self.byte_count):
                raise self.error(f"accessor {index} claims {count} elements without data")
            array = np.zeros((count, width), dtype)
        if "sparse" in record:
            array = self._with_sparse(array, record["sparse"], dtype)
        if record.get("normalized") and dtype.kind in "iu":
            array = np.maximum(array / np.float32(np.iinfo(dtype).max), np.float32(-1.0))
        return array

    def _strided(self, view: int, offset: int, count: int, width: int, dtype: np.dtype) -> np.ndarray:
        data, start, length, stride = self.view(view)
        size = width * dtype.itemsize
        stride = stride or size
        if stride < size or (count and offset + stride * (count - 1) + size > length):
            raise self.error(f"an array of {count} elements does not fit into buffer view {view} ({length} bytes)")
        if count == 0:
            return np.zeros((0, width), dtype)
        return np.ndarray((count, width), dtype, data, start + offset, (stride, dtype.itemsize))

    def _with_sparse(self, array: np.ndarray, sparse: Record, dtype: np.dtype) -> np.ndarray:
        count, where, what = natural(sparse, "count"), sparse["indices"], sparse["values"]
        index_type = np.dtype(COMPONENTS[where["componentType"]])
        indices = self._strided(where["bufferView"], natural(where, "byteOffset", 0), count, 1, index_type)[:, 0]
        values = self._strided(what["bufferView"], natural(what, "byteOffset", 0), count, array.shape[1], dtype)
        if index_type.kind != "u" or (count and indices.max() >= len(array)):
            raise self.error("a sparse array has indices out of range")
        array = array.copy()
        array[indices] = values
        return array


def natural(record: Record, key: str, default: int | None = None) -> int:
    """A whole number that is zero or larger."""
    value = record[key] if default is None else record.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**53:
        raise ValueError(f"'{key}' must be zero or a positive whole number, got {value!r}")
    return value


def open_document(path: Path, data: bytes | None = None) -> Document:
    """Take a ``.glb`` or ``.gltf`` file apart, or a GLB that was made of the file at ``path``.

    Raises:
        FormatError: If it is damaged, or of another kind than its suffix says.
    """
    data = read_bytes(path) if data is None else data
    is_binary = data[:4] == b"glTF"
    if path.suffix.lower() == ".glb" and not is_binary:
        raise FormatError(f"'{path}' is not a GLB file (it does not begin with 'glTF'); check its suffix.")
    if path.suffix.lower() == ".gltf" and is_binary:
        raise FormatError(f"'{path}' holds a binary GLB; rename it to end in .glb.")
    text, binary = _split_glb(path, data) if is_binary else (data, None)
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise FormatError(f"'{path}' is not valid glTF: its JSON cannot be read ({reason}).") from None
    if not isinstance(content, dict) or not isinstance(content.get("asset"), dict):
        raise FormatError(f"'{path}' is not glTF: it has no 'asset' entry.")
    document = Document(path, content, binary, len(data))
    if not str(content["asset"].get("version", "")).startswith("2"):
        raise FormatError(f"'{path}' is glTF {content['asset'].get('version')!r}; version 2 is read. Export it again.")
    if len(document.items("nodes")) > MAX_NODES:
        raise FormatError(f"'{path}' has {len(document.items('nodes'))} nodes; at most {MAX_NODES} are read.")
    return document


def _split_glb(path: Path, data: bytes) -> tuple[bytes, memoryview | None]:
    """The JSON and binary chunks of a GLB."""
    if len(data) < 20:
        raise FormatError(f"'{path}' is truncated: a GLB needs at least 20 bytes, it has {len(data)}.")
    version, length = struct.unpack_from("<II", data, 4)
    if version != 2:
        raise FormatError(f"'{path}' is GLB version {version}; version 2 is read. Export it again.")
    if length > len(data):
        raise FormatError(f"'{path}' is truncated: it should have {length} bytes, it has {len(data)}.")
    whole = memoryview(data)  # slices of it copy nothing
    chunks: dict[int, memoryview] = {}
    at = 12
    while at + 8 <= length:
        size, kind = struct.unpack_from("<II", data, at)
        if at + 8 + size > len(data):
            raise FormatError(f"'{path}' is truncated inside one of its chunks.")
        chunks.setdefault(kind, whole[at + 8 : at + 8 + size])
        at += 8 + size + (-size) % 4
    if 0x4E4F534A not in chunks:
        raise FormatError(f"'{path}' is not a valid GLB: it has no JSON chunk.")
    return bytes(chunks[0x4E4F534A]), chunks.get(0x004E4942)


MESHOPT = ("EXT_meshopt_compression", "KHR_meshopt_compression")


def unpack_views(doc: Document) -> None:
    """Replace every packed view by what it holds."""
    for index, view in enumerate(doc.items("bufferViews")):
        extensions = view.get("extensions", {})
        name = next((name for name in MESHOPT if name in extensions), None)
        if name is None:
            continue
        packed = extensions.pop(name)
        if not extensions:
            del view["extensions"]
        doc.take(natural(packed, "count") * natural(packed, "byteStride"))
        data = _unpacked(doc, packed, index)
        if len(data) < natural(view, "byteLength"):
            raise doc.error(f"buffer view {index} holds {len(data)} of {view['byteLength']} bytes")
        view |= {"buffer": doc.add_buffer(data), "byteOffset": 0, "byteLength": len(data)}
    _forget(doc, MESHOPT)


def _forget(doc: Document, extensions: tuple[str, ...]) -> None:
    """Take extensions out of the lists of those that the file uses and needs."""
    for key in ("extensionsUsed", "extensionsRequired"):
        if key in doc.json:
            doc.json[key] = [name for name in doc.json[key] if name not in extensions]
            if not doc.json[key]:
                del doc.json[key]


def _unpacked(doc: Document, packed: Record, index: int) -> bytes:
    from neurok.io import meshopt

    out: np.ndarray

    source = doc.buffer(natural(packed, "buffer"))
    start, length = natural(packed, "byteOffset", 0), natural(packed, "byteLength")
    if start + length > len(source):
        raise doc.error(f"packed buffer view {index} ends at byte {start + length} of {len(source)}")
    data = np.frombuffer(source, np.uint8, length, start)
    count, stride, mode = natural(packed, "count"), natural(packed, "byteStride"), packed["mode"]
    if mode == "ATTRIBUTES":
        if not (0 < stride <= 256 and stride % 4 == 0):
            raise doc.error(f"packed buffer view {index} has a stride of {stride} bytes")
        rows = np.zeros((count, stride), np.uint8)
        end = meshopt.vertices(data, count, stride, rows)
        out = _filtered(doc, rows, packed.get("filter", "NONE"), index)
    elif mode in ("TRIANGLES", "INDICES") and stride in (2, 4):
        if mode == "TRIANGLES" and count % 3:
            raise doc.error(f"packed buffer view {index} has {count} indices of triangles")
        indices = np.zeros(count, np.uint32)
        end = (meshopt.triangles if mode == "TRIANGLES" else meshopt.sequence)(data, count, indices)
        out = indices.astype("<u2" if stride == 2 else "<u4")
    else:
        raise doc.error(f"packed buffer view {index} has the unknown mode {mode!r} with a stride of {stride}")
    if end < 0:
        raise doc.error(f"packed buffer view {index} is damaged, or of a newer version")
    return out.tobytes()


def _filtered(doc: Document, rows: np.ndarray, name: str, index: int) -> np.ndarray:
    """The numbers behind what was stored to pack well."""
    stride = rows.shape[1]
    if name == "NONE":
        return rows
    if name == "OCTAHEDRAL" and stride in (4, 8):
        return _octahedral(rows.view("<i1" if stride == 4 else "<i2"))
    if name == "QUATERNION" and stride == 8:
        return _quaternions(rows.view("<i2"))
    if name == "EXPONENTIAL":
        packed = rows.view("<i4")
        return np.ldexp(((packed << 8) >> 8).astype(np.float32), packed >> 24).astype("<f4")
    raise doc.error(f"packed buffer view {index} has the unknown filter {name!r} with a stride of {stride}")


def _octahedral(packed: np.ndarray) -> np.ndarray:
    """Unit vectors out of their place on an octahedron."""
    x, y, one = (packed[:, k].astype(np.float32) for k in range(3))
    z = one - np.abs(x) - np.abs(y)
    fold = np.minimum(z, 0.0)
    x, y = x + np.where(x >= 0, fold, -fold), y + np.where(y >= 0, fold, -fold)
    length = np.sqrt(x * x + y * y + z * z)
    scale = np.iinfo(packed.dtype).max / np.where(length > 0, length, 1.0)
    out = packed.copy()
    out[:, :3] = np.rint(np.stack([x, y, z], axis=1) * scale[:, None])
    return out


def _quaternions(packed: np.ndarray) -> np.ndarray:
    """Rotations out of their three smaller numbers."""
    scale = np.sqrt(np.float32(0.5)) / (packed[:, 3:] | 3)
    small = packed[:, :3] * scale
    large = np.sqrt(np.maximum(0.0, 1.0 - (small * small).sum(axis=1)))
    place = (packed[:, 3] & 3).astype(np.int64)
    out = np.empty_like(packed)
    rows = np.arange(len(packed))
    for k in range(3):
        out[rows, (place + 1 + k) & 3] = np.rint(small[:, k] * 32767.0)
    out[rows, place] = np.rint(large * 32767.0)
    return out


DRACO = "KHR_draco_mesh_compression"
MAX_VERTICES = 60_000_000


def unpack_meshes(doc: Document) -> None:
    """Replace every packed mesh by plain arrays."""
    packed = [
        (primitive, primitive["extensions"].pop(DRACO))
        for mesh in doc.items("meshes")
        for primitive in mesh.get("primitives", [])
        if isinstance(primitive, dict) and DRACO in primitive.get("extensions", {})
    ]
    if packed:
        require("DracoPy", "formats")
    decoded: dict[int, tuple[np.ndarray, dict[int, np.ndarray]]] = {}
    for primitive, settings in packed:
        if not primitive["extensions"]:
            del primitive["extensions"]
        view = natural(settings, "bufferView")
        if view not in decoded:
            decoded[view] = _decode(doc, view)
        _spread(doc, primitive, settings, decoded[view], view)
    _forget(doc, (DRACO,))


def _decode(doc: Document, view: int) -> tuple[np.ndarray, dict[int, np.ndarray]]:
    """Faces and attributes of a packed mesh, unpacked in the sandbox: few bytes may ask for any amount of memory."""
    data = np.frombuffer(doc.view_bytes(view), np.uint8)
    limits = decoding_limits(len(data), ratio=512)
    try:
        faces, ids, *values = SANDBOX.call(f"{__name__}:decode_draco", data, limits=limits, preload=("DracoPy",))
    except Ended as end:
        raise doc.error(f"its Draco mesh in buffer view {view} cannot be unpacked ({end.text})") from None
    doc.take(faces.nbytes + sum(array.nbytes for array in values))
    return faces, dict(zip(ids.tolist(), values, strict=True))


def decode_draco(data: np.ndarray) -> list[np.ndarray]:
    """Faces, the numbers of the attributes, and each of them."""
    import DracoPy

    mesh = DracoPy.decode(data.tobytes())
    faces = getattr(mesh, "faces", None)
    ids = np.array([attribute["unique_id"] for attribute in mesh.attributes], dtype=np.int64)
    none = np.zeros((0, 3), np.uint32)
    return [none if faces is None else np.asarray(faces), ids, *(np.asarray(a["data"]) for a in mesh.attributes)]


def _spread(
    doc: Document, primitive: Record, settings: Record, mesh: tuple[np.ndarray, dict[int, np.ndarray]], view: int
) -> None:
    """Put the arrays of a decoded mesh under the accessors that stand for them."""
    faces, attributes = mesh
    for name, number in settings["attributes"].items():
        found = attributes.get(natural({"id": number}, "id"))
        if found is None:
            raise doc.error(f"its Draco mesh in buffer view {view} lacks {name}")
        _store(doc, primitive["attributes"][name], found)
    if len(faces) and "indices" in primitive:
        _store(doc, primitive["indices"], faces.reshape(-1, 1), view)


def _store(doc: Document, accessor: int, values: np.ndarray, view: int | None = None) -> None:
    record = doc.item("accessors", accessor)
    values = values.reshape(len(values), -1)
    count, width = natural(record, "count"), WIDTHS.get(record["type"])
    if count > MAX_VERTICES or values.shape != (count, width):
        raise doc.error(f"accessor {accessor} says {count} x {width} numbers, its Draco mesh has {values.shape}")
    data = np.ascontiguousarray(values, dtype=COMPONENTS[record["componentType"]]).tobytes()
    place = {"buffer": doc.add_buffer(data), "byteOffset": 0, "byteLength": len(data)}
    if view is not None:
        doc.json["bufferViews"][view] = place  # the packed bytes are not needed any more
    else:
        doc.json["bufferViews"].append(place)
        view = len(doc.json["bufferViews"]) - 1
    record |= {"bufferView": view, "byteOffset": 0}
