"""CoACD in a process of its own: some meshes that cut themselves end it, and then only that process ends."""

from __future__ import annotations

import io
import json
import os
import select
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from jaxtyping import Float, Int

PATIENCE = 60.0
"""Processor time that one mesh may take [s], so that a busy machine gives the same answer; tens of times what common
parts need."""

HANGING = 20.0
"""A process that has not answered after this many times as long by the clock is stuck."""

LOOK_SECONDS = 0.5
"""How often it is looked at [s]."""

LENGTH = struct.Struct("<Q")


class Cutter:
    """A process that waits with the package loaded; started when it is first needed, and again if it has died."""

    def __init__(self, command: list[str] | None = None, patience: float = PATIENCE) -> None:
        self.command = [sys.executable, "-m", __name__] if command is None else command
        self.patience = patience
        self.process: subprocess.Popen[bytes] | None = None
        self.owner = 0
        self.lock = threading.Lock()

    def cut(
        self, vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"], **options: Any
    ) -> list[Float[np.ndarray, "N 3"]] | None:
        """Corners of the convex pieces of a closed solid; ``None`` where the process has died or takes too long."""
        said = np.frombuffer(json.dumps(options).encode(), dtype=np.uint8)
        with self.lock:
            process = self._running()
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                begun, spent = time.monotonic(), self.spent()
                _send(process.stdin, [said, vertices, faces])
                while not select.select([process.stdout], [], [], min(LOOK_SECONDS, self.patience))[0]:
                    late = time.monotonic() - begun > HANGING * self.patience
                    if late or self.spent() - spent > self.patience:
                        raise EOFError
                return _receive(process.stdout)
            except (EOFError, OSError, ValueError):
                process.kill()
                process.wait()
                self.process = None
                return None

    def spent(self) -> float:
        """Processor time of the process so far [s]; that of the clock where nobody tells, 0 where there is none."""
        if self.process is None or self.process.poll() is not None:
            return 0.0
        try:
            words = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return time.monotonic()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def _running(self) -> subprocess.Popen[bytes]:
        if self.process is None or self.process.poll() is not None or self.owner != os.getpid():
            pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
            self.process, self.owner = subprocess.Popen(self.command, **pipes), os.getpid()
        return self.process


CUTTER = Cutter()


def _send(stream: BinaryIO | Any, arrays: list[np.ndarray]) -> None:
    packed = io.BytesIO()
    np.savez(packed, *arrays)
    stream.write(LENGTH.pack(packed.tell()) + packed.getvalue())
    stream.flush()


def _receive(stream: BinaryIO | Any) -> list[np.ndarray]:
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        raise EOFError
    with np.load(io.BytesIO(stream.read(*LENGTH.unpack(head))), allow_pickle=False) as arrays:
        return [arrays[f"arr_{k}"] for k in range(len(arrays))]


def serve() -> None:
    """Cut what comes in until the other end is closed."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what the package prints is no answer
    import coacd

    coacd.set_log_level("off")
    while True:
        try:
            said, vertices, faces = _receive(sys.stdin.buffer)
        except EOFError:
            return
        options = json.loads(said.tobytes())
        found = coacd.run_coacd(coacd.Mesh(vertices, faces), **options)
        _send(answers, [np.asarray(points, dtype=np.float64) for points, _ in found])


if __name__ == "__main__":
    serve()
