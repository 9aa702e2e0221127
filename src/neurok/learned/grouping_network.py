"""Which pieces of a raw mesh are one body, and which of them move: the encoder of the joint model, asked about pieces.

Pieces are shown to the encoder as parts. Two more layers attend with a bias from what tells pieces of one body: copies
of one shape, one inside the other, sizes, common planes, contact. Three heads answer: whether and how the body of a
piece moves, whether two pieces are of one body, and whether anything moves at all.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from neurok.learned.blocks import Block, LayerNorm
from neurok.learned.joint_network import JointConfig, JointModel, Parts, pair_features
from neurok.learned.part_features import PAIR

STATIC, TURNS, SLIDES = 0, 1, 2
"""What the body of a piece does: it belongs to the base, or it turns or slides against what carries it."""

LIKENESS = 8
"""Figures of each ordered pair beside those of the joint model."""

ABSENT = -1e4
"""Logit of what is padding."""


@dataclass(frozen=True)
class PieceConfig:
    encoder: JointConfig = field(default_factory=JointConfig)
    """Of the joint model whose encoder is taken over."""

    depth: int = 2
    """Layers on top of it."""

    pair_width: int = 64
    """Width of the head for pairs."""


class PieceAnswers(NamedTuple):
    """Logits."""

    moves: Float[Tensor, "B P 3"]
    """Of static, turning and sliding."""

    affinity: Float[Tensor, "B P P"]
    """That two pieces are of one body; symmetric."""

    anything: Float[Tensor, " B"]
    """That anything moves."""


class PieceModel(nn.Module):
    """Answers about the pieces of a batch of objects; the order of pieces does not matter."""

    def __init__(self, config: PieceConfig) -> None:
        super().__init__()
        self.config = config
        width, heads, pair = config.encoder.width, config.encoder.heads, 2 * PAIR + 9 + LIKENESS
        self.encoder = JointModel(config.encoder)
        self.pair_net = nn.Sequential(nn.Linear(pair, 48), nn.GELU(), nn.Linear(48, config.depth * heads))
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(config.depth)])
        self.norm = LayerNorm(width)
        self.moves_out = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, 3))
        self.anything_out = nn.Sequential(nn.Linear(2 * width, width), nn.GELU(), nn.Linear(width, 1))
        self.one = nn.Linear(width, config.pair_width)
        self.both = nn.Linear(width, config.pair_width)
        self.pair_in = nn.Linear(pair, config.pair_width)
        self.affinity_out = nn.Sequential(
            nn.GELU(), nn.Linear(config.pair_width, config.pair_width), nn.GELU(), nn.Linear(config.pair_width, 1)
        )
        # The heads for joints are those of another network; they have nothing to say of pieces.
        for name in [name for name, _ in self.encoder.named_children() if name not in ENCODING]:
            delattr(self.encoder, name)

    def forward(self, parts: Parts) -> PieceAnswers:
        pair = torch.cat([pair_features(parts), likeness(parts)], dim=-1)
        return self.answer(self.encoder.encode(parts).tokens, pair, parts.present)

    def answer(
        self, tokens: Float[Tensor, "B P W"], pair: Float[Tensor, "B P P E"], present: Bool[Tensor, "B P"]
    ) -> PieceAnswers:
        """Answers from what the encoder makes of the pieces and from the figures of their pairs."""
        layers, heads = self.config.depth, self.config.encoder.heads
        bias = self.pair_net(pair).unflatten(-1, (layers, heads)).permute(3, 0, 4, 1, 2)
        bias = bias.masked_fill(~present[None, :, None, None, :], ABSENT)
        for layer, block in enumerate(self.blocks):
            tokens = block(tokens, bias=bias[layer])
        tokens = self.norm(tokens)
        here = present[..., None].to(tokens.dtype)
        mean = (tokens * here).sum(dim=1) / here.sum(dim=1)
        most = (tokens + ABSENT * (1.0 - here)).amax(dim=1)
        one, both, seen = self.one(tokens), self.both(tokens), self.pair_in(pair)
        hidden = one[:, :, None] + one[:, None] + both[:, :, None] * both[:, None] + seen + seen.transpose(1, 2)
        anything = self.anything_out(torch.cat([mean, most], dim=-1))[..., 0]
        return PieceAnswers(self.moves_out(tokens), self.affinity_out(hidden)[..., 0], anything)


ENCODING = ("point_net", "part_in", "pair_net", "blocks", "norm")
"""Modules of the joint model that ``encode`` needs."""


def likeness(parts: Parts) -> Float[Tensor, "B P P E"]:
    """Whether two pieces are copies, their sizes, whether one holds the other, and which middles are level.

    Scales are part of the weights, as in the joint model.
    """
    low, high = parts.points.amin(dim=2), parts.points.amax(dim=2)
    extent = (high - low).clamp_min(1e-3)
    sides, area = extent.sort(dim=-1).values.log(), parts.areas.clamp_min(1e-6).log()
    shape = (sides[:, :, None] - sides[:, None]).abs().sum(dim=-1)
    larger = area[:, :, None] - area[:, None]
    copies = torch.exp(-2.0 * (shape + larger.abs()))
    inside = torch.minimum(low[:, :, None] - low[:, None], high[:, None] - high[:, :, None]).amin(dim=-1)
    middle, longest = (low + high) / 2, extent.amax(dim=-1)
    level = torch.exp(-(((middle[:, :, None] - middle[:, None]) / 0.02) ** 2))
    longer = longest[:, :, None] - longest[:, None]
    columns = [copies, shape.clamp_max(4.0) / 2.0, larger / 4.0, 4.0 * inside.clamp(-1.0, 1.0), longer]
    return torch.cat([torch.stack(columns, dim=-1), level], dim=-1)
