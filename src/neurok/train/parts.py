"""Learning parts: the task of the loop, and runs by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import torch

from neurok.errors import NeurokError
from neurok.generation.part_autoencoder import PartConfig, PartInput, PartTargets, PartTask, PartWeights, Terms
from neurok.generation.part_set import PartRows, PartViewConfig
from neurok.train.config import RunConfig
from neurok.train.log import Line


@dataclass(frozen=True, kw_only=True)
class PartRecipe(RunConfig):
    """A run of the autoencoder of parts."""

    task: ClassVar[str] = "parts"
    model: PartConfig = field(default_factory=PartConfig)
    view: PartViewConfig = field(default_factory=PartViewConfig)
    weights: PartWeights = field(default_factory=PartWeights)
    steps: int = 10_000
    warmup: int = 150
    decay: float = 0.6
    matrix_rate: float = 4e-3
    rate: float = 1.5e-3
    weight_decay: float = 0.01
    average: float = 0.998
    evaluate_every: int = 500
    checkpoint_minutes: float = 3.0
    noise_start: float = 0.1
    """Share of the noise of codes at the start ..."""

    noise_ramp: int = 1_500
    """... which is full after so many steps."""

    def build(self) -> PartTask:
        return PartTask(self.model, self.weights)

    def noise_factor(self, step: int) -> float:
        return min(1.0, self.noise_start + step / max(1, self.noise_ramp))


@dataclass(frozen=True, eq=False)
class PartTraining:
    """A recipe, parts to learn from and parts to watch."""

    recipe: PartRecipe
    train: PartRows
    watch: PartRows
    unit: ClassVar[str] = "parts"
    meaning: ClassVar[str] = "error of distances / reach; share of places on the wrong side"

    @property
    def batch_size(self) -> int:
        return self.recipe.view.parts

    def draw(
        self, module: Any, step: int, rng: np.random.Generator, generator: torch.Generator
    ) -> tuple[PartInput, PartTargets, torch.Tensor]:
        model = module.model
        given, targets = self.train.draw(self.recipe.view, rng, (model.code_mean, model.code_scale))
        noise = torch.randn((self.batch_size, model.config.total), generator=generator)
        return given, targets, noise * self.recipe.noise_factor(step)

    def figures(self, terms: Terms) -> dict[str, float]:
        return {name: float(value) for name, value in terms.parts.items()}

    @torch.no_grad()
    def evaluate(self, module: Any) -> dict[str, float]:
        rng, found = np.random.default_rng(1), []
        view = replace(self.recipe.view, queries=640)
        for start in range(0, len(self.watch), view.parts):
            ids = np.arange(start, min(start + view.parts, len(self.watch)))
            batch = self.watch.batch(ids, view, rng, (module.model.code_mean, module.model.code_scale))
            found.append(self.figures(module(*batch)))
        return {name: float(np.mean([one[name] for one in found])) for name in found[0]}

    @staticmethod
    def curve(line: Line) -> dict[str, float]:
        watched = line["watched"]
        return {
            "train": line["training"]["distance"],
            "watched": watched["distance"],
            "watched, wrong side": 1.0 - watched["right"],
            "watched forms": watched["form"],
        }


def base() -> PartRecipe:
    """The shipped model: 35 minutes of one core."""
    return PartRecipe()


def onward() -> PartRecipe:
    """To learn on from weights that are good already: smaller steps, and noise as it was at their end."""
    view = PartViewConfig(parts=24, points=96)
    return PartRecipe(
        view=view, steps=1_200, warmup=50, decay=0.8, matrix_rate=1e-3, rate=4e-4, noise_start=1.0, evaluate_every=200
    )


def short() -> PartRecipe:
    """What ablations are compared at: a minute of one core."""
    view = PartViewConfig(parts=16, points=64, queries=32)
    return PartRecipe(view=view, steps=600, warmup=50, noise_ramp=200, evaluate_every=600)


def smoke() -> PartRecipe:
    """Seconds, to see that everything works."""
    model = PartConfig(width=16, heads=2, field_width=16, form_width=16)
    view = PartViewConfig(parts=8, points=32, queries=16)
    return PartRecipe(model=model, view=view, steps=20, warmup=2, evaluate_every=10, noise_ramp=10)


RECIPES: dict[str, Callable[[], PartRecipe]] = {
    "base": base,
    "onward": onward,
    "short": short,
    "smoke": smoke,
    "decoded": lambda: replace(short(), model=PartConfig(codes="decoded")),
    "apart": lambda: replace(short(), model=PartConfig(codes="apart")),
    "fused": lambda: replace(short(), model=PartConfig(codes="fused")),
}


def find_recipe(name: str) -> PartRecipe:
    """The recipe of that name."""
    if name not in RECIPES:
        raise NeurokError(f"There is no recipe '{name}' for parts; known are {', '.join(RECIPES)}.")
    return RECIPES[name]()
