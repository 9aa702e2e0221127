"""The divergence of a posterior from a prior that knows which latent numbers belong together."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor


def divergence(
    mean: Float[Tensor, "B S Z"],
    log_variance: Float[Tensor, "B S Z"],
    prior: Float[Tensor, "B Z"],
    spread: Float[Tensor, "B Z R"] | None = None,
) -> Float[Tensor, "B S"]:
    """KL from N(mean, exp(log_variance)) to N(prior, I + W Wᵀ) in nats, for S posteriors of each of B objects.

    The determinant lemma and Woodbury's identity bring everything down to R x R matrices.
    """
    apart, variance = mean - prior[:, None], log_variance.exp()
    nats = (variance + apart**2 - 1.0 - log_variance).sum(dim=-1)
    if spread is not None:
        inner = torch.eye(spread.shape[2], dtype=spread.dtype, device=spread.device) + spread.mT @ spread
        root = torch.linalg.cholesky(inner)
        half = torch.linalg.solve_triangular(root, spread.mT, upper=False)
        explained = (half**2).sum(dim=1)
        along = apart @ half.mT
        volume = 2.0 * root.diagonal(dim1=1, dim2=2).log().sum(dim=1)
        nats = nats - (variance * explained[:, None]).sum(dim=-1) - (along**2).sum(dim=-1) + volume[:, None]
    return 0.5 * nats
