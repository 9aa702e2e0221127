"""What a picture shows: the image encoder with a plain reader that answers questions about the object and its parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from neurok.generation.fields import Field, build_fields, look_fields, whole_fields
from neurok.generation.image_encoder import ImageConfig, ImageEncoder
from neurok.generation.numbers import WIDTH
from neurok.nn.attention import Block
from neurok.nn.norm import LayerNorm

ASKED = ("kind", "style 0", "opening", "relief", "mirror", "count", *(one.name for one in look_fields()))
"""Fields of a part that pictures are asked for."""


@dataclass(frozen=True)
class ReaderConfig:
    """Sizes; chosen for one core."""

    image: ImageConfig = field(default_factory=ImageConfig)
    width: int = 160
    heads: int = 4
    names: int = 16
    """Parts that are asked for in each picture, half of which at least are there if it has so many."""


@cache
def part_fields() -> tuple[Field, ...]:
    """The fields of ``ASKED``."""
    every = {one.name: one for one in (*build_fields(), *look_fields())}
    return tuple(every[name] for name in ASKED)


class PictureReader(nn.Module):
    """The encoder with a plain reader: every question attends to its tokens once."""

    def __init__(self, config: ReaderConfig) -> None:
        super().__init__()
        self.config, width = config, config.width
        self.image = ImageEncoder(width, config.image)
        self.questions = nn.Embedding(build_fields()[0].count, width)  # by name; the first, that of no part, asks all
        self.blocks = nn.ModuleList([Block(width, config.heads, cross=True)])
        self.norm = LayerNorm(width)
        self.whole = nn.ModuleList(nn.Linear(width, one.count) for one in whole_fields())
        self.parts = nn.ModuleList(nn.Linear(width, one.count) for one in part_fields())
        self.present = nn.Linear(width, 1)
        self.numbers = nn.Linear(width, WIDTH)

    def forward(
        self, pictures: Float[Tensor, "B 3 S S"], names: Int[Tensor, "B N"]
    ) -> tuple[Float[Tensor, "B W"], Float[Tensor, "B N W"]]:
        """What is heard of the whole, and of the parts of some names."""
        tokens = self.image(pictures)
        heard = self.questions(torch.cat([torch.zeros_like(names[:, :1]), names], dim=1))
        for block in self.blocks:
            heard = block(heard, tokens)
        heard = self.norm(heard)
        return heard[:, 0], heard[:, 1:]

    @torch.no_grad()
    def categories(self, picture: Float[Tensor, "3 S S"]) -> dict[str, float]:
        """Logarithms of how probable it is that a picture shows each category."""
        whole, _ = self(picture[None], torch.ones(1, 1, dtype=torch.long))
        scores = self.whole[0](whole)[0].log_softmax(dim=-1)
        return dict(zip(whole_fields()[0].words, scores.tolist(), strict=True))

    @torch.no_grad()
    def likeliest(
        self, picture: Float[Tensor, "3 S S"], names: list[str], fields: Sequence[str]
    ) -> dict[str, dict[str, str]]:
        """For each field its likeliest word for parts of some names."""
        asked = torch.tensor([[build_fields()[0].index(name) for name in names]])
        _, parts = self(picture[None], asked)
        found = {}
        for field_name in fields:
            number = ASKED.index(field_name)
            best = self.parts[number](parts[0]).argmax(dim=-1).tolist()
            found[field_name] = {name: part_fields()[number].words[k] for name, k in zip(names, best, strict=True)}
        return found
