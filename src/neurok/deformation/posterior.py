"""What a pose says of the latent: a Gaussian for each number by itself, or one that all handles vote for."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor


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
