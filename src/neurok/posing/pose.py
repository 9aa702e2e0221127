"""Posing: the pose of a space that fits what is wanted, with or without knowing which point is which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from neurok.errors import NeurokError
from neurok.geometry.sampling import sample_surface
from neurok.kinematics.fit import fit_vertices
from neurok.kinematics.space import KinematicSpace
from neurok.kinematics.space import decode as decode_pose
from neurok.posing.refine import refine
from neurok.posing.registration import RegistrationConfig, longest_side, register_points
from neurok.posing.verdict import PoseVerdict

if TYPE_CHECKING:
    from neurok.core.mesh import Mesh


QUARTER = np.pi / 2
SIDES = np.array(
    [(x * QUARTER, 0.0, z * QUARTER) for x in range(-1, 3) for z in range(-1, 3)]
    + [(x * QUARTER, y * QUARTER, 0.0) for x in range(-1, 3) for y in (-1, 1)]
)
"""The 24 ways to set a box on its faces, as turns about x, y and z after each other."""


@dataclass(frozen=True)
class PoseConfig:
    """How poses are searched and which of several is kept."""

    samples: int = 1500
    """Of the surface, in registration."""

    target_samples: int = 10_000
    """Of the surface of a target mesh whose correspondence is unknown."""

    least_points: int = 10
    """A cloud of fewer points is refused: it does not determine a pose."""

    starts: int = 64
    """Coordinates drawn from the space, rest included, from which registration starts."""

    axis_starts: int = 8
    """Starts along each coordinate alone, from limit to limit, where the space asks for them."""

    many_coordinates: int = 32
    """A space with more coordinates than this is slow to follow ..."""

    starts_of_many: int = 4
    """... and gets only so many starts."""

    partial_forward: float = 0.02
    """Weight of distances from the object to a cloud that shows only a part of it: just enough to be well posed."""

    partial_prior: float = 1e-5
    """Weight of |q|² there: what the cloud does not show stays near rest."""

    tolerance: float = 0.01
    """A pose of a simpler space is kept if its residual is larger by at most this share. On training objects poses
    along joints that are this close to the cloud are closer to the truth."""

    partial_tolerance: float = 0.1
    """The same for a partial cloud, which forgives more."""

    turned: float = 0.8
    """What can move as a whole is turned over only if that leaves less than this share of the residual: symmetric
    objects fit nearly as well end for end."""

    drag_tolerance: float = 0.2
    """Share of the way of what is dragged that a pose of a simpler space may miss."""

    registration: RegistrationConfig = field(default_factory=RegistrationConfig)


@dataclass(frozen=True, eq=False)
class Pose:
    """A pose and how well it fits."""

    space: KinematicSpace
    q: Float[np.ndarray, " D"]
    vertices: Float[np.ndarray, "V 3"]
    """Those of ``q``, or near them if the pose was refined."""

    residual: float
    """Mean distance to what was wanted, as a share of the longest side of the object's box."""

    status: str
    """``ok``, ``stalled`` when the search ended before it settled, ``poor`` when less than 60 % of the way is reached,
    ``torn`` when the surface had to tear."""

    is_close: bool = False
    """Whether it is as close to a cloud as samples can tell: no wider space could be closer."""

    verdict: PoseVerdict | None = None
    """How much of the way it goes and whether it had to tear, as ``neurok.pose`` found."""

    why: str = ""
    """Which space it is in, and why, in one sentence."""

    def mesh(self, rest: Mesh) -> Mesh:
        """The object in this pose; with the vertices of the space where bodies that shared some were split."""
        same = len(self.vertices) == rest.vertex_count
        return (rest if same else self.space.rest).with_vertices(self.vertices)


def pose_to_vertices(space: KinematicSpace, vertices: Int[np.ndarray, " n"], targets: Float[np.ndarray, "n 3"]) -> Pose:
    """Bring chosen vertices to places (known correspondence): a few that are dragged, or all of them."""
    found = fit_vertices(space, vertices, targets)
    positions = decode_pose(space, found.q)
    gaps = np.linalg.norm(positions[vertices] - targets, axis=1)
    return Pose(space, found.q, positions, float(gaps.mean()) / longest_side(space.rest), found.status)


def pose_to_points(
    space: KinematicSpace,
    points: Float[np.ndarray, "N 3"],
    seed: int = 0,
    *,
    partial: bool = False,
    config: PoseConfig | None = None,
) -> Pose:
    """Fit a cloud of unknown correspondence, from several starts.

    A ``partial`` cloud shows only some of the object: what it does not show stays near rest, and the residual is
    nearly that from the cloud to the object alone.
    """
    config = config or PoseConfig()
    if len(points) < config.least_points or not np.isfinite(points).all():
        raise NeurokError(f"A cloud to fit needs at least {config.least_points} finite points, got {len(points)}.")
    if space.features is None:
        raise NeurokError("Matching a cloud needs a space of joints, handles or modes: this one decodes whole shapes.")
    samples = sample_surface(space.rest.vertices, space.rest.faces, config.samples, np.random.default_rng(seed))
    registration = replace(config.registration, prior=space.prior_weight)
    if partial:
        # What a scan hardly shows is held by few points, so none are left out while starts are followed.
        all_points = max(config.samples, registration.target_points)
        registration = replace(registration, forward=config.partial_forward, prior=config.partial_prior)
        registration = replace(registration, coarse_points=all_points)
    scale = longest_side(space.rest)
    limits = space.limits if space.has_hard_limits else None
    starts = _starts(space, seed, config, points)
    features = samples.interpolate(space.features)
    found = register_points(space, features, points, starts, scale, registration, limits)
    if space.is_loose:
        upright = register_points(space, features, points, starts[:1], scale, registration, limits)
        found = found if found.distance < config.turned * upright.distance else upright
    q = found.q if limits is None else np.clip(found.q, limits[:, 0], limits[:, 1])
    return Pose(space, q, decode_pose(space, q), found.distance / scale, "ok", found.is_close)


def refine_pose(
    pose: Pose,
    points: Float[np.ndarray, "N 3"],
    seed: int = 0,
    simpler: Sequence[Pose] = (),
) -> Pose:
    """The same pose fitted closer to a whole cloud, out of its space; what is rigid bends only if the target does.

    Poses of simpler spaces are kept if this is not clearly closer.
    """
    check_refinable(pose.space)
    found = refine(pose.space, pose.q, points, seed, [other.vertices for other in simpler])
    kept = next((other for other in simpler if other.vertices is found.vertices), pose)
    return replace(kept, vertices=found.vertices, residual=found.residual)


def check_refinable(space: KinematicSpace) -> None:
    """Refuse spaces that say exactly what can move."""
    if space.weights is None or space.articulation is not None:
        raise NeurokError("Only poses on bones can be refined: joints, clips and the latent say exactly what can move.")


def simplest(poses: Sequence[Pose], slack: float = 0.0, config: PoseConfig | None = None) -> Pose:
    """Of poses of ever wider spaces the first that fits nearly as well as the best.

    ``slack`` is added to the residual that is good enough, in the same unit.
    """
    enough = (1.0 + (config or PoseConfig()).tolerance) * min(pose.residual for pose in poses) + slack
    return next((pose for pose in poses if pose.residual <= enough), poses[-1])


def _starts(
    space: KinematicSpace, seed: int, config: PoseConfig, points: Float[np.ndarray, "N 3"]
) -> Float[np.ndarray, "S D"]:
    """Rest, states drawn from the space, and single coordinates from limit to limit.

    What can move as a whole starts in the middle of the cloud, turned to every side.
    """
    if space.is_loose:
        samples = sample_surface(space.rest.vertices, space.rest.faces, config.samples, np.random.default_rng(seed))
        turned = np.zeros((1 + len(SIDES), space.dim))
        turned[1:, :3] = points.mean(axis=0) - samples.interpolate(space.rest.vertices).mean(axis=0)
        turned[1:, 3:6] = SIDES
        return turned
    many = space.dim > config.many_coordinates
    count = min(config.starts, config.starts_of_many) if many else config.starts
    drawn = np.concatenate([np.zeros((1, space.dim)), space.sample(count - 1, seed)])
    if many or not space.starts_along_axes:
        return drawn
    low, high = space.ranges.T
    values = low + np.linspace(0.0, 1.0, config.axis_starts)[:, None] * (high - low)
    return np.concatenate([drawn, (values[:, :, None] * np.eye(space.dim)).reshape(-1, space.dim)])
