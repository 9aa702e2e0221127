"""A process of its own for checks: what hangs is ended, what crashes takes nobody along."""

from __future__ import annotations

from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any

from neurok.annotation.check import OVERTIME, Job, run_check, store_record
from neurok.data.workers import interrupts_held, start_worker


def serve(connection: Connection) -> None:
    """Check one object after the other until nobody asks any more."""
    start_worker()
    while True:
        try:
            job = connection.recv()
        except EOFError:
            return
        run_check(job)
        connection.send(True)


class Worker:
    """Runs checks, each within a time; a new process takes over from one that was ended."""

    def __init__(self, limit: float, target: Callable[[Connection], None] = serve) -> None:
        self.limit, self.target = limit, target
        self.process: SpawnProcess | None = None
        self.connection: Connection | None = None

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def check(self, job: Job) -> dict[str, Any]:
        """What ``run_check`` finds, or why it found nothing."""
        connection = self._ready()
        try:
            connection.send(job)
            if connection.poll(self.limit):
                connection.recv()
                record = job.store.check(job.source.key)
                if record is not None:
                    return record
        except (EOFError, OSError):
            assert self.process is not None
            self.process.join(1.0)
            code = self.process.exitcode
            problem = f"The process that checked it ended with code {code}, perhaps for want of memory."
            return self._given_up(job, {"problem": problem, "cause": "crash"})
        problem = f"It took longer than {self.limit:g} s; allow more with --limit, or ask for fewer --seconds."
        return self._given_up(job, {"problem": problem, "cause": OVERTIME, "limit": self.limit})

    def end(self) -> None:
        """End the process, whatever it does."""
        if self.process is not None:
            self.process.kill()
            self.process.join()
        self.process = self.connection = None

    def _ready(self) -> Connection:
        if self.connection is None:
            context = get_context("spawn")
            self.connection, other = context.Pipe()
            self.process = context.Process(target=self.target, args=(other,), daemon=True)
            with interrupts_held():
                self.process.start()
            other.close()
        return self.connection

    def _given_up(self, job: Job, record: dict[str, Any]) -> dict[str, Any]:
        self.end()
        job.store.clear(job.source.key)
        return store_record(job, record)
