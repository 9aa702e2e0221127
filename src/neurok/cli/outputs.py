"""What all commands do: read an object in its frame, say things, write files all together or not at all."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from neurok.errors import NeurokError
from neurok.staging import together

if TYPE_CHECKING:
    from neurok.core import Asset, Mesh
    from neurok.kinematics import KinematicSpace
    from neurok.model import Model

T = TypeVar("T")
PICTURES = (".png", ".jpg", ".jpeg", ".webp")
SpaceName = Literal["auto", "joints", "clip", "learned", "latent"]


EXIT_CODES = {"ok": 0, "failed": 2, "diverged": 3, "poor": 4, "torn": 4, "implausible": 5}
"""By the status of what was made. From 3 on it is written all the same: the good frames of a motion that diverged, a
pose that misses its target or tears the object, a motion that nobody would believe."""


class Command:
    """A command is a dataclass of flags; its ``run`` calls the library and returns the figures for ``--json``."""

    json: bool
    exit_code = 0

    def check_flags(self) -> None:
        """Refuse flags and outputs that make no sense, before any work."""

    def say(self, *lines: str) -> None:
        """Tell a person something; ``--json`` keeps stdout for the one object."""
        if not self.json:
            for line in lines:
                print(line)

    def progress(self, items: Iterable[T], title: str, total: int | None = None) -> Iterable[T]:
        """The same items, with a bar while they pass."""
        return progress(items, title, total=total, json=self.json)

    def watch(self, frames: Iterable[T], total: int) -> Iterable[T]:
        """Frames on their way into a film, with a bar."""
        return self.progress(frames, "rendering", total)


def warn(*sentences: str) -> None:
    """Say on stderr what a user should know besides the answer."""
    for sentence in filter(None, sentences):
        print(f"neurok: {sentence}", file=sys.stderr)


def written(out: Iterable[Path], write: Callable[[Path], Iterable[Path]]) -> list[str]:
    """Write all outputs or none; the names of the files that this made."""
    with together():
        return [str(file) for path in out for file in write(path)]


def check_outputs(
    out: Sequence[Path],
    inputs: Iterable[str | Path | None] = (),
    *,
    force: bool = False,
    known: Sequence[str] | None = None,
    what: str = "an object",
) -> None:
    """Refuse outputs that cannot be written, are named twice, or would take the place of an input.

    Raises:
        NeurokError: Naming the first of them.
    """
    from neurok.io.files import check_writable

    seen: set[str] = set()
    sources = [Path(path) for path in inputs if path is not None]
    for path in out:
        if known is not None and path.suffix.lower() not in known:
            kinds = ", ".join(known)
            raise NeurokError(f"'{path}' cannot hold {what}; --out takes files that end in {kinds}.")
        check_writable(path)
        if os.path.abspath(path) in seen:
            raise NeurokError(f"'{path}' is named twice; give each file of --out a name of its own.")
        seen.add(os.path.abspath(path))
        if not force and any(_is_same(path, source) for source in sources):
            raise NeurokError(f"'{path}' is an input; give --force to overwrite it.")


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except (OSError, ValueError):
        return False


def load_framed(path: str, unit: str | None = None, up: str | None = None, nodes: Sequence[str] = ()) -> Asset:
    """The object in a file, in the frame that is given or surely right; guesses are told on stderr."""
    return understood(path, unit, up, nodes=nodes).asset


def understood(path: str, unit: str | None = None, up: str | None = None, **known: Any) -> Model:
    """The object in a file as all commands understand it; guesses about its frame are told on stderr."""
    from neurok.model import understand

    model = understand(path, unit=unit, up=up, **known)
    warn(*model.notes)
    return model


def frame_facts(mesh: Mesh) -> dict[str, Any]:
    """The frame of an object for ``--json``: metres per unit, and the axis that points up."""
    return {"unit": mesh.unit, "up": mesh.up}


def frame_words(mesh: Mesh) -> str:
    """The same for people."""
    from neurok.doctor.frame import unit_name

    return f"unit {unit_name(mesh.unit)}, {mesh.up} up"


def space_facts(space: KinematicSpace, why: str) -> dict[str, Any]:
    """Figures of a space for ``--json``, and why it was taken."""
    learned = {"learned": dict(space.facts)} if space.facts else {}
    return {"dof": space.dim, "space": space.kind, "why": why, **learned}


def read_labels(path: Path | None) -> Any:
    """The array of an .npy file, with a number for each face or vertex; nothing if none is named."""
    if path is None:
        return None
    from neurok.io.npz_arrays import read_array

    return read_array(path)


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
