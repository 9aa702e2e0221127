"""Self- and cross-attention blocks.

Attention is written out instead of calling the fused kernel: the simulator needs forward-mode derivatives of any
order, which the fused CPU kernel does not have.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from neurok.nn.norm import LayerNorm


class Attention(nn.Module):
    """Multi-head attention from ``x`` to ``context`` with an additive bias on the scores."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        assert width % heads == 0
        self.heads = heads
        self.query = nn.Linear(width, width, bias=False)
        self.key_value = nn.Linear(width, 2 * width, bias=False)
        self.out = nn.Linear(width, width)

    def forward(
        self,
        x: Float[Tensor, "B N W"],
        context: Float[Tensor, "B M W"],
        bias: Float[Tensor, "#B #h #N M"] | None = None,
    ) -> Float[Tensor, "B N W"]:
        split = lambda t: t.unflatten(-1, (self.heads, -1)).transpose(1, 2)  # noqa: E731
        query, (key, value) = split(self.query(x)), map(split, self.key_value(context).chunk(2, dim=-1))
        scores = query @ key.transpose(-1, -2) * query.shape[-1] ** -0.5
        if bias is not None:
            scores = scores + bias
        return self.out((scores.softmax(dim=-1) @ value).transpose(1, 2).flatten(2))


class Block(nn.Module):
    """Pre-norm attention followed by a gated feed-forward layer; self-attention unless a context is given."""

    def __init__(self, width: int, heads: int, expansion: int = 2, cross: bool = False) -> None:
        super().__init__()
        self.norm = LayerNorm(width)
        self.context_norm = LayerNorm(width) if cross else None
        self.attention = Attention(width, heads)
        self.feed_norm = LayerNorm(width)
        self.rise = nn.Linear(width, 2 * expansion * width)
        self.fall = nn.Linear(expansion * width, width)

    def forward(
        self,
        x: Float[Tensor, "B N W"],
        context: Float[Tensor, "B M W"] | None = None,
        bias: Float[Tensor, "#B #h #N M"] | None = None,
    ) -> Float[Tensor, "B N W"]:
        normed = self.norm(x)
        if self.context_norm is not None:
            assert context is not None
            source = self.context_norm(context)
        else:
            source = normed
        x = x + self.attention(normed, source, bias)
        gate, value = self.rise(self.feed_norm(x)).chunk(2, dim=-1)
        return x + self.fall(torch.nn.functional.gelu(gate) * value)
