"""How a body moves by the votes on it: lines to turn about or to slide along, and how likely any line is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from neurok.learned.views.sight import OBLIQUE, Votes

ALONG = 0.94
"""Cosine from which on a line is along an axis of the object; the network was trained with the same."""

PLACE = 0.08
"""Votes nearer than this tell of the same place of an axis [sizes of the object]."""

THIN = 0.02
"""Sides of a box are at least so long when places on them are told apart [sizes of the object]."""

DOUBT = 0.03
"""Share of votes that any place has: the network may be wrong about all."""

LEAST = 0.04
"""Axes and places that are less likely than this are not proposed."""

MOST = 400
"""Votes of a body that are compared with each other."""


class SeenLine(NamedTuple):
    """A way that a body may move."""

    turns: bool
    axis: Float[np.ndarray, " 3"]
    origin: Float[np.ndarray, " 3"]
    probability: float


@dataclass(frozen=True, eq=False)
class BodyVotes:
    """What the votes on one body say together."""

    turning: float
    """Probability that it turns, rather than slides."""

    axes: Float[np.ndarray, " 4"]
    """Probabilities of x, y, z and oblique ..."""

    oblique: Float[np.ndarray, " 3"]
    """... and the direction in the last case."""

    spots: Float[np.ndarray, "3 3 3"]
    """Probabilities of places across the box for each axis; what is missing to one is elsewhere."""

    hinges: Float[np.ndarray, "M 3"]
    weights: Float[np.ndarray, " M"]
    low: Float[np.ndarray, " 3"]
    high: Float[np.ndarray, " 3"]
    _best: dict[int, float] = field(default_factory=dict)

    @staticmethod
    def of(votes: Votes, mine: np.ndarray, low: np.ndarray | None = None, high: np.ndarray | None = None) -> BodyVotes:
        """Of some votes; the box is that of their points unless it is known better."""
        weights = votes.chances[mine] + 1e-6
        mean = lambda values: np.average(values, axis=0, weights=weights)  # noqa: E731
        points = votes.points[mine]
        axes = votes.axes[mine]
        per_axis = np.stack(
            [np.average(votes.spots[mine][:, k], axis=0, weights=weights * (axes[:, k] + 1e-6)) for k in range(3)]
        )
        some = np.linspace(0, len(points) - 1, min(MOST, len(points))).astype(np.int64)
        return BodyVotes(
            float(mean(1.0 / (1.0 + np.exp(-votes.turns[mine])))),
            mean(axes),
            np.linalg.eigh(mean(votes.tensors[mine]))[1][:, -1],
            per_axis,
            votes.hinges[mine][some],
            weights[some] / weights[some].sum(),
            np.quantile(points, 0.01, axis=0) if low is None else low,
            np.quantile(points, 0.99, axis=0) if high is None else high,
        )

    def likelihood(self, turns: bool, axis: Float[np.ndarray, " 3"], origin: Float[np.ndarray, " 3"]) -> float:
        """How likely a line is by the votes: kind, direction, and where it lies."""
        alike = np.abs(axis)
        number = int(alike.argmax()) if alike.max() > ALONG else OBLIQUE
        chance = float(self.axes[number]) + 1e-3
        if number == OBLIQUE:
            chance *= float(np.abs(axis @ self.oblique)) ** 8
        if not turns:
            return (1.0 - self.turning) * chance
        # The best place of a direction has all that the direction has: slides have no place to be wrong about.
        return self.turning * chance * min(1.0, self.place(axis, origin, number) / self._best_place(number))

    def place(self, axis: Float[np.ndarray, " 3"], origin: Float[np.ndarray, " 3"], number: int) -> float:
        """How likely an axis of a known direction is there: the share of votes that tell of the place, and the place's
        own probability."""
        away = self.hinges - origin
        away = away - (away @ axis)[:, None] * axis
        near = float(self.weights @ (np.linalg.norm(away, axis=1) < PLACE)) + DOUBT
        if number == OBLIQUE:
            return near * DOUBT
        others = [k for k in range(3) if k != number]
        middle, side = (self.low + self.high)[others] / 2, np.maximum((self.high - self.low)[others], THIN)
        row, column = (int(k) for k in np.clip(np.rint(2 * (origin[others] - middle) / side + 1), 0, 2))
        return near * (float(self.spots[number, row, column]) + DOUBT)

    def _best_place(self, number: int) -> float:
        if number not in self._best:
            axis = self.oblique if number == OBLIQUE else np.eye(3)[number]
            places = [self._densest(axis), *([] if number == OBLIQUE else self._corners(number))]
            self._best[number] = max(self.place(axis, origin, number) for origin in places)
        return self._best[number]

    def lines(self) -> list[SeenLine]:
        """Lines that are likely, best first; probabilities add up to one."""
        found: list[tuple[bool, np.ndarray, np.ndarray]] = []
        middle = (self.low + self.high) / 2
        for number in np.flatnonzero(self.axes > LEAST):
            axis = self.oblique if number == OBLIQUE else np.eye(3)[number]
            found.append((False, axis, middle))
            found.append((True, axis, self._densest(axis)))
            if number != OBLIQUE:
                found += [(True, axis, origin) for origin in self._corners(int(number))]
        chances = np.array([self.likelihood(*line) for line in found])
        order = np.argsort(-chances)
        return [SeenLine(found[k][0], found[k][1], found[k][2], float(chances[k] / chances.sum())) for k in order]

    def _densest(self, axis: Float[np.ndarray, " 3"]) -> Float[np.ndarray, " 3"]:
        """Where most votes see the axis."""
        flat = self.hinges - (self.hinges @ axis)[:, None] * axis
        near = np.linalg.norm(flat[:, None] - flat[None], axis=2) < PLACE
        best = near[int((near @ self.weights).argmax())]
        return np.average(self.hinges[best], axis=0, weights=self.weights[best])

    def _corners(self, number: int) -> list[Float[np.ndarray, " 3"]]:
        """Places across the box that are likely for an axis."""
        others, sides = (
            [k for k in range(3) if k != number],
            np.stack([self.low, (self.low + self.high) / 2, self.high]),
        )
        found = []
        for row, column in np.argwhere(self.spots[number] > LEAST):
            origin = sides[1].copy()
            origin[others[0]], origin[others[1]] = sides[row, others[0]], sides[column, others[1]]
            found.append(origin)
        return found
