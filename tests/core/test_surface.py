"""Pictures: which ones are allowed."""

import struct
import warnings
import zlib

import pytest

from neurok.core import Texture
from neurok.errors import FormatError


def png_header(width: int, height: int) -> bytes:
    """A picture of that size with nothing in it."""
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))  # noqa: E731
    size = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + chunk(b"IDAT", zlib.compress(b"\0")) + chunk(b"IEND", b"")


@pytest.mark.parametrize("side", [9_000, 10_000, 50_000])
def test_a_decompression_bomb_is_refused_in_one_sentence_and_without_a_warning(side):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(FormatError, match=r"at most 67108864 pixels are allowed\. Scale it down\.$"):
            Texture(png_header(side, side), name="bomb")
