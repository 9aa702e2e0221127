"""The handle model: a conditional VAE that names the ways an object can move, one screw motion each.

The tokens are the handles of the rest mesh and a few learned slots. From the rest mesh alone the prior encoder gives
every slot a screw and says how much each handle follows it: all handles of a door follow one slot, about one hinge. A
bend, different for each handle, is added for what is soft. The latent is one number per slot, N(mean, I): how far
along its screw the object has gone. Twists add, and T_h = exp(Σ_k z_k ways_hk) is the motion of a handle, so the
decoder is a closed form: straight through the rest state, smooth, and a hinge turns about a fixed axis at any angle.
The pose encoder is one too: the twists of the handles are noisy readings of the latent, fused by Bayes' rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from neurok.geometry.lie_torch import exponential, logarithm
from neurok.learned.blocks import Block, LayerNorm, drawn, fourier, fourier_width
from neurok.learned.deformation.batch import PairTensors, Shared, fuse
from neurok.learned.deformation.batch import Rest as Rest

SURE, UNSURE = -12.0, 2.0
"""Least and largest log-variance of a reading: surer than a hundredth of the box, or small motions drown in noise."""

TURN, SHIFT, MEAN = 8.0, 3.0, 2.0
"""Typical turns, shifts and means of the prior are larger than what a linear layer gives at first."""


SLIGHT = 0.01
"""Motions this small, in the unit box, are noise to the prior of a handle."""

TAIL = 4.0
"""Degrees of freedom of that prior's tails: now and then something moves much farther than most things."""


@dataclass(frozen=True)
class HandleConfig:
    decoder: Literal["handles"] = "handles"
    width: int = 128
    heads: int = 4
    context_depth: int = 3
    """Rounds of attention among handles ..."""

    slot_depth: int = 3
    """... and then between handles and slots."""

    slots: int = 24
    """Ways to move: latent numbers of an object."""

    bend: int = 16
    """Rank of what slots do to handles beside carrying them rigidly; 0 leaves rigid parts alone."""

    octaves: int = 6
    rotations: bool = True
    """Off, handles only shift."""


class Context(NamedTuple):
    """What the rest state says of an object."""

    mean: Float[Tensor, "B R"]
    """Of the prior; the latent of the rest state itself is zero."""

    ways: Float[Tensor, "B H 6 R"]
    """How each latent number twists each handle about its centre."""

    doubt: Float[Tensor, "B H 6"]
    """Log-variance of the twist of a handle as a reading of the latent."""

    rigid: Float[Tensor, "B H"]
    """Log-odds that the connected component of a handle never bends."""


class Motion(NamedTuple):
    """One rigid transform per handle: turn about its centre, then shift."""

    rotations: Float[Tensor, "B H 3 3"]
    shifts: Float[Tensor, "B H 3"]


class HandleModel(nn.Module):
    """Prior encoder, and pose encoder and decoder in closed form."""

    def __init__(self, config: HandleConfig) -> None:
        super().__init__()
        self.config = config
        width, heads = config.width, config.heads
        point_width = fourier_width(3, config.octaves) + 3
        self.point_net = nn.Sequential(nn.Linear(point_width, width), nn.GELU(), nn.Linear(width, width))
        self.handle_in = nn.Linear(2 * width + fourier_width(3, config.octaves) + 7, width)
        self.pair_net = nn.Sequential(nn.Linear(11, 32), nn.GELU(), nn.Linear(32, config.context_depth * heads))
        stack = lambda depth, cross: nn.ModuleList([Block(width, heads, cross=cross) for _ in range(depth)])  # noqa: E731
        self.context_blocks = stack(config.context_depth, False)
        self.slots = drawn(config.slots, width, spread=1.0)
        self.gather_blocks = stack(config.slot_depth, True)
        self.slot_blocks = stack(config.slot_depth, False)
        self.spread_blocks = stack(config.slot_depth, True)
        self.handle_norm, self.slot_norm = LayerNorm(width), LayerNorm(width)
        self.gate_handle, self.gate_slot = nn.Linear(width, width), nn.Linear(width, width)
        self.screw_in = nn.Sequential(nn.Linear(width, width), nn.GELU())
        self.screw_out = drawn(config.slots, width, 7, spread=width**-0.5)
        if config.bend:
            self.bend_handle = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, 6 * config.bend))
            self.bend_slot = nn.Linear(width, config.bend)
            self.bend_code = drawn(config.slots, config.bend, spread=config.bend**-0.5)
        self.gate_key = drawn(config.slots, width, spread=0.5)
        self.doubt_out, self.rigid_out = nn.Linear(width, 6), nn.Linear(width, 1)
        for layer in (self.doubt_out, self.rigid_out):
            nn.init.zeros_(layer.weight)
            nn.init.zeros_(layer.bias)
        with torch.no_grad():
            self.doubt_out.bias[:] = -4.0
            self.screw_out[..., 6] = 0.0

    @property
    def latent_size(self) -> int:
        return self.config.slots

    def encode_rest(self, rest: Rest) -> Context:
        """Everything that depends on the rest state alone; do it once per object."""
        tokens, bias = self._handle_tokens(rest), self._pair_bias(rest)
        for layer, block in enumerate(self.context_blocks):
            tokens = block(tokens, bias=bias[layer])
        slots = self.slots.expand(len(tokens), -1, -1)
        absent = torch.zeros_like(rest.areas).masked_fill(~rest.present, -1e4)[:, None, None]
        for gather, among, spread in zip(self.gather_blocks, self.slot_blocks, self.spread_blocks, strict=True):
            slots = among(gather(slots, tokens, bias=absent))
            tokens = spread(tokens, slots)
        tokens, slots = self.handle_norm(tokens), self.slot_norm(slots)
        said = torch.einsum("brw,rwk->brk", self.screw_in(slots), self.screw_out).to(rest.points.dtype)
        ways = self._carried(rest, tokens, slots, said)
        if self.config.bend:
            each = self.bend_handle(tokens).unflatten(-1, (6, self.config.bend))
            ways = ways + each @ (self.bend_code + self.bend_slot(slots)).mT[:, None]
        if not self.config.rotations:
            ways = torch.cat([torch.zeros_like(ways[..., :3, :]), ways[..., 3:, :]], dim=-2)
        ways = (ways * rest.present[..., None, None]).to(rest.points.dtype)
        doubt = self.doubt_out(tokens).clamp(SURE, UNSURE)
        return Context(MEAN * said[..., 6], ways, doubt, self.rigid_out(tokens)[..., 0])

    def _handle_tokens(self, rest: Rest) -> Float[Tensor, "B H W"]:
        local = rest.points - rest.centers[:, :, None]
        features = self.point_net(torch.cat([fourier(rest.points, self.config.octaves), 8.0 * local], dim=-1))
        moments = torch.einsum("bhni,bhnj->bhij", local, local) / local.shape[2]
        upper = moments.flatten(-2)[..., [0, 1, 2, 4, 5, 8]] * 100.0
        area = rest.areas[..., None].clamp_min(1e-5).log()
        where = fourier(rest.centers, self.config.octaves)
        return self.handle_in(torch.cat([features.amax(dim=2), features.mean(dim=2), where, upper, area], dim=-1))

    def _pair_bias(self, rest: Rest) -> Float[Tensor, "L B h H H"]:
        """What handles make of each other: whether they are of one component, how close they come, where they lie."""
        batch, handles, samples = rest.points.shape[:3]
        flat = rest.points.flatten(1, 2)
        gaps = torch.cdist(flat, flat).view(batch, handles, samples, handles, samples).amin(dim=(2, 4))
        offset = rest.centers[:, None] - rest.centers[:, :, None]
        same = (rest.groups[:, :, None] == rest.groups[:, None]).float()
        steps = torch.tensor([0.01, 0.03, 0.1, 0.3], device=flat.device)
        near = torch.exp(-gaps[..., None] / steps)
        pair = torch.cat([same[..., None], near, offset, offset.abs()], dim=-1)
        bias = self.pair_net(pair).unflatten(-1, (self.config.context_depth, self.config.heads)).permute(3, 0, 4, 1, 2)
        return bias.masked_fill(~rest.present[None, :, None, None, :], -1e4)

    def _carried(
        self, rest: Rest, tokens: Float[Tensor, "B H W"], slots: Float[Tensor, "B R W"], said: Float[Tensor, "B R 7"]
    ) -> Float[Tensor, "B H 6 R"]:
        """Handles carried by the screws of the slots they follow; a screw is told about the middle of its followers."""
        keys = 4.0 * self.config.width**-0.5 * (self.gate_key + self.gate_slot(slots))
        closeness = self.gate_handle(tokens) @ keys.mT
        # Slots compete for a handle with each other and with standing still; else all would learn the same screw.
        gate = nn.functional.pad(closeness.float(), (0, 1)).softmax(dim=-1)[..., :-1].to(rest.points.dtype)
        share = gate * (rest.areas * rest.present)[..., None] + 1e-9
        middles = (share / share.sum(dim=1, keepdim=True)).mT @ rest.centers
        arms = rest.centers[:, :, None] - middles[:, None]
        turns = (TURN * said[:, None, :, :3]).expand_as(arms)
        shifts = SHIFT * said[:, None, :, 3:6] + torch.linalg.cross(turns, arms, dim=-1)
        return (gate[..., None] * torch.cat([turns, shifts], dim=-1)).mT

    def posterior(self, context: Context, motion: Motion) -> Shared:
        """What a pose, given as one rigid motion per handle, says of the latent, counted from the mean of the prior."""
        readings = logarithm(motion.rotations, motion.shifts) - _along(context.ways, context.mean)
        return fuse(readings.flatten(1), context.doubt.flatten(1), context.ways.flatten(1, 2))

    def decode(self, context: Context, e: Float[Tensor, "B R"]) -> Motion:
        """Rigid motion of every handle; ``e`` counts from the mean of the prior."""
        return Motion(*exponential(_along(context.ways, context.mean + e)))

    def repeat(self, context: Context, count: int) -> Context:
        """The context of each object for ``count`` poses of it."""
        return Context(*(part.repeat_interleave(count, dim=0) for part in context))

    def posterior_of(self, context: Context, pairs: PairTensors) -> Shared:
        """Posterior of every displaced state of a batch; the context is that of ``repeat``."""
        return self.posterior(context, Motion(pairs.rotations.flatten(0, 1), pairs.shifts.flatten(0, 1)))

    def side_loss(self, context: Context, pairs: PairTensors) -> Float[Tensor, ""]:
        """How badly it is known what never bends; the context is that before ``repeat``."""
        stiff, told = stiffness(pairs)
        each = nn.functional.binary_cross_entropy_with_logits(context.rigid.float(), stiff.float(), reduction="none")
        return (each * told).sum() / told.sum().clamp_min(1.0)

    def size(self, context: Context, pairs: PairTensors) -> Float[Tensor, ""]:
        """Mean square of how far handles go at one standard deviation of the prior, in the unit box.

        Only the span of the ways matters for a reconstruction: without a word on their size every step would make them
        longer, and the next steps count less.
        """
        seen = context.ways.square().sum(dim=-1)
        each = seen[..., :3].sum(dim=-1) * _radii(pairs.rest).square() + seen[..., 3:].sum(dim=-1)
        return (each * pairs.rest.present).sum() / pairs.rest.present.sum()

    def surprise(self, context: Context, pairs: PairTensors) -> Float[Tensor, ""]:
        """How unlikely the true twists are under the prior of each handle by itself, in nats; heavy-tailed.

        A reconstruction is as good in a wide space as in the right one. This tells them apart: it is least where the
        prior goes as far as the handle does, about the axis it turns about, and nowhere else.
        """
        arm = _radii(pairs.rest)[..., None].expand(-1, -1, 3)
        arm = torch.cat([arm, torch.ones_like(arm)], dim=-1) / SLIGHT
        seen = context.ways.float() * arm[..., None]
        true = logarithm(pairs.rotations.flatten(0, 1), pairs.shifts.flatten(0, 1))
        gap = true.unflatten(0, (-1, pairs.targets)) * arm[:, None] - _along(seen, context.mean)[:, None]
        root = torch.linalg.cholesky(torch.eye(6, device=seen.device) + seen @ seen.mT)
        volume = root.diagonal(dim1=-2, dim2=-1).log().sum(dim=-1)
        far = torch.linalg.solve_triangular(root, gap.permute(0, 2, 3, 1), upper=False).square().sum(dim=-2)
        each = volume[..., None] + 0.5 * (TAIL + 6.0) * torch.log1p(far / TAIL)
        return (each.mean(dim=-1) * pairs.rest.present).sum() / pairs.rest.present.sum()

    def move_pairs(self, context: Context, e: Float[Tensor, "B R"], pairs: PairTensors) -> Float[Tensor, "B P 3"]:
        """Where the samples of a batch go."""
        wide = lambda tensor: tensor.repeat_interleave(pairs.targets, dim=0)  # noqa: E731
        points, centers = wide(pairs.rest.points).flatten(1, 2), wide(pairs.rest.centers)
        index, weight = wide(pairs.blend_index).flatten(1, 2), wide(pairs.blend_weight).flatten(1, 2)
        return blend(self.decode(context, e), centers, points, index, weight)


def _radii(rest: Rest) -> Float[Tensor, "B H"]:
    """How far the points of each handle lie from its centre."""
    return (rest.points - rest.centers[:, :, None]).square().sum(dim=-1).mean(dim=-1).sqrt()


def _along(ways: Float[Tensor, "B H 6 R"], z: Float[Tensor, "B R"]) -> Float[Tensor, "B H 6"]:
    """Twists at a latent; summed by hand, because rotations made in half precision would shear what they turn."""
    return (ways * z[:, None, None, :].to(ways.dtype)).sum(dim=-1)


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
