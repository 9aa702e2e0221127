"""Prompts as the networks are given them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from neurok.generation.context import Asked
from neurok.generation.lexicon import READINGS, features, read
from neurok.generation.sentence_states import WIDTH as STATE
from neurok.generation.sentence_states import is_installed, language, word_states


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


def asked_by(words: Sequence[Words | None], pictures: Mapping[int, Tensor] | None = None) -> Asked:
    """Prompts as a batch; ``None`` says nothing. Pictures are given for some of them by number."""
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
    if not pictures:
        return Asked(states, meanings, values, there)
    stack = torch.zeros(len(words), *next(iter(pictures.values())).shape)
    for k, picture in pictures.items():
        stack[k] = picture
    seen = torch.tensor([k in pictures for k in range(len(words))])
    return Asked(states, meanings, values, there, stack, seen)
