"""Learning parts and whole objects as codes: samples of household things, the tasks of the loop, and runs by name."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch

from neurok.catalogue import CATEGORIES, Assembly, split_of
from neurok.core import Asset
from neurok.errors import NeurokError
from neurok.io import load
from neurok.verbs import propose_materials
from neurok_lab.data.household import drawn
from neurok_lab.data.household_real import RealModel, real_assembly, real_models
from neurok_lab.parts.part_autoencoder import PartConfig, PartInput, PartTargets, PartTask, Terms
from neurok_lab.parts.part_points import CENTRES, SCALES
from neurok_lab.parts.part_set import (
    PartRows,
    PartViewConfig,
    Rows,
    joined,
    read_sets,
    rows_of,
    statistics_of,
    stuff_features,
    write_set,
)
from neurok_lab.parts.vecset import ObjectInput, ObjectTargets, VecsetConfig, VecsetTask
from neurok_lab.train.config import Recipes, RunConfig
from neurok_lab.train.log import Line
from neurok_lab.train.loop import Task

SEED = 0  # of generated objects
CHUNK = 2  # objects of each category in one file
WATCHED = 2  # objects of each category, beyond those that are learned from, that are watched


@dataclass(frozen=True, eq=False)
class PartSamples:
    """Parts and whole objects, to learn from and to watch."""

    train: tuple[Rows, Rows]
    watch: tuple[Rows, Rows]
    origin: list[dict[str, Any]]
    """What a card says of them."""

    @property
    def counts(self) -> dict[str, int]:
        return {"parts": len(self.train[0]["size"]), "objects": len(self.train[1]["points"])}


def samples(folder: Path, objects: int, real: Path | None, tell: Callable[[str], None]) -> PartSamples:
    """Make what is missing, and read all of it: so many generated objects of each category, and the models of the
    folder ``real``, if any join in."""
    if objects < 1:
        raise NeurokError(f"objects must be 1 or more, got {objects}.")
    write_samples(folder, objects, tell)
    write_samples(folder / "watch", WATCHED, tell, skip=objects)
    if real is not None:
        write_real_samples(folder, real, tell)
    origin: list[dict[str, Any]] = [{"source": "generated household things", "objects": objects * len(CATEGORIES),
                                     "licenses": ["Apache-2.0"]}]  # fmt: skip
    if files := len(list(folder.glob("real_*.npz"))):
        terms = ["CC0-1.0", "CC-BY-3.0", "CC-BY-3.0-US"]
        origin.append({"source": "Sweet Home 3D furniture", "files": files, "licenses": terms})
    return PartSamples(read_sets(folder), read_sets(folder / "watch"), origin)


def write_samples(folder: Path, objects: int, tell: Callable[[str], None], skip: int = 0) -> None:
    """Sample what is not in the folder yet; a run that was broken off goes on. Numbers of the test split and the first
    ``skip`` others are passed over."""
    train = (index for index in itertools.count() if split_of(index) == "train")
    indices = list(itertools.islice(train, skip, skip + objects))
    for start in range(0, objects, CHUNK):
        path = folder / f"generated_{SEED}_{start:04d}.npz"
        if path.exists():
            continue
        rows = [
            rows_of(drawn(category, SEED, index), np.random.default_rng([SEED, index]))
            for index in indices[start : start + CHUNK]
            for category in CATEGORIES
        ]
        write_set(path, joined(parts for parts, _ in rows), joined(whole for _, whole in rows))
        tell(f"{path}: {len(rows)} objects")


def write_real_samples(folder: Path, library: Path, tell: Callable[[str], None], chunk: int = 4) -> None:
    """The same of real models (``data.household_real``), but for those that are kept aside."""
    models = [model for model in real_models(library) if not model.is_kept_aside]
    order = np.random.default_rng(0).permutation(len(models))
    for start in range(0, len(models), chunk):
        path = folder / f"real_{start:04d}.npz"
        if path.exists():
            continue
        some = [models[i] for i in order[start : start + chunk]]
        rows = [rows_of(real_thing(model), np.random.default_rng([1, start]), variants=False) for model in some]
        write_set(path, joined(parts for parts, _ in rows), joined(objects for _, objects in rows))
        tell(f"{path}: {', '.join(model.path.stem for model in some)}")


def real_thing(model: RealModel) -> Assembly:
    """A real model as a list of parts of the materials that are proposed for them."""
    asset: Asset = load(model.path)
    stuff = {item.region.name: item.material.name for item in propose_materials(asset).items}
    return real_assembly(asset, model.category, stuff)


@dataclass(frozen=True, kw_only=True)
class PartRecipe(RunConfig):
    """A run of the autoencoder of parts."""

    task: ClassVar[str] = "parts"
    model: PartConfig = field(default_factory=PartConfig)
    view: PartViewConfig = field(default_factory=PartViewConfig)
    steps: int = 10_000
    warmup: int = 150
    decay: float = 0.6
    matrix_rate: float = 4e-3
    rate: float = 1.5e-3
    evaluate_every: int = 500
    noise_start: float = 0.1
    """Share of the noise of codes at the start ..."""

    noise_ramp: int = 1_500
    """... which is full after so many steps."""

    def build(self) -> PartTask:
        return PartTask(self.model)

    def noise_factor(self, step: int) -> float:
        return min(1.0, self.noise_start + step / max(1, self.noise_ramp))


@dataclass(frozen=True, eq=False)
class PartTraining(Task):
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

    @torch.no_grad()
    def evaluate(self, module: Any) -> dict[str, float]:
        rng, view, model = np.random.default_rng(1), replace(self.recipe.view, queries=640), module.model

        def measure(ids: np.ndarray) -> Terms:
            return module(*self.watch.batch(ids, view, rng, (model.code_mean, model.code_scale)))

        return self.mean_figures(len(self.watch), view.parts, measure)

    @staticmethod
    def curve(line: Line) -> dict[str, float]:
        watched = line["watched"]
        return {
            "train": line["training"]["distance"],
            "watched": watched["distance"],
            "watched, wrong side": 1.0 - watched["right"],
            "watched forms": watched["form"],
        }


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
    steps: int = 600
    warmup: int = 50
    decay: float = 0.6
    matrix_rate: float = 4e-3
    rate: float = 1.5e-3
    evaluate_every: int = 600

    def build(self) -> VecsetTask:
        return VecsetTask(self.model)


@dataclass(frozen=True, eq=False)
class VecsetTraining(Task):
    """A recipe, objects to learn from and objects to watch."""

    recipe: VecsetRecipe
    train: Rows
    watch: Rows
    unit: ClassVar[str] = "objects"
    meaning: ClassVar[str] = "cross entropy of being inside; 1 - IoU of places anywhere"

    def draw(
        self, module: Any, step: int, rng: np.random.Generator, generator: torch.Generator
    ) -> tuple[ObjectInput, ObjectTargets, torch.Tensor]:
        view, config = self.recipe.view, module.model.config
        ids = rng.integers(len(self.train["points"]), size=view.objects)
        noise = torch.randn((view.objects, config.tokens, config.total), generator=generator)
        return *batch_of(self.train, ids, view, rng), noise

    @torch.no_grad()
    def evaluate(self, module: Any) -> dict[str, float]:
        rng = np.random.default_rng(1)

        def measure(ids: np.ndarray) -> Terms:
            return module(*batch_of(self.watch, ids, self.recipe.view, rng))

        return self.mean_figures(len(self.watch["points"]), self.batch_size, measure)

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

    def tensor(name: str, where: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(rows[name][ids][:, where].astype(np.float32))

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


SHORT = PartRecipe(
    view=PartViewConfig(parts=16, points=64, queries=32), steps=600, warmup=50, noise_ramp=200, evaluate_every=600
)
"""What ablations are compared at: a minute of one core."""

RECIPES: Recipes[Any] = Recipes(
    "parts",
    {
        "base": PartRecipe(),  # the shipped model: 35 minutes of one core
        # To learn on from weights that are good already: smaller steps, and noise as it was at their end.
        "onward": PartRecipe(
            view=PartViewConfig(parts=24, points=96), steps=1_200, warmup=50, decay=0.8, matrix_rate=1e-3, rate=4e-4,
            noise_start=1.0, evaluate_every=200,
        ),
        "short": SHORT,
        # Seconds, to see that everything works.
        "smoke": PartRecipe(
            model=PartConfig(width=16, heads=2, field_width=16, form_width=16), steps=20, warmup=2, evaluate_every=10,
            view=PartViewConfig(parts=8, points=32, queries=16), noise_ramp=10,
        ),
        "decoded": replace(SHORT, model=PartConfig(codes="decoded")),
        "apart": replace(SHORT, model=PartConfig(codes="apart")),
        "fused": replace(SHORT, model=PartConfig(codes="fused")),
        "vecset": VecsetRecipe(),
    },
)  # fmt: skip


def with_statistics(recipe: Any, found: PartSamples) -> Any:
    """A recipe whose model knows the mean and spread of the numbers that it learns."""
    if isinstance(recipe, VecsetRecipe):
        return recipe
    mean, scale = statistics_of(found.train[0])
    return replace(recipe, model=replace(recipe.model, code_mean=mean, code_scale=scale))


def training_of(recipe: PartRecipe | VecsetRecipe, found: PartSamples) -> Task:
    """The task of the loop."""
    (parts, objects), (watched, watched_objects) = found.train, found.watch
    if isinstance(recipe, VecsetRecipe):
        return VecsetTraining(recipe, objects, watched_objects)
    balance = recipe.view.balance
    return PartTraining(recipe, PartRows.of(parts, balance), PartRows.of(watched, balance))
