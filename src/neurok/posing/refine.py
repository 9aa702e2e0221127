"""Refinement: components leave the space of a pose, as little as the target demands.

Rigid components that are far from the target are proposed other places, then all of them are registered by closest
points, anchored to the pose less and less, because most closest points are wrong at first. What bends is registered
vertex by vertex. Then everything is registered as if it could bend, and what fits as well by one rigid motion is made
rigid again. Points that no fit has used decide which fit is kept, or whether a simpler pose does as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.spatial import cKDTree

from neurok.errors import NeurokError
from neurok.geometry.lie import fit_rigid
from neurok.kinematics.space import KinematicSpace, decode
from neurok.posing.components import (
    ANCHOR,
    ROUNDS,
    Components,
    mean_motions,
    prefer_rigid,
    register_rigid,
    rigid_components,
)
from neurok.posing.nonrigid import DeformationProxy, NonRigidConfig, OrientedPoints, register_nonrigid
from neurok.posing.registration import HoldOut, RegistrationConfig, closest_points


@dataclass(frozen=True)
class PlacementConfig:
    """Which parts get proposals, and which proposals. Lengths are shares of the longest side of the object."""

    angles: tuple[float, ...] = (-150.0, -120.0, -90.0, -60.0, -30.0, 30.0, 60.0, 90.0, 120.0, 150.0)
    """Turns about the edges of a part's box [degrees]; steps of 30 are near enough for closest points to finish."""

    slides: tuple[float, ...] = (-0.4, -0.3, -0.2, -0.1, 0.1, 0.2, 0.3, 0.4)
    """Ways along the sides of the box."""

    far: float = 0.015
    """Parts whose samples are on average farther than this from the target get proposals: a few times the spacing of
    a cloud of some thousand points."""

    improvement: float = 0.985
    """A proposal is accepted if it brings the Chamfer distance down to this share; less is the noise of the samples."""

    attempts: int = 12
    """Parts looked at, one after another, the farthest first."""

    preview_points: int = 80
    """Samples of a part by which its proposals are compared."""

    least_points: int = 4
    """A part with fewer samples is left alone: they do not determine its box."""

    finalists: int = 6
    """Proposals of a part that are compared by the whole target."""


Frames = tuple[Float[np.ndarray, "H 3 3"], Float[np.ndarray, "H 3"]]
"""Rotations and translations of all parts: x = R p + t."""


@dataclass(frozen=True, eq=False)
class PartsAndTarget:
    """Samples of a shape of rigid parts, and the target they shall fit."""

    points: Float[np.ndarray, "N 3"]
    """Samples of the rest surface."""

    labels: Int[np.ndarray, " N"]
    """The part of each."""

    movable: Bool[np.ndarray, " H"]
    """Parts that may be proposed elsewhere: those that share no surface with others."""

    neighbours: Mapping[int, Sequence[int]]
    """Parts in contact at rest."""

    tree: cKDTree
    """The target."""

    scale: float
    """Longest side of the object."""

    error: Callable[[Frames], float]
    """Chamfer distance of the whole shape."""


def improve_by_proposals(problem: PartsAndTarget, frames: Frames, config: PlacementConfig | None = None) -> Frames:
    """The motions of the parts after all proposals that were accepted."""
    config = config or PlacementConfig()
    error = problem.error(frames)
    rejected: set[int] = set()
    for _ in range(config.attempts):
        distances = _mean_distances(problem, frames)
        candidates = problem.movable & (distances > config.far * problem.scale)
        candidates[list(rejected)] = False
        if not candidates.any():
            break
        part = int(np.where(candidates, distances, -1.0).argmax())
        found, found_error = _best_proposal(problem, frames, part, config)
        if found_error > config.improvement * error:
            rejected.add(part)
            continue
        frames, error = found, found_error
        rejected -= set(problem.neighbours.get(part, ()))
    return frames


def _mean_distances(problem: PartsAndTarget, frames: Frames) -> Float[np.ndarray, " H"]:
    """From the samples of each part to the target."""
    rotations, translations = frames
    x = (rotations[problem.labels] @ problem.points[:, :, None])[..., 0] + translations[problem.labels]
    total = np.bincount(problem.labels, problem.tree.query(x)[0], len(rotations))
    return total / np.maximum(np.bincount(problem.labels, minlength=len(rotations)), 1)


def _best_proposal(problem: PartsAndTarget, frames: Frames, part: int, config: PlacementConfig) -> tuple[Frames, float]:
    """The proposal for one part that fits the whole target best, and its Chamfer distance."""
    points = problem.points[problem.labels == part]
    if len(points) < config.least_points:
        return frames, np.inf
    rotations, translations = part_proposals(problem, frames, part, points, config)
    few = points[:: max(1, len(points) // config.preview_points)]
    x = np.einsum("gij,nj->gni", rotations, few) + translations[:, None]
    distances = problem.tree.query(x.reshape(-1, 3))[0].reshape(len(x), -1).mean(axis=1)
    best, lowest = frames, np.inf
    for k in np.argsort(distances, kind="stable")[: config.finalists]:
        trial = (frames[0].copy(), frames[1].copy())
        trial[0][part], trial[1][part] = rotations[k], translations[k]
        error = problem.error(trial)
        if error < lowest:
            best, lowest = trial, error
    return best, lowest


def part_proposals(
    problem: PartsAndTarget, frames: Frames, part: int, points: Float[np.ndarray, "n 3"], config: PlacementConfig
) -> tuple[Float[np.ndarray, "n_motions 3 3"], Float[np.ndarray, "n_motions 3"]]:
    """Motions for one part: those of its neighbours, turns about edges of its box, slides along its sides."""
    rotation, translation = frames[0][part], frames[1][part]
    others = list(problem.neighbours.get(part, ()))
    rotations, translations = [frames[0][others]], [frames[1][others]]
    low, high = points.min(axis=0), points.max(axis=0)
    slides = np.array(config.slides) * problem.scale
    for axis in range(3):
        across = [k for k in range(3) if k != axis]
        turns = _axis_rotations(axis, np.deg2rad(config.angles))
        for corner in ((0, 0), (0, 1), (1, 0), (1, 1)):
            pivot = 0.5 * (low + high)
            pivot[across] = np.where(corner, high[across], low[across])
            rotations.append(rotation @ turns)
            translations.append((rotation @ (pivot - turns @ pivot)[..., None])[..., 0] + translation)
        rotations.append(np.repeat(rotation[None], len(slides), axis=0))
        translations.append(slides[:, None] * rotation[:, axis] + translation)
    return np.concatenate(rotations), np.concatenate(translations)


def _axis_rotations(axis: int, angles: Float[np.ndarray, " A"]) -> Float[np.ndarray, "A 3 3"]:
    """Rotations about a coordinate axis."""
    first, second = (axis + 1) % 3, (axis + 2) % 3
    out = np.tile(np.eye(3), (len(angles), 1, 1))
    out[:, first, first] = out[:, second, second] = np.cos(angles)
    out[:, second, first] = np.sin(angles)
    out[:, first, second] = -np.sin(angles)
    return out


# Lengths are shares of the longest side of the object; shares of distances are larger than the noise of the samples, 1
# to 2 %.
SAMPLES = 2000  # Of the surface and of the target, to fit and again to validate
IMPROVEMENT = 0.985  # A fit replaces the pose if its validation error is at most this share of the pose's
EQUIVALENCE = 1.015
"""Fits whose errors differ by less than this count as equal: the simpler or the less displaced one is taken."""

BENDING_IMPROVEMENT = 0.93  # What the space holds to be rigid may bend if that brings the error down to this share

SEPARATION = 0.03  # Surfaces that coincide at rest, and are nearer than this in the pose, coincide again in the end
RIGID_WEIGHT = 1.0 - 1e-6  # A vertex that follows one handle to this share belongs to a rigid part

FROM_POSE = NonRigidConfig(rounds=16, data_weight=(0.02, 0.2), outlier_distance=(0.1, 0.03), separation=SEPARATION)
"""From the pose; what it has moved apart is free."""

FINAL = NonRigidConfig(
    rounds=6, data_weight=(0.2, 0.4), outlier_distance=(0.03, 0.03), separation=SEPARATION, samples=5000,
    tangential_slack=0.5,
)  # fmt: skip
"""At the end, of what bends alone and with all points of the target."""


class Refinement(NamedTuple):
    """What refinement has found."""

    vertices: Float[np.ndarray, "V 3"]
    residual: float
    """Mean distance to the target, both ways, as a share of the longest side of the object's box."""


def refine(
    space: KinematicSpace,
    q: Float[np.ndarray, " D"],
    target: Float[np.ndarray, "M 3"],
    seed: int = 0,
    simpler: Sequence[Float[np.ndarray, "V 3"]] = (),
) -> Refinement:
    """Vertices that fit a cloud of the whole object better than the pose ``q``; those of the pose if none do.

    What a partial cloud does not show would be pulled to what it shows: such clouds are for ``pose_to_points`` alone.

    Args:
        space: A space of rigid handles.
        q: The pose to start from.
        target: Points all over the object.
        seed: Of the samples.
        simpler: Vertices of poses that are preferred unless others fit clearly better, the simplest first.
    """
    fits = _Fits(space, HoldOut(space.rest, target, SAMPLES, seed))
    error, rigid, nothing = fits.held_out.error, fits.rigid, np.zeros_like(fits.rigid)
    pose = decode(space, q)
    found = fits.best(*(fits.bend(vertices, rigid) for vertices in fits.moved_rigidly(pose)))
    bent = fits.bend(found, nothing)
    found = fits.best(found, fits.without_bends(bent, ~rigid, rigid))
    better = error(found) < IMPROVEMENT * error(pose)
    found = fits.without_bends(found if better else pose, ~rigid)
    free = fits.without_bends(bent, ~nothing)
    if error(free) < BENDING_IMPROVEMENT * error(found):
        found, better = free, True
    if better:
        found = fits.with_seams(min(found, fits.final(found), key=error), pose)
    ranked = [(vertices, error(vertices)) for vertices in (*simpler, found)]
    enough = EQUIVALENCE * min(reached for _, reached in ranked)
    found, reached = next(pair for pair in ranked if pair[1] <= enough)
    return Refinement(found, reached / fits.held_out.scale)


@dataclass(frozen=True, eq=False)
class _Fits:
    """The steps from one shape to one target, and what they share: components, contacts, samples."""

    space: KinematicSpace
    held_out: HoldOut

    @cached_property
    def components(self) -> Components:
        return Components(self.space.rest)

    @cached_property
    def proxy(self) -> DeformationProxy:
        return DeformationProxy(self.components)

    @cached_property
    def target(self) -> OrientedPoints:
        return OrientedPoints(np.asarray(self.held_out.fit.tree.data))

    @cached_property
    def _weights(self) -> Float[np.ndarray, "V H"]:
        if self.space.weights is None:
            raise NeurokError("Only a space of rigid handles can be refined.")
        return self.space.weights

    @cached_property
    def rigid(self) -> Bool[np.ndarray, " C"]:
        """Components that follow one handle."""
        blended = self._weights.max(axis=1) < RIGID_WEIGHT
        return np.bincount(self.components.vertex_labels, blended, self.components.count) == 0

    def moved_rigidly(self, pose: Float[np.ndarray, "V 3"]) -> Iterator[Float[np.ndarray, "V 3"]]:
        """The pose with its components closer to the target.

        First all rigid ones of a handle as one body, since the space may know what belongs together; then each on its
        own, since it may not; then what bends without its bends, where the pose has it and where it is at rest.
        """
        alone = np.arange(self.components.count)
        handles = np.zeros_like(alone)
        handles[self.components.vertex_labels] = self._weights.argmax(axis=1)
        together = np.unique(np.where(self.rigid, handles, -1 - alone), return_inverse=True)[1]
        anchors = np.geomspace(*ANCHOR, ROUNDS)
        for bodies in (together, alone) if together.max() < alone.max() else (alone,):
            pose = self._proposed(pose, np.where(self.rigid, bodies, -1))
            pose = register_rigid(self.components, pose, bodies, self.held_out, anchors)
            yield pose
        if not self.rigid.all():
            bending = ~self.rigid[self.components.vertex_labels][:, None]
            unbent = np.where(bending, self.space.rest.vertices, pose)
            for start in (mean_motions(self.components, pose, ~self.rigid), unbent):
                yield register_rigid(self.components, start, alone, self.held_out, anchors)

    def _proposed(self, pose: Float[np.ndarray, "V 3"], bodies: Int[np.ndarray, " C"]) -> Float[np.ndarray, "V 3"]:
        """The pose with rigid bodies that are far from the target where they fit better."""
        rest, split, scale = self.space.rest.vertices, self.held_out.fit, self.held_out.scale
        owners, labels = bodies[self.components.vertex_labels], bodies[self.components.face_labels]
        labels, points, others = (
            labels[split.samples.face_ids],
            split.samples.interpolate(rest),
            split.samples.interpolate(pose),
        )
        movable = np.isin(np.arange(bodies.max(initial=0) + 2), bodies)
        frames = np.tile(np.eye(4), (len(movable), 1, 1))
        for body in np.flatnonzero(movable):
            frames[body] = fit_rigid(rest[owners == body], pose[owners == body])

        def moved(frames: Frames, x: np.ndarray, labels: np.ndarray, others: np.ndarray) -> np.ndarray:
            mine = (frames[0][labels] @ x[:, :, None])[..., 0] + frames[1][labels]
            return np.where((labels >= 0)[:, None], mine, others)

        def error(frames: Frames) -> float:
            x = moved(frames, points, labels, others)
            return closest_points(x, split.points, split.tree, scale, RegistrationConfig()).chamfer

        touching: dict[int, list[int]] = {}
        for contact in self.components.contacts.pairs:
            first, second = int(bodies[contact.first]), int(bodies[contact.second])
            if first != second and min(first, second) >= 0:
                touching.setdefault(first, []).append(second)
                touching.setdefault(second, []).append(first)
        # What bends has the last number: it stays.
        sampled = np.where(labels < 0, len(movable) - 1, labels)
        problem = PartsAndTarget(points, sampled, movable, touching, split.tree, scale, error)
        found = improve_by_proposals(problem, (frames[:, :3, :3], frames[:, :3, 3]))
        return moved(found, rest, owners, pose)

    def bend(self, start: Float[np.ndarray, "V 3"], fixed: Bool[np.ndarray, " C"]) -> Float[np.ndarray, "V 3"]:
        """Registered vertex by vertex but for fixed components."""
        return register_nonrigid(self.proxy, start, fixed, self.target, FROM_POSE, self.held_out.seed)

    def without_bends(
        self,
        vertices: Float[np.ndarray, "V 3"],
        allowed: Bool[np.ndarray, " C"],
        required: Bool[np.ndarray, " C"] | None = None,
    ) -> Float[np.ndarray, "V 3"]:
        """Allowed components made rigid where bends do not help, and required ones in any case."""
        return prefer_rigid(self.components, vertices, self.held_out, allowed, required)

    def with_seams(
        self, vertices: Float[np.ndarray, "V 3"], pose: Float[np.ndarray, "V 3"]
    ) -> Float[np.ndarray, "V 3"]:
        """Without cracks between components that the pose keeps together; rigid ones stay as they are."""
        rigid = rigid_components(self.components, vertices)
        return self.components.closed(vertices, pose, rigid, SEPARATION * self.held_out.scale)

    def final(self, vertices: Float[np.ndarray, "V 3"]) -> Float[np.ndarray, "V 3"]:
        """What is bent registered closer, with all points of the target."""
        fixed, everything = rigid_components(self.components, vertices), OrientedPoints(self.held_out.target)
        return register_nonrigid(self.proxy, vertices, fixed, everything, FINAL, self.held_out.seed)

    def best(self, first: Float[np.ndarray, "V 3"], *others: Float[np.ndarray, "V 3"]) -> Float[np.ndarray, "V 3"]:
        """The fit with the smallest validation error, or an equivalent one that is displaced less."""
        best, error = first, self.held_out.error
        for fit in others:
            before, after = error(best), error(fit)
            less = self.held_out.displacement(fit) < self.held_out.displacement(best)
            if EQUIVALENCE * after < before or (after < EQUIVALENCE * before and less):
                best = fit
        return best
