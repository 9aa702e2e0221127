"""Lines of numbers in text files, read as whole arrays instead of line by line."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.errors import FormatError

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
