"""Which names of parts, kinds and shapes each household category has, and where ends of parts always lie.

Writes ``generation/category_words.json`` and ``generation/usual_contacts.json``:

    python benchmarks/count_household_words.py STORE

STORE is made by ``neurok data household``. A name has to be on one object in a hundred to count.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from jaxtyping import Float

from neurok.catalogue.captions import main_part
from neurok.catalogue.parts import Assembly, Part
from neurok.catalogue.vocabulary import CATEGORIES
from neurok.generation.attachment import USUAL_CONTACTS, is_straight, reach_of
from neurok.generation.fields import STYLE_SLOTS
from neurok.generation.numbers import scale_of
from neurok_lab.data.household import read_households

OUT = Path("src/neurok/generation/category_words.json")
RARE = 0.01
ENOUGH = 10
SPREAD = 0.008
"""Half of the span between the first and the last tenth of all places of an end [shares of the longest side]."""

TURN = 0.01
"""Largest entry by which nine tenths of all turns may differ from the one in the middle [-]."""

LEAST = 15
"""Pairs of parts in which they have to be seen."""


@dataclass
class Count:
    """Count words."""

    store: tyro.conf.Positional[Path]
    """Folder of objects."""

    only_styles: bool = False
    """Count words of style anew and keep the rest."""

    def run(self) -> None:
        known = json.loads(OUT.read_text(encoding="utf-8")) if self.only_styles else {}
        objects = read_households(self.store)
        found = {}
        for category in CATEGORIES:
            mine = [one for one in objects if one.category == category]
            parts = Counter(name for one in mine for name in {part.name for part in one.parts})
            kinds = Counter(word for one in mine for word in one.style)
            found[category] = {
                "parts": {n: round(c / len(mine), 3) for n, c in parts.most_common() if c >= RARE * len(mine)},
                "kinds": sorted(kinds),
                **known.get(category, {}),
                "mains": [n for n, _ in Counter(one.parts[main_part(one)].name for one in mine).most_common()],
                "styles": _styles(mine),
                "parents": _parents(mine),
                "bare": _bare(mine),
            }
        OUT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        USUAL_CONTACTS.write_text(json.dumps(joins_of(objects)) + "\n", encoding="utf-8")
        print(f"{OUT}, {USUAL_CONTACTS}: {len(objects)} objects")


def _parents(mine: list[Assembly]) -> dict[str, list[str]]:
    """Of each part the names of what it hangs on, however seldom."""
    found: dict[str, set[str]] = {}
    for one in mine:
        for part in one.parts:
            found.setdefault(part.name, set()).update([one.parts[part.parent].name] if part.parent >= 0 else [])
    return {name: sorted(parents) for name, parents in sorted(found.items())}


def _bare(mine: list[Assembly]) -> dict[str, dict[str, list[str]]]:
    """Of each part and each name of what it hangs on the forms of that on which it never does: aprons of round tops."""
    forms = Counter((part.name, part.kind) for one in mine for part in one.parts)
    pairs = [(part.name, one.parts[part.parent]) for one in mine for part in one.parts if part.parent >= 0]
    on, often = Counter((name, below.name, below.kind) for name, below in pairs), Counter((n, p.name) for n, p in pairs)
    found: dict[str, dict[str, list[str]]] = {}
    for (name, parent), count in sorted(often.items()):
        for (other, kind), number in sorted(forms.items()):
            if other == parent and min(count, number) >= ENOUGH and not on[name, parent, kind]:
                found.setdefault(name, {}).setdefault(parent, []).append(kind)
    return found


def _styles(mine: list[Assembly]) -> dict[str, dict[str, dict[str, object]]]:
    """Of each part the words of style it comes with: how often, at which place, and what forms it then has."""
    found: dict[str, dict[str, list[Part]]] = {}
    for part in (part for one in mine for part in one.parts):
        for word in part.style[:STYLE_SLOTS]:
            found.setdefault(part.name, {}).setdefault(word, []).append(part)
    return {
        name: {
            word: {
                "share": round(len(parts) / len(mine), 3),
                "slot": Counter(part.style.index(word) for part in parts).most_common(1)[0][0],
                "kinds": sorted({part.kind for part in parts}),
                "reliefs": sorted({part.relief for part in parts}),
            }
            for word, parts in sorted(words.items())
            if len(parts) >= RARE * len(mine)
        }
        for name, words in sorted(found.items())
    }


def joins_of(objects: Iterable[Assembly], least: int = LEAST) -> dict[str, dict[str, dict[str, Any]]]:
    """The table of all joins in some objects: category, part, parent, then ends and turn."""
    seen: dict[tuple[str, str, str], list[tuple[np.ndarray | None, np.ndarray]]] = {}
    for one in objects:
        scale = scale_of(one)
        for part in (part for part in one.parts if part.parent >= 0):
            parent = one.parts[part.parent]
            are_straight = is_straight(part) and is_straight(parent)
            ends = (reach_of(part)[:, None] - reach_of(parent)[None]) / scale if are_straight else None
            seen.setdefault((one.category, part.name, parent.name), []).append((ends, parent.turn.T @ part.turn))
    out: dict[str, dict[str, dict[str, Any]]] = {}
    for (category, name, parent_name), pairs in sorted(seen.items()):
        found: dict[str, Any] = {}
        places = [ends for ends, _ in pairs if ends is not None]
        if len(places) >= max(least, 0.9 * len(pairs)):
            found["ends"] = _same_ends(np.array(places))
        turns = np.array([turn for _, turn in pairs])
        middle = turns[np.abs(turns - np.median(turns, axis=0)).max(axis=(1, 2)).argmin()]
        off = np.abs(turns - middle).max(axis=(1, 2))
        if len(pairs) >= least and np.quantile(off, 0.9) < TURN and len(places) < len(pairs):
            found["turn"] = middle.round(4).tolist()
        if any(found.values()):
            out.setdefault(category, {}).setdefault(name, {})[parent_name] = found
    return out


def _same_ends(places: Float[np.ndarray, "N 2 2 3"]) -> list[list[float]]:
    low, at, high = np.quantile(places, (0.1, 0.5, 0.9), axis=0)
    return [
        [axis, mine, other, round(float(at[mine, other, axis]), 4), round(float(half), 4)]
        for (mine, other, axis), half in np.ndenumerate((high - low) / 2)
        if half < SPREAD
    ]


if __name__ == "__main__":
    tyro.cli(Count).run()
