"""How a piece of a mesh looks; what it is made of physically is a ``Material``."""

from __future__ import annotations

import io
import math
import warnings
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from neurok.errors import FormatError, NeurokError

AlphaMode = Literal["OPAQUE", "MASK", "BLEND"]

MAX_TEXTURE_PIXELS = 8192 * 8192
"""Larger pictures are refused before they are decoded."""


@dataclass(frozen=True)
class Texture:
    """A picture, kept in its encoded form so that files pass through unchanged."""

    data: bytes = field(repr=False)
    """The encoded file."""

    mime: str = "image/png"
    """``image/png`` or ``image/jpeg``."""

    name: str = "texture"

    def __post_init__(self) -> None:
        width, height = self._open().size
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

    def _too_large(self, what: str) -> FormatError:
        limit = f"at most {MAX_TEXTURE_PIXELS} pixels are allowed"
        return FormatError(f"Texture '{self.name}' {what}; {limit}. Scale it down.")

    def pixels(self) -> np.ndarray:
        """Decoded RGBA, ``(H, W, 4)`` uint8, first row at the top."""
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


@dataclass(frozen=True)
class Surface:
    """The look of some faces, in the terms of glTF's metallic-roughness model."""

    name: str = "surface"
    base_color: tuple[float, float, float, float] = (0.8, 0.8, 0.8, 1.0)
    """Linear-light RGBA, each 0..1; multiplies the texture."""

    metallic: float = 0.0
    roughness: float = 0.7
    texture: Texture | None = None
    """Base-colour picture, sampled at the mesh's ``uv``."""

    double_sided: bool = True
    alpha_mode: AlphaMode = "OPAQUE"
    emissive: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        numbers = {"base_color": self.base_color, "emissive": self.emissive}
        numbers |= {"metallic": (self.metallic,), "roughness": (self.roughness,)}
        for name, values in numbers.items():
            if not all(math.isfinite(value) and value >= 0 for value in values):
                raise NeurokError(f"{name} of surface '{self.name}' must be finite and not negative, got {values}.")
        if len(self.base_color) != 4 or len(self.emissive) != 3:
            raise NeurokError(f"Surface '{self.name}' needs an RGBA base_color and an RGB emissive.")
        if self.alpha_mode not in get_args(AlphaMode):
            raise NeurokError(f"alpha_mode must be one of {', '.join(get_args(AlphaMode))}, got {self.alpha_mode!r}.")
