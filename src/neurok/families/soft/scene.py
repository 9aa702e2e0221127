"""What takes part in a soft simulation: elastic sheets and solids, jointed rods, colliders; y is up, metres."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int

from neurok.errors import NeurokError
from neurok.geometry import lie

GRAVITY = 9.81
DRIVEN_MASS = 1e4
"""How many times heavier a driven node is than its neighbours: the cloth cannot pull it off its path."""

NodeMotion = Callable[[float], Float[np.ndarray, "K 3"]]
"""Time [s] to the positions of the driven nodes [m]."""

BodyMotion = Callable[[float], Float[np.ndarray, "4 4"]]
"""Time [s] to the pose of a collider that moves on its own."""

Force = Callable[[float, np.ndarray, np.ndarray], np.ndarray]
"""Time, positions and velocities of nodes (or rod links) to the force on each [N]."""


class DivergedError(NeurokError):
    """The simulation lost its way: its numbers are no longer finite, or a solid was turned inside out."""


@dataclass(frozen=True, eq=False)
class Flex:
    """An elastic sheet (triangles) or solid (tetrahedra) of point masses."""

    nodes: Float[np.ndarray, "N 3"]
    elements: Int[np.ndarray, "M K"]
    mass: float
    """Of the whole [kg]; shared by area or volume."""

    young: float
    """[Pa]."""

    thickness: float = 1e-3
    """Of a sheet [m]."""

    poisson: float = 0.3
    damping: float = 0.02
    """Rayleigh damping of the elastic forces [s]."""

    drag: float = 0.0
    """Air resistance of every node, as a share of its momentum lost per second [1/s]."""

    radius: float = 0.004
    """Distance kept from colliders [m]."""

    friction: float = 0.5
    driven: Int[np.ndarray, " K"] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """Nodes that follow ``motion`` instead of the forces."""

    motion: NodeMotion | None = None
    """Where the driven nodes are; without it they stay."""

    force: Force | None = None
    self_collide: bool = False


@dataclass(frozen=True, eq=False)
class Rods:
    """Rigid links joined by springy ball joints into trees: stems, branches, ropes, leaves."""

    parents: Int[np.ndarray, " B"]
    """Link that carries each one, -1 for the ground; parents come first."""

    joints: Float[np.ndarray, "B 3"]
    """Where each link is joined to its parent [m]."""

    ends: Float[np.ndarray, "B 3"]
    """The far end of each link [m]."""

    mass: Float[np.ndarray, " B"]
    """[kg]."""

    stiffness: Float[np.ndarray, " B"]
    """Of the ball joints [N m/rad]; zero leaves them free."""

    damping: Float[np.ndarray, " B"]
    """[N m s/rad]."""

    radius: Float[np.ndarray, " B"]
    """For inertia and contact [m]."""

    carries_weight: bool = True
    """False for things designed in their state under gravity: the springs are taken to balance it already."""

    collides: bool = False
    force: Force | None = None
    base: BodyMotion | None = None
    """Pose of what the roots stand on or hang from, relative to its start."""

    ties: tuple[tuple[int, Float[np.ndarray, "3"]], ...] = ()
    """Links whose far end is held at a fixed point."""


@dataclass(frozen=True, eq=False)
class Collider:
    """A rigid shape that others touch: ``sphere``, ``box``, ``plane``, ``cylinder`` or ``capsule`` (axis z)."""

    kind: str
    size: tuple[float, ...]
    """Radius, half sizes, or radius and half length [m]."""

    pose: Float[np.ndarray, "4 4"] = field(default_factory=lambda: np.eye(4))
    motion: BodyMotion | None = None
    """Moves it; overrides ``pose``."""

    friction: float = 0.6


@dataclass(frozen=True, eq=False)
class Frames:
    """What a run recorded."""

    nodes: tuple[Float[np.ndarray, "T N 3"], ...]
    """Positions of each flex's nodes."""

    links: Float[np.ndarray, "T B 4 4"]
    """Motion of each rod link from where it started."""


@dataclass(frozen=True, eq=False)
class Scene:
    """Everything that takes part in one simulation."""

    flexes: tuple[Flex, ...] = ()
    rods: Rods | None = None
    colliders: tuple[Collider, ...] = ()

    def run(self, frame_count: int, fps: float = 24.0, substeps: int = 10) -> Frames:
        """Simulate from rest; the first frame is the start.

        Raises:
            DivergedError: If the simulation lost its way.
        """
        from neurok.families.soft.engine import Run

        return Run(self, fps, substeps).record(frame_count)


def ground(height: float = 0.0, friction: float = 0.8) -> Collider:
    """A floor, facing up."""
    pose = lie.rotation_about(np.array([1.0, 0.0, 0.0]), np.zeros(3), -math.pi / 2)
    pose[1, 3] = height
    return Collider("plane", (5.0, 5.0, 1.0), pose, friction=friction)


def node_masses(flex: Flex) -> Float[np.ndarray, " N"]:
    """The mass of a flex shared among its nodes by area or volume, driven ones made heavy."""
    corners = flex.nodes[flex.elements]
    sides = corners[:, 1:] - corners[:, :1]
    if flex.elements.shape[1] == 3:
        content = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)
    else:
        content = np.abs(np.linalg.det(sides))
    k = flex.elements.shape[1]
    shares = np.bincount(flex.elements.reshape(-1), np.repeat(content / k, k), minlength=len(flex.nodes))
    masses = flex.mass * shares / shares.sum()
    masses = np.maximum(masses, 0.2 * masses.mean())
    masses[flex.driven] = DRIVEN_MASS * masses.mean()
    return masses
