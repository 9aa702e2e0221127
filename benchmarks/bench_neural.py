"""The learned space measured: time from file to space, cost of a step, energy, and the motion against MuJoCo.

    python benchmarks/bench_neural.py [--data DIR] [--objects N] [--quick] [--only-mujoco]

writes ``benchmarks/results/neural.md``. DIR (or NEUROK_DATA) holds ``partnet_mobility/train``; without it the tables
of real objects are left out. Only held-out objects are used. Times are CPU time of one thread, so that other work on
the machine counts little.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"

import argparse
import re
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from figures import RESULTS, stamp
from mujoco_truth import Truth

import neurok
from neurok.catalogue.samples import make_sample
from neurok.core import Articulation, Mesh
from neurok.dynamics import Body, Condition, Ground, Start, VertexValues, World, simulate
from neurok.dynamics.reduced.build import assemble, bind
from neurok.dynamics.reduced.collocation import GaussStepper
from neurok.dynamics.reduced.config import DEFAULTS
from neurok.dynamics.reduced.incremental import IncrementalStepper
from neurok.kinematics import ArticulatedSpace
from neurok_lab.data.still import UNSEEN_CATEGORIES, category, hold_out

FRAME = 1 / 60
UNSEEN = {"joint_weights": "articulation_held_out", "piece_weights": "pieces_held_out"}
"""Weights behind a plan that have not learned from held-out objects."""

DOWN = np.array([0.0, -9.81, 0.0])
NOTHING = np.zeros(3)
WITHIN = 0.8
"""Share of a joint's range that it may go through in the comparison with MuJoCo."""

Table = list[dict[str, Any]]


def stripped(mesh: Mesh) -> Mesh:
    """The mesh alone: no parts, no joints."""
    return Mesh(mesh.vertices, mesh.faces, up=mesh.up, unit=mesh.unit)


def refined(mesh: Mesh, vertex_count: int) -> Mesh:
    """The same surface with at least so many vertices: each face becomes four, over and over."""
    from trimesh.remesh import subdivide

    vertices, faces = mesh.vertices, mesh.faces
    while len(vertices) < vertex_count:
        vertices, faces = subdivide(vertices, faces)
    return Mesh(vertices, faces, up=mesh.up, unit=mesh.unit)


def reduced(mesh: Mesh, vertex_count: int) -> Mesh:
    """A refined mesh brought down to about the wanted number of vertices."""
    from neurok.geometry.decimate import decimate

    fine = refined(mesh, vertex_count)
    if fine.vertex_count <= 1.2 * vertex_count:
        return fine
    vertices, faces = decimate(fine.vertices, fine.faces, round(2.0 * vertex_count))[:2]
    return Mesh(vertices, faces, up=mesh.up, unit=mesh.unit)


def cost(rounds: int) -> tuple[Table, Table]:
    """From a file to a space; and a second of its motion, hanging in the air and standing on the ground."""
    sample = make_sample("cabinet").mesh
    opening, stepping = [], []
    for wanted in (1_000, 20_000, 50_000, 100_000):
        mesh = reduced(stripped(sample), wanted)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "object.glb"
            neurok.save(mesh, path)
            seconds, space = best_of(rounds, lambda path=path: neurok.infer(path))
        size = {"vertices": mesh.vertex_count, "coordinates": space.dim}
        opening.append({**size, "file to space [s]": seconds, "peak memory [MB]": peak_memory()})
        start = Condition(Start(qdot=0.3 * np.ones(space.dim)))
        for label, body, world in (
            ("gauss, fixed base, gravity", Body.of(space, start), World(gravity=DOWN)),
            ("implicit, free on the ground", Body.of(space, start, free=True), World(gravity=DOWN, ground=Ground())),
        ):
            stepping.append({**size, "integrator": label, **frames(body, world, rounds)})
    return opening, stepping


def frames(body: Body, world: World, rounds: int, count: int = 60) -> dict[str, Any]:
    """Cost of a frame at 60 fps: the steps users get by default, and all vertices."""
    begin = time.process_time()
    bound = bind(body, world)
    system, state = assemble([bound])
    name = "implicit" if world.has_contact else "gauss"

    def make() -> Any:
        if name == "implicit":
            return IncrementalStepper.of(system, [bound], world, state, DEFAULTS)
        return GaussStepper(system)

    steppers = [make()]
    bound_in = time.process_time() - begin
    per_frame = int(np.ceil(FRAME / DEFAULTS.longest_steps[name] - 1e-9))

    def run() -> tuple[Any, dict[str, float]]:
        stepper, at = steppers.pop(), state
        system.clock.seconds.clear()
        since = time.perf_counter()
        for _ in range(count * per_frame):
            at = stepper.step(at, FRAME / per_frame)
        whole = time.perf_counter() - since
        shares = {key: value / whole for key, value in system.clock.seconds.items()}
        return at, {**shares, "other": 1.0 - sum(shares.values())}

    steppers += [make() for _ in range(rounds - 1)]
    seconds, (at, shares) = best_of(rounds, run)
    drawing = best_of(3 * rounds, lambda: [bound.mechanics.positions(at.poses[0], at.q) for _ in range(5)])[0] / 5
    parts = ("kinematics", "forces", "newton_matrix", "solve", "contact", "other")
    return {
        "space to first step [s]": bound_in,
        "steps per frame": per_frame,
        "steps of a frame [ms]": 1e3 * seconds / count,
        "all vertices of a frame [ms]": 1e3 * drawing,
        "times real time at 60 fps": FRAME / (seconds / count + drawing),
        **{f"share {part.replace('_', ' ')}": shares.get(part, 0.0) for part in parts},
        "peak memory [MB]": peak_memory(),
    }


def best_of(rounds: int, work: Callable[[], Any]) -> tuple[float, Any]:
    """Least CPU time of some rounds, and the result of that round."""
    best, kept = np.inf, None
    for _ in range(rounds):
        begin = time.process_time()
        result = work()
        took = time.process_time() - begin
        if took < best:
            best, kept = took, result
    return best, kept


def peak_memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def held_out(folder: Path, count: int) -> list[Path]:
    """Held-out objects, evenly from seen and unseen categories."""
    _, seen, unseen = hold_out(path.stem for path in folder.glob("*.npz"))
    names = [*seen, *unseen]
    chosen = [names[int(i)] for i in np.linspace(0, len(names) - 1, min(count, len(names))).round()]
    return [folder / f"{name}.npz" for name in chosen]


def energy(files: list[Path]) -> Table:
    """A thousand steps of free motion from a random push, with and without gravity; the energy of every step counts."""
    rows = []
    for index, file in enumerate(files):
        mesh = stripped(neurok.load(file).mesh)
        space = neurok.infer(mesh)
        qdot = np.random.default_rng(index).normal(size=space.dim)
        row: dict[str, Any] = {"object": file.stem, "coordinates": space.dim}
        for label, gravity in (("still air", NOTHING), ("gravity", DOWN)):
            begin = time.process_time()
            body = Body.of(space, Condition(Start(qdot=qdot)))
            rollout = simulate(body, World(gravity=gravity), seconds=1000 * FRAME, fps=60, dt=FRAME)
            row |= {f"steps, {label}": rollout.report["steps"], f"drift, {label}": rollout.report["energy_drift"]}
            row |= {f"status, {label}": rollout.status, f"time, {label} [s]": time.process_time() - begin}
        rows.append(row)
        print(row, flush=True)
    return rows


def against_mujoco(files: list[Path], seconds: float = 0.5) -> Table:
    """The same push on the learned space and, in MuJoCo, on the true joints.

    Every vertex gets the velocity that the true joints would give it; the learned space takes what it can of it.
    """
    rows = []
    for index, file in enumerate(files):
        articulation = neurok.load(file).articulation
        if articulation is None or not articulation.dof:
            continue
        rows.append({"object": file.stem, "joints": articulation.dof, **_one(articulation, index, seconds)})
    return rows


def _one(articulation: Articulation, seed: int, seconds: float) -> dict[str, Any]:
    size, dof = articulation.mesh.size, articulation.dof
    true_space = ArticulatedSpace(articulation)
    slides = np.array([j.kind == "prismatic" for j in articulation.joints for _ in range(j.dof)])
    limits = articulation.limits
    # Towards the wider side of each joint, and not beyond most of it: past their range neither has anything to say.
    low, high = -limits[:, 0], limits[:, 1]
    side = np.where(high >= low, 1, -1)
    pace = np.random.default_rng(seed).uniform(0.5, 1.0, dof)
    fastest = np.minimum(np.where(slides, 0.4 * size, 1.5), WITHIN * np.maximum(low, high) / seconds)
    qdot = side * pace * fastest
    truth_body = Body.of(true_space, Condition(Start(qdot=qdot)))
    truth = articulation.clip(Truth(truth_body, articulation, NOTHING).run(np.zeros(dof), qdot, seconds, 24)).positions
    step = 1e-5
    velocity = (articulation.pose(step * qdot).vertices - articulation.mesh.vertices) / step
    mesh = stripped(articulation.mesh)
    start = Start(velocities=VertexValues(np.arange(mesh.vertex_count), velocity))
    way = np.linalg.norm(truth - truth[:1], axis=2)
    space = neurok.infer(mesh, **UNSEEN)
    ours = simulate(Body.of(space, Condition(start)), World(gravity=NOTHING), seconds=seconds, fps=24)
    gap = np.linalg.norm(ours.positions[: len(truth)] - truth[: ours.frame_count], axis=2)
    last = min(len(truth), ours.frame_count) - 1
    return {
        "way at the end / size": float(way[-1].mean() / size),
        "coordinates": space.dim,
        "error / size": float(gap[last].mean() / size),
        "error / way": float(gap[last].mean() / max(way[last].mean(), 1e-12)),
        "status": ours.status,
    }


def markdown(title: str, rows: Table) -> str:
    if not rows:
        return f"## {title}\n\nnot measured\n"
    keys = list(dict.fromkeys(key for row in rows for key in row))
    cell = lambda value: f"{value:.3g}" if isinstance(value, float) else str(value)  # noqa: E731
    lines = ["| " + " | ".join(keys) + " |", "|" + "---|" * len(keys)]
    lines += ["| " + " | ".join(cell(row.get(key, "")) for key in keys) + " |" for row in rows]
    return f"## {title}\n\n" + "\n".join(lines) + "\n"


def motion_tables(rows: Table) -> dict[str, Table]:
    """Against MuJoCo: all objects, those of seen and of unseen categories, and each."""
    keys = ("error / way", "error / size")
    groups = {"all": rows}
    groups["seen categories"] = [row for row in rows if category(row["object"]) not in UNSEEN_CATEGORIES]
    groups["unseen categories"] = [row for row in rows if category(row["object"]) in UNSEEN_CATEGORIES]
    told = [{"categories": name, **row} for name, some in groups.items() for row in summary(some, keys)]
    return {
        "Against MuJoCo with the true joints, summary": told,
        "Against MuJoCo with the true joints, each object": rows,
    }


def summary(rows: Table, keys: tuple[str, ...]) -> Table:
    out = []
    for key in keys:
        values = [row[key] for row in rows if isinstance(row[key], float)]
        if values:
            median, largest = float(np.median(values)), float(max(values))
            out.append({"figure": key, "objects": len(values), "median": median, "largest": largest})
    return out


NOTES = """Times are CPU time of one thread, the best of some rounds. The object is the cabinet of the samples, without
its joints, refined; it starts with a push on all coordinates. `neurok simulate` and `neurok.simulate` take the Gauss
method (order 6) unless something can be touched, and the implicit one then. "Space to first step" holds masses, and on
the ground the points that can touch. Memory is that of the whole process, network included.

Drift is the largest change of total energy over the largest kinetic energy. In the comparison with MuJoCo all vertices
start with the velocity that the true joints give them, without gravity; no joint goes through more than four fifths of
its range. Errors are means over vertices after half a second: where the joint of the plan is the right one little is
left of the error, where it is another one all of it.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=os.environ.get("NEUROK_DATA", ""))
    parser.add_argument("--quick", action="store_true", help="one round, and four objects")
    parser.add_argument("--objects", type=int, default=20)
    parser.add_argument("--only-mujoco", action="store_true", help="replace the tables of motion alone")
    parser.add_argument("--out", type=Path, default=RESULTS / "neural.md")
    options = parser.parse_args()
    folder = Path(options.data) / "partnet_mobility" / "train" if options.data else None
    files = held_out(folder, 4 if options.quick else options.objects) if folder is not None and folder.is_dir() else []
    if options.only_mujoco:
        text = options.out.read_text()
        for title, rows in motion_tables(against_mujoco(files)).items():
            before, rest = text.split(f"## {title}\n", 1)
            after = re.search(r"^(## |Times are )", rest, re.MULTILINE)
            section = f"{markdown(title, rows)}\n{stamp()}\n\n"
            text = before + section + rest[after.start() if after else len(rest) :]
            print(section)
        options.out.write_text(text)
        return
    opening, stepping = cost(1 if options.quick else 3)
    print(markdown("Cost of a frame", stepping), flush=True)
    drifts, motions = energy(files), against_mujoco(files)
    tables = {
        "From a file to a space": opening,
        "Cost of a frame": stepping,
        "Energy over 1,000 steps, summary": summary(drifts, ("drift, still air", "drift, gravity")),
        "Energy over 1,000 steps, each object": drifts,
        **motion_tables(motions),
    }
    text = "# The learned space\n\n" + "\n".join(markdown(title, rows) for title, rows in tables.items())
    options.out.write_text(f"{text}\n{NOTES}\n{stamp()}\n")
    print(text)


if __name__ == "__main__":
    main()
