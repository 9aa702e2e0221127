"""The lines a part might turn about or slide along: directions and pivots out of its box and its contacts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from neurok.bodyplan.contacts import Box, Contact, ContactGraph, PartSamples, snap_axis

# Which lines are tried. By eye.
SNAP = 0.9962  # Directions nearer than this to an axis of the world become it [cosine, five degrees].
SAME_DIRECTION = 0.9986  # Nearer directions are one [cosine, three degrees].
SAME_PLACE = 0.008  # Nearer parallel lines are one [share of the object].
CONTACT_WIDTH = 0.2  # A contact has a direction across it if it is wider than this [share of its length].
# Directions that are tried for all parts together. Beyond it, as in a heap of leaves, parts keep those of their box,
# of the world and of their strongest contacts. More than objects of 32 parts have; about ten seconds.
MOST_DIRECTIONS = 400
FEWEST_DIRECTIONS = 4  # Directions that every part keeps.


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines to try for one part: a direction and a point each."""

    axes: Float[np.ndarray, "C 3"]
    origins: Float[np.ndarray, "C 3"]

    def __len__(self) -> int:
        return len(self.axes)


def directions_of_parts(
    contacts: ContactGraph, parts: Iterable[int]
) -> tuple[dict[int, Float[np.ndarray, "D 3"]], int]:
    """Directions worth a try for each part, and how many each may have at most; 0 where no part had to do with less."""
    found = {part: _directions_of(contacts, part, contacts.of(part)) for part in parts}
    counts = np.array([len(axes) for axes in found.values()], dtype=int)
    if counts.sum() <= MOST_DIRECTIONS:
        return found, 0
    caps = np.arange(FEWEST_DIRECTIONS, counts.max() + 1)
    fits = np.minimum(counts, caps[:, None]).sum(axis=1) <= MOST_DIRECTIONS
    cap = int(caps[max(0, int(fits.sum()) - 1)])
    for part in [part for part, axes in found.items() if len(axes) > cap]:
        strongest = sorted(contacts.of(part), key=lambda contact, part=part: -contact.share_of(part))  # type: ignore[misc]
        found[part] = _directions_of(contacts, part, tuple(strongest))[:cap]
    return found, cap


def _directions_of(contacts: ContactGraph, part: int, touching: tuple[Contact, ...]) -> Float[np.ndarray, "D 3"]:
    samples = contacts.samples[part]
    assert samples is not None, "parts without surface are not asked for"
    return directions(samples, touching)


def directions(samples: PartSamples, touching: tuple[Contact, ...]) -> Float[np.ndarray, "D 3"]:
    """Directions worth a try, no two alike: of the box, of the world, across and along each contact."""
    found = [*samples.box.axes, *np.eye(3)]
    for contact in touching:
        found.append(contact.normal)
        if contact.extent[0] > 0:
            found.append(contact.directions[0])
        if contact.extent[1] > CONTACT_WIDTH * contact.extent[0]:
            found.append(contact.directions[2])
    return _distinct((snap_axis(axis, SNAP) for axis in found), SAME_DIRECTION)


def turning_lines(
    part: int, parent: int, contacts: ContactGraph, axes: Float[np.ndarray, "D 3"], own: PartSamples
) -> Lines:
    """For every direction the lines along edges, faces and the middle of the box, and through the contacts."""
    pivots = np.concatenate([_box_places(own.box), own.center[None], *_contact_places(part, parent, contacts)])
    all_axes, all_origins = [], []
    for axis in axes:
        flat = pivots - np.outer(pivots @ axis, axis)
        kept = _apart(flat, SAME_PLACE * contacts.size)
        middle = (own.box.center @ axis) * axis
        all_origins.append(flat[kept] + middle)
        all_axes.append(np.broadcast_to(axis, (len(kept), 3)))
    return Lines(np.concatenate(all_axes), np.concatenate(all_origins))


def _box_places(box: Box) -> Float[np.ndarray, "N 3"]:
    """Middle, corners, edge and face centres of the box: all 27 points of its coarse grid."""
    steps = np.stack(np.meshgrid(*[[-1.0, 0.0, 1.0]] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    steps = steps[np.argsort(np.abs(steps).sum(axis=1), kind="stable")]
    return box.center + (steps * box.half) @ box.axes


def _contact_places(part: int, parent: int, contacts: ContactGraph) -> list[Float[np.ndarray, "N 3"]]:
    """Middle, ends and outermost places of the contact with the parent and with all neighbours."""
    pairs = contacts.of(part)
    sets = [pair.points for pair in pairs if pair.other(part) == parent]
    if len(pairs) > 1:
        sets.append(np.concatenate([pair.points for pair in pairs]))
    places = []
    for points in sets:
        low, high = points.min(axis=0), points.max(axis=0)
        box = Box(0.5 * (low + high), np.eye(3), 0.5 * (high - low))
        places += [points.mean(axis=0)[None], _box_places(box)]
    places += [pair.ends for pair in pairs if pair.other(part) == parent]
    return places


def _distinct(axes: Iterable[Float[np.ndarray, "3"]], cosine: float) -> Float[np.ndarray, "D 3"]:
    kept: list[np.ndarray] = []
    for axis in axes:
        if all(abs(float(axis @ other)) < cosine for other in kept):
            kept.append(axis if axis[np.argmax(np.abs(axis))] > 0 else -axis)
    return np.stack(kept)


def _apart(points: Float[np.ndarray, "N 3"], distance: float) -> list[int]:
    """Indices of points that keep a distance, earlier ones first."""
    near = ((points[:, None] - points) ** 2).sum(axis=2) <= distance**2
    kept: list[int] = []
    taken = np.zeros(len(points), dtype=bool)
    for i in range(len(points)):
        if not taken[i]:
            kept.append(i)
            taken |= near[i]
    return kept
