"""Checks in a process of their own: what hangs is ended, what crashes takes nobody along."""

from __future__ import annotations

from typing import Any

from neurok.annotation.check import OVERTIME, Job, run_check, store_record
from neurok.data.limited import Ended, Limited, Limits, Work


class Worker:
    """Runs checks, each within a time."""

    def __init__(self, limit: float, work: Work = run_check) -> None:
        self.limit = limit
        self.limited = Limited(work, Limits(seconds=limit))

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.limited.end()

    def check(self, job: Job) -> dict[str, Any]:
        """What ``run_check`` finds, or why it found nothing."""
        try:
            return self.limited.call(job)
        except Ended as end:
            return self._given_up(job, end)

    def _given_up(self, job: Job, end: Ended) -> dict[str, Any]:
        job.store.clear(job.source.key)
        if end.cause == "time":
            problem = f"It took longer than {self.limit:g} s; allow more with --limit, or ask for fewer --seconds."
            return store_record(job, {"problem": problem, "cause": OVERTIME, "limit": self.limit})
        problem = f"While it was checked, {end.text}, perhaps for want of memory."
        return store_record(job, {"problem": problem, "cause": "crash"})
