"""Layer normalisation, written out.

Embeddings of points in the unit box.

First values of parameters, and networks that are built without any because a file fills them.

Self- and cross-attention blocks.

Attention is written out instead of calling the fused kernel: the simulator needs forward-mode derivatives of any
order, which the fused CPU kernel does not have.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode


class LayerNorm(nn.Module):
    """Like ``torch.nn.LayerNorm``, whose forward-mode derivative of a forward-mode derivative is wrong in torch 2.13.

    The Christoffel term of the simulator is just that, so the sum is spelled out; the test compares it with finite
    differences.
    """

    def __init__(self, width: int, floor: float = 1e-5) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))
        self.floor = floor

    def forward(self, x: Float[Tensor, "*B W"]) -> Float[Tensor, "*B W"]:
        centred = x - x.mean(dim=-1, keepdim=True)
        scale = (centred.square().mean(dim=-1, keepdim=True) + self.floor).rsqrt()
        return centred * scale * self.weight + self.bias


def fourier(points: Float[Tensor, "*B D"], octaves: int = 6) -> Float[Tensor, "*B E"]:
    """The coordinates with their sines and cosines at frequencies 2^i pi."""
    rates = math.pi * 2.0 ** torch.arange(octaves, dtype=points.dtype, device=points.device)
    angles = (points[..., None] * rates).flatten(-2)
    return torch.cat([points, angles.sin(), angles.cos()], dim=-1)


def fourier_width(dimension: int, octaves: int = 6) -> int:
    """Length of the embedding of ``dimension`` coordinates."""
    return dimension * (1 + 2 * octaves)


def drawn(*shape: int, spread: float) -> nn.Parameter:
    """A parameter whose first values are drawn about zero."""
    return nn.Parameter(nn.init.normal_(torch.empty(*shape), std=spread))


class WithoutFirstValues(TorchFunctionMode):
    """Inside it, ``torch.nn.init`` does nothing; every parameter has to be set afterwards.

    Drawing values that a file overwrites costs time, and on the meta device it loads the whole compiler of torch, two
    seconds of a process.
    """

    def __torch_function__(
        self, func: Callable[..., Any], types: Iterable[type], args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if getattr(func, "__module__", None) == nn.init.__name__:
            return args[0] if args else kwargs["tensor"]
        return func(*args, **(kwargs or {}))


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
