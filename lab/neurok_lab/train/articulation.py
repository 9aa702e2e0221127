"""Learning joints, from annotated objects or from what the search says: the task of the loop, and runs by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import torch

from neurok.learned.joint_network import KINDS, SLIDE, TURN, JointConfig, JointModel, Parts
from neurok.learned.joints import fuse, view_parts
from neurok.learned.part_features import CloudConfig
from neurok.learned.part_views import Targets
from neurok_lab.train.batches import Batches, JointViewConfig
from neurok_lab.train.config import Recipes, RunConfig
from neurok_lab.train.examples import Example
from neurok_lab.train.log import Line
from neurok_lab.train.loop import Task
from neurok_lab.train.losses import JointTask


@dataclass(frozen=True, kw_only=True)
class ArticulationRecipe(RunConfig):
    """A run of the joint model; its length was chosen on left-out training objects
    (docs/lab/notebook_joints.md)."""

    task: ClassVar[str] = "articulation"
    model: JointConfig = field(default_factory=JointConfig)
    view: JointViewConfig = field(default_factory=JointViewConfig)
    steps: int = 4_000
    warmup: int = 100
    decay: float = 0.5
    matrix_rate: float = 2e-3
    rate: float = 1e-3
    weight_decay: float = 0.05
    average: float = 0.998
    evaluate_every: int = 200
    checkpoint_minutes: float = 3.0

    smoothing: float = 0.1
    """Share of a target that is spread over all kinds, or all directions: labels of few objects are not the law."""

    watch_points: int = 64
    """Points of each part of watched objects that the network sees."""

    known: float = 0.99
    """A part counts among watched ones if its kind is known with this probability."""

    def build(self) -> JointTask:
        return JointTask(self.model, self.smoothing)


@dataclass(eq=False)
class ArticulationTraining(Task):
    """A recipe, examples to learn from, and named sets to watch."""

    recipe: ArticulationRecipe
    train: Sequence[Example]
    watch: Mapping[str, Sequence[Example]] = field(default_factory=dict)
    unit: ClassVar[str] = "objects"
    meaning: ClassVar[str] = "losses; of watched parts the share of wrong kinds"

    def __post_init__(self) -> None:
        self.batches = Batches(self.train, self.recipe.view)

    def draw(
        self, module: Any, step: int, rng: np.random.Generator, generator: torch.Generator
    ) -> tuple[Parts, Targets]:
        return self.batches.draw(rng)

    def evaluate(self, module: Any) -> dict[str, float]:
        found = {name: measure(module.model, examples, self.recipe) for name, examples in self.watch.items()}
        return {f"{name} {figure}": value for name, some in found.items() for figure, value in some.items()}

    def curve(self, line: Line) -> dict[str, float]:
        wrong = {name: 1.0 - value for name, value in line["watched"].items() if name.endswith(" kind")}
        return {**line["training"], **wrong}


def measure(model: JointModel, examples: Sequence[Example], recipe: ArticulationRecipe) -> dict[str, float]:
    """Shares of right kinds and parents, mean angle [degrees] and distance of axes, over parts whose joint is known."""
    kinds, parents, angles, offsets = [], [], [], []
    for example in examples:
        clouds, labels = example.clouds, example.labels
        posterior = fuse(view_parts([model], clouds, [np.eye(3)], CloudConfig(view_points=recipe.watch_points)))
        known = labels.kinds.max(axis=1) > recipe.known
        kinds += list((posterior.kinds.argmax(axis=1) == labels.kinds.argmax(axis=1))[known])
        above = np.where(posterior.parents < 0, np.arange(len(known)), posterior.parents)
        parents += list((above == labels.parents)[labels.parents >= 0])
        for owner, move, axis, origin in zip(labels.owners, labels.moves, labels.axes, labels.origins, strict=True):
            if not known[owner]:
                continue
            moving = posterior.kinds[owner] * (np.arange(len(KINDS)) > 0)
            guess = SLIDE if moving.argmax() == KINDS.index("prismatic") else TURN
            found = posterior.directions[owner, posterior.choices[owner, guess]]
            angles.append(np.degrees(np.arccos(np.clip(abs(found @ axis), 0.0, 1.0))))
            if move == TURN:
                across = posterior.pivots[owner] - origin
                offsets.append(np.linalg.norm(across - axis * (across @ axis)))
    found = {"kind": kinds, "parent": parents, "axis": angles, "pivot": offsets}
    return {name: float(np.mean(values)) if values else 0.0 for name, values in found.items()}


RECIPES = Recipes(
    "joints",
    {
        "base": ArticulationRecipe(),  # the shipped model: annotated joints of whole objects that stand
        # The same in views from which a category is hard to tell: lying on another side, and incomplete.
        "tipped": ArticulationRecipe(view=JointViewConfig(tipped=0.25, incomplete=0.3)),
        # What comes before it: results of the search, as sure as the search is of them.
        "pretraining": ArticulationRecipe(steps=2_000, smoothing=0.0),
        "smoke": ArticulationRecipe(
            model=JointConfig(width=16, heads=2, depth=1), view=JointViewConfig(objects=2, points=24),
            steps=20, warmup=2, evaluate_every=10,
        ),  # seconds, to see that everything works
    },
)  # fmt: skip
