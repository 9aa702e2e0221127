"""What of the objects of a scene touches, what can be touched, and what may touch what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.spatial import cKDTree

from neurok.core.mesh import Mesh
from neurok.dynamics.body import Body
from neurok.dynamics.colliders import Collider, HalfSpace, Hull, Meeting, hull_pieces, obstacle_colliders
from neurok.dynamics.condition import Ground, World
from neurok.dynamics.reduced.build import Bound, gravity_of
from neurok.dynamics.reduced.config import STANDARD_GRAVITY, ContactConfig
from neurok.dynamics.reduced.contact import PointSet, Touch
from neurok.dynamics.reduced.equations import FeatureMechanics
from neurok.dynamics.reduced.system import State, System
from neurok.geometry.convex import convex_hull, directions
from neurok.geometry.lie import seen_from
from neurok.geometry.loops import compiled
from neurok.geometry.operators import closed_components, face_areas
from neurok.geometry.sampling import farthest_points
from neurok.geometry.topology import face_components

MAX_TRIANGLES = 1500
"""Triangles that stand for the surface of something that bends."""

MAX_CELLS = 64
"""Cubes of the grid that finds these triangles, along its longest side."""

MAX_POINTS = 400
"""Points of one rigid object that feel obstacles and other objects; more cost time and change little."""

PART_POINTS = 60
"""The same of one part that may touch other parts of its object."""

MAX_CORNERS = 96
"""Corners of the hull of one part that feel the ground ..."""

OUTERMOST = 400
"""... and directions in each of which the vertex that sticks out farthest joins them: hulls of round things are coarse,
and without these a rigid pillow sinks in by a hundredth of its size."""

BALL_VERTICES = 40
"""A part is a ball if it has at least so many vertices ..."""

BALL_ERROR = 0.01
"""... and all of them are this close to a sphere, as a share of its radius."""

OVERLAP = 2e-3
"""Parts of one object that pass through each other by more than this share of its size while one joint moves, or that
are closer than this at rest, are made to do so and do not collide."""

OWN_POSES = 5
"""Poses of each joint that are looked at for it."""

MAX_OWN_PIECES = 64
"""Parts of objects with more convex pieces than this do not touch each other: it would take long."""

REST_DEPTH = 3e-5
"""How deep one point sinks under the weight of its whole object, as a share of the object's size: invisible, and still
so soft that a fall ends within a few Newton iterations."""

LOST = 1e6
"""A way that is so many times as long as the triangles are wide, or that is not a number, meets nothing."""

NEIGHBOURS = 6
"""Triangles that are asked about each point: those around the nearest one."""

EDGE = 0.2
"""Two triangles form an edge that bulges where the one lies below the plane of the other by this slope."""


class Placed(NamedTuple):
    """Triangles at one moment."""

    corners: Float[np.ndarray, "m 3 3"]
    middles: Float[np.ndarray, "m 3"]
    normals: Float[np.ndarray, "m 3"]
    low: Float[np.ndarray, "3"]
    """Lowest corner around the middles ..."""

    high: Float[np.ndarray, "3"]
    cell: float
    """... and the size of the cubes of a grid on it."""

    shape: tuple[int, ...]
    """How many cubes there are along each axis."""

    starts: Int[np.ndarray, " C"]
    """Of each cube: where its triangles begin ..."""

    order: Int[np.ndarray, " m"]
    """... among all, sorted by their cubes."""

    travelled: float
    """How far any has moved at most, from moment to moment."""


@dataclass(frozen=True, eq=False)
class BendingSurface:
    """Sampled triangles that follow the object; sheets can be touched from both sides."""

    mechanics: FeatureMechanics
    faces: Int[np.ndarray, "m 3"]
    """Corners of each, outward where the surface is closed."""

    closed: Bool[np.ndarray, " m"]
    reach: float
    """How far a triangle stands for the surface around it."""

    half: float
    """Half the thickness of a sheet."""

    @staticmethod
    def of(body: Body, mechanics: FeatureMechanics, count: int = MAX_TRIANGLES) -> BendingSurface:
        """Triangles spread evenly over the surface of a body."""
        mesh = body.mesh
        component = face_components(mesh.vertices, mesh.faces)
        closed = closed_components(mesh.vertices, mesh.faces, component)
        corners = mesh.vertices[mesh.faces]
        inward = np.bincount(component, np.linalg.det(corners - corners.mean(axis=(0, 1))), len(closed)) < 0
        faces = np.where((closed & inward)[component][:, None], mesh.faces[:, ::-1], mesh.faces)
        good = np.flatnonzero(face_areas(mesh.vertices, mesh.faces) > 1e-12 * mesh.size**2)
        chosen = _spread(corners[good], count)
        middles = corners[good][chosen].mean(axis=1)
        between = cKDTree(middles).query(middles, k=min(5, len(middles)))[0][:, -1]
        wide = np.linalg.norm(corners[good][chosen] - middles[:, None], axis=2).max(axis=1)
        reach = float(np.maximum(np.median(between), np.median(wide)))
        picked = good[chosen]
        return BendingSurface(
            mechanics, faces[picked], closed[component[picked]], 1.5 * reach, 0.5 * body.shell_thickness
        )

    @cached_property
    def _corners(self) -> tuple[Any, Int[np.ndarray, "m 3"]]:
        """The vertices of all triangles, and which of these are the corners of each."""
        used, which = np.unique(self.faces, return_inverse=True)
        return self.mechanics.points(used), which.reshape(self.faces.shape)

    @cached_property
    def _recent(self) -> list[Any]:
        return []

    def place(self, motion: Any) -> Placed:
        """Where the triangles are now; from memory for the same motion."""
        if not self._recent or self._recent[0] is not motion:
            points, which = self._corners
            corners, middles, normals = np.empty((*which.shape, 3)), np.empty(which.shape), np.empty(which.shape)
            last = self._recent[1] if self._recent else None
            before, travelled = (middles, 0.0) if last is None else (last.middles, last.travelled)
            travelled += place_triangles(points.positions(motion)[0], which, before, corners, middles, normals)
            low, high = middles.min(axis=0), middles.max(axis=0)
            cell = max(self.reach, float((high - low).max()) / MAX_CELLS)
            cubes = ((middles - low) / cell).astype(np.int64)
            shape = tuple(int(count) for count in cubes.max(axis=0) + 1)
            cubes = np.ravel_multi_index(tuple(cubes.T), shape)
            order = np.argsort(cubes, kind="stable")
            starts = np.searchsorted(cubes[order], np.arange(np.prod(shape) + 1))
            grid = low, high, cell, shape, starts, order
            self._recent[:] = [motion, Placed(corners, middles, normals, *grid, travelled)]
        placed: Placed = self._recent[1]
        return placed

    def meet(
        self,
        motion: Any,
        start: Float[np.ndarray, "n 3"],
        end: Float[np.ndarray, "n 3"],
        marks: Int[np.ndarray, " n"],
        reach: float,
        clear: Float[np.ndarray, " n"],
    ) -> tuple[Meeting, Int[np.ndarray, " m"]]:
        """Like ``Collider.meet``, in the world; and the triangle that each point meets.

        Marks are 0 and 1 for the two sides of a sheet. What is surely farther than ``clear`` is not asked; for others
        this is brought up to date.
        """
        count = len(start)
        which, faces, sides = np.empty((3, count), dtype=np.int64)
        normals, gaps = np.empty((count, 3)), np.empty(count)
        shape = self.closed, self.reach, self.half
        met = slice(
            meet_triangles(
                start, end, marks, reach, clear, self.place(motion), *shape, which, faces, sides, normals, gaps
            )
        )
        return Meeting(which[met], normals[met], gaps[met], sides[met]), faces[met]

    def feet(self, motion: Any, x: Float[np.ndarray, "n 3"], faces: Int[np.ndarray, " n"]) -> Any:
        """Points of the surface below points in the world, fixed to the surface."""
        corners = self.place(motion).corners[faces]
        u, v, w = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0], x - corners[:, 0]
        uu, uv, vv = (u * u).sum(axis=1), (u * v).sum(axis=1), (v * v).sum(axis=1)
        wu, wv = (w * u).sum(axis=1), (w * v).sum(axis=1)
        scale = np.maximum(uu * vv - uv**2, 1e-300)
        second, third = (vv * wu - uv * wv) / scale, (uu * wv - uv * wu) / scale
        weights = np.clip(np.stack([1.0 - second - third, second, third], axis=1), 0.0, 1.0)
        return self.mechanics.mixed_points(self.faces[faces], weights / weights.sum(axis=1, keepdims=True))


@compiled
def place_triangles(places, faces, before, corners, middles, normals):
    """Corners, middles and normals of triangles between places ``(n, 3)``; how far the middles are from ``before``."""
    far = 0.0
    for t in range(faces.shape[0]):
        for i in range(3):
            for k in range(3):
                corners[t, k, i] = places[faces[t, k], i]
            middles[t, i] = (corners[t, 0, i] + corners[t, 1, i] + corners[t, 2, i]) / 3.0
        square = 0.0
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            normals[t, i] = (corners[t, 1, j] - corners[t, 0, j]) * (corners[t, 2, k] - corners[t, 0, k])
            normals[t, i] -= (corners[t, 1, k] - corners[t, 0, k]) * (corners[t, 2, j] - corners[t, 0, j])
            square += normals[t, i] ** 2
        for i in range(3):
            normals[t, i] /= max(np.sqrt(square), 1e-300)
        way = (middles[t, 0] - before[t, 0]) ** 2 + (middles[t, 1] - before[t, 1]) ** 2
        far = max(far, way + (middles[t, 2] - before[t, 2]) ** 2)
    return np.sqrt(far)


@compiled
def nearest_triangles(x, placed, found, squares):
    """How many there are of the triangles with the middles nearest to a point, which go into ``found``, nearest first,
    and the squares of their distances: cubes are asked ring by ring."""
    middles, count, ring = placed.middles, 0, -1
    at, first, last = np.empty(3, dtype=np.int64), np.empty(3, dtype=np.int64), np.empty(3, dtype=np.int64)
    for i in range(3):
        at[i] = int(np.floor((x[i] - placed.low[i]) / placed.cell))
        ring = max(ring, -at[i] - 1, at[i] - placed.shape[i])
    while count == 0 or count < found.shape[0] or squares[count - 1] > (ring * placed.cell) ** 2:
        ring += 1
        is_done = True
        for i in range(3):
            first[i], last[i] = max(at[i] - ring, 0), min(at[i] + ring, placed.shape[i] - 1)
            is_done &= at[i] - ring < 0 and at[i] + ring >= placed.shape[i]
        for a in range(first[0], last[0] + 1):
            for b in range(first[1], last[1] + 1):
                rim = max(abs(a - at[0]), abs(b - at[1])) == ring
                for c in range(first[2], last[2] + 1):
                    if not rim and abs(c - at[2]) != ring:
                        continue
                    cube = (a * placed.shape[1] + b) * placed.shape[2] + c
                    for n in range(placed.starts[cube], placed.starts[cube + 1]):
                        t, square = placed.order[n], 0.0
                        for i in range(3):
                            square += (x[i] - middles[t, i]) ** 2
                        if count == found.shape[0] and square >= squares[count - 1]:
                            continue
                        k = min(count, found.shape[0] - 1)
                        while k > 0 and squares[k - 1] > square:
                            found[k], squares[k] = found[k - 1], squares[k - 1]
                            k -= 1
                        found[k], squares[k], count = t, square, min(count + 1, found.shape[0])
        if is_done:
            break
    return count


@compiled
def plane_of_triangles(x, mark, placed, closed, reach, half, found, squares, normal):
    """Height of a point above a surface, the triangle that tells (-1 if none is near), its side and how far the nearest
    middle is; the direction out goes into ``normal``."""
    middles, every, count = placed.middles, placed.normals, nearest_triangles(x, placed, found, squares)
    nearest, height = found[0], 0.0
    for i in range(3):
        height += (x[i] - middles[nearest, i]) * every[nearest, i]
    side = 0 if closed[nearest] else mark if mark >= 0 else 1 if height < 0.0 else 0
    sign = -1.0 if side == 1 else 1.0
    best, height = nearest, sign * height - (0.0 if closed[nearest] else half)
    for n in range(1, count if closed[nearest] else 0):
        # Where the surface bulges, a point outside of one neighbour is outside; in a dent the nearest decides.
        t, slope, square, gap = found[n], 0.0, 0.0, 0.0
        for i in range(3):
            step = middles[t, i] - middles[nearest, i]
            slope += step * every[nearest, i]
            square += step * step
            gap += (x[i] - middles[t, i]) * every[t, i]
        if slope < -EDGE * np.sqrt(square) and gap > height:
            best, height = t, gap
    along, aside = 0.0, 0.0
    for i in range(3):
        normal[i] = sign * every[best, i]
        along += (x[i] - middles[best, i]) * normal[i]
    for i in range(3):
        aside += (x[i] - middles[best, i] - along * normal[i]) ** 2
    return height, best if np.sqrt(aside) < reach else -1, side, np.sqrt(squares[0])


@compiled
def meet_triangles(start, end, marks, reach, clear, placed, closed, wide, half, which, faces, sides, normals, gaps):
    """Points on straight ways that are inside a surface, come inside, or are above it by less than ``reach``: how many;
    what is to be known of them goes into the last five arrays."""
    margin, count = half + reach + wide, 0
    found = np.empty(min(NEIGHBOURS, placed.middles.shape[0]), dtype=np.int64)
    squares, normal = np.empty(found.shape[0]), np.empty(3)
    for p in range(start.shape[0]):
        passes, length, drop = True, 0.0, 0.0
        for i in range(3):
            a, b = start[p, i], end[p, i]
            passes &= min(a, b) < placed.high[i] + margin and max(a, b) > placed.low[i] - margin
            length += (b - a) ** 2
        length = np.sqrt(length)
        if not (passes and length < LOST * wide) or clear[p] > reach + wide + half + length:
            continue
        gap, face, side, far = plane_of_triangles(
            start[p], marks[p], placed, closed, wide, half, found, squares, normals[count]
        )
        clear[p] = far if gap > 0.0 else 0.0
        if gap > reach + length and far > wide + half + length:
            continue
        for i in range(3):
            drop += (start[p, i] - end[p, i]) * normals[count, i]
        if 0.0 < gap < 2.0 * length and gap > drop:
            # What is quick may meet another place than the one nearest to where it starts.
            there = plane_of_triangles(end[p], side, placed, closed, wide, half, found, squares, normal)
            fall = 0.0
            for i in range(3):
                fall += (start[p, i] - end[p, i]) * normal[i]
            if there[0] < 0.0 and there[0] + fall > 0.0:
                gap, face, side, drop, normals[count] = there[0] + fall, there[1], there[2], fall, normal
        if face >= 0 and min(gap, gap - drop) < reach:
            which[count], faces[count], sides[count], gaps[count] = p, face, side, gap
            count += 1
    return count


def _spread(corners: Float[np.ndarray, "f 3 3"], count: int) -> Int[np.ndarray, " m"]:
    """Triangles spread over a surface: evenly by area at first, then far from each other."""
    if len(corners) <= count:
        return np.arange(len(corners))
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    marks = (np.arange(4 * count) + 0.5) / (4 * count) * areas.sum()
    drawn = np.unique(np.searchsorted(np.cumsum(areas), marks).clip(max=len(corners) - 1))
    return drawn if len(drawn) <= count else drawn[farthest_points(corners[drawn].mean(axis=1), count)]


@dataclass(frozen=True, eq=False)
class Piece:
    """A solid that belongs to an object: a convex piece of a rigid part, or a surface that bends."""

    owner: int
    collider: Collider | BendingSurface
    node: int
    part: int


@dataclass(frozen=True, eq=False)
class Shape:
    """One object as others feel it."""

    corners: PointSet
    """What can meet a plane first."""

    samples: PointSet
    """What can meet any solid."""

    parts: dict[int, PointSet]
    """The same of each rigid part."""

    pieces: tuple[Piece, ...]
    radius: float
    """Of its largest ball, which rolls; 0 where there is none."""


def shape_of(bound: Bound, owner: int, config: ContactConfig, is_alone: bool = False) -> Shape:
    """Points and solids of a body; where it is alone, nobody touches a surface that bends."""
    mechanics, mesh = bound.mechanics, bound.body.mesh
    if not len(mechanics.part_nodes):
        lowest, spread = _soft_points(bound, owner, config)
        if is_alone:
            return Shape(lowest, spread, {}, (), 0.0)
        surface = BendingSurface.of(bound.body, mechanics)  # type: ignore[arg-type]
        return Shape(lowest, spread, {}, (Piece(owner, surface, -1, -1),), 0.0)
    corners: list[tuple[np.ndarray, int, float]] = []
    samples: dict[int, list[tuple[np.ndarray, int, float]]] = {}
    pieces = []
    for part, node in enumerate(int(node) for node in mechanics.part_nodes):
        mine = mesh.faces[mesh.face_parts == part]
        ball = _ball(mesh, mine)
        if ball is not None:
            corners.append((ball[0][None], node, ball[1]))
        else:
            corners.append((_hull_corners(mesh, mine), node, 0.0))
        for hull, points in hull_pieces(mesh.vertices, mine):
            pieces.append(Piece(owner, hull, node, part))
            samples.setdefault(part, []).append((points, node, 0.0))
        if ball is not None and part in samples:
            samples[part] = corners[-1:]
    everything = [entry for entries in samples.values() for entry in entries]
    return Shape(
        _point_set(bound, owner, corners, None),
        _point_set(bound, owner, everything or corners, MAX_POINTS),
        {part: _point_set(bound, owner, entries, PART_POINTS) for part, entries in samples.items()},
        tuple(pieces),
        max((radius for _, _, radius in corners), default=0.0),
    )


def _point_set(
    bound: Bound, owner: int, entries: Sequence[tuple[np.ndarray, int, float]], limit: int | None
) -> PointSet:
    places = np.concatenate([places for places, _, _ in entries])
    nodes = np.concatenate([np.full(len(places), node) for places, node, _ in entries])
    radii = np.concatenate([np.full(len(places), radius) for places, _, radius in entries])
    if limit is not None and len(places) > limit:
        # The extreme points of the whole object carry it, so they go first.
        spread = np.concatenate([places, 1e-3 * nodes[:, None]], axis=1)
        lowest = int(np.argmin(places @ bound.body.mesh.up_vector))
        chosen = np.sort(farthest_points(spread, limit, lowest))
        places, nodes, radii = places[chosen], nodes[chosen], radii[chosen]
    return PointSet(owner, bound.mechanics.node_points(places, nodes), radii, nodes)  # type: ignore[attr-defined]


def _soft_points(bound: Bound, owner: int, config: ContactConfig) -> tuple[PointSet, PointSet]:
    """All vertices in patches, for planes, where handles carry them; and those spread over the surface, for other
    solids."""
    mesh, points = bound.body.mesh, bound.mechanics.points
    used = np.unique(mesh.faces)
    outer = _outermost(mesh, used, config.soft_points // 4)
    thin = len(used) // (8 * config.soft_points)  # large meshes: every so many will do to choose from
    used = np.unique(np.concatenate([outer, used[:: max(1, thin)]]))
    spread = used
    if len(used) > config.soft_points:
        chosen = farthest_points(mesh.vertices[used], config.soft_points)
        spread = np.unique(np.concatenate([outer, used[chosen]]))
    samples = PointSet(owner, points(spread), np.zeros(len(spread)), np.full(len(spread), -1))
    if len(spread) == len(used) or bound.mechanics.handle_weights() is None:
        return samples, samples
    chosen = np.searchsorted(used, spread)
    patches = chosen[cKDTree(mesh.vertices[spread]).query(mesh.vertices[used])[1]]
    patches[chosen] = chosen
    return PointSet(owner, points(used), np.zeros(len(used)), np.full(len(used), -1), patches), samples


def _outermost(mesh: Mesh, vertices: Int[np.ndarray, " n"], count: int) -> Int[np.ndarray, " m"]:
    """Vertices that stick out farthest, in directions spread over the sphere: what lands, lands on these."""
    outward = directions(count).T
    best = np.zeros(count, dtype=np.int64)
    reach = np.full(count, -np.inf)
    for first in range(0, len(vertices), 4096):
        heights = mesh.vertices[vertices[first : first + 4096]] @ outward
        top = heights.argmax(axis=0)
        higher = heights[top, np.arange(count)] > reach
        best, reach = np.where(higher, first + top, best), np.where(higher, heights.max(axis=0), reach)
    return np.unique(vertices[best])


def _hull_corners(mesh: Mesh, faces: Int[np.ndarray, "f 3"]) -> Float[np.ndarray, "n 3"]:
    """Corners of the hull of a part, and what sticks out farthest."""
    used = np.unique(faces)
    vertices = mesh.vertices[used]
    hull = convex_hull(vertices, 0.0) if len(faces) else None
    if hull is None:
        corners = vertices
    else:
        corners = np.unique(np.concatenate([hull[0], mesh.vertices[_outermost(mesh, used, OUTERMOST)]]), axis=0)
    limit = MAX_CORNERS + OUTERMOST
    return corners[farthest_points(corners, limit)] if len(corners) > limit else corners


def _ball(mesh: Mesh, faces: Int[np.ndarray, "f 3"]) -> tuple[Float[np.ndarray, "3"], float] | None:
    """Centre and radius of a part that is a ball."""
    vertices = mesh.vertices[np.unique(faces)]
    if len(vertices) < BALL_VERTICES:
        return None
    lifted = np.concatenate([2.0 * vertices, np.ones((len(vertices), 1))], axis=1)
    solution = np.linalg.lstsq(lifted, (vertices**2).sum(axis=1), rcond=None)[0]
    center = solution[:3]
    away = np.linalg.norm(vertices - center, axis=1)
    whole = np.ptp(vertices, axis=0).min() > (2.0 - 4.0 * BALL_ERROR) * away.max()
    is_ball = whole and np.ptp(away) < BALL_ERROR * away.max()
    return (center, float(away.max())) if is_ball else None


def touches_of(
    bounds: Sequence[Bound],
    shapes: Sequence[Shape],
    world: World,
    system: System,
    state: State,
    config: ContactConfig,
) -> list[Touch]:
    """Points of all objects against the ground, against obstacles, and against other parts of the same object."""
    steep = [_stiffness(bound, world) for bound in bounds]
    out: list[Touch] = []
    solids: list[tuple[Collider, float]] = []
    if world.ground is not None:
        ground = _ground(world.ground, bounds, shapes, system, state)
        for k, shape in enumerate(shapes):
            surface = _surface(bounds[k], world.ground.friction, config)
            out.append(Touch(shape.corners, ground, *surface, steep[k]))
    for obstacle in world.obstacles:
        solids += [(collider, obstacle.friction) for collider in obstacle_colliders(obstacle.mesh)]
    for k, shape in enumerate(shapes):
        for collider, friction in solids:
            out.append(Touch(shape.samples, collider, *_surface(bounds[k], friction, config), steep[k]))
        out += _within(bounds[k], shape, world, steep[k])
    return out


def touches_between(
    bounds: Sequence[Bound], shapes: Sequence[Shape], world: World, config: ContactConfig, mine: int, other: int
) -> list[Touch]:
    """Points of one object against the solids of another."""
    surface = _surfaces(bounds[mine], bounds[other], world.friction, config)
    stiffness = min(_stiffness(bounds[mine], world), _stiffness(bounds[other], world))
    points = shapes[mine].samples
    return [Touch(points, p.collider, *surface, stiffness, other, p.node) for p in shapes[other].pieces]


def friction_of(bound: Bound) -> float | None:
    """Of the surface of an object, where its materials are named."""
    return None if bound.body.materials is None else float(np.mean(bound.body.materials.friction))


def bounce_of(bound: Bound) -> float:
    """Speed that a rigid object keeps when it strikes something hard; nothing where no material is named.

    What bends has no such figure: it bounces by its own elasticity.
    """
    field = bound.body.materials
    if field is None or not len(bound.mechanics.part_nodes):
        return 0.0
    damping = field.damping_ratio
    return float(np.mean(np.exp(-np.pi * damping / np.sqrt(1.0 - damping**2))))


def _surface(bound: Bound, friction: float, config: ContactConfig) -> tuple[float, float]:
    """Friction and restitution of an object on something that stands still."""
    own = friction_of(bound)
    kept = config.assembled if bound.body.poses.dim else config.hard
    return friction if own is None else float(np.sqrt(own * friction)), kept * bounce_of(bound)


def _surfaces(a: Bound, b: Bound, friction: float, config: ContactConfig) -> tuple[float, float]:
    """The same between two objects: an object without a material takes the world's friction."""
    first, second = (friction if own is None else own for own in (friction_of(a), friction_of(b)))
    is_plain = not (a.body.poses.dim or b.body.poses.dim)
    kept = 1.0 if is_plain else config.assembled
    return float(np.sqrt(first * second)), kept * bounce_of(a) * bounce_of(b)


def _within(bound: Bound, shape: Shape, world: World, stiffness: float) -> list[Touch]:
    """Parts of one object against each other, but for those that touch at rest or that a joint leads through each
    other: they were made to."""
    articulation = bound.body.poses.articulation
    if articulation is None or not bound.body.poses.dim or len(shape.parts) < 2:
        return []
    own = friction_of(bound)
    friction = world.friction if own is None else own
    pairs = [
        (part, piece)
        for part in shape.parts
        for piece in shape.pieces
        if piece.node != bound.mechanics.part_nodes[part] and len(shape.pieces) <= MAX_OWN_PIECES
    ]
    poses = _poses(bound)
    apart = np.min([_heights(bound, shape, pairs, q) for q in poses], axis=0) if pairs else []
    at_rest = _heights(bound, shape, pairs, poses[0])
    owner, size = shape.corners.owner, bound.body.mesh.size
    out = []
    for (part, piece), least, rest in zip(pairs, apart, at_rest, strict=True):
        if least > -OVERLAP * size and rest > OVERLAP * size:
            points = shape.parts[part]
            out.append(Touch(points, piece.collider, friction, 0.0, stiffness, owner, piece.node))
    return out


def _poses(bound: Bound) -> list[Float[np.ndarray, " D"]]:
    """The start, rest, and each joint alone between its limits."""
    base = bound.mechanics.dim - bound.body.poses.dim
    out = [bound.q, np.zeros_like(bound.q)]
    for k, (low, high) in enumerate(bound.body.poses.limits):
        if np.isfinite([low, high]).all():
            for value in np.linspace(low, high, OWN_POSES):
                q = np.zeros_like(bound.q)
                q[base + k] = value
                out.append(q)
    return out


def _heights(
    bound: Bound, shape: Shape, pairs: Sequence[tuple[int, Piece]], q: Float[np.ndarray, " D"]
) -> Float[np.ndarray, " n"]:
    """How far the lowest point of a part is above a piece of another, for each pair; negative inside."""
    motion = bound.mechanics.motion(np.eye(4), q[None], np.zeros_like(q[None]))
    places = {part: points.points.positions(motion)[0] for part, points in shape.parts.items()}
    out = []
    for part, piece in pairs:
        hull = piece.collider
        assert isinstance(hull, Hull)
        local = seen_from(motion.node_frame(piece.node), places[part])
        heights = (local @ hull.normals.T - hull.heights).max(axis=1) - shape.parts[part].radii
        out.append(float(heights.min()))
    return np.array(out)


def _stiffness(bound: Bound, world: World) -> float:
    """Of one contact point: it alone carries the object at the depth of rest."""
    mesh = bound.body.mesh
    gravity = max(float(np.linalg.norm(gravity_of(world, bound.body))), STANDARD_GRAVITY / mesh.unit)
    return bound.mechanics.mass * gravity / (REST_DEPTH * mesh.size)


def _ground(
    ground: Ground, bounds: Sequence[Bound], shapes: Sequence[Shape], system: System, state: State
) -> HalfSpace:
    normal = np.asarray(bounds[0].body.mesh.up_vector if ground.normal is None else ground.normal, dtype=np.float64)
    height = ground.height
    if height is None:
        motions = system.motions(state.poses, state.q[None], np.zeros_like(state.q[None]))
        lowest = [
            (shape.corners.points.positions(motion)[0] @ normal - shape.corners.radii).min()
            for shape, motion in zip(shapes, motions, strict=True)
        ]
        height = float(min(lowest))
    return HalfSpace(normal, height)
