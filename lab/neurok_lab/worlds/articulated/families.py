"""All families by name, and how an instance of one is drawn, posed and checked.

Version 3: families that the household catalogue has too are drawn from there, since version 3 all cabinets and tables.
"""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from neurok.core import Articulation, Asset
from neurok.errors import NeurokError
from neurok.geometry import lie
from neurok.modelling.builder import Builder
from neurok.modelling.sampler import Sampler
from neurok_lab.worlds.articulated.checks import check_articulated, is_free

_HOMES = {
    "catalogue": "wardrobe cupboard sideboard nightstand bookcase chest_of_drawers table desk microwave refrigerator "
    "desk_lamp laptop door",
    "furniture": "office_chair folding_chair",
    "appliances": "oven dishwasher washing_machine toaster coffee_machine blender",
    "vessels": "bottle dispenser bucket kettle pot faucet toilet",
    "room": "fan globe clock window safe switch",
    "tools": "scissors pliers stapler folding_knife utility_knife tweezers razor vise anvil_press",
    "pocket": "pen lighter usb_stick eyeglasses mouse book padlock",
    "electronics": "display keyboard flip_phone remote camera printer",
    "wheels": "cart wheelbarrow pram",
    "figures": "mannequin quadruped bird fish",
    "machines": "robot_arm excavator toy_car windmill crane",
    "boxes": "box suitcase toolbox trash_can",
    "outdoors": "umbrella mailbox swing gate stepladder ironing_board",
}
"""Module to the families in it; each family is a function of that name, but for those of the catalogue."""

FAMILIES: dict[str, str] = {
    name: f"neurok_lab.worlds.articulated.{module}:{'drawn' if module == 'catalogue' else name}"
    for module, names in _HOMES.items()
    for name in names.split()
}
"""Name to ``module:function``, a function from a ``Sampler`` to a ``Builder``."""

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
    family: Callable[..., Builder] = getattr(importlib.import_module(module), function)
    arguments = (name,) if function == "drawn" else ()
    asset = family(Sampler(rng), *arguments).build({"family": name, "category": name})
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


def rested_at(articulation: Articulation, q: Float[np.ndarray, " D"]) -> Articulation:
    """Another state of an object as its rest: axes move with their parents, limits are counted from the new zero."""
    transforms = articulation.transforms(q)
    joints = []
    for joint, slot in zip(articulation.joints, articulation.slots, strict=True):
        above = transforms[joint.parent] if joint.parent >= 0 else np.eye(4)
        axis, origin = above[:3, :3] @ joint.axis, lie.apply(above, joint.origin[None])[0]
        shift = float(q[slot][0]) if joint.kind in ("revolute", "prismatic") else 0.0
        joints.append(replace(joint, axis=axis, origin=origin, lower=joint.lower - shift, upper=joint.upper - shift))
    return Articulation(articulation.pose(q), tuple(joints), name=articulation.name)


def reopened(asset: Asset, q: Float[np.ndarray, " D"]) -> Asset:
    """The same object stored with its joints at ``q``."""
    assert asset.articulation is not None
    joints = rested_at(asset.articulation, q)
    return replace(asset, mesh=joints.mesh, articulation=joints)


def flipped(asset: Asset, flips: np.ndarray) -> Asset:
    """The same motions described with some axes pointing the other way."""
    old = asset.articulation
    assert old is not None
    joints = [
        replace(j, axis=-j.axis, lower=-j.upper, upper=-j.lower) if flip and j.dof else j
        for j, flip in zip(old.joints, flips, strict=True)
    ]
    return replace(asset, articulation=Articulation(old.mesh, tuple(joints), name=old.name))


def random_state(
    articulation: Articulation, rng: np.random.Generator, low: float = 0.0, high: float = 1.0, share: float = 0.6
) -> Float[np.ndarray, " D"]:
    """A ``share`` of the joints between ``low`` and ``high`` of the way to one of their limits, the others at rest."""
    limits = np.clip(articulation.limits, -np.pi, np.pi)
    ends = np.where(rng.random(len(limits)) < np.abs(limits[:, 0]) / np.ptp(limits, axis=1), limits[:, 0], limits[:, 1])
    return np.where(rng.random(len(limits)) < share, ends * rng.uniform(low, high, len(limits)), 0.0)
