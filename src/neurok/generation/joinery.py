"""Which ends of parts always lie at the same place beside what they hang on: counted in the objects of the generators.

A mattress reaches from end to end of its base, legs end a hair inside the top, a screen lies flat in its lid. A network
writes such ends and turns with some error; while it writes, they are drawn to where they always are (``reaching``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

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

    turn: float = 0.01
    """Largest entry by which nine tenths of all turns may differ from the one in the middle [-]."""

    straight: float = 0.98
    """Least cosine between the axes of a part and those of the object, for its ends to be counted."""

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


def is_straight(part: Part, config: JoineryConfig = JOINERY) -> bool:
    """Whether a part lies along the axes of the object."""
    return bool((np.abs(part.turn).max(axis=0) > config.straight).all())


@cache
def joins(category: str, part: str, parent: str) -> tuple[Join, ...]:
    """The ends of such a part that always lie at the same place beside such a parent."""
    rows = _table().get(category, {}).get(part, {}).get(parent, {}).get("ends", [])
    return tuple(Join(int(axis), int(mine), int(other), at, spread) for axis, mine, other, at, spread in rows)


@cache
def turn_on(category: str, part: str, parent: str) -> Float[np.ndarray, "3 3"] | None:
    """How such a part is always turned against such a parent; nothing where it comes in several ways."""
    rows = _table().get(category, {}).get(part, {}).get(parent, {}).get("turn")
    return None if rows is None else np.array(rows, dtype=np.float64)


@cache
def _table() -> Mapping[str, Mapping[str, Mapping[str, Mapping[str, Any]]]]:
    return json.loads(FILE.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def counted(objects: Iterable[Assembly], config: JoineryConfig = JOINERY) -> dict[str, dict[str, dict[str, Any]]]:
    """The table of all joins in some objects: category, part, parent, then ends and turn."""
    seen: dict[tuple[str, str, str], list[tuple[np.ndarray | None, np.ndarray]]] = {}
    for one in objects:
        scale = scale_of(one)
        for part in (part for part in one.parts if part.parent >= 0):
            parent = one.parts[part.parent]
            are_straight = is_straight(part, config) and is_straight(parent, config)
            ends = (reach_of(part)[:, None] - reach_of(parent)[None]) / scale if are_straight else None
            seen.setdefault((one.category, part.name, parent.name), []).append((ends, parent.turn.T @ part.turn))
    out: dict[str, dict[str, dict[str, Any]]] = {}
    for (category, name, parent_name), pairs in sorted(seen.items()):
        found: dict[str, Any] = {}
        places = [ends for ends, _ in pairs if ends is not None]
        if len(places) >= max(config.least, 0.9 * len(pairs)):
            found["ends"] = _same_ends(np.array(places), config)
        turns = np.array([turn for _, turn in pairs])
        middle = turns[np.abs(turns - np.median(turns, axis=0)).max(axis=(1, 2)).argmin()]
        off = np.abs(turns - middle).max(axis=(1, 2))
        if len(pairs) >= config.least and np.quantile(off, 0.9) < config.turn and len(places) < len(pairs):
            found["turn"] = middle.round(4).tolist()
        if any(found.values()):
            out.setdefault(category, {}).setdefault(name, {})[parent_name] = found
    return out


def _same_ends(places: Float[np.ndarray, "N 2 2 3"], config: JoineryConfig) -> list[list[float]]:
    low, at, high = np.quantile(places, (0.1, 0.5, 0.9), axis=0)
    return [
        [axis, mine, other, round(float(at[mine, other, axis]), 4), round(float(half), 4)]
        for (mine, other, axis), half in np.ndenumerate((high - low) / 2)
        if half < config.spread
    ]
