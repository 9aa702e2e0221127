"""What is said of a scene and of its run: what each object was taken for, how it may move, and what then moved.

The same facts go to people (sentences), to ``--json`` (plain values) and to the studio.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from neurok.bodyplan.config import POSSIBLE
from neurok.core import Articulation, Rollout
from neurok.doctor.frame import unit_name
from neurok.dynamics.body import Body
from neurok.dynamics.condition import Force
from neurok.geometry.operators import face_areas
from neurok.model import Model, SpaceName

if TYPE_CHECKING:
    from neurok.scene.run import SceneRun

STILL = 1e-6
"""Coordinates [m or rad] that change less are at rest."""

NO_LEVER = 0.02
"""A force turns or slides a joint if at least this share of it, or of its moment about the far end, acts along it."""

MOST_SHOWN = 4
"""Materials, joints and possible joints that a sentence names."""


@dataclass(frozen=True)
class ObjectReport:
    """What one object of a scene was taken for."""

    name: str
    frame: str
    """Unit and up axis, and whether that was a guess."""

    kind: str
    """``hard``, ``soft``, ``thin`` or ``mixed``."""

    matter: tuple[dict[str, Any], ...]
    """Each material with its confidence, the reason, and how many parts are of it; the commonest first."""

    mass: float
    """As it is simulated [kg]."""

    mass_reason: str
    """How its mass came about."""

    joints: tuple[dict[str, Any], ...]
    """Joints it moves on, each with its part, kind and probability (1 where a file or a person says so)."""

    possible: tuple[dict[str, Any], ...]
    """Joints that its plan holds possible, too unlikely to be used; the likeliest first."""

    space: str
    """Which space of poses it has and why; empty for particles."""

    @staticmethod
    def of(name: str, model: Model, body: Body, mass: float, asked: SpaceName, *, has_poses: bool) -> ObjectReport:
        """What is known once an object is placed; nothing is worked out that was not needed to place it."""
        planned = "study" in model.__dict__ or model.given_plan is not None
        joints = body.poses.rigid_joints
        return ObjectReport(
            name,
            f"unit {unit_name(model.mesh.unit)}, {model.mesh.up} up{' (guessed)' if model.notes else ''}",
            model.matter,
            tuple(_matter(model)),
            mass,
            model.mass.reason,
            () if joints is None else tuple(_joints(joints, model, planned)),
            tuple(_possible(model)) if planned and has_poses else (),
            model.why(body.poses, asked) if has_poses else "",
        )

    @property
    def facts(self) -> dict[str, Any]:
        """All of it for ``--json``."""
        return {
            "name": self.name, "frame": self.frame, "kind": self.kind, "matter": list(self.matter),
            "mass": self.mass, "mass_reason": self.mass_reason, "joints": list(self.joints),
            "possible_joints": list(self.possible), "space": self.space,
        }  # fmt: skip

    @property
    def matter_sentence(self) -> str:
        """What it is made of, and how sure that is."""
        few = self.matter[:MOST_SHOWN]
        told = [f"{one['material']} {one['confidence']:.2f} ({one['reason'].split(';')[0]})" for one in few]
        more = len(self.matter) - MOST_SHOWN
        return ", ".join(told) + (f" and {more} more" if more > 0 else "") + "."

    @property
    def sentences(self) -> list[str]:
        """All of it for a person."""
        lines = [f"{self.name}: {self.frame}.", f"  Matter: {self.kind}; {self.matter_sentence}"]
        lines.append(f"  Mass: {self.mass:.3g} kg; {self.mass_reason}.")
        if self.space:
            lines.append(f"  Space {self.space}")
        for title, some in (("Joints", self.joints), ("Possible, but not used", self.possible)):
            if some:
                told = ", ".join(f"{one['part']} {one['kind']} {one['probability']:.2f}" for one in some[:MOST_SHOWN])
                more = len(some) - MOST_SHOWN
                lines.append(f"  {title}: {told}" + (f" and {more} more." if more > 0 else "."))
        return lines


def _matter(model: Model) -> Iterator[dict[str, Any]]:
    """Materials of an object, by how much of its surface is of them."""
    groups: dict[str, list[Any]] = {}
    for item in model.materials.items:
        groups.setdefault(item.material.name, []).append(item)
    areas = face_areas(model.mesh.vertices, model.mesh.faces)
    for name, items in sorted(groups.items(), key=lambda pair: -sum(areas[one.region.faces].sum() for one in pair[1])):
        surest = max(items, key=lambda one: one.confidence)
        yield {
            "material": name,
            "confidence": round(min(one.confidence for one in items), 3),
            "reason": surest.reason,
            "parts": len(items),
            "is_soft": surest.material.is_soft,
        }


def _joints(joints: Articulation, model: Model, planned: bool) -> Iterator[dict[str, Any]]:
    likely = {body.name: body.probability for body in model.plan.bodies} if planned else {}
    for part, joint in zip(joints.part_names, joints.joints, strict=True):
        if joint.dof:
            yield {"part": part, "kind": joint.kind, "probability": round(likely.get(part, 1.0), 3)}


def _possible(model: Model) -> Iterator[dict[str, Any]]:
    ranked = [body for body in model.plan.bodies if body.joint is None and body.hypotheses]
    for body in sorted(ranked, key=lambda body: -body.hypotheses[0].probability):
        best = body.hypotheses[0]
        if best.kind != "fixed" and best.probability >= POSSIBLE:
            yield {"part": body.name, "kind": best.kind, "probability": round(best.probability, 3)}


def travel(rollout: Rollout, body: Body) -> dict[str, float]:
    """How far each joint value of an object went [rad or mesh units]."""
    joints = body.poses.rigid_joints
    if joints is None or rollout.q is None or not joints.dof:
        return {}
    base = rollout.q.shape[1] - body.poses.dim
    return dict(zip(joints.dof_names, np.ptp(rollout.q[:, base : base + joints.dof], axis=0).tolist(), strict=True))


def motion_sentences(run: SceneRun) -> list[str]:
    """What moved, what did not, and why, where a push moved nothing or nothing can move."""
    lines: list[str] = []
    for body, rollout in zip(run.ready.bodies, run.rollouts, strict=True):
        joints, ways = body.poses.rigid_joints, travel(rollout, body)
        if rollout.q is not None and not body.free and not body.poses.dim:
            lines.append(f"'{body.name}' has no joint and a fixed root; let it fall with --drop or go with --free.")
        if not ways or joints is None:
            continue
        reasons = [why for force in body.condition.forces if (why := _why_still(joints, body, force, ways))]
        moved = [f"{name} by {_way(joints, name, way)}" for name, way in ways.items() if way > STILL]
        if (reasons or not moved) and not body.free:
            stayed = [name for name, way in ways.items() if way <= STILL]
            lines.append(f"Moved: {', '.join(moved) or 'nothing'}. Stayed: {', '.join(stayed) or 'nothing'}.")
        lines += reasons
    return lines


def _way(joints: Articulation, name: str, way: float) -> str:
    is_length = joints.is_length[joints.dof_names.index(name)]
    return f"{way * joints.mesh.unit:.3g} m" if is_length else f"{np.degrees(way):.3g}°"


def _why_still(joints: Articulation, body: Body, force: Force, ways: dict[str, float]) -> str:
    """Why a push on a part moved none of the joints that carry it; empty where it did."""
    part = int(np.bincount(joints.vertex_parts[force.vertices]).argmax())
    name, chain = joints.part_names[part], _chain(joints, part)
    if not chain:
        return f"The push on {name} moves nothing, since it has no joint; push {' or '.join(list(ways)[:MOST_SHOWN])}."
    values = (value for one in chain for value in range(joints.slots[one].start, joints.slots[one].stop))
    if any(ways[joints.dof_names[value]] > STILL for value in values):
        return ""
    # The generalised force of a push on a joint value, a . F or a . (r x F), as a share of the most it could be.
    turn = np.eye(3) if body.placement is None else np.asarray(body.placement)[:3, :3]
    strongest = force.vectors[np.argmax(np.linalg.norm(force.vectors, axis=1))]
    push, at = turn.T @ strongest, joints.mesh.vertices[force.vertices].mean(axis=0)
    reach = max(float(np.linalg.norm(push)), 1e-300)
    shares = {}
    for one in chain:
        joint = joints.joints[one]
        lever = push if joint.kind == "prismatic" else np.cross(at - joint.origin, push) / joints.mesh.size
        shares[one] = float(np.dot(joint.axis, lever)) / reach
    best = max(shares, key=lambda one: abs(shares[one]))
    carrier, kind = joints.part_names[best], joints.joints[best].kind
    if abs(shares[best]) < NO_LEVER:
        how = "across the way it slides" if kind == "prismatic" else "through its hinge or along it"
        return f"The push on {name} moves nothing, since it goes {how}; {_direction(joints, best)}."
    return f"The push on {name} is held by the friction, the weight or the stop of {carrier}; push harder or back."


def _chain(joints: Articulation, part: int) -> list[int]:
    """The part and those that carry it, as far as they have a joint."""
    found = []
    while part >= 0:
        found += [part] if joints.joints[part].dof else []
        part = joints.joints[part].parent
    return found


def _direction(joints: Articulation, part: int) -> str:
    axis = np.round(joints.joints[part].axis, 2) + 0.0
    told = ",".join(f"{value:g}" for value in axis)
    return f"push along ({told})" if joints.joints[part].kind == "prismatic" else f"push across the axis ({told})"
