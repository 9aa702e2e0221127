"""The joint model: parts are tokens that attend to each other, and geometry proposes what the heads choose from.

Directions of axes are classified, not regressed: the frame of the object, flat sides, extents and contacts of a part
nearly always hold the true one. The same goes for the place of a hinge (corners, middles and contacts of the part seen
along the axis); besides, every point of the part votes for the nearest point of the axis, and the vote is one more
choice. So an answer is as exact as the geometry it is made from.

Scales of the inputs (distances over which contact fades, factors that bring figures to about one) stand where they are
used: the weights were trained with them, and no configuration can change them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from neurok.core.articulation import JointKind
from neurok.learned.blocks import Block, LayerNorm, fourier, fourier_width
from neurok.learned.part_features import PAIR, SOURCES

KINDS: tuple[JointKind, ...] = ("fixed", "revolute", "prismatic", "continuous", "cylindrical")
TURN, SLIDE = 0, 1

PIVOT_GROUPS = ("box", "inset", "middle", "contact", "contact middle", "vote")
_PIVOT_COUNTS = (9, 4, 1, 9, 1, 1)
OPTION_FEATURES = 11
"""Groups of options, how many each has, and the figures of an option: the weights were trained with these."""


@dataclass(frozen=True)
class JointConfig:
    width: int = 96
    heads: int = 4
    depth: int = 4
    octaves: int = 5


class Parts(NamedTuple):
    """A batch of objects in their unit boxes; absent parts are padding."""

    points: Float[Tensor, "B P N 3"]
    normals: Float[Tensor, "B P N 3"]
    gaps: Float[Tensor, "B P N"]
    toward: Float[Tensor, "B P N 3"]
    areas: Float[Tensor, "B P"]
    grips: Float[Tensor, "B P 3"]
    """Where the part sticks out."""

    directions: Float[Tensor, "B P K 3"]
    sources: Int[Tensor, "B P K"]
    pairs: Float[Tensor, "B P P C"]
    present: Bool[Tensor, "B P"]


class Encoded(NamedTuple):
    """What the heads work from."""

    tokens: Float[Tensor, "B P W"]
    points: Float[Tensor, "B P N W"]


class Motions(NamedTuple):
    """Logits of kinds, of the direction of a turn and of a slide, and of the parent (oneself: a root)."""

    kinds: Float[Tensor, "B P T"]
    axes: Float[Tensor, "B P K 2"]
    parents: Float[Tensor, "B P P"]


class Hinges(NamedTuple):
    """Places the axis may pass through, given its direction; the last one is the vote of the points."""

    options: Float[Tensor, "B P C 3"]
    logits: Float[Tensor, "B P C"]
    votes: Float[Tensor, "B P N 3"]


class JointModel(nn.Module):
    """Encoder over parts with heads for kind, axis, parent, pivot and limits."""

    def __init__(self, config: JointConfig) -> None:
        super().__init__()
        self.config = config
        width, heads = config.width, config.heads
        place = fourier_width(3, config.octaves)
        self.point_net = nn.Sequential(nn.Linear(place + 12, width), nn.GELU(), nn.Linear(width, width))
        self.part_in = nn.Linear(3 * width + place + 16, width)
        self.pair_net = nn.Sequential(nn.Linear(2 * PAIR + 9, 32), nn.GELU(), nn.Linear(32, config.depth * heads))
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(config.depth)])
        self.norm = LayerNorm(width)
        self.direction_in = nn.Linear(DIRECTION_FEATURES, width)
        self.direction_token = nn.Linear(width, width)
        self.direction_out = nn.Sequential(nn.GELU(), nn.Linear(width, width), nn.GELU(), nn.Linear(width, 2))
        self.kind_out = nn.Sequential(nn.Linear(2 * width, width), nn.GELU(), nn.Linear(width, len(KINDS)))
        self.child = nn.Linear(width, width)
        self.carrier = nn.Linear(width, width)
        self.parent_pair = nn.Sequential(nn.Linear(2 * PAIR + 9, 32), nn.GELU(), nn.Linear(32, 1))
        self.root_out = nn.Linear(width, 1)
        self.vote_in = nn.Linear(width + 6, width)
        self.vote_out = nn.Sequential(nn.GELU(), nn.Linear(width, 3))
        self.vote_point = nn.Linear(width, width, bias=False)
        self.option_in = nn.Linear(OPTION_FEATURES + place + 6 + len(PIVOT_GROUPS), width)
        self.option_token = nn.Linear(width, width)
        self.option_out = nn.Sequential(nn.GELU(), nn.Linear(width, width), nn.GELU(), nn.Linear(width, 1))
        self.limit_out = nn.Sequential(nn.Linear(width + 21, width), nn.GELU(), nn.Linear(width, 4))

    def encode(self, parts: Parts) -> Encoded:
        """Tokens of all parts, each aware of the others."""
        octaves = self.config.octaves
        low, high = parts.points.amin(dim=2), parts.points.amax(dim=2)
        center, half = (low + high) / 2, ((high - low) / 2).clamp_min(1e-3)
        local = (parts.points - center[:, :, None]) / half[:, :, None]
        steps = torch.tensor([0.006, 0.02, 0.06], dtype=parts.points.dtype)
        near = torch.exp(-parts.gaps[..., None] / steps)
        inputs = [fourier(parts.points, octaves), local, parts.normals, near, 10.0 * parts.toward]
        points = self.point_net(torch.cat(inputs, dim=-1))
        weight = near[..., 1:2] + 1e-3
        touching = (points * weight).sum(dim=2) / weight.sum(dim=2)
        spread = parts.points.std(dim=2)
        facts = [fourier(center, octaves), low, high, spread, half.log(), (parts.grips - center) / half]
        facts += [parts.areas[..., None].clamp_min(1e-6).log()]
        pooled = [points.amax(dim=2), points.mean(dim=2), touching]
        tokens = self.part_in(torch.cat([*pooled, *facts], dim=-1))
        pair = pair_features(parts)
        bias = self.pair_net(pair).unflatten(-1, (self.config.depth, self.config.heads)).permute(3, 0, 4, 1, 2)
        bias = bias.masked_fill(~parts.present[None, :, None, None, :], -1e4)
        for layer, block in enumerate(self.blocks):
            tokens = block(tokens, bias=bias[layer])
        return Encoded(self.norm(tokens), points)

    def motions(self, parts: Parts, encoded: Encoded) -> Motions:
        """How each part moves, and against which other."""
        hidden = self.direction_in(direction_features(parts)) + self.direction_token(encoded.tokens)[:, :, None]
        absent = (parts.sources < 0)[..., None]
        axes = self.direction_out(hidden).masked_fill(absent, -1e4)
        best = torch.relu(hidden.masked_fill(absent, -1e4)).amax(dim=2)
        kinds = self.kind_out(torch.cat([encoded.tokens, best], dim=-1))
        child, carrier = self.child(encoded.tokens), self.carrier(encoded.tokens)
        parents = child @ carrier.transpose(1, 2) * child.shape[-1] ** -0.5
        parents = parents + self.parent_pair(pair_features(parts))[..., 0]
        own = torch.eye(parents.shape[-1], dtype=torch.bool)
        parents = torch.where(own, self.root_out(encoded.tokens), parents)
        return Motions(kinds, axes, parents.masked_fill(~parts.present[:, None], -1e4))

    def hinges(self, parts: Parts, encoded: Encoded, chosen: Int[Tensor, "B P"]) -> Hinges:
        """Where an axis of the chosen direction passes."""
        direction = pick(parts.directions, chosen)
        asked = self.vote_in(torch.cat([encoded.tokens, direction, direction.abs()], dim=-1))
        votes = parts.points + self.vote_out(self.vote_point(encoded.points) + asked[:, :, None])
        geometry: Pivots = pivot_options(parts, direction, votes.detach())
        offset = geometry.options - parts.points.mean(dim=2)[:, :, None]
        rows = [geometry.features, fourier(geometry.options, self.config.octaves), offset]
        rows += [direction[:, :, None].expand_as(offset), geometry.groups.expand(*offset.shape[:2], -1, -1)]
        hidden = self.option_in(torch.cat(rows, dim=-1)) + self.option_token(encoded.tokens)[:, :, None]
        return Hinges(geometry.options, self.option_out(hidden)[..., 0], votes)

    def limits(
        self, parts: Parts, encoded: Encoded, chosen: Int[Tensor, "B P"], pivot: Float[Tensor, "B P 3"]
    ) -> Float[Tensor, "B P 2 2"]:
        """Lower and upper limit of a turn [half turns] about the pivot and of a slide [extents of the part]."""
        direction = pick(parts.directions, chosen)
        near = torch.exp(-parts.gaps / 0.02)[..., None] + 1e-3
        middle = parts.points.mean(dim=2)
        contact = (parts.points * near).sum(dim=2) / near.sum(dim=2)
        arm = middle - pivot
        turned = torch.linalg.cross(direction, arm)
        toward = (parts.toward * near).sum(dim=2) / near.sum(dim=2)
        facts = [direction, arm, turned, contact - middle, middle, toward * 10.0, parts.grips - middle]
        return self.limit_out(torch.cat([encoded.tokens, *facts], dim=-1)).unflatten(-1, (2, 2))


def pick(rows: Float[Tensor, "B P K D"], chosen: Int[Tensor, "B P"]) -> Float[Tensor, "B P D"]:
    """One row of each part."""
    return rows.gather(2, chosen[..., None, None].expand(-1, -1, 1, rows.shape[-1]))[:, :, 0]


def pair_features(parts: Parts) -> Float[Tensor, "B P P E"]:
    """Contact in both directions, offset of the centres, and how much the boxes overlap along each axis."""
    low, high = parts.points.amin(dim=2), parts.points.amax(dim=2)
    center = (low + high) / 2
    offset = center[:, None] - center[:, :, None]
    shared = torch.minimum(high[:, None], high[:, :, None]) - torch.maximum(low[:, None], low[:, :, None])
    share = shared / (high - low).clamp_min(1e-3)[:, :, None]
    scale = torch.tensor([10.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], dtype=center.dtype)
    pairs = parts.pairs * scale
    return torch.cat([pairs, pairs.transpose(1, 2), offset, offset.abs(), share.clamp(-1.0, 1.0)], dim=-1)


DIRECTION_FEATURES = 15 + len(SOURCES)


def direction_features(parts: Parts) -> Float[Tensor, "B P K E"]:
    """What a part looks like along a direction: extents, roundness about it, where it touches others."""
    middle = (parts.points.amin(dim=2) + parts.points.amax(dim=2)) / 2
    local = parts.points - middle[:, :, None]
    along = torch.einsum("bpnd,bpkd->bpkn", local, parts.directions)
    radius = (local.square().sum(dim=-1)[:, :, None] - along.square()).clamp_min(0.0).sqrt()
    weight = torch.exp(-parts.gaps / 0.02)[:, :, None] + 1e-4
    weight = weight / weight.sum(dim=-1, keepdim=True)
    contact = (along * weight).sum(dim=-1)
    size = local.norm(dim=-1).amax(dim=-1).clamp_min(1e-3)[..., None]
    reach = along.amax(dim=-1) - along.amin(dim=-1)
    facing = torch.einsum("bpnd,bpkd->bpkn", parts.normals, parts.directions).abs()
    pushed = torch.einsum("bpnd,bpkd->bpkn", parts.toward, parts.directions)
    columns = [
        reach, reach / size, radius.amax(dim=-1), radius.amax(dim=-1) / size,
        radius.std(dim=-1) / radius.mean(dim=-1).clamp_min(1e-3), contact / size,
        ((along - contact[..., None]).square() * weight).sum(dim=-1).sqrt() / size,
        (radius * weight).sum(dim=-1) / size,
        facing.mean(dim=-1), (facing * weight).sum(dim=-1), 20.0 * (pushed * weight).sum(dim=-1),
        20.0 * (pushed.abs() * weight).sum(dim=-1),
    ]  # fmt: skip
    source = nn.functional.one_hot(parts.sources.clamp_min(0), len(SOURCES)).to(along.dtype)
    return torch.cat([torch.stack(columns, dim=-1), parts.directions, source], dim=-1)


class Pivots(NamedTuple):
    options: Float[Tensor, "B P C 3"]
    features: Float[Tensor, "B P C E"]
    groups: Float[Tensor, "C G"]


def across(parts: Parts, direction: Float[Tensor, "B P 3"]) -> tuple[Float[Tensor, "B P 3"], Float[Tensor, "B P 3"]]:
    """Two unit directions that span the plane across an axis, along flat sides of the part where it has any."""
    dots = torch.einsum("bpkd,bpd->bpk", parts.directions, direction).abs()
    level = (dots < 0.1).to(dots.dtype) * (1.0 + (parts.sources == 1).to(dots.dtype)) - dots
    best = level.masked_fill(parts.sources < 0, -10.0).argmax(dim=2)
    first = parts.directions.gather(2, best[..., None, None].expand(-1, -1, 1, 3))[:, :, 0]
    first = first - direction * (first * direction).sum(dim=-1, keepdim=True)
    first = first / first.norm(dim=-1, keepdim=True).clamp_min(1e-6)
    return first, torch.linalg.cross(direction, first)


def pivot_options(parts: Parts, direction: Float[Tensor, "B P 3"], votes: Float[Tensor, "B P N 3"]) -> Pivots:
    """All options with what tells them apart; an option is the point of its axis level with the middle of the part."""
    first, second = across(parts, direction)
    plane = torch.stack([first, second], dim=-1)
    flat = parts.points @ plane
    low, high = flat.amin(dim=2), flat.amax(dim=2)
    inset = ((high - low).amin(dim=-1, keepdim=True) / 2).expand_as(low)
    touch, weight = _contact(parts, plane)
    mean = (touch * weight).sum(dim=2) / weight.sum(dim=2)
    touch_low = torch.where(weight > 0.3, touch, mean[:, :, None]).amin(dim=2)
    touch_high = torch.where(weight > 0.3, touch, mean[:, :, None]).amax(dim=2)
    vote = (votes @ plane).median(dim=2).values
    spots = torch.cat(
        [
            _grid(low, high, 3),
            _grid(low + inset, high - inset, 2),
            flat.mean(dim=2)[:, :, None],
            _grid(touch_low, touch_high, 3),
            mean[:, :, None],
            vote[:, :, None],
        ],
        dim=2,
    )
    size = (high - low).norm(dim=-1).clamp_min(1e-3)[..., None]
    # Every other point tells as much and costs half.
    away = (flat[:, :, None, ::2] - spots[:, :, :, None]).norm(dim=-1)
    touch, weight = touch[:, :, ::2], weight[:, :, ::2]
    reached = (touch[:, :, None] - spots[:, :, :, None]).norm(dim=-1)
    share = weight[..., 0][:, :, None] / weight.sum(dim=2)[:, :, None]
    relative = (spots - (low + high)[:, :, None] / 2) / (high - low).clamp_min(1e-3)[:, :, None]
    columns = [
        away.amax(dim=-1) / size, away.amin(dim=-1) / size, away.mean(dim=-1) / size,
        away.std(dim=-1) / away.mean(dim=-1).clamp_min(1e-3), (reached * share).sum(dim=-1) / size,
        (torch.exp(-((reached / 0.03) ** 2)) * share).sum(dim=-1),
        (spots - mean[:, :, None]).norm(dim=-1) / size, (spots - vote[:, :, None]).norm(dim=-1) * 4.0,
        relative.abs().amin(dim=-1), relative.abs().amax(dim=-1),
        (spots - (parts.grips[:, :, None] @ plane)).norm(dim=-1) / size,
    ]  # fmt: skip
    level = (parts.points.mean(dim=2) * direction).sum(dim=-1)[..., None] * direction
    options = spots @ plane.transpose(-1, -2) + level[:, :, None]
    groups = torch.eye(len(PIVOT_GROUPS), dtype=spots.dtype).repeat_interleave(torch.tensor(_PIVOT_COUNTS), dim=0)
    return Pivots(options, torch.stack(columns, dim=-1), groups)


def _contact(
    parts: Parts, plane: Float[Tensor, "B P 3 2"]
) -> tuple[Float[Tensor, "B P M 2"], Float[Tensor, "B P M 1"]]:
    """Where the part touches others, in the plane across the axis, on either side; its nearest points if nowhere."""
    limit = torch.quantile(parts.gaps, 0.1, dim=-1, keepdim=True).clamp_min(0.02)
    weight = (parts.gaps <= limit).to(parts.points.dtype)[..., None].clamp_min(1e-6)
    there = (parts.points + parts.toward) @ plane
    return torch.cat([parts.points @ plane, there], dim=2), torch.cat([weight, weight], dim=2)


def _grid(low: Float[Tensor, "B P 2"], high: Float[Tensor, "B P 2"], count: int) -> Float[Tensor, "B P G 2"]:
    steps = torch.linspace(0.0, 1.0, count, dtype=low.dtype)
    share = torch.cartesian_prod(steps, steps)
    return low[:, :, None] + share * (high - low)[:, :, None]
