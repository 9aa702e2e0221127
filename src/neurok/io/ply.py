"""PLY, ASCII or binary: colours, texture coordinates and part labels come along.

The format knows neither unit nor up axis; files are read and written in metres with y up. Names of parts and the
texture travel in comments (``comment part 0 lid``, ``comment TextureFile lid.png``).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int

from neurok.core import Asset, Mesh, Surface
from neurok.errors import FormatError
from neurok.io.files import Files, read_bytes
from neurok.io.parsing import decode_name, parse_numbers, split_corners, triangulate, word_starts
from neurok.io.surfaces import SUFFIX_OF_MIME, Folder, linear_from_srgb, srgb_bytes

_TYPES = {
    "char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "float": "f4",
    "double": "f8", "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4", "uint32": "u4",
    "float32": "f4", "float64": "f8",
}  # fmt: skip
_STRUCT_CODES = {"i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "f4": "f", "f8": "d"}
MAX_HEADER_BYTES = 1 << 20


@dataclass(frozen=True)
class Property:
    """One column of an element; a list when it has a type for its length."""

    name: str
    dtype: str
    count_dtype: str | None = None


@dataclass(frozen=True)
class Element:
    """One table of the header."""

    name: str
    count: int
    properties: tuple[Property, ...]


@dataclass(frozen=True, eq=False)
class Lists:
    """A column of lists: how long each is, and all values one after the other."""

    counts: Int[np.ndarray, " R"]
    values: np.ndarray


Table = dict[str, "np.ndarray | Lists"]


@dataclass(frozen=True)
class Header:
    """What the first lines say."""

    order: str
    """``ascii``, ``<`` or ``>``."""

    elements: tuple[Element, ...]
    comments: tuple[str, ...]
    size: int
    """Where the numbers begin."""


def read_tables(data: bytes, path: Path) -> tuple[dict[str, Table], tuple[str, ...]]:
    """All tables by name, and the comments."""
    header = _read_header(data, path)
    source = _Body(data, header, path)
    tables: dict[str, Table] = {}
    for element in header.elements:
        names = [p.name for p in element.properties]
        if len(set(names)) != len(names):
            raise FormatError(f"'{path}' is damaged: element '{element.name}' has two properties of one name.")
        if element.name in tables:
            raise FormatError(f"'{path}' is damaged: there are two elements '{element.name}'.")
        tables[element.name] = source.table(element) if element.properties else {}
    return tables, header.comments


def _read_header(data: bytes, path: Path) -> Header:
    end = re.search(rb"end_header[ \t]*(\r\n|\n|\r)", data[:MAX_HEADER_BYTES])
    if not data.startswith(b"ply") or end is None:
        raise FormatError(f"'{path}' is not a PLY file: it lacks 'ply' and 'end_header'.")
    order, elements, comments = "", list[Element](), list[str]()
    for line in re.split(r"\r\n|\n|\r", decode_name(data[: end.start()]))[1:]:
        words = line.split()
        match words:
            case ["format", "ascii" | "binary_little_endian" | "binary_big_endian" as kind, *_]:
                order = {"a": "ascii", "l": "<", "b": ">"}[kind.removeprefix("binary_")[0]]
            case ["comment" | "obj_info", *_]:
                comments.append(line.strip().partition(" ")[2].strip())
            case ["element", name, count] if count.isascii() and count.isdigit() and len(count) < 16:
                elements.append(Element(name, int(count), ()))
            case ["property", "list", count_type, item_type, name] if {count_type, item_type} <= _TYPES.keys():
                if not elements or _TYPES[count_type][0] == "f":
                    raise FormatError(f"'{path}' is damaged: '{line.strip()}' cannot be read.")
                _add(elements, Property(name, _TYPES[item_type], _TYPES[count_type]))
            case ["property", kind, name] if kind in _TYPES and elements:
                _add(elements, Property(name, _TYPES[kind]))
            case []:
                continue
            case _:
                raise FormatError(f"'{path}' is damaged: its header has the line '{line.strip()[:80]}'.")
    if not order:
        raise FormatError(f"'{path}' is damaged: its header has no format line.")
    return Header(order, tuple(elements), tuple(comments), end.end())


def _add(elements: list[Element], column: Property) -> None:
    last = elements[-1]
    elements[-1] = Element(last.name, last.count, (*last.properties, column))


def _truncated(path: Path, element: Element) -> FormatError:
    return FormatError(f"'{path}' is cut off or damaged: it ends before its {element.count} '{element.name}' rows do.")


class _Body:
    """Rows of the body: binary of either byte order, or text, whose numbers are taken for doubles."""

    def __init__(self, data: bytes, header: Header, path: Path) -> None:
        self.data, self.at, self.order, self.path = data, header.size, header.order, path
        self.is_text = header.order == "ascii"
        if self.is_text:
            body = data[header.size :]
            count = len(word_starts(np.frombuffer(body, dtype=np.uint8)))
            self.data, self.at, self.order = parse_numbers(body, count, float, path).tobytes(), 0, "="

    def table(self, element: Element) -> Table:
        stored = [self._stored(p) for p in element.properties]
        least = sum(int((count or kind)[1]) for kind, count in stored)
        if element.count * least > len(self.data) - self.at:
            raise _truncated(self.path, element)
        table = self._even(element, stored) or self._uneven(element, stored)
        if self.is_text:
            table |= {p.name: _typed(c, p) for p in element.properties if isinstance(c := table[p.name], np.ndarray)}
        return table

    def _stored(self, p: Property) -> tuple[str, str | None]:
        """In which types a column and the lengths of its lists are stored."""
        return ("f8", p.count_dtype and "f8") if self.is_text else (p.dtype, p.count_dtype)

    def _even(self, element: Element, stored: list[tuple[str, str | None]]) -> Table | None:
        """The table, when every row has lists of the same lengths as the first (or none)."""
        lengths = self._first_lengths(stored) if element.count else None
        if lengths is None:
            return None
        fields: list[tuple] = []
        for i, ((kind, count), length) in enumerate(zip(stored, lengths, strict=True)):
            fields += [(f"c{i}", self.order + kind)] if count is None else [
                (f"n{i}", self.order + count), (f"c{i}", self.order + kind, (length,))
            ]  # fmt: skip
        try:
            dtype = np.dtype(fields)
        except ValueError:
            return None
        if dtype.itemsize * element.count > len(self.data) - self.at:
            return None
        rows = np.frombuffer(self.data, dtype=dtype, count=element.count, offset=self.at)
        table: Table = {}
        for i, (p, length) in enumerate(zip(element.properties, lengths, strict=True)):
            if p.count_dtype is None:
                table[p.name] = rows[f"c{i}"]
                continue
            if (rows[f"n{i}"] != length).any():
                return None
            table[p.name] = Lists(np.full(element.count, length, dtype=np.int64), rows[f"c{i}"].reshape(-1))
        self.at += dtype.itemsize * element.count
        return table

    def _first_lengths(self, stored: list[tuple[str, str | None]]) -> list[int] | None:
        at, lengths = self.at, []
        for kind, count in stored:
            length = 1
            if count is not None:
                if at + int(count[1]) > len(self.data):
                    return None
                said = struct.unpack_from(self.order + _STRUCT_CODES[count], self.data, at)[0]
                if not 0 <= said <= len(self.data):
                    return None
                length, at = int(said), at + int(count[1])
            lengths.append(length)
            at += length * int(kind[1])
            if at > len(self.data):
                return None
        return lengths

    def _uneven(self, element: Element, stored: list[tuple[str, str | None]]) -> Table:
        data, at = self.data, self.at
        columns: list[list[float]] = [[] for _ in stored]
        counts: list[list[int]] = [[] for _ in stored]
        try:
            for _ in range(element.count):
                for i, (kind, count) in enumerate(stored):
                    length = 1
                    if count is not None:
                        length = int(struct.unpack_from(self.order + _STRUCT_CODES[count], data, at)[0])
                        counts[i].append(length)
                        at += int(count[1])
                    if length < 0 or at + length > len(data):
                        raise _truncated(self.path, element)
                    columns[i] += struct.unpack_from(f"{self.order}{length}{_STRUCT_CODES[kind]}", data, at)
                    at += length * int(kind[1])
        except (struct.error, ValueError, OverflowError):
            raise _truncated(self.path, element) from None
        self.at = at
        table: Table = {}
        for p, column, lengths in zip(element.properties, columns, counts, strict=True):
            values = np.array(column, dtype=np.float64)
            table[p.name] = values if p.count_dtype is None else Lists(np.array(lengths, dtype=np.int64), values)
        return table


def _typed(column: np.ndarray, p: Property) -> np.ndarray:
    """A column of text back in its own type where that tells its scale (colours of one byte)."""
    fits = p.dtype == "u1" and ((column >= 0) & (column <= 255)).all()
    return column.astype(np.uint8) if fits else column


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
