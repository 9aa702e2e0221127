"""What exports for simulators can be asked for, the same in URDF, MJCF and USD, and what each of them cannot hold."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from neurok.core import Articulation, Asset, Inertial
from neurok.core.assembly import JointLosses
from neurok.core.material import DEFAULT_DENSITY
from neurok.errors import NeurokError

ROBOTS = (".urdf", ".xml", ".mjcf", ".usd", ".usda", ".usdc", ".usdz")
"""Formats of simulators."""


@dataclass(frozen=True)
class ServoConfig:
    """Position servos that are written on request."""

    rate: float = 20.0
    """How fast a servo comes to its target [1/s]: within a third of a second."""

    sag: float = 0.01
    """How far it may give way under the weight that it carries, as a share of its range."""


SERVO = ServoConfig()


@dataclass(frozen=True)
class Physics:
    """How an object is written for simulators."""

    density: float = DEFAULT_DENSITY
    """Where it has no materials [kg/m^3]."""

    mass: float | None = None
    """Of the whole object [kg], instead of what its materials say."""

    rubs: bool = True
    """Whether joints that name no damping rub as those of our own engines do, or move for ever."""

    free_base: bool = False
    """Whether the whole object can move, or stands fixed where it is."""

    servo: bool = False
    """Whether each joint has a servo that brings it to a target."""

    scene: bool = False
    """Whether a scene with ground and light is written beside an MJCF file."""


def servo_gains(losses: JointLosses, ranges: Float[np.ndarray, "D 2"]) -> tuple[np.ndarray, np.ndarray]:
    """Stiffness and damping of critically damped servos: quick enough, and stiff enough for the weight they carry."""
    span = np.where(np.isfinite(ranges).all(axis=1), ranges[:, 1] - ranges[:, 0], math.pi)
    inertia = losses.inertia + losses.armature
    need = (losses.weight + losses.friction) / (SERVO.sag * np.maximum(span, 1e-3))
    stiffness = np.maximum(inertia * SERVO.rate**2, need)
    return stiffness, np.maximum(2.0 * np.sqrt(stiffness * inertia) - losses.damping, 0.0)


def resized(asset: Asset, size: float) -> Asset:
    """The object with the longest side of its box ``size`` metres long; masses of its file grow with its volume."""
    if not (math.isfinite(size) and size > 0):
        raise NeurokError(f"size must be positive [m], got {size}.")
    now = float(np.ptp(asset.mesh.vertices, axis=0).max()) * asset.mesh.unit
    if not now > 0:
        raise NeurokError("An object without extent cannot be given a size.")
    share = size / now
    out = asset.relabelled(asset.mesh.up, asset.mesh.unit * share)
    if out.articulation is None or out.articulation.inertials is None:
        return out
    heavier = tuple(
        each and Inertial(each.mass * share**3, each.center, each.inertia * share**5)
        for each in out.articulation.inertials
    )
    return replace(out, articulation=replace(out.articulation, inertials=heavier))


def welded(articulation: Articulation, parts: set[int]) -> Articulation:
    """The same with the joints of some parts fixed."""
    joints = tuple(
        replace(joint, kind="fixed") if part in parts else joint for part, joint in enumerate(articulation.joints)
    )
    return replace(articulation, joints=joints)


def left_out(asset: Asset, suffix: str, physics: Physics) -> list[str]:
    """What a format of simulators cannot hold of an object, one sentence each."""
    suffix = suffix.lower()
    if suffix not in ROBOTS:
        return []
    notes = []
    has_joints = asset.articulation is not None and asset.articulation.dof > 0
    if suffix == ".urdf":
        notes.append(
            "URDF cannot say which shapes do not touch: those that overlap what they do not hang on by a moving "
            "joint are cut back."
        )
        if physics.servo and has_joints:
            notes.append("URDF has no servos: their force is the effort of each joint, gains are left out.")
        if physics.free_base:
            notes.append("URDF leaves it to the simulator whether the base is free; MuJoCo holds it fixed.")
    both = asset.articulation is not None and any(joint.dof > 1 for joint in asset.articulation.joints)
    if suffix.startswith(".usd") and both:
        notes.append("Dry friction and armature of joints that turn and slide are left out: USD has no names for them.")
    if suffix in (".urdf", ".xml", ".mjcf") and asset.materials is not None:
        notes.append(f"Bounce of materials is left out of contacts: '{suffix}' files have no restitution.")
    return notes
