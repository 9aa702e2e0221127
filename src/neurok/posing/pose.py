"""Posing: the pose of a space that fits what is wanted, with or without knowing which point is which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from neurok.core.articulation import Articulation
from neurok.errors import NeurokError
from neurok.geometry.sampling import sample_surface
from neurok.kinematics.fit import fit_vertices
from neurok.kinematics.space import KinematicSpace
from neurok.kinematics.space import decode as decode_pose
from neurok.kinematics.tree import JointTree
from neurok.posing.refine import HandledSpace, refine
from neurok.posing.registration import MatchConfig, PointDriver, match_points

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


@dataclass(frozen=True, eq=False)
class JointDriver:
    """An articulation as features and their transforms: x = features @ Y(q)."""

    articulation: Articulation

    @cached_property
    def _tree(self) -> tuple[JointTree, Int[np.ndarray, " P"]]:
        return JointTree.of(self.articulation)

    @cached_property
    def features(self) -> Float[np.ndarray, "V K"]:
        """Homogeneous rest positions in the columns of each vertex's node."""
        tree, part_nodes = self._tree
        vertices, nodes = self.articulation.mesh.vertices, part_nodes[self.articulation.vertex_parts]
        out = np.zeros((len(vertices), tree.joint_count + 1, 4))
        out[np.arange(len(vertices)), nodes] = np.concatenate([vertices, np.ones((len(vertices), 1))], axis=1)
        return out.reshape(len(vertices), -1)

    def shape(self, q: Float[np.ndarray, "B D"]) -> tuple[Float[np.ndarray, "B K 3"], Float[np.ndarray, "B D K 3"]]:
        """Transforms of the parts, stacked, and their derivatives."""
        tree, _ = self._tree
        nodes, screws = tree.transforms(np.eye(4), q)
        slopes = np.einsum("nd,bdij,bnjk->bdnik", tree.ancestors, screws, nodes, optimize=True)
        stacked = lambda t: np.swapaxes(t[..., :3, :], -1, -2).reshape(*t.shape[:-3], -1, 3)  # noqa: E731
        return stacked(nodes), stacked(slopes)


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
    driver, features = _driver(space)
    samples = sample_surface(space.rest.vertices, space.rest.faces, SAMPLES, rng)
    rows = samples.interpolate(features)
    places = np.concatenate([np.zeros((1, space.dim)), space.sample(starts - 1, seed), _sweeps(space)])
    config = MatchConfig(prior=space.prior_weight)
    config = replace(config, forward=UNSEEN, prior=1e-5) if partial else config
    side = _side(space)
    limits = space.limits if space.has_hard_limits and space.starts_along_axes else None
    q, score = match_points(driver, rows, points, places, side, config, limits)
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
    if not space.starts_along_axes or space.dim > MOST_FOLLOWED:
        return np.zeros((0, space.dim))
    low, high = space.limits.T
    values = low + np.linspace(0.0, 1.0, SWEEP)[:, None] * (high - low)
    return (values[:, :, None] * np.eye(space.dim)).reshape(-1, space.dim)


def _driver(space: KinematicSpace) -> tuple[PointDriver, Float[np.ndarray, "V K"]]:
    if space.articulation is not None:
        driver = JointDriver(space.articulation)
        return driver, driver.features
    if space.features is not None:
        return space, space.features
    raise NeurokError("Matching a cloud needs a space of joints, handles or modes: this one decodes whole shapes only.")


def _inside(space: KinematicSpace, q: Float[np.ndarray, " D"]) -> Float[np.ndarray, " D"]:
    """Joints stay within their limits, which may leave a part of the wish unmet; others only say what is likely."""
    return np.clip(q, space.limits[:, 0], space.limits[:, 1]) if space.has_hard_limits else q


def _side(space: KinematicSpace) -> float:
    low, high = space.rest.bounds
    return float((high - low).max())
