"""Learning deformations: the task of the loop, and training runs by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import torch

from neurok.data.subject import Subject
from neurok.data.view import ViewConfig, draw, pairs, stack
from neurok.deformation.handles import HandleConfig
from neurok.deformation.loss import DeformationTask, PairTensors, Terms, Weights
from neurok.deformation.models import ModelConfig, model_config
from neurok.deformation.points import PointConfig
from neurok.errors import NeurokError
from neurok.train.config import RunConfig
from neurok.train.deformation_data import Split
from neurok.train.log import Line

WATCHED = ViewConfig(subjects=8, targets=3, points=16, augment=False)


@dataclass(frozen=True, kw_only=True)
class DeformationRecipe(RunConfig):
    """A run of the deformation model; step sizes, weights and lengths were chosen on watched subjects."""

    task: ClassVar[str] = "deformation"
    model: ModelConfig = field(default_factory=HandleConfig)
    view: ViewConfig = field(default_factory=ViewConfig)
    watch_view: ViewConfig = WATCHED
    """How watched subjects are shown ..."""

    watch_seed: int = 1
    """... always in the same states."""

    steps: int = 7_000
    warmup: int = 200
    decay: float = 0.35
    matrix_rate: float = 3e-3
    rate: float = 2e-3
    weight_decay: float = 0.01
    average: float = 0.999
    evaluate_every: int = 500
    checkpoint_minutes: float = 5.0

    kl_weight: float = 3e-3
    """Of a nat of the posterior, beside a squared error of one displacement."""

    kl_start: int = 300
    """Steps without the KL term: a posterior that is pulled early collapses."""

    kl_ramp: int = 3_000
    """Steps after that over which it comes in."""

    noise_start: float = 0.05
    """Share of the noise of the posterior while the KL term is off; full noise would teach everything to be still."""

    size_weight: float = 0.05
    """Of how far the prior reaches: it keeps the ways from growing while nothing else does."""

    surprise_weight: float = 0.0
    """Of the true motion under the prior of each handle: what makes the space small."""

    def build(self) -> DeformationTask:
        return DeformationTask(self.model)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> DeformationRecipe:
        return super().from_dict({**values, "model": model_config(values["model"])})

    def kl_factor(self, step: int) -> float:
        return min(1.0, max(0.0, (step - self.kl_start) / max(1, self.kl_ramp)))

    def weights(self, step: int) -> Weights:
        """What counts how much at a step."""
        return Weights(self.kl_weight * self.kl_factor(step), self.size_weight, self.surprise_weight)

    def noise_factor(self, step: int) -> float:
        """Share of the noise of the posterior at a step."""
        return min(1.0, self.noise_start + self.kl_factor(step))


@dataclass(frozen=True, eq=False)
class DeformationTraining:
    """A recipe, and subjects to learn from and to watch."""

    recipe: DeformationRecipe
    split: Split
    unit: ClassVar[str] = "pairs"
    meaning: ClassVar[str] = "point error / displacement; 1 is 'nothing moves'"

    @property
    def batch_size(self) -> int:
        return self.recipe.view.subjects * self.recipe.view.targets

    def draw(
        self, module: Any, step: int, rng: np.random.Generator, generator: torch.Generator
    ) -> tuple[PairTensors, Weights, torch.Tensor]:
        batch = PairTensors.of(next(pairs(self.split.train, self.recipe.view, rng)))
        shape = (batch.displaced.shape[0] * batch.targets, module.model.latent_size)
        noise = torch.randn(shape, generator=generator) * self.recipe.noise_factor(step)
        return batch, self.recipe.weights(step), noise

    def figures(self, terms: Terms) -> dict[str, float]:
        error = float(terms.error.sum() / terms.displacement.sum())
        return {"relative": float(terms.relative), "nats": float(terms.nats), "error": error}

    def evaluate(self, module: Any) -> dict[str, float]:
        return {name: evaluate(module, subjects, self.recipe) for name, subjects in self.split.watch.items()}

    @staticmethod
    def curve(line: Line) -> dict[str, float]:
        return {"train": line["training"]["error"], **line["watched"]}


@torch.no_grad()
def evaluate(task: DeformationTask, subjects: Sequence[Subject], recipe: DeformationRecipe) -> float:
    """Mean point error over mean displacement when the pose encoder sees the target: 0 is perfect, 1 is no motion."""
    rng, view = np.random.default_rng(recipe.watch_seed), recipe.watch_view
    error = displacement = 0.0
    for start in range(0, len(subjects), view.subjects):
        terms = task(PairTensors.of(stack([draw(s, view, rng) for s in subjects[start : start + view.subjects]])))
        error += float(terms.error.sum())
        displacement += float(terms.displacement.sum())
    return error / max(displacement, 1e-12)


def base() -> DeformationRecipe:
    """The first part of the shipped model: half an hour on one core."""
    return DeformationRecipe()


def smoke() -> DeformationRecipe:
    """A minute, to see that everything works."""
    model = HandleConfig(width=32, heads=2, context_depth=1, slot_depth=1, slots=8)
    view = ViewConfig(subjects=4, targets=2)
    return replace(base(), model=model, view=view, steps=60, warmup=5, evaluate_every=20, kl_start=10, kl_ramp=20)


def polish() -> DeformationRecipe:
    """A few minutes of small steps, to go on from weights with ``--start-from``."""
    return replace(base(), steps=700, warmup=50, decay=1.0, matrix_rate=5e-4, rate=2e-4, kl_start=0, kl_ramp=1)


def more() -> DeformationRecipe:
    """Most of a base run again, to go on from its weights with ``--start-from``; the KL term is fully on."""
    return replace(base(), steps=5_000, warmup=100, decay=0.6, kl_start=0, kl_ramp=1)


def settle() -> DeformationRecipe:
    """The last stretch, from weights with ``--start-from``: ever smaller steps, and true motions are to be likely."""
    small = replace(base(), steps=4_000, warmup=100, decay=1.0, matrix_rate=2e-3, rate=1.3e-3)
    return replace(small, kl_start=0, kl_ramp=1, size_weight=0.0, surprise_weight=0.03)


def points() -> DeformationRecipe:
    """The paper's model at full length: three times the hours of the handle model."""
    return replace(base(), model=PointConfig(), kl_weight=6e-4, kl_start=1_000)


SMALL = ViewConfig(subjects=6, targets=2, points=2)
"""Batches of ablations, equal for all: 4,000 steps of any model are a few minutes of one core."""


def ablation(model: HandleConfig | None = None, augment: bool = True) -> DeformationRecipe:
    """4,000 steps of a narrow model, a small KL term fully on at half time; all differ in the named choice alone."""
    narrow = model or HandleConfig(width=48, context_depth=2, slot_depth=2)
    short = replace(base(), steps=4_000, warmup=200, kl_weight=6e-4, kl_start=400, kl_ramp=1_600, evaluate_every=1_000)
    return replace(short, model=narrow, view=replace(SMALL, augment=augment))


def point_ablation(dual_quaternions: bool = True) -> DeformationRecipe:
    """The same of the paper's model, with as many parameters; the KL term waits until it learns."""
    model = PointConfig(width=48, pose_depth=1, decoder_depth=2, query_depth=1, dual_quaternions=dual_quaternions)
    return replace(ablation(), model=model, kl_start=1_000, kl_ramp=1_000)


RECIPES: dict[str, Callable[[], DeformationRecipe]] = {
    "base": base,
    "smoke": smoke,
    "more": more,
    "settle": settle,
    "polish": polish,
    "points": points,
    "ablate_full": ablation,
    "ablate_no_augmentation": lambda: ablation(augment=False),
    "ablate_no_rotations": lambda: ablation(HandleConfig(width=48, context_depth=2, slot_depth=2, rotations=False)),
    "ablate_points": point_ablation,
    "ablate_points_no_dual": lambda: point_ablation(dual_quaternions=False),
}


def find_recipe(name: str) -> DeformationRecipe:
    """The recipe of that name."""
    if name not in RECIPES:
        raise NeurokError(f"There is no training recipe '{name}'; known are {', '.join(RECIPES)}.")
    return RECIPES[name]()
