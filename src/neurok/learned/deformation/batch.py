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
    centers: Float[Tensor, "B H 3"]
    groups: Int[Tensor, "B H"]
    areas: Float[Tensor, "B H"]
    present: Bool[Tensor, "B H"]


class PairTensors(NamedTuple):
    """A batch of pairs on the device of the model."""

    rest: Rest
    displaced: Float[Tensor, "B S H N 3"]
    rotations: Float[Tensor, "B S H 3 3"]
    shifts: Float[Tensor, "B S H 3"]
    blend_index: Int[Tensor, "B H N K"]
    blend_weight: Float[Tensor, "B H N K"]

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


class Shared(NamedTuple):
    """A few numbers that the whole object shares; the prior is N(0, I)."""

    mean: Float[Tensor, "P R"]
    root: Float[Tensor, "P R R"]
    """Lower Cholesky factor of the precision."""

    def draw(self, noise: Float[Tensor, "P R"]) -> Float[Tensor, "P R"]:
        shake = torch.linalg.solve_triangular(self.root.mT, noise[..., None].to(self.root.dtype), upper=True)
        return self.mean + shake[..., 0]

    def nats(self) -> Float[Tensor, " P"]:
        """KL divergence from the prior."""
        spread = torch.cholesky_inverse(self.root).diagonal(dim1=1, dim2=2).sum(dim=1)
        volume = 2.0 * self.root.diagonal(dim1=1, dim2=2).log().sum(dim=1)
        return 0.5 * (spread + (self.mean**2).sum(dim=1) - self.mean.shape[1] + volume)


def fuse(votes: Float[Tensor, "P Z"], log_variance: Float[Tensor, "P Z"], ways: Float[Tensor, "P Z R"]) -> Shared:
    """Bayes' rule for e ~ N(0, I) seen through many noisy votes, votes ~ N(ways e, exp(log_variance)).

    Handles of one part say the same thing; fusing them counts it once, where independent latents would pay for every
    copy. Computed in double precision: the votes of many sure handles add up to large numbers.
    """
    ways = ways.double()
    trust = (-log_variance).exp().double()
    precision = torch.eye(ways.shape[2], dtype=ways.dtype, device=ways.device) + ways.mT @ (ways * trust[..., None])
    root = torch.linalg.cholesky(precision)
    heard = ways.mT @ (votes.double() * trust)[..., None]
    return Shared(torch.cholesky_solve(heard, root)[..., 0], root)
