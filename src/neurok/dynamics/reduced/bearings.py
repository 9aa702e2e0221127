"""Dry friction inside an object and of rolling: springs that yield at a limit, and keep what they were stretched by."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from neurok.dynamics.condition import World
from neurok.dynamics.reduced.build import Bound, gravity_of
from neurok.dynamics.reduced.config import ReducedConfig
from neurok.geometry.joint_tree import BASE_DOF


@dataclass(eq=False)
class Bearings:
    """Coulomb friction of the joints of one object: it holds up to a torque or force, and then gives way to it."""

    limits: Float[np.ndarray, " D"]
    """Torque or force of each coordinate; 0 where nothing rubs."""

    stiffness: Float[np.ndarray, " D"]
    slips: Float[np.ndarray, " D"] = field(init=False)
    """How far each is stretched."""

    def __post_init__(self) -> None:
        self.slips = np.zeros_like(self.limits)

    def evaluate(self, moved: Float[np.ndarray, " D"]) -> tuple[float, np.ndarray, np.ndarray]:
        """Energy, force and curvature after coordinates have moved from the start of a step."""
        offset = moved + self.slips
        length, k = np.abs(offset), self.stiffness
        sticks = k * length <= self.limits
        slope = np.where(sticks, k, self.limits / np.maximum(length, 1e-300))
        held = np.where(
            sticks, 0.5 * k * length**2, self.limits * (length - self.limits / (2.0 * np.maximum(k, 1e-300)))
        )
        return float(held.sum()), slope * offset, np.where(sticks, slope, 0.1 * slope)

    def finish(self, moved: Float[np.ndarray, " D"]) -> None:
        """End of a step: what was stretched beyond its limit slides along."""
        reach = self.limits / np.maximum(self.stiffness, 1e-300)
        self.slips = np.clip(moved + self.slips, -reach, reach)


@dataclass(eq=False)
class Rolling:
    """A ball that rolls is slowed by a torque: a small share of the weight on it times its radius."""

    share: float
    radius: float
    stiffness: float
    """Of the spring that holds it when it stands still, per unit of torque."""

    load: float = 0.0
    """Normal force on the object, from the last pass."""

    slips: Float[np.ndarray, "3"] = field(default_factory=lambda: np.zeros(3))

    def evaluate(self, turned: Float[np.ndarray, "3"]) -> tuple[float, np.ndarray, np.ndarray]:
        """Energy, torque and curvature after a turn from the start of a step."""
        limit = self.share * self.radius * self.load
        if limit <= 0:
            return 0.0, np.zeros(3), np.zeros((3, 3))
        offset, k = turned + self.slips, self.stiffness * limit
        length = float(np.linalg.norm(offset))
        if k * length <= limit:
            return 0.5 * k * length**2, k * offset, k * np.eye(3)
        path = offset / length
        bend = limit / length * (np.eye(3) - 0.9 * np.outer(path, path))
        return limit * (length - limit / (2.0 * k)), limit * path, bend

    def finish(self, turned: Float[np.ndarray, "3"]) -> None:
        """End of a step."""
        offset = turned + self.slips if self.load > 0 else np.zeros(3)
        length = float(np.linalg.norm(offset))
        reach = 1.0 / self.stiffness
        self.slips = offset * min(1.0, reach / max(length, 1e-300))


def bearings_of(bound: Bound, world: World, config: ReducedConfig) -> Bearings | None:
    """Friction of the joints of a body: coefficient times weight that a joint carries, at the radius of its bearing."""
    body, mechanics = bound.body, bound.mechanics
    share = body.joint_friction
    if share is None:
        share = config.joint_friction if world.has_contact else 0.0
    if not share or body.poses.articulation is None or not body.poses.dim:
        return None
    base = mechanics.dim - body.poses.dim
    weight = mechanics.carried[base:] * float(np.linalg.norm(gravity_of(world, body)))
    slides = body.poses.is_length
    radius = config.bearing * _reaches(bound)[base:]
    limits = np.zeros(mechanics.dim)
    limits[base:] = share * weight * np.where(slides, 1.0, radius)
    give = np.where(slides, config.bearing_give * body.mesh.size, config.bearing_give)
    stiffness = np.zeros(mechanics.dim)
    stiffness[base:] = limits[base:] / give
    return Bearings(limits, stiffness)


def _reaches(bound: Bound) -> Float[np.ndarray, " D"]:
    """Size of what each coordinate of a tree moves: the longest side of its box."""
    tree, vertices = bound.mechanics.tree, bound.mechanics.vertices  # type: ignore[attr-defined]
    nodes = bound.mechanics.vertex_nodes  # type: ignore[attr-defined]
    out = np.zeros(bound.mechanics.dim)
    for k in range(len(out)):
        mine = vertices[tree.ancestors[nodes, k] > 0]
        out[k] = float(np.ptp(mine, axis=0).max()) if len(mine) else 0.0
    return out


def rolling_of(bound: Bound, radius: float, config: ReducedConfig) -> Rolling | None:
    """Friction of rolling, of a free object that has a ball."""
    if not radius or not bound.mechanics.free:
        return None
    return Rolling(config.contact.rolling, radius, 1.0 / config.bearing_give)


TURNS = slice(BASE_DOF - 3, BASE_DOF)
"""Coordinates that turn a free object."""
