"""Which ends of parts always lie at the same place beside what they hang on: counted in the objects of the generators.

A mattress reaches from end to end of its base, legs end a hair inside the top. A network writes such ends with some
error; while it writes, they are drawn to where they always are (``reaching``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from jaxtyping import Float

from neurok.families.household.parts import Assembly, Part
from neurok.generation.numbers import scale_of

FILE = Path(__file__).with_name("joinery.json")


@dataclass(frozen=True)
class JoineryConfig:
    """From when on ends are taken to lie at the same place."""

    spread: float = 0.008
    """Half of the span between the first and the last tenth of all places [shares of the object's longest side]."""

    least: int = 15
    """Pairs of parts in which they have to be seen."""


JOINERY = JoineryConfig()


@dataclass(frozen=True)
class Join:
    """An end of a part beside an end of its parent."""

    axis: int
    """Of the object."""

    mine: int
    """0 for the lower end of all copies together, 1 for the upper one ..."""

    other: int
    """... and that of the parent."""

    at: float
    """How far the one lies above the other [shares of the object's longest side]."""

    spread: float


def reach_of(part: Part) -> Float[np.ndarray, "2 3"]:
    """Lower and upper ends of the boxes of all copies together."""
    half = 0.5 * np.abs(part.poses[:, :3, :3]) @ part.size
    middles = part.poses[:, :3, 3]
    return np.stack([(middles - half).min(axis=0), (middles + half).max(axis=0)])


@cache
def joins(category: str, part: str, parent: str) -> tuple[Join, ...]:
    """The ends of such a part that always lie at the same place beside such a parent."""
    rows = _table().get(category, {}).get(part, {}).get(parent, [])
    return tuple(Join(*row) for row in rows)


@cache
def _table() -> Mapping[str, Mapping[str, Mapping[str, list[list[float]]]]]:
    return json.loads(FILE.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def counted(objects: Iterable[Assembly], config: JoineryConfig = JOINERY) -> dict[str, dict[str, dict[str, list]]]:  # type: ignore[type-arg]
    """The table of all joins in some objects: category, part, parent, then one row for each join."""
    seen: dict[tuple[str, str, str], list[np.ndarray]] = {}
    for one in objects:
        ends = [reach_of(part) / scale_of(one) for part in one.parts]
        for number, part in enumerate(one.parts):
            if part.parent >= 0:
                key = (one.category, part.name, one.parts[part.parent].name)
                seen.setdefault(key, []).append(ends[number][:, None] - ends[part.parent][None])
    out: dict[str, dict[str, dict[str, list]]] = {}  # type: ignore[type-arg]
    for (category, name, parent), rows in sorted(seen.items()):
        low, at, high = np.quantile(rows, (0.1, 0.5, 0.9), axis=0)
        found = [
            [axis, mine, other, round(float(at[mine, other, axis]), 4), round(float(half), 4)]
            for (mine, other, axis), half in np.ndenumerate((high - low) / 2)
            if half < config.spread
        ]
        if found and len(rows) >= config.least:
            out.setdefault(category, {}).setdefault(name, {})[parent] = found
    return out
