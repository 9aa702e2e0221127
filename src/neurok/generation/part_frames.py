"""Where a part stands: its own axes and its box, from nothing but its points."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from neurok.families.household.parts import Look
from neurok.generation.part_autoencoder import FORMS, PartModel
from neurok.generation.part_fit import Cloud, PartGuess, decode, encode_clouds, refine, solid_of
from neurok.geometry import lie
from neurok.geometry.distance import nearest_distances
from neurok.geometry.sampling import sample_surface
from neurok.modelling.shapes import Shape


@dataclass(frozen=True)
class FrameConfig:
    """How many ways of standing are tried."""

    same: float = 0.05
    """Rotations nearer than this [rad] count once."""

    refine: int = 30
    """Steps by which the code of an implicit shape is fitted to the points; 0 to take it as it was encoded."""

    surface: int = 400
    """Points by which guesses are held against what was seen."""


FRAMES = FrameConfig()


@dataclass(frozen=True, eq=False)
class Rebuilt:
    """A part made again from its points."""

    guess: PartGuess
    solid: Shape
    """In its own axes, about the middle of its box."""

    pose: Float[np.ndarray, "4 4"]
    """From its own axes to those of the points."""

    size: Float[np.ndarray, "3"]
    error: float
    """Mean distance between its surface and the points, both ways, over the longest side."""


def rebuild(
    model: PartModel,
    points: Float[np.ndarray, "N 3"],
    normals: Float[np.ndarray, "N 3"],
    colours: Float[np.ndarray, "N 3"],
    look: Look | None = None,
    config: FrameConfig = FRAMES,
    seed: int = 0,
) -> Rebuilt:
    """The part that some points show, in the box that they fill: of several frames and kinds, what fits them best."""
    rng = np.random.default_rng(seed)
    turns = frames_of(points, normals, config)
    clouds, places = zip(*(cloud_in(turn, points, normals, colours, look) for turn in turns), strict=True)
    codes = encode_clouds(model, list(clouds))
    found = []
    for turn, cloud, place, code in zip(turns, clouds, places, codes, strict=True):
        guess = decode(model, code, cloud.size)
        if guess.kind in FORMS:
            found.append(_judged(model, guess, cloud, lie.compose(turn, place), rng, config))
    least = int(np.argmin([float(np.prod(cloud.size)) for cloud in clouds]))
    code = codes[least]
    if config.refine:
        code = refine(model, codes[least : least + 1], [clouds[least]], config.refine)[0]
    guess = decode(model, code, clouds[least].size, "implicit")
    found.append(_judged(model, guess, clouds[least], lie.compose(turns[least], places[least]), rng, config))
    return min(found, key=lambda one: one.error)


def cloud_in(
    turn: Float[np.ndarray, "3 3"],
    points: Float[np.ndarray, "N 3"],
    normals: Float[np.ndarray, "N 3"],
    colours: Float[np.ndarray, "N 3"],
    look: Look | None,
) -> tuple[Cloud, Float[np.ndarray, "3"]]:
    """Points in their own axes about the middle of their box, and where that middle is."""
    own = points @ turn
    low, high = own.min(axis=0), own.max(axis=0)
    middle, size = (low + high) / 2.0, np.maximum(high - low, 1e-4)
    return Cloud(own - middle, normals @ turn, colours, size, look), turn @ middle


def frames_of(
    points: Float[np.ndarray, "N 3"], normals: Float[np.ndarray, "N 3"], config: FrameConfig = FRAMES
) -> list[Float[np.ndarray, "3 3"]]:
    """Rotations from own axes to those of the points: none, along the main directions of points and of normals."""
    centred = points - points.mean(axis=0)
    main = [np.eye(3), _axes(centred.T @ centred), _axes(normals.T @ normals), _upright(centred)]
    out: list[np.ndarray] = []
    for turn in (variant for axes in main for variant in _ways(axes)):
        if all(_angle(turn, other) > config.same for other in out):
            out.append(turn)
    return out


def _axes(moments: np.ndarray) -> np.ndarray:
    return np.asarray(np.linalg.eigh(moments)[1])


def _upright(points: np.ndarray) -> np.ndarray:
    """Turned about the vertical so that the rectangle around the points is small."""
    angles = np.linspace(0.0, np.pi / 2, 18, endpoint=False)
    turns = [lie.axis_angle_matrix(np.array([0.0, 1.0, 0.0]), angle) for angle in angles]
    areas = [float(np.prod(np.ptp((points @ turn)[:, [0, 2]], axis=0))) for turn in turns]
    return turns[int(np.argmin(areas))]


def _ways(axes: np.ndarray) -> list[np.ndarray]:
    """The rotation with these axes that is nearest to none, and the next one that keeps most of the vertical."""
    found = []
    for order in itertools.permutations(range(3)):
        for signs in itertools.product((1.0, -1.0), repeat=3):
            turn = axes[:, order] * np.array(signs)
            if np.linalg.det(turn) > 0:
                found.append(turn)
    found.sort(key=lambda turn: -float(np.trace(turn)))
    return found[:1]


def _angle(first: np.ndarray, second: np.ndarray) -> float:
    return float(np.arccos(np.clip((np.trace(first.T @ second) - 1.0) / 2.0, -1.0, 1.0)))


def _judged(
    model: PartModel, guess: PartGuess, cloud: Cloud, pose: np.ndarray, rng: np.random.Generator, config: FrameConfig
) -> Rebuilt:
    solid = solid_of(model, guess, cloud.size)
    drawn = sample_surface(solid.vertices, solid.faces, config.surface, rng).interpolate(solid.vertices)
    both = nearest_distances(cloud.points, drawn).mean() + nearest_distances(drawn, cloud.points).mean()
    return Rebuilt(guess, solid, pose, cloud.size, float(both / cloud.size.max()))
