"""Forms fitted to points: the numbers of a code, its box and its axes by damped Gauss-Newton steps.

Distances are taken along normals, both from the points to the solid and back, and weighted so that what a form cannot
show does not pull it. How the surface moves with each number is measured by making the solid again, of most kinds with
triangles that stay the same and for all numbers at once (``form_rings``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float

from neurok.geometry import lie
from neurok.geometry.operators import face_normals
from neurok.geometry.sampling import SurfaceSamples, sample_surface
from neurok.modelling.forms import CODE, Hollow, mesh_of
from neurok.modelling.shapes import Shape
from neurok_lab.parts.form_rings import can_be_rings, ring_solid, ring_solids

SAMPLES = 900  # points of the solid

# When points pair; lengths are in halves of the longest side of the points' box.
TURNED = 0.3  # length that a right angle between normals counts as (times the root of two) ...
AGREE = 0.2  # ... and least cosine of the normals of a pair
BESIDE = 4.0  # pairs that are farther apart than so many medians, but not along the normal, are none
NEAR = 0.01  # distance at which a point counts as half missed ...
COARSE = 5.0  # ... and so many times this for a coarse look

WIDE = (0.12, 0.7, 0.015)  # distance within which pairs pull: at first, its factor at each step, and the least
NUDGE = (0.004, 0.03)  # least and largest change of a number by which its effect is measured
DAMPING = 0.05  # at the start, in shares of the curvature; a fifth after steps that help, fivefold after others
RIDGE = 1e-5  # pull of each number to where it is, in spreads of what was learned from
FRUITLESS = 3  # steps in a row that do not help, after which it ends


@dataclass(frozen=True, eq=False)
class Standing:
    """A form where it stands among the points."""

    kind: str
    code: Float[np.ndarray, "24"]
    turn: Float[np.ndarray, "3 3"]
    centre: Float[np.ndarray, "3"]
    size: Float[np.ndarray, "3"]
    hollow: Hollow | None = None
    relief: str = "smooth"

    @cached_property
    def outer(self) -> Shape:
        """The solid without its hollow, in its own axes, as fitting moves it."""
        if can_be_rings(self.kind):
            return ring_solid(self.kind, self.code, self.size, self.relief)
        return mesh_of(self.kind, self.code, self.size)

    @cached_property
    def solid(self) -> Shape:
        return mesh_of(self.kind, self.code, self.size, self.hollow, self.relief)

    @property
    def pose(self) -> Float[np.ndarray, "4 4"]:
        return lie.compose(self.turn, self.centre)


@dataclass(frozen=True, eq=False)
class Target:
    """Points to fit, and how they are looked up."""

    points: Float[np.ndarray, "N 3"]
    normals: Float[np.ndarray, "N 3"]
    unit: float
    """Half of their longest side [m]."""

    samples: int = SAMPLES
    """Points of a solid that are compared with these."""

    @staticmethod
    def of(points: Float[np.ndarray, "N 3"], normals: Float[np.ndarray, "N 3"], samples: int = SAMPLES) -> Target:
        return Target(points, normals, max(float(np.ptp(points, axis=0).max()) / 2.0, 1e-6), samples)

    @cached_property
    def tree(self):  # type: ignore[no-untyped-def]
        return _tree(self.points, self.normals, self.unit)

    def thinned(self, count: int) -> Target:
        """Some of the points, for a first look."""
        pick = np.random.default_rng(0).permutation(len(self.points))[:count]
        return Target(self.points[pick], self.normals[pick], self.unit, count)


@dataclass(frozen=True, eq=False)
class PointPairs:
    """Points of a solid and of the target that belong together."""

    points: Float[np.ndarray, "S 3"]
    """Of the solid ..."""

    normals: Float[np.ndarray, "S 3"]
    face_ids: np.ndarray
    weights: np.ndarray
    """... and where on it they are."""

    ids: np.ndarray
    """Sample of each pair: first those of each point of the target, then each sample itself."""

    away: Float[np.ndarray, " P"]
    """Along the sample's normal, from the target to the solid, in halves of its longest side."""

    agree: np.ndarray
    """Whether it is a pair at all: normals look the same way."""

    split: int

    def missed(self, near: float) -> float:
        """0 where all pairs lie on each other, 2 where none is near."""
        miss = np.where(self.agree, self.away**2 / (self.away**2 + near**2), 1.0)
        return float(miss[: self.split].mean() + miss[self.split :].mean())


def missed(standing: Standing, target: Target, solid: Shape | None = None) -> float:
    """How much of the target a form (or any solid in its axes) misses, and how much of it is not there; 0 to 2.

    The mean of a fine and a coarse look: where nothing fits, the coarse one tells bad from worse.
    """
    pairs = pairs_of(standing, target, standing.solid if solid is None else solid)
    return 0.5 * (pairs.missed(NEAR) + pairs.missed(COARSE * NEAR))


def pairs_of(standing: Standing, target: Target, solid: Shape) -> PointPairs:
    drawn, points, normals = _drawn(standing, solid, target.samples)
    there = _tree(points, normals, target.unit).query(_six(target.points, target.normals, target.unit))[1]
    back = target.tree.query(_six(points, normals, target.unit))[1]
    ids = np.concatenate([there, np.arange(len(points))])
    other = np.concatenate([np.arange(len(target.points)), back])
    away = np.einsum("ij,ij->i", points[ids] - target.points[other], normals[ids]) / target.unit
    sideways = np.linalg.norm(points[ids] - target.points[other], axis=1) / target.unit
    agree = np.einsum("ij,ij->i", normals[ids], target.normals[other]) > AGREE
    agree &= sideways < BESIDE * np.median(sideways) + 2.0 * np.abs(away)
    return PointPairs(points, normals, drawn.face_ids, drawn.barycentric, ids, away, agree, len(there))


def _drawn(standing: Standing, solid: Shape, count: int) -> tuple[SurfaceSamples, np.ndarray, np.ndarray]:
    """Samples of a solid, and their points and normals where it stands."""
    drawn = sample_surface(solid.vertices, solid.faces, count, np.random.default_rng(0))
    points = drawn.interpolate(solid.vertices) @ standing.turn.T + standing.centre
    return drawn, points, face_normals(solid.vertices, solid.faces)[drawn.face_ids] @ standing.turn.T


def fit_form(
    standing: Standing,
    target: Target,
    spread: Float[np.ndarray, "24"],
    middle: Float[np.ndarray, "24"],
    steps: int,
    done: int = 0,
) -> tuple[Standing, float]:
    """A form moved and changed until it fits, and how much it misses; ``spread`` and ``middle`` of its numbers.

    What is hollow is fitted by its outside. ``done`` is how many steps went before.
    """
    damping, fruitless = DAMPING, 0
    pairs = pairs_of(standing, target, standing.outer)
    sides = np.clip(0.2 * target.unit / standing.size, 0.1, 0.7)
    scale = np.concatenate([np.clip(spread, 0.02, 1.0), np.full(6, 0.1), sides])
    first, factor, least = WIDE
    width = max(factor**done * first, least)
    moves = None
    for _ in range(steps):
        if moves is None:
            moves = _moves(standing, target, pairs, scale, middle)[pairs.ids]
        weight = np.where(pairs.agree, 1.0 / (1.0 + (pairs.away / width) ** 2) ** 2, 0.0)
        weight[: pairs.split] /= pairs.split
        weight[pairs.split :] /= len(weight) - pairs.split
        bend = (moves * weight[:, None]).T @ moves
        slope = (moves * weight[:, None]).T @ pairs.away
        held = bend + np.diag(damping * np.diag(bend) + RIDGE * max(float(np.diag(bend).max()), 1e-9))
        change = np.clip(-np.linalg.solve(held, slope), -1.0, 1.0) * scale
        other = _moved(standing, change, target.unit)
        tried = pairs_of(other, target, other.outer)
        if tried.missed(width) < pairs.missed(width) - 1e-5:
            standing, pairs, moves = other, tried, None
            damping, fruitless = max(0.2 * damping, 1e-3), 0
        else:
            damping, fruitless = 5.0 * damping, fruitless + 1
            if fruitless >= FRUITLESS:
                break
        width = max(factor * width, least)
    return standing, missed(standing, target)


def _moves(
    standing: Standing, target: Target, pairs: PointPairs, scale: np.ndarray, middle: np.ndarray
) -> Float[np.ndarray, "S P"]:
    """How far each sample moves along its normal, in halves of the longest side, for each number's own scale."""
    out = np.zeros((len(pairs.points), len(scale)))
    before = standing.outer
    arm = pairs.points - standing.centre
    out[:, CODE : CODE + 3] = np.cross(arm, pairs.normals) / target.unit
    out[:, CODE + 3 : CODE + 6] = pairs.normals
    numbers = np.array([*range(CODE), *range(CODE + 6, CODE + 9)])
    steps = np.clip(0.1 * scale[numbers], *NUDGE)
    steps[:CODE] *= np.where(standing.code > middle, -1.0, 1.0)
    codes, sizes = (np.repeat(one[None], len(numbers), axis=0) for one in (standing.code, standing.size))
    codes[range(CODE), range(CODE)] += steps[:CODE]
    sizes[range(CODE, len(numbers)), range(3)] *= np.exp(steps[CODE:])
    after: Float[np.ndarray, "B V 3"] | None
    if can_be_rings(standing.kind):
        after = ring_solids(standing.kind, codes, sizes, standing.relief)[0]
    else:
        shapes = [mesh_of(standing.kind, code, size) for code, size in zip(codes, sizes, strict=True)]
        is_same = all(len(shape.vertices) == len(before.vertices) for shape in shapes)
        after = np.stack([shape.vertices for shape in shapes]) if is_same else None
    if after is not None:
        corners, shift = before.faces[pairs.face_ids], after - before.vertices
        local = pairs.normals @ standing.turn
        away = sum(
            np.einsum("bsd,sd->sb", shift[:, corners[:, k]], pairs.weights[:, k : k + 1] * local) for k in range(3)
        )
    else:
        away = np.stack([_displaced(standing, target, pairs, shape) for shape in shapes], axis=1)
    out[:, numbers] = away / target.unit / steps
    return out * scale


def _displaced(standing: Standing, target: Target, pairs: PointPairs, after: Shape) -> np.ndarray:
    """How far the surface next to each sample has moved, where triangles are no longer the same."""
    _, points, normals = _drawn(standing, after, 2 * len(pairs.points))
    near = _tree(points, normals, target.unit).query(_six(pairs.points, pairs.normals, target.unit))[1]
    away = np.einsum("sd,sd->s", points[near] - pairs.points, normals[near])
    same = np.einsum("sd,sd->s", pairs.normals, normals[near]) > 0.7
    return np.where(same & (np.abs(away) < 0.2 * target.unit), away, 0.0)


def _moved(standing: Standing, change: np.ndarray, unit: float) -> Standing:
    """Another code, axes turned by a vector [rad], moved, and another size (logarithms)."""
    turn, shift, grow = change[CODE : CODE + 3], change[CODE + 3 : CODE + 6], change[CODE + 6 :]
    angle = float(np.linalg.norm(turn))
    rotation = lie.axis_angle_matrix(turn / angle, angle) if angle > 1e-12 else np.eye(3)
    return replace(
        standing, code=standing.code + change[:CODE], turn=rotation @ standing.turn,
        centre=standing.centre + unit * shift, size=standing.size * np.exp(grow),
    )  # fmt: skip


def _six(points: np.ndarray, normals: np.ndarray, unit: float) -> np.ndarray:
    return np.concatenate([points / unit, TURNED * normals], axis=1)


def _tree(points: np.ndarray, normals: np.ndarray, unit: float):  # type: ignore[no-untyped-def]
    from scipy.spatial import cKDTree

    return cKDTree(_six(points, normals, unit))
