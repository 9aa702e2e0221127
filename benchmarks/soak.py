"""Long use and sudden ends: python benchmarks/soak.py --write docs/reliability.md

Calls `simulate` thousands of times and steps particles by the million in one process, and looks whether memory and open
files stay flat. Then ends long commands at random moments (SIGKILL, SIGINT and SIGTERM in turn), and lets the disk fill
at random writes, and looks at what is left.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from figures import replace_block, stamp


def memory() -> int:
    """Resident bytes of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def handles() -> int:
    return len(os.listdir("/proc/self/fd"))


def steady(name: str, call, count: int, warm: int) -> list[str]:
    """Memory and open files before and after many calls, the first ones aside."""
    for _ in range(warm):
        call()
    begin, files, marks = memory(), handles(), []
    for number in range(count):
        call()
        if number + 1 in (count // 2, count):
            marks.append(memory())
    half, end = marks
    return [
        name,
        f"{count:,}",
        f"{begin / 1e6:.0f}",
        f"{half / 1e6:.0f}",
        f"{end / 1e6:.0f}",
        f"{handles() - files:+d}",
    ]


def simulations(count: int) -> list[str]:
    from fuzzing.seeds import shape

    from neurok import simulate

    chest = shape().articulation
    return steady(
        "`simulate` of a chest, 2 frames", lambda: simulate(chest, seconds=0.05, fps=40.0), count, count // 20
    )


def readings(count: int) -> list[str]:
    from fuzzing.seeds import shape

    from neurok import load, save

    with tempfile.TemporaryDirectory() as folder:
        one, other = Path(folder) / "a.glb", Path(folder) / "b.glb"
        save(shape(), one)
        return steady("`load` and `save` of a GLB", lambda: save(load(one), other), count, count // 20)


def particles(millions: float) -> list[str]:
    """Particle-substeps: one run is stepped on until so many are done."""
    from neurok import load
    from neurok.dynamics import Body, Ground, World
    from neurok.dynamics.particles.engine import ParticleEngine
    from neurok.dynamics.particles.engine_config import ParticleEngineConfig
    from neurok.dynamics.simulate import start

    run = start(
        Body.of(load("sample:pillow"), free=True), World(ground=Ground()), seconds=None, record=False,
        engine=ParticleEngine(ParticleEngineConfig(cells=14)),
    )  # fmt: skip
    report = lambda: run.rollouts()[0].report  # noqa: E731
    for _ in range(10):
        run.step()
    begin, files, marks = memory(), handles(), []
    facts = report()
    per_frame = facts["particles"] * facts["steps"] / 10
    frames = max(2, round(millions * 1e6 / per_frame))
    for number in range(frames):
        run.step()
        if number + 1 in (frames // 2, frames):
            marks.append(memory())
    done = facts["particles"] * report()["steps"] / 1e6
    half, end = marks
    return [f"{done:.0f} million particle-substeps", f"{frames:,}", f"{begin / 1e6:.0f}", f"{half / 1e6:.0f}",
            f"{end / 1e6:.0f}", f"{handles() - files:+d}"]  # fmt: skip


LONG = {
    "convert": ["convert", "sample:cabinet", "--out", "OUT/o.glb", "OUT/o.obj", "OUT/o.npz"],
    "simulate": ["simulate", "sample:laptop", "--drop", "--seconds", "0.5", "--out", "OUT/o.glb"],
    "sample": ["sample", "sample:cabinet", "-n", "6", "--out", "OUT/states"],
    "articulate": ["articulate", "sample:laptop", "--method", "search", "--out", "OUT/o.urdf", "OUT/o.usda"],
    "simulate, particles": ["simulate", "sample:pillow", "--engine", "particles", "--drop", "--seconds", "0.2",
                            "--out", "OUT/o.glb"],
    "render": ["render", "sample:laptop", "--out", "OUT/o.png", "OUT/o.mp4"],
    "simulate, soft": ["simulate", "sample:pillow", "--act", "drop", "--seconds", "0.3", "--out", "OUT/o.glb"],
    "generate": ["generate", "--text", "a red chair", "--out", "OUT/o.glb"],
    "generate --act": ["generate", "--text", "a pillow", "--act", "drop", "--seconds", "0.2", "--out", "OUT/o.glb"],
    "materials --check": ["materials", "IN/objects", "--propose", "--check", "--out", "OUT/sheet"],
    "data household": ["data", "household", "--out", "OUT/store", "--count", "2"],
    "batch": ["batch", "convert", "IN/objects", "--out", "OUT/all", "--formats", ".glb", "--workers", "1"],
    "train articulation": ["train", "articulation", "IN/objects", "--recipe", "smoke", "--everything",
                           "--out", "OUT/run"],
    "train pieces": ["train", "pieces", "IN/objects", "--recipe", "smoke", "--everything", "--generated", "0",
                     "--out", "OUT/run"],
    "train deformation": ["train", "deformation", "IN/tiny", "--recipe", "smoke", "--out", "OUT/run"],
    "train parts": ["train", "parts", "IN/parts", "--recipe", "smoke", "--objects", "2", "--out", "OUT/run"],
}  # fmt: skip
"""Commands by name; IN is a folder with what they read."""

RESUMED = ("data household", "batch", *(name for name in LONG if name.startswith("train ")))
"""Those that go on where they were killed: they begin in an empty folder, and end with the same bytes."""

SIGNALS = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)
"""Sent in turn."""

UNTOLD = ("times.jsonl", "log.jsonl", "checkpoint.safetensors")
"""Files that hold times."""


def _started(words: list[str], out: Path, limit: int | None = None, jumps: int | None = None) -> int:
    """A fork of this process that runs a command; nothing is imported again. What it says goes to ``stderr``."""
    child = os.fork()
    if child:
        return child
    code = 70
    try:
        sink = os.open(out.parent / "stderr", os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(sink, 2)
        if limit is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        from neurok import cli

        if jumps is not None:
            _jumping(jumps)
        cli.main([word.replace("OUT", str(out)).replace("IN/", f"{out.parent / 'given'}/") for word in words])
        code = 0
    except SystemExit as ended:
        code = int(ended.code or 0)
    finally:
        os._exit(code)


def _continued(words: list[str], out: Path) -> list[str]:
    """The command that goes on after a kill: training asks for it, if there is something to go on from."""
    return [*words, "--resume"] if (out / "run" / "checkpoint.safetensors").exists() else words


def _ended(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _whole(path: Path) -> bool:
    """Whether a file can be read."""
    from neurok import load
    from neurok.errors import NeurokError

    try:
        if path.suffix in (".glb", ".npz", ".obj", ".urdf", ".usda"):
            load(path)
    except NeurokError:
        return False
    return True


def _left(out: Path) -> tuple[int, int]:
    """Files that are damaged, and temporary ones that stayed."""
    found = [path for path in out.rglob("*") if path.is_file()]
    stale = [path for path in found if path.name.startswith(".neurok-")]
    return sum(not _whole(path) for path in found if path not in stale), len(stale)


def _jumping(seed: int) -> None:
    """The wall clock of this process jumps by up to a day, back and forth, each time it is asked."""
    dice, true = random.Random(seed), time.time
    time.time = lambda: true() + dice.uniform(-86_400.0, 86_400.0)  # the clock of the machine is not ours to set


def _bytes(out: Path) -> dict[str, str]:
    """What was written, without times."""
    return {
        str(path.relative_to(out)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(out.rglob("*"))
        if path.is_file() and path.name not in UNTOLD and not path.name.startswith(".neurok-")
    }


def _straight(name: str, out: Path) -> tuple[dict[str, str], float]:
    """What a command writes when nothing happens, and how long that takes; twice, so that everything is loaded."""
    for _ in range(2):
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        begin = time.monotonic()
        code = _ended(_started(LONG[name], out))
        if code:
            raise SystemExit(f"{name} ended with {code}: {(out.parent / 'stderr').read_text()}")
    return _bytes(out), time.monotonic() - begin


def kills(times: int, seed: int, folder: Path, names: list[str]) -> list[list[str]]:
    """Each command is killed at random moments; then it is run to its end, with the bytes of a straight run.

    Those that go on where they were do so after every kill, in a fresh folder; the others at last.
    """
    rows = []
    for name in names:
        words, dice, out = LONG[name], random.Random(f"{seed} {name}"), folder / name
        wanted, whole = _straight(name, out)
        damaged, ended, stale, other, codes = 0, 0, 0, 0, set()
        for number in range(times):
            if name in RESUMED:
                shutil.rmtree(out)
                out.mkdir()
            child = _started(words, out)
            time.sleep(dice.uniform(0.0, 1.0) * whole)
            sent = SIGNALS[number % len(SIGNALS)]
            os.kill(child, sent)
            ended += _ended(child) in (-sent, 128 + sent)
            bad, left = _left(out)
            damaged, stale = damaged + bad, max(stale, left)
            if name in RESUMED or number == times - 1:
                codes.add(_ended(_started(_continued(words, out), out)))
                damaged += _left(out)[0]
                other += _bytes(out) != wanted
        rows.append([f"killed: `{name}`", f"{times}, {ended} before its end", str(damaged), str(other),
                     ", ".join(map(str, sorted(codes))), f"{_left(out)[1]} (at most {stale} in between)"])  # fmt: skip
    return rows


def clock_jumps(times: int, seed: int, folder: Path, names: list[str]) -> list[list[str]]:
    """Commands while the clock jumps: the same bytes."""
    rows = []
    for name in names:
        out, damaged, other, codes = folder / name, 0, 0, set()
        wanted, _ = _straight(name, out)
        for number in range(times):
            shutil.rmtree(out)
            out.mkdir()
            codes.add(_ended(_started(LONG[name], out, jumps=seed + number)))
            damaged, other = damaged + _left(out)[0], other + (_bytes(out) != wanted)
        rows.append([f"clock jumps: `{name}`", str(times), str(damaged), str(other),
                     ", ".join(map(str, sorted(codes))), str(_left(out)[1])])  # fmt: skip
    return rows


def given(folder: Path) -> None:
    """What commands read."""
    from neurok import load, save

    (folder / "given" / "objects").mkdir(parents=True)
    for name in ("laptop", "cabinet", "pillow"):
        save(load(f"sample:{name}"), folder / "given" / "objects" / f"{name}.npz")
    for words in (["data", "build", "--recipe", "tiny", "--out", "IN/tiny"], LONG["train parts"]):  # makes IN/parts
        (folder / "made").mkdir(exist_ok=True)
        if code := _ended(_started(words, folder / "made")):
            raise SystemExit(f"{' '.join(words)} ended with {code}: {(folder / 'stderr').read_text()}")


def full_disk(times: int, seed: int, folder: Path, names: list[str]) -> list[list[str]]:
    """Writes fail once a file has grown to a random size, as on a full disk; the command says so in one sentence."""
    rows = []
    for name in names:
        words = LONG[name]
        _straight(name, folder / name)
        usual = (folder / "stderr").read_text()
        dice, codes, damaged, odd, stale = random.Random(f"{seed} {name}"), [], 0, 0, 0
        for number in range(times):
            out = folder / f"{name} {number}"
            out.mkdir()
            codes.append(_ended(_started(words, out, limit=int(10 ** dice.uniform(1, 5.5)))))
            lines = [line for line in (folder / "stderr").read_text().splitlines() if line and line not in usual]
            bad, left = _left(out)
            damaged, stale = damaged + bad, stale + left
            odd += codes[-1] not in (0, 2) or len(lines) > (codes[-1] == 2)
        told = f"{codes.count(2)} times 2, {codes.count(0)} times 0; {odd} without one sentence"
        rows.append([f"full disk: `{name}`", str(times), str(damaged), "-", told, str(stale)])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulations", type=int, default=10_000)
    parser.add_argument("--readings", type=int, default=2_000)
    parser.add_argument("--substeps", type=float, default=100.0, help="millions of particle-substeps")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--jumps", type=int, default=2, help="runs of each command while the clock jumps")
    parser.add_argument("--commands", nargs="*", default=list(LONG), help="those that are killed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", type=Path, help="a page whose blocks 'soak' and 'faults' get the tables")
    flags = parser.parse_args()
    runs = []
    runs += [simulations(flags.simulations)] if flags.simulations else []
    runs += [readings(flags.readings)] if flags.readings else []
    runs += [particles(flags.substeps)] if flags.substeps else []
    faults = []
    if flags.kills:
        with tempfile.TemporaryDirectory(prefix="neurok-soak-") as killed, tempfile.TemporaryDirectory() as full:
            for folder in (killed, full):
                given(Path(folder))
            faults = kills(flags.kills, flags.seed, Path(killed), flags.commands)
            faults += full_disk(flags.kills, flags.seed, Path(full), [n for n in flags.commands if n not in RESUMED])
            faults += clock_jumps(flags.jumps, flags.seed, Path(killed), flags.commands)
    columns = {"soak": ["what", "times", "MB at first", "half way", "at the end", "open files"],
               "faults": ["what", "times", "damaged", "other bytes", "exit code", "temporary files left"]}  # fmt: skip
    for name, rows in (("soak", runs), ("faults", faults)):
        if not rows:
            continue
        lines = [columns[name], ["---"] * len(columns[name]), *rows]
        text = "\n".join("| " + " | ".join(line) + " |" for line in lines) + f"\n\n{stamp()}"
        print(text)
        if flags.write:
            replace_block(flags.write, name, text)


if __name__ == "__main__":
    main()
