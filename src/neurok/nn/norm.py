"""Layer normalisation, written out."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn


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
