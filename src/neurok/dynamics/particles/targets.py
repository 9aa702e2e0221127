"""Particles that are held at, or drawn to, places that may move."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float, Int

from neurok.dynamics.particles.machine import Machine
from neurok.dynamics.particles.rigid_parts import Holder

FROZEN = 2**30
"""Object number of particles that left the domain: sorted last and in no run."""

NONE = np.zeros(0, dtype=np.int64)


class Targets:
    """Hard ones become holders, one for each object; soft ones are springs on particles."""

    def __init__(self, machine: Machine, count: int) -> None:
        self._machine = machine
        self._hard, self._goals, self._left = NONE, np.zeros((0, 3)), 0.0
        self._soft, self._springs, self._way = NONE, np.zeros((0, 8)), 0.0
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
        self._soft, self._springs, self._way = indices, springs, seconds if seconds > 0 else 0.0
        wp = self._machine.wp
        self._array = wp.array(springs.ravel(), dtype=wp.float32, device="cpu")

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
            from neurok.dynamics.particles import compiled, kernels_rigid

            compiled.load(kernels_rigid.MODULE, None)
            wp = self._machine.wp
            self._columns = wp.array(rank[self._soft].astype(np.int32), dtype=wp.int32, device="cpu")
            inputs = [
                self._machine.table_array,
                self._machine.numbers_array,
                self._columns,
                self._array,
                len(self._soft),
            ]
            self._job = self._machine.record(kernels_rigid.spring, inputs).launch

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
