"""STL, OFF and its coloured sister COFF.

The formats know neither unit nor up axis; files are read and written in metres with y up.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int

from neurok.core import Asset, Mesh
from neurok.errors import FormatError
from neurok.geometry.topology import row_ids
from neurok.io.files import Files, read_bytes
from neurok.io.parsing import clean_text, decode_name, float_rows, parse_numbers, take_columns, triangulate
from neurok.io.surfaces import linear_from_srgb, srgb_bytes

_RECORD = np.dtype([("normal", "<f4", (3,)), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_HEADER_BYTES = 84
_NUMBER = rb"[ \t\r\n]+([-+.\w]+)"
_ITEM = re.compile(rb"\bvertex" + _NUMBER * 3 + rb"|^[ \t]*(endsolid|solid)\b([^\r\n]*)", re.IGNORECASE | re.MULTILINE)


def read_stl(path: Path) -> Asset:
    """The triangles of an STL file; several solids become parts."""
    data = read_bytes(path)
    count = int.from_bytes(data[80:_HEADER_BYTES], "little") if len(data) >= _HEADER_BYTES else -1
    is_text = data[:512].lstrip()[:5].lower() == b"solid"
    if count >= 0 and len(data) == _HEADER_BYTES + _RECORD.itemsize * count:
        return Asset(_mesh(_binary_corners(data, count), None, (), path.stem))
    if is_text and b"\0" not in data[_HEADER_BYTES:1024]:
        return Asset(_read_text(data, path))
    if count > 0 and len(data) >= _HEADER_BYTES + _RECORD.itemsize * count:
        return Asset(
            _mesh(_binary_corners(data, count), None, (), path.stem),
            notes=("Bytes after the last triangle were left.",),
        )
    if len(data) > _HEADER_BYTES and b"\0" in data[:_HEADER_BYTES]:
        raise FormatError(f"'{path}' is cut off or damaged: it promises {count} triangles but is too short for them.")
    raise FormatError(f"'{path}' is not an STL file: it neither begins with 'solid' nor has the size of a binary one.")


def _binary_corners(data: bytes, count: int) -> Float[np.ndarray, "F 3 3"]:
    return np.frombuffer(data, dtype=_RECORD, count=count, offset=_HEADER_BYTES)["corners"]


def _read_text(data: bytes, path: Path) -> Mesh:
    words: list[bytes] = []
    names: list[str] = []
    starts: list[int] = []
    for item in _ITEM.finditer(data):
        if item[4] is None:
            words += item.group(1, 2, 3)
        elif item[4].lower() == b"solid":
            names.append(decode_name(item[5]) or f"solid_{len(names)}")
            starts.append(len(words) // 3)
    corners = parse_numbers(b" ".join(words), len(words), float, path)
    if not words:
        raise FormatError(f"'{path}' is not an STL file, or it has no triangles: no line begins with 'vertex'.")
    if len(corners) % 9 or not re.search(rb"endsolid", data[-4096:], re.IGNORECASE):
        raise FormatError(f"'{path}' is cut off or damaged: its last solid does not end.")
    if any(start % 3 for start in starts):
        raise FormatError(f"'{path}' is damaged: a solid ends within a triangle.")
    face_count = len(corners) // 9
    solids = np.searchsorted(np.array(starts) // 3, np.arange(face_count), side="right") - 1
    used, parts = np.unique(solids, return_inverse=True)
    kept = [names[i] if i >= 0 else "default" for i in used]
    if len(kept) == 1:
        return _mesh(corners.reshape(-1, 3, 3), None, (), path.stem)
    unique = tuple(name if kept.count(name) == 1 else f"{name}_{i}" for i, name in enumerate(kept))
    return _mesh(corners.reshape(-1, 3, 3), parts.reshape(-1), unique, path.stem)


def _mesh(
    corners: Float[np.ndarray, "F 3 3"], parts: Int[np.ndarray, " F"] | None, names: tuple[str, ...], name: str
) -> Mesh:
    points = corners.reshape(-1, 3).astype(np.float64) + 0.0  # so that -0 and 0 are one place
    labels = np.zeros(len(points), dtype=np.int64) if parts is None else np.repeat(parts, 3)
    first, inverse = weld(points, labels)
    part_ids = None if parts is None else labels[first]
    return Mesh(points[first], inverse.reshape(-1, 3), part_ids=part_ids, part_names=names, name=name)


def weld(
    points: Float[np.ndarray, "N 3"], labels: Int[np.ndarray, " N"]
) -> tuple[Int[np.ndarray, " V"], Int[np.ndarray, " N"]]:
    """Points of one label at one place become one: the first of each, and which one every point became.

    Vertices are numbered in the order in which they appear.
    """
    _, first, inverse = np.unique(row_ids(np.column_stack([points, labels])), return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.sort(first), rank[inverse.reshape(-1)]


def write_stl(asset: Asset, path: Path) -> Files:
    """The triangles of the rest mesh as binary STL (32-bit positions; colours, parts and textures are lost)."""
    mesh = asset.mesh.in_frame("y", 1.0)
    rows = np.zeros(mesh.face_count, dtype=_RECORD)
    with np.errstate(over="ignore", invalid="ignore"):
        corners = mesh.vertices[mesh.faces]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        lengths = np.linalg.norm(normals, axis=1, keepdims=True)
        rows["normal"] = np.where(np.isfinite(lengths) & (lengths > 0), normals / np.where(lengths > 0, lengths, 1), 0)
        rows["corners"] = corners
    if not np.isfinite(rows["corners"]).all():
        raise FormatError(f"The mesh '{mesh.name}' is too large for the 32-bit numbers of STL; scale it down.")
    header = b"neurok: metres, y up".ljust(80, b"\0") + mesh.face_count.to_bytes(4, "little")
    return {path.name: header + rows.tobytes()}


_OFF_HEADER = re.compile(
    rb"(ST)?(C)?(N)?(4)?(n)?OFF(?![\w])( *BINARY)?[ \n]*(\d{1,15})[ \n]+(\d{1,15})( +\d{1,15}(?![^ \n]))?"
)


def read_off(path: Path) -> Asset:
    """Polygons, and the colours of vertices where the file has them."""
    text = clean_text(read_bytes(path)).lstrip(b"\n \xef\xbb\xbf")
    header = _OFF_HEADER.match(text)
    if header is None:
        raise FormatError(f"'{path}' is not an OFF file: it does not begin with 'OFF' and its counts.")
    if header[4] or header[5] or header[6]:
        raise FormatError(f"'{path}' is an OFF file of a kind that is not read; save it as plain text OFF in 3D.")
    vertex_count, face_count = int(header[7]), int(header[8])
    body = np.frombuffer(text[header.end() :].lstrip(b" \n") or b"\n", dtype=np.uint8)
    if vertex_count + face_count > len(body):
        raise FormatError(f"'{path}' is cut off: it promises {vertex_count} vertices and {face_count} faces.")
    values, counts = float_rows(body, path)
    counts = counts[counts > 0]
    if len(counts) < vertex_count + face_count:
        raise FormatError(
            f"'{path}' is cut off: it promises {vertex_count} vertices and {face_count} faces in {len(counts)} lines."
        )
    split = int(counts[:vertex_count].sum())
    row_counts = counts[:vertex_count]
    vertices, has = take_columns(values[:split], row_counts, 0, 3)
    if not has.all():
        raise FormatError(f"'{path}' is damaged: {int((~has).sum())} vertices have fewer than three coordinates.")
    colors = _colors(values[:split], row_counts, 6 if header[3] else 3, bool(header[2]))
    polygon_sizes, corners = _polygons(values[split:], counts[vertex_count : vertex_count + face_count], path)
    triangles, _ = triangulate(polygon_sizes, corners, vertices)
    mesh = Mesh(vertices, corners[triangles], vertex_colors=colors, name=path.stem)
    dropped = int((polygon_sizes < 3).sum())
    return Asset(mesh, notes=(f"{dropped} faces with fewer than three corners were left out.",) if dropped else ())


def _colors(values: np.ndarray, counts: np.ndarray, first: int, promised: bool) -> np.ndarray | None:
    """Colours behind the coordinates (and normals); many files have them without saying so."""
    if len(counts) == 0 or not (promised or first == 3):
        return None
    for width in (4, 3):
        rgba, has = take_columns(values, counts, first, width)
        if has.all() and np.isfinite(rgba).all() and rgba.min() >= 0:
            return linear_from_srgb(rgba / 255.0 if rgba.max() > 1.0 else rgba)
    return None


def _polygons(values: np.ndarray, counts: np.ndarray, path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Size and corners of each polygon; what follows the corners is its colour and is left out."""
    offsets = np.cumsum(counts) - counts
    promised = values[offsets] if len(counts) else np.zeros(0)
    if not ((promised >= 0) & (promised < counts)).all():
        raise FormatError(f"'{path}' is damaged: a face has fewer corners than it promises.")
    sizes = promised.astype(np.int64)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    step = np.arange(len(owner)) - (np.cumsum(sizes) - sizes)[owner]
    corners = values[offsets[owner] + 1 + step]
    return sizes, np.where(np.abs(corners) < 2.0**53, corners, -1.0).astype(np.int64)


def write_off(asset: Asset, path: Path) -> Files:
    """The rest mesh as OFF, or COFF with 8-bit colours when it has any (parts and textures are lost)."""
    mesh = asset.mesh.in_frame("y", 1.0)
    rows = [f"{x!r} {y!r} {z!r}" for x, y, z in mesh.vertices.tolist()]
    kind = "OFF"
    if mesh.vertex_colors is not None:
        kind = "COFF"
        colors = srgb_bytes(mesh.vertex_colors).tolist()
        rows = [f"{row} {r} {g} {b} {a}" for row, (r, g, b, a) in zip(rows, colors, strict=True)]
    faces = [f"3 {a} {b} {c}" for a, b, c in mesh.faces.tolist()]
    head = [kind, f"{mesh.vertex_count} {mesh.face_count} 0"]
    return {path.name: ("\n".join([*head, *rows, *faces]) + "\n").encode()}
