"""Places a hinge may sit: corners, edges and middles of the part and of its contact, seen along the axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

if TYPE_CHECKING:
    from neurok.articulation.network import Parts

GROUPS = ("box", "inset", "middle", "contact", "contact middle", "vote")
_COUNTS = (9, 4, 1, 9, 1, 1)
OPTION_FEATURES = 11
"""Groups of options, how many each has, and the figures of an option: the weights were trained with these."""


class Pivots(NamedTuple):
    options: Float[Tensor, "B P C 3"]
    features: Float[Tensor, "B P C E"]
    groups: Float[Tensor, "C G"]


def across(parts: Parts, direction: Float[Tensor, "B P 3"]) -> tuple[Float[Tensor, "B P 3"], Float[Tensor, "B P 3"]]:
    """Two unit directions that span the plane across an axis, along flat sides of the part where it has any."""
    dots = torch.einsum("bpkd,bpd->bpk", parts.directions, direction).abs()
    level = (dots < 0.1).to(dots.dtype) * (1.0 + (parts.sources == 1).to(dots.dtype)) - dots
    best = level.masked_fill(parts.sources < 0, -10.0).argmax(dim=2)
    first = parts.directions.gather(2, best[..., None, None].expand(-1, -1, 1, 3))[:, :, 0]
    first = first - direction * (first * direction).sum(dim=-1, keepdim=True)
    first = first / first.norm(dim=-1, keepdim=True).clamp_min(1e-6)
    return first, torch.linalg.cross(direction, first)


def pivot_options(parts: Parts, direction: Float[Tensor, "B P 3"], votes: Float[Tensor, "B P N 3"]) -> Pivots:
    """All options with what tells them apart; an option is the point of its axis level with the middle of the part."""
    first, second = across(parts, direction)
    plane = torch.stack([first, second], dim=-1)
    flat = parts.points @ plane
    low, high = flat.amin(dim=2), flat.amax(dim=2)
    inset = ((high - low).amin(dim=-1, keepdim=True) / 2).expand_as(low)
    touch, weight = _contact(parts, plane)
    mean = (touch * weight).sum(dim=2) / weight.sum(dim=2)
    touch_low = torch.where(weight > 0.3, touch, mean[:, :, None]).amin(dim=2)
    touch_high = torch.where(weight > 0.3, touch, mean[:, :, None]).amax(dim=2)
    vote = (votes @ plane).median(dim=2).values
    spots = torch.cat(
        [
            _grid(low, high, 3),
            _grid(low + inset, high - inset, 2),
            flat.mean(dim=2)[:, :, None],
            _grid(touch_low, touch_high, 3),
            mean[:, :, None],
            vote[:, :, None],
        ],
        dim=2,
    )
    size = (high - low).norm(dim=-1).clamp_min(1e-3)[..., None]
    # Every other point tells as much and costs half.
    away = (flat[:, :, None, ::2] - spots[:, :, :, None]).norm(dim=-1)
    touch, weight = touch[:, :, ::2], weight[:, :, ::2]
    reached = (touch[:, :, None] - spots[:, :, :, None]).norm(dim=-1)
    share = weight[..., 0][:, :, None] / weight.sum(dim=2)[:, :, None]
    relative = (spots - (low + high)[:, :, None] / 2) / (high - low).clamp_min(1e-3)[:, :, None]
    columns = [
        away.amax(dim=-1) / size, away.amin(dim=-1) / size, away.mean(dim=-1) / size,
        away.std(dim=-1) / away.mean(dim=-1).clamp_min(1e-3), (reached * share).sum(dim=-1) / size,
        (torch.exp(-((reached / 0.03) ** 2)) * share).sum(dim=-1),
        (spots - mean[:, :, None]).norm(dim=-1) / size, (spots - vote[:, :, None]).norm(dim=-1) * 4.0,
        relative.abs().amin(dim=-1), relative.abs().amax(dim=-1),
        (spots - (parts.grips[:, :, None] @ plane)).norm(dim=-1) / size,
    ]  # fmt: skip
    level = (parts.points.mean(dim=2) * direction).sum(dim=-1)[..., None] * direction
    options = spots @ plane.transpose(-1, -2) + level[:, :, None]
    groups = torch.eye(len(GROUPS), dtype=spots.dtype).repeat_interleave(torch.tensor(_COUNTS), dim=0)
    return Pivots(options, torch.stack(columns, dim=-1), groups)


def _contact(
    parts: Parts, plane: Float[Tensor, "B P 3 2"]
) -> tuple[Float[Tensor, "B P M 2"], Float[Tensor, "B P M 1"]]:
    """Where the part touches others, in the plane across the axis, on either side; its nearest points if nowhere."""
    limit = torch.quantile(parts.gaps, 0.1, dim=-1, keepdim=True).clamp_min(0.02)
    weight = (parts.gaps <= limit).to(parts.points.dtype)[..., None].clamp_min(1e-6)
    there = (parts.points + parts.toward) @ plane
    return torch.cat([parts.points @ plane, there], dim=2), torch.cat([weight, weight], dim=2)


def _grid(low: Float[Tensor, "B P 2"], high: Float[Tensor, "B P 2"], count: int) -> Float[Tensor, "B P G 2"]:
    steps = torch.linspace(0.0, 1.0, count, dtype=low.dtype)
    share = torch.cartesian_prod(steps, steps)
    return low[:, :, None] + share * (high - low)[:, :, None]
