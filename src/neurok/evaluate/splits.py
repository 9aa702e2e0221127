"""Which objects are kept from training, so that figures speak of what was never seen."""

from __future__ import annotations

from collections.abc import Iterable

UNSEEN_CATEGORIES = ("Cart", "Dishwasher", "KitchenPot")
"""Categories of which no object is ever trained on."""

EVERY = 5


def hold_out(names: Iterable[str]) -> tuple[list[str], list[str], list[str]]:
    """Names of training objects, of test objects of seen categories, and of unseen categories.

    Held out are every fifth object by sorted name, and whole categories; names look like ``Category_id``.
    """
    ordered = sorted(set(names))
    unseen = [name for name in ordered if category(name) in UNSEEN_CATEGORIES]
    fifth = [name for name in ordered[EVERY - 1 :: EVERY] if category(name) not in UNSEEN_CATEGORIES]
    held = {*unseen, *fifth}
    return [name for name in ordered if name not in held], fifth, unseen


def category(name: str) -> str:
    """The part of a name before its number."""
    return name.split("_", 1)[0]
