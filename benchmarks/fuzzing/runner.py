"""Spreads mutants over workers, watches their time and memory, and keeps those that went wrong."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path

from fuzzing.seeds import Seed, seeds
from fuzzing.worker import Outcome, damaged, lay_out

BAD = ("traceback", "exit code", "sentence", "escape", "half-written", "hang", "died", "over budget")


@dataclass(frozen=True)
class Limits:
    """What one mutant of a few kilobytes may cost."""

    seconds: float = 20.0
    """Of computing, not of waiting, so that a busy machine is no fault [s]."""

    memory: int = 1536 * 1024**2
    """Added to the process [bytes]."""


@dataclass
class Tally:
    """Outcomes so far."""

    verdicts: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By seed and verdict."""

    bad: list[Outcome] = field(default_factory=list)
    most_memory: int = 0
    most_seconds: float = 0.0
    total_seconds: float = 0.0

    def add(self, outcome: Outcome, seconds: float) -> None:
        self.verdicts[outcome.seed, outcome.verdict] += 1
        self.most_memory = max(self.most_memory, outcome.memory)
        self.most_seconds = max(self.most_seconds, seconds)
        self.total_seconds += seconds
        if outcome.verdict in BAD:
            self.bad.append(outcome)


class Worker:
    """One process; it is started again after a mutant has ended it."""

    def __init__(self, master: int, kinds: Sequence[str] = ()) -> None:
        self.master, self.kinds = master, kinds
        self.process: subprocess.Popen[str] | None = None

    def _start(self) -> None:
        here = Path(__file__).parents[1]
        paths = [str(here), str(here.parent / "src"), os.environ.get("PYTHONPATH", "")]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "fuzzing.worker", str(self.master), *self.kinds],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        self.lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._listen, args=(self.process, self.lines), daemon=True).start()
        if self.lines.get().strip() != "ready":
            raise RuntimeError("a worker did not start; run it by hand: python -m fuzzing.worker 0")

    @staticmethod
    def _listen(process: subprocess.Popen[str], lines: queue.Queue[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            lines.put(line)
        lines.put("")

    def attempt(self, number: int, limits: Limits) -> tuple[Outcome, float]:
        """The outcome of one mutant and the seconds of computing it took."""
        if self.process is None or self.process.poll() is not None:
            self._start()
        assert self.process is not None
        assert self.process.stdin is not None
        begin = _computed(self.process.pid)
        self.process.stdin.write(f"{number}\n")
        self.process.stdin.flush()
        while True:
            try:
                line = self.lines.get(timeout=1.0)
                break
            except queue.Empty:
                if _computed(self.process.pid) - begin > limits.seconds:
                    self.close()
                    return Outcome(number, "", "hang", f"more than {limits.seconds:g} s"), limits.seconds
        if not line:
            code = self.process.wait()
            return Outcome(number, "", "died", f"the process ended with {code}"), 0.0
        outcome = Outcome(**json.loads(line))
        if outcome.memory > limits.memory and outcome.verdict not in BAD:
            outcome.verdict, outcome.detail = "over budget", f"{outcome.memory / 1e9:.2f} GB"
        return outcome, _computed(self.process.pid) - begin

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()


def _computed(pid: int) -> float:
    """Seconds of processor time of a process."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return time.monotonic()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def run(
    numbers: Iterable[int],
    master: int,
    keep: Path,
    workers: int = 1,
    limits: Limits | None = None,
    kinds: Sequence[str] = (),
) -> Tally:
    """Try mutants of the seeds of these names; those that went wrong are kept, with what was said of them.

    Outcomes are noted in ``keep`` as they come; a run with the same arguments goes on behind them.
    """
    tally, lock, limits = Tally(), threading.Lock(), limits or Limits()
    notes = keep / "outcomes.jsonl"
    keep.mkdir(parents=True, exist_ok=True)
    known = {}
    for line in notes.read_text().splitlines() if notes.exists() else []:
        note = json.loads(line)
        if note.pop("run") == [master, *kinds]:
            known[note["outcome"]["number"]] = note
    numbers = list(numbers)
    for number in numbers:
        if number in known:
            tally.add(Outcome(**known[number]["outcome"]), known[number]["seconds"])
    waiting = iter([number for number in numbers if number not in known])

    def work() -> None:
        worker = Worker(master, kinds)
        try:
            while True:
                with lock:
                    number = next(waiting, None)
                if number is None:
                    return
                outcome, seconds = worker.attempt(number, limits)
                outcome.seed = outcome.seed or _seed(number, kinds).name
                with lock:
                    tally.add(outcome, seconds)
                    note = {"run": [master, *kinds], "outcome": asdict(outcome), "seconds": round(seconds, 3)}
                    with notes.open("a") as file:
                        file.write(json.dumps(note) + "\n")
                    if sum(tally.verdicts.values()) % 500 == 0:
                        print(
                            f"{sum(tally.verdicts.values())} tried, {len(tally.bad)} bad", file=sys.stderr, flush=True
                        )
                    if outcome.verdict in BAD:
                        _keep(outcome, _seed(number, kinds), master, keep)
        finally:
            worker.close()

    threads = [threading.Thread(target=work) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return tally


@cache
def _seeds(kinds: tuple[str, ...]) -> list[Seed]:
    with tempfile.TemporaryDirectory() as folder:
        return [seed for seed in seeds(Path(folder)) if not kinds or seed.name in kinds]


def seed_names() -> list[str]:
    """All kinds of files there are."""
    return [seed.name for seed in _seeds(())]


def _seed(number: int, kinds: Sequence[str]) -> Seed:
    every = _seeds(tuple(kinds))
    return every[number % len(every)]


def _keep(outcome: Outcome, seed: Seed, master: int, keep: Path) -> None:
    folder = keep / f"{outcome.number:06d}_{outcome.verdict.replace(' ', '_')}"
    folder.mkdir(parents=True, exist_ok=True)
    lay_out(damaged(seed, outcome.number, master), folder)
    (folder / "what_happened.txt").write_text(f"{outcome.seed}: {outcome.verdict}\n{seed.main}\n{outcome.detail}\n")
