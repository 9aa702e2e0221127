"""What a training run is made of; saved beside every checkpoint."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from neurok.data.view import ViewConfig
from neurok.deformation.handles import HandleConfig
from neurok.deformation.loss import Weights
from neurok.deformation.models import ModelConfig, model_config


@dataclass(frozen=True)
class TrainConfig:
    model: ModelConfig = field(default_factory=HandleConfig)
    view: ViewConfig = field(default_factory=ViewConfig)
    steps: int = 7_000
    warmup: int = 200
    decay: float = 0.35
    """Fraction of the run, at its end, over which the step size falls to zero."""

    matrix_rate: float = 3e-3
    """Step size of hidden matrices (Muon)."""

    rate: float = 2e-3
    """Step size of everything else (AdamW)."""

    weight_decay: float = 0.01
    clip: float = 1.0
    """Largest norm of the gradient."""

    kl_weight: float = 3e-3
    kl_start: int = 300
    """Steps without the KL term: a posterior that is pulled early collapses."""

    kl_ramp: int = 3_000
    size_weight: float = 0.05
    """Of how far the prior reaches: it keeps the ways from growing while nothing else does."""

    surprise_weight: float = 0.0
    """Of the true motion under the prior of each handle: what makes the space small."""

    average: float = 0.999
    """Decay of the running average of the weights, which is what is evaluated and shipped."""

    bf16: bool = False
    """Autocast; pays for wide layers and GPUs."""

    seed: int = 0
    evaluate_every: int = 500
    checkpoint_minutes: float = 5.0

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_dict(values: dict[str, Any]) -> TrainConfig:
        rest = {k: v for k, v in values.items() if k not in ("model", "view")}
        return TrainConfig(model_config(values["model"]), ViewConfig(**values["view"]), **rest)

    def rate_factor(self, step: int) -> float:
        """Share of the step size at a step: warm-up, plateau, linear decay."""
        left = (self.steps - step) / max(1.0, self.decay * self.steps)
        return max(0.0, min(1.0, (step + 1) / self.warmup, left))

    def weights(self, step: int) -> Weights:
        """What counts how much at a step."""
        return Weights(self.kl_weight * self.kl_factor(step), self.size_weight, self.surprise_weight)

    def noise_factor(self, step: int) -> float:
        """Share of the noise of the posterior; full from the start, it would teach everything to be still."""
        return min(1.0, 0.05 + self.kl_factor(step))

    def kl_factor(self, step: int) -> float:
        return min(1.0, max(0.0, (step - self.kl_start) / max(1, self.kl_ramp)))
