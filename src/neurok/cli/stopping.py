"""Long work that a person may end early with Ctrl-C and keep what is done."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def stoppable(title: str, *, json: bool) -> Iterator[Callable[[float], None]]:
    """A progress callback with a bar on stderr; the first Ctrl-C ends the run at the next frame, the second at once."""
    asked: list[int] = []
    previous = signal.getsignal(signal.SIGINT)
    # Only the main thread may listen, and a handler that is not Python's could not be put back.
    listening = threading.current_thread() is threading.main_thread() and previous is not None

    def ask(number: int, frame: object) -> None:
        asked.append(number)
        signal.signal(signal.SIGINT, previous)

    if listening:
        signal.signal(signal.SIGINT, ask)
    with _bar(title, json) as show:

        def progress(fraction: float) -> None:
            show(fraction)
            if asked:
                raise KeyboardInterrupt

        try:
            yield progress
        finally:
            if listening:
                signal.signal(signal.SIGINT, previous)


@contextmanager
def _bar(title: str, json: bool) -> Iterator[Callable[[float], None]]:
    if json:
        yield lambda fraction: None
        return
    if not sys.stderr.isatty():
        yield long_wait()
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=1.0)
        yield lambda fraction: bar.update(task, completed=fraction)


TELL_AFTER, TELL_FROM = 10.0, 60.0
"""Where no bar is seen, a wait is told after so long, if so much is left [s]."""


def long_wait(clock: Callable[[], float] = time.monotonic) -> Callable[[float], None]:
    """A progress callback that says once on stderr how long a run will take, if that is long.

    It counts from the first call on: what comes before may compile, and is done once.
    """
    first: list[tuple[float, float]] = []
    told: list[float] = []

    def tell(fraction: float) -> None:
        if not first:
            first.append((clock(), fraction))
        spent, done = clock() - first[0][0], fraction - first[0][1]
        if told or spent < TELL_AFTER or done <= 0:
            return
        left = spent / done * (1.0 - fraction)
        if left >= TELL_FROM:
            told.append(left)
            print(
                f"neurok: about {left / 60:.0f} minutes left; Ctrl-C keeps what is done.", file=sys.stderr, flush=True
            )

    return tell
