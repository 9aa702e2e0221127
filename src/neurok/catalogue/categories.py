"""The categories, and how an instance of one is drawn and checked."""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np

from neurok.catalogue.checks import check_assembly
from neurok.catalogue.parts import Assembly
from neurok.errors import NeurokError, did_you_mean
from neurok.modelling.sampler import Sampler

_MAKERS: dict[str, dict[str, dict[str, float]]] = {
    "bag": {"bags": {"tote": 2, "handbag": 2.5, "backpack": 2.5, "duffel": 1.2, "briefcase": 1.2}},
    "bed": {"beds": {"bed": 1}},
    "chair": {
        "chairs": {"dining_chair": 9, "shell_chair": 3, "swivel_chair": 2.5, "pedestal_chair": 1.5}
        | {"tubular_chair": 1.5, "stool": 2.5, "bench": 2},
        "seating": {"armchair": 4},
    },
    "crib": {"beds": {"crib": 3, "cradle": 1}},
    "hat": {"hats": {"brimmed_hat": 4, "cap": 1.5, "beanie": 1.5, "pointed_hat": 0.8}},
    "headband": {"hats": {"headband": 1}},
    "love seat": {"seating": {"love_seat": 1}},
    "pillow": {"stuffed": {"pillow": 1}},
    "plant": {"plants": {"plant": 1}},
    "sofa": {"seating": {"sofa": 1}},
    "teddy bear": {"stuffed": {"teddy_bear": 1}},
    "vase": {"plants": {"vase": 1}},
    "cabinet": {
        "cabinets": {"wardrobe": 2, "sideboard": 2.5, "nightstand": 2, "chest": 2.5, "cupboard": 2.5, "bookcase": 0.8}
    },
    "table": {"tables": {"table": 4, "pedestal_table": 1}},
    "desk": {"tables": {"desk": 1}},
    "lamp": {"lamps": {"desk_lamp": 3, "floor_lamp": 2.5, "table_lamp": 1.5}},
    "laptop": {"containers": {"laptop": 1}},
    "box": {"containers": {"toy_box": 1, "blanket_box": 1, "trunk": 1.2, "jewellery_box": 1}},
    "microwave": {"appliances": {"microwave": 1}},
    "fridge": {"appliances": {"fridge": 1}},
    "door": {"cabinets": {"door": 1}},
    "bin": {"containers": {"pedal_bin": 2, "swing_bin": 1, "flip_bin": 1}},
}
"""Category to modules and their makers, with how often each is taken."""

TRIES = 8
Split = Literal["train", "test"]
TEST_SHARE = 10
"""One instance in so many is kept for tests."""


def draw(category: str, rng: np.random.Generator) -> Assembly:
    """One random instance, unchecked.

    Raises:
        NeurokError: If there is no such category; the sentence lists those there are.
    """
    if category not in _MAKERS:
        meant = did_you_mean(category, _MAKERS)
        raise NeurokError(f"There is no household category {category!r}; there are {', '.join(_MAKERS)}.{meant}")
    d = Sampler(rng)
    weights = {(m, name): weight for m, names in _MAKERS[category].items() for name, weight in names.items()}
    module, name = d.pick(list(weights), list(weights.values()))
    maker: Callable[[Sampler], Assembly] = getattr(importlib.import_module(f"neurok.catalogue.{module}"), name)
    return replace(maker(d), category=category)


def generate(category: str, seed: int, index: int) -> tuple[Assembly, list[str]]:
    """Instance ``index`` of a category that passes the checks, and why earlier tries did not.

    Depends on (seed, category, index) alone.
    """
    rejected: list[str] = []
    for attempt in range(TRIES):
        sequence = np.random.SeedSequence([seed, zlib.crc32(category.encode()), index, attempt])
        assembly = draw(category, np.random.default_rng(sequence))
        reasons = check_assembly(assembly)
        if not reasons:
            return replace(assembly, name=f"{category} {seed}/{index}"), rejected
        rejected += reasons
    raise NeurokError(f"No {category} of seed {seed}, number {index}, passed its checks: {'; '.join(rejected)}.")


def split_of(index: int) -> Split:
    """Which half of a data set an instance belongs to, whatever its seed."""
    return "test" if zlib.crc32(f"household {index}".encode()) % TEST_SHARE == 0 else "train"
