"""Gauss collocation on Hamilton's equations: symplectic, symmetric, of order twice the number of stages.

One stage is the implicit midpoint rule. The unknowns are the rates V_i at the stages: with Q_i = q0 + h Σ a_ij V_j they
must satisfy p(Q_i, V_i) = p0 + h Σ a_ij ṗ(Q_j, V_j). This is the discrete variational principle with Gauss
quadrature. Newton's matrix is built by finite differences in one batch and kept as long as it converges quickly.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from neurok.dynamics.system import State, System

MAX_ITERATIONS = 10
MAX_REBUILDS = 4
SLOW_ITERATIONS = 4
MAX_HALVINGS = 7
MAX_PIECES = 32
MAX_CUTS = 4
"""How often pieces of a step may be cut again: a bounce turns out harder than it looked from before it."""

BOUNCE_PHASE = 0.6
"""Largest phase [rad] that coordinates beyond their limits may oscillate through in one piece of a step."""


LARGEST_TURN = 0.8
"""Largest turn [rad] of any piece of an object in one step."""


class Diverged(Exception):
    """A step that cannot be taken; the text says why."""


def gauss_tableau(stages: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Matrix a, weights b and nodes c of the Gauss method."""
    nodes = 0.5 * (np.polynomial.legendre.leggauss(stages)[0] + 1.0)
    powers = np.arange(1, stages + 1)
    vandermonde = nodes[:, None] ** (powers - 1)
    inverse = np.linalg.inv(vandermonde)
    a = (nodes[:, None] ** powers / powers) @ inverse
    return a, (1.0 / powers) @ inverse, nodes


@dataclass(eq=False)
class GaussStepper:
    """Takes steps of a system; remembers the last stages to guess the next."""

    system: System
    stages: int = 3
    tolerance: float = 1e-11
    _last: tuple[Float[np.ndarray, "s D"], float] | None = field(default=None, init=False)
    """Stage rates and length of the last step."""

    _inverses: dict[float, Float[np.ndarray, "sD sD"]] = field(default_factory=dict, init=False)
    """Inverse of Newton's matrix for each length of step in use."""

    def __post_init__(self) -> None:
        self.a, self.b, self.c = gauss_tableau(self.stages)
        self._powers = np.arange(self.stages)
        self._fit = np.linalg.inv(self.c[:, None] ** self._powers)

    def kick(self) -> None:
        """Forget the past: the momenta were changed from outside."""
        self._last = None

    def step(self, state: State, dt: float) -> State:
        """The state ``dt`` later; in pieces where limits are met, in halves where the equations are too stiff."""
        return self._step(state, dt, 0)

    def _step(self, state: State, dt: float, depth: int) -> State:
        guess = self._predict(state, dt)
        count = self._pieces(state, state.q + dt * (self.a @ guess), guess, dt) if depth == 0 else 1
        if count > 1:
            return self._in_pieces(state, dt, count, depth)
        with np.errstate(over="ignore", invalid="ignore"):
            found = self._solve(state, dt, guess)
        if found is None:
            self._last = None
            self._inverses.clear()
            if depth >= MAX_HALVINGS:
                raise Diverged("the equations of a step could not be solved")
            half = self._step(state, 0.5 * dt, depth + 1)
            return self._step(half, 0.5 * dt, depth + 1)
        rates, momentum_rates = found
        q = state.q + dt * (self.b @ rates)
        if depth < MAX_CUTS:
            count = self._pieces(state, np.vstack([state.q + dt * (self.a @ rates), q]), rates, dt)
            if count > 1:
                return self._in_pieces(state, dt, count, depth)
        p = state.p + dt * (self.b @ momentum_rates)
        self._last = (rates, dt)
        return self.system.rebase(State(state.poses, q, p, state.time + dt))

    def _predict(self, state: State, dt: float) -> Float[np.ndarray, "s D"]:
        """Stage rates guessed from the last step."""
        if self._last is None:
            return np.tile(self.system.velocity(state), (self.stages, 1))
        rates, last = self._last
        # Far beyond the last step its polynomial is no guide; the rates at its end are.
        ahead = 1.0 + self.c * (dt / last) if dt <= 1.5 * last else np.ones(self.stages)
        return (ahead[:, None] ** self._powers) @ (self._fit @ rates)

    def _pieces(
        self, state: State, places: Float[np.ndarray, "n D"], rates: Float[np.ndarray, "s D"], dt: float
    ) -> int:
        """How many pieces a step needs to resolve bounces off limits, whose wells are steep, and fast spinning."""
        fastest = self.system.bounce_rate(state.poses, places)
        turn = float((self.system.turning @ np.abs(rates).max(axis=0)).max(initial=0.0))
        wanted = dt * max(fastest / BOUNCE_PHASE, turn / LARGEST_TURN)
        if not wanted < 1e6:
            raise Diverged("something spins faster than any step can follow")
        # Pieces that are a little too long are not worth cutting again.
        return min(MAX_PIECES, max(1, math.ceil(wanted - 0.25)))

    def _in_pieces(self, state: State, dt: float, count: int, depth: int) -> State:
        for _ in range(count):
            state = self._step(state, dt / count, depth + 1)
        return state

    def _solve(self, state: State, dt: float, guess: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Stage rates and momentum rates, or ``None`` when Newton's method fails."""
        found, rates = None, None
        if dt in self._inverses:
            found, rates = self._iterate(state, dt, guess)
        if found is None:
            self._build_inverse(state, dt, guess)
            found, rates = self._iterate(state, dt, guess)
        for _ in range(MAX_REBUILDS):
            if found is not None or rates is None:
                break
            self._build_inverse(state, dt, rates)
            found, rates = self._iterate(state, dt, rates)
        return found

    def _iterate(
        self, state: State, dt: float, rates: np.ndarray
    ) -> tuple[tuple[np.ndarray, np.ndarray] | None, np.ndarray | None]:
        """Newton's method with the matrix at hand: the solution, if found, and the rates reached, if sensible."""
        inverse = self._inverses[dt]
        times, last = state.time + dt * self.c, np.inf
        for iteration in range(MAX_ITERATIONS):
            q = state.q + dt * (self.a @ rates)
            p, p_rate = self.system.rates(state.poses, q, rates, times)
            start = time.perf_counter()
            residual = p - state.p - dt * (self.a @ p_rate)
            change = (inverse @ residual.reshape(-1)).reshape(rates.shape)
            size, scale = float(np.abs(change).max()), float(np.abs(rates).max()) + 1e-3 / dt
            self.system.clock.add("solve", start)
            ratio = size / last if iteration else 0.3
            if not np.isfinite(size) or ratio > 2.0:
                return None, None
            # Light parts far from the base make the masses ill-conditioned: round-off then sets a floor to the changes.
            if ratio > 0.3 and size <= 1e-7 * scale:
                return (rates, p_rate), rates
            rates = rates - change
            if size * ratio <= self.tolerance * scale and size <= 1e3 * self.tolerance * scale:
                if iteration >= SLOW_ITERATIONS:
                    del self._inverses[dt]
                return (rates, p_rate), rates
            if ratio > 0.5 and iteration > 1:
                return None, rates
            last = size
        return None, rates

    def _build_inverse(self, state: State, dt: float, rates: np.ndarray) -> None:
        """Newton's matrix from finite differences at every stage, all in one batch."""
        start = time.perf_counter()
        count, dim, step = self.stages, self.system.dim, 1e-6
        width = 2 * dim + 1
        shift, turn = np.zeros((width, dim)), np.zeros((width, dim))
        shift[1 : dim + 1] = turn[dim + 1 :] = step * np.eye(dim)
        q = (state.q + dt * (self.a @ rates))[:, None] + shift
        times = np.repeat(state.time + dt * self.c, width)
        p, f = self.system.rates(state.poses, q.reshape(-1, dim), (rates[:, None] + turn).reshape(-1, dim), times)
        slopes = [
            (v[:, 1:] - v[:, :1]).swapaxes(1, 2) / step
            for v in (p.reshape(count, width, dim), f.reshape(count, width, dim))
        ]
        p_q, p_v, f_q, f_v = slopes[0][..., :dim], slopes[0][..., dim:], slopes[1][..., :dim], slopes[1][..., dim:]
        matrix = dt * np.einsum("ij,iab->iajb", self.a, p_q) - dt * np.einsum("ij,jab->iajb", self.a, f_v)
        matrix -= dt * dt * np.einsum("il,lj,lab->iajb", self.a, self.a, f_q)
        for i in range(count):
            matrix[i, :, i] += p_v[i]
        flat = matrix.reshape(count * dim, count * dim)
        if not np.isfinite(flat).all():
            flat = np.eye(count * dim)
        if len(self._inverses) > MAX_PIECES:
            self._inverses.clear()
        try:
            self._inverses[dt] = np.linalg.inv(flat)
        except np.linalg.LinAlgError:
            self._inverses[dt] = np.linalg.pinv(flat, rcond=1e-12)
        self.system.clock.add("newton_matrix", start)
