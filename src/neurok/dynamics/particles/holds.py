"""Particles that are held or led: pins, drags, fixed bases, and what a hand has grabbed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from neurok.core.material import STANDARD_GRAVITY
from neurok.dynamics.condition import Drag, check_positive
from neurok.dynamics.particles.binding import BoundScene, Occupant
from neurok.dynamics.particles.engine_config import ParticleEngineConfig
from neurok.dynamics.particles.solver import Solver


@dataclass(eq=False)
class Hold:
    """Some particles on their way."""

    indices: Int[np.ndarray, " n"]
    """Among those of all objects."""

    places: Float[np.ndarray, "n 3"]
    """Where they were when they were seized [m]."""

    shift: Callable[[float], Float[np.ndarray, "3"]]
    """By how much they shall have moved at a time [m]."""

    stiffness: float | None = None
    """Of all springs together [N/m]; ``None`` holds hard."""

    mass: float = 0.0
    """Of what the springs move [kg]."""

    end: float = math.inf
    is_still: bool = False
    """Whether the places never move."""


def holds_of(scene: BoundScene, config: ParticleEngineConfig) -> list[Hold]:
    """Pins, drags and fixed bases of all objects."""
    out = []
    for occupant in scene.occupants:
        condition = occupant.body.condition
        for pin in condition.pins:
            mine = held_particles(scene, occupant, pin.vertices, config)
            out.append(_hold(scene, occupant, mine, _nowhere, pin.stiffness, is_still=True))
        for drag in condition.drags:
            mine = held_particles(scene, occupant, drag.vertices, config)
            way = _way(drag, occupant.carrier.start[drag.vertices].mean(axis=0), scene.unit)
            end = math.inf if drag.end is None else drag.end
            out.append(_hold(scene, occupant, mine, way, drag.stiffness, end=end))
        if not occupant.body.free and not condition.pins:
            out.append(_hold(scene, occupant, _base(scene, occupant, config), _nowhere, None, is_still=True))
    return out


def grip(
    scene: BoundScene,
    occupant: Occupant,
    vertices: Int[np.ndarray, " n"],
    target: Float[np.ndarray, "3"],
    solver: Solver,
    stiffness: float | None,
    config: ParticleEngineConfig,
) -> Hold:
    """Springs that pull some vertices so that their mean comes to ``target`` [m], which may change later."""
    check_positive(stiffness, "stiffness")
    mine = held_particles(scene, occupant, vertices, config)
    x = solver.positions
    mean = np.asarray(occupant.carrier.weights[vertices] @ x[occupant.where]).mean(axis=0)
    if stiffness is None:
        stiffness = float(occupant.masses.sum()) * STANDARD_GRAVITY / (config.grab_sag * occupant.size)
    hold = _hold(scene, occupant, mine, lambda time: target - mean, stiffness)
    hold.places = x[mine]
    return hold


def held_particles(
    scene: BoundScene, occupant: Occupant, vertices: Int[np.ndarray, " n"], config: ParticleEngineConfig
) -> Int[np.ndarray, " m"]:
    """Particles around some vertices, those of their own pieces, and always the nearest."""
    from scipy.spatial import cKDTree

    filling, places = occupant.filling, occupant.carrier.start[vertices]
    away = cKDTree(places).query(filling.points)[0]
    nearest = cKDTree(filling.points).query(places)[1]
    close = np.flatnonzero(away <= config.held * scene.cell)
    own = np.unique(filling.piece[nearest])
    close = close[np.isin(filling.piece[close], own)]
    led = np.flatnonzero(occupant.led) if occupant.led[nearest].any() else close[:0]
    return occupant.where.start + np.unique(np.concatenate([close, nearest, led]))


def _hold(
    scene: BoundScene,
    occupant: Occupant,
    indices: Int[np.ndarray, " n"],
    shift: Callable[[float], Float[np.ndarray, "3"]],
    stiffness: float | None,
    end: float = math.inf,
    is_still: bool = False,
) -> Hold:
    mass = float(occupant.masses.sum())
    return Hold(indices, scene.particles.positions[indices], shift, stiffness, mass, end, is_still)


def _nowhere(time: float) -> Float[np.ndarray, "3"]:
    return np.zeros(3)


def _way(drag: Drag, mean: Float[np.ndarray, "3"], unit: float) -> Callable[[float], Float[np.ndarray, "3"]]:
    return lambda time: drag.at(time) * unit - mean


def _base(scene: BoundScene, occupant: Occupant, config: ParticleEngineConfig) -> Int[np.ndarray, " n"]:
    """What of an object stands fixed: the root of its joints if that is rigid, else its lowest layer."""
    filling, joints = occupant.filling, occupant.body.poses.articulation
    if joints is not None and joints.dof:
        mine = joints.part_nodes[filling.pieces.part[filling.piece]] == 0
        if mine.any():
            return occupant.where.start + np.flatnonzero(mine)
    heights = filling.points @ occupant.body.mesh.up_vector
    low = (heights <= heights.min() + config.base * scene.cell) | occupant.led
    return occupant.where.start + np.flatnonzero(low)


class Holds:
    """All holds of a run, told to the solver as they move."""

    def __init__(self, scene: BoundScene, config: ParticleEngineConfig) -> None:
        self.scene, self.config = scene, config
        self.all = holds_of(scene, config)
        self.grab: Hold | None = None
        self._told: tuple[int, int] | None = None

    @property
    def move(self) -> bool:
        """Whether any of them is more than a pin."""
        return self.grab is not None or any(not hold.is_still for hold in self.all)

    def tell(self, solver: Solver, time: float, step: float) -> None:
        """Lead what is held from ``time`` on for ``step`` [s]."""
        alive = [hold for hold in [*self.all, *([self.grab] if self.grab else [])] if time < hold.end - 1e-9]
        hard = [hold for hold in alive if hold.stiffness is None]
        soft = [hold for hold in alive if hold.stiffness is not None]
        state = (len(hard), len(soft))
        moves = any(not hold.is_still for hold in alive)
        if state == self._told and not moves:
            return
        self._tell_hard(solver, hard, time, step)
        if soft or (self._told is not None and self._told[1]):
            self._tell_soft(solver, soft, time, step)
        self._told = state

    def _tell_hard(self, solver: Solver, hard: list[Hold], time: float, step: float) -> None:
        if not hard and (self._told is None or not self._told[0]):
            return
        moves = any(not hold.is_still for hold in hard)
        indices, first = np.unique(_joined([hold.indices for hold in hard], np.int64), return_index=True)
        goals = _joined([hold.places + hold.shift(time + step) for hold in hard]).reshape(-1, 3)[first]
        solver.set_targets(indices, goals, seconds=step if moves else 0.0)

    def _tell_soft(self, solver: Solver, soft: list[Hold], time: float, step: float) -> None:
        masses, phase, dt = self.scene.particles.masses, self.config.spring_phase, solver.dt
        stiffness, damping = [], []
        for hold in soft:
            own, share = masses[hold.indices], float(hold.stiffness or 0.0) / len(hold.indices)
            rate = 2.0 * math.sqrt(float(hold.stiffness or 0.0) * hold.mass) / len(hold.indices)
            stiffness.append(np.minimum(share, (phase / dt) ** 2 * own))
            damping.append(np.minimum(rate, phase / dt * own))
        indices, first = np.unique(_joined([hold.indices for hold in soft], np.int64), return_index=True)
        goals = _joined([hold.places + hold.shift(time + step) for hold in soft]).reshape(-1, 3)[first]
        solver.set_targets(
            indices, goals, stiffness=_joined(stiffness)[first], damping=_joined(damping)[first], seconds=step
        )


def _joined(rows: list[np.ndarray], dtype: type = np.float64) -> np.ndarray:
    return np.concatenate(rows) if rows else np.zeros(0, dtype=dtype)
