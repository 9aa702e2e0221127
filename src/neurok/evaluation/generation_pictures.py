"""Measures generation from pictures: renders of held-out instances and of real models, beside retrieval."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float, UInt8

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
from neurok.inference.generate import Generated, generate
from neurok.io import load

PICTURES = {
    "suite": ("pictures", "{}"),
    "count": ("number", "{}"),
    "category": ("category", "{:.2f}"),
    "part_f1": ("parts F1", "{:.2f}"),
    "colour": ("colour", "{:.2f}"),
    "material": ("material family", "{:.2f}"),
    "chamfer": ("Chamfer", "{:.4f}"),
    "near_chamfer": ("of retrieval", "{:.4f}"),
    "f_score": ("F-score", "{:.2f}"),
    "near_f_score": ("of retrieval", "{:.2f}"),
    "near_category": ("its category", "{:.2f}"),
    "whole": ("one body", "{:.2f}"),
    "seconds": ("CPU s", "{:.1f}"),
}
GRID = 14
"""Cells along the side of a picture that retrieval compares."""


@dataclass(frozen=True, eq=False)
class Subject:
    """What a picture is taken of."""

    name: str
    suite: str
    category: str
    asset: Asset
    assembly: Assembly | None
    """Its list of parts; a real model has none."""


@dataclass(frozen=True, eq=False)
class Retrieval:
    """The object of a store whose picture is most like another picture: what a network has to beat."""

    names: list[str]
    features: Float[np.ndarray, "N F"]

    @staticmethod
    def open(folder: Path) -> Retrieval:
        store = PictureSet.open(folder)
        rows, pictures = zip(*store, strict=True)
        return Retrieval([row.name for row in rows], np.stack([_features(np.asarray(one)) for one in pictures]))

    def nearest(self, picture: UInt8[np.ndarray, "S S 4"]) -> Assembly:
        name = self.names[int(np.linalg.norm(self.features - _features(picture), axis=1).argmin())]
        category, _, numbers = name.rpartition(" ")
        seed, index = numbers.split("/")
        return drawn(category, int(seed), int(index))


def _features(picture: UInt8[np.ndarray, "S S 4"]) -> Float[np.ndarray, " F"]:
    plain = on_plain(torch.from_numpy(np.array(picture))[None])
    return torch.nn.functional.adaptive_avg_pool2d(plain, GRID).flatten().numpy()


def subjects(real: Path | None, suite: GenerationSuite = SUITE, limit: int | None = None) -> Iterator[Subject]:
    """Held-out instances, then real models whose categories can be made (a fifth of which nobody has looked at)."""
    for assembly in spread(list(held_out(suite)), limit):
        yield Subject(assembly.name, "held-out instances", assembly.category, asset_of(assembly), assembly)
    if real is not None:
        models = [one for one in real_models(real) if one.category in CATEGORIES]
        for model in spread(models, limit):
            yield Subject(model.path.name, "real models", model.category, load(model.path), None)


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
    """What is made of one picture of each object, beside the object itself and the nearest of a store of pictures."""
    done = {(row["suite"], row["name"]): row for row in stored(store)}
    known = Retrieval.open(retrieval) if retrieval is not None else None
    rows = []
    for number, subject in enumerate(subjects(real, suite, limit)):
        key = (subject.suite, subject.name)
        if key not in done:
            row = _measured(subject, weights, known, suite) | {"number": number}
            done[key] = row
            keep(store, row)
        rows.append(done[key])
        if tell is not None:
            tell(rows[-1])
    return rows


def _measured(subject: Subject, weights: str | Path, known: Retrieval | None, suite: GenerationSuite) -> Row:
    from PIL import Image

    (picture,) = take_pictures(subject.asset, draw_views(subject.name, PictureConfig(views=1)))
    row: Row = {"suite": subject.suite, "name": subject.name, "wanted": subject.category}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "picture.png"
        Image.fromarray(picture).save(path)
        start = time.process_time()
        try:
            (found,) = generate(image=path, weights=weights)
        except NeurokError as error:
            return row | {"refused": str(error), "category": False, "whole": None}
    row |= {"seconds": time.process_time() - start, **soundness(found)}
    row |= _likeness(found, subject, suite)
    if known is not None:
        nearest = known.nearest(picture)
        row["near_chamfer"], row["near_f_score"] = shape_distance(_mesh(nearest), subject.asset.mesh, suite)
        row["near_category"] = nearest.category == subject.category
    return row


def _mesh(assembly: Assembly) -> Mesh:
    return asset_of(assembly).mesh


def _likeness(found: Generated, subject: Subject, suite: GenerationSuite) -> Row:
    chamfer, f_score = shape_distance(found.asset.mesh, subject.asset.mesh, suite)
    row: Row = {
        "category": found.assembly.category == subject.category,
        "made": found.assembly.category,
        "chamfer": chamfer,
        "f_score": f_score,
    }
    truth = subject.assembly
    if truth is None:
        return row
    mine, theirs = ({part.name for part in one.parts} for one in (found.assembly, truth))
    looks = [one.parts[main_part(one)].look for one in (found.assembly, truth)]
    family = [library()[look.stuff].family for look in looks]
    row["part_f1"] = 2 * len(mine & theirs) / (len(mine) + len(theirs))
    row["colour"] = basic(looks[0].colour) == basic(looks[1].colour)
    row["material"] = family[0] == family[1]
    return row
