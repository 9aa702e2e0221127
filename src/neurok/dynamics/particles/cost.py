"""What a run will cost, told before it starts: time, memory, and what would be cheaper."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass

import numpy as np

from neurok.dynamics.particles.binding import BoundScene
from neurok.dynamics.particles.engine_config import RESOLUTIONS, ParticleEngineConfig
from neurok.dynamics.particles.state import Law
from neurok.dynamics.particles.steps import SOUND, StepPlan, plan_steps
from neurok.errors import NeurokError

CLAMP = 1e7
"""Young's modulus that is offered in place of a larger one [Pa]: a metre of water would squeeze it by 0.1 %."""


@dataclass(frozen=True)
class Cost:
    """An estimate."""

    plan: StepPlan
    seconds: float
    """Of computing."""

    coarse: float
    """The same at the resolution ``coarse``."""

    clamped: float
    """The same with nothing stiffer than ``CLAMP``; as it is where something else bounds the steps."""

    motion: float
    """Seconds of motion."""

    def sentence(self, particles: int) -> str:
        """For people."""
        out = (
            f"{self.motion:g} s of motion: about {duration(self.seconds)} ({particles:,} particles, "
            f"{self.plan.substeps:,} steps of {1e6 * self.plan.dt:.3g} µs, bounded by {self.plan.limit})"
        )
        if self.coarse < 0.7 * self.seconds:
            out += f"; --resolution coarse: about {duration(self.coarse)}"
        if self.clamped < 0.7 * self.seconds:
            out += f"; --stiffest {CLAMP:g}: about {duration(self.clamped)}"
        return out + "."


def cost_of(scene: BoundScene, seconds: float, config: ParticleEngineConfig) -> Cost:
    """Time of so many seconds of motion, by a stored speed."""
    plan = plan_steps(scene.particles, scene.sheets, scene.surroundings, config.solver, seconds=seconds)
    cores = max(1, min(config.solver.partitions, config.solver.threads or usable_cores()))
    time = plan.substeps * (len(scene.particles) / (config.speed * cores) + config.launch)
    ratio = min(1.0, RESOLUTIONS["coarse"] / config.cells)
    coarse = plan.substeps * ratio * (len(scene.particles) * ratio**3 / (config.speed * cores) + config.launch)
    clamped = time
    if plan.limit.startswith(SOUND):
        stiff = scene.particles.young[~np.isin(scene.particles.law, (Law.RIGID, Law.SHEET))].max()
        clamped = time * min(1.0, math.sqrt(CLAMP / stiff))
    return Cost(plan, time, coarse, clamped, seconds)


def check_time(cost: Cost, scene: BoundScene, config: ParticleEngineConfig) -> None:
    """Refuse what nobody would wait for.

    Raises:
        NeurokError: With the estimate, and what would be cheaper.
    """
    if cost.seconds > config.longest:
        raise NeurokError(
            f"{cost.sentence(len(scene.particles)).removesuffix('.')}, more than {duration(config.longest)}; take a "
            "coarser --resolution, fewer --seconds, or a smaller --stiffest for what is stiff."
        )


def usable_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def duration(seconds: float) -> str:
    """``40 s``, ``3 minutes``, ``2.5 hours``."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    if seconds < 90 * 60:
        return f"{round(seconds / 60)} minutes"
    return f"{seconds / 3600:.1f} hours"
