"""Which real objects are never trained on."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath

UNSEEN_CATEGORIES = ("Cart", "Dishwasher", "KitchenPot")
"""Held out whole, so that results on them tell about categories the model has never met."""

UNSEEN_FAMILIES = (
    "cart", "dishwasher", "pot", "book", "crane", "toaster", "windmill", "quadruped", "bag", "curtain", "jelly",
)  # fmt: skip
"""Generated families held out whole; the first three are the unseen categories again, so that those stay unseen."""


def hold_out(names: Iterable[str]) -> tuple[list[str], list[str], list[str]]:
    """Names like ``Laptop_10125`` for training, for testing in seen categories, and in unseen ones.

    Every fifth name of the sorted list is held out, besides the unseen categories.
    """
    ordered = sorted({PurePath(name).stem for name in names})
    unseen = [name for name in ordered if category(name) in UNSEEN_CATEGORIES]
    seen = [name for place, name in enumerate(ordered) if place % 5 == 0 and name not in set(unseen)]
    held = {*unseen, *seen}
    return [name for name in ordered if name not in held], seen, unseen


def object_name(source: str) -> str:
    """``Box_658`` of where an item comes from: the path of a file, or 'PartNet-Mobility' and the name of its folder."""
    return PurePath(source).stem.removeprefix("PartNet-Mobility ")


def category(name: str) -> str:
    """``Laptop`` of ``Laptop_10125``."""
    return PurePath(name).stem.rsplit("_", 1)[0]
