"""How things look: woods, metals, plastics, glass, fabrics, and pictures drawn with numpy."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from neurok.core.surface import Surface, Texture, to_linear

WOODS = {
    "oak": "#c49a6c", "walnut": "#6b4630", "beech": "#d9b382", "cherry": "#9a5436", "ash": "#d8c7a8", "teak": "#a0703f",
}  # fmt: skip
PAINTS = {
    "white": "#f2f0eb", "cream": "#eadfc8", "sage": "#9db39a", "navy": "#2f4560", "charcoal": "#3a3d42",
    "terracotta": "#c0694b", "mustard": "#d5a43b", "teal": "#2f7f86", "blush": "#dba9a0", "sky": "#8fb7d3",
    "red": "#b73a34", "graphite": "#55585e",
}  # fmt: skip
METALS = {
    "steel": "#c4c7cb", "chrome": "#dfe2e6", "brass": "#c9a45c", "copper": "#c07f5a", "black_steel": "#3b3d41",
    "bronze": "#80603c",
}  # fmt: skip


def linear(color: str | npt.ArrayLike) -> tuple[float, float, float]:
    """An sRGB colour, such as ``#c49a6c`` or three numbers 0..1, in linear light."""
    srgb = [int(color[i : i + 2], 16) / 255.0 for i in (1, 3, 5)] if isinstance(color, str) else color
    red, green, blue = to_linear(np.asarray(srgb, dtype=np.float64)).tolist()
    return red, green, blue


@lru_cache(maxsize=512)
def paint(color: str, roughness: float = 0.55, metallic: float = 0.0, name: str = "") -> Surface:
    """A plain coloured surface; ``color`` is a name of PAINTS or an sRGB hex."""
    return Surface(name or color, (*linear(PAINTS.get(color, color)), 1.0), metallic, roughness)


def plastic(color: str = "charcoal") -> Surface:
    return paint(color, 0.4)


def rubber(color: str = "#26272a") -> Surface:
    return paint(color, 0.9, name="rubber")


def metal(kind: str = "steel", roughness: float = 0.3) -> Surface:
    """A metal by its name in METALS, or by an sRGB hex."""
    return paint(METALS.get(kind, kind), roughness, 0.85, kind)


def wood(kind: str = "oak") -> Surface:
    """A plain wood colour, without grain."""
    return paint(WOODS.get(kind, kind), 0.6, name=kind)


@lru_cache(maxsize=16)
def glass(color: str = "#bcd4dc", alpha: float = 0.35) -> Surface:
    return Surface("glass", (*linear(color), alpha), 0.0, 0.08, alpha_mode="BLEND")


@lru_cache(maxsize=16)
def glow(color: str = "#fff1c9", strength: float = 1.0) -> Surface:
    """Something that shines by itself."""
    rgb = linear(color)
    return Surface("glow", (*rgb, 1.0), 0.0, 0.5, emissive=(rgb[0] * strength, rgb[1] * strength, rgb[2] * strength))


@lru_cache(maxsize=2)
def screen(width: int = 800, height: int = 500) -> Surface:
    """A computer's screen: hills at dusk and a window with lines of text."""
    u, v = np.meshgrid(np.linspace(0, 1, width), np.linspace(1, 0, height))
    pixels = np.array([28.0, 42.0, 94.0]) + np.array([216.0, 116.0, 26.0]) * ((1.0 - v) ** 1.3)[..., None]
    for base, color in ((0.36, (96, 74, 118)), (0.24, (62, 56, 98)), (0.12, (30, 34, 66))):
        ridge = base + 0.05 * (np.sin((8.0 - 9.0 * base) * u + base * 40) + 0.4 * np.sin(25.0 * u + 1.0))
        pixels[v < ridge] = color
    top, bottom, left, right = int(0.16 * height), int(0.72 * height), int(0.07 * width), int(0.52 * width)
    pixels[top:bottom, left:right], pixels[top : top + 18, left:right] = 250.0, 215.0
    lengths = np.random.default_rng(left).uniform(0.35, 0.95, (bottom - top - 42) // 14) * (right - left - 40)
    for k, length in enumerate(lengths.astype(int)):
        pixels[top + 30 + 14 * k : top + 35 + 14 * k, left + 14 : left + 14 + length] = (140, 146, 160)
    texture = Texture.from_pixels(np.clip(pixels, 0, 255).astype(np.uint8), "screen")
    return Surface("screen", (1.0, 1.0, 1.0, 1.0), 0.0, 0.25, texture)
