"""The verbs ``pose`` and ``sample``: all that is decided between an object and the answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from neurok.bodyplan.clearance import Clearance
from neurok.bodyplan.config import CLEARANCE, ClearanceConfig
from neurok.core import Asset, Clip, Mesh
from neurok.core.mesh import LARGEST, frame_change, within_reach
from neurok.core.select import select_vertices
from neurok.errors import MeshError, NeurokError, shown
from neurok.geometry.sampling import sample_surface
from neurok.io import load
from neurok.io.npz_arrays import read_array
from neurok.kinematics.space import KinematicSpace, clip_of, decode, on_vertices, through_states
from neurok.model import SpaceName, Thing, Weights, understand
from neurok.posing.pose import (
    Pose,
    PoseConfig,
    check_refinable,
    pose_to_points,
    pose_to_vertices,
    refine_pose,
    simplest,
)
from neurok.posing.registration import longest_side
from neurok.posing.verdict import Measure, PoseJudge, to_vertices

Target = Asset | Mesh | np.ndarray | str | Path
"""What a pose shall fit: an object, points (rows of three numbers), or a file of either."""

OTHER_SEEDS = 7919
"""Distance between the seeds of redrawn states: far from those that a user counts through."""

MOST_STATES = 10_000
"""States drawn at once; each is kept as coordinates and drawn or written as a mesh."""

Place = Sequence[float | int] | np.ndarray
"""Three numbers."""


@dataclass(frozen=True, eq=False)
class Samples:
    """Plausible states of an object; iterating gives a mesh of each."""

    space: KinematicSpace
    rest: Mesh
    q: Float[np.ndarray, "N D"]
    why: str = ""
    """Which space it is, and why, in one sentence."""

    def __len__(self) -> int:
        return len(self.q)

    def __getitem__(self, index: int) -> Mesh:
        return self.rest.with_vertices(decode(self.space, self.q[index]))

    def __iter__(self) -> Iterator[Mesh]:
        return (self[index] for index in range(len(self)))

    def clip(self) -> Clip:
        """A motion from rest through all states and back, on joints or bones where the space has them."""
        moving = clip_of(self.space, through_states(self.q), name="states")
        return replace(moving, rest=self.rest) if moving.rest.vertex_count == self.rest.vertex_count else moving


def sample(
    thing: Thing,
    count: int = 8,
    *,
    space: SpaceName = "auto",
    weights: Any = None,
    plan: Any = None,
    seed: int = 0,
) -> Samples:
    """Draw plausible states of an object.

    Args:
        thing: An asset, a mesh, a model, or what ``neurok.load`` reads.
        count: How many.
        space: Whose states: those of its ``joints``, of its own ``clip``, or ``learned`` ones; ``auto`` takes the first
            of these there is.
        weights: Of the learned space: a model, a ``.safetensors`` file or a hub id; the shipped ones by default.
        plan: The body plan that a learned space is made from; found from the mesh by default.
        seed: Same seed, same states.

    Raises:
        NeurokError: If ``count`` is not positive, or the object has only one pose.
    """
    if not 1 <= count <= MOST_STATES:
        raise NeurokError(
            f"The number of states must be 1 to {MOST_STATES:,}, got {count}; draw more with other seeds."
        )
    model = understand(thing, plan=plan, weights=None if weights is None else Weights(weights))
    found = model.space_to_sample(space)
    same = found.rest.vertex_count == model.mesh.vertex_count  # bodies that shared vertices were split
    why = model.why(found, space)
    return Samples(found, model.mesh if same else found.rest, free_states(found, count, seed), why)


def pose(
    thing: Thing,
    *,
    target: Target | None = None,
    move: Mapping[str, Place] | None = None,
    partial: bool = False,
    deform: bool = False,
    space: SpaceName = "auto",
    spaces: Sequence[KinematicSpace] | None = None,
    weights: Any = None,
    plan: Any = None,
    seed: int = 0,
    config: PoseConfig | None = None,
) -> Pose:
    """Pose an object so that it fits a target, or so that some of its places go where they are told.

    Of several spaces the simplest is taken that fits nearly as well as the widest: a cloud of points forgives a tilted
    door, a user does not.

    Args:
        thing: An asset, a mesh, a model, or what ``neurok.load`` reads.
        target: An object to fit, vertex by vertex where it has the same faces, else by its shape; or points.
        move: Places (see ``neurok.core.select``) and the points to bring them to, in the unit of the object.
        partial: The target shows only a part of the object; what it does not show stays near rest.
        deform: Leave the object's own space as far as the target demands; rigid parts stay rigid unless it clearly
            bends them.
        space: Which poses it can take: those of its ``joints``, of its own ``clip``, or ``learned`` ones; ``auto``
            takes the first of these there is.
        spaces: Spaces at hand instead, the simplest first.
        weights: Of the learned space: a model, a ``.safetensors`` file or a hub id; the shipped ones by default.
        plan: The body plan that a learned space is made from; found from the mesh by default.
        seed: Of the starts of the search.
        config: Effort and tolerances.

    Raises:
        NeurokError: If nothing or too much is wished for, or the object has only one pose.
    """
    if (target is None) == (not move):
        raise NeurokError("Give a target for the pose: either --target MESH or one or more --move AT:POINT.")
    if deform and target is None:
        raise NeurokError("--deform fits a target closer: it goes with --target MESH, not with --move.")
    if partial and (deform or target is None):
        raise NeurokError("--partial is for a target that shows a part only: give --target and leave out --deform.")
    config = config or PoseConfig()
    model = understand(thing, plan=plan, weights=None if weights is None else Weights(weights))
    rest = model.mesh
    found = model.spaces_for(space, target=target is not None, deform=deform) if spaces is None else list(spaces)
    if not found:
        raise NeurokError(f"There is no space of poses to look in for '{rest.name}'; give at least one.")
    judge = PoseJudge(rest)
    if target is None:
        best, measure = _drag(found, rest, move or {}, config)
    else:
        if deform:
            check_refinable(found[-1])
        vertices, points = read_target(target, rest, config)
        if vertices is not None:
            everything = np.arange(len(vertices))
            measure = to_vertices(everything, vertices)
            poses = [pose_to_vertices(one, everything, vertices) for one in found]
        else:
            measure = judge.to_points(points, partial)
            poses = _fit(found, points, seed, partial, config)
        if deform and not poses[-1].is_close:
            best = refine_pose(poses[-1], points, seed, poses[:-1])
            return _judged(best, judge, measure, (), model.why(best.space, space))
        best = simplest(poses, config.partial_tolerance * poses[-1].residual if partial else 0.0, config)
    best, obstructions = free_pose(best)
    return _judged(best, judge, measure, obstructions, model.why(best.space, space))


def _judged(
    pose: Pose, judge: PoseJudge, measure: Measure, obstructions: tuple[tuple[str, str], ...], why: str
) -> Pose:
    """The pose with a verdict, which its status follows."""
    rest = judge.rest
    same = len(pose.vertices) == rest.vertex_count
    vertices = pose.vertices if same else on_vertices(rest, pose.space.rest, pose.vertices)
    verdict = judge.verdict(vertices, measure, obstructions)
    if obstructions:
        pose = replace(pose, residual=measure(vertices) / longest_side(rest))
    status = "torn" if verdict.is_torn else "poor" if verdict.grade == "poor" else pose.status
    return replace(pose, verdict=verdict, status=status, why=why)


def _fit(
    spaces: Sequence[KinematicSpace], points: Float[np.ndarray, "N 3"], seed: int, partial: bool, config: PoseConfig
) -> list[Pose]:
    """A pose in each space, up to the first that is as close as can be told."""
    poses: list[Pose] = []
    for space in spaces:
        poses.append(pose_to_points(space, points, seed, partial=partial, config=config))
        if poses[-1].is_close:
            break
    return poses


def free_states(
    space: KinematicSpace, count: int, seed: int = 0, config: ClearanceConfig = CLEARANCE
) -> Float[np.ndarray, "N D"]:
    """States drawn from a space; those that are not free are drawn again, and drawn back if that does not help."""
    states, joints = space.sample(count, seed), space.rigid_joints
    if joints is None or not joints.dof:
        return states
    clearance = Clearance(joints, config)
    blocked = [k for k in range(count) if not clearance.is_free(states[k, : joints.dof])]
    for attempt in range(1, config.tries):
        if not blocked:
            break
        again = space.sample(count, seed + OTHER_SEEDS * attempt)
        states[blocked] = again[blocked]
        blocked = [k for k in blocked if not clearance.is_free(states[k, : joints.dof])]
    for k in blocked:
        states[k, : joints.dof] = clearance.freed(states[k, : joints.dof])[0]
    return states


def free_pose(pose: Pose) -> tuple[Pose, tuple[tuple[str, str], ...]]:
    """A pose near the given one that is free, and who had to wait for whom."""
    joints = pose.space.rigid_joints
    if joints is None or not joints.dof:
        return pose, ()
    found, obstructions = Clearance(joints).freed(pose.q[: joints.dof])
    if not obstructions:
        return pose, ()
    q = np.concatenate([found, pose.q[joints.dof :]])
    return replace(pose, q=q, vertices=decode(pose.space, q)), obstructions


def _drag(
    spaces: Sequence[KinematicSpace], mesh: Mesh, move: Mapping[str, Place], config: PoseConfig
) -> tuple[Pose, Measure]:
    """Places are moved as a whole: their middle goes to the point."""
    if far := [at for at, point in move.items() if not within_reach(np.asarray(point)).all()]:
        raise NeurokError(f"{shown(far[0])} cannot be moved further than {LARGEST:.0e}; give a nearer point.")
    chosen: list[Int[np.ndarray, " n"]] = [select_vertices(mesh, at) for at in move]
    rest = [mesh.vertices[vertices] for vertices in chosen]
    wanted = [x - x.mean(axis=0) + np.asarray(point) for x, point in zip(rest, move.values(), strict=True)]
    vertices, targets = np.concatenate(chosen), np.concatenate(wanted)
    way = float(np.linalg.norm(targets - np.concatenate(rest), axis=1).mean())
    poses = [pose_to_vertices(space, vertices, targets) for space in spaces]
    best = simplest(poses, config.drag_tolerance * way / longest_side(mesh), config)
    return best, to_vertices(vertices, targets)


def read_target(
    target: Target, like: Mesh, config: PoseConfig
) -> tuple[Float[np.ndarray, "V 3"] | None, Float[np.ndarray, "N 3"]]:
    """Vertices, if the correspondence is known, and points, in the frame of the object."""
    if isinstance(target, np.ndarray):
        return None, _checked_points(target, "the target")
    if isinstance(target, str | Path) and str(target).endswith(".npy"):
        return None, _checked_points(read_array(Path(target)), f"'{target}'")
    try:
        given = load(target) if isinstance(target, str | Path) else target
        mesh = (given if isinstance(given, Mesh) else given.mesh).in_frame(like.up, like.unit)
    except MeshError as error:
        draft = error.draft
        if len(draft.faces) or not len(draft.vertices):
            raise
        points = _checked_points(draft.vertices, "the target")
        with np.errstate(invalid="ignore"):  # what is no number in a cloud is left out later
            return None, points @ frame_change(draft.up, like.up).T * (draft.unit / like.unit)
    samples = sample_surface(mesh.vertices, mesh.faces, config.target_samples, np.random.default_rng(0))
    same = np.array_equal(mesh.faces, like.faces) and mesh.vertex_count == like.vertex_count
    return mesh.vertices if same else None, samples.interpolate(mesh.vertices)


def _checked_points(points: np.ndarray, where: str) -> Float[np.ndarray, "N 3"]:
    if points.ndim != 2 or points.shape[1] != 3 or points.dtype.kind not in "fiu":
        raise NeurokError(f"A cloud needs rows of three numbers; {where} holds {points.dtype} of {points.shape}.")
    if not within_reach(finite := points[np.isfinite(points).all(axis=1)]).all():
        raise NeurokError(
            f"{where} has points as far away as {np.abs(finite).max():.3g}; at most {LARGEST:.0e} is read."
        )
    return points.astype(np.float64)
