"""Learning joints, and which pieces are one body and which move: the tasks of the loop, and runs by name."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import torch

from neurok.errors import NeurokError
from neurok.hub import load_model
from neurok.learned.grouping_network import STATIC, PieceConfig, PieceModel
from neurok.learned.joint_network import KINDS, SLIDE, TURN, JointConfig, JointModel, Parts
from neurok.learned.joints import fuse, view_parts
from neurok.learned.part_features import CloudConfig
from neurok.learned.part_views import stack_clouds
from neurok_lab.train.batches import Batches, JointViewConfig, PieceBatches, PieceViewConfig
from neurok_lab.train.config import Recipes, RunConfig
from neurok_lab.train.examples import Example, PieceExample
from neurok_lab.train.log import Line
from neurok_lab.train.loop import Task
from neurok_lab.train.losses import JointTask, PieceTask

WATCH_POINTS = 64  # points of each part of watched objects that the network sees
KNOWN = 0.99  # a part counts among watched ones if its kind is known with this probability


class WatchedTraining(Task):
    """A recipe, examples to learn from, and named sets to watch."""

    unit: ClassVar[str] = "objects"
    batches_of: ClassVar[type[Batches] | type[PieceBatches]]
    shares: ClassVar[tuple[str, ...]]
    """Figures of watched sets that are shares of what is right: the curve shows how much is wrong."""

    def __init__(self, recipe: Any, train: Sequence[Any], watch: Mapping[str, Sequence[Any]] | None = None) -> None:
        self.recipe, self.watch = recipe, watch or {}
        self.batches = self.batches_of(train, recipe.view)

    def draw(self, module: Any, step: int, rng: np.random.Generator, generator: torch.Generator) -> tuple[Parts, Any]:
        return self.batches.draw(rng)

    @staticmethod
    @abstractmethod
    def measure(model: Any, examples: Sequence[Any]) -> dict[str, float]:
        """Figures of a watched set."""

    def evaluate(self, module: Any) -> dict[str, float]:
        found = {name: self.measure(module.model, examples) for name, examples in self.watch.items() if examples}
        return {f"{name} {figure}": value for name, some in found.items() for figure, value in some.items()}

    def curve(self, line: Line) -> dict[str, float]:
        wrong = {name: 1.0 - value for name, value in line["watched"].items() if name.split()[-1] in self.shares}
        return {**line["training"], **wrong}


@dataclass(frozen=True, kw_only=True)
class ArticulationRecipe(RunConfig):
    """A run of the joint model; its length was chosen on left-out training objects
    (docs/lab/notebook_joints.md)."""

    task: ClassVar[str] = "articulation"
    model: JointConfig = field(default_factory=JointConfig)
    view: JointViewConfig = field(default_factory=JointViewConfig)
    steps: int = 4_000
    decay: float = 0.5
    matrix_rate: float = 2e-3
    rate: float = 1e-3
    weight_decay: float = 0.05
    evaluate_every: int = 200

    smoothing: float = 0.1
    """Share of a target that is spread over all kinds, or all directions: labels of few objects are not the law."""

    def build(self) -> JointTask:
        return JointTask(self.model, self.smoothing)


def measure_joints(model: JointModel, examples: Sequence[Example]) -> dict[str, float]:
    """Shares of right kinds and parents, mean angle [degrees] and distance of axes, over parts whose joint is known."""
    kinds, parents, angles, offsets = [], [], [], []
    for example in examples:
        clouds, labels = example.clouds, example.labels
        posterior = fuse(view_parts([model], clouds, [np.eye(3)], CloudConfig(view_points=WATCH_POINTS)))
        known = labels.kinds.max(axis=1) > KNOWN
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


class ArticulationTraining(WatchedTraining):
    """Of the joint model."""

    meaning: ClassVar[str] = "losses; of watched parts the share of wrong kinds"
    batches_of, shares = Batches, ("kind",)
    measure = staticmethod(measure_joints)


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


@dataclass(frozen=True, kw_only=True)
class PieceRecipe(RunConfig):
    """A run of the grouping network."""

    task: ClassVar[str] = "pieces"
    model: PieceConfig = field(default_factory=PieceConfig)
    view: PieceViewConfig = field(default_factory=PieceViewConfig)
    steps: int = 4_500
    decay: float = 0.7
    matrix_rate: float = 1.5e-3
    rate: float = 8e-4
    weight_decay: float = 0.05
    evaluate_every: int = 250

    encoder_from: str | None = "articulation_held_out"
    """Weights of a joint model whose encoder the run begins with; those that have not learned from held-out objects."""

    def build(self) -> PieceTask:
        task = PieceTask(self.model)
        if self.encoder_from is not None:
            member = load_model(self.encoder_from, "articulation").members[0]
            if member.config != self.model.encoder:
                raise NeurokError(f"The encoder of '{self.encoder_from}' has another size than that of the recipe.")
            known = member.state_dict()
            task.model.encoder.load_state_dict({name: known[name] for name in task.model.encoder.state_dict()})
        return task


@torch.no_grad()
def measure_pieces(model: PieceModel, examples: Sequence[PieceExample]) -> dict[str, float]:
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


class PieceTraining(WatchedTraining):
    """Of the grouping network."""

    meaning: ClassVar[str] = "losses; of watched objects the shares of wrong pieces and pairs"
    batches_of, shares = PieceBatches, ("pieces", "pairs")
    measure = staticmethod(measure_pieces)


PIECE_RECIPES = Recipes(
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
