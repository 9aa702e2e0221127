"""How long a step may be, and what a stretch of motion will cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from neurok.dynamics.particles import rows
from neurok.dynamics.particles.config import DEFAULT, SolverConfig
from neurok.dynamics.particles.grid import SUPPORT
from neurok.dynamics.particles.laws import sound_speed
from neurok.dynamics.particles.state import Law, ParticleSet, SheetSet, Surroundings

SOUND = "sound at"
"""How the bound by the stiffest material begins."""


@dataclass(frozen=True)
class StepPlan:
    """What a stretch of motion would cost, told without starting."""

    dt: float
    """Longest stable step [s]."""

    substeps: int
    particle_substeps: float
    """Particles times steps; a core does some ten million in a second."""

    limit: str
    """What bounds the step, as a phrase."""

    nodes: int
    """Grid nodes at the start."""

    memory: int
    """[bytes] of particles and grids at the start."""


def cell_width(particles: ParticleSet, config: SolverConfig) -> float:
    """Of the grid [m]."""
    if config.cell > 0:
        return config.cell
    solid = particles.law != Law.SHEET
    volumes = particles.volumes[solid] if solid.any() else particles.volumes
    return float(2 * np.cbrt(np.median(volumes)))


def stable_step(
    particles: ParticleSet, sheets: SheetSet | None, cell: float, config: SolverConfig
) -> tuple[float, str]:
    """The longest step that materials allow [s], and what bounds it; the speed of particles is not looked at."""
    bounds = {"rigid parts and soft contact": config.longest_step}
    speed = sound_speed(particles)
    if (speed > 0).any():
        worst = int(np.argmax(speed))
        bounds[f"{SOUND} {speed[worst]:.3g} m/s (E = {particles.young[worst]:.3g} Pa)"] = (
            config.courant * cell / speed[worst]
        )
    rated = np.isin(particles.law, (Law.ELASTIC, Law.FLUID)) & (particles.viscosity > 0)
    if rated.any():
        density = particles.masses[rated] / particles.volumes[rated]
        bounds["viscosity"] = config.viscous * cell**2 * float((density / particles.viscosity[rated]).min())
    if (particles.damping > 0).any():
        bounds["damping"] = 0.5 / float(particles.damping.max())
    if sheets is not None and len(sheets.triangles):
        bounds["sound along the shortest edge of a sheet"] = sheet_step(particles, sheets, cell, config)
    limit = min(bounds, key=lambda name: bounds[name])
    return bounds[limit], limit


def sheet_step(particles: ParticleSet, sheets: SheetSet, cell: float, config: SolverConfig) -> float:
    """The longest step of sheets [s]: sound may cross a share of an edge."""
    corners = sheets.rest[sheets.triangles]
    area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    around = np.bincount(sheets.triangles.ravel(), np.repeat(area / 3, 3), len(particles))
    weight = (particles.masses / np.maximum(around, 1e-300))[sheets.triangles].min(axis=1)  # kg/m²
    speed = np.sqrt(sheets.young * sheets.thickness / ((1 - sheets.poisson**2) * weight))
    height = least_heights(corners)
    bent = np.maximum(height, sheets.narrow) ** 2 * np.sqrt(12.0) / np.pi / np.maximum(sheets.thickness, 1e-300)
    # A triangle without area has no forces.
    return config.sheet_courant * float((np.minimum(height, bent) / speed)[area > 0].min(initial=config.longest_step))


def least_heights(corners: Float[np.ndarray, "T 3 3"]) -> Float[np.ndarray, " T"]:
    """Above the longest side of each triangle."""
    twice = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    return np.asarray(twice / np.maximum(longest, 1e-300))


def plan_steps(
    particles: ParticleSet,
    sheets: SheetSet | None = None,
    surroundings: Surroundings | None = None,
    config: SolverConfig = DEFAULT,
    *,
    seconds: float = 1.0,
) -> StepPlan:
    """The stable step and the cost of ``seconds`` of motion; nothing is compiled or allocated.

    The fastest particle is thought to fall freely for the whole time, at most through a tenth of the domain's margin.
    """
    surroundings = surroundings or Surroundings()
    cell = cell_width(particles, config)
    dt, limit = stable_step(particles, sheets, cell, config)
    speed = top_speed(particles.velocities) + float(np.linalg.norm(surroundings.gravity)) * 0.5 * seconds
    size = float(np.ptp(particles.positions, axis=0).max()) if len(particles) else cell
    speed = min(speed, top_speed(particles.velocities) + np.sqrt(2 * np.linalg.norm(surroundings.gravity) * 2 * size))
    if speed > 0 and config.travel * cell / speed < dt:
        dt, limit = config.travel * cell / speed, "the fastest particle"
    substeps = int(np.ceil(seconds / dt))
    nodes = 0
    for body in np.unique(particles.body):
        span = np.ptp(particles.positions[particles.body == body], axis=0) / cell + SUPPORT + 2 * config.padding
        nodes += int(np.ceil(span).prod())
    memory = 4 * (rows.COUNT * 2 + 6) * len(particles) + 2 * 16 * nodes
    return StepPlan(dt, substeps, float(substeps) * len(particles), limit, nodes, memory)


def top_speed(velocities: Float[np.ndarray, "P 3"]) -> float:
    """Of the fastest particle [m/s]."""
    return float(np.sqrt((velocities**2).sum(axis=1).max(initial=0.0)))
