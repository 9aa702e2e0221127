"""Measures generation from pictures: renders of held-out instances, real models and scans, alone and in busy places."""

from __future__ import annotations

import itertools
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import UInt8

from neurok.catalogue.appearance import basic
from neurok.catalogue.asset import asset_of
from neurok.catalogue.captions import main_part
from neurok.catalogue.parts import Assembly
from neurok.catalogue.vocabulary import CATEGORIES
from neurok.core import Asset, Mesh
from neurok.core.material_library import library
from neurok.errors import NeurokError
from neurok.generation.photo import photo_of
from neurok.generation.picture_reader import SIDE
from neurok.generation.pictures import take_pictures
from neurok.generation.verb import READER, generate
from neurok.hub import load_model
from neurok.io import load
from neurok_lab.data.augmentation import AugmentationConfig, augment
from neurok_lab.data.household_pictures import PictureConfig, draw_views
from neurok_lab.data.household_real import real_models
from neurok_lab.evaluation.generation import EACH, held_out, shape_distance, soundness
from neurok_lab.evaluation.tables import Columns, Row, Tell, measured, spread

SCANS = {
    "polyhaven/cardboard_box_01.fbx": "box", "polyhaven/ceramic_vase_03.fbx": "vase",
    "polyhaven/chinese_armchair.fbx": "chair", "polyhaven/gallinera_table.fbx": "table",
    "polyhaven/gothic_cabinet_01.fbx": "cabinet", "polyhaven/gothic_commode_01.fbx": "cabinet",
    "polyhaven/metal_trash_can_combined.fbx": "bin", "polyhaven/modern_arm_chair_01.fbx": "chair",
    "polyhaven/painted_wooden_chair_02.fbx": "chair", "polyhaven/potted_plant_02.fbx": "plant",
    "polyhaven/school_chair_01.fbx": "chair", "polyhaven/sofa_03.fbx": "sofa",
    "polyhaven/wooden_bookshelf_worn.fbx": "cabinet", "gso/3D_Dollhouse_Sofa/model.obj": "sofa",
    "gso/Jansport_School_Backpack_Blue_Streak/model.obj": "bag",
}  # fmt: skip
"""Models of ``real_assets`` (Poly Haven, Google's scanned objects) that are of a category; nothing learns from them."""

BUSY = AugmentationConfig(plain=0.0, cluttered=1.0, scale=(0.6, 0.95), shift=0.1, compressed=1.0)
"""How objects stand among others, seen by a telephone."""

GROUNDS = ("transparent", "busy")
VIEWS_EACH = 2  # renders of each object
SURE = (0.0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Probabilities between which pictures are counted together to see whether they are true."""

PICTURES: Columns = {
    "suite": ("pictures", "{}"),
    "count": ("number", "{}"),
    "category": ("category", "{:.2f}"),
    "first_three": ("among three", "{:.2f}"),
    "asked": ("asked", "{:.2f}"),
    "right_unasked": ("category, not asked", "{:.2f}"),
    "cut": ("cut out", "{:.2f}"),
    "part_f1": ("parts F1", "{:.2f}"),
    "counts": ("counts", "{:.2f}"),
    "colour": ("colour", "{:.2f}"),
    "part_colours": ("colours of parts", "{:.2f}"),
    "material": ("material family", "{:.2f}"),
    "chamfer": ("Chamfer", "{:.4f}"),
    "f_score": ("F-score", "{:.2f}"),
    "whole": ("one body", "{:.2f}"),
    "seconds": ("CPU s", "{:.1f}"),
}
RELIABILITY: Columns = {
    "sure": ("probability of the first", "{}"),
    "count": ("number", "{}"),
    "mean": ("mean probability", "{:.2f}"),
    "category": ("right", "{:.2f}"),
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


def subjects(data: Path | None, each: int = EACH, limit: int | None = None) -> Iterator[Subject]:
    """Held-out instances, and real models and scans that nothing has learned from, in turns.

    Real models kept aside nobody has looked at; choices were made by those that are watched. They come in a mixed
    order, so that a run that is stopped has some of all kinds.
    """

    def mixed(some: list[Any]) -> list[Any]:
        return [some[k] for k in np.random.default_rng(0).permutation(len(some))]

    real = None if data is None else data / "household" / "sweethome3d"
    known = [] if real is None or not real.is_dir() else real_models(real)
    models = [one for one in known if one.category in CATEGORIES and (one.is_kept_aside or one.is_watched)]
    scans = [] if data is None else [name for name in SCANS if (data / "real_assets" / name).exists()]
    objects = mixed(spread(list(held_out(each)), limit)), mixed(spread(models, limit)), mixed(spread(scans, limit))
    for assembly, model, scan in itertools.zip_longest(*objects):
        if assembly is not None:
            yield Subject(assembly.name, "held-out instances", assembly.category, asset_of(assembly), assembly)
        if model is not None:
            kind = "real models kept aside" if model.is_kept_aside else "real models watched"
            yield Subject(model.path.name, kind, model.category, load(model.path), None)
        if scan is not None and data is not None:
            kind = "scanned objects" if scan.startswith("gso") else "Poly Haven"
            yield Subject(scan, kind, SCANS[scan], load(data / "real_assets" / scan), None)


def measure_pictures(
    weights: str | Path,
    store: Path | None = None,
    tell: Tell | None = None,
    *,
    each: int = EACH,
    data: Path | None = None,
    limit: int | None = None,
    views: int = VIEWS_EACH,
) -> list[Row]:
    """What is made of pictures of each object, alone and among others; doubtful ones are gone on with."""
    others = cache(partial(_others, each))

    def measure(subject: Subject, pictures: Callable[[], np.ndarray], view: int, ground: str) -> Row:
        name = f"{subject.name} view {view}"
        about: Row = {"suite": f"{subject.suite}, {ground}", "name": name, "wanted": subject.category}
        picture = pictures()[view]
        if ground == "busy":
            picture = among(picture, others(), zlib.crc32(name.encode()))
        return about | _made(subject, picture, weights)

    def jobs() -> Iterator[tuple[str, Callable[[], Row]]]:
        for subject in subjects(data, each, limit):
            pictures = cache(partial(_pictures, subject, views))
            for view, ground in itertools.product(range(views), GROUNDS):
                if ground == "transparent" or view == 0:
                    key = f"{subject.suite}, {ground}/{subject.name}/{view}"
                    yield key, partial(measure, subject, pictures, view, ground)

    return measured(jobs(), store, tell)


def reliability(rows: list[Row]) -> list[Row]:
    """Whether the first category is right as often as its probability says."""
    out = []
    for low, high in itertools.pairwise(SURE):
        some = [row for row in rows if "sure" in row and low <= row["sure"] < high + (high == 1.0)]
        if some:
            mean, right = (float(np.mean([row[name] for row in some])) for name in ("sure", "first"))
            out.append({"sure": f"{low:.1f} to {high:.1f}", "count": len(some), "mean": mean, "category": right})
    return out


def _pictures(subject: Subject, views: int) -> UInt8[np.ndarray, "N S S 4"]:
    return take_pictures(subject.asset, draw_views(subject.name, PictureConfig(views=views)), SIDE)


def _others(each: int) -> UInt8[np.ndarray, "N S S 4"]:
    """Renders of held-out instances that stand about in busy pictures."""
    found = [one for k, one in enumerate(held_out(each)) if k % each == 0]
    return np.concatenate(
        [take_pictures(asset_of(one), draw_views(f"other {one.name}", PictureConfig(views=1)), SIDE) for one in found]
    )


def among(
    picture: UInt8[np.ndarray, "S S 4"], others: UInt8[np.ndarray, "N S S 4"], seed: int
) -> UInt8[np.ndarray, "S S 3"]:
    """A render on a ground with other things, as a photograph."""
    generator = torch.Generator().manual_seed(seed)
    raw, rest = torch.from_numpy(picture)[None], torch.from_numpy(others)
    rgb, _ = augment(raw, generator, BUSY, rest)
    return (255.0 * rgb[0].permute(1, 2, 0)).round().byte().numpy()


def _made(subject: Subject, picture: np.ndarray, weights: str | Path) -> Row:
    start, reader = time.process_time(), load_model(READER, "pictures")
    photo = photo_of(picture, reader)
    first, sure = photo.reading.likeliest[0]
    try:
        (found,) = generate(image=photo, weights=weights, best=True)
    except NeurokError as error:
        return {"refused": str(error), "category": False, "whole": None}
    seconds, asked = time.process_time() - start, sure < reader.config.asks_below
    is_right = found.assembly.category == subject.category
    three = any(category == subject.category for category, _ in photo.reading.likeliest)
    told = {"first": first == subject.category, "sure": sure, "first_three": three, "asked": asked}
    told |= {"cut": photo.status != "whole"} | ({} if asked else {"right_unasked": is_right})
    return {"seconds": seconds, **told, **soundness(found), **likeness(found.assembly, subject, found.asset.mesh)}


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
    numbers = [_counts(one) for one in (found, truth)]
    row["counts"] = float(np.mean([numbers[0].get(name) == count for name, count in numbers[1].items()]))
    row["part_f1"] = 2 * len(mine & theirs) / (len(mine) + len(theirs))
    colours = [{part.name: basic(part.appearance.colour) for part in one.parts} for one in (found, truth)]
    row["part_colours"] = float(np.mean([colours[0].get(name) == colour for name, colour in colours[1].items()]))
    row["colour"] = basic(looks[0].colour) == basic(looks[1].colour)
    row["material"] = family[0] == family[1]
    return row


def _counts(assembly: Assembly) -> dict[str, int]:
    out: dict[str, int] = {}
    for part in assembly.parts:
        out[part.name] = out.get(part.name, 0) + part.repeat.total
    return out
