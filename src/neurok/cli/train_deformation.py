"""``neurok train deformation``: learn kinematic spaces."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import tyro

from neurok.cli.flags import JsonFlag, TrainSeed, arg, need, several
from neurok.cli.report import say


@dataclass
class TrainDeformation:
    """Train the deformation model on data sets made by 'neurok data build'. Ctrl-C saves; --resume continues."""

    data: Annotated[tyro.conf.Positional[tuple[str, ...]], several("DATASET")]
    """Data sets: folders or fsspec URLs; several at once, or the flag repeated."""

    out: Annotated[Path, arg("FOLDER")]
    """Folder of the run: checkpoint, log and curve."""

    recipe: str = "base"
    """Which configuration: base, then more and settle with --start-from (as for the shipped model), points (the
    paper's), polish (some minutes more), smoke (a minute), or one of the ablations: ablate_full,
    ablate_no_augmentation, ablate_no_rotations, ablate_points, ablate_points_no_dual."""

    steps: Annotated[int | None, arg("N", "the recipe's")] = None
    """Length of the run."""

    resume: bool = False
    """Continue from the checkpoint in --out with its own recipe, exactly as if it had not been interrupted."""

    start_from: Annotated[Path | None, arg("WEIGHTS", "none")] = None
    """Start with the model and weights of this checkpoint, or of shipped weights."""

    seed: TrainSeed = None

    json: JsonFlag = False

    def run(self) -> dict[str, Any]:
        from neurok.train.checkpoint import recipe_for
        from neurok.train.deformation import DeformationTraining, find_recipe
        from neurok.train.deformation_data import split_subjects
        from neurok.train.loop import CHECKPOINT, train
        from neurok.train.origin import commit, started_from
        from neurok.train.screen import Screen

        need(self.data, "data set")
        checkpoint = self.out / CHECKPOINT if self.resume else None
        recipe = recipe_for(
            find_recipe(self.recipe), checkpoint, self.start_from, seed=self.seed, steps=self.steps
        )  # fmt: skip
        split = split_subjects(self.data)
        say(f"{len(split.train)} subjects to learn from", json=self.json)
        started = started_from(checkpoint, self.start_from, recipe.task)
        origin = {"data": list(split.data), "commit": commit(), "started_from": started}
        task = DeformationTraining(recipe, split)
        with Screen(partial(say, json=self.json), task.unit, task.meaning, live=False if self.json else None) as screen:
            train(
                task, self.out, resume=self.resume, start_from=self.start_from, origin=origin,
                report=screen, pulse=screen.pulse,
            )  # fmt: skip
        return {"out": str(self.out), **(screen.rows[-1] if screen.rows else {})}
