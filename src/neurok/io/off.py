"""OFF and its coloured sister COFF.

The format knows neither unit nor up axis; files are read and written in metres with y up.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from neurok.core import Asset, Mesh
from neurok.errors import FormatError
from neurok.io.colors import linear_from_srgb, srgb_bytes
from neurok.io.files import Files, read_bytes
from neurok.io.polygons import triangulate
from neurok.io.text_rows import clean_text, float_rows, take_columns

_HEADER = re.compile(
    rb"(ST)?(C)?(N)?(4)?(n)?OFF(?![\w])( *BINARY)?[ \n]*(\d{1,15})[ \n]+(\d{1,15})( +\d{1,15}(?![^ \n]))?"
)


def read(path: Path) -> Asset:
    """Polygons, and the colours of vertices where the file has them."""
    text = clean_text(read_bytes(path)).lstrip(b"\n \xef\xbb\xbf")
    header = _HEADER.match(text)
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


def write(asset: Asset, path: Path) -> Files:
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
