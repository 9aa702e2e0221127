"""The particle solver: known answers, and speed beside Taichi's published MLS-MPM and plain Warp in one run.

    python benchmarks/bench_particles.py --answers --write docs/particles.md
    python benchmarks/bench_particles.py --speed --write docs/particles.md

Speed is particle-substeps per second of processor time on one core; programs take turns and the best of the rounds
counts, so that a busy machine disturbs all alike. Taichi needs the extra ``peers``.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

import numpy as np
import particle_answers as answers

from neurok.dynamics.particles import ParticleSet, Solver, SolverConfig, Surroundings, rows

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
        f"{100 * answers.energy_growth():.2f} %. One and two threads give "
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
    config = SolverConfig(threads=threads, small=0, backend=backend)  # type: ignore[arg-type]
    solver = Solver(particles, None, Surroundings(gravity=(0.0, 0.0, 0.0)), config)
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


def rate(go: Callable[[int], None], count: int, steps: int, wall: bool = False) -> float:
    """Millions of particle-substeps per second of processor time, or of the clock."""
    clock = time.perf_counter if wall else time.process_time
    start = clock()
    go(steps)
    return count * steps / (clock() - start) / 1e6


def speed() -> str:
    import taichi as ti

    ti.init(arch=ti.cpu, cpu_max_num_threads=1, log_level=ti.ERROR)
    body, ratios = [], []
    for count in COUNTS:
        n = len(cube(count)[0])
        steps = max(16, int(2e6 / n))  # a frame takes dozens: what is done once per call is shared by them
        programs = {
            "this solver": ours(count, 1)[0],
            "Warp's own language, `svd3`": ours(count, 1, "plain")[0],
            "Taichi, SVD": taichi_mpm(count, "svd"),
            "Taichi, Newton × 4": taichi_mpm(count, "newton"),
        }
        best = dict.fromkeys(programs, 0.0)
        for go in programs.values():
            go(2)
        for _ in range(ROUNDS if count < 500_000 else 2):
            for name, go in programs.items():
                best[name] = max(best[name], rate(go, n, steps))
        mine = best["this solver"]
        ratios.append([mine / best[name] for name in list(programs)[1:]])
        body.append([f"{n:,}", *(f"{value:.2f}" for value in best.values()), *(f"{r:.1f} ×" for r in ratios[-1])])
        ti.reset()
        ti.init(arch=ti.cpu, cpu_max_num_threads=1, log_level=ti.ERROR)
    names = ["this solver", "plain Warp", "Taichi, SVD", "Taichi, Newton × 4"]
    head = ["particles", *names, *(f"ratio to {name}" for name in names[1:])]
    text = "Millions of particle-substeps per second of processor time on one core, elastic, eight per cell:\n\n"
    text += table(head, body)
    return text + "\n\n" + two_cores() + "\n\n" + starts()


def two_cores() -> str:
    n = len(cube(200_000)[0])
    one, solver = ours(200_000, 1)
    two, _ = ours(200_000, 2)
    best = {1: 0.0, 2: 0.0}
    for _ in range(ROUNDS):
        for threads, go in ((1, one), (2, two)):
            best[threads] = max(best[threads], rate(go, n, 12, wall=True))
    held = solver._machine.grid.array.shape[0] * 4 / n
    load = os.getloadavg()[0]
    return (
        f"Two threads against one, {n:,} particles, by the clock: {best[2]:.1f} against {best[1]:.1f} million per "
        f"second, {best[2] / best[1]:.2f} × (load of the machine while measuring: {load:.0f}). A particle takes "
        f"{4 * rows.COUNT} bytes, twice that while a stretch is under way (so that it can be taken back), and "
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--answers", action="store_true", help="known answers")
    parser.add_argument("--speed", action="store_true", help="speed beside Taichi and plain Warp")
    parser.add_argument("--write", type=Path, help="page with markers for the tables")
    args = parser.parse_args()
    if args.answers:
        write(args.write, "answers", known_answers())
    if args.speed:
        write(args.write, "speed", speed())


if __name__ == "__main__":
    main()
