"""``neurok data household``: objects to learn generation from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neurok.cli.report import counting, say


@dataclass
class DataHousehold:
    """Draw household objects as lists of parts, a file of JSON lines for each category; the same command goes on.

    'neurok train generation' learns from them.
    """

    out: Path
    """Folder of the store."""

    count: int = 450
    """Objects of each category."""

    categories: tuple[str, ...] = ()
    """Which categories; all by default."""

    pictures: Path | None = None
    """Also take pictures of those to learn from, into this folder."""

    views: int = 2
    """Pictures of each object."""

    checked: bool = False
    """Only objects that pass all checks, at three times the cost."""

    seed: int = 0
    """Same seed, same objects."""

    json: bool = False
    """Print one JSON object and nothing else."""

    def run(self) -> dict[str, Any]:
        from neurok.data.household import build_households, number_of, read_households
        from neurok.families.household.categories import split_of
        from neurok.families.household.vocabulary import CATEGORIES

        names = self.categories or CATEGORIES
        with counting("objects", json=self.json) as tell:
            added = build_households(
                self.out, self.count, categories=names, seed=self.seed, checked=self.checked, progress=tell
            )
        say(f"{self.out}: {added} objects added, {self.count} of each of {len(names)} categories", json=self.json)
        taken = 0
        if self.pictures is not None:
            from dataclasses import replace

            from neurok.data.household_pictures import PictureConfig, assembly_sitters, build_pictures

            learned = [one for one in read_households(self.out) if split_of(number_of(one)) == "train"]
            sitters = assembly_sitters(learned)
            with counting("shards of pictures", json=self.json) as tell:
                taken = build_pictures(self.pictures, sitters, replace(PictureConfig(), views=self.views), tell)
            say(f"{self.pictures}: {taken} pictures", json=self.json)
        return {"out": str(self.out), "added": added, "pictures": taken}
