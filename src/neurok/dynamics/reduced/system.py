"""Several objects as one mechanical system: coordinates side by side."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.linalg.lapack import dposv

from neurok.dynamics.reduced.equations import Mechanics, Pose
from neurok.dynamics.reduced.loads import CoordinateLoads, LimitWell, UniformField


@dataclass(frozen=True, eq=False)
class State:
    """A moment of the whole scene; momenta rather than rates are carried from step to step."""

    poses: tuple[Pose, ...]
    q: Float[np.ndarray, " D"]
    p: Float[np.ndarray, " D"]
    time: float = 0.0
    qdot: Float[np.ndarray, " D"] | None = None
    """Rates, where they are known besides the momenta."""


@dataclass(frozen=True, eq=False)
class Member:
    """One object of the system and what acts on it."""

    mechanics: Mechanics
    loads: tuple[Any, ...]
    where: slice
    """Its coordinates among those of the system."""

    @cached_property
    def field(self) -> Float[np.ndarray, "3"]:
        """Acceleration of gravity."""
        return sum((load.acceleration for load in self.loads if isinstance(load, UniformField)), np.zeros(3))

    @cached_property
    def parts(self) -> tuple[CoordinateLoads, tuple[Any, ...]]:
        """What acts on coordinates alone, and all other loads but gravity."""
        return CoordinateLoads.of(
            [load for load in self.loads if not isinstance(load, UniformField)], self.mechanics.dim
        )


@dataclass(eq=False)
class Clock:
    """Seconds spent on each kind of work; nothing is counted twice."""

    seconds: dict[str, float] = field(default_factory=dict)
    _purpose: str | None = field(default=None, init=False)

    def add(self, name: str, since: float) -> float:
        now, name = time.perf_counter(), self._purpose or name
        self.seconds[name] = self.seconds.get(name, 0.0) + now - since
        return now

    @contextmanager
    def during(self, purpose: str) -> Iterator[None]:
        """Whatever is done meanwhile counts for this."""
        self._purpose = purpose
        try:
            yield
        finally:
            self._purpose = None


@dataclass(frozen=True, eq=False)
class System:
    """All objects of a scene. Contact between them lives in the integrator that can take it."""

    members: tuple[Member, ...]
    clock: Clock = field(default_factory=Clock)

    @property
    def dim(self) -> int:
        return self.members[-1].where.stop

    @cached_property
    def turning(self) -> Float[np.ndarray, "N D"]:
        """1 where a coordinate turns a piece of some object."""
        rows = [member.mechanics.turning for member in self.members]
        out = np.zeros((sum(len(block) for block in rows), self.dim))
        start = 0
        for block, member in zip(rows, self.members, strict=True):
            out[start : start + len(block), member.where] = block
            start += len(block)
        return out

    @cached_property
    def limits(self) -> tuple[Float[np.ndarray, " D"], Float[np.ndarray, " D"], Float[np.ndarray, " D"]]:
        """Where the wells of limited coordinates begin to rise, and how steeply: stiffness per depth."""
        low, high, steepness = np.full(self.dim, -np.inf), np.full(self.dim, np.inf), np.zeros(self.dim)
        for member in self.members:
            for load in member.loads:
                if isinstance(load, LimitWell):
                    low[member.where], high[member.where] = load.lower, load.upper
                    steepness[member.where] = 2.0 * load.steepness
        return low, high, steepness

    @cached_property
    def feels_rates(self) -> bool:
        """Whether some load depends on how fast things move."""
        return any(load.feels_rates for member in self.members for load in member.loads)

    def well_stiffness(self, q: Float[np.ndarray, "*n D"]) -> Float[np.ndarray, "*n D"]:
        """Stiffness of the wells of the limits; 0 inside the limits."""
        low, high, steepness = self.limits
        return steepness * np.maximum(np.maximum(low - q, q - high), 0.0)

    def motions(self, poses: Sequence[Pose], q: Float[np.ndarray, "B D"], qdot: Float[np.ndarray, "B D"]) -> list[Any]:
        """The motion of each object."""
        return [
            member.mechanics.motion(pose, q[:, member.where], qdot[:, member.where])
            for member, pose in zip(self.members, poses, strict=True)
        ]

    def momentum(self, motions: Sequence[Any]) -> Float[np.ndarray, "B D"]:
        return _side_by_side([motion.momentum for motion in motions])

    def load_forces(self, motions: Sequence[Any], times: Float[np.ndarray, " B"]) -> Float[np.ndarray, "B D"]:
        """Generalised forces of all loads."""
        out = []
        for member, motion in zip(self.members, motions, strict=True):
            total = np.zeros_like(motion.q)
            for load in member.loads:
                total = total + load.force(motion, times)
            out.append(total)
        return _side_by_side(out)

    def stored(self, motions: Sequence[Any], moment: float) -> float:
        """Energy of all loads, external ones included; of the first moment."""
        total, times = 0.0, np.array([moment])
        for member, motion in zip(self.members, motions, strict=True):
            mine, others = member.parts
            still = np.zeros((member.mechanics.dim + 2, member.mechanics.dim))
            total += float(motion.field_energy(member.field)[0]) + mine.add(
                motion.q[0], still[0], 1.0, still[1], still[2:]
            )
            total += sum(float(load.energy(motion, times)[0]) for load in others)
        return total

    def rates(
        self, poses: Sequence[Pose], q: Float[np.ndarray, "B D"], qdot: Float[np.ndarray, "B D"], times: np.ndarray
    ) -> tuple[Float[np.ndarray, "B D"], Float[np.ndarray, "B D"]]:
        """Momenta and their rates of change."""
        start = time.perf_counter()
        motions = self.motions(poses, q, qdot)
        momentum = self.momentum(motions)
        inertial = _side_by_side([motion.kinetic_force for motion in motions])
        start = self.clock.add("kinematics", start)
        forces = self.load_forces(motions, times)
        self.clock.add("forces", start)
        return momentum, inertial + forces

    def mass_matrix(self, motions: Sequence[Any]) -> Float[np.ndarray, "D D"]:
        """Of the first moment of the batch."""
        if len(motions) == 1:
            return motions[0].mass_matrices()[0]
        out = np.zeros((self.dim, self.dim))
        for member, motion in zip(self.members, motions, strict=True):
            out[member.where, member.where] = motion.mass_matrices()[0]
        return out

    def velocity(self, state: State) -> Float[np.ndarray, " D"]:
        """Rates of the coordinates that belong to the momenta."""
        if not self.dim:
            return np.zeros(0)
        motions = self.motions(state.poses, state.q[None], np.zeros_like(state.q[None]))
        everyone = zip(self.members, motions, strict=True)
        return np.concatenate([solve_mass(each.mass_matrices()[0], state.p[member.where]) for member, each in everyone])

    def rebase(self, state: State) -> State:
        """The same moment with all free bases back at the origin of their charts."""
        poses, q, p = [], state.q.copy(), state.p.copy()
        for member, pose in zip(self.members, state.poses, strict=True):
            new, q[member.where], p[member.where] = member.mechanics.rebase(pose, q[member.where], p[member.where])
            poses.append(new)
        return State(tuple(poses), q, p, state.time)

    def energies(self, state: State, qdot: Float[np.ndarray, " D"]) -> dict[str, float]:
        """Kinetic energy and every potential, in internal units."""
        out = {"kinetic": 0.0}
        times = np.array([state.time])
        for member, motion in zip(self.members, self.motions(state.poses, state.q[None], qdot[None]), strict=True):
            out["kinetic"] += float(motion.kinetic[0])
            for load in member.loads:
                if load.is_potential:
                    out[load.name] = out.get(load.name, 0.0) + float(load.energy(motion, times)[0])
        return out


def bounce_rate(ease: Float[np.ndarray, "D D"], stiffness: Float[np.ndarray, " D"], slow: float = 0.0) -> float:
    """Fastest oscillation [rad/s] in wells of so much stiffness, given the inverse of the masses.

    The inertia that counts is that of all coordinates together: a light part at the end of a chain bounces much
    faster than the inertia of its own joint tells. Below ``slow`` an upper bound will do.
    """
    bound = float(stiffness @ ease.diagonal())
    if not np.isfinite(bound):
        return np.inf
    if bound > slow**2:
        deep = np.flatnonzero(stiffness)
        root = np.sqrt(stiffness[deep])
        bound = float(np.linalg.eigvalsh(root[:, None] * ease[deep[:, None], deep] * root)[-1])
    return float(np.sqrt(max(bound, 0.0)))


def solve_mass(mass: Float[np.ndarray, "D D"], p: Float[np.ndarray, "D *n"]) -> Float[np.ndarray, "D *n"]:
    """Rates from momenta; coordinates that move no mass stand still."""
    if not len(p):
        return np.zeros_like(p)
    _, found, failed = dposv(mass, p)
    if not failed:
        return found.reshape(p.shape)
    try:
        out = np.linalg.solve(mass, p)
    except np.linalg.LinAlgError:
        out = np.linalg.lstsq(mass, p, rcond=1e-12)[0]
    return out


def _side_by_side(pieces: list[np.ndarray]) -> np.ndarray:
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces, axis=1)


def solve_positive(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve with a matrix that should be positive definite; the least change where round-off spoilt it."""
    _, found, failed = dposv(matrix, right)
    return np.linalg.lstsq(matrix, right, rcond=1e-12)[0] if failed else found.reshape(right.shape)
