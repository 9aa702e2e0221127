"""``neurok data household``: objects to learn generation from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from neurok.cli.flags import JsonFlag, SeedFlag, arg
from neurok.cli.report import counting, say


@dataclass
class DataHousehold:
    """Generate household objects as lists of parts, a file of JSON lines for each category; the same command continues.

    'neurok train generation' is trained on them.
    """

    out: Annotated[Path, arg("FOLDER")]
    """Folder of the store."""

    count: int = 450
    """Objects of each category."""

    categories: Annotated[tuple[str, ...], arg("NAME [NAME ...]", "all")] = ()
    """Which categories."""

    real: Annotated[Path | None, arg("FOLDER", "none")] = None
    """Also real models as lists of fitted parts: sorted models with their categories.csv."""

    pictures: Annotated[Path | None, arg("FOLDER", "none")] = None
    """Also render pictures of the training objects into this folder, and one of each held-out object into its
    held_out/."""

    views: int = 2
    """Pictures of each object."""

    checked: bool = False
    """Only objects that pass all checks, at three times the cost."""

    seed: SeedFlag = 0
    json: JsonFlag = False

    def run(self) -> dict[str, Any]:
        from neurok.data.household import build_households
        from neurok.families.household.vocabulary import CATEGORIES

        names = self.categories or CATEGORIES
        with counting("objects", json=self.json) as tell:
            added = build_households(
                self.out, self.count, categories=names, seed=self.seed, checked=self.checked, progress=tell
            )
        say(f"{self.out}: {added} objects added, {self.count} of each of {len(names)} categories", json=self.json)
        kept = self._add_real() if self.real is not None else 0
        taken = 0
        if self.pictures is not None:
            taken = self._take_pictures(self.pictures)
            say(f"{self.pictures}: {taken} pictures", json=self.json)
        return {"out": str(self.out), "added": added, "real": kept, "pictures": taken}

    def _take_pictures(self, pictures: Path) -> int:
        """Of all objects; of real models as they are, also where no forms fit."""
        from dataclasses import replace

        from neurok.data.household import number_of, read_households
        from neurok.data.household_pictures import (
            HELD_OUT,
            PictureConfig,
            assembly_sitters,
            build_pictures,
            file_sitters,
        )
        from neurok.data.household_real import real_models
        from neurok.families.household.categories import split_of

        every, taken = read_households(self.out), 0
        real = [] if self.real is None else [one for one in real_models(self.real) if one.is_learned]
        listed = {one.name.rpartition("/")[0] for one in every}
        rest = [(one.path, one.category) for one in real if f"{one.category} {one.path.stem}" not in listed]
        files = {one.path.stem: one.path for one in real}
        for split, folder, views in (("train", pictures, self.views), ("test", pictures / HELD_OUT, 1)):
            sitters = assembly_sitters((one for one in every if split_of(number_of(one)) == split), files)
            sitters += file_sitters(rest, "") if split == "train" else []
            with counting("shards of pictures", json=self.json) as tell:
                taken += build_pictures(folder, sitters, replace(PictureConfig(), views=views), tell)
        return taken

    def _add_real(self) -> int:
        from neurok.hub import load_model
        from neurok.train.household_fitted import build_real

        assert self.real is not None
        with counting("real models", json=self.json) as tell:
            found = build_real(self.out, self.real, load_model("parts", "parts"), tell)
        kept = sum("iou" in one for one in found.values())
        say(f"{self.out}: {kept} of {len(found)} real models fit well and were added", json=self.json)
        return kept
