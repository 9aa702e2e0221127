"""``neurok train pieces``: learn which pieces of a raw mesh are one body, and which move."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import tyro

from neurok.cli.flags import JsonFlag, TrainSeed, arg, need, several
from neurok.cli.report import progress, say


@dataclass
class HeldOut:
    """What is learned from, and what is only watched."""

    leave_out: Annotated[tuple[str, ...], arg("CATEGORY [CATEGORY ...]", "none")] = ()
    """Categories that are watched, not learned from."""

    everything: bool = False
    """Learn from held-out objects and files too."""

    unlabelled: Annotated[tyro.conf.UseAppendAction[tuple[tuple[str, ...], ...]], arg("FOLDER ...")] = ()
    """Folders of objects without labels: files whose names tell of doors and the like are labelled by their own body
    plans where these are sure (self-training)."""


@dataclass
class TrainPieces:
    """Train the network that groups the pieces of raw meshes into bodies and tells which of them move.

    Ctrl-C saves; --resume goes on. Held-out objects, categories and families are not learned from unless --everything
    asks for it.
    """

    data: Annotated[tyro.conf.Positional[tuple[str, ...]], several("FOLDER")]
    """Folders of objects with true joints; their parts are hidden."""

    out: Annotated[Path, arg("FOLDER")]
    """Folder of the run: checkpoint, log, weights, and prepared examples unless --cache says where."""

    static: Annotated[tyro.conf.UseAppendAction[tuple[tuple[str, ...], ...]], arg("FOLDER ...")] = ()
    """Folders of objects that stand still; those whose names tell of doors and the like are left out."""

    named: Annotated[tyro.conf.UseAppendAction[tuple[tuple[str, ...], ...]], arg("FOLDER ...")] = ()
    """Folders of objects whose files name their doors (which turn) and drawers (which slide)."""

    generated: int = 4
    """Objects of each generated family."""

    recipe: str = "base"
    """Which configuration: base, further (from shipped weights on) or smoke."""

    steps: Annotated[int | None, arg("N", "the recipe's")] = None
    """Length of the run."""

    cache: Annotated[Path | None, arg("FOLDER", "examples in the run")] = None
    """Folder for prepared examples."""

    start_from: Annotated[str | None, arg("WEIGHTS", "none")] = None
    """Weights to begin with: a checkpoint, or a name such as pieces."""

    resume: bool = False
    """Go on from the checkpoint in --out by its own recipe, exactly as if it had not been interrupted."""

    seed: TrainSeed = None

    json: JsonFlag = False

    held: tyro.conf.OmitArgPrefixes[HeldOut] = field(default_factory=HeldOut)

    def run(self) -> dict[str, Any]:
        from neurok.train.articulation_data import describe_data
        from neurok.train.checkpoint import recipe_for
        from neurok.train.loop import CHECKPOINT, train
        from neurok.train.origin import commit, learned_before, started_from
        from neurok.train.pieces import PieceTraining, find_recipe
        from neurok.train.pieces_data import prepare
        from neurok.train.pieces_ship import EXAMPLES
        from neurok.train.pieces_sources import PieceSources, training_things, watched
        from neurok.train.pieces_versions import FORMS, PieceDataConfig
        from neurok.train.processes import Team
        from neurok.train.screen import Screen
        from neurok.train.ship import ship

        need(self.data, "folder")
        annotated = self.data
        static, named, unlabelled = (
            tuple(folder for group in some for folder in group)
            for some in (self.static, self.named, self.held.unlabelled)
        )
        held = {**asdict(self.held), "unlabelled": unlabelled}
        sources = PieceSources(annotated, static, named, generated=self.generated, **held)
        checkpoint = self.out / CHECKPOINT if self.resume else None
        recipe = recipe_for(find_recipe(self.recipe), checkpoint, self.start_from, seed=self.seed, steps=self.steps)
        tell, cache, config = partial(say, json=self.json), self.cache or self.out / EXAMPLES, PieceDataConfig()
        things = training_things(sources)
        shown = progress(things, "examples", total=len(things), json=self.json)
        examples = list(prepare(shown, config, cache, tell))
        aside = list(prepare(watched(sources), None, cache, tell))
        tell(f"{len(examples)} examples to learn from, {len(aside)} objects to watch")
        before = learned_before(checkpoint or self.start_from, recipe.task)
        origin = {
            "sources": asdict(sources),
            "data": [describe_data(folder) for folder in dict.fromkeys((*annotated, *static, *named, *unlabelled))],
            "examples": len(examples),
            "everything": self.held.everything or before["everything"],
            "objects": sorted(before["objects"] | {one.object for one in examples if one.source != "generated"}),
            "started_from": started_from(checkpoint, self.start_from, recipe.task),
            "commit": commit(),
        }
        watch = {
            f"{source} {form}": [one for one in aside if one.source == source and one.name.endswith(form)]
            for source in ("real", "static")
            for form in FORMS
        }
        task = PieceTraining(recipe, examples, watch)
        with Screen(tell, task.unit, task.meaning, live=False if self.json else None) as screen:
            start = None if self.resume else self.start_from
            train(
                task, self.out, resume=self.resume, start_from=start, origin=origin, report=screen, pulse=screen.pulse
            )
        if Team.join().is_first:
            tell("calibrating on watched objects")
            ship([self.out], self.out / "pieces.safetensors")
        return {"out": str(self.out), **(screen.rows[-1] if screen.rows else {})}
