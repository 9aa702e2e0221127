"""What generation learns from: objects as lists and numbers, captions as features, pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor

from neurok.catalogue.categories import split_of
from neurok.catalogue.parts import Assembly
from neurok.errors import NeurokError
from neurok.generation.context import Conditioning, Words, conditioning_of, words_of
from neurok.generation.fields import (
    appearance_fields,
    build_fields,
    can_be_listed,
    chosen,
    part_words,
    whole_fields,
    whole_words,
)
from neurok.generation.framing import framed
from neurok.generation.numbers import WIDTH, Standard, row_of, scale_of, used_by
from neurok.generation.part_list import Lists, stack_lists
from neurok_lab.data.augmentation import AugmentationConfig, augment
from neurok_lab.data.captions import captions
from neurok_lab.data.household import number_of, read_households
from neurok_lab.data.household_pictures import PictureSet

KIND = [field.name for field in build_fields()].index("kind")


@dataclass(frozen=True, eq=False)
class ListExample:
    """One object: its list, its numbers, what is said of it, and how it looks."""

    name: str
    whole: list[int]
    build: list[list[int]]
    look: list[list[int]]
    rows: Float[np.ndarray, "P W"]
    used: Float[np.ndarray, "P W"]
    words: tuple[Words, ...] = ()
    pictures: UInt8[np.ndarray, "V H H 4"] | None = None

    @property
    def kinds(self) -> Int[np.ndarray, " P"]:
        return np.array([part[KIND] for part in self.build])


# How often what is asked for is hidden, so that every mixture of it is learned.
NOTHING = 0.08  # chance that a prompt is empty
PLAIN_WORDS = 0.15  # chance that the sentence encoder is not there; only words of the tables are known then
NO_TABLES = 0.12  # chance that the tables are not there
FORGET = 0.08  # chance that a single word is in no table


@dataclass(frozen=True)
class AskConfig:
    """How often objects are asked for by their pictures."""

    shown: float = 0.5
    """Share of a batch that is drawn from objects with pictures, if there are any. Without it a few pictures among many
    objects were not learned from at all."""

    pictured: float = 0.9
    """Chance that one of these is asked for with its picture ..."""

    wordless: float = 0.75
    """... and that nothing is said besides."""


ASKING = AskConfig()

PHOTOGRAPHS = AugmentationConfig(
    plain=0.85, scale=(0.92, 1.06), shift=0.03, turn=3.0, still=0.3, brightness=(0.85, 1.08), contrast=0.1,
    saturation=0.1, hue=3.0, greyscale=0.0, blur=0.1, noise=0.01, compressed=0.1,
)  # fmt: skip
"""What pictures look like after ``photo`` has cut them out, or not where the background is not plain."""


def example_of(assembly: Assembly, spoken: Sequence[Words] = ()) -> ListExample:
    """An object as numbers."""
    scale = scale_of(assembly)
    words = [part_words(part) for part in assembly.parts]
    return ListExample(
        assembly.name,
        chosen(whole_fields(), whole_words(assembly)),
        [chosen(build_fields(), row) for row in words],
        [chosen(appearance_fields(), row) for row in words],
        np.stack([row_of(part, scale) for part in assembly.parts]),
        np.stack([used_by(row) for row in words]),
        tuple(spoken),
    )


def read_examples(folder: Path, said: int, seed: int, split: str, batch: int = 64) -> list[ListExample]:
    """All objects of a store that belong to a split, each with so many captions, which may be none."""
    assemblies = [one for one in read_households(folder) if can_be_listed(one) and split_of(number_of(one)) == split]
    if not assemblies:
        raise NeurokError(f"'{folder}' holds no household objects for {split}; make some with: neurok data household")
    texts = [caption.text for one in assemblies for caption in captions(one, seed, said)] if said else []
    order = sorted(range(len(texts)), key=lambda k: len(texts[k]))  # those of one length are encoded together
    spoken: list[Any] = [None] * len(texts)
    for start in range(0, len(texts), batch):
        some = order[start : start + batch]
        for k, words in zip(some, words_of([texts[k] for k in some]), strict=True):
            spoken[k] = words
    return [example_of(one, spoken[said * k : said * (k + 1)]) for k, one in enumerate(assemblies)]


def standard_of(examples: Sequence[ListExample]) -> Standard:
    """Means and spreads of the numbers of all parts."""
    rows, used = np.concatenate([e.rows for e in examples]), np.concatenate([e.used for e in examples])
    return Standard.of(rows, used, np.concatenate([e.kinds for e in examples]))


def lists_of(examples: Sequence[ListExample]) -> Lists:
    return stack_lists([e.whole for e in examples], [e.build for e in examples], [e.look for e in examples])


def numbers_of(
    examples: Sequence[ListExample], standard: Standard
) -> tuple[Float[Tensor, "B P W"], Float[Tensor, "B P W"]]:
    """Standardised numbers and which of them mean something, one row more than the longest list."""
    most = max(len(e.rows) for e in examples) + 1
    rows, used = np.zeros((len(examples), most, WIDTH)), np.zeros((len(examples), most, WIDTH))
    for k, example in enumerate(examples):
        count = len(example.rows)
        rows[k, :count] = np.clip(standard.to(example.rows, example.kinds), -CLIP, CLIP)
        used[k, :count] = example.used
    return torch.tensor(rows * used, dtype=torch.float32), torch.tensor(used, dtype=torch.float32)


CLIP = 5.0
"""Standard deviations beyond which a number is drawn in: rare ones would rule the loss."""


def draw_asked(
    examples: Sequence[ListExample], rng: np.random.Generator, generator: torch.Generator, asking: AskConfig = ASKING
) -> Conditioning:
    """One prompt for each object, with parts of it hidden now and then."""
    words: list[Words | None] = []
    raw: dict[int, np.ndarray] = {}
    for number, example in enumerate(examples):
        if example.pictures is not None and rng.random() < asking.pictured:
            raw[number] = example.pictures[rng.integers(len(example.pictures))]
        is_silent = rng.random() < (asking.wordless if number in raw else NOTHING)
        words.append(None if is_silent or not example.words else _hidden(example, rng))
    pictures: dict[int, Tensor] = {}
    if raw:
        changed = augment(torch.from_numpy(np.stack(list(raw.values()))), generator, PHOTOGRAPHS)
        pictures = dict(zip(raw, changed, strict=True))
    return conditioning_of(words, pictures)


def _hidden(example: ListExample, rng: np.random.Generator) -> Words:
    one = example.words[rng.integers(len(example.words))]
    states, meanings, values = one.states, one.meanings, one.values
    way = rng.random()
    if way < PLAIN_WORDS:
        states = np.zeros_like(states)
    elif way < PLAIN_WORDS + NO_TABLES:
        meanings, values = np.zeros_like(meanings), np.zeros_like(values)
    else:
        keep = (rng.random(len(meanings)) >= FORGET)[:, None]
        meanings, values = meanings * keep, (values * keep).astype(np.float32)
    return Words(states, meanings, values)


def unlisted(examples: Sequence[ListExample], folders: Sequence[Path]) -> list[ListExample]:
    """Objects of which there are pictures but no list of parts: of these only what they are can be learned."""
    store = PictureSet.open(*folders)
    numbers, listed = store.of_object(), {one.name for one in examples}
    out = []
    for name in numbers.keys() - listed:
        words = {field.name: "" for field in whole_fields()} | {"category": store.rows[numbers[name][0]].category}
        pictures = framed(torch.from_numpy(store.batch(numbers[name]))).numpy()
        nothing = np.zeros((0, WIDTH))
        out.append(ListExample(name, chosen(whole_fields(), words), [], [], nothing, nothing, pictures=pictures))
    return sorted(out, key=lambda one: one.name)


def with_pictures(examples: Sequence[ListExample], folders: Sequence[Path]) -> list[ListExample]:
    """The same examples, with pictures where the stores have some of that name, framed as after a cut-out."""
    store = PictureSet.open(*folders)
    numbers = store.of_object()
    return [
        replace(one, pictures=framed(torch.from_numpy(store.batch(numbers[one.name]))).numpy())
        if one.name in numbers
        else one
        for one in examples
    ]
