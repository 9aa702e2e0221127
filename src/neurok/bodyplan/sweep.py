"""Moving a part along many lines at once: which of its points cross the rest of the object, and when it comes loose.

Every point travels in small steps; each step is a short ray against the triangles of the rest (and the points of the
rest travel against the triangles of the part). Crossing needs no closed, well-wound surfaces. Points that lie on the
other surface at rest are lifted off it first, and points where the surfaces interpenetrate at rest are left out, so
only penetration beyond what the rest pose has counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.spatial import cKDTree

from neurok.bodyplan.contacts import PATCH, ContactGraph, PartSamples
from neurok.core import Mesh
from neurok.geometry import lie
from neurok.geometry.sampling import farthest_points

# How parts are moved along lines, and what stops them. By eye; counts are what a search in a second affords.
FORGIVEN_DEPTH = 0.006  # Depth of penetration that is forgiven [share of the object].
GRAZING = 0.12  # A path at a smaller angle runs along a surface instead of through it [sine].
OVERSHOOT = 1.001  # Steps are longer by this factor: what ends exactly on a surface has gone through it.
COLLIDES = 0.07  # Share of points that must cross before it counts: files are not exact, and small clashes are common.
ANGLES = (5, 10, 15, 20, 30, 40, 50, 60, 75, 90, 105, 120, 135, 150, 165, 180)  # Angles tried on a line [deg].
WINDOW = 4  # They are tried so many at a time: most lines have met something by then.
SLIDE_STEPS = 20  # Steps of a slide, evenly up to the length of the part along it.
EARLY_STEP = 3  # Step after which ``early_crossing`` is taken: 15 degrees, or a seventh of the length.
OWN_POINTS = 72  # Points of the part that are followed.
OPENNESS_POINTS = 48  # Points of the part that look out for the rest.
OTHER_POINTS = 128  # Points of the rest that are followed: half of them close by, half anywhere the part may get to.
ATTACHMENT_POINTS = 192  # Points of the part that may keep it attached: half where it touches at rest, half anywhere.
CLOSE_BY = 0.15  # How far *close by* goes [sizes of the part].
MAY_GET_TO = 1.1  # How far the part may get to, for points of the rest [sizes of the part].
WITHIN_REACH = 1.2  # The same for its triangles, a little farther [sizes of the part].
NEIGHBOURS = 48  # Own samples that tell on which side of the other surface a point lies.
# Points with more of these samples on either side are left out: the surfaces pass through each other.
INTERPENETRATION = 0.2
# Where the part goes through a face at rest, it may go back through it within this way [share of the object]. By eye.
OVERLAP = 0.04
FAR = 4.0  # Rays that look out of the object end here [share of the object].
# Cells along the object of the grid that tells whether parts are near; a part within two cells is attached.
GRID_CELLS = 80
GRID_MARGIN = 3  # Cells around the object, so that a step outside needs no test.


@dataclass(frozen=True, eq=False)
class Crossings:
    """What happened on the way, for each line and step."""

    own: Float[np.ndarray, "C S"]
    """Share of the part's points that have crossed the rest so far."""

    other: Float[np.ndarray, "C S"]
    """Share of the nearby points of the rest that the part has crossed so far."""

    obstacle: Int[np.ndarray, "C S"]
    """The part crossed most so far, -1 for none."""


@dataclass(frozen=True, eq=False)
class _Hits:
    """Where paths go through faces."""

    points: Int[np.ndarray, " N"]
    """Number of the point whose path it is ..."""

    starts: Float[np.ndarray, "N 3"]
    """... where it starts ..."""

    moves: Float[np.ndarray, "N 3"]
    """... and how it moves when it hits."""

    places: Float[np.ndarray, "N 3"]
    faces: Int[np.ndarray, " N"]

    @property
    def travel(self) -> Float[np.ndarray, " N"]:
        """Way from the start [share of the object]."""
        return np.asarray(np.linalg.norm(self.places - self.starts, axis=1))


class Mover:
    """A part with all it carries, ready to be moved against the rest; lengths inside are shares of the object."""

    def __init__(
        self, mesh: Mesh, contacts: ContactGraph, group: tuple[int, ...], absent: tuple[int, ...] = ()
    ) -> None:
        """``group`` are the parts that move as one; ``absent`` ones are out of the way, as open doors are."""
        self.middle, self.size = mesh.bounds.mean(axis=0), contacts.size
        self.own_samples = self._samples(contacts.samples, group)
        gone = {*group, *absent}
        rest = self._samples(contacts.samples, tuple(p for p in range(len(contacts.samples)) if p not in gone))
        near = self._within_reach(rest.points[:, None])
        self.rest_samples = _OrientedPoints(rest.points[near], rest.normals[near], rest.spacing)
        places, moves = self.normalised(mesh.vertices), np.isin(mesh.face_parts, group)
        stays = np.flatnonzero(~np.isin(mesh.face_parts, tuple(gone)))
        stays = stays[self._within_reach(places[mesh.faces[stays]])]
        self.own_surface = CrossingSurface(places, mesh.faces[moves], mesh.face_parts[moves])
        self.rest_surface = CrossingSurface(places, mesh.faces[stays], mesh.face_parts[stays])
        spread = _spread(self.own_samples.points, OWN_POINTS)
        self.own_points = _lifted(spread, self.own_samples, self.rest_samples)
        self.other_points = _lifted(self._nearby(), self.rest_samples, self.own_samples)
        self._pierced = self.rest_surface.pierced_by(self.own_surface)
        self._overlapping = self._lie_on_pierced(self.other_points)
        self.near = OccupancyGrid(self.rest_samples.points, GRID_CELLS, GRID_MARGIN)
        self.attachment_points = self._contact_points()

    def _samples(self, samples: tuple[PartSamples | None, ...], parts: tuple[int, ...]) -> _OrientedPoints:
        chosen = [one for part in parts if (one := samples[part]) is not None]
        points = np.concatenate([np.zeros((0, 3)), *(one.points for one in chosen)])
        normals = np.concatenate([np.zeros((0, 3)), *(one.normals for one in chosen)])
        return _OrientedPoints(
            self.normalised(points), normals, max((one.spacing for one in chosen), default=0.0) / self.size
        )

    def normalised(self, points: np.ndarray) -> np.ndarray:
        """Mesh coordinates as shares of the object, about its middle."""
        return (points - self.middle) / self.size

    def _within_reach(self, corners: Float[np.ndarray, "F K 3"]) -> Bool[np.ndarray, " F"]:
        """Triangles or points the part can get to: it turns about lines through its box, a few lengths are enough."""
        low, high = self.own_samples.points.min(axis=0), self.own_samples.points.max(axis=0)
        around = WITHIN_REACH * float(np.linalg.norm(high - low))
        near = (corners.max(axis=1) > low - around) & (corners.min(axis=1) < high + around)
        return near.all(axis=1)

    def _nearby(self) -> np.ndarray:
        """Points of the rest around the part: half of them close by, half anywhere it may get to."""
        if len(self.rest_samples.points) == 0:
            return self.rest_samples.points
        low, high = self.own_samples.points.min(axis=0), self.own_samples.points.max(axis=0)
        outside = np.maximum(np.maximum(low - self.rest_samples.points, self.rest_samples.points - high), 0.0)
        away = np.linalg.norm(outside, axis=1)
        span = float(np.linalg.norm(high - low))
        close = np.flatnonzero(away < CLOSE_BY * span)
        around = np.flatnonzero(away < MAY_GET_TO * span)
        points, half = self.rest_samples.points, OTHER_POINTS // 2
        return np.concatenate([_pick(points[close], half), _pick(points[around], half)])

    def _contact_points(self) -> np.ndarray:
        """Points of the part that may keep it attached: half where it touches at rest, half anywhere."""
        points, half = self.own_samples.points, ATTACHMENT_POINTS // 2
        touching = self.near.contains(points.astype(np.float32))
        return np.concatenate([_pick(points[touching], half), _pick(points, half)])

    def _lie_on_pierced(self, points: Float[np.ndarray, "N 3"]) -> Bool[np.ndarray, " N"]:
        """Whether points of the rest lie on faces that the part goes through at rest."""
        if not self._pierced.any() or len(points) == 0:
            return np.zeros(len(points), dtype=bool)
        tree = self.rest_samples.tree
        assert tree is not None, "the points are some of its own"
        across = 2.0 * FORGIVEN_DEPTH * self.rest_samples.normals[tree.query(points)[1]]
        face = self.rest_surface.first_hit(points + 0.5 * across, -across)
        return (face >= 0) & self._pierced[np.maximum(face, 0)]

    def sweep(
        self,
        axes: Float[np.ndarray, "C 3"],
        origins: Float[np.ndarray, "C 3"],
        values: Float[np.ndarray, "C S"],
        turning: bool,
        needed: Int[np.ndarray, " C"],
        enough: float,
        window: int,
    ) -> Crossings:
        """Move along each line through its values (angles, or shares of the object), starting at rest.

        So many steps at a time: a line on which more than ``enough`` of the points have crossed, or whose ``needed``
        steps are done, is not followed further.
        """
        with_rest = np.concatenate([np.zeros((len(values), 1)), values], axis=1)
        steps = values.shape[1]
        own = np.full((len(axes), len(self.own_points)), steps + 2)
        other = np.full((len(axes), len(self.other_points)), steps + 2)
        hit = np.full(own.shape, -1)
        alive = np.arange(len(axes))
        for start in range(0, steps, window):
            end = min(start + window, steps)
            some, through, times = axes[alive], origins[alive], with_rest[alive, start : end + 1]
            paths = trajectories(self.own_points, some, through, times, turning)
            first, part = self.rest_surface.first_crossing(paths, self._is_overlap)
            fresh = (first <= end - start) & (own[alive] > steps)
            own[alive] = np.where(fresh, first + start, own[alive])
            hit[alive] = np.where(fresh, part, hit[alive])
            paths = trajectories(self.other_points, some, through, -times, turning)
            first, _ = self.own_surface.first_crossing(paths, self._is_overlapped)
            fresh = (first <= end - start) & (other[alive] > steps)
            other[alive] = np.where(fresh, first + start, other[alive])
            crossed = np.maximum(_part_of(own[alive] <= end), _part_of(other[alive] <= end))
            alive = alive[(crossed <= enough) & (needed[alive] > end)]
            if len(alive) == 0:
                break
        return Crossings(_share(own, steps), _share(other, steps), _main_obstacle(own, hit, steps))

    def _is_overlap(self, found: _Hits) -> Bool[np.ndarray, " N"]:
        """Whether points of the part that cross the rest only undo what overlaps at rest: the part goes through that
        face already, has surface ahead of it too, and has hardly moved. A drawer that pokes through its back wall may
        be pulled out."""
        out = (found.travel < OVERLAP) & self._pierced[found.faces]
        out[out] = self.own_surface.is_ahead(found.places[out], found.moves[out])
        return out

    def _is_overlapped(self, found: _Hits) -> Bool[np.ndarray, " N"]:
        """The same for points of the rest, which seem to move the other way."""
        out = (found.travel < OVERLAP) & self._overlapping[found.points]
        out[out] = self.own_surface.is_ahead(found.starts[out], -found.moves[out])
        return out

    def openness(
        self, axes: Float[np.ndarray, "C 3"], origins: Float[np.ndarray, "C 3"], turning: bool
    ) -> Float[np.ndarray, "C 2"]:
        """How much of the part sees nothing of the rest ahead when it starts along each line, forward and backward:
        1 for a door that opens out of a closed box, 0 for the way into it. Points count by how fast they move."""
        points = _spread(self.own_samples.points, OPENNESS_POINTS)
        places = np.broadcast_to(points, (len(axes), *points.shape))
        if turning:
            moves = np.cross(axes[:, None], places - origins[:, None])
        else:
            moves = np.broadcast_to(axes[:, None], places.shape)
        speed = np.linalg.norm(moves, axis=2)
        ways = moves / np.maximum(speed, 1e-12)[..., None]
        out = np.zeros((len(axes), 2))
        for side, sign in enumerate((1.0, -1.0)):
            seen = self.rest_surface.is_ahead(places.reshape(-1, 3), sign * ways.reshape(-1, 3)).reshape(speed.shape)
            out[:, side] = 1.0 - (seen * speed).sum(axis=1) / np.maximum(speed.sum(axis=1), 1e-12)
        return out

    def is_detached(
        self,
        axes: Float[np.ndarray, "C 3"],
        origins: Float[np.ndarray, "C 3"],
        values: Float[np.ndarray, "C S"],
        turning: bool,
    ) -> Bool[np.ndarray, "C S"]:
        """Whether nothing of the part is near the rest any more, for each line and value."""
        touching = self.near.contains(trajectories(self.attachment_points, axes, origins, values, turning))
        return np.logical_not(touching.any(axis=2))


@dataclass(frozen=True, eq=False)
class _OrientedPoints:
    points: np.ndarray
    normals: np.ndarray
    spacing: float

    @cached_property
    def tree(self) -> cKDTree | None:
        return cKDTree(self.points) if len(self.points) else None

    def heights(self, points: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Distance from the tangent plane of the nearest sample (infinite when far), its index, the signed height."""
        if self.tree is None or len(points) == 0:
            return np.full(len(points), np.inf), np.zeros(len(points), dtype=np.int64), np.zeros(len(points))
        away, index = self.tree.query(points, distance_upper_bound=float(np.hypot(reach, PATCH * self.spacing)))
        known = np.isfinite(away)
        index = np.where(known, index, 0)
        signed = np.einsum("nd,nd->n", points - self.points[index], self.normals[index])
        return np.where(known, np.abs(signed), np.inf), index, signed


class OccupancyGrid:
    """Cells of a grid that lie near a surface: a fast answer to whether points touch it."""

    def __init__(self, points: Float[np.ndarray, "N 3"], cells: int, margin: int) -> None:
        self.count, self.margin = cells, margin
        side = cells + 2 * margin
        self.grid = np.zeros((side, side, side), dtype=bool)
        filled = self._cells(points.astype(np.float32)).astype(np.int64)
        flat = np.unique(filled @ np.array([side * side, side, 1]))
        for i, j, k in np.ndindex(3, 3, 3):
            self.grid.reshape(-1)[flat + ((i - 1) * side + (j - 1)) * side + (k - 1)] = True
        self.grid[[0, -1]] = self.grid[:, [0, -1]] = self.grid[:, :, [0, -1]] = False

    def _cells(self, points: np.ndarray) -> np.ndarray:
        """Indices of cells; what is outside goes to the empty rim."""
        cells = (points + np.float32(0.5)) * np.float32(self.count) + np.float32(self.margin)
        return np.clip(cells, 0, self.count + 2 * self.margin - 1).astype(np.int32)

    def contains(self, points: np.ndarray) -> np.ndarray:
        """Whether each point is within about two cells of the surface."""
        cells = self._cells(points)
        return self.grid[cells[..., 0], cells[..., 1], cells[..., 2]]


class CrossingSurface:
    """Triangles that answer where a short path first goes through them."""

    def __init__(
        self, places: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"], parts: Int[np.ndarray, " F"]
    ) -> None:
        from embreex.mesh_construction import TriangleMesh
        from embreex.rtcore_scene import EmbreeScene

        self.parts = parts
        used = np.zeros(len(places), dtype=bool)
        used[faces] = True
        points = np.ascontiguousarray(places[used], dtype=np.float32)
        faces = np.ascontiguousarray((np.cumsum(used) - 1)[faces], dtype=np.int32)
        first, second, third = (points[faces[:, k]] for k in range(3))
        normals = np.cross(second - first, third - first)
        self.normals = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), np.float32(1e-30))
        self.scene = EmbreeScene() if len(faces) else None
        if self.scene is not None:
            self.mesh = TriangleMesh(self.scene, points, faces)
        self.points, self.faces = points, faces

    def first_crossing(
        self, positions: Float[np.ndarray, "C T N 3"], discounted: Callable[[_Hits], np.ndarray] | None = None
    ) -> tuple[Int[np.ndarray, "C N"], Int[np.ndarray, "C N"]]:
        """The first step (1 ..) in which each path goes through, far beyond the last for never; and the part hit.

        Crossings that are ``discounted`` do not count.
        """
        lines, times, count = positions.shape[:3]
        never = np.full((lines, count), times + 1, dtype=np.int64)
        nobody = np.full((lines, count), -1, dtype=np.int64)
        if self.scene is None or positions.size == 0 or times < 2:
            return never, nobody
        starts = np.ascontiguousarray(positions[:, :-1].reshape(-1, 3), dtype=np.float32)
        moves = np.ascontiguousarray((positions[:, 1:] - positions[:, :-1]).reshape(-1, 3), dtype=np.float32)
        far = np.ones(len(starts), np.float32)
        answer = self.scene.run(starts, OVERSHOOT * moves, far, query="INTERSECT", output=True)
        face = answer["primID"]
        rows = np.flatnonzero(face >= 0)
        across = np.abs(np.einsum("nd,nd->n", moves[rows], self.normals[face[rows]]))
        rows = rows[across > GRAZING * np.linalg.norm(moves[rows], axis=1)]
        if discounted is not None and len(rows):
            line, point = rows // ((times - 1) * count), rows % count
            places = starts[rows] + answer["tfar"][rows, None] * OVERSHOOT * moves[rows]
            rows = rows[~discounted(_Hits(point, positions[line, 0, point], moves[rows], places, face[rows]))]
        crosses = np.zeros(len(starts), dtype=bool)
        crosses[rows] = True
        crossed = crosses.reshape(lines, times - 1, count)
        first = np.where(crossed.any(axis=1), crossed.argmax(axis=1), times)
        hit = face.reshape(lines, times - 1, count)
        chosen = np.take_along_axis(hit, np.minimum(first, times - 2)[:, None], axis=1)[:, 0]
        part = np.where(first < times, self.parts[np.maximum(chosen, 0)], -1)
        return first + 1, part

    def first_hit(self, places: Float[np.ndarray, "N 3"], ways: Float[np.ndarray, "N 3"]) -> Int[np.ndarray, " N"]:
        """The first face within each way from each place, -1 for none."""
        if self.scene is None or len(places) == 0:
            return np.full(len(places), -1)
        starts, ways = (np.ascontiguousarray(array, dtype=np.float32) for array in (places, ways))
        return np.asarray(self.scene.run(starts, ways, np.ones(len(starts), np.float32), query="INTERSECT"))

    def is_ahead(self, places: Float[np.ndarray, "N 3"], ways: Float[np.ndarray, "N 3"]) -> Bool[np.ndarray, " N"]:
        """Whether the surface lies ahead of each place, however far, but for what touches it."""
        ways = ways / np.maximum(np.linalg.norm(ways, axis=-1, keepdims=True), 1e-30)
        return self.first_hit(places + FORGIVEN_DEPTH * ways, FAR * ways) >= 0

    def pierced_by(self, other: CrossingSurface) -> Bool[np.ndarray, " F"]:
        """Faces that pass through faces of another surface."""
        out = np.zeros(len(self.parts), dtype=bool)
        if self.scene is not None and other.scene is not None:
            out |= (self._edge_hits(other).reshape(-1, 3) >= 0).any(axis=1)
            hits = other._edge_hits(self)
            out[hits[hits >= 0]] = True
        return out

    def _edge_hits(self, other: CrossingSurface) -> Int[np.ndarray, " E"]:
        """The face of another surface that each edge of the faces goes through, -1 for none."""
        corners = self.points[self.faces]
        edges = np.roll(corners, -1, axis=1) - corners
        return other.first_hit(corners.reshape(-1, 3), edges.reshape(-1, 3))


def trajectories(
    points: Float[np.ndarray, "N 3"],
    axes: Float[np.ndarray, "C 3"],
    origins: Float[np.ndarray, "C 3"],
    values: Float[np.ndarray, "C T"],
    turning: bool,
) -> Float[np.ndarray, "C T N 3"]:
    """Points turned about, or slid along, each line by each value."""
    generators = lie.turn_generator(axes, origins) if turning else lie.slide_generator(axes)
    rows = lie.joint_motions(generators, values)[:, :, :3].reshape(-1, 4)
    lifted = np.concatenate([points, np.ones((len(points), 1))], axis=1)
    # One product in single precision for all lines and values: rays are cast in it, and this is most of the work.
    moved = rows.astype(np.float32) @ lifted.T.astype(np.float32)
    return np.ascontiguousarray(moved.reshape(*values.shape, 3, len(points)).swapaxes(-1, -2))


def _pick(points: np.ndarray, count: int) -> np.ndarray:
    """At most ``count`` of the points, every so many."""
    return points if len(points) <= count else points[np.linspace(0, len(points) - 1, count).astype(np.int64)]


def _spread(points: np.ndarray, count: int) -> np.ndarray:
    """At most ``count`` points, far from each other, out of a pick of a few times as many."""
    points = _pick(points, 3 * count)
    return points if len(points) <= count else points[farthest_points(points, count)]


def _lifted(points: np.ndarray, own: _OrientedPoints, other: _OrientedPoints) -> np.ndarray:
    """Points lifted off the other surface to the clearance, without those where the two pass through each other."""
    clearance = FORGIVEN_DEPTH
    heights, index, signed = other.heights(points, clearance)
    close = np.flatnonzero(heights <= clearance)
    if len(close) == 0:
        return points
    assert own.tree is not None, "the points are some of its own"
    _, around = own.tree.query(points[close], k=min(NEIGHBOURS, len(own.points)))
    base, normal = other.points[index[close]], other.normals[index[close]]
    sides = np.einsum("nkd,nd->nk", own.points[around] - base[:, None], normal)
    above, below = (sides > clearance).mean(axis=1), (sides < -clearance).mean(axis=1)
    sign = np.where(sides.mean(axis=1) >= 0, 1.0, -1.0)
    lift = np.maximum(clearance - sign * signed[close], 0.0)
    out = points.copy()
    out[close] += (sign * lift)[:, None] * normal
    keep = np.ones(len(points), dtype=bool)
    keep[close] = np.minimum(above, below) < INTERPENETRATION
    return out[keep]


def _part_of(crossed: Bool[np.ndarray, "C N"]) -> Float[np.ndarray, " C"]:
    return crossed.mean(axis=1) if crossed.shape[1] else np.zeros(len(crossed))


def _share(first: Int[np.ndarray, "C N"], steps: int, chosen: np.ndarray | None = None) -> Float[np.ndarray, "C S"]:
    """Share of the points of each line that have crossed up to each step; only the chosen ones, if given."""
    lines, count = first.shape
    if count == 0:
        return np.zeros((lines, steps))
    keys = first + (steps + 3) * np.arange(lines)[:, None]
    keys = keys.reshape(-1) if chosen is None else keys[chosen]
    counts = np.bincount(keys, minlength=lines * (steps + 3)).reshape(lines, steps + 3)
    return np.cumsum(counts, axis=1)[:, 1 : steps + 1] / count


def _main_obstacle(first: Int[np.ndarray, "C N"], part: Int[np.ndarray, "C N"], steps: int) -> Int[np.ndarray, "C S"]:
    """The part hit most often up to each step."""
    out = np.full((len(first), steps), -1, dtype=np.int64)
    best = np.zeros((len(first), steps))
    for obstacle in np.unique(part[part >= 0]):
        share = _share(first, steps, part == obstacle)
        better = share > best
        out[better], best[better] = obstacle, share[better]
    return out


@dataclass(frozen=True, eq=False)
class FreeRange:
    """Free range of each line, towards negative and positive values, and what ended it."""

    low: Float[np.ndarray, " C"]
    """Free range backward as a positive number: [rad], or mesh units for slides."""

    high: Float[np.ndarray, " C"]
    is_full: Bool[np.ndarray, " C"]
    """Turns all the way round."""

    early_crossing: Float[np.ndarray, " C"]
    """Share of points that cross within 15 degrees or a seventh of the length, in the better direction."""

    late_crossing: Float[np.ndarray, " C"]
    """The same farther on: at half the length of a slide."""

    attached: Float[np.ndarray, " C"]
    """0 where the longer range ended because the part came loose."""

    reasons: tuple[str, ...]
    """What ended the longer of the two ranges, in a few words; empty when nothing did."""


def try_turns(
    mover: Mover, axes: Float[np.ndarray, "C 3"], origins: Float[np.ndarray, "C 3"], names: tuple[str, ...]
) -> FreeRange:
    """Turn about each line, both ways, up to half a turn."""
    angles = np.broadcast_to(np.deg2rad(ANGLES), (2 * len(axes), len(ANGLES)))
    return _try_lines(mover, axes, mover.normalised(origins), angles, True, names)


def try_slides(
    mover: Mover, axes: Float[np.ndarray, "D 3"], lengths: Float[np.ndarray, " D"], names: tuple[str, ...]
) -> FreeRange:
    """Slide along each direction, both ways, as far as the part is long."""
    steps = np.linspace(1.0 / SLIDE_STEPS, 1.0, SLIDE_STEPS)
    ways = np.concatenate([lengths, lengths])[:, None] * steps / mover.size
    return _try_lines(mover, axes, np.zeros_like(axes), ways, False, names)


def _try_lines(
    mover: Mover,
    axes: Float[np.ndarray, "C 3"],
    origins: Float[np.ndarray, "C 3"],
    values: Float[np.ndarray, "N S"],
    turning: bool,
    names: tuple[str, ...],
) -> FreeRange:
    """Go through the values along each line, first forward along all of them, then backward."""
    count, steps = len(axes), values.shape[1]
    both, places = np.concatenate([axes, -axes]), np.concatenate([origins, origins])
    loosened = mover.is_detached(both, places, values, turning)
    until = np.where(loosened.any(axis=1), loosened.argmax(axis=1), steps)
    crossings = mover.sweep(both, places, values, turning, until + 1, COLLIDES, WINDOW if turning else steps // 2)
    crossing = np.maximum(crossings.own, crossings.other)
    stopped = crossing > COLLIDES
    free = np.where(stopped.any(axis=1), stopped.argmax(axis=1), steps)
    obstacle = np.take_along_axis(crossings.obstacle, np.minimum(free, steps - 1)[:, None], 1)[:, 0]
    loose, free = until < free, np.minimum(free, until)
    reach = np.take_along_axis(np.pad(values, ((0, 0), (1, 0))), free[:, None], 1)[:, 0]
    reach = reach if turning else reach * mover.size
    high, low = reach[:count], reach[count:]
    better = np.where(high >= low, np.arange(count), np.arange(count) + count)
    reasons = []
    for row in better:
        after = f"{np.rad2deg(reach[row]):.0f} deg" if turning else f"{reach[row]:.3g}"
        what = names[obstacle[row]] if obstacle[row] >= 0 else "the rest"
        ended = f"comes loose after {after}" if loose[row] else f"collides with {what} after {after}"
        reasons.append("" if free[row] == steps else ended)
    full = turning & (free[:count] == steps) & (free[count:] == steps)
    least = np.minimum(crossing[:count], crossing[count:])
    early, late = EARLY_STEP - 1, max(EARLY_STEP, steps // 2) - 1
    attached = 1.0 - loose[better].astype(np.float64)
    return FreeRange(low, high, np.asarray(full), least[:, early], least[:, late], attached, tuple(reasons))
