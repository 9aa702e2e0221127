"""A glTF file written again as it was: every record and array, in one buffer, with what is surely wrong mended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from neurok.core.finish import extension_names, texture_infos
from neurok.core.texture import mime_of
from neurok.io.files import Files
from neurok.io.gltf_build import Builder
from neurok.io.gltf_document import Document, Record
from neurok.io.gltf_nodes import node_tree


def kept_files(doc: Document, animations: tuple[int, ...] | None, path: Path) -> Files:
    """The file as ``path``, with all animations or those numbered."""
    record: Record = json.loads(json.dumps(doc.json, allow_nan=False))
    if animations is not None:
        record["animations"] = [record["animations"][number] for number in animations]
        if not animations:
            del record["animations"]
    record.pop("buffers", None)
    builder = Builder(record)
    views = record.pop("bufferViews", [])
    for index, view in enumerate(views):
        builder.keep_view(bytes(_view_data(doc, index)), view)
    for index, image in enumerate(record.get("images", [])):
        uri = image.pop("uri", None)
        if uri is not None:
            data = doc.uri_bytes(uri)
            image |= {"bufferView": builder.keep_view(data, {}), "mimeType": mime_of(data) or image.get("mimeType")}
            image.setdefault("name", f"image_{index}" if uri.startswith("data:") else uri)
    _mend_skeletons(doc, record)
    _mend_coordinates(record)
    _mend_extensions(record)
    return builder.files(path)


def _view_data(doc: Document, index: int) -> memoryview:
    data, start, length, _ = doc.view(index)
    return memoryview(data)[start : start + length]


def _mend_skeletons(doc: Document, record: Record) -> None:
    """Leave out the root of a skin where it is none; the format needs it nowhere."""
    parents = node_tree(doc).parents
    for skin in record.get("skins", []):
        root = skin.get("skeleton")
        if root is not None and not all(_hangs_on(joint, root, parents) for joint in skin.get("joints", [])):
            del skin["skeleton"]


def _hangs_on(node: int, root: int, parents: dict[int, int]) -> bool:
    while node != root:
        if node not in parents:
            return False
        node = parents[node]
    return True


def _mend_coordinates(record: Record) -> None:
    """Give primitives the texture coordinates that their material asks for and they lack: zeros, without data."""
    materials = record.get("materials", [])
    wanted = [{_uv_set(info) for info in texture_infos(material)} for material in materials]
    for mesh in record.get("meshes", []):
        for primitive in mesh.get("primitives", []):
            attributes = primitive.get("attributes", {})
            missing = {
                f"TEXCOORD_{number}"
                for used in ([wanted[primitive["material"]]] if "material" in primitive else [])
                for number in range(max(used, default=-1) + 1)
            } - set(attributes)
            if not missing or "POSITION" not in attributes:
                continue
            count = record["accessors"][attributes["POSITION"]]["count"]
            zeros: dict[str, Any] = {"componentType": 5126, "count": count, "type": "VEC2"}
            record["accessors"].append(zeros)
            attributes |= dict.fromkeys(sorted(missing), len(record["accessors"]) - 1)


def _uv_set(info: Record) -> int:
    settings = info.get("extensions", {}).get("KHR_texture_transform", {})
    return int(settings.get("texCoord", info.get("texCoord", 0)))


def _mend_extensions(record: Record) -> None:
    """Name every extension that is used."""
    used = {*record.get("extensionsUsed", ()), *extension_names(record), *record.get("extensionsRequired", ())}
    record["extensionsUsed"] = sorted(used)
    if not used:
        del record["extensionsUsed"]
