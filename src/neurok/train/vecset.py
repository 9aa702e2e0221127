"""Learning whole objects as sets of tokens: the task of the loop."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import torch

from neurok.generation.part_points import CENTRES, SCALES
from neurok.generation.part_set import Rows, stuff_features
from neurok.generation.vecset import ObjectInput, ObjectTargets, VecsetConfig, VecsetTask, VecsetTerms, VecsetWeights
from neurok.train.config import RunConfig
from neurok.train.log import Line


@dataclass(frozen=True)
class ObjectViewConfig:
    """What a batch is made of."""

    objects: int = 4
    points: int = 256
    queries: int = 192
    surface: int = 48
    """Points at which colour and material are asked."""


@dataclass(frozen=True, kw_only=True)
class VecsetRecipe(RunConfig):
    """A run of the autoencoder of whole objects."""

    task: ClassVar[str] = "vecset"
    model: VecsetConfig = field(default_factory=VecsetConfig)
    view: ObjectViewConfig = field(default_factory=ObjectViewConfig)
    weights: VecsetWeights = field(default_factory=VecsetWeights)
    steps: int = 600
    warmup: int = 50
    decay: float = 0.6
    matrix_rate: float = 4e-3
    rate: float = 1.5e-3
    weight_decay: float = 0.01
    average: float = 0.998
    evaluate_every: int = 600
    checkpoint_minutes: float = 3.0

    def build(self) -> VecsetTask:
        return VecsetTask(self.model, self.weights)


@dataclass(frozen=True, eq=False)
class VecsetTraining:
    """A recipe, objects to learn from and objects to watch."""

    recipe: VecsetRecipe
    train: Rows
    watch: Rows
    unit: ClassVar[str] = "objects"
    meaning: ClassVar[str] = "cross entropy of being inside; 1 - IoU of places anywhere"

    @property
    def batch_size(self) -> int:
        return self.recipe.view.objects

    def draw(
        self, module: Any, step: int, rng: np.random.Generator, generator: torch.Generator
    ) -> tuple[ObjectInput, ObjectTargets, torch.Tensor]:
        view, config = self.recipe.view, module.model.config
        ids = rng.integers(len(self.train["points"]), size=view.objects)
        noise = torch.randn((view.objects, config.tokens, config.total), generator=generator)
        return *batch_of(self.train, ids, view, rng), noise

    def figures(self, terms: VecsetTerms) -> dict[str, float]:
        return {name: float(value) for name, value in terms.parts.items()}

    @torch.no_grad()
    def evaluate(self, module: Any) -> dict[str, float]:
        rng, count = np.random.default_rng(1), len(self.watch["points"])
        starts = range(0, count, self.batch_size)
        chunks = [np.arange(start, min(start + self.batch_size, count)) for start in starts]
        found = [self.figures(module(*batch_of(self.watch, ids, self.recipe.view, rng))) for ids in chunks]
        return {name: float(np.mean([one[name] for one in found])) for name in found[0]}

    @staticmethod
    def curve(line: Line) -> dict[str, float]:
        watched = line["watched"]
        return {"train": line["training"]["far"], "watched": watched["far"], "watched, 1 - IoU": 1.0 - watched["iou"]}


def batch_of(
    rows: Rows, ids: np.ndarray, view: ObjectViewConfig, rng: np.random.Generator
) -> tuple[ObjectInput, ObjectTargets]:
    """Some objects, with a random choice of their points and of places near and far."""
    order = rng.permutation(rows["points"].shape[1])
    seen, asked = order[: view.points], order[-view.surface :]
    half = rows["queries"].shape[1] // 2
    places = np.concatenate([first + rng.permutation(half)[: view.queries // 2] for first in (0, half)])
    tensor = lambda name, where: torch.from_numpy(rows[name][ids][:, where].astype(np.float32))  # noqa: E731
    values = tensor("materials", order) * torch.from_numpy(SCALES).float() - torch.from_numpy(CENTRES).float()
    stuffs = tensor("stuffs", order).long()
    flat = stuff_features(values.flatten(0, 1), stuffs[..., 0].flatten(), stuffs[..., 1].flatten())
    features = flat.unflatten(0, stuffs.shape[:2])
    given = ObjectInput(
        tensor("points", seen), tensor("normals", seen), tensor("colours", seen), features[:, : view.points]
    )
    targets = ObjectTargets(
        tensor("queries", places),
        tensor("inside", places),
        tensor("points", asked),
        tensor("colours", asked),
        stuffs[:, -view.surface :, 0],
        stuffs[:, -view.surface :, 1],
        values[:, -view.surface :],
    )
    return given, targets
