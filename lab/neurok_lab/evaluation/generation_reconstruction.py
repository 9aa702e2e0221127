"""How well objects come back from their codes: shape, colour, material and how they fall, beside SOPHY's figures.

Objects are generated ones of the test split and real ones kept aside. Of each part only its points are given; box,
axes, shape, colour and material are what the autoencoder makes of them. That a part is repeated is taken as known.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from neurok.catalogue import Assembly, generate, split_of
from neurok.catalogue.appearance import material_of
from neurok.catalogue.parts import Part, placed
from neurok.catalogue.vocabulary import SOFT_TWELVE
from neurok.core import MaterialField, Mesh
from neurok.core.material import STANDARD_GRAVITY
from neurok.dynamics.body import Body
from neurok.dynamics.condition import Condition, Ground, Start, World
from neurok.dynamics.particles.engine import ParticleEngine
from neurok.dynamics.particles.engine_config import ParticleEngineConfig
from neurok.dynamics.simulate import simulate
from neurok.geometry import lie
from neurok.geometry.distance import nearest_distances, volumetric_iou
from neurok.geometry.level_set import level_set
from neurok.geometry.sampling import sample_surface
from neurok.modelling.booleans import from_manifold, to_manifold
from neurok.modelling.shapes import Shape, join
from neurok_lab.data.household_real import real_models
from neurok_lab.parts.part_autoencoder import PartModel
from neurok_lab.parts.part_cutting import joined, rebuild_solid
from neurok_lab.parts.part_fit import has_values, nearest_material
from neurok_lab.parts.part_frames import FRAMES, FrameConfig, rebuild
from neurok_lab.parts.part_points import CENTRES, FAMILIES, LAWS, SCALES, stuff_of, surface_of_part, values_of
from neurok_lab.parts.part_set import stuff_features
from neurok_lab.parts.vecset import ObjectInput, SurfaceSamples, VecsetModel, surface_of
from neurok_lab.train.parts import real_thing


@dataclass(frozen=True)
class ReconstructionConfig:
    """What is measured."""

    objects: int = 1
    """Of each category, of the test split ..."""

    skip: int = 0
    """... after so many that were looked at before."""

    seed: int = 0
    points: int = 1024
    """Of each part, all that is seen of it."""

    surface: int = 120_000
    """Points of either surface, so many that a perfect copy has distances far below ``near`` ..."""

    asked: int = 6_000
    """... and how many of them look for their nearest on the other."""

    near: float = 0.02
    """Distance within which a point counts as found (F-score), where the longest side is 2."""

    cells: int = 64
    """Along the longest side, of the grid on which volumes are compared."""


@dataclass(frozen=True)
class Figures:
    """Of one object or, as means, of many; a figure that cannot be asked is NaN."""

    law: float
    """Share of surface points whose type of material behaviour is right ..."""

    family: float
    """... and the family: wood, metal, fabric."""

    log_young: float
    """Mean absolute errors over surface points: log10 of Pa,"""

    poisson: float
    log_yield: float
    """of those that yield, log10 of Pa,"""

    friction_angle: float
    """of those that are granular, rad,"""

    density: float
    """1000 kg/m^3,"""

    colour: float
    """sRGB 0..1, all channels."""

    iou: float
    """Of the solids."""

    shell_iou: float
    """With every cell that a surface passes through: what is thinner than a cell counts, too."""

    chamfer: float
    """Mean squared distance to the nearest point, both ways added, where the longest side is 2."""

    f_score: float
    sim_chamfer: float = np.nan
    """The same of both objects while they fall (``fall``), mean over time."""

    numbers: float = np.nan
    """That say the object: codes, boxes and turns of its parts and pieces, or tokens."""


SOPHY = Figures(0.9355, np.nan, 0.45, 0.0306, 0.29, 0.0128, 0.09, 0.0813, 0.9089, np.nan, 3.02e-4, 0.9385, 8.72e-3)
"""As published, on SOPHY's own data."""


def held_out(config: ReconstructionConfig) -> list[Callable[[], Assembly]]:
    """Generated objects of the test split, made when they are called for."""
    test = (index for index in itertools.count() if split_of(index) == "test")
    chosen = list(itertools.islice(test, config.skip, config.skip + config.objects))
    return [partial(_generated, category, config.seed, index) for index in chosen for category in SOFT_TWELVE]


def _generated(category: str, seed: int, index: int) -> Assembly:
    return generate(category, seed, index)[0]


def kept_aside(library: Path, count: int) -> list[Callable[[], Assembly]]:
    """Real models that nothing was learned from, read when they are called for; small files first: large take long."""
    models = [model for model in real_models(library) if model.is_kept_aside]
    return [partial(real_thing, model) for model in sorted(models, key=lambda one: one.path.stat().st_size)[:count]]


@dataclass(frozen=True, eq=False)
class Answer:
    """An object made again, and what is said of the points of the true surface."""

    shape: Shape
    """Closed solids, which may overlap."""

    colours: Float[np.ndarray, "N 3"]
    stuffs: Float[np.ndarray, "N 2"]
    values: Float[np.ndarray, "N 5"]
    numbers: int = 0
    """That say it."""

    tints: Float[np.ndarray, "V 3"] | None = None
    """sRGB of the corners of the shape, for pictures."""


AS_ENCODED = replace(FRAMES, fit=0, refine=0)
"""Codes as the encoder writes them, in the frame that fits best."""

BOX = 10
"""Numbers beside a part's codes: where its box stands, its sides, a turn, and a wall."""


def by_parts(
    model: PartModel,
    assembly: Assembly,
    seen: SurfaceSamples,
    config: ReconstructionConfig,
    frames: FrameConfig = FRAMES,
) -> Answer:
    """Each part made again from its own points, then put at the places of its copies.

    Parts of real models may be cut into pieces, unless codes are taken as they are.
    """
    shapes: list[Shape] = []
    tints: list[np.ndarray] = []
    rows, codes, longest = [], 0, float(np.ptp(assembly.bounds, axis=0).max())
    for number, part in enumerate(assembly.parts):
        if part.mesh is not None and frames.fit:
            found = rebuild_solid(
                model, part.copies[0], part.appearance, float(part.size.max() / longest), frames=frames
            )
        else:
            found = [rebuild(model, *points_of(part, config.points, config.seed + number), part.appearance, frames)]
        first, solid = np.linalg.inv(part.poses[0]), joined(found)
        shapes += [placed(solid, pose @ first) for pose in part.poses]
        guess = found[0].guess
        tints.append(np.tile(guess.colour, (len(part.poses) * len(solid.vertices), 1)))
        rows.append([*guess.colour, LAWS.index(guess.law), FAMILIES.index(guess.family), *guess.values])
        codes += len(found)
    table = np.array(rows)[seen.owners]
    numbers = codes * (model.config.total + BOX)
    return Answer(join(shapes), table[:, :3], table[:, 3:5], table[:, 5:], numbers, np.concatenate(tints))


def points_of(part: Part, count: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The surface of the first copy of a part where it stands [m]: nothing of its box or its axes."""
    points, normals, colours = surface_of_part(part, count, np.random.default_rng(seed))
    half, pose = np.asarray(part.size) / 2.0, part.poses[0]
    own = normals / half
    own /= np.maximum(np.linalg.norm(own, axis=1, keepdims=True), 1e-12)
    return (points * half) @ pose[:3, :3].T + pose[:3, 3], own @ pose[:3, :3].T, colours


@torch.no_grad()
def by_tokens(model: VecsetModel, assembly: Assembly, seen: SurfaceSamples, config: ReconstructionConfig) -> Answer:
    """The whole object through its 64 tokens."""
    low, high = assembly.bounds
    middle, half = (low + high) / 2.0, float((high - low).max()) / 2.0
    values, stuffs = _materials(assembly, seen)
    boxed = (seen.points - middle) / half
    tensor = lambda array: torch.from_numpy(np.asarray(array, dtype=np.float32))[None]  # noqa: E731
    pick = np.random.default_rng(config.seed).permutation(len(boxed))[:1024]
    stuff = stuff_features(
        tensor(values[pick] * SCALES - CENTRES)[0], *torch.from_numpy(stuffs[pick]).long().T
    )[None]  # fmt: skip
    given = ObjectInput(tensor(boxed[pick]), tensor(seen.normals[pick]), tensor(seen.colours[pick]), stuff)
    tokens = model.decode(model.encode(given)[0])
    colour, law, family, found = model.surface(tokens, tensor(boxed))
    axis = np.linspace(-1.05, 1.05, config.cells)
    grid = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
    logits = np.concatenate([np.asarray(model.inside(tokens, tensor(some)))[0] for some in np.array_split(grid, 16)])
    vertices, faces = level_set(-logits.reshape((config.cells,) * 3), np.full(3, -1.05), np.full(3, 1.05))
    said = np.stack([np.asarray(law[0].argmax(dim=-1)), np.asarray(family[0].argmax(dim=-1))], axis=1)
    numbers = (np.asarray(found[0], dtype=np.float64) + CENTRES) / SCALES
    there = np.array([has_values(name) for name in LAWS])[said[:, 0]]
    shape = Shape(vertices * half + middle, faces)
    size = model.config.tokens * model.config.total
    return Answer(shape, np.asarray(colour[0]), said, np.where(there, numbers, np.nan), size)


def measure(assembly: Assembly, seen: SurfaceSamples, answer: Answer, config: ReconstructionConfig) -> Figures:
    """An answer beside the truth."""
    true, stuffs = _materials(assembly, seen)
    right = (answer.stuffs == stuffs).mean(axis=0)
    errors = [_mean(np.abs(answer.values[:, i] - true[:, i])) for i in range(true.shape[1])]
    whole = join([shape for part in assembly.parts for shape in part.copies])
    colour = float(np.abs(np.clip(answer.colours, 0.0, 1.0) - seen.colours).mean())
    shape = shape_figures(whole, answer.shape, config)
    figures = Figures(*right.tolist(), *errors, colour, *shape)  # type: ignore[call-arg]
    return replace(figures, numbers=float(answer.numbers) if answer.numbers else np.nan)


def shape_figures(true: Shape, made: Shape, config: ReconstructionConfig) -> tuple[float, float, float, float]:
    """IoU, IoU with shells, Chamfer distance and F-score; nothing at all scores zero and a distance of one."""
    if not len(made.faces):
        return 0.0, 0.0, 1.0, 0.0
    low, high = true.bounds
    scale = 2.0 / float((high - low).max())
    pair = [(shape.vertices * scale, shape.faces) for shape in (true, made)]
    iou, shell = (volumetric_iou(pair[0], pair[1], config.cells, shell=thick) for thick in (False, True))
    rng = np.random.default_rng(config.seed)
    points = [sample_surface(*mesh, config.surface, rng).interpolate(mesh[0]) for mesh in pair]
    few = config.asked
    there, back = nearest_distances(points[0][:few], points[1]), nearest_distances(points[1][:few], points[0])
    recall, precision = (there < config.near).mean(), (back < config.near).mean()
    score = 2.0 * recall * precision / max(recall + precision, 1e-9)
    return iou, shell, float((there**2).mean() + (back**2).mean()), float(score)


def _mean(errors: np.ndarray) -> float:
    """Over what both sides have a number for."""
    known = errors[~np.isnan(errors)]
    return float(known.mean()) if len(known) else float("nan")


def means(rows: Sequence[Figures]) -> Figures:
    """Of several objects, each counting once."""
    out: dict[str, Any] = {}
    for one in fields(Figures):
        values = np.array([getattr(row, one.name) for row in rows], dtype=np.float64)
        out[one.name] = _mean(values)
    return Figures(**out)


def _materials(assembly: Assembly, seen: SurfaceSamples) -> tuple[Float[np.ndarray, "N 5"], Float[np.ndarray, "N 2"]]:
    """True values, and law and family, of the points of a surface."""
    values = np.array([values_of(material_of(part.appearance)) for part in assembly.parts])
    stuffs = np.array([stuff_of(part.appearance) for part in assembly.parts], dtype=np.float64)
    return values[seen.owners], stuffs[seen.owners]


def truth(assembly: Assembly, seen: SurfaceSamples) -> Answer:
    """The object itself, with one colour for each part: what sampling and grids alone leave of the figures."""
    values, stuffs = _materials(assembly, seen)
    colours = np.array([part.appearance.rgb for part in assembly.parts])[seen.owners]
    shapes = [(shape, part.appearance.rgb) for part in assembly.parts for shape in part.copies]
    tints = np.concatenate([np.tile(rgb, (len(shape.vertices), 1)) for shape, rgb in shapes])
    return Answer(join([shape for shape, _ in shapes]), colours, stuffs, values, tints=tints)


def seen_of(assembly: Assembly, config: ReconstructionConfig) -> SurfaceSamples:
    """The true surface on which colours and materials are asked."""
    return surface_of(assembly, config.asked // 2, np.random.default_rng(config.seed))


TITLES = (
    ("law", "material type [%]", 100.0, ".1f"),
    ("family", "family [%]", 100.0, ".1f"),
    ("log_young", "log10 E", 1.0, ".3f"),
    ("poisson", "ν", 1.0, ".4f"),
    ("log_yield", "log10 σ", 1.0, ".3f"),
    ("friction_angle", "φ", 1.0, ".4f"),
    ("density", "ρ / 1000", 1.0, ".3f"),
    ("colour", "colour", 1.0, ".4f"),
    ("iou", "IoU [%]", 100.0, ".1f"),
    ("shell_iou", "IoU, thin walls counted [%]", 100.0, ".1f"),
    ("chamfer", "CD [1e-4]", 1e4, ".2f"),
    ("f_score", "F-score [%]", 100.0, ".1f"),
    ("sim_chamfer", "Sim-CD [1e-3]", 1e3, ".2f"),
    ("numbers", "numbers per object", 1.0, ".0f"),
)


def table(columns: dict[str, Figures]) -> str:
    """Figures of several methods side by side."""
    lines = [f"| | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for name, title, scale, form in TITLES:
        values = [getattr(figures, name) for figures in columns.values()]
        cells = ["–" if np.isnan(value) else format(scale * value, form) for value in values]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines)


HEIGHT = 0.1  # of the lowest point above the ground [longest sides]: about a cell, within which grids touch ...
FALLEN = (
    0.4  # ... where it is as fast as if it had fallen so far [longest sides]: air takes as many steps as the ground
)
SECONDS, FPS = 0.2, 20.0  # onto the ground, and what it does there: a sofa of two metres touches it after 0.05 s
COARSE = 0.002  # by which meshes are simplified before [longest sides], a fiftieth of a cell
THIN = (
    0.5  # pieces in which no ball of so many cells fits are sheets; by default of two, which makes sheets of cushions
)
STRETCH = 0.02  # by which sheets may stretch under their own weight: ten times the default, a third of the steps


@dataclass(frozen=True)
class FallConfig:
    """How objects fall."""

    cells: int = 10
    """Along the longest side, of the particles' grid: cost grows with the fourth power ..."""

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


def fall(answer: Answer, seen: SurfaceSamples, longest: float, seed: int = 0, config: FallConfig = FALL) -> Motion:
    """Points of an object's surface while it falls [m]; its material is that of the nearest point that was asked.

    ``longest`` is the longest side of the true object [m]; ``seed`` chooses the points.

    Raises:
        NeurokError: If it would take too long.
    """
    shape = simplified(answer.shape, COARSE * longest)
    mesh = Mesh(shape.vertices, shape.faces, name="object")
    speed = float(np.sqrt(2.0 * STANDARD_GRAVITY * FALLEN * longest))
    low = float(np.asarray(mesh.vertices)[:, 1].min())
    body = Body(
        mesh, Condition(Start(velocity=np.array([0.0, -speed, 0.0]))), free=True,
        placement=lie.translation(np.array([0.0, HEIGHT * longest - low, 0.0])),
        materials=stuff_at(shape.vertices, answer, seen),
    )  # fmt: skip
    engine = ParticleEngine(
        ParticleEngineConfig(cells=config.cells, thin=THIN, stretch=STRETCH, most_own=0.0, longest=config.longest)
    )
    world = World(ground=Ground(height=0.0))
    clip = simulate(body, world, seconds=SECONDS, fps=FPS, engine=engine).clip()
    drawn = sample_surface(np.asarray(mesh.vertices), mesh.faces, config.points, np.random.default_rng(seed))
    return np.stack([drawn.interpolate(np.asarray(frame)[: mesh.vertex_count]) for frame in clip.positions])


def simplified(shape: Shape, most: float) -> Shape:
    """Closed solids with fewer triangles, each within so much [m] of what it was."""
    pieces = [piece.simplify(most) for piece in to_manifold(shape).decompose()]
    return join([from_manifold(piece) for piece in pieces if not piece.is_empty()])


def stuff_at(places: Float[np.ndarray, "V 3"], answer: Answer, seen: SurfaceSamples) -> MaterialField:
    """What places of an object are made of; values that differ by less than a tenth are one material."""
    from scipy.spatial import cKDTree

    near = cKDTree(seen.points).query(places)[1]
    said = np.column_stack([answer.stuffs, np.round(answer.values, 1)])
    kinds, index = np.unique(np.nan_to_num(said, nan=-99.0), axis=0, return_inverse=True)
    rows = [said[np.flatnonzero(index.reshape(-1) == number)[0]] for number in range(len(kinds))]
    made = tuple(nearest_material(LAWS[int(row[0])], FAMILIES[int(row[1])], row[2:]) for row in rows)
    return MaterialField(made, index.reshape(-1)[near])


def apart(true: Motion, answer: Answer, seen: SurfaceSamples, longest: float, config: FallConfig = FALL) -> float:
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
