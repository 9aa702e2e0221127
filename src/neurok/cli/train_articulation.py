"""``neurok train articulation``: learn joints from geometry."""

from __future__ import annotations

from dataclasses import dataclass, replace
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
    """Begin with the weights of this checkpoint."""

    resume: bool = False
    """Go on from the checkpoint in --out, exactly as if it had not been interrupted."""

    seed: int = 0
    """Same seed, same losses."""

    json: bool = False
    """Print one JSON object and nothing else."""

    def run(self) -> dict[str, Any]:
        from neurok.articulation.loss import TERMS
        from neurok.train.articulation import CHECKPOINT, find_joint_recipe, train_joints
        from neurok.train.articulation_data import describe_data, split_examples
        from neurok.train.articulation_ship import inherited, ship_joints, started_from
        from neurok.train.ship import commit

        folders = [folder for group in self.data for folder in group]
        config = replace(find_joint_recipe(self.recipe), seed=self.seed, shares=self._shares(len(folders)))
        if self.steps is not None:
            config = replace(config, steps=self.steps)
        if self.smoothing is not None:
            config = replace(config, smoothing=self.smoothing)
        cache = self.cache or self.out / "examples"
        tell = lambda text: say(text, json=self.json)  # noqa: E731
        split = split_examples(folders, self.teacher, cache, self.limit, self.leave_out, tell, self.everything)
        watched = {"watch": split.watch, "left_out": split.left_out}
        tell(f"{len(split.train)} examples to learn from, {len(split.watch) + len(split.left_out)} to watch")
        last: dict[str, Any] = {}

        def report(figures: dict[str, Any]) -> None:
            last.update(figures)
            losses = "  ".join(f"{name} {figures[name]:.3f}" for name in TERMS)
            figures_of = lambda key: "  ".join(f"{name} {value:.3f}" for name, value in figures[key].items())  # noqa: E731
            seen = "".join(f"  |  {key.replace('_', ' ')}: {figures_of(key)}" for key in watched if key in figures)
            tell(f"step {figures['step']:6d}  {losses}{seen}  |  {figures['eta'] / 60:.0f} min left")

        kept = {name: examples for name, examples in watched.items() if examples}
        before = inherited(self.out / CHECKPOINT if self.resume else self.start_from)
        origin = {
            "folders": [str(folder) for folder in folders],
            "data": [describe_data(folder) for folder in folders],
            "teacher": self.teacher,
            "limit": self.limit,
            "left_out": list(self.leave_out),
            "everything": self.everything or before["everything"],
            "examples": len(split.train),
            "objects": sorted(before["objects"] | {example.object for example in split.train if example.is_real}),
            "started_from": started_from(self.start_from),
            "commit": commit(),
        }
        train_joints(
            config, split.train, kept, self.out,
            resume=self.resume, start_from=self.start_from, report=report, origin=origin,
        )  # fmt: skip
        tell("calibrating on watched objects")
        ship_joints([self.out], self.out / "articulation.safetensors")
        return {"out": str(self.out), **last}

    def _shares(self, count: int) -> tuple[float, ...]:
        from neurok.errors import NeurokError

        if self.shares and (len(self.shares) != count or min(self.shares) < 0 or sum(self.shares) <= 0):
            raise NeurokError(
                f"--shares needs one number for each of the {count} data sets, none below zero; got {self.shares}."
            )
        return self.shares
