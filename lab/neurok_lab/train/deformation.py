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
from neurok.learned.deformation.points import PointConfig
from neurok.learned.subject import JointMotion, Subject
from neurok.learned.view import ViewConfig, draw, pairs, stack
from neurok_lab.data.shards import ShardSet
from neurok_lab.data.still import UNSEEN_FAMILIES, hold_out, object_name
from neurok_lab.train.config import Recipes, RunConfig
from neurok_lab.train.log import Line
from neurok_lab.train.loop import Task
from neurok_lab.train.losses import DeformationTask, PairTensors
from neurok_lab.train.losses import DeformationTerms as Terms

REAL_WEIGHT = 10
"""How often a real object counts, over all its clips; a generated one counts once."""

CLIP_WEIGHT = 3
"""How much more often an object with clips is drawn: there are fewer of them, and each bends in its own way."""

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
    """A run of the deformation network; step sizes, weights and lengths were chosen on watched subjects."""

    task: ClassVar[str] = "deformation"
    model: PointConfig = field(default_factory=PointConfig)
    view: ViewConfig = field(default_factory=lambda: ViewConfig(targets=3, points=3))
    steps: int = 12_000
    warmup: int = 200
    decay: float = 0.4
    matrix_rate: float = 3e-3
    rate: float = 2e-3
    average: float = 0.999
    bf16: bool = True
    evaluate_every: int = 1_000
    checkpoint_minutes: float = 5.0

    kl_weight: float = 1e-3
    """Of a nat of the posterior, beside a squared error of one displacement."""

    kl_start: int = 1_000
    """Steps without the KL term: a posterior that is pulled early collapses."""

    kl_ramp: int = 4_000
    """Steps after that over which it comes in."""

    noise_start: float = 0.05
    """Share of the noise of the posterior while the KL term is off; full noise would teach everything to be still."""

    def build(self) -> DeformationTask:
        return DeformationTask(self.model)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> DeformationRecipe:
        return super().from_dict({**values, "model": PointConfig.from_dict(values["model"])})

    def kl_factor(self, step: int) -> float:
        return min(1.0, max(0.0, (step - self.kl_start) / max(1, self.kl_ramp)))

    def kl_at(self, step: int) -> float:
        """Weight of a nat at a step."""
        return self.kl_weight * self.kl_factor(step)

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
    ) -> tuple[PairTensors, float, torch.Tensor]:
        batch = PairTensors.of(next(pairs(self.split.train, self.recipe.view, rng)))
        shape = (batch.displaced.shape[0] * batch.targets, module.model.latent_size)
        noise = torch.randn(shape, generator=generator) * self.recipe.noise_factor(step)
        return batch, self.recipe.kl_at(step), noise

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
"""The shipped model: an hour on one core that multiplies in half precision."""

SMALL = PointConfig(width=48, pose_depth=1, decoder_depth=2, query_depth=1)
ABLATION = replace(
    BASE, model=SMALL, view=ViewConfig(subjects=6, targets=2, points=2), steps=4_000, decay=0.35, kl_weight=6e-4,
    kl_ramp=1_000, bf16=False,
)  # fmt: skip
"""4,000 steps of a narrow model: a few minutes of one core; all differ in the named choice alone."""

GOING_ON = replace(BASE, kl_start=0, kl_ramp=1)
"""From weights with ``--start-from``: the KL term is fully on."""

RECIPES = Recipes(
    "deformation",
    {
        "base": BASE,
        # A minute, to see that everything works.
        "smoke": replace(
            BASE, model=PointConfig(width=32, heads=2, prior_depth=1, pose_depth=1, decoder_depth=1, query_depth=1),
            view=ViewConfig(subjects=4, targets=2, points=2), steps=60, warmup=5, evaluate_every=20, kl_start=10,
            kl_ramp=20, bf16=False,
        ),
        # Most of a base run again, to go on from its weights.
        "more": replace(GOING_ON, steps=5_000, warmup=100, decay=0.6),
        # A few minutes of small steps.
        "polish": replace(GOING_ON, steps=700, warmup=50, decay=1.0, matrix_rate=5e-4, rate=2e-4),
        "ablate_full": ABLATION,
        "ablate_no_augmentation": replace(ABLATION, view=replace(ABLATION.view, augment=False)),
        "ablate_no_dual": replace(ABLATION, model=replace(SMALL, dual_quaternions=False)),
    },
)  # fmt: skip
