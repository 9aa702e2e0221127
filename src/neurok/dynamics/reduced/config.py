"""Every number that shapes a motion of the reduced engine and that no user's scene says, with unit and origin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from neurok.core.assembly import ASSEMBLY
from neurok.core.material import STANDARD_GRAVITY as STANDARD_GRAVITY
from neurok.dynamics.elasticity import ELASTIC, ElasticConfig

LONGEST_STEPS = MappingProxyType({"gauss": 1 / 48, "midpoint": 1 / 240, "implicit": 1 / 120, "runge-kutta": 1 / 24})


@dataclass(frozen=True)
class ContactConfig:
    """How things touch."""

    soft_points: int = 400
    """Points spread over an object that bends: with fewer the surface between them sinks in visibly. A quarter as many
    that stick out farthest join them."""

    rolling: float = 0.01
    """Friction of rolling, as a share of the weight: between a steel ball on steel (0.002) and one on carpet (0.03)."""

    hard: float = 0.8
    """Speed kept by what strikes the ground or an obstacle, besides what its own material keeps: a floor takes a part
    of it. Our estimate: that of a floor with a damping ratio of 0.07, between a board (0.02) and a carpet (0.2)."""

    assembled: float = 0.4
    """The same for objects that have joints, whose parts rattle in gaps that we do not model. Our estimate, by eye on a
    laptop, a cabinet and an oven that fall: they bounce once, not five times."""


@dataclass(frozen=True)
class ReducedConfig:
    """The reduced engine."""

    longest_steps: Mapping[str, float] = field(default_factory=lambda: LONGEST_STEPS)
    """Of each integrator [s]: the longest that keep the built-in objects within a thousandth of a finer run."""

    limit_softness: float = 0.01
    """How far a coordinate may pass its limit under the weight it carries: [rad], or as a share of the object's size. A
    space whose coordinates are neither names its own (``space.limit_softness``)."""

    hold_sag: float = 1e-4
    """How far pins and drags give way under the object's own weight, as a share of its size: a tenth of what is
    promised."""

    grab_sag: float = 0.02
    """The same for what is grabbed by hand, which shall give way when the hand is quick."""

    rubbing: float = ASSEMBLY.rubbing
    """Rate at which joints without damping of their own come to rest in a world with contact [1/s]: a pushed door
    stops within a second."""

    joint_friction: float = ASSEMBLY.friction
    """Coefficient of dry friction of joints in a world with contact: wood on wood, unoiled steel."""

    bearing: float = ASSEMBLY.bearing
    """Radius of a hinge as a share of the size of what it carries; its torque is coefficient · weight · radius."""

    bearing_give: float = 1e-4
    """How far a joint that dry friction holds gives way: [rad], or as a share of the object's size."""

    buffer: float = 0.7
    """Share of critical damping with which limits catch a weight in a world with contact; above it nothing bounces."""

    max_wind_faces: int = 192
    """Faces that feel the wind, chosen by area."""

    runaway_size: float = 1e4
    """An object this many times its size away from the start has been lost by the integrator."""

    runaway_energy: float = 0.5
    """Energy may grow by this share of what has been exchanged before a run counts as lost."""

    still_energy: float = 1e-18
    """Less than this is round-off of something that stands still [J]: a kilogram at a nanometre per second."""

    still_share: float = 1e-12
    """An object whose kinetic energy never exceeds this share of its energy has not moved."""

    elastic: ElasticConfig = ELASTIC
    contact: ContactConfig = ContactConfig()


DEFAULTS = ReducedConfig()
