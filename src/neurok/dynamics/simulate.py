"""The verb: roll objects forward in time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

import numpy as np

from neurok.core.rollout import Rollout
from neurok.dynamics.bodies import Body
from neurok.dynamics.build import Bound, assemble, bind
from neurok.dynamics.collocation import Diverged, GaussStepper
from neurok.dynamics.condition import World
from neurok.dynamics.incremental import IncrementalStepper
from neurok.dynamics.record import Recorder
from neurok.dynamics.reference import ReferenceStepper
from neurok.dynamics.system import State, System
from neurok.errors import NeurokError
from neurok.kinematics.space import KinematicSpace

IntegratorName = Literal["auto", "gauss", "midpoint", "implicit", "runge-kutta"]

DEFAULT_DT = {"gauss": 1 / 48, "midpoint": 1 / 240, "implicit": 1 / 120, "runge-kutta": 1 / 24}
"""Longest step of each integrator [s]."""


def simulate(
    body: Body | KinematicSpace,
    world: World | None = None,
    *,
    seconds: float | int = 2.0,
    fps: float | int = 24.0,
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
        max_penetration`` and ``time_*`` (share of the stepping time). ``energy_drift`` is ``None`` where contact,
        damping, pushes, drags or wind change the energy; ``energy_note`` then says which.
    """
    return simulate_together([body], world, seconds=seconds, fps=fps, dt=dt, integrator=integrator, progress=progress)[
        0
    ]


def simulate_together(
    bodies: Sequence[Body | KinematicSpace],
    world: World | None = None,
    *,
    seconds: float | int = 2.0,
    fps: float | int = 24.0,
    dt: float | None = None,
    integrator: IntegratorName = "auto",
    progress: Callable[[float], None] | None = None,
) -> tuple[Rollout, ...]:
    """Roll several objects forward in one world, touching each other; one rollout for each, in their order.

    All meshes must share unit and up axis. The arguments are those of ``simulate``; energies and report are of the
    whole scene.
    """
    world = World() if world is None else world
    everyone = [body if isinstance(body, Body) else Body(body) for body in bodies]
    _check(everyone, seconds, fps, dt, integrator)
    name = integrator
    if name == "auto":
        name = "implicit" if world.has_contact or len(everyone) > 1 else "gauss"
    if world.has_contact and name != "implicit":
        raise NeurokError(f"Contact needs the integrator 'implicit', not '{name}'; leave it at 'auto'.")
    per_frame = max(1, math.ceil(1.0 / (fps * (DEFAULT_DT[name] if dt is None else dt)) - 1e-9))
    step = 1.0 / (fps * per_frame)
    bounds = [bind(body, world) for body in everyone]
    system, state = assemble(bounds)
    stepper = _stepper(name, system, bounds, world, state)
    recorder = Recorder(bounds, system, stepper, step)
    frames = max(1, round(seconds * fps))
    _roll(stepper, recorder, bounds, state, frames, per_frame, step, progress)
    return recorder.rollouts(1.0 / fps, name)


def _roll(
    stepper: Any,
    recorder: Recorder,
    bounds: Sequence[Bound],
    state: State,
    frames: int,
    per_frame: int,
    step: float,
    progress: Callable[[float], None] | None,
) -> None:
    """Step from frame to frame; whatever ends it early is left to the recorder to report."""
    recorder.frame(state)
    kicks = _kicks(bounds, recorder.system)
    try:
        for frame in range(frames):
            begin = time.perf_counter()
            for k in range(per_frame):
                if recorder.system.dim == 0:
                    state = State(state.poses, state.q, state.p, state.time + step)
                    continue
                start = (frame * per_frame + k) * step
                state = _kicked(state, kicks, start, start + step, recorder.system, stepper)
                state = stepper.step(state, step)
                recorder.steps += 1
            recorder.stepping += time.perf_counter() - begin
            recorder.frame(state)
            if progress is not None:
                progress((frame + 1) / frames)
    except Diverged as reason:
        recorder.fail(str(reason))
    except KeyboardInterrupt:
        recorder.stop()


def _stepper(name: str, system: System, bounds: Sequence[Bound], world: World, state: State) -> Any:
    if name == "implicit":
        return IncrementalStepper.of(system, bounds, world, state)
    if name == "runge-kutta":
        return ReferenceStepper(system)
    return GaussStepper(system, 3 if name == "gauss" else 1)


def _kicks(bounds: Sequence[Bound], system: System) -> list[tuple[float, int, Any, np.ndarray]]:
    """Impulses: when, on which object, at which points, how much for each."""
    return [
        (
            impulse.time,
            index,
            bound.mechanics.points(impulse.vertices),
            np.tile(impulse.vector / (bound.body.space.rest.unit * len(impulse.vertices)), (len(impulse.vertices), 1)),
        )
        for index, bound in enumerate(bounds)
        for impulse in bound.body.condition.impulses
    ]


def _kicked(
    state: State,
    kicks: list[tuple[float, int, Any, np.ndarray]],
    start: float,
    end: float,
    system: System,
    stepper: Any,
) -> State:
    """The state after the impulses that fall between two moments."""
    due = [kick for kick in kicks if start - 1e-12 <= kick[0] < end - 1e-12]
    if not due:
        return state
    p = state.p.copy()
    motions = system.motions(state.poses, state.q[None], np.zeros_like(state.q[None]))
    for _, index, points, shares in due:
        p[system.members[index].where] += points.pull(motions[index], shares[None])[0]
    stepper.kick()
    return State(state.poses, state.q, p, state.time)


def _check(bodies: Sequence[Body], seconds: float | int, fps: float | int, dt: float | None, integrator: str) -> None:
    wrong = []
    for label, value in (("seconds", seconds), ("fps", fps), ("dt", dt)):
        if value is not None and not (math.isfinite(value) and value > 0):
            wrong.append(f"{label} must be a positive number, got {value}")
    if integrator not in get_args(IntegratorName):
        wrong.append(f"integrator must be one of {', '.join(get_args(IntegratorName))}, got {integrator!r}")
    if not bodies:
        wrong.append("there is nothing to simulate")
    for body in bodies[1:]:
        mesh, first = body.space.rest, bodies[0].space.rest
        if mesh.unit != first.unit or mesh.up != first.up:
            wrong.append(
                f"all objects need one unit and up axis, but '{body.name}' has {mesh.unit} m and {mesh.up!r} "
                f"where the first has {first.unit} m and {first.up!r}; use Mesh.in_frame"
            )
    if wrong:
        raise NeurokError("; ".join(wrong) + ".")
