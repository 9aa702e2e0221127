"""Meshes of glTF packed by KHR_draco_mesh_compression, taken apart by Google's decoder (``DracoPy``)."""

from __future__ import annotations

from typing import Any

import numpy as np

from neurok.errors import require
from neurok.io.gltf_document import COMPONENTS, WIDTHS, Document, Record, natural

EXTENSION = "KHR_draco_mesh_compression"
MAX_VERTICES = 60_000_000


def unpack_meshes(doc: Document) -> None:
    """Replace every packed mesh by plain arrays."""
    packed = [
        (primitive, primitive["extensions"].pop(EXTENSION))
        for mesh in doc.items("meshes")
        for primitive in mesh.get("primitives", [])
        if isinstance(primitive, dict) and EXTENSION in primitive.get("extensions", {})
    ]
    if packed:
        require("DracoPy", "formats")
    decoded: dict[int, Any] = {}
    for primitive, settings in packed:
        if not primitive["extensions"]:
            del primitive["extensions"]
        view = natural(settings, "bufferView")
        if view not in decoded:
            decoded[view] = _decode(doc, view)
        _spread(doc, primitive, settings, decoded[view], view)
    for key in ("extensionsUsed", "extensionsRequired"):
        if key in doc.json:
            doc.json[key] = [name for name in doc.json[key] if name != EXTENSION]
            if not doc.json[key]:
                del doc.json[key]


def _decode(doc: Document, view: int) -> Any:
    import DracoPy

    try:
        return DracoPy.decode(doc.view_bytes(view))
    except Exception as error:  # the decoder has errors of many kinds
        raise doc.error(f"its Draco mesh in buffer view {view} cannot be unpacked ({error})") from error


def _spread(doc: Document, primitive: Record, settings: Record, mesh: Any, view: int) -> None:
    """Put the arrays of a decoded mesh under the accessors that stand for them."""
    for name, number in settings["attributes"].items():
        found = mesh.get_attribute_by_unique_id(natural({"id": number}, "id"))
        if found is None:
            raise doc.error(f"its Draco mesh in buffer view {view} lacks {name}")
        _store(doc, primitive["attributes"][name], np.asarray(found["data"]))
    faces = getattr(mesh, "faces", None)
    if faces is not None and "indices" in primitive:
        _store(doc, primitive["indices"], np.asarray(faces).reshape(-1, 1), view)


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
