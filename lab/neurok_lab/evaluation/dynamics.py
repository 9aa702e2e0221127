"""The reduced engine beside particles: the same object, materials and scene, and how far the motions are apart."""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from jaxtyping import Float

from neurok.core import Asset, Mesh
from neurok.dynamics.simulate import start
from neurok.errors import NeurokError
from neurok.geometry.distance import chamfer_l1
from neurok.geometry.sampling import sample_surface
from neurok.scene.description import ActionName, Scene, SceneObject
from neurok.scene.run import SceneRun, engine_of, prepare_scene
from neurok_lab.evaluation.tables import Columns, Row, markdown, measured

SOFT_THINGS = {
    "pillow": "sample:pillow",
    "cushion": "cushion",
    "jelly": "jelly",
    "plush": "plush",
    "mattress": "mattress",
    "sofa": "sofa",
    "bag": "bag",
    "hat": "hat",
}
"""Name in the table, and a sample or a soft family."""

SAMPLES = 1500
"""Points of a surface that are compared."""

SEED = 0
TRIES = 20
"""Members of a family that are tried until one passes its checks."""

COLUMNS: Columns = {
    "object": ("object", "{}"),
    "particles": ("particles", "{:,}"),
    "modes": ("coordinates", "{}"),
    "chamfer": ("Chamfer, mean", "{:.4f}"),
    "chamfer_touch": ("until 0.1 s after touching", "{:.4f}"),
    "chamfer_end": ("at the end", "{:.4f}"),
    "moved": ("moved", "{:.2f}"),
    "reduced": ("reduced [s of motion per CPU s]", "{:.2f}"),
    "full": ("particles", "{:.4f}"),
    "ratio": ("ratio", "{:.0f}"),
}


def compare_engines(
    name: str, act: ActionName, seconds: float, resolution: int | str, store: Path | None = None
) -> Row:
    """One row of the table; from ``store`` if it was measured before."""

    def measure() -> Row:
        with tempfile.TemporaryDirectory() as folder:
            thing = SceneObject(source_of(name, Path(folder)), act=act)
            scene = Scene((thing,), seconds=seconds, engine="particles", resolution=resolution)  # type: ignore[arg-type]
            full, reduced = (_timed(replace(scene, engine=engine)) for engine in ("particles", "reduced"))
        return {"object": name, **compared(reduced, full)}

    return measured([(f"{name} {act} {seconds:g} {resolution}", measure)], store)[0]


def source_of(name: str, folder: Path) -> str:
    """A file for both engines, written to a folder: a sample, or a member of a soft family, with what it is made of."""
    from neurok.io import load

    family = SOFT_THINGS.get(name, name)
    return stored(load(family) if family.startswith("sample:") else member(family), folder / f"{name}.glb")


def stored(asset: Asset, path: Path) -> str:
    """Write an object without its motion and joints, but with what it is, or is likely to be, made of."""
    from neurok.io import save
    from neurok.verbs import propose_materials

    if asset.materials is None:
        asset = replace(asset, materials=propose_materials(asset).field)
    save(replace(asset, clips=(), articulation=None), path)
    return str(path)


def member(family: str) -> Asset:
    """A member of a soft family that passes its checks."""
    from neurok_lab.worlds.soft import generate

    for index in range(TRIES):
        asset, _ = generate(family, SEED, index)
        if asset is not None:
            return asset
    raise NeurokError(f"No {family} out of {TRIES} passed its checks.")


def _timed(scene: Scene) -> tuple[SceneRun, float]:
    """A run, and seconds of motion per second of processor time, stepping alone: other work does not count."""
    ready = prepare_scene(scene)
    run = start(ready.bodies, ready.world, seconds=scene.seconds, fps=scene.fps, engine=engine_of(scene))
    begin = time.process_time()
    while run.step():
        pass
    spent = max(time.process_time() - begin, 1e-9)
    return SceneRun(ready, run.rollouts()), run.time / spent


def compared(timed: tuple[SceneRun, float], timed_full: tuple[SceneRun, float]) -> Row:
    """How far two runs of one object are apart over time, in sizes of the object, and how fast each was."""
    (reduced, speed), (full, speed_full) = timed, timed_full
    first, second = reduced.rollout, full.rollout
    rest = reduced.ready.bodies[0].mesh
    count = min(first.frame_count, second.frame_count)
    frames = [_points(rest, each.clip().positions[:count, : rest.vertex_count]) for each in (first, second)]
    apart = np.array([chamfer_l1(a, b) for a, b in zip(*frames, strict=True)]) / rest.size
    touch = _touch(frames[1], rest, full)
    moved = np.linalg.norm(frames[1] - frames[1][:1], axis=2).mean(axis=1).max() / rest.size
    return {
        "particles": second.report["particles"],
        "modes": first.report["dof"],
        "chamfer": float(apart.mean()),
        "chamfer_touch": float(apart[: touch + max(1, round(0.1 / first.dt))].mean()),
        "chamfer_end": float(apart[-1]),
        "over_time": [round(float(value), 5) for value in apart],
        "moved": float(moved),
        "reduced": speed,
        "full": speed_full,
        "ratio": speed / speed_full,
        "status": [first.status, second.status],
        "measured": time.strftime("%Y-%m-%d"),
    }


def _points(mesh: Mesh, positions: Float[np.ndarray, "T V 3"]) -> Float[np.ndarray, "T n 3"]:
    """The same points of a surface in every frame."""
    return sample_surface(mesh.vertices, mesh.faces, SAMPLES, np.random.default_rng(SEED)).interpolate(positions)


def _touch(points: Float[np.ndarray, "T n 3"], rest: Mesh, run: SceneRun) -> int:
    """The first frame in which something is on the ground."""
    ground = run.ready.world.ground
    if ground is None or ground.height is None:
        return len(points)
    normal = rest.up_vector if ground.normal is None else ground.normal
    low = (points @ normal).min(axis=1) - ground.height
    return int(np.argmax(low < 0.02 * rest.size)) if (low < 0.02 * rest.size).any() else len(points)


def dynamics_table(rows: list[Row]) -> str:
    """The table of the docs, with its means."""
    ratios = np.array([row["ratio"] for row in rows])
    return (
        f"{markdown(rows, COLUMNS)}\n\nThe reduced engine was {np.median(ratios):.0f} times as fast in the median "
        f"({ratios.min():.0f} to {ratios.max():.0f}); processor time of stepping alone, one after the other."
    )
