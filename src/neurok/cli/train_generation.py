"""``neurok train generation``: learn to make objects from words and pictures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from neurok.cli.report import say


@dataclass
class TrainGeneration:
    """Train the part list and the flow of its numbers on a store of 'neurok data household', one after the other.

    Ctrl-C saves; --resume goes on. One instance in ten is held out and watched.
    """

    data: tuple[Path, ...]
    """Stores made by 'neurok data household'."""

    out: Path
    """Folder of the runs: list/ and flow/, and generation.safetensors when both are there."""

    pictures: tuple[Path, ...] = ()
    """Pictures of the same objects, made by 'neurok data household --pictures'."""

    which: Literal["both", "list", "flow"] = "both"
    """Which of the two networks."""

    recipe: Literal["base", "smoke"] = "base"
    """Which configuration."""

    steps: int | None = None
    """Length of each run, if not the recipe's."""

    captions: int = 5
    """Captions of each object."""

    start_from: str | None = None
    """Begin with the weights of a folder of runs, or with shipped ones: generation, or a .safetensors file."""

    resume: bool = False
    """Go on from the checkpoints in --out."""

    seed: int | None = None
    """Same seed, same losses; 0 if not given."""

    json: bool = False
    """Print one JSON object and nothing else."""

    def run(self) -> dict[str, Any]:
        from neurok.train.checkpoint import recipe_for
        from neurok.train.generation import recipe_named, training_of
        from neurok.train.generation_data import read_examples, with_pictures
        from neurok.train.generation_ship import ship_generation
        from neurok.train.loop import CHECKPOINT, train
        from neurok.train.origin import commit
        from neurok.train.processes import Team
        from neurok.train.screen import Screen

        tell = partial(say, json=self.json)
        learned = [one for folder in self.data for one in read_examples(folder, self.captions, 0, "train")]
        watched = [one for folder in self.data for one in read_examples(folder, 2, 0, "test")]
        if self.pictures:
            learned = with_pictures(learned, self.pictures)
        shown = sum(one.pictures is not None for one in learned)
        tell(f"{len(learned)} objects to learn from, {shown} of them with pictures; {len(watched)} to watch")
        figures: dict[str, Any] = {"out": str(self.out)}
        for name in ("list", "flow") if self.which == "both" else (self.which,):
            folder = self.out / name
            checkpoint = folder / CHECKPOINT if self.resume and (folder / CHECKPOINT).exists() else None
            start: str | Path | None = self.start_from
            if start is not None and Path(start).is_dir():
                start = Path(start) / name / CHECKPOINT
            usual = recipe_named(name if self.recipe == "base" else f"{name}-smoke")
            recipe = recipe_for(usual, checkpoint, start, seed=self.seed, steps=self.steps)
            task = training_of(recipe, learned, watched)
            origin = {"objects": len(learned), "pictured": shown, "commit": commit()}
            with Screen(tell, task.unit, f"{name}: {task.meaning}", live=False if self.json else None) as screen:
                train(
                    task, folder, resume=checkpoint is not None, start_from=start, origin=origin,
                    report=screen, pulse=screen.pulse,
                )  # fmt: skip
            figures[name] = screen.rows[-1]["watched"] if screen.rows else {}
        if Team.join().is_first and all((self.out / name / CHECKPOINT).exists() for name in ("list", "flow")):
            ship_generation(self.out / "list", self.out / "flow", self.out / "generation.safetensors")
            tell(f"{self.out / 'generation.safetensors'}: for neurok generate --weights")
        return figures
