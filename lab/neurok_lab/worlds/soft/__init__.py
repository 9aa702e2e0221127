"""Simulated clips of soft things: every instance has its own form, material and push, and passes its checks."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np

from neurok.core import Asset
from neurok.errors import NeurokError
from neurok_lab.worlds.soft.checks import check_clip
from neurok_lab.worlds.soft.scene import DivergedError

_HOMES = {
    "cloth": "hanging_cloth dropped_cloth flag curtain trampoline",
    "objects": "cushion mattress sofa jelly plush bag hat headband rocking_chair",
    "plants": "potted_plant tree",
    "ropes": "rope pendant_lamp",
}
SOFT_FAMILIES: dict[str, str] = {
    name: f"neurok_lab.worlds.soft.{module}:{name}" for module, names in _HOMES.items() for name in names.split()
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
