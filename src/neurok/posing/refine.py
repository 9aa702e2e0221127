"""Refinement: handles leave the space of a pose, as little as the target demands.

Three fits are tried. From the pose, every handle gets a small rigid motion of its own, so that what is rigid stays so;
handles that touch are held together weakly, and all are anchored to the pose, less from round to round, because most
closest points are wrong at first. Then the same with every component on its own. And the rest shape is registered
non-rigidly, after which each rigid part takes its mean motion: this finds what the space does not know. What bends is
registered vertex by vertex. Points that no fit has used decide which fit is kept, or whether a simpler pose does as
well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.errors import NeurokError
from neurok.geometry.handles import find_handles
from neurok.geometry.lie import fit_rigid, skew
from neurok.geometry.topology import vertex_labels
from neurok.kinematics.space import KinematicSpace
from neurok.posing.components import Components, HandleContact
from neurok.posing.constraints import (
    ConstraintConfig,
    HandleFrames,
    PointConstraints,
    anchor_constraints,
    contact_constraints,
    overlap_constraints,
)
from neurok.posing.nonrigid import DeformationProxy, NonRigidConfig, OrientedPoints, register_nonrigid
from neurok.posing.proposals import Frames, PartsAndTarget, ProposalConfig, improve_by_proposals
from neurok.posing.registration import RegistrationConfig, closest_points
from neurok.posing.rigidity import RigidityConfig, prefer_rigid, rigid_components
from neurok.posing.validation import HoldOut


@dataclass(frozen=True)
class RefineConfig:
    """Effort and decisions of refinement. Shares of distances are larger than the noise of the samples, 1 to 2 %."""

    rounds: int = 14
    """Gauss–Newton steps of the handles, each with new closest points."""

    samples: int = 2000
    """Of the surface and of the target, to fit and again to validate."""

    improvement: float = 0.985
    """A fit replaces the pose if its validation error is at most this share of the pose's."""

    equivalence: float = 1.015
    """Fits whose errors differ by less than this count as equal: the simpler or the less displaced one is taken."""

    bending_improvement: float = 0.93
    """What the space holds to be rigid may bend if that brings the error down to this share."""

    far_from_space: float = 0.5
    """A pose whose distance refinement brings down to this share was far from the space: bones are tried as well."""

    rigid_weight: float = 1.0 - 1e-6
    """A vertex that follows one handle to this share belongs to a rigid part."""

    from_rest: NonRigidConfig = field(
        default_factory=lambda: NonRigidConfig(rounds=30, data_weight=(0.002, 0.2), outlier_distance=(0.5, 0.05))
    )
    """From the rest shape: long, soft at first, and with all contacts kept."""

    from_pose: NonRigidConfig = field(
        default_factory=lambda: NonRigidConfig(
            rounds=16, data_weight=(0.02, 0.2), outlier_distance=(0.1, 0.03), separation=0.03
        )
    )
    """After the handles have been fitted; what the pose has moved apart is free."""

    final: NonRigidConfig = field(
        default_factory=lambda: NonRigidConfig(
            rounds=6,
            data_weight=(0.2, 0.4),
            outlier_distance=(0.03, 0.03),
            separation=0.03,
            samples=5000,
            tangential_slack=0.5,
        )
    )
    """At the end, of what bends alone and with all points of the target."""

    registration: RegistrationConfig = field(default_factory=RegistrationConfig)
    constraints: ConstraintConfig = field(default_factory=ConstraintConfig)
    proposals: ProposalConfig = field(default_factory=ProposalConfig)
    rigidity: RigidityConfig = field(default_factory=RigidityConfig)


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
    config: RefineConfig | None = None,
    simpler: Sequence[Float[np.ndarray, "V 3"]] = (),
) -> Refinement:
    """Vertices that fit a cloud of the whole object better than the pose ``q``; those of the pose if none do.

    What a partial cloud does not show would be pulled to what it shows: such clouds are for ``pose_to_points`` alone.

    Args:
        space: A space of rigid handles.
        q: The pose to start from.
        target: Points all over the object.
        seed: Of the samples.
        config: Effort and decisions.
        simpler: Vertices of poses that are preferred unless others fit clearly better, the simplest first.
    """
    config = config or RefineConfig()
    fits = _Fits(space, HoldOut(space.rest, target, config.samples, seed, config.registration), config)
    start = fits.frames_at(q)
    pose = start.blended(space.rest.vertices, fits.weights)
    error = fits.held_out.error
    found = fits.best([*fits.from_pose(start), fits.from_rest()])
    bent = fits.bent(found)
    found = min(found, fits.with_rigid_parts(bent, required=True), key=error)
    better = error(found) < config.improvement * error(pose)
    found = fits.with_rigid_parts(found if better else pose)
    free = fits.best([fits.with_any_rigid(bent), fits.with_any_rigid(fits.bent_rest)])
    if error(free) < config.bending_improvement * error(found):
        found, better = free, True
    if better:
        found = fits.with_seams(min(found, fits.final(found), key=error), pose)
    ranked = [(vertices, error(vertices)) for vertices in (*simpler, found)]
    enough = config.equivalence * min(reached for _, reached in ranked)
    found, reached = next(pair for pair in ranked if pair[1] <= enough)
    return Refinement(found, reached / fits.held_out.scale)


@dataclass(frozen=True, eq=False)
class _Fits:
    """The fits of one shape to one target, and what they share: components, contacts, samples."""

    space: KinematicSpace
    held_out: HoldOut
    config: RefineConfig

    @cached_property
    def weights(self) -> Float[np.ndarray, "V H"]:
        if self.space.weights is None:
            raise NeurokError("Only a space of rigid handles can be refined.")
        return self.space.weights

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
    def rigid(self) -> Bool[np.ndarray, " C"]:
        """Components that follow one handle."""
        blended = self.weights.max(axis=1) < self.config.rigid_weight
        return np.bincount(self.components.vertex_labels, blended, self.components.count) == 0

    @cached_property
    def parts(self) -> tuple[Float[np.ndarray, "V P"], Int[np.ndarray, " P"]]:
        """Weights of handles none of which reaches across components, and the handle of the space behind each.

        The space moves by one handle all that it takes for one body, and all that it takes to stand still.
        """
        rest = self.space.rest
        handles = find_handles(rest.vertices, rest.faces, walls=rest.face_surfaces)
        groups = vertex_labels(rest.faces, handles.face_groups, rest.vertex_count)
        inside = (groups[:, None] == np.arange(len(handles.widths))).astype(np.float64)
        parents, group = np.nonzero(self.weights.T @ inside > 0)
        return self.weights[:, parents] * inside[:, group], parents

    def frames_at(self, q: Float[np.ndarray, " D"]) -> HandleFrames:
        """The handles of the space at a pose."""
        rows = self.space.values(q[None])[0].reshape(-1, 4, 3)
        return self._about_centroids(self.weights, rows[:, :3].swapaxes(1, 2), rows[:, 3])

    def from_pose(self, start: HandleFrames) -> Iterator[Float[np.ndarray, "V 3"]]:
        """With the handles of the space, and, where these are fewer, with each component on its own."""
        rest, (apart, parents) = self.space.rest.vertices, self.parts
        now = self._fit_handles(self.weights, start)
        yield self._bend_flexible(now.blended(rest, self.weights))
        if len(parents) > len(now.rotations):
            start = self._about_centroids(apart, now.rotations[parents], now.translations[parents])
            yield self._bend_flexible(self._fit_handles(apart, start).blended(rest, apart))

    @cached_property
    def bent_rest(self) -> Float[np.ndarray, "V 3"]:
        """The rest shape registered as if all of it could bend."""
        rest, nothing = self.space.rest.vertices, np.zeros_like(self.rigid)
        return register_nonrigid(self.proxy, rest, nothing, self.target, self.config.from_rest, self.held_out.seed)

    def from_rest(self) -> Float[np.ndarray, "V 3"]:
        """From there each rigid component by its mean motion, then closer on its own."""
        apart, rest = self.parts[0], self.space.rest.vertices
        frames = np.tile(np.eye(4), (apart.shape[1], 1, 1))
        for handle, weight in enumerate(apart.T):
            some = weight > 1e-3
            if some.any():
                frames[handle] = fit_rigid(rest[some], self.bent_rest[some], weight[some])
        start = self._about_centroids(apart, frames[:, :3, :3], frames[:, :3, 3])
        found = self._fit_handles(apart, start).blended(rest, apart)
        return self._bend_flexible(np.where(self.rigid[self.components.vertex_labels][:, None], found, self.bent_rest))

    def bent(self, start: Float[np.ndarray, "V 3"]) -> Float[np.ndarray, "V 3"]:
        """Registered from a fit as if all could bend."""
        return self._bend(start, np.zeros_like(self.rigid))

    def with_rigid_parts(self, vertices: Float[np.ndarray, "V 3"], required: bool = False) -> Float[np.ndarray, "V 3"]:
        """Without bends that do not help; rigid components made rigid, where that is required."""
        rigid = self.rigid if required else None
        return prefer_rigid(self.components, vertices, self.held_out, ~self.rigid, rigid, self.config.rigidity)

    def with_seams(
        self, vertices: Float[np.ndarray, "V 3"], pose: Float[np.ndarray, "V 3"]
    ) -> Float[np.ndarray, "V 3"]:
        """Without cracks between components that the pose keeps together; rigid ones stay as they are."""
        rigid = rigid_components(self.components, vertices)
        return self.components.closed(vertices, pose, rigid, self.config.constraints.separation * self.held_out.scale)

    def with_any_rigid(self, vertices: Float[np.ndarray, "V 3"]) -> Float[np.ndarray, "V 3"]:
        """Without bends that do not help, whatever the space holds to be rigid."""
        anything = np.ones_like(self.rigid)
        return prefer_rigid(self.components, vertices, self.held_out, anything, None, self.config.rigidity)

    def final(self, vertices: Float[np.ndarray, "V 3"]) -> Float[np.ndarray, "V 3"]:
        """What is bent registered closer, with all points of the target."""
        fixed, everything = rigid_components(self.components, vertices), OrientedPoints(self.held_out.target)
        return register_nonrigid(self.proxy, vertices, fixed, everything, self.config.final, self.held_out.seed)

    def best(self, fits: Iterable[Float[np.ndarray, "V 3"]]) -> Float[np.ndarray, "V 3"]:
        """The fit with the smallest validation error, or an equivalent one that is displaced less."""
        best, *others = fits
        error, moved = self.held_out.error(best), self.held_out.displacement(best)
        equivalence = self.config.equivalence
        for fit in others:
            found, way = self.held_out.error(fit), self.held_out.displacement(fit)
            if equivalence * found < error or (found < equivalence * error and way < moved):
                best, error, moved = fit, found, way
        return best

    def _about_centroids(
        self,
        weights: Float[np.ndarray, "V H"],
        rotations: Float[np.ndarray, "H 3 3"],
        translations: Float[np.ndarray, "H 3"],
    ) -> HandleFrames:
        return HandleFrames.about_centroids(self.space.rest.vertices, weights, rotations, translations)

    def _bend_flexible(self, start: Float[np.ndarray, "V 3"]) -> Float[np.ndarray, "V 3"]:
        return self._bend(start, self.rigid)

    def _bend(self, start: Float[np.ndarray, "V 3"], fixed: Bool[np.ndarray, " C"]) -> Float[np.ndarray, "V 3"]:
        return register_nonrigid(self.proxy, start, fixed, self.target, self.config.from_pose, self.held_out.seed)

    def _fit_handles(self, weights: Float[np.ndarray, "V H"], start: HandleFrames) -> HandleFrames:
        """Handles registered to the target: by proposals, then by closest points."""
        samples, contacts = self.held_out.fit.samples, self.components.handle_contacts(weights)
        sampled = _Sampled(samples.interpolate(self.space.rest.vertices), samples.interpolate(weights), contacts)
        return _register_handles(
            sampled, _propose(sampled, start, self.held_out, self.config), self.held_out, self.config
        )


class _Sampled(NamedTuple):
    """Samples of the rest surface, how much each follows each handle, and where handles touch."""

    points: Float[np.ndarray, "N 3"]
    weights: Float[np.ndarray, "N H"]
    contacts: tuple[HandleContact, ...]


def _propose(sampled: _Sampled, start: HandleFrames, held_out: HoldOut, config: RefineConfig) -> HandleFrames:
    """The handles after proposals for single rigid ones."""
    points, weights, contacts = sampled
    labels = weights.argmax(axis=1)
    neighbours: dict[int, list[int]] = {}
    for contact in contacts:
        neighbours.setdefault(contact.first, []).append(contact.second)
        neighbours.setdefault(contact.second, []).append(contact.first)
    split = held_out.fit

    def error(frames: Frames) -> float:
        x = HandleFrames(*frames, start.centers).blended(points, weights)
        return closest_points(x, split.points, split.tree, held_out.scale, config.registration).chamfer

    blended = np.bincount(labels, weights.max(axis=1) < config.rigid_weight, weights.shape[1])
    problem = PartsAndTarget(points, labels, blended == 0, neighbours, split.tree, held_out.scale, error)
    rotations, translations = improve_by_proposals(problem, (start.rotations, start.translations), config.proposals)
    centers = (rotations @ start.rest_centers[:, :, None])[..., 0] + translations
    return HandleFrames(rotations, translations, centers)


def _register_handles(sampled: _Sampled, start: HandleFrames, held_out: HoldOut, config: RefineConfig) -> HandleFrames:
    """Handles pulled to the target by closest points, anchored to the start less and less."""
    points, weights, contacts = sampled
    constraints = PointConstraints.joined(
        [
            anchor_constraints(points, weights, start, config.constraints),
            overlap_constraints(points, weights, config.constraints),
            contact_constraints(contacts, weights, start, held_out.scale, config.constraints),
        ]
    )
    wanted, now = constraints.offsets(start), start
    for anchor in np.geomspace(*config.constraints.anchor, config.rounds):
        strength = np.where(constraints.second < 0, anchor, 1.0) * constraints.weight
        now = now.stepped(_gauss_newton_step(now, sampled, held_out, constraints, wanted, strength, config))
    return now


def _gauss_newton_step(
    now: HandleFrames,
    sampled: _Sampled,
    held_out: HoldOut,
    constraints: PointConstraints,
    wanted: Float[np.ndarray, "T 3"],
    strength: Float[np.ndarray, " T"],
    config: RefineConfig,
) -> Float[np.ndarray, "H 6"]:
    """Twists of all handles about their centres."""
    points, weights, _ = sampled
    count, scale, split = len(now.rotations), held_out.scale, held_out.fit
    each = np.einsum("hij,nj->nhi", now.rotations, points) + now.translations
    x = (weights[..., None] * each).sum(axis=1)
    found = closest_points(x, split.points, split.tree, scale, config.registration)
    slopes = _twist_slopes(each - now.centers, scale) * weights[..., None, None]
    jacobian = slopes.transpose(0, 2, 1, 3).reshape(-1, 6 * count)
    hessian = jacobian.T @ (jacobian * np.repeat(found.weight, 3)[:, None])
    gradient = jacobian.T @ found.pull.reshape(-1)
    held_slopes = np.zeros((len(constraints.points), count, 3, 6))
    rows = np.arange(len(constraints.points))
    for handles, sign in ((constraints.first, 1.0), (constraints.second, -1.0)):
        some = handles >= 0
        at = now.moved(handles[some], constraints.points[some])
        held_slopes[rows[some], handles[some]] += sign * _twist_slopes(at - now.centers[handles[some]], scale)
    jacobian = held_slopes.transpose(0, 2, 1, 3).reshape(-1, 6 * count)
    residual = (wanted - constraints.offsets(now)) / scale
    weighted = jacobian * np.repeat(strength, 3)[:, None]
    hessian += jacobian.T @ weighted
    gradient += weighted.T @ residual.reshape(-1)
    hessian += 1e-9 * np.trace(hessian) * np.eye(len(hessian))
    return np.linalg.solve(hessian, gradient).reshape(-1, 6) * np.repeat([1.0, scale], 3)


def _twist_slopes(arms: Float[np.ndarray, "*N 3"], scale: float) -> Float[np.ndarray, "*N 3 6"]:
    """How a point moves with a twist about a centre, in units of the scale."""
    turning = -skew(arms / scale)
    return np.concatenate([turning, np.broadcast_to(np.eye(3), turning.shape)], axis=-1)
