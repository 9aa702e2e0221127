"""Both models behind one interface, and the conditional-VAE objective that trains them on a batch of pairs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Protocol

from jaxtyping import Float
from torch import Tensor

from neurok.errors import NeurokError
from neurok.learned.deformation.batch import Diagonal, PairTensors, Rest, Shared
from neurok.learned.deformation.handles import HandleConfig, HandleModel
from neurok.learned.deformation.points import PointConfig, PointModel
from neurok.learned.task import Task

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


def _describe(model: Any) -> dict[str, Any] | None:
    return {"config": asdict(model.config)} if isinstance(model, Model) else None


TASK = Task(lambda card: build_model(card["config"]), _describe)
