"""Batches of augmented views for the grouping network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float

from neurok.articulation.features import PartClouds
from neurok.articulation.network import Parts
from neurok.articulation.pieces_loss import PieceTargets
from neurok.articulation.predict import VIEWS
from neurok.articulation.views import some_points, stack_clouds, turned
from neurok.errors import NeurokError
from neurok.geometry import lie
from neurok.train.articulation_batches import PART_FIELDS
from neurok.train.pieces_data import SOURCES, PieceExample


@dataclass(frozen=True)
class PieceViewConfig:
    """What a batch is made of, and how far its views go from what is stored. Lengths are shares of the unit box."""

    objects: int = 16
    """Objects in a batch, or fewer ..."""

    rows: int = 256
    """... so that it has no more pieces than this, padding included: objects of many pieces cost most of the time."""

    points: int = 48
    """Points of each piece that the network sees ..."""

    many: int = 24
    """... or two thirds of them, where an object has more pieces than this."""

    pool: int = 4
    """Batches are cut from so many times their size, sorted by pieces: padding is work for nothing."""

    shares: tuple[float, float, float] = (0.5, 0.27, 0.23)
    """How much is drawn of real, generated and static objects."""

    stretched: float = 0.6
    """Share of the views that are stretched ..."""

    stretch: float = 0.3
    """... and by how much at most along each axis, on a log scale."""

    tipped: float = 0.3
    """Share of the views that are turned out of their axes ..."""

    tip: float = 0.15
    """... and by how much at most about each axis [rad]; about the vertical twice as much."""

    incomplete: float = 0.25
    """Share of the views without some of the pieces ..."""

    missing: float = 0.3
    """... and the largest share of the pieces that such a view lacks."""

    shift: float = 0.04
    """Largest shift along each axis."""

    noise: float = 0.002
    """Standard deviation of points."""


class PieceBatches:
    """Batches of augmented views; every object of a source is drawn alike often, and each of its versions."""

    def __init__(self, examples: Sequence[PieceExample], config: PieceViewConfig) -> None:
        self.config = config
        groups: dict[str, dict[str, list[PieceExample]]] = {}
        for example in examples:
            groups.setdefault(example.source, {}).setdefault(example.object, []).append(example)
        if not groups:
            raise NeurokError("There are no examples of pieces to learn from; every object was left out or held out.")
        self.sources = [list(groups[source].values()) for source in SOURCES if source in groups]
        self.ends = np.cumsum([share for source, share in zip(SOURCES, config.shares, strict=True) if source in groups])

    def draw(self, rng: np.random.Generator) -> tuple[Parts, PieceTargets]:
        count = self.config.objects * self.config.pool
        ordered = sorted((self._example(rng) for _ in range(count)), key=lambda e: len(e.bodies))
        chosen = self._alike(ordered, int(rng.integers(count)))
        views = [augmented(example, rng, self.config) for example in chosen]
        most = max(len(view.bodies) for view in views)
        points = self.config.points if most <= self.config.many else 2 * self.config.points // 3
        parts = stack_clouds([view.clouds for view in views], points, rng)
        return parts, stack_targets(views)

    def _alike(self, ordered: list[PieceExample], first: int) -> list[PieceExample]:
        """Some examples from a place of the list on, as many as a batch holds; the last ones at its end."""
        most = self.config.objects
        while most > 1 and most * len(ordered[min(first + most, len(ordered)) - 1].bodies) > self.config.rows:
            most -= 1
        return ordered[min(first, len(ordered) - most) :][:most]

    def _example(self, rng: np.random.Generator) -> PieceExample:
        objects = self.sources[int(np.searchsorted(self.ends, rng.random() * self.ends[-1], side="right"))]
        versions = objects[int(rng.integers(len(objects)))]
        return versions[int(rng.integers(len(versions)))]


def stack_targets(views: Sequence[PieceExample]) -> PieceTargets:
    """Targets of a batch; smaller objects are padded."""
    size = max(len(view.bodies) for view in views)
    bodies, moves = np.full((len(views), size), -1), np.full((len(views), size), -1)
    for row, view in enumerate(views):
        bodies[row, : len(view.bodies)], moves[row, : len(view.bodies)] = view.bodies, view.moves
    return PieceTargets(torch.from_numpy(bodies), torch.from_numpy(moves))


def augmented(example: PieceExample, rng: np.random.Generator, how: PieceViewConfig) -> PieceExample:
    """Another view: one of eight, often stretched, tipped, shifted, sometimes without some pieces."""
    clouds = some_points(example.clouds, 2 * how.points, rng)
    bodies, moves = example.bodies, example.moves
    if len(bodies) > 3 and rng.random() < how.incomplete:
        kept = np.flatnonzero(rng.random(len(bodies)) >= rng.uniform(0.0, how.missing))
        if len(kept) > 1:
            clouds, bodies, moves = some_pieces(clouds, kept), bodies[kept], moves[kept]
    matrix: Float[np.ndarray, "3 3"] = VIEWS[int(rng.integers(len(VIEWS)))]
    if rng.random() < how.stretched:
        matrix = matrix @ np.diag(np.exp(rng.uniform(-how.stretch, how.stretch, 3)))
    if rng.random() < how.tipped:
        turn = rng.uniform(-how.tip, how.tip, 3) * np.array([1.0, 2.0, 1.0])
        angle = max(float(np.linalg.norm(turn)), 1e-9)
        matrix = lie.axis_angle_matrix(turn / angle, angle) @ matrix
    clouds = turned(clouds, None, matrix)[0]
    moved = clouds.points + rng.uniform(-how.shift, how.shift, 3) + how.noise * rng.normal(size=clouds.points.shape)
    return replace(example, clouds=replace(clouds, points=moved), bodies=bodies, moves=moves)


def some_pieces(clouds: PartClouds, kept: np.ndarray) -> PartClouds:
    """The object without the other pieces. Gaps stay as they were: what is gone has still left its place."""
    some = {name: getattr(clouds, name)[kept] for name in PART_FIELDS}
    return replace(clouds, **some, pairs=clouds.pairs[np.ix_(kept, kept)])
