"""Work of one substep on several threads; Warp lets go of the interpreter while a kernel runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor


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
            for job in jobs:
                job()
            return
        helpers = [self._pool.submit(_all, jobs[start :: self.threads]) for start in range(1, self.threads)]
        _all(jobs[:: self.threads])
        for helper in helpers:
            helper.result()

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False)


def _all(jobs: Sequence[Callable[[], object]]) -> None:
    for job in jobs:
        job()
