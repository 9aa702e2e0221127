"""What pictures are compared with: the object of a store whose picture is nearest, by its colours or by its outline."""

from __future__ import annotations

import itertools
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Bool, Float, UInt8

from neurok.core import Asset, Mesh
from neurok.core.material_library import library
from neurok.data.household import drawn
from neurok.data.household_pictures import PictureConfig, PictureSet, draw_views, take_pictures
from neurok.data.household_real import real_models
from neurok.data.picture_augmentation import on_plain
from neurok.errors import NeurokError
from neurok.evaluation.generation import (
    SUITE,
    GenerationSuite,
    Row,
    Tell,
    held_out,
    keep,
    shape_distance,
    soundness,
    spread,
    stored,
)
from neurok.families.household.asset import asset_of
from neurok.families.household.captions import main_part
from neurok.families.household.looks import basic
from neurok.families.household.parts import Assembly
from neurok.families.household.vocabulary import CATEGORIES
from neurok.inference.generate import GENERATE, GenerateConfig, generate
from neurok.io import load


@dataclass(frozen=True)
class RetrievalConfig:
    """How pictures are compared."""

    cells: int = 14
    """Along the side of a picture whose mean colours are compared."""

    outline: int = 16
    """Cells of an outline along each side of the object's box."""

    aspect: float = 0.5
    """What the logarithm of height over width counts beside the outline."""


RETRIEVAL = RetrievalConfig()


@dataclass(frozen=True, eq=False)
class Retrieval:
    """Pictures of known objects: what a network has to beat."""

    names: list[str]
    colours: Float[np.ndarray, "N C"]
    outlines: Float[np.ndarray, "N O"]

    @staticmethod
    def open(folder: Path) -> Retrieval:
        """All pictures of a store."""
        rows, pictures = zip(*PictureSet.open(folder), strict=True)
        return Retrieval(
            [row.name for row in rows],
            np.stack([colours_of(np.asarray(one)) for one in pictures]),
            np.stack([outline_of(np.asarray(one)[..., 3] > 127) for one in pictures]),
        )

    def by_colours(self, picture: UInt8[np.ndarray, "S S 4"]) -> Assembly:
        """The object whose picture has the most similar colours at the same places."""
        return self._object(self.colours - colours_of(picture))

    def by_outline(self, picture: UInt8[np.ndarray, "S S 4"]) -> Assembly:
        """The object whose outline is nearest."""
        return self._object(self.outlines - outline_of(picture[..., 3] > 127))

    def _object(self, apart: Float[np.ndarray, "N F"]) -> Assembly:
        category, _, numbers = self.names[int(np.linalg.norm(apart, axis=1).argmin())].rpartition(" ")
        seed, index = numbers.split("/")
        return drawn(category, int(seed), int(index))


def colours_of(picture: UInt8[np.ndarray, "S S 4"]) -> Float[np.ndarray, " C"]:
    """Mean colours of coarse cells, on a plain background."""
    plain = on_plain(torch.from_numpy(np.array(picture))[None])
    return torch.nn.functional.adaptive_avg_pool2d(plain, RETRIEVAL.cells).flatten().numpy()


def outline_of(mask: Bool[np.ndarray, "S S"]) -> Float[np.ndarray, " O"]:
    """How much of each cell of its box an object fills, and the logarithm of height over width; weighed."""
    cells = RETRIEVAL.outline
    if not mask.any():
        return np.zeros(cells**2 + 1)
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    box = mask[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1].astype(np.float64)
    ends = [np.linspace(0, side, cells + 1) for side in box.shape]
    sums = np.pad(box.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    lines = np.stack([np.interp(ends[0], np.arange(len(sums)), column) for column in sums.T], axis=1)
    grid = np.stack([np.interp(ends[1], np.arange(lines.shape[1]), row) for row in lines])
    filled = np.clip(np.diff(np.diff(grid, axis=0), axis=1) * cells**2 / box.size, 0.0, 1.0)
    return np.append(filled / cells, RETRIEVAL.aspect * np.log(box.shape[0] / box.shape[1]))


MAKERS = {"as shipped": GENERATE, "network alone": replace(GENERATE, outlines=False)}
"""How an object is made of a picture."""

WAYS = {"nearest outline": Retrieval.by_outline, "nearest picture": Retrieval.by_colours}
"""How a known object is found for a picture."""

ONCE = ("network alone", "nearest picture")
"""What is only tried with the first picture of each object."""

PICTURES = {
    "suite": ("pictures, and how they are read", "{}"),
    "count": ("number", "{}"),
    "category": ("category", "{:.2f}"),
    "part_f1": ("parts F1", "{:.2f}"),
    "colour": ("colour", "{:.2f}"),
    "part_colours": ("colours of parts", "{:.2f}"),
    "material": ("material family", "{:.2f}"),
    "chamfer": ("Chamfer", "{:.4f}"),
    "f_score": ("F-score", "{:.2f}"),
    "whole": ("one body", "{:.2f}"),
    "seconds": ("CPU s", "{:.1f}"),
}


@dataclass(frozen=True, eq=False)
class Subject:
    """What a picture is taken of."""

    name: str
    suite: str
    category: str
    asset: Asset
    assembly: Assembly | None
    """Its list of parts; a real model has none."""


def subjects(real: Path | None, suite: GenerationSuite = SUITE, limit: int | None = None) -> Iterator[Subject]:
    """Held-out instances and real models that nothing has learned from, in turns.

    Real models kept aside nobody has looked at; choices were made by those that are watched. They come in a mixed
    order, so that a run that is stopped has some of all kinds.
    """
    known = [] if real is None else [one for one in real_models(real) if one.category in CATEGORIES]
    models = [one for one in known if one.is_kept_aside or one.is_watched]
    mixed = lambda some: [some[k] for k in np.random.default_rng(0).permutation(len(some))]  # noqa: E731
    objects = mixed(spread(list(held_out(suite)), limit)), mixed(spread(models, limit))
    for assembly, model in itertools.zip_longest(*objects):
        if assembly is not None:
            yield Subject(assembly.name, "held-out instances", assembly.category, asset_of(assembly), assembly)
        if model is not None:
            kind = "real models kept aside" if model.is_kept_aside else "real models watched"
            yield Subject(model.path.name, kind, model.category, load(model.path), None)


def measure_pictures(
    weights: str | Path,
    store: Path | None = None,
    suite: GenerationSuite = SUITE,
    tell: Tell | None = None,
    *,
    real: Path | None = None,
    retrieval: Path | None = None,
    limit: int | None = None,
) -> list[Row]:
    """What is made of pictures of each object, beside the nearest of a store of pictures by outline and colours."""
    done = {(row["suite"], row["name"]): row for row in stored(store)}
    known = Retrieval.open(retrieval) if retrieval is not None else None
    rows = []
    for subject in subjects(real, suite, limit):
        pictures: UInt8[np.ndarray, "N S S 4"] | None = None
        for view, how in itertools.product(range(suite.views), (*MAKERS, *(WAYS if known is not None else ()))):
            if view and how in ONCE:
                continue
            key = (f"{subject.suite}: {how}", f"{subject.name} view {view}")
            if key not in done:
                if pictures is None:
                    views = draw_views(subject.name, PictureConfig(views=suite.views))
                    pictures = take_pictures(subject.asset, views)
                about: Row = {"suite": key[0], "name": key[1], "wanted": subject.category}
                if known is None or how in MAKERS:
                    done[key] = about | _made(subject, pictures[view], weights, suite, MAKERS[how])
                else:
                    done[key] = about | likeness(WAYS[how](known, pictures[view]), subject, suite)
                keep(store, done[key])
            rows.append(done[key])
            if tell is not None:
                tell(rows[-1])
    return rows


def _made(
    subject: Subject,
    picture: UInt8[np.ndarray, "S S 4"],
    weights: str | Path,
    suite: GenerationSuite,
    config: GenerateConfig,
) -> Row:
    from PIL import Image

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "picture.png"
        Image.fromarray(picture).save(path)
        start = time.process_time()
        try:
            (found,) = generate(image=path, weights=weights, config=config)
        except NeurokError as error:
            return {"refused": str(error), "category": False, "whole": None}
    seconds = time.process_time() - start
    return {"seconds": seconds, **soundness(found), **likeness(found.assembly, subject, suite, found.asset.mesh)}


def likeness(found: Assembly, subject: Subject, suite: GenerationSuite, mesh: Mesh | None = None) -> Row:
    """How near an object, and its mesh if it is made, is to the one in the picture."""
    chamfer, f_score = shape_distance(asset_of(found).mesh if mesh is None else mesh, subject.asset.mesh, suite)
    row: Row = {
        "category": found.category == subject.category,
        "made": found.category,
        "chamfer": chamfer,
        "f_score": f_score,
    }
    truth = subject.assembly
    if truth is None:
        return row
    mine, theirs = ({part.name for part in one.parts} for one in (found, truth))
    looks = [one.parts[main_part(one)].look for one in (found, truth)]
    family = [library()[look.stuff].family for look in looks]
    row["part_f1"] = 2 * len(mine & theirs) / (len(mine) + len(theirs))
    colours = [{part.name: basic(part.look.colour) for part in one.parts} for one in (found, truth)]
    row["part_colours"] = float(np.mean([colours[0].get(name) == colour for name, colour in colours[1].items()]))
    row["colour"] = basic(looks[0].colour) == basic(looks[1].colour)
    row["material"] = family[0] == family[1]
    return row
