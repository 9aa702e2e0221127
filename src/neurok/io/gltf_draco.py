"""Meshes of glTF packed by KHR_draco_mesh_compression, taken apart by Google's decoder (``DracoPy``)."""

from __future__ import annotations

import numpy as np

from neurok.errors import require
from neurok.io.gltf_document import COMPONENTS, WIDTHS, Document, Record, natural
from neurok.sandbox import SANDBOX, Ended, Limits

EXTENSION = "KHR_draco_mesh_compression"
MAX_VERTICES = 60_000_000
DRACO_MEMORY = 2 * 1024**3
"""What a packed mesh may take while it is unpacked, beside 512 times its size [bytes]."""


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
    decoded: dict[int, tuple[np.ndarray, dict[int, np.ndarray]]] = {}
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


def _decode(doc: Document, view: int) -> tuple[np.ndarray, dict[int, np.ndarray]]:
    """Faces and attributes of a packed mesh, unpacked in the sandbox: few bytes may ask for any amount of memory."""
    data = np.frombuffer(doc.view_bytes(view), np.uint8)
    limits = Limits(cpu=60.0, memory=DRACO_MEMORY + 512 * len(data))
    try:
        faces, ids, *values = SANDBOX.call(f"{__name__}:decode_draco", data, limits=limits, preload=("DracoPy",))
    except Ended as end:
        raise doc.error(f"its Draco mesh in buffer view {view} cannot be unpacked ({end.text})") from None
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
