"""Buffer views of glTF packed by EXT_meshopt_compression, taken apart by a decoder of our own."""

from __future__ import annotations

import numpy as np

from neurok.io.gltf_document import Document, Record, natural

EXTENSIONS = ("EXT_meshopt_compression", "KHR_meshopt_compression")
MAX_UNPACKED = 2 * 1024**3
"""Bytes that all views of a file may unpack to."""

MAX_GAIN = 1000
"""A view that claims to unpack to more times its size than this is refused."""


def unpack_views(doc: Document) -> None:
    """Replace every packed view by what it holds."""
    total = 0
    for index, view in enumerate(doc.items("bufferViews")):
        extensions = view.get("extensions", {})
        name = next((name for name in EXTENSIONS if name in extensions), None)
        if name is None:
            continue
        packed = extensions.pop(name)
        if not extensions:
            del view["extensions"]
        size = natural(packed, "count") * natural(packed, "byteStride")
        total += size
        if total > MAX_UNPACKED or size > MAX_GAIN * max(natural(packed, "byteLength"), 1024):
            raise doc.error(f"buffer view {index} unpacks to {size:,} bytes, which is too much")
        data = _unpacked(doc, packed, index)
        if len(data) < natural(view, "byteLength"):
            raise doc.error(f"buffer view {index} holds {len(data)} of {view['byteLength']} bytes")
        view |= {"buffer": doc.add_buffer(data), "byteOffset": 0, "byteLength": len(data)}
    for key in ("extensionsUsed", "extensionsRequired"):
        if key in doc.json:
            doc.json[key] = [name for name in doc.json[key] if name not in EXTENSIONS]
            if not doc.json[key]:
                del doc.json[key]


def _unpacked(doc: Document, packed: Record, index: int) -> bytes:
    from neurok.compiled import meshopt

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
