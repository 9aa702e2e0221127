"""Soft bodies: known answers, what they cost against vertices and coordinates, and how long they take to make.

python benchmarks/bench_soft.py [--write docs/soft.md]
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from neurok.core import Material, MaterialField, Mesh
from neurok.dynamics import Body, Ground, World, simulate, start
from neurok.dynamics.soft import SOFT, soften
from neurok.kinematics.elastic import elastic_space
from neurok.modelling import shapes
from neurok_lab.evaluation.tables import markdown, put_section, stamp

RUBBER = Material(young=1e6, poisson=0.3, density=1000.0, damping_ratio=0.05)
REPEATS = 3
"""Runs of which the quickest counts."""

JELLY = Material("jelly", young=2e4, poisson=0.3, density=300.0, damping_ratio=0.08)


@dataclass
class BenchSoft:
    """All tables of soft bodies."""

    write: Path | None = None
    """Markdown file to put them into."""

    most: int = 500_000
    """Vertices of the largest mesh."""

    only: tuple[str, ...] = ("answers", "cost")
    """Tables to make."""

    def run(self) -> None:
        makers = {"answers": answers, "cost": lambda: [*vertices(self.most), *coordinates()]}
        for name in self.only:
            text = table(makers[name]())
            print(f"\n{name}\n{text}", flush=True)
            if self.write is not None:
                put_section(self.write, name, f"{text}\n\n{stamp()}")


def table(rows: list[dict[str, Any]]) -> str:
    return markdown(
        rows, {key: (key, "{:.3g}" if isinstance(value, float) else "{}") for key, value in rows[0].items()}
    )


def box(length: float, height: float, width: float) -> Mesh:
    made = shapes.box((length, height, width), (length / 2, 0.0, 0.0))
    return Mesh(made.vertices, made.faces)


def answers() -> list[dict[str, Any]]:
    """Cantilevers of several thicknesses against Timoshenko, and a cloth against the heavy elastica."""
    out = []
    for height, poisson in ((0.1, 0.3), (0.05, 0.3), (0.2, 0.45), (0.02, 0.3)):
        stuff, mesh, width = replace(RUBBER, poisson=poisson), box(1.0, height, 0.14), 0.14
        left = np.flatnonzero(mesh.vertices[:, 0] < 1e-9)
        space = elastic_space(mesh, MaterialField.uniform(stuff, 8), np.full(mesh.face_count, 0.01), left)
        tip = space.features[mesh.vertices[:, 0] > 0.99].mean(axis=0)
        slopes = np.stack([tip @ slope for slope in space.slopes_at_rest()])[:, 1]
        found = float(slopes @ np.linalg.solve(space.stiffness, slopes))
        inertia, area = width * height**3 / 12, width * height
        shear = 10 * (1 + poisson) / (12 + 11 * poisson) * stuff.young / (2 * (1 + poisson))
        bend = 1.0 / (3 * stuff.young * inertia) + 1.0 / (shear * area)
        thin = min(height, width)
        first = 1.87510407**2 / (2 * np.pi) * np.sqrt(stuff.young * thin**2 / (12 * stuff.density))
        case = f"cantilever 1 x {height:g} x 0.14 m, Poisson {poisson:g}"
        out.append(_answer(f"{case}: tip [m/N]", found, bend))
        out.append(_answer(f"{case}: first frequency [Hz]", float(space.frequencies[0]), float(first)))
    return [*out, *(droop(young) for young in (4e8, 5e7, 2e7))]


def _answer(case: str, found: float, known: float) -> dict[str, Any]:
    return {"case": case, "found": found, "known": known, "error [%]": 100 * (found / known - 1)}


def droop(young: float) -> dict[str, Any]:
    """A clamped strip of cloth under its own weight."""
    from scipy.integrate import solve_bvp

    length, thickness, density = 0.3, 0.002, 200.0
    corners = [[0, 0, -0.05], [length, 0, -0.05], [length, 0, 0.05], [0, 0, 0.05]]
    mesh = Mesh(corners, np.array([[0, 1, 2], [0, 2, 3]]))
    cloth = Material("cloth", young=young, poisson=0.0, density=density)
    body = Body.of(mesh, materials=MaterialField.uniform(cloth, 4), thickness=thickness)
    body = replace(soften(body, np.array([0, 3]), anyway=True), damping=30.0)
    found = -float(simulate(body, seconds=2.0).positions[-1][[1, 2], 1].mean())  # type: ignore[index]
    load = density * thickness * 9.81 / (young * thickness**3 / 12)
    s = np.linspace(0, length, 50)
    solved = solve_bvp(
        lambda at, y: np.stack([y[1], -load * (length - at) * np.cos(y[0])]),
        lambda a, b: np.array([a[0], b[1]]),
        s,
        np.zeros((2, 50)),
    )
    known = abs(float(np.trapezoid(np.sin(solved.sol(s)[0]), s)))
    return _answer(f"cloth that droops by {known / length:.2f} of its length [m]", found, known)


def vertices(most: int) -> list[dict[str, Any]]:
    """A jelly ball that is dropped, with more and more vertices."""
    counts = [n for n in (1_000, 10_000, 50_000, 200_000, 500_000) if n <= most]
    return [dropped(around, SOFT.space.modes) for around in (int(np.sqrt(2 * n)) for n in counts)]


def coordinates() -> list[dict[str, Any]]:
    """The same with more and more modes; then 16 coordinates in all and as many vertices as scans have."""
    return [*(dropped(140, modes) for modes in (2, 4, 8, 16, 24)), dropped(316, 10)]


def stepped(body: Body) -> tuple[float, float]:
    """CPU seconds for one second of motion, without and with the vertices of its frames: other load on the machine
    counts little in it."""
    run = start(body, World(ground=Ground(0.0)), seconds=1.0)
    begin = time.process_time()
    while run.step():
        pass
    moved = time.process_time() - begin
    run.rollouts()
    return moved, time.process_time() - begin


def dropped(around: int, modes: int) -> dict[str, Any]:
    ball = shapes.sphere(0.2, around, around // 2)
    mesh = Mesh(ball.vertices, ball.faces)
    place = np.eye(4)
    place[1, 3] = 0.4
    stuff = MaterialField.uniform(JELLY, mesh.vertex_count)
    config = replace(SOFT, space=replace(SOFT.space, modes=modes))
    begin = time.process_time()
    body = soften(Body.of(mesh, materials=stuff, free=True, placement=place), anyway=True, config=config)
    made = time.process_time() - begin
    rollout = simulate(body, World(ground=Ground(0.0)), seconds=1.0)
    quickest, with_frames = np.min([stepped(body) for _ in range(REPEATS)], axis=0)
    return {
        "vertices": mesh.vertex_count,
        "coordinates": body.poses.dim + 6,
        "to make [CPU s]": made,
        "x real time": float(1.0 / quickest),
        "with frames": float(1.0 / with_frames),
        "depth [% of size]": 100 * float(rollout.report["max_penetration"]) / mesh.size,
        "status": rollout.status,
    }


if __name__ == "__main__":
    tyro.cli(BenchSoft).run()
