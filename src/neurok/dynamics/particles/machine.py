"""The particles' table, the grids and the launches of a substep, in Warp's arrays on the CPU."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
from jaxtyping import Float, Shaped

from neurok.dynamics.particles.engine_config import SolverConfig
from neurok.dynamics.particles.grid import Layout
from neurok.dynamics.particles.state import Row
from neurok.errors import require


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Crew:
    """Runs independent jobs side by side; a job's result must not depend on the others."""

    def __init__(self, threads: int) -> None:
        self.threads = max(1, threads)
        self._pool = ThreadPoolExecutor(self.threads - 1) if self.threads > 1 else None

    def run(self, jobs: Sequence[Callable[[], object]]) -> None:
        """All jobs; back when the last is done."""
        if self._pool is None or len(jobs) < 2:
            return _all(jobs)
        helpers = [self._pool.submit(_all, jobs[start :: self.threads]) for start in range(1, self.threads)]
        _all(jobs[:: self.threads])
        for helper in helpers:
            helper.result()


def _all(jobs: Sequence[Callable[[], object]]) -> None:
    for job in jobs:
        job()


COMPILING = "compiling the particle kernels, once: about 10 s"


def warp() -> Any:
    """The package, quiet; or one sentence that says how to get it."""
    require("warp", "particles")
    import warp as wp

    silence: Any = wp.config
    silence.quiet, silence.log_level = True, 30  # older and newer versions
    _start(wp)
    return wp


@cache
def _start(wp: Any) -> None:
    """Its library says on the bare error stream that there is no CUDA, which nobody asked for."""
    kept = os.dup(2)
    try:
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 2)
            wp.init()
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def load_kernels(module: str, say: Callable[[str], None] | None) -> None:
    """Make one module of kernels ready; ``say`` hears of it first if it has to be compiled."""
    wp = warp()
    kernels = wp.get_module(module)
    folder = os.path.join(wp.config.kernel_cache_dir, kernels.get_module_identifier())
    if say is not None and not os.path.isdir(folder):
        say(COMPILING)
    kernels.load("cpu")


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
        wp = self.wp = warp()
        from neurok.dynamics.particles import kernels_transfer

        self.kernels = kernels_transfer
        load_kernels(kernels_transfer.MODULE, say)
        self.config = config
        threads = config.threads or cores()
        self.crew = Crew(1 if count < config.small else min(threads, config.partitions))
        self.columns = -(-count // 8) * 8 + Row.SLACK
        self.table_array = wp.zeros((Row.COUNT, self.columns), dtype=wp.float32, device="cpu")
        self.forces_array = wp.zeros((3, 1), dtype=wp.float32, device="cpu")
        self.numbers_array = wp.zeros(NUMBERS, dtype=wp.float32, device="cpu")
        self.flags = wp.zeros(max(config.partitions, 1), dtype=wp.int32, device="cpu")
        self.grid = Buffer(wp, wp.float32)
        self._tables = {name: Buffer(wp, wp.int32) for name in ("boxes", "runs", "parts", "units", "tiles")}
        self.unit_count = self.run_count = 0
        self._jobs: tuple[list[Any], list[Any], list[Any]] | None = None

    @property
    def table(self) -> Float[np.ndarray, "rows n"]:
        """The particles, float32, one column each; a view."""
        return self.table_array.numpy()

    @property
    def numbers(self) -> Float[np.ndarray, " n"]:
        return self.numbers_array.numpy()

    @property
    def forces(self) -> Float[np.ndarray, "3 n"]:
        """On each particle [N]; asking for it makes room."""
        if self.forces_array.shape[1] != self.columns:
            self.forces_array = self.wp.zeros((3, self.columns), dtype=self.wp.float32, device="cpu")
            self._jobs = None
        return self.forces_array.numpy()

    @property
    def outside(self) -> int:
        """Particles that were met outside their grid since the last layout."""
        return int(self.flags.numpy().sum())

    def adopt(self, layout: Layout) -> None:
        """Take over new boxes and runs."""
        moved = [self._tables[name].put(getattr(layout, name)) for name in self._tables]
        moved.append(self.grid.hold(4 * layout.nodes))
        self.run_count = len(layout.runs)
        if any(moved) or self.unit_count != len(layout.units):
            self.unit_count = len(layout.units)
            self._jobs = None
        self.flags.numpy()[:] = 0

    def array(self, name: str) -> Any:
        return self._tables[name].array

    def floats(self, values: Shaped[np.ndarray, "..."]) -> Any:
        """An array that kernels read, flat."""
        return self.wp.array(np.asarray(values, np.float32).ravel(), dtype=self.wp.float32, device="cpu")

    def ints(self, values: Shaped[np.ndarray, "..."]) -> Any:
        """The same of whole numbers."""
        return self.wp.array(np.asarray(values, np.int32).ravel(), dtype=self.wp.int32, device="cpu")

    def record(self, kernel: Any, inputs: list[Any]) -> Callable[[], None]:
        """A launch of a kernel that is ready to be repeated."""
        return self.wp.launch(kernel, dim=1, inputs=inputs, device="cpu", record_cmd=True).launch

    def transfers(self) -> tuple[list[Any], list[Any], list[Any]]:
        """Jobs of scattering, adding up and gathering; those of one list may run side by side."""
        if self._jobs is None:
            boxes, runs, parts, units, tiles = (self._tables[name].array for name in self._tables)
            grid, numbers = self.grid.array, self.numbers_array
            k, count = self.kernels, self.config.partitions
            table = self.table_array
            spread, collect = [table, self.forces_array, grid, numbers, boxes, runs, parts, self.flags], [table, grid]
            collect += [numbers, boxes, runs, parts]
            self._jobs = (
                [self.record(k.scatter, [*spread, q]) for q in range(count)],
                [self.record(k.add_up, [grid, numbers, boxes, units, tiles, u]) for u in range(self.unit_count)],
                [self.record(k.gather, [*collect, q]) for q in range(count)],
            )
        return self._jobs
