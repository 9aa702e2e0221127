"""Simulated clips of soft things: every instance has its own form, stuff and push, and passes its checks."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np

from neurok.core import Asset
from neurok.data.soft.checks import check_clip
from neurok.data.soft.scene import DivergedError
from neurok.errors import NeurokError

SOFT_FAMILIES: dict[str, str] = {
    "hanging_cloth": "neurok.data.soft.cloth:hanging_cloth",
    "dropped_cloth": "neurok.data.soft.cloth:dropped_cloth",
    "flag": "neurok.data.soft.cloth:flag",
    "curtain": "neurok.data.soft.curtain:curtain",
    "cushion": "neurok.data.soft.stuffed:cushion",
    "mattress": "neurok.data.soft.seats:mattress",
    "sofa": "neurok.data.soft.seats:sofa",
    "jelly": "neurok.data.soft.stuffed:jelly",
    "plush": "neurok.data.soft.plush:plush",
    "potted_plant": "neurok.data.soft.plants:potted_plant",
    "tree": "neurok.data.soft.tree:tree",
    "rope": "neurok.data.soft.ropes:rope",
    "pendant_lamp": "neurok.data.soft.ropes:pendant_lamp",
    "bag": "neurok.data.soft.bag:bag",
    "hat": "neurok.data.soft.worn:hat",
    "headband": "neurok.data.soft.worn:headband",
    "rocking_chair": "neurok.data.soft.mixed:rocking_chair",
    "trampoline": "neurok.data.soft.mixed:trampoline",
}
"""Name of each family and where its maker lives, ``module:function``."""


def make_soft(name: str, rng: np.random.Generator) -> Asset:
    """One random member of a family with one clip, unchecked.

    Raises:
        NeurokError: If there is no such family.
        DivergedError: If the simulation lost its way.
    """
    if name not in SOFT_FAMILIES:
        raise NeurokError(f"There is no soft family {name!r}; choose one of {', '.join(sorted(SOFT_FAMILIES))}.")
    module, function = SOFT_FAMILIES[name].split(":")
    return getattr(import_module(module), function)(rng)


def generate(name: str, seed: int, index: int) -> tuple[Asset | None, list[str]]:
    """Member ``index`` of a family under a seed, or None and the reasons why it was rejected.

    The same (name, seed, index) gives the same bytes, whatever was generated before.
    """
    key = [seed, index, *name.encode()]
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(key)))
    try:
        asset = make_soft(name, rng)
    except DivergedError:
        return None, ["diverged"]
    reasons = check_clip(asset)
    if reasons:
        return None, reasons
    return replace(asset, provenance={**asset.provenance, "seed": f"{seed}/{index}"}), []
