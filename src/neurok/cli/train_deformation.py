"""``neurok train deformation``: learn kinematic spaces."""

from __future__ import annotations

from dataclasses import dataclass, replace
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
    """Which configuration: base or smoke."""

    steps: int | None = None
    """Length of the run, if not the recipe's."""

    resume: bool = False
    """Go on from the checkpoint in --out, exactly as if it had not been interrupted."""

    start_from: Path | None = None
    """Begin with the weights of this checkpoint."""

    seed: int = 0
    """Same seed, same losses."""

    json: bool = False
    """Print one JSON object and nothing else."""

    def run(self) -> dict[str, Any]:
        from neurok.train.loop import train
        from neurok.train.recipes import find_recipe
        from neurok.train.subjects import split_subjects

        config = replace(find_recipe(self.recipe), seed=self.seed)
        if self.steps is not None:
            config = replace(config, steps=self.steps)
        split = split_subjects([folder for group in self.data for folder in group])
        say(f"{len(split.train)} subjects to learn from", json=self.json)
        last: dict[str, Any] = {}

        def report(figures: dict[str, Any]) -> None:
            last.update(figures)
            names = ["relative", "nats", "train", *split.watch]
            columns = "  ".join(f"{name} {figures[name]:.3f}" for name in names)
            rate, left = figures["pairs_per_second"], figures["eta"] / 60
            say(f"step {figures['step']:6d}  {columns}  {rate:.0f} pairs/s  {left:.0f} min left", json=self.json)

        train(config, split, self.out, resume=self.resume, start_from=self.start_from, report=report)
        return {"out": str(self.out), **last}
