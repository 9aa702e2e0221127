"""Which names of parts, kinds and shapes each household category has, and where ends of parts always lie.

Writes ``generation/category_words.json`` and ``generation/joinery.json``:

    python benchmarks/count_household_words.py STORE

STORE is made by ``neurok data household``. A name has to be on one object in a hundred to count.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import tyro

from neurok.data.household import read_households
from neurok.families.household.captions import main_part
from neurok.families.household.parts import Assembly, Part
from neurok.families.household.vocabulary import CATEGORIES
from neurok.generation.fields import STYLE_SLOTS
from neurok.generation.joinery import FILE, counted

OUT = Path("src/neurok/generation/category_words.json")
RARE = 0.01
ENOUGH = 10


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
        FILE.write_text(json.dumps(counted(objects)) + "\n", encoding="utf-8")
        print(f"{OUT}, {FILE}: {len(objects)} objects")


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


if __name__ == "__main__":
    tyro.cli(Count).run()
