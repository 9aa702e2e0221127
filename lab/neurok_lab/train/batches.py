"""Batches of augmented views for the networks of joints and of pieces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from neurok.errors import NeurokError
from neurok.geometry import lie
from neurok.learned.ensemble import WAYS_UP
from neurok.learned.joint_network import Parts
from neurok.learned.joints import QUARTERS, VIEWS
from neurok.learned.part_features import PartClouds
from neurok.learned.part_views import Labels, Targets, some_points, stack_clouds, stack_labels, turned
from neurok_lab.train.examples import SOURCES, Example, PieceExample
from neurok_lab.train.losses import PieceTargets

PART_FIELDS = ("parts", "points", "normals", "gaps", "toward", "areas", "directions", "sources")
"""Fields of the clouds with one row for each part."""


POOL = 4  # batches are cut from so many times their size, sorted by parts: padding is work for nothing
VIEW_POINTS = 96  # points of each part that a view of joints is made of
VERSIONS = {"rest": 0.5, "posed": 0.25, "pieces": 0.25, "search": 1.0}
"""How often an object is drawn as it is stored, in another state, cut into connected pieces, and with what the search
says of it, which has no other versions."""

# How far views of joints go from what is stored, set by hand; lengths are shares of the unit box.
MISSING = 0.6  # largest share of the parts that an incomplete view lacks
MIRRORED = 0.5  # share of the views that are mirrored
STRETCHED = 0.7  # share of the views that are stretched
TURNED, TURN = 0.2, 0.15  # share of the views that are turned about the vertical, and by how much at most [rad]
SHIFT = (
    0.06  # largest shift along each axis: with it and with noise no object is known by the exact places of its parts
)
NOISE = 0.002  # standard deviation of points

# The same of views of pieces.
PIECE_ROWS = 256  # pieces in a batch at most, padding included: objects of many pieces cost most of the time
MANY_PIECES = 24  # where an object has more pieces, two thirds of the points are seen
PIECE_STRETCHED, PIECE_STRETCH = 0.6, 0.3  # share that are stretched, and by how much along each axis, on a log scale
PIECE_TIPPED, PIECE_TIP = 0.3, 0.15  # share turned out of their axes, and by how much [rad]; about the vertical twice
PIECES_MISSING = 0.3  # largest share of the pieces that an incomplete view lacks
PIECE_SHIFT = 0.04  # largest shift along each axis


@dataclass(frozen=True)
class JointViewConfig:
    """What a batch of joints is made of; ``tipped`` and ``incomplete`` were measured."""

    objects: int = 16
    """Objects in a batch."""

    points: int = 64
    """Points of each part that the network sees."""

    shares: tuple[float, ...] = ()
    """How much is drawn of each data set; of all alike if empty."""

    tipped: float = 0.0
    """Share of the views that lie on another side: which way is up tells a category, not where a hinge is."""

    incomplete: float = 0.0
    """Share of the views without some of the parts."""

    stretch: float = 0.35
    """By how much views are stretched at most along each axis, on a log scale."""


@dataclass(frozen=True)
class PieceViewConfig:
    """What a batch of pieces is made of."""

    objects: int = 16
    """Objects in a batch, or fewer so that it has no more than ``PIECE_ROWS`` pieces."""

    points: int = 48
    """Points of each piece that the network sees."""

    shares: tuple[float, float, float] = (0.5, 0.27, 0.23)
    """How much is drawn of real, generated and static objects."""

    incomplete: float = 0.25
    """Share of the views without some of the pieces."""


class Batches:
    """Batches of augmented views; every object of a data set is drawn alike often."""

    def __init__(self, examples: Sequence[Example], config: JointViewConfig) -> None:
        self.config, shares = config, config.shares
        self.draws = Draws(examples, "folder")
        if shares and len(shares) <= max(self.draws.sources):
            raise NeurokError(f"Every source of examples needs a share, but {len(shares)} are given for more sources.")
        self.draws.weigh([shares[source] if shares else 1.0 for source in self.draws.sources])

    def draw(self, rng: np.random.Generator) -> tuple[Parts, Targets]:
        size, pool = self.config.objects, POOL
        start = rng.random()
        ordered = sorted((self.draw_example(rng) for _ in range(pool * size)), key=lambda e: len(e.clouds.parts))
        first = int(start * pool) * size
        views = [augmented(example, rng, self.config) for example in ordered[first : first + size]]
        clouds, labels = [view[0] for view in views], [view[1] for view in views]
        parts = stack_clouds(clouds, self.config.points, rng)
        return parts, stack_labels(clouds, labels, parts.points.shape[1], rng)

    def draw_example(self, rng: np.random.Generator) -> Example:
        """A data set, one of its objects, and one of the versions of that."""
        versions = self.draws.draw(rng)
        return versions[_pick(np.cumsum([VERSIONS[version.version] for version in versions]), rng)]


class Draws:
    """Versions of objects by where they are from, each source with its share."""

    def __init__(self, examples: Sequence[Any], by: str) -> None:
        found: dict[Any, dict[str, list[Any]]] = {}
        for example in examples:
            found.setdefault(getattr(example, by), {}).setdefault(example.object, []).append(example)
        if not found:
            raise NeurokError("There are no examples to learn from; every object was left out or held out.")
        self.sources = sorted(found, key=SOURCES.index if by == "source" else None)
        self.objects = [list(found[source].values()) for source in self.sources]

    def weigh(self, shares: Sequence[float]) -> None:
        """How much is drawn of each source."""
        self.ends = np.cumsum(shares)
        if not self.ends[-1] > 0:
            raise NeurokError("At least one source of examples needs a share above zero.")

    def draw(self, rng: np.random.Generator) -> list[Any]:
        """All versions of an object of a source."""
        objects = self.objects[_pick(self.ends, rng)]
        return objects[int(rng.integers(len(objects)))]


def _pick(ends: Float[np.ndarray, " N"], rng: np.random.Generator) -> int:
    return int(np.searchsorted(ends, rng.random() * ends[-1], side="right"))


def augmented(example: Example, rng: np.random.Generator, how: JointViewConfig) -> tuple[PartClouds, Labels]:
    """Another view of the object: turned by quarters, mirrored, often stretched, sometimes turned a little, shifted,
    lying on another side, or without some of its parts.
    """
    clouds, labels = some_points(example.clouds, VIEW_POINTS, rng), example.labels
    if rng.random() < how.incomplete:
        clouds, labels = without_some(clouds, labels, MISSING, rng)
    matrix: Float[np.ndarray, "3 3"] = QUARTERS[int(rng.integers(4))]
    if rng.random() < how.tipped:
        matrix = matrix @ WAYS_UP[int(rng.integers(1, len(WAYS_UP)))]
    if rng.random() < MIRRORED:
        matrix = matrix @ np.diag([-1.0, 1.0, 1.0])
    if rng.random() < STRETCHED:
        matrix = matrix @ np.diag(np.exp(rng.uniform(-how.stretch, how.stretch, 3)))
    if rng.random() < TURNED:
        angle = rng.uniform(-TURN, TURN)
        matrix = lie.axis_angle_matrix(np.array([0.0, 1.0, 0.0]), angle) @ matrix
    clouds, moved = turned(clouds, labels, matrix)
    assert moved is not None
    shift = rng.uniform(-SHIFT, SHIFT, 3)
    noise = NOISE * rng.normal(size=clouds.points.shape)
    return replace(clouds, points=clouds.points + shift + noise), replace(moved, origins=moved.origins + shift)


def without_some(
    clouds: PartClouds, labels: Labels, share: float, rng: np.random.Generator
) -> tuple[PartClouds, Labels]:
    """The object without at most a share of its parts, and all that they carry; at least two parts stay."""
    count = len(clouds.parts)
    gone = rng.random(count) < rng.uniform(0.0, share)
    above = np.where(labels.parents < 0, np.arange(count), labels.parents)
    gone &= above != np.arange(count)
    for _ in range(count):
        gone = gone | gone[above]
    kept = np.flatnonzero(~gone)
    if len(kept) < 2 or len(kept) == count:
        return clouds, labels
    row_of = np.full(count + 1, -1)
    row_of[kept] = np.arange(len(kept))
    mine = np.flatnonzero(~gone[labels.owners])
    candidates = {name: getattr(labels, name)[mine] for name in ("moves", "axes", "origins", "limits", "weights")}
    return (
        some_parts(clouds, kept),
        Labels(labels.kinds[kept], row_of[labels.parents[kept]], row_of[labels.owners[mine]], **candidates),
    )


class PieceBatches:
    """Batches of augmented views; every object of a source is drawn alike often, and each of its versions."""

    def __init__(self, examples: Sequence[PieceExample], config: PieceViewConfig) -> None:
        self.config = config
        self.draws = Draws(examples, "source")
        self.draws.weigh([config.shares[SOURCES.index(source)] for source in self.draws.sources])

    def draw(self, rng: np.random.Generator) -> tuple[Parts, PieceTargets]:
        count = self.config.objects * POOL
        ordered = sorted((self._example(rng) for _ in range(count)), key=lambda e: len(e.bodies))
        chosen = self._alike(ordered, int(rng.integers(count)))
        views = [augmented_pieces(example, rng, self.config) for example in chosen]
        most = max(len(view.bodies) for view in views)
        points = self.config.points if most <= MANY_PIECES else 2 * self.config.points // 3
        parts = stack_clouds([view.clouds for view in views], points, rng)
        return parts, stack_targets(views)

    def _alike(self, ordered: list[PieceExample], first: int) -> list[PieceExample]:
        """Some examples from a place of the list on, as many as a batch holds; the last ones at its end."""
        most = self.config.objects
        while most > 1 and most * len(ordered[min(first + most, len(ordered)) - 1].bodies) > PIECE_ROWS:
            most -= 1
        return ordered[min(first, len(ordered) - most) :][:most]

    def _example(self, rng: np.random.Generator) -> PieceExample:
        versions = self.draws.draw(rng)
        return versions[int(rng.integers(len(versions)))]


def stack_targets(views: Sequence[PieceExample]) -> PieceTargets:
    """Targets of a batch; smaller objects are padded."""
    size = max(len(view.bodies) for view in views)
    bodies, moves = np.full((len(views), size), -1), np.full((len(views), size), -1)
    for row, view in enumerate(views):
        bodies[row, : len(view.bodies)], moves[row, : len(view.bodies)] = view.bodies, view.moves
    return PieceTargets(torch.from_numpy(bodies), torch.from_numpy(moves))


def augmented_pieces(example: PieceExample, rng: np.random.Generator, how: PieceViewConfig) -> PieceExample:
    """Another view: one of eight, often stretched, tipped, shifted, sometimes without some pieces."""
    clouds = some_points(example.clouds, 2 * how.points, rng)
    bodies, moves = example.bodies, example.moves
    if len(bodies) > 3 and rng.random() < how.incomplete:
        kept = np.flatnonzero(rng.random(len(bodies)) >= rng.uniform(0.0, PIECES_MISSING))
        if len(kept) > 1:
            clouds, bodies, moves = some_parts(clouds, kept), bodies[kept], moves[kept]
    matrix: Float[np.ndarray, "3 3"] = VIEWS[int(rng.integers(len(VIEWS)))]
    if rng.random() < PIECE_STRETCHED:
        matrix = matrix @ np.diag(np.exp(rng.uniform(-PIECE_STRETCH, PIECE_STRETCH, 3)))
    if rng.random() < PIECE_TIPPED:
        turn = rng.uniform(-PIECE_TIP, PIECE_TIP, 3) * np.array([1.0, 2.0, 1.0])
        angle = max(float(np.linalg.norm(turn)), 1e-9)
        matrix = lie.axis_angle_matrix(turn / angle, angle) @ matrix
    clouds = turned(clouds, None, matrix)[0]
    moved = clouds.points + rng.uniform(-PIECE_SHIFT, PIECE_SHIFT, 3) + NOISE * rng.normal(size=clouds.points.shape)
    return replace(example, clouds=replace(clouds, points=moved), bodies=bodies, moves=moves)


def some_parts(clouds: PartClouds, kept: np.ndarray) -> PartClouds:
    """The object without the other parts. Gaps stay as they were: what is gone has still left its place."""
    some = {name: getattr(clouds, name)[kept] for name in PART_FIELDS}
    return replace(clouds, **some, pairs=clouds.pairs[np.ix_(kept, kept)])
