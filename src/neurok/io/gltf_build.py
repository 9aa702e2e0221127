"""Assembles glTF: arrays into one buffer, records into one JSON object."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from neurok.core import Finish, Lookup, Texture
from neurok.core.surface import extension_names, texture_infos
from neurok.io.files import Files
from neurok.io.gltf_geometry import PICTURE_EXTENSIONS

COMPONENT_TYPES = {"uint8": 5121, "uint16": 5123, "uint32": 5125, "float32": 5126}
KINDS = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
ARRAY_BUFFER, ELEMENT_BUFFER = 34962, 34963
SUFFIXES = {"image/jpeg": "jpg", "image/png": "png", "image/webp": "webp", "image/ktx2": "ktx2"}
SPARSE_BELOW = 0.5
"""A morph target that moves fewer of its vertices than this is stored by its moving vertices alone."""


@dataclass
class Builder:
    """Collects what a file will hold; equal arrays and pictures are stored once."""

    json: dict[str, Any] = field(default_factory=lambda: {"asset": {"version": "2.0", "generator": "neurok"}})
    _chunks: list[bytes] = field(default_factory=list)
    _length: int = 0
    _known: dict[Any, int] = field(default_factory=dict)
    _places: dict[bytes, int] = field(default_factory=dict)
    _textures: list[Texture] = field(default_factory=list)

    def add(self, kind: str, record: dict[str, Any]) -> int:
        """Append a record to one of the top-level lists and return its number."""
        self.json.setdefault(kind, []).append(record)
        return len(self.json[kind]) - 1

    def view(self, data: bytes, target: int | None = None) -> int:
        """Put bytes into the buffer."""
        key = (data, target)
        if key not in self._known:
            record = {"buffer": 0, "byteOffset": self._put(data), "byteLength": len(data)}
            if target is not None:
                record["target"] = target
            self._known[key] = self.add("bufferViews", record)
        return self._known[key]

    def keep_view(self, data: bytes, record: dict[str, Any]) -> int:
        """Put bytes into the buffer under a record of their own, in which all but the place stays as it is."""
        if data not in self._places:
            self._places[data] = self._put(data)
        place = {"buffer": 0, "byteOffset": self._places[data], "byteLength": len(data)}
        return self.add("bufferViews", record | place)

    def _put(self, data: bytes) -> int:
        """Append bytes to the buffer and tell where they begin."""
        start, padding = self._length, -len(data) % 4
        self._chunks += [data, b"\0" * padding]
        self._length += len(data) + padding
        return start

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

    def material(self, name: str, finish: Finish) -> int:
        """Store a material with all it says and its pictures."""
        record = finish.record()
        for info in texture_infos(record):
            info["index"] = self.texture(finish.lookups[info["index"]])
        self.use(extension_names(record))
        return self.add("materials", {"name": name, **record})

    def use(self, extensions: Iterable[str]) -> None:
        """Say that the file uses extensions."""
        used = {*self.json.get("extensionsUsed", ()), *extensions}
        if used:
            self.json["extensionsUsed"] = sorted(used)

    def texture(self, lookup: Lookup) -> int:
        """Store a texture."""
        if lookup not in self._known:
            record: dict[str, Any] = {"sampler": self._sampler(lookup)}
            source = self._image(lookup.texture)
            extension = next((n for n, mime in PICTURE_EXTENSIONS.items() if mime == lookup.texture.mime), None)
            if extension is None:
                record["source"] = source
            else:
                record["extensions"] = {extension: {"source": source}}
                self.use((extension,))
                self.json["extensionsRequired"] = sorted({*self.json.get("extensionsRequired", ()), extension})
            self._known[lookup] = self.add("textures", record)
        return self._known[lookup]

    def _sampler(self, lookup: Lookup) -> int:
        filters = {"magFilter": lookup.magnify, "minFilter": lookup.minify}
        sampler = {key: value for key, value in filters.items() if value is not None}
        sampler |= {"wrapS": lookup.wrap[0], "wrapT": lookup.wrap[1]}
        key = ("sampler", *sampler.items())
        if key not in self._known:
            self._known[key] = self.add("samplers", sampler)
        return self._known[key]

    def _image(self, picture: Texture) -> int:
        """Store a picture, byte for byte."""
        key = (picture.data, picture.mime)
        if key not in self._known:
            self._textures.append(picture)
            self._known[key] = self.add("images", {"name": picture.name, "mimeType": picture.mime})
        return self._known[key]

    def files(self, path: Path) -> Files:
        """The finished file: one GLB, or a ``.gltf`` with its buffer and pictures beside it."""
        return self._gltf(path) if path.suffix.lower() == ".gltf" else self._glb(path)

    def _own_images(self) -> list[dict[str, Any]]:
        """The images that were added here, and lie in no buffer yet."""
        return self.json.get("images", [])[-len(self._textures) :] if self._textures else []

    def _glb(self, path: Path) -> Files:
        for image, picture in zip(self._own_images(), self._textures, strict=True):
            image["bufferView"] = self.view(picture.data)
        if self._length:
            self.json["buffers"] = [{"byteLength": self._length}]
        text = json.dumps(self.json, separators=(",", ":"), allow_nan=False).encode()
        text += b" " * (-len(text) % 4)
        body = [struct.pack("<II", self._length, 0x004E4942), *self._chunks] if self._length else []
        total = 12 + 8 + len(text) + sum(map(len, body))
        head = struct.pack("<4sIIII", b"glTF", 2, total, len(text), 0x4E4F534A)
        return {path.name: b"".join([head, text, *body])}

    def _gltf(self, path: Path) -> Files:
        beside: Files = {f"{path.stem}.bin": b"".join(self._chunks)}
        for number, (image, picture) in enumerate(zip(self._own_images(), self._textures, strict=True)):
            name = f"{path.stem}_{number}.{SUFFIXES[picture.mime]}"
            image["uri"] = quote(name)
            beside[name] = picture.data
        self.json["buffers"] = [{"byteLength": self._length, "uri": quote(f"{path.stem}.bin")}]
        return {path.name: json.dumps(self.json, indent=1, allow_nan=False).encode(), **beside}
