"""All families by name, and how an instance of one is drawn, posed and checked."""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from neurok.core import Asset
from neurok.errors import NeurokError
from neurok.families.articulated.checks import check_articulated, is_free
from neurok.families.articulated.reopen import flipped, random_state, reopened
from neurok.modelling.builder import Builder
from neurok.modelling.dice import Dice

_HOMES: dict[str, tuple[str, ...]] = {
    "storage": ("cupboard", "wall_cabinet", "wardrobe", "chest_of_drawers", "bookcase"),
    "tables": ("table", "desk"),
    "kitchen": ("oven", "microwave", "refrigerator", "dishwasher"),
    "laundry": ("washing_machine",),
    "vessels": ("bottle", "dispenser", "bucket", "kettle", "pot"),
    "bins": ("trash_can",),
    "counter": ("toaster", "coffee_machine", "blender"),
    "fixtures": ("faucet", "toilet"),
    "room": ("desk_lamp", "fan", "globe", "clock"),
    "tools": ("scissors", "pliers", "stapler", "folding_knife", "utility_knife", "tweezers"),
    "pocket": ("pen", "lighter", "usb_stick", "eyeglasses", "mouse"),
    "electronics": ("laptop", "display", "keyboard", "flip_phone", "remote", "camera", "printer"),
    "wheels": ("office_chair", "folding_chair", "cart", "wheelbarrow"),
    "figures": ("mannequin", "quadruped", "bird", "fish"),
    "machines": ("robot_arm", "excavator", "toy_car", "windmill", "crane"),
    "household": ("book", "padlock", "mailbox", "razor", "vise", "swing", "gate", "anvil_press"),
    "boxes": ("box", "suitcase"),
    "openings": ("door", "window", "safe", "switch"),
    "prams": ("pram",),
    "carried": ("umbrella", "toolbox"),
    "household_tools": ("stepladder", "ironing_board", "office_drawers"),
}
"""Module to the families in it; each family is a function of that name."""

FAMILIES: dict[str, str] = {
    name: f"neurok.families.articulated.{module}:{name}" for module, names in _HOMES.items() for name in names
}
"""Name to ``module:function``, a function from a ``Dice`` to a ``Builder``."""

OPENING: dict[str, tuple[float, float, float]] = {
    "box": (0.7, 0.3, 0.8),
    "laptop": (0.95, 0.55, 0.9),
    "flip_phone": (0.8, 0.4, 1.0),
    "folding_knife": (0.6, 0.3, 1.0),
    "scissors": (0.6, 0.1, 0.9),
    "toilet": (0.3, 0.9, 1.0),
    "eyeglasses": (0.3, 0.1, 1.0),
    "umbrella": (0.0, 0.0, 1.0),
    "bucket": (0.8, 0.0, 1.0),
}
"""How often an instance is stored open, and between which shares of each joint's range."""

USUALLY = (0.25, 0.0, 1.0)

TRIES = 6


def make_family(name: str, rng: np.random.Generator) -> Asset:
    """One random instance: built closed, then perhaps stored in another state of its joints.

    Raises:
        NeurokError: If there is no family of that name; the sentence lists those there are.
    """
    if name not in FAMILIES:
        raise NeurokError(f"There is no family {name!r}; the families are {', '.join(FAMILIES)}.")
    module, function = FAMILIES[name].split(":")
    family: Callable[[Dice], Builder] = getattr(importlib.import_module(module), function)
    asset = family(Dice(rng)).build({"family": name, "category": name})
    assert asset.articulation is not None
    often, low, high = OPENING.get(name, USUALLY)
    if rng.random() < often:
        for _ in range(3):
            q = random_state(asset.articulation, rng, low, high, 1.0 if name in OPENING else 0.6)
            if is_free(asset.articulation, q):
                asset = reopened(asset, q)
                break
    return flipped(asset, rng.random(len(asset.articulation.joints)) < 0.3)  # type: ignore[union-attr]


def generate(name: str, seed: int, index: int) -> tuple[Asset | None, list[str]]:
    """Instance ``index`` of a family that passes the checks, and why earlier tries did not.

    Depends on (seed, name, index) alone. None when all tries failed.
    """
    rejected: list[str] = []
    for attempt in range(TRIES):
        sequence = np.random.SeedSequence([seed, zlib.crc32(name.encode()), index, attempt])
        asset = make_family(name, np.random.default_rng(sequence))
        reasons = check_articulated(asset)
        if not reasons:
            about = {**asset.provenance, "seed": f"{seed}/{index}/{attempt}"}
            return replace(asset, provenance=about), rejected
        rejected += reasons
    return None, rejected
