"""Samples that the autoencoder of parts learns from: generated household things, a file for every few of them."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from neurok.families.household import CATEGORIES, draw, split_of
from neurok.generation.part_set import joined, rows_of, write_set


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
