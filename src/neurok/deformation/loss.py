"""The conditional-VAE objective on a batch of pairs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from neurok.data.view import Pairs
from neurok.deformation.handles import HandleConfig, HandleModel, Motion, Rest, blend

STILL = 1e-4
"""Displacement energy, in the unit box, below which a pair counts as standing still: one hundredth of the box."""


class PairTensors(NamedTuple):
    """A batch of pairs on the device of the model."""

    rest: Rest
    displaced: Float[Tensor, "B S H N 3"]
    rotations: Float[Tensor, "B S H 3 3"]
    shifts: Float[Tensor, "B S H 3"]
    blend_index: Int[Tensor, "B H N K"]
    blend_weight: Float[Tensor, "B H N K"]

    @staticmethod
    def of(pairs: Pairs, device: torch.device | str = "cpu") -> PairTensors:
        take = lambda array: torch.from_numpy(np.ascontiguousarray(array)).to(device)  # noqa: E731
        rest = Rest(*(take(getattr(pairs, n)) for n in ("points", "centers", "groups", "areas", "present")))
        fields = ("displaced", "rotations", "shifts", "blend_index", "blend_weight")
        return PairTensors(rest, *(take(getattr(pairs, n)) for n in fields))


class Terms(NamedTuple):
    """What the loop needs to step and to report."""

    loss: Float[Tensor, ""]
    relative: Float[Tensor, ""]
    """Squared error over displacement energy, averaged over pairs: 1 is 'nothing moves'."""

    nats: Float[Tensor, ""]
    """KL divergence from posterior to prior, per pair."""

    error: Float[Tensor, " P"]
    """Mean point error of each pair, in the unit box ..."""

    displacement: Float[Tensor, " P"]
    """... and its mean displacement."""


class DeformationTask(nn.Module):
    """The model with its loss: one call per batch, so that it can be wrapped for several processes."""

    def __init__(self, config: HandleConfig) -> None:
        super().__init__()
        self.model = HandleModel(config)

    def forward(self, pairs: PairTensors, kl_weight: float = 0.0, noise: Tensor | None = None) -> Terms:
        """Without ``noise`` the posterior mean is decoded."""
        count = pairs.displaced.shape[1]
        repeat = lambda tensor: tensor.repeat_interleave(count, dim=0)  # noqa: E731
        rest_context = self.model.encode_rest(pairs.rest)
        context = self.model.repeat(rest_context, count)
        motion = Motion(pairs.rotations.flatten(0, 1), pairs.shifts.flatten(0, 1))
        mean, log_variance = self.model.encode_pose(context, motion)
        z = mean if noise is None else mean + noise * (0.5 * log_variance).exp()
        points = repeat(pairs.rest.points).flatten(1, 2)
        index, weight = repeat(pairs.blend_index).flatten(1, 2), repeat(pairs.blend_weight).flatten(1, 2)
        moved = blend(self.model.decode(context, z), repeat(pairs.rest.centers), points, index, weight)

        target = pairs.displaced.flatten(0, 1).flatten(1, 2)
        samples = pairs.rest.points.shape[2]
        area = (repeat(pairs.rest.areas)[..., None].expand(-1, -1, samples) / samples).flatten(1)
        squared = ((moved - target) ** 2).sum(dim=-1)
        energy = ((target - points) ** 2).sum(dim=-1)
        relative = (squared * area).sum(dim=1) / ((energy * area).sum(dim=1) + STILL)

        apart = mean - repeat(self.model.prior(rest_context))
        kl = 0.5 * (apart**2 + log_variance.exp() - 1.0 - log_variance)
        nats = (kl * repeat(pairs.rest.present)[..., None]).sum(dim=(1, 2))
        return Terms(
            relative.mean() + kl_weight * nats.mean(),
            relative.detach().mean(),
            nats.detach().mean(),
            (squared.detach().clamp_min(1e-20).sqrt() * area).sum(dim=1),
            (energy.clamp_min(1e-20).sqrt() * area).sum(dim=1),
        )
