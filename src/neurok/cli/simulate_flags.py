"""The flags of ``neurok simulate`` that are needed now and then, in groups."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from neurok.cli.flags import PlanFlag, WeightsFlag, arg, one_of
from neurok.dynamics.reduced.engine import IntegratorName

Words = tyro.conf.UseAppendAction[tuple[str, ...]]


@dataclass(frozen=True)
class LoadFlags:
    """What acts on the object, and how it starts."""

    ground: Annotated[tuple[float, ...] | None, arg("[FRICTION]", "none")] = None
    """Put the object, free to move, on a ground with this friction (0.5 if not given)."""

    gravity: Annotated[str | None, arg("VEC", "9.81 downwards")] = None
    """Acceleration [m/s^2], 0 for none."""

    velocity: Annotated[Words, arg("AT:VEC")] = ()
    """Velocity of a place at the start [length/s]."""

    drag: Annotated[Words, arg("AT:PATH")] = ()
    """Lead a place along displacements from where it starts, over the whole time unless each says when:
    door:0,0,0.3;0.2,0,0.3 or door:0,0,0.3@1."""

    pin: Annotated[Words, arg("AT")] = ()
    """Hold a place where it is."""

    wind: Annotated[str | None, arg("VEC", "none")] = None
    """Velocity of the air [m/s]."""

    strength: Annotated[float | None, arg("X", "1")] = None
    """Of the action: height, range, slope, reach, or force of the wind are this many times the usual."""

    jolt: Annotated[float | None, arg("SPEED", "none")] = None
    """Start with a random motion drawn from the seed; the fastest vertex has this speed [length/s]."""

    rotate: Annotated[str | None, arg("VEC", "not turned")] = None
    """Turn the object first: the direction is the axis, the length the angle in degrees."""

    free: bool = False
    """Let the object move as a whole, without any ground."""


@dataclass(frozen=True)
class MatterFlags:
    """What the object is made of, and how its parts move."""

    plan: PlanFlag = None
    weights: WeightsFlag = None

    material: Annotated[Words, arg("PART=NAME")] = ()
    """What a part is made of, by a name of the library: seat=foam, all=steel."""

    materials: Annotated[Path | None, arg("FILE.json", "as the file says, or proposed")] = None
    """Materials of all parts, as 'neurok materials' writes them and somebody may have edited them."""

    density: Annotated[float | None, arg("RHO", "500")] = None
    """Mass per volume [kg/m^3], where the file gives none."""

    damping: Annotated[float | None, arg("RATE", "0")] = None
    """Slow everything in proportion to its mass [1/s]."""

    joint_damping: Annotated[float | None, arg("RATE", "4 where there is a ground, else 0")] = None
    """Slow the joints that name no damping of their own [1/s]."""

    joint_friction: Annotated[float | None, arg("MU", "0.3 where there is a ground, else 0")] = None
    """Coefficient of the dry friction of joints."""


@dataclass(frozen=True)
class SteppingFlags:
    """How time is stepped."""

    fps: Annotated[float | None, arg("FPS", "24")] = None
    """Frames per second."""

    dt: Annotated[float | None, arg("S", "one that suits the integrator")] = None
    """Longest time step."""

    integrator: Annotated[IntegratorName | None, one_of(IntegratorName, "auto")] = None
    """How the engine 'reduced' steps; auto takes implicit where something can be touched, and gauss, which keeps
    energy, elsewhere."""

    resolution: Annotated[str | None, arg("coarse|medium|fine|CELLS", "medium")] = None
    """Of particles: how many cells lie along the longest side."""

    stiffest: Annotated[float | None, arg("PA", "what is stiff is rigid")] = None
    """Of particles: step what is stiffer with this Young's modulus."""

    scene: Annotated[Path | None, arg("FILE", "none")] = None
    """Read everything from a scene file (.yaml, .json, .toml); flags given beside it count instead of or in addition
    to what it says, for its first object."""
