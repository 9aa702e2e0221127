"""The choices of one instance: numbers, options and looks, all drawn from one generator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from neurok.core import Surface
from neurok.modelling import surfaces

Option = TypeVar("Option")


class Sampler:
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
        return surfaces.wood(self.pick(list(surfaces.WOODS)))

    def metal(self) -> Surface:
        return surfaces.metal(self.pick(list(surfaces.METALS)), round(self.between(0.15, 0.45), 1))

    def paint(self) -> Surface:
        return surfaces.paint(self.pick(list(surfaces.PAINTS)))

    def plastic(self) -> Surface:
        return surfaces.plastic(self.pick(list(surfaces.PAINTS)))

    def shell(self) -> Surface:
        """What appliances are clad in."""
        return self.pick(
            [
                surfaces.paint("white"),
                surfaces.metal("steel"),
                surfaces.metal("black_steel"),
                self.paint(),
                surfaces.paint("cream"),
            ]
        )

    def timber(self) -> Surface:
        """What furniture is made of."""
        return self.wood() if self.chance(0.65) else self.paint()
