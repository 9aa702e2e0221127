"""What a command says while it works: text for people on stdout, progress on stderr, neither with ``--json``."""

from __future__ import annotations

import sys
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
