"""The particle solver: known answers, and speed beside Taichi's published MLS-MPM and plain Warp in one run.

    python benchmarks/bench_particles.py --answers --write docs/particles.md
    python benchmarks/bench_particles.py --speed --write docs/particles.md
    python benchmarks/bench_particles.py --cores --write docs/particles.md
    python benchmarks/bench_particles.py --reduced --write docs/particles.md

Speed is particle-substeps per second of processor time on one core; programs take turns and the best of the rounds
counts, so that a busy machine disturbs all alike. Two threads and the time to start are by the clock, and want an idle
machine. Taichi needs the extra ``peers``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import particle_answers as answers
from plain_warp import use_plain_kernels

from neurok.dynamics import start
from neurok.dynamics.particles import ParticleSet, Solver, SolverConfig, Surroundings
from neurok.dynamics.particles.engine_config import RESOLUTIONS
from neurok.dynamics.particles.state import Row
from neurok.scene.description import Scene, SceneObject
from neurok.scene.run import engine_of, prepare_scene
from neurok_lab.evaluation.dynamics import source_of

COUNTS = (10_000, 100_000, 1_000_000)
ROUNDS = 4


def machine() -> str:
    names = [
        line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line
    ]
    return f"{names[0] if names else platform.processor()}, {os.cpu_count()} cores, Python {platform.python_version()}"


def table(head: list[str], body: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def write(path: Path | None, name: str, text: str) -> None:
    """Print, and put between the page's markers of this name."""
    text += f"\n\n({machine()}; {date.today()}; `python {' '.join(sys.argv)}`)"
    print(text)
    if path is None:
        return
    first, last = f"<!-- {name} -->", f"<!-- end of {name} -->"
    page = path.read_text()
    before, rest = page.split(first)
    path.write_text(before + first + "\n" + text + "\n" + last + rest.split(last)[1])


def known_answers() -> str:
    found = [answers.free_fall(), *answers.momentum_drift(), answers.wave_speed(24), answers.wave_speed(48)]
    found += [answers.cantilever(2), answers.cantilever(4)]
    found += [answers.sand_repose(25.0), answers.sand_repose(35.0), answers.steel_on_foam()]
    stretch, worst = answers.sheet_stretch()
    dam, fronts = answers.dam_break(12)
    found += [stretch, dam]
    body = []
    for a in found:
        off = f"{a.off:+.1e}" if abs(a.off) < 1e-4 else f"{100 * a.off:+.1f} %"
        if a.unit == "°":
            off = f"{a.measured - a.known:+.1f}°"
        body.append(
            [a.problem, a.size, f"{a.measured:.5g} {a.unit}", f"{a.known:.5g} {a.unit}", a.source, off, a.bound]
        )
    text = table(["problem", "size", "measured", "known", "from", "off", "asked"], body)
    left = answers.dents()
    text += (
        f"\n\nA cube squeezed by 30 % and let go keeps {100 * left['metal']:.0f} % of the squeeze as metal and "
        f"{100 * abs(left['jelly']):.0f} % as jelly. The longest edge of the drawn sheet is "
        f"{worst:.3f} of the mean: it does not tear. "
        f"The dam's front is {100 * (fronts[:, 2] / fronts[:, 1] - 1).min():+.0f} to "
        f"{100 * (fronts[:, 2] / fronts[:, 1] - 1).max():+.0f} % of the experiment's over {len(fronts)} times. "
        f"The energy of a jelly that bounces for a second never exceeds what it was before by more than "
        f"{100 * answers.energy_growth():.2f} %, the swing of symplectic steps; with a quarter of their length by "
        f"{100 * answers.energy_growth(courant=0.1):.2f} %. One and two threads give "
        f"{'the same bits' if answers.same_bits() else 'DIFFERENT bits'}."
    )
    return text


def cube(count: int) -> tuple[np.ndarray, float]:
    """About ``count`` particles, eight per cell, and the cell."""
    side = round(count ** (1 / 3) / 2) * 2
    dx = 2.0 / side
    return answers.block((0, 0, 0), (1.0, 1.0, 1.0), dx / 2), dx


def jiggle(x: np.ndarray) -> np.ndarray:
    return 0.3 * np.random.default_rng(0).normal(size=x.shape)


def ours(count: int, threads: int, backend: str = "vector") -> tuple[Callable[[int], None], Solver]:
    """Steps of the solver as it is, at its own step."""
    x, dx = cube(count)
    particles = ParticleSet.of(x, volumes=(dx / 2) ** 3, young=1e5, density=1000.0, velocities=jiggle(x))
    config = SolverConfig(threads=threads, small=0)
    solver = Solver(particles, None, Surroundings(gravity=(0.0, 0.0, 0.0)), config)
    if backend == "plain":
        use_plain_kernels(solver)
    return lambda steps: (solver.advance(steps * solver.dt), None)[1], solver


def taichi_mpm(count: int, polar: str) -> Callable[[int], None]:
    """The 88-line MLS-MPM (Hu et al. 2018) in three dimensions: fixed-corotated stress by SVD or Newton's iteration."""
    import taichi as ti

    x0, dx = cube(count)
    n, grid = len(x0), round(1.0 / dx) + 24
    mu, lam = 1e5 / 2.6, 1e5 * 0.3 / (1.3 * 0.4)
    dt, volume = 0.4 * dx / np.sqrt((lam + 2 * mu) / 1000.0), (dx / 2) ** 3
    mass, inv = volume * 1000.0, 1 / dx
    x, v = ti.Vector.field(3, float, n), ti.Vector.field(3, float, n)
    c, f = ti.Matrix.field(3, 3, float, n), ti.Matrix.field(3, 3, float, n)
    gv, gm = ti.Vector.field(3, float, (grid,) * 3), ti.field(float, (grid,) * 3)

    @ti.func
    def rotation(a):
        r = a
        if ti.static(polar == "svd"):
            u, _, w = ti.svd(a)
            r = u @ w.transpose()
        else:
            for _ in ti.static(range(4)):
                r = 0.5 * (r + r.inverse().transpose())
        return r

    @ti.kernel
    def substep():
        for i in ti.grouped(gm):
            gv[i] = ti.zero(gv[i])
            gm[i] = 0.0
        for p in x:
            base = ti.cast(x[p] * inv - 0.5, ti.i32)
            fx = x[p] * inv - ti.cast(base, float)
            w = [0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1) ** 2, 0.5 * (fx - 0.5) ** 2]
            f[p] = (ti.Matrix.identity(float, 3) + dt * c[p]) @ f[p]
            j = f[p].determinant()
            stress = 2 * mu * (f[p] - rotation(f[p])) @ f[p].transpose() + ti.Matrix.identity(float, 3) * lam * j * (
                j - 1
            )
            affine = (-dt * volume * 4 * inv * inv) * stress + mass * c[p]
            for o in ti.static(ti.grouped(ti.ndrange(3, 3, 3))):
                away = (ti.cast(o, float) - fx) * dx
                weight = w[o[0]][0] * w[o[1]][1] * w[o[2]][2]
                gv[base + o] += weight * (mass * v[p] + affine @ away)
                gm[base + o] += weight * mass
        for i in ti.grouped(gm):
            if gm[i] > 0:
                gv[i] /= gm[i]
        for p in x:
            base = ti.cast(x[p] * inv - 0.5, ti.i32)
            fx = x[p] * inv - ti.cast(base, float)
            w = [0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1) ** 2, 0.5 * (fx - 0.5) ** 2]
            new_v, new_c = ti.zero(v[p]), ti.zero(c[p])
            for o in ti.static(ti.grouped(ti.ndrange(3, 3, 3))):
                weight = w[o[0]][0] * w[o[1]][1] * w[o[2]][2]
                g = gv[base + o]
                new_v += weight * g
                new_c += 4 * inv * weight * g.outer_product(ti.cast(o, float) - fx)
            v[p], c[p] = new_v, new_c
            x[p] += dt * new_v

    x.from_numpy((x0 + 12 * dx).astype(np.float32))
    v.from_numpy(jiggle(x0).astype(np.float32))
    f.from_numpy(np.tile(np.eye(3, dtype=np.float32), (n, 1, 1)))

    def go(steps: int) -> None:
        for _ in range(steps):
            substep()
        ti.sync()

    return go


STRETCH = 48
"""Steps of one call: about a frame of a twenty-fourth of a second at a million particles. Once per stretch of at most
64 steps the solver looks at bounds, speeds and finiteness and keeps a copy; few steps would pay for that in full."""

PEER_STEPS = 6
"""Steps of one call of the peers: nothing is done once per call there, so few are as good as many."""


def rate(go: Callable[[int], None], count: int, steps: int, wall: bool = False) -> float:
    """Millions of particle-substeps per second of processor time, or of the clock."""
    clock = time.perf_counter if wall else time.process_time
    start = clock()
    go(steps)
    return count * steps / (clock() - start) / 1e6


NAMES = ("this solver", "plain Warp", "Taichi, SVD", "Taichi, Newton × 4")


def speed_row(count: int) -> dict[str, float]:
    """Millions per second of all programs at one size, and how long ours takes to set up [s]."""
    import taichi as ti

    ti.init(arch=ti.cpu, cpu_max_num_threads=1, log_level=ti.ERROR)
    n = len(cube(count)[0])
    begin = time.process_time()
    mine, _ = ours(count, 1)
    setup = time.process_time() - begin
    others = ours(count, 1, "plain")[0], taichi_mpm(count, "svd"), taichi_mpm(count, "newton")
    programs = dict(zip(NAMES, (mine, *others), strict=True))
    best = dict.fromkeys(NAMES, 0.0)
    for go in programs.values():
        go(2)
    for _ in range(ROUNDS if count < 500_000 else 1):
        for name, go in programs.items():
            steps = STRETCH if name == NAMES[0] else max(PEER_STEPS, int(1e6 / n))
            best[name] = max(best[name], rate(go, n, steps))
    ti.reset()
    return {"count": n, "setup": setup, **best}


def speed(kept: Path) -> str:
    """The table; rows that the file holds are not measured again."""
    rows_of = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
    for count in COUNTS:
        if len(cube(count)[0]) not in {row["count"] for row in rows_of}:
            rows_of.append(speed_row(count))
            print(rows_of[-1], flush=True)
            with kept.open("a") as file:
                file.write(json.dumps(rows_of[-1]) + "\n")
    body = [
        [f"{row['count']:,}", *(f"{row[name]:.2f}" for name in NAMES)]
        + [f"{row[NAMES[0]] / row[name]:.1f} ×" for name in NAMES[1:]]
        for row in rows_of
    ]
    setup = ", ".join(f"{row['setup']:.1f} s for {row['count']:,}" for row in rows_of)
    head = ["particles", *NAMES, *(f"ratio to {name}" for name in NAMES[1:])]
    return (
        "Millions of particle-substeps per second of processor time on one core, elastic, eight per cell:\n\n"
        f"{table(head, body)}\n\nThis solver takes {STRETCH} steps in a call, as a frame of a real run does, and what "
        f"it does once per stretch is counted. Sorting and laying out at the start is not: {setup}."
    )


def _busy() -> float:
    """Processor time of everything since the machine started [s]."""
    user, nice, system = map(int, Path("/proc/stat").read_text().split()[1:4])
    return (user + nice + system) / os.sysconf("SC_CLK_TCK")


def two_cores() -> str:
    n = len(cube(200_000)[0])
    one, solver = ours(200_000, 1)
    two, _ = ours(200_000, 2)
    best = {1: 0.0, 2: 0.0}
    begin, used, clock = _busy(), time.process_time(), time.perf_counter()
    for _ in range(ROUNDS):
        for threads, go in ((1, one), (2, two)):
            best[threads] = max(best[threads], rate(go, n, STRETCH, wall=True))
    others = (_busy() - begin - (time.process_time() - used)) / (time.perf_counter() - clock)
    held = solver._machine.grid.array.shape[0] * 4 / n
    return (
        f"Two threads against one, {n:,} particles, by the clock: {best[2]:.1f} against {best[1]:.1f} million per "
        f"second, {best[2] / best[1]:.2f} × (others used {max(others, 0.0):.2f} cores meanwhile). A particle takes "
        f"{4 * Row.COUNT} bytes, {4 * Row.MASS} more for the start of a stretch (so that it can be taken back), and "
        f"{held:.0f} bytes of grid at eight per cell."
    )


def starts() -> str:
    code = "import time; t = time.time(); import numpy as np; from neurok.dynamics.particles import *; s = Solver("
    code += "ParticleSet.of(np.random.rand(64, 3), volumes=1e-3)); s.advance(0.01); print(time.time() - t)"
    took = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):
            env = os.environ | {"WARP_CACHE_PATH": folder}
            ran = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
            took.append(float(ran.stdout.split()[-1]))
    return (
        f"From the start of Python to the first hundredth of a second of motion: {took[0]:.1f} s the first time, when "
        f"kernels are compiled, {took[1]:.1f} s later."
    )


SOFT = ("pillow", "jelly", "bag")
FRAME = 0.02
"""Motion over which particles are timed [s]: their steps cost the same from first to last."""

MOTION = 0.6
"""The same of the reduced engine, whose cost is in contact: a fall and its end."""


def against_reduced() -> str:
    """Speed of the reduced engine against particles at three resolutions."""
    body = []
    for name in SOFT:
        with tempfile.TemporaryDirectory() as folder:
            scene = Scene((SceneObject(source_of(name, Path(folder)), act="drop"),), seconds=MOTION, engine="reduced")
            quick, _ = motion_per_second(scene)
            cells = [name, f"{quick:.2f}"]
            for resolution in RESOLUTIONS:
                fine = replace(scene, engine="particles", resolution=resolution, seconds=FRAME, fps=1.0 / FRAME)
                slow, count = motion_per_second(fine)
                cells.append(f"{slow:.3g} ({count:,}), {quick / slow:,.0f} ×")
                print(name, resolution, quick, slow, count, flush=True)
        body.append(cells)
    head = ["object", "reduced", *(f"particles, {name} ({cells} cells)" for name, cells in RESOLUTIONS.items())]
    return (
        "Seconds of motion per second of processor time when an object is dropped, number of particles, and how many "
        f"times as fast the reduced engine is. It is timed over {MOTION:g} s with the contact at the end, particles "
        f"over the first {FRAME:g} s:\n\n{table(head, body)}"
    )


def motion_per_second(scene: Scene) -> tuple[float, int]:
    """Seconds of motion per second of processor time, stepping alone, and the number of particles."""
    ready = prepare_scene(scene)
    run = start(ready.bodies, ready.world, seconds=scene.seconds, fps=scene.fps, engine=engine_of(scene))
    begin = time.process_time()
    while run.step():
        pass
    spent = time.process_time() - begin
    return run.time / spent, int(run.rollouts()[0].report.get("particles", 0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--answers", action="store_true", help="known answers")
    parser.add_argument("--speed", action="store_true", help="speed beside Taichi and plain Warp")
    parser.add_argument("--cores", action="store_true", help="two threads against one, memory, and the time to start")
    parser.add_argument("--reduced", action="store_true", help="speed of the reduced engine against particles")
    parser.add_argument("--rows", type=Path, default=Path("speed.jsonl"), help="rows of --speed, to go on from")
    parser.add_argument("--write", type=Path, help="page with markers for the tables")
    args = parser.parse_args()
    if args.answers:
        write(args.write, "answers", known_answers())
    if args.speed:
        write(args.write, "speed", speed(args.rows))
    if args.reduced:
        write(args.write, "resolutions", against_reduced())
    if args.cores:
        write(args.write, "cores", two_cores() + "\n\n" + starts())


if __name__ == "__main__":
    main()
