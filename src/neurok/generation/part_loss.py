"""What the autoencoder of parts is to get right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from neurok.generation.part_autoencoder import Decoded, PartConfig, PartInput, PartModel


@dataclass(frozen=True)
class PartWeights:
    """How much each term counts; those of distances are of the sketch that first worked, the tenths are SOPHY's."""

    reach: float = 0.15
    """Distances are clipped here, in halves of the box, and measured by it."""

    sharpness: float = 0.02
    """Distance over which inside turns into outside."""

    inside: float = 0.2
    """Of the cross entropy of inside and outside, beside the distances."""

    thin: float = 2.0
    """Of places inside beside those outside: else thin parts vanish."""

    form: float = 0.7
    """Of the numbers of forms."""

    words: float = 0.1
    """Of kind, opening, relief and pattern, each."""

    material: float = 0.1
    colour: float = 0.5
    """Larger than SOPHY's tenth: ours is one error of a whole part."""

    kl: float = 2e-4
    """Of a nat: a code of 40 numbers costs some tens of them."""


class PartTargets(NamedTuple):
    """What is known of parts."""

    kind: Int[Tensor, " B"]
    """-1 where it must not be asked, as of the following."""

    code: Float[Tensor, "B 24"]
    """Standardised."""

    opening: Int[Tensor, " B"]
    relief: Int[Tensor, " B"]
    wall: Float[Tensor, " B"]
    look: Float[Tensor, "B 7"]
    pattern: Int[Tensor, " B"]
    law: Int[Tensor, " B"]
    family: Int[Tensor, " B"]
    values: Float[Tensor, "B 5"]
    """Scaled; NaN where there is none."""

    queries: Float[Tensor, "B Q 3"]
    distances: Float[Tensor, "B Q"]


class Terms(NamedTuple):
    loss: Float[Tensor, ""]
    parts: dict[str, Tensor]


class PartTask(nn.Module):
    """The model with its loss."""

    def __init__(self, config: PartConfig, weights: PartWeights) -> None:
        super().__init__()
        self.model, self.weights = PartModel(config), weights

    def forward(self, given: PartInput, targets: PartTargets, noise: Tensor | None = None) -> Terms:
        weights, model = self.weights, self.model
        code, mean, log_variance = model(given, noise)
        shape = model.decoder.split(code)[0]
        distances = model.decoder.field(shape, given.aspect, targets.queries)
        decoded = model.decoder(code, given.aspect)
        kl = 0.5 * (mean.square() + log_variance.exp() - 1.0 - log_variance).sum(dim=-1).mean()
        parts = {
            **distance_terms(distances, targets.distances, weights),
            **form_terms(decoded, targets),
            **stuff_terms(decoded, targets),
            "nats": kl,
        }
        loss = parts["distance"] + weights.inside * parts["inside"] + weights.form * parts["form"]
        loss = loss + weights.words * (parts["kind"] + parts["opening"] + parts["relief"] + parts["pattern"])
        loss = loss + weights.words * parts["wall"] + weights.colour * parts["colour"]
        loss = loss + weights.material * (parts["law"] + parts["family"] + parts["material"]) + weights.kl * kl
        return Terms(loss, parts)


def distance_terms(found: Tensor, true: Tensor, weights: PartWeights) -> dict[str, Tensor]:
    reach, is_in = weights.reach, (true < 0).to(true.dtype)
    distance = (found.clamp(-reach, reach) - true.clamp(-reach, reach)).abs().mean() / reach
    thin = torch.tensor(weights.thin, dtype=found.dtype)
    logits = -found / weights.sharpness
    inside = nn.functional.binary_cross_entropy_with_logits(logits, is_in, pos_weight=thin)
    right = ((found < 0) == (true < 0)).to(found.dtype).mean()
    return {"distance": distance, "inside": inside, "right": right}


def form_terms(decoded: Decoded, targets: PartTargets) -> dict[str, Tensor]:
    is_form = targets.kind > 0
    number = (targets.kind - 1).clamp(min=0)
    guess = decoded.forms[torch.arange(len(number)), number]
    form = nn.functional.smooth_l1_loss(guess, targets.code, reduction="none", beta=0.1).mean(dim=-1)
    wall = nn.functional.smooth_l1_loss(decoded.wall, targets.wall, reduction="none", beta=0.1)
    is_hollow = (targets.opening > 0) & (targets.wall > -20.0)
    return {
        "form": _mean(form, is_form),
        "wall": _mean(wall, is_hollow),
        "kind": _choice(decoded.kind, targets.kind),
        "opening": _choice(decoded.opening, targets.opening),
        "relief": _choice(decoded.relief, targets.relief),
    }


def stuff_terms(decoded: Decoded, targets: PartTargets) -> dict[str, Tensor]:
    """Numbers that a material has not, and those of unknown materials, count nothing.

    Each number counts alike, however few materials have it: pooled, friction angles drown among the others.
    """
    known = (~targets.values.isnan()).to(decoded.values.dtype)
    error = (decoded.values - targets.values.nan_to_num()).abs() * known
    of_number = error.sum(dim=0) / known.sum(dim=0).clamp(min=1)
    look = (decoded.look - targets.look).abs()
    is_patterned = targets.pattern > 0
    return {
        "law": _choice(decoded.law, targets.law),
        "family": _choice(decoded.family, targets.family),
        "material": of_number.sum() / (known.sum(dim=0) > 0).sum().clamp(min=1),
        "colour": look[:, :3].mean() + 0.3 * _mean(look[:, 3:].mean(dim=-1), is_patterned),
        "pattern": _choice(decoded.pattern, targets.pattern),
    }


def _choice(logits: Tensor, labels: Tensor) -> Tensor:
    each = nn.functional.cross_entropy(logits, labels, ignore_index=-1, reduction="none")
    return each.sum() / (labels >= 0).sum().clamp(min=1)


def _mean(values: Tensor, counts: Tensor) -> Tensor:
    return (values * counts).sum() / counts.sum().clamp(min=1)
