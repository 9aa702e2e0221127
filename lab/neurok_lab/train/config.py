"""How a training run goes, whatever it learns; saved with every checkpoint."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Self, TypeVar

from torch import nn

from neurok.errors import NeurokError

POSITIVE = (
    "steps", "warmup", "evaluate_every", "pulse_every", "matrix_rate", "rate", "clip",
    "subjects", "targets", "objects", "points", "view_points", "pool",
)  # fmt: skip
"""Numbers that must not be zero ..."""

SHARES = ("decay", "average", "noise_start", "smoothing", "tipped", "incomplete", "missing", "trunk", "mirrored")
"""... and those that must not exceed one; none may be negative."""

AVERAGE_START = 10.0
"""The average forgets faster at first: after n steps by (1 + n) / (this + n), as TensorFlow does."""


@dataclass(frozen=True, kw_only=True)
class RunConfig(ABC):
    """Length, step sizes and intervals of a run; the recipes of a task add their model, their data and their loss."""

    task: ClassVar[str]
    """What is learned, as the card of the weights names it."""

    model: Any
    """The configuration of the network."""

    view: Any
    """What a batch is made of."""

    steps: int
    """Length of the run [batches]."""

    warmup: int = 100
    """Over so many steps the step size rises to its full length."""

    decay: float
    """Share of the run, at its end, over which the step size falls to zero."""

    matrix_rate: float
    """Step size of hidden matrices (Muon)."""

    rate: float
    """Step size of everything else (AdamW) ..."""

    trunk: float = 1.0
    """... of which a trunk, which has learned before, takes this share."""

    weight_decay: float = 0.01
    """What weights shrink by in a step, per step size."""

    clip: float = 1.0
    """Largest norm of the gradient."""

    average: float = 0.998
    """Decay per step of the running average of the weights, which is what is evaluated and shipped."""

    bf16: bool = False
    """Autocast; pays for wide layers and GPUs."""

    seed: int = 0
    """Of everything that is random."""

    evaluate_every: int
    """Steps between lines of the log."""

    checkpoint_minutes: float = 3.0
    """Time between checkpoints [min]."""

    pulse_every: int = 10
    """Steps between signs of life, and between agreements of several processes."""

    def __post_init__(self) -> None:
        """Refuse numbers that make no sense, all of them in one sentence."""
        numbers = {**asdict(self), **asdict(self.view)}
        numbers = {name: value for name, value in numbers.items() if isinstance(value, int | float)}
        wrong = [
            f"{name} must be {'above' if name in POSITIVE else 'at least'} 0, got {value}"
            for name, value in numbers.items()
            if not (value > 0 if name in POSITIVE else value >= 0)
        ]
        wrong += [f"{name} must be at most 1, got {numbers[name]}" for name in SHARES if numbers.get(name, 0) > 1]
        if wrong:
            raise NeurokError(f"The training configuration is invalid: {'; '.join(wrong)}.")

    @abstractmethod
    def build(self) -> nn.Module:
        """A fresh network with its loss: its ``model`` is what is shipped, a call takes a batch to terms of a loss."""

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """The recipe that a checkpoint or a card holds as JSON."""
        return restored(cls(), values)  # type: ignore[call-arg]

    def rate_factor(self, step: int) -> float:
        """Share of the step size at a step: warm-up, plateau, linear decay."""
        left = (self.steps - step) / max(1.0, self.decay * self.steps)
        return max(0.0, min(1.0, (step + 1) / self.warmup, left))

    def average_decay(self, step: int) -> float:
        """What the running average keeps of itself at a step."""
        return min(self.average, (1 + step) / (AVERAGE_START + step))


def restored(usual: Any, value: Any) -> Any:
    """What JSON has made plain, in the form of what usually stands there: a configuration, a tuple, or a number.

    Settings that have become constants since then are passed over.
    """
    if isinstance(value, dict):
        known = {name: restored(getattr(usual, name), inner) for name, inner in value.items() if hasattr(usual, name)}
        return replace(usual, **known)
    return tuple(value) if isinstance(usual, tuple) else value


Made = TypeVar("Made", bound=RunConfig)


class Recipes(dict[str, Made]):
    """Runs of a task by name; a name that is not among them gets a sentence."""

    def __init__(self, what: str, recipes: dict[str, Made]) -> None:
        super().__init__(recipes)
        self.what = what

    def __missing__(self, name: str) -> Made:
        raise NeurokError(f"There is no recipe '{name}' for {self.what}; known are {', '.join(self)}.")
