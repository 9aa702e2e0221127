"""What the network sees of the parts of an object: clouds, gaps to neighbours, and directions an axis may have.

*Unit box*: the object's longest side is 1. *Trained with*: the shipped weights have learned from such inputs, so that
another value needs other weights. *Folds*: chosen on training objects that networks and ranking had left out
(``docs/lab/notebook_joints.md``). *By eye*: set on a handful of objects and not measured since.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.spatial import cKDTree

from neurok.core import Mesh
from neurok.core.mesh import UnitBox, frame_change
from neurok.errors import NeurokError
from neurok.geometry import lie
from neurok.geometry.operators import face_areas, face_normals
from neurok.geometry.sampling import sample_surface

DIRECTIONS = 12
"""Directions of each part at most; with ``SOURCES`` and ``PAIR`` the shapes of what the weights were trained with."""

SOURCES = ("frame", "normals", "spread", "bend", "contact")
"""Where a direction comes from: the object's frame, the largest flat sides, the extents of the cloud, the main
axes of its normals, the contact with other parts."""

PAIR = 7
"""Figures of each ordered pair of parts."""

# Trained with; lengths in the unit box.
REACH = 0.15  # Gaps are measured up to this [unit box].
TOUCH = 0.02  # Parts nearer than this touch [unit box].
NEAREST = 0.1  # Where nothing touches, this share of the points counts as the contact: the nearest ones.
PAIR_REACHES = (0.01, 0.03, 0.08)  # A pair is described by the shares of points nearer than these [unit box].
SAME_DIRECTION = 0.9976  # Nearer directions are one [cosine, four degrees].
SAME_SIDE = 0.98  # Normals nearer than this belong to one flat side [cosine, eleven degrees].
NEXT_SIDE = 0.9  # The next flat side faces farther away than this [cosine, 26 degrees].
LEAST_CONTACT = 4  # Points from which a contact has directions.
MOST_CONTACT = 2000  # Points of another part that are looked at for them, at most.
THINNEST = 0.02  # Limits of slides are counted in extents of the part, which count as at least this [unit box].
STRAIGHT = 0.25  # An object has upright sides if this share of them agrees on a turn about up.
ASKEW = math.radians(2.0)  # Smaller turns about up are left alone [rad].

# Copies differ by less than these shares in area and in each of their sides (of sampled points, so less exact). By eye.
COPIED_AREA, COPIED_SIDES, COPIED_SLACK = 0.06, 0.08, 0.01


@dataclass(frozen=True)
class CloudConfig:
    """How many points a network sees of each part. Trained with."""

    points: int = 256
    """Points kept of each part; views draw from them."""

    view_points: int = 128
    """Points of each part that a network sees of a view."""

    dense_points: int = 24_000
    """Points of the whole object that gaps are measured to."""

    frame_only: bool = False
    """Whether an axis may only have the directions of the object's frame: enough where nobody asks for axes."""


CLOUDS = CloudConfig()


@dataclass(frozen=True, eq=False)
class PartClouds:
    """The parts of one object in its unit box: +y up, longest side 1, turned so that its sides face the axes."""

    parts: Int[np.ndarray, " P"]
    """Which part of the mesh each row is; parts without area have no row."""

    points: Float[np.ndarray, "P N 3"]
    normals: Float[np.ndarray, "P N 3"]
    gaps: Float[np.ndarray, "P N"]
    """Distance to the nearest other part, at most the reach."""

    toward: Float[np.ndarray, "P N 3"]
    """Offset to that nearest place; zero where nothing is in reach."""

    areas: Float[np.ndarray, " P"]
    directions: Float[np.ndarray, "P K 3"]
    sources: Int[np.ndarray, "P K"]
    """Index into ``SOURCES``; -1 where there is no direction."""

    pairs: Float[np.ndarray, "P P C"]
    """Of each ordered pair: smallest gap, shares of points within three distances, centre of the contact (from the
    centre of the first part)."""

    turn: Float[np.ndarray, "3 3"]
    """From the axes of the mesh to those of the box."""

    center: Float[np.ndarray, "3"]
    """Place of the middle of the box, in the axes of the box and the unit of the mesh."""

    scale: float
    """Length of the longest side, in the unit of the mesh."""

    def to_box(self, points: Float[np.ndarray, "*B 3"]) -> Float[np.ndarray, "*B 3"]:
        return (points @ self.turn.T - self.center) / self.scale

    def from_box(self, points: Float[np.ndarray, "*B 3"]) -> Float[np.ndarray, "*B 3"]:
        return (points * self.scale + self.center) @ self.turn


def describe_parts(
    mesh: Mesh, seed: int = 0, upright: Float[np.ndarray, "3 3"] | None = None, config: CloudConfig = CLOUDS
) -> PartClouds:
    """Clouds, gaps and directions of the parts of a mesh; the same mesh and seed give the same numbers.

    ``upright`` turns the axes of the mesh to +y up, if not as the mesh says.
    """
    rng = np.random.default_rng(seed)
    areas = np.bincount(mesh.face_parts, weights=face_areas(mesh.vertices, mesh.faces), minlength=mesh.part_count)
    parts = np.flatnonzero(areas > 1e-12 * max(float(areas.sum()), 1e-300))
    if len(parts) == 0:
        raise NeurokError(f"The mesh '{mesh.name}' has no part with area, so nothing can be said of its joints.")
    to_y = frame_change(mesh.up, "y") if upright is None else upright
    turn = straighten(mesh, to_y) @ to_y
    vertices = mesh.vertices @ turn.T
    used = vertices[mesh.faces.reshape(-1)]
    box = UnitBox.around(used)
    center, scale = box.center, box.size
    vertices = (vertices - center) / scale
    share = areas[parts] / areas[parts].sum()
    counts = np.clip((share * config.dense_points).astype(int), 2 * config.points, None)
    points, normals, dense = [], [], []
    for part, count in zip(parts, counts, strict=True):
        faces = mesh.faces[mesh.face_parts == part]
        samples = sample_surface(vertices, faces, int(count), rng)
        places = samples.interpolate(vertices)
        dense.append(places)
        points.append(places[: config.points])
        normals.append(face_normals(vertices, faces)[samples.face_ids[: config.points]])
    clouds, sides = np.stack(points), np.nan_to_num(np.stack(normals))
    trees = [cKDTree(places) for places in dense]
    gaps, toward, pairs = _neighbours(clouds, dense, trees)
    if config.frame_only:
        directions, sources = np.tile(np.eye(3), (len(parts), 1, 1)), np.zeros((len(parts), 3), dtype=np.int64)
    else:
        directions, sources = _directions(clouds, sides, gaps, dense, trees)
    return PartClouds(
        parts, clouds, sides, gaps, toward, areas[parts] / scale**2, directions, sources, pairs, turn, center, scale
    )


def straighten(mesh: Mesh, to_y: Float[np.ndarray, "3 3"]) -> Float[np.ndarray, "3 3"]:
    """The turn about +y (of the mesh brought to +y up) that makes upright sides face the axes; identity if unclear."""
    normals = np.nan_to_num(face_normals(mesh.vertices, mesh.faces)) @ to_y.T
    weights = face_areas(mesh.vertices, mesh.faces) * np.hypot(normals[:, 0], normals[:, 2]) ** 2
    angle = np.arctan2(normals[:, 0], normals[:, 2])
    total = complex((weights * np.exp(4j * angle)).sum())
    yaw = np.angle(total) / 4
    if abs(total) < STRAIGHT * max(float(weights.sum()), 1e-300) or abs(yaw) < ASKEW:
        return np.eye(3)
    return lie.axis_angle_matrix(np.array([0.0, 1.0, 0.0]), -yaw)


def _neighbours(
    clouds: Float[np.ndarray, "P N 3"], dense: list[np.ndarray], trees: list[cKDTree]
) -> tuple[Float[np.ndarray, "P N"], Float[np.ndarray, "P N 3"], Float[np.ndarray, "P P C"]]:
    """Gaps and offsets of every point to other parts, and the figures of every ordered pair."""
    reach = REACH
    gaps = np.full(clouds.shape[:2], reach)
    toward = np.zeros_like(clouds)
    pairs = np.zeros((len(clouds), len(clouds), PAIR))
    middle, flat = clouds.mean(axis=1), clouds.reshape(-1, 3)
    for j, (tree, places) in enumerate(zip(trees, dense, strict=True)):
        low, high = places.min(axis=0) - reach, places.max(axis=0) + reach
        beside = np.flatnonzero(((flat > low) & (flat < high)).all(axis=1))
        beside = beside[beside // clouds.shape[1] != j]
        found, near = tree.query(flat[beside], distance_upper_bound=reach)
        away = np.full(gaps.shape, reach)
        away.reshape(-1)[beside] = np.minimum(found, reach)
        closer = np.flatnonzero(away.reshape(-1)[beside] < gaps.reshape(-1)[beside])
        rows = beside[closer]
        gaps.reshape(-1)[rows] = found[closer]
        toward.reshape(-1, 3)[rows] = places[near[closer]] - flat[rows]
        least = away.min(axis=1, keepdims=True)
        weight = np.exp(-(((away - least) / TOUCH) ** 2)) * (away < reach)
        total = weight.sum(axis=1, keepdims=True)
        center = np.einsum("pn,pnd->pd", weight, clouds) / np.maximum(total, 1e-300) - middle
        shares = np.stack([(away < close).mean(axis=1) for close in PAIR_REACHES], axis=1)
        pairs[:, j] = np.concatenate([least, shares, np.where(total > 0, center, 0.0)], axis=1)
    return gaps, toward, pairs


def _directions(
    clouds: Float[np.ndarray, "P N 3"],
    normals: Float[np.ndarray, "P N 3"],
    gaps: Float[np.ndarray, "P N"],
    dense: list[np.ndarray],
    trees: list[cKDTree],
) -> tuple[Float[np.ndarray, "P K 3"], Int[np.ndarray, "P K"]]:
    """Directions worth a look, no two alike, and where each comes from."""
    found = np.zeros((len(clouds), DIRECTIONS, 3))
    sources = np.full((len(clouds), DIRECTIONS), -1)
    for i, (points, sides) in enumerate(zip(clouds, normals, strict=True)):
        options = [(0, axis) for axis in np.eye(3)]
        options += [(1, axis) for axis in _flat_sides(sides)]
        options += [(2, axis) for axis in _main_axes(points)]
        options += [(3, axis) for axis in np.linalg.eigh(sides.T @ sides)[1].T[::-1]]
        touching = _contact_points(i, points, gaps[i], dense, trees)
        if len(touching) >= LEAST_CONTACT:
            axes = _main_axes(touching)
            options += [(4, axes[0]), (4, axes[2])]
        kept: list[np.ndarray] = []
        for source, axis in options:
            length = float(np.linalg.norm(axis))
            if length < 1e-9 or len(kept) == DIRECTIONS:
                continue
            if any(abs(axis @ k) / length > SAME_DIRECTION for k in kept):
                continue
            sources[i, len(kept)] = source
            found[i, len(kept)] = axis / length
            kept.append(axis / length)
    return found, sources


def _contact_points(
    i: int,
    points: Float[np.ndarray, "N 3"],
    gaps: Float[np.ndarray, " N"],
    dense: list[np.ndarray],
    trees: list[cKDTree],
) -> Float[np.ndarray, "M 3"]:
    """Places of other parts and of this one that touch; when nothing does, the nearest tenth."""
    limit = max(TOUCH, float(np.quantile(gaps, NEAREST)))
    mine = points[gaps <= min(limit, REACH - 1e-9)]
    low, high = points.min(axis=0) - limit, points.max(axis=0) + limit
    parts = [mine]
    for j, places in enumerate(dense):
        if j != i and not ((trees[j].maxes < low) | (trees[j].mins > high)).any():
            inside = places[((places > low) & (places < high)).all(axis=1)]
            if len(inside):
                inside = inside[:MOST_CONTACT]
                parts.append(inside[trees[i].query(inside, distance_upper_bound=limit)[0] <= limit])
    return np.concatenate(parts)


def _flat_sides(normals: Float[np.ndarray, "N 3"]) -> list[Float[np.ndarray, "3"]]:
    """The two normals that most of the area shares, up to sign, and the direction across both."""
    left = normals[np.linalg.norm(normals, axis=1) > 0.5]
    out: list[np.ndarray] = []
    while len(out) < 2 and len(left):
        close = np.abs(left @ left.T) > SAME_SIDE
        best = int(close.sum(axis=1).argmax())
        group = left[close[best]]
        mean = (group * np.sign(group @ left[best])[:, None]).mean(axis=0)
        out.append(mean / np.linalg.norm(mean))
        left = left[np.abs(left @ out[-1]) < NEXT_SIDE]
    if len(out) == 2:
        out.append(np.cross(out[0], out[1]))
    return out


def _main_axes(points: Float[np.ndarray, "N 3"]) -> Float[np.ndarray, "3 3"]:
    """Principal directions, longest first."""
    centred = points - points.mean(axis=0)
    return np.linalg.eigh(centred.T @ centred)[1].T[::-1]


def find_copies(clouds: PartClouds) -> Int[np.ndarray, " P"]:
    """A number for each piece; those with the same are copies of each other, however they are turned."""
    sides = np.sort(np.ptp(clouds.points, axis=1), axis=1) + 1e-6
    first = np.arange(len(sides))
    for piece in range(len(sides)):
        near = np.abs(np.log(clouds.areas[:piece] / clouds.areas[piece])) < COPIED_AREA
        near &= (np.abs(sides[:piece] - sides[piece]) < COPIED_SIDES * sides[piece] + COPIED_SLACK).all(axis=1)
        if near.any():
            first[piece] = first[int(np.flatnonzero(near)[0])]
    return first
