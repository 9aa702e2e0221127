"""How long one waits: for the command itself, for the first motion, for plans and poses, and for steps.

    python benchmarks/bench_waiting.py [--only start steps assets] [--beside SRC] [--write docs/soft.md]

``start`` runs fresh processes, the first motion with an empty folder of compiled code; ``steps`` times the steps of
drops in the reduced engine, here and, in turns, in another copy of the sources (``--beside``); ``assets`` takes every
model of ``NEUROK_DATA/real_assets``: its plan, what a drop needs to begin, and how fast it is. All but the wall clock
of ``start`` are CPU seconds of one thread, so that other load on the machine counts little.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import tyro

SOURCES = Path(__file__).parents[1]
SCENES = ("pillow", "ball", "fine ball", "cabinet", "lamp", "four balls", "five objects")


@dataclass
class BenchWaiting:
    """Tables of what takes time before and during motion."""

    only: tuple[str, ...] = ("start", "steps", "assets")
    """Tables to make."""

    beside: Path | None = None
    """Another copy of the repository, whose steps are timed in turns with these."""

    scenes: tuple[str, ...] = SCENES
    """Of ``steps``."""

    repeats: int = 3
    """Runs of which the quickest counts."""

    names: tuple[str, ...] = ()
    """Assets to take; all by default."""

    write: Path | None = None
    """Page to put the tables into."""

    json: bool = False
    """Print one JSON object of the steps and nothing else: how the other copy is asked."""

    def run(self) -> None:
        if self.json:
            print(json.dumps(steps(self.scenes, self.repeats)))
            return
        from figures import replace_block, stamp

        from neurok_lab.evaluation.tables import markdown

        makers = {"start": start_up, "steps": self._beside, "assets": lambda: assets(self.names)}
        for name in self.only:
            rows = makers[name]()
            columns = dict.fromkeys(key for row in rows for key in row)
            text = markdown(
                rows, {key: (key, "{:.3g}" if isinstance(rows[0].get(key), float) else "{}") for key in columns}
            )
            print(f"\n{name}\n{text}", flush=True)
            if self.write is not None:
                replace_block(self.write, f"waiting {name}", f"{text}\n\n{stamp()}")

    def _beside(self) -> list[dict[str, Any]]:
        copies = [SOURCES, *([] if self.beside is None else [self.beside])]
        found: list[dict[str, float]] = [{} for _ in copies]
        asked = ["--json", "--repeats", str(self.repeats), "--scenes", *self.scenes]
        for _ in range(2):
            for copy, best in zip(copies, found, strict=True):
                paths = f"{copy / 'src'}{os.pathsep}{copy / 'lab'}"
                extra, words = {"PYTHONPATH": paths}, [sys.executable, __file__, *asked]
                done = subprocess.run(words, env={**os.environ, **extra}, capture_output=True, text=True, check=True)
                for name, spent in json.loads(done.stdout).items():
                    best[name] = min(spent, best.get(name, np.inf))
        rows = []
        for name, spent in found[0].items():
            row = {"scene": name, "CPU s for 1 s": spent, "x real time": 1.0 / spent}
            rows.append(
                row | ({} if len(found) < 2 else {"then": found[1][name], "now / then": spent / found[1][name]})
            )
        return rows


def steps(names: tuple[str, ...], repeats: int) -> dict[str, float]:
    """CPU seconds of the steps of one second of each scene, everything compiled."""
    from neurok.dynamics import start
    from neurok.dynamics.reduced.engine import ReducedEngine

    out = {}
    for name in names:
        bodies, world = scene(name)
        spent = []
        for _ in range(repeats + 1):
            run = start(bodies, world, seconds=1.0, engine=ReducedEngine())
            begin = time.process_time()
            while run.step():
                pass
            spent.append(time.process_time() - begin)
            assert run.status == "ok", name
        out[name] = min(spent)
    return out


def scene(name: str) -> tuple[Any, Any]:
    """Bodies and world, of what every copy of the sources has and means alike: no materials are proposed."""
    import neurok
    from neurok.core import Material, MaterialField, Mesh
    from neurok.dynamics import Body, Ground, World
    from neurok.dynamics.soft import SOFT, soften
    from neurok.modelling import shapes

    jelly = Material("jelly", young=2e4, poisson=0.3, density=300.0, damping_ratio=0.08)

    def place(*at: float) -> np.ndarray:
        out = np.eye(4)
        out[:3, 3] = at
        return out

    def soft(mesh: Any, height: float) -> Any:
        field = MaterialField.uniform(jelly, mesh.vertex_count)
        config = replace(SOFT, space=replace(SOFT.space, modes=10))
        return soften(
            Body.of(mesh, materials=field, free=True, placement=place(0, height, 0)), anyway=True, config=config
        )

    def ball(around: int) -> Any:
        made = shapes.sphere(0.2, around, around // 2)
        return soft(Mesh(made.vertices, made.faces), 0.4)

    def jointed(sample: str, height: float, x: float = 0.0, z: float = 0.0) -> Any:
        found = neurok.load(f"sample:{sample}").articulation
        return Body.of(found, free=True, placement=place(x, height - float(found.mesh.vertices[:, 1].min()), z))

    def pillow(height: float) -> Any:
        mesh = neurok.load("sample:pillow").mesh
        return soft(mesh, height - float(mesh.vertices[:, 1].min()))

    world = World(ground=Ground(0.0))
    if name == "four balls":
        one = ball(60)
        places = ((0, 0.25, 0), (0.45, 0.25, 0), (0.2, 0.68, 0.02), (0.75, 0.75, 0))
        return [replace(one, placement=place(*at)) for at in places], world
    if name == "five objects":
        bodies = [jointed("cabinet", 0.02), jointed("laptop", 0.95, 0.1), jointed("lamp", 0.3, 1.0), pillow(0.1)]
        bodies[3] = replace(bodies[3], placement=place(-0.9, 0.3, 0.0))
        return [*bodies, replace(ball(60), placement=place(-0.9, 0.75, 0.05))], world
    makers = {
        "pillow": lambda: pillow(0.2),
        "ball": lambda: ball(140),
        "fine ball": lambda: ball(316),
        "cabinet": lambda: jointed("cabinet", 0.2),
        "lamp": lambda: jointed("lamp", 0.2),
    }
    return [makers[name]()], world


def timed(words: list[str], cache: str | None = None) -> tuple[float, float]:
    """Wall and CPU seconds of a process of its own."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    extra = {} if cache is None else {"NUMBA_CACHE_DIR": cache}
    subprocess.run([sys.executable, *words], env={**os.environ, **extra}, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - begin, spent


def start_up() -> list[dict[str, Any]]:
    """Fresh processes."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        cache, out = str(Path(folder) / "compiled"), str(Path(folder) / "out.npz")
        drop = [
            "-m",
            "neurok",
            "simulate",
            "sample:pillow",
            "--act",
            "drop",
            "--seconds",
            "0.5",
            "--force",
            "--out",
            out,
        ]
        asked: list[tuple[str, list[str], str | None]] = [
            ("`import neurok`", ["-c", "import neurok"], None),
            ("`neurok --help`", ["-m", "neurok", "--help"], None),
            ("`neurok simulate --help`", ["-m", "neurok", "simulate", "--help"], None),
            ("first soft motion, nothing compiled", drop, cache),
            ("the same again", drop, cache),
        ]
        for name, words, where in asked:
            tries = [timed(words, where) for _ in range(1 if name.startswith("first") else 3)]
            wall, spent = np.min(tries, axis=0)
            rows.append({"what": name, "wall [s]": float(wall), "CPU [s]": float(spent)})
    return rows


def assets(names: tuple[str, ...]) -> list[dict[str, Any]]:
    """Every real asset in a process that has done one before."""
    import neurok

    folder = Path(os.environ["NEUROK_DATA"]) / "real_assets"
    found = sorted(
        [*folder.glob("polyhaven/*.fbx"), *(path / "model.obj" for path in folder.glob("gso/*") if path.is_dir())]
    )
    called = {path: path.parent.name if path.stem == "model" else path.stem for path in found}
    asset("warm", found[0])
    rows = []
    for path, name in called.items():
        if not names or name in names:
            try:
                rows.append(asset(name, path))
            except neurok.NeurokError as refused:
                rows.append({"asset": name, "status": str(refused)})
            print(rows[-1], flush=True)
    return [*rows, *(_summary(rows, which) for which in ("median", "worst"))]


def asset(name: str, path: Path) -> dict[str, Any]:
    """One asset: how long it is until it moves, and how fast it is then."""
    import neurok
    from neurok.dynamics.simulate import start
    from neurok.scene.description import Scene, SceneObject
    from neurok.scene.run import prepare_scene

    begin = time.process_time()
    model = neurok.understand(path)
    loaded = time.process_time()
    plan = model.plan
    planned = time.process_time()
    ready = prepare_scene(Scene((SceneObject(str(path), act="drop"),), seconds=1.0))
    prepared = time.process_time()
    run = start(ready.bodies, ready.world, seconds=1.0, engine="auto")
    started = time.process_time()
    while run.step():
        pass
    moved = time.process_time()
    rollout = run.rollouts()[0]
    framed = time.process_time()
    return {
        "asset": name,
        "vertices": model.mesh.vertex_count,
        "matter": model.matter,
        "bodies": len(plan.bodies),
        "engine": rollout.report["engine"],
        "coordinates": rollout.report["dof"],
        "load [s]": loaded - begin,
        "plan [s]": planned - loaded,
        "drop: ready [s]": prepared - planned,
        "start [s]": started - prepared,
        "x real time": 1.0 / max(moved - started, 1e-9),
        "with frames": 1.0 / max(framed - started, 1e-9),
        "status": rollout.status,
    }


def _summary(rows: list[dict[str, Any]], which: str) -> dict[str, Any]:
    """Median or worst of each column of figures."""
    out: dict[str, Any] = {"asset": f"**{which}**"}
    for key in rows[0]:
        values = [row[key] for row in rows if isinstance(row.get(key), float)]
        if values:
            worst = min if "real time" in key or "frames" in key else max
            out[key] = float(np.median(values)) if which == "median" else worst(values)
    return out


if __name__ == "__main__":
    tyro.cli(BenchWaiting).run()
