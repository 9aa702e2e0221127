"""Refinement: where a space cannot quite reach a target, its handles may leave it, as little as the target demands.

The pose found in the space is the start. Every handle gets a small rigid motion of its own, so what is rigid stays
rigid; what bends gets more and smaller handles than the space has, bonded where they share a surface; parts that touch
in the pose hold on to each other weakly; and all are on a leash that is let out step by step, so that the nearest
points found early, most of them wrong, move little.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float
from scipy.spatial import cKDTree

from neurok.core.mesh import Mesh
from neurok.geometry.handles import find_handles
from neurok.geometry.rigid import nearest_rotation
from neurok.geometry.sampling import SurfaceSamples, sample_surface
from neurok.geometry.topology import vertex_labels
from neurok.kinematics.leap import Frames, Stage, leap
from neurok.kinematics.match import MatchConfig, gather_pulls
from neurok.kinematics.ties import NEAR, FreeHandles, Ties, bonds, leash, seams
from neurok.kinematics.twists import cross_matrices


@runtime_checkable
class HandledSpace(Protocol):
    """A space whose vertices follow a few rigid handles."""

    @property
    def rest(self) -> Mesh: ...

    @property
    def weights(self) -> Float[np.ndarray, "V H"]: ...

    @property
    def centers(self) -> Float[np.ndarray, "H 3"]: ...

    def values(self, q: Float[np.ndarray, "B D"]) -> Float[np.ndarray, "B K 3"]: ...


@dataclass(frozen=True)
class RefineConfig:
    rounds: int = 24
    samples: int = 2000
    handles: int = 128
    """At most so many for what bends."""

    leash: tuple[float, float] = (1.0, 0.005)
    """Weight of leaving the space, at first and at last, against squared distances; both per share of the surface."""

    bond: float = 0.2
    """Weight of handles that share a surface parting there."""

    seam: float = 0.1
    """The same of handles that only touch."""


WORTH = 0.985
"""The Chamfer distance must fall to this share of what it was; less is the noise of the points."""


class Refined(NamedTuple):
    vertices: Float[np.ndarray, "V 3"]
    residual: float
    """Mean distance to the target, both ways, as a share of the longest side of the object's box."""


def refine(
    space: HandledSpace,
    q: Float[np.ndarray, " D"],
    target: Float[np.ndarray, "M 3"],
    seed: int = 0,
    config: RefineConfig | None = None,
) -> Refined:
    """Vertices near the pose ``q`` that fit a cloud of the whole object better; those of the pose if none do.

    What the cloud does not show would be pulled to what it shows: partial clouds are for ``pose_to_points`` alone.
    """
    config = config or RefineConfig()
    start = _placed(space, q)
    best = _blended(start, space.rest.vertices, space.weights)
    judge = _Judge(space.rest, target, config.samples, seed)
    score = judge.score(best)
    start = _leapt(space, start, judge)
    for weights, handles in _levels(space, start, config.handles):
        found = _blended(_fitted(space.rest, weights, handles, judge, config), space.rest.vertices, weights)
        reached = judge.score(found)
        if reached < WORTH * score:
            best, score = found, reached
    return Refined(best, score / judge.side)


def _leapt(space: HandledSpace, start: FreeHandles, judge: _Judge) -> FreeHandles:
    """The handles after single ones have tried to leap to where the target shows them."""
    points, weights = (judge.samples[0].interpolate(array) for array in (space.rest.vertices, space.weights))
    owners = weights.argmax(axis=1)
    pairs = cKDTree(points).query_pairs(NEAR * judge.side, output_type="ndarray")
    pairs = np.unique(np.sort(owners[pairs], axis=1), axis=0)
    neighbours: dict[int, list[int]] = {}
    for i, j in pairs[pairs[:, 0] != pairs[:, 1]].tolist():
        neighbours.setdefault(i, []).append(j)
        neighbours.setdefault(j, []).append(i)

    def score(frames: Frames) -> float:
        x = _blended(FreeHandles(*frames, start.centers), points, weights)
        return gather_pulls(x, judge.thin(0), judge.trees[0], judge.side, MatchConfig())[2]

    mixed = np.bincount(owners, weights.max(axis=1) < 1.0 - 1e-6, weights.shape[1])
    stage = Stage(points, owners, mixed == 0, neighbours, judge.trees[0], judge.side, score)
    turns, shifts = leap(stage, (start.turns, start.shifts))
    return FreeHandles(turns, shifts, (turns @ start.at_rest()[:, :, None])[..., 0] + shifts)


def _placed(space: HandledSpace, q: Float[np.ndarray, " D"]) -> FreeHandles:
    """The handles of a space at a pose."""
    rows = space.values(q[None])[0].reshape(-1, 4, 3)
    turns, shifts = rows[:, :3].swapaxes(1, 2), rows[:, 3]
    return FreeHandles(turns, shifts, (turns @ space.centers[:, :, None])[..., 0] + shifts)


def _levels(
    space: HandledSpace, start: FreeHandles, most: int
) -> Iterator[tuple[Float[np.ndarray, "V H"], FreeHandles]]:
    """The handles of the space, and then smaller ones where a component bends."""
    yield space.weights, start
    finer = _finer(space, start, most)
    if finer is not None:
        yield finer


@dataclass(frozen=True, eq=False)
class _Judge:
    """Points to fit, and others to tell by whether that helped: half of the target, and other samples of the shape."""

    rest: Mesh
    target: Float[np.ndarray, "M 3"]
    count: int
    seed: int

    @cached_property
    def side(self) -> float:
        low, high = self.rest.bounds
        return float((high - low).max())

    @cached_property
    def samples(self) -> tuple[SurfaceSamples, SurfaceSamples]:
        rng = np.random.default_rng(self.seed)
        first, second = (sample_surface(self.rest.vertices, self.rest.faces, self.count, rng) for _ in range(2))
        return first, second

    @cached_property
    def trees(self) -> tuple[cKDTree, cKDTree]:
        order = np.random.default_rng(self.seed).permutation(len(self.target))
        return cKDTree(self.target[order[::2]]), cKDTree(self.target[order[1::2]])

    def thin(self, which: int) -> Float[np.ndarray, "N 3"]:
        return self.trees[which].data[: self.count]

    def score(self, vertices: Float[np.ndarray, "V 3"]) -> float:
        """Chamfer distance of vertices to what they were not fitted to."""
        x = self.samples[1].interpolate(vertices)
        return gather_pulls(x, self.thin(1), self.trees[1], self.side, MatchConfig())[2]


def _fitted(
    rest: Mesh, owned: Float[np.ndarray, "V H"], start: FreeHandles, judge: _Judge, config: RefineConfig
) -> FreeHandles:
    """Handles pulled to the target, on a leash that is let out."""
    points, weights = judge.samples[0].interpolate(rest.vertices), judge.samples[0].interpolate(owned)
    ties = leash(points, weights, start).with_more(bonds(points, weights, config.bond))
    ties = ties.with_more(seams(points, weights, start, judge.side, config.seam))
    tied_from = ties.parting(start)
    now, (strong, weak) = start, config.leash
    for count in range(config.rounds):
        strength = strong * (weak / strong) ** (count / max(1, config.rounds - 1))
        weight = np.where(ties.second < 0, strength, 1.0) * ties.weight
        now = now.stepped(_step(now, points, weights, judge, ties, tied_from, weight))
    return now


def _finer(space: HandledSpace, start: FreeHandles, most: int) -> tuple[Float[np.ndarray, "V H"], FreeHandles] | None:
    """Handles that are smaller where the space lets a component bend, and as they were elsewhere."""
    rest = space.rest
    fine = find_handles(rest.vertices, rest.faces, most, rest.face_surfaces)
    groups = vertex_labels(rest.faces, fine.face_groups, rest.vertex_count)
    mixed = space.weights.max(axis=1) < 1.0 - 1e-6
    bends = np.bincount(groups, mixed, len(fine.widths)) > 0
    some = np.flatnonzero(bends[groups])
    if not len(some):
        return None
    index, share = fine.weights(rest.vertices[some], groups[some])
    weights = np.zeros((rest.vertex_count, fine.count))
    np.add.at(weights, (some[:, None], index), share)
    kept = ~bends[groups]
    rough = np.flatnonzero(space.weights[kept].any(axis=0))
    used = np.flatnonzero(weights.any(axis=0))
    mean = weights[:, used].T @ space.weights / weights[:, used].sum(axis=0)[:, None]
    turns, at = nearest_rotation(np.einsum("fh,hij->fij", mean, start.turns)), fine.centers[used]
    places = np.einsum("fh,fhi->fi", mean, np.einsum("hij,fj->fhi", start.turns, at) + start.shifts)
    both = np.concatenate([np.where(kept[:, None], space.weights, 0.0)[:, rough], weights[:, used]], axis=1)
    join = lambda first, second: np.concatenate([first[rough], second])  # noqa: E731
    shifts = places - (turns @ at[:, :, None])[..., 0]
    return both, FreeHandles(join(start.turns, turns), join(start.shifts, shifts), join(start.centers, places))


def _step(
    now: FreeHandles,
    points: Float[np.ndarray, "N 3"],
    weights: Float[np.ndarray, "N H"],
    judge: _Judge,
    ties: Ties,
    tied_from: Float[np.ndarray, "T 3"],
    tie_weight: Float[np.ndarray, " T"],
) -> Float[np.ndarray, "H 6"]:
    """One Gauss–Newton step of all handles, as twists about their centres."""
    count, side = len(now.turns), judge.side
    each = np.einsum("hij,nj->nhi", now.turns, points) + now.shifts
    x = (weights[..., None] * each).sum(axis=1)
    pull, force, _ = gather_pulls(x, judge.thin(0), judge.trees[0], side, MatchConfig())
    slopes = _slopes(each - now.centers, side) * weights[..., None, None]
    jacobian = slopes.transpose(0, 2, 1, 3).reshape(-1, 6 * count)
    hessian = jacobian.T @ (jacobian * np.repeat(force, 3)[:, None])
    drive = jacobian.T @ pull.reshape(-1)
    tie_slopes = np.zeros((len(ties.points), count, 3, 6))
    row = np.arange(len(ties.points))
    for which, sign in ((ties.first, 1.0), (ties.second, -1.0)):
        some = which >= 0
        at = now.moved(which[some], ties.points[some])
        tie_slopes[row[some], which[some]] += sign * _slopes(at - now.centers[which[some]], side)
    jacobian = tie_slopes.transpose(0, 2, 1, 3).reshape(-1, 6 * count)
    gaps = (tied_from - ties.parting(now)) / side
    spread = np.repeat(tie_weight, 3)[:, None]
    hessian += jacobian.T @ (jacobian * spread)
    drive += (jacobian * spread).T @ gaps.reshape(-1)
    hessian += 1e-9 * np.trace(hessian) * np.eye(len(hessian))
    return np.linalg.solve(hessian, drive).reshape(-1, 6) * np.repeat([1.0, side], 3)


def _slopes(arms: Float[np.ndarray, "*N 3"], side: float) -> Float[np.ndarray, "*N 3 6"]:
    """How a point moves with a twist about a centre, for a side of one."""
    turning = -cross_matrices(arms / side)
    return np.concatenate([turning, np.broadcast_to(np.eye(3), turning.shape)], axis=-1)


def _blended(
    handles: FreeHandles, points: Float[np.ndarray, "N 3"], weights: Float[np.ndarray, "N H"]
) -> Float[np.ndarray, "N 3"]:
    turns = np.einsum("nh,hij->nij", weights, handles.turns)
    return (turns @ points[:, :, None])[..., 0] + weights @ handles.shifts
