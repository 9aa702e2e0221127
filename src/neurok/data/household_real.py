"""Real household models as assemblies: pieces of their scene nodes and materials, closed, coloured and placed.

One model in five, by a checksum of its name, is kept aside: it is measured by and never learned from. One in three of
the others is watched: generation does not learn from it, and choices are made by it.
"""

from __future__ import annotations

import csv
import hashlib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int

from neurok.core import Asset, Mesh
from neurok.core.regions import Region, regions_of
from neurok.data.household_repeats import Single, repeated
from neurok.data.household_solids import closed_solid
from neurok.errors import NeurokError
from neurok.families.household.looks import colour_words, rgb_of
from neurok.families.household.parts import Assembly, Look, Part
from neurok.families.household.vocabulary import PART_NAMES
from neurok.geometry.topology import face_components
from neurok.io import load
from neurok.modelling.forms import CODE
from neurok.modelling.shapes import Shape

KEPT_ASIDE = 5
"""One model in so many."""

WATCHED = 3
"""One of the others in so many."""

VESSELS = ("bag", "hat", "plant", "vase")
"""Categories whose openings are meant."""

CATEGORY = {"potted plant": "plant"}
"""Our names of categories that the library calls otherwise."""


@dataclass(frozen=True)
class PieceConfig:
    """How a region is cut into parts."""

    apart: float = 0.02
    """Components nearer than this share of the object's size are one part ..."""

    pieces: int = 6
    """... and no more than so many of a region are parts of their own: the smaller ones join the nearest."""

    smallest: float = 0.012
    """Parts whose longest side is a smaller share of the object's are left out."""

    parts: int = 16
    """Of an object, at most; the largest."""


PIECES = PieceConfig()


@dataclass(frozen=True)
class RealModel:
    """A file of the library."""

    path: Path
    category: str
    is_kept_aside: bool

    @property
    def is_watched(self) -> bool:
        """Whether generation does not learn from it, so that choices can be made by it."""
        return not self.is_kept_aside and zlib.crc32(self.path.stem.encode()) % WATCHED == 0

    @property
    def is_learned(self) -> bool:
        """Whether generation may learn from it."""
        return not self.is_kept_aside and not self.is_watched


def real_models(folder: Path) -> list[RealModel]:
    """All models of a folder with a ``categories.csv``, as Sweet Home 3D's was sorted.

    Raises:
        NeurokError: If there is no such list.
    """
    table = folder / "categories.csv"
    if not table.exists():
        raise NeurokError(f"There is no '{table}'; name the folder of the sorted furniture library.")
    with table.open(encoding="utf-8") as lines:
        rows = [(row["file"], row["category"]) for row in csv.DictReader(lines)]
    return [RealModel(folder / file, CATEGORY.get(kind, kind), is_kept_aside(file)) for file, kind in rows]


def is_kept_aside(file: str) -> bool:
    """Whether a model, named by its path within the library, must not be learned from."""
    return int(hashlib.sha256(file.encode()).hexdigest(), 16) % KEPT_ASIDE == 0


def real_assembly(
    thing: Asset | Path, category: str, stuff: Mapping[str, str], config: PieceConfig = PIECES
) -> Assembly:
    """A model as a list of implicit parts, the largest first, copies as one; each meets the nearest one before it.

    Args:
        thing: The model, or where it lies.
        category: What it is.
        stuff: A material of the library for each region of its mesh, by name.
        config: How regions are cut into parts.
    """
    mesh = (thing if isinstance(thing, Asset) else load(thing)).mesh
    found: list[Single] = []
    for region in regions_of(mesh):
        look, name = look_of(mesh, region, stuff[region.name]), name_of(region)
        for faces in pieces_of(mesh, region, config):
            places = np.asarray(mesh.vertices, dtype=np.float64)
            solid = closed_solid(places, mesh.faces[faces], capped=category not in VESSELS)
            if solid is not None and np.ptp(solid.bounds, axis=0).max() > config.smallest * mesh.size:
                found.append(Single(solid, look, name))
    if not found:
        raise NeurokError(f"'{mesh.name}' has no part with a surface.")
    found.sort(key=lambda one: -float(np.prod(one.size)))
    return Assembly(category, tuple(_placed(repeated(found)[: config.parts])), name=mesh.name)


def pieces_of(mesh: Mesh, region: Region, config: PieceConfig = PIECES) -> list[Int[np.ndarray, " f"]]:
    """Faces of the parts of a region: connected components, those next to each other as one."""
    faces = mesh.faces[region.faces]
    label = face_components(np.asarray(mesh.vertices, dtype=np.float64), faces)
    count = int(label.max()) + 1
    corners = np.asarray(mesh.vertices, dtype=np.float64)[faces]
    low, high = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
    np.minimum.at(low, label, corners.min(axis=1))
    np.maximum.at(high, label, corners.max(axis=1))
    group = _grouped(low, high, config.apart * mesh.size, config.pieces)
    return [region.faces[group[label] == each] for each in np.unique(group)]


def _grouped(
    low: Float[np.ndarray, "N 3"], high: Float[np.ndarray, "N 3"], apart: float, most: int
) -> Int[np.ndarray, " N"]:
    """Boxes joined while they overlap much or are too many; each group is named by one of its members."""
    group = np.arange(len(low))
    low, high = low.copy(), high.copy()
    alive = list(np.argsort(-np.prod(high - low + apart, axis=1)))
    for place in range(len(alive) - 1, 0, -1):
        one, others = alive[place], np.array(alive[:place])
        gap = np.maximum(np.maximum(low[others] - high[one], low[one] - high[others]), 0.0)
        shared = np.minimum(high[others], high[one]) - np.maximum(low[others], low[one])
        away = np.linalg.norm(gap, axis=1)
        is_within = (shared > -0.1 * apart).all(axis=1) & (np.prod(np.maximum(shared, apart), axis=1)
                    > 0.3 * np.prod(np.maximum(high[one] - low[one], apart)))  # fmt: skip
        if not is_within.any() and place < most:
            continue
        other = others[np.argmin(np.where(is_within, away, away + 1e3 * (1.0 if is_within.any() else 0.0)))]
        group[group == one] = other
        low[other], high[other] = np.minimum(low[other], low[one]), np.maximum(high[other], high[one])
        alive.pop(place)
    return group


def look_of(mesh: Mesh, region: Region, stuff: str) -> Look:
    """The mean colour of a region on a screen, and the nearest colour word; its material as given."""
    rgb = tuple(float(x) for x in mean_colour(mesh, region))
    words = list(colour_words())
    word = words[int(np.argmin([np.linalg.norm(np.subtract(rgb_of(w), rgb)) for w in words]))]
    return Look(colour_words()[word], word, rgb, stuff)  # type: ignore[arg-type]


def mean_colour(mesh: Mesh, region: Region) -> Float[np.ndarray, "3"]:
    """sRGB, 0..1: the texture at the region's corners, or its base colour."""
    if region.surface is None:
        return np.full(3, 0.8)
    linear = np.array(region.surface.base_color[:3], dtype=np.float64)
    used = np.unique(mesh.faces[region.faces])
    if region.surface.texture is not None:
        pixels = region.surface.texture.pixels()[:, :, :3]
        if mesh.uv is not None:
            size = np.array(pixels.shape[1::-1])
            column, row = np.floor((np.asarray(mesh.uv)[used] % 1.0) * size).astype(int).T % size[:, None]
            seen = pixels[row, column] / 255.0
        else:
            seen = pixels.reshape(-1, 3) / 255.0
        linear = linear * np.mean(seen**2.2, axis=0)
    if mesh.vertex_colors is not None:
        linear = linear * np.asarray(mesh.vertex_colors)[used, :3].mean(axis=0)
    return np.clip(linear, 0.0, 1.0) ** (1 / 2.2)


def name_of(region: Region) -> str:
    """The first word for a part that the region's name holds, else ``body``."""
    text = region.name.lower()
    return next((name for name in sorted(PART_NAMES, key=len, reverse=True) if name in text), "body")


def _placed(found: list[Single]) -> list[Part]:
    parts: list[Part] = []
    for one in found:
        low, high = one.solid.bounds
        parent, meets = _nearest(parts, low, high)
        shape = Shape(one.solid.vertices - one.centre, one.solid.faces)
        parts.append(
            Part(
                one.name,
                "body",
                "implicit",
                np.zeros(CODE),
                one.size,
                one.centre,
                np.eye(3),
                one.look,
                repeat=one.repeat,
                parent=parent,
                meets=meets,
                mesh=shape,
            )
        )
    return parts


def _nearest(parts: list[Part], low: np.ndarray, high: np.ndarray) -> tuple[int, np.ndarray]:
    """The part whose box is nearest to a box, and where they meet."""
    if not parts:
        return -1, (low + high) / 2
    lows, highs = (np.array([part.centre + sign * part.size / 2 for part in parts]) for sign in (-1.0, 1.0))
    gap = np.linalg.norm(np.maximum(np.maximum(lows - high, low - highs), 0.0), axis=1)
    best = int(np.argmin(gap))
    return best, (np.maximum(low, lows[best]) + np.minimum(high, highs[best])) / 2
