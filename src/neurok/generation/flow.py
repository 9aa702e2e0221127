"""Fills a part list with numbers: a rectified flow from noise to where parts stand and what shape they have."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from neurok.generation.context import FAR, Conditioning, ContextConfig, PromptContext
from neurok.generation.fields import CODED_KINDS, PARTS, appearance_fields, build_fields, whole_fields
from neurok.generation.numbers import WIDTH
from neurok.generation.part_list import Choice, Lists
from neurok.learned.blocks import Attention, LayerNorm, drawn


@dataclass(frozen=True)
class FlowConfig:
    """Sizes; chosen for one core."""

    context: ContextConfig = field(default_factory=lambda: ContextConfig(width=192))
    width: int = 192
    heads: int = 6
    depth: int = 5
    steps: int = 16
    """Euler steps from noise to numbers."""


Project = Callable[[float, Float[Tensor, "B P N"]], Float[Tensor, "B P N"] | None]
"""Called with the share of the way that is gone and the numbers it leads to; says by how much they should change."""


class FlowBlock(nn.Module):
    """Attention among parts, to the parts' parents and to what is asked for; scaled by the time (adaptive norm)."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList(LayerNorm(width) for _ in range(3))
        self.among = Attention(width, heads)
        self.asked = Attention(width, heads)
        self.rise = nn.Linear(width, 4 * width)
        self.fall = nn.Linear(2 * width, width)
        self.time = nn.Linear(width, 6 * width)
        nn.init.zeros_(self.time.weight)
        nn.init.zeros_(self.time.bias)

    def forward(self, x: Tensor, time: Tensor, hidden: Tensor, context: Tensor, bias: Tensor) -> Tensor:
        shift_a, scale_a, gate_a, shift_f, scale_f, gate_f = self.time(time)[:, None].chunk(6, dim=-1)
        y = self.norms[0](x) * (1 + scale_a) + shift_a
        x = x + (1 + gate_a) * self.among(y, y, hidden)
        x = x + self.asked(self.norms[1](x), context, bias)
        gate, value = self.rise(self.norms[2](x) * (1 + scale_f) + shift_f).chunk(2, dim=-1)
        return x + (1 + gate_f) * self.fall(nn.functional.gelu(gate) * value)


class FlowModel(nn.Module):
    """The velocity from noise to numbers, given a list, what is asked for and how far it has come."""

    def __init__(self, config: FlowConfig) -> None:
        super().__init__()
        self.config = config
        width = config.width
        self.context = PromptContext(config.context)
        self.whole = Choice(whole_fields(), width)
        self.build = Choice(build_fields(), width)
        self.look = Choice(appearance_fields(), width)
        for choice in (self.whole, self.build, self.look):
            del choice.mixes  # only the embeddings of a list are needed here
        self.enter = nn.Linear(WIDTH, width)
        self.place = drawn(PARTS + 1, width, spread=0.02)
        self.parent = nn.Linear(width, width)
        self.clock = nn.Sequential(nn.Linear(64, width), nn.GELU(), nn.Linear(width, width))
        self.layers = nn.ModuleList(FlowBlock(width, config.heads) for _ in range(config.depth))
        self.norm = LayerNorm(width)
        self.leave = nn.Linear(width, WIDTH)
        nn.init.zeros_(self.leave.weight)
        nn.init.zeros_(self.leave.bias)
        kinds = len(CODED_KINDS)
        self.mean: Tensor
        self.spread: Tensor
        self.register_buffer("mean", torch.zeros(kinds, WIDTH))
        self.register_buffer("spread", torch.ones(kinds, WIDTH))

    def about(self, lists: Lists) -> Float[Tensor, "B P W"]:
        """What the list says of each part and of its parent."""
        own = self.build.embed(lists.build) + self.look.embed(lists.look)
        own = own + self.whole.embed(lists.whole)[:, None] + self.place[: own.shape[1]]
        above = (lists.build[..., 1] - 1).clamp(0, own.shape[1] - 1)
        has = (lists.build[..., 1:2] > 0).to(own.dtype)
        return own + self.parent(torch.take_along_dim(own, above[..., None], dim=1) * has)

    def velocity(
        self,
        x: Float[Tensor, "B P N"],
        time: Float[Tensor, " B"],
        about: Float[Tensor, "B P W"],
        is_part: Bool[Tensor, "B P"],
        context: Float[Tensor, "B M W"],
        bias: Float[Tensor, "B 1 1 M"],
    ) -> Float[Tensor, "B P N"]:
        hidden = (~is_part)[:, None, None].to(x.dtype) * FAR
        rates = torch.exp(-math.log(1000.0) * torch.arange(32, dtype=x.dtype) / 31)
        angles = 1000.0 * time[:, None] * rates
        clock = self.clock(torch.cat([angles.sin(), angles.cos()], dim=-1))
        y = about + self.enter(x)
        for layer in self.layers:
            y = layer(y, clock, hidden, context, bias)
        return self.leave(self.norm(y))

    def is_part(self, lists: Lists) -> Bool[Tensor, "B P"]:
        return torch.arange(lists.build.shape[1])[None] < lists.count[:, None]

    @torch.no_grad()
    def sample(
        self,
        lists: Lists,
        asked: Conditioning,
        used: Float[Tensor, "B P N"],
        generator: torch.Generator,
        *,
        warmth: float = 1.0,
        given: Float[Tensor, "B P N"] | None = None,
        share: float = 0.0,
        is_kept: Bool[Tensor, "B P"] | None = None,
        project: Project | None = None,
    ) -> Float[Tensor, "B P N"]:
        """Numbers for a list, standardised; those that mean nothing stay zero.

        Args:
            warmth: Spread of the noise that it starts from; less is more usual.
            given: Known numbers ...
            share: ... of which the flow starts with so large a share, the rest being noise ...
            is_kept: ... and the parts that have to have them; the others are filled in to fit.
            project: Changes what the numbers are about to become; the rest of the flow goes on from there.
        """
        about, is_part = self.about(lists), self.is_part(lists)
        context, bias = self.context(asked)
        given = torch.zeros_like(used) if given is None else given
        noise = torch.randn(used.shape, generator=generator) * used
        noise[..., 0] = noise[:, :1, 0]  # the scale of all parts is the same number
        x = (1.0 - share) * warmth * noise + share * given
        steps = max(1, math.ceil((1.0 - share) * self.config.steps))
        for step in range(steps):
            time = share + (1.0 - share) * step / steps
            if is_kept is not None:
                x = torch.where(is_kept[..., None], (1.0 - time) * noise + time * given, x)
            speed = self.velocity(x, torch.full((len(x),), time), about, is_part, context, bias)
            x = (x + (1.0 - share) / steps * speed) * used
            x = x + used * _pull(project, share + (1.0 - share) * (step + 1) / steps, x, speed)
        return x if is_kept is None else torch.where(is_kept[..., None], given, x)


def _pull(project: Project | None, time: float, x: Tensor, speed: Tensor) -> Tensor:
    """The change of the numbers at the end of the way, as much of it as belongs to this time."""
    change = None if project is None else project(time, x + (1.0 - time) * speed)
    return torch.zeros_like(x) if change is None else time * change
