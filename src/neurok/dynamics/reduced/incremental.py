"""Implicit Euler as a minimisation: inertia plus potential plus contact, by projected Newton with line search.

Each step minimises ½‖F(q) − (x + h ẋ)‖² / h² weighted by mass, plus the energies, contact and friction. Stiff forces
stay stable at long steps; the price is that motion is damped. A step that fails is taken again as two of half its
length. What has come to rest is left alone until something happens to it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float

from neurok.dynamics.condition import World
from neurok.dynamics.reduced.build import Bound, gravity_of
from neurok.dynamics.reduced.collocation import Diverged
from neurok.dynamics.reduced.config import ReducedConfig
from neurok.dynamics.reduced.contact import MAX_NEWTON, MAX_SEARCH, Rows, rebound
from neurok.dynamics.reduced.dry_friction import DryFriction, dry_friction_of
from neurok.dynamics.reduced.loads import Hold, Push, WindLoad
from neurok.dynamics.reduced.record import DepthGauge
from neurok.dynamics.reduced.search import ContactSearch, Extent
from neurok.dynamics.reduced.shapes import shape_of, touches_between, touches_of
from neurok.dynamics.reduced.system import State, System, solve_mass, solve_positive

TOLERANCE = 1e-10
"""Change of the coordinates, as a share of the smallest object's size, at which a step has converged."""

LAST_CHANGE = 3e-6
"""Full steps of Newton's method that are as short as this are the last, in the same measure."""

LAST_SHARE = 3e-4
"""So are those that are this share of what the step moves."""

LOST = 1e-2
"""A step that has not converged and whose last change is above this, in the same measure, has failed."""

SAME_MASS = 4
"""Iterations of Newton's method that keep the masses at the start of a step: they hardly change within it."""

FRICTION_PASSES = 2
"""Friction follows the normal forces of the pass before."""

MORE_PASSES = 4
"""At most so many where points come inside a solid unforeseen: each pass takes in those of the pass before."""

MAX_HALVINGS = 6
"""How often a step that fails is halved before a run counts as lost."""

ENERGY_GROWTH = 1.3
"""A step that multiplies the kinetic energy it may have with more than this has gone astray and is taken in halves; one
that gains less is slowed down."""

REST_BOUNCE = 1e-3
"""Things that would bounce no higher than this share of the size do not bounce, or they would never rest."""

REST_SPEED = 2e-3
"""Nothing is seen to move below this speed, as a share of sqrt(gravity times size)."""

REST_SECONDS = 0.2
"""What has been so slow for so long is at rest [s]."""


@dataclass(eq=False)
class Rest:
    """Watches how fast things are."""

    slow: float
    """Speed below which nothing is seen to move [length/s]."""

    slow_impact: float
    """Speed below which nothing bounces [length/s]."""

    carried: Float[np.ndarray, " D"]
    """Mass that each coordinate moves."""

    quiet: float = 0.0
    """How long everything has been slow [s]."""

    @staticmethod
    def of(system: System, size: float, gravity: Float[np.ndarray, "3"]) -> Rest:
        masses = [np.maximum(member.mechanics.carried, 1e-300) for member in system.members]
        fall = float(np.linalg.norm(gravity))
        return Rest(
            REST_SPEED * float(np.sqrt(fall * size)),
            float(np.sqrt(2.0 * fall * REST_BOUNCE * size)),
            np.concatenate(masses),
        )

    def wake(self) -> None:
        """Something has happened."""
        self.quiet = 0.0

    def asleep(self, system: System, time: float) -> bool:
        """Whether nothing moves and nothing is about to be moved."""
        if self.quiet <= REST_SECONDS:
            return False
        return self.is_left_alone(system, time)

    def is_left_alone(self, system: System, time: float) -> bool:
        """Whether nothing from outside moves things, now or later."""
        return not any(_acts(load, time) for member in system.members for load in member.loads)

    @property
    def unseen(self) -> float:
        """Kinetic energy of everything at a speed that is not seen."""
        return 0.5 * float(self.carried.max(initial=0.0)) * self.slow**2

    def watch(self, inertia: Float[np.ndarray, " D"], qdot: Float[np.ndarray, " D"], dt: float) -> None:
        """Take note of a step: inertia and rate of each coordinate."""
        speeds = np.abs(qdot) * np.sqrt(np.maximum(inertia, 0.0) / self.carried)
        self.quiet = self.quiet + dt if speeds.max(initial=0.0) <= self.slow else 0.0


def _acts(load: Any, time: float) -> bool:
    """Whether a load changes with time, now or later."""
    if isinstance(load, Push):
        push = load.force_over_time
        return bool(time <= push.times.max() or push.at(time).any())
    if isinstance(load, WindLoad):
        return time < load.until
    return isinstance(load, Hold) and load.name != "pin" and time < load.end


@dataclass(eq=False)
class IncrementalStepper:
    """Takes dissipative steps; holds the contacts between them."""

    system: System
    search: ContactSearch
    gravity: Float[np.ndarray, "3"]
    size: float
    """Of the scene's smallest object: what counts as a small change."""

    rest: Rest
    frictions: tuple[DryFriction | None, ...] = ()
    """Of the joints and of rolling, of each object."""

    gauge: DepthGauge | None = None
    touched: bool = field(default=False, init=False)
    """Whether anything has touched anything."""

    shortest: float = field(default=math.inf, init=False)
    """The shortest step that was tried [s]."""

    rows: Rows = field(init=False)
    """The contacts of the present step."""

    _shortest_dt: float = field(default=0.0, init=False)
    _inertia: Float[np.ndarray, " D"] = field(default_factory=lambda: np.zeros(0), init=False)
    _last: Float[np.ndarray, " D"] | None = field(default=None, init=False)
    _mass: Float[np.ndarray, "D D"] = field(init=False)
    """Masses at the start of the present step."""

    _slopes: Float[np.ndarray, "C 3 D"] | None = field(default=None, init=False)
    """How contact points follow the coordinates, where Newton's method began."""

    _smooth: tuple[list[Any], float, Float[np.ndarray, " D"], Float[np.ndarray, "D D"]] | None = field(
        default=None, init=False
    )
    """A motion, and the potential and its gradient there but for contact and dry friction; and the curvature of what
    acts on coordinates alone."""

    @staticmethod
    def of(
        system: System, bounds: Sequence[Bound], world: World, state: State, config: ReducedConfig
    ) -> IncrementalStepper:
        size = min(bound.body.mesh.size for bound in bounds)
        shapes = [shape_of(bound, k, config.contact, len(bounds) == 1) for k, bound in enumerate(bounds)]
        gravity, radii = gravity_of(world, bounds[0].body), [shape.radius for shape in shapes]
        touches = touches_of(bounds, shapes, world, system, state, config.contact)
        between = partial(touches_between, bounds, shapes, world, config.contact)
        extents = tuple(Extent.of(bound.mechanics) for bound in bounds)
        search = ContactSearch(touches, size, float(np.linalg.norm(gravity)), extents, between)
        return IncrementalStepper(
            system,
            search,
            gravity,
            size,
            Rest.of(system, size, gravity),
            tuple(dry_friction_of(*each, world, config) for each in zip(bounds, radii, strict=True)),
            DepthGauge.of(bounds, search),
        )

    def __post_init__(self) -> None:
        self.change(self.system)

    def kick(self) -> None:
        """Only friction and normal forces are remembered; an impulse does not change them."""
        self.rest.wake()

    def change(self, system: System) -> None:
        """Go on with other loads."""
        self.system = system
        self.rest.wake()

    def step(self, state: State, dt: float) -> State:
        """The state ``dt`` later; in pieces where something would move far, and in halves where that fails."""
        if self.rest.asleep(self.system, state.time):
            return State(state.poses, state.q, np.zeros_like(state.p), state.time + dt)
        self._shortest_dt = 1.5 * dt * 0.5**MAX_HALVINGS
        return self._in_halves(state, dt, MAX_HALVINGS)

    def _in_halves(self, state: State, dt: float, left: int) -> State:
        self.shortest = min(self.shortest, dt)
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                return self._advance(state, dt)
        except (Diverged, np.linalg.LinAlgError) as error:
            if left == 0:
                raise Diverged(str(error)) from None
        return self._in_halves(self._in_halves(state, 0.5 * dt, left - 1), 0.5 * dt, left - 1)

    def _advance(self, state: State, dt: float) -> State:
        """One step, whole."""
        qdot, begin = self._moving(state)
        found = self._search(begin, dt)
        if self._last is None and not len(self.rows):
            # With rates half a step behind, what falls freely is where it should be.
            everyone = zip(self.system.members, begin, strict=True)
            weight = np.concatenate([motion.field_force(member.field)[0] for member, motion in everyone])
            late = State(state.poses, state.q, state.p - 0.5 * dt * weight, state.time)
            qdot, begin = self._moving(late)
        targets, self._slopes = [motion.coast(dt) for motion in begin], None
        q, known = state.q + dt * qdot, None
        if not len(self.rows) and self._last is not None:
            q = q + dt * (qdot - self._last)
        for done in range(1, MORE_PASSES + 1):
            q, motions = self._minimise(state, q, dt, targets, known)
            known = motions
            start = time.perf_counter()
            deepest, again = self.rows.measure(motions)
            self._share_load()
            again = again and done < FRICTION_PASSES
            more = None if again else self.search.find_again(found, begin, motions)
            if more is not None:
                loads = self.rows.loads
                found, self.rows, self._slopes = more, Rows.of(more, begin), None
                self.rows.loads[: len(loads)] = loads if len(loads) <= len(self.rows) else 0.0
            self.system.clock.add("contact", start)
            if more is None and not again:
                break
        self.touched |= deepest > 0
        p = self.system.momentum(motions)[0] * self._kept_rate(state, dt, begin, motions)
        return self.system.rebase(self._ended(state, dt, (begin, qdot), (q, motions, p)))

    def _ended(self, state: State, dt: float, before: tuple[Any, Any], after: tuple[Any, Any, Any]) -> State:
        """The end of a step: what rubbed has slipped, what struck bounces."""
        q, motions, p = after
        if len(self.rows):
            self.rows.finish(motions)
            step = (dt, self.gravity, self.rest.slow_impact)
            p = rebound(self.rows, self.system, before, (motions, p), step)
        for member, friction in zip(self.system.members, self.frictions, strict=True):
            if friction is not None:
                friction.finish((q - state.q)[member.where])
        if not (np.isfinite(q).all() and np.isfinite(p).all()):
            raise Diverged("a value is no longer finite")
        self._last = before[1]
        self.rest.watch(self._inertia, (q - state.q) / dt, dt)
        return State(state.poses, q, p, state.time + dt)

    def _kept_rate(self, state: State, dt: float, begin: Sequence[Any], end: Sequence[Any]) -> float:
        """What rates are multiplied with so that a step makes no energy: 1 but where poses are strongly curved."""
        if all(len(member.mechanics.part_nodes) for member in self.system.members):
            return 1.0
        old, new = (float(sum(motion.kinetic[0] for motion in each)) for each in (begin, end))
        if new <= old + self.rest.unseen or not self.rest.is_left_alone(self.system, state.time):
            return 1.0
        fell = self.system.stored(begin, state.time) - self.system.stored(end, state.time + dt)
        if new <= old + max(fell, 0.0) + self.rest.unseen:
            return 1.0
        if new > ENERGY_GROWTH * (old + max(fell, 0.0)) + self.rest.unseen and dt > self._shortest_dt:
            raise Diverged("energy appeared from nowhere")
        return float(np.sqrt(max(old + fell, 0.0) / new))

    def _moving(self, state: State) -> tuple[np.ndarray, list[Any]]:
        """Rates of the coordinates, and the motion with them."""
        still = self.system.motions(state.poses, state.q[None], np.zeros_like(state.q[None]))
        mass = self.system.mass_matrix(still)
        qdot, self._inertia, self._mass = solve_mass(mass, state.p), mass.diagonal(), mass
        everyone = zip(self.system.members, still, strict=True)
        return qdot, [motion.with_rates(qdot[None, member.where]) for member, motion in everyone]

    def _search(self, motions: list[Any], dt: float) -> list[Any]:
        """Find what may touch within a step."""
        start = time.perf_counter()
        found = self.search.find(motions, dt)
        self.rows = Rows.of(found, motions)
        self._share_load()
        self.system.clock.add("contact", start)
        return found

    def _share_load(self) -> None:
        for index, friction in enumerate(self.frictions):
            if friction is not None:
                friction.press(self.rows.weight_on(index))

    def _minimise(
        self, state: State, q: np.ndarray, dt: float, targets: list[Any], motions: list[Any] | None
    ) -> tuple[np.ndarray, list[Any]]:
        """Coordinates that minimise the incremental potential, and the motion there, from a first guess."""
        value, gradient, motions = self._potential(state, q, dt, targets, motions)
        for iteration in range(MAX_NEWTON):
            if iteration >= SAME_MASS:
                self._mass = self.system.mass_matrix(motions)
                self._slopes = None
            if self._slopes is None:
                self._slopes = self.rows.jacobian(motions, self.system)
            matrix = self._smooth_curvature(state, q, dt, motions)
            start = time.perf_counter()
            if len(self.rows):
                change = self.rows.descent(matrix, gradient, self._slopes)
            else:
                change = -solve_positive(matrix, gradient)
            self.system.clock.add("solve", start)
            if not np.isfinite(change).all():
                raise Diverged("a value is no longer finite")
            reach = float(np.abs(change).max())
            if reach <= TOLERANCE * self.size:
                return q, motions
            if reach <= max(LAST_CHANGE * self.size, LAST_SHARE * np.abs(q - state.q).max()):
                # Newton's method squares its error: after a step this short, the next would change nothing.
                q = q + change
                return q, self.system.motions(state.poses, q[None], (q - state.q)[None] / dt)
            slope, scale = float(gradient @ change), 1.0
            for _ in range(MAX_SEARCH):
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
        if reach > LOST * self.size:
            raise Diverged("the minimisation of a step did not converge")
        return q, motions

    def _potential(
        self, state: State, q: np.ndarray, dt: float, targets: list[Any], motions: list[Any] | None = None
    ) -> tuple[float, np.ndarray, list[Any]]:
        """Incremental potential, its gradient, and the motion, which may be known already."""
        start = time.perf_counter()
        moved = q - state.q
        if motions is None:
            motions = self.system.motions(state.poses, q[None], moved[None] / dt)
        start = self.system.clock.add("kinematics", start)
        if self._smooth is None or self._smooth[0] is not motions:
            self._smooth = motions, *self._smooth_potential(motions, state.time + dt, dt, targets)
        value, gradient = self._smooth[1], self._smooth[2].copy()
        for member, friction in zip(self.system.members, self.frictions, strict=True):
            if friction is not None:
                energy, force = friction.evaluate(moved[member.where])
                value, gradient[member.where] = value + energy, gradient[member.where] + force
        start = self.system.clock.add("forces", start)
        if len(self.rows):
            energy, slope = self.rows.evaluate(motions, self.system)
            value, gradient = value + energy, gradient + slope
        self.system.clock.add("contact", start)
        return value, gradient, motions

    def _smooth_potential(
        self, motions: list[Any], moment: float, dt: float, targets: list[Any]
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """The same without contact and dry friction, which change from pass to pass; and the curvature of what acts on
        coordinates alone."""
        value, gradient, times = 0.0, np.empty(self.system.dim), np.array([moment])
        matrix = np.zeros((self.system.dim, self.system.dim))
        for member, motion, target in zip(self.system.members, motions, targets, strict=True):
            (mine, others), where = member.parts, member.where
            energy, force = motion.drawn(target, dt, member.field)
            energy += mine.add(motion.q[0], motion.qdot[0], dt, force, matrix[where, where])
            for load in others:
                energy += float(load.energy(motion, times)[0])
                force = force - load.force(motion, times)[0]
            value, gradient[where] = value + energy, force
        return value, gradient, matrix

    def _smooth_curvature(self, state: State, q: np.ndarray, dt: float, motions: list[Any]) -> Float[np.ndarray, "D D"]:
        """A positive approximation of the curvature of all but the contact."""
        start = time.perf_counter()
        assert self._smooth is not None
        matrix = self._mass / dt**2 + self._smooth[3]
        unknown = False
        for member, motion, friction in zip(self.system.members, motions, self.frictions, strict=True):
            block = matrix[member.where, member.where]
            for load in member.parts[1]:
                bend = load.curvature(motion, dt)
                unknown |= bend is None
                if bend is not None:
                    block += bend
            if friction is not None:
                block += friction.curvature((q - state.q)[member.where])
        if unknown:
            matrix += self._load_curvature(state, q, dt)
        self.system.clock.add("newton_matrix", start)
        return matrix

    def _load_curvature(self, state: State, q: np.ndarray, dt: float) -> Float[np.ndarray, "D D"]:
        """Differences of the forces of loads without a closed form, made symmetric and positive."""
        dim, step = self.system.dim, 1e-6
        rows = q + np.concatenate([np.zeros((1, dim)), step * np.eye(dim)])
        times = np.full(dim + 1, state.time + dt)
        out = np.zeros((dim, dim))
        motions = self.system.motions(state.poses, rows, (rows - state.q) / dt)
        for member, motion in zip(self.system.members, motions, strict=True):
            for load in member.parts[1]:
                if load.curvature(motion, dt) is None:
                    forces = load.force(motion, times)
                    out[:, member.where] -= (forces[1:] - forces[:1]) / step
        values, vectors = np.linalg.eigh(0.5 * (out + out.T))
        return (vectors * np.maximum(values, 0.0)) @ vectors.T
