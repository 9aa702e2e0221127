"""Every number that shapes a motion of the rigid engine and that no user's scene says, with unit and origin."""

from __future__ import annotations

from dataclasses import dataclass

from neurok.core.assembly import ASSEMBLY
from neurok.dynamics.colliders import COLLIDERS, ColliderConfig
from neurok.dynamics.reduced.config import DEFAULTS, ReducedConfig


@dataclass(frozen=True)
class MujocoConfig:
    """The rigid engine."""

    longest_step: float = 1 / 240
    """[s]; twice MuJoCo's own default, since contacts are foreseen."""

    impedance: float = 0.999
    """Share of an acceleration that a contact, a limit or dry friction takes away (MuJoCo's ``solimp``): as hard as
    MuJoCo solves well. What leans on a slope creeps by the rest."""

    hard_friction: float = 10.0
    """How much harder friction is than contact (MuJoCo's ``impratio``), against creep."""

    recovery: float = 0.2
    """Share of a penetration that is undone in one step."""

    sight: float = 2.0
    """Contacts are foreseen this many times as far as the fastest body comes in one step: both may move."""

    look_steps: int = 4
    """How far contacts are foreseen is worked out anew after so many steps."""

    travel: float = 0.05
    """How far anything may move in one step, as a share of the smallest object's size; else the step is cut ..."""

    max_pieces: int = 8
    """... into so many at most."""

    bounce_steps: float = 4.0
    """Slower than what gravity adds in so many steps nothing bounces, so that things come to rest."""

    limit_phase: float = 0.25
    """Phase [rad] of a bounce off a joint's limit in one step, where limits keep the energy."""

    massless: float = 1e-9
    """Mass of parts that have none, as a share of the object's: MuJoCo wants some."""

    overlap: float = ASSEMBLY.overlap
    """Parts of one object that are deeper in each other at rest than this share of its size never touch ..."""

    apart: float = ASSEMBLY.apart
    """... and parts that hang on each other by a joint do only if they are farther apart than this."""

    corners: int = 1000
    """Of one convex piece; MuJoCo looks at few of them at a time, so round things need not be coarse."""

    obstacle_faces: int = 2000
    """Faces of an obstacle that is not convex, each of which is a plate; more are thinned out."""

    plate: float = 0.01
    """Thickness of these plates, as a share of the obstacle's size."""

    colliders: ColliderConfig = COLLIDERS
    reduced: ReducedConfig = DEFAULTS
    """What both engines share: stiffness of pins and grabs, rubbing of joints, faces that feel the wind."""


DEFAULT = MujocoConfig()
