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
from jaxtyping import Float, Int
from scipy.spatial import cKDTree

from neurok.core.mesh import Mesh
from neurok.geometry.handles import find_handles
from neurok.geometry.sampling import SurfaceSamples, sample_surface
from neurok.kinematics.leap import Frames, Stage, leap
from neurok.kinematics.match import MatchConfig, gather_pulls
from neurok.kinematics.twists import cross_matrices, exponential


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


NEAR = 0.03
"""Handles this close touch, as a share of the longest side; if the pose parts them by more, they are free."""

SMALLEST = 1e-3
"""Share of the surface that the smallest handle counts for."""

WORTH = 0.985
"""The Chamfer distance must fall to this share of what it was; less is the noise of the points."""


@dataclass(eq=False)
class _Handles:
    """Rigid motions of the handles: x = turns p + shifts; they turn about their centres."""

    turns: Float[np.ndarray, "H 3 3"]
    shifts: Float[np.ndarray, "H 3"]
    centers: Float[np.ndarray, "H 3"]

    @staticmethod
    def of(space: HandledSpace, q: Float[np.ndarray, " D"]) -> _Handles:
        rows = space.values(q[None])[0].reshape(-1, 4, 3)
        turns, shifts = rows[:, :3].swapaxes(1, 2), rows[:, 3]
        return _Handles(turns, shifts, (turns @ space.centers[:, :, None])[..., 0] + shifts)

    def at_rest(self) -> Float[np.ndarray, "H 3"]:
        """Where the centres are in the rest shape."""
        return (self.turns.swapaxes(1, 2) @ (self.centers - self.shifts)[:, :, None])[..., 0]

    def moved(self, which: Int[np.ndarray, " N"], points: Float[np.ndarray, "N 3"]) -> Float[np.ndarray, "N 3"]:
        return (self.turns[which] @ points[:, :, None])[..., 0] + self.shifts[which]

    def stepped(self, twists: Float[np.ndarray, "H 6"]) -> _Handles:
        turns, shifts = exponential(twists)[:2]
        about = self.centers + shifts - (turns @ self.centers[:, :, None])[..., 0]
        return _Handles(turns @ self.turns, (turns @ self.shifts[:, :, None])[..., 0] + about, self.centers + shifts)


@dataclass(frozen=True, eq=False)
class _Ties:
    """Points of the rest shape at which a handle is tied to its place in the space, or to that of another handle."""

    points: Float[np.ndarray, "N 3"]
    first: Int[np.ndarray, " N"]
    second: Int[np.ndarray, " N"]
    """-1 for a tie to the space."""

    weight: Float[np.ndarray, " N"]


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
    """Vertices near the pose ``q`` that fit a cloud of the whole object better; those of the pose if none do."""
    config = config or RefineConfig()
    start = _Handles.of(space, q)
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


def _leapt(space: HandledSpace, start: _Handles, judge: _Judge) -> _Handles:
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
        x = _blended(_Handles(*frames, start.centers), points, weights)
        return gather_pulls(x, judge.thin(0), judge.trees[0], judge.side, MatchConfig())[2]

    mixed = np.bincount(owners, weights.max(axis=1) < 1.0 - 1e-6, weights.shape[1])
    stage = Stage(points, owners, mixed == 0, neighbours, judge.trees[0], judge.side, score)
    turns, shifts = leap(stage, (start.turns, start.shifts))
    return _Handles(turns, shifts, (turns @ start.at_rest()[:, :, None])[..., 0] + shifts)


def _levels(space: HandledSpace, start: _Handles, most: int) -> Iterator[tuple[Float[np.ndarray, "V H"], _Handles]]:
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
    rest: Mesh, owned: Float[np.ndarray, "V H"], start: _Handles, judge: _Judge, config: RefineConfig
) -> _Handles:
    """Handles pulled to the target, on a leash that is let out."""
    points, weights = judge.samples[0].interpolate(rest.vertices), judge.samples[0].interpolate(owned)
    leash, bonds = _leash(points, weights, start), _bonds(points, weights, start, judge.side, config)
    ties = _Ties(*(np.concatenate([getattr(leash, n), getattr(bonds, n)]) for n in _Ties.__annotations__))
    tied_from = _parting(ties, start)
    now, (strong, weak) = start, config.leash
    for count in range(config.rounds):
        strength = strong * (weak / strong) ** (count / max(1, config.rounds - 1))
        weight = np.where(ties.second < 0, strength, 1.0) * ties.weight
        now = now.stepped(_step(now, points, weights, judge, ties, tied_from, weight))
    return now


def _finer(space: HandledSpace, start: _Handles, most: int) -> tuple[Float[np.ndarray, "V H"], _Handles] | None:
    """Handles that are smaller where the space lets a component bend, and as they were elsewhere."""
    rest = space.rest
    fine = find_handles(rest.vertices, rest.faces, most, rest.face_surfaces)
    groups = np.zeros(rest.vertex_count, dtype=np.int64)
    groups[rest.faces.reshape(-1)] = np.repeat(fine.face_groups, 3)
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
    u, _, vt = np.linalg.svd(np.einsum("fh,hij->fij", mean, start.turns))
    u[..., 2] *= np.sign(np.linalg.det(u @ vt))[:, None]
    turns, at = u @ vt, fine.centers[used]
    places = np.einsum("fh,fhi->fi", mean, np.einsum("hij,fj->fhi", start.turns, at) + start.shifts)
    both = np.concatenate([np.where(kept[:, None], space.weights, 0.0)[:, rough], weights[:, used]], axis=1)
    join = lambda first, second: np.concatenate([first[rough], second])  # noqa: E731
    shifts = places - (turns @ at[:, :, None])[..., 0]
    return both, _Handles(join(start.turns, turns), join(start.shifts, shifts), join(start.centers, places))


def _step(
    now: _Handles,
    points: Float[np.ndarray, "N 3"],
    weights: Float[np.ndarray, "N H"],
    judge: _Judge,
    ties: _Ties,
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
    gaps = (tied_from - _parting(ties, now)) / side
    spread = np.repeat(tie_weight, 3)[:, None]
    hessian += jacobian.T @ (jacobian * spread)
    drive += (jacobian * spread).T @ gaps.reshape(-1)
    hessian += 1e-9 * np.trace(hessian) * np.eye(len(hessian))
    return np.linalg.solve(hessian, drive).reshape(-1, 6) * np.repeat([1.0, side], 3)


def _slopes(arms: Float[np.ndarray, "*N 3"], side: float) -> Float[np.ndarray, "*N 3 6"]:
    """How a point moves with a twist about a centre, for a side of one."""
    turning = -cross_matrices(arms / side)
    return np.concatenate([turning, np.broadcast_to(np.eye(3), turning.shape)], axis=-1)


def _parting(ties: _Ties, handles: _Handles) -> Float[np.ndarray, "N 3"]:
    """Where the first handle takes each point, seen from where the second does."""
    at = handles.moved(ties.first, ties.points)
    return np.where(ties.second[:, None] < 0, at, at - handles.moved(ties.second, ties.points))


def _leash(points: Float[np.ndarray, "N 3"], weights: Float[np.ndarray, "N H"], start: _Handles) -> _Ties:
    """Six points around each handle, as far out as its surface reaches."""
    centers, share = start.at_rest(), weights.mean(axis=0)
    far = ((points[:, None] - centers) ** 2).sum(axis=2)
    radii = np.sqrt((weights * far).sum(axis=0) / np.maximum(weights.sum(axis=0), 1e-9)) + 1e-6
    return _around(centers, radii, np.arange(len(centers)), np.full(len(centers), -1), np.maximum(share, SMALLEST))


def _bonds(
    points: Float[np.ndarray, "N 3"],
    weights: Float[np.ndarray, "N H"],
    start: _Handles,
    side: float,
    config: RefineConfig,
) -> _Ties:
    """Ties between handles that share a surface, and weak ones between those that touch in the pose."""
    count = weights.shape[1]
    shared = weights.T @ weights / len(points)
    first, second = np.nonzero(np.triu(shared > 1e-4, 1))
    both = weights[:, first] * weights[:, second]
    middles = (both.T @ points) / both.sum(axis=0)[:, None]
    reach = np.sqrt((both * ((points[:, None] - middles) ** 2).sum(axis=2)).sum(axis=0) / both.sum(axis=0))
    strength = 4.0 * config.bond * shared[first, second]
    owner = weights.argmax(axis=1)
    pairs = cKDTree(points).query_pairs(NEAR * side, output_type="ndarray")
    pairs = pairs[(owner[pairs[:, 0]] != owner[pairs[:, 1]])]
    code = np.sort(owner[pairs], axis=1) @ [count, 1]
    known = set((first * count + second).tolist())
    spots, ends, more = [], [], []
    for value in np.unique(code):
        if int(value) in known:
            continue
        members = pairs[code == value]
        touching = np.unique(members)
        spot = points[touching].mean(axis=0)
        i, j = divmod(int(value), count)
        parted = start.moved(np.array([i, j]), np.stack([spot, spot]))
        if np.linalg.norm(parted[0] - parted[1]) < NEAR * side:
            spots.append(spot)
            ends.append((i, j))
            more.append(config.seam * len(touching) / len(points))
    ties = _around(middles, reach, first, second, strength)
    if not spots:
        return ties
    i, j = np.array(ends).T
    single = _Ties(np.array(spots), i, j, np.array(more))
    return _Ties(*(np.concatenate([getattr(ties, n), getattr(single, n)]) for n in _Ties.__annotations__))


def _around(
    middles: Float[np.ndarray, "N 3"],
    radii: Float[np.ndarray, " N"],
    first: Int[np.ndarray, " N"],
    second: Int[np.ndarray, " N"],
    weight: Float[np.ndarray, " N"],
) -> _Ties:
    """Ties at six points about each place."""
    out = np.concatenate([np.eye(3), -np.eye(3)])
    points = middles[:, None] + radii[:, None, None] * out
    return _Ties(points.reshape(-1, 3), np.repeat(first, 6), np.repeat(second, 6), np.repeat(weight / 6.0, 6))


def _blended(
    handles: _Handles, points: Float[np.ndarray, "N 3"], weights: Float[np.ndarray, "N H"]
) -> Float[np.ndarray, "N 3"]:
    turns = np.einsum("nh,hij->nij", weights, handles.turns)
    return (turns @ points[:, :, None])[..., 0] + weights @ handles.shifts
