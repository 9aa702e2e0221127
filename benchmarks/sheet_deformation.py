"""Sheets of held-out objects: which poses are found, how it follows a target, how it moves when pushed.

    python benchmarks/sheet_deformation.py [--data DIR] [--count 12] [--out docs/images]

DIR (or NEUROK_DATA) holds ``partnet_mobility/train``. Writes ``neural_poses.png`` (rest, four samples, a target, the
pose found for it without correspondence, refined) and ``neural_motion.png`` (moments after a push).
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import numpy as np
from bench_neural import stripped
from pictures_dynamics import save_small

import neurok
from neurok.core import Mesh
from neurok.dynamics import Body, Condition, Start, World, simulate
from neurok.geometry.sampling import sample_surface
from neurok.rendering import contact_sheet
from neurok.rendering.renderer import Renderer
from neurok_lab.evaluation.cases import find_cases

WIDTH, HEIGHT = 200, 170
COLUMNS = 7


def row(states: list[np.ndarray], mesh: Mesh) -> list[np.ndarray]:
    """States of one object, seen by one camera that holds them all."""
    near = [x for x in states if np.isfinite(x).all()]
    with Renderer(mesh, width=WIDTH, height=HEIGHT, fit_to=near) as renderer:
        return [renderer.render(x) for x in states]


def poses(rest: Mesh, target: np.ndarray, space: Any) -> list[np.ndarray]:
    """Rest, samples, the target, and the pose found for it."""
    samples = [space.positions(q) for q in space.sample(4, seed=1)]
    cloud = sample_surface(target, rest.faces, 4000, np.random.default_rng(0)).interpolate(target)
    return [rest.vertices, *samples, target, neurok.pose(rest, target=cloud, deform=True).vertices]


def motion(space: Any) -> list[np.ndarray]:
    """A push along what moves most, and gravity off."""
    speeds = np.linalg.norm(space.shape(np.zeros((1, space.dim)))[1][0], axis=(1, 2))
    pushed = np.where(np.arange(space.dim) == speeds.argmax(), 2.0, 0.0)
    rollout = simulate(
        Body.of(space, Condition(Start(qdot=pushed)), damping=0.5), World(gravity=np.zeros(3)), seconds=1.2, fps=30
    )
    chosen = np.linspace(0, rollout.frame_count - 1, COLUMNS).round().astype(int)
    return [rollout.positions[i] for i in chosen]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=os.environ.get("NEUROK_DATA", ""))
    parser.add_argument("--count", type=int, default=12)
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    options = parser.parse_args()
    found, moved, labels, names = [], [], [], []
    sources = find_cases("partnet", lambda inside: Path(options.data) / inside)
    chosen = [sources[int(i)] for i in np.linspace(0, len(sources) - 1, options.count).round()]
    for source in chosen:
        case = source.load()
        if case is None:
            continue
        mesh = stripped(case.rest)
        space = neurok.infer(mesh)
        found += row(poses(mesh, case.target, space), mesh)
        moved += row(motion(space), mesh)
        labels += [source.name, "sample", "sample", "sample", "sample", "target", "pose found"]
        names += [source.name, *[""] * (COLUMNS - 1)]
        print(source.name, space.dim, flush=True)
    save_small(contact_sheet(found, COLUMNS, labels), options.out / "neural_poses.png")
    save_small(contact_sheet(moved, COLUMNS, names), options.out / "neural_motion.png")


if __name__ == "__main__":
    main()
