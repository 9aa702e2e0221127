"""Other people's code in a process of its own, within bounds of memory and time.

Damaged input can make a decoder crash, fill the memory or never end. One helper process per program waits with the
libraries loaded; each call runs in a fork of it, so that only the fork ends. Arrays go in and come back as ``.npz`` and
options as JSON: nothing that comes back is executed.
"""

from __future__ import annotations

import atexit
import importlib
import io
import json
import os
import select
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, BinaryIO, Literal

import numpy as np

Cause = Literal["time", "memory", "crash", "fault"]

OK, FAULT, TOO_LARGE = 0, 3, 4
"""Exit codes of a call: it has answered, its function has raised, or it asked for too much memory."""

LENGTH = struct.Struct("<Q")


@dataclass(frozen=True)
class Limits:
    """What one call may take."""

    cpu: float | None = 60.0
    """Processor time [s], so that a busy machine gives the same answer."""

    seconds: float | None = None
    """Time by the clock [s]; without it, twenty times the processor time."""

    memory: float | None = None
    """What it may add to the memory of its process [bytes]."""


class Ended(Exception):
    """A call that came to no answer, and why: by its limits, by a crash, or because its function raised."""

    def __init__(self, cause: Cause, text: str) -> None:
        super().__init__(text)
        self.cause, self.text = cause, text


class Sandbox:
    """The helper process, started when it is first needed, and again where it has died or belongs to a parent."""

    def __init__(self) -> None:
        self.spent, self.peak = 0.0, 0.0
        """Processor time of all calls so far [s], and most memory of the last one [bytes]."""

        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._lock = threading.Lock()

    def call(
        self,
        function: str,
        *arrays: np.ndarray,
        limits: Limits = Limits(),
        preload: Iterable[str] = (),
        **options: Any,
    ) -> list[np.ndarray]:
        """The arrays that ``module:function`` makes of arrays and options.

        Args:
            function: Where to find it, as ``module:function``.
            arrays: Its positional arguments.
            limits: What it may take.
            preload: Modules that the helper loads and keeps beside that of the function; later calls find them there.
            options: Its keywords, as JSON knows them.

        Raises:
            Ended: If it took too long or too much memory, crashed, or raised.
        """
        job: dict[str, Any] = {
            "function": function,
            "preload": list(preload),
            "options": options,
            "cpu": limits.cpu and max(1, round(limits.cpu)),
            "seconds": limits.seconds or (20.0 * limits.cpu if limits.cpu else 1e6),
            "memory": None if limits.memory is None else int(limits.memory),
        }
        with self._lock:
            process = self._started()
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                _send(process.stdin, json.dumps(job).encode(), _packed(arrays))
                if not select.select([process.stdout], [], [], job["seconds"] + 60.0)[0]:
                    raise Ended("time", "its process is stuck")
                head, body = _receive(process.stdout)
            except (EOFError, OSError, ValueError):
                self.close()
                raise Ended("crash", "its process ended") from None
            except BaseException:  # an interruption: the answer must not be taken for that of the next call
                self.close()
                raise
        code, spent, self.peak = json.loads(head)
        self.spent += spent
        return _answer(int(code), body)

    def close(self) -> None:
        """End the helper."""
        if self._process is not None and self._owner == os.getpid():
            self._process.kill()
            self._process.communicate()
        self._process = None

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None or self._owner != os.getpid():
            folders = os.pathsep.join(folder for folder in sys.path if folder)
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "neurok.sandbox"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": folders},
            )
            if self._owner != os.getpid():
                atexit.register(self.close)
            self._owner = os.getpid()
        return self._process


SANDBOX = Sandbox()
"""The one of this program."""


def _answer(code: int, body: bytes) -> list[np.ndarray]:
    """What a call gave back, or the reason why it did not."""
    if code == OK:
        return _unpacked(body)
    if code == FAULT:
        raise Ended("fault", body.decode(errors="replace"))
    if code == TOO_LARGE:
        raise Ended("memory", "it takes too much memory")
    slow = [getattr(signal, name, None) for name in ("SIGKILL", "SIGXCPU", "SIGALRM")]
    if -code in slow:
        raise Ended("time", "it takes too long")
    raise Ended("crash", f"its process ended with code {code}")


def _packed(arrays: Iterable[np.ndarray]) -> bytes:
    out = io.BytesIO()
    np.savez(out, *arrays)
    return out.getvalue()


def _unpacked(data: bytes) -> list[np.ndarray]:
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        return [arrays[f"arr_{k}"] for k in range(len(arrays))]


def _send(stream: BinaryIO | Any, *blocks: bytes) -> None:
    for block in blocks:
        stream.write(LENGTH.pack(len(block)))
        stream.write(block)
    stream.flush()


def _receive(stream: BinaryIO | Any) -> tuple[bytes, bytes]:
    """Two blocks."""
    blocks = []
    for _ in range(2):
        head = stream.read(LENGTH.size)
        if len(head) < LENGTH.size:
            raise EOFError
        blocks.append(stream.read(*LENGTH.unpack(head)))
    return blocks[0], blocks[1]


def _serve() -> None:
    """Answer one call after the other until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a decoder prints is no answer
    while True:
        try:
            head, body = _receive(sys.stdin.buffer)
        except EOFError:
            return
        job, before = json.loads(head), time.process_time()
        for name in (*job["preload"], job["function"].split(":")[0]):
            with suppress(Exception):  # what cannot be loaded is said by the call
                importlib.import_module(name)
        code, answer, spent, peak = _in_fork(job, body) if hasattr(os, "fork") else (*_attempt(job, body), 0.0, 0.0)
        _send(answers, json.dumps([code, spent + time.process_time() - before, peak]).encode(), answer)


def _in_fork(job: dict[str, Any], body: bytes) -> tuple[int, bytes, float, float]:
    """Exit code, answer, processor time and most memory of a call in a process of its own."""
    hear, tell = os.pipe()
    child = os.fork()
    if child == 0:
        code = FAULT
        try:
            os.close(hear)
            _bound(job)
            code, answer = _attempt(job, body)
            with os.fdopen(tell, "wb") as stream:
                stream.write(answer)
        except MemoryError:
            code = TOO_LARGE
        finally:
            os._exit(code)
    os.close(tell)
    with os.fdopen(hear, "rb") as stream:
        answer = stream.read()
    _, status, usage = os.wait4(child, 0)
    scale = 1.0 if sys.platform == "darwin" else 1024.0
    return os.waitstatus_to_exitcode(status), answer, usage.ru_utime + usage.ru_stime, scale * usage.ru_maxrss


def _bound(job: dict[str, Any]) -> None:
    """Set the limits of this process."""
    import resource

    if job["memory"] is not None and os.path.exists("/proc/self/statm"):
        with open("/proc/self/statm") as file:
            most = int(file.read().split()[0]) * resource.getpagesize() + job["memory"]
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    if job["cpu"] is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (job["cpu"], job["cpu"]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.setitimer(signal.ITIMER_REAL, job["seconds"])


def _attempt(job: dict[str, Any], body: bytes) -> tuple[int, bytes]:
    try:
        module, name = job["function"].split(":")
        found = getattr(importlib.import_module(module), name)(*_unpacked(body), **job["options"])
        return OK, _packed(() if found is None else found)
    except MemoryError:
        return TOO_LARGE, b""
    except Exception as error:
        if isinstance(error, SystemError) or "bad_alloc" in repr(error):  # a library has not checked its memory
            return TOO_LARGE, b""
        return FAULT, " ".join(str(error).split())[-800:].encode(errors="replace")


if __name__ == "__main__":
    _serve()
