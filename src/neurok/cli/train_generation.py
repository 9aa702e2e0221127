"""``neurok train generation``: learn to make objects from words and pictures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from neurok.cli.flags import JsonFlag, TrainSeed, arg, need, several
from neurok.cli.report import say

if TYPE_CHECKING:
    from neurok.train.generation_data import Example


@dataclass
class TrainGeneration:
    """Train on a store of 'neurok data household', one after the other: the image encoder, the part list, the flow.

    The list and the flow start with the trained encoder, if there is a run of it in --out. Ctrl-C saves; --resume
    continues. One instance in ten is held out for validation.
    """

    data: Annotated[tyro.conf.Positional[tuple[Path, ...]], several("STORE")]
    """Stores made by 'neurok data household'."""

    out: Annotated[Path, arg("FOLDER")]
    """Folder of the runs: pictures/, list/ and flow/, and generation.safetensors if the last two are there, or if
    pictures/ alone continues from shipped weights."""

    pictures: Annotated[tuple[Path, ...], arg("FOLDER [FOLDER ...]", "none")] = ()
    """Pictures of the same objects, made by 'neurok data household --pictures'."""

    which: Literal["all", "pictures", "list", "flow"] = "all"
    """Which of the networks; 'all' means the list and the flow, after the image encoder if there are pictures."""

    recipe: Literal["base", "more", "eyes", "smoke"] = "base"
    """Which configuration; more continues from --start-from with smaller steps; with eyes only the image encoders of
    the list and the flow are trained, on pictures alone, so generation from words does not change (needs
    --start-from)."""

    steps: Annotated[int | None, arg("N", "the recipe's")] = None
    """Length of each run."""

    captions: int = 5
    """Captions of each object."""

    start_from: Annotated[str | None, arg("WEIGHTS", "none")] = None
    """Start with the weights of a folder of runs, or with shipped ones: generation, or a .safetensors file."""

    resume: bool = False
    """Continue from the checkpoints in --out."""

    seed: TrainSeed = None

    json: JsonFlag = False

    def run(self) -> dict[str, Any]:
        from neurok.data.household import is_real
        from neurok.train.checkpoint import recipe_for
        from neurok.train.generation_ship import ship_generation, ship_reader
        from neurok.train.loop import CHECKPOINT, train
        from neurok.train.origin import commit
        from neurok.train.pictures import encoder_from, reader_shipped, recipe_named, training_of
        from neurok.train.processes import Team
        from neurok.train.screen import Screen

        need(self.data, "store")
        tell = partial(say, json=self.json)
        names = (*(("pictures",) if self.pictures else ()), "list", "flow") if self.which == "all" else (self.which,)
        learned, watched = self._examples(with_words=names != ("pictures",) and self.recipe != "eyes")
        shown = sum(one.pictures is not None for one in learned)
        tell(f"{len(learned)} objects to learn from, {shown} of them with pictures; {len(watched)} to watch")
        figures: dict[str, Any] = {"out": str(self.out)}
        for name in names:
            folder = self.out / name
            checkpoint = folder / CHECKPOINT if self.resume and (folder / CHECKPOINT).exists() else None
            start: str | Path | None = self.start_from
            seen = self.out / "pictures" / CHECKPOINT
            prepare = encoder_from(seen) if name != "pictures" and seen.exists() else None
            if start is not None and Path(start).is_dir():
                start = Path(start) / name / CHECKPOINT
            elif start is not None and name == "pictures":
                prepare, start = reader_shipped(start), None
            is_usual = self.recipe == "base" or (name, self.recipe) == ("pictures", "eyes")
            usual = recipe_named(name if is_usual else f"{name}-{self.recipe}")
            warmup = None if self.steps is None else max(1, min(usual.warmup, self.steps // 10))
            recipe = recipe_for(usual, checkpoint, start, seed=self.seed, steps=self.steps, warmup=warmup)
            task = training_of(recipe, learned, watched)
            real = sum(is_real(one.name) for one in learned)
            origin = {"objects": len(learned), "pictured": shown, "real": real, "commit": commit()}
            with Screen(tell, task.unit, f"{name}: {task.meaning}", live=False if self.json else None) as screen:
                train(
                    task, folder, resume=checkpoint is not None, start_from=start, origin=origin, prepare=prepare,
                    report=screen, pulse=screen.pulse,
                )  # fmt: skip
            figures[name] = screen.rows[-1]["watched"] if screen.rows else {}
        runs = {
            name: self.out / name for name in ("list", "flow", "pictures") if (self.out / name / CHECKPOINT).exists()
        }
        shipped = self.out / "generation.safetensors"
        is_known = self.start_from is not None and not Path(self.start_from).is_dir()
        if not Team.join().is_first:
            return figures
        if "list" in runs and "flow" in runs:
            ship_generation(runs["list"], runs["flow"], shipped, runs.get("pictures"))
        elif list(runs) == ["pictures"] and self.start_from is not None and is_known:
            ship_reader(self.start_from, runs["pictures"], shipped)
        else:
            return figures
        tell(f"{shipped}: for neurok generate --weights")
        return figures

    def _examples(self, with_words: bool) -> tuple[list[Example], list[Example]]:
        """Objects to learn from and to watch, with captions if they are needed, and with their pictures."""
        from neurok.data.household_pictures import HELD_OUT
        from neurok.train.generation_data import read_examples, unlisted, with_pictures

        said = (self.captions, 2) if with_words else (0, 0)
        learned = [one for folder in self.data for one in read_examples(folder, said[0], 0, "train")]
        watched = [one for folder in self.data for one in read_examples(folder, said[1], 0, "test")]
        if not self.pictures:
            return learned, watched
        aside = [folder / HELD_OUT for folder in self.pictures if (folder / HELD_OUT).is_dir()]
        more = unlisted(learned, self.pictures)
        return [*with_pictures(learned, self.pictures), *more], with_pictures(watched, aside)
