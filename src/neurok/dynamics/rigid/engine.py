"""The rigid engine's start and its runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from neurok.dynamics.body import Body
from neurok.dynamics.condition import World
from neurok.dynamics.engine import Settings
from neurok.dynamics.reduced.engine import ReducedRun
from neurok.dynamics.reduced.system import State
from neurok.dynamics.rigid.model import DEFAULT, MujocoConfig
from neurok.dynamics.rigid.stepper import MujocoStepper
from neurok.errors import NeurokError, require

INTEGRATOR = "implicitfast"
"""MuJoCo's name of how it steps."""


@dataclass(frozen=True)
class MujocoEngine:
    """Moves bodies that are rigid, or rigid parts on joints, by MuJoCo; needs the extra ``sim``."""

    config: MujocoConfig = DEFAULT
    reason: str = ""
    """Why this engine was taken, for the report."""

    def start(self, bodies: Sequence[Body], world: World, settings: Settings) -> MujocoRun:
        """A model of all bodies and the world, at the moment they start.

        Raises:
            MissingDependencyError: If MuJoCo is not installed.
            NeurokError: If a body is more than rigid parts and joints.
        """
        refused = refusal(bodies)
        if refused:
            raise NeurokError(f"The engine 'mujoco' cannot take this: {refused}; use the engine 'reduced'.")
        require("mujoco", "sim")
        return MujocoRun(bodies, world, settings, self.config, self.reason)


def refusal(bodies: Sequence[Body]) -> str:
    """Why these bodies are not for a rigid engine, in words; empty if they are."""
    for body in bodies:
        if body.poses.articulation is None:
            return f"'{body.name}' bends"
        if body.energies:
            return f"'{body.name}' has energies of its own"
    return ""


class MujocoRun(ReducedRun):
    """The same run, conditions and frames, with MuJoCo between two moments."""

    engine: ClassVar[str] = "mujoco"

    def __init__(
        self, bodies: Sequence[Body], world: World, settings: Settings, config: MujocoConfig, reason: str = ""
    ) -> None:
        self._rigid = config
        steps = {**config.reduced.longest_steps, INTEGRATOR: config.longest_step}
        super().__init__(bodies, world, settings, INTEGRATOR, replace(config.reduced, longest_steps=steps), reason)
        # Contacts that begin inside each other are pushed apart: energy may appear, and MuJoCo says if it is lost.
        self._recorder.is_driven = True

    def _made_stepper(self) -> MujocoStepper:
        return MujocoStepper(self._bounds, self._system, self._world, self._state, self._rigid, self._step)

    def _advanced(self, state: State) -> State:
        """The state one frame later."""
        if self._system.dim == 0:
            return State(state.poses, state.q, state.p, state.time + self._per_frame * self._step)
        stepper: MujocoStepper = self._stepper
        with stepper.quiet():
            for k in range(self._per_frame):
                start = (self._frame * self._per_frame + k) * self._step
                if self._kicks_within(start, start + self._step):
                    stepper.put(self._kicked(stepper.state(start), start, start + self._step))
                stepper.advance(start, self._step)
                self._recorder.steps += 1
        return stepper.state(state.time + self._per_frame * self._step)

    def _kicks_within(self, start: float, end: float) -> bool:
        return any(start - 1e-12 <= kick[0] < end - 1e-12 for kick in self._kicks)

    def step(self, watch: Callable[[float], None] | None = None) -> bool:
        """Advance by one frame; ``False`` when the run has ended, and nothing was advanced."""
        done = super().step(watch)
        if self.status == "diverged":
            message = self._recorder.message.split(" Try ")[0]
            self._recorder.message = f"{message} Try dt={self._step / 4:.2g} s, or the engine 'reduced'."
        return done
