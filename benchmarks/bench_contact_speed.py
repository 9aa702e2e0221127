"""Dropped objects in both engines: how much faster than real time each runs, and how it ends.

    python benchmarks/bench_contact_speed.py [--repeats N] [--seconds S]

writes ``benchmarks/results/contact_speed.md``. Times are CPU seconds, so that other load on the machine counts little,
and both engines take turns on every scene; the best of the repeats counts.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import time
from pathlib import Path
from typing import Any

import numpy as np

from neurok.dynamics import start
from neurok.scene.description import Scene, SceneGround, SceneObject, SceneWorld
from neurok.scene.run import ReadyScene, prepare_scene

ENGINES = ("reduced", "mujoco")
OUT = Path(__file__).parent / "results" / "contact_speed.md"
TILT = (20.0, 0.0, 10.0)


def scenes(seconds: float) -> dict[str, Scene]:
    """Every sample alone, the pillow as a rigid thing, and five objects above each other."""
    alone = {
        name: Scene(
            (
                SceneObject(
                    f"sample:{name}", drop="auto", rotation=TILT, space="rigid" if name == "pillow" else "joints"
                ),
            ),
            seconds=seconds,
        )
        for name in ("laptop", "cabinet", "lamp", "pillow")
    }
    names = ("cabinet", "laptop", "lamp", "pillow", "laptop")
    places = ((0.0, 0.0, 0.0), (-0.3, 1.0, 0.05), (0.35, 1.0, 0.0), (1.4, 0.3, 0.0), (-1.3, 0.3, 0.1))
    several = tuple(
        SceneObject(
            f"sample:{name}",
            name=f"{name} {index}",
            position=place,
            base="free",
            space="rigid" if name == "pillow" else "joints",
        )
        for index, (name, place) in enumerate(zip(names, places, strict=True))
    )
    return {**alone, "five objects": Scene(several, SceneWorld(ground=SceneGround()), seconds=seconds)}


def measure(ready: ReadyScene, engine: str) -> dict[str, Any]:
    """One run: its speed, frames included, and how things lie at its end."""
    scene = ready.scene
    run = start(ready.bodies, ready.world, seconds=scene.seconds, fps=scene.fps, engine=engine)  # type: ignore[arg-type]
    begin = time.process_time()
    while run.step():
        pass
    spent = time.process_time() - begin
    rollouts, ground = run.rollouts(), ready.world.ground
    assert ground is not None
    assert ground.normal is not None
    assert ground.height is not None
    sizes = [rollout.rest.size for rollout in rollouts]
    lowest = [
        (rollout.positions @ ground.normal).min() - ground.height  # type: ignore[operator]
        for rollout in rollouts
    ]
    moved = [
        np.abs(rollout.positions[-1] - rollout.positions[-4]).max() / rollout.rest.size  # type: ignore[index]
        for rollout in rollouts
    ]
    return {
        "speed": scene.seconds / spent,
        "status": rollouts[0].status,
        "dof": rollouts[0].report["dof"],
        "below": max(0.0, *(-low / size for low, size in zip(lowest, sizes, strict=True))),
        "moving": max(moved),
    }


def table(prepared: dict[str, ReadyScene], repeats: int) -> list[str]:
    rows = [
        "| scene | vertices | coordinates | reduced | mujoco | ratio | below ground | still moving |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, ready in prepared.items():
        runs = [{engine: measure(ready, engine) for engine in ENGINES} for _ in range(repeats)]
        best = {engine: max((run[engine] for run in runs), key=lambda each: each["speed"]) for engine in ENGINES}
        ours, theirs = (best[engine] for engine in ENGINES)
        bad = "".join(f" ({engine} {best[engine]['status']})" for engine in ENGINES if best[engine]["status"] != "ok")
        vertices = sum(body.mesh.vertex_count for body in ready.bodies)
        rows.append(
            f"| {name}{bad} | {vertices} | {ours['dof']} | {ours['speed']:.3g} × | {theirs['speed']:.3g} × | "
            f"{theirs['speed'] / ours['speed']:.2g} | {ours['below']:.1e}, {theirs['below']:.1e} | "
            f"{ours['moving']:.1e}, {theirs['moving']:.1e} |"
        )
        print(rows[-1], flush=True)
    return rows


def prepare(seconds: float) -> dict[str, ReadyScene]:
    """All scenes, and a short run of each engine, so that nothing is compiled later."""
    prepared = {name: prepare_scene(scene) for name, scene in scenes(seconds).items()}
    for engine in ENGINES:
        measure(prepare_scene(scenes(0.5)["laptop"]), engine)
    return prepared


def page(rows: list[str], seconds: float, repeats: int) -> str:
    """The table with machine, date and command."""
    lines = [
        "# Speed of contact",
        "",
        f"- date: {datetime.datetime.now(datetime.UTC):%Y-%m-%d %H:%M} UTC",
        f"- machine: {platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, "
        f"Python {platform.python_version()}",
        f"- command: python benchmarks/bench_contact_speed.py --repeats {repeats} --seconds {seconds:g}",
        "",
        f"Objects are dropped from half their size, tilted, and followed for {seconds:g} s; five are let go",
        "above the ground. Speed is simulated time over CPU time of one thread, frames included, best of the repeats;",
        "engines take turns.",
        "The last columns are of the reduced engine, then of MuJoCo, as shares of the size: how deep any vertex ever",
        "was below the ground, and how far any moved in the last three frames.",
        "",
        *rows,
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=2.0)
    given = parser.parse_args()
    rows = table(prepare(given.seconds), given.repeats)
    OUT.write_text(page(rows, given.seconds, given.repeats))


if __name__ == "__main__":
    main()
