"""Measures generation from pictures: renders of held-out instances and of real models, beside the nearest known one."""

from __future__ import annotations

import itertools
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, UInt8

from neurok.catalogue.appearance import basic
from neurok.catalogue.asset import asset_of
from neurok.catalogue.captions import main_part
from neurok.catalogue.parts import Assembly
from neurok.catalogue.vocabulary import CATEGORIES
from neurok.core import Asset, Mesh
from neurok.core.material_library import library
from neurok.errors import NeurokError
from neurok.generation.framing import PLAIN, on_plain
from neurok.generation.pictures import take_pictures
from neurok.generation.silhouettes import GRID
from neurok.generation.silhouettes import outline_of as outline_cells
from neurok.generation.verb import GENERATE, GenerateConfig, generate
from neurok.io import load
from neurok_lab.data.household import drawn
from neurok_lab.data.household_pictures import PictureConfig, PictureSet, draw_views
from neurok_lab.data.household_real import real_models
from neurok_lab.evaluation.generation import EACH, VIEWS, held_out, shape_distance, soundness
from neurok_lab.evaluation.tables import Columns, Row, Tell, measured, spread

CELLS = 14  # along the side of a picture whose mean colours are compared
ASPECT = 0.5  # what the logarithm of height over width counts beside the outline


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
    return torch.nn.functional.adaptive_avg_pool2d(plain, CELLS).flatten().numpy()


def outline_of(mask: Bool[np.ndarray, "S S"]) -> Float[np.ndarray, " O"]:
    """How much of each cell of its box an object fills, and the logarithm of height over width; weighed."""
    filled, aspect = outline_cells(np.where(mask[..., None], 0.0, PLAIN))
    return np.append(filled / GRID, ASPECT * aspect)


MAKERS = {"as shipped": GENERATE, "network alone": replace(GENERATE, outlines=False)}
"""How an object is made of a picture."""

WAYS = {"nearest outline": Retrieval.by_outline, "nearest picture": Retrieval.by_colours}
"""How a known object is found for a picture."""

ONCE = ("network alone", "nearest picture")
"""What is only tried with the first picture of each object."""

PICTURES: Columns = {
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


def subjects(real: Path | None, each: int = EACH, limit: int | None = None) -> Iterator[Subject]:
    """Held-out instances and real models that nothing has learned from, in turns.

    Real models kept aside nobody has looked at; choices were made by those that are watched. They come in a mixed
    order, so that a run that is stopped has some of all kinds.
    """

    def mixed(some: list[Any]) -> list[Any]:
        return [some[k] for k in np.random.default_rng(0).permutation(len(some))]

    known = [] if real is None else [one for one in real_models(real) if one.category in CATEGORIES]
    models = [one for one in known if one.is_kept_aside or one.is_watched]
    objects = mixed(spread(list(held_out(each)), limit)), mixed(spread(models, limit))
    for assembly, model in itertools.zip_longest(*objects):
        if assembly is not None:
            yield Subject(assembly.name, "held-out instances", assembly.category, asset_of(assembly), assembly)
        if model is not None:
            kind = "real models kept aside" if model.is_kept_aside else "real models watched"
            yield Subject(model.path.name, kind, model.category, load(model.path), None)


def measure_pictures(
    weights: str | Path,
    store: Path | None = None,
    tell: Tell | None = None,
    *,
    each: int = EACH,
    real: Path | None = None,
    retrieval: Path | None = None,
    limit: int | None = None,
) -> list[Row]:
    """What is made of pictures of each object, beside the nearest of a store of pictures by outline and colours."""
    known = Retrieval.open(retrieval) if retrieval is not None else None

    def measure(subject: Subject, pictures: Callable[[], np.ndarray], view: int, how: str) -> Row:
        about = {"suite": f"{subject.suite}: {how}", "name": f"{subject.name} view {view}", "wanted": subject.category}
        picture = pictures()[view]
        if known is None or how in MAKERS:
            return about | _made(subject, picture, weights, MAKERS[how])
        return about | likeness(WAYS[how](known, picture), subject)

    def jobs() -> Iterator[tuple[str, Callable[[], Row]]]:
        for subject in subjects(real, each, limit):
            pictures = cache(partial(_pictures, subject))
            for view, how in itertools.product(range(VIEWS), (*MAKERS, *(WAYS if known is not None else ()))):
                if not (view and how in ONCE):
                    yield (
                        f"{subject.suite}: {how}/{subject.name}/{view}",
                        partial(measure, subject, pictures, view, how),
                    )

    return measured(jobs(), store, tell)


def _pictures(subject: Subject) -> UInt8[np.ndarray, "N S S 4"]:
    return take_pictures(subject.asset, draw_views(subject.name, PictureConfig(views=VIEWS)))


def _made(subject: Subject, picture: UInt8[np.ndarray, "S S 4"], weights: str | Path, config: GenerateConfig) -> Row:
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
    return {"seconds": seconds, **soundness(found), **likeness(found.assembly, subject, found.asset.mesh)}


def likeness(found: Assembly, subject: Subject, mesh: Mesh | None = None) -> Row:
    """How near an object, and its mesh if it is made, is to the one in the picture."""
    chamfer, f_score = shape_distance(asset_of(found).mesh if mesh is None else mesh, subject.asset.mesh)
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
    looks = [one.parts[main_part(one)].appearance for one in (found, truth)]
    family = [library()[finish.visible_material].family for finish in looks]
    row["part_f1"] = 2 * len(mine & theirs) / (len(mine) + len(theirs))
    colours = [{part.name: basic(part.appearance.colour) for part in one.parts} for one in (found, truth)]
    row["part_colours"] = float(np.mean([colours[0].get(name) == colour for name, colour in colours[1].items()]))
    row["colour"] = basic(looks[0].colour) == basic(looks[1].colour)
    row["material"] = family[0] == family[1]
    return row
