"""How wide cells are, and whether so many particles fit into memory: known before anything is filled."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence

import numpy as np

from neurok.dynamics.body import Body
from neurok.dynamics.particles.engine_config import PARTICLES, ParticleEngineConfig
from neurok.errors import NeurokError


def cell_for(bodies: Sequence[Body], config: ParticleEngineConfig = PARTICLES) -> float:
    """Width of a cell [m]."""
    sides = [float(np.ptp(body.mesh.bounds, axis=0).max()) * body.mesh.unit for body in bodies]
    wanted, small = max(sides) / config.cells, min(sides) / config.smallest_cells
    return max(min(wanted, small), wanted / config.refine)


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
