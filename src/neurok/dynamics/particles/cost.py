"""What a run will cost, told before it starts: time, memory, and what would be cheaper."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from neurok.dynamics.body import Body
from neurok.dynamics.particles.binding import BoundScene, cell_for
from neurok.dynamics.particles.engine_config import RESOLUTIONS, ParticleEngineConfig
from neurok.dynamics.particles.steps import StepPlan, plan_steps
from neurok.errors import NeurokError


@dataclass(frozen=True)
class Cost:
    """An estimate."""

    plan: StepPlan
    seconds: float
    """Of computing."""

    coarse: float
    """The same at the resolution ``coarse``."""

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
        return out + "."


def cost_of(scene: BoundScene, seconds: float, config: ParticleEngineConfig) -> Cost:
    """Time of so many seconds of motion, by a stored speed."""
    plan = plan_steps(scene.particles, scene.sheets, scene.surroundings, config.solver, seconds=seconds)
    cores = max(1, min(config.solver.partitions, config.solver.threads or usable_cores()))
    time = plan.substeps * (len(scene.particles) / (config.speed * cores) + config.launch)
    ratio = min(1.0, RESOLUTIONS["coarse"] / config.cells)
    coarse = plan.substeps * ratio * (len(scene.particles) * ratio**3 / (config.speed * cores) + config.launch)
    return Cost(plan, time, coarse, seconds)


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


def check_memory(bodies: Sequence[Body], config: ParticleEngineConfig) -> None:
    """Refuse what does not fit, before anything is filled.

    Raises:
        NeurokError: With the estimate.
    """
    cell, side = cell_for(bodies, config), config.filling.per_side
    need = 0.0
    for body in bodies:
        cells = float(np.prod(np.ptp(body.mesh.bounds, axis=0) * body.mesh.unit / cell + 2.0))
        need += cells * side**3 * (config.particle_bytes + 40.0)
    free = free_memory()
    if need > config.memory_share * free:
        raise NeurokError(
            f"Particles at {config.cells} cells may take {need / 1e9:.1f} GB, but only {free / 1e9:.1f} GB are free; "
            "take a coarser --resolution."
        )


def free_memory() -> float:
    """[bytes]; without a bound where the system does not say."""
    try:
        return float(os.sysconf("SC_AVPHYS_PAGES")) * float(os.sysconf("SC_PAGE_SIZE"))
    except (ValueError, OSError, AttributeError):
        return math.inf


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
