"""Dry friction of joints and of rolling: springs that yield at a limit, and keep what they were stretched by."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from neurok.dynamics.condition import World
from neurok.dynamics.reduced.build import Bound, gravity_of
from neurok.dynamics.reduced.config import ReducedConfig
from neurok.geometry.joint_tree import BASE_DOF

SLIDING = 0.1
"""Curvature that is kept along the path of what slides, as a share of what it would be if it stuck."""

NOTHING = 1e-300
"""Added to what is divided by."""


@dataclass(eq=False)
class DryFriction:
    """Coulomb friction of groups of coordinates of one object: each holds up to a force or torque, then gives way."""

    groups: Float[np.ndarray, "G D"]
    """1 where a coordinate belongs to a group: a joint, or the three turns of a ball that rolls."""

    limits: Float[np.ndarray, " G"]
    """Force or torque at which a group gives way."""

    give: Float[np.ndarray, " G"]
    """How far it is stretched then."""

    lever: Float[np.ndarray, " G"]
    """Limit per normal force on the object, of what rolls; 0 for joints, whose limits stay."""

    slips: Float[np.ndarray, " D"] = field(init=False)
    """How far each coordinate is stretched."""

    def __post_init__(self) -> None:
        self.slips, self._moves = np.zeros(self.groups.shape[1]), self.groups.any(axis=0)

    def press(self, load: float) -> None:
        """Take note of the normal force on the object."""
        if self.lever.any():
            self.limits = np.where(self.lever > 0.0, self.lever * load, self.limits)

    def _stretched(self, moved: Float[np.ndarray, " D"]) -> tuple[np.ndarray, np.ndarray]:
        offset = (moved + self.slips) * self._moves
        return offset, np.sqrt(self.groups @ offset**2)

    def evaluate(self, moved: Float[np.ndarray, " D"]) -> tuple[float, np.ndarray]:
        """Energy and force after coordinates have moved from the start of a step."""
        offset, length = self._stretched(moved)
        slope = self.limits / np.maximum(length, self.give)
        held = np.where(length <= self.give, 0.5 * slope * length**2, self.limits * (length - 0.5 * self.give))
        return float(held.sum()), (slope @ self.groups) * offset

    def curvature(self, moved: Float[np.ndarray, " D"]) -> Float[np.ndarray, "D D"]:
        """A positive approximation of how the force grows."""
        offset, length = self._stretched(moved)
        slope = self.limits / np.maximum(length, self.give)
        paths = self.groups * offset / np.maximum(length, NOTHING)[:, None]
        eased = np.where(length <= self.give, 0.0, (SLIDING - 1.0) * slope)
        return np.diag(slope @ self.groups) + paths.T @ (eased[:, None] * paths)

    def finish(self, moved: Float[np.ndarray, " D"]) -> None:
        """End of a step: what was stretched beyond its limit slides along."""
        offset, length = self._stretched(moved)
        kept = np.where(self.limits > 0.0, np.minimum(1.0, self.give / np.maximum(length, NOTHING)), 0.0)
        self.slips = (kept @ self.groups) * offset


def dry_friction_of(bound: Bound, radius: float, world: World, config: ReducedConfig) -> DryFriction | None:
    """Friction of the joints of a body, and of rolling where it is free and has a ball of some radius."""
    dim, limits = bound.mechanics.dim, joint_friction(bound, world, config)
    rubs = np.flatnonzero(limits)
    groups, lever = np.eye(dim)[rubs], np.zeros(len(rubs))
    limits, give = limits[rubs], np.full(dim, config.bearing_give)
    give[dim - bound.body.poses.dim :][bound.body.poses.is_length] *= bound.body.mesh.size
    give = give[rubs]
    if radius and bound.mechanics.free:
        turns = (np.arange(dim) >= BASE_DOF - 3) & (np.arange(dim) < BASE_DOF)
        groups, limits, give = np.vstack([groups, turns]), np.append(limits, 0.0), np.append(give, config.bearing_give)
        lever = np.append(lever, config.contact.rolling * radius)
    return DryFriction(groups, limits, give, lever) if len(groups) else None


def joint_friction(bound: Bound, world: World, config: ReducedConfig) -> Float[np.ndarray, " D"]:
    """Force or torque at which each joint of a body gives way: coefficient times weight that it carries, at the radius
    of its bearing."""
    body, mechanics = bound.body, bound.mechanics
    share, limits = body.joint_friction, np.zeros(mechanics.dim)
    if share is None:
        share = config.joint_friction if world.has_contact else 0.0
    if not share or body.poses.articulation is None or not body.poses.dim:
        return limits
    base = mechanics.dim - body.poses.dim
    weight = mechanics.carried[base:] * float(np.linalg.norm(gravity_of(world, body)))
    arms = np.where(body.poses.is_length, 1.0, config.bearing * _reaches(bound)[base:])
    limits[base:] = share * weight * arms
    return limits


def _reaches(bound: Bound) -> Float[np.ndarray, " D"]:
    """Size of what each coordinate of a tree moves: the longest side of its box."""
    tree, vertices = bound.mechanics.tree, bound.mechanics.vertices  # type: ignore[attr-defined]
    nodes = bound.mechanics.vertex_nodes  # type: ignore[attr-defined]
    out = np.zeros(bound.mechanics.dim)
    for k in range(len(out)):
        mine = vertices[tree.ancestors[nodes, k] > 0]
        out[k] = float(np.ptp(mine, axis=0).max()) if len(mine) else 0.0
    return out
