"""``neurok data preview``: look at a data set."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

from neurok.cli.report import progress, say


@dataclass
class DataPreview:
    """Draw a contact sheet of a data set: one row per item, one column per state."""

    folder: tyro.conf.Positional[str]
    """Folder or fsspec URL of the data set."""

    out: tyro.conf.Positional[Path]
    """Picture to write (.png)."""

    items: int = 12
    """How many items, spread over the data set."""

    states: int = 4
    """States of each, the rest state first."""

    seed: int = 0
    """Another seed shows other items."""

    json: bool = False
    """Print one JSON object and nothing else."""

    def run(self) -> dict[str, Any]:
        from itertools import islice

        from neurok.data.shards import ShardSet
        from neurok.data.states import telling_states
        from neurok.errors import NeurokError
        from neurok.rendering import contact_sheet, render_mesh, save_image

        if self.items < 1 or self.states < 1:
            raise NeurokError(f"items and states must be 1 or more, got {self.items} and {self.states}.")
        if self.out.suffix.lower() != ".png":
            raise NeurokError(f"The preview is a .png file, got '{self.out}'.")
        chosen = list(islice(ShardSet.open(self.folder).stream(self.seed, buffer=8 * self.items), self.items))
        images, labels = [], []
        for item in progress(chosen, "drawing", total=len(chosen), json=self.json):
            row = telling_states(item.asset(), self.states)
            images += [render_mesh(mesh, width=240, height=200) for mesh in row]
            labels += [item.info["family"]] + [""] * (len(row) - 1)
        save_image(contact_sheet(images, columns=self.states, labels=labels), self.out)
        say(f"{len(chosen)} items, {self.states} states each: {self.out}", json=self.json)
        return {"out": str(self.out), "items": len(chosen), "states": self.states}
