"""Copies of one part (drawers, knobs, wheels, a pair of doors) get one answer, turned and mirrored as they are."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from itertools import product

import numpy as np
from jaxtyping import Float

from neurok.bodyplan.contacts import ContactGraph, PartSamples
from neurok.bodyplan.hypothesis import Hypothesis

COPIED_AREA = 0.03  # Copies differ by less in area [share of it]. Samples of one shape do by a hundredth.
# Points of one copy lie on the other within this [share of its box] beside the spacing of the samples ...
COPIED_SHAPE = 0.02
MOST_POINTS = 0.95  # ... or so many of them do.
COMPARED_POINTS = 128  # Points of a part that are laid onto another.


@dataclass(frozen=True, eq=False)
class CopyMap:
    """A turn by quarters, or a mirroring, about the middles of two parts that lays one onto the other."""

    linear: Float[np.ndarray, "3 3"]
    """Orthogonal."""

    source: Float[np.ndarray, "3"]
    target: Float[np.ndarray, "3"]

    def line(self, line: Hypothesis, part: int, parent: int) -> Hypothesis:
        """The joint of the one part as that of the other; its limits stay."""
        # An axis to turn about is a pseudovector: a mirror turns it round (det -1), a direction to slide along not.
        sign = 1.0 if line.kind == "prismatic" else float(np.round(np.linalg.det(self.linear)))
        origin = self.linear @ (line.origin - self.source) + self.target
        return replace(line, part=part, parent=parent, axis=sign * self.linear @ line.axis, origin=origin)


def copy_groups(contacts: ContactGraph, parents: tuple[int, ...], up: int) -> list[tuple[int, ...]]:
    """Parts of one carrier that are copies of each other, two or more at a time; ``up`` is the number of that axis."""
    groups: list[list[int]] = []
    for part, samples in enumerate(contacts.samples):
        if samples is None or parents[part] < 0:
            continue
        for group in groups:
            other = contacts.samples[group[0]]
            assert other is not None
            if parents[group[0]] != parents[part] or not _is_alike(other, samples):
                continue
            if copy_maps(contacts, group[0], part, up):
                group.append(part)
                break
        else:
            groups.append([part])
    return [tuple(group) for group in groups if len(group) > 1]


def copy_maps(contacts: ContactGraph, source: int, target: int, up: int) -> list[CopyMap]:
    """All ways to lay one part onto another that keep what is level level; none where they are no copies."""
    first, second = contacts.samples[source], contacts.samples[target]
    if first is None or second is None:
        return []
    low, high = _middle(first), _middle(second)
    points = first.spread(COMPARED_POINTS) - low
    allowed = COPIED_SHAPE * second.box.size + second.spacing
    found = []
    for linear in _symmetries(up):
        away = second.tree.query(points @ linear.T + high)[0]
        if float(np.quantile(away, MOST_POINTS)) < allowed:
            found.append(CopyMap(linear, low, high))
    return found


def _middle(samples: PartSamples) -> Float[np.ndarray, "3"]:
    return 0.5 * (samples.corners.min(axis=0) + samples.corners.max(axis=0))


def _is_alike(first: PartSamples, second: PartSamples) -> bool:
    return abs(math.log(first.area / second.area)) < COPIED_AREA


@cache
def _symmetries(up: int) -> tuple[Float[np.ndarray, "3 3"], ...]:
    """Mirrors along the axes of the world, and these after a quarter turn about the vertical; the identity first."""
    mirrors = [np.diag(signs) for signs in product((1.0, -1.0), repeat=3)]
    order = [0, 1, 2]
    first, second = (axis for axis in range(3) if axis != up)
    order[first], order[second] = second, first
    return tuple(mirror @ swap for swap in (np.eye(3), np.eye(3)[order]) for mirror in mirrors)
