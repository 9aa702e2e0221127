"""Which names of parts and which kinds each household category has: writes ``generation/category_words.json``.

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
from neurok.families.household.vocabulary import CATEGORIES

OUT = Path("src/neurok/generation/category_words.json")
RARE = 0.01


@dataclass
class Count:
    """Count words."""

    store: tyro.conf.Positional[Path]
    """Folder of objects."""

    def run(self) -> None:
        objects = read_households(self.store)
        found = {}
        for category in CATEGORIES:
            mine = [one for one in objects if one.category == category]
            parts = Counter(name for one in mine for name in {part.name for part in one.parts})
            kinds = Counter(word for one in mine for word in one.style)
            found[category] = {
                "parts": {n: round(c / len(mine), 3) for n, c in parts.most_common() if c >= RARE * len(mine)},
                "kinds": sorted(kinds),
            }
        OUT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        print(f"{OUT}: {len(objects)} objects")


if __name__ == "__main__":
    tyro.cli(Count).run()
