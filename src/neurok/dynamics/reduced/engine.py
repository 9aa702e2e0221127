"""The reduced engine's start, and its runs, which are stepped frame by frame."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from jaxtyping import Float

from neurok.core.clip import Rollout, RolloutStatus
from neurok.dynamics.body import Body
from neurok.dynamics.condition import Vector, Wind, World
from neurok.dynamics.engine import Settings, check_grab
from neurok.dynamics.reduced.build import Bound, assemble, bind, gravity_load, grip, wind_load
from neurok.dynamics.reduced.collocation import Diverged, GaussStepper, ReferenceStepper
from neurok.dynamics.reduced.config import DEFAULTS, ReducedConfig
from neurok.dynamics.reduced.incremental import IncrementalStepper
from neurok.dynamics.reduced.record import Recorder
from neurok.dynamics.reduced.system import Member, State, System
from neurok.errors import NeurokError, check_choice

IntegratorName = Literal["auto", "gauss", "midpoint", "implicit", "runge-kutta"]


@dataclass(frozen=True)
class ReducedEngine:
    """Moves bodies in the coordinates of their spaces; a body without a space is rigid."""

    integrator: IntegratorName = "auto"
    """``auto`` takes ``implicit`` when something can be touched and ``gauss`` otherwise."""

    config: ReducedConfig = DEFAULTS
    reason: str = ""
    """Why this engine was taken, for the report."""

    def __post_init__(self) -> None:
        check_choice("integrator", self.integrator, get_args(IntegratorName))

    def start(self, bodies: Sequence[Body], world: World, settings: Settings) -> ReducedRun:
        """Mechanics, loads and contacts of all bodies, at the moment they start."""
        name: str = self.integrator
        if name == "auto":
            name = "implicit" if world.has_contact or len(bodies) > 1 else "gauss"
        if world.has_contact and name != "implicit":
            raise NeurokError(f"Contact needs the integrator 'implicit', not '{name}'; leave it at 'auto'.")
        return ReducedRun(bodies, world, settings, name, self.config, self.reason)


class ReducedRun:
    """Bodies on their way, in reduced coordinates."""

    engine: ClassVar[str] = "reduced"

    def __init__(
        self,
        bodies: Sequence[Body],
        world: World,
        settings: Settings,
        integrator: str,
        config: ReducedConfig,
        reason: str = "",
    ) -> None:
        self._reason = reason
        self._world, self._settings, self._integrator, self._config = world, settings, integrator, config
        self._per_frame = settings.steps_per_frame(config.longest_steps[integrator])
        self._step = 1.0 / (settings.fps * self._per_frame)
        self._bounds = [bind(body, world, config) for body in bodies]
        self._system, self._state = assemble(self._bounds)
        self._stepper = self._made_stepper()
        self._recorder = Recorder(self._bounds, self._system, self._stepper, self._step, config, settings.record)
        self._kicks = _kicks(self._bounds)
        self._frame = 0
        self._held: tuple[int, tuple[int, ...], float | None] | None = None
        self._target = np.zeros(3)
        try:
            self._recorder.frame(self._state)
        except Diverged as reason:
            raise NeurokError(f"The motion cannot start: {reason}; give smaller heights, speeds or turns.") from None

    def _made_stepper(self) -> Any:
        """What takes the state from one moment to the next."""
        return _stepper(self._integrator, self._system, self._bounds, self._world, self._state, self._config)

    @property
    def positions(self) -> tuple[Float[np.ndarray, "V 3"], ...]:
        """Vertices of each body now, in mesh units."""
        return self._recorder.last_positions()

    @property
    def time(self) -> float:
        """Seconds since the start."""
        return self._frame / self._settings.fps

    @property
    def fraction(self) -> float:
        """How much of the asked time is done; 0 where there is no end."""
        count = self._settings.frame_count
        return 0.0 if count is None else self._frame / count

    @property
    def status(self) -> RolloutStatus:
        """``ok``, or why it ended early."""
        return self._recorder.status

    @property
    def world(self) -> World:
        """Gravity, wind and what stands around, as they are now."""
        return self._world

    def step(self, watch: Callable[[float], None] | None = None) -> bool:
        """Advance by one frame; ``False`` when the run has ended, and nothing was advanced."""
        if self.status != "ok" or self._frame == self._settings.frame_count:
            return False
        try:
            begin = time.perf_counter()
            with one_thread():
                state = self._advanced(self._state)
                self._recorder.stepping += time.perf_counter() - begin
                self._recorder.frame(state)
        except Diverged as reason:
            self._recorder.fail(str(reason))
            return False
        self._state, self._frame = state, self._frame + 1
        return True

    def _advanced(self, state: State) -> State:
        """The state one frame later."""
        for k in range(self._per_frame):
            if self._system.dim == 0:
                state = State(state.poses, state.q, state.p, state.time + self._step)
                continue
            start = (self._frame * self._per_frame + k) * self._step
            state = self._kicked(state, start, start + self._step)
            state = self._stepper.step(state, self._step)
            self._recorder.steps += 1
        return state

    def _kicked(self, state: State, start: float, end: float) -> State:
        """The state after the impulses that fall between two moments."""
        due = [kick for kick in self._kicks if start - 1e-12 <= kick[0] < end - 1e-12]
        if not due:
            return state
        p = state.p.copy()
        motions = self._system.motions(state.poses, state.q[None], np.zeros_like(state.q[None]))
        for _, index, points, shares in due:
            p[self._system.members[index].where] += points.pull(motions[index], shares[None])[0]
        self._stepper.kick()
        return State(state.poses, state.q, p, state.time)

    def stop(self) -> None:
        """End the run on request; its frames are kept."""
        self._recorder.stop()

    def set_gravity(self, gravity: Vector | Sequence[float]) -> None:
        """Another acceleration [m/s^2] from now on."""
        self._world = replace(self._world, gravity=np.asarray(gravity, dtype=np.float64))
        for index, bound in enumerate(self._bounds):
            self._reload(index, "gravity", gravity_load(bound.body, self._world))

    def set_wind(self, wind: Wind | None) -> None:
        """Other moving air from now on, or none."""
        self._world = replace(self._world, wind=wind)
        for index, bound in enumerate(self._bounds):
            loads = [] if wind is None else [wind_load(bound.body, wind, bound.mechanics, self._config)]
            self._reload(index, "wind", loads)

    def grab(
        self,
        vertices: int | Sequence[int],
        target: Vector | Sequence[float],
        body: int = 0,
        stiffness: float | None = None,
    ) -> None:
        """Pull the mean of some vertices of a body to a place [mesh units] by a damped spring; again to move it on."""
        chosen, place = check_grab([bound.body for bound in self._bounds], vertices, target, body)
        self._target[:] = place
        held = (body, tuple(chosen.tolist()), stiffness)
        if held == self._held:
            return
        self.release()
        where = self._system.members[body].where
        now = self._state.poses[body], self._state.q[where]
        grasp = grip(self._bounds[body], chosen, self._target, now, stiffness, self._config)
        self._held = held
        self._reload(body, grasp.name, [grasp])

    def release(self) -> None:
        """Let go of what was grabbed."""
        if self._held is not None:
            self._reload(self._held[0], "grab", [])
            self._held = None

    def _reload(self, index: int, name: str, loads: Sequence[Any]) -> None:
        """Replace the loads of one name on one body; steppers forget what they knew about the old ones."""
        bound = self._bounds[index]
        kept = tuple(load for load in bound.loads if load.name != name)
        self._bounds[index] = replace(bound, loads=(*loads, *kept))
        members = [
            Member(bound.mechanics, bound.loads, member.where)
            for bound, member in zip(self._bounds, self._system.members, strict=True)
        ]
        self._system = System(tuple(members), self._system.clock)
        self._stepper.change(self._system)
        self._recorder.changed(self._bounds, self._system, name)

    def rollouts(self) -> tuple[Rollout, ...]:
        """The motion so far, of each body."""
        named = {"engine": self.engine, "engine_reason": self._reason}
        rollouts = self._recorder.rollouts(1.0 / self._settings.fps, self._integrator)
        return tuple(replace(rollout, report={**named, **rollout.report}) for rollout in rollouts)


def _stepper(
    name: str, system: System, bounds: Sequence[Bound], world: World, state: State, config: ReducedConfig
) -> Any:
    if name == "implicit":
        return IncrementalStepper.of(system, bounds, world, state, config)
    if name == "runge-kutta":
        return ReferenceStepper(system)
    return GaussStepper(system, 3 if name == "gauss" else 1)


def _kicks(bounds: Sequence[Bound]) -> list[tuple[float, int, Any, np.ndarray]]:
    """Impulses: when, on which object, at which points, how much for each."""
    return [
        (
            impulse.time,
            index,
            bound.mechanics.points(impulse.vertices),
            np.tile(impulse.vector / (bound.body.mesh.unit * len(impulse.vertices)), (len(impulse.vertices), 1)),
        )
        for index, bound in enumerate(bounds)
        for impulse in bound.body.condition.impulses
    ]


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """While it holds, linear algebra runs on the thread that asks: several would wait for each other longer than they
    work on small matrices, and sums have the same bits on any machine."""
    held: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return held
