"""Batches of augmented views for the joint model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from neurok.articulation.ensemble import WAYS_UP
from neurok.articulation.features import PartClouds
from neurok.articulation.network import Parts
from neurok.articulation.predict import QUARTERS
from neurok.articulation.views import Labels, Targets, some_points, stack_clouds, stack_labels, turned
from neurok.errors import NeurokError
from neurok.geometry import lie
from neurok.train.articulation_data import Example

PART_FIELDS = ("parts", "points", "normals", "gaps", "toward", "areas", "directions", "sources")
"""Fields of the clouds with one row for each part."""


@dataclass(frozen=True)
class JointViewConfig:
    """What a batch is made of, and how far its views go from what is stored.

    Lengths are shares of the unit box. All but ``tipped`` and ``incomplete``, which were measured, are set by hand.
    """

    objects: int = 16
    """Objects in a batch."""

    points: int = 64
    """Points of each part that the network sees ..."""

    view_points: int = 96
    """... of those that a view is made of."""

    pool: int = 4
    """Batches are cut from so many times their size, sorted by parts: padding is work for nothing."""

    shares: tuple[float, ...] = ()
    """How much is drawn of each data set; of all alike if empty."""

    rest: float = 0.5
    """How often an object is drawn as it is stored, if it has other versions: ..."""

    posed: float = 0.25
    """... in another state, ..."""

    pieces: float = 0.25
    """... cut into connected pieces, ..."""

    search: float = 1.0
    """... and with what the search says of it, which has no other versions."""

    tipped: float = 0.0
    """Share of the views that lie on another side: which way is up tells a category, not where a hinge is."""

    incomplete: float = 0.0
    """Share of the views without some of the parts ..."""

    missing: float = 0.6
    """... and the largest share of the parts that such a view lacks."""

    mirrored: float = 0.5
    """Share of the views that are mirrored."""

    stretched: float = 0.7
    """Share of the views that are stretched ..."""

    stretch: float = 0.35
    """... and by how much at most along each axis, on a log scale."""

    turned: float = 0.2
    """Share of the views that are turned about the vertical ..."""

    turn: float = 0.15
    """... and by how much at most [rad]."""

    shift: float = 0.06
    """Largest shift along each axis: with it and with noise no object is known by the exact places of its parts."""

    noise: float = 0.002
    """Standard deviation of points."""


class Batches:
    """Batches of augmented views."""

    def __init__(self, examples: Sequence[Example], config: JointViewConfig) -> None:
        self.config, shares = config, config.shares
        sources: dict[int, dict[str, list[Example]]] = {}
        for example in examples:
            sources.setdefault(example.source, {}).setdefault(example.object, []).append(example)
        if not sources:
            raise NeurokError("There are no examples to learn from; every object was left out or held out.")
        if shares and len(shares) <= max(sources):
            raise NeurokError(f"Every source of examples needs a share, but {len(shares)} are given for more sources.")
        self.sources = [list(objects.values()) for _, objects in sorted(sources.items())]
        self.ends = np.cumsum([shares[source] if shares else 1.0 for source in sorted(sources)])
        if not self.ends[-1] > 0:
            raise NeurokError("At least one source of examples needs a share above zero.")

    def draw(self, rng: np.random.Generator) -> tuple[Parts, Targets]:
        size, pool = self.config.objects, self.config.pool
        start = rng.random()
        ordered = sorted((self.draw_example(rng) for _ in range(pool * size)), key=lambda e: len(e.clouds.parts))
        first = int(start * pool) * size
        views = [augmented(example, rng, self.config) for example in ordered[first : first + size]]
        clouds, labels = [view[0] for view in views], [view[1] for view in views]
        parts = stack_clouds(clouds, self.config.points, rng)
        return parts, stack_labels(clouds, labels, parts.points.shape[1], rng)

    def draw_example(self, rng: np.random.Generator) -> Example:
        """A source, one of its objects, and one of the versions of that."""
        objects = self.sources[_pick(self.ends, rng)]
        versions = objects[int(rng.integers(len(objects)))]
        return versions[_pick(np.cumsum([getattr(self.config, version.version) for version in versions]), rng)]


def _pick(ends: Float[np.ndarray, " N"], rng: np.random.Generator) -> int:
    return int(np.searchsorted(ends, rng.random() * ends[-1], side="right"))


def augmented(example: Example, rng: np.random.Generator, how: JointViewConfig) -> tuple[PartClouds, Labels]:
    """Another view of the object: turned by quarters, mirrored, often stretched, sometimes turned a little, shifted,
    lying on another side, or without some of its parts.
    """
    clouds, labels = some_points(example.clouds, how.view_points, rng), example.labels
    if rng.random() < how.incomplete:
        clouds, labels = without_some(clouds, labels, how.missing, rng)
    matrix: Float[np.ndarray, "3 3"] = QUARTERS[int(rng.integers(4))]
    if rng.random() < how.tipped:
        matrix = matrix @ WAYS_UP[int(rng.integers(1, len(WAYS_UP)))]
    if rng.random() < how.mirrored:
        matrix = matrix @ np.diag([-1.0, 1.0, 1.0])
    if rng.random() < how.stretched:
        matrix = matrix @ np.diag(np.exp(rng.uniform(-how.stretch, how.stretch, 3)))
    if rng.random() < how.turned:
        angle = rng.uniform(-how.turn, how.turn)
        matrix = lie.axis_angle_matrix(np.array([0.0, 1.0, 0.0]), angle) @ matrix
    clouds, moved = turned(clouds, labels, matrix)
    assert moved is not None
    shift = rng.uniform(-how.shift, how.shift, 3)
    noise = how.noise * rng.normal(size=clouds.points.shape)
    return replace(clouds, points=clouds.points + shift + noise), replace(moved, origins=moved.origins + shift)


def without_some(
    clouds: PartClouds, labels: Labels, share: float, rng: np.random.Generator
) -> tuple[PartClouds, Labels]:
    """The object without at most a share of its parts, and all that they carry; at least two parts stay.

    Gaps stay as they were: a part that is gone has still left its place.
    """
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
    some = {name: getattr(clouds, name)[kept] for name in PART_FIELDS}
    candidates = {name: getattr(labels, name)[mine] for name in ("moves", "axes", "origins", "limits", "weights")}
    return (
        replace(clouds, **some, pairs=clouds.pairs[np.ix_(kept, kept)]),
        Labels(labels.kinds[kept], row_of[labels.parents[kept]], row_of[labels.owners[mine]], **candidates),
    )
