import torch
from torch.distributions import MultivariateNormal, kl_divergence

from neurok.deformation.prior import divergence


def test_divergence_is_that_of_gaussians_with_full_matrices():
    generator = torch.Generator().manual_seed(0)
    draw = lambda *shape: torch.randn(shape, generator=generator, dtype=torch.float64)  # noqa: E731
    mean, log_variance, prior, spread = draw(2, 3, 10), draw(2, 3, 10), draw(2, 10), 2.0 * draw(2, 10, 4)
    found = divergence(mean, log_variance, prior, spread)
    covariance = torch.eye(10) + spread @ spread.mT
    for b in range(2):
        for s in range(3):
            posterior = MultivariateNormal(mean[b, s], torch.diag(log_variance[b, s].exp()))
            expected = kl_divergence(posterior, MultivariateNormal(prior[b], covariance[b]))
            torch.testing.assert_close(found[b, s], expected)


def test_without_spread_the_prior_is_the_unit_gaussian():
    generator = torch.Generator().manual_seed(1)
    mean, log_variance, prior = (torch.randn(shape, generator=generator) for shape in ((1, 2, 6), (1, 2, 6), (1, 6)))
    none = divergence(mean, log_variance, prior)
    torch.testing.assert_close(none, divergence(mean, log_variance, prior, torch.zeros(1, 6, 3)))
