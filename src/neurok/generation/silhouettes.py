"""Which known object a picture is most like, by the outline of what it shows.

Beside outlines of some thousand renders of objects to learn from, the lists of parts of these. The nearest is nearer in
shape than what the networks write from a picture; what it is likely to be, as the image encoder says, counts beside it.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8
from torch import Tensor

from neurok.catalogue.appearance import colour_words, rgb_of, shades
from neurok.catalogue.assemble import placed_anew
from neurok.catalogue.captions import main_part
from neurok.catalogue.parts import Assembly
from neurok.catalogue.record import assembly_of
from neurok.generation.editing import OWN_PATTERNS, in_colour, of_material
from neurok.generation.framing import PLAIN
from neurok.generation.image_encoder import PictureReader

GRID = 16
"""Cells of an outline along each side of its box."""

OUTLINES = Path(__file__).with_name("outlines.npz")


BEHIND = 0.04  # how far a pixel is from the plain background, in one channel, to belong to the object
ASPECT = 0.5  # what the logarithm of height over width counts beside the outline
DOUBT = 0.02
"""What a nat of the reader's doubt that an object is of a category counts beside the outline. Best for the categories
of 69 pictures of real models that are neither kept aside nor learned from (0.74; 0.72 from 0.005 to 0.04; outlines
alone 0.58, the reader alone 0.67): ``benchmarks/weigh_outlines.py``."""


@dataclass(frozen=True, eq=False)
class Outlines:
    """Outlines of known objects, and the lists of these."""

    outlines: UInt8[np.ndarray, "N G G"]
    aspects: Float[np.ndarray, " N"]
    categories: list[str]
    owners: Int[np.ndarray, " N"]
    """Which object each is a view of."""

    records: list[bytes]
    """Of the objects: JSON, compressed."""

    def apart(self, pixels: Float[np.ndarray, "S S 3"]) -> Float[np.ndarray, " N"]:
        """How far the outline of a picture is from each."""
        outline, aspect = outline_of(pixels)
        apart = np.linalg.norm((self.outlines / 255.0 - outline).reshape(len(self.outlines), -1), axis=1) / GRID
        return np.asarray(np.hypot(apart, ASPECT * (self.aspects - aspect)))

    def nearest(
        self, pixels: Float[np.ndarray, "S S 3"], likely: Mapping[str, float] | None = None, rank: int = 0
    ) -> Assembly:
        """The object whose outline is nearest, or the next ones of its category.

        Args:
            likely: Logarithms of how probable categories are; those that are not there are none of them.
        """
        apart = self.apart(pixels)
        if likely is not None:
            apart -= DOUBT * np.array([likely.get(category, -np.inf) for category in self.categories])
        category = self.categories[int(apart.argmin())]
        fellows = np.flatnonzero(np.array(self.categories) == category)
        sorted_owners = self.owners[fellows[np.argsort(apart[fellows], kind="stable")]].tolist()
        owners = list(dict.fromkeys(sorted_owners))
        return assembly_of(json.loads(gzip.decompress(self.records[owners[rank % len(owners)]])))


@cache
def known_outlines() -> Outlines:
    """Those that are shipped."""
    with np.load(OUTLINES) as file:
        ends = np.cumsum(file["lengths"])
        raw = file["records"].tobytes()
        records = [raw[end - length : end] for end, length in zip(ends, file["lengths"], strict=True)]
        return Outlines(file["outlines"], file["aspects"], file["categories"].tolist(), file["owners"], records)


def is_object(pixels: Float[np.ndarray, "S S 3"]) -> Bool[np.ndarray, "S S"]:
    """Pixels of what was cut out, not of the plain grey behind it."""
    return np.asarray(np.abs(pixels - PLAIN).max(axis=2) > BEHIND)


def outline_of(pixels: Float[np.ndarray, "S S 3"]) -> tuple[Float[np.ndarray, "G G"], float]:
    """How much of each cell of its box an object fills, and the logarithm of height over width."""
    mask = is_object(pixels)
    if not mask.any():
        return np.zeros((GRID, GRID)), 0.0
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    box = mask[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1].astype(np.float64)
    ends = [np.linspace(0, side, GRID + 1) for side in box.shape]
    sums = np.pad(box.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    lines = np.stack([np.interp(ends[0], np.arange(len(sums)), column) for column in sums.T], axis=1)
    cells = np.stack([np.interp(ends[1], np.arange(lines.shape[1]), row) for row in lines])
    filled = np.diff(np.diff(cells, axis=0), axis=1) * GRID**2 / box.size
    return np.clip(filled, 0.0, 1.0), float(np.log(box.shape[0] / box.shape[1]))


def middle_colour(pixels: Float[np.ndarray, "S S 3"]) -> Float[np.ndarray, " 3"]:
    """The middle one of an object's pixels, channel by channel."""
    return np.asarray(np.median(pixels[is_object(pixels)], axis=0))


def colour_of(pixels: Float[np.ndarray, "S S 3"]) -> str:
    """The colour word that is nearest to the middle one of an object's pixels."""
    middle = middle_colour(pixels)
    return min(colour_words(), key=lambda word: float(np.linalg.norm(np.subtract(rgb_of(word), middle))))


def with_appearance_seen(assembly: Assembly, reader: PictureReader, picture: Float[Tensor, "3 S S"]) -> Assembly:
    """The object in what the reader sees: the colour of every part, and what the one that stands for all is made of.

    Patterns that the reader does not see are left out. Parts of the same material as the main one go along. Of the
    others the known object tells the material as well as the reader does (0.81 of 473 parts of held-out pictures).
    """
    main = assembly.parts[main_part(assembly)]
    names = list(dict.fromkeys(part.name for part in assembly.parts))
    seen = reader.likeliest(picture, names, ("colour", "pattern", "cover", "material"))
    material = seen["cover"][main.name] or seen["material"][main.name]
    middle = middle_colour(picture.permute(1, 2, 0).numpy())
    parts = []
    for part in assembly.parts:
        alike = part.appearance.visible_material == main.appearance.visible_material
        finish = of_material(part, material) if alike else part.appearance
        if seen["pattern"][part.name] == "plain" and finish.pattern not in OWN_PATTERNS:
            finish = replace(finish, pattern="plain", second="", second_rgb=(1.0, 1.0, 1.0))
        colour = seen["colour"][part.name]
        is_main = part.name == main.name
        shade = min(shades(colour), key=lambda word: np.linalg.norm(np.subtract(rgb_of(word), middle)))
        parts.append(placed_anew(part, appearance=in_colour(finish, shade if is_main else colour)))
    return replace(assembly, parts=tuple(parts))


def recoloured(assembly: Assembly, shade: str) -> Assembly:
    """The part that stands for the whole in another colour, and all that have the same."""
    old, colour = assembly.parts[main_part(assembly)].appearance.colour, colour_words()[shade]
    parts = [
        placed_anew(part, appearance=replace(part.appearance, colour=colour, shade=shade, rgb=rgb_of(shade)))
        if part.appearance.colour == old
        else part
        for part in assembly.parts
    ]
    return replace(assembly, parts=tuple(parts))
