"""``neurok train ship``: turn a run into weights that others can use."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from neurok.cli.flags import JsonFlag, arg, need, several
from neurok.cli.report import say


@dataclass
class TrainShip:
    """Write the averaged weights of a run of 'neurok train' in half precision, with a card beside them.

    Several runs of 'neurok train articulation' are written as an ensemble. Of several runs of 'neurok train
    deformation', each started from the end of another, the mean of the weights is written.
    """

    run_folders: Annotated[tyro.conf.Positional[tuple[Path, ...]], several("RUN")]
    """Folder of the run, finished or not."""

    out: Annotated[Path, arg("FILE.safetensors")]
    """The weights, a .safetensors file; the card gets the same name with .json."""

    data: Annotated[tyro.conf.UseAppendAction[tuple[tuple[str, ...], ...]], arg("DATASET ...")] = ()
    """Data sets whose licences go into the card; needed only for runs that did not record them, or that have moved."""

    note: Annotated[str | None, arg("SENTENCE", "none")] = None
    """An additional sentence for the card."""

    json: JsonFlag = False

    def run(self) -> dict[str, Any]:
        from neurok.train.ship import ship

        need(self.run_folders, "run")
        folders = [folder for group in self.data for folder in group]
        card = ship(self.run_folders, self.out, folders, self.note)
        size = self.out.stat().st_size
        runs = f"{len(self.run_folders)} runs, " if len(self.run_folders) > 1 else ""
        told = f"{self.out}: {size / 1e6:.1f} MB after {runs}{card['steps']} steps"
        say(f"{told}; the card lies beside it", json=self.json)
        facts: dict[str, Any] = {key: card[key] for key in ("steps", "metrics", "calibrated_on") if key in card}
        return {"out": str(self.out), "bytes": size, "runs": len(self.run_folders), **facts}
