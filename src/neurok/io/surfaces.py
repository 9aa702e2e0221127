"""Appearance in files: display colours, pictures, and the material library of an OBJ file."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from urllib.parse import quote

import numpy as np
from jaxtyping import Float

from neurok.core import Surface, Texture
from neurok.core.surface import to_linear, to_srgb
from neurok.errors import FormatError
from neurok.io.files import Files, read_bytes, resolve_inside
from neurok.io.parsing import decode_name


def linear_from_srgb(colors: Float[np.ndarray, "N C"]) -> Float[np.ndarray, "N 4"]:
    """RGB or RGBA from 0..1 sRGB to linear light; alpha is left as it is and 1 when absent."""
    colors = np.clip(np.asarray(colors, dtype=np.float64), 0.0, 1.0)
    alpha = colors[:, 3:4] if colors.shape[1] > 3 else np.ones((len(colors), 1))
    return np.concatenate([to_linear(colors[:, :3]), alpha], axis=1)


def srgb_from_linear(colors: Float[np.ndarray, "N 4"]) -> Float[np.ndarray, "N 4"]:
    """RGBA from linear light to 0..1 sRGB; alpha is left as it is."""
    colors = np.clip(colors, 0.0, 1.0)
    return np.concatenate([to_srgb(colors[:, :3]), colors[:, 3:]], axis=1)


def srgb_bytes(colors: Float[np.ndarray, "N 4"]) -> np.ndarray:
    """RGBA from linear light to 8-bit sRGB."""
    return np.round(srgb_from_linear(colors) * 255).astype(np.uint8)


CLEARCOAT, IOR, STRENGTH = (f"KHR_materials_{name}" for name in ("clearcoat", "ior", "emissive_strength"))
PREVIEWED = (CLEARCOAT, IOR, STRENGTH)
"""Extensions of a material that a UsdPreviewSurface can say."""

SUFFIX_OF_MIME = {"image/png": ".png", "image/jpeg": ".jpg"}
_OPTION_VALUES = {"-blendu": 1, "-blendv": 1, "-boost": 1, "-mm": 2, "-texres": 1, "-clamp": 1, "-bm": 1}
_OPTION_VALUES |= {"-imfchan": 1, "-type": 1, "-cc": 1}


@dataclass(frozen=True)
class Folder:
    """Where a file lies, and the folder its references must stay in."""

    here: Path
    root: Path
    textures: dict[Path, Texture] = field(default_factory=dict)
    """Pictures read so far, so that surfaces share them."""

    def resolve(self, reference: str) -> Path:
        """The file a reference names: literally, or else as a URI with percent signs."""
        plain = reference.replace("\\", "/")
        if self.here != self.root and not PurePosixPath(plain).is_absolute():
            plain = os.path.relpath(os.path.join(self.here, plain), self.root)
        literal = resolve_inside(self.root, quote(plain, safe="/:"))
        return literal if literal.exists() else resolve_inside(self.root, plain)

    def texture(self, reference: str) -> Texture:
        """The picture a reference names, its bytes untouched when they are PNG or JPEG."""
        target = self.resolve(reference)
        if target not in self.textures:
            if not target.is_file():
                raise FormatError(f"The texture '{reference}' is missing beside '{self.here}'; add it, or take it out.")
            self.textures[target] = texture_from_bytes(read_bytes(target), target.name)
        return self.textures[target]


def texture_from_bytes(data: bytes, name: str) -> Texture:
    """A picture in any format Pillow reads; what is neither PNG nor JPEG becomes PNG."""
    mime = "image/jpeg" if data[:2] == b"\xff\xd8" else "image/png"
    texture = Texture(data, mime, name)
    if mime == "image/png" and data[:4] != b"\x89PNG":
        return Texture.from_pixels(texture.pixels(), str(Path(name).with_suffix(".png")))
    return texture


def read_library(data: bytes, folder: Folder) -> dict[str, Surface]:
    """The surfaces of a library by name."""
    statements: dict[str, dict[str, str]] = {}
    name = ""
    for raw in data.replace(b"\r", b"\n").replace(b"\t", b" ").split(b"\n"):
        key, _, rest = decode_name(raw).partition(" ")
        if key == "newmtl":
            name = rest.strip() or "surface"
            statements[name] = {}
        elif name:
            statements[name][key] = rest.strip()
    return {name: _surface(name, lines, folder) for name, lines in statements.items()}


def _surface(name: str, lines: dict[str, str], folder: Folder) -> Surface:
    """The look that the lines after ``newmtl`` describe."""
    values = {key: _floats(rest) for key, rest in lines.items()}
    unit = {key: [min(max(value, 0.0), 1.0) for value in row] for key, row in values.items() if row}
    color = _triple(unit.get("Kd", [0.8]))
    roughness = 0.7
    if "Pr" in unit:
        roughness = unit["Pr"][0]
    elif values.get("Ns"):
        roughness = 1.0 - math.sqrt(min(max(values["Ns"][0], 0.0), 1000.0) / 1000.0)
    opacity = unit["d"][0] if "d" in unit else 1.0 - unit.get("Tr", [0.0])[0]
    reference = _file_of_map(lines.get("map_Kd", ""))
    if reference and color == (0.0, 0.0, 0.0):
        color = (1.0, 1.0, 1.0)  # Black under a picture means "only the picture"; multiplying would hide it.
    return Surface(
        name,
        base_color=(*color, opacity),
        metallic=unit.get("Pm", [0.0])[0],
        roughness=roughness,
        texture=folder.texture(reference) if reference else None,
        alpha_mode="BLEND" if opacity < 1 else "OPAQUE",
        emissive=_triple(values.get("Ke") or [0.0]),
    )


def _triple(row: list[float]) -> tuple[float, float, float]:
    """Three numbers; a single one stands for all (as the format says)."""
    return (row[0], row[1], row[2]) if len(row) > 2 else (row[0], row[0], row[0])


def _file_of_map(rest: str) -> str:
    """The file name behind the options of a ``map_`` line; it may hold blanks."""
    words = rest.split(" ")
    while words and words[0].startswith("-"):
        option = words.pop(0)
        if option in ("-o", "-s", "-t"):
            for _ in range(3):
                if words and _floats(words[0]):
                    words.pop(0)
        else:
            del words[: _OPTION_VALUES.get(option, 0)]
    return " ".join(words).strip()


def _floats(text: str) -> list[float]:
    """The finite numbers at the start of a line."""
    out: list[float] = []
    for word in text.split():
        try:
            value = float(word)
        except ValueError:
            break
        if not math.isfinite(value):
            break
        out.append(value)
    return out


def write_library(surfaces: tuple[Surface, ...], names: list[str], stem: str) -> tuple[bytes, Files]:
    """The text of a library and the pictures it refers to."""
    pictures: dict[bytes, str] = {}
    files: Files = {}
    lines = []
    for surface, name in zip(surfaces, names, strict=True):
        color = " ".join(map(repr, map(float, surface.base_color[:3])))
        lines += [f"newmtl {name}", f"Kd {color}", f"d {float(surface.base_color[3])!r}"]
        # Ns before Pr: readers that know the latter take it, others get the same shine.
        lines += [f"Ns {1000 * (1 - surface.roughness) ** 2!r}", f"Pr {float(surface.roughness)!r}"]
        lines += [f"Pm {float(surface.metallic)!r}", f"Ke {' '.join(map(repr, map(float, surface.even_glow)))}"]
        if surface.texture is not None:
            data = surface.texture.data
            if data not in pictures:
                pictures[data] = f"{stem}_texture_{len(pictures)}{SUFFIX_OF_MIME.get(surface.texture.mime, '.png')}"
                files[pictures[data]] = data
            lines.append(f"map_Kd {pictures[data]}")
        lines.append("")
    return "\n".join(lines).encode("utf-8", "replace"), files
