"""What a command says while it works: text for people on stdout, progress on stderr, neither with ``--json``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
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
