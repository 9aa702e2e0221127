"""Spread independent tasks over processes of this machine or over a Ray cluster."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_context, parent_process
from typing import Any, TypeVar

from neurok.errors import NeurokError, require

Result = TypeVar("Result")
Task = Callable[[int], Result]


def spread(task: Task[Result], numbers: list[int], workers: int, ray_address: str | None = None) -> Iterator[Result]:
    """The results of a task for every number, as they come; an interruption ends all workers at once.

    Args:
        task: A pure function that can be pickled.
        numbers: What to call it with.
        workers: Processes on this machine; 1 works in this one.
        ray_address: ``local`` or the address of a Ray cluster to work on instead.
    """
    if ray_address is not None:
        return _on_ray(task, numbers, workers, ray_address)
    return map(task, numbers) if workers == 1 else _on_processes(task, numbers, workers)


def _on_processes(task: Task[Result], numbers: list[int], workers: int) -> Iterator[Result]:
    others = set(active_children())
    waiting: set[Future[Result]] = set()
    # Fresh interpreters: simulators and their threads do not survive a fork.
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=start_worker) as pool:
        try:
            for number in numbers:
                with interrupts_held():
                    waiting.add(pool.submit(task, number))
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


def _on_ray(task: Task[Result], numbers: list[int], workers: int, address: str) -> Iterator[Result]:
    require("ray", "cluster")
    import ray

    fresh = not ray.is_initialized()
    if fresh:
        _join_ray(address, workers)
    try:
        remote: Any = ray.remote(num_cpus=1, max_retries=3)(lambda number: task(number))
        waiting: list[Any] = []
        for number in numbers:
            waiting.append(remote.remote(number))
            if len(waiting) > 2 * max(workers, int(ray.cluster_resources().get("CPU", 1))):
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
