"""Where a part stands: its own axes and its box, from nothing but its points."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

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

    same: float = 0.12
    """Rotations nearer than this [rad] count once."""

    flat: float = 0.6
    """A part is flat whose least side is below this share of the middle one."""

    refine: int = 20
    """Steps by which the code of an implicit shape is fitted to the points; 0 to take codes as they were encoded."""

    refine_points: int = 96
    seen: int = 256
    """Points in front of the encoder; boxes are those of all points."""

    around: int = 24
    """Neighbours among which the other side of a wall is looked for."""

    band: float = 0.06
    """Heights next to a knot of a turned solid whose outer points tell its radius, in halves of the longest side."""

    surface: int = 800
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
    pick = rng.permutation(len(points))[: config.seen]
    codes = encode_clouds(model, [_some(cloud, pick) for cloud in clouds])
    found = []
    for turn, cloud, place, code in zip(turns, clouds, places, codes, strict=True):
        guess = decode(model, code, cloud.size)
        wall = wall_of(cloud, config) if guess.hollow is not None and config.refine else 0.0
        if wall > 0 and guess.hollow is not None:
            guess = replace(guess, hollow=replace(guess.hollow, wall=wall))
        guesses = [guess] if guess.kind in FORMS else []
        if guess.kind == "lathe" and config.refine:
            guesses.append(replace(guess, code=turned_code(guess.code, cloud, config)))
        found += [_judged(model, one, cloud, lie.compose(turn, place), rng, config) for one in guesses]
    least = int(np.argmin([float(np.prod(cloud.size)) for cloud in clouds]))
    code = codes[least]
    if config.refine:
        some = _some(clouds[least], pick[: config.refine_points])
        code = refine(model, codes[least : least + 1], [some], config.refine)[0]
    guess = decode(model, code, clouds[least].size, "implicit")
    found.append(_judged(model, guess, clouds[least], lie.compose(turns[least], places[least]), rng, config))
    return min(found, key=lambda one: one.error)


def turned_code(code: Float[np.ndarray, "24"], cloud: Cloud, config: FrameConfig = FRAMES) -> Float[np.ndarray, "24"]:
    """The numbers of a turned solid with the radii that its points have at the heights of its knots."""
    knots, half = code.reshape(-1, 3).copy(), cloud.size / 2.0
    unit = float(half.max())
    radius = np.hypot(cloud.points[:, 0] / half[0], cloud.points[:, 2] / half[2]) * half[0] / unit
    height = cloud.points[:, 1] / unit
    outwards = (cloud.points * cloud.normals)[:, [0, 2]].sum(axis=1) > 0
    for knot in knots:
        near = radius[outwards & (np.abs(height - knot[1]) < config.band)]
        if len(near) >= 3:
            knot[0] = float(np.median(near))
    return knots.reshape(-1)


def wall_of(cloud: Cloud, config: FrameConfig = FRAMES) -> float:
    """Thickness [m] of a hollow part: how far behind points the nearest ones lie that look the other way; 0 if none."""
    from scipy.spatial import cKDTree

    points, normals = cloud.points, cloud.normals
    near = cKDTree(points).query(points, k=min(config.around, len(points)))[1]
    behind = -np.einsum("nkd,nd->nk", points[near] - points[:, None], normals)
    faces_away = np.einsum("nkd,nd->nk", normals[near], normals) < -0.9
    found = behind[faces_away & (behind > 0)]
    return float(np.median(found)) if len(found) > len(points) / 10 else 0.0


def _some(cloud: Cloud, pick: np.ndarray) -> Cloud:
    return replace(cloud, points=cloud.points[pick], normals=cloud.normals[pick], colours=cloud.colours[pick])


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
    """Rotations from own axes to those of the points: none, along the main directions of normals and of points.

    Flat parts are also tried as forms of sheets and plates are written: thin along z and long along y.
    """
    centred = points - points.mean(axis=0)
    main = [np.eye(3), _axes(normals.T @ normals), _upright(centred), _axes(centred.T @ centred)]
    out: list[np.ndarray] = []
    for turn in [*map(_nearest, main), *_flat(centred, normals, config)]:
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


def _flat(points: np.ndarray, normals: np.ndarray, config: FrameConfig) -> list[np.ndarray]:
    """Thin along z, long along y, both ways round; none where a part is not thin."""
    across = _axes(normals.T @ normals)[:, 2]
    within = points - np.outer(points @ across, across)
    along = _axes(within.T @ within)[:, 2]
    sizes = np.ptp(points @ np.stack([np.cross(along, across), along, across], axis=1), axis=0)
    if sizes[2] > config.flat * np.sort(sizes)[1]:
        return []
    pairs = [(a * along, b * across) for a in (1.0, -1.0) for b in (1.0, -1.0)]
    return [np.stack([np.cross(y, z), y, z], axis=1) for y, z in pairs]


def _nearest(axes: np.ndarray) -> np.ndarray:
    """The rotation with these axes, in any order and direction, that is nearest to none."""
    orders, signs = itertools.permutations(range(3)), list(itertools.product((1.0, -1.0), repeat=3))
    all_ways = [axes[:, order] * np.array(sign) for order in orders for sign in signs]
    return max((turn for turn in all_ways if np.linalg.det(turn) > 0), key=lambda turn: float(np.trace(turn)))


def _angle(first: np.ndarray, second: np.ndarray) -> float:
    return float(np.arccos(np.clip((np.trace(first.T @ second) - 1.0) / 2.0, -1.0, 1.0)))


def _judged(
    model: PartModel, guess: PartGuess, cloud: Cloud, pose: np.ndarray, rng: np.random.Generator, config: FrameConfig
) -> Rebuilt:
    solid = solid_of(model, guess, cloud.size)
    drawn = sample_surface(solid.vertices, solid.faces, config.surface, rng).interpolate(solid.vertices)
    both = nearest_distances(cloud.points, drawn).mean() + nearest_distances(drawn, cloud.points).mean()
    return Rebuilt(guess, solid, pose, cloud.size, float(both / cloud.size.max()))
