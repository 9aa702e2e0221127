"""Work in a process of its own, within a time and a memory: what hangs is ended, what crashes takes nobody along."""

from __future__ import annotations

import os
import signal
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any, Literal

from neurok.batch.workers import interrupts_held, start_worker

LOOK_SECONDS = 0.1
"""How often the memory of a process is looked at [s]."""

Work = Callable[[Any], Any]
"""A function of a module, so that another process finds it."""


@dataclass(frozen=True)
class Limits:
    """What one call may take."""

    seconds: float | None = None
    """Longest time [s]."""

    memory: float | None = None
    """Most resident memory of the process and its children [bytes]; where /proc does not tell it, there is no limit."""


class Ended(Exception):
    """A call that came to no answer, and why."""

    def __init__(self, cause: Literal["time", "memory", "crash", "fault"], text: str) -> None:
        super().__init__(text)
        self.cause, self.text = cause, text


class Limited:
    """Calls a function in a process of its own; a new process takes over from one that was ended."""

    def __init__(self, work: Work, limits: Limits) -> None:
        self.work, self.limits = work, limits
        self.peak = 0.0
        """Most memory that was seen during the last call [bytes]."""

        self._is_ready = False
        self._process: SpawnProcess | None = None
        self._connection: Connection | None = None

    def __enter__(self) -> Limited:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def call(self, argument: Any) -> Any:
        """What the function returns.

        Raises:
            Ended: If it took too long or too much memory, crashed, or raised.
        """
        connection, process = self._started()
        try:
            if not self._is_ready:
                self._is_ready = connection.recv()  # its imports are no part of the call
            connection.send(argument)
            cause = self._wait(connection, process)
            if cause is None:
                is_answer, value = connection.recv()
                if is_answer:
                    return value
                raise Ended("fault", value)
        except (EOFError, OSError):
            process.join(1.0)
            self.end()
            raise Ended("crash", f"its process ended with code {process.exitcode}") from None
        except BaseException as error:
            if not isinstance(error, Ended):  # an interruption: the process must not answer the next call
                self.end()
            raise
        self.end()
        raise cause

    def end(self) -> None:
        """End the process and what it has started, whatever they do."""
        if self._process is not None:
            with suppress(OSError, TypeError):
                os.killpg(self._process.pid, signal.SIGKILL)  # type: ignore[arg-type]
            self._process.kill()
            self._process.join()
        self._process = self._connection = None

    def _wait(self, connection: Connection, process: SpawnProcess) -> Ended | None:
        """Nothing when there is an answer, else which limit was passed."""
        start, seconds, memory = time.monotonic(), self.limits.seconds, self.limits.memory
        self.peak = 0.0
        while True:
            left = float("inf") if seconds is None else seconds - (time.monotonic() - start)
            if connection.poll(max(0.0, min(LOOK_SECONDS, left))):
                return None
            if left <= 0.0:
                return Ended("time", f"it took longer than {seconds:g} s")
            self.peak = max(self.peak, resident(process.pid or 0))
            if memory is not None and self.peak > memory:
                return Ended("memory", f"it took more than {memory / 1e9:g} GB of memory")

    def _started(self) -> tuple[Connection, SpawnProcess]:
        if self._connection is None or self._process is None:
            context = get_context("spawn")
            self._connection, other = context.Pipe()
            self._is_ready = False
            self._process = context.Process(target=_serve, args=(other, self.work), daemon=True)
            threads = os.environ.get("OMP_NUM_THREADS")
            os.environ["OMP_NUM_THREADS"] = "1"  # libraries read it while they are loaded
            try:
                with interrupts_held():
                    self._process.start()
            finally:
                os.environ.pop("OMP_NUM_THREADS") if threads is None else os.environ.update(OMP_NUM_THREADS=threads)
            other.close()
        return self._connection, self._process


def _serve(connection: Connection, work: Work) -> None:
    """Answer one call after the other until nobody asks any more."""
    start_worker()
    with suppress(AttributeError, OSError):
        os.setsid()  # so that all it starts can be ended with it
    connection.send(True)
    while True:
        try:
            argument = connection.recv()
        except EOFError:
            return
        try:
            answer = (True, work(argument))
        except Exception:
            answer = (False, traceback.format_exc())
        connection.send(answer)


def resident(process: int) -> float:
    """Memory of a process and its children [bytes]; 0 where nobody tells."""
    folder, total = Path(f"/proc/{process}"), 0.0
    with suppress(OSError, ValueError, IndexError):
        total += int((folder / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        for children in folder.glob("task/*/children"):
            total += sum(resident(int(child)) for child in children.read_text().split())
    return total
