"""Learning to see: the image encoder is asked about pictures before lists of parts are written from what it says.

A list is learned word by word, each given those before it, so that most of it can be guessed without a look at the
picture, and an encoder that starts from nothing is hardly ever needed. Here it is asked plainly: what the object is,
and for parts by their names whether they are there, how they look, how many there are and where they stand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional

from neurok.errors import NeurokError
from neurok.generation.fields import appearance_fields, build_fields, whole_fields
from neurok.generation.framing import on_plain
from neurok.generation.image_encoder import PictureReader, ReaderConfig, part_fields
from neurok.generation.numbers import WIDTH, Standard
from neurok.hub import load_model
from neurok_lab.data.augmentation import augment
from neurok_lab.train.checkpoint import load_weights, read_facts
from neurok_lab.train.config import Recipes
from neurok_lab.train.generation import (
    BatchConfig,
    FlowRecipe,
    GenerationRecipe,
    GenerationTraining,
    ObjectTraining,
    PartListRecipe,
    Terms,
)
from neurok_lab.train.generation_data import CLIP, PHOTOGRAPHS, ListExample

COUNTED = {"category": 2.0, "present": 2.0, "colour": 1.0, "material": 0.5, "numbers": 0.5}
"""What each answer counts in the loss; 0.2 for those not named. The category comes first, the rest follows from it."""


@dataclass(frozen=True, eq=False)
class Answers:
    """What is true of a batch of pictures: of the whole, and of the parts that are asked for by name."""

    whole: Int[Tensor, "B FW"]
    names: Int[Tensor, "B N"]
    asked: Bool[Tensor, "B N"]
    """Whether a question is one; of an object whose parts are not known only its category is asked."""

    present: Bool[Tensor, "B N"]
    fields: Int[Tensor, "B N F"]
    """Of the first part of each name; nothing is asked of parts that are not there."""

    numbers: Float[Tensor, "B N W"]
    used: Float[Tensor, "B N W"]


class PictureTask(nn.Module):
    """The reader with its loss: cross entropy of all answers, squared error of the numbers."""

    def __init__(self, config: ReaderConfig) -> None:
        super().__init__()
        self.model = PictureReader(config)

    def forward(self, pictures: Float[Tensor, "B 3 S S"], answers: Answers) -> Terms:
        model = self.model
        whole, parts = model(pictures, answers.names)
        there, is_listed = answers.present, answers.asked.any(dim=1)
        costs: dict[str, Tensor] = {}
        right: dict[str, Tensor] = {}
        for k, (one, head) in enumerate(zip(whole_fields(), model.whole, strict=True)):
            rows = slice(None) if one.name == "category" else is_listed
            _ask(one.name, head(whole[rows]), answers.whole[rows, k], costs, right)
        for k, (one, head) in enumerate(zip(part_fields(), model.parts, strict=True)):
            _ask(one.name, head(parts[there]), answers.fields[there][:, k], costs, right)
        said, is_there = model.present(parts)[answers.asked][..., 0], there[answers.asked]
        costs["present"] = functional.binary_cross_entropy_with_logits(said, is_there.to(said.dtype))
        right["present"] = ((said > 0) == is_there).float().mean()
        used = answers.used * there[..., None]
        error = (model.numbers(parts) - answers.numbers).square() * used
        costs["numbers"] = error.sum() / used.sum().clamp(min=1.0)
        loss = torch.stack([COUNTED.get(name, 0.2) * cost for name, cost in costs.items()]).sum()
        told = {name: float(right[name]) for name in ("category", "present", "count", "colour", "material")}
        numbers = float(costs["numbers"].detach())
        return Terms(loss, {"loss": float(loss.detach()), **told, "numbers": numbers})


def _ask(name: str, scores: Tensor, truth: Tensor, costs: dict[str, Tensor], right: dict[str, Tensor]) -> None:
    costs[name] = functional.cross_entropy(scores, truth)
    right[name] = (scores.detach().argmax(dim=-1) == truth).float().mean()


def known_names(examples: Sequence[ListExample]) -> dict[int, np.ndarray]:
    """Which names parts of each category have."""
    found: dict[int, set[int]] = {}
    for one in examples:
        found.setdefault(one.whole[0], set()).update(part[0] for part in one.build)
    return {category: np.array(sorted(names)) for category, names in found.items()}


def answers_of(
    examples: Sequence[ListExample],
    known: dict[int, np.ndarray],
    standard: Standard,
    rng: np.random.Generator,
    count: int,
) -> Answers:
    """Questions and their answers: parts that are there first, then others that things of the kind or any have."""
    columns = [[f.name for f in (*build_fields(), *appearance_fields())].index(one.name) for one in part_fields()]
    every = build_fields()[0].count
    names = np.zeros((len(examples), count), dtype=np.int64)
    is_asked, present = np.zeros((2, len(examples), count), dtype=bool)
    fields = np.zeros((len(examples), count, len(columns)), dtype=np.int64)
    numbers, used = np.zeros((len(examples), count, WIDTH)), np.zeros((len(examples), count, WIDTH))
    for row, one in enumerate(examples):
        if not one.build:
            continue
        first: dict[int, int] = {}
        for place, part in enumerate(one.build):
            first.setdefault(part[0], place)
        others = known.get(one.whole[0], np.array([], dtype=np.int64))
        others = np.concatenate([rng.permutation(others), rng.integers(1, every, size=count)])
        absent = [int(name) for name in dict.fromkeys(others.tolist()) if name not in first]
        there = rng.permutation(list(first))[: max(count // 2, count - len(absent))].tolist()
        asked = (there + absent)[:count]
        names[row, : len(asked)], present[row, : len(there)] = asked, True
        is_asked[row, : len(asked)] = True
        values = np.clip(standard.to(one.rows, one.kinds), -CLIP, CLIP)
        for column, name in enumerate(there):
            place = first[name]
            fields[row, column] = np.array(one.build[place] + one.look[place])[columns]
            numbers[row, column], used[row, column] = values[place], one.used[place]
    return Answers(
        torch.tensor([one.whole for one in examples]),
        torch.from_numpy(names),
        torch.from_numpy(is_asked),
        torch.from_numpy(present),
        torch.from_numpy(fields),
        torch.tensor(numbers, dtype=torch.float32),
        torch.tensor(used, dtype=torch.float32),
    )


@dataclass(frozen=True, kw_only=True)
class PictureRecipe(GenerationRecipe):
    """A run of the image encoder."""

    task: ClassVar[str] = "pictures"
    model: ReaderConfig = field(default_factory=ReaderConfig)
    view: BatchConfig = field(default_factory=lambda: BatchConfig(24))
    steps: int = 4_000
    warmup: int = 100
    rate: float = 1.5e-3
    average: float = 0.998
    real: float = 0.25
    evaluate_every: int = 200

    def build(self) -> PictureTask:
        return PictureTask(self.model)


@dataclass(frozen=True, eq=False)
class PictureTraining(ObjectTraining):
    """Of the image encoder; all objects have pictures."""

    unit: ClassVar[str] = "pictures"
    meaning: ClassVar[str] = "cross entropy of all answers, and squared error of the numbers"

    @cached_property
    def _shown(self) -> list[ListExample]:
        return []

    @cached_property
    def _known(self) -> dict[int, np.ndarray]:
        return known_names(self.examples)

    def batch(
        self,
        module: Any,
        chosen: Sequence[ListExample],
        rng: np.random.Generator,
        generator: torch.Generator,
        watched: bool = False,
    ) -> tuple[Any, ...]:
        """Watched objects are asked about by the first picture of each, as it is after a cut-out."""
        views = [one.pictures for one in chosen if one.pictures is not None]
        raw = torch.from_numpy(np.stack([some[0 if watched else rng.integers(len(some))] for some in views]))
        pictures = on_plain(raw) if watched else augment(raw, generator, PHOTOGRAPHS)
        return pictures, answers_of(chosen, self._known, self.standard, rng, self.recipe.model.names)


def pictured(examples: Sequence[ListExample]) -> list[ListExample]:
    """Those that have pictures."""
    return [one for one in examples if one.pictures is not None]


def encoder_from(checkpoint: Path) -> Callable[[nn.Module], None]:
    """Puts what a run of pictures has learned into the context of a list or a flow.

    The last layer, which is of another width, stays as it is.
    """
    recipe = PictureRecipe.from_dict(read_facts(checkpoint, PictureRecipe.task)["recipe"])
    task = recipe.build()
    load_weights(checkpoint, recipe.task, [task])
    return _giving(task.model.image, "model.context.image", but="out.")


def reader_shipped(weights: str | Path) -> Callable[[nn.Module], None]:
    """The way back: a run of pictures goes on from a shipped reader, or from the encoder of a list without one."""
    model = load_model(weights, "generation")
    if model.reader is not None:
        return _giving(model.reader, "model")
    return _giving(model.part_list.get_submodule("context.image"), "model.image", but="out.")


def _giving(source: nn.Module, place: str, but: str = "(none)") -> Callable[[nn.Module], None]:
    """Copies weights into a part of a network, all but those whose names begin with a word."""
    given = {key: value for key, value in source.state_dict().items() if not key.startswith(but)}

    def give(module: nn.Module) -> None:
        network = module.get_submodule(place)
        network.load_state_dict({**network.state_dict(), **given})

    return give


def eyes_of(recipe: GenerationRecipe) -> GenerationRecipe:
    """The recipe of a run that gives eyes to a network that knows words: pictures alone, only the encoder learns."""
    asking = replace(recipe.asking, shown=1.0, pictured=1.0, wordless=1.0)
    return replace(
        recipe, learns="seeing", asking=asking, rate=8e-4, matrix_rate=2e-3, average=0.99, evaluate_every=100
    )


def more_of(recipe: GenerationRecipe) -> GenerationRecipe:
    """The recipe of a short run that goes on from weights that know their trade: two thirds of the step size, which
    falls for most of the run."""
    return replace(
        recipe, rate=recipe.rate / 1.5, matrix_rate=recipe.matrix_rate / 1.5, decay=0.7, average=0.99,
        evaluate_every=100,
    )  # fmt: skip


def training_of(
    recipe: GenerationRecipe, examples: Sequence[ListExample], watched: Sequence[ListExample]
) -> ObjectTraining:
    """A task of the loop.

    Raises:
        NeurokError: If pictures are to be learned from and there are none.
    """
    if isinstance(recipe, PictureRecipe) or recipe.learns == "seeing":
        examples, watched = pictured(examples), pictured(watched)
        if not examples or not watched:
            raise NeurokError("There are no pictures to learn from; make some with: neurok data household --pictures.")
    if isinstance(recipe, PictureRecipe):
        return PictureTraining(recipe, examples, watched)
    examples = [one for one in examples if one.build]
    return GenerationTraining(recipe, examples, watched)


SMOKE = {"steps": 20, "evaluate_every": 10, "view": BatchConfig(4)}
RECIPES: Recipes[GenerationRecipe] = Recipes(
    "generation",
    {
        "pictures": PictureRecipe(),
        "list": PartListRecipe(),
        "flow": FlowRecipe(),
        "list-eyes": eyes_of(PartListRecipe()),
        "flow-eyes": eyes_of(FlowRecipe()),
        "pictures-more": more_of(PictureRecipe()),
        "list-more": more_of(PartListRecipe()),
        "flow-more": more_of(FlowRecipe()),
        "pictures-smoke": PictureRecipe(**SMOKE),  # type: ignore[arg-type]
        "list-smoke": PartListRecipe(**SMOKE),  # type: ignore[arg-type]
        "flow-smoke": FlowRecipe(**SMOKE),  # type: ignore[arg-type]
    },
)
