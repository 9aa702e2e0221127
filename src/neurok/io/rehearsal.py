"""Files that the code of others decodes are opened in a process of their own first, with bounds on memory and time.

Damage can make a decoder crash, fill the memory or never end. One helper process per program waits with the libraries
loaded; each file is tried in a fork of it. Only what the fork survives is opened here.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Decoder = Literal["layer", "stage", "mjcf"]
"""Of one USD layer, of the stage that layers make together, of an MJCF model."""

HELPER = """
import ast, json, os, resource, signal, sys

def layer(path):
    from pxr import Sdf, UsdUtils
    if not Sdf.Layer.FindOrOpen(path):
        return 3
    UsdUtils.ExtractExternalReferences(path)
    return 0

def stage(path):
    from pxr import Usd
    stage = Usd.Stage.Open(path)
    for prim in Usd.PrimRange(stage.GetPseudoRoot(), Usd.TraverseInstanceProxies()):
        for attribute in prim.GetAttributes():
            attribute.Get()
    return 0

def mjcf(path):
    import mujoco
    mujoco.set_mju_user_warning(lambda text: None)
    model = mujoco.MjModel.from_xml_path(path)
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    return 0

def prepare(kind):
    if kind == "mjcf":
        import mujoco
    else:
        from pxr import Sdf, Usd, UsdUtils

def held():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()

def attempt(job, tell):
    if os.path.exists("/proc/self/statm"):
        memory = held() + job["memory"]
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (job["seconds"], job["seconds"]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.alarm(10 * job["seconds"])
    try:
        return {"layer": layer, "stage": stage, "mjcf": mjcf}[job["kind"]](job["path"])
    except MemoryError:
        return 4
    except Exception as error:
        if "bad_alloc" in repr(error):
            return 4
        os.write(tell, repr(" ".join(str(error).split())[-800:]).encode())
        return 3

signal.signal(signal.SIGINT, signal.SIG_IGN)
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
for line in sys.stdin:
    job = json.loads(line)
    prepare(job["kind"])
    hear, tell = os.pipe()
    child = os.fork()
    if child == 0:
        code = 3
        try:
            code = attempt(job, tell)
        finally:
            os._exit(code)
    os.close(tell)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    reason = os.read(hear, 4096).decode(errors="replace")
    os.close(hear)
    print(json.dumps([code, reason and ast.literal_eval(reason)]), file=answers, flush=True)
"""

UNREADABLE, TOO_LARGE = 3, 4


@dataclass(frozen=True)
class Bounds:
    """What a file may cost; chosen so that the largest files of public collections pass ten times over."""

    memory: int = 1024**3
    """What it may add to the memory of the process [bytes], to which ``growth`` times the file's size is added."""

    growth: int = 64
    """Bytes of memory for each byte of the file."""

    seconds: int = 20
    """Of computing, to which the file's size over ``speed`` is added [s]."""

    speed: float = 5e6
    """Slowest decoding that is waited for [bytes/s]."""


BOUNDS: dict[Decoder, Bounds] = {"layer": Bounds(), "stage": Bounds(), "mjcf": Bounds(seconds=60)}


@dataclass(frozen=True)
class Trial:
    """What became of a file in a process of its own."""

    damage: str = ""
    """What opening it did to the process, in words; empty if that survived."""

    is_read: bool = True
    reason: str = ""
    """Why its decoder refused it, in the decoder's own words."""


def rehearse(path: Path, kind: Decoder) -> Trial:
    """Open a file in a process of its own first."""
    if not hasattr(os, "fork") or not sys.executable:
        return Trial()
    facts = path.stat()
    bounds = BOUNDS[kind]
    job = {
        "kind": kind,
        "path": str(path),
        "memory": bounds.memory + bounds.growth * facts.st_size,
        "seconds": int(bounds.seconds + facts.st_size / bounds.speed),
    }
    code, reason = _helper().ask(job, (kind, str(path.resolve()), facts.st_mtime_ns, facts.st_size))
    return Trial("" if code in (0, UNREADABLE) else DAMAGE.get(code, "its decoder broke off"), code == 0, reason)


DAMAGE = {
    TOO_LARGE: "it takes more memory than any file of its size should",
    -signal.SIGKILL: "it takes longer than any file of its size should",
    -signal.SIGXCPU: "it takes longer than any file of its size should",
    -signal.SIGALRM: "it takes longer than any file of its size should",
} if hasattr(os, "fork") else {}  # fmt: skip


class _Helper:
    """The process that tries files, started when it is first needed, and again where it has died."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None
        self.owner = os.getpid()
        self.lock = threading.Lock()
        self.known: dict[Any, tuple[int, str]] = {}

    def ask(self, job: dict[str, Any], key: Any) -> tuple[int, str]:
        """The exit code of a trial and what its decoder said; a file that has not changed is tried once."""
        with self.lock:
            if key not in self.known:
                self.known[key] = self._try(job)
            return self.known[key]

    def _try(self, job: dict[str, Any]) -> tuple[int, str]:
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", HELPER],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps(job) + "\n")
            self.process.stdin.flush()
            code, reason = json.loads(self.process.stdout.readline())
            return int(code), str(reason)
        except (OSError, ValueError):
            self.close()
            return -1, ""

    def close(self) -> None:
        if self.process is not None and self.owner == os.getpid():
            self.process.kill()
            self.process.communicate()
        self.process = None


_helpers: list[_Helper] = []


def _helper() -> _Helper:
    """The helper of this process; a fork does not share that of its parent."""
    if not _helpers or _helpers[-1].owner != os.getpid():
        _helpers[:] = [_Helper()]
        atexit.register(_helpers[-1].close)
    return _helpers[-1]
