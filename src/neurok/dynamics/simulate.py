"""The verbs: roll objects forward in time, at once or frame by frame."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from neurok.core.clip import Rollout
from neurok.dynamics.body import Body, Thing
from neurok.dynamics.choice import EngineName, engine_for
from neurok.dynamics.condition import World
from neurok.dynamics.engine import Engine, Run, Settings, check_together
from neurok.dynamics.reduced.engine import IntegratorName
from neurok.errors import NeurokError


def simulate(
    body: Body | Thing,
    world: World | None = None,
    *,
    seconds: float | int = 2.0,
    fps: float | int = 24.0,
    dt: float | None = None,
    integrator: IntegratorName = "auto",
    engine: Engine | EngineName = "reduced",
    progress: Callable[[float], None] | None = None,
) -> Rollout:
    """Roll one object forward in time.

    Args:
        body: The object. A bare space, articulation, asset or mesh stands for a fixed body with default mass; see
            ``Body.of``.
        world: Gravity, wind, ground, obstacles. By default only gravity.
        seconds: Length of the motion.
        fps: Stored frames per second.
        dt: Longest time step [s]; shortened so that steps meet the frames. By default one that suits the integrator.
        integrator: Of the reduced engine: ``gauss`` (order 6, conserves energy), ``midpoint`` (order 2, conserves
            energy), ``implicit`` (incremental potential: damps, takes contact), ``runge-kutta`` (adaptive reference);
            ``auto`` takes ``implicit`` when something can be touched and ``gauss`` otherwise.
        engine: What moves the object: ``reduced``, ``mujoco`` (rigid parts and joints; needs the extra ``sim``),
            ``particles`` (all materials at full order; needs the extra ``particles``, see ``ParticleEngine``),
            ``auto`` (MuJoCo for rigid things that can touch something, if it is installed; the report says which and
            why), or an engine of your own.
        progress: Called now and then with the fraction done; it may raise ``KeyboardInterrupt`` to stop early.

    Returns:
        The motion, with positions, coordinates, energies and figures of the run. Status ``diverged`` keeps the good
        frames and says what was tried; ``stopped`` keeps the frames up to an interruption. ``report`` holds
        ``engine, engine_reason, dof, dt, steps, steps_per_second, real_time_factor, energy_start, energy_end,
        energy_drift, max_penetration`` and ``time_*`` (share of the stepping time). ``energy_drift`` is ``None`` where
        contact, damping, pushes, drags or wind change the energy; ``energy_note`` then says which.
    """
    (rollout,) = simulate_together(
        [body], world, seconds=seconds, fps=fps, dt=dt, integrator=integrator, engine=engine, progress=progress
    )
    return rollout


def simulate_together(
    bodies: Sequence[Body | Thing],
    world: World | None = None,
    *,
    seconds: float | int = 2.0,
    fps: float | int = 24.0,
    dt: float | None = None,
    integrator: IntegratorName = "auto",
    engine: Engine | EngineName = "reduced",
    progress: Callable[[float], None] | None = None,
) -> tuple[Rollout, ...]:
    """Roll several objects forward in one world, touching each other; one rollout for each, in their order.

    All meshes must share unit and up axis. The arguments are those of ``simulate``; energies and report are of the
    whole scene.
    """
    run = start(bodies, world, seconds=seconds, fps=fps, dt=dt, integrator=integrator, engine=engine)
    try:
        while run.step() if progress is None else run.step(progress):
            if progress is not None:
                progress(run.fraction)
    except KeyboardInterrupt:
        run.stop()
    return run.rollouts()


def start(
    bodies: Body | Thing | Sequence[Body | Thing],
    world: World | None = None,
    *,
    seconds: float | int | None = 2.0,
    fps: float | int = 24.0,
    dt: float | None = None,
    integrator: IntegratorName = "auto",
    engine: Engine | EngineName = "reduced",
    record: bool = True,
) -> Run:
    """A run of one or several objects that is stepped by hand, frame by frame, for instance by a live window.

    The arguments are those of ``simulate``. ``seconds=None`` has no end; ``record=False`` keeps only the last frame.
    ``simulate`` steps such a run to its end, so both give the same bits.
    """
    if not isinstance(engine, str) and integrator != "auto":
        raise NeurokError("Name an integrator or pass an engine, not both; ReducedEngine takes an integrator.")
    settings = Settings(
        None if seconds is None else float(seconds), float(fps), None if dt is None else float(dt), record
    )
    several = list(bodies) if isinstance(bodies, Sequence) else [bodies]
    everyone = [body if isinstance(body, Body) else Body.of(body) for body in several]
    check_together(everyone)
    world = World() if world is None else world
    if isinstance(engine, str):
        engine = engine_for(engine, everyone, world, integrator)
    return engine.start(everyone, world, settings)
