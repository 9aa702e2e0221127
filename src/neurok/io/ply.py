"""PLY, ASCII or binary: colours, texture coordinates and part labels come along.

The format knows neither unit nor up axis; files are read and written in metres with y up. Names of parts and the
texture travel in comments (``comment part 0 lid``, ``comment TextureFile lid.png``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int

from neurok.core import Asset, Mesh, Surface
from neurok.errors import FormatError
from neurok.io.colors import linear_from_srgb, srgb_bytes
from neurok.io.files import Files, read_bytes
from neurok.io.mtl import SUFFIX_OF_MIME, Folder
from neurok.io.ply_elements import Lists, Table, read_tables
from neurok.io.polygons import split_corners, triangulate

_COLOR_NAMES = (("red", "green", "blue"), ("r", "g", "b"), ("diffuse_red", "diffuse_green", "diffuse_blue"))
_UV_NAMES = (("s", "t"), ("u", "v"), ("texture_u", "texture_v"), ("texture_s", "texture_t"))
_PART_NAMES = ("part_id", "part", "part_label", "label")


def read(path: Path) -> Asset:
    """Everything a PLY file says about one object."""
    tables, comments = read_tables(read_bytes(path), path)
    table = tables.get("vertex", {})
    xyz = [_column(table, name) for name in "xyz"]
    if any(column is None for column in xyz):
        raise FormatError(f"'{path}' has no vertices: it lacks the properties x, y and z of an element 'vertex'.")
    vertices = np.stack(xyz, axis=1).astype(np.float64)  # type: ignore[arg-type]
    face_table = tables.get("face", {})
    lists = next((v for k in ("vertex_indices", "vertex_index") if isinstance(v := face_table.get(k), Lists)), None)
    if lists is None:
        lists = Lists(np.zeros(0, dtype=np.int64), np.zeros(0))
    corners = _integers(lists.values)
    triangles, polygon = triangulate(lists.counts, corners, vertices)
    faces = corners[triangles]
    if len(faces) == 0 or faces.min() < 0 or faces.max() >= len(vertices):
        Mesh(vertices, faces, name=path.stem)  # raises, and hands the draft to the doctor
    face_parts, part_names = _parts(table, face_table, polygon, faces, comments)
    uv, corner_uv = _uv(table), _corner_uv(face_table, lists)
    codes = np.broadcast_to(face_parts[:, None], faces.shape)
    if corner_uv is not None:
        distinct, inverse = np.unique(corner_uv[triangles.reshape(-1)], axis=0, return_inverse=True)
        codes = codes + inverse.reshape(-1, 3) * max(1, len(part_names))
    source, faces, code = split_corners(faces, codes, len(vertices))
    if corner_uv is not None:
        uv = distinct[code // max(1, len(part_names))]
    elif uv is not None:
        uv = uv[source]
    colors = _colors(table, path)
    mesh = Mesh(
        vertices[source],
        faces,
        uv=uv,
        vertex_colors=None if colors is None else colors[source],
        part_ids=code % len(part_names) if part_names else None,
        part_names=part_names,
        surfaces=_surfaces(comments, path),
        name=path.stem,
    )
    dropped = int((lists.counts < 3).sum())
    return Asset(mesh, notes=(f"{dropped} faces with fewer than three corners were left out.",) if dropped else ())


def _column(table: Table, name: str) -> np.ndarray | None:
    column = table.get(name)
    return column if isinstance(column, np.ndarray) else None


def _columns(table: Table, choices: Iterable[tuple[str, ...]]) -> np.ndarray | None:
    """The first complete set of columns."""
    for names in choices:
        columns = [_column(table, name) for name in names]
        if all(column is not None for column in columns):
            return np.stack(columns, axis=1)  # type: ignore[arg-type]
    return None


def _integers(values: np.ndarray) -> Int[np.ndarray, " N"]:
    """Numbers as indices; what is no index becomes -1, which the mesh refuses."""
    if values.dtype.kind != "f":
        return values.astype(np.int64)
    good = np.abs(values) < 2.0**53
    return np.where(good, values, -1.0).astype(np.int64)


def _colors(table: Table, path: Path) -> Float[np.ndarray, "V 4"] | None:
    rgb = _columns(table, _COLOR_NAMES)
    if rgb is None:
        return None
    alpha = next((a for name in ("alpha", "a") if (a := _column(table, name)) is not None), None)
    rgba = rgb if alpha is None else np.concatenate([rgb, alpha[:, None].astype(rgb.dtype)], axis=1)
    if not np.isfinite(rgba).all():
        raise FormatError(f"'{path}' is damaged: some vertex colours are not finite.")
    if rgb.dtype.kind == "u":
        scale = float(np.iinfo(rgb.dtype).max)
    else:
        scale = 255.0 if rgba.max(initial=0.0) > 1.0 else 1.0
    return linear_from_srgb(rgba.astype(np.float64) / scale)


def _uv(table: Table) -> Float[np.ndarray, "V 2"] | None:
    uv = _columns(table, _UV_NAMES)
    return None if uv is None else uv.astype(np.float64)


def _corner_uv(face_table: Table, lists: Lists) -> Float[np.ndarray, "C 2"] | None:
    """Texture coordinates per corner, where the faces carry a list of them."""
    given = face_table.get("texcoord")
    if not isinstance(given, Lists) or not np.array_equal(given.counts, 2 * lists.counts):
        return None
    return given.values.astype(np.float64).reshape(-1, 2)


def _parts(
    table: Table,
    face_table: Table,
    polygon: Int[np.ndarray, " F"],
    faces: Int[np.ndarray, "F 3"],
    comments: tuple[str, ...],
) -> tuple[Int[np.ndarray, " F"], tuple[str, ...]]:
    """The part of each face from labels of faces or vertices; a face takes that of its first corner."""
    labels = None
    for name in _PART_NAMES:
        of_face, of_vertex = _column(face_table, name), _column(table, name)
        if of_face is not None:
            labels = _integers(of_face)[polygon]
        elif of_vertex is not None:
            labels = _integers(of_vertex)[faces[:, 0]]
        if labels is not None:
            break
    if labels is None:
        return np.zeros(len(faces), dtype=np.int64), ()
    matches = [m for comment in comments if (m := re.fullmatch(r"part (\d{1,9}) (.+)", comment))]
    names = {int(m[1]): m[2] for m in matches}
    values, inverse = np.unique(np.concatenate([labels, np.array(sorted(names), dtype=np.int64)]), return_inverse=True)
    return inverse.reshape(-1)[: len(labels)], tuple(names.get(int(v), f"part_{v}") for v in values)


def _surfaces(comments: tuple[str, ...], path: Path) -> tuple[Surface, ...]:
    for comment in comments:
        key, _, reference = comment.partition(" ")
        if key.lower() == "texturefile" and reference.strip():
            texture = Folder(path.parent, path.parent).texture(reference.strip())
            return (Surface("surface", (1.0, 1.0, 1.0, 1.0), texture=texture),)
    return ()


def write(asset: Asset, path: Path, picture_stem: str | None = None) -> Files:
    """The rest mesh as binary PLY with 64-bit positions; colours take 8 bits.

    One texture is written beside it; a mesh with several surfaces loses them (use OBJ or GLB).
    """
    mesh = asset.mesh.in_frame("y", 1.0)
    stem = re.sub(r"[\x00-\x1f]", "_", picture_stem or path.stem)
    texture = mesh.surfaces[0].texture if len(mesh.surfaces) == 1 else None
    picture = f"{stem}_texture{SUFFIX_OF_MIME.get(texture.mime, '.png')}" if texture else ""
    files = {path.name: _encode(mesh, picture)}
    return {**files, picture: texture.data} if texture else files


def _encode(mesh: Mesh, picture: str) -> bytes:
    fields: list[tuple[str, str, np.ndarray]] = [(n, "<f8", mesh.vertices[:, i]) for i, n in enumerate("xyz")]
    if mesh.vertex_colors is not None:
        rgba = srgb_bytes(mesh.vertex_colors)
        fields += [(n, "u1", rgba[:, i]) for i, n in enumerate(("red", "green", "blue", "alpha"))]
    if mesh.uv is not None:
        fields += [(n, "<f8", mesh.uv[:, i]) for i, n in enumerate("st")]
    if mesh.part_ids is not None:
        fields.append(("part_id", "<i4", mesh.part_ids))
    rows = np.zeros(mesh.vertex_count, dtype=[(name, kind) for name, kind, _ in fields])
    for name, _, column in fields:
        rows[name] = column
    faces = np.zeros(mesh.face_count, dtype=[("n", "u1"), ("v", "<i4", (3,))])
    faces["n"], faces["v"] = 3, mesh.faces
    kinds = {"<f8": "double", "u1": "uchar", "<i4": "int"}
    one_line = lambda text: re.sub(r"\s+", " ", text).strip() or "unnamed"  # noqa: E731
    lines = ["ply", "format binary_little_endian 1.0", "comment neurok: metres, y up"]
    lines += [f"comment TextureFile {picture}"] if picture else []
    lines += [f"comment part {i} {one_line(name)}" for i, name in enumerate(mesh.part_names)]
    lines += [f"element vertex {mesh.vertex_count}", *(f"property {kinds[kind]} {name}" for name, kind, _ in fields)]
    lines += [f"element face {mesh.face_count}", "property list uchar int vertex_indices", "end_header", ""]
    return "\n".join(lines).encode("utf-8", "replace") + rows.tobytes() + faces.tobytes()
