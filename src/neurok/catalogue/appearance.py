"""Colours by name, materials with what their words say, and the surfaces and constants that follow."""

from __future__ import annotations

import colorsys
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import cast

import numpy as np

from neurok.catalogue.parts import Appearance, Feel, Pattern
from neurok.core import Surface
from neurok.core.material import Material
from neurok.core.material_library import library, material
from neurok.modelling.sampler import Sampler
from neurok.modelling.surfaces import linear
from neurok.modelling.textures import FIGURES, PERIODS, pbr, recipes, uniform

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


METAL_SHADE = 0.6
"""Colour words say how metal looks among paints, darker than what it reflects: grey steel 0.2 and 0.4."""

UNPAINTED = ("rattan", "straw", "cork", "bark", "bamboo")
"""Of the family of wood, but seen in any colour."""

DARK_STONE = 0.35
"""sRGB of the brightest channel below which veins of marble are lighter than the stone."""

NATURAL = {
    **dict.fromkeys(("rattan", "cork", "suede", "cardboard"), "tan"),
    **dict.fromkeys(("straw", "mdf"), "beige"),
    **dict.fromkeys(("ceramic", "porcelain", "marble"), "white"),
    **dict.fromkeys(("glass", "acrylic"), "light grey"),
    **dict.fromkeys(("granite", "concrete"), "grey"),
    **{"terracotta": "terracotta", "zinc": "silver", "leather": "brown", "soil": "dark brown", "brass": "gold"},
    **{"gold": "gold", "copper": "salmon", "cast iron": "charcoal", "walnut": "brown", "pine": "beige"},
}
"""Colours in which materials are seen that one would not say a colour of."""

NATURAL_OF_FAMILY = {
    "wood": "light brown", "metal": "silver", "leather": "brown", "fabric": "beige", "plant": "green",
    "rubber": "charcoal", "plastic": "light grey", "ground": "brown", "tissue": "tan", "paper": "cream",
    "composite": "charcoal",
}  # fmt: skip


def natural_rgb(material: str) -> RGB:
    """sRGB of a material that nobody has painted or dyed."""
    family = library()[material].family if material in library() else ""
    return rgb_of(NATURAL.get(material) or NATURAL_OF_FAMILY.get(family, "white"))


def is_bare(material: str, rgb: RGB) -> bool:
    """Whether wood or metal of that colour (sRGB) is seen itself, neither stained nor painted: brown, grey, golden."""
    hue, saturation, value = colorsys.rgb_to_hsv(*rgb)
    if material in ("brass", "copper", "gold"):
        return 0.01 < hue < 0.17 and saturation > 0.2
    if library()[material].family == "metal":
        return value > 0.2 and saturation < 0.12
    return 0.01 < hue < 0.16 and saturation > 0.15


def recipe_of(material: str, rgb: RGB, *words: str, grain: bool = False, opaque: bool = False) -> str:
    """The recipe (``modelling.textures``) of a material of the library in a colour (sRGB); words may name a wood."""
    family = library()[material].family if material in library() else "fabric"
    if family == "wood" and not grain and material in ("mdf", "particleboard"):
        return "board"
    if family == "wood" and not grain and not is_bare(material, rgb) and material not in UNPAINTED:
        return "painted wood"
    if family == "wood" and material == "wood":
        material = next((word for word in words if word in recipes() and recipes()[word].maps == "wood"), material)
    if family == "metal" and material != "cast iron":
        if is_bare(material, rgb):
            return "@metal" if material in ("steel", "aluminium", "titanium", "lead") else "polished"
        return "powder coat" if max(rgb) < 0.3 else "enamel"
    if material == "glass" and opaque:
        return "dark glass" if max(rgb) < DARK_STONE else "milk glass"
    if material == "marble" and max(rgb) < DARK_STONE:
        return "dark marble"
    own = (PADDING.get(material, material), f"@{family}", "default")
    return next(name for name in own if name in recipes())


PADDING = dict.fromkeys(("upholstery", "mattress", "stuffing", "down"), "@fabric")
"""What is padded is seen as its cloth."""


@lru_cache(maxsize=4096)
def surface_of(finish: Appearance, textured: bool = True) -> Surface:
    """How a part is drawn: with the maps of its recipe, or for meshes without texture coordinates in one colour."""
    material = "marble" if finish.pattern == "marble" else finish.visible_material
    recipe = recipe_of(
        material, finish.rgb, *finish.shade.split(), grain=finish.pattern == "wood", opaque=finish.feel == "stiff"
    )
    name, rgb = f"{finish.shade} {finish.visible_material}", linear(finish.rgb)
    if recipes()[recipe].metallic:
        rgb = (rgb[0] ** METAL_SHADE, rgb[1] ** METAL_SHADE, rgb[2] ** METAL_SHADE)
    if not textured:
        return uniform(recipe, rgb, name)
    if finish.pattern not in FIGURES or not recipes()[recipe].maps:
        return pbr(recipe, rgb, name)
    repeats = max(1, round(PERIODS[finish.pattern] * recipes()[recipe].tile[0] / finish.tile))
    return pbr(recipe, rgb, name, second=linear(finish.second_rgb), figure=finish.pattern, repeats=repeats)
