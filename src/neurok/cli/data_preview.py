"""``neurok data preview``: look at a data set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import tyro

from neurok.cli.flags import JsonFlag, NeededOut, SeedFlag, arg
from neurok.cli.report import progress, say


@dataclass
class DataPreview:
    """Draw a contact sheet of a data set: one row per item, one column per state."""

    folder: Annotated[tyro.conf.Positional[str], arg("DATASET")]
    """Folder or fsspec URL of the data set."""

    out: NeededOut
    """Pictures to write (.png, .jpg, .webp)."""

    items: int = 12
    """How many items, spread evenly over the data set."""

    states: int = 4
    """States of each, the rest state first."""

    seed: SeedFlag = 0
    json: JsonFlag = False

    def run(self) -> dict[str, Any]:
        from itertools import islice

        from neurok.cli.outputs import check_outputs
        from neurok.data.shards import ShardSet
        from neurok.data.states import telling_states
        from neurok.errors import NeurokError
        from neurok.rendering import contact_sheet, render_mesh, save_image
        from neurok.rendering.files import STILLS
        from neurok.staging import together

        if self.items < 1 or self.states < 1:
            raise NeurokError(f"items and states must be 1 or more, got {self.items} and {self.states}.")
        check_outputs(self.out, known=STILLS, what="a picture")
        chosen = list(islice(ShardSet.open(self.folder).stream(self.seed, buffer=8 * self.items), self.items))
        images, labels = [], []
        for item in progress(chosen, "drawing", total=len(chosen), json=self.json):
            row = telling_states(item.asset(), self.states)
            images += [render_mesh(mesh, width=240, height=200) for mesh in row]
            labels += [item.info["family"]] + [""] * (len(row) - 1)
        sheet = contact_sheet(images, columns=self.states, labels=labels)
        with together():
            for path in self.out:
                save_image(sheet, path)
        files = [str(path) for path in self.out]
        say(f"{len(chosen)} items, {self.states} states each: {', '.join(files)}", json=self.json)
        return {"out": files[0], "files": files, "items": len(chosen), "states": self.states}
