"""``neurok train parts``: learn parts of household things as codes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import tyro

from neurok.cli.flags import JsonFlag, TrainSeed, arg
from neurok.cli.report import say


@dataclass
class TrainParts:
    """Train the autoencoder of parts (or, with --recipe vecset, of whole objects) on samples, which are made first.

    Ctrl-C saves; --resume continues. Instances of the test split and one real model in five are never used for
    training.
    """

    data: Annotated[tyro.conf.Positional[Path], arg("FOLDER")]
    """Folder of samples; missing ones are made there."""

    out: Annotated[Path, arg("FOLDER")]
    """Folder of the run: checkpoint, log, and parts.safetensors."""

    objects: int = 50
    """Generated objects of each category."""

    real: Annotated[Path | None, arg("FOLDER", "none")] = None
    """Folder of sorted real models with its categories.csv, to train on as well."""

    recipe: str = "base"
    """Which configuration: base, onward (with --start-from), short, smoke, decoded, apart, fused or vecset."""

    steps: Annotated[int | None, arg("N", "the recipe's")] = None
    """Length of the run."""

    start_from: Annotated[str | None, arg("WEIGHTS", "none")] = None
    """Weights to start with: a checkpoint, or "parts" for the shipped ones; their model is used."""

    resume: bool = False
    """Continue from the checkpoint in --out."""

    seed: TrainSeed = None
    json: JsonFlag = False

    def run(self) -> dict[str, Any]:
        from neurok.train.checkpoint import recipe_for
        from neurok.train.loop import CHECKPOINT, train
        from neurok.train.origin import commit, started_from
        from neurok.train.parts_data import PartDataConfig, samples
        from neurok.train.parts_run import recipe_named, training_of
        from neurok.train.processes import Team
        from neurok.train.screen import Screen
        from neurok.train.ship import ship

        tell = partial(say, json=self.json)
        found = samples(self.data, PartDataConfig(objects=self.objects), self.real, tell)
        checkpoint = self.out / CHECKPOINT if self.resume else None
        recipe = recipe_for(
            recipe_named(self.recipe, found), checkpoint, self.start_from, seed=self.seed, steps=self.steps
        )
        task = training_of(recipe, found)
        begun = started_from(checkpoint, self.start_from, recipe.task)
        origin = {"data": found.origin, "examples": found.counts, "commit": commit(), "started_from": begun}
        with Screen(tell, task.unit, task.meaning, live=False if self.json else None) as screen:
            begin = {"resume": self.resume, "start_from": self.start_from}
            train(task, self.out, **begin, origin=origin, report=screen, pulse=screen.pulse)  # type: ignore[arg-type]
        if Team.join().is_first and task.recipe.task == "parts":
            ship([self.out], self.out / "parts.safetensors")
        return {"out": str(self.out), **(screen.rows[-1] if screen.rows else {})}
