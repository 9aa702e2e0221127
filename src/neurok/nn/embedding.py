"""Embeddings of points in the unit box."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor


def fourier(points: Float[Tensor, "*B D"], octaves: int = 6) -> Float[Tensor, "*B E"]:
    """The coordinates with their sines and cosines at frequencies 2^i pi."""
    rates = math.pi * 2.0 ** torch.arange(octaves, dtype=points.dtype, device=points.device)
    angles = (points[..., None] * rates).flatten(-2)
    return torch.cat([points, angles.sin(), angles.cos()], dim=-1)


def fourier_width(dimension: int, octaves: int = 6) -> int:
    """Length of the embedding of ``dimension`` coordinates."""
    return dimension * (1 + 2 * octaves)
