"""How things look: woods, metals, plastics, glass, fabrics, and pictures drawn with numpy."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from neurok.core.surface import Surface, Texture

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


def _rgb(hex_color: str) -> np.ndarray:
    """Red, green and blue of an sRGB colour such as ``#c49a6c``, each 0..255."""
    return np.array([int(hex_color[i : i + 2], 16) for i in (1, 3, 5)], dtype=np.float64)


def linear(hex_color: str) -> tuple[float, float, float]:
    """An sRGB colour such as ``#c49a6c`` in linear light."""
    return linear_of(_rgb(hex_color) / 255.0)


def linear_of(srgb: npt.ArrayLike) -> tuple[float, float, float]:
    """An sRGB colour, each channel 0..1, in linear light."""
    srgb = np.asarray(srgb, dtype=np.float64)
    light = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    return float(light[0]), float(light[1]), float(light[2])


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
    """A computer's screen: a landscape at dusk with two windows and a task bar."""
    u, v = np.meshgrid(np.linspace(0, 1, width), np.linspace(1, 0, height))
    sky = _mix((28, 42, 94), (244, 158, 120), (1.0 - v[..., None]) ** 1.3)
    sun = np.exp(-(((u - 0.66) / 0.1) ** 2 + ((v - 0.42) * height / width / 0.1) ** 2))[..., None]
    picture = sky + sun * np.array([90.0, 80.0, 40.0])
    for base, amplitude, near, far in (
        (0.36, 0.07, (96, 74, 118), 3.0),
        (0.24, 0.06, (62, 56, 98), 5.0),
        (0.12, 0.05, (30, 34, 66), 8.0),
    ):
        ridge = base + amplitude * (np.sin(far * u * 2.1 + base * 40) + 0.4 * np.sin(far * u * 5.3 + 1.0))
        picture = np.where((v < ridge)[..., None], np.array(near, dtype=np.float64), picture)
    pixels = np.clip(picture, 0, 255)
    _window(pixels, 0.07, 0.16, 0.52, 0.72, (250, 250, 252), (92, 124, 180))
    _window(pixels, 0.45, 0.42, 0.86, 0.86, (36, 40, 52), (120, 190, 160))
    pixels[int(0.94 * height) :] = 0.35 * pixels[int(0.94 * height) :] + 0.65 * np.array([20.0, 22.0, 34.0])
    icons = ("#ee6055", "#f7b24c", "#7dbe6e", "#56a0dc", "#9678d2", "#e6e6ec", "#5ac8c8")
    for k, icon in enumerate(icons):
        x = int((0.34 + 0.05 * k) * width)
        pixels[int(0.955 * height) : int(0.985 * height), x : x + int(0.022 * width)] = _rgb(icon)
    texture = Texture.from_pixels(np.clip(pixels, 0, 255).astype(np.uint8), "screen")
    return Surface("screen", (1.0, 1.0, 1.0, 1.0), 0.0, 0.25, texture)


def _mix(a: tuple[int, int, int], b: tuple[int, int, int], t: np.ndarray) -> np.ndarray:
    return np.asarray(a, dtype=np.float64) * (1 - t) + np.asarray(b, dtype=np.float64) * t


def _window(
    pixels: np.ndarray,
    x0: float,
    y0: float,
    x1: float,
    y1: float,
    paper: tuple[int, int, int],
    ink: tuple[int, int, int],
) -> None:
    """Draw a window with a title bar, three buttons and lines of text, in place."""
    height, width = pixels.shape[:2]
    top, bottom, left, right = int(y0 * height), int(y1 * height), int(x0 * width), int(x1 * width)
    pixels[top + 8 : bottom + 8, left + 8 : right + 8] *= 0.6
    pixels[top:bottom, left:right] = paper
    pixels[top : top + 18, left:right] = np.asarray(paper) * 0.82 + 10
    for k, dot in enumerate(((238, 96, 85), (247, 178, 76), (125, 190, 110))):
        pixels[top + 6 : top + 12, left + 8 + 12 * k : left + 14 + 12 * k] = dot
    rng = np.random.default_rng(left)
    for k, y in enumerate(range(top + 30, bottom - 12, 14)):
        indent = 14 + 16 * int(rng.integers(0, 3))
        length = int((right - left - 40 - indent) * rng.uniform(0.35, 0.95))
        pixels[y : y + 5, left + indent : left + indent + length] = np.asarray(ink if k % 4 == 0 else (140, 146, 160))
