"""Learning which pieces are one body and which move: the task of the loop, and runs by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import torch

from neurok.errors import NeurokError
from neurok.hub import load_model
from neurok.learned.grouping_network import STATIC, PieceConfig, PieceModel
from neurok.learned.joint_network import JointConfig, Parts
from neurok.learned.part_views import stack_clouds
from neurok_lab.train.batches import PieceBatches, PieceViewConfig
from neurok_lab.train.config import Recipes, RunConfig
from neurok_lab.train.examples import PieceExample
from neurok_lab.train.log import Line
from neurok_lab.train.loop import Task
from neurok_lab.train.losses import PieceLossConfig, PieceTargets, PieceTask


@dataclass(frozen=True, kw_only=True)
class PieceRecipe(RunConfig):
    """A run of the grouping network."""

    task: ClassVar[str] = "pieces"
    model: PieceConfig = field(default_factory=PieceConfig)
    view: PieceViewConfig = field(default_factory=PieceViewConfig)
    weights: PieceLossConfig = field(default_factory=PieceLossConfig)
    steps: int = 4_500
    warmup: int = 100
    decay: float = 0.7
    matrix_rate: float = 1.5e-3
    rate: float = 8e-4
    weight_decay: float = 0.05
    average: float = 0.998
    evaluate_every: int = 250
    checkpoint_minutes: float = 3.0

    encoder_from: str | None = "articulation_held_out"
    """Weights of a joint model whose encoder the run begins with; those that have not learned from held-out objects."""

    def build(self) -> PieceTask:
        task = PieceTask(self.model, self.weights)
        if self.encoder_from is not None:
            member = load_model(self.encoder_from, "articulation").members[0]
            if member.config != self.model.encoder:
                raise NeurokError(f"The encoder of '{self.encoder_from}' has another size than that of the recipe.")
            known = member.state_dict()
            task.model.encoder.load_state_dict({name: known[name] for name in task.model.encoder.state_dict()})
        return task


@dataclass(eq=False)
class PieceTraining(Task):
    """A recipe, examples to learn from, and named sets to watch."""

    recipe: PieceRecipe
    train: Sequence[PieceExample]
    watch: Mapping[str, Sequence[PieceExample]] = field(default_factory=dict)
    unit: ClassVar[str] = "objects"
    meaning: ClassVar[str] = "losses; of watched objects the shares of wrong pieces and pairs"

    def __post_init__(self) -> None:
        self.batches = PieceBatches(self.train, self.recipe.view)

    def draw(
        self, module: Any, step: int, rng: np.random.Generator, generator: torch.Generator
    ) -> tuple[Parts, PieceTargets]:
        return self.batches.draw(rng)

    def evaluate(self, module: Any) -> dict[str, float]:
        found = {name: measure(module.model, examples) for name, examples in self.watch.items() if examples}
        return {f"{name} {figure}": value for name, some in found.items() for figure, value in some.items()}

    def curve(self, line: Line) -> dict[str, float]:
        wrong = {
            name: 1.0 - value for name, value in line["watched"].items() if name.split()[-1] in ("pieces", "pairs")
        }
        return {**line["training"], **wrong}


@torch.no_grad()
def measure(model: PieceModel, examples: Sequence[PieceExample]) -> dict[str, float]:
    """Means over objects: shares of pieces that rightly move or stand still, of pairs rightly told apart where one
    moves, and of objects of which it is rightly told whether anything moves."""
    pieces, pairs, anything = [], [], []
    for example in examples:
        answers = model(stack_clouds([example.clouds], example.clouds.points.shape[1], np.random.default_rng(0)))
        moving = example.moves > STATIC
        said = answers.moves[0].softmax(dim=-1)[:, STATIC].numpy() < 0.5
        pieces.append(float((said == moving).mean()))
        same = example.bodies[:, None] == example.bodies
        asked = (moving[:, None] | moving) & ~np.eye(len(moving), dtype=bool)
        if asked.any():
            pairs.append(float(((answers.affinity[0].numpy() > 0) == same)[asked].mean()))
        anything.append(float((float(answers.anything[0]) > 0) == moving.any()))
    found = {"pieces": pieces, "pairs": pairs, "anything": anything}
    return {name: float(np.mean(values)) if values else 1.0 for name, values in found.items()}


RECIPES = Recipes(
    "pieces",
    {
        "base": PieceRecipe(),  # from the encoder of the joint model on
        # A shipped model, taught further (``--start-from pieces``).
        "further": PieceRecipe(steps=550, warmup=50, matrix_rate=8e-4, rate=4e-4, average=0.99, evaluate_every=550),
        "smoke": PieceRecipe(
            model=PieceConfig(JointConfig(width=16, heads=2, depth=1), depth=1, pair_width=8), encoder_from=None,
            view=PieceViewConfig(objects=2, points=16), steps=20, warmup=2, evaluate_every=10,
        ),  # seconds, to see that everything works
    },
)  # fmt: skip
