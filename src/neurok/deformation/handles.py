"""The handle model: a conditional VAE whose tokens are the handles of the rest mesh.

The latent is a few numbers e ~ N(0, I) that the whole object shares. From the rest mesh alone the prior encoder says
how each handle reads them, ``features = middle + ways e``: handles of one part read the same numbers, other parts read
others. So the network itself names the ways an object can move, and an object with ten drawers is as natural as one
with a lid. The pose encoder lets every handle vote for what it would read, and the votes are fused in closed form. All
networks are attention over handles, biased by who touches whom.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from neurok.deformation.batch import PairTensors
from neurok.deformation.batch import Rest as Rest
from neurok.deformation.posterior import Shared, fuse
from neurok.nn.attention import Block
from neurok.nn.embedding import fourier, fourier_width
from neurok.nn.norm import LayerNorm

SUREST = -6.0
"""Least log-variance of a vote."""


@dataclass(frozen=True)
class HandleConfig:
    decoder: Literal["handles"] = "handles"
    width: int = 128
    heads: int = 4
    context_depth: int = 4
    pose_depth: int = 3
    decoder_depth: int = 4
    latent: int = 4
    """Features of each handle that the latent sets."""

    octaves: int = 6
    rotations: bool = True
    """Off, handles only shift."""

    spread: int = 16
    """Latent numbers of an object."""


class Context(NamedTuple):
    """What the networks know of the rest state."""

    tokens: Float[Tensor, "B H W"]
    bias: Float[Tensor, "L B h H H"]
    """Attention bias for each layer; minus infinity towards absent handles."""

    middle: Float[Tensor, "B H C"]
    """Features of the handles at the mean of the prior, ..."""

    ways: Float[Tensor, "B H C R"]
    """... and how each latent number changes them."""

    rigid: Float[Tensor, "B H"]
    """Log-odds that the connected component of a handle never bends."""


class Motion(NamedTuple):
    """One rigid transform per handle: turn about its centre, then shift."""

    rotations: Float[Tensor, "B H 3 3"]
    shifts: Float[Tensor, "B H 3"]


class HandleModel(nn.Module):
    """Prior encoder, pose encoder and decoder on handle tokens."""

    def __init__(self, config: HandleConfig) -> None:
        super().__init__()
        self.config = config
        width, heads = config.width, config.heads
        point_width = fourier_width(3, config.octaves) + 3
        self.point_net = nn.Sequential(nn.Linear(point_width, width), nn.GELU(), nn.Linear(width, width))
        self.handle_in = nn.Linear(2 * width + fourier_width(3, config.octaves) + 7, width)
        self.depths = (config.context_depth, config.pose_depth, config.decoder_depth)
        self.pair_net = nn.Sequential(nn.Linear(11, 32), nn.GELU(), nn.Linear(32, sum(self.depths) * heads))
        stack = lambda depth: nn.ModuleList([Block(width, heads) for _ in range(depth)])  # noqa: E731
        self.context_blocks, self.pose_blocks, self.decoder_blocks = map(stack, self.depths)
        self.context_norm = LayerNorm(width)
        self.prior_out = nn.Linear(width, config.latent)
        self.motion_in = nn.Linear(12, width)
        self.pose_norm = LayerNorm(width)
        self.pose_out = nn.Linear(width, 2 * config.latent)
        self.latent_in = nn.Linear(config.latent, width)
        self.decoder_norm = LayerNorm(width)
        self.decoder_out = nn.Linear(width, 6)
        with torch.no_grad():
            self.pose_out.bias[config.latent :] = -6.0
        spread = config.latent * config.spread
        self.spread_out = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, spread))
        self.rigid_out = nn.Linear(width, 1)
        for layer in (self.prior_out, self.decoder_out, self.rigid_out):
            nn.init.zeros_(layer.weight)
            nn.init.zeros_(layer.bias)

    def encode_rest(self, rest: Rest) -> Context:
        """Everything that depends on the rest state alone; do it once per object."""
        local = rest.points - rest.centers[:, :, None]
        features = self.point_net(torch.cat([fourier(rest.points, self.config.octaves), 8.0 * local], dim=-1))
        moments = torch.einsum("bhni,bhnj->bhij", local, local) / local.shape[2]
        upper = moments.flatten(-2)[..., [0, 1, 2, 4, 5, 8]] * 100.0
        tokens = self.handle_in(
            torch.cat(
                [
                    features.amax(dim=2),
                    features.mean(dim=2),
                    fourier(rest.centers, self.config.octaves),
                    upper,
                    rest.areas[..., None].clamp_min(1e-5).log(),
                ],
                dim=-1,
            )
        )
        bias = self._pair_bias(rest)
        for layer, block in enumerate(self.context_blocks):
            tokens = block(tokens, bias=bias[layer])
        tokens = self.context_norm(tokens)
        ways = self.spread_out(tokens).unflatten(-1, (self.config.latent, self.config.spread))
        ways = ways * rest.present[..., None, None]
        return Context(tokens, bias, self.prior_out(tokens), ways, self.rigid_out(tokens)[..., 0])

    def _pair_bias(self, rest: Rest) -> Float[Tensor, "L B h H H"]:
        batch, handles, samples = rest.points.shape[:3]
        flat = rest.points.flatten(1, 2)
        gaps = torch.cdist(flat, flat).view(batch, handles, samples, handles, samples).amin(dim=(2, 4))
        offset = rest.centers[:, None] - rest.centers[:, :, None]
        same = (rest.groups[:, :, None] == rest.groups[:, None]).float()
        steps = torch.tensor([0.01, 0.03, 0.1, 0.3], device=flat.device)
        near = torch.exp(-gaps[..., None] / steps)
        pair = torch.cat([same[..., None], near, offset, offset.abs()], dim=-1)
        bias = self.pair_net(pair).unflatten(-1, (sum(self.depths), self.config.heads)).permute(3, 0, 4, 1, 2)
        return bias.masked_fill(~rest.present[None, :, None, None, :], -1e4)

    @property
    def latent_size(self) -> int:
        return self.config.spread

    def posterior(self, context: Context, motion: Motion) -> Shared:
        """What a pose, given as one rigid motion per handle, says of the latent."""
        turn = motion.rotations - torch.eye(3, dtype=motion.rotations.dtype, device=motion.rotations.device)
        tokens = context.tokens + self.motion_in(torch.cat([turn.flatten(-2), 4.0 * motion.shifts], dim=-1))
        first = self.depths[0]
        for layer, block in enumerate(self.pose_blocks):
            tokens = block(tokens, bias=context.bias[first + layer])
        votes, log_variance = self.pose_out(self.pose_norm(tokens)).chunk(2, dim=-1)
        return fuse(
            (votes - context.middle).flatten(1), log_variance.clamp(SUREST, 4.0).flatten(1), context.ways.flatten(1, 2)
        )

    def decode(self, context: Context, e: Float[Tensor, "B R"]) -> Motion:
        """Rigid motion of every handle."""
        features = context.middle + (context.ways @ e[:, None, :, None].to(context.ways.dtype))[..., 0]
        tokens = context.tokens + self.latent_in(features)
        first = self.depths[0] + self.depths[1]
        for layer, block in enumerate(self.decoder_blocks):
            tokens = block(tokens, bias=context.bias[first + layer])
        # Rotations made in half precision would shear what they turn.
        raw = self.decoder_out(self.decoder_norm(tokens)).to(context.tokens.dtype)
        turn = raw[..., :3] if self.config.rotations else torch.zeros_like(raw[..., :3])
        return Motion(turn_matrix(turn), raw[..., 3:])

    def repeat(self, context: Context, count: int) -> Context:
        """The context of each object for ``count`` poses of it."""
        wide = lambda tensor: tensor.repeat_interleave(count, dim=0)  # noqa: E731
        bias = context.bias.repeat_interleave(count, dim=1)
        return Context(wide(context.tokens), bias, wide(context.middle), wide(context.ways), wide(context.rigid))

    def posterior_of(self, context: Context, pairs: PairTensors) -> Shared:
        """Posterior of every displaced state of a batch; the context is that of ``repeat``."""
        return self.posterior(context, Motion(pairs.rotations.flatten(0, 1), pairs.shifts.flatten(0, 1)))

    def side_loss(self, context: Context, pairs: PairTensors) -> Float[Tensor, ""]:
        """How badly it is known which components never bend; the context is that of the batch, not of ``repeat``."""
        stiff, told = stiffness(pairs)
        each = nn.functional.binary_cross_entropy_with_logits(context.rigid.float(), stiff.float(), reduction="none")
        return (each * told).sum() / told.sum().clamp_min(1.0)

    def move_pairs(self, context: Context, e: Float[Tensor, "B R"], pairs: PairTensors) -> Float[Tensor, "B P 3"]:
        """Where the samples of a batch go."""
        wide = lambda tensor: tensor.repeat_interleave(pairs.targets, dim=0)  # noqa: E731
        points, centers = wide(pairs.rest.points).flatten(1, 2), wide(pairs.rest.centers)
        index, weight = wide(pairs.blend_index).flatten(1, 2), wide(pairs.blend_weight).flatten(1, 2)
        return blend(self.decode(context, e), centers, points, index, weight)


BENT = 0.01
"""How far, in the unit box, handles of one component may part from a common rigid motion, and what counts as moving."""


def stiffness(pairs: PairTensors) -> tuple[Bool[Tensor, "B H"], Bool[Tensor, "B H"]]:
    """Whether a handle and its whole component move as one in all displaced states, and whether they move at all."""
    rest = pairs.rest
    apart = rest.centers[:, None] - rest.centers[:, :, None]
    carried = torch.einsum("bshij,bhkj->bshki", pairs.rotations, apart) + pairs.shifts[:, :, :, None]
    gap = (carried - apart[:, None] - pairs.shifts[:, :, None]).norm(dim=-1).amax(dim=1)
    together = (rest.groups[:, :, None] == rest.groups[:, None]) & rest.present[:, None] & rest.present[:, :, None]
    stiff = (gap.masked_fill(~together, 0.0).amax(dim=2) < BENT) & rest.present
    moves = (pairs.shifts.norm(dim=-1).amax(dim=1)[:, None] * together).amax(dim=2) > BENT
    return stiff, moves & (together.sum(dim=2) > 1)


def turn_matrix(half: Float[Tensor, "*B 3"]) -> Float[Tensor, "*B 3 3"]:
    """Rotation of the quaternion (1, half) normalised: the residual from identity, smooth everywhere."""
    x, y, z = half.unbind(-1)
    scale = 2.0 / (1.0 + (half * half).sum(dim=-1))
    rows = [
        1 - scale * (y * y + z * z), scale * (x * y - z), scale * (x * z + y),
        scale * (x * y + z), 1 - scale * (x * x + z * z), scale * (y * z - x),
        scale * (x * z - y), scale * (y * z + x), 1 - scale * (x * x + y * y),
    ]  # fmt: skip
    return torch.stack(rows, dim=-1).unflatten(-1, (3, 3))


def blend(
    motion: Motion,
    centers: Float[Tensor, "B H 3"],
    points: Float[Tensor, "B P 3"],
    index: Int[Tensor, "B P K"],
    weight: Float[Tensor, "B P K"],
) -> Float[Tensor, "B P 3"]:
    """Points carried by the handles they follow."""
    offset = centers + motion.shifts - (motion.rotations @ centers[..., None])[..., 0]
    matrices = torch.cat([motion.rotations.flatten(-2), offset], dim=-1)
    flat = index.flatten(1)[..., None].expand(-1, -1, 12)
    mixed = (matrices.gather(1, flat).unflatten(1, index.shape[1:]) * weight[..., None]).sum(dim=2)
    return (mixed[..., :9].unflatten(-1, (3, 3)) @ points[..., None])[..., 0] + mixed[..., 9:]
