"""The choices of one instance: numbers, options and looks, all drawn from one generator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from neurok.core import Surface
from neurok.modelling import appearance as looks

Option = TypeVar("Option")


class Dice:
    """A random generator with the few verbs that families need."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def between(self, low: float, high: float) -> float:
        return float(self.rng.uniform(low, high))

    def count(self, low: int, high: int) -> int:
        """A whole number, both ends included."""
        return int(self.rng.integers(low, high + 1))

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def pick(self, options: Sequence[Option], weights: Sequence[float] | None = None) -> Option:
        share = None if weights is None else np.asarray(weights) / np.sum(weights)
        return options[int(self.rng.choice(len(options), p=share))]

    def sign(self) -> int:
        return 1 if self.chance(0.5) else -1

    def wood(self) -> Surface:
        return looks.wood(self.pick(list(looks.WOODS)))

    def metal(self) -> Surface:
        return looks.metal(self.pick(list(looks.METALS)), round(self.between(0.15, 0.45), 1))

    def paint(self) -> Surface:
        return looks.paint(self.pick(list(looks.PAINTS)))

    def plastic(self) -> Surface:
        return looks.plastic(self.pick(list(looks.PAINTS)))

    def shell(self) -> Surface:
        """What appliances are clad in."""
        return self.pick(
            [looks.paint("white"), looks.metal("steel"), looks.metal("black_steel"), self.paint(), looks.paint("cream")]
        )

    def timber(self) -> Surface:
        """What furniture is made of."""
        return self.wood() if self.chance(0.65) else self.paint()
