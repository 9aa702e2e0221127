"""The deformation network (NeuROK): a conditional VAE on points of the surface, with a fixed set of learned tokens.

Perceivers read the points into tokens; the decoder gives every sampled point a dual quaternion, and any other point
follows the nearest samples of its own component.

Two things make it learn within minutes instead of hours. Every token has a place on the surface, and attention between
points and tokens begins with what is near, so that a query asks the token that saw it move. And numbers are scaled so
that a pose is heard through the whole network from the first step on: without that a hundredth of what reaches the
output is about the pose, and training sits at "nothing moves".
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from neurok.errors import NeurokError
from neurok.learned.blocks import Block, LayerNorm, drawn, fourier, fourier_width
from neurok.learned.deformation import dual
from neurok.learned.deformation.batch import Diagonal, PairTensors, Rest
from neurok.learned.task import Task

ELSEWHERE = 10.0
"""Added to the distance of samples of another component: farther than any in the unit box."""

APART = 0.5
"""Added to the distance of a token of another component: such a token is asked only where no other is near."""

SHIFT_OCTAVES, LOUDNESS = 4, 30.0
"""Embedding of displacements: without the octaves that only measure noise, and as loud as where a point is."""

QUIET = 0.2
"""Share of what is known of the rest state in tokens that a pose is written to."""

REACH = 0.1
"""Motion that an output of one stands for: displacements are a small part of the box."""


@dataclass(frozen=True)
class PointConfig:
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

    octaves: int = 4
    """Of where a point is; finer ones tell points of one part from each other."""

    neighbours: int = 4
    """How many samples a point follows."""

    dual_quaternions: bool = True
    """Off, points only shift."""

    @staticmethod
    def from_dict(values: dict[str, Any]) -> PointConfig:
        """The configuration that a card or a checkpoint holds as JSON."""
        values = dict(values)
        if (decoder := values.pop("decoder", "points")) != "points":
            raise NeurokError(f"It is of a network with {decoder}, which this version no longer has; train it anew.")
        try:
            return PointConfig(**values)
        except TypeError as error:
            raise NeurokError(f"This is no configuration of the deformation network: {error}.") from error


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
    queries: Float[Tensor, "B P Q"]
    """Features of each sample, then how far away each token has its place."""

    near: Int[Tensor, "B P N"]
    """Samples that each sample follows ..."""

    weight: Float[Tensor, "B P N"]
    """... and how much."""


class Perceiver(nn.Module):
    """Learned tokens, added to what is known of each, that look at points, then at each other, several times."""

    def __init__(self, tokens: int, width: int, heads: int, depth: int) -> None:
        super().__init__()
        self.tokens = drawn(tokens, width, spread=QUIET)
        self.cross_blocks = nn.ModuleList([Block(width, heads, cross=True) for _ in range(depth)])
        self.self_blocks = nn.ModuleList([Block(width, heads) for _ in range(depth)])
        self.norm = LayerNorm(width)

    def forward(
        self, points: Float[Tensor, "B P W"], known: Float[Tensor, "B K W"], bias: Float[Tensor, "B #h K P"]
    ) -> Float[Tensor, "B K W"]:
        x = self.tokens + known
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
        self.pair_in = nn.Linear(embedded + fourier_width(3, SHIFT_OCTAVES), width)
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
        nn.init.uniform_(self.latent_in.weight, -1.0, 1.0)
        nn.init.constant_(self.pose_spread.bias, -6.0)

    def encode_rest(self, rest: Rest) -> PointContext:
        """Everything that depends on the rest state alone; do it once per object."""
        cloud = Cloud.of(rest)
        embedded = fourier(cloud.points, self.config.octaves)
        near, weight = follow(cloud, cloud.points, cloud.groups, self.config.neighbours)
        places, away = spread(cloud, self.config.tokens)
        points = self.rest_in(embedded)
        known = points.gather(1, places[..., None].expand(-1, -1, points.shape[-1]))
        tokens = self.prior_net(points, known, self._hearing(away, cloud.present))
        return PointContext(cloud, tokens, torch.cat([self.query_in(embedded), away], dim=-1), near, weight)

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
        points, (_, away) = context.cloud.points, self._asked(context)
        shift = fourier(displaced - points, SHIFT_OCTAVES)
        loud = torch.cat([LOUDNESS * shift[..., :3], shift[..., 3:]], dim=-1)
        embedded = self.pair_in(torch.cat([fourier(points, self.config.octaves), loud], dim=-1))
        bias = self._hearing(away, context.cloud.present).repeat(1, 1, 2, 1)
        mean, doubt = self.pose_net(embedded, QUIET * context.tokens.repeat(1, 2, 1), bias).chunk(2, dim=1)
        return self.pose_out(mean), self.pose_spread(doubt).clamp(-12.0, 4.0)

    def decode(self, context: PointContext, z: Float[Tensor, "B K C"]) -> Float[Tensor, "B P 8"]:
        """Rigid motion of every sample as a unit dual quaternion."""
        tokens = QUIET * context.tokens + self.latent_in(z)
        for block in self.decoder_blocks:
            tokens = block(tokens)
        x, away = self._asked(context)
        bias = self._nearness(away)
        for block in self.query_blocks:
            x = block(x, tokens, bias)
        # Rotations made in half precision would shear what they turn.
        raw = REACH * self.decoder_out(self.decoder_norm(x)).to(context.cloud.points.dtype)
        return dual.from_residual(raw) if self.config.dual_quaternions else dual.from_shift(raw)

    def _asked(self, context: PointContext) -> tuple[Float[Tensor, "B P W"], Float[Tensor, "B P K"]]:
        """The features of queries, and how far away each token has its place."""
        width = self.config.width
        return context.queries[..., :width], context.queries[..., width:]

    def _nearness(self, away: Float[Tensor, "B P K"]) -> Float[Tensor, "B h P K"]:
        """What attention between points and tokens begins with: some heads look close by, some at everything."""
        slopes = 64.0 / 4.0 ** torch.arange(self.config.heads, dtype=away.dtype, device=away.device)
        return -slopes[:, None, None] * away[:, None]

    def _hearing(self, away: Float[Tensor, "B P K"], present: Bool[Tensor, "B P"]) -> Float[Tensor, "B h K P"]:
        """The same for tokens that look at points, of which only those that are present count."""
        return self._nearness(away).mT.masked_fill(~present[:, None, None], -1e4)

    def posterior_of(self, context: PointContext, pairs: PairTensors) -> Diagonal:
        """Posterior of every displaced state of a batch; the context is that of ``repeat``."""
        mean, log_variance = self.encode_pose(context, pairs.displaced.flatten(0, 1).flatten(1, 2))
        return Diagonal(mean.flatten(1), log_variance.flatten(1), self.prior(context).flatten(1))

    def move_pairs(self, context: PointContext, z: Float[Tensor, "B Z"]) -> Float[Tensor, "B P 3"]:
        """Where the samples of a batch go."""
        tokens = z.unflatten(1, (self.config.tokens, self.config.latent))
        motion = dual.blend(self.decode(context, tokens), context.near, context.weight)
        return dual.move(motion, context.cloud.points)


def _describe(model: Any) -> dict[str, Any] | None:
    return {"config": asdict(model.config)} if isinstance(model, PointModel) else None


TASK = Task(lambda card: PointModel(PointConfig.from_dict(card["config"])), _describe)


def spread(cloud: Cloud, count: int) -> tuple[Int[Tensor, "B K"], Float[Tensor, "B P K"]]:
    """Samples far from each other, best in components of their own, and how far every sample is from each of them.

    Begins with the sample farthest from the middle: the order of points plays no part.
    """
    points, present = cloud.points, cloud.present
    rows = torch.arange(len(points), device=points.device)
    middle = (points * present[..., None]).sum(dim=1) / present.sum(dim=1, keepdim=True)
    uncovered = (points - middle[:, None]).norm(dim=-1)
    places: list[Tensor] = []
    away: list[Tensor] = []
    for _ in range(count):
        place = uncovered.masked_fill(~present, -1.0).argmax(dim=1)
        other = cloud.groups != cloud.groups[rows, place][:, None]
        far = (points - points[rows, place][:, None]).norm(dim=-1) + APART * other
        uncovered = torch.minimum(uncovered, far) if places else far
        places.append(place)
        away.append(far)
    return torch.stack(places, dim=1), torch.stack(away, dim=2)


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
