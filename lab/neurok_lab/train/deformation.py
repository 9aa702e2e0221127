"""Learning deformations: data sets as subjects to learn from and to watch, the task of the loop, and runs by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch

from neurok.errors import NeurokError
from neurok.learned.deformation.handles import HandleConfig
from neurok.learned.deformation.models import ModelConfig, model_config
from neurok.learned.deformation.points import PointConfig
from neurok.learned.subject import JointMotion, Subject
from neurok.learned.view import ViewConfig, draw, pairs, stack
from neurok_lab.data.shards import ShardSet
from neurok_lab.data.still import UNSEEN_FAMILIES, hold_out, object_name
from neurok_lab.train.config import Recipes, RunConfig
from neurok_lab.train.log import Line
from neurok_lab.train.loop import Task
from neurok_lab.train.losses import DeformationTask, LossWeights, PairTensors
from neurok_lab.train.losses import DeformationTerms as Terms

REAL_WEIGHT = 10
"""How often a real object counts, over all its clips; a generated one counts once."""

CLIP_WEIGHT = 3
"""How much more often an object counts whose clips are learned from: they are fewer, and each bends its own way."""

WATCHED_COUNT = 32
"""Generated subjects that are watched and not learned from; real ones follow the hold-out rule."""


@dataclass(frozen=True, eq=False)
class Split:
    """Subjects to learn from, and named sets to watch."""

    train: Sequence[Subject]
    watch: dict[str, Sequence[Subject]]
    data: Sequence[dict[str, Any]] = ()
    """Names, sizes and licences of the data sets behind them, for the card of the weights."""


def split_subjects(folders: Sequence[str | Path], real_weight: int = REAL_WEIGHT) -> Split:
    """Read data sets.

    The hold-out rule is applied to the objects of each data set, so that no clip of a held-out object is trained on;
    generated families that are held out are only watched. Of objects with many clips the first is watched.
    """
    train: list[Subject] = []
    made: list[Subject] = []
    watch: dict[str, list[Subject]] = {"seen": [], "unseen": [], "clips": [], "families": []}
    notes = []
    for folder in folders:
        real: dict[str, list[Subject]] = {}
        licenses: Counter[str] = Counter()
        for item in ShardSet.open(folder):
            licenses[item.info["license"]] += 1
            subject = item.subject()
            if isinstance(subject.motion, JointMotion) and not subject.motion.can_move.any():
                continue
            if not item.info["source"].startswith("neurok"):
                real.setdefault(object_name(item.info["source"]), []).append(subject)
            elif item.info["family"] in UNSEEN_FAMILIES:
                watch["families"].append(subject)
            else:
                made.append(subject)
        notes.append(_note(folder, licenses))
        training, seen, unseen = hold_out(real)
        for name in training:
            train += real[name] * max(1, round(real_weight * _counts(real[name][0]) / len(real[name])))
        for group, names in (("seen", seen), ("unseen", unseen)):
            for name in names:
                first = real[name][0]
                watch[group if isinstance(first.motion, JointMotion) else "clips"].append(first)
    watch["made"], train_made = _set_aside(made, WATCHED_COUNT)
    watch["families"], _ = _set_aside(watch["families"], WATCHED_COUNT)
    train += [subject for subject in train_made for _ in range(_counts(subject))]
    if not train:
        raise NeurokError(f"The data sets {', '.join(map(str, folders))} leave nothing to train on.")
    return Split(train, {name: subjects for name, subjects in watch.items() if subjects}, notes)


def _counts(subject: Subject) -> int:
    return 1 if isinstance(subject.motion, JointMotion) else CLIP_WEIGHT


def licenses_of(folder: str | Path) -> dict[str, Any]:
    """Name, size and licences of a data set."""
    return _note(folder, Counter(item.info["license"] for item in ShardSet.open(folder)))


def _note(folder: str | Path, licenses: Counter[str]) -> dict[str, Any]:
    return {"name": Path(folder).name, "items": licenses.total(), "licenses": dict(licenses)}


def _set_aside(subjects: list[Subject], count: int) -> tuple[list[Subject], list[Subject]]:
    """So many taken evenly, and the others."""
    if len(subjects) <= count:
        return [], subjects
    places = {round(i * (len(subjects) - 1) / (count - 1)) for i in range(count)}
    aside = [subject for place, subject in enumerate(subjects) if place in places]
    return aside, [subject for place, subject in enumerate(subjects) if place not in places]


WATCHED = ViewConfig(subjects=8, targets=3, points=16, augment=False)
"""How watched subjects are shown, always in the same states."""


@dataclass(frozen=True, kw_only=True)
class DeformationRecipe(RunConfig):
    """A run of the deformation model; step sizes, weights and lengths were chosen on watched subjects."""

    task: ClassVar[str] = "deformation"
    model: ModelConfig = field(default_factory=HandleConfig)
    view: ViewConfig = field(default_factory=ViewConfig)
    steps: int = 7_000
    warmup: int = 200
    decay: float = 0.35
    matrix_rate: float = 3e-3
    rate: float = 2e-3
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

    def weights(self, step: int) -> LossWeights:
        """What counts how much at a step."""
        return LossWeights(self.kl_weight * self.kl_factor(step), self.size_weight, self.surprise_weight)

    def noise_factor(self, step: int) -> float:
        """Share of the noise of the posterior at a step."""
        return min(1.0, self.noise_start + self.kl_factor(step))


@dataclass(frozen=True, eq=False)
class DeformationTraining(Task):
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
    ) -> tuple[PairTensors, LossWeights, torch.Tensor]:
        batch = PairTensors.of(next(pairs(self.split.train, self.recipe.view, rng)))
        shape = (batch.displaced.shape[0] * batch.targets, module.model.latent_size)
        noise = torch.randn(shape, generator=generator) * self.recipe.noise_factor(step)
        return batch, self.recipe.weights(step), noise

    def figures(self, terms: Terms) -> dict[str, float]:
        error = float(terms.error.sum() / terms.displacement.sum())
        return {"relative": float(terms.relative), "nats": float(terms.nats), "error": error}

    def evaluate(self, module: Any) -> dict[str, float]:
        return {name: evaluate(module, subjects) for name, subjects in self.split.watch.items()}

    @staticmethod
    def curve(line: Line) -> dict[str, float]:
        return {"train": line["training"]["error"], **line["watched"]}


@torch.no_grad()
def evaluate(task: DeformationTask, subjects: Sequence[Subject]) -> float:
    """Mean point error over mean displacement when the pose encoder sees the target: 0 is perfect, 1 is no motion."""
    rng, view = np.random.default_rng(1), WATCHED
    error = displacement = 0.0
    for start in range(0, len(subjects), view.subjects):
        terms = task(PairTensors.of(stack([draw(s, view, rng) for s in subjects[start : start + view.subjects]])))
        error += float(terms.error.sum())
        displacement += float(terms.displacement.sum())
    return error / max(displacement, 1e-12)


BASE = DeformationRecipe()
"""The first part of the shipped model: half an hour on one core."""

SMALL = ViewConfig(subjects=6, targets=2, points=2)
"""Batches of ablations, equal for all: 4,000 steps of any model are a few minutes of one core."""

NARROW = HandleConfig(width=48, context_depth=2, slot_depth=2)
ABLATION = replace(
    BASE, model=NARROW, view=SMALL, steps=4_000, warmup=200, kl_weight=6e-4, kl_start=400,
    kl_ramp=1_600, evaluate_every=1_000,
)  # fmt: skip
"""4,000 steps of a narrow model, a small KL term fully on at half time; all differ in the named choice alone."""

POINT_MODEL = PointConfig(width=48, pose_depth=1, decoder_depth=2, query_depth=1)
POINT_ABLATION = replace(ABLATION, model=POINT_MODEL, kl_start=1_000, kl_ramp=1_000)
"""The same of the paper's model, with as many parameters; the KL term waits until it learns."""

GOING_ON = replace(BASE, kl_start=0, kl_ramp=1)
"""From weights with ``--start-from``: the KL term is fully on."""

RECIPES = Recipes(
    "deformation",
    {
        "base": BASE,
        # A minute, to see that everything works.
        "smoke": replace(
            BASE, model=HandleConfig(width=32, heads=2, context_depth=1, slot_depth=1, slots=8),
            view=ViewConfig(subjects=4, targets=2), steps=60, warmup=5, evaluate_every=20, kl_start=10, kl_ramp=20,
        ),
        # Most of a base run again, to go on from its weights.
        "more": replace(GOING_ON, steps=5_000, warmup=100, decay=0.6),
        # The last stretch: ever smaller steps, and true motions are to be likely.
        "settle": replace(
            GOING_ON, steps=4_000, warmup=100, decay=1.0, matrix_rate=2e-3, rate=1.3e-3, size_weight=0.0,
            surprise_weight=0.03,
        ),
        # A few minutes of small steps.
        "polish": replace(GOING_ON, steps=700, warmup=50, decay=1.0, matrix_rate=5e-4, rate=2e-4),
        # The paper's model, as shipped: an hour on one core that multiplies in half precision.
        "points": replace(
            BASE, model=PointConfig(), view=ViewConfig(targets=3, points=3), steps=12_000, decay=0.4, kl_weight=1e-3,
            kl_start=1_000, kl_ramp=4_000, evaluate_every=1_000, bf16=True,
        ),
        "ablate_full": ABLATION,
        "ablate_no_augmentation": replace(ABLATION, view=replace(SMALL, augment=False)),
        "ablate_no_rotations": replace(ABLATION, model=replace(NARROW, rotations=False)),
        "ablate_points": POINT_ABLATION,
        "ablate_points_no_dual": replace(POINT_ABLATION, model=replace(POINT_MODEL, dual_quaternions=False)),
    },
)  # fmt: skip
