"""The verb: roll objects forward in time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from neurok.core.rollout import Rollout
from neurok.dynamics.bodies import Body
from neurok.dynamics.condition import World
from neurok.kinematics.space import KinematicSpace

IntegratorName = Literal["auto", "gauss", "midpoint", "implicit", "runge-kutta"]


def simulate(
    body: Body | KinematicSpace,
    world: World | None = None,
    *,
    seconds: float = 2.0,
    fps: float = 24.0,
    dt: float | None = None,
    integrator: IntegratorName = "auto",
    progress: Callable[[float], None] | None = None,
) -> Rollout:
    """Roll one object forward in time.

    Args:
        body: The object; a bare space stands for a fixed body with default mass.
        world: Gravity, wind, ground, obstacles. By default only gravity.
        seconds: Length of the motion.
        fps: Stored frames per second.
        dt: Longest time step [s]; shortened so that steps meet the frames. By default one that suits the integrator.
        integrator: ``gauss`` (order 6, conserves energy), ``midpoint`` (order 2, conserves energy),
            ``implicit`` (incremental potential: damps, takes contact), ``runge-kutta`` (adaptive reference);
            ``auto`` takes ``implicit`` when something can be touched and ``gauss`` otherwise.
        progress: Called now and then with the fraction done; it may raise ``KeyboardInterrupt`` to stop early.

    Returns:
        The motion, with positions, coordinates, energies and figures of the run. Status ``diverged`` keeps the good
        frames and suggests a time step; ``stopped`` keeps the frames up to an interruption. ``report`` holds
        ``dof, dt, steps, steps_per_second, real_time_factor, energy_start, energy_end, energy_drift,
        max_penetration`` and ``time_*`` (share of the stepping time).
    """
    return simulate_together([body], world, seconds=seconds, fps=fps, dt=dt, integrator=integrator, progress=progress)[
        0
    ]


def simulate_together(
    bodies: Sequence[Body | KinematicSpace],
    world: World | None = None,
    *,
    seconds: float = 2.0,
    fps: float = 24.0,
    dt: float | None = None,
    integrator: IntegratorName = "auto",
    progress: Callable[[float], None] | None = None,
) -> tuple[Rollout, ...]:
    """Roll several objects forward in one world, touching each other; one rollout for each, in their order.

    All meshes must share unit and up axis. The arguments are those of ``simulate``; energies and report are of the
    whole scene.
    """
    raise NotImplementedError
