"""Where a part stands: its own axes and its box, from nothing but its points."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from neurok.catalogue.parts import Appearance
from neurok.geometry import lie
from neurok.modelling.forms import OPENINGS, Hollow, code_of
from neurok.modelling.shapes import Shape
from neurok_lab.parts.centre_line import knots_along, single_line, tube_along
from neurok_lab.parts.form_fit import Standing, Target, fit_form, missed
from neurok_lab.parts.part_autoencoder import FORMS, PartModel
from neurok_lab.parts.part_fit import PartCloud, PartGuess, decode, encode_clouds, forms_of, refine, solid_of


@dataclass(frozen=True)
class FrameConfig:
    """How far forms are fitted."""

    fit: int = 8
    """Steps by which the best form is fitted to the points; 0 to take forms as they were decoded."""

    first: int = 2
    """The same of the likeliest ..."""

    tried: int = 4
    """... which are so many, the best of each kind first."""

    good: float = 0.4
    """Share missed (of two) below which no implicit shape is tried."""

    refine: int = 60
    """Steps by which the code of an implicit shape is fitted to the points; 0 to take codes as they were encoded."""


FRAMES = FrameConfig()

SAME = 0.12  # rotations nearer than this [rad] count once
FLAT = 0.6  # a part is flat whose least side is below this share of the middle one
ROUND = 0.5  # largest difference of the logarithms of the sides across the axis of what is turned
TUBES = 4  # frames in which tubes are tried, which bend as they like

GLANCE = 200  # points by which the likeliest are told ...
LOOKED = 3  # ... and how many of the forms as they were decoded are looked at closely
HOPELESS = 0.35  # none is tried that misses by a glance so much more (of two) than the best of all
FINISHED = 1  # of those that were tried, so many go on
PERFECT = 0.07  # share missed (of two) below which no other is tried

SEEN = 256  # points in front of the encoder; boxes are those of all points
REFINED = 192  # points to which the code of an implicit shape is fitted

AHEAD = 0.95  # least cosine between the normal of a point inside a hollow and the way to one across it ...
OPPOSITE = 0.7  # ... and between its normal and the other's turned round
AROUND = 24  # neighbours among which the other side of a wall is looked for

HOLLOW = ("block", "plate", "lathe")
"""Kinds that may be hollow."""

TURNED = ("faceted", "ribbed", "fluted")
"""Reliefs of turned solids; the others are of blocks."""


@dataclass(frozen=True, eq=False)
class Rebuilt:
    """A part made again from its points."""

    guess: PartGuess
    solid: Shape
    """In its own axes, about the middle of its box."""

    pose: Float[np.ndarray, "4 4"]
    """From its own axes to those of the points."""

    size: Float[np.ndarray, "3"]
    missed: float
    """Share of the points that it misses, and of itself where there are none; 0 to 2 (``form_fit.missed``)."""


def rebuild(
    model: PartModel,
    points: Float[np.ndarray, "N 3"],
    normals: Float[np.ndarray, "N 3"],
    colours: Float[np.ndarray, "N 3"],
    finish: Appearance | None = None,
    config: FrameConfig = FRAMES,
    seed: int = 0,
) -> Rebuilt:
    """The part that some points show, in the box that they fill: of several frames and kinds, what fits them best.

    Without steps of fitting, codes are taken as they were encoded.
    """
    rng = np.random.default_rng(seed)
    turns = frames_of(points, normals)
    clouds, places = zip(*(cloud_in(turn, points, normals, colours, finish) for turn in turns), strict=True)
    pick = rng.permutation(len(points))[:SEEN]
    codes = encode_clouds(model, [_some(cloud, pick) for cloud in clouds])
    target = Target.of(points, normals)
    said = [decode(model, code, cloud.size) for code, cloud in zip(codes, clouds, strict=True)]
    least = int(np.argmin([float(np.prod(cloud.size)) for cloud in clouds]))
    found = []
    few = target.thinned(GLANCE)
    decoded = [
        (guess, Standing(guess.kind, guess.code, turn, place, cloud.size, guess.hollow, guess.relief))
        for guess, turn, cloud, place in zip(said, turns, clouds, places, strict=True)
        if guess.kind in FORMS
    ]
    decoded.sort(key=lambda one: missed(one[1], few))
    for guess, stands in decoded[:LOOKED]:
        found.append(_rebuilt(guess, stands, missed(stands, target)))
    if config.fit:
        found += fitted_forms(model, codes, said, turns, clouds, places, target, config)
    best = min(found, key=lambda one: one.missed, default=None)
    if best is None or best.missed > config.good:
        code = codes[least]
        if config.refine:
            some = _some(clouds[least], pick[:REFINED])
            code = refine(model, codes[least : least + 1], [some], config.refine)[0]
        guess = decode(model, code, clouds[least].size, "implicit")
        solid = solid_of(model, guess, clouds[least].size)
        stands = Standing("implicit", guess.code, turns[least], places[least], clouds[least].size)
        found.append(_rebuilt(guess, stands, missed(stands, target, solid), solid))
    return min(found, key=lambda one: one.missed)


def _rebuilt(guess: PartGuess, stands: Standing, miss: float, solid: Shape | None = None) -> Rebuilt:
    guess = replace(guess, kind=stands.kind, code=stands.code, hollow=stands.hollow, relief=stands.relief)
    return Rebuilt(guess, stands.solid if solid is None else solid, stands.pose, stands.size, miss)


def fitted_forms(
    model: PartModel,
    codes: Float[np.ndarray, "T Z"],
    said: Sequence[PartGuess],
    turns: Sequence[np.ndarray],
    clouds: Sequence[PartCloud],
    places: Sequence[np.ndarray],
    target: Target,
    config: FrameConfig = FRAMES,
) -> list[Rebuilt]:
    """Forms of every kind in every frame, the likeliest of them fitted to the points, and the best of these further."""
    wall, lines = wall_of(clouds[0]), lines_of(target.points, target.normals)
    outer = outside(target) if wall > 0 else target
    few, few_outer = target.thinned(GLANCE), outer.thinned(GLANCE)
    starts: list[tuple[float, str, Standing, PartGuess]] = []
    views = list(zip(codes, said, turns, clouds, places, strict=True))

    def begin(origin: str, kind: str, numbers: np.ndarray, view: int) -> None:
        _, guess, turn, cloud, place = views[view]
        stands = Standing(kind, numbers, turn, place, cloud.size)
        starts.append((missed(stands, few_outer if kind in HOLLOW else few, stands.outer), origin, stands, guess))

    for number, (_, _, turn, cloud, place) in enumerate(views[:TUBES]):
        for numbers in bars_in(lines, turn, place, cloud):
            begin("bar", "tube", numbers, number)
    is_bar = min((one[0] for one in starts), default=np.inf) < PERFECT
    for number, (code, _, _, cloud, _) in enumerate(() if is_bar else views):
        for kind, numbers in [*forms_of(model, code, cloud.size), *plain_forms(cloud.size)]:
            if can_be(kind, cloud.size, wall) and (kind != "tube" or number < TUBES):
                begin(kind, kind, numbers, number)
    starts.sort(key=lambda one: one[0])
    origins = [one[1] for one in starts]
    turn_of_origin = [origins[:place].count(origin) for place, origin in enumerate(origins)]
    kept = [starts[place] for place in np.argsort(turn_of_origin, kind="stable")[: config.tried]]
    kept = [one for one in kept if one[0] < starts[0][0] + HOPELESS]
    mean, scale = (np.asarray(table, dtype=np.float64) for table in (model.code_mean, model.code_scale))
    fit = lambda one, steps, done: fit_form(  # noqa: E731
        one, outer if one.kind in HOLLOW else target, scale[FORMS.index(one.kind)], mean[FORMS.index(one.kind)],
        steps, done,
    )[0]  # fmt: skip
    first: list[tuple[Standing, float, PartGuess]] = []
    for _, _, start, guess in kept:
        for relief in ("smooth", *TURNED) if start.kind == "lathe" else ("smooth",):
            stands = fit(replace(start, relief=relief), config.first, 0)
            first.append((*hollow_of(stands, guess, wall, target, quick=True), guess))
            if first[-1][1] < PERFECT:
                break
        if first[-1][1] < PERFECT:
            break
    first.sort(key=lambda one: one[1])
    out = []
    for stands, _, guess in first[:FINISHED]:
        out.append(_rebuilt(guess, *dressed(fit(stands, config.fit, config.first), guess, wall, target)))
    return out


def can_be(kind: str, size: Float[np.ndarray, "3"], wall: float) -> bool:
    """Whether a form of a kind may fill such a box: what is turned is round, and plates are thin along z.

    Sheets, which may be bent, have two sides a wall [m] apart and may fill any box that is not deepest along z.
    """
    if kind == "lathe":
        return bool(abs(np.log(size[0] / size[2])) < ROUND)
    if kind == "sheet":
        return wall > 0 and bool(size[2] <= 1.05 * np.sort(size)[1])
    return kind != "plate" or bool(size[2] < FLAT * np.sort(size)[1])


def dressed(stands: Standing, guess: PartGuess, wall: float, target: Target) -> tuple[Standing, float]:
    """A form with the hollow that fits best, or none, and of blocks with the relief that was decoded, if that fits."""
    best, miss = hollow_of(stands, guess, wall, target)
    for relief in {guess.relief} - {"smooth", *TURNED} if stands.kind == "block" else ():
        other = replace(best, relief=relief)
        new = missed(other, target)
        if new < miss - 0.02:
            best, miss = other, new
    return best, miss


def hollow_of(
    stands: Standing, guess: PartGuess, wall: float, target: Target, quick: bool = False
) -> tuple[Standing, float]:
    """A form with the hollow that fits best, or none; walls about the one that was measured are tried, too."""
    best = replace(stands, hollow=None)
    miss = missed(best, target)
    wall = wall if wall > 0 or guess.hollow is None else guess.hollow.wall
    has_room = 0.0 < wall < 0.45 * float(stands.size.min())
    if stands.kind not in HOLLOW or not has_room:
        return best, miss
    tried = [Hollow(wall, opening) for opening in OPENINGS if opening]
    for factors in ((1.0,),) if quick else ((1.0,), (0.85, 1.15), (0.93, 1.07)):
        for hollow in tried:
            for factor in factors:
                other = replace(stands, hollow=replace(hollow, wall=factor * hollow.wall))
                new = missed(other, target)
                if new < miss - 1e-3:
                    best, miss = other, new
        tried = [best.hollow] if best.hollow is not None else []
    return best, miss


def plain_forms(size: Float[np.ndarray, "3"]) -> list[tuple[str, Float[np.ndarray, "24"]]]:
    """A box, an ellipsoid and a cylinder: where forms may start from that were decoded wrongly."""
    half = np.asarray(size) / float(np.max(size))
    sides = {"widths": np.full(5, half[0]), "depths": np.full(5, half[2])}
    knots = np.column_stack([np.full(8, half[0]), np.linspace(-half[1], half[1], 8), np.ones(8)])
    return [
        ("block", code_of("block", **sides, corner=0.1, edges=[0.1, 0.1])),
        ("block", code_of("block", **sides, corner=1.0, edges=[0.9, 0.9], crowns=[0.3, 0.3])),
        ("lathe", code_of("lathe", knots=knots)),
    ]


def outside(target: Target) -> Target:
    """The points of a hollow part that look outwards: none of the others is in front of them and looks at them."""
    points, normals = target.points, target.normals
    offset = points[None] - points[:, None]
    offset /= np.maximum(np.linalg.norm(offset, axis=-1, keepdims=True), 1e-12)
    ahead = np.einsum("ijd,id->ij", offset, normals) > AHEAD
    is_inner = (ahead & (normals @ normals.T < -OPPOSITE)).any(axis=1)
    kept = np.flatnonzero(~is_inner)
    return target if len(kept) < GLANCE else replace(target, points=points[kept], normals=normals[kept])


def lines_of(
    points: Float[np.ndarray, "N 3"], normals: Float[np.ndarray, "N 3"]
) -> list[tuple[Float[np.ndarray, "6 3"], float]]:
    """Six points and a bend of the bars that the points may be: none, or a smooth one and one with corners."""
    found = single_line(points, normals)
    return [] if found is None else knots_along(*found)


def bars_in(
    lines: Sequence[tuple[Float[np.ndarray, "6 3"], float]],
    turn: Float[np.ndarray, "3 3"],
    place: Float[np.ndarray, "3"],
    cloud: PartCloud,
) -> list[Float[np.ndarray, "24"]]:
    """Codes of tubes along lines, in the axes of a cloud: where thin bent bars start from."""
    unit = float(cloud.size.max()) / 2.0
    return [tube_along((knots - place) @ turn, bend, cloud.points, unit) for knots, bend in lines]


def wall_of(cloud: PartCloud) -> float:
    """Thickness [m] of a hollow part: how far behind points the nearest ones lie that look the other way; 0 if none."""
    from scipy.spatial import cKDTree

    points, normals = cloud.points, cloud.normals
    near = cKDTree(points).query(points, k=min(AROUND, len(points)))[1]
    offset = points[near] - points[:, None]
    behind = -np.einsum("nkd,nd->nk", offset, normals)
    faces_away = (np.einsum("nkd,nd->nk", normals[near], normals) < -0.9) & (behind > 0)
    # Of a bent wall, only what is straight behind is as far away as the wall is thick.
    beside = np.where(faces_away, np.square(offset).sum(axis=-1) - behind**2, np.inf)
    has_wall = faces_away.any(axis=1)
    found = behind[np.arange(len(points)), beside.argmin(axis=1)][has_wall]
    return float(np.median(found)) if len(found) > len(points) / 4 else 0.0


def _some(cloud: PartCloud, pick: np.ndarray) -> PartCloud:
    return replace(cloud, points=cloud.points[pick], normals=cloud.normals[pick], colours=cloud.colours[pick])


def cloud_in(
    turn: Float[np.ndarray, "3 3"],
    points: Float[np.ndarray, "N 3"],
    normals: Float[np.ndarray, "N 3"],
    colours: Float[np.ndarray, "N 3"],
    finish: Appearance | None,
) -> tuple[PartCloud, Float[np.ndarray, "3"]]:
    """Points in their own axes about the middle of their box, and where that middle is."""
    own = points @ turn
    low, high = own.min(axis=0), own.max(axis=0)
    middle, size = (low + high) / 2.0, np.maximum(high - low, 1e-4)
    return PartCloud(own - middle, normals @ turn, colours, size, finish), turn @ middle


def frames_of(points: Float[np.ndarray, "N 3"], normals: Float[np.ndarray, "N 3"]) -> list[Float[np.ndarray, "3 3"]]:
    """Rotations from own axes to those of the points: none, along the main directions of normals and of points.

    Flat parts are also tried as forms of sheets and plates are written: thin along z and long along y.
    """
    centred = points - points.mean(axis=0)
    axes = [np.eye(3), _axes(normals.T @ normals), _axes(centred.T @ centred)]
    axes += [_upright(centred), _about(centred, axes[1][:, 0]), _about(centred, axes[2][:, 2])]
    out: list[np.ndarray] = []
    flat = _flat(centred, normals)
    turned = [np.roll(_nearest(one), shift, axis=1) for one in axes for shift in range(3)]
    for turn in [*turned[::3], *flat, *turned[1::3], *turned[2::3]]:
        if all(_angle(turn, other) > SAME for other in out):
            out.append(turn)
    return out


def _about(points: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """Axes of which one is given, turned about it so that the rectangle around the points is small."""
    first = np.linalg.svd(axis[None])[2]
    first = first * np.array([[1.0], [1.0], [np.linalg.det(first)]])
    base = np.stack([first[1], first[0], np.cross(first[1], first[0])], axis=1)
    return np.asarray(base @ _upright(points @ base))


def _axes(moments: np.ndarray) -> np.ndarray:
    return np.asarray(np.linalg.eigh(moments)[1])


def _upright(points: np.ndarray) -> np.ndarray:
    """Turned about the vertical so that the rectangle around the points is small."""
    angles = np.linspace(0.0, np.pi / 2, 18, endpoint=False)
    turns = [lie.axis_angle_matrix(np.array([0.0, 1.0, 0.0]), angle) for angle in angles]
    areas = [float(np.prod(np.ptp((points @ turn)[:, [0, 2]], axis=0))) for turn in turns]
    return turns[int(np.argmin(areas))]


def _flat(points: np.ndarray, normals: np.ndarray) -> list[np.ndarray]:
    """Thin along z, long along y, both ways round; none where normals look every way."""
    across = _axes(normals.T @ normals)[:, 2]
    within = points - np.outer(points @ across, across)
    along = _axes(within.T @ within)[:, 2]
    if np.linalg.eigvalsh(normals.T @ normals)[2] < FLAT * len(normals):
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
