"""What the joint model is taught: shares of kinds, directions and places, votes, limits, parents."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from neurok.articulation.network import JointConfig, JointModel, Parts, pick
from neurok.articulation.views import Targets

WIDTH = 0.02  # How near an option must lie to a true axis to be right [unit box].
NEAREST = 1e-3  # Share of the nearest option where none is right.
MOST_LIMIT = 3.0  # Errors of limits count up to this [half turns, or extents of the part].

TERMS = ("kinds", "axes", "parents", "pivots", "votes", "limits")


class Terms(NamedTuple):
    loss: Float[Tensor, ""]
    parts: dict[str, Float[Tensor, ""]]
    """Each term before it is weighted."""


class JointTask(nn.Module):
    """The model with learned weights of its losses (a noisy target weighs itself down).

    ``smoothing`` is the share of a target that is spread over all kinds, or over all directions of the part.
    """

    def __init__(self, config: JointConfig, smoothing: float = 0.0) -> None:
        super().__init__()
        self.smoothing = smoothing
        self.model = JointModel(config)
        self.log_scales = nn.Parameter(torch.tensor([0.0, 0.0, 0.0, 0.0, -2.0, -1.0]))

    def forward(self, parts: Parts, targets: Targets) -> Terms:
        encoded = self.model.encode(parts)
        motions = self.model.motions(parts, encoded)
        hinges = self.model.hinges(parts, encoded, targets.chosen)
        direction = pick(parts.directions, targets.chosen)
        is_turn = targets.origin_weights.sum(dim=-1) > 0
        kinds = smoothed(targets.kinds, torch.ones_like(targets.kinds), self.smoothing)
        allowed = (parts.sources >= 0)[:, :, None].to(targets.axes).expand(-1, -1, 2, -1)
        axes = smoothed(targets.axes.transpose(2, 3), allowed, self.smoothing)
        found = {
            "kinds": _cross_entropy(motions.kinds, kinds),
            "axes": _cross_entropy(motions.axes.transpose(2, 3), axes),
            "parents": _parents(motions.parents, targets),
        }
        away = _line_distance(hinges.options[:, :, :, None], targets.origins[:, :, None], direction[:, :, None, None])
        fit = (torch.exp(-((away / WIDTH) ** 2)) * targets.origin_weights[:, :, None]).sum(dim=-1)
        nearest = torch.nn.functional.one_hot(_masked_min(away, targets).argmin(dim=2), away.shape[2])
        wish = (fit + NEAREST * nearest) * is_turn[..., None]
        found["pivots"] = _cross_entropy(hinges.logits, wish / wish.sum(dim=-1, keepdim=True).clamp_min(1e-12))
        miss = _line_distance(hinges.votes[:, :, :, None], targets.origins[:, :, None], direction[:, :, None, None])
        # Where several axes are valid, the points of a part agree on one: the one they are nearest to as a whole.
        best = _masked_min(miss, targets, keep=True).mean(dim=2).amin(dim=-1)
        found["votes"] = _mean(best, is_turn)
        pivot = targets.origins[:, :, 0]
        pivot = torch.where(is_turn[..., None], pivot, parts.points.mean(dim=2))
        limits = self.model.limits(parts, encoded, targets.chosen, pivot)
        found["limits"] = _limits(limits, targets.limits)
        losses = torch.stack([found[name] for name in TERMS])
        loss = (losses * torch.exp(-self.log_scales) + self.log_scales).sum()
        return Terms(loss, {name: value.detach() for name, value in found.items()})


def smoothed(shares: Float[Tensor, "*B C"], allowed: Float[Tensor, "*B C"], smoothing: float) -> Float[Tensor, "*B C"]:
    """Shares of which a part is spread evenly over what is allowed (1, not 0); rows without a target stay without."""
    total = shares.sum(dim=-1, keepdim=True)
    even = allowed / allowed.sum(dim=-1, keepdim=True).clamp_min(1.0)
    return (1.0 - smoothing) * shares + smoothing * total * even


def _cross_entropy(logits: Float[Tensor, "*B C"], shares: Float[Tensor, "*B C"]) -> Float[Tensor, ""]:
    """Mean over the rows that have a target."""
    return _mean(-(shares * logits.log_softmax(dim=-1)).sum(dim=-1), shares.sum(dim=-1) > 0)


def _parents(logits: Float[Tensor, "B P P"], targets: Targets) -> Float[Tensor, ""]:
    known = targets.parents >= 0
    taken = logits.log_softmax(dim=-1).gather(2, targets.parents.clamp_min(0)[..., None])[..., 0]
    return _mean(-taken, known)


def _limits(found: Float[Tensor, "B P 2 2"], wanted: Float[Tensor, "B P 2 2"]) -> Float[Tensor, ""]:
    known = wanted.isfinite().all(dim=-1)
    error = (found - wanted.nan_to_num(0.0)).abs().clamp_max(MOST_LIMIT).sum(dim=-1)
    return _mean(error, known)


def _line_distance(
    points: Float[Tensor, "*#B 3"], origins: Float[Tensor, "*#B 3"], direction: Float[Tensor, "*#B 3"]
) -> Float[Tensor, "..."]:
    offset = points - origins
    return (offset - direction * (offset * direction).sum(dim=-1, keepdim=True)).square().sum(dim=-1).add(1e-8).sqrt()


def _masked_min(away: Float[Tensor, "B P C M"], targets: Targets, keep: bool = False) -> Tensor:
    """Distance to the nearest true origin, or to each with the absent ones far away."""
    far = away + 10.0 * (targets.origin_weights <= 0)[:, :, None].to(away.dtype)
    return far if keep else far.amin(dim=-1)


def _mean(values: Tensor, mask: Tensor) -> Float[Tensor, ""]:
    weight = mask.to(values.dtype)
    return (values * weight).sum() / weight.sum().clamp_min(1.0)
