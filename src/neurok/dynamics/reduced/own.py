"""The loads of one object in a step of the incremental potential: of its coordinates alone, gravity, the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from neurok.compiled import coordinates as loops
from neurok.dynamics.reduced.loads import CoordinateLoad, Damping, LimitWell, StrainWell, UniformField


@dataclass(frozen=True, eq=False)
class OwnLoads:
    """What acts on one object, sorted by how it is evaluated."""

    gravity: Float[np.ndarray, "3"]
    columns: tuple[np.ndarray, ...]
    """Stiffness, limits, steepness, buffer, viscosity, strain vectors and wells, as the compiled loops take them."""

    others: tuple[Any, ...]
    """Loads that need more than coordinates, or more than a closed form."""

    @staticmethod
    def of(loads: Sequence[Any], dim: int) -> OwnLoads:
        """Sort the loads of an object with so many coordinates."""
        gravity, stiffness, viscosity = np.zeros(3), np.zeros((dim, dim)), np.zeros(dim)
        well = LimitWell(np.full(dim, -np.inf), np.full(dim, np.inf), np.zeros(dim), np.zeros(dim))
        strained, others = StrainWell(np.zeros((0, 3, dim)), np.zeros((0, 2))), []
        for load in loads:
            if isinstance(load, UniformField):
                gravity = gravity + load.acceleration
            elif isinstance(load, CoordinateLoad) and load.bend is not None:
                stiffness[load.offset :, load.offset :] += load.bend / load.unit**2
            elif isinstance(load, Damping) and not load.mass_rate:
                viscosity += load.coefficients
            elif isinstance(load, LimitWell):
                well = load
            elif isinstance(load, StrainWell):
                strained = load
            else:
                others.append(load)
        wells = well.lower, well.upper, well.steepness, well.damping
        columns = (stiffness, *(np.array(column, dtype=np.float64) for column in (*wells, viscosity)))
        return OwnLoads(gravity, (*columns, strained.vectors, strained.wells), tuple(others))

    def add(self, motion: Any, target: np.ndarray, time: float, dt: float) -> tuple[float, Float[np.ndarray, " D"]]:
        """Energy and gradient of inertia about ``target`` and of all loads, at the first moment of a motion."""
        value, gradient = motion.drawn(target, dt, self.gravity)
        value += loops.energy(motion.q[0], motion.qdot[0], *self.columns, gradient)
        if self.others:
            times = np.array([time])
            for load in self.others:
                value += float(load.energy(motion, times)[0])
                gradient -= load.force(motion, times)[0]
        return value, gradient

    def energy(self, motion: Any, time: float) -> float:
        """Of all loads."""
        value = float(motion.field_energy(self.gravity)[0])
        value += loops.energy(motion.q[0], motion.qdot[0], *self.columns, np.zeros(motion.q.shape[1]))
        return value + sum(float(load.energy(motion, np.array([time]))[0]) for load in self.others)

    def add_curvature(self, block: Float[np.ndarray, "D D"], motion: Any, dt: float) -> bool:
        """Add positive curvatures in closed form; whether some load has none."""
        loops.add_curvature(motion.q[0], motion.qdot[0], dt, *self.columns, block)
        unknown = False
        for load in self.others:
            bend = load.curvature(motion, dt)
            unknown |= bend is None
            if bend is not None:
                block += bend
        return unknown
