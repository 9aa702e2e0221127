"""Files into place, all or none: each is written under a temporary name in its folder, then all are renamed.

``staged`` is the one way to write a file; ``together`` makes one of several.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

from neurok.errors import NeurokError

PREFIX = ".neurok-"
"""How temporary names begin; the number of the process that writes follows."""

STALE_SECONDS = 24 * 3600.0
"""What nobody has touched for so long is swept, whoever wrote it [s]."""


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder among the temporary ones of the system, for as long as it is needed."""
    home = Path(tempfile.gettempdir())
    sweep(home)
    with tempfile.TemporaryDirectory(prefix=f"{PREFIX}{os.getpid()}-", dir=home) as folder:
        yield Path(folder)


def sweep(folder: Path) -> None:
    """Delete what killed writers left: their process is gone, or nobody has touched it for a day."""
    for path in folder.glob(f"{PREFIX}*"):
        number = path.name.removeprefix(PREFIX).split("-")[0]
        with suppress(OSError):  # another process has just swept or renamed it
            is_old = path.stat().st_mtime < time.time() - STALE_SECONDS
            if is_old or (number.isdecimal() and not _is_alive(int(number))):
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def _is_alive(number: int) -> bool:
    if os.name != "posix":  # there, a signal of 0 would end it
        return True
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


class _Waiting:
    """Files that are written and wait for the others."""

    def __init__(self) -> None:
        self.files: list[tuple[Path, Path]] = []
        self.folders: list[Path] = []
        self.kept: list[tuple[Path, Path]] = []

    def add(self, target: Path) -> Path:
        """A new temporary file in the folder of a target, which is made if need be."""
        self._make(target.parent)
        if not any(other.parent == target.parent for _, other in self.files[-1:]):
            sweep(target.parent)
        handle, name = tempfile.mkstemp(prefix=f"{PREFIX}{os.getpid()}-", suffix=target.suffix, dir=target.parent)
        os.close(handle)
        self.files.append((Path(name), target))
        return Path(name)

    def _make(self, folder: Path) -> None:
        missing = []
        while not folder.exists():
            missing.append(folder)
            folder = folder.parent
        for one in reversed(missing):
            with suppress(FileExistsError):  # somebody else has just made it
                one.mkdir()
                self.folders.append(one)

    def commit(self) -> None:
        """Rename all; what was there before comes back if one cannot be."""
        umask = os.umask(0)
        os.umask(umask)
        done: list[Path] = []
        try:
            for temporary, target in self.files:
                temporary.chmod(0o666 & ~umask)
                if len(self.files) > 1 and target.is_file():
                    self._keep(target, temporary)
                temporary.replace(target)
                done.append(target)
        except OSError as error:
            before = {target: kept for kept, target in reversed(self.kept)}
            for name in dict.fromkeys(done):
                before[name].replace(name) if name in before else name.unlink()
            raise NeurokError(f"'{target}' cannot be written: {error.strerror or error}.") from error
        self.folders.clear()

    def _keep(self, target: Path, temporary: Path) -> None:
        kept = temporary.with_name(f"{temporary.name}.before")
        self.kept.append((kept, target))
        try:
            os.link(target, kept)
        except OSError:  # a file system without links
            shutil.copy2(target, kept)

    def clear(self) -> None:
        """Leave nothing temporary behind."""
        for temporary, _ in self.files:
            temporary.unlink(missing_ok=True)
        for kept, _ in self.kept:
            kept.unlink(missing_ok=True)
        for folder in reversed(self.folders):
            with suppress(OSError):  # something of others lies in it
                folder.rmdir()


_WAITING: ContextVar[_Waiting | None] = ContextVar("waiting", default=None)


@contextmanager
def together() -> Iterator[None]:
    """What is written inside appears at the end, or nothing of it does; one inside another waits for the outer one."""
    if _WAITING.get() is not None:
        yield
        return
    waiting = _Waiting()
    token = _WAITING.set(waiting)
    try:
        yield
        waiting.commit()
    finally:
        _WAITING.reset(token)
        waiting.clear()


@contextmanager
def staged(target: Path) -> Iterator[Path]:
    """A temporary name beside the target, to be written; it takes the target's place when all went well.

    Raises:
        NeurokError: If the file cannot be written.
    """
    with together():
        waiting = _WAITING.get()
        assert waiting is not None
        try:
            yield waiting.add(target)
        except OSError as error:
            raise NeurokError(f"'{target}' cannot be written: {error.strerror or error}.") from error
