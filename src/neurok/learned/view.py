"""The training view: batches of (rest, several displaced states) with the augmentations that matter.

Everything is relative to a rest state that is itself drawn at random: joints take any value in their range, clips
start at any frame. Stretching happens before joints turn, so parts stay rigid.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.core.mesh import UnitBox, UpAxis, frame_change
from neurok.geometry import lie
from neurok.learned.subject import FrameMotion, JointMotion, Subject

UPRIGHT = [frame_change(axis, "y") for axis in get_args(UpAxis)]
"""Turns that make each axis +y."""

AS_STORED = 0.5
"""Share of draws without any augmentation: most meshes that are met stand upright, face the front and are closed."""

TIPPED, SPARSE = 0.25, 0.3
"""Shares of the other draws that lie on another side, and that lack components: a door is a door anywhere."""

LEFT_OUT = 0.35
"""Share of the components that such a draw lacks."""


@dataclass(frozen=True)
class ViewConfig:
    subjects: int = 8
    """Objects in a batch."""

    targets: int = 4
    """Displaced states of each."""

    points: int = 8
    """Samples of each handle, drawn anew every time."""

    augment: bool = True
    """Of half of the draws: stretch, turn, mirror, random rest state; at times tip over or leave components out."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """A batch: B rest states with S displaced states each, in the unit box."""

    points: Float[np.ndarray, "B H N 3"]
    displaced: Float[np.ndarray, "B S H N 3"]
    groups: Int[np.ndarray, "B H"]
    areas: Float[np.ndarray, "B H"]
    present: Bool[np.ndarray, "B H"]


def pairs(subjects: Sequence[Subject], config: ViewConfig, rng: np.random.Generator) -> Iterator[Pairs]:
    """Endless batches, each subject equally likely."""
    while True:
        chosen = rng.integers(len(subjects), size=config.subjects)
        yield stack([draw(subjects[i], config, rng) for i in chosen])


def stack(rows: list[dict[str, np.ndarray]]) -> Pairs:
    return Pairs(**{key: np.stack([row[key] for row in rows]) for key in rows[0]})


def draw(subject: Subject, config: ViewConfig, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """One rest state of one subject with several displaced states."""
    handle_count, available = subject.points.shape[:2]
    pick = rng.integers(available, size=(handle_count, config.points))
    rows = np.arange(handle_count)[:, None]
    if config.augment and rng.random() < AS_STORED:
        config = replace(config, augment=False)
    scale = rng.uniform(0.75, 1.25, size=3) if config.augment else np.ones(3)
    present = _some_components(subject, rng) if config.augment and rng.random() < SPARSE else subject.present
    if isinstance(subject.motion, JointMotion):
        states = _posed(subject, subject.motion, pick, scale, config, rng)
    else:
        states = _framed(subject.motion, rows, pick, scale, config, rng)
    turn = _random_turn(subject.up, rng) if config.augment else UPRIGHT[subject.up]
    states = states @ turn.T
    states = UnitBox.around(states[0][present]).to_box(states)
    return {
        "points": states[0].astype(np.float32),
        "displaced": states[1:].astype(np.float32),
        "groups": subject.groups,
        "areas": np.where(present, subject.areas, 0.0).astype(np.float32),
        "present": present,
    }


def _some_components(subject: Subject, rng: np.random.Generator) -> Bool[np.ndarray, " H"]:
    """Handles of some components: always the largest one, and never only what stands still."""
    present, groups = subject.present, subject.groups
    areas = np.bincount(groups[present], weights=subject.areas[present])
    kept = rng.random(len(areas)) > LEFT_OUT
    kept[areas.argmax()] = True
    out = present & kept[groups]
    if isinstance(subject.motion, JointMotion) and not subject.motion.moves(out):
        return present
    return out


def joint_states(motion: JointMotion, count: int, augment: bool, rng: np.random.Generator) -> Float[np.ndarray, "C P"]:
    """Random joint values, the rest state first; half the displaced states move only some of the joints."""
    spread = motion.upper - motion.lower
    q = motion.lower + rng.random((count + 1, len(spread))) * spread
    if not augment or rng.random() < 0.5:
        q[0] = 0.0
    movable = np.flatnonzero(motion.can_move)
    for row in q[1:]:
        if len(movable) > 1 and rng.random() < 0.5:
            still = rng.permutation(movable)[: rng.integers(1, len(movable))]
            row[still] = q[0, still]
    return np.where(motion.can_move, q, 0.0)


def _posed(
    subject: Subject,
    motion: JointMotion,
    pick: Int[np.ndarray, "H N"],
    scale: Float[np.ndarray, "3"],
    config: ViewConfig,
    rng: np.random.Generator,
) -> Float[np.ndarray, "C H N 3"]:
    rows = np.arange(len(pick))[:, None]
    transforms = motion.transforms(joint_states(motion, config.targets, config.augment, rng), scale)
    each = transforms.take(motion.point_parts[rows, pick], axis=1)
    return lie.apply_each(each, subject.points[rows, pick] * scale)


def _framed(
    motion: FrameMotion,
    rows: Int[np.ndarray, "H 1"],
    pick: Int[np.ndarray, "H N"],
    scale: Float[np.ndarray, "3"],
    config: ViewConfig,
    rng: np.random.Generator,
) -> Float[np.ndarray, "C H N 3"]:
    chosen = rng.integers(len(motion.frames), size=config.targets + 1)
    if not config.augment or rng.random() < 0.5:
        chosen[0] = 0
    # A soft body is as plausible when stretched evenly; along one axis its rotations would shear.
    return motion.frames[chosen][:, rows, pick] * scale[0]


def _random_turn(up: int, rng: np.random.Generator) -> Float[np.ndarray, "3 3"]:
    """A turn about the up axis, mostly by quarters with a little slack, sometimes mirrored; +y is up afterwards.

    Now and then another axis is taken for up.
    """
    angle = rng.integers(4) * np.pi / 2 + rng.normal() * (0.15 if rng.random() < 0.5 else 0.0)
    turn = lie.axis_angle_matrix(np.array([0.0, 1.0, 0.0]), angle)
    if rng.random() < TIPPED:
        up = int(rng.integers(3))
        turn = turn @ np.diag([1.0, -1.0, -1.0]) if rng.random() < 0.5 else turn
    turn = turn @ UPRIGHT[up]
    if rng.random() < 0.5:
        turn = np.diag([-1.0, 1.0, 1.0]) @ turn
    return turn
