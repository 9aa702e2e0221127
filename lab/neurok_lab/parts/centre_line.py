"""Bars found in points: the centres of the balls that just fit inside, the lines along them, and these as tubes.

Balls shrink until nothing is in them (Ma, Bae and Choi 2012). Their centres, smoothed, are joined by the shortest tree;
where it branches, a frame falls into bars.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from neurok.modelling.forms import SMOOTH_BEND, bar_path, code_of

Line = Float[np.ndarray, "N 3"]

# How lines are found; lengths in medians of the balls' radii unless said otherwise.
SHRINKS = 16  # of a ball, at most
SPACING = 1.0  # of the nodes of the tree ...
NODES = 160  # ... which are so many at most: they are farther apart on long thin things
SMOOTH = 3  # times that centres move to the middle of those within a spacing and a half, ...
NEIGHBOURS = 48  # ... of the nearest so many
TWIG = 2.5  # branches shorter than this are the corners of ends and joints
STRAIGHT = 0.85  # cosine of the bend from which on two lines at a junction are one
LOOK = 8.0  # how far about a centre others are looked at ...
NARROW = 0.12  # ... whose second largest variance is at most this share of the largest in a bar
FRAME = 0.25
"""Least share of such centres in a bar or a frame: of real ones 0.39 to 0.95, of boards and cushions up to 0.12."""

TURN = 3  # nodes before and after a place between which a line turns
MEETS = 1.5  # ends of a line nearer than so many of its longest steps are one: it is closed
BESIDE = 0.15  # share of nodes farther than two spacings from a line, above which it is not the line of all of them
BEND = 0.15  # radius of corners to begin with, in halves of the longest side
SAMPLES = 40  # places along a line at which six points are to follow it
SLENDER = 6.0  # least length of a line for it to be a bar


def balls(
    points: Float[np.ndarray, "N 3"], normals: Float[np.ndarray, "N 3"]
) -> tuple[Float[np.ndarray, "N 3"], Float[np.ndarray, " N"]]:
    """Centres and radii of the largest balls inside that touch each point from behind."""
    from scipy.spatial import cKDTree

    tree = cKDTree(points)
    radii = np.full(len(points), float(np.linalg.norm(np.ptp(points, axis=0))) / 2.0)
    active = np.arange(len(points))
    for _ in range(SHRINKS):
        centres = points[active] - radii[active, None] * normals[active]
        near, index = tree.query(centres)
        offset = points[active] - points[index]
        along = np.einsum("nd,nd->n", offset, normals[active])
        inside = (near < radii[active] * (1.0 - 1e-3)) & (along > 1e-9)
        active, offset, along = active[inside], offset[inside], along[inside]
        if not len(active):
            break
        radii[active] = np.minimum(np.square(offset).sum(axis=1) / (2.0 * along), radii[active])
    return points - radii[:, None] * normals, radii


@dataclass(frozen=True, eq=False)
class CurveTree:
    """Centres joined by the shortest tree."""

    nodes: Float[np.ndarray, "K 3"]
    edges: Int[np.ndarray, "E 2"]
    spacing: float
    radius: float
    """Median of the balls [m]."""


def tree_of(points: Float[np.ndarray, "N 3"], normals: Float[np.ndarray, "N 3"]) -> CurveTree | None:
    """The tree of the centres of some points; nothing where there are too few of them."""
    from scipy.sparse.csgraph import minimum_spanning_tree
    from scipy.spatial import cKDTree
    from scipy.spatial.distance import pdist, squareform

    centres, radii = balls(points, normals)
    radius = float(np.median(radii))
    spacing = SPACING * radius
    for _ in range(8):
        nodes = centres
        for _ in range(SMOOTH):
            away, near = cKDTree(nodes).query(nodes, k=min(NEIGHBOURS, len(nodes)))
            mine = (away < 1.5 * spacing)[..., None]
            nodes = (nodes[near] * mine).sum(axis=1) / mine.sum(axis=1)
        nodes = thinned(nodes, spacing)
        if len(nodes) <= NODES:
            break
        spacing *= 1.3
    if len(nodes) < 3:
        return None
    apart = squareform(pdist(nodes))
    found = minimum_spanning_tree(apart).tocoo()
    edges = np.stack([found.row, found.col], axis=1).astype(np.int64)
    return CurveTree(nodes, edges, spacing, radius)


def thinned(points: Float[np.ndarray, "N 3"], spacing: float) -> Float[np.ndarray, "K 3"]:
    """Some of the points, none nearer to another than the spacing."""
    from scipy.spatial import cKDTree

    near = cKDTree(points).query_ball_point(points, spacing)
    free, out = np.ones(len(points), dtype=bool), []
    for place, some in enumerate(near):
        if free[place]:
            out.append(place)
            free[some] = False
    return points[out]


def branches(tree: CurveTree) -> list[Int[np.ndarray, " n"]]:
    """Nodes of each line between ends and junctions, in order, after short twigs are gone; the longest first."""
    around: dict[int, set[int]] = {place: set() for place in range(len(tree.nodes))}
    for a, b in tree.edges:
        around[int(a)].add(int(b))
        around[int(b)].add(int(a))
    least = TWIG * max(tree.radius, tree.spacing)
    while True:
        lines = _lines(around)
        twigs = [
            line for line in lines
            if _length(tree.nodes[line]) < least and min(len(around[line[0]]), len(around[line[-1]])) == 1
            and max(len(around[line[0]]), len(around[line[-1]])) > 2
        ]  # fmt: skip
        if not twigs:
            break
        line = min(twigs, key=lambda one: _length(tree.nodes[one]))
        if len(around[line[0]]) > 1:
            line = line[::-1]
        for place, after in itertools.pairwise(line):
            around[after].discard(place)
            around[place].discard(after)
    found = [np.array(line) for line in lines if len(line) > 1]
    return sorted(found, key=lambda line: -_length(tree.nodes[line]))


def _lines(around: dict[int, set[int]]) -> list[list[int]]:
    out = []
    for start in (place for place, near in around.items() if len(near) not in (0, 2)):
        for after in around[start]:
            line = [start, after]
            while len(around[line[-1]]) == 2:
                line.append(next(iter(around[line[-1]] - {line[-2]})))
            if line[0] < line[-1]:
                out.append(line)
    return out


def merged(lines: list[Int[np.ndarray, " n"]], nodes: Line) -> list[Int[np.ndarray, " n"]]:
    """Lines that go on straight through a junction as one, the straightest first."""
    while True:
        best, least = None, -STRAIGHT
        for i, j in itertools.combinations(range(len(lines)), 2):
            for a, b in itertools.product((lines[i], lines[i][::-1]), (lines[j], lines[j][::-1])):
                if a[-1] == b[0] and (bend := float(_towards(nodes[a[::-1]]) @ _towards(nodes[b]))) < least:
                    best, least = (i, j, np.concatenate([a, b[1:]])), bend
        if best is None:
            return sorted(lines, key=lambda line: -_length(nodes[line]))
        lines = [*(line for place, line in enumerate(lines) if place not in best[:2]), best[2]]


def _towards(line: Line) -> Float[np.ndarray, "3"]:
    """Direction in which a line begins."""
    along = line[min(4, len(line) - 1)] - line[min(1, len(line) - 2)]
    return np.asarray(along / max(float(np.linalg.norm(along)), 1e-12))


def slender_share(points: Float[np.ndarray, "N 3"], normals: Float[np.ndarray, "N 3"]) -> float:
    """Share of the centres about which the others lie along a line, as in a bar and not as in a board."""
    from scipy.spatial import cKDTree

    centres, radii = balls(points, normals)
    asked = centres[:: max(1, len(centres) // 200)]
    near = cKDTree(centres).query_ball_point(asked, LOOK * float(np.median(radii)))
    spread = [np.linalg.eigvalsh(np.cov(centres[some].T)) if len(some) > 3 else np.zeros(3) for some in near]
    return float(np.mean([one[1] <= NARROW * one[2] for one in spread]))


def frame_lines(points: Float[np.ndarray, "N 3"], normals: Float[np.ndarray, "N 3"], most: int) -> list[Line]:
    """Lines along the bars of a frame, the longest first; nothing where there are more, or boards instead of bars."""
    tree = tree_of(points, normals) if slender_share(points, normals) > FRAME else None
    if tree is None:
        return []
    lines = merged(branches(tree), tree.nodes)
    return [tree.nodes[line] for line in lines] if len(lines) <= most else []


def nearest_line(lines: Sequence[Line], points: Float[np.ndarray, "N 3"]) -> Int[np.ndarray, " N"]:
    """Which of some lines each point is nearest to."""
    from scipy.spatial import cKDTree

    dense = [evenly(line, 4 * len(line)) for line in lines]
    owners = np.repeat(np.arange(len(lines)), [len(line) for line in dense])
    return np.asarray(owners[cKDTree(np.concatenate(dense)).query(points)[1]])


def sharpest(line: Line) -> int:
    """The place at which a line turns most; -1 where it does not turn much or is too short to be two."""
    if len(line) < 2 * TURN + 1:
        return -1
    places = np.arange(TURN, len(line) - TURN)
    ahead, back = line[places + TURN] - line[places], line[places] - line[places - TURN]
    cosine = (ahead * back).sum(axis=1) / (np.linalg.norm(ahead, axis=1) * np.linalg.norm(back, axis=1)).clip(1e-12)
    return int(places[cosine.argmin()]) if cosine.min() < STRAIGHT else -1


def _length(line: Line) -> float:
    return float(np.linalg.norm(np.diff(line, axis=0), axis=1).sum())


def single_line(points: Float[np.ndarray, "N 3"], normals: Float[np.ndarray, "N 3"]) -> tuple[Line, bool] | None:
    """The line along a single bar, to where its points end, and whether it is closed; nothing where there is none."""
    from scipy.spatial import cKDTree

    tree = tree_of(points, normals) if slender_share(points, normals) > FRAME else None
    if tree is None:
        return None
    line = tree.nodes[_longest(tree)]
    away = cKDTree(line).query(tree.nodes)[0]
    if (away > 2.0 * tree.spacing).mean() > BESIDE or _length(line) < SLENDER * tree.radius:
        return None
    gap, step = np.linalg.norm(line[0] - line[-1]), np.linalg.norm(np.diff(line, axis=0), axis=1).max()
    closed = bool(gap < MEETS * step < 0.3 * _length(line))
    return (line if closed else extended(line, points)), closed


def _longest(tree: CurveTree) -> Int[np.ndarray, " n"]:
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import dijkstra

    length = np.linalg.norm(tree.nodes[tree.edges[:, 0]] - tree.nodes[tree.edges[:, 1]], axis=1)
    count = len(tree.nodes)
    graph = coo_matrix((length, tuple(tree.edges.T)), shape=(count, count)).tocsr()
    reach = dijkstra(graph, directed=False, indices=0)
    first = int(np.argmax(np.where(np.isfinite(reach), reach, -1.0)))
    reach, before = dijkstra(graph, directed=False, indices=first, return_predecessors=True)
    last = int(np.argmax(np.where(np.isfinite(reach), reach, -1.0)))
    line = [last]
    while line[-1] != first:
        line.append(int(before[line[-1]]))
    return np.array(line)


def extended(line: Line, points: Float[np.ndarray, "N 3"]) -> Line:
    """A line drawn out at both ends to where the points about these end."""
    from scipy.spatial import cKDTree

    nearest, out = cKDTree(line).query(points)[1], [line]
    for place, inner in ((0, min(2, len(line) - 1)), (len(line) - 1, max(len(line) - 3, 0))):
        along = line[place] - line[inner]
        along = along / max(float(np.linalg.norm(along)), 1e-12)
        mine = points[nearest == place]
        reach = float(((mine - line[place]) @ along).max(initial=0.0)) if len(mine) else 0.0
        end = line[place : place + 1] + reach * along
        out = [end, *out] if place == 0 else [*out, end]
    return np.concatenate(out)


def evenly(line: Line, count: int, closed: bool = False) -> Line:
    """Places at equal distances along a line."""
    line = np.concatenate([line, line[:1]]) if closed else line
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])
    at = np.linspace(0.0, length[-1], count, endpoint=not closed)
    return np.stack([np.interp(at, length, line[:, k]) for k in range(3)], axis=1)


def knots_along(line: Line, closed: bool) -> list[tuple[Float[np.ndarray, "6 3"], float]]:
    """Six points and a bend (in halves of the line's longest side) of tubes that follow a line: smooth, and bent."""
    from scipy.optimize import least_squares

    unit, middle = max(float(np.ptp(line, axis=0).max()) / 2.0, 1e-9), line.mean(axis=0)
    target = evenly((line - middle) / unit, SAMPLES, closed)

    def knots_of(numbers: np.ndarray) -> Float[np.ndarray, "6 3"]:
        knots = numbers[: 3 * (5 if closed else 6)].reshape(-1, 3)
        return np.concatenate([knots, knots[:1]]) if closed else knots

    def away(numbers: np.ndarray, smooth: bool) -> np.ndarray:
        path, is_closed = bar_path(knots_of(numbers), 1.0 if smooth else float(numbers[-1]))
        return (evenly(path, SAMPLES, is_closed) - target).reshape(-1)

    found = least_squares(away, evenly(target, 5 if closed else 6, closed).reshape(-1), max_nfev=8, args=(True,)).x
    out = [(knots_of(found) * unit + middle, 1.0)]
    if not closed:
        first = np.append(_corners(target, 6).reshape(-1), BEND)
        found = least_squares(away, first, max_nfev=8, args=(False,)).x
        out.append((knots_of(found) * unit + middle, float(np.clip(found[-1], 0.01, SMOOTH_BEND - 0.01))))
    return out


def tube_along(
    knots: Float[np.ndarray, "6 3"], bend: float, points: Float[np.ndarray, "N 3"], unit: float
) -> Float[np.ndarray, "24"]:
    """The code of a tube along six points about the surface points of a bar; ``unit`` is that of the code [m]."""
    if bend < SMOOTH_BEND:
        bend = min(bend * max(float(np.ptp(knots, axis=0).max()) / 2.0, 1e-9) / unit, SMOOTH_BEND - 0.01)
    section = section_of(*bar_path(knots / unit, bend), points / unit)
    return code_of("tube", points=knots / unit, bend=bend, **section)


def section_of(path: Line, closed: bool, points: Float[np.ndarray, "N 3"]) -> dict[str, np.ndarray | float]:
    """Radii, flatness and squareness of a bar along a path (``modelling.strips.bar_shape``)."""
    from scipy.spatial import cKDTree

    dense = evenly(path, 120, closed)
    tangents = np.gradient(dense, axis=0)
    tangents /= np.maximum(np.linalg.norm(tangents, axis=1, keepdims=True), 1e-12)
    hint = np.array([0.0, 0.0, 1.0]) if abs(tangents[0, 2]) < 0.95 else np.array([1.0, 0.0, 0.0])
    sides = np.cross(hint, tangents)
    sides /= np.maximum(np.linalg.norm(sides, axis=1, keepdims=True), 1e-12)
    near = cKDTree(dense).query(points)[1]
    offset = points - dense[near]
    side = np.einsum("nd,nd->n", offset, sides[near])
    top = np.einsum("nd,nd->n", offset, np.cross(tangents, sides)[near])
    wide, high = (float(np.percentile(np.abs(one), 92)) for one in (side, top))
    place = near / (len(dense) - 1)
    whole = max(float(np.percentile(np.hypot(side, top), 75)), 1e-3)
    ratio = [
        float(np.median(np.hypot(side, top)[mine])) / whole if (mine := np.abs(place - at) < 0.2).sum() > 8 else 1.0
        for at in (0.0, 0.5, 1.0)
    ]
    bulk = float(np.mean(top**2)) / max(high, 1e-6) ** 2
    return {
        "radii": max(high, 1e-3) * np.array(ratio) / max(ratio),
        "flat": float(np.clip(wide / max(high, 1e-6), 0.05, 1.0)),
        "square": float(np.clip((bulk - 0.5) / 0.17, 0.0, 1.0)),
    }


def _corners(line: Line, count: int) -> Line:
    """So many places of a line, its ends and those where it turns most (Douglas and Peucker 1973)."""
    kept = [0, len(line) - 1]
    while len(kept) < count:
        best, most = -1, -1.0
        for a, b in itertools.pairwise(kept):
            if b - a < 2:
                continue
            step = line[b] - line[a]
            some = line[a + 1 : b] - line[a]
            along = np.clip(some @ step / max(float(step @ step), 1e-12), 0.0, 1.0)
            away = np.linalg.norm(some - along[:, None] * step, axis=1) + 1e-6 * (b - a)
            if away.max() > most:
                best, most = a + 1 + int(away.argmax()), float(away.max())
        if best < 0:
            break
        kept = sorted([*kept, best])
    return line[kept] if len(kept) == count else evenly(line, count)
