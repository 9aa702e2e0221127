"""Learning to write objects: the part list and the flow of its numbers, two tasks of the loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from neurok.generation.context import Conditioning
from neurok.generation.flow import FlowConfig, FlowModel
from neurok.generation.numbers import LAYOUT, SPANS, WIDTH, Standard
from neurok.generation.part_list import Lists, PartListConfig, PartListModel
from neurok_lab.data.household import is_real
from neurok_lab.train.config import Recipes, RunConfig
from neurok_lab.train.generation_data import ListExample, draw_asked, lists_of, numbers_of, standard_of
from neurok_lab.train.log import Line
from neurok_lab.train.loop import Task

WEIGHTS = {"centre": 3.0, "size": 2.0, "turn": 1.5, "code": 0.7, "rgb": 1.5, "meets": 1.0, "scale": 1.0}
"""What an error of each number counts in the flow; 0.6 for those not named. After a sketch that compared a few."""

WATCHED_BATCH = 48

OFTEN = 8.0
"""How much likelier than a drawn object a real one may be."""


@dataclass(frozen=True)
class BatchConfig:
    """What a step sees."""

    objects: int = 16


@dataclass(frozen=True)
class Terms:
    """A loss and figures for the log."""

    loss: Tensor
    parts: dict[str, float]


class PartListTask(nn.Module):
    """The part list with its loss: minus log probability of all choices, per part."""

    def __init__(self, config: PartListConfig) -> None:
        super().__init__()
        self.model = PartListModel(config)

    def forward(self, lists: Lists, asked: Conditioning) -> Terms:
        costs = self.model(lists, asked)
        parts = lists.count.sum()
        sums = {name: cost.sum() / (len(lists.whole) if cost.ndim == 1 else parts) for name, cost in costs.items()}
        loss = torch.stack(list(sums.values())).sum()
        kept = ("category", "name", "material", "colour")
        return Terms(loss, {"nats": float(loss.detach()), **{name: float(sums[name].detach()) for name in kept}})


class FlowTask(nn.Module):
    """The flow with its loss: squared error of the velocity, weighted."""

    def __init__(self, config: FlowConfig) -> None:
        super().__init__()
        self.model = FlowModel(config)
        weights = torch.full((WIDTH,), 0.6)
        for name, weight in WEIGHTS.items():
            weights[SPANS[name]] = weight
        self.weights = weights

    def forward(
        self, lists: Lists, asked: Conditioning, rows: Tensor, used: Tensor, noise: Tensor, time: Tensor
    ) -> Terms:
        model = self.model
        context, bias = model.context(asked)
        noise = noise * used
        noise[..., 0] = noise[:, :1, 0] * used[..., 0]
        at = time[:, None, None]
        speed = model.velocity(
            (1 - at) * noise + at * rows, time, model.about(lists), model.is_part(lists), context, bias
        )
        error = (speed - (rows - noise)).square() * used
        weighted = (error * self.weights).sum() / (used * self.weights).sum()
        error = error.detach()
        shares = {n: float(error[..., SPANS[n]].sum() / used[..., SPANS[n]].sum().clamp(min=1)) for n, _ in LAYOUT[:6]}
        return Terms(weighted, {"error": float(weighted.detach()), **shares})


def put_real(
    chosen: list[ListExample], real: Sequence[ListExample], share: float, rng: np.random.Generator, total: int
) -> None:
    """Make a share of a batch real models, the last ones; each at most ``OFTEN`` times as likely as one of ``total``.

    Few models in a large share are learned by heart: with four of them in an eighth of all batches a list wrote
    their parts into other chairs and bags.
    """
    count = rng.binomial(len(chosen), min(share, OFTEN * len(real) / total))
    if count:
        chosen[-count:] = [real[k] for k in rng.integers(len(real), size=count)]


@dataclass(frozen=True, kw_only=True)
class GenerationRecipe(RunConfig):
    """What all runs share."""

    view: BatchConfig = field(default_factory=BatchConfig)
    steps: int = 12_000
    warmup: int = 200
    decay: float = 0.5
    matrix_rate: float = 3e-3
    rate: float = 1e-3
    average: float = 0.999
    evaluate_every: int = 500
    real: float = 0.12
    """Largest share of a batch that is drawn from real models, if there are any (``put_real``)."""


@dataclass(frozen=True, kw_only=True)
class PartListRecipe(GenerationRecipe):
    """A run of the part list."""

    task: ClassVar[str] = "part list"
    model: PartListConfig = field(default_factory=PartListConfig)

    def build(self) -> PartListTask:
        return PartListTask(self.model)


@dataclass(frozen=True, kw_only=True)
class FlowRecipe(GenerationRecipe):
    """A run of the flow."""

    task: ClassVar[str] = "flow"
    model: FlowConfig = field(default_factory=FlowConfig)
    average: float = 0.9995

    def build(self) -> FlowTask:
        return FlowTask(self.model)


@dataclass(frozen=True, eq=False)
class GenerationTraining(Task):
    """A recipe of a part list or a flow, and objects to learn from and to watch."""

    unit: ClassVar[str] = "objects"
    meaning: ClassVar[str] = "nats per part of the list, or squared error of the flow"
    recipe: GenerationRecipe
    examples: Sequence[ListExample]
    watched: Sequence[ListExample]

    def draw(self, module: Any, step: int, rng: np.random.Generator, generator: torch.Generator) -> tuple[Any, ...]:
        chosen = [self.examples[k] for k in rng.integers(len(self.examples), size=self.batch_size)]
        put_real(chosen, self._real, self.recipe.real, rng, len(self.examples))
        return self._batch(module, chosen, rng, generator)

    @cached_property
    def _real(self) -> list[ListExample]:
        return [one for one in self.examples if is_real(one.name)]

    @cached_property
    def standard(self) -> Standard:
        return standard_of(self.examples)

    def _batch(
        self, module: Any, chosen: Sequence[ListExample], rng: np.random.Generator, generator: torch.Generator
    ) -> tuple[Any, ...]:
        """What a step sees of some objects."""
        lists, asked = lists_of(chosen), draw_asked(chosen, rng)
        if not isinstance(module, FlowTask):
            return lists, asked
        module.model.mean.copy_(torch.tensor(self.standard.mean))
        module.model.spread.copy_(torch.tensor(self.standard.spread))
        rows, used = numbers_of(chosen, self.standard)
        noise, time = torch.randn(rows.shape, generator=generator), torch.rand(len(rows), generator=generator)
        return lists, asked, rows, used, noise, time

    @torch.no_grad()
    def evaluate(self, module: Any) -> dict[str, float]:
        module.eval()
        rng, generator = np.random.default_rng(1), torch.Generator().manual_seed(1)

        def measure(ids: np.ndarray) -> Terms:
            return module(*self._batch(module, [self.watched[k] for k in ids], rng, generator))

        return self.mean_figures(len(self.watched), WATCHED_BATCH, measure)

    @staticmethod
    def curve(line: Line) -> dict[str, float]:
        first = next(iter(line["training"]))
        return {"train": line["training"][first], "held out": line["watched"][first]}


def more_of(recipe: GenerationRecipe) -> GenerationRecipe:
    """The recipe of a short run that goes on from weights that know their trade: two thirds of the step size, which
    falls for most of the run."""
    return replace(
        recipe, rate=recipe.rate / 1.5, matrix_rate=recipe.matrix_rate / 1.5, decay=0.7, average=0.99,
        evaluate_every=100,
    )  # fmt: skip


SMOKE = {"steps": 20, "evaluate_every": 10, "view": BatchConfig(4)}
RECIPES: Recipes[GenerationRecipe] = Recipes(
    "generation",
    {
        "list": PartListRecipe(),
        "flow": FlowRecipe(),
        "list-more": more_of(PartListRecipe()),
        "flow-more": more_of(FlowRecipe()),
        "list-smoke": PartListRecipe(**SMOKE),  # type: ignore[arg-type]
        "flow-smoke": FlowRecipe(**SMOKE),  # type: ignore[arg-type]
    },
)
