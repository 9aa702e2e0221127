"""Implicit Euler as a minimisation: inertia plus potential plus contact, by projected Newton with line search.

Each step minimises ½‖F(q) − (x + h ẋ)‖² / h² weighted by mass, plus the energies, contact and friction. Stiff forces stay stable at long
steps; the price is that motion is damped.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float

from neurok.dynamics.build import Bound
from neurok.dynamics.collocation import Diverged
from neurok.dynamics.condition import World
from neurok.dynamics.contact import Touch, touches_of
from neurok.dynamics.loads import Push, UniformField, WindLoad
from neurok.dynamics.system import State, System

MAX_NEWTON = 40
MAX_SEARCH = 24
FRICTION_PASSES = 2
SOFT = (UniformField, Push, WindLoad)
"""Loads too soft to matter in Newton's matrix."""


@dataclass(eq=False)
class IncrementalStepper:
    """Takes dissipative steps; holds the contacts between them."""

    system: System
    touches: list[Touch]
    size: float
    """Of the scene's smallest object: what counts as a small change."""

    tolerance: float = 1e-8
    max_penetration: float = field(default=0.0, init=False)

    @staticmethod
    def of(system: System, bounds: Sequence[Bound], world: World, state: State) -> IncrementalStepper:
        size = min(bound.body.space.rest.size for bound in bounds)
        return IncrementalStepper(system, touches_of(bounds, world, system, state), size)

    @property
    def _is_stiff(self) -> bool:
        return any(not isinstance(load, SOFT) for member in self.system.members for load in member.loads)

    def kick(self) -> None:
        """Only anchors and normal forces are remembered; an impulse does not change them."""

    def step(self, state: State, dt: float) -> State:
        """The state ``dt`` later."""
        qdot = self.system.velocity(state)
        motions = self.system.motions(state.poses, state.q[None], qdot[None])
        targets = [motion.coast(dt) for motion in motions]
        for touch in self.touches:
            touch.begin(motions)
        q = state.q + dt * qdot
        deepest = 0.0
        for _ in range(FRICTION_PASSES if self.touches else 1):
            q, motions = self._minimise(state, q, dt, targets)
            deepest = max((touch.measure(motions) for touch in self.touches), default=0.0)
            if deepest == 0.0:
                break
        for touch in self.touches:
            touch.finish(motions)
        self.max_penetration = max(self.max_penetration, deepest)
        p = self.system.momentum(motions)[0]
        return self.system.rebase(State(state.poses, q, p, state.time + dt))

    def _minimise(self, state: State, q: np.ndarray, dt: float, targets: list[Any]) -> tuple[np.ndarray, list[Any]]:
        """Coordinates that minimise the incremental potential, and the motion there."""
        value, gradient, motions, hessian = self._potential(state, q, dt, targets, curvature=True)
        for _ in range(MAX_NEWTON):
            start = time.perf_counter()
            change = -_solve_positive(hessian, gradient)
            start = self.system.clock.add("solve", start)
            if not np.isfinite(change).all():
                raise Diverged("a value is no longer finite")
            if np.abs(change).max() <= self.tolerance * self.size:
                return q, motions
            slope, scale = float(gradient @ change), 1.0
            norm = float(gradient @ gradient)
            for _ in range(MAX_SEARCH):
                trial = q + scale * change
                trial_value, trial_gradient, trial_motions, _ = self._potential(state, trial, dt, targets, False)
                if trial_value <= value + 1e-4 * scale * slope or float(trial_gradient @ trial_gradient) < 0.25 * norm:
                    break
                scale *= 0.5
            else:
                # No descent is left within round-off: this is the minimum.
                return q, motions
            q = trial
            value, gradient, motions, hessian = self._potential(state, q, dt, targets, curvature=True)
        if float(np.abs(change).max()) > 1e-2 * self.size:
            raise Diverged("the minimisation of a step did not converge")
        return q, motions

    def _potential(
        self, state: State, q: np.ndarray, dt: float, targets: list[Any], curvature: bool
    ) -> tuple[float, np.ndarray, list[Any], np.ndarray]:
        """Incremental potential, its gradient, the motion, and (if asked) a positive approximation of its curvature."""
        start = time.perf_counter()
        times = np.array([state.time + dt])
        qdot = (q - state.q) / dt
        motions = self.system.motions(state.poses, q[None], qdot[None])
        value, gradient = 0.0, np.zeros(self.system.dim)
        for member, motion, target in zip(self.system.members, motions, targets, strict=True):
            inertia, pull = motion.inertia(target)
            value += float(inertia[0]) / dt**2
            gradient[member.where] = pull[0] / dt**2
        start = self.system.clock.add("kinematics", start)
        value += float(self.system.load_energies(motions, times)[0])
        gradient = gradient - self.system.load_forces(motions, times)[0]
        hessian = np.zeros((0, 0))
        if curvature:
            hessian = self.system.mass_matrix(motions) / dt**2
            if self._is_stiff:
                hessian = hessian + self._load_curvature(state, q, dt, times)
        start = self.system.clock.add("forces", start)
        for touch in self.touches:
            energy, slope, bend = touch.evaluate(motions, self.system, curvature)
            value, gradient = value + energy, gradient + slope
            if curvature:
                hessian = hessian + bend
        self.system.clock.add("contact", start)
        return value, gradient, motions, hessian

    def _load_curvature(self, state: State, q: np.ndarray, dt: float, times: np.ndarray) -> Float[np.ndarray, "D D"]:
        """Differences of the loads' forces, made symmetric and positive."""
        dim, step = self.system.dim, 1e-6
        rows = q + np.concatenate([np.zeros((1, dim)), step * np.eye(dim)])
        motions = self.system.motions(state.poses, rows, (rows - state.q) / dt)
        forces = self.system.load_forces(motions, np.repeat(times, dim + 1))
        matrix = -(forces[1:] - forces[:1]) / step
        values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
        return (vectors * np.maximum(values, 0.0)) @ vectors.T


def _solve_positive(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve with a matrix that should be positive definite; a little is added where round-off spoilt it."""
    try:
        return np.linalg.solve(matrix, right)
    except np.linalg.LinAlgError:
        return np.linalg.lstsq(matrix, right, rcond=1e-12)[0]
