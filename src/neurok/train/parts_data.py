"""Samples that autoencoders learn from: generated household things and real models, a file for every few of them."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from neurok.core import Asset
from neurok.data.household_real import RealModel, real_assembly, real_models
from neurok.families.household import CATEGORIES, Assembly, draw, split_of
from neurok.generation.part_set import Rows, joined, read_sets, rows_of, write_set
from neurok.io import load
from neurok.model import propose_materials


@dataclass(frozen=True)
class PartDataConfig:
    """What is sampled."""

    objects: int = 50
    """Of each category; numbers of the test split are passed over."""

    seed: int = 0
    categories: tuple[str, ...] = tuple(CATEGORIES)

    chunk: int = 2
    """Objects of each category in one file."""

    watched: int = 2
    """Objects of each category, the last ones, that are watched instead of learned from."""


@dataclass(frozen=True, eq=False)
class Samples:
    """Parts and whole objects, to learn from and to watch."""

    train: tuple[Rows, Rows]
    watch: tuple[Rows, Rows]
    origin: list[dict[str, Any]]
    """What a card says of them."""

    @property
    def counts(self) -> dict[str, int]:
        return {"parts": len(self.train[0]["size"]), "objects": len(self.train[1]["points"])}


def samples(folder: Path, config: PartDataConfig, real: Path | None, tell: Callable[[str], None]) -> Samples:
    """Make what is missing, and read all of it; ``real`` is the folder of real models, if any join in."""
    write_samples(folder, config, tell)
    write_samples(folder / "watch", replace(config, objects=config.watched), tell, skip=config.objects)
    if real is not None:
        write_real_samples(folder, real, tell)
    origin = [{"source": "generated household things", "objects": config.objects * len(config.categories),
               "licenses": ["Apache-2.0"]}]  # fmt: skip
    if list(folder.glob("real_*.npz")):
        terms = ["CC0-1.0", "CC-BY-3.0", "CC-BY-3.0-US"]
        origin.append({"source": "Sweet Home 3D furniture", "files": len(list(folder.glob("real_*.npz"))),
                       "licenses": terms})  # fmt: skip
    return Samples(read_sets(folder), read_sets(folder / "watch"), origin)


def write_samples(folder: Path, config: PartDataConfig, tell: Callable[[str], None], skip: int = 0) -> None:
    """Sample what is not in the folder yet; a run that was broken off goes on. ``skip`` passes over the first ones."""
    train = (index for index in itertools.count() if split_of(index) == "train")
    indices = list(itertools.islice(train, skip, skip + config.objects))
    for start in range(0, config.objects, config.chunk):
        path = folder / f"generated_{config.seed}_{start:04d}.npz"
        if path.exists():
            continue
        parts, objects = [], []
        for index in indices[start : start + config.chunk]:
            for category in config.categories:
                sequence = np.random.SeedSequence([config.seed, zlib.crc32(category.encode()), index, 0])
                assembly = draw(category, np.random.default_rng(sequence))
                one, whole = rows_of(assembly, np.random.default_rng([config.seed, index]))
                parts.append(one)
                objects.append(whole)
        write_set(path, joined(parts), joined(objects))
        tell(f"{path}: {len(parts)} objects")


def write_real_samples(folder: Path, library: Path, tell: Callable[[str], None], chunk: int = 4) -> None:
    """The same of real models (``data.household_real``), but for those that are kept aside."""
    models = [model for model in real_models(library) if not model.is_kept_aside]
    order = np.random.default_rng(0).permutation(len(models))
    for start in range(0, len(models), chunk):
        path = folder / f"real_{start:04d}.npz"
        if path.exists():
            continue
        some = [models[i] for i in order[start : start + chunk]]
        rows = [rows_of(real_thing(model), np.random.default_rng([1, start]), variants=False) for model in some]
        write_set(path, joined(parts for parts, _ in rows), joined(objects for _, objects in rows))
        tell(f"{path}: {', '.join(model.path.stem for model in some)}")


def real_thing(model: RealModel) -> Assembly:
    """A real model as a list of parts of the materials that are proposed for them."""
    asset: Asset = load(model.path)
    stuff = {item.region.name: item.material.name for item in propose_materials(asset).items}
    return real_assembly(asset, model.category, stuff)
