"""What ``neurok generate`` costs: a fresh process for one object, for a clip of two seconds, and one more object warm.

    python benchmarks/bench_generation.py [--text "a red velvet sofa on oak legs"] [--no-clip]

CPU seconds of the process and of its children, wall seconds, and the most memory. On a busy machine only the first say
something of the program.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import tyro

from neurok_lab.evaluation.tables import stamp


@dataclass
class Bench:
    """Measure."""

    text: str = "a red velvet sofa on oak legs"
    """What to make."""

    clip: bool = True
    """Also drop it for two seconds."""

    def run(self) -> None:
        print("| | CPU s | wall s | memory [MB] |\n|---|---|---|---|")
        with tempfile.TemporaryDirectory() as folder:
            self._fresh("words to a GLB, fresh process", [str(Path(folder) / "x.glb")])
            self._warm()
            if self.clip:
                out = str(Path(folder) / "clip.glb")
                self._fresh("words to a clip of 2 s, fresh process", [out, "--act", "drop", "--seconds", "2"])
        print(f"\n{stamp()}")

    def _fresh(self, name: str, words: list[str]) -> None:
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        command = [sys.executable, "-m", "neurok", "generate", "--text", self.text, "--out", *words]
        subprocess.run(command, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"| {name} | {used:.1f} | {time.perf_counter() - start:.1f} | {after.ru_maxrss / 1e3:.0f} |", flush=True)

    def _warm(self) -> None:
        from neurok.generation.verb import generate

        generate(self.text, seed=0)
        start, wall = time.process_time(), time.perf_counter()
        generate(self.text, seed=1)
        used, passed = time.process_time() - start, time.perf_counter() - wall
        print(f"| words to an object, networks loaded | {used:.1f} | {passed:.1f} | |", flush=True)


if __name__ == "__main__":
    tyro.cli(Bench).run()
