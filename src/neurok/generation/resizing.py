"""Makes objects and their parts wider, taller or thicker: each part is stretched where it meets its parent.

What hangs on a part goes where the point goes that it meets, so that contacts stay; attachments are looked after
afterwards all the same (``attachment``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from neurok.families.household.parts import Assembly, Part
from neurok.generation.edit_request import Dimension
from neurok.generation.fields import LEVEL
from neurok.modelling.forms import Hollow

LOOSE = frozenset({"throw pillow", "pillow", "knob", "handle", "button", "bow"})
"""Parts that are of one size whatever they lie on."""

AXES: dict[str, int] = {"width": 0, "height": 1, "depth": 2}


@dataclass(frozen=True)
class ResizingConfig:
    """What is stretched with the whole, and what a rod is."""

    thin: float = 0.2
    """Parts that take up less than this share of the object along an axis are moved, not stretched: legs and arms of a
    wider sofa stay as thick as they are."""

    most: float = 2.0
    """Times that a part is stretched beyond the whole at most."""

    rod: float = 2.0
    """A rod is longer than so many times its other two sides ..."""

    even: float = 2.0
    """... which differ by less than this factor."""


RESIZING = ResizingConfig()


def resized(
    assembly: Assembly, numbers: tuple[int, ...], dimension: Dimension, factor: float, config: ResizingConfig = RESIZING
) -> Assembly:
    """The object with some of its parts, or all if no numbers are given, larger in one dimension."""
    if not numbers and dimension == "size":
        return _scaled(assembly, factor)
    if not numbers and dimension == "thickness":
        numbers = (0,)
    if not numbers:
        return _whole_resized(assembly, dimension, factor, config)
    chosen = set(numbers)
    factors = [
        part_factors(part, dimension, factor, config) if number in chosen else np.ones(3)
        for number, part in enumerate(assembly.parts)
    ]
    return _stretched(assembly, factors)


def _whole_resized(assembly: Assembly, dimension: Dimension, factor: float, config: ResizingConfig) -> Assembly:
    """What is stretched makes up for what is only moved, so that the whole grows by the factor."""
    before = _extent(assembly)
    axis = AXES.get(dimension, 2 if before[2] > before[0] else 0)
    first = _stretched(assembly, _whole_factors(assembly, axis, factor, config))
    share = (_extent(first)[axis] / before[axis] - 1.0) / (factor - 1.0) if factor != 1.0 else 1.0
    more = 1.0 + (factor - 1.0) / min(max(share, 1.0 / config.most), 1.0)
    return _stretched(assembly, _whole_factors(assembly, axis, max(more, 0.5 * factor), config))


def _extent(assembly: Assembly) -> np.ndarray:
    """Sides of the box around the boxes of all that is not loose; no solid has to be made for it."""
    ends = []
    for part in [part for part in assembly.parts if part.name not in LOOSE] or assembly.parts:
        half = 0.5 * np.abs(part.poses[:, :3, :3]) @ part.size
        ends += [part.poses[:, :3, 3] - half, part.poses[:, :3, 3] + half]
    return np.ptp(np.concatenate(ends), axis=0)  # type: ignore[no-any-return]


def part_factors(part: Part, dimension: Dimension, factor: float, config: ResizingConfig = RESIZING) -> np.ndarray:
    """By how much the sides of one part grow, in its own axes."""
    order = np.argsort(part.size, kind="stable")
    small, middle, long = part.size[order]
    is_rod = long > config.rod * middle and middle < config.even * small
    out = np.ones(3)
    if dimension == "size":
        out[:] = factor
    elif dimension == "thickness" or (is_rod and dimension in ("width", "depth") and not _is_along(part, dimension)):
        out[order[:2] if is_rod else order[:1]] = factor
    elif dimension == "length" or (is_rod and dimension == "height" and factor < 1.0):
        out[order[2]] = factor
    else:
        out[_own_axis(part, AXES[dimension])] = factor
    return out


def _is_along(part: Part, dimension: Dimension) -> bool:
    return _own_axis(part, AXES[dimension]) == int(np.argmax(part.size))


def _own_axis(part: Part, axis: int) -> int:
    """The part's own axis that lies nearest to one of the object."""
    return int(np.abs(part.turn[axis]).argmax())


def _whole_factors(assembly: Assembly, axis: int, factor: float, config: ResizingConfig) -> list[np.ndarray]:
    extent = _extent(assembly)
    factors = []
    for part in assembly.parts:
        share = float(np.abs(part.turn[axis]) @ part.size) / float(extent[axis])
        own = np.ones(3)
        is_long = share > config.thin and part.name not in LOOSE
        if is_long or part.role == "moving" or len(assembly.parts) == 1:
            own[_own_axis(part, axis)] = factor
        factors.append(own)
    if all((own == 1.0).all() for own in factors):
        factors[0][_own_axis(assembly.parts[0], axis)] = factor
    return factors


@dataclass(frozen=True, eq=False)
class _Map:
    """Where the points of a part go."""

    linear: Float[np.ndarray, "3 3"]
    start: Float[np.ndarray, "3"]
    end: Float[np.ndarray, "3"]

    def __call__(self, point: np.ndarray) -> np.ndarray:
        if self.is_still:
            return np.asarray(point)
        return np.asarray(self.end + self.linear @ (point - self.start))

    @property
    def is_still(self) -> bool:
        return bool((self.start == self.end).all() and (self.linear == np.eye(3)).all())


def _stretched(assembly: Assembly, factors: list[np.ndarray]) -> Assembly:
    """Parts with their sides multiplied; those that nothing happens to stay what they are."""
    maps: list[_Map] = []
    parts: list[Part] = []
    for part, own in zip(assembly.parts, factors, strict=True):
        linear = np.eye(3) if (own == 1.0).all() else part.turn @ np.diag(own) @ part.turn.T
        parent = maps[part.parent] if part.parent >= 0 else None
        start = part.meets.copy() if parent is not None else part.centre.copy()
        end = parent(start) if parent is not None else start.copy()
        for axis in (0, 2):  # what stands in the middle stays there
            if abs(part.centre[axis]) < LEVEL and "xz"[axis // 2] not in part.repeat.mirror:
                start[axis] = end[axis] = part.centre[axis]
        here = _Map(linear, start, end)
        maps.append(here)
        if here.is_still and (parent is None or parent.is_still):
            parts.append(part)
            continue
        repeat = part.repeat
        if parent is not None and not parent.is_still:
            pivot = np.asarray(repeat.pivot)
            if assembly.parts[part.parent].repeat.total == 1:
                pivot = parent(np.array([pivot[0], part.centre[1], pivot[1]]))[[0, 2]]
            repeat = replace(repeat, step=parent.linear @ np.asarray(repeat.step), pivot=pivot)
        hinge = part.hinge
        if hinge is not None:
            grow = _along(linear, np.asarray(hinge.axis)) if hinge.kind == "prismatic" else 1.0
            origin = here(np.asarray(hinge.origin))
            hinge = replace(hinge, origin=origin, lower=hinge.lower * grow, upper=hinge.upper * grow)
        meets = part.meets if parent is None else parent(part.meets)
        parts.append(
            replace(part, size=part.size * own, centre=here(part.centre), meets=meets, repeat=repeat, hinge=hinge)
        )
    return replace(assembly, parts=tuple(parts))


def _along(linear: np.ndarray, axis: np.ndarray) -> float:
    return float(np.linalg.norm(linear @ axis) / max(float(np.linalg.norm(axis)), 1e-9))


def _scaled(assembly: Assembly, factor: float) -> Assembly:
    """All lengths multiplied."""
    parts = []
    for part in assembly.parts:
        repeat = replace(
            part.repeat, step=np.asarray(part.repeat.step) * factor, pivot=np.asarray(part.repeat.pivot) * factor
        )
        hinge = part.hinge
        if hinge is not None:
            grow = factor if hinge.kind == "prismatic" else 1.0
            origin = np.asarray(hinge.origin) * factor
            hinge = replace(hinge, origin=origin, lower=hinge.lower * grow, upper=hinge.upper * grow)
        hollow = part.hollow and Hollow(part.hollow.wall * factor, part.hollow.opening)
        parts.append(
            replace(
                part,
                size=part.size * factor,
                centre=part.centre * factor,
                meets=part.meets * factor,
                repeat=repeat,
                hinge=hinge,
                hollow=hollow,
            )
        )
    return replace(assembly, parts=tuple(parts))
