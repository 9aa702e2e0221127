"""Assembles glTF: arrays into one buffer, records into one JSON object."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from neurok.core import Texture
from neurok.io.files import Files

COMPONENT_TYPES = {"uint8": 5121, "uint16": 5123, "uint32": 5125, "float32": 5126}
KINDS = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
ARRAY_BUFFER, ELEMENT_BUFFER = 34962, 34963
SPARSE_BELOW = 0.5
"""A morph target that moves fewer of its vertices than this is stored by its moving vertices alone."""


@dataclass
class Builder:
    """Collects what a file will hold; equal arrays and pictures are stored once."""

    json: dict[str, Any] = field(default_factory=lambda: {"asset": {"version": "2.0", "generator": "neurok"}})
    _chunks: list[bytes] = field(default_factory=list)
    _length: int = 0
    _known: dict[Any, int] = field(default_factory=dict)
    _textures: list[Texture] = field(default_factory=list)

    def add(self, kind: str, record: dict[str, Any]) -> int:
        """Append a record to one of the top-level lists and return its number."""
        self.json.setdefault(kind, []).append(record)
        return len(self.json[kind]) - 1

    def view(self, data: bytes, target: int | None = None) -> int:
        """Put bytes into the buffer."""
        key = (data, target)
        if key not in self._known:
            record = {"buffer": 0, "byteOffset": self._length, "byteLength": len(data)}
            if target is not None:
                record["target"] = target
            padding = -len(data) % 4
            self._chunks += [data, b"\0" * padding]
            self._length += len(data) + padding
            self._known[key] = self.add("bufferViews", record)
        return self._known[key]

    def array(self, values: np.ndarray, target: int | None = None, bounds: bool = False) -> int:
        """Store ``(count, width)`` (or ``(count,)``) numbers of their own kind."""
        values = np.ascontiguousarray(values if values.ndim > 1 else values[:, None])
        record: dict[str, Any] = {
            "bufferView": self.view(values.tobytes(), target),
            "componentType": COMPONENT_TYPES[values.dtype.name],
            "count": len(values),
            "type": KINDS[values.shape[1]],
        }
        return self._accessor(record, values if bounds else None)

    def morph_target(self, displacements: np.ndarray) -> int:
        """Store single-precision displacements, sparsely when most vertices stay."""
        moving = np.flatnonzero(displacements.any(axis=1)).astype(np.uint32)
        if len(moving) >= SPARSE_BELOW * len(displacements):
            return self.array(displacements, bounds=True)
        record: dict[str, Any] = {"componentType": 5126, "count": len(displacements), "type": "VEC3"}
        if len(moving):
            record["sparse"] = {
                "count": len(moving),
                "indices": {"bufferView": self.view(moving.tobytes()), "componentType": 5125},
                "values": {"bufferView": self.view(np.ascontiguousarray(displacements[moving]).tobytes())},
            }
        return self._accessor(record, displacements)

    def _accessor(self, record: dict[str, Any], bounded: np.ndarray | None) -> int:
        if bounded is not None:
            record["min"] = [float(v) for v in bounded.min(axis=0)]
            record["max"] = [float(v) for v in bounded.max(axis=0)]
        key = json.dumps(record, sort_keys=True)
        if key not in self._known:
            self._known[key] = self.add("accessors", record)
        return self._known[key]

    def texture(self, picture: Texture) -> int:
        """Store a picture, byte for byte."""
        key = (picture.data, picture.mime)
        if key not in self._known:
            self._textures.append(picture)
            self.json.setdefault("samplers", [{"wrapS": 10497, "wrapT": 10497}])
            image = self.add("images", {"name": picture.name, "mimeType": picture.mime})
            self._known[key] = self.add("textures", {"source": image, "sampler": 0})
        return self._known[key]

    def files(self, path: Path) -> Files:
        """The finished file: one GLB, or a ``.gltf`` with its buffer and pictures beside it."""
        return self._gltf(path) if path.suffix.lower() == ".gltf" else self._glb(path)

    def _glb(self, path: Path) -> Files:
        for image, picture in zip(self.json.get("images", []), self._textures, strict=True):
            image["bufferView"] = self.view(picture.data)
        self.json["buffers"] = [{"byteLength": self._length}]
        text = json.dumps(self.json, separators=(",", ":"), allow_nan=False).encode()
        text += b" " * (-len(text) % 4)
        total = 12 + 8 + len(text) + 8 + self._length
        head = struct.pack("<4sIIII", b"glTF", 2, total, len(text), 0x4E4F534A)
        return {path.name: b"".join([head, text, struct.pack("<II", self._length, 0x004E4942), *self._chunks])}

    def _gltf(self, path: Path) -> Files:
        beside: Files = {f"{path.stem}.bin": b"".join(self._chunks)}
        for number, (image, picture) in enumerate(zip(self.json.get("images", []), self._textures, strict=True)):
            name = f"{path.stem}_{number}.{'jpg' if picture.mime == 'image/jpeg' else 'png'}"
            image["uri"] = quote(name)
            beside[name] = picture.data
        self.json["buffers"] = [{"byteLength": self._length, "uri": quote(f"{path.stem}.bin")}]
        return {path.name: json.dumps(self.json, indent=1, allow_nan=False).encode(), **beside}
