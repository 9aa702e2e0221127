"""``neurok train deformation``: learn kinematic spaces."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import tyro

from neurok.cli.report import say


@dataclass
class TrainDeformation:
    """Train the deformation model on data sets made by 'neurok data build'. Ctrl-C saves; --resume goes on."""

    data: Annotated[tyro.conf.UseAppendAction[tuple[tuple[str, ...], ...]], tyro.conf.arg(metavar="DATASET ...")]
    """Data sets: folders or fsspec URLs; several at once, or the flag repeated."""

    out: Path
    """Folder of the run: checkpoint, log and curve."""

    recipe: str = "base"
    """Which configuration: base, then more and settle with --start-from (so the shipped model was made), points (the
    paper's), polish (some minutes more), smoke (a minute), or one of the ablations: ablate_full,
    ablate_no_augmentation, ablate_no_rotations, ablate_points, ablate_points_no_dual."""

    steps: int | None = None
    """Length of the run, if not the recipe's."""

    resume: bool = False
    """Go on from the checkpoint in --out, exactly as if it had not been interrupted."""

    start_from: Path | None = None
    """Begin with the model and weights of this checkpoint, or of shipped weights."""

    seed: int = 0
    """Same seed, same losses."""

    json: bool = False
    """Print one JSON object and nothing else."""

    def run(self) -> dict[str, Any]:
        from neurok.train.loop import CHECKPOINT, train
        from neurok.train.recipes import find_recipe
        from neurok.train.screen import Screen
        from neurok.train.ship import commit, model_config_of
        from neurok.train.subjects import split_subjects

        config = replace(find_recipe(self.recipe), seed=self.seed)
        if self.steps is not None:
            config = replace(config, steps=self.steps)
        earlier = self.out / CHECKPOINT if self.resume else self.start_from
        if earlier is not None:
            config = replace(config, model=model_config_of(earlier))
        split = split_subjects([folder for group in self.data for folder in group])
        say(f"{len(split.train)} subjects to learn from", json=self.json)
        started = None if self.start_from is None else self.start_from.name
        origin = {"data": list(split.data), "commit": commit(), "started_from": started}
        last: dict[str, Any] = {}

        def report(figures: dict[str, Any]) -> None:
            last.update(figures)
            screen(figures)

        with Screen(partial(say, json=self.json), live=False if self.json else None) as screen:
            train(
                config, split, self.out, resume=self.resume, start_from=self.start_from,
                report=report, pulse=screen.pulse, origin=origin,
            )  # fmt: skip
        return {"out": str(self.out), **last}
