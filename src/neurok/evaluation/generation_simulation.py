"""Whether an object that was made again also moves as the true one: both fall, by particles, with their materials."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float

from neurok.core import Asset, MaterialField, Mesh
from neurok.dynamics.simulate import start
from neurok.evaluation.generation_reconstruction import Answer
from neurok.generation.part_fit import nearest_material
from neurok.generation.part_points import FAMILIES, LAWS
from neurok.generation.vecset_points import Surface
from neurok.geometry.distance import nearest_distances
from neurok.geometry.sampling import sample_surface
from neurok.io import save
from neurok.scene.description import Scene, SceneObject
from neurok.scene.run import engine_of, prepare_scene


@dataclass(frozen=True)
class FallConfig:
    """How objects fall."""

    seconds: float = 0.4
    """From where ``drop`` lets go: to the ground and into it."""

    fps: float = 20.0
    cells: int = 20
    """Along the longest side, of the particles' grid."""

    points: int = 3000
    """Of either surface, that are compared."""


FALL = FallConfig()
Motion = Float[np.ndarray, "T N 3"]


def fall(answer: Answer, seen: Surface, name: str, config: FallConfig = FALL) -> Motion:
    """Points of an object's surface while it falls [m]; its material is that of the nearest point that was asked."""
    from scipy.spatial import cKDTree

    near = cKDTree(seen.points).query(answer.shape.vertices)[1]
    said = np.column_stack([answer.stuffs, np.round(answer.values, 1)])
    kinds, index = np.unique(np.nan_to_num(said, nan=-99.0), axis=0, return_inverse=True)
    rows = [said[np.flatnonzero(index.reshape(-1) == number)[0]] for number in range(len(kinds))]
    made = tuple(nearest_material(LAWS[int(row[0])], FAMILIES[int(row[1])], row[2:]) for row in rows)
    mesh = Mesh(answer.shape.vertices, answer.shape.faces, name=name)
    asset = Asset(mesh, materials=MaterialField(made, index.reshape(-1)[near]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.glb"
        save(asset, path)
        scene = Scene(
            (SceneObject(str(path), act="drop"),), seconds=config.seconds, fps=config.fps, engine="particles",
            resolution=config.cells,
        )  # fmt: skip
        ready = prepare_scene(scene)
        run = start(ready.bodies, ready.world, seconds=scene.seconds, fps=scene.fps, engine=engine_of(scene))
        while run.step():
            pass
        rest, clip = ready.bodies[0].mesh, run.rollouts()[0].clip()
    drawn = sample_surface(np.asarray(rest.vertices), rest.faces, config.points, np.random.default_rng(0))
    return np.stack([drawn.interpolate(np.asarray(frame)[: rest.vertex_count]) for frame in clip.positions])


def apart(true: Motion, made: Motion) -> float:
    """Mean over time of the squared distances both ways, where the true object's longest side is 2."""
    scale = 2.0 / float(np.ptp(true[0], axis=0).max())
    both = [
        float((nearest_distances(a, b) ** 2).mean() + (nearest_distances(b, a) ** 2).mean()) * scale**2
        for a, b in zip(true, made, strict=False)
    ]
    return float(np.mean(both))
