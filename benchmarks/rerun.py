"""Every figure of the README and the docs again, one after the other, and what has moved since they were last written.

Run: make benchmarks [ONLY="dynamics particles"]   or   python benchmarks/rerun.py [--only NAME ...] [--list]

Each script writes its own table with machine, date and command. What needs real data is passed over unless NEUROK_DATA
names its folder. Finished ones are noted in ``out/benchmarks``, so that a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
OUT = ROOT / "out" / "benchmarks"
NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*\.?\d*(?:e[-+]?\d+)?(?![\w.])")
NOTICED = 0.05
"""Relative change of a figure that is told."""


@dataclass(frozen=True)
class Benchmark:
    """A command and the pages that hold its figures."""

    name: str
    command: str
    pages: tuple[str, ...]
    needs_data: bool = False


BENCHMARKS = (
    Benchmark("files", "benchmarks/bench_gltf.py", ("benchmarks/results/gltf.md",)),
    Benchmark("data", "benchmarks/bench_data.py", ("benchmarks/results/data.md",)),
    Benchmark("dynamics", "benchmarks/bench_dynamics.py", ("benchmarks/results/dynamics.md",)),
    Benchmark("contact", "benchmarks/bench_contact_speed.py", ("benchmarks/results/contact_speed.md",)),
    Benchmark("soft", "benchmarks/bench_soft.py --write docs/soft.md", ("docs/soft.md",)),
    Benchmark("particles", "benchmarks/bench_particles.py --answers --write docs/particles.md", ("docs/particles.md",)),
    Benchmark(
        "particle speed", "benchmarks/bench_particles.py --speed --write docs/particles.md", ("docs/particles.md",)
    ),
    Benchmark(
        "engines",
        "-m neurok evaluate dynamics --seconds 0.6 --out out/dynamics.json --write docs/particles.md",
        ("docs/particles.md",),
    ),
    Benchmark("neural", "benchmarks/bench_neural.py", ("benchmarks/results/neural.md",), True),
    Benchmark(
        "motions",
        "-m neurok evaluate motions --methods search,unasked,infer,articulate,rules,parts --categories "
        "--out out/motions.json --write docs/results.md",
        ("docs/results.md",),
        True,
    ),
    Benchmark(
        "poses",
        "benchmarks/results_deformation.py --rows out/poses",
        ("docs/results.md", "docs/lab/notebook_results.md"),
        True,
    ),
    Benchmark(
        "joints",
        "-m neurok evaluate articulation --methods search,learned --out out/joints.json --write docs/articulation.md",
        ("docs/articulation.md",),
        True,
    ),
    Benchmark(
        "simulators",
        "benchmarks/bench_simulating_exports.py --keep out/simulators --write docs/simulators.md",
        ("docs/simulators.md",),
        True,
    ),
    Benchmark("waiting", "benchmarks/bench_waiting.py", (), True),
    Benchmark("peers", "benchmarks/bench_peers.py --write docs/simulators.md", ("docs/simulators.md",)),
    Benchmark("words", "-m neurok evaluate generation --what text --write docs/generation.md", ("docs/generation.md",)),
    Benchmark("generation time", "benchmarks/bench_generation.py", ("docs/generation.md",)),
    Benchmark("realism", "benchmarks/realism_household.py", ("docs/lab/household.md",), True),
    Benchmark(
        "realism of families",
        "benchmarks/realism_articulated.py --each 20 --write docs/lab/notebook_joints.md",
        ("docs/lab/notebook_joints.md",),
        True,
    ),
    Benchmark(
        "named doors",
        "benchmarks/named_doors.py --named $NEUROK_DATA/household/kenney-furniture-kit",
        (),
        needs_data=True,
    ),
    Benchmark("patches", "benchmarks/patch_ceiling.py --data $NEUROK_DATA/partnet_mobility/train", (), needs_data=True),
    Benchmark(
        "grouping folds",
        "benchmarks/pieces_folds.py --data $NEUROK_DATA/partnet_mobility/train $NEUROK_DATA/articulated_urdf "
        "--static $NEUROK_DATA/household/sweethome3d $NEUROK_DATA/household/kenney-furniture-kit "
        "$NEUROK_DATA/household/aws-small-house $NEUROK_DATA/furniture_glb $NEUROK_DATA/animated_glb "
        "--out out/pieces_folds --write docs/lab/notebook_joints.md",
        ("docs/lab/notebook_joints.md",),
        True,
    ),
    Benchmark("fuzz", "benchmarks/fuzz.py --count 10000 --write docs/reliability.md", ("docs/reliability.md",)),
    Benchmark("soak", "benchmarks/soak.py --write docs/reliability.md", ("docs/reliability.md",)),
    Benchmark("studio", "benchmarks/bench_studio.py", ("benchmarks/results/studio.md",)),
    Benchmark("studio soak", "benchmarks/bench_studio.py --soak 3600", ("benchmarks/results/studio_soak.md",)),
    Benchmark("house", "benchmarks/count_house.py --write docs/architecture.md", ("docs/architecture.md",)),
    Benchmark("moving picture", "benchmarks/picture_readme.py", ()),
    Benchmark("gallery", "benchmarks/gallery_readme.py", ("docs/gallery.md",)),
)


def tables(text: str) -> dict[str, list[float]]:
    """The figures of each row of the tables of a page, by their table and first cell."""
    found: dict[str, list[float]] = {}
    heading, count = "", 0
    for line in text.splitlines():
        if not line.startswith("|"):
            heading, count = (line.strip("# ").strip() or heading), 0
            continue
        count += 1
        first, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        key = f"{heading[:40]} / {first} / {count}"
        found[key] = [float(number.replace(",", "")) for cell in cells for number in NUMBER.findall(cell)]
    return found


def moved(before: str, after: str) -> list[str]:
    """Rows whose figures have changed by more than is noise."""
    old, out = tables(before), []
    for key, now in tables(after).items():
        then = old.get(key)
        if then is None or len(then) != len(now):
            if now:
                out.append(f"{key}: new")
            continue
        changes = [f"{a:g} -> {b:g}" for a, b in zip(then, now) if abs(a - b) > NOTICED * max(abs(a), abs(b))]
        if changes:
            out.append(f"{key}: {', '.join(changes)}")
    return out


def run(benchmark: Benchmark) -> dict[str, object]:
    """Run it; whether it ended well, how long it took, and what has moved."""
    before = {page: (ROOT / page).read_text() if (ROOT / page).exists() else "" for page in benchmark.pages}
    began = time.perf_counter()
    words = shlex.split(os.path.expandvars(benchmark.command))
    done = subprocess.run([sys.executable, *words], cwd=ROOT)
    changes = [
        f"{page}: {line}"
        for page, text in before.items()
        if (ROOT / page).exists()
        for line in moved(text, (ROOT / page).read_text())
    ]
    return {"ended": done.returncode, "seconds": time.perf_counter() - began, "moved": changes}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    names = [benchmark.name for benchmark in BENCHMARKS]
    parser.add_argument("--only", nargs="*", metavar="NAME", help=f"some of: {', '.join(names)}")
    parser.add_argument("--list", action="store_true", help="only say what there is")
    parser.add_argument("--again", action="store_true", help="also those that were finished by a run before")
    told = parser.parse_args()
    if unknown := sorted(set(told.only or ()) - set(names)):
        parser.error(f"there is no benchmark {', '.join(unknown)}; there are {', '.join(names)}")
    OUT.mkdir(parents=True, exist_ok=True)
    failed = []
    for benchmark in BENCHMARKS:
        if told.only and benchmark.name not in told.only:
            continue
        note = OUT / f"{benchmark.name.replace(' ', '_')}.json"
        if told.list:
            print(f"{benchmark.name}: python {benchmark.command}")
            continue
        if benchmark.needs_data and not os.environ.get("NEUROK_DATA"):
            print(f"{benchmark.name}: passed over, NEUROK_DATA is not set", flush=True)
            continue
        if note.exists() and not told.again:
            print(f"{benchmark.name}: finished before; --again runs it once more", flush=True)
            continue
        print(f"{benchmark.name}: python {benchmark.command}", flush=True)
        found = run(benchmark)
        for line in found["moved"]:  # type: ignore[attr-defined]
            print(f"  moved: {line}")
        if found["ended"]:
            failed.append(benchmark.name)
            print(f"  failed with {found['ended']}", flush=True)
        else:
            note.write_text(json.dumps(found, indent=1))
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
