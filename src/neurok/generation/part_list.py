"""Writes the list of parts: an autoregressive transformer that chooses words, part by part.

An object is a sequence: the whole, then two places for each part, one for what it is and one for how it looks, so that
the second can look for the words that were said of a part of its name. At each place the fields are chosen in order,
each knowing those before it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from neurok.generation.context import FAR, Conditioning, ContextConfig, PromptContext
from neurok.generation.fields import END, PARTS, Field, appearance_fields, build_fields, whole_fields
from neurok.learned.blocks import Block, LayerNorm, drawn


@dataclass(frozen=True)
class PartListConfig:
    """Sizes; chosen for one core."""

    context: ContextConfig = field(default_factory=ContextConfig)
    width: int = 160
    heads: int = 4
    depth: int = 3
    """Pairs of a causal block and one that attends to what is asked for."""


Hold = Callable[[Field, Sequence[Tensor]], Tensor | None]
"""Called with a field and the choices made before it; says which words may be chosen, everything when nothing."""


class Choice(nn.Module):
    """Fields chosen in order at one place: each sees the place and the choices before it."""

    def __init__(self, fields: tuple[Field, ...], width: int) -> None:
        super().__init__()
        self.fields = fields
        self.words = nn.ModuleList(nn.Embedding(one.count, width) for one in fields)
        self.mixes = nn.ModuleList(
            nn.Sequential(LayerNorm(width), nn.Linear(width, width), nn.GELU(), nn.Linear(width, one.count))
            for one in fields
        )

    def embed(self, chosen: Int[Tensor, "*B F"]) -> Float[Tensor, "*B W"]:
        """All choices of a place as one vector."""
        return sum(words(chosen[..., k]) for k, words in enumerate(self.words))  # type: ignore[return-value]

    def scores(self, place: Float[Tensor, "*B W"], chosen: Int[Tensor, "*B F"]) -> list[Float[Tensor, "*B C"]]:
        """Of every field, given the true choices before it."""
        out = []
        for k, (mix, words) in enumerate(zip(self.mixes, self.words, strict=True)):
            out.append(mix(place))
            place = place + words(chosen[..., k])
        return out

    @torch.no_grad()
    def draw(
        self,
        place: Float[Tensor, "B W"],
        warmth: float,
        generator: torch.Generator,
        hold: Hold | None = None,
    ) -> Int[Tensor, "B F"]:
        """One choice after the other, among the words that ``hold`` leaves."""
        out: list[Tensor] = []
        for one, mix, words in zip(self.fields, self.mixes, self.words, strict=True):
            scores = mix(place)
            allowed = hold(one, out) if hold is not None else None
            if allowed is not None:
                scores = scores.masked_fill(~allowed, FAR)
            shares = functional.softmax(scores / max(warmth, 1e-3), dim=-1)
            number = torch.multinomial(shares, 1, generator=generator)[:, 0]
            out.append(number)
            place = place + words(number)
        return torch.stack(out, dim=-1)


@dataclass(frozen=True, eq=False)
class Lists:
    """A batch of part lists: choices of the whole, and of each part; lists end with a part named ``(end)``."""

    whole: Int[Tensor, "B FW"]
    build: Int[Tensor, "B P FB"]
    look: Int[Tensor, "B P FL"]
    count: Int[Tensor, " B"]
    """Parts of each object, without the end."""

    forced: Int[Tensor, " B"] | None = None
    """Of lists that were drawn: parts that wishes put in."""


class PartListModel(nn.Module):
    """The network."""

    def __init__(self, config: PartListConfig) -> None:
        super().__init__()
        self.config = config
        width = config.width
        self.context = PromptContext(config.context)
        self.whole = Choice(whole_fields(), width)
        self.build = Choice(build_fields(), width)
        self.look = Choice(appearance_fields(), width)
        self.start = drawn(width, spread=0.02)
        self.place = drawn(2 * (PARTS + 1) + 1, width, spread=0.02)
        self.causal = nn.ModuleList(Block(width, config.heads) for _ in range(config.depth))
        self.cross = nn.ModuleList(Block(width, config.heads, cross=True) for _ in range(config.depth))
        self.norm = LayerNorm(width)

    def places(self, inputs: Float[Tensor, "B N W"], context: Tensor, bias: Tensor) -> Float[Tensor, "B N W"]:
        """What is known at each place of the sequence, from everything before it."""
        count = inputs.shape[1]
        x = inputs + self.place[:count]
        ahead = torch.full((count, count), FAR, dtype=x.dtype).triu(1)[None, None]
        for causal, cross in zip(self.causal, self.cross, strict=True):
            x = cross(causal(x, bias=ahead), context, bias)
        return self.norm(x)

    def forward(self, lists: Lists, asked: Conditioning) -> dict[str, Float[Tensor, "B *P"]]:
        """Minus log probability of every choice, by field; zero behind the end."""
        context, bias = self.context(asked)
        parts = lists.build.shape[1]
        pairs = torch.stack([self.build.embed(lists.build), self.look.embed(lists.look)], dim=2).flatten(1, 2)
        start = self.start.expand(len(pairs), 1, -1)
        inputs = torch.cat([start, self.whole.embed(lists.whole)[:, None], pairs[:, :-1]], dim=1)
        known = self.places(inputs, context, bias)
        number = torch.arange(parts)[None]
        is_part = (number < lists.count[:, None]).to(known.dtype)
        is_named = (number <= lists.count[:, None]).to(known.dtype)
        out: dict[str, Tensor] = {}
        for one, scores in zip(self.whole.fields, self.whole.scores(known[:, 0], lists.whole), strict=True):
            out[one.name] = _surprise(scores, lists.whole[:, len(out)])
        for choice, places, truth in (
            (self.build, known[:, 1::2], lists.build),
            (self.look, known[:, 2::2], lists.look),
        ):
            for k, (one, scores) in enumerate(zip(choice.fields, choice.scores(places, truth), strict=True)):
                out[one.name] = _surprise(scores, truth[..., k]) * (is_named if one.name == "name" else is_part)
        return out


def _surprise(scores: Float[Tensor, "*B C"], truth: Int[Tensor, "*B"]) -> Float[Tensor, "*B"]:
    return functional.cross_entropy(scores.flatten(0, -2), truth.flatten(), reduction="none").view(truth.shape)


def stack_lists(whole: list[list[int]], build: list[list[list[int]]], look: list[list[list[int]]]) -> Lists:
    """Lists of different lengths as one batch."""
    most = max(map(len, build)) + 1
    end = [build_fields()[0].index(END), *([0] * (len(build_fields()) - 1))]
    rows = [parts + [end] * (most - len(parts)) for parts in build]
    looks = [parts + [[0] * len(appearance_fields())] * (most - len(parts)) for parts in look]
    counts = torch.tensor([len(parts) for parts in build])
    return Lists(torch.tensor(whole), torch.tensor(np.array(rows)), torch.tensor(np.array(looks)), counts)
