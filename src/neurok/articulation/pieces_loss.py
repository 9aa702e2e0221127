"""What the grouping network is taught: of each piece, of each pair, and of the whole object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from neurok.articulation.network import Parts
from neurok.articulation.pieces_network import STATIC, PieceAnswers, PieceConfig, PieceModel


@dataclass(frozen=True)
class PieceLossConfig:
    """Weights of the questions. By eye, on one fold."""

    smoothing: float = 0.03
    """Share of each answer that is spread over all answers."""

    pairs: float = 0.5
    """Weight of pairs that are of one body, and of those that are not, beside that of pieces."""

    base_pairs: float = 0.2
    """Weight of a pair of which both belong to the base: nobody asks who belongs to whom there."""

    anything: float = 0.3
    """Weight of the question whether anything moves."""


class PieceTargets(NamedTuple):
    """The truth about a batch; -1 where a piece is padding."""

    bodies: Int[Tensor, "B P"]
    """Number of the body of each piece; the base is 0."""

    moves: Int[Tensor, "B P"]
    """``STATIC``, ``TURNS`` or ``SLIDES``."""


class PieceTerms(NamedTuple):
    loss: Float[Tensor, ""]
    parts: dict[str, Tensor]


class PieceTask(nn.Module):
    """The network with its loss. Every object counts alike, and in it bodies by the root of their pieces."""

    def __init__(self, config: PieceConfig, loss: PieceLossConfig) -> None:
        super().__init__()
        self.model = PieceModel(config)
        self.loss = loss

    def forward(self, parts: Parts, targets: PieceTargets) -> PieceTerms:
        return self.terms(self.model(parts), targets)

    def terms(self, answers: PieceAnswers, targets: PieceTargets) -> PieceTerms:
        """The loss of answers."""
        config = self.loss
        present, moving = targets.bodies >= 0, targets.moves > STATIC
        same = (targets.bodies[:, :, None] == targets.bodies[:, None]) & present[:, :, None] & present[:, None]
        weight = present / same.sum(dim=2).clamp_min(1).sqrt()
        weight = weight / weight.sum(dim=1, keepdim=True)
        each = nn.functional.cross_entropy(
            answers.moves.transpose(1, 2),
            targets.moves.clamp_min(0),
            reduction="none",
            label_smoothing=config.smoothing,
        )
        pieces = (each * weight).sum(dim=1).mean()
        pairs = self._pairs(answers.affinity, same, weight, moving)
        does = moving.any(dim=1).to(each.dtype)
        anything = nn.functional.binary_cross_entropy_with_logits(answers.anything, smoothed(does, config.smoothing))
        loss = pieces + config.pairs * pairs + config.anything * anything
        named = {"loss": loss, "pieces": pieces, "pairs": pairs, "anything": anything}
        return PieceTerms(loss, {name: value.detach() for name, value in named.items()})

    def _pairs(
        self,
        affinity: Float[Tensor, "B P P"],
        same: Bool[Tensor, "B P P"],
        weight: Float[Tensor, "B P"],
        moving: Bool[Tensor, "B P"],
    ) -> Float[Tensor, ""]:
        both = weight[:, :, None] * weight[:, None] * (1.0 - torch.eye(weight.shape[1]))
        still = ~moving[:, :, None] & ~moving[:, None]
        both = torch.where(still, self.loss.base_pairs * both, both)
        target = same.to(affinity.dtype)
        each = nn.functional.binary_cross_entropy_with_logits(
            affinity, smoothed(target, self.loss.smoothing), reduction="none"
        )
        # An object without pairs of a sort, or with little weight in them, must not count in full.
        sorts = (both * target, both * (1.0 - target))
        shares = [some / some.sum(dim=(1, 2), keepdim=True).clamp_min(0.02) for some in sorts]
        return sum((share * each).sum(dim=(1, 2)).mean() for share in shares)  # type: ignore[return-value]


def smoothed(truth: Tensor, share: float) -> Tensor:
    """Yes or no with some doubt."""
    return truth * (1.0 - share) + share / 2
