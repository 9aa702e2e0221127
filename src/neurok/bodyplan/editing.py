"""Corrections of a body plan, as a person makes them: merge, split, fix, free, another kind, axis or limits.

Each returns a new plan whose origin is ``edited``; what a person said is certain (probability 1).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, cast, get_args

import numpy as np

from neurok.bodyplan.hypothesis import Hypothesis
from neurok.bodyplan.plan import BodyPlan, PlannedBody, connected_pieces, with_bodies
from neurok.core import Articulation
from neurok.core.articulation import FREE_SLIDE, JointKind
from neurok.errors import NeurokError

PERSON = "a person"
"""Source of what somebody said."""

QUARTER = math.pi / 2
"""How far a hinge turns that nobody gave limits [rad]."""


def plan_of_joints(joints: Articulation) -> BodyPlan:
    """The plan that says what the joints of a file say, so that it can be corrected.

    Raises:
        NeurokError: If a part has no faces: a plan names bodies by their faces.
    """
    mesh, parts = joints.mesh, joints.mesh.face_parts
    names = joints.part_names
    empty = sorted(set(range(len(names))) - set(parts.tolist()))
    if empty:
        raise NeurokError(f"Part '{names[empty[0]]}' of '{mesh.name}' has no faces, so it cannot be a body of a plan.")
    pairs = np.stack([parts, connected_pieces(mesh)], axis=1)
    pieces = np.unique(pairs, axis=0, return_inverse=True)[1].reshape(-1)
    bodies = []
    for part, joint in enumerate(joints.joints):
        line = None
        if joint.dof and joint.parent >= 0:
            reach = joints.ranges[joints.slots[part]]
            kind = "continuous" if joint.kind == "revolute" and not np.isfinite(joint.limits).all() else joint.kind
            slide = (float(reach[1, 0]), float(reach[1, 1])) if kind == "cylindrical" else (0.0, 0.0)
            low, high = float(reach[0, 0]), float(reach[0, 1])
            line = Hypothesis(
                part, joint.parent, kind, joint.axis, joint.origin, low, high, 1.0, slide=slide, source="file"
            )
        mine = tuple(np.unique(pieces[parts == part]).tolist())
        bodies.append(PlannedBody(names[part], mine, joint.parent, () if line is None else (line,), line))
    return BodyPlan(mesh, pieces, tuple(bodies), "file")


def merged(plan: BodyPlan, body: int, into: int) -> BodyPlan:
    """One body becomes part of another; what hung on it hangs on that one."""
    if body == into:
        raise NeurokError(f"'{plan.bodies[body].name}' cannot be merged with itself; choose another body.")
    gone, kept = plan.bodies[body], plan.bodies[into]
    new = replace(kept, pieces=tuple(sorted((*kept.pieces, *gone.pieces))))
    if _hangs_on(plan, into, body):  # the one that stays takes over the place in the tree
        new = replace(new, parent=gone.parent, joint=gone.joint, hypotheses=gone.hypotheses)
    bodies = [replace(one, parent=into) if one.parent == body else one for one in plan.bodies]
    bodies[into] = new
    return _numbered(plan, bodies, [k for k in range(len(bodies)) if k != body])


def split(plan: BodyPlan, body: int) -> BodyPlan:
    """Every connected piece of a body becomes a body of its own, fixed on the largest of them."""
    old = plan.bodies[body]
    if len(old.pieces) < 2:
        raise NeurokError(f"'{old.name}' is one connected piece, so it cannot be split.")
    counts = np.bincount(plan.face_pieces)
    first, *others = sorted(old.pieces, key=lambda piece: -int(counts[piece]))
    bodies = list(plan.bodies)
    bodies[body] = replace(old, pieces=(first,))
    taken = {one.name for one in bodies}
    for piece in others:
        name = next(n for k in range(2, len(plan.face_pieces) + 3) if (n := f"{old.name}_{k}") not in taken)
        taken.add(name)
        bodies.append(PlannedBody(name, (piece,), body))
    return _numbered(plan, bodies, list(range(len(bodies))))


def fixed(plan: BodyPlan, body: int) -> BodyPlan:
    """A body that does not move against its parent."""
    return _with_joint(plan, body, None)


def freed(plan: BodyPlan, body: int) -> BodyPlan:
    """A body on its likeliest joint; where nobody knows one, on an upright hinge at its side nearest to its parent."""
    old = plan.bodies[body]
    _check_carried(plan, body)
    line = next((line for line in old.hypotheses if line.kind != "fixed"), None)
    if line is None:
        line = Hypothesis(
            body, old.parent, "revolute", plan.mesh.up_vector, _meeting(plan, body), 0.0, QUARTER, 1.0, source=PERSON
        )
    return _with_joint(plan, body, line)


def with_hypothesis(plan: BodyPlan, body: int, index: int) -> BodyPlan:
    """Another of the ranked ways in which a body may move."""
    lines = plan.bodies[body].hypotheses
    if not 0 <= index < len(lines):
        raise NeurokError(f"'{plan.bodies[body].name}' has {len(lines)} alternatives, there is no number {index}.")
    return _with_joint(plan, body, lines[index])


def with_kind(plan: BodyPlan, body: int, kind: str) -> BodyPlan:
    """Another kind of joint on the same line; limits are kept where they still mean something."""
    if kind not in get_args(JointKind):
        raise NeurokError(f"{kind!r} is no kind of joint; there are {', '.join(get_args(JointKind))}.")
    if kind == "fixed":
        return fixed(plan, body)
    old = _joint(plan, body)
    reach = FREE_SLIDE * plan.mesh.size
    turned = (old.lower, old.upper) if old.kind in ("revolute", "cylindrical") else (0.0, QUARTER)
    slid = {"prismatic": (old.lower, old.upper), "cylindrical": old.slide}.get(old.kind, (0.0, reach))
    limits = slid if kind == "prismatic" else (-math.pi, math.pi) if kind == "continuous" else turned
    new = replace(
        old,
        kind=cast(JointKind, kind),
        lower=limits[0],
        upper=limits[1],
        slide=slid if kind == "cylindrical" else (0.0, 0.0),
    )
    return _with_joint(plan, body, new)


def with_axis(plan: BodyPlan, body: int, origin: Any, axis: Any) -> BodyPlan:
    """The same joint on another line."""
    old = _joint(plan, body)
    place, direction = np.asarray(origin, dtype=np.float64), np.asarray(axis, dtype=np.float64)
    length = float(np.linalg.norm(direction))
    if not (np.isfinite(place).all() and math.isfinite(length) and length > 0):
        raise NeurokError(f"The axis of '{plan.bodies[body].name}' must be a direction through a finite point.")
    return _with_joint(plan, body, replace(old, origin=place, axis=direction / length))


def with_limits(plan: BodyPlan, body: int, lower: float | int, upper: float | int) -> BodyPlan:
    """The same joint within other limits: [rad] for turns, mesh units for slides."""
    old = _joint(plan, body)
    if not (math.isfinite(lower) and math.isfinite(upper) and lower <= upper):
        name = plan.bodies[body].name
        raise NeurokError(f"The limits of '{name}' must be lower <= upper, got {lower:g} and {upper:g}.")
    return _with_joint(plan, body, replace(old, lower=float(lower), upper=float(upper)))


def _joint(plan: BodyPlan, body: int) -> Hypothesis:
    joint = plan.bodies[body].joint
    if joint is None:
        raise NeurokError(f"'{plan.bodies[body].name}' is fixed; free it first.")
    return joint


def _check_carried(plan: BodyPlan, body: int) -> None:
    if plan.bodies[body].parent < 0:
        raise NeurokError(f"'{plan.bodies[body].name}' is a base: nothing carries it, so it has no joint.")


def _with_joint(plan: BodyPlan, body: int, joint: Hypothesis | None) -> BodyPlan:
    _check_carried(plan, body)
    said = None if joint is None else replace(joint, probability=1.0, source=PERSON)
    bodies = list(plan.bodies)
    bodies[body] = replace(bodies[body], joint=said, probability=1.0, bends=bodies[body].bends and joint is None)
    return replace(plan, bodies=tuple(bodies), origin="edited")


def _hangs_on(plan: BodyPlan, body: int, other: int) -> bool:
    """Whether ``other`` carries ``body``, directly or through others."""
    while body >= 0:
        body = plan.bodies[body].parent
        if body == other:
            return True
    return False


def _meeting(plan: BodyPlan, body: int) -> np.ndarray:
    """Where a body touches its parent, or its middle where it does not."""
    parent = plan.bodies[body].parent
    for pair in plan.contacts.pairs:
        if {pair.first, pair.second} == {body, parent}:
            return np.asarray(pair.center)
    ids = plan.mesh.part_ids
    return plan.mesh.vertices[ids == body].mean(axis=0) if ids is not None else plan.mesh.bounds.mean(axis=0)


def _numbered(plan: BodyPlan, bodies: list[PlannedBody], kept: list[int]) -> BodyPlan:
    """The plan of the kept bodies, numbered anew, with its mesh cut accordingly."""
    new = {old: number for number, old in enumerate(kept)} | {-1: -1}
    found = []
    for number, old in enumerate(kept):
        body, parent = bodies[old], new[bodies[old].parent]
        lines = tuple(replace(line, part=number, parent=parent) for line in body.hypotheses) if parent >= 0 else ()
        joint = replace(body.joint, part=number, parent=parent) if body.joint is not None and parent >= 0 else None
        found.append(replace(body, parent=parent, hypotheses=lines, joint=joint))
    owners = np.zeros(int(plan.face_pieces.max()) + 1, dtype=np.int64)
    for number, body in enumerate(found):
        owners[list(body.pieces)] = number
    mesh = with_bodies(plan.mesh, owners[plan.face_pieces], tuple(body.name for body in found))
    return BodyPlan(mesh, plan.face_pieces, tuple(found), "edited", plan.note)
