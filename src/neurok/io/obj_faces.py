"""Faces, groups and materials of an OBJ file, before they become a mesh."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from jaxtyping import Int

from neurok.core import Surface
from neurok.io.files import read_bytes
from neurok.io.mtl import Folder, read_library
from neurok.io.text_rows import TextLines, decode_name, parse_numbers, word_starts, words_per_line


@dataclass(frozen=True, eq=False)
class Corners:
    """The corners of all polygons, one polygon after the other."""

    counts: Int[np.ndarray, " P"]
    vertex: Int[np.ndarray, " C"]
    uv: Int[np.ndarray, " C"]
    """-1 where a corner has none."""


def read_corners(
    lines: TextLines,
    is_face: np.ndarray,
    vertices_before: Int[np.ndarray, " P"],
    uvs_before: Int[np.ndarray, " P"],
    path: Path,
) -> Corners:
    """Face lines in any of the forms ``a``, ``a/b``, ``a//c``, ``a/b/c``, counted from 1 or back from the line."""
    text = lines.pick(is_face, 1)
    counts = words_per_line(text)
    raw = text.tobytes()
    if b"//" in raw or b"/ " in raw or b"/\n" in raw:
        raw = re.sub(rb"/(?=[/ \n])", b"/0", raw)
        text = np.frombuffer(raw, dtype=np.uint8)
    slashes_before = np.searchsorted(np.flatnonzero(text == ord("/")), np.append(word_starts(text), len(text)))
    fields = np.diff(slashes_before) + 1
    values = parse_numbers(raw.replace(b"/", b" "), int(fields.sum()), np.int64, path)
    offsets = np.cumsum(fields) - fields
    line = np.repeat(np.arange(len(counts)), counts)
    vertex = _absolute(values[offsets], vertices_before[line])
    uv = np.full(len(offsets), -1, dtype=np.int64)
    has_uv = fields > 1
    given = values[offsets[has_uv] + 1]
    uv[has_uv] = np.where(given == 0, -1, np.maximum(_absolute(given, uvs_before[line[has_uv]]), -1))
    return Corners(counts, vertex, uv)


def _absolute(index: Int[np.ndarray, " C"], before: Int[np.ndarray, " C"]) -> Int[np.ndarray, " C"]:
    """Counted from 0; a negative index counts back from the lines before the face."""
    return np.where(index < 0, before + index, index - 1)


@dataclass(frozen=True, eq=False)
class Groups:
    """Which object, group and material each stretch of faces belongs to."""

    starts: Int[np.ndarray, " S"]
    """First polygon of each stretch."""

    labels: list[tuple[str, str, str]]
    """Object, group and material of each stretch."""

    library: dict[str, Surface]
    notes: tuple[str, ...]

    @staticmethod
    def of(lines: TextLines, faces_before: Int[np.ndarray, " L"], folder: Folder) -> Groups:
        """Walk the few lines that are neither numbers nor faces."""
        wanted = np.zeros(len(lines.starts), dtype=bool)
        for word in (b"o", b"g", b"usemtl", b"mtllib"):
            wanted |= lines.begin_with(word)
        starts, labels, library, notes = [0], [("", "", "")], dict[str, Surface](), list[str]()
        for number in np.flatnonzero(wanted):
            key, _, rest = decode_name(lines.line(int(number))).partition(" ")
            rest = rest.strip()
            if key == "mtllib":
                found, missing = _libraries(rest, folder)
                library |= found
                notes += missing
                continue
            old = labels[-1]
            # An object begins its own groups.
            new = {"o": (rest, "", old[2]), "g": (old[0], rest, old[2]), "usemtl": (old[0], old[1], rest)}[key]
            starts.append(int(faces_before[number]))
            labels.append(new)
        return Groups(np.array(starts), labels, library, tuple(notes))

    @property
    def object_name(self) -> str:
        """The object's name, when there is exactly one."""
        names = {label[0] for label in self.labels if label[0]}
        return names.pop() if len(names) == 1 else ""

    def _spread(self, of_stretch: list[int], count: int) -> Int[np.ndarray, " P"]:
        """A number per stretch to a number per polygon."""
        return np.repeat(of_stretch, np.diff(np.append(self.starts, count)))

    def parts(self, count: int) -> tuple[Int[np.ndarray, " P"], tuple[str, ...]]:
        """The part of each polygon; no names when all belong together."""
        numbers: dict[str, int] = {}
        many_objects = not self.object_name
        of_stretch = []
        for thing, group, _ in self.labels:
            name = "/".join(filter(None, (thing if many_objects else "", group))) or thing or "default"
            of_stretch.append(numbers.setdefault(name, len(numbers)))
        parts = self._spread(of_stretch, count)
        used, compact = np.unique(parts, return_inverse=True)
        names = [list(numbers)[i] for i in used]
        labelled = len(names) > 1 or any(group for _, group, _ in self.labels)
        return (compact.reshape(-1), tuple(names)) if labelled else (np.zeros_like(parts), ())

    def surfaces(self, count: int) -> tuple[tuple[Surface, ...], Int[np.ndarray, " P"]]:
        """The surfaces in use, in the order of the library, and the one of each polygon."""
        order = {name: i for i, name in enumerate(self.library)}
        names = [material for _, _, material in self.labels]
        of_stretch = [order.setdefault(name, len(order)) for name in names]
        used, compact = np.unique(self._spread(of_stretch, count), return_inverse=True)
        chosen = [list(order)[i] for i in used]
        if chosen == [""]:
            return (), np.zeros(count, dtype=np.int64)
        return tuple(self.library.get(name, Surface(name or "default")) for name in chosen), compact.reshape(-1)


def _libraries(rest: str, folder: Folder) -> tuple[dict[str, Surface], list[str]]:
    """Surfaces of the libraries a ``mtllib`` line names; the whole rest may be one name with blanks."""
    whole = folder.resolve(rest) if rest else None
    targets = [(rest, whole)] if whole and whole.is_file() else [(word, folder.resolve(word)) for word in rest.split()]
    surfaces: dict[str, Surface] = {}
    missing = []
    for name, target in targets:
        if not target.is_file():
            missing.append(f"The material library '{name}' is missing, so its materials are plain grey.")
        elif target.stat().st_size:
            surfaces |= read_library(read_bytes(target), replace(folder, here=target.parent))
    return surfaces, missing
