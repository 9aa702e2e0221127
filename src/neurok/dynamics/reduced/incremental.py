"""Implicit Euler as a minimisation: inertia plus potential plus contact, by projected Newton with line search.

Each step minimises ½‖F(q) − (x + h ẋ)‖² / h² weighted by mass, plus the energies, contact and friction. Stiff forces
stay stable at long steps; the price is that motion is damped.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float

from neurok.dynamics.condition import World
from neurok.dynamics.reduced.build import Bound
from neurok.dynamics.reduced.collocation import Diverged
from neurok.dynamics.reduced.config import DEFAULTS, ImplicitConfig, ReducedConfig
from neurok.dynamics.reduced.contact import Touch, touches_of
from neurok.dynamics.reduced.system import State, System


@dataclass(eq=False)
class IncrementalStepper:
    """Takes dissipative steps; holds the contacts between them."""

    system: System
    touches: list[Touch]
    size: float
    """Of the scene's smallest object: what counts as a small change."""

    config: ImplicitConfig = DEFAULTS.implicit
    max_penetration: float = field(default=0.0, init=False)
    close: list[Touch] = field(default_factory=list, init=False)
    """The touches that matter in the present step."""

    @staticmethod
    def of(
        system: System, bounds: Sequence[Bound], world: World, state: State, config: ReducedConfig
    ) -> IncrementalStepper:
        size = min(bound.body.mesh.size for bound in bounds)
        touches = touches_of(bounds, world, system, state, config.contact)
        return IncrementalStepper(system, touches, size, config.implicit)

    def kick(self) -> None:
        """Only anchors and normal forces are remembered; an impulse does not change them."""

    def change(self, system: System) -> None:
        """Go on with other loads."""
        self.system = system

    def step(self, state: State, dt: float) -> State:
        """The state ``dt`` later; in pieces where something thin could be passed within one step."""
        qdot, motions = self._moving(state)
        travel = self._approach(motions, dt)
        count = min(self.config.max_pieces, max(1, math.ceil(travel / self.config.safe_travel)))
        try:
            return self._advance(state, dt, qdot, motions) if count == 1 else self._in_pieces(state, dt, count)
        except Diverged:
            if count == self.config.max_pieces:
                raise
        return self._in_pieces(state, dt, self.config.max_pieces)

    def _in_pieces(self, state: State, dt: float, count: int) -> State:
        for _ in range(count):
            qdot, motions = self._moving(state)
            self._approach(motions, dt / count)
            state = self._advance(state, dt / count, qdot, motions)
        return state

    def _moving(self, state: State) -> tuple[np.ndarray, list[Any]]:
        """Rates of the coordinates, and the motion with them."""
        qdot = self.system.velocity(state)
        return qdot, self.system.motions(state.poses, state.q[None], qdot[None])

    def _approach(self, motions: list[Any], dt: float) -> float:
        """Find the touches with points nearby; the longest way of one of these, in thicknesses of its solid."""
        start = time.perf_counter()
        seen: dict[int, Any] = {}
        travels = [touch.approach(motions, dt, self.size, seen) for touch in self.touches]
        self.close = [touch for touch in self.touches if len(touch.near)]
        self.system.clock.add("contact", start)
        return max(travels, default=0.0)

    def _advance(self, state: State, dt: float, qdot: np.ndarray, motions: list[Any]) -> State:
        """One step, whole."""
        targets = [motion.coast(dt) for motion in motions]
        for touch in self.close:
            touch.begin(motions)
        q = state.q + dt * qdot
        deepest = 0.0
        for _ in range(self.config.friction_passes):
            q, motions = self._minimise(state, q, dt, targets)
            measures = [touch.measure(motions) for touch in self.close]
            deepest = max((depth for depth, _ in measures), default=0.0)
            if not any(changed for _, changed in measures):
                break
        for touch in self.close:
            touch.finish(motions)
        self.max_penetration = max(self.max_penetration, deepest)
        p = self.system.momentum(motions)[0]
        return self.system.rebase(State(state.poses, q, p, state.time + dt))

    def _minimise(self, state: State, q: np.ndarray, dt: float, targets: list[Any]) -> tuple[np.ndarray, list[Any]]:
        """Coordinates that minimise the incremental potential, and the motion there."""
        value, gradient, motions = self._potential(state, q, dt, targets)
        for _ in range(self.config.max_newton):
            matrix = self._curvature(state, q, dt, motions)
            start = time.perf_counter()
            change = -_solve_positive(matrix, gradient)
            self.system.clock.add("solve", start)
            if not np.isfinite(change).all():
                raise Diverged("a value is no longer finite")
            reach = float(np.abs(change).max())
            if reach <= self.config.tolerance * self.size:
                return q, motions
            slope, scale = float(gradient @ change), 1.0
            for _ in range(self.config.max_search):
                trial = q + scale * change
                found = self._potential(state, trial, dt, targets)
                ahead = float(found[1] @ change)
                # Damping has no potential, so a slope that has levelled out is as good as a lower value.
                level = ahead <= -0.5 * slope and (scale < 1.0 or ahead >= 0.5 * slope)
                if level or found[0] <= value + 1e-4 * scale * slope:
                    break
                scale *= min(0.5, max(0.1, slope / (slope - ahead))) if ahead > 0 else 0.5
            else:
                # No descent is left within round-off: this is the minimum.
                return q, motions
            q, (value, gradient, motions) = trial, found
            # Newton's method squares its error: after a full step this short, the next would change nothing.
            if scale == 1.0 and reach <= 1e2 * self.config.tolerance * self.size:
                return q, motions
        if reach > 1e-2 * self.size:
            raise Diverged("the minimisation of a step did not converge")
        return q, motions

    def _potential(
        self, state: State, q: np.ndarray, dt: float, targets: list[Any]
    ) -> tuple[float, np.ndarray, list[Any]]:
        """Incremental potential, its gradient, and the motion."""
        start = time.perf_counter()
        times = np.array([state.time + dt])
        motions = self.system.motions(state.poses, q[None], (q - state.q)[None] / dt)
        value, gradient = 0.0, np.zeros(self.system.dim)
        for member, motion, target in zip(self.system.members, motions, targets, strict=True):
            inertia, pull = motion.inertia(target)
            value += float(inertia[0]) / dt**2
            gradient[member.where] = pull[0] / dt**2
        start = self.system.clock.add("kinematics", start)
        value += float(self.system.load_energies(motions, times)[0])
        gradient = gradient - self.system.load_forces(motions, times)[0]
        start = self.system.clock.add("forces", start)
        for touch in self.close:
            energy, slope = touch.evaluate(motions, self.system)
            if energy:
                value, gradient = value + energy, gradient + slope
        self.system.clock.add("contact", start)
        return value, gradient, motions

    def _curvature(self, state: State, q: np.ndarray, dt: float, motions: list[Any]) -> Float[np.ndarray, "D D"]:
        """A positive approximation of the potential's curvature where it was last evaluated."""
        start = time.perf_counter()
        matrix = self.system.mass_matrix(motions) / dt**2
        unknown = False
        for member, motion in zip(self.system.members, motions, strict=True):
            for load in member.loads:
                bend = load.curvature(motion, dt)
                unknown |= bend is None
                if bend is not None:
                    matrix[member.where, member.where] += bend
        if unknown:
            matrix += self._load_curvature(state, q, dt)
        start = self.system.clock.add("newton_matrix", start)
        for touch in self.close:
            touch.add_curvature(matrix)
        self.system.clock.add("contact", start)
        return matrix

    def _load_curvature(self, state: State, q: np.ndarray, dt: float) -> Float[np.ndarray, "D D"]:
        """Differences of the forces of loads without a closed form, made symmetric and positive."""
        dim, step = self.system.dim, 1e-6
        rows = q + np.concatenate([np.zeros((1, dim)), step * np.eye(dim)])
        times = np.full(dim + 1, state.time + dt)
        out = np.zeros((dim, dim))
        motions = self.system.motions(state.poses, rows, (rows - state.q) / dt)
        for member, motion in zip(self.system.members, motions, strict=True):
            for load in member.loads:
                if load.curvature(motion, dt) is None:
                    forces = load.force(motion, times)
                    out[:, member.where] -= (forces[1:] - forces[:1]) / step
        values, vectors = np.linalg.eigh(0.5 * (out + out.T))
        return (vectors * np.maximum(values, 0.0)) @ vectors.T


def _solve_positive(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve with a matrix that should be positive definite; a little is added where round-off spoilt it."""
    try:
        return np.linalg.solve(matrix, right)
    except np.linalg.LinAlgError:
        return np.linalg.lstsq(matrix, right, rcond=1e-12)[0]
