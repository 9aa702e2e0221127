"""What readers of meshes share: lines of numbers as whole arrays, polygons to triangles, corners to vertices."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.errors import FormatError
from neurok.geometry.lie import across

_BLANKS = bytes(ord(" ") if code < ord(" ") and code != ord("\n") else code for code in range(256))
_NEWLINE, _SPACE = ord("\n"), ord(" ")


def decode_name(raw: bytes) -> str:
    """A name in a text file: UTF-8, else Latin-1, which never fails."""
    try:
        return raw.decode("utf-8").strip()
    except UnicodeDecodeError:
        return raw.decode("latin-1").strip()


def clean_text(data: bytes) -> bytes:
    """The text with plain newlines and blanks, without comments, continuations and leading blanks."""
    if b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    data = b"\n" + data.translate(_BLANKS) + b"\n"
    if b"\\" in data:
        data = re.sub(rb"\\ *\n", b" ", data) + b"\n"  # the last newline may have been continued
    if b"#" in data:
        data = re.sub(rb".#[^\n]*", _without_comment, data, flags=re.DOTALL)
    if b"\n " in data:
        data = re.sub(rb"\n +", b"\n", data)
    return data[1:]


def _without_comment(found: re.Match[bytes]) -> bytes:
    """A sign within a word (``mesh#1``) begins no comment."""
    return re.sub(rb"([ \n])#.*", rb"\1", found[0])


@dataclass(frozen=True, eq=False)
class TextLines:
    """A cleaned text cut into lines, so that a kind of line can be picked out with a mask."""

    bytes_: Int[np.ndarray, " N"]
    starts: Int[np.ndarray, " L"]
    lengths: Int[np.ndarray, " L"]

    @staticmethod
    def of(text: bytes) -> TextLines:
        """The lines of ``text``, which ends with a newline."""
        array = np.frombuffer(text, dtype=np.uint8)
        ends = np.flatnonzero(array == _NEWLINE) + 1
        starts = np.concatenate([[0], ends[:-1]]) if len(ends) else ends
        return TextLines(array, starts, ends - starts)

    def begin_with(self, word: bytes) -> Bool[np.ndarray, " L"]:
        """Which lines have ``word`` as their first word."""
        mask = self.lengths > len(word)
        for offset, letter in enumerate(word):
            mask[mask] = self.bytes_[self.starts[mask] + offset] == letter
        mask[mask] = self.bytes_[self.starts[mask] + len(word)] <= _SPACE
        return mask

    def line(self, number: int) -> bytes:
        """The bytes of one line."""
        start = self.starts[number]
        return self.bytes_[start : start + self.lengths[number]].tobytes()

    def pick(self, mask: Bool[np.ndarray, " L"], skip: int) -> np.ndarray:
        """The bytes of the chosen lines, their first ``skip`` letters blanked."""
        picked = self.bytes_[np.repeat(mask, self.lengths)].copy()
        starts = np.cumsum(self.lengths[mask]) - self.lengths[mask]
        for offset in range(skip):
            picked[starts + offset] = _SPACE
        return picked


def word_starts(text: np.ndarray) -> Int[np.ndarray, " W"]:
    """Where in the bytes the words begin."""
    solid = text > _SPACE
    begins = solid.copy()
    begins[1:] &= ~solid[:-1]
    return np.flatnonzero(begins)


def words_per_line(text: np.ndarray) -> Int[np.ndarray, " L"]:
    """The number of words in each line of the bytes, the last of which is a newline."""
    seen = np.searchsorted(word_starts(text), np.flatnonzero(text == _NEWLINE))
    return np.diff(seen, prepend=0)


def parse_numbers(text: bytes, count: int, dtype: type, path: Path) -> np.ndarray:
    """Exactly ``count`` numbers separated by blanks."""
    if count == 0:
        return np.zeros(0, dtype=dtype)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            values: np.ndarray = np.fromstring(text, dtype=dtype, sep=" ")
    except (ValueError, DeprecationWarning):
        values = np.zeros(0, dtype=dtype)
    if len(values) != count:
        raise FormatError(f"'{path}' is damaged: it has text where a number is expected.")
    return values


def float_rows(text: np.ndarray, path: Path) -> tuple[Float[np.ndarray, " N"], Int[np.ndarray, " L"]]:
    """All numbers of the lines and how many each line has."""
    counts = words_per_line(text)
    return parse_numbers(text.tobytes(), int(counts.sum()), float, path), counts


def take_columns(
    values: Float[np.ndarray, " N"], counts: Int[np.ndarray, " L"], first: int, width: int
) -> tuple[Float[np.ndarray, "L W"], Bool[np.ndarray, " L"]]:
    """Columns ``first .. first + width`` of rows of unequal length, and which rows have them (others are zero)."""
    has = counts >= first + width
    out = np.zeros((len(counts), width))
    offsets = np.cumsum(counts) - counts
    out[has] = values[offsets[has, None] + np.arange(first, first + width)]
    return out, has


def triangulate(
    counts: Int[np.ndarray, " P"], corners: Int[np.ndarray, " C"], vertices: Float[np.ndarray, "V 3"]
) -> tuple[Int[np.ndarray, "F 3"], Int[np.ndarray, " F"]]:
    """Cut polygons into triangles: a fan where the polygon is convex, ears where it is not.

    Args:
        counts: Number of corners of each polygon; those with fewer than three vanish.
        corners: The vertex of every corner, one polygon after the other.
        vertices: Positions, which decide where a polygon is concave.

    Returns:
        Triangles as positions in ``corners`` (so that any per-corner array can be indexed) and the polygon of each.
    """
    offsets = np.cumsum(counts) - counts
    triangle_counts = np.maximum(counts - 2, 0)
    owner = np.repeat(np.arange(len(counts)), triangle_counts)
    step = np.arange(len(owner)) - (np.cumsum(triangle_counts) - triangle_counts)[owner]
    triangles = np.stack([offsets[owner], offsets[owner] + step + 1, offsets[owner] + step + 2], axis=1)
    in_range = len(corners) == 0 or (corners.min() >= 0 and corners.max() < len(vertices))
    if in_range and len(counts) and counts.max() > 3:
        first = np.cumsum(triangle_counts) - triangle_counts
        for polygon in _concave(counts, offsets, corners, vertices):
            start, size = offsets[polygon], counts[polygon]
            ears = _ears(vertices[corners[start : start + size]])
            if len(ears) == size - 2:
                triangles[first[polygon] : first[polygon] + size - 2] = ears + start
    return triangles, owner


def _concave(
    counts: Int[np.ndarray, " P"],
    offsets: Int[np.ndarray, " P"],
    corners: Int[np.ndarray, " C"],
    vertices: Float[np.ndarray, "V 3"],
) -> Int[np.ndarray, " N"]:
    """Polygons of more than three corners, one of which turns the other way."""
    big = np.flatnonzero(counts > 3)
    size, start = counts[big], offsets[big]
    owner = np.repeat(np.arange(len(big)), size)
    k = np.arange(len(owner)) - (np.cumsum(size) - size)[owner]
    at = lambda shift: vertices[corners[start[owner] + (k + shift) % size[owner]]]  # noqa: E731
    with np.errstate(all="ignore"):
        here = at(0)
        turns = np.cross(here - at(-1), at(1) - here)
        normal = np.stack([np.bincount(owner, turns[:, i], minlength=len(big)) for i in range(3)], axis=1)
        along = np.einsum("ci,ci->c", turns, normal[owner])
        scale = (normal**2).sum(axis=1)[owner]
        return big[np.unique(owner[along < -1e-9 * scale])]


def _ears(points: Float[np.ndarray, "N 3"]) -> Int[np.ndarray, "M 3"]:
    """Triangles of one simple polygon, seen along its own normal; nothing when it has none."""
    from manifold3d import triangulate as cut

    normal = np.cross(points, np.roll(points, -1, axis=0)).sum(axis=0)
    length = np.linalg.norm(normal)
    if not (np.isfinite(length) and length > 0):
        return np.zeros((0, 3), dtype=np.int64)
    normal = normal / length
    flat = (points - points.mean(axis=0)) @ np.stack(across(normal), axis=1)
    return np.asarray(cut([flat]), dtype=np.int64).reshape(-1, 3)


def split_corners(
    faces: Int[np.ndarray, "F 3"], codes: Int[np.ndarray, "F 3"], vertex_count: int
) -> tuple[Int[np.ndarray, " W"], Int[np.ndarray, "F 3"], Int[np.ndarray, " W"]]:
    """Copy vertices only where their corners disagree.

    Args:
        faces: Vertex of each corner.
        codes: What else the corner says (a number for its uv, its part ...), zero or larger.
        vertex_count: Number of vertices, the unreferenced ones included.

    Returns:
        The old index of each new vertex, the new faces, and the code of each new vertex (0 where no face uses it).
        Old vertices keep their number; the copies follow them.
    """
    vertex, code = faces.reshape(-1), codes.reshape(-1)
    kept = np.full(vertex_count, -1, dtype=np.int64)
    kept[vertex[::-1]] = code[::-1]
    stray = code != kept[vertex]
    kept = np.maximum(kept, 0)
    if not stray.any():
        return np.arange(vertex_count), faces, kept
    pairs, inverse = np.unique(np.stack([vertex[stray], code[stray]], axis=1), axis=0, return_inverse=True)
    new = vertex.copy()
    new[stray] = vertex_count + inverse.reshape(-1)
    return (
        np.concatenate([np.arange(vertex_count), pairs[:, 0]]),
        new.reshape(-1, 3),
        np.concatenate([kept, pairs[:, 1]]),
    )
