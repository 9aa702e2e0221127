"""Dynamics measured against closed forms, MuJoCo, finite elements and itself.

    python benchmarks/bench_dynamics.py [--data DIR] [--quick]

writes ``benchmarks/results/dynamics.md`` and ``dynamics.json``. DIR (or NEUROK_DATA) holds ``partnet_mobility/train``;
without it that table is left out and the report says so.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from mujoco_truth import Truth
from scipy.interpolate import CubicSpline
from scipy.special import ellipk

from neurok import io
from neurok.catalogue.samples import make_sample
from neurok.core import Articulation, Joint, Material, MaterialField, Mesh
from neurok.dynamics import Body, Condition, Force, Ground, Start, World, simulate
from neurok.dynamics.masses import part_moments
from neurok.dynamics.reduced.build import assemble, bind
from neurok.dynamics.reduced.collocation import GaussStepper
from neurok.geometry import lie
from neurok.kinematics import ArticulatedSpace, elastic_space
from neurok.modelling import shapes
from neurok.scene.description import Scene, SceneObject
from neurok.scene.run import run_scene

DOWN = np.array([0.0, -9.81, 0.0])
NOTHING = np.zeros(3)
Table = list[dict[str, Any]]


def chain(links: int, length: float = 0.2, root: str = "revolute") -> Articulation:
    """Rods that hang from each other, all turning about z."""
    rods = [shapes.box((0.02, length, 0.03), (0.0, -(i + 0.5) * length, 0.0)) for i in range(links)]
    count = len(rods[0].vertices)
    faces = np.concatenate([rod.faces + i * count for i, rod in enumerate(rods)])
    vertices = np.concatenate([rod.vertices for rod in rods])
    mesh = Mesh(vertices, faces, part_ids=np.repeat(np.arange(links), count))
    kinds = [root] + ["revolute"] * (links - 1)
    joints = [Joint(kind, i - 1, (0, 0, 1), (0, -i * length, 0)) for i, kind in enumerate(kinds)]  # type: ignore[arg-type]
    return Articulation(mesh, tuple(joints))


def closed_forms() -> Table:
    rod = chain(1, 1.0)
    body = Body.of(ArticulatedSpace(rod), Condition(Start(q=[np.pi / 3])))
    moment = part_moments(body, rod)[0]
    rate = np.sqrt(-9.81 * moment[1, 3] / (moment[0, 0] + moment[1, 1]))
    expected = 4 / rate * ellipk(np.sin(np.pi / 6) ** 2)
    rows = []
    for integrator in ("gauss", "midpoint"):
        rollout = simulate(body, seconds=6, fps=48, integrator=integrator)
        passages = CubicSpline(np.arange(rollout.frame_count) * rollout.dt, rollout.q[:, 0]).roots(extrapolate=False)
        error = abs(float(np.mean(passages[2:] - passages[:-2])) / expected - 1)
        rows.append({"case": f"pendulum period at 60°, {integrator}", "error": error, "promise": 1e-3})
    rows += free_base()
    return rows


def free_base() -> Table:
    space = ArticulatedSpace(chain(3, root="fixed"))
    rng = np.random.default_rng(0)
    masses = rng.uniform(0.1, 1.0, space.rest.vertex_count)
    start = Start(qdot=rng.normal(size=space.dim), velocity=(0.3, 1.0, -0.2), spin=(2.0, -1.0, 3.0))
    body = Body.of(space, Condition(start), free=True, masses=masses)
    bound = bind(body, World(gravity=NOTHING))
    system, state = assemble([bound])
    stepper, points = GaussStepper(system), bound.mechanics.points(np.arange(len(masses)))

    def momenta() -> tuple[np.ndarray, np.ndarray]:
        motion = system.motions(state.poses, state.q[None], system.velocity(state)[None])[0]
        x, v = points.positions(motion)[0], points.velocities(motion)[0]
        return masses @ v, masses @ np.cross(x, v)

    first = momenta()
    for _ in range(240):
        state = stepper.step(state, 1 / 48)
    changes = [float(np.linalg.norm(a - b) / np.linalg.norm(b)) for a, b in zip(momenta(), first, strict=True)]
    rollout = simulate(body, seconds=2)
    center = np.einsum("v,tvi->ti", masses, rollout.positions) / masses.sum()
    moment = np.arange(rollout.frame_count)[:, None] * rollout.dt
    path = center[0] + moment * first[0] / masses.sum() + 0.5 * moment**2 * DOWN
    return [
        {"case": "free base, linear momentum over 5 s", "error": changes[0], "promise": 1e-8},
        {"case": "free base, angular momentum over 5 s", "error": changes[1], "promise": 1e-8},
        {
            "case": "centre of mass against the parabola [m]",
            "error": float(np.abs(center - path).max()),
            "promise": 1e-8,
        },
    ]


def chains() -> Table:
    rows = []
    for links in (2, 6):
        arm = chain(links)
        q = np.array([0.6, 0.2, 0.1, -0.2, 0.1, 0.3])[:links]
        body = Body.of(ArticulatedSpace(arm), Condition(Start(q=q)))
        ours = simulate(body, World(gravity=DOWN), seconds=2)
        theirs = Truth(body, arm, DOWN).run(q, np.zeros(links), 2.0, 24)
        error = float(np.abs(ours.q - theirs).max())
        rows.append({"case": f"{links} links over 2 s [rad]", "dt": ours.report["dt"], "error": error, "promise": 1e-3})
    return rows


def choose_objects(folder: Path, count: int) -> list[Path]:
    """One object of each category in turn, so that all joint types occur."""
    by_category: dict[str, list[Path]] = {}
    for file in sorted(folder.glob("*.npz")):
        by_category.setdefault(file.stem.split("_")[0], []).append(file)
    rounds = [files[k] for k in range(3) for files in by_category.values() if k < len(files)]
    return rounds[:count]


def real_objects(folder: Path, count: int) -> Table:
    """Trajectory error (limits off on both sides) and energy drift; limits checked in a run of their own."""
    rows = []
    for index, file in enumerate(choose_objects(folder, count)):
        articulation = io.load(file).articulation
        assert articulation is not None
        size, dof = articulation.mesh.size, articulation.dof
        slides = np.array([j.kind == "prismatic" for j in articulation.joints for _ in range(j.dof)])
        qdot = np.random.default_rng(index).normal(size=dof) * np.where(slides, 0.3 * size, 1.5)
        space, start = ArticulatedSpace(articulation), Condition(Start(qdot=qdot))
        body = Body.of(space, start, limit_stiffness=0.0)
        kinds = sorted({j.kind for j in articulation.joints if j.dof})
        row: dict[str, Any] = {"object": file.stem, "dof": dof, "joints": "+".join(kinds)}
        for label, gravity in (("still air", NOTHING), ("gravity", DOWN)):
            ours = simulate(body, World(gravity=gravity), seconds=2)
            theirs = Truth(body, articulation, gravity).run(np.zeros(dof), qdot, 2.0, 24)
            gap = np.linalg.norm(articulation.clip(theirs).positions - ours.positions, axis=-1)
            row[f"error, {label}"] = float(gap.max() / size)
        world = World(gravity=DOWN)
        row["drift 10 s, gauss"] = simulate(body, world, seconds=10).report["energy_drift"]
        middle = simulate(body, world, seconds=10, dt=1 / 120, integrator="midpoint")
        row["drift 10 s, midpoint, dt 1/120"] = middle.report["energy_drift"]
        held = simulate(Body.of(space, start), world, seconds=2)
        # Limits that do not hold the rest pose are shifted by whole turns or widened to it; the system knows them.
        low, high, _ = assemble([bind(Body.of(space, start), world)])[0].limits
        beyond = np.maximum(np.maximum(low - held.q, held.q - high), 0.0) / np.where(slides, size, 1.0)
        row["beyond limits"] = float(beyond.max())
        rows.append(row)
    return rows


def beam() -> Table:
    from scipy.sparse.linalg import eigsh
    from skfem import Basis, BilinearForm, ElementHex2, ElementVector, MeshHex
    from skfem.models.elasticity import lame_parameters, linear_elasticity

    length, height, width = 1.0, 0.1, 0.14
    material = Material(young=1e7, poisson=0.3, density=1000.0)
    box = shapes.box((length, height, width), (length / 2, 0.0, 0.0))
    mesh = Mesh(box.vertices, box.faces)
    left = np.flatnonzero(mesh.vertices[:, 0] < 1e-9)
    stuff = MaterialField.uniform(material, mesh.vertex_count)
    space = elastic_space(mesh, stuff, np.full(mesh.face_count, 0.01), left)
    axes = [np.linspace(0, length, 17), np.linspace(-height / 2, height / 2, 3), np.linspace(-width / 2, width / 2, 3)]
    basis = Basis(MeshHex.init_tensor(*axes), ElementVector(ElementHex2()), intorder=4)
    stiffness = linear_elasticity(*lame_parameters(material.young, material.poisson)).assemble(basis)
    mass = BilinearForm(lambda u, v, w: material.density * sum(u[i] * v[i] for i in range(3))).assemble(basis)
    free = basis.complement_dofs(basis.get_dofs(lambda x: np.isclose(x[0], 0.0)).all())
    values = eigsh(stiffness[free][:, free].tocsc(), 5, mass[free][:, free].tocsc(), sigma=0.0)[0]
    reference = np.sqrt(np.sort(values)) / (2 * np.pi)
    rows = [
        {
            "case": f"frequency {k + 1} [Hz]",
            "ours": float(a),
            "reference": float(b),
            "error": abs(a / b - 1),
            "promise": 0.05,
        }
        for k, (a, b) in enumerate(zip(space.frequencies[:5], reference, strict=True))
    ]
    tip = np.flatnonzero(mesh.vertices[:, 0] > length - 1e-9)
    load = Condition(forces=[Force.constant(tip, (0.0, -1.0, 0.0))])
    body = Body.of(space, load, damping=20.0)
    rollout = simulate(body, World(gravity=NOTHING), seconds=2)
    sunk = float((mesh.vertices[tip, 1] - rollout.positions[-1, tip, 1]).mean())
    from scipy.sparse.linalg import spsolve

    right = np.zeros(stiffness.shape[0])
    corners = basis.get_dofs(lambda x: np.isclose(x[0], length)).nodal["u^2"]
    right[corners] = -1.0 / len(corners)
    still = np.zeros_like(right)
    still[free] = spsolve(stiffness[free][:, free].tocsc(), right[free])
    exact = -float(still[corners].mean())
    rows.append(
        {"case": "tip under 1 N [m]", "ours": sunk, "reference": exact, "error": abs(sunk / exact - 1), "promise": 0.05}
    )
    return rows


DROPPED = ("Faucet_167", "Oven_01909", "StorageFurniture_46563")
"""Real objects with many or light parts, which make contact slow."""


def dropped(path: str) -> Table:
    """A real object let fall, turned a little."""
    scene = Scene((SceneObject(path, drop=0.3, rotation=(20.0, 0.0, 10.0)),), seconds=1.5, engine="reduced")
    rollout, case = run_scene(scene).rollout, f"dropped {Path(path).stem}"
    depth = rollout.report["max_penetration"] / (rollout.rest.size * rollout.rest.unit)
    return [
        {"case": f"{case}: greatest depth / size", "value": depth, "expected": "< 0.01"},
        {"case": f"{case}: times real time", "value": rollout.report["real_time_factor"], "expected": ""},
    ]


def contact(folder: Path | None) -> Table:
    friction, rows = 0.5, []
    box = shapes.box((0.2, 0.1, 0.2), (0.0, 0.05, 0.0))
    space = ArticulatedSpace(Articulation(Mesh(box.vertices, box.faces), (Joint(),)))
    for offset in (-1.0, 1.0):
        angle = np.arctan(friction) + np.radians(offset)
        gravity = 9.81 * np.array([np.sin(angle), -np.cos(angle), 0.0])
        rollout = simulate(
            Body.of(space, free=True), World(gravity=gravity, ground=Ground(friction=friction)), seconds=1
        )
        expected = max(0.0, 0.5 * 9.81 * (np.sin(angle) - friction * np.cos(angle)))
        case = f"block on an incline, friction angle {offset:+.0f}°: way in 1 s [m]"
        rows.append({"case": case, "value": float(rollout.q[-1, 0]), "expected": expected})
    for name in ("cabinet", "laptop"):
        articulation = make_sample(name).articulation
        assert articulation is not None
        up, size = articulation.mesh.up_vector, articulation.mesh.size
        floor = float((articulation.mesh.vertices @ up).min())
        place = lie.rotation_about(np.array([0.6, 0.0, 0.8]), np.zeros(3), 0.3)
        place[:3, 3] += 0.3 * size * up
        body = Body.of(ArticulatedSpace(articulation), free=True, placement=place)
        rollout = simulate(body, World(ground=Ground(height=floor)), seconds=4)
        depth = (floor - float((rollout.positions[-1] @ up).min())) / size
        creep = float(np.abs(rollout.positions[-1] - rollout.positions[-25]).max()) / size
        rows.append({"case": f"dropped {name}: depth at rest / size", "value": depth, "expected": "< 0.01"})
        rows.append({"case": f"dropped {name}: way in the last second / size", "value": creep, "expected": "0"})
        rows.append(
            {"case": f"dropped {name}: times real time", "value": rollout.report["real_time_factor"], "expected": ""}
        )
    paths = [folder / f"{name}.npz" for name in DROPPED] if folder is not None else []
    return rows + [row for path in paths if path.is_file() for row in dropped(str(path))]


def wardrobe(vertex_count: int, doors: int = 8) -> Articulation:
    """A body with eight doors, its faces divided until it has about as many vertices as asked for."""
    side = max(2, round(np.sqrt(vertex_count / (doors + 1))))
    u, v = (g.reshape(-1) for g in np.meshgrid(np.linspace(0, 1, side), np.linspace(0, 1, side), indexing="ij"))
    a = (np.arange(side - 1)[:, None] * side + np.arange(side - 1)).reshape(-1)
    sheet = np.concatenate([np.stack([a, a + side, a + 1], 1), np.stack([a + 1, a + side, a + side + 1], 1)])
    places = [np.stack([doors * u, 2 * v, np.zeros_like(u)], axis=1)]
    places += [np.stack([k + 0.9 * u, 2 * v, np.full_like(u, 0.5)], axis=1) for k in range(doors)]
    faces = np.concatenate([sheet + k * side**2 for k in range(doors + 1)])
    parts = np.repeat(np.arange(doors + 1), side**2)
    joints = [Joint()] + [Joint("revolute", 0, (0, 1, 0.2), (k, 0, 0.5)) for k in range(doors)]
    return Articulation(Mesh(np.concatenate(places), faces, part_ids=parts), tuple(joints))


def cost(rounds: int, steps: int = 40) -> Table:
    """Stepping alone. Sizes take turns in short rounds and the best of each counts: the machine may be busy."""
    import mujoco

    dt, sizes = 1 / 48, (1_000, 10_000, 50_000, 100_000)
    cases, best, theirs = [], [np.inf] * len(sizes), [np.inf] * len(sizes)
    spent: list[dict[str, float]] = [{} for _ in sizes]
    for vertex_count in sizes:
        articulation = wardrobe(vertex_count)
        body = Body.of(ArticulatedSpace(articulation), Condition(Start(qdot=np.linspace(-1, 1, 8))))
        system, state = assemble([bind(body, World(gravity=DOWN))])
        model = Truth(body, articulation, DOWN, dt).model
        cases.append((articulation.mesh.vertex_count, system, state, GaussStepper(system), model, mujoco.MjData(model)))
    for _ in range(rounds):
        for index, (_, system, state, stepper, model, data) in enumerate(cases):
            system.clock.seconds.clear()
            now, at = time.perf_counter(), state
            for _ in range(steps):
                at = stepper.step(at, dt)
            took = (time.perf_counter() - now) / steps
            if took < best[index]:
                best[index], spent[index] = took, {k: v / (took * steps) for k, v in system.clock.seconds.items()}
            now = time.perf_counter()
            for _ in range(steps):
                mujoco.mj_step(model, data)
            theirs[index] = min(theirs[index], (time.perf_counter() - now) / steps)
    return [
        {
            "vertices": case[0],
            "dof": case[1].dim,
            "steps/s": 1 / own,
            "cost against 1k": own / best[0],
            "times real time": dt / own,
            "MuJoCo steps/s (RK4)": 1 / other,
            **{f"share {k}": v for k, v in sorted(shares.items())},
        }
        for case, own, other, shares in zip(cases, best, theirs, spent, strict=True)
    ]


NOTES = """Errors of real objects are the largest distance of any vertex over 2 s, divided by the object's size.
Joint limits are off on both sides and there is no contact; both use the same mass, centre and inertia of each part.
'beyond limits' is from a run with limits: [rad], or share of the size for slides. Drift is the largest change of total
energy divided by the largest kinetic energy. Times are wall-clock on a machine with the load given above."""


def markdown(title: str, rows: Table) -> str:
    if not rows:
        return f"## {title}\n\nnot measured\n"
    keys = list(dict.fromkeys(key for row in rows for key in row))

    def cell(value: Any) -> str:
        return f"{value:.3g}" if isinstance(value, float) else str(value)

    lines = ["| " + " | ".join(keys) + " |", "|" + "---|" * len(keys)]
    lines += ["| " + " | ".join(cell(row.get(key, "")) for key in keys) + " |" for row in rows]
    return f"## {title}\n\n" + "\n".join(lines) + "\n"


def summary(rows: Table) -> Table:
    """Medians and maxima of the table of real objects."""
    keys = [key for key in rows[0] if key.startswith(("error", "drift", "beyond"))] if rows else []
    return [
        {"figure": key, "median": float(np.median([r[key] for r in rows])), "largest": max(r[key] for r in rows)}
        for key in keys
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=os.environ.get("NEUROK_DATA", ""))
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    folder = Path(options.data) / "partnet_mobility" / "train" if options.data else None
    has_data = folder is not None and folder.is_dir()
    objects = real_objects(folder, 6 if options.quick else 23) if has_data and folder is not None else []
    tables = {
        "Closed forms": closed_forms(),
        "Chains against MuJoCo (RK4, dt 1e-4)": chains(),
        "PartNet-Mobility against MuJoCo (RK4, dt 1e-4), summary": summary(objects),
        "PartNet-Mobility, each object": objects,
        "Cantilever beam against scikit-fem": beam(),
        "Contact": contact(folder),
        "Cost of stepping": cost(10 if options.quick else 40),
    }
    arguments = " ".join("DIR" if a == options.data else a for a in sys.argv[1:])
    load = f"load {os.getloadavg()[0]:.1f}"
    facts = {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {load}, Python {platform.python_version()}",
        "command": f"python benchmarks/bench_dynamics.py {arguments}".strip(),
        "real objects": f"{len(objects)} of PartNet-Mobility" if has_data else "no data folder, not measured",
    }
    body = "\n".join(markdown(title, rows) for title, rows in tables.items())
    head = "\n".join(f"- {key}: {value}" for key, value in facts.items())
    out = Path(__file__).parent / "results"
    out.mkdir(exist_ok=True)
    (out / "dynamics.md").write_text(f"# Dynamics\n\n{head}\n\n{NOTES}\n\n{body}")
    (out / "dynamics.json").write_text(json.dumps({**facts, "tables": tables}, indent=1))
    print(f"# Dynamics\n\n{head}\n\n{body}")


if __name__ == "__main__":
    main()
