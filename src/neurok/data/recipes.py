"""Recipes: how many items of which kind a data set has."""

from __future__ import annotations

from dataclasses import dataclass, field

from neurok.errors import NeurokError


@dataclass(frozen=True)
class Recipe:
    """Items are numbered articulated first, then soft, then those of the folders; families take turns."""

    name: str
    articulated: int
    soft: int
    shard_size: int = 32
    folders: tuple[str, ...] = ()
    """Folders of real assets to include: PartNet-Mobility, NPZ, URDF, MJCF, animated glTF, mesh sequences."""

    families: tuple[str, ...] = field(default=())
    """Only these families; all by default."""


# A few in a hundred are turned away by their checks, hence the odd numbers: at least 3,000 and 1,000 are left of small.
RECIPES = {
    "tiny": Recipe("tiny", 8, 2, shard_size=4),
    "small": Recipe("small", 3060, 1060),
    "medium": Recipe("medium", 20_400, 5_300, shard_size=64),
    "joints": Recipe("joints", 6_120, 0, shard_size=64),
    "real": Recipe("real", 0, 0),
}


def find_recipe(name: str) -> Recipe:
    """The recipe of that name."""
    try:
        return RECIPES[name]
    except KeyError:
        raise NeurokError(f"There is no recipe '{name}'; known are {', '.join(RECIPES)}.") from None
