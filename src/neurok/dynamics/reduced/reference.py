"""Adaptive Runge–Kutta of order 8: slow and accurate, to check the others against."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from neurok.dynamics.reduced.collocation import Diverged
from neurok.dynamics.reduced.config import DEFAULTS, ReferenceConfig
from neurok.dynamics.reduced.system import State, System, solve_mass


@dataclass(eq=False)
class ReferenceStepper:
    """Hamilton's equations by DOP853 with tight tolerances."""

    system: System
    config: ReferenceConfig = DEFAULTS.reference

    def kick(self) -> None:
        """Nothing is remembered between steps."""

    def change(self, system: System) -> None:
        """Go on with other loads."""
        self.system = system

    def step(self, state: State, dt: float) -> State:
        from scipy.integrate import solve_ivp

        dim, left = self.system.dim, self.config.max_evaluations

        def rates(t: float, y: Float[np.ndarray, " E"]) -> Float[np.ndarray, " E"]:
            nonlocal left
            left -= 1
            if left < 0 or not np.isfinite(y).all():
                raise Diverged("the Runge–Kutta solver needs shorter and shorter steps")
            q, p = y[None, :dim], y[dim:]
            still = self.system.motions(state.poses, q, np.zeros_like(q))
            qdot = solve_mass(self.system.mass_matrix(still), p)[None]
            return np.concatenate([qdot[0], self.system.rates(state.poses, q, qdot, np.array([t]))[1][0]])

        end = state.time + dt
        found = solve_ivp(
            rates,
            (state.time, end),
            np.concatenate([state.q, state.p]),
            method="DOP853",
            rtol=self.config.tolerance,
            atol=self.config.tolerance * 1e-2,
        )
        if not found.success or not np.isfinite(found.y[:, -1]).all():
            raise Diverged(f"the Runge–Kutta solver gave up ({found.message})")
        return self.system.rebase(State(state.poses, found.y[:dim, -1], found.y[dim:, -1], end))
