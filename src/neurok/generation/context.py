"""What an object is asked for with, as tokens: the words of a prompt, or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from neurok.generation.lexicon import LONGEST, READINGS, features, meaning_count, read
from neurok.generation.sentence_states import WIDTH as STATE
from neurok.generation.sentence_states import is_installed, language, word_states
from neurok.learned.blocks import Block, LayerNorm, drawn

FAR = -1e4
"""Added to the scores of what must not be attended to."""


@dataclass(frozen=True)
class ContextConfig:
    """Sizes; chosen for one core."""

    width: int = 160
    heads: int = 4
    depth: int = 2
    """Blocks over the words."""


@dataclass(frozen=True, eq=False)
class Conditioning:
    """A batch of prompts."""

    states: Float[Tensor, "B N 384"]
    """Of the sentence encoder; zeros where it is not there."""

    meanings: Int[Tensor, "B N R"]
    values: Float[Tensor, "B N 6"]
    has_word: Bool[Tensor, "B N"]

    def rows(self, keep: Tensor) -> Conditioning:
        """Some of the prompts."""
        return Conditioning(self.states[keep], self.meanings[keep], self.values[keep], self.has_word[keep])


class PromptContext(nn.Module):
    """Tokens of what is asked for, and the bias that hides those that are not there."""

    def __init__(self, config: ContextConfig) -> None:
        super().__init__()
        width = config.width
        self.state = nn.Linear(STATE, width)
        self.meaning = nn.Embedding(meaning_count(), width, padding_idx=0)
        self.value = nn.Linear(6, width)
        self.place = drawn(LONGEST, width, spread=0.02)
        self.start = drawn(1, 1, width, spread=0.02)
        self.blocks = nn.ModuleList(Block(width, config.heads) for _ in range(config.depth))
        self.norm = LayerNorm(width)

    def forward(self, asked: Conditioning) -> tuple[Float[Tensor, "B M W"], Float[Tensor, "B 1 1 M"]]:
        count = asked.states.shape[1]
        x = self.state(asked.states) + self.meaning(asked.meanings).sum(dim=2) + self.value(asked.values)
        x = torch.cat([self.start.expand(len(x), -1, -1), x + self.place[:count]], dim=1)
        there = torch.cat([torch.ones_like(asked.has_word[:, :1]), asked.has_word], dim=1)
        bias = (~there)[:, None, None].to(x.dtype) * FAR
        for block in self.blocks:
            x = block(x, bias=bias)
        return self.norm(x), bias


@dataclass(frozen=True, eq=False)
class Words:
    """One caption as the network is given it."""

    states: np.ndarray
    """Of the sentence encoder, half precision (N, 384)."""

    meanings: Int[np.ndarray, "N R"]
    values: Float[np.ndarray, "N 6"]


def words_of(texts: Sequence[str]) -> list[Words]:
    """Prompts as features; without the sentence encoder its states are zero."""
    spans = [read(text, language()) for text in texts]
    seen = [features(one) for one in spans]
    if is_installed():
        states = [state.astype(np.float16) for state in word_states(list(texts))]
    else:
        states = [np.zeros((len(one.meanings), STATE), dtype=np.float16) for one in seen]
    return [Words(state, one.meanings, one.values) for state, one in zip(states, seen, strict=True)]


def conditioning_of(words: Sequence[Words | None]) -> Conditioning:
    """Prompts as a batch; ``None`` says nothing."""
    most = max([1, *(len(one.meanings) for one in words if one is not None)])
    states = torch.zeros(len(words), most, STATE)
    meanings = torch.zeros(len(words), most, READINGS, dtype=torch.int64)
    values = torch.zeros(len(words), most, 6)
    there = torch.zeros(len(words), most, dtype=torch.bool)
    for k, one in enumerate(words):
        if one is not None:
            count = len(one.meanings)
            states[k, :count] = torch.from_numpy(one.states.astype(np.float32))
            meanings[k, :count] = torch.from_numpy(one.meanings)
            values[k, :count] = torch.from_numpy(one.values)
            there[k, :count] = True
    return Conditioning(states, meanings, values, there)
