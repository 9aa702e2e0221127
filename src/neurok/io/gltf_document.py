"""The shell of glTF: container, JSON, buffers and typed arrays; every number is checked before it is used."""

from __future__ import annotations

import base64
import json
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from neurok.errors import FormatError
from neurok.io.files import read_bytes, resolve_inside

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

    _buffers: dict[int, bytes | memoryview] = field(default_factory=dict)
    _files: dict[str, bytes] = field(default_factory=dict)
    """What was read beside the file, by its name; the file may be gone when it is written again."""

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
        if uri in self._files:
            return self._files[uri]
        target = resolve_inside(self.path.parent, uri)
        if not target.is_file():
            raise FormatError(f"'{self.path}' needs the file '{uri}', which is missing; put it beside the model.")
        self._files[uri] = read_bytes(target)
        return self._files[uri]

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
        return bytes(data[start : start + length])

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
    document = Document(path, content, binary)
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
