"""Rigid parts, and particles that are held at, or drawn to, places that may move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from neurok.dynamics.particles.machine import Machine, load_kernels
from neurok.dynamics.particles.state import Law, Row

WIDTH = 64
"""Doubles per part: centre, rotation (nine), velocity, spin, inverse mass matrix (36), whether it moves freely, inertia
in its own axes (nine)."""

FREE = 54


@dataclass
class Holder:
    """A rigid part, or what of one object is held by targets."""

    part: int
    body: int
    columns: Int[np.ndarray, " n"]
    """Where its particles stand in the table."""

    free: bool
    goals: Float[np.ndarray, "n 3"] | None = None
    """Where held particles are to be when ``left`` seconds have passed."""

    left: float = 0.0

    def aims(self, machine: Machine, steps: int) -> Float[np.ndarray, "n 3"]:
        """Velocities that held particles should have; those of a rigid part are found from momentum."""
        if self.goals is None:
            return np.zeros((len(self.columns), 3), dtype=np.float32)
        t, dt = machine.table, float(machine.numbers[1])
        place = (t[Row.place, self.columns].astype(float) + t[Row.remainder, self.columns]).T
        left = self.left - float(machine.numbers[6])
        return ((self.goals - place) / max(left, max(4.0, steps) * dt)).astype(np.float32)

    def corners(self, x: Float[np.ndarray, "n 3"], gap: Float[np.ndarray, " n"], most: int) -> Int[np.ndarray, " m"]:
        """Few of many touching points: the outermost in directions all around, and the deepest."""
        if len(x) <= most:
            return np.arange(len(x))
        around = _directions(most - most // 4)
        outer = np.argmax((x - x.mean(axis=0)) @ around.T, axis=0)
        return np.unique(np.concatenate([outer, np.argsort(gap, kind="stable")[: most // 4]]))


def _directions(count: int) -> Float[np.ndarray, "n 3"]:
    """Spread evenly over the sphere (Fibonacci's spiral)."""
    i = np.arange(count) + 0.5
    z, turn = 1 - 2 * i / count, i * np.pi * (3 - np.sqrt(5))
    ring = np.sqrt(1 - z**2)
    return np.stack([ring * np.cos(turn), ring * np.sin(turn), z], axis=1)


class RigidParts:
    """The motion of all rigid parts; held sets follow them in the same numbering and never move freely."""

    def __init__(self, machine: Machine, part: Int[np.ndarray, " P"], held: int) -> None:
        """``part`` of each column of the table; ``held``: how many sets of held particles there may be."""
        self._machine = machine
        self.count = int(part.max(initial=-1)) + 1
        self.states = machine.wp.zeros(WIDTH * (self.count + held), dtype=machine.wp.float64, device="cpu")
        self.shifts = machine.wp.zeros(6 * (self.count + held), dtype=machine.wp.float64, device="cpu")
        """Room of a step: motions before it, then shifts by which overlaps are undone [m]."""
        self.start = np.zeros((self.count, 3))
        self.skins: dict[int, np.ndarray] = {}
        self._spans: Any = None
        self.holders: list[Holder] = []
        view, table = self.view, machine.table
        for r in range(self.count):
            mine = np.flatnonzero(part == r)
            mass = table[Row.MASS, mine].astype(float)
            place = table[Row.place, mine].astype(float) + table[Row.remainder, mine]
            centre = place @ mass / mass.sum()
            self.start[r] = centre
            table[Row.STATE : Row.STATE + 3, mine] = place - centre[:, None]
            view[r, :3], view[r, 3:12], view[r, FREE] = centre, np.eye(3).ravel(), 1.0
            self._set_out(mine, r, mass, place - centre[:, None])

    @property
    def view(self) -> Float[np.ndarray, "parts 64"]:
        return self.states.numpy().reshape(-1, WIDTH)

    def _set_out(self, mine: np.ndarray, part: int, mass: np.ndarray, arm: np.ndarray) -> None:
        """The rigid motion nearest to the velocities that the particles were given."""
        table, cell = self._machine.table, float(self._machine.numbers[0])
        push = mass * table[Row.velocity, mine].astype(float)
        mean = push.sum(axis=1) / mass.sum()
        square = (arm**2).sum(axis=0)
        inertia = np.einsum("p,pij->ij", mass, square[:, None, None] * np.eye(3) - arm.T[:, :, None] * arm.T[:, None])
        with_own = inertia + np.eye(3) * mass.sum() * cell**2 / 2  # the particles' own spin
        self.view[part, FREE + 1 :] = with_own.ravel()
        inertia += np.eye(3) * (1e-9 * np.trace(inertia) + 1e-12 * mass.sum() * cell**2)
        spin = np.linalg.solve(inertia, np.cross(arm.T, push.T).sum(axis=0))
        table[Row.velocity, mine] = mean[:, None] + np.cross(spin, arm.T).T
        cross = np.array([[0, -spin[2], spin[1]], [spin[2], 0, -spin[0]], [-spin[1], spin[0], 0]])
        table[Row.affine, mine] = cross.reshape(9, 1)
        self.view[part, 12:18] = [*mean, *spin]

    def place(self, law: Int[np.ndarray, " P"], part: Int[np.ndarray, " P"], body: Int[np.ndarray, " P"]) -> None:
        """Find the parts' columns after sorting; particles that are frozen are no longer members."""
        spans = np.zeros((self.count, 2), dtype=np.int32)
        self.holders = []
        for r in range(self.count):
            mine = np.flatnonzero((part == r) & (law == Law.RIGID))
            if len(mine):
                spans[r] = mine[0], mine[-1] + 1
                self.holders.append(Holder(r, int(body[mine[0]]), mine, True))
        self._spans = self._machine.ints(spans)
        self._job: Any = None

    def set_surface(self, skins: list[Float[np.ndarray, "n 3"]]) -> None:
        """Points of each part's surface, where they are now, that touch instead of its particles."""
        self.skins = {part: skin - self.start[part] for part, skin in enumerate(skins) if len(skin)}

    def skin(self, part: int) -> Float[np.ndarray, "n 3"] | None:
        """Where the points of a part's surface are; ``None`` where nobody gave any."""
        if part not in self.skins:
            return None
        now = self.view[part]
        return self.skins[part] @ now[3:12].reshape(3, 3).T + now[:3]

    def move(self) -> None:
        """All parts and their particles go on by one step."""
        if not self.holders:
            return
        if self._job is None:
            from neurok.dynamics.particles import kernels_contact

            inputs = [self._machine.table_array, self._machine.numbers_array, self._spans, self.states]
            self._job = self._machine.record(kernels_contact.move, inputs)
        self._job()

    def motions(self, origin: Float[np.ndarray, " 3"]) -> tuple[Float[np.ndarray, "R 3 3"], Float[np.ndarray, "R 3"]]:
        """R and t of each part: where a point x of the start is now, R x + t."""
        now = self.view[: self.count]
        turned = now[:, 3:12].reshape(-1, 3, 3).copy()
        return turned, now[:, :3] + origin - np.einsum("rij,rj->ri", turned, self.start + origin)


FROZEN = 2**30
"""Object number of particles that left the domain: sorted last and in no run."""

NONE = np.zeros(0, dtype=np.int64)


class Targets:
    """Hard ones become holders, one for each object; soft ones are springs on particles."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._hard, self._goals, self._left = NONE, np.zeros((0, 3)), 0.0
        self._soft, self._way = NONE, 0.0
        self.holders: list[Holder] = []
        self.pins: list[tuple[int, Holder]] = []
        """Rigid parts that are held at some of their particles."""
        self._job: Any = None

    def hold(self, indices: Int[np.ndarray, " n"], goals: Float[np.ndarray, "n 3"], seconds: float) -> None:
        """Hold particles hard, to be at their goals after ``seconds``."""
        self._hard, self._goals, self._left = indices, goals, seconds

    def draw(
        self,
        indices: Int[np.ndarray, " n"],
        now: Float[np.ndarray, "n 3"],
        goals: Float[np.ndarray, "n 3"],
        stiffness: Float[np.ndarray, " n"] | float,
        damping: Float[np.ndarray, " n"] | float,
        seconds: float,
    ) -> None:
        """Springs from particles to ends, which go from where they are to the goals in ``seconds``."""
        springs = np.zeros((len(indices), 8))
        start = goals
        if seconds > 0:
            start = now.copy()
            kept, mine, old = np.intersect1d(indices, self._soft, return_indices=True)
            start[mine] = self._view()[old, :3] if len(kept) else start[mine]
            springs[:, 3:6] = (goals - start) / seconds
        springs[:, :3], springs[:, 6], springs[:, 7] = start, stiffness, damping
        self._soft, self._way = indices, max(seconds, 0.0)
        self._array = self._machine.floats(springs)

    def _view(self) -> Float[np.ndarray, "n 8"]:
        return self._array.numpy().reshape(-1, 8)

    def place(
        self, rank: Int[np.ndarray, " P"], body: Int[np.ndarray, " P"], rigid: Int[np.ndarray, " P"], first: int
    ) -> None:
        """Find columns after sorting; ``first`` is the number of the first holder that is not a rigid part."""
        self.holders, self.pins = [], []
        owner, part = body[self._hard], rigid[self._hard]
        for b in np.unique(owner[(owner < FROZEN) & (part < 0)]):
            self.holders.append(self._holder(first + int(b), (owner == b) & (part < 0), rank, int(b)))
        for r in np.unique(part[(owner < FROZEN) & (part >= 0)]):
            self.pins.append((int(r), self._holder(int(r), part == r, rank, -1)))
        self._job = None
        if len(self._soft):
            from neurok.dynamics.particles import kernels_contact

            load_kernels(kernels_contact.MODULE, None)
            machine, self._columns = self._machine, self._machine.ints(rank[self._soft])
            inputs = [machine.table_array, machine.numbers_array, self._columns, self._array, len(self._soft)]
            self._job = machine.record(kernels_contact.spring, inputs)

    def _holder(self, number: int, mine: np.ndarray, rank: Int[np.ndarray, " P"], body: int) -> Holder:
        return Holder(number, body, rank[self._hard[mine]], False, self._goals[mine], self._left)

    def pull(self) -> None:
        """Springs act on the velocities of their particles for one step."""
        if self._job is not None:
            self._job()

    def wait(self, seconds: float) -> None:
        """Time has passed; what has arrived stays."""
        self._left = max(self._left - seconds, 0.0)
        for holder in [*self.holders, *(pin for _, pin in self.pins)]:
            holder.left = self._left
        if self._way > 0:
            self._way -= seconds
            if self._way <= 1e-9:
                view = self._view()
                view[:, 3:6], self._way = 0.0, 0.0
