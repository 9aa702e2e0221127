"""Physically based materials from a few numbers: tileable maps of reflectance, relief and roughness, and UVs in metres.

A recipe (``pbr_recipes.json``) says which kind of map a material has, how large its square is in metres and how it
reflects light. Maps are neutral: the base-colour factor tints them, so that all colours of a material share pictures.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from jaxtyping import Float, Int, UInt8
from scipy import fft

from neurok.core.surface import Finish, Lookup, Surface, Texture, to_srgb
from neurok.geometry.topology import split_by_face_label
from neurok.modelling.shapes import Shape

SIZE = 512
"""Texels of a side of every map."""

DARKEST, BRIGHTEST = 0.015, 0.85
"""Diffuse reflectance (linear) of coal and of fresh snow; nothing that is not a metal lies beyond them."""

LEAST_METAL = 0.12
"""Of bare metals; darker ones are coated, which still shows the metal at grazing angles."""

SLANT = 0.7
"""The planes of growth rings of a board pass through its thickness at this slope; 0.7 is rift-sawn, at 55 degrees."""

THICKEST_BOARD = 0.1
"""What is thicker [m] is no single piece of wood: beams of furniture end at about four inches."""

TILE_KEY = "tile"
QUALITY = {"reflectance": 82, "normal": 75, "shine": 75}
"""Of the JPEGs."""

Plane = Float[np.ndarray, "N N"]


@dataclass(frozen=True, eq=False)
class Maps:
    """What a square of a material looks like, whatever its colour; all tile in both directions."""

    reflectance: Float[np.ndarray, "N N 3"]
    """Linear light beside the brightest place, 0..1."""

    height: Plane
    """[m]"""

    roughness: Plane
    """Beside the roughest place, 0..1."""


@dataclass(frozen=True)
class Recipe:
    """How a material reflects light, in the terms of glTF and its extensions."""

    maps: str = ""
    """The function that draws its maps; none for a uniform surface."""

    options: Mapping[str, float] = field(default_factory=dict)
    tile: tuple[float, float] = (0.2, 0.2)
    """Sides of the square across and along the grain [m]."""

    roughness: float = 0.8
    metallic: float = 0.0
    sheen: float = 0.0
    """Share of its own colour, whitened, that fibres at grazing angles add."""

    coat: float = 0.0
    coat_roughness: float = 0.1
    transmission: float = 0.0


@cache
def recipes() -> Mapping[str, Recipe]:
    """Recipes by material of the library, by ``@family`` for others, and of finishes: painted, enamel, polished."""
    rows = json.loads(Path(__file__).with_name("pbr_recipes.json").read_text(encoding="utf-8"))
    return {name: Recipe(**{**row, "tile": tuple(row.get("tile", Recipe.tile))}) for name, row in rows.items()}


def _grid() -> tuple[Plane, Plane]:
    """Places across and along the grain, 0..1."""
    line = ((np.arange(SIZE) + 0.5) / SIZE).astype(np.float32)
    v, u = np.meshgrid(line, line, indexing="ij")
    return u, v


def noise(rng: np.random.Generator, across: float, along: float | None = None) -> Plane:
    """Periodic Gaussian noise of unit variance, smooth over so many texels."""
    return _filtered(rng, _smooth(across, across if along is None else along))


def fractal(rng: np.random.Generator, slope: float) -> Plane:
    """Periodic noise of unit variance whose amplitude falls with the frequency to the power of ``slope``."""
    x, y = fft.rfftfreq(SIZE), fft.fftfreq(SIZE)[:, None]
    frequency = np.hypot(x, y)
    frequency[0, 0] = np.inf
    return _filtered(rng, frequency**-slope)


def _smooth(across: float, along: float) -> np.ndarray:
    """Fourier transform of a Gaussian of these standard deviations [texels]."""
    x, y = (2.0 * (np.pi * a * f) ** 2 for a, f in ((across, fft.rfftfreq(SIZE)), (along, fft.fftfreq(SIZE))))
    return np.exp(-x) * np.exp(-y)[:, None]


def _filtered(rng: np.random.Generator, response: np.ndarray) -> Plane:
    spectrum = fft.rfft2(rng.standard_normal((SIZE, SIZE), dtype=np.float32)) * response.astype(np.float32)
    spectrum[0, 0] = 0.0
    plane = fft.irfft2(spectrum, s=(SIZE, SIZE))
    return np.asarray(plane / plane.std())


def _ramp(low: float, high: float, x: Plane) -> Plane:
    t = np.clip((x - low) / (high - low), 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


def _grey(dark: Plane, tint: tuple[float, float, float] = (1.0, 1.0, 1.0)) -> Float[np.ndarray, "N N 3"]:
    """Light that is left after absorption (Beer and Lambert): what is darker is also of a stronger colour."""
    left = np.maximum(dark - np.quantile(dark[::4, ::4], 0.002), 0.0).astype(np.float32)
    return np.stack([np.exp(-share * left) for share in tint], axis=-1)


def wood(
    rng: np.random.Generator,
    tile: tuple[float, float],
    ring: float = 0.004,
    contrast: float = 0.3,
    streaks: float = 0.1,
    pores: float = 0.0,
    pore_length: float = 4.0,
    flame: float = 0.0,
) -> Maps:
    """A log cut lengthwise: growth rings about a pith that wanders below the cut, fibres and pores.

    Distances from the pith are mirrored at the middle of the square, which is why it tiles.
    """
    u, v = _grid()
    a, b = rng.uniform(0.0, 2.0 * np.pi, 2)
    depth = 0.10 * tile[0] * (1.0 + 0.55 * np.sin(2 * np.pi * v + a) + 0.25 * np.sin(4 * np.pi * v + b))
    radius = np.hypot(tile[0] / np.pi * np.sin(np.pi * u), depth)
    radius += ring * (0.35 * noise(rng, 20.0, 40.0) + 0.10 * noise(rng, 5.0, 12.0))
    phase = np.maximum(radius / ring, 0.0) + 0.6 * noise(rng, 90.0, 110.0)
    share = phase - np.floor(phase)
    strength = rng.uniform(0.35, 1.0, 4096)[np.floor(phase).astype(int)]
    late = _ramp(0.15, 0.86, share) * (1.0 - _ramp(0.9, 1.0, share)) * strength
    fibre = noise(rng, 0.5, 14.0)
    broad = noise(rng, 9.0, 90.0)
    vessels = np.zeros_like(u)
    if pores > 0.0:
        early = 1.0 - _ramp(0.1, 0.5, share)
        vessels = _ramp(1.1, 1.9, noise(rng, 0.45, pore_length) + 0.9 * early - 0.3) * pores
    figure = noise(rng, 26.0, 5.0) * _ramp(-0.5, 1.5, noise(rng, 60.0, 60.0))
    dark = contrast * late + 0.045 * fibre + streaks * broad + 0.6 * vessels + flame * figure
    height = 1e-5 * fibre - 1.2e-4 * vessels + 2e-5 * late
    return Maps(_grey(dark, (0.72, 1.0, 1.42)), height, np.clip(0.82 + 0.1 * vessels + 0.04 * fibre, 0.0, 1.0))


def weave(
    rng: np.random.Generator,
    tile: tuple[float, float],
    threads: float = 96,
    twill: float = 0,
    irregular: float = 0.15,
    melange: float = 0.08,
    depth: float = 0.3,
    weft: float = 0.0,
) -> Maps:
    """Threads over and under each other; ``twill`` threads are passed at once, one further in each row.

    ``weft`` whitens the threads across, as of denim; ``depth`` is how dark the gaps are.
    """
    u, v = _grid()
    x = u * threads + irregular * noise(rng, 14.0)
    y = v * threads + irregular * noise(rng, 14.0)
    i, j = np.floor(x).astype(int), np.floor(y).astype(int)
    fx, fy = x - i, y - j
    over = (i + j) % 2 == 0 if twill < 1 else (i - j) % int(2 * twill) < twill
    across, along = np.where(over, fx, fy), np.where(over, fy, fx)
    bulge = np.sqrt(np.maximum(1.0 - (2.0 * across - 1.0) ** 2, 0.0))
    bend = 0.6 + 0.4 * np.sin(np.pi * along) if twill < 1 else 0.85
    top = bulge * bend
    count = int(threads)
    table = rng.standard_normal((2, count))
    shade = np.where(over, table[0][i % count], table[1][j % count])
    slub = np.where(over, noise(rng, 1.0, 12.0), noise(rng, 12.0, 1.0))
    dark = depth * (1.0 - top) + melange * (0.5 * shade + 0.8 * slub) + 0.04 * noise(rng, 0.5)
    pitch = tile[0] / threads
    reflectance = _grey(np.maximum(dark, 0.0), (0.92, 1.0, 1.06))
    if weft > 0.0:
        reflectance = np.where(over[..., None], (1.0 - 0.6 * weft) * reflectance, reflectance)
    height = 0.30 * pitch * (top + 0.15 * slub) + 0.05 * pitch * noise(rng, 0.6)
    return Maps(reflectance, height, np.full_like(u, 1.0))


def knit(
    rng: np.random.Generator, tile: tuple[float, float], wales: float = 36, depth: float = 0.55, melange: float = 0.06
) -> Maps:
    """Plain stitches: columns of Vs, each leg a twisted yarn."""
    u, v = _grid()
    x = u * wales + 0.05 * noise(rng, 16.0)
    courses = round(1.35 * wales)
    i, middle = np.floor(x), np.abs(2.0 * (x - np.floor(x)) - 1.0)
    y = v * courses + 0.7 * middle + 0.05 * noise(rng, 16.0)
    share = y - np.floor(y)
    leg = np.sqrt(np.maximum(1.0 - (2.0 * middle - 1.0) ** 2, 0.0))
    top = leg * np.sqrt(np.maximum(1.0 - (2.0 * share - 1.0) ** 2, 0.0)) ** 0.7
    ply = np.sin(2 * np.pi * (share * 1.0 + 2.5 * middle))
    shade = rng.standard_normal((courses, int(wales)))[np.floor(y).astype(int) % courses, i.astype(int) % int(wales)]
    dark = depth * (1.0 - top) + 0.05 * ply * top + melange * shade + 0.05 * noise(rng, 0.6)
    pitch = tile[0] / wales
    return Maps(_grey(dark, (0.94, 1.0, 1.05)), pitch * (0.22 * top + 0.02 * ply * top), np.full_like(u, 1.0))


def cells(
    rng: np.random.Generator,
    tile: tuple[float, float],
    count: float = 70,
    crease: float = 0.3,
    relief: float = 1e-4,
    spread: float = 0.05,
    mottle: float = 0.04,
    shine: float = 0.2,
) -> Maps:
    """Cells around scattered points (Worley 1996): pebbles of leather, grains of granite, pores, gravel."""
    u, v = _grid()
    n = int(count)
    place = rng.uniform(0.1, 0.9, (2, n, n)).astype(np.float32)
    tone = rng.standard_normal((n, n), dtype=np.float32)
    warp = 0.25 * noise(rng, 1.2 * SIZE / n), 0.25 * noise(rng, 1.2 * SIZE / n)
    x, y = u * n + warp[0], v * n + warp[1]
    i, j = np.floor(x).astype(int), np.floor(y).astype(int)
    first, second, shade = np.full_like(u, 9.0), np.full_like(u, 9.0), np.zeros_like(u)
    for di in (-1, 0, 1):
        for dj in (-1, 0, 1):
            a, b = (i + di) % n, (j + dj) % n
            away = np.hypot(i + di + place[0, b, a] - x, j + dj + place[1, b, a] - y)
            second = np.minimum(second, np.maximum(first, away))
            shade = np.where(away < first, tone[b, a], shade)
            first = np.minimum(first, away)
    flat = _ramp(0.02, 0.42, second - first)
    dark = crease * (1.0 - flat) + spread * shade + mottle * (fractal(rng, 1.2) + 0.5 * noise(rng, 0.6))
    height = relief * (flat + 0.35 * _ramp(0.0, 0.8, 0.8 - first) + 0.25 * noise(rng, 8.0) + 0.04 * noise(rng, 0.7))
    return Maps(_grey(dark), height, 1.0 - shine * flat)


def veins(
    rng: np.random.Generator, tile: tuple[float, float], strength: float = 0.9, width: float = 0.05, light: float = 0.0
) -> Maps:
    """Marble: thin dark lines where a warped field passes through zero in cloudy stone, or ``light``."""
    warp = fractal(rng, 2.0)
    cloud = fractal(rng, 1.7)
    dark = 0.06 * cloud
    for share, scale in ((1.0, 1.9), (0.45, 1.6)):
        ridge = np.exp(-np.abs(fractal(rng, scale) + 0.35 * warp) / (width * share))
        dark += strength * share * ridge * _ramp(-1.4, 0.6, noise(rng, 45.0))
    shown = dark - light * (dark - 0.06 * cloud)
    return Maps(_grey(shown, (1.0, 0.98, 0.93)), -1e-5 * dark, np.clip(0.9 + 0.05 * cloud, 0.0, 1.0))


def relief(
    rng: np.random.Generator,
    tile: tuple[float, float],
    across: float = 1.0,
    along: float = 1.0,
    height: float = 1e-5,
    shade: float = 0.0,
    mottle: float = 0.0,
    smudge: float = 0.0,
    ridges: float = 0.0,
    warmth: float = 1.0,
) -> Maps:
    """Noise of one size: brush marks, pile, fur, orange peel, moulded grain; ``ridges`` are corrugations or veins."""
    u, _ = _grid()
    fine, cloud = noise(rng, across, along), fractal(rng, 1.4)
    lines = np.cos(2.0 * np.pi * ridges * u) if ridges else np.zeros_like(u)
    dark = -shade * (fine + 0.5 * lines) + mottle * cloud
    rough = np.clip(0.85 + smudge * (0.6 * cloud + 0.4 * fine), 0.2, 1.0)
    return Maps(_grey(dark, (warmth, 1.0, 2.0 - warmth)), height * (fine + 2.0 * lines), rough)


KINDS: Mapping[str, Callable[..., Maps]] = {
    "wood": wood, "weave": weave, "knit": knit, "cells": cells, "veins": veins, "relief": relief,
}  # fmt: skip


@lru_cache(maxsize=8)
def maps_of(name: str) -> Maps:
    """The maps of a recipe; its name is the seed."""
    recipe = recipes()[name]
    rng = np.random.default_rng([ord(c) for c in name])
    return KINDS[recipe.maps](rng, recipe.tile, **recipe.options)


def normals_of(height: Plane, tile: tuple[float, float]) -> Float[np.ndarray, "N N 3"]:
    """Unit normals of a relief: x to the right, y up the picture, whose first row is its top."""
    across = (np.roll(height, -1, axis=1) - np.roll(height, 1, axis=1)) * SIZE / (2.0 * tile[0])
    along = (np.roll(height, 1, axis=0) - np.roll(height, -1, axis=0)) * SIZE / (2.0 * tile[1])
    normal = np.stack([-across, -along, np.ones_like(height)], axis=-1)
    return normal / np.linalg.norm(normal, axis=-1, keepdims=True)


def _occlusion(height: Plane, tile: tuple[float, float]) -> Plane:
    """Light that reaches the bottom of a relief: less the further a place lies below its neighbours."""
    blurred = fft.irfft2(fft.rfft2(height) * _smooth(3.0, 3.0), s=height.shape)
    return np.clip(1.0 - np.maximum(blurred - height, 0.0) * SIZE / (3.0 * max(tile)), 0.0, 1.0)


def jpeg(values: np.ndarray, name: str, quality: int, chroma: bool = False) -> Texture:
    """Numbers, 0..1, as a picture; ``chroma`` keeps all three channels at full resolution."""
    from PIL import Image

    pixels: UInt8[np.ndarray, "N N 3"] = np.round(255.0 * np.clip(values, 0.0, 1.0)).astype(np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=quality, subsampling=0 if chroma else 2)
    return Texture(buffer.getvalue(), "image/jpeg", name)


@lru_cache(maxsize=64)
def pictures(name: str) -> tuple[tuple[Texture, Texture, Texture], Float[np.ndarray, "3"]]:
    """Base colour, normal, and (at half the size) occlusion, roughness and metal of a recipe; its mean reflectance."""
    maps, tile = maps_of(name), recipes()[name].tile
    shine = np.stack([_occlusion(maps.height, tile), maps.roughness, np.ones_like(maps.height)], axis=-1)
    half = shine.reshape(SIZE // 2, 2, SIZE // 2, 2, 3).mean(axis=(1, 3))
    label = name.strip("@").replace(" ", "_")
    drawn = (
        jpeg(to_srgb(maps.reflectance), f"{label}_base", QUALITY["reflectance"]),
        jpeg(0.5 + 0.5 * normals_of(maps.height, tile), f"{label}_normal", QUALITY["normal"], chroma=True),
        jpeg(half, f"{label}_shine", QUALITY["shine"]),
    )
    return drawn, maps.reflectance.mean(axis=(0, 1))


RGB = tuple[float, float, float]


@lru_cache(maxsize=1024)
def pbr(
    recipe: str, rgb: RGB, name: str = "", *, second: RGB | None = None, figure: str = "", repeats: int = 1
) -> Surface:
    """A surface of a recipe in a colour (linear light), which its mean has; with a printed figure in a second one."""
    r = recipes()[recipe]
    low, high = (LEAST_METAL, 1.0) if r.metallic else (DARKEST, BRIGHTEST)
    rgb = tuple(float(c) for c in np.clip(rgb, low, high))  # type: ignore[assignment]
    factor: npt.ArrayLike = rgb
    metal: dict[str, Any] = {"metallicFactor": r.metallic, "roughnessFactor": r.roughness}
    record: dict[str, Any] = {"pbrMetallicRoughness": metal, "doubleSided": True}
    lookups: tuple[Lookup, ...] = ()
    if r.maps:
        (base, normal, shine), mean = pictures(recipe)
        factor = np.minimum(np.array(rgb) / mean, 1.0)
        if figure and second is not None:
            base, factor = printed(recipe, figure, rgb, second, repeats), np.ones(3)
        lookups = tuple(Lookup(picture) for picture in (base, normal, shine))
        metal |= {"baseColorTexture": {"index": 0}, "metallicRoughnessTexture": {"index": 2}}
        record |= {"normalTexture": {"index": 1}, "occlusionTexture": {"index": 2}}
        record["extras"] = {TILE_KEY: list(r.tile)}
    extensions: dict[str, Any] = {}
    if r.sheen:
        white = [round(float(r.sheen * (0.1 + 0.9 * c)), 4) for c in np.sqrt(rgb)]
        extensions["KHR_materials_sheen"] = {"sheenColorFactor": white, "sheenRoughnessFactor": 0.5}
    if r.coat:
        coat = {"clearcoatFactor": r.coat, "clearcoatRoughnessFactor": r.coat_roughness}
        extensions["KHR_materials_clearcoat"] = coat
    alpha = 1.0
    if r.transmission:
        extensions["KHR_materials_transmission"] = {"transmissionFactor": r.transmission}
        alpha = 1.0 - 0.6 * r.transmission  # for formats and readers that know nothing but opacity
    if extensions:
        record["extensions"] = extensions
    metal["baseColorFactor"] = [*(round(float(c), 5) for c in np.asarray(factor)), alpha]
    return Surface.of(name or recipe, Finish.of(record, lookups))


def uniform(recipe: str, rgb: RGB, name: str) -> Surface:
    """A surface of a recipe without its maps and extensions."""
    r = recipes()[recipe]
    alpha, mode = (0.4, "BLEND") if r.transmission else (1.0, "OPAQUE")
    return Surface(name, (*rgb, alpha), r.metallic, r.roughness, alpha_mode=mode)  # type: ignore[arg-type]


@lru_cache(maxsize=64)
def printed(recipe: str, figure: str, first: RGB, second: RGB, repeats: int) -> Texture:
    """The base colour of a recipe with a figure of two colours printed on it."""
    u, v = _grid()
    mix = np.asarray(FIGURES[figure]((repeats * u) % 1.0, (repeats * v) % 1.0), dtype=float)[..., None]
    ground = maps_of(recipe).reflectance
    colours = np.asarray(first) * (1.0 - mix) + np.clip(second, DARKEST, BRIGHTEST) * mix
    return jpeg(to_srgb(colours * ground / ground.mean(axis=(0, 1))), f"{figure}_print", QUALITY["reflectance"])


def _petals(u: Plane, v: Plane) -> Plane:
    out = np.zeros_like(u)
    for x, y, r in ((0.25, 0.3, 0.2), (0.75, 0.75, 0.16), (0.72, 0.2, 0.1)):
        a, b = (u - x + 0.5) % 1.0 - 0.5, (v - y + 0.5) % 1.0 - 0.5
        far, angle = np.hypot(a, b), np.arctan2(b, a)
        edge = r * (0.65 + 0.35 * np.cos(5 * angle))
        out = np.maximum(out, np.where(far < edge, np.where(far < 0.22 * r, 0.3, 1.0), 0.0))
    return out


FIGURES: Mapping[str, Callable[[Plane, Plane], Plane]] = {
    "stripes": lambda u, v: u < 0.5,
    "bands": lambda u, v: v < 0.5,
    "checks": lambda u, v: (u < 0.5) ^ (v < 0.5),
    "plaid": lambda u, v: 0.42 * (u < 0.4) + 0.42 * (v < 0.4) + 0.16 * ((u + 0.3) % 1.0 < 0.1),
    "dots": lambda u, v: np.hypot(u - 0.5, v - 0.5) < 0.24,
    "floral": _petals,
    "diamonds": lambda u, v: abs(abs(u - 0.5) + abs(v - 0.5) - 0.42) < 0.025,
}
"""How much of the second colour there is on one period of a print."""

PERIODS = {"stripes": 4, "bands": 4, "checks": 4, "plaid": 3, "dots": 3, "floral": 1}
"""Of a figure on a square of ``Appearance.tile``."""


@lru_cache(maxsize=1024)
def tile_of(surface: Surface) -> tuple[float, float] | None:
    """Sides of the square that the pictures of a surface cover [m]; none where they have no scale."""
    extras = {} if surface.finish is None else surface.finish.record().get("extras", {})
    tile = extras.get(TILE_KEY) if isinstance(extras, dict) else None
    return None if tile is None else (float(tile[0]), float(tile[1]))


def unwrapped(shape: Shape, surface: Surface) -> Shape:
    """The shape with texture coordinates at the scale of its surface."""
    tile = tile_of(surface)
    if tile is None:
        return shape
    old, faces, uv = unwrap(shape.vertices, shape.faces, tile)
    return Shape(shape.vertices[old], faces, uv)


def unwrap(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"], tile: tuple[float, float]
) -> tuple[Int[np.ndarray, " W"], Int[np.ndarray, "F 3"], Float[np.ndarray, "W 2"]]:
    """Texture coordinates of a piece in metres, split where faces turn to another axis: old vertices, faces, UVs.

    Grain (``tile`` longer than wide) of boards is a solid texture: its planes run along the longest side of the box and
    pass through the thickness at a slope, so that rings go on around edges and end on the ends of a board. Everything
    else is projected along the nearest axis of each face; what is thick is veneered along the longer side of each face.
    """
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    label = np.abs(np.cross(b - a, c - a)).round(12).argmax(axis=1)
    old, faces, side = split_by_face_label(faces, label)
    places = vertices[old]
    sides = np.ptp(vertices, axis=0).round(6)
    thin, wide, long = np.argsort(sides, kind="stable")
    if tile[1] > tile[0] and sides[thin] < THICKEST_BOARD:
        metres = np.column_stack([places[:, wide] + SLANT * places[:, thin], places[:, long]])
    else:
        axes = [(u, v) if sides[v] >= sides[u] else (v, u) for u, v in ((2, 1), (0, 2), (0, 1))]
        metres = np.take_along_axis(places, np.array(axes)[side], axis=1)
    return old, faces, metres / np.array(tile)
