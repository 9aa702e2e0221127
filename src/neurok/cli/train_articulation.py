"""``neurok train articulation``: learn joints from geometry."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from neurok.cli.report import say


@dataclass
class TrainArticulation:
    """Train the joint model, first on what the search finds in unlabelled objects, then on annotated ones.

    Ctrl-C saves; --resume goes on. Held-out objects are not trained on, unless --everything asks for it.
    """

    data: Annotated[tyro.conf.UseAppendAction[tuple[tuple[str, ...], ...]], tyro.conf.arg(metavar="DATASET ...")]
    """Data sets made by 'neurok data build', or folders of .npz, .glb, .urdf or .obj files."""

    out: Path
    """Folder of the run: checkpoint, log, weights, and prepared examples unless --cache says where."""

    shares: tuple[float, ...] = ()
    """How much is drawn of each data set, in the order of --data; of all alike if not given."""

    teacher: Literal["joints", "search"] = "joints"
    """Learn the joints that the data has, or (labels hidden) whatever the search holds valid."""

    recipe: str = "base"
    """Which configuration: base, tipped, pretraining or smoke."""

    steps: int | None = None
    """Length of the run, if not the recipe's."""

    smoothing: float | None = None
    """Share of each label that is spread over all kinds or directions, if not the recipe's."""

    limit: int | None = None
    """At most so many objects of each data set, drawn at random."""

    leave_out: tuple[str, ...] = ()
    """Categories and generated families not to learn from but to watch: for choosing settings on training objects."""

    everything: bool = False
    """Learn from held-out objects too: for weights to be used, which nothing is left to measure by."""

    cache: Path | None = None
    """Folder for prepared examples; searches take a second or more per object, so they are kept."""

    start_from: Path | None = None
    """Begin with the model and weights of this checkpoint, or of shipped weights of one network."""

    resume: bool = False
    """Go on from the checkpoint in --out by its own recipe, exactly as if it had not been interrupted."""

    seed: int | None = None
    """Same seed, same losses; 0 if not given."""

    json: bool = False
    """Print one JSON object and nothing else."""

    def run(self) -> dict[str, Any]:
        from neurok.train.articulation import ArticulationTraining, find_recipe
        from neurok.train.articulation_data import JointDataConfig, describe_data, split_examples
        from neurok.train.checkpoint import recipe_for
        from neurok.train.loop import CHECKPOINT, train
        from neurok.train.origin import commit, learned_before, started_from
        from neurok.train.processes import Team
        from neurok.train.screen import Screen
        from neurok.train.ship import ship

        folders = tuple(folder for group in self.data for folder in group)
        source = JointDataConfig(folders, self.teacher, self.limit, self.leave_out, self.everything)
        checkpoint = self.out / CHECKPOINT if self.resume else None
        recipe = recipe_for(
            find_recipe(self.recipe), checkpoint, self.start_from,
            seed=self.seed, steps=self.steps, smoothing=self.smoothing,
        )  # fmt: skip
        if self.shares:
            recipe = replace(recipe, view=replace(recipe.view, shares=self._shares(len(folders))))
        tell = partial(say, json=self.json)
        split = split_examples(source, self.cache or self.out / "examples", tell)
        tell(f"{len(split.train)} examples to learn from, {len(split.watch) + len(split.left_out)} to watch")
        before = learned_before(checkpoint or self.start_from, recipe.task)
        origin = {
            "source": asdict(source),
            "data": [describe_data(folder) for folder in folders],
            "teacher": self.teacher,
            "everything": self.everything or before["everything"],
            "examples": len(split.train),
            "objects": sorted(before["objects"] | {example.object for example in split.train if example.is_real}),
            "started_from": started_from(checkpoint, self.start_from, recipe.task),
            "commit": commit(),
        }
        watched = {name: some for name, some in (("watch", split.watch), ("left out", split.left_out)) if some}
        task = ArticulationTraining(recipe, split.train, watched)
        with Screen(tell, task.unit, task.meaning, live=False if self.json else None) as screen:
            train(
                task, self.out, resume=self.resume, start_from=self.start_from, origin=origin,
                report=screen, pulse=screen.pulse,
            )  # fmt: skip
        if Team.join().is_first:
            tell("calibrating on watched objects")
            ship([self.out], self.out / "articulation.safetensors")
        return {"out": str(self.out), **(screen.rows[-1] if screen.rows else {})}

    def _shares(self, count: int) -> tuple[float, ...]:
        from neurok.errors import NeurokError

        if len(self.shares) != count or min(self.shares) < 0 or sum(self.shares) <= 0:
            raise NeurokError(
                f"--shares needs one number for each of the {count} data sets, none below zero; got {self.shares}."
            )
        return self.shares
