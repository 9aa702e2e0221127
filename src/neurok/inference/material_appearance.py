"""What colour, texture, shape and thickness of a region say about its material."""

from __future__ import annotations

import colorsys
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from neurok.core import Mesh, Surface
from neurok.core.select import Region
from neurok.geometry.operators import face_areas
from neurok.geometry.topology import face_components


@dataclass(frozen=True)
class AppearanceConfig:
    """Where the words for appearance and shape begin; colours as a screen shows them, 0..1, hues in degrees."""

    see_through: float = 0.6
    """Opacity below which it is."""

    metallic: float = 0.5
    polished: float = 0.3
    """Roughness below which it is."""

    grey: float = 0.12
    """Saturation below which there is no hue."""

    bright: float = 0.65
    """Saturation above which a colour is found on plastic and cloth rather than on wood or stone."""

    black: float = 0.25
    """Value below which it is; ``white`` above."""

    white: float = 0.85
    brown: tuple[float, float] = (10.0, 48.0)
    green: tuple[float, float] = (65.0, 170.0)
    yellow: tuple[float, float] = (25.0, 60.0)
    grain: float = 1.5
    """Brightness changes this much faster across the grain of a picture of wood than along it."""

    thick: float = 0.05
    """Twice the volume by the area, as a share of the length: a cushion has 0.1, a board 0.02."""

    thin: float = 0.02
    flat: float = 0.2
    """Least extent as a share of the length, below which what is thin is no vessel."""

    slender: float = 0.15
    """Middle extent as a share of the longest, below which it is a rod."""

    pieces: int = 24
    """How many of the largest connected pieces are looked at."""


APPEARANCE = AppearanceConfig()


def appearance_words(mesh: Mesh, region: Region, config: AppearanceConfig = APPEARANCE) -> list[str]:
    """Words for the colour, texture and shine of a region."""
    surface = region.surface or Surface()
    red, green, blue, alpha = _color(mesh, region, surface)
    hue, saturation, value = colorsys.rgb_to_hsv(*(_screen(x) for x in (red, green, blue)))
    hue *= 360.0
    out = []
    finish = surface.finish
    if finish is not None and finish.extension("KHR_materials_sheen") is not None:
        out.append("sheen")
    if min(alpha, 1.0 - (0.0 if finish is None else finish.transmission)) < config.see_through:
        out.append("see-through")
    if surface.metallic > config.metallic:
        yellow = config.yellow[0] < hue < config.yellow[1] and saturation > 2 * config.grey
        out.append("yellow metal" if yellow else "shiny metal")
    elif region.surface is not None:
        out += _color_words(hue, saturation, value, config)
    if "brown" in out and surface.texture is not None and _is_grained(surface, config):
        out.append("grained")
    if surface.roughness < config.polished:
        out.append("polished")
    return out


def _color_words(hue: float, saturation: float, value: float, config: AppearanceConfig) -> list[str]:
    if value < config.black:
        return ["black"]
    if saturation < config.grey:
        return ["grey"] if value < config.white else []
    if config.brown[0] < hue < config.brown[1] and 2 * config.grey < saturation and value < config.white:
        return ["brown"]
    if config.green[0] < hue < config.green[1] and saturation > 2 * config.grey:
        return ["green"]
    return ["bright"] if saturation > config.bright else []


def _color(mesh: Mesh, region: Region, surface: Surface) -> Float[np.ndarray, "4"]:
    """Mean linear-light colour and opacity of a region."""
    color = np.array(surface.base_color, dtype=np.float64)
    if surface.alpha_mode == "OPAQUE":
        color[3] = 1.0
    if surface.texture is not None:
        pixels = surface.texture.pixels()[::4, ::4, :3].reshape(-1, 3) / 255.0
        color[:3] *= np.mean(pixels**2.2, axis=0)
    used = np.unique(mesh.faces[region.faces])
    if mesh.vertex_colors is not None:
        color[:3] *= mesh.vertex_colors[used, :3].mean(axis=0)
    return np.clip(color, 0.0, 1.0)


def _screen(value: float) -> float:
    return float(value) ** (1 / 2.2)


def _is_grained(surface: Surface, config: AppearanceConfig) -> bool:
    assert surface.texture is not None
    grey = surface.texture.pixels()[:, :, :3].astype(np.float64).mean(axis=2)
    if min(grey.shape) < 8:
        return False
    across, along = sorted(np.abs(np.diff(grey, axis=axis)).mean() for axis in (0, 1))[::-1]
    return bool(across > config.grain * along and across > 1.0)


def shape_words(mesh: Mesh, region: Region, config: AppearanceConfig = APPEARANCE) -> list[tuple[str, float]]:
    """Words for the shape of a region, each with the share of its area that has it."""
    faces = mesh.faces[region.faces]
    areas = face_areas(mesh.vertices, faces)
    piece = face_components(mesh.vertices, faces)
    largest = np.argsort(-np.bincount(piece, weights=areas))[: config.pieces]
    shares: dict[str, float] = {}
    total = max(float(areas[np.isin(piece, largest)].sum()), 1e-300)
    for each in largest:
        mine = piece == each
        word = _shape_word(mesh.vertices, faces[mine], float(areas[mine].sum()), config)
        shares[word] = shares.get(word, 0.0) + float(areas[mine].sum()) / total
    return [(word, share) for word, share in shares.items() if word]


def _shape_word(vertices: Float[np.ndarray, "V 3"], faces: np.ndarray, area: float, config: AppearanceConfig) -> str:
    """What one connected piece is like; nothing where it is in between."""
    corners = vertices[faces]
    points = vertices[np.unique(faces)]
    middle = points.mean(axis=0)
    _, _, axes = np.linalg.svd(points - middle, full_matrices=False)
    extents = np.sort(np.ptp((points - middle) @ axes.T, axis=0))[::-1]
    length = float(np.linalg.norm(extents))
    if length <= 0 or area <= 0:
        return ""
    volume = abs(float(np.linalg.det(corners - middle).sum())) / 6.0
    thickness = 2.0 * volume / area / length
    if len(extents) < 3 or extents[1] < config.slender * extents[0]:
        return "slender"
    if thickness > config.thick:
        return "thick"
    if thickness < config.thin:
        return "thin" if extents[2] < config.flat * length else "hollow"
    return ""
