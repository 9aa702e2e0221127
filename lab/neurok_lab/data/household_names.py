"""What parts of real models are called: the names of the generated parts of that category that they are most like."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from jaxtyping import Float

from neurok.catalogue.categories import draw
from neurok.catalogue.parts import Assembly, Part, Role
from neurok.core.material_library import library

# How parts are compared.
OBJECTS = 80  # of the category, drawn to compare with
NEAREST = 5  # parts that vote, each by one over its distance ...
LEAST = 0.05  # ... but not less than this
SIDE = 0.15
"""A factor of e between sides, and of two between numbers of copies, counts as much as this share of the object."""

FAMILY = 0.3  # the same for another family of materials


@dataclass(frozen=True, eq=False)
class PartNames:
    """Parts of generated objects of one category, and what they are called."""

    rows: Float[np.ndarray, "N 10"]
    families: np.ndarray
    names: list[tuple[str, Role]]
    roots: Counter[str]
    """How often each name is the first of a list."""

    ranks: dict[str, float]
    """Mean place of each name in a list."""

    def named(self, thing: Assembly) -> list[tuple[str, Role]]:
        """Name and role of every part; where a part has a name that the category knows, it keeps it."""
        known = {name for name, _ in self.names} - {"body"}
        out = []
        for row, part in zip(rows_of(thing), thing.parts, strict=True):
            away = np.linalg.norm(self.rows - row, axis=1) + FAMILY * (self.families != family_of(part))
            if part.name in known:
                away = away + 1e3 * np.array([name != part.name for name, _ in self.names])
            votes: Counter[tuple[str, Role]] = Counter()
            for k in np.argsort(away)[:NEAREST]:
                votes[self.names[k]] += 1.0 / (away[k] + LEAST)  # type: ignore[assignment]
            out.append(votes.most_common(1)[0][0])
        return out


@cache
def part_names(category: str) -> PartNames:
    """What the generator of a category calls its parts."""
    rng = np.random.default_rng(0)
    things = [draw(category, rng) for _ in range(OBJECTS)]
    ranks: dict[str, list[int]] = {}
    for thing in things:
        for place, part in enumerate(thing.parts):
            ranks.setdefault(part.name, []).append(place)
    return PartNames(
        np.concatenate([rows_of(thing) for thing in things]),
        np.array([family_of(part) for thing in things for part in thing.parts]),
        [(part.name, part.role) for thing in things for part in thing.parts],
        Counter(thing.parts[0].name for thing in things),
        {name: float(np.mean(places)) for name, places in ranks.items()},
    )


def family_of(part: Part) -> str:
    return library()[part.look.stuff].family


def rows_of(thing: Assembly) -> Float[np.ndarray, "P 10"]:
    """Where the copies of each part are in the box of the object, how large one is, and how many there are."""
    signs = np.array(list(itertools.product((-0.5, 0.5), repeat=3)))
    boxes = []
    for part in thing.parts:
        corners = [(signs * part.size) @ pose[:3, :3].T + pose[:3, 3] for pose in part.poses]
        boxes.append((np.min(corners, axis=(0, 1)), np.max(corners, axis=(0, 1)), np.ptp(corners[0], axis=0)))
    low, high = np.min([box[0] for box in boxes], axis=0), np.max([box[1] for box in boxes], axis=0)
    extent = np.maximum(high - low, 1e-6)
    rows = []
    for part, (start, end, size) in zip(thing.parts, boxes, strict=True):
        sides = SIDE * np.log(np.maximum(size / extent.max(), 1e-3))
        count = SIDE * np.log2(part.repeat.total)
        rows.append([*((start - low) / extent), *((end - low) / extent), *sides, count])
    return np.array(rows)


def renamed(thing: Assembly) -> Assembly:
    """The same object with names and roles of its category's vocabulary."""
    said = part_names(thing.category).named(thing)
    parts = [replace(part, name=name, role=role) for part, (name, role) in zip(thing.parts, said, strict=True)]
    return replace(thing, parts=tuple(parts))
