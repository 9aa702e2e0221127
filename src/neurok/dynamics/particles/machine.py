"""The particles' table, the grids and the launches of a substep, in Warp's arrays on the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float, Shaped

from neurok.dynamics.particles import compiled
from neurok.dynamics.particles.config import SolverConfig
from neurok.dynamics.particles.grid import Layout
from neurok.dynamics.particles.threads import Crew, cores

NUMBERS = 8
"""dx, dt, gravity (three), whether only gradients are gathered, time since this stretch began, unused."""


class Buffer:
    """A Warp array that grows, and its NumPy view."""

    def __init__(self, wp: Any, dtype: Any) -> None:
        self._wp, self._dtype = wp, dtype
        self.array: Any = wp.zeros(8, dtype=dtype, device="cpu")

    @property
    def view(self) -> Shaped[np.ndarray, " n"]:
        return self.array.numpy()

    def hold(self, count: int) -> bool:
        """Make room for ``count`` entries; says whether the array is another one now."""
        if count <= self.array.shape[0]:
            return False
        self.array = self._wp.zeros(int(1.25 * count) + 64, dtype=self._dtype, device="cpu")
        return True

    def put(self, values: Shaped[np.ndarray, " ..."]) -> bool:
        moved = self.hold(values.size)
        self.view[: values.size] = values.ravel()
        return moved


class Machine:
    """Owns the memory; knows nothing of the order or the meaning of particles."""

    def __init__(self, count: int, config: SolverConfig, say: Callable[[str], None] | None) -> None:
        wp = self.wp = compiled.warp()
        from neurok.dynamics.particles import kernels_transfer

        self.kernels = kernels_transfer
        compiled.load("neurok_particles_transfer", say)
        self.config = config
        threads = config.threads or cores()
        self.crew = Crew(1 if count < config.small else min(threads, config.partitions))
        from neurok.dynamics.particles import rows

        self.columns = -(-count // 8) * 8 + rows.SLACK
        self._table = wp.zeros((rows.COUNT, self.columns), dtype=wp.float32, device="cpu")
        self._forces = wp.zeros((3, 1), dtype=wp.float32, device="cpu")
        self._numbers = wp.zeros(NUMBERS, dtype=wp.float32, device="cpu")
        self._flags = wp.zeros(max(config.partitions, 1), dtype=wp.int32, device="cpu")
        self.grid = Buffer(wp, wp.float32)
        self._tables = {name: Buffer(wp, wp.int32) for name in ("boxes", "runs", "parts", "units", "tiles")}
        self._unit_count = self._run_count = 0
        self._jobs: tuple[list[Any], list[Any], list[Any]] | None = None

    @property
    def table(self) -> Float[np.ndarray, "rows n"]:
        """The particles, float32, one column each; a view."""
        return self._table.numpy()

    @property
    def table_array(self) -> Any:
        return self._table

    @property
    def forces_array(self) -> Any:
        return self._forces

    @property
    def numbers_array(self) -> Any:
        return self._numbers

    @property
    def numbers(self) -> Float[np.ndarray, " n"]:
        return self._numbers.numpy()

    @property
    def forces(self) -> Float[np.ndarray, "3 n"]:
        """On each particle [N]; asking for it makes room."""
        if self._forces.shape[1] != self.columns:
            self._forces = self.wp.zeros((3, self.columns), dtype=self.wp.float32, device="cpu")
            self._jobs = None
        return self._forces.numpy()

    @property
    def outside(self) -> int:
        """Particles that were met outside their grid since the last layout."""
        return int(self._flags.numpy().sum())

    def adopt(self, layout: Layout) -> None:
        """Take over new boxes and runs."""
        moved = [self._tables[name].put(getattr(layout, name)) for name in self._tables]
        moved.append(self.grid.hold(4 * layout.nodes))
        self._run_count = len(layout.runs)
        if any(moved) or self._unit_count != len(layout.units):
            self._unit_count = len(layout.units)
            self._jobs = None
        self._flags.numpy()[:] = 0

    def array(self, name: str) -> Any:
        return self._tables[name].array

    def record(self, kernel: Any, inputs: list[Any]) -> Any:
        return self.wp.launch(kernel, dim=1, inputs=inputs, device="cpu", record_cmd=True)

    def transfers(self) -> tuple[list[Any], list[Any], list[Any]]:
        """Jobs of scattering, adding up and gathering; those of one list may run side by side."""
        if self.config.backend == "plain":
            return self._plain_jobs()
        if self._jobs is None:
            boxes, runs, parts, units, tiles = (self._tables[name].array for name in self._tables)
            grid, numbers = self.grid.array, self._numbers
            k, count = self.kernels, self.config.partitions
            spread = [self._table, self._forces, grid, numbers, boxes, runs, parts, self._flags]
            self._jobs = (
                [self.record(k.scatter, [*spread, q]).launch for q in range(count)],
                [
                    self.record(k.add_up, [grid, numbers, boxes, units, tiles, u]).launch
                    for u in range(self._unit_count)
                ],
                [
                    self.record(k.gather, [self._table, grid, numbers, boxes, runs, parts, q]).launch
                    for q in range(count)
                ],
            )
        return self._jobs

    def _plain_jobs(self) -> tuple[list[Any], list[Any], list[Any]]:
        """The same in Warp's own language; each list is one job, since nothing is promised about its speed."""
        from neurok.dynamics.particles import kernels_plain as k

        boxes, runs, _, units, tiles = (self._tables[name].array for name in self._tables)
        grid, numbers, table = self.grid.array, self._numbers, self._table
        ranges = self._tables["runs"].view[: 8 * self._run_count].reshape(-1, 8)
        slices = self._tables["units"].view[: 8 * self._unit_count].reshape(-1, 8)
        shapes = self._tables["boxes"].view.reshape(-1)

        def launch(kernel: Any, dim: Any, inputs: list[Any]) -> None:
            self.wp.launch(kernel, dim=dim, inputs=inputs, device="cpu")

        def spread() -> None:
            grid.zero_()
            for r, (first, last, *_) in enumerate(ranges):
                launch(
                    k.scatter, int(last - first), [table, self._forces, grid, numbers, boxes, runs, self._flags, r, 0]
                )

        def add() -> None:
            for u, (box, first, last, *_) in enumerate(slices):
                dim = (int(last - first), int(shapes[8 * box + 5]), int(shapes[8 * box + 6]))
                launch(k.add_up, dim, [grid, numbers, boxes, units, tiles, u])

        def collect() -> None:
            for r, (first, last, *_) in enumerate(ranges):
                launch(k.gather, int(last - first), [table, grid, numbers, boxes, runs, r])

        return [spread], [add], [collect]
