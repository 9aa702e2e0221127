"""What the networks read and say: objects at rest, pairs of a rest with displaced states, posteriors of a latent."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from neurok.learned.view import Pairs


class Rest(NamedTuple):
    """The rest state of a batch of objects in the unit box, +y up."""

    points: Float[Tensor, "B H N 3"]
    groups: Int[Tensor, "B H"]
    areas: Float[Tensor, "B H"]
    present: Bool[Tensor, "B H"]


class PairTensors(NamedTuple):
    """A batch of pairs on the device of the model."""

    rest: Rest
    displaced: Float[Tensor, "B S H N 3"]

    @property
    def targets(self) -> int:
        """Displaced states of each object."""
        return self.displaced.shape[1]

    @staticmethod
    def of(pairs: Pairs, device: torch.device | str = "cpu") -> PairTensors:
        def take(name: str) -> Tensor:
            return torch.from_numpy(np.ascontiguousarray(getattr(pairs, name))).to(device)

        return PairTensors(Rest(*map(take, Rest._fields)), *map(take, PairTensors._fields[1:]))


class Diagonal(NamedTuple):
    """Independent numbers; the prior is N(prior, I)."""

    mean: Float[Tensor, "P Z"]
    log_variance: Float[Tensor, "P Z"]
    prior: Float[Tensor, "P Z"]

    def draw(self, noise: Float[Tensor, "P Z"]) -> Float[Tensor, "P Z"]:
        return self.mean + noise * (0.5 * self.log_variance).exp()

    def nats(self) -> Float[Tensor, " P"]:
        """KL divergence from the prior."""
        apart = self.mean - self.prior
        return 0.5 * (self.log_variance.exp() + apart**2 - 1.0 - self.log_variance).sum(dim=-1)
