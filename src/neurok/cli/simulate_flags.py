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
    """Loads and initial conditions."""

    ground: Annotated[tuple[float, ...] | None, arg("[FRICTION]", "none")] = None
    """Put the object, free to move, on a ground with this friction (0.5 if not given)."""

    gravity: Annotated[str | None, arg("VEC", "9.81 downwards")] = None
    """Acceleration [m/s^2], 0 for none."""

    velocity: Annotated[Words, arg("AT:VEC")] = ()
    """Initial velocity of a place [length/s]."""

    drag: Annotated[Words, arg("AT:PATH")] = ()
    """Move a place along displacements from its initial position, over the whole time unless each gives a time:
    door:0,0,0.3;0.2,0,0.3 or door:0,0,0.3@1."""

    pin: Annotated[Words, arg("AT")] = ()
    """Hold a place at its initial position."""

    wind: Annotated[str | None, arg("VEC", "none")] = None
    """Velocity of the air [m/s]."""

    strength: Annotated[float | None, arg("X", "1")] = None
    """Strength of the action: height, range, slope, reach, or force of the wind are multiplied by this."""

    jolt: Annotated[float | None, arg("SPEED", "none")] = None
    """Start with a random velocity drawn from the seed; the fastest vertex has this speed [length/s]."""

    rotate: Annotated[str | None, arg("VEC", "not turned")] = None
    """Rotate the object first: the direction is the axis, the length the angle in degrees."""

    free: bool = False
    """Let the object move as a whole, without any ground."""


@dataclass(frozen=True)
class MatterFlags:
    """Materials and kinematics of the object."""

    plan: PlanFlag = None
    weights: WeightsFlag = None

    material: Annotated[Words, arg("PART=NAME")] = ()
    """Material of a part, by a name of the library: seat=foam, all=steel."""

    materials: Annotated[Path | None, arg("FILE.json", "as the file says, or proposed")] = None
    """Materials of all parts: a file written by 'neurok materials', possibly edited."""

    density: Annotated[float | None, arg("RHO", "that of its materials")] = None
    """Mass per volume [kg/m^3], if the file gives none."""

    damping: Annotated[float | None, arg("RATE", "0")] = None
    """Damping of all motion, proportional to mass [1/s]."""

    joint_damping: Annotated[float | None, arg("RATE", "4 where there is a ground, else 0")] = None
    """Damping of joints whose file specifies none [1/s]."""

    joint_friction: Annotated[float | None, arg("MU", "0.3 where there is a ground, else 0")] = None
    """Coefficient of the dry friction of joints."""


@dataclass(frozen=True)
class SteppingFlags:
    """Time stepping."""

    fps: Annotated[float | None, arg("FPS", "24")] = None
    """Frames per second."""

    dt: Annotated[float | None, arg("S", "one that suits the integrator")] = None
    """Longest time step."""

    integrator: Annotated[IntegratorName | None, one_of(IntegratorName, "auto")] = None
    """Integrator of the engine 'reduced'; auto takes implicit if there can be contact, else gauss, which conserves
    energy."""

    resolution: Annotated[str | None, arg("coarse|medium|fine|CELLS", "medium")] = None
    """For particles: number of cells along the longest side."""

    stiffest: Annotated[float | None, arg("PA", "what is stiff is rigid")] = None
    """For particles: step stiffer materials with this Young's modulus instead of as rigid."""

    scene: Annotated[Path | None, arg("FILE", "none")] = None
    """Read everything from a scene file (.yaml, .json, .toml); flags given with it override or extend it, for its first
    object."""
