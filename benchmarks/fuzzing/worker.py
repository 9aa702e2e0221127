"""A process that tries one mutant after another: a number comes in, what happened goes out."""

from __future__ import annotations

import json
import os
import resource
import shutil
import sys
import tempfile
import traceback
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fuzzing.mutations import mutate
from fuzzing.seeds import SECRET, Seed, seeds
from fuzzing.targets import TARGETS, EscapeError, sentence_of
from neurok.core import Mesh
from neurok.io import save

ADDRESS_SPACE = 12 * 1024**3
"""Of the whole process with all libraries [bytes]; a mutant that wants more meets a MemoryError."""

CODES = (0, 2, 3)
"""Exit codes that a command may end with: done, refused, diverged."""


@dataclass
class Outcome:
    """What one mutant did."""

    number: int
    seed: str
    verdict: str
    """``read``, ``refused``, or what must not be: ``traceback``, ``sentence``, ``escape``, ``exit code``."""

    detail: str = ""
    memory: int = 0
    """What it added to the memory of the process at most [bytes]."""


def damaged(seed: Seed, number: int, master: int) -> dict[str, bytes]:
    """The files of a mutant: all of its seed's, one of them hurt."""
    rng = np.random.default_rng([master, number])
    if not seed.hurt:  # its target draws the damage
        return seed.files
    name = seed.hurt[int(rng.integers(len(seed.hurt)))]
    return {**seed.files, name: mutate(name, seed.files[name], rng)}


def lay_out(files: dict[str, bytes], folder: Path) -> None:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


class Bench:
    """Where mutants are laid out: ``in`` for them, ``out`` for what is made of them, and a secret beside both."""

    def __init__(self, folder: Path, master: int, kinds: Sequence[str] = ()) -> None:
        self.folder, self.master = folder, master
        (folder / "seeds").mkdir()
        self.seeds = [seed for seed in seeds(folder / "seeds") if not kinds or seed.name in kinds]
        save(Mesh(np.eye(3) * SECRET, np.array([[0, 1, 2]])), folder / "secret.obj")
        save(Mesh(np.eye(3) * SECRET, np.array([[0, 1, 2]])), folder / "secret.usda")
        self.opened: list[str] = []
        sys.addaudithook(self._hear)

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(args[0], str) and Path(args[0]).name.startswith(("secret.", "passwd")):
            self.opened.append(args[0])

    def attempt(self, number: int) -> Outcome:
        seed = self.seeds[number % len(self.seeds)]
        inside, out = self.folder / "in", self.folder / "out"
        for place in (inside, out):
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
        lay_out(damaged(seed, number, self.master), inside)
        self.opened.clear()
        before = _restart_peak()
        with _Captured(self.folder) as said:
            verdict, detail = self._run(seed, inside / seed.main, out, number)
        if verdict in ("read", "refused") and (problem := _misspoken(verdict, detail, said.text)):
            verdict, detail = "sentence", problem
        if self.opened:
            verdict, detail = "escape", self.opened[0]
        left = [p.name for p in out.rglob("*") if p.name.startswith(".neurok")]
        if left:
            verdict, detail = "half-written", left[0]
        return Outcome(number, seed.name, verdict, detail[-1500:], max(0, _peak() - before))

    def _run(self, seed: Seed, path: Path, out: Path, number: int) -> tuple[str, str]:
        try:
            TARGETS[seed.kind](path, out, number // len(self.seeds))
        except SystemExit as ended:
            if ended.code not in CODES:
                return "exit code", f"exit code {ended.code}"
            return "refused" if ended.code == 2 else "read", ""
        except EscapeError as error:
            return "escape", str(error)
        except BaseException as error:
            sentence = sentence_of(error)
            return ("refused", sentence) if sentence is not None else ("traceback", traceback.format_exc())
        return "read", ""


def _misspoken(verdict: str, sentence: str, printed: str) -> str:
    """What is wrong with what was said: one line of bounded length is asked for, and no library's own words."""
    lines = [line for line in (sentence or printed).splitlines() if line]
    lines = [line for line in lines if "compiling the engine" not in line]
    if any(line.startswith("╭") for line in lines):  # the box in which tyro says which flag it does not know
        return ""
    if verdict == "refused" and len(lines) != 1:
        return f"{len(lines)} lines: {printed[-600:]}"
    if any(len(line) > 2200 for line in lines):
        return f"a line of {max(map(len, lines))} characters"
    foreign = [line for line in printed.splitlines() if line and not line.startswith("neurok: ")]
    return f"not ours: {foreign[0]}" if foreign else ""


class _Captured:
    """What was written to stderr within, by any library, and nothing on stdout."""

    def __init__(self, folder: Path) -> None:
        self.path, self.text = folder / "stderr", ""

    def __enter__(self) -> _Captured:
        self.kept = os.dup(1), os.dup(2)
        self.file = os.open(self.path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
        self.nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(self.nothing, 1)
        os.dup2(self.file, 2)
        return self

    def __exit__(self, *_: object) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, handle in enumerate(self.kept, 1):
            os.dup2(handle, number)
            os.close(handle)
        os.close(self.file)
        os.close(self.nothing)
        self.text = self.path.read_text(errors="replace")


def _restart_peak() -> int:
    """Forget the largest memory so far; returns what is held now [bytes]."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return _status("VmRSS")


def _peak() -> int:
    try:
        return _status("VmHWM")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _status(key: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key):
            return int(line.split()[1]) * 1024
    return 0


def main() -> None:
    """Answer each number on stdin with an outcome on stdout."""
    os.environ["TMPDIR"] = tempfile.mkdtemp(prefix="neurok-fuzz-")
    tempfile.tempdir = None
    os.environ["NEUROK_TRACEBACK"] = "1"
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answers = os.fdopen(os.dup(1), "w")
    folder = Path(os.environ["TMPDIR"])
    try:
        bench = Bench(folder, int(sys.argv[1]), sys.argv[2:])
        print("ready", file=answers, flush=True)
        for line in sys.stdin:
            print(json.dumps(asdict(bench.attempt(int(line)))), file=answers, flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
