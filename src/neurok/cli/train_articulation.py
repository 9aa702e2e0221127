"""``neurok train articulation``: learn joints from geometry."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from neurok.cli.flags import JsonFlag, TrainSeed, arg, need, several
from neurok.cli.report import say


@dataclass(frozen=True)
class LearningFlags:
    """Training data and settings."""

    shares: Annotated[tuple[float, ...], arg("SHARE [SHARE ...]", "of all alike")] = ()
    """Sampling share of each data set, in their order."""

    smoothing: Annotated[float | None, arg("SHARE", "the recipe's")] = None
    """Label smoothing: share of each label that is spread over all types or directions."""

    leave_out: Annotated[tuple[str, ...], arg("NAME [NAME ...]", "none")] = ()
    """Categories and generated families used for validation instead of training: for choosing settings on training
    objects."""

    everything: bool = False
    """Also train on held-out objects: for weights to be used, which can no longer be evaluated on them."""

    cache: Annotated[Path | None, arg("FOLDER", "examples in the run")] = None
    """Folder for prepared examples; a search takes a second or more per object, so results are cached."""


@dataclass
class TrainArticulation:
    """Train the joint model, first on joints found by the search in unlabelled objects, then on annotated ones.

    Ctrl-C saves; --resume continues. Held-out objects are not used for training, unless --everything is given.
    """

    data: Annotated[tyro.conf.Positional[tuple[str, ...]], several("DATASET")]
    """Data sets made by 'neurok data build', or folders of .npz, .glb, .urdf or .obj files."""

    out: Annotated[Path, arg("FOLDER")]
    """Folder of the run: checkpoint, log, weights, and prepared examples unless --cache is given."""

    teacher: Literal["joints", "search"] = "joints"
    """Train on the joints in the data, or (labels hidden) on all joints that the search accepts as valid."""

    recipe: str = "base"
    """Which configuration: base, tipped, pretraining or smoke."""

    steps: Annotated[int | None, arg("N", "the recipe's")] = None
    """Length of the run."""

    limit: Annotated[int | None, arg("N", "all")] = None
    """Maximum number of objects of each data set, drawn at random."""

    start_from: Annotated[Path | None, arg("WEIGHTS", "none")] = None
    """Start with the model and weights of this checkpoint, or of shipped weights of one network."""

    resume: bool = False
    """Continue from the checkpoint in --out with its own recipe, exactly as if it had not been interrupted."""

    seed: TrainSeed = None

    json: JsonFlag = False

    learning: tyro.conf.OmitArgPrefixes[LearningFlags] = field(default_factory=LearningFlags)

    def run(self) -> dict[str, Any]:
        from neurok.train.articulation import ArticulationTraining, find_recipe
        from neurok.train.articulation_data import JointDataConfig, describe_data, split_examples
        from neurok.train.checkpoint import recipe_for
        from neurok.train.loop import CHECKPOINT, train
        from neurok.train.origin import commit, learned_before, started_from
        from neurok.train.processes import Team
        from neurok.train.screen import Screen
        from neurok.train.ship import ship

        need(self.data, "data set")
        folders = self.data
        source = JointDataConfig(folders, self.teacher, self.limit, self.learning.leave_out, self.learning.everything)
        checkpoint = self.out / CHECKPOINT if self.resume else None
        recipe = recipe_for(
            find_recipe(self.recipe), checkpoint, self.start_from,
            seed=self.seed, steps=self.steps, smoothing=self.learning.smoothing,
        )  # fmt: skip
        if self.learning.shares:
            recipe = replace(recipe, view=replace(recipe.view, shares=self._shares(len(folders))))
        tell = partial(say, json=self.json)
        split = split_examples(source, self.learning.cache or self.out / "examples", tell)
        tell(f"{len(split.train)} examples to learn from, {len(split.watch) + len(split.left_out)} to watch")
        before = learned_before(checkpoint or self.start_from, recipe.task)
        origin = {
            "source": asdict(source),
            "data": [describe_data(folder) for folder in folders],
            "teacher": self.teacher,
            "everything": self.learning.everything or before["everything"],
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

        if len(self.learning.shares) != count or min(self.learning.shares) < 0 or sum(self.learning.shares) <= 0:
            raise NeurokError(
                f"--shares needs one number for each of the {count} data sets, none below zero; "
                f"got {self.learning.shares}."
            )
        return self.learning.shares
