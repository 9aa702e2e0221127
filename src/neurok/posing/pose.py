"""Posing: the pose of a space that fits what is wanted, with or without knowing which point is which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from neurok.errors import NeurokError
from neurok.geometry.sampling import sample_surface
from neurok.kinematics.articulated import ArticulatedSpace
from neurok.kinematics.fit import fit_vertices
from neurok.kinematics.space import FeatureSpace, KinematicSpace, limits_of
from neurok.kinematics.space import decode as decode_pose
from neurok.posing.refine import HandledSpace, refine
from neurok.posing.registration import MatchConfig, match_points

if TYPE_CHECKING:
    from neurok.core.mesh import Mesh

SAMPLES = 1500
STARTS = 64
SWEEP = 8
"""Starts along each coordinate of a learned space alone, from limit to limit: one number often opens one door."""

SLOW_STARTS = 4
"""Starts in a space with more coordinates than ..."""

MOST_FOLLOWED = 32
"""... so many, where each step is slow."""

UNSEEN = 0.02
"""How much the way from the object to a cloud counts that shows only a part of it."""

CLOSE = 0.01
"""A pose of a simpler space is kept if it is at most this much farther from what is wanted, as a share."""


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
    """``ok``, or ``stalled`` when the search ended before it settled."""

    def mesh(self, rest: Mesh) -> Mesh:
        return rest.with_vertices(self.vertices)


def pose_to_vertices(space: KinematicSpace, vertices: Int[np.ndarray, " n"], targets: Float[np.ndarray, "n 3"]) -> Pose:
    """Bring chosen vertices to places: a few that are dragged, or all of them."""
    found = fit_vertices(space, vertices, targets)
    q = _inside(space, found.q)
    positions = decode_pose(space, q)
    gaps = np.linalg.norm(positions[vertices] - targets, axis=1)
    return Pose(space, q, positions, float(gaps.mean()) / _side(space), found.status)


def pose_to_points(
    space: KinematicSpace,
    points: Float[np.ndarray, "N 3"],
    seed: int = 0,
    starts: int = STARTS,
    partial: bool = False,
) -> Pose:
    """Fit a cloud without correspondence, from several starts.

    A ``partial`` cloud shows only some of the object: what it does not show stays near rest, and the residual counts
    the way from the cloud to the object nearly alone.
    """
    if len(points) < 10 or not np.isfinite(points).all():
        raise NeurokError(f"A cloud to fit needs at least 10 finite points, got {len(points)}.")
    rng = np.random.default_rng(seed)
    if space.dim > MOST_FOLLOWED:
        starts = min(starts, SLOW_STARTS)
    if not isinstance(space, FeatureSpace):
        raise NeurokError(f"Matching a cloud needs a space of joints, handles or modes, not {type(space).__name__}.")
    samples = sample_surface(space.rest.vertices, space.rest.faces, SAMPLES, rng)
    rows = samples.interpolate(space.features)
    places = np.concatenate([np.zeros((1, space.dim)), random_poses(space, starts - 1, seed), _sweeps(space)])
    config = MatchConfig(prior=1e-8) if isinstance(space, ArticulatedSpace) else MatchConfig()
    config = replace(config, forward=UNSEEN, prior=1e-5) if partial else config
    side = _side(space)
    limits = limits_of(space) if _has_room(space) else None
    q, score = match_points(space, rows, points, places, side, config, limits)
    q = _inside(space, q)
    return Pose(space, q, decode_pose(space, q), score / side, "ok")


def refined(pose: Pose, points: Float[np.ndarray, "N 3"], seed: int = 0, simpler: Sequence[Pose] = ()) -> Pose:
    """The same pose fitted closer to a whole cloud, out of its space; what is rigid bends only if the target does.

    Poses of simpler spaces are kept if this is not clearly closer.
    """
    if not isinstance(pose.space, HandledSpace):
        raise NeurokError("Only poses of a learned space can be refined: joints and clips say exactly what can move.")
    found = refine(pose.space, pose.q, points, seed, simpler=[other.vertices for other in simpler])
    kept = next((other for other in simpler if other.vertices is found.vertices), pose)
    return replace(kept, vertices=found.vertices, residual=found.residual)


def simplest(poses: Sequence[Pose], slack: float = 0.0) -> Pose:
    """Of poses of ever wider spaces the first that fits nearly as well as the best; ``slack`` forgives more."""
    enough = (1.0 + CLOSE) * min(pose.residual for pose in poses) + slack
    return next((pose for pose in poses if pose.residual <= enough), poses[-1])


def _sweeps(space: KinematicSpace) -> Float[np.ndarray, "N D"]:
    if not hasattr(space, "sample") or space.dim > MOST_FOLLOWED:
        return np.zeros((0, space.dim))
    low, high = limits_of(space).T
    values = low + np.linspace(0.0, 1.0, SWEEP)[:, None] * (high - low)
    return (values[:, :, None] * np.eye(space.dim)).reshape(-1, space.dim)


def random_poses(space: KinematicSpace, count: int, seed: int = 0) -> Float[np.ndarray, "N D"]:
    """Plausible coordinates: draws of the prior of a learned space, else even ones within the limits."""
    sample = getattr(space, "sample", None)
    if sample is not None:
        return sample(count, seed)
    limits = limits_of(space)
    reach = np.pi if isinstance(space, ArticulatedSpace) else 1.0
    low = np.where(np.isfinite(limits[:, 0]), limits[:, 0], -reach)
    high = np.where(np.isfinite(limits[:, 1]), limits[:, 1], reach)
    return low + np.random.default_rng(seed).random((count, space.dim)) * (high - low)


def _has_room(space: KinematicSpace) -> bool:
    """Whether it is a learned space that knows how far its joints can go."""
    return getattr(space, "room", None) is not None


def _inside(space: KinematicSpace, q: Float[np.ndarray, " D"]) -> Float[np.ndarray, " D"]:
    """Joints stay within their limits, which may leave a part of the wish unmet; others only say what is likely."""
    if not isinstance(space, ArticulatedSpace) and not _has_room(space):
        return q
    limits = limits_of(space)
    return np.clip(q, limits[:, 0], limits[:, 1])


def _side(space: KinematicSpace) -> float:
    low, high = space.rest.bounds
    return float((high - low).max())
