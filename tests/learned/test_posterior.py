import torch
from torch.distributions import MultivariateNormal, Normal, kl_divergence

from neurok.learned.deformation.batch import Diagonal, fuse


def draws(seed):
    generator = torch.Generator().manual_seed(seed)
    return lambda *shape: torch.randn(shape, generator=generator, dtype=torch.float64)


def test_votes_are_fused_as_by_the_conditional_of_a_joint_gaussian():
    draw = draws(0)
    votes, log_variance, ways = draw(2, 10), draw(2, 10), draw(2, 10, 4)
    fused = fuse(votes, log_variance, ways)
    for k in range(2):
        joint = ways[k] @ ways[k].T + torch.diag(log_variance[k].exp())
        gain = ways[k].T @ torch.linalg.inv(joint)
        torch.testing.assert_close(fused.mean[k], gain @ votes[k])
        torch.testing.assert_close(torch.cholesky_inverse(fused.root[k]), torch.eye(4).double() - gain @ ways[k])


def test_nats_are_the_divergence_of_full_gaussians():
    draw = draws(1)
    fused = fuse(draw(3, 8), draw(3, 8), draw(3, 8, 5))
    unit = MultivariateNormal(torch.zeros(5).double(), torch.eye(5).double())
    posterior = MultivariateNormal(fused.mean, precision_matrix=fused.root @ fused.root.mT)
    torch.testing.assert_close(fused.nats(), kl_divergence(posterior, unit))
    plain = Diagonal(draw(2, 6), draw(2, 6), draw(2, 6))
    expected = kl_divergence(Normal(plain.mean, (0.5 * plain.log_variance).exp()), Normal(plain.prior, 1.0)).sum(dim=1)
    torch.testing.assert_close(plain.nats(), expected)


def test_draws_have_the_mean_and_covariance_of_the_posterior():
    draw = draws(2)
    fused = fuse(draw(1, 8), draw(1, 8), draw(1, 8, 3))
    many = 200_000
    wide = type(fused)(fused.mean.expand(many, -1), fused.root.expand(many, -1, -1))
    drawn = wide.draw(draw(many, 3))
    torch.testing.assert_close(drawn.mean(dim=0), fused.mean[0], atol=0.01, rtol=0)
    torch.testing.assert_close(torch.cov(drawn.T), torch.cholesky_inverse(fused.root[0]), atol=0.01, rtol=0)


def test_repeating_a_vote_makes_it_surer_but_does_not_move_it_beyond_what_was_said():
    ways = torch.ones(1, 6, 1)
    once = fuse(torch.ones(1, 1), torch.zeros(1, 1), ways[:, :1])
    often = fuse(torch.ones(1, 6), torch.zeros(1, 6), ways)
    assert 0.0 < once.mean < often.mean < 1.0
    assert often.nats() > once.nats()
