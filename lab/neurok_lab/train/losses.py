"""What the joint model is taught: shares of kinds, directions and places, votes, limits, parents.

What the grouping network is taught: of each piece, of each pair, and of the whole object.

The conditional-VAE objective on a batch of pairs.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from neurok.learned.deformation.batch import PairTensors as PairTensors
from neurok.learned.deformation.points import PointConfig, PointModel
from neurok.learned.grouping_network import STATIC, PieceAnswers, PieceConfig, PieceModel
from neurok.learned.joint_network import JointConfig, JointModel, Parts, pick
from neurok.learned.part_views import Targets

WIDTH = 0.02  # How near an option must lie to a true axis to be right [unit box].
NEAREST = 1e-3  # Share of the nearest option where none is right.
MOST_LIMIT = 3.0  # Errors of limits count up to this [half turns, or extents of the part].

TERMS = ("kinds", "axes", "parents", "pivots", "votes", "limits")


class Terms(NamedTuple):
    loss: Float[Tensor, ""]
    parts: dict[str, Float[Tensor, ""]]
    """Each term before it is weighted."""


class JointTask(nn.Module):
    """The model with learned weights of its losses (a noisy target weighs itself down).

    ``smoothing`` is the share of a target that is spread over all kinds, or over all directions of the part.
    """

    def __init__(self, config: JointConfig, smoothing: float = 0.0) -> None:
        super().__init__()
        self.smoothing = smoothing
        self.model = JointModel(config)
        self.log_scales = nn.Parameter(torch.tensor([0.0, 0.0, 0.0, 0.0, -2.0, -1.0]))

    def forward(self, parts: Parts, targets: Targets) -> Terms:
        encoded = self.model.encode(parts)
        motions = self.model.motions(parts, encoded)
        hinges = self.model.hinges(parts, encoded, targets.chosen)
        direction = pick(parts.directions, targets.chosen)
        is_turn = targets.origin_weights.sum(dim=-1) > 0
        kinds = smoothed(targets.kinds, torch.ones_like(targets.kinds), self.smoothing)
        allowed = (parts.sources >= 0)[:, :, None].to(targets.axes).expand(-1, -1, 2, -1)
        axes = smoothed(targets.axes.transpose(2, 3), allowed, self.smoothing)
        found = {
            "kinds": _cross_entropy(motions.kinds, kinds),
            "axes": _cross_entropy(motions.axes.transpose(2, 3), axes),
            "parents": _parents(motions.parents, targets),
        }
        away = _line_distance(hinges.options[:, :, :, None], targets.origins[:, :, None], direction[:, :, None, None])
        fit = (torch.exp(-((away / WIDTH) ** 2)) * targets.origin_weights[:, :, None]).sum(dim=-1)
        nearest = torch.nn.functional.one_hot(_masked_min(away, targets).argmin(dim=2), away.shape[2])
        wish = (fit + NEAREST * nearest) * is_turn[..., None]
        found["pivots"] = _cross_entropy(hinges.logits, wish / wish.sum(dim=-1, keepdim=True).clamp_min(1e-12))
        miss = _line_distance(hinges.votes[:, :, :, None], targets.origins[:, :, None], direction[:, :, None, None])
        # Where several axes are valid, the points of a part agree on one: the one they are nearest to as a whole.
        best = _masked_min(miss, targets, keep=True).mean(dim=2).amin(dim=-1)
        found["votes"] = _mean(best, is_turn)
        pivot = targets.origins[:, :, 0]
        pivot = torch.where(is_turn[..., None], pivot, parts.points.mean(dim=2))
        limits = self.model.limits(parts, encoded, targets.chosen, pivot)
        found["limits"] = _limits(limits, targets.limits)
        losses = torch.stack([found[name] for name in TERMS])
        loss = (losses * torch.exp(-self.log_scales) + self.log_scales).sum()
        return Terms(loss, {name: value.detach() for name, value in found.items()})


def smoothed(shares: Float[Tensor, "*B C"], allowed: Float[Tensor, "*B C"], smoothing: float) -> Float[Tensor, "*B C"]:
    """Shares of which a part is spread evenly over what is allowed (1, not 0); rows without a target stay without."""
    total = shares.sum(dim=-1, keepdim=True)
    even = allowed / allowed.sum(dim=-1, keepdim=True).clamp_min(1.0)
    return (1.0 - smoothing) * shares + smoothing * total * even


def _cross_entropy(logits: Float[Tensor, "*B C"], shares: Float[Tensor, "*B C"]) -> Float[Tensor, ""]:
    """Mean over the rows that have a target."""
    return _mean(-(shares * logits.log_softmax(dim=-1)).sum(dim=-1), shares.sum(dim=-1) > 0)


def _parents(logits: Float[Tensor, "B P P"], targets: Targets) -> Float[Tensor, ""]:
    known = targets.parents >= 0
    taken = logits.log_softmax(dim=-1).gather(2, targets.parents.clamp_min(0)[..., None])[..., 0]
    return _mean(-taken, known)


def _limits(found: Float[Tensor, "B P 2 2"], wanted: Float[Tensor, "B P 2 2"]) -> Float[Tensor, ""]:
    known = wanted.isfinite().all(dim=-1)
    error = (found - wanted.nan_to_num(0.0)).abs().clamp_max(MOST_LIMIT).sum(dim=-1)
    return _mean(error, known)


def _line_distance(
    points: Float[Tensor, "*#B 3"], origins: Float[Tensor, "*#B 3"], direction: Float[Tensor, "*#B 3"]
) -> Float[Tensor, "..."]:
    offset = points - origins
    return (offset - direction * (offset * direction).sum(dim=-1, keepdim=True)).square().sum(dim=-1).add(1e-8).sqrt()


def _masked_min(away: Float[Tensor, "B P C M"], targets: Targets, keep: bool = False) -> Tensor:
    """Distance to the nearest true origin, or to each with the absent ones far away."""
    far = away + 10.0 * (targets.origin_weights <= 0)[:, :, None].to(away.dtype)
    return far if keep else far.amin(dim=-1)


def _mean(values: Tensor, mask: Tensor) -> Float[Tensor, ""]:
    weight = mask.to(values.dtype)
    return (values * weight).sum() / weight.sum().clamp_min(1.0)


# Weights of the questions about pieces. By eye, on one fold.
PIECE_SMOOTHING = 0.03  # share of each answer that is spread over all answers
PAIRS = 0.5  # of pairs that are of one body, and of those that are not, beside that of pieces
BASE_PAIRS = 0.2  # of a pair of which both belong to the base: nobody asks who belongs to whom there
ANYTHING = 0.3  # of the question whether anything moves


class PieceTargets(NamedTuple):
    """The truth about a batch; -1 where a piece is padding."""

    bodies: Int[Tensor, "B P"]
    """Number of the body of each piece; the base is 0."""

    moves: Int[Tensor, "B P"]
    """``STATIC``, ``TURNS`` or ``SLIDES``."""


class PieceTask(nn.Module):
    """The network with its loss. Every object counts alike, and in it bodies by the root of their pieces."""

    def __init__(self, config: PieceConfig) -> None:
        super().__init__()
        self.model = PieceModel(config)

    def forward(self, parts: Parts, targets: PieceTargets) -> Terms:
        return self.terms(self.model(parts), targets)

    def terms(self, answers: PieceAnswers, targets: PieceTargets) -> Terms:
        """The loss of answers."""
        present, moving = targets.bodies >= 0, targets.moves > STATIC
        same = (targets.bodies[:, :, None] == targets.bodies[:, None]) & present[:, :, None] & present[:, None]
        weight = present / same.sum(dim=2).clamp_min(1).sqrt()
        weight = weight / weight.sum(dim=1, keepdim=True)
        each = nn.functional.cross_entropy(
            answers.moves.transpose(1, 2),
            targets.moves.clamp_min(0),
            reduction="none",
            label_smoothing=PIECE_SMOOTHING,
        )
        pieces = (each * weight).sum(dim=1).mean()
        pairs = self._pairs(answers.affinity, same, weight, moving)
        does = moving.any(dim=1).to(each.dtype)
        anything = nn.functional.binary_cross_entropy_with_logits(answers.anything, soft_truth(does, PIECE_SMOOTHING))
        loss = pieces + PAIRS * pairs + ANYTHING * anything
        named = {"loss": loss, "pieces": pieces, "pairs": pairs, "anything": anything}
        return Terms(loss, {name: value.detach() for name, value in named.items()})

    def _pairs(
        self,
        affinity: Float[Tensor, "B P P"],
        same: Bool[Tensor, "B P P"],
        weight: Float[Tensor, "B P"],
        moving: Bool[Tensor, "B P"],
    ) -> Float[Tensor, ""]:
        both = weight[:, :, None] * weight[:, None] * (1.0 - torch.eye(weight.shape[1]))
        still = ~moving[:, :, None] & ~moving[:, None]
        both = torch.where(still, BASE_PAIRS * both, both)
        target = same.to(affinity.dtype)
        each = nn.functional.binary_cross_entropy_with_logits(
            affinity, soft_truth(target, PIECE_SMOOTHING), reduction="none"
        )
        # An object without pairs of a sort, or with little weight in them, must not count in full.
        sorts = (both * target, both * (1.0 - target))
        shares = [some / some.sum(dim=(1, 2), keepdim=True).clamp_min(0.02) for some in sorts]
        return sum((share * each).sum(dim=(1, 2)).mean() for share in shares)  # type: ignore[return-value]


def soft_truth(truth: Tensor, share: float) -> Tensor:
    """Yes or no with some doubt."""
    return truth * (1.0 - share) + share / 2


STILL = 1e-4
"""Displacement energy, in the unit box, below which a pair counts as standing still: one hundredth of the box."""


class DeformationTerms(NamedTuple):
    """What the loop needs to step and to report."""

    loss: Float[Tensor, ""]
    relative: Float[Tensor, ""]
    """Squared error over displacement energy, averaged over pairs: 1 is 'nothing moves'."""

    nats: Float[Tensor, ""]
    """KL divergence from posterior to prior, per pair."""

    error: Float[Tensor, " P"]
    """Mean point error of each pair, in the unit box ..."""

    displacement: Float[Tensor, " P"]
    """... and its mean displacement."""


class DeformationTask(nn.Module):
    """The model with its loss: one call per batch, so that it can be wrapped for several processes."""

    def __init__(self, config: PointConfig) -> None:
        super().__init__()
        self.model = PointModel(config)

    def forward(self, pairs: PairTensors, kl: float = 0.0, noise: Tensor | None = None) -> DeformationTerms:
        """``kl`` is the weight of a nat of the posterior; without ``noise`` its mean is decoded."""
        model = self.model
        rest = pairs.rest
        repeat = lambda tensor: tensor.repeat_interleave(pairs.targets, dim=0)  # noqa: E731
        context = model.repeat(model.encode_rest(rest), pairs.targets)
        posterior = model.posterior_of(context, pairs)
        latent = posterior.mean if noise is None else posterior.draw(noise)
        moved = model.move_pairs(context, latent.to(rest.points.dtype))

        points, target = repeat(rest.points).flatten(1, 2), pairs.displaced.flatten(0, 1).flatten(1, 2)
        samples = rest.points.shape[2]
        area = (repeat(rest.areas)[..., None].expand(-1, -1, samples) / samples).flatten(1)
        squared = ((moved - target) ** 2).sum(dim=-1)
        energy = ((target - points) ** 2).sum(dim=-1)
        relative = (squared * area).sum(dim=1) / ((energy * area).sum(dim=1) + STILL)

        nats = posterior.nats().to(rest.points.dtype)
        loss = relative.mean() + kl * nats.mean()
        return DeformationTerms(
            loss,
            relative.detach().mean(),
            nats.detach().mean(),
            (squared.detach().clamp_min(1e-20).sqrt() * area).sum(dim=1),
            (energy.clamp_min(1e-20).sqrt() * area).sum(dim=1),
        )
