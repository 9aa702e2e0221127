"""Colours by name, materials with what their words say, and the surfaces and constants that follow."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import cast

import numpy as np
from jaxtyping import UInt8

from neurok.catalogue.parts import Appearance, Feel, Pattern
from neurok.core import Surface, Texture
from neurok.core.material import Material
from neurok.core.material_library import library, material
from neurok.modelling.sampler import Sampler
from neurok.modelling.surfaces import linear

RGB = tuple[float, float, float]


JITTER = 0.018
"""Standard deviation of each sRGB channel about the shade's own."""

OWN_WORD = 0.4
"""Chance of the palette's own shade; one of its other words otherwise."""

UNUSUAL = 0.4
"""How likely a colour that ``USUAL`` does not name is, where several may be drawn."""

FEEL: Mapping[str, tuple[float, float]] = {
    "": (1.0, 1.0), "soft": (0.5, 0.9), "firm": (2.0, 1.1), "stiff": (1.6, 1.0), "flexible": (0.6, 1.0),
    "heavy": (1.0, 1.3), "light": (1.0, 0.75),
}  # fmt: skip
"""Factors of Young's modulus and density beside the library's; set by hand so that words differ clearly."""

COVER: Mapping[str, tuple[float, float]] = {
    "leather": (1.6, 1.2), "artificial leather": (1.5, 1.2), "suede": (1.3, 1.1), "denim": (1.25, 1.1),
    "canvas": (1.3, 1.1), "burlap": (1.2, 1.05), "knit": (0.85, 1.0), "silk": (0.9, 1.0),
}  # fmt: skip
"""The same for padding, by what covers it; 1 for other cloths. Stiff covers spread a load."""


USUAL: Mapping[str, float] = {
    "white": 1.7, "beige": 1.9, "grey": 3.3, "charcoal": 2.1, "silver": 1.4, "olive": 2.1, "light grey": 1.5,
    "cream": 0.9, "tan": 0.7, "light brown": 0.9, "black": 0.5, "terracotta": 1.1, "light blue": 1.0, "purple": 1.0,
    "lime green": 1.2, "brown": 0.5, "orange": 1.5, "blue": 1.2, "green": 0.5, "dark brown": 0.2, "navy": 1.1,
    "gold": 1.1, "dark green": 0.5, "hot pink": 0.8, "red": 0.5, "mustard": 1.0,
}  # fmt: skip
"""How much likelier colours are than when all that are allowed are drawn evenly: surface of 80 real models (of
Sweet Home 3D, not kept aside) over that of drawings of the same categories, one model added to both."""


@cache
def _palette() -> tuple[Mapping[str, str], Mapping[str, Mapping[str, str]], Mapping[str, str]]:
    data = json.loads(Path(__file__).with_name("colours.json").read_text(encoding="utf-8"))
    words = {colour: row["words"] for colour, row in data.items()}
    return {c: row["basic"] for c, row in data.items()}, words, {w: c for c, ws in words.items() for w in ws}


def palette() -> tuple[str, ...]:
    """The colours that parts are said to have."""
    return tuple(_palette()[0])


def colour_words() -> Mapping[str, str]:
    """The palette's colour of every colour word."""
    return _palette()[2]


def shades(colour: str) -> Mapping[str, str]:
    """Words for a colour of the palette, each with its sRGB hex."""
    return _palette()[1][colour]


def basic(colour: str) -> str:
    """The basic colour that a colour of the palette is a kind of: ``navy`` is blue."""
    return _palette()[0][colour]


def rgb_of(word: str) -> RGB:
    """sRGB of a colour word, 0..1."""
    code = shades(colour_words()[word])[word]
    return tuple(int(code[i : i + 2], 16) / 255.0 for i in (1, 3, 5))  # type: ignore[return-value]


Words = str | Sequence[str]
"""Words to draw from: a list, or a text such as ``"white*3, black, none"`` with how often each counts."""


@lru_cache(maxsize=1024)
def _weighed(text: str) -> tuple[str, ...]:
    pairs = [entry.partition("*") for entry in text.split(", ")]
    return tuple(("" if word == "none" else word) for word, _, count in pairs for _ in range(int(count or 1)))


def words_of(words: Words) -> tuple[str, ...]:
    """The words one by one, each as often as it counts; ``none`` is the empty word."""
    return _weighed(words) if isinstance(words, str) else tuple(words)


def draw_appearance(
    d: Sampler,
    colours: Words,
    materials: Words,
    *,
    covers: Words = (),
    feels: Words = "none",
    patterns: Words = "plain",
    tile: float = 0.2,
) -> Appearance:
    """A look of words drawn from what is allowed; repeat a word to make it likelier."""
    colours = words_of(colours)
    colour = d.pick(colours, [USUAL.get(c, UNUSUAL) for c in colours])
    pattern = cast(Pattern, d.pick(words_of(patterns)))
    shade = colour if d.chance(OWN_WORD) else d.pick(list(shades(colour)))
    second = d.pick([c for c in colours if c != colour] or ["white"])
    return Appearance(
        colour,
        shade,
        _near(d, rgb_of(shade)),
        d.pick(words_of(materials)),
        d.pick(words_of(covers)) if covers else "",
        cast(Feel, d.pick(words_of(feels))),
        pattern,
        "" if pattern in ("plain", "wood", "weave") else second,
        _second_rgb(d, pattern, rgb_of(shade), rgb_of(second)),
        tile,
    )


def _near(d: Sampler, rgb: RGB) -> RGB:
    return tuple(float(np.clip(c + d.rng.normal(0.0, JITTER), 0.0, 1.0)) for c in rgb)  # type: ignore[return-value]


def _second_rgb(d: Sampler, pattern: Pattern, first: RGB, second: RGB) -> RGB:
    """Grain and threads are darker tones of the same colour."""
    if pattern in ("wood", "weave"):
        return tuple(c * d.between(0.72, 0.86) for c in first)  # type: ignore[return-value]
    return second


def material_of(finish: Appearance) -> Material:
    """The constants of a look: the library's, scaled by its feel and, for padding, by its cover."""
    known = material(finish.material)
    stiffer, heavier = FEEL[finish.feel]
    if finish.cover:
        stiff, heavy = COVER.get(finish.cover, (1.0, 1.0))
        stiffer, heavier = stiffer * stiff, heavier * heavy
    return replace(
        known,
        young=known.young * stiffer,
        density=known.density * heavier,
        yield_stress=None if known.yield_stress is None else known.yield_stress * stiffer,
    )


ROUGHNESS = {"metal": 0.3, "ceramic": 0.3, "plastic": 0.4, "wood": 0.6, "leather": 0.5, "plant": 0.65, "composite": 0.4}
"""By family of the library; 0.95 otherwise, as of cloth."""

METALLIC = ("silver", "gold", "light grey", "grey", "charcoal")
"""Colours in which metal is bare; in others it is painted."""


@lru_cache(maxsize=4096)
def surface_of(finish: Appearance) -> Surface:
    """How a look is drawn."""
    material = finish.visible_material
    family = library()[material].family if material in library() else "fabric"
    is_bare = family == "metal" and finish.colour in METALLIC
    rough = ROUGHNESS.get(family, 0.95)
    name = f"{finish.shade} {material}"
    alpha, mode = (0.4, "BLEND") if material in ("glass", "acrylic") and finish.feel != "stiff" else (1.0, "OPAQUE")
    if finish.pattern == "plain":
        return Surface(name, (*linear(_hex(finish.rgb)), alpha), 0.8 if is_bare else 0.0, rough, alpha_mode=mode)  # type: ignore[arg-type]
    texture = Texture.from_pixels(
        pattern_pixels(finish.pattern, finish.rgb, finish.second_rgb), f"{finish.pattern}_{finish.shade}"
    )
    return Surface(name, (1.0, 1.0, 1.0, 1.0), 0.0, rough, texture)


def _hex(rgb: RGB) -> str:
    return "#" + "".join(f"{round(255 * c):02x}" for c in rgb)


PIXELS = 128


def pattern_pixels(pattern: Pattern, first: RGB, second: RGB, size: int = PIXELS) -> UInt8[np.ndarray, "N N 3"]:
    """One square of a pattern; it tiles."""
    u, v = np.meshgrid((np.arange(size) + 0.5) / size, (np.arange(size) + 0.5) / size)
    mix = np.clip(_MIXES[pattern](u, v), 0.0, 1.0)[..., None]
    colours = np.array(first) * (1.0 - mix) + np.array(second) * mix
    return np.clip(255.0 * colours, 0, 255).astype(np.uint8)


def _grain(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Rings and fibres of wood, along v."""
    rng = np.random.default_rng(5)
    warp = sum(
        a / k * np.sin(2 * np.pi * k * v + p)
        for k, a, p in zip((1, 2, 3), (0.5, 0.4, 0.3), (0.4, 2.0, 4.0), strict=True)
    )
    rings = (0.5 + 0.5 * np.sin(2 * np.pi * (6 * u + 0.35 * warp))) ** 3
    fibres = np.repeat(rng.random((1, u.shape[1])), u.shape[0], axis=0)
    return np.asarray(0.7 * rings + 0.45 * fibres)


def _petals(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    out = np.zeros_like(u)
    for x, y, r in ((0.25, 0.3, 0.2), (0.75, 0.75, 0.16), (0.72, 0.2, 0.1)):
        a, b = (u - x + 0.5) % 1.0 - 0.5, (v - y + 0.5) % 1.0 - 0.5
        far, angle = np.hypot(a, b), np.arctan2(b, a)
        edge = r * (0.65 + 0.35 * np.cos(5 * angle))
        out = np.maximum(out, np.where(far < edge, np.where(far < 0.22 * r, 0.3, 1.0), 0.0))
    return out


def _veins(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    phase = u + 0.5 * np.sin(2 * np.pi * (v + 0.2)) * 0.4 + 0.12 * np.sin(2 * np.pi * (3 * u + 2 * v))
    return np.asarray(
        np.exp(-((np.abs((phase + v) % 0.5 - 0.25) / 0.05) ** 2)) * 0.7 + 0.1 * np.sin(2 * np.pi * (2 * u - v))
    )


_MIXES = {
    "stripes": lambda u, v: ((u * 4) % 1.0 < 0.5).astype(float),
    "bands": lambda u, v: ((v * 4) % 1.0 < 0.5).astype(float),
    "checks": lambda u, v: (((u * 4) % 1.0 < 0.5) ^ ((v * 4) % 1.0 < 0.5)).astype(float),
    "plaid": lambda u, v: (
        0.42 * ((u * 3) % 1.0 < 0.4) + 0.42 * ((v * 3) % 1.0 < 0.4) + 0.16 * ((u * 3 + 0.3) % 1.0 < 0.1)
    ),
    "dots": lambda u, v: (np.hypot((u * 3) % 1.0 - 0.5, (v * 3) % 1.0 - 0.5) < 0.24).astype(float),
    "floral": _petals,
    "weave": lambda u, v: (
        np.where(
            (np.floor(u * 16) + np.floor(v * 16)) % 2 == 0,
            np.abs(np.sin(np.pi * 16 * u)),
            np.abs(np.sin(np.pi * 16 * v)),
        )
        < 0.5
    ),
    "wood": _grain,
    "marble": _veins,
}
