"""Refinement: where a space cannot quite reach a target, its handles may leave it, as little as the target demands.

Three starts are tried. From the pose found in the space every handle gets a small rigid motion of its own, so what is
rigid stays rigid; parts that touch in the pose hold on to each other weakly; and all are on a leash that is let out
step by step, so that the nearest points found early, most of them wrong, move little. Then the same with every
component on its own. And the rest shape is pulled to the target as if all of it could bend, each rigid part then moved
as it moved on the whole: this finds what the space does not know. What bends is polished vertex by vertex, and points
that nothing was fitted to say which is kept, or whether a simpler pose does as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.spatial import cKDTree

from neurok.core.mesh import Mesh
from neurok.geometry.handles import find_handles
from neurok.geometry.lie import fit_rigid, skew
from neurok.geometry.topology import vertex_labels
from neurok.posing.constraints import NEAR, FreeHandles, Ties, bonds, leash, seams
from neurok.posing.nonrigid import FROM_POSE, FROM_REST, LAST, Cloud, Skin, moved_rigidly, polished, stiffened
from neurok.posing.proposals import Frames, Stage, leap
from neurok.posing.registration import MatchConfig, gather_pulls
from neurok.posing.validation import Judge


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
    rounds: int = 14
    samples: int = 2000
    leash: tuple[float, float] = (1.0, 0.002)
    """Weight of leaving the space, at first and at last, against squared distances; both per share of the surface."""

    bond: float = 0.2
    """Weight of handles that share a surface parting there."""

    seam: float = 0.1
    """The same of handles that only touch."""


WORTH = 0.985
"""The Chamfer distance must fall to this share of what it was; less is the noise of the points."""

ALIKE = 1.015
"""Of fits whose distances differ by less than this the one that moves less is taken."""

BENT = 0.93
"""What the space holds to be rigid may bend after all if that brings the distance down to this share."""

RIGID = 1.0 - 1e-6
"""A vertex that follows one handle to this share is part of a rigid body."""


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
    simpler: Sequence[Float[np.ndarray, "V 3"]] = (),
) -> Refined:
    """Vertices that fit a cloud of the whole object better than the pose ``q``; those of the pose if none do.

    ``simpler`` poses, the simplest first, are preferred unless others fit clearly better.

    What the cloud does not show would be pulled to what it shows: partial clouds are for ``pose_to_points`` alone.
    """
    config = config or RefineConfig()
    bench = _Bench(space, Judge(space.rest, target, config.samples, seed), config)
    start = _placed(space, q)
    pose = _blended(start, space.rest.vertices, space.weights)
    score = bench.judge.score
    found = bench.best([*bench.from_pose(start), bench.from_rest()])
    soft = bench.softened(found)
    found = min(found, bench.held(soft, rigid=True), key=score)
    better = score(found) < WORTH * score(pose)
    found = bench.held(found if better else pose)
    loose = bench.best([bench.loose(soft), bench.loose(bench.soft)])
    if score(loose) < BENT * score(found):
        found, better = loose, True
    if better:
        found = min(found, bench.finished(found), key=score)
    ranked = [(vertices, score(vertices)) for vertices in (*simpler, found)]
    enough = ALIKE * min(distance for _, distance in ranked)
    found, distance = next((pair for pair in ranked if pair[1] <= enough), ranked[-1])
    return Refined(found, distance / bench.judge.side)


@dataclass(frozen=True, eq=False)
class _Bench:
    """A shape and a target, and the ways from one to the other."""

    space: HandledSpace
    judge: Judge
    config: RefineConfig

    @cached_property
    def skin(self) -> Skin:
        return Skin(self.space.rest)

    @cached_property
    def cloud(self) -> Cloud:
        return Cloud(np.asarray(self.judge.trees[0].data))

    @cached_property
    def rigid(self) -> Bool[np.ndarray, " C"]:
        """Components that follow one handle."""
        mixed = self.space.weights.max(axis=1) < RIGID
        return np.bincount(self.skin.owners, mixed, self.skin.component_count) == 0

    @cached_property
    def parts(self) -> tuple[Float[np.ndarray, "V P"], Int[np.ndarray, " P"]]:
        """Handles of which none reaches across components, and the handle of the space each belongs to.

        The space moves what it takes for one body by one handle; all that it takes to stand still is one body.
        """
        rest, whole = self.space.rest, self.space.weights
        handles = find_handles(rest.vertices, rest.faces, walls=rest.face_surfaces)
        groups = vertex_labels(rest.faces, handles.face_groups, rest.vertex_count)
        inside = (groups[:, None] == np.arange(len(handles.widths))).astype(np.float64)
        parents, group = np.nonzero(whole.T @ inside > 0)
        return whole[:, parents] * inside[:, group], parents

    def from_pose(self, start: FreeHandles) -> Iterator[Float[np.ndarray, "V 3"]]:
        """With the bodies of the space, and, where these differ, with each component on its own."""
        weights, (apart, parents) = self.space.weights, self.parts
        now = self._fitted(weights, start)
        yield self._polished(self._moved(weights, now))
        if len(parents) > len(now.turns):
            now = self._fitted(apart, _centered(self.space.rest, apart, now.turns[parents], now.shifts[parents]))
            yield self._polished(self._moved(apart, now))

    @cached_property
    def soft(self) -> Float[np.ndarray, "V 3"]:
        """The rest shape pulled to the target as if all of it could bend."""
        rest = self.space.rest.vertices
        return polished(self.skin, rest, np.zeros_like(self.rigid), self.cloud, FROM_REST, self.judge.seed)

    def from_rest(self) -> Float[np.ndarray, "V 3"]:
        """As if all could bend, then each component on its own."""
        apart = self.parts[0]
        found = self._moved(apart, self._fitted(apart, _averaged(self.space.rest, apart, self.soft)))
        return self._polished(np.where(self.rigid[self.skin.owners][:, None], found, self.soft))

    def softened(self, start: Float[np.ndarray, "V 3"]) -> Float[np.ndarray, "V 3"]:
        """Pulled closer as if all could bend."""
        return polished(self.skin, start, np.zeros_like(self.rigid), self.cloud, FROM_POSE, self.judge.seed)

    def held(self, vertices: Float[np.ndarray, "V 3"], rigid: bool = False) -> Float[np.ndarray, "V 3"]:
        """Without bends that do not help, and, where they are not yet so, with rigid components made rigid."""
        return stiffened(self.skin, vertices, self.judge, ~self.rigid, self.rigid if rigid else None)

    def loose(self, vertices: Float[np.ndarray, "V 3"]) -> Float[np.ndarray, "V 3"]:
        """Without bends that do not help, whatever the space says."""
        return stiffened(self.skin, vertices, self.judge, np.ones_like(self.rigid))

    def finished(self, vertices: Float[np.ndarray, "V 3"]) -> Float[np.ndarray, "V 3"]:
        """What is bent pulled a little closer, by all points of the target."""
        rigid = moved_rigidly(self.skin, vertices)
        return polished(self.skin, vertices, rigid, Cloud(self.judge.target), LAST, self.judge.seed)

    def best(self, fits: Iterable[Float[np.ndarray, "V 3"]]) -> Float[np.ndarray, "V 3"]:
        """The closest, or, among those that are about as close, one that moves less."""
        first, *others = fits
        score, way = self.judge.score(first), self._way(first)
        for fit in others:
            reached, moved = self.judge.score(fit), self._way(fit)
            if ALIKE * reached < score or (reached < ALIKE * score and moved < way):
                first, score, way = fit, reached, moved
        return first

    def _way(self, vertices: Float[np.ndarray, "V 3"]) -> float:
        """How far the surface has moved from rest, on average."""
        moved = self.judge.samples[1].interpolate(vertices - self.space.rest.vertices)
        return float(np.linalg.norm(moved, axis=1).mean())

    def _fitted(self, weights: Float[np.ndarray, "V H"], start: FreeHandles) -> FreeHandles:
        leapt = _leapt(self.space.rest, weights, start, self.judge)
        return _fitted(self.space.rest, weights, leapt, self.judge, self.config)

    def _moved(self, weights: Float[np.ndarray, "V H"], handles: FreeHandles) -> Float[np.ndarray, "V 3"]:
        return _blended(handles, self.space.rest.vertices, weights)

    def _polished(self, start: Float[np.ndarray, "V 3"]) -> Float[np.ndarray, "V 3"]:
        return polished(self.skin, start, self.rigid, self.cloud, FROM_POSE, self.judge.seed)


def _averaged(rest: Mesh, weights: Float[np.ndarray, "V H"], vertices: Float[np.ndarray, "V 3"]) -> FreeHandles:
    """Each handle moved rigidly as its vertices have moved on the whole."""
    frames = np.tile(np.eye(4), (weights.shape[1], 1, 1))
    for handle, weight in enumerate(weights.T):
        some = weight > 1e-3
        if some.any():
            frames[handle] = fit_rigid(rest.vertices[some], vertices[some], weight[some])
    return _centered(rest, weights, frames[:, :3, :3], frames[:, :3, 3])


def _centered(
    rest: Mesh, weights: Float[np.ndarray, "V H"], turns: Float[np.ndarray, "H 3 3"], shifts: Float[np.ndarray, "H 3"]
) -> FreeHandles:
    """Handles that turn about the middle of what follows them."""
    middles = weights.T @ rest.vertices / np.maximum(weights.sum(axis=0), 1e-9)[:, None]
    return FreeHandles(turns, shifts, (turns @ middles[:, :, None])[..., 0] + shifts)


def _leapt(rest: Mesh, owned: Float[np.ndarray, "V H"], start: FreeHandles, judge: Judge) -> FreeHandles:
    """The handles after single ones have tried to leap to where the target shows them."""
    points, weights = (judge.samples[0].interpolate(array) for array in (rest.vertices, owned))
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

    mixed = np.bincount(owners, weights.max(axis=1) < RIGID, weights.shape[1])
    stage = Stage(points, owners, mixed == 0, neighbours, judge.trees[0], judge.side, score)
    turns, shifts = leap(stage, (start.turns, start.shifts))
    return FreeHandles(turns, shifts, (turns @ start.at_rest()[:, :, None])[..., 0] + shifts)


def _placed(space: HandledSpace, q: Float[np.ndarray, " D"]) -> FreeHandles:
    """The handles of a space at a pose."""
    rows = space.values(q[None])[0].reshape(-1, 4, 3)
    turns, shifts = rows[:, :3].swapaxes(1, 2), rows[:, 3]
    return FreeHandles(turns, shifts, (turns @ space.centers[:, :, None])[..., 0] + shifts)


def _fitted(
    rest: Mesh, owned: Float[np.ndarray, "V H"], start: FreeHandles, judge: Judge, config: RefineConfig
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


def _step(
    now: FreeHandles,
    points: Float[np.ndarray, "N 3"],
    weights: Float[np.ndarray, "N H"],
    judge: Judge,
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
    turning = -skew(arms / side)
    return np.concatenate([turning, np.broadcast_to(np.eye(3), turning.shape)], axis=-1)


def _blended(
    handles: FreeHandles, points: Float[np.ndarray, "N 3"], weights: Float[np.ndarray, "N H"]
) -> Float[np.ndarray, "N 3"]:
    turns = np.einsum("nh,hij->nij", weights, handles.turns)
    return (turns @ points[:, :, None])[..., 0] + weights @ handles.shifts
