"""Parts that a real model has more than once: mirrored, in a row, or in a ring, found by laying one over the other."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float

from neurok.families.household.parts import Look, Repeat
from neurok.geometry import lie
from neurok.geometry.operators import face_areas
from neurok.geometry.sampling import sample_surface
from neurok.modelling.shapes import Shape


@dataclass(frozen=True)
class RepeatConfig:
    """When parts count as copies; lengths are shares of the longest side of the part."""

    off: float = 0.02
    """Largest difference of sides and of places where a copy should stand ..."""

    area: float = 0.03
    """... of areas, a share, ..."""

    colour: float = 0.05
    """... and of colours (sRGB, 0..1)."""

    away: float = 0.006
    """Mean distance of the surfaces, beyond what sampling leaves."""

    points: tuple[int, int] = (200, 1500)
    """Drawn on one surface and on the other."""

    row: int = 3
    """Fewest copies of a row or a ring; two are a pair, and mirrored if they can be."""


REPEATS = RepeatConfig()


@dataclass(frozen=True, eq=False)
class Single:
    """A closed solid [m] that may be one of several."""

    solid: Shape
    look: Look
    name: str
    repeat: Repeat = field(default_factory=Repeat)
    """How often it stands there, this one first."""

    @cached_property
    def centre(self) -> Float[np.ndarray, "3"]:
        """Of its box."""
        return self.solid.bounds.mean(axis=0)

    @cached_property
    def middle(self) -> Float[np.ndarray, "3"]:
        """Of its surface, which turns with it."""
        weights = face_areas(self.solid.vertices, self.solid.faces)
        return np.average(self.solid.vertices[self.solid.faces].mean(axis=1), axis=0, weights=weights)

    @cached_property
    def size(self) -> Float[np.ndarray, "3"]:
        return np.ptp(self.solid.bounds, axis=0)

    @property
    def longest(self) -> float:
        return float(self.size.max())

    @cached_property
    def area(self) -> float:
        return float(face_areas(self.solid.vertices, self.solid.faces).sum())

    def points(self, count: int, seed: int) -> Float[np.ndarray, "N 3"]:
        """On its surface, about the middle of it."""
        shape = self.solid
        drawn = sample_surface(shape.vertices, shape.faces, count, np.random.default_rng(seed))
        return drawn.interpolate(shape.vertices) - self.middle

    @cached_property
    def few(self) -> Float[np.ndarray, "N 3"]:
        return self.points(REPEATS.points[0], 0)

    @cached_property
    def tree(self):  # type: ignore[no-untyped-def]
        from scipy.spatial import cKDTree

        return cKDTree(self.points(REPEATS.points[1], 1))

    @cached_property
    def spacing(self) -> float:
        """Mean distance of its own points from others of its own."""
        return float(self.tree.query(self.few)[0].mean())


def repeated(found: list[Single], config: RepeatConfig = REPEATS) -> list[Single]:
    """The same solids, of copies only the first, which says where the others stand."""
    left, out = list(found), []
    while left:
        first = left[0]
        alike = [one for one in left[1:] if _is_alike(first, one, config)]
        start, repeat, used = max(_ways(first, alike, config), key=lambda way: len(way[2]))
        out.append(replace(start, repeat=repeat))
        left = [one for one in left if all(one is not other for other in used)]
    return out


Way = tuple[Single, Repeat, list[Single]]
"""Which is the first, how it is repeated, and all that this makes."""


def _is_alike(one: Single, other: Single, config: RepeatConfig) -> bool:
    looks_same = one.look.material == other.look.material and one.name == other.name
    colour = float(np.abs(np.subtract(one.look.rgb, other.look.rgb)).max())
    return looks_same and colour < config.colour and abs(one.area - other.area) < config.area * one.area


def _ways(first: Single, alike: list[Single], config: RepeatConfig) -> list[Way]:
    """Once, and all repeats that begin with it, those that are preferred first."""
    ways: list[Way] = [(first, Repeat(), [first])]
    signs = {"x": (-1.0, 1.0, 1.0), "z": (1.0, 1.0, -1.0), "xz": (-1.0, 1.0, -1.0), "": (1.0, 1.0, 1.0)}
    same = {name: [one for one in alike if _covers(first, one, np.diag(sign), config)] for name, sign in signs.items()}
    near = config.off * first.longest
    for x in (one for one in same["x"] if _within(first, one, (1, 2), near)):
        ways.append((first, Repeat("x", pivot=_pivot(first, x)), [first, x]))
    for z in (one for one in same["z"] if _within(first, one, (0, 1), near)):
        ways.append((first, Repeat("z", pivot=_pivot(first, z)), [first, z]))
    for xz in (one for one in same["xz"] if _within(first, one, (1,), near)):
        corner = [next((o for o in same[k] if _within(o, xz, (1, a), near) and _within(o, first, (1, b), near)), None)
                  for k, a, b in (("x", 0, 2), ("z", 2, 0))]  # fmt: skip
        if corner[0] is not None and corner[1] is not None and len({id(o) for o in (*corner, xz)}) == 3:
            ways.append((first, Repeat("xz", pivot=_pivot(first, xz)), [first, corner[0], corner[1], xz]))
    apart = [one for one in same[""] if not _within(first, one, (0, 1, 2), near)]  # a shorter step leads nowhere
    ways += [way for other in apart if len((way := _row(first, other, same[""], near))[2]) >= config.row]
    ways += [way for way in [_ring(first, alike, config)] if way is not None]
    if len(ways) == 1 and same[""]:
        other = same[""][0]
        ways.append((first, Repeat(count=2, step=other.middle - first.middle), [first, other]))
    return ways


def _covers(one: Single, other: Single, turn: Float[np.ndarray, "3 3"], config: RepeatConfig) -> bool:
    """Whether a solid, turned or mirrored about its middle, lies on another about its own."""
    if np.abs(np.abs(turn) @ one.size - other.size).max() > config.off * one.longest and _is_signed(turn):
        return False
    moved = one.few @ turn.T
    away = other.tree.query(moved)[0]
    return bool(away.mean() < 1.3 * other.spacing + config.away * one.longest)


def _is_signed(turn: np.ndarray) -> bool:
    return bool(np.isin(np.abs(turn), (0.0, 1.0)).all())


def _within(one: Single, other: Single, axes: tuple[int, ...], near: float) -> bool:
    return all(abs(one.middle[k] - other.middle[k]) < near for k in axes)


def _pivot(one: Single, other: Single) -> tuple[float, float]:
    middle = (one.middle + other.middle) / 2.0
    return float(middle[0]), float(middle[2])


def _row(first: Single, second: Single, same: list[Single], near: float) -> Way:
    """All that stand at equal steps from the first, before and behind it."""
    step, chain = second.middle - first.middle, [first]
    for sign in (1.0, -1.0):
        place = first.middle + sign * step
        while (found := next((o for o in same if np.abs(o.middle - place).max() < near), None)) is not None:
            chain = [*chain, found] if sign > 0 else [found, *chain]
            place = found.middle + sign * step
    mean = (chain[-1].middle - chain[0].middle) / max(len(chain) - 1, 1)
    return chain[0], Repeat(count=len(chain), step=mean), chain


def _ring(first: Single, alike: list[Single], config: RepeatConfig) -> Way | None:
    """All that are alike, if they stand at equal angles around a vertical."""
    ring = [first, *(one for one in alike if _within(first, one, (1,), config.off * first.longest))]
    count = len(ring)
    if count < config.row:
        return None
    flat = np.array([one.middle[[0, 2]] for one in ring])
    pivot = flat.mean(axis=0)
    radius = np.linalg.norm(flat - pivot, axis=1)
    angles = np.sort(np.arctan2(*(flat - pivot).T[::-1]))
    gaps = np.diff([*angles, angles[0] + 2.0 * np.pi])
    if np.ptp(radius) > config.off * first.longest or np.ptp(gaps) > 0.1:
        return None
    angle = 2.0 * np.pi / count
    turn = lie.axis_angle_matrix(np.array([0.0, 1.0, 0.0]), angle)
    place = turn @ np.array([flat[0, 0] - pivot[0], 0.0, flat[0, 1] - pivot[1]])
    target = min(ring, key=lambda one: float(np.linalg.norm(one.middle[[0, 2]] - pivot - place[[0, 2]])))
    if target is first or not _covers(first, target, turn, config):
        return None
    return first, Repeat(count=count, turn=angle, pivot=(float(pivot[0]), float(pivot[1]))), ring
