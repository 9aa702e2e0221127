"""When everything has come to rest: it is then left alone until something happens to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from neurok.dynamics.reduced.config import ImplicitConfig
from neurok.dynamics.reduced.loads import Hold, Push, WindLoad
from neurok.dynamics.reduced.system import System


@dataclass(eq=False)
class Rest:
    """Watches how fast things are."""

    slow: float
    """Speed below which nothing is seen to move [length/s]."""

    slow_impact: float
    """Speed below which nothing bounces [length/s]."""

    seconds: float
    """How long everything must have been slow."""

    carried: Float[np.ndarray, " D"]
    """Mass that each coordinate moves."""

    quiet: float = 0.0
    """How long everything has been slow [s]."""

    @staticmethod
    def of(system: System, size: float, gravity: Float[np.ndarray, "3"], config: ImplicitConfig) -> Rest:
        masses = [np.maximum(member.mechanics.carried, 1e-300) for member in system.members]
        fall = float(np.linalg.norm(gravity))
        return Rest(
            config.rest_speed * float(np.sqrt(fall * size)),
            float(np.sqrt(2.0 * fall * config.rest_bounce * size)),
            config.rest_seconds,
            np.concatenate(masses),
        )

    def wake(self) -> None:
        """Something has happened."""
        self.quiet = 0.0

    def asleep(self, system: System, time: float) -> bool:
        """Whether nothing moves and nothing is about to be moved."""
        if self.quiet <= self.seconds:
            return False
        return self.is_left_alone(system, time)

    def is_left_alone(self, system: System, time: float) -> bool:
        """Whether nothing from outside moves things, now or later."""
        return not any(_acts(load, time) for member in system.members for load in member.loads)

    @property
    def unseen(self) -> float:
        """Kinetic energy of everything at a speed that is not seen."""
        return 0.5 * float(self.carried.max(initial=0.0)) * self.slow**2

    def watch(self, inertia: Float[np.ndarray, " D"], qdot: Float[np.ndarray, " D"], dt: float) -> None:
        """Take note of a step: inertia and rate of each coordinate."""
        speeds = np.abs(qdot) * np.sqrt(np.maximum(inertia, 0.0) / self.carried)
        self.quiet = self.quiet + dt if speeds.max(initial=0.0) <= self.slow else 0.0


def _acts(load: Any, time: float) -> bool:
    """Whether a load changes with time, now or later."""
    if isinstance(load, Push):
        push = load.force_over_time
        return bool(time <= push.times.max() or push.at(time).any())
    if isinstance(load, WindLoad):
        return time < load.until
    return isinstance(load, Hold) and load.name != "pin" and time < load.end
