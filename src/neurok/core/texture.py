"""A picture in its encoded form."""

from __future__ import annotations

import io
import struct
import warnings
from dataclasses import dataclass, field

import numpy as np

from neurok.errors import FormatError

MAX_TEXTURE_PIXELS = 8192 * 8192
"""Larger pictures are refused before they are decoded."""

KTX2 = "image/ktx2"
SIGNATURES = {b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg", b"\xabKTX 20\xbb": KTX2}
"""First bytes of each kind of picture; WebP has its name at the ninth."""


def mime_of(data: bytes) -> str | None:
    """The kind of an encoded picture; none when no texture may be of it."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((mime for signature, mime in SIGNATURES.items() if data.startswith(signature)), None)


@dataclass(frozen=True)
class Texture:
    """A picture, kept in its encoded form so that files pass through unchanged."""

    data: bytes = field(repr=False)
    """The encoded file."""

    mime: str = "image/png"
    """``image/png``, ``image/jpeg``, ``image/webp`` or ``image/ktx2``."""

    name: str = "texture"

    def __post_init__(self) -> None:
        width, height = self._ktx2_size() if self.mime == KTX2 else self._open().size
        if width * height > MAX_TEXTURE_PIXELS:
            raise self._too_large(f"has {width}x{height} pixels")

    def _open(self):  # type: ignore[no-untyped-def]
        from PIL import Image

        try:
            with warnings.catch_warnings():
                # Pillow warns of pictures that we refuse, or that we allow.
                warnings.simplefilter("ignore", Image.DecompressionBombWarning)
                return Image.open(io.BytesIO(self.data))
        except Image.DecompressionBombError:
            raise self._too_large("is far too large") from None
        except Exception as error:
            raise FormatError(f"Texture '{self.name}' is not a picture that can be read: {error}.") from error

    def _ktx2_size(self) -> tuple[int, int]:
        """Width and height that the header of a KTX2 picture tells."""
        if len(self.data) < 80 or mime_of(self.data) != KTX2:
            raise FormatError(f"Texture '{self.name}' is not a KTX2 picture that can be read.")
        width, height = struct.unpack_from("<II", self.data, 20)
        return width, height

    @property
    def is_decodable(self) -> bool:
        """Whether ``pixels`` can be had; pictures for graphics cards alone are kept, but not looked at."""
        return self.mime != KTX2

    def _too_large(self, what: str) -> FormatError:
        limit = f"at most {MAX_TEXTURE_PIXELS} pixels are allowed"
        return FormatError(f"Texture '{self.name}' {what}; {limit}. Scale it down.")

    def pixels(self) -> np.ndarray:
        """Decoded RGBA, ``(H, W, 4)`` uint8, first row at the top."""
        if not self.is_decodable:
            raise FormatError(f"Texture '{self.name}' is a KTX2 picture, which is kept but cannot be decoded.")
        try:
            return np.asarray(self._open().convert("RGBA"))
        except FormatError:
            raise
        except Exception as error:
            raise FormatError(f"Texture '{self.name}' is damaged: {error}.") from error

    @staticmethod
    def from_pixels(pixels: np.ndarray, name: str = "texture") -> Texture:
        """Encode ``(H, W, 3 or 4)`` uint8 as PNG."""
        from PIL import Image

        buffer = io.BytesIO()
        Image.fromarray(np.ascontiguousarray(pixels)).save(buffer, format="PNG", optimize=False)
        return Texture(buffer.getvalue(), "image/png", name)
