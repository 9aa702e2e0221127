"""Both models behind one interface, and the conditional-VAE objective that trains them on a batch of pairs."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from jaxtyping import Float
from torch import Tensor, nn

from neurok.deformation.batch import Diagonal, PairTensors, Rest, Shared
from neurok.deformation.handles import HandleConfig, HandleModel
from neurok.deformation.points import PointConfig, PointModel
from neurok.errors import NeurokError

ModelConfig = HandleConfig | PointConfig
Model = HandleModel | PointModel


class PairModel(Protocol):
    """What training needs of a model; the context is the model's own affair."""

    def encode_rest(self, rest: Rest) -> Any: ...

    def repeat(self, context: Any, count: int) -> Any: ...

    @property
    def latent_size(self) -> int: ...

    def posterior_of(self, context: Any, pairs: PairTensors) -> Diagonal | Shared: ...

    def side_loss(self, context: Any, pairs: PairTensors) -> Float[Tensor, ""]: ...

    def size(self, context: Any, pairs: PairTensors) -> Float[Tensor, ""]: ...

    def surprise(self, context: Any, pairs: PairTensors) -> Float[Tensor, ""]: ...

    def move_pairs(self, context: Any, z: Float[Tensor, "P Z"], pairs: PairTensors) -> Float[Tensor, "P N 3"]: ...


CONFIGS: dict[str, type[HandleConfig] | type[PointConfig]] = {"handles": HandleConfig, "points": PointConfig}


def model_config(values: dict[str, Any]) -> ModelConfig:
    """A configuration from its dictionary; one that names no decoder is of the handle model."""
    name = values.get("decoder", "handles")
    if name not in CONFIGS:
        raise NeurokError(f"There is no decoder '{name}'; known are {', '.join(CONFIGS)}.")
    try:
        return CONFIGS[name](**values)
    except TypeError as error:
        raise NeurokError(f"This is no configuration of the model with {name}: {error}.") from error


def build_model(config: ModelConfig | dict[str, Any]) -> Model:
    """A fresh model; zero-initialised, it moves nothing."""
    if isinstance(config, dict):
        config = model_config(config)
    return PointModel(config) if isinstance(config, PointConfig) else HandleModel(config)


STILL = 1e-4
"""Displacement energy, in the unit box, below which a pair counts as standing still: one hundredth of the box."""

SIDE = 0.02
"""Weight of what a model learns beside poses: small, so that it only reads what the poses have taught."""


class Weights(NamedTuple):
    """What counts how much beside the error of a pose."""

    kl: float = 0.0
    """Of a nat of the posterior."""

    size: float = 0.05
    """Of how far the prior reaches."""

    surprise: float = 0.0
    """Of a nat of the true motion under the prior of each handle."""


PLAIN = Weights()


class Terms(NamedTuple):
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

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.model = build_model(config)

    def forward(self, pairs: PairTensors, weights: Weights = PLAIN, noise: Tensor | None = None) -> Terms:
        """Without ``noise`` the posterior mean is decoded."""
        model: PairModel = self.model
        rest = pairs.rest
        repeat = lambda tensor: tensor.repeat_interleave(pairs.targets, dim=0)  # noqa: E731
        rest_context = model.encode_rest(rest)
        context = model.repeat(rest_context, pairs.targets)
        posterior = model.posterior_of(context, pairs)
        latent = posterior.mean if noise is None else posterior.draw(noise)
        moved = model.move_pairs(context, latent.to(rest.points.dtype), pairs)

        points, target = repeat(rest.points).flatten(1, 2), pairs.displaced.flatten(0, 1).flatten(1, 2)
        samples = rest.points.shape[2]
        area = (repeat(rest.areas)[..., None].expand(-1, -1, samples) / samples).flatten(1)
        squared = ((moved - target) ** 2).sum(dim=-1)
        energy = ((target - points) ** 2).sum(dim=-1)
        relative = (squared * area).sum(dim=1) / ((energy * area).sum(dim=1) + STILL)

        nats = posterior.nats().to(rest.points.dtype)
        loss = relative.mean() + weights.kl * nats.mean() + SIDE * model.side_loss(rest_context, pairs)
        for term, weight in ((model.size, weights.size), (model.surprise, weights.surprise)):
            if weight:
                loss = loss + weight * term(rest_context, pairs)
        return Terms(
            loss,
            relative.detach().mean(),
            nats.detach().mean(),
            (squared.detach().clamp_min(1e-20).sqrt() * area).sum(dim=1),
            (energy.clamp_min(1e-20).sqrt() * area).sum(dim=1),
        )
