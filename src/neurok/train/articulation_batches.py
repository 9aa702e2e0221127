"""Batches of augmented views for the joint model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from neurok.articulation.features import PartClouds
from neurok.articulation.network import Parts
from neurok.articulation.predict import QUARTERS
from neurok.articulation.upright import WAYS_UP
from neurok.articulation.views import Labels, Targets, some_points, stack_clouds, stack_labels, turned
from neurok.errors import NeurokError
from neurok.geometry import lie
from neurok.train.articulation_data import Example

SHARES = {"rest": 0.5, "posed": 0.25, "pieces": 0.25, "search": 1.0}
"""How often each version of an object is drawn."""

AUGMENTED = 96
"""Points of each part that a view is made of; the network gets some of them."""

POOLED = 4
"""Batches are cut from so many times their size."""


PART_FIELDS = ("parts", "points", "normals", "gaps", "toward", "areas", "directions", "sources")
"""Fields of the clouds with one row for each part."""


@dataclass(frozen=True)
class Augment:
    """How far views go from what is stored."""

    tipped: float = 0.0
    """Share of the views that lie on another side: which way is up tells a category, not where a hinge is."""

    incomplete: float = 0.0
    """Share of the views without some of the parts."""

    stretch: float = 0.35
    """Largest stretch along each axis, on a log scale."""


AS_STORED = Augment()


class Batches:
    """Batches of augmented views, drawn by the generator that is passed in."""

    def __init__(
        self,
        examples: Sequence[Example],
        objects: int,
        points: int,
        shares: Sequence[float],
        rng: np.random.Generator,
        augment: Augment = AS_STORED,
    ) -> None:
        self.objects, self.points, self.rng, self.augment = objects, points, rng, augment
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

    def next(self) -> tuple[Parts, Targets]:
        # Objects with as many parts go together: padding is work for nothing.
        start = self.rng.random()
        ordered = sorted((self._draw() for _ in range(POOLED * self.objects)), key=lambda e: len(e.clouds.parts))
        first = int(start * POOLED) * self.objects
        views = [augmented(example, self.rng, self.augment) for example in ordered[first : first + self.objects]]
        clouds, labels = [view[0] for view in views], [view[1] for view in views]
        parts = stack_clouds(clouds, self.points, self.rng)
        return parts, stack_labels(clouds, labels, parts.points.shape[1], self.rng)

    def _draw(self) -> Example:
        objects = self.sources[self._pick(self.ends)]
        versions = objects[int(self.rng.integers(len(objects)))]
        return versions[self._pick(np.cumsum([SHARES[version.name.rsplit(".", 1)[1]] for version in versions]))]

    def _pick(self, ends: Float[np.ndarray, " N"]) -> int:
        return int(np.searchsorted(ends, self.rng.random() * ends[-1], side="right"))


def augmented(example: Example, rng: np.random.Generator, how: Augment = AS_STORED) -> tuple[PartClouds, Labels]:
    """Another view of the object: turned by quarters, mirrored, often stretched, sometimes turned a little, shifted,
    lying on another side, or without some of its parts.

    A shift and noise keep the network from knowing objects by the exact places of their parts.
    """
    clouds, labels = some_points(example.clouds, AUGMENTED, rng), example.labels
    if rng.random() < how.incomplete:
        clouds, labels = without_some(clouds, labels, rng)
    matrix: Float[np.ndarray, "3 3"] = QUARTERS[int(rng.integers(4))]
    if rng.random() < how.tipped:
        matrix = matrix @ WAYS_UP[int(rng.integers(1, len(WAYS_UP)))]
    if rng.random() < 0.5:
        matrix = matrix @ np.diag([-1.0, 1.0, 1.0])
    if rng.random() < 0.7:
        matrix = matrix @ np.diag(np.exp(rng.uniform(-how.stretch, how.stretch, 3)))
    if rng.random() < 0.2:
        matrix = lie.axis_angle_matrix(np.array([0.0, 1.0, 0.0]), rng.uniform(-0.15, 0.15)) @ matrix
    clouds, moved = turned(clouds, labels, matrix)
    assert moved is not None
    shift = rng.uniform(-0.06, 0.06, 3)
    noise = 0.002 * rng.normal(size=clouds.points.shape)
    return replace(clouds, points=clouds.points + shift + noise), replace(moved, origins=moved.origins + shift)


def without_some(clouds: PartClouds, labels: Labels, rng: np.random.Generator) -> tuple[PartClouds, Labels]:
    """The object without some of its parts and all that they carry; at least two parts stay.

    Gaps stay as they were: a part that is gone has still left its place.
    """
    count = len(clouds.parts)
    gone = rng.random(count) < rng.uniform(0.0, 0.6)
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
