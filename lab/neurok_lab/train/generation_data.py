"""What generation learns from: objects as lists and numbers, captions as features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
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
from neurok.generation.numbers import WIDTH, Standard, row_of, scale_of, used_by
from neurok.generation.part_list import Lists, stack_lists
from neurok_lab.data.captions import captions
from neurok_lab.data.household import number_of, read_households

KIND = [field.name for field in build_fields()].index("kind")


@dataclass(frozen=True, eq=False)
class ListExample:
    """One object: its list, its numbers, and what is said of it."""

    name: str
    whole: list[int]
    build: list[list[int]]
    look: list[list[int]]
    rows: Float[np.ndarray, "P W"]
    used: Float[np.ndarray, "P W"]
    words: tuple[Words, ...] = ()

    @property
    def kinds(self) -> Int[np.ndarray, " P"]:
        return np.array([part[KIND] for part in self.build])


# How often what is asked for is hidden, so that every mixture of it is learned.
NOTHING = 0.08  # chance that a prompt is empty
PLAIN_WORDS = 0.15  # chance that the sentence encoder is not there; only words of the tables are known then
NO_TABLES = 0.12  # chance that the tables are not there
FORGET = 0.08  # chance that a single word is in no table


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


def draw_asked(examples: Sequence[ListExample], rng: np.random.Generator) -> Conditioning:
    """One prompt for each object, with parts of it hidden now and then."""
    return conditioning_of([_hidden(one, rng) if one.words and rng.random() >= NOTHING else None for one in examples])


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
