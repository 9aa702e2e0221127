"""What a glTF file says, by value and without numbers that may change: for comparing two files."""

from __future__ import annotations

import base64
import hashlib
import json
import struct
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import unquote

SAMPLER = {"wrapS": 10497, "wrapT": 10497}


class File:
    """A ``.glb`` or ``.gltf`` file, parsed here and not by neurok."""

    def __init__(self, path: Path) -> None:
        self.path = path
        data = path.read_bytes()
        if data[:4] == b"glTF":
            size = struct.unpack_from("<I", data, 12)[0]
            self.json = json.loads(data[20 : 20 + size])
            self.binary = data[28 + size :]
        else:
            self.json, self.binary = json.loads(data), b""

    def bytes_at(self, record: dict[str, Any]) -> bytes:
        """The bytes of a buffer or image."""
        uri = record.get("uri")
        if uri is None:
            return self.binary
        if uri.startswith("data:"):
            return base64.b64decode(uri.partition(",")[2])
        return (self.path.parent / unquote(uri)).read_bytes()

    def image(self, index: int) -> str:
        """The hash of a picture's encoded bytes."""
        record = self.json["images"][index]
        if "uri" in record:
            data = self.bytes_at(record)
        else:
            view = self.json["bufferViews"][record["bufferView"]]
            start = view.get("byteOffset", 0)
            data = self.bytes_at(self.json["buffers"][view["buffer"]])[start : start + view["byteLength"]]
        return hashlib.sha256(data).hexdigest()[:16]

    def texture(self, index: int) -> dict[str, Any]:
        record = self.json["textures"][index]
        sampler = self.json["samplers"][record["sampler"]] if "sampler" in record else {}
        return {"picture": self.image(record["source"]), **SAMPLER, **_unnamed(sampler)}

    def resolved(self, record: Any) -> Any:
        """A record with textures in the place of their numbers."""
        if isinstance(record, list):
            return [self.resolved(value) for value in record]
        if not isinstance(record, dict):
            return record
        out = {key: self.resolved(value) for key, value in record.items()}
        for key, value in record.items():
            if key.endswith("Texture") and isinstance(value, dict) and "index" in value:
                out[key]["index"] = self.texture(value["index"])
        return out

    def materials(self) -> list[dict[str, Any]]:
        return [self.resolved(material) for material in self.json.get("materials", [])]

    def used_materials(self) -> list[dict[str, Any]]:
        """Those that a primitive shows, without their names: a writer may have to keep names apart."""
        used = {
            primitive["material"]
            for mesh in self.json.get("meshes", [])
            for primitive in mesh["primitives"]
            if "material" in primitive and primitive.get("mode", 4) >= 4
        }
        return [_unnamed(self.resolved(self.json["materials"][number])) for number in sorted(used)]

    def scene(self) -> dict[str, Any]:
        """Hierarchy, names, cameras, lights, extras, meshes and animations as they are counted."""
        kinds = ("nodes", "meshes", "cameras", "scenes", "skins", "animations", "extensions")
        kept = {kind: self.json.get(kind) for kind in kinds}
        for skin in kept["skins"] or []:
            skin.pop("skeleton", None)
        return kept

    def attributes(self) -> Counter[str]:
        names: Counter[str] = Counter()
        for mesh in self.json.get("meshes", []):
            for primitive in mesh["primitives"]:
                names.update(primitive["attributes"])
        return names


def leaves(record: Any) -> int:
    """Number of values in a record."""
    if isinstance(record, dict):
        return sum(map(leaves, record.values()))
    return sum(map(leaves, record)) if isinstance(record, list) else 1


def textures(record: Any) -> int:
    """Number of textures in a record."""
    if isinstance(record, list):
        return sum(map(textures, record))
    if not isinstance(record, dict):
        return 0
    return ("picture" in record) + sum(map(textures, record.values()))


def _unnamed(record: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key != "name"}


def same(a: Any, b: Any) -> bool:
    """Equal, with numbers by value (1 and 1.0 are one)."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)
