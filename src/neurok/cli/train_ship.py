"""``neurok train ship``: turn a run into weights that others can use."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from neurok.cli.report import say
from neurok.errors import NeurokError


@dataclass
class TrainShip:
    """Write the averaged weights of a run of 'neurok train' in half precision, with a card beside them.

    Several runs of 'neurok train articulation' are written together: their models answer as one. Of several runs of
    'neurok train deformation', each begun where another ended, the mean of the weights is written.
    """

    run_folders: Annotated[tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="RUN [RUN ...]")]
    """Folder of the run, finished or not."""

    out: Path
    """The weights, a .safetensors file; the card gets the same name with .json."""

    data: Annotated[tyro.conf.UseAppendAction[tuple[tuple[str, ...], ...]], tyro.conf.arg(metavar="DATASET ...")] = ()
    """Data sets whose licences go into the card; needed only for runs that did not note them, or that have moved."""

    note: str | None = None
    """A sentence for the card: what its other lines do not say."""

    json: bool = False
    """Print one JSON object and nothing else."""

    def run(self) -> dict[str, Any]:
        from neurok.hub import save_model
        from neurok.train.articulation_ship import is_joint_run, ship_joints
        from neurok.train.ship import mean_model, shipped_model
        from neurok.train.subjects import licenses_of, split_subjects

        if self.out.suffix != ".safetensors":
            raise NeurokError(f"Weights are written to a .safetensors file, not to '{self.out}'.")
        folders = [folder for group in self.data for folder in group]
        if all(is_joint_run(run) for run in self.run_folders):
            card = ship_joints(self.run_folders, self.out, folders, self.note)
            say(f"{self.out}: {len(self.run_folders)} models; the card lies beside it", json=self.json)
            return {"out": str(self.out), "calibrated_on": card["calibrated_on"], "runs": len(self.run_folders)}
        named = [licenses_of(folder) for folder in folders]
        if len(self.run_folders) == 1:
            model, card = shipped_model(self.run_folders[0], named or None)
        elif not folders:
            raise NeurokError("The mean of several runs has to be measured: name their data sets with --data.")
        else:
            model, card = mean_model(self.run_folders, split_subjects(folders).watch, named)
        if self.note is not None:
            card["note"] = self.note
        save_model(model, self.out, card)
        size = self.out.stat().st_size
        say(f"{self.out}: {size / 1e6:.1f} MB after {card['steps']} steps; the card lies beside it", json=self.json)
        return {"out": str(self.out), "bytes": size, "steps": card["steps"], "metrics": card["metrics"]}
