"""Spread independent tasks over processes of this machine or over a Ray cluster.

Work in a process of its own, within a time and a memory: what hangs is ended, what crashes takes nobody along.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing import active_children, get_context, parent_process
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any, TypeVar

from neurok.errors import NeurokError, require
from neurok.sandbox import Ended, Limits

Result = TypeVar("Result")
Item = TypeVar("Item")
Task = Callable[[Item], Result]


def spread(
    task: Task[Item, Result], items: Iterable[Item], workers: int, ray_address: str | None = None
) -> Iterator[Result]:
    """The results of a task for every item, as they come; an interruption ends all workers at once.

    Args:
        task: A pure function that can be pickled; small, for it is sent with every item.
        items: What to call it with; taken one by one, as there is room.
        workers: Processes on this machine; 1 works in this one.
        ray_address: ``local`` or the address of a Ray cluster to work on instead.
    """
    if ray_address is not None:
        return _on_ray(task, items, workers, ray_address)
    return map(task, items) if workers == 1 else _on_processes(task, items, workers)


def _on_processes(task: Task[Item, Result], items: Iterable[Item], workers: int) -> Iterator[Result]:
    others = set(active_children())
    waiting: set[Future[Result]] = set()
    # Fresh interpreters: simulators and their threads do not survive a fork.
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=start_worker) as pool:
        try:
            for item in items:
                with interrupts_held():
                    waiting.add(pool.submit(task, item))
                if len(waiting) > workers:
                    done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                    yield from (future.result() for future in done)
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        except BrokenProcessPool:
            raise NeurokError(
                "A worker ended before its work was done, perhaps out of memory; finished work is kept: run "
                "the same command again, with fewer workers."
            ) from None
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in set(active_children()) - others:
                worker.terminate()
            raise


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back: processes started meanwhile never see it, so that only this one reacts and speaks."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def start_worker() -> None:
    os.environ["OMP_NUM_THREADS"] = "1"
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A worker whose parent was killed would wait for work for ever."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _on_ray(task: Task[Item, Result], items: Iterable[Item], workers: int, address: str) -> Iterator[Result]:
    require("ray", "cluster")
    import ray

    fresh = not ray.is_initialized()
    if fresh:
        _join_ray(address, workers)
    try:
        remote: Any = ray.remote(num_cpus=1, max_retries=3)(lambda item: task(item))
        waiting: list[Any] = []
        most = 2 * max(workers, int(ray.cluster_resources().get("CPU", 1)))
        for item in items:
            waiting.append(remote.remote(item))
            if len(waiting) > most:
                done, waiting = ray.wait(waiting)
                yield from ray.get(done)
        while waiting:
            done, waiting = ray.wait(waiting)
            yield from ray.get(done)
    finally:
        if fresh:
            ray.shutdown()


def _join_ray(address: str, workers: int) -> None:
    import ray

    options = {"num_cpus": workers, "include_dashboard": False} if address == "local" else {"address": address}
    try:
        host, colon, port = address.removeprefix("ray://").rpartition(":")
        if colon and port.isdecimal():
            # Ray itself would try for minutes.
            socket.create_connection((host, int(port)), timeout=5).close()
        with interrupts_held():
            ray.init(log_to_driver=False, logging_level=40, **options)
    except (OSError, OverflowError, RuntimeError, ValueError) as error:
        reason = str(error).split("\n")[0].rstrip(".")
        raise NeurokError(
            f"No Ray cluster answers at '{address}' ({reason}); give host:port of its head, or 'local'."
        ) from error


LOOK_SECONDS = 0.1
"""How often the memory of a process is looked at [s]."""

Work = Callable[[Any], Any]
"""A function of a module, so that another process finds it."""


class Limited:
    """Calls a function in a process of its own, which keeps what it has loaded for the next call, within limits of time
    and of the resident memory of the process and its children; a new process takes over from one that was ended.

    ``sandbox.Sandbox`` is for short calls of other people's code: each begins anew.
    """

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
