"""Gauss collocation on Hamilton's equations: symplectic, symmetric, of order twice the number of stages.

One stage is the implicit midpoint rule. The unknowns are the rates V_i at the stages: with Q_i = q0 + h Σ a_ij V_j they
must satisfy p(Q_i, V_i) = p0 + h Σ a_ij ṗ(Q_j, V_j). This is the discrete variational principle with Gauss
quadrature. Newton's matrix comes from finite differences at the middle stage; it is kept as long as it converges
quickly, and learns from every iteration.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from neurok.dynamics.reduced.equations import TreeMechanics
from neurok.dynamics.reduced.system import State, System, bounce_rate, solve_mass
from neurok.dynamics.reduced.tree_loops import TICKS as TREE_TICKS
from neurok.dynamics.reduced.tree_loops import gauss_step, tree_of

TOLERANCE = 1e-9
"""Relative change of the rates at which Newton's method has converged; this and the next were found on the built-in
objects."""

ROUGH_TOLERANCE = 1e-5
"""The same where wells of limits are met: these set the error of a piece, far above this."""

MAX_ITERATIONS = 10
"""Of Newton's method with one matrix ..."""

MAX_REBUILDS = 4
"""... and new matrices in one piece of a step."""

SLOW_ITERATIONS = 4
"""A matrix that needed so many iterations is not kept."""

TICKS = 1024
"""Pieces of a step are powers of two of these; none is shorter than one."""

NOT_WORTH = 1.5
"""A piece that turned out to be too long by less than this is not taken again."""

BOUNCE_PHASE = 1.5
"""Largest phase [rad] that coordinates beyond their limits may oscillate through in one piece of a step."""

EDGE = 9.0
"""How much stiffer a well counts for a piece that passes its edge, where it is not smooth."""

LARGEST_TURN = 0.8
"""Largest turn [rad] of any piece of an object in one piece of a step."""

REFERENCE_TOLERANCE = 1e-10
"""Relative error of a step that the Runge–Kutta solver allows itself."""

MAX_EVALUATIONS = 5_000
"""Of the forces in one time step of it: the built-in objects need some dozens; a step that wants more never ends."""


class Slopes(NamedTuple):
    """How momenta p and their rates of change f follow rates v and coordinates q; wells of limits left out of f_q."""

    p_v: Float[np.ndarray, "D D"]
    """The masses."""

    ease: Float[np.ndarray, "D D"]
    """Their inverse."""

    p_q: Float[np.ndarray, "D D"]
    f_v: Float[np.ndarray, "D D"]
    f_q: Float[np.ndarray, "D D"]


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
    _last: tuple[Float[np.ndarray, "s D"], float] | None = field(default=None, init=False)
    """Stage rates and length of the last step."""

    _slopes: Slopes | None = field(default=None, init=False)
    _tree: Any = field(default=None, init=False)
    """Pose of the base, the body as arrays, and what compiled steps remember."""

    _matrices: dict[float, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict, init=False)
    """Newton's matrix and its inverse for each length of step in use, since these slopes were found."""

    def __post_init__(self) -> None:
        self.a, self.b, self.c = gauss_tableau(self.stages)
        self._ahead = np.vstack([np.zeros(self.stages), self.a, self.b])
        self._powers = np.arange(self.stages)
        self._fit = np.linalg.inv(self.c[:, None] ** self._powers)

    def kick(self) -> None:
        """Forget the past: the momenta were changed from outside."""
        self._last = None

    def change(self, system: System) -> None:
        """Go on with other loads."""
        self.system, self._last, self._slopes, self._tree = system, None, None, None
        self._matrices.clear()

    def step(self, state: State, dt: float) -> State:
        """The state ``dt`` later; in pieces where limits are met, things spin fast or the equations are too stiff."""
        return self._as_tree(state, dt) or self._in_pieces(state, dt)

    def _as_tree(self, state: State, dt: float) -> State | None:
        """The state ``dt`` later of one body of rigid parts on which nothing but gravity, limits and damping acts;
        ``None`` for others, and where a fixed point does not find it."""
        member = self.system.members[0]
        if self.stages != 3 or len(self.system.members) > 1 or not isinstance(member.mechanics, TreeMechanics):
            return None
        if self._tree is None or self._tree[0] is not state.poses[0]:
            memory = np.zeros((self.stages, self.system.dim)), np.array([TREE_TICKS, 0.0, 0.0])
            self._tree = state.poses[0], tree_of(member.mechanics, member.loads, state.poses[0]), *memory
        _, tree, last, known = self._tree
        if tree is None:
            return None
        start, q, p = time.perf_counter(), state.q.copy(), state.p.copy()
        if self._last is None:
            known[1] = 0.0
        is_found = gauss_step(tree, (self.a, self.b, self.c, self._fit), q, p, dt, last, known)
        self.system.clock.add("kinematics", start)
        self._last = (last, dt) if is_found else None
        return State(state.poses, q, p, state.time + dt) if is_found else None

    def _in_pieces(self, state: State, dt: float) -> State:
        done = 0
        while done < TICKS:
            ticks = 1 << (TICKS - done).bit_length() - 1
            state, ticks = self._piece(state, dt, ticks)
            done += ticks
        return state

    def _piece(self, state: State, dt: float, ticks: int) -> tuple[State, int]:
        """The state after the longest piece, of at most so many ticks of a step, that can be trusted; and its ticks."""
        while True:
            span = dt * ticks / TICKS
            guess = self._predict(state, span)
            if ticks > 1 and self._roughness(state, guess, span) > 1.0:
                ticks //= 2
                continue
            with np.errstate(over="ignore", invalid="ignore"):
                found = self._solve(state, span, guess)
            if found is None:
                self._last = self._slopes = None
                if ticks == 1:
                    raise Diverged("the equations of a step could not be solved")
            elif ticks == 1 or self._roughness(state, found[0], span) <= NOT_WORTH:
                return self._advanced(state, span, *found), ticks
            ticks //= 2

    def _advanced(self, state: State, dt: float, rates: np.ndarray, momentum_rates: np.ndarray) -> State:
        self._last = (rates, dt)
        q, p = state.q + dt * (self.b @ rates), state.p + dt * (self.b @ momentum_rates)
        return self.system.rebase(State(state.poses, q, p, state.time + dt))

    def _predict(self, state: State, dt: float) -> Float[np.ndarray, "s D"]:
        """Stage rates guessed from the last step."""
        if self._last is None:
            return np.tile(self.system.velocity(state), (self.stages, 1))
        rates, last = self._last
        # Far beyond the last step its polynomial is no guide; the rates at its end are.
        ahead = 1.0 + self.c * (dt / last) if dt <= 2.1 * last else np.ones(self.stages)
        return (ahead[:, None] ** self._powers) @ (self._fit @ rates)

    def _roughness(self, state: State, rates: Float[np.ndarray, "s D"], dt: float) -> float:
        """How much too long a step is to resolve bounces off limits, whose wells are steep, and fast spinning."""
        turn = float((self.system.turning @ np.abs(rates).max(axis=0)).max(initial=0.0))
        wells = self.system.well_stiffness(state.q + dt * (self._ahead @ rates))
        fastest = 0.0
        if wells.any():
            slopes = self._slopes or self._find_slopes(state, dt, rates)
            # The edge of a well, where it is not smooth, must be met with more care than its depth.
            edge = np.where((wells == 0).any(axis=0), EDGE, 1.0)
            fastest = bounce_rate(slopes.ease, edge * wells.max(axis=0), BOUNCE_PHASE / dt)
        rough = dt * max(fastest / BOUNCE_PHASE, turn / LARGEST_TURN)
        if not rough < 1e6:
            raise Diverged("something spins faster than any step can follow")
        return rough

    def _solve(self, state: State, dt: float, guess: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Stage rates and momentum rates, or ``None`` when Newton's method fails."""
        found, rates = None, None
        if self._slopes is not None:
            found, rates = self._iterate(state, dt, guess, self._slopes)
        if found is None:
            found, rates = self._iterate(state, dt, guess, self._find_slopes(state, dt, guess))
        for _ in range(MAX_REBUILDS):
            if found is not None or rates is None:
                break
            found, rates = self._iterate(state, dt, rates, self._find_slopes(state, dt, rates))
        return found

    def _iterate(
        self, state: State, dt: float, rates: np.ndarray, slopes: Slopes
    ) -> tuple[tuple[np.ndarray, np.ndarray] | None, np.ndarray | None]:
        """Newton's method with the matrix at hand: the solution, if found, and the rates reached, if sensible."""
        wells = self.system.well_stiffness(state.q + dt * (self.a @ rates))
        inverse = self._inverse(dt, wells, slopes)
        times, last = state.time + dt * self.c, np.inf
        tolerance = ROUGH_TOLERANCE if wells.any() else TOLERANCE
        before = way = np.zeros(rates.size)
        for iteration in range(MAX_ITERATIONS):
            q = state.q + dt * (self.a @ rates)
            p, p_rate = self.system.rates(state.poses, q, rates, times)
            start = time.perf_counter()
            residual = (p - state.p - dt * (self.a @ p_rate)).reshape(-1)
            if iteration:
                _learn(inverse, way, residual - before)
            way, before = -(inverse @ residual), residual
            size, scale = float(np.abs(way).max()), float(np.abs(rates).max()) + 1e-3 / dt
            self.system.clock.add("solve", start)
            ratio = size / last if iteration else 0.3
            if not np.isfinite(size) or ratio > 2.0:
                return None, None
            # Light parts far from the base make the masses ill-conditioned: round-off then sets a floor to the changes.
            if ratio > 0.3 and size <= 1e-7 * scale:
                return (rates, p_rate), rates
            change = way.reshape(rates.shape)
            rates = rates + change
            if size * ratio <= tolerance * scale and size <= 1e3 * tolerance * scale:
                if iteration >= SLOW_ITERATIONS:
                    self._slopes = None
                moved = dt * (self.a @ change)
                return (rates, p_rate + change @ slopes.f_v.T + moved @ slopes.f_q.T - wells * moved), rates
            if ratio > 0.5 and iteration > 1:
                return None, rates
            last = size
        return None, rates

    def _find_slopes(self, state: State, dt: float, rates: np.ndarray) -> Slopes:
        """How momenta and their rates change with coordinates and rates, by differences at the middle stage."""
        dim, step, middle = self.system.dim, 1e-6, self.stages // 2
        q, qdot = state.q + dt * (self.a[middle] @ rates), rates[middle]
        moved = np.concatenate([np.zeros((1, dim)), step * np.eye(dim)])
        still = np.zeros_like(moved)
        if self.system.feels_rates:
            moved, still = np.concatenate([moved, still[1:]]), np.concatenate([still, moved[1:]])
        times = np.full(len(moved), state.time + dt * self.c[middle])
        with self.system.clock.during("newton_matrix"):
            values = self.system.rates(state.poses, q + moved, qdot + still, times)
        start = time.perf_counter()
        p, f = ((value[1:] - value[0]).T / step for value in values)
        mass = self.system.mass_matrix(self.system.motions(state.poses, q[None], qdot[None]))
        # Momenta are derivatives of the kinetic energy by rates, and its forces those by coordinates.
        f_v = f[:, dim:] if self.system.feels_rates else p.T
        self._slopes = Slopes(
            mass, _inverted(mass), p[:, :dim], f_v, f[:, :dim] + np.diag(self.system.well_stiffness(q))
        )
        self._matrices.clear()
        self.system.clock.add("newton_matrix", start)
        return self._slopes

    def _inverse(self, dt: float, wells: Float[np.ndarray, "s D"], slopes: Slopes) -> Float[np.ndarray, "sD sD"]:
        """Inverse of Newton's matrix for steps of a length, given the stiffness of wells at each stage.

        Without wells it is kept, with all that it learned; wells rise and fall too quickly for that.
        """
        start = time.perf_counter()
        if dt not in self._matrices:
            matrix = self._matrix(dt, slopes)
            self._matrices[dt] = (matrix, _inverted(matrix))
        matrix, inverse = self._matrices[dt]
        if wells.any():
            matrix, (count, dim) = matrix.copy(), wells.shape
            pulls = dt * dt * np.einsum("il,lj,ld->ijd", self.a, self.a, wells)
            np.einsum("idjd->ijd", matrix.reshape(count, dim, count, dim))[...] += pulls
            inverse = _inverted(matrix)
        self.system.clock.add("newton_matrix", start)
        return inverse

    def _matrix(self, dt: float, slopes: Slopes) -> Float[np.ndarray, "sD sD"]:
        """Newton's matrix where no well is met."""
        matrix = np.kron(np.eye(self.stages), slopes.p_v) + np.kron(dt * self.a, slopes.p_q - slopes.f_v)
        return matrix - np.kron(dt * dt * (self.a @ self.a), slopes.f_q)


def _inverted(matrix: Float[np.ndarray, "n n"]) -> Float[np.ndarray, "n n"]:
    if not np.isfinite(matrix).all():
        return np.eye(len(matrix))
    try:
        return np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        return np.linalg.pinv(matrix, rcond=1e-12)


def _learn(inverse: Float[np.ndarray, "n n"], way: Float[np.ndarray, " n"], change: Float[np.ndarray, " n"]) -> None:
    """Broyden's update in place: the least change that explains what the last step did to the residual."""
    seen = inverse @ change
    weight = float(way @ seen)
    if abs(weight) > 0.1 * float(way @ way):
        inverse += np.outer((way - seen) / weight, way @ inverse)


@dataclass(eq=False)
class ReferenceStepper:
    """Hamilton's equations by adaptive Runge–Kutta of order 8: slow and accurate, to check the others against."""

    system: System

    def kick(self) -> None:
        """Nothing is remembered between steps."""

    def change(self, system: System) -> None:
        """Go on with other loads."""
        self.system = system

    def step(self, state: State, dt: float) -> State:
        from scipy.integrate import solve_ivp

        dim, left = self.system.dim, MAX_EVALUATIONS

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
            rtol=REFERENCE_TOLERANCE,
            atol=REFERENCE_TOLERANCE * 1e-2,
        )
        if not found.success or not np.isfinite(found.y[:, -1]).all():
            raise Diverged(f"the Runge–Kutta solver gave up ({found.message})")
        return self.system.rebase(State(state.poses, found.y[:dim, -1], found.y[dim:, -1], end))
