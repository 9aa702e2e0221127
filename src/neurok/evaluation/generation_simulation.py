"""Whether an object that was made again also moves as the true one: both fall, by particles, with their materials."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from neurok.core import MaterialField, Mesh
from neurok.core.gravity import STANDARD_GRAVITY
from neurok.dynamics.body import Body
from neurok.dynamics.condition import Condition, Ground, Start, World
from neurok.dynamics.particles.engine import ParticleEngine
from neurok.dynamics.particles.engine_config import ParticleEngineConfig
from neurok.dynamics.particles.filling import FILLING
from neurok.dynamics.particles.pieces import PIECES
from neurok.dynamics.particles.stuff import STUFF
from neurok.dynamics.simulate import simulate
from neurok.evaluation.generation_reconstruction import Answer
from neurok.generation.part_fit import nearest_material
from neurok.generation.part_points import FAMILIES, LAWS
from neurok.generation.vecset import Surface
from neurok.geometry import lie
from neurok.geometry.distance import nearest_distances
from neurok.geometry.sampling import sample_surface
from neurok.modelling.booleans import from_manifold, to_manifold
from neurok.modelling.shapes import Shape, join


@dataclass(frozen=True)
class FallConfig:
    """How objects fall."""

    height: float = 0.1
    """Of the lowest point above the ground at the start [longest sides]: about a cell, within which grids touch ..."""

    fallen: float = 0.4
    """... where it is as fast as if it had fallen so far [longest sides]: air takes as many steps as the ground."""

    seconds: float = 0.2
    """Onto the ground, and what it does there: a sofa of two metres touches it after 0.05 s."""

    fps: float = 20.0
    cells: int = 10
    """Along the longest side, of the particles' grid: cost grows with the fourth power ..."""

    coarse: float = 0.002
    """... and by which meshes are simplified before [longest sides], a fiftieth of a cell."""

    thin: float = 0.5
    """Pieces in which no ball of so many cells fits are sheets; by default of two, which makes sheets of cushions."""

    stretch: float = 0.02
    """By which sheets, of even triangles, may stretch under their own weight: ten times the default, a third of the
    steps."""

    longest: float = 30.0
    """Falls that are thought to take longer [s] are refused: sheets with slivers take steps of some microseconds."""

    points: int = 40_000
    """Of either surface, so many that a perfect copy costs little ..."""

    asked: int = 4_000
    """... and how many of them look for their nearest on the other."""


FALL = FallConfig()
NOTHING = 1.0
"""Distance of an object of which nothing is there, as without motion."""

Motion = Float[np.ndarray, "T N 3"]


def fall(answer: Answer, seen: Surface, longest: float, seed: int = 0, config: FallConfig = FALL) -> Motion:
    """Points of an object's surface while it falls [m]; its material is that of the nearest point that was asked.

    ``longest`` is the longest side of the true object [m]; ``seed`` chooses the points.

    Raises:
        NeurokError: If it would take too long.
    """
    shape = simplified(answer.shape, config.coarse * longest)
    mesh = Mesh(shape.vertices, shape.faces, name="object")
    speed = float(np.sqrt(2.0 * STANDARD_GRAVITY * config.fallen * longest))
    low = float(np.asarray(mesh.vertices)[:, 1].min())
    body = Body(
        mesh, Condition(Start(velocity=np.array([0.0, -speed, 0.0]))), free=True,
        placement=lie.translation(np.array([0.0, config.height * longest - low, 0.0])),
        materials=stuff_at(shape.vertices, answer, seen),
    )  # fmt: skip
    filling = replace(
        FILLING, pieces=replace(PIECES, thin=config.thin), stuff=replace(STUFF, stretch=config.stretch), most_own=0.0
    )
    engine = ParticleEngine(ParticleEngineConfig(cells=config.cells, filling=filling, longest=config.longest))
    world = World(ground=Ground(height=0.0))
    clip = simulate(body, world, seconds=config.seconds, fps=config.fps, engine=engine).clip()
    drawn = sample_surface(np.asarray(mesh.vertices), mesh.faces, config.points, np.random.default_rng(seed))
    return np.stack([drawn.interpolate(np.asarray(frame)[: mesh.vertex_count]) for frame in clip.positions])


def simplified(shape: Shape, most: float) -> Shape:
    """Closed solids with fewer triangles, each within so much [m] of what it was."""
    pieces = [piece.simplify(most) for piece in to_manifold(shape).decompose()]
    return join([from_manifold(piece) for piece in pieces if not piece.is_empty()])


def stuff_at(places: Float[np.ndarray, "V 3"], answer: Answer, seen: Surface) -> MaterialField:
    """What places of an object are made of; values that differ by less than a tenth are one material."""
    from scipy.spatial import cKDTree

    near = cKDTree(seen.points).query(places)[1]
    said = np.column_stack([answer.stuffs, np.round(answer.values, 1)])
    kinds, index = np.unique(np.nan_to_num(said, nan=-99.0), axis=0, return_inverse=True)
    rows = [said[np.flatnonzero(index.reshape(-1) == number)[0]] for number in range(len(kinds))]
    made = tuple(nearest_material(LAWS[int(row[0])], FAMILIES[int(row[1])], row[2:]) for row in rows)
    return MaterialField(made, index.reshape(-1)[near])


def apart(true: Motion, answer: Answer, seen: Surface, longest: float, config: FallConfig = FALL) -> float:
    """How far an answer falls from where the true object does: mean over time of ``away``."""
    return away(true, fall(answer, seen, longest, 1, config), config.asked) if len(answer.shape.faces) else NOTHING


def away(true: Motion, made: Motion, asked: int = FALL.asked) -> float:
    """Mean over time of the squared distances both ways, where the true object's longest side is 2."""
    scale = 2.0 / float(np.ptp(true[0], axis=0).max())
    both = [
        float((nearest_distances(a[:asked], b) ** 2).mean() + (nearest_distances(b[:asked], a) ** 2).mean()) * scale**2
        for a, b in zip(true, made, strict=False)
    ]
    return float(np.mean(both))
