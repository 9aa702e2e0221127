"""The point model: a conditional VAE on points of the surface, with a fixed set of learned tokens.

Perceivers read the points into tokens; the decoder gives every sampled point a dual quaternion, and any other point
follows the nearest samples of its own component.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from neurok.deformation import dual
from neurok.deformation.batch import PairTensors, Rest
from neurok.deformation.posterior import Diagonal
from neurok.nn.attention import Block
from neurok.nn.embedding import fourier, fourier_width
from neurok.nn.norm import LayerNorm

ELSEWHERE = 10.0
"""Added to the distance of samples of another component: farther than any in the unit box."""


@dataclass(frozen=True)
class PointConfig:
    decoder: Literal["points"] = "points"
    width: int = 128
    heads: int = 4
    tokens: int = 16
    latent: int = 8
    """Latent numbers per token."""

    prior_depth: int = 2
    pose_depth: int = 2
    decoder_depth: int = 3
    query_depth: int = 2
    """Times that query points look at the tokens."""

    octaves: int = 8
    neighbours: int = 4
    """How many samples a point follows."""

    dual_quaternions: bool = True
    """Off, points only shift."""


class Cloud(NamedTuple):
    """Sampled points of a batch of objects."""

    points: Float[Tensor, "B P 3"]
    groups: Int[Tensor, "B P"]
    present: Bool[Tensor, "B P"]

    @staticmethod
    def of(rest: Rest) -> Cloud:
        samples = rest.points.shape[2]
        spread = lambda field: field[..., None].expand(-1, -1, samples).flatten(1)  # noqa: E731
        return Cloud(rest.points.flatten(1, 2), spread(rest.groups), spread(rest.present))


class PointContext(NamedTuple):
    """What the networks know of the rest state."""

    cloud: Cloud
    tokens: Float[Tensor, "B K W"]
    queries: Float[Tensor, "B P W"]
    near: Int[Tensor, "B P N"]
    """Samples that each sample follows ..."""

    weight: Float[Tensor, "B P N"]
    """... and how much."""


class Perceiver(nn.Module):
    """Learned tokens that look at points, then at each other, several times."""

    def __init__(self, tokens: int, width: int, heads: int, depth: int) -> None:
        super().__init__()
        self.tokens = nn.Parameter(torch.randn(tokens, width) * 0.5)
        self.cross_blocks = nn.ModuleList([Block(width, heads, cross=True) for _ in range(depth)])
        self.self_blocks = nn.ModuleList([Block(width, heads) for _ in range(depth)])
        self.norm = LayerNorm(width)

    def forward(self, points: Float[Tensor, "B P W"], present: Bool[Tensor, "B P"]) -> Float[Tensor, "B K W"]:
        bias = torch.zeros_like(present, dtype=points.dtype).masked_fill(~present, -1e4)[:, None, None]
        x = self.tokens.expand(len(points), -1, -1)
        for cross, own in zip(self.cross_blocks, self.self_blocks, strict=True):
            x = own(cross(x, points, bias))
        return self.norm(x)


class PointModel(nn.Module):
    """Prior encoder, pose encoder and decoder on points."""

    def __init__(self, config: PointConfig) -> None:
        super().__init__()
        self.config = config
        width, heads, embedded = config.width, config.heads, fourier_width(3, config.octaves)
        self.rest_in = nn.Linear(embedded, width)
        self.pair_in = nn.Linear(2 * embedded + 3, width)
        self.query_in = nn.Sequential(nn.Linear(embedded, width), nn.GELU(), nn.Linear(width, width))
        self.prior_net = Perceiver(config.tokens, width, heads, config.prior_depth)
        self.pose_net = Perceiver(2 * config.tokens, width, heads, config.pose_depth)
        self.prior_out = nn.Linear(width, config.latent)
        self.pose_out = nn.Linear(width, config.latent)
        self.pose_spread = nn.Linear(width, config.latent)
        self.latent_in = nn.Linear(config.latent, width)
        self.decoder_blocks = nn.ModuleList([Block(width, heads) for _ in range(config.decoder_depth)])
        self.query_blocks = nn.ModuleList([Block(width, heads, cross=True) for _ in range(config.query_depth)])
        self.decoder_norm = LayerNorm(width)
        self.decoder_out = nn.Linear(width, 8 if config.dual_quaternions else 3)
        for layer in (self.prior_out, self.decoder_out):
            nn.init.zeros_(layer.weight)
            nn.init.zeros_(layer.bias)
        nn.init.constant_(self.pose_spread.bias, -6.0)

    def encode_rest(self, rest: Rest) -> PointContext:
        """Everything that depends on the rest state alone; do it once per object."""
        cloud = Cloud.of(rest)
        embedded = fourier(cloud.points, self.config.octaves)
        near, weight = follow(cloud, cloud.points, cloud.groups, self.config.neighbours)
        tokens = self.prior_net(self.rest_in(embedded), cloud.present)
        return PointContext(cloud, tokens, self.query_in(embedded), near, weight)

    @property
    def latent_size(self) -> int:
        return self.config.tokens * self.config.latent

    def repeat(self, context: PointContext, count: int) -> PointContext:
        """The context of each object for ``count`` poses of it."""
        wide = lambda tensor: tensor.repeat_interleave(count, dim=0)  # noqa: E731
        return PointContext(Cloud(*map(wide, context.cloud)), *map(wide, context[1:]))

    def prior(self, context: PointContext) -> Float[Tensor, "B K C"]:
        """Mean of the prior, whose covariance is the identity."""
        return self.prior_out(context.tokens)

    def encode_pose(
        self, context: PointContext, displaced: Float[Tensor, "B P 3"]
    ) -> tuple[Float[Tensor, "B K C"], Float[Tensor, "B K C"]]:
        """Mean and log-variance of the posterior, given where the samples went."""
        points = context.cloud.points
        both = [fourier(points, self.config.octaves), fourier(displaced, self.config.octaves)]
        embedded = self.pair_in(torch.cat([*both, 8.0 * (displaced - points)], dim=-1))
        mean, spread = self.pose_net(embedded, context.cloud.present).chunk(2, dim=1)
        return self.pose_out(mean), self.pose_spread(spread).clamp(-12.0, 4.0)

    def decode(self, context: PointContext, z: Float[Tensor, "B K C"]) -> Float[Tensor, "B P 8"]:
        """Rigid motion of every sample as a unit dual quaternion."""
        tokens = context.tokens + self.latent_in(z)
        for block in self.decoder_blocks:
            tokens = block(tokens)
        x = context.queries
        for block in self.query_blocks:
            x = block(x, tokens)
        # Rotations made in half precision would shear what they turn.
        raw = self.decoder_out(self.decoder_norm(x)).to(context.cloud.points.dtype)
        return dual.from_residual(raw) if self.config.dual_quaternions else dual.from_shift(raw)

    def posterior_of(self, context: PointContext, pairs: PairTensors) -> Diagonal:
        """Posterior of every displaced state of a batch; the context is that of ``repeat``."""
        mean, log_variance = self.encode_pose(context, pairs.displaced.flatten(0, 1).flatten(1, 2))
        return Diagonal(mean.flatten(1), log_variance.flatten(1), self.prior(context).flatten(1))

    def side_loss(self, context: PointContext, pairs: PairTensors) -> Float[Tensor, ""]:
        """Nothing beside the poses is learned."""
        return pairs.displaced.new_zeros(())

    def size(self, context: PointContext, pairs: PairTensors) -> Float[Tensor, ""]:
        """What the latent does is for the decoder to say: it has no size of its own ..."""
        return pairs.displaced.new_zeros(())

    def surprise(self, context: PointContext, pairs: PairTensors) -> Float[Tensor, ""]:
        """... and no likelihood in closed form."""
        return pairs.displaced.new_zeros(())

    def move_pairs(self, context: PointContext, z: Float[Tensor, "B Z"], pairs: PairTensors) -> Float[Tensor, "B P 3"]:
        """Where the samples of a batch go."""
        tokens = z.unflatten(1, (self.config.tokens, self.config.latent))
        motion = dual.blend(self.decode(context, tokens), context.near, context.weight)
        return dual.move(motion, context.cloud.points)


def follow(
    cloud: Cloud, points: Float[Tensor, "B Q 3"], groups: Int[Tensor, "B Q"], count: int
) -> tuple[Int[Tensor, "B Q N"], Float[Tensor, "B Q N"]]:
    """The samples that points follow and how much: the nearest of their component, or of any if it has none.

    Weights fall linearly and reach zero where a sample stops being among the nearest, so that neighbours move alike.
    """
    apart = torch.cdist(points, cloud.points, compute_mode="donot_use_mm_for_euclid_dist")
    other = groups[:, :, None] != cloud.groups[:, None]
    cost = (apart + ELSEWHERE * other).masked_fill(~cloud.present[:, None], 1e6)
    cost, index = cost.topk(min(count + 1, cost.shape[-1]), dim=-1, largest=False)
    usable = cost < cost[..., :1] + 0.5 * ELSEWHERE
    reach = cost.masked_fill(~usable, 0.0).amax(dim=-1, keepdim=True)
    weight = (1.001 * (reach - cost[..., :1]) + 1e-6 - (cost - cost[..., :1])).clamp_min(0.0) * usable
    return index, weight / weight.sum(dim=-1, keepdim=True)
