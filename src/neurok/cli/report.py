"""What a command says while it works: text for people on stdout, progress on stderr, neither with ``--json``."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


def say(text: str, *, json: bool = False) -> None:
    """Tell a person something; ``--json`` keeps stdout for the one object."""
    if not json:
        print(text)


def progress(items: Iterable[T], title: str, *, total: int | None = None, json: bool = False) -> Iterator[T]:
    """The same items, with a bar on stderr while they pass when a person is watching."""
    if json or not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(items, description=title, total=total, console=Console(stderr=True), transient=True)


@contextmanager
def counting(what: str, *, json: bool = False) -> Iterator[Callable[..., None] | None]:
    """A bar with the time left on stderr, or a line now and then where no person watches.

    It hands out a function that is called with how many are done and how many there are; nothing with ``json``.
    """
    if json:
        yield None
        return
    if not sys.stderr.isatty():
        yield _lines(what)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total, name="": bar.update(
            task, completed=done, total=total, description=f"{what} {name}".strip()
        )


def _lines(what: str) -> Callable[..., None]:
    start, first = time.monotonic(), [-1]

    def tell(done: int, total: int, name: str = "") -> None:
        if first[0] < 0:
            first[0] = done
        elif done == total or done % max(1, total // 20) == 0:
            left = (time.monotonic() - start) / max(1, done - first[0]) * (total - done)
            print(f"{done}/{total} {what}, {left:.0f} s left", file=sys.stderr, flush=True)

    return tell


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
