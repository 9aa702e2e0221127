"""Does pretraining help the network? Over all training objects, each judged by a network that has not learned from it.

neurok train articulation DATASET FURNITURE ANIMATED --recipe pretraining --teacher search --out runs/pre ...
python benchmarks/pretraining_folds.py --data PARTNET_MOBILITY --start-from runs/pre/checkpoint.safetensors \\
    --out runs/folds --write docs/lab/notebook_joints.md

Every fourth training object makes a fold. Networks learn from the others, or from a few of them, one from scratch and
one after the pretraining, and answer for the objects of the fold without the search. Held-out objects are never read.
A stopped run goes on; another pretraining needs another folder. (The ranking of the search, which the pretraining
teaches, was fitted to all training objects.)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import tyro

from neurok.core import Articulation
from neurok.geometry.operators import face_areas
from neurok.learned.ensemble import Ensemble
from neurok.learned.joints import predict_joints
from neurok_lab.evaluation.articulation import COLUMNS
from neurok_lab.evaluation.joint_scores import Guess, Row, part_means, score_parts
from neurok_lab.evaluation.tables import markdown, put_section, stamp
from neurok_lab.train.articulation import RECIPES, ArticulationTraining
from neurok_lab.train.checkpoint import read_facts
from neurok_lab.train.examples import JointDataConfig, Thing, find_things, split_examples
from neurok_lab.train.loop import CHECKPOINT, train
from neurok_lab.train.ship import TrainingRun

FOLDS = 4
SHOWN = ("method", "objects", "moving", "axis", "axis_right", "pivot_point", "precision", "recall", "limits", "tree")


@dataclass
class PretrainingFolds:
    """Networks with and without pretraining on left-out training objects."""

    data: str
    """Folder of PartNet-Mobility objects; held-out ones are never read."""

    start_from: Path
    """Checkpoint of the pretraining."""

    out: Path
    """Folder for the runs and for prepared examples, unless --cache says where those are."""

    cache: Path | None = None
    """Folder of prepared examples."""

    few: int = 24
    """Of so many annotated objects the networks of the first two rows learn, those of the others of all."""

    steps: tuple[int, int] = (700, 1_400)
    """Length of the runs with few objects and with all."""

    write: Path | None = None
    """Put the table into this Markdown file."""


def main(options: PretrainingFolds) -> None:
    things = sorted(find_things(options.data), key=lambda thing: thing.name)
    rows: dict[str, list[Row]] = defaultdict(list)
    for fold in range(FOLDS):
        left_out = things[fold::FOLDS]
        for most, steps in zip((options.few, None), options.steps, strict=True):
            label = "all" if most is None else str(most)
            for word, start in (("no pretraining", None), ("pretrained", options.start_from)):
                method = f"{word}, {label} annotated"
                run = options.out / f"{word.replace(' ', '_')}_{label}_{fold}"
                learn(options, run, [thing.name for thing in left_out], fold, start, most, steps)
                rows[method] += judge(run, left_out)
    table = [{"method": method, "objects": len(things), **part_means(found)} for method, found in rows.items()]
    text = markdown(table, {name: COLUMNS[name] for name in SHOWN})
    print(text)
    if options.write is not None:
        put_section(options.write, "pretraining folds", f"{text}\n\n{stamp()}")


def learn(
    options: PretrainingFolds,
    run: Path,
    left_out: Sequence[str],
    seed: int,
    start: Path | None,
    most: int | None,
    steps: int,
) -> None:
    """Train one network, on ``most`` objects, unless that has been done."""
    path = run / CHECKPOINT
    done = int(read_facts(path)["step"]) if path.exists() else 0
    if done >= steps:
        return
    cache = options.cache or options.out / "examples"
    split = split_examples(JointDataConfig((str(options.data),), leave_out=tuple(left_out)), cache)
    recipe = replace(RECIPES["base"], steps=steps, seed=seed)
    names = sorted({example.object for example in split.train})
    some = set(np.random.default_rng(seed).permutation(names)[:most].tolist())
    chosen = [example for example in split.train if example.object in some]
    task = ArticulationTraining(recipe, chosen, {"left out": split.left_out})
    train(task, run, resume=done > 0, start_from=start, report=print)


def judge(run: Path, things: Sequence[Thing]) -> list[Row]:
    """Scores of all parts of the objects by the network of a run alone."""
    ensemble, rows = Ensemble((TrainingRun.read(run).network,)), []
    for thing in things:
        mesh, joints = thing.load()
        if joints is not None:
            answers = predict_joints(mesh, ensemble, with_search=False).answers
            areas = face_areas(mesh.vertices, mesh.faces)
            rows += score_parts(Articulation(mesh, joints), Guess(answers, mesh.face_parts), areas)
    return rows


if __name__ == "__main__":
    main(tyro.cli(PretrainingFolds))
