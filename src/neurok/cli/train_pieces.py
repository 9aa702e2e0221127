"""``neurok train pieces``: learn which pieces of a raw mesh are one body, and which move."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import tyro

from neurok.cli.report import progress, say


@dataclass
class TrainPieces:
    """Train the network that groups the pieces of raw meshes into bodies and tells which of them move.

    Ctrl-C saves; --resume goes on. Held-out objects, categories and families are never learned from.
    """

    data: Annotated[tyro.conf.UseAppendAction[tuple[tuple[str, ...], ...]], tyro.conf.arg(metavar="FOLDER ...")]
    """Folders of objects with true joints; their parts are hidden."""

    out: Path
    """Folder of the run: checkpoint, log, weights, and prepared examples unless --cache says where."""

    static: Annotated[tyro.conf.UseAppendAction[tuple[tuple[str, ...], ...]], tyro.conf.arg(metavar="FOLDER ...")] = ()
    """Folders of objects that stand still; those whose names tell of doors and the like are left out."""

    generated: int = 5
    """Objects of each generated family."""

    recipe: str = "base"
    """Which configuration: base or smoke."""

    steps: int | None = None
    """Length of the run, if not the recipe's."""

    cache: Path | None = None
    """Folder for prepared examples."""

    resume: bool = False
    """Go on from the checkpoint in --out by its own recipe, exactly as if it had not been interrupted."""

    seed: int | None = None
    """Same seed, same losses; 0 if not given."""

    json: bool = False
    """Print one JSON object and nothing else."""

    def run(self) -> dict[str, Any]:
        from neurok.train.articulation_data import describe_data
        from neurok.train.checkpoint import recipe_for
        from neurok.train.loop import CHECKPOINT, train
        from neurok.train.origin import commit
        from neurok.train.pieces import PieceTraining, find_recipe
        from neurok.train.pieces_data import PieceDataConfig, prepare
        from neurok.train.pieces_sources import PieceSources, training_things, watched
        from neurok.train.processes import Team
        from neurok.train.screen import Screen
        from neurok.train.ship import ship

        annotated = tuple(folder for group in self.data for folder in group)
        static = tuple(folder for group in self.static for folder in group)
        sources = PieceSources(annotated, static, self.generated)
        checkpoint = self.out / CHECKPOINT if self.resume else None
        recipe = recipe_for(find_recipe(self.recipe), checkpoint, seed=self.seed, steps=self.steps)
        tell, cache, config = partial(say, json=self.json), self.cache or self.out / "examples", PieceDataConfig()
        things = training_things(sources)
        shown = progress(things, "examples", total=len(things), json=self.json)
        examples = list(prepare(shown, config, cache, tell))
        aside = [one for one in prepare(watched(sources), config, cache, tell) if one.name.endswith(".0")]
        tell(f"{len(examples)} examples to learn from, {len(aside)} objects to watch")
        origin = {
            "sources": asdict(sources),
            "data": [describe_data(folder) for folder in (*annotated, *static)],
            "examples": len(examples),
            "objects": sorted({example.object for example in examples if example.source == "real"}),
            "commit": commit(),
        }
        watch = {name: [one for one in aside if one.source == name] for name in ("real", "static")}
        task = PieceTraining(recipe, examples, watch)
        with Screen(tell, task.unit, task.meaning, live=False if self.json else None) as screen:
            train(task, self.out, resume=self.resume, origin=origin, report=screen, pulse=screen.pulse)
        if Team.join().is_first:
            tell("calibrating on watched objects")
            ship([self.out], self.out / "pieces.safetensors")
        return {"out": str(self.out), **(screen.rows[-1] if screen.rows else {})}
