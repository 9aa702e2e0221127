"""Solids that points must not enter: half-spaces, convex hulls, and sampled distance fields for all other shapes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.compiled.loops import compiled
from neurok.core.mesh import Mesh
from neurok.geometry.convex import MAX_HULL_POINTS, Piece, convex_hull, convex_pieces
from neurok.geometry.decomposition import DECOMPOSITION, collision_solids
from neurok.geometry.operators import closed_components
from neurok.geometry.sampling import farthest_points
from neurok.geometry.topology import face_components
from neurok.geometry.voxels import inside_grid

HULL_POINTS = 120
"""Contact points of one convex piece."""

CONVEX_ENOUGH = 0.9
"""A piece that fills this share of its hull is taken for convex."""

FIELD_CELLS = 48
"""Grid cells of a distance field along its longest side."""


class Meeting(NamedTuple):
    """Points that meet a solid on their way, each with the plane that stands for the solid meanwhile."""

    which: Int[np.ndarray, " n"]
    normals: Float[np.ndarray, "n 3"]
    gaps: Float[np.ndarray, " n"]
    """How high the start of each way lies above its plane."""

    marks: Int[np.ndarray, " n"]
    """Which side of the solid it is, to be asked for again: what is held by one side does not come out at another."""


@runtime_checkable
class Collider(Protocol):
    """A solid in its own frame."""

    def distance(self, points: Float[np.ndarray, "n 3"]) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, "n 3"]]:
        """Signed distance (negative inside) and the direction out; far from the solid only the sign need be right."""

    def meet(
        self,
        start: Float[np.ndarray, "n 3"],
        end: Float[np.ndarray, "n 3"],
        marks: Int[np.ndarray, " n"],
        reach: float,
    ) -> Meeting:
        """The points that are inside, come inside on a straight way, or are nearer than ``reach``.

        A thin wall is no different from a thick one: what counts is where the way goes in. ``marks`` are those of the
        last meeting, or -1.
        """

    @property
    def box(self) -> tuple[Float[np.ndarray, "3"], Float[np.ndarray, "3"]]:
        """Its lowest and highest corner."""


@dataclass(frozen=True, eq=False)
class HalfSpace:
    """Everything below a plane."""

    normal: Float[np.ndarray, "3"]
    height: float

    def distance(self, points: Float[np.ndarray, "n 3"]) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, "n 3"]]:
        return points @ self.normal - self.height, np.ones((len(points), 1)) * self.normal

    def meet(
        self,
        start: Float[np.ndarray, "n 3"],
        end: Float[np.ndarray, "n 3"],
        marks: Int[np.ndarray, " n"],
        reach: float,
    ) -> Meeting:
        gaps = start @ self.normal - self.height
        which = np.flatnonzero(np.minimum(gaps, end @ self.normal - self.height) < reach)
        return Meeting(which, np.ones((len(which), 1)) * self.normal, gaps[which], np.zeros(len(which), dtype=np.int64))

    @cached_property
    def box(self) -> tuple[Float[np.ndarray, "3"], Float[np.ndarray, "3"]]:
        """Nothing lies higher where the plane is level along an axis."""
        axis = int(np.abs(self.normal).argmax())
        low, high = np.full(3, -math.inf), np.full(3, math.inf)
        if abs(self.normal[axis]) > 1.0 - 1e-12:
            (high if self.normal[axis] > 0 else low)[axis] = self.height * self.normal[axis]
        return low, high


@dataclass(frozen=True, eq=False)
class Hull:
    """A convex solid as the intersection of half-spaces."""

    normals: Float[np.ndarray, "F 3"]
    heights: Float[np.ndarray, " F"]
    low: Float[np.ndarray, "3"]
    high: Float[np.ndarray, "3"]
    thickness: float

    @staticmethod
    def of(vertices: Float[np.ndarray, "n 3"], faces: Int[np.ndarray, "F 3"]) -> Hull:
        """The hull of a convex piece with outward faces; coplanar faces are one."""
        a, b, c = (vertices[faces[:, i]] for i in range(3))
        cross = np.cross(b - a, c - a)
        length = np.linalg.norm(cross, axis=1)
        good = length > 1e-12 * length.max()
        normals = cross[good] / length[good, None]
        planes = np.column_stack([normals, (normals * a[good]).sum(axis=1)])
        size = np.ptp(vertices, axis=0).max()
        rounded = np.round(planes / [1e-6, 1e-6, 1e-6, 1e-6 * size]).astype(np.int64)
        planes = planes[np.sort(np.unique(rounded, axis=0, return_index=True)[1])]
        widths = planes[:, 3] - (vertices @ planes[:, :3].T).min(axis=0)
        normals, heights = (np.ascontiguousarray(part) for part in (planes[:, :3], planes[:, 3]))
        return Hull(normals, heights, vertices.min(axis=0), vertices.max(axis=0), float(widths.min()))

    def distance(self, points: Float[np.ndarray, "n 3"]) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, "n 3"]]:
        gaps, normals = np.ones(len(points)), np.zeros(points.shape)
        near = ((points > self.low) & (points < self.high)).all(axis=1)
        if near.any():
            heights = points[near] @ self.normals.T - self.heights
            face = np.argmax(heights, axis=1)
            gaps[near] = heights[np.arange(len(face)), face]
            normals[near] = self.normals[face]
        return gaps, normals

    @property
    def box(self) -> tuple[Float[np.ndarray, "3"], Float[np.ndarray, "3"]]:
        return self.low, self.high

    def meet(
        self,
        start: Float[np.ndarray, "n 3"],
        end: Float[np.ndarray, "n 3"],
        marks: Int[np.ndarray, " n"],
        reach: float,
    ) -> Meeting:
        # A little slack, or boxes of one size would not stack.
        slack, count = 1e-3 * self.thickness, len(start)
        which, faces, gaps = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64), np.empty(count)
        box = self.low, self.high
        found = meet_hull(start, end, marks, reach, self.normals, self.heights, *box, slack, which, faces, gaps)
        faces = faces[:found]
        return Meeting(which[:found], self.normals[faces], gaps[:found], faces)


@dataclass(frozen=True, eq=False)
class DistanceField:
    """A solid of any shape as signed distances on a regular grid."""

    values: Float[np.ndarray, "X Y Z"]
    origin: Float[np.ndarray, "3"]
    spacing: float

    @staticmethod
    def of(
        vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"], resolution: int = FIELD_CELLS
    ) -> DistanceField:
        """Distances to a surface, negative where it encloses."""
        from scipy.spatial import cKDTree

        low, high = vertices[faces].min(axis=(0, 1)), vertices[faces].max(axis=(0, 1))
        spacing = float((high - low).max()) / resolution
        origin = low - 3 * spacing
        counts = np.ceil((high - low) / spacing).astype(np.int64) + 7
        samples = _dense_samples(vertices, faces, 0.4 * spacing)
        axes = [origin[i] + spacing * np.arange(counts[i]) for i in range(3)]
        grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
        distance = cKDTree(samples).query(grid.reshape(-1, 3))[0].reshape(grid.shape[:3])
        inside = inside_grid(vertices, faces, origin - 0.5 * spacing, spacing, tuple(int(n) for n in counts))
        if inside.any():
            return DistanceField(np.where(inside, -distance, distance), origin, spacing)
        # A sheet encloses nothing; it gets a little thickness.
        return DistanceField(distance - 0.75 * spacing, origin, spacing)

    def distance(self, points: Float[np.ndarray, "n 3"]) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, "n 3"]]:
        place = (points - self.origin) / self.spacing
        limit = np.array(self.values.shape) - 2
        near = ((place > 0) & (place < limit)).all(axis=1)
        gaps, normals = np.ones(len(points)), np.zeros(points.shape)
        if near.any():
            gaps[near], normals[near] = self._interpolate(place[near])
        return gaps, normals

    @property
    def box(self) -> tuple[Float[np.ndarray, "3"], Float[np.ndarray, "3"]]:
        return self.origin, self.origin + self.spacing * (np.array(self.values.shape) - 1)

    def meet(
        self,
        start: Float[np.ndarray, "n 3"],
        end: Float[np.ndarray, "n 3"],
        marks: Int[np.ndarray, " n"],
        reach: float,
    ) -> Meeting:
        close = _passing(start, end, *self.box)
        a, way = start[close], end[close] - start[close]
        # The way is walked in strides of at most a cell, since a wall may be that thin.
        strides = int(np.clip(np.ceil(np.abs(way).max(initial=0.0) / self.spacing), 1, 64))
        shares = np.linspace(0.0, 1.0, strides + 1)
        heights = np.stack([self.distance(a + share * way)[0] for share in shares], axis=1)
        first = np.argmax(heights < 0, axis=1)
        meets = np.flatnonzero((heights < 0).any(axis=1) | (heights[:, 0] < reach))
        first, last = first[meets], np.maximum(first[meets] - 1, 0)
        rows = heights[meets]
        high, low = rows[np.arange(len(meets)), last], rows[np.arange(len(meets)), first]
        part = np.where(first > last, high / np.maximum(high - low, 1e-300), 0.0)
        share = shares[last] + part * (shares[first] - shares[last])
        places = a[meets] + share[:, None] * way[meets]
        heights_there, normals = self.distance(places)
        gaps = ((a[meets] - places) * normals).sum(axis=1) + np.where(first > last, 0.0, heights_there)
        known = (normals != 0).any(axis=1)
        return Meeting(close[meets][known], normals[known], gaps[known], np.zeros(int(known.sum()), dtype=np.int64))

    def _interpolate(self, place: Float[np.ndarray, "n 3"]) -> tuple[np.ndarray, np.ndarray]:
        """Trilinear value and the direction of its gradient."""
        cell = np.floor(place).astype(np.int64)
        u = place - cell
        corner = np.stack(
            [
                self.values[cell[:, 0] + i, cell[:, 1] + j, cell[:, 2] + k]
                for i in (0, 1)
                for j in (0, 1)
                for k in (0, 1)
            ],
            axis=1,
        ).reshape(-1, 2, 2, 2)
        weights = np.stack([1 - u, u], axis=1)
        slope = np.broadcast_to(np.array([-1.0, 1.0])[None, :], (len(u), 2))
        x, y, z = (weights[:, :, i] for i in range(3))
        value = np.einsum("nijk,ni,nj,nk->n", corner, x, y, z)
        gradient = np.stack(
            [
                np.einsum("nijk,ni,nj,nk->n", corner, slope, y, z),
                np.einsum("nijk,ni,nj,nk->n", corner, x, slope, z),
                np.einsum("nijk,ni,nj,nk->n", corner, x, y, slope),
            ],
            axis=1,
        )
        length = np.linalg.norm(gradient, axis=1, keepdims=True)
        return value, gradient / np.maximum(length, 1e-12)


def _passing(
    start: Float[np.ndarray, "n 3"], end: Float[np.ndarray, "n 3"], low: np.ndarray, high: np.ndarray
) -> Int[np.ndarray, " m"]:
    """Points whose way may pass a box."""
    return np.flatnonzero(((np.minimum(start, end) <= high) & (np.maximum(start, end) >= low)).all(axis=1))


def _dense_samples(vertices: np.ndarray, faces: np.ndarray, spacing: float) -> Float[np.ndarray, "N 3"]:
    """Points on the surface no farther apart than about ``spacing``, on a regular pattern in each triangle."""
    corners = vertices[faces]
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    rows = np.clip(np.ceil(longest / spacing), 1, 200).astype(np.int64)
    out = [vertices[np.unique(faces)]]
    for count in np.unique(rows):
        i, j = np.meshgrid(np.arange(count + 1), np.arange(count + 1), indexing="ij")
        keep = i + j <= count
        u, v = i[keep] / count, j[keep] / count
        shape = np.stack([1 - u - v, u, v], axis=1)
        out.append(np.einsum("sk,fki->fsi", shape, corners[rows == count]).reshape(-1, 3))
    return np.concatenate(out)


def part_pieces(
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    hollow: bool,
    thickness: float | None = None,
    corners: int = MAX_HULL_POINTS,
) -> list[Piece]:
    """Convex pieces of a rigid part.

    The reduced engine asks for hulls alone: what it knows as a ball would slip between the pieces of a bucket.

    Args:
        vertices: Positions.
        faces: Those of the part.
        hollow: Whether something may come into its hollows; then these are the shapes of exports, and else one hull for
            each connected component, which meets a floor in the same points and takes less time.
        thickness: Of open sheets.
        corners: Most of one piece.
    """
    if not hollow:
        return convex_pieces(vertices, faces, corners=corners)
    solids = collision_solids(vertices, faces, thickness, replace(DECOMPOSITION, corners=corners))
    return [solid.piece for solid in solids]


def hull_pieces(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]
) -> list[tuple[Hull, Float[np.ndarray, "n 3"]]]:
    """Convex stand-ins of a rigid part, each with points spread over its surface."""
    pieces = part_pieces(vertices, faces, hollow=False)
    return [(Hull.of(*piece), surface_points(*piece, HULL_POINTS)) for piece in pieces]


def surface_points(
    vertices: Float[np.ndarray, "n 3"], faces: Int[np.ndarray, "F 3"], limit: int
) -> Float[np.ndarray, "m 3"]:
    """Corners of a convex piece (thinned when there are many), then points of its edges and faces."""
    corners = vertices
    if len(corners) > limit:
        return corners[farthest_points(corners, limit)]
    edges = np.unique(np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0)
    extra = np.concatenate([vertices[edges].mean(axis=1), vertices[faces].mean(axis=1)])
    everything = np.concatenate([corners, extra])
    count = min(limit, len(everything))
    spread = everything[farthest_points(everything, count)]
    return np.unique(np.concatenate([corners, spread]), axis=0)


def obstacle_pieces(mesh: Mesh) -> tuple[list[Piece], Bool[np.ndarray, " F"] | None]:
    """Hulls of the connected pieces of a mesh that are convex, and the faces of all others, if there are any."""
    hulls: list[Piece] = []
    rough: list[np.ndarray] = []
    component = face_components(mesh.vertices, mesh.faces)
    closed = closed_components(mesh.vertices, mesh.faces, component)
    for index in range(len(closed)):
        mine = component == index
        points = mesh.vertices[np.unique(mesh.faces[mine])]
        piece = convex_hull(points, 1e-3 * mesh.size)
        if piece is None:
            continue
        corners, hull_corners = mesh.vertices[mesh.faces[mine]], piece[0][piece[1]]
        middle = points.mean(axis=0)
        volume, full = (abs(np.linalg.det(c - middle).sum()) / 6.0 for c in (corners, hull_corners))
        if closed[index] and volume > CONVEX_ENOUGH * full:
            hulls.append(piece)
        else:
            rough.append(mine)
    return hulls, np.logical_or.reduce(rough) if rough else None


def obstacle_colliders(mesh: Mesh) -> list[Collider]:
    """Colliders of a mesh that stands still: a hull where a piece is convex, a distance field otherwise."""
    hulls, rough = obstacle_pieces(mesh)
    out: list[Collider] = [Hull.of(*piece) for piece in hulls]
    if rough is not None:
        out.append(DistanceField.of(mesh.vertices, mesh.faces[rough]))
    return out


@compiled
def meet_hull(start, end, marks, reach, normals, heights, low, high, slack, which, faces, gaps):
    """Points that are inside a convex piece, come inside on a straight way, or are above one face by less than
    ``reach``: how many; their indices, faces and heights above these go into the last three arrays.

    What is inside keeps the face of its mark; above one face means beside no other by more than ``slack``.
    """
    count, planes = 0, heights.shape[0]
    for p in range(start.shape[0]):
        passes = True
        for i in range(3):
            a, b = start[p, i], end[p, i]
            if not (min(a, b) <= high[i] + reach and max(a, b) >= low[i] - reach):
                passes = False
        if not passes:
            continue
        most, top, beside, into, gate, out = -np.inf, 0, 0, -np.inf, 0, np.inf
        for f in range(planes):
            before, after = -heights[f], -heights[f]
            for i in range(3):
                before += normals[f, i] * start[p, i]
                after += normals[f, i] * end[p, i]
            if before > most:
                most, top = before, f
            if before > slack:
                beside += 1
            drop = before - after
            if before > 0.0:
                when = before / drop if drop > 0.0 else np.inf
                if when > into:
                    into, gate = when, f
            elif after > 0.0:
                out = min(out, before / drop)
        inside = most <= 0.0
        enters = not inside and into <= min(1.0, out)
        if not (inside or enters or (most < reach and beside <= 1)):
            continue
        face = gate if enters else top
        if inside and marks[p] >= 0:
            face = marks[p]
        height = -heights[face]
        for i in range(3):
            height += normals[face, i] * start[p, i]
        which[count], faces[count], gaps[count] = p, face, height
        count += 1
    return count
