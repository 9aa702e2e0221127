"""The raw tables of a PLY file, before anyone asks what they mean."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Int

from neurok.errors import FormatError
from neurok.io.text_rows import decode_name, parse_numbers, word_starts

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
    source: _Text | _Binary
    source = _Text(data, header, path) if header.order == "ascii" else _Binary(data, header, path)
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


class _Text:
    """Rows of an ASCII body, a stream of numbers."""

    def __init__(self, data: bytes, header: Header, path: Path) -> None:
        body = data[header.size :]
        count = len(word_starts(np.frombuffer(body, dtype=np.uint8)))
        self.values = parse_numbers(body, count, float, path)
        self.at = 0
        self.path = path

    def table(self, element: Element) -> Table:
        width = len(element.properties)
        if element.count * width > len(self.values) - self.at:
            raise _truncated(self.path, element)
        if all(p.count_dtype is None for p in element.properties):
            rows = self._take(element.count, width)
            return {p.name: _typed(rows[:, i], p) for i, p in enumerate(element.properties)}
        return self._even_lists(element) or self._uneven_lists(element)

    def _take(self, count: int, width: int) -> np.ndarray:
        rows = self.values[self.at : self.at + count * width].reshape(count, width)
        self.at += count * width
        return rows

    def _even_lists(self, element: Element) -> Table | None:
        """The table, when every row has lists of the same lengths as the first."""
        if element.count == 0:
            return None
        at, spans = self.at, list[tuple[int, int]]()
        for p in element.properties:
            length = 1
            if p.count_dtype is not None:
                if at >= len(self.values) or not 0 <= self.values[at] < 1e9:
                    return None
                length = int(self.values[at]) + 1
            spans.append((at - self.at, length))
            at += length
        width = at - self.at
        if width * element.count > len(self.values) - self.at:
            return None
        rows = self.values[self.at : self.at + width * element.count].reshape(element.count, width)
        table: Table = {}
        for p, (start, length) in zip(element.properties, spans, strict=True):
            if p.count_dtype is None:
                table[p.name] = rows[:, start]
                continue
            if (rows[:, start] != length - 1).any():
                return None
            counts = np.full(element.count, length - 1, dtype=np.int64)
            table[p.name] = Lists(counts, rows[:, start + 1 : start + length].reshape(-1))
        self.at += width * element.count
        return table

    def _uneven_lists(self, element: Element) -> Table:
        values, at = self.values.tolist(), self.at
        columns: list[list[float]] = [[] for _ in element.properties]
        counts: list[list[int]] = [[] for _ in element.properties]
        try:
            for _ in range(element.count):
                for i, p in enumerate(element.properties):
                    length = 1
                    if p.count_dtype is not None:
                        length = int(values[at])
                        counts[i].append(length)
                        at += 1
                    if length < 0 or at + length > len(values):
                        raise _truncated(self.path, element)
                    columns[i] += values[at : at + length]
                    at += length
        except (IndexError, ValueError, OverflowError):
            raise _truncated(self.path, element) from None
        self.at = at
        return _as_table(element, columns, counts)


class _Binary:
    """Rows of a binary body of either byte order."""

    def __init__(self, data: bytes, header: Header, path: Path) -> None:
        self.data = data
        self.at = header.size
        self.order = header.order
        self.path = path

    def table(self, element: Element) -> Table:
        least = sum(int((p.count_dtype or p.dtype)[1]) for p in element.properties)
        if element.count * least > len(self.data) - self.at:
            raise _truncated(self.path, element)
        return self._even(element) or self._uneven(element)

    def _even(self, element: Element) -> Table | None:
        """The table, when every row has lists of the same lengths as the first (or none)."""
        if element.count == 0:
            return None
        lengths = self._first_lengths(element)
        if lengths is None:
            return None
        fields: list[tuple] = []
        for i, (p, length) in enumerate(zip(element.properties, lengths, strict=True)):
            if p.count_dtype is not None:
                fields.append((f"n{i}", self.order + p.count_dtype))
                fields.append((f"c{i}", self.order + p.dtype, (length,)))
            else:
                fields.append((f"c{i}", self.order + p.dtype))
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

    def _first_lengths(self, element: Element) -> list[int] | None:
        at, lengths = self.at, []
        for p in element.properties:
            length = 1
            if p.count_dtype is not None:
                code = self.order + _STRUCT_CODES[p.count_dtype]
                if at + struct.calcsize(code) > len(self.data):
                    return None
                length = struct.unpack_from(code, self.data, at)[0]
                at += struct.calcsize(code)
                if length < 0:
                    return None
            lengths.append(length)
            at += length * int(p.dtype[1])
            if at > len(self.data):
                return None
        return lengths

    def _uneven(self, element: Element) -> Table:
        data, at = self.data, self.at
        columns: list[list[float]] = [[] for _ in element.properties]
        counts: list[list[int]] = [[] for _ in element.properties]
        plan = [
            (i, self.order + _STRUCT_CODES[p.count_dtype] if p.count_dtype else "", _STRUCT_CODES[p.dtype])
            for i, p in enumerate(element.properties)
        ]
        try:
            for _ in range(element.count):
                for i, count_code, code in plan:
                    length = 1
                    if count_code:
                        length = struct.unpack_from(count_code, data, at)[0]
                        counts[i].append(length)
                        at += struct.calcsize(count_code)
                    if length < 0 or at + length > len(data):
                        raise _truncated(self.path, element)
                    columns[i] += struct.unpack_from(f"{self.order}{length}{code}", data, at)
                    at += struct.calcsize(f"{self.order}{length}{code}")
        except struct.error:
            raise _truncated(self.path, element) from None
        self.at = at
        return _as_table(element, columns, counts)


def _typed(column: np.ndarray, p: Property) -> np.ndarray:
    """A column of text back in its own type where that tells its scale (colours of one byte)."""
    fits = p.dtype == "u1" and ((column >= 0) & (column <= 255)).all()
    return column.astype(np.uint8) if fits else column


def _as_table(element: Element, columns: list[list[float]], counts: list[list[int]]) -> Table:
    table: Table = {}
    for p, column, lengths in zip(element.properties, columns, counts, strict=True):
        values = np.array(column, dtype=np.float64)
        table[p.name] = values if p.count_dtype is None else Lists(np.array(lengths, dtype=np.int64), values)
    return table
