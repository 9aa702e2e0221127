"""Samples that autoencoders learn from: generated household things and real models, a file for every few of them."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from neurok.core import Asset
from neurok.data.household_real import RealModel, real_assembly, real_models
from neurok.families.household import CATEGORIES, Assembly, draw, split_of
from neurok.generation.part_set import joined, rows_of, write_set
from neurok.inference.materials import propose_materials
from neurok.io import load


@dataclass(frozen=True)
class PartDataConfig:
    """What is sampled."""

    objects: int = 50
    """Of each category; numbers of the test split are passed over."""

    seed: int = 0
    categories: tuple[str, ...] = tuple(CATEGORIES)

    chunk: int = 5
    """Objects of each category in one file."""


def write_samples(folder: Path, config: PartDataConfig, tell: Callable[[str], None]) -> None:
    """Sample what is not in the folder yet; a run that was broken off goes on."""
    indices = [index for index in range(2 * config.objects + 20) if split_of(index) == "train"][: config.objects]
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
