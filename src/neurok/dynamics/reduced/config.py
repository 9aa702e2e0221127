"""Every number that shapes a motion of the reduced engine and that no user's scene says, with unit and origin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from neurok.core.assembly import ASSEMBLY
from neurok.core.gravity import STANDARD_GRAVITY as STANDARD_GRAVITY
from neurok.dynamics.colliders import COLLIDERS, ColliderConfig
from neurok.dynamics.elasticity import ELASTIC, ElasticConfig

LONGEST_STEPS = MappingProxyType({"gauss": 1 / 48, "midpoint": 1 / 240, "implicit": 1 / 120, "runge-kutta": 1 / 24})


@dataclass(frozen=True)
class ContactConfig:
    """How things touch."""

    rest_depth: float = 3e-5
    """How deep one point sinks under the weight of its whole object, as a share of the object's size: invisible, and
    still so soft that a fall ends within a few Newton iterations."""

    same_load: float = 1e-2
    """Normal forces that change by less than this share of the largest do not ask for another pass."""

    near: float = 0.01
    """Points closer to a solid than this share of the object's size are followed through a step ..."""

    near_travel: float = 1.0
    """... and, where the solid bends, those that could come there at this many times the speeds of both."""

    unforeseen: float = 5e-4
    """Points of what bends that got deeper into a plane than this share of the smallest object's size though they were
    not on their way there are taken in, and the step is found again: a tenth of what can be seen."""

    near_own: float = 2e-3
    """The same for parts of one object, which move slowly against each other."""

    max_points: int = 400
    """Points of one object that feel obstacles and other objects; more cost time and change little."""

    soft_points: int = 1600
    """Points spread over an object that bends: with fewer the surface between them sinks in visibly. A quarter as many
    that stick out farthest join them."""

    part_points: int = 60
    """The same of one part that may touch other parts of its object."""

    max_corners: int = 96
    """Corners of the hull of one part that feel the ground ..."""

    outermost: int = 400
    """... and directions in each of which the vertex that sticks out farthest joins them: hulls of round things are
    coarse, and without these a rigid pillow sinks in by a hundredth of its size."""

    max_triangles: int = 1500
    """Triangles that stand for the surface of something that bends."""

    ball_vertices: int = 40
    """A part is a ball if it has at least so many vertices ..."""

    ball_error: float = 0.01
    """... and all of them are this close to a sphere, as a share of its radius."""

    rolling: float = 0.01
    """Friction of rolling, as a share of the weight: between a steel ball on steel (0.002) and one on carpet (0.03)."""

    hard: float = 0.8
    """Speed kept by what strikes the ground or an obstacle, besides what its own material keeps: a floor takes a part
    of it. Our estimate: that of a floor with a damping ratio of 0.07, between a board (0.02) and a carpet (0.2)."""

    assembled: float = 0.4
    """The same for objects that have joints, whose parts rattle in gaps that we do not model. Our estimate, by eye on a
    laptop, a cabinet and an oven that fall: they bounce once, not five times."""

    overlap: float = 2e-3
    """Parts of one object that pass through each other by more than this share of its size while one joint moves, or
    that are closer than this at rest, are made to do so and do not collide."""

    own_poses: int = 5
    """Poses of each joint that are looked at for it."""

    max_own_pieces: int = 64
    """Parts of objects with more convex pieces than this do not touch each other: it would take long."""

    colliders: ColliderConfig = COLLIDERS


@dataclass(frozen=True)
class GaussConfig:
    """When a step of Gauss collocation is good enough, and when it is cut; all found on the built-in objects."""

    tolerance: float = 1e-9
    """Relative change of the rates at which Newton's method has converged."""

    rough_tolerance: float = 1e-5
    """The same where wells of limits are met: these set the error of a piece, far above this."""

    max_iterations: int = 10
    max_rebuilds: int = 4
    """Of Newton's matrix in one piece of a step."""

    slow_iterations: int = 4
    """A matrix that needed so many iterations is not kept."""

    ticks: int = 1024
    """Pieces of a step are powers of two of these; none is shorter than one."""

    not_worth: float = 1.5
    """A piece that turned out to be too long by less than this is not taken again."""

    bounce_phase: float = 1.5
    """Largest phase [rad] that coordinates beyond their limits may oscillate through in one piece of a step."""

    edge: float = 9.0
    """How much stiffer a well counts for a piece that passes its edge, where it is not smooth."""

    largest_turn: float = 0.8
    """Largest turn [rad] of any piece of an object in one piece of a step."""


@dataclass(frozen=True)
class ImplicitConfig:
    """When a step of the incremental potential is good enough, and when it is cut."""

    tolerance: float = 1e-10
    """Change of the coordinates, as a share of the smallest object's size, at which a step has converged."""

    last_change: float = 3e-6
    """Full steps of Newton's method that are as short as this are the last, in the same measure."""

    last_share: float = 3e-4
    """So are those that are this share of what the step moves."""

    inner: float = 1e-6
    """Share of the descent that one more iteration on straight contacts must promise."""

    same_mass: int = 4
    """Iterations of Newton's method that keep the masses of the first: they hardly change within a step."""

    max_newton: int = 40
    max_search: int = 24
    """Trials of a line search; the last is 10^-7 of the first."""

    lost: float = 1e-2
    """A step that has not converged and whose last change is above this, in the same measure, has failed."""

    friction_passes: int = 2
    """Friction follows the normal forces of the pass before."""

    more_passes: int = 4
    """At most so many where points come inside a solid unforeseen: each pass takes in those of the pass before."""

    max_halvings: int = 6
    """How often a step that fails is halved before a run counts as lost."""

    energy_growth: float = 1.3
    """A step that multiplies the kinetic energy it may have with more than this has gone astray and is taken in halves;
    one that gains less is slowed down."""

    bounce_sweeps: int = 50
    """Sweeps over the struck points that find the impulses of a bounce."""

    rest_bounce: float = 1e-3
    """Things that would bounce no higher than this share of the size do not bounce, or they would never rest."""

    rest_speed: float = 2e-3
    """Nothing is seen to move below this speed, as a share of sqrt(gravity times size)."""

    rest_seconds: float = 0.2
    """What has been so slow for so long is at rest [s]."""


@dataclass(frozen=True)
class ReferenceConfig:
    """The adaptive Runge–Kutta solver that others are checked against."""

    tolerance: float = 1e-10
    """Relative error of a step that it allows itself."""

    max_evaluations: int = 5_000
    """Of the forces in one time step: the built-in objects need some dozens; a step that wants more never ends."""


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
    gauss: GaussConfig = GaussConfig()
    reference: ReferenceConfig = ReferenceConfig()
    implicit: ImplicitConfig = ImplicitConfig()


DEFAULTS = ReducedConfig()
